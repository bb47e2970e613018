"""What every Python test has: the package of this tree when none is installed."""

import importlib.util
import os
import sys
from pathlib import Path

if importlib.util.find_spec("weftwork") is None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

# Every pass must leave a legal graph; read when the first program is compiled.
os.environ.setdefault("WEFT_VERIFY", "1")
# What is tested is what is compiled now; tests/python/test_cache.py has folders of its own.
os.environ.setdefault("WEFT_CACHE", "off")
# What a test compiles must be one program; tests of what runs plainly say strict=False.
os.environ.setdefault("WEFT_STRICT", "1")
