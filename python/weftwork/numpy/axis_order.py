"""Values whose axes lie in memory in another order than the array's."""

from __future__ import annotations

from .. import _core

__all__ = ["inverse", "turned"]


def turned(tensor: _core.Tensor, axes: tuple[int, ...] | None) -> _core.Tensor:
    """The value with its axes in this order; None: as they are."""
    return tensor if axes is None else _core.apply("transpose", [tensor], {"permutation": axes})


def inverse(axes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The order of axes that undoes this one."""
    return None if axes is None else tuple(map(axes.index, range(len(axes))))
