"""Memory that nobody can write to, and what memory holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core

__all__ = ["is_frozen", "same_bytes"]


def is_frozen(array: np.ndarray) -> bool:
    """Whether nobody can write to the array through it or what it is a view of."""
    base: Any = array
    while isinstance(base, (np.ndarray, memoryview)):
        if isinstance(base, np.ndarray) and base.flags.writeable:
            return False
        base = base.base if isinstance(base, np.ndarray) else base.obj
    # A buffer does not know who else has its memory.
    return not isinstance(base, _core.Buffer)


def same_bytes(lhs: np.ndarray, rhs: np.ndarray) -> bool:
    if lhs.ndim and lhs.flags.c_contiguous and rhs.flags.c_contiguous:
        return bool(np.array_equal(lhs.view(np.uint8), rhs.view(np.uint8)))
    return lhs.tobytes() == rhs.tobytes()
