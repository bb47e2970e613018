"""Tensors of torch as arrays of programs, and back, without copies where the memory is dense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from . import device
from .dtypes import FROM_TORCH, carrier_of

__all__ = ["array_of", "dense_order", "is_on_device", "may_overlap", "on_cpu", "on_device", "reader", "writer"]


def dense_order(fake: Any) -> tuple[int, ...] | None:
    """The order of dimensions in which a tensor is row-major; None where that is its own or there is none."""
    rank = fake.dim()
    if rank < 2 or fake.is_contiguous():
        return None
    strides = fake.stride()
    try:
        order = sorted(range(rank), key=lambda d: (-int_hint(strides[d]), d))
        return tuple(order) if fake.permute(order).is_contiguous() and order != list(range(rank)) else None
    except (TypeError, ValueError):
        return None


def int_hint(value: Any) -> int:
    """A number to compare strides by: what they were at the first call."""
    return value if isinstance(value, int) else value.node.hint


def may_overlap(fake: Any) -> bool:
    """Whether elements of a tensor may share memory, by the sizes and strides of the first call."""
    reach = 0
    for stride, extent in sorted((int_hint(s), int_hint(e)) for s, e in zip(fake.stride(), fake.shape, strict=True)):
        if extent > 1:
            if stride <= reach:
                return True
            reach += stride * (extent - 1)
    return False


def array_of(tensor: torch.Tensor) -> np.ndarray:
    """The NumPy array over a tensor's memory."""
    return reader(tensor.dtype, True)(tensor)


def reader(dtype: torch.dtype, may_need_care: bool = False) -> Callable[[torch.Tensor], np.ndarray]:
    """A function that gives the NumPy array over the memory of a tensor of this dtype."""
    carrier, numpy = carrier_of(dtype), FROM_TORCH[dtype]

    def careful(tensor: torch.Tensor) -> np.ndarray:
        # Of a plain class: modes of torch refuse operations on others.
        tensor = tensor.as_subclass(torch.Tensor).detach().resolve_conj().resolve_neg()
        if is_on_device(tensor):
            tensor = device.set_up().to_cpu(tensor)
        return tensor.numpy() if carrier is None else tensor.view(carrier).numpy().view(numpy)

    if may_need_care:
        return careful
    if carrier is None:
        return torch.Tensor.numpy
    return lambda tensor: tensor.view(carrier).numpy().view(numpy)


def writer(dtype: torch.dtype) -> Callable[[np.ndarray], torch.Tensor]:
    """A function that gives the tensor of this dtype over an array's memory."""
    carrier = carrier_of(dtype)
    if carrier is None:
        return torch.from_numpy
    narrow = np.dtype(np.int16) if carrier == torch.int16 else np.dtype(np.uint8)
    return lambda array: torch.from_numpy(array.view(narrow)).view(dtype)


def is_on_device(tensor: Any) -> bool:
    """Whether a tensor lies on the device ``"weftwork"``."""
    return tensor.device.type == device.NAME


def on_cpu(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A reader of tensors of the CPU for tensors of the device: by others over the same memory."""
    return lambda tensor: read(device.set_up().to_cpu(tensor))


def on_device(write: Callable[[np.ndarray], torch.Tensor]) -> Callable[[np.ndarray], torch.Tensor]:
    """A writer that gives tensors of the device, over the memory that the other's have."""
    return lambda array: device.set_up().to_device(write(array))
