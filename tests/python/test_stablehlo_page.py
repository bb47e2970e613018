"""docs/stablehlo.md is what the parser says."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytest.importorskip("jax")


def test_the_page_is_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "generate_stablehlo_page.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
