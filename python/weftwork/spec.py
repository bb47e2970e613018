"""What a traced function is given when there is no array yet: shapes with symbolic extents and dtypes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from .errors import ArgumentTypeError, ArgumentValueError

__all__ = ["Spec", "spec"]


@dataclass(frozen=True)
class Spec:
    """The shape and dtype of an array that is not there yet."""

    shape: tuple[Any, ...]
    dtype: np.dtype


def spec(shape: Iterable[int | str | _core.Dim], dtype: Any) -> Spec:
    """A stand-in for an array: ``wf.spec((8, "n"), np.float32)``; a name, of letters, digits, "_" and ".", is a symbolic
    extent of any size from 1.

    >>> import numpy as np, weftwork as wf
    >>> wf.spec((8, "n"), np.float32).shape
    (8, n)
    """
    return Spec(tuple(to_extent(extent) for extent in shape), np.dtype(dtype))


def to_extent(extent: Any) -> Any:
    """An int or Dim; a string names a symbolic extent."""
    if isinstance(extent, str):
        return _core.Dim(extent)
    if isinstance(extent, _core.Dim):
        return extent
    try:
        number = extent.__index__()
    except AttributeError:
        raise ArgumentTypeError(f"an extent must be an integer, a name or a Dim, got {extent!r}  [extent]") from None
    if number < 0:
        raise ArgumentValueError(f"an extent must be 0 or more, got {number}  [extent]")
    return number


def dynamic_extents(dynamic: dict[str, dict[int, Any]] | None) -> dict[str, dict[int, _core.Dim]]:
    """Resolves names among the Dims of ``jit(dynamic=)``: a string means the Dim of that name, wherever it is given."""
    by_name = {
        repr(extent): extent
        for axes in (dynamic or {}).values()
        for extent in axes.values()
        if isinstance(extent, _core.Dim)
    }
    return {
        name: {axis: by_name.get(e, _core.Dim(e)) if isinstance(e, str) else to_extent(e) for axis, e in axes.items()}
        for name, axes in (dynamic or {}).items()
    }
