"""Binding local variables of a function that is running."""

from __future__ import annotations

import ctypes
import sys
from types import FrameType
from typing import Any


def set_locals(frame: FrameType, values: dict[str, Any]) -> None:
    """Binds names among the local variables of ``frame``; those not given stay as they are."""
    if not values:
        return
    if not isinstance(frame, FrameType):
        frame.set_locals(values)  # of a call that is interpreted
        return
    if sys.version_info >= (3, 13):
        # PEP 667: the mapping writes through.
        frame.f_locals.update(values)
        return
    frame.f_locals.update(values)
    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
