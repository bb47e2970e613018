"""``torch.weftwork``: what torch expects of the module of a device.

There is one device, its memory is the host's, and each operation is done when it returns. Random numbers are those of the CPU's
generator: one stream, so that a program draws the same on either device.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import torch

from .build import compiler
from .ready import is_ready, set_up

__all__ = [
    "Event",
    "Stream",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_amp_supported_dtype",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]


def is_available() -> bool:
    """Whether the device can be used: it is set up, or there is a compiler to build it with.

    ``torch.accelerator``, which asks to decide what programs that never name the device do, is told of it once it is set up: until
    then ``DataLoader(pin_memory=True)`` and the like do what they do without this package.
    """
    if sys._getframe(1).f_globals.get("__name__") == "torch.accelerator":
        return is_ready()
    return is_ready() or compiler() is not None


def init() -> None:
    """Sets the device up, which its first use does otherwise: builds what it needs, where no process has done so."""
    set_up()


_lazy_init = init


def is_initialized() -> bool:
    """Whether the device is set up."""
    return is_ready()


def _is_in_bad_fork() -> bool:
    """No: memory and operations are a forked process's own."""
    return False


def device_count() -> int:
    """The number of devices: one."""
    return 1


def current_device() -> int:
    """The index of the device that is used: 0."""
    return 0


def set_device(device: Any) -> None:
    """Takes the one device there is."""
    _index(device)


def _index(device: Any) -> int:
    """The index that a device, its name or a number tells."""
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if device.type != "weftwork":
            raise ValueError(f"expected a weftwork device, got {device}")
        device = device.index
    index = 0 if device is None else int(device)
    if index not in (0, -1):
        raise RuntimeError(f"there is one device weftwork, got index {index}")
    return 0


def _index_of_load(device: Any, optional: bool = False) -> int:
    """What torch.load asks, before it makes tensors."""
    set_up()
    return _index(device)


_utils = SimpleNamespace(_get_device_index=_index_of_load)


@contextlib.contextmanager
def device(device: Any) -> Iterator[None]:
    """Within it, the device that is used is this one."""
    _index(device)
    yield


def device_of(tensor: Any) -> Any:
    """Within it, the device that is used is the tensor's."""
    return device(0 if tensor.device.type == "weftwork" else None)


def get_device_name(device: Any = None) -> str:
    """What the device is."""
    _index(device)
    return "Weftwork on the CPU"


def get_device_properties(device: Any = None) -> SimpleNamespace:
    """Its name, and the cores that it uses."""
    return SimpleNamespace(name=get_device_name(device), multi_processor_count=torch.get_num_threads())


# -- streams -----------------------------------------------------------------------------------------------------------------


def Stream(device: Any = None, priority: int = 0) -> torch.Stream:
    """The stream of the device: operations are done in order, and when they return."""
    set_up()
    return torch.Stream(device=torch.device("weftwork", _index(device)), priority=priority)


def Event(enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> torch.Event:
    """A point in time; ``elapsed_time`` tells the milliseconds between two. torch takes no others than its own events."""
    set_up()
    return torch.Event(device=torch.device("weftwork", 0), enable_timing=enable_timing)


def current_stream(device: Any = None) -> torch.Stream:
    """The stream that operations go to."""
    return Stream(device)


default_stream = current_stream


def set_stream(stream: torch.Stream) -> None:
    """Takes the one stream there is."""


@contextlib.contextmanager
def stream(stream: torch.Stream | None) -> Iterator[None]:
    """Within it, operations go to this stream."""
    yield


def synchronize(device: Any = None) -> None:
    """Waits for the operations of the device, which are done."""
    _index(device)


def empty_cache() -> None:
    """Gives back memory that is kept; none is."""


# -- random numbers ----------------------------------------------------------------------------------------------------------


def manual_seed(seed: int) -> None:
    """Seeds the generator, which is that of the CPU."""
    torch.default_generator.manual_seed(int(seed))


manual_seed_all = manual_seed


def seed() -> None:
    """Seeds the generator by chance."""
    torch.default_generator.seed()


seed_all = seed


def initial_seed() -> int:
    """What the generator was seeded with."""
    return torch.default_generator.initial_seed()


def get_rng_state(device: Any = "weftwork") -> torch.Tensor:
    """The state of the generator, as a tensor of bytes."""
    _index(device)
    return torch.default_generator.get_state()


def set_rng_state(new_state: torch.Tensor, device: Any = "weftwork") -> None:
    """Puts the generator in a state that :func:`get_rng_state` gave."""
    _index(device)
    torch.default_generator.set_state(new_state.cpu())


def get_rng_state_all() -> list[torch.Tensor]:
    """The states of the generators of all devices."""
    return [get_rng_state()]


def set_rng_state_all(new_states: Any) -> None:
    """Puts the generators of all devices in states."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


# -- automatic mixed precision -----------------------------------------------------------------------------------------------


def get_amp_supported_dtype() -> list[torch.dtype]:
    """What ``torch.autocast("weftwork")`` can cast to."""
    return [torch.bfloat16, torch.float16]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether bfloat16 can be computed with: yes."""
    return True
