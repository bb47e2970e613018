"""Where programs run, the memory there, and runs that go on while Python does something else."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Generator
from typing import Any

import numpy as np

from ._core import Buffer, Device, PendingRun, devices, stop_queues
from .pytree import flatten, unflatten_with

__all__ = ["Buffer", "Device", "PendingRun", "devices"]

# What a run lets go of when it ends belongs to the interpreter: no run goes on while that is taken down.
atexit.register(stop_queues)


def to_device(device: Device | str | None) -> Device:
    """The device that is one, has that name, or is the first of the CPU."""
    return device if isinstance(device, Device) else Device() if device is None else Device(device)


class Lent:
    """The arguments of a call with arrays over the memory of buffers in their places; in its result arrays are buffers."""

    def __init__(self, names: list[str], static: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        self._lent: dict[int, tuple[Buffer, Any]] = {}
        self._given: dict[int, Buffer] = {}
        self.args = tuple(arg if names[i : i + 1] and names[i] in static else self._arrays(arg) for i, arg in enumerate(args))
        self.kwargs = {name: arg if name in static else self._arrays(arg) for name, arg in kwargs.items()}

    def _arrays(self, value: Any) -> Any:
        buffers, structure = flatten(value, lambda each: isinstance(each, Buffer))
        return unflatten_with(structure, [self._array(buffer) for _, buffer in buffers]) if buffers else value

    def _array(self, buffer: Buffer) -> Any:
        # One buffer is one array, so that what is written by one name is read by the other.
        array = self._lent.setdefault(id(buffer), (buffer, buffer.numpy()))[1]
        self._given[id(array)] = buffer
        return array

    def result(self, value: Any) -> Any:
        """What the function returned, with the buffers that it was given in their places."""
        if not self._lent:
            return value
        arrays, structure = flatten(value, lambda each: isinstance(each, np.ndarray))
        return unflatten_with(structure, [self._given[id(array)] if id(array) in self._given else Buffer(array) for _, array in arrays])


def awaited(run: PendingRun) -> Generator[Any, None, Any]:
    """What ``await run`` does: a thread of the event loop waits, so that the loop goes on."""
    if not run.done():
        yield from asyncio.get_running_loop().run_in_executor(None, run.wait)
    return run.wait()
