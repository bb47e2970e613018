"""_core.pyi, the types of the native module, is what its functions and classes say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_stub_is_up_to_date():
    pytest.importorskip("nanobind")
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "generate_core_stub.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
