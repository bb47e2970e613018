"""Where programs run, the memory there, and runs that go on while Python does something else."""

from __future__ import annotations

import atexit
from collections.abc import Generator
from typing import Any

import numpy as np

from ._core import Buffer, Device, PendingRun, devices, stop_queues
from .errors import ArgumentTypeError, ArgumentValueError
from .pytree import flatten, unflatten_with

__all__ = ["Buffer", "Device", "PendingRun", "devices"]

# What a run lets go of when it ends belongs to the interpreter: no run goes on while that is taken down.
atexit.register(stop_queues)


def to_device(device: Device | str | None) -> Device:
    """The device that is one, has that name, or is the first of the CPU."""
    return device if isinstance(device, Device) else Device() if device is None else Device(device)


def is_other_array(value: Any) -> bool:
    """Whether it is an array, but neither NumPy's own nor a scalar: what is no constant of a program."""
    return (
        type(value) is not np.ndarray
        and not isinstance(value, (np.generic, type))
        and (hasattr(type(value), "__array__") or hasattr(type(value), "__dlpack__"))
    )


class Lent:
    """The arguments of a call with NumPy arrays over the memory of buffers, and of what has ``__dlpack__``, in their places; in its
    result arrays are buffers where one was a buffer."""

    def __init__(self, names: list[str], static: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        self._lent: dict[int, tuple[Any, np.ndarray]] = {}
        self._given: dict[int, Any] = {}
        self.args = tuple(
            arg if names[i : i + 1] and names[i] in static else self._arrays(arg) for i, arg in enumerate(args)
        )
        self.kwargs = {name: arg if name in static else self._arrays(arg) for name, arg in kwargs.items()}

    def _arrays(self, value: Any) -> Any:
        others, structure = flatten(value, is_other_array)
        return unflatten_with(structure, [self._array(other) for _, other in others]) if others else value

    def _array(self, other: Any) -> np.ndarray:
        is_file = type(other) is np.memmap
        if not is_file and (isinstance(other, np.ndarray) or not hasattr(type(other), "__dlpack__")):
            raise ArgumentTypeError(
                f"arrays must be plain ndarrays or buffers, or have __dlpack__, got {type(other).__name__}  [array_subclass]"
            )
        # One buffer is one array, so that what is written by one name is read by the other.
        if id(other) not in self._lent:
            array = other.numpy() if isinstance(other, Buffer) else np.asarray(other) if is_file else lent_array(other)
            self._lent[id(other)], self._given[id(array)] = (other, array), other
        return self._lent[id(other)][1]

    def result(self, value: Any, device: Device | None = None) -> Any:
        """What the function returned, with what it was given in its place; other arrays are tensors where there was one, else buffers, on
        a device of the CPU, where there was one."""
        if not self._lent:
            return value
        from .lazy.tensor import Tensor

        kinds = {type(other) for other, _ in self._lent.values()}
        arrays, structure = flatten(
            value, lambda each: isinstance(each, (np.ndarray, np.generic) if Tensor in kinds else np.ndarray)
        )

        def made_of(array: Any) -> Any:
            if id(array) in self._given or not kinds & {Tensor, Buffer}:
                return array
            return Tensor(array) if Tensor in kinds else Buffer(array, device=device)

        made = [made_of(array) for _, array in arrays]
        return unflatten_with(structure, [self._given.get(id(array), array) for array in made])


def lent_array(other: Any) -> np.ndarray:
    """An array over the memory of an object with ``__dlpack__``; it cannot be written where it is not dense."""
    try:
        return Buffer(other, copy=False).numpy()
    except ArgumentValueError:
        try:
            array = np.from_dlpack(other).view()
        except (BufferError, TypeError, RuntimeError):  # an element type that NumPy does not know
            array = Buffer(other).numpy()
        array.flags.writeable = False
        return array


def awaited(run: PendingRun) -> Generator[Any, None, Any]:
    """What ``await run`` does: a thread of the event loop waits, so that the loop goes on."""
    if not run.done():
        import asyncio  # with ssl and sockets: whoever awaits has it already

        yield from asyncio.get_running_loop().run_in_executor(None, run.wait)
    return run.wait()
