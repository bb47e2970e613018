"""The table of operations: an ATen overload → the function of arrays that records it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from ml_dtypes import finfo

from ..numpy.tracer import TracedArray, as_tensor, wrap
from .dtypes import FROM_TORCH, widened

__all__ = ["TABLE", "Rule", "Want", "cast", "common", "pointwise", "rule", "widely"]


@dataclass(frozen=True)
class Want:
    """What torch says a result is: its dtype, its shape (integers and symbolic extents), and the fake tensor that says so."""

    dtype: np.dtype
    shape: tuple[Any, ...]
    fake: Any


@dataclass(frozen=True)
class Rule:
    """How an overload is recorded: ``record(want, *args, **kwargs)`` gives arrays; ``accepts(*args, **kwargs)``, of fake
    tensors, says whether these arguments can be."""

    record: Callable[..., Any]
    accepts: Callable[..., bool] | None = None


TABLE: dict[Any, Rule] = {}

#: What torch converts to this dtype is at most its largest number, where others have infinity.
SATURATING = FROM_TORCH[torch.float8_e4m3fn]
LARGEST = float(finfo(SATURATING).max)


def overloads(names: tuple[str, ...]) -> list[Any]:
    """Those of the names that this torch has."""
    found = []
    for name in names:
        space = torch.ops.prims if name.startswith("prims::") else torch.ops.aten
        base, _, overload = name.removeprefix("prims::").partition(".")
        packet = getattr(space, base, None)
        found += (
            [getattr(packet, overload or "default")] if packet and (overload or "default") in packet.overloads() else []
        )
    return found


def rule(*names: str, accepts: Callable[..., bool] | None = None) -> Callable[[Any], Any]:
    """Declares the function that records overloads of these names, ``add.Tensor`` or ``relu`` for ``relu.default``; "prims::" goes before
    those of torch.prims."""

    def declare(record: Any) -> Any:
        for overload in overloads(names):
            TABLE[overload] = Rule(record, accepts)
        return record

    return declare


def cast(x: Any, dtype: Any) -> Any:
    """An array or number as an array of a dtype."""
    is_array = isinstance(x, TracedArray)
    if is_array and x.dtype == dtype:
        return x
    if dtype == SATURATING:
        x = np.clip(cast(x, np.float32) if is_array and x.dtype != np.float64 else x, -LARGEST, LARGEST)
    return wrap(as_tensor(x, dtype))


def common(*values: Any) -> list[Any]:
    """Arrays and numbers in the dtype that torch has for them together: arrays with dimensions decide before those without,
    and these before numbers, unless a later kind is of a higher category."""
    groups: list[list[Any]] = [[], [], []]
    for value in values:
        is_array = isinstance(value, TracedArray)
        groups[0 if is_array and value.ndim else 1 if is_array else 2].append(value)
    dtype: Any = None
    for group in groups:
        for value in group:
            dtype = joined(dtype, value, group is groups[0] or not isinstance(value, TracedArray))
    return [cast(fitting(value, dtype), dtype) for value in values]


def fitting(value: Any, dtype: Any) -> Any:
    """A value for a dtype: torch takes integers that it lacks modulo its size."""
    return np.array(value).astype(dtype) if type(value) is int and dtype.kind in "iu" else value


def category(dtype: Any) -> int:
    return {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}[dtype.kind]


def joined(dtype: Any, value: Any, _: bool) -> Any:
    given = value.dtype if isinstance(value, TracedArray) else number_dtype(value)
    if dtype is None:
        return given
    if category(given) > category(dtype):
        return np.dtype(np.complex128) if given.kind == "c" and dtype == np.float64 else given
    if isinstance(value, TracedArray) and value.ndim and category(given) == category(dtype):
        return promoted(dtype, given)
    return dtype


def promoted(a: Any, b: Any) -> Any:
    """Of two dtypes of one category."""
    if a == b:
        return a
    if {a.itemsize, b.itemsize} == {2} and a.kind in "fV":
        return np.dtype(np.float32)
    return np.result_type(a, b)


def number_dtype(value: Any) -> Any:
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    if isinstance(value, float):
        return np.dtype(np.float32)
    return np.dtype(np.complex64) if isinstance(value, complex) else np.dtype(np.int64)


def is_value(x: Any) -> bool:
    return isinstance(x, (TracedArray, int, float, complex)) or type(x).__name__ == "Dim"


def widely(want: Want, function: Callable[..., Any], *operands: Any, **kwargs: Any) -> Any:
    """A function of operands in the dtype of the result, short floats in float32, rounded once."""
    dtype = widened(want.dtype)
    return cast(
        function(*(cast(fitting(x, dtype), dtype) if is_value(x) else x for x in operands), **kwargs), want.dtype
    )


def pointwise(names: str, function: Callable[..., Any], accepts: Callable[..., bool] | None = None) -> None:
    """Declares overloads of which each element of the result is a function of the operands in the result's dtype."""

    def record(want: Want, *operands: Any, **kwargs: Any) -> Any:
        return widely(want, function, *operands, **kwargs)

    rule(*names.split(), accepts=accepts)(record)
