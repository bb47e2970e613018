"""Whether tests can compile with torch."""

import importlib.util
import os

import pytest


def is_usable() -> bool:
    """It is there, and not under sanitizers, where it compiles for minutes."""
    return importlib.util.find_spec("torch") is not None and "asan" not in os.environ.get("LD_PRELOAD", "")


def require() -> None:
    """Leaves out the test, or the module, that asks."""
    if not is_usable():
        pytest.skip("needs torch, without sanitizers", allow_module_level=True)
