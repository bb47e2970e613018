"""docs/numpy.md is what the registered forms and the reasons say, and every name of NumPy is in one of them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "numpy.md"
VERSION = ".".join(np.__version__.split(".")[:2])


@pytest.mark.skipif(f"What of NumPy {VERSION} " not in PAGE.read_text(), reason="the page is of another NumPy")
def test_the_page_is_up_to_date() -> None:
    script = str(ROOT / "scripts" / "generate_numpy_page.py")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
