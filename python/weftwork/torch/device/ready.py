"""Whether the device is set up, and setting it up, once."""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["is_ready", "set_up"]

#: The native part, once it is loaded: ``to_cpu`` and ``to_device`` give a tensor over the same memory on the other device.
extension: Any = None
lock = threading.Lock()


def is_ready() -> bool:
    """Whether the device is set up."""
    return extension is not None


def set_up() -> Any:
    """The native part, built and loaded where it was not."""
    global extension
    if extension is None:
        with lock:
            if extension is None:
                from .build import load

                loaded = load()
                loaded.set_up()
                extension = loaded
    return extension
