"""Sorted lines and the greatest elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numpy.sorting import topk as greatest
from ..table import cast, rule
from .pointwise import real_only
from .reductions import alone, has_elements
from .shapes import at


def ordered(x: Any, dim: int, descending: bool) -> Any:
    if not x.ndim:
        return alone(x)
    axis = at(dim, x.ndim)
    if descending:
        found = greatest(x, x.shape[axis], axis, True)
        return found[0], cast(found[1], np.int64)
    order = np.argsort(x, axis=axis, kind="stable")
    return np.take_along_axis(x, order, axis), cast(order, np.int64)


@rule("sort", accepts=real_only)
def sort(want: Any, x: Any, dim: int = -1, descending: bool = False) -> Any:
    return ordered(x, dim, descending)


@rule("sort.stable", accepts=real_only)
def stable_sort(want: Any, x: Any, *, stable: Any = True, dim: int = -1, descending: bool = False) -> Any:
    return ordered(x, dim, descending)


@rule("argsort", accepts=real_only)
def argsort(want: Any, x: Any, dim: int = -1, descending: bool = False) -> Any:
    return ordered(x, dim, descending)[1]


@rule(
    "topk",
    accepts=lambda x, k, dim=-1, largest=True, sorted=True: has_elements(x) and x.ndim > 0 and isinstance(k, int),
)
def topk(want: Any, x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    values, order = greatest(x, k, at(dim, x.ndim), largest)
    return values, cast(order, np.int64)
