"""Settings: environment variables WEFT_… and their scoped form."""

from __future__ import annotations

import os

from . import _core

__all__ = ["num_threads", "set_num_threads"]


def target_name() -> str:
    """What programs are compiled for: WEFT_TARGET (a CPU level, or "neuron"), or the CPU it runs on."""
    return os.environ.get("WEFT_TARGET", "native")


def set_num_threads(n: int) -> None:
    """Sets how many threads runs use from here on; 0 means one for each CPU. Results do not depend on it."""
    _core.set_num_threads(n)


def num_threads() -> int:
    """How many threads runs use."""
    return _core.num_threads()
