"""Values whose axes lie in memory in another order than the array's."""

from __future__ import annotations

import numpy as np

from .. import _core

__all__ = ["constant_in_place", "inverse", "turned"]


def turned(tensor: _core.Tensor, axes: tuple[int, ...] | None) -> _core.Tensor:
    """The value with its axes in this order; None: as they are."""
    return tensor if axes is None else _core.apply("transpose", [tensor], {"permutation": axes})


def inverse(axes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The order of axes that undoes this one."""
    return None if axes is None else tuple(map(axes.index, range(len(axes))))


def constant_in_place(array: np.ndarray) -> _core.Tensor:
    """A constant that is the array's own memory where its axes, in some order, are dense: ``weight.T`` is not copied."""
    axes = _core.turned_axes(array)
    return turned(_core.constant(array if axes is None else array.transpose(axes)), inverse(axes))
