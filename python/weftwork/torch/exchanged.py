"""Tensors that ranks exchange, as arrays and back, and what torch calls the ways to combine them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from ..errors import ArgumentValueError, UnsupportedError
from . import bridge
from .dtypes import FROM_TORCH

__all__ = ["array_of", "into", "name_of", "of_bits", "split", "tensor_of", "write", "wrong"]

OPS = {
    dist.ReduceOp.SUM: "sum",
    dist.ReduceOp.AVG: "mean",
    dist.ReduceOp.PRODUCT: "prod",
    dist.ReduceOp.MAX: "max",
    dist.ReduceOp.MIN: "min",
}
BITS = {
    dist.ReduceOp.BAND: torch.bitwise_and,
    dist.ReduceOp.BOR: torch.bitwise_or,
    dist.ReduceOp.BXOR: torch.bitwise_xor,
}


def array_of(t: torch.Tensor) -> np.ndarray:
    """The array over a tensor's memory, or of its elements; bytes where there is no array of its dtype."""
    if t.layout != torch.strided:
        raise UnsupportedError(f"collectives take dense tensors, got one whose layout is {t.layout}  [layout]")
    return bridge.array_of(t if t.dtype in FROM_TORCH else t.detach().contiguous().view(torch.uint8))


def tensor_of(array: Any, like: torch.Tensor) -> torch.Tensor:
    array = np.ascontiguousarray(array)
    if like.dtype not in FROM_TORCH:
        return torch.from_numpy(array).view(like.dtype)
    return bridge.writer(like.dtype)(array)


def write(t: torch.Tensor, array: Any) -> None:
    """Into the tensor's memory; autograd does not see it, as with all of torch's collectives."""
    with torch.no_grad():
        t.detach().copy_(tensor_of(array, t).reshape(t.shape))


def into(t: torch.Tensor, call: Callable[[np.ndarray | None], Any], shape: Sequence[int] | None = None) -> None:
    """Has a call write its result, of this shape, to the tensor: at once to its memory, which ``call`` gets, where that is dense."""
    own = array_of(t)
    is_dense = own.flags.c_contiguous and own.__array_interface__["data"][0] == t.data_ptr()
    got = call((own if shape is None else own.reshape(shape)) if is_dense else None)
    if not is_dense:
        write(t, got)


def split(t: torch.Tensor, sizes: Sequence[int] | None, count: int) -> list[torch.Tensor]:
    """Parts of a tensor along its first dimension, equal ones where no sizes are said."""
    if sizes:
        return list(t.split(list(sizes)))
    if t.dim() == 0 or t.shape[0] % count:
        raise wrong("all_to_all: the first dimension", t, f"a multiple of {count}")
    return list(t.split(t.shape[0] // count)) if t.numel() else [t[: t.shape[0] // count]] * count


def name_of(op: Any) -> str | None:
    """What this library calls a reduction; None for those of bits."""
    for known, name in OPS.items():
        if op == known:
            return name
    if any(op == known for known in BITS):
        return None
    raise UnsupportedError(f"{op} is no reduction of the backend 'weftwork'  [reduction]")


def of_bits(op: Any, parts: list[torch.Tensor]) -> torch.Tensor:
    combine = next(function for known, function in BITS.items() if op == known)
    whole = parts[0]
    for part in parts[1:]:
        whole = combine(whole, part)
    return whole


def wrong(what: str, t: torch.Tensor, wanted: str) -> ArgumentValueError:
    return ArgumentValueError(f"{what} must have a size of {wanted}, got shape {tuple(t.shape)}  [parts]")
