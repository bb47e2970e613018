"""np.nonzero and its like for masks that only the run knows, and arrays indexed by what they give.

There are as many positions as the mask has true values. They are elements that the mask selects, of arrays that count along its
axes, so that ``x[np.nonzero(mask)]`` is ``x[mask]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentValueError
from .advanced import is_empty, take_indexed
from .dispatch import implements
from .masked import Selected, slices_in, stays
from .tracer import MASKS, Tensor, TracedArray, as_tensor, current_trace, raise_here, wrap
from .ufuncs import op, truth
from .validity import may_be_outside

__all__ = ["gathered", "indexed_by", "nonzero", "scattered"]


class Positions(Selected):
    """The positions of true elements along one axis of the mask."""

    __slots__ = ("axis",)

    def __init__(self, mask: Tensor, axis: int) -> None:
        self.axis = axis
        super().__init__(op("iota", type=np.dtype(np.int64), dims=tuple(mask.shape), dimension=axis), mask, 0)


@implements(np.nonzero)
def nonzero(a: Any) -> tuple[Any, ...]:
    """An array for each axis, of the positions of elements that are not zero."""
    tensor = as_tensor(a)
    if not tensor.ndim:
        raise_here(ArgumentValueError, "Calling nonzero on 0d arrays is not allowed.", "nonzero_rank")
    if tensor.constant() is not None:
        return np.nonzero(tensor.constant())
    mask = truth(tensor)
    trace = current_trace()
    if trace is not None and MASKS in trace.unrolled:
        Positions(mask, 0).refuse("numpy.nonzero")
    return tuple(Positions(mask, axis) for axis in range(mask.ndim))


implements(np.flatnonzero)(lambda a: nonzero(np.ravel(wrap(as_tensor(a))))[0])


@implements(np.argwhere)
def argwhere(a: Any) -> Any:
    """A row for each element that is not zero: its position along each axis."""
    x = wrap(as_tensor(a))
    found = nonzero(np.atleast_1d(x))
    rows: Any
    if not isinstance(found[0], Selected):
        rows = np.stack(found, axis=-1)
    else:
        rows = Selected(as_tensor(np.stack([wrap(each.value) for each in found], axis=-1)), found[0].mask, 0)
    return rows if x.ndim else rows[:, :0]


def indexed_by(items: list[Any]) -> bool:
    """Whether positions that a mask selects are among the items of an index."""
    return any(isinstance(item, Selected) and item.dtype.kind in "iu" for item in items)


def gathered(array: TracedArray, items: list[Any]) -> tuple[list[Any], tuple[Tensor, int] | None]:
    """An index without selected positions, and the mask that tells what is selected of the result, with the axes before it.

    None where the index is a mask: what it gives is selected already.
    """
    places = [i for i, item in enumerate(items) if isinstance(item, Selected)]
    first: Selected = items[places[0]]
    chosen, before, behind = items[places[0] : places[-1] + 1], items[: places[0]], items[places[-1] + 1 :]
    if (
        not all(isinstance(each, Selected) and not each.lead and not each.behind for each in chosen)
        or not all(first.has_mask_of(each) for each in chosen)
        or not stays(before, behind)
    ):
        return first.refuse("this index with it")
    extents = array.shape[places[0] : places[0] + len(chosen)]
    axes = [each.axis if type(each) is Positions else None for each in chosen]
    if axes == list(range(first.mask.ndim)) and all(map(_core.dims_equal, extents, first.mask.shape)):
        return [*before, wrap(first.mask), *behind], None
    if is_empty(extents):
        return first.refuse("an index into an axis of no elements with it")
    return [*before, *(each.inside() for each in chosen), *behind], (first.mask, slices_in(before))


def scattered(array: TracedArray, items: list[Any]) -> tuple[list[Any], Selected | None]:
    """An index by which what is not selected writes nothing, and the elements that it selects now; None for a mask."""
    read, mask_and_lead = gathered(array, items)
    if mask_and_lead is None:
        return read, None
    now = Selected(take_indexed(array.tensor, read), *mask_and_lead)
    place = next(i for i, item in enumerate(items) if isinstance(item, Selected))
    outside = np.where(wrap(now.mask), read[place], array.shape[place])
    return [*read[:place], may_be_outside(outside), *read[place + 1 :]], now
