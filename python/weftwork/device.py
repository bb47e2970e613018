"""Where programs run, the memory there, and runs that go on while Python does something else."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Generator
from typing import Any

from ._core import Buffer, Device, PendingRun, devices, stop_queues

__all__ = ["Buffer", "Device", "PendingRun", "devices"]

# What a run lets go of when it ends belongs to the interpreter: no run goes on while that is taken down.
atexit.register(stop_queues)


def to_device(device: Device | str | None) -> Device:
    """The device that is one, has that name, or is the first of the CPU."""
    return device if isinstance(device, Device) else Device() if device is None else Device(device)


def awaited(run: PendingRun) -> Generator[Any, None, Any]:
    """What ``await run`` does: a thread of the event loop waits, so that the loop goes on."""
    if not run.done():
        yield from asyncio.get_running_loop().run_in_executor(None, run.wait)
    return run.wait()
