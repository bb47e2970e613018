"""What every Python test has: the package of this tree when none is installed."""

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("weftwork") is None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
