"""What ranks exchange: functions of NumPy arrays and lazy tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _core
from ..device import Buffer
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from ..lazy.tensor import Tensor, tensor_of
from ..numpy.dispatch import written
from ..numpy.tracer import TracedArray, current_trace, raise_here
from ..spec import Spec
from .ranks import current
from .traced import exchange, recorded

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "barrier",
    "broadcast",
    "collective_permute",
    "recv",
    "reduce_scatter",
    "send",
]

#: Ranks of one group, or of each of several; None: all.
Group = Sequence[int] | Sequence[Sequence[int]] | None


def all_reduce(x: Any, op: str = "sum", group: Group = None, *, out: Any = None) -> Any:
    """The arrays of all ranks combined: ``op`` is ``"sum"``, ``"prod"``, ``"max"``, ``"min"`` or ``"mean"``.

    Elements are combined from the first rank of the group to the last, whoever comes first: results are bitwise the same on all ranks,
    each time and with any carrier. ``bfloat16``, ``float16`` and narrower floats are added up in ``float32`` and rounded once,
    integers wrap, the sum of booleans is *or*; only floats and complex numbers have a mean.

    ``group`` names the ranks that take part, ``[0, 1]``, or all groups, ``[[0, 1], [2, 3]]``, of which each rank is in one; None: all.
    ``out`` is an array for the result, which may be ``x`` itself; so have the functions below one.

    >>> import numpy as np, weftwork as wf
    >>> wf.distributed.all_reduce(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    if type(x) is np.ndarray and group is None and current_trace() is None:
        return current().run("all_reduce", x, op, out=out)
    return exchanged("all_reduce", x, op=op, group=group, out=out)


def all_gather(x: Any, group: Group = None, *, axis: int = 0, out: Any = None) -> Any:
    """The arrays of all ranks, one after the other along ``axis``, in the order of the group; arrays without dimensions become one with one.

    >>> import weftwork as wf
    >>> wf.distributed.all_gather(3.0)
    array([3.])
    """
    return exchanged("all_gather", x, group=group, axis=axis, out=out)


def reduce_scatter(x: Any, op: str = "sum", group: Group = None, *, axis: int = 0, out: Any = None) -> Any:
    """This rank's part of the :func:`all_reduce`: ``axis`` is divided into as many parts as the group has ranks."""
    return exchanged("reduce_scatter", x, op=op, group=group, axis=axis, out=out)


def all_to_all(x: Any, group: Group = None, *, split_axis: int = 0, concat_axis: int = 0, out: Any = None) -> Any:
    """Part i of ``x`` along ``split_axis`` goes to rank i of the group; what comes from all is put one after the other along ``concat_axis``."""
    return exchanged("all_to_all", x, group=group, axis=split_axis, concat_axis=concat_axis, out=out)


def collective_permute(x: Any, pairs: Sequence[tuple[int, int]], *, out: Any = None) -> Any:
    """The array of the rank that sends to this one, zeros where none does: ``pairs`` are ``(source, target)``, and all ranks call it.

    A rank sends at most once, and receives at most once.
    """
    places = [(operator.index(source), operator.index(target)) for source, target in pairs]
    return exchanged("collective_permute", x, pairs=places, out=out)


def broadcast(x: Any, root: int = 0, group: Group = None, *, out: Any = None) -> Any:
    """The array of rank ``root``; other ranks pass one of the same shape and dtype, whose elements do not count."""
    return exchanged("broadcast", x, root=operator.index(root), group=group, out=out)


def barrier(group: Group = None) -> None:
    """Waits until all ranks of the group are here."""
    refuse_traced("barrier")
    current().run("barrier", np.empty(0, np.uint8), groups=groups_of(group))


def send(x: Any, target: int) -> None:
    """Sends an array to a rank, which calls :func:`recv`; may return before it does, for arrays of up to 64 KiB."""
    exchanged("send", x, root=operator.index(target))


def recv(like: Any, source: int, *, out: Any = None) -> Any:
    """The array that a rank sends to this one; ``like`` is an array, or a :func:`weftwork.spec`, of its shape and dtype."""
    if isinstance(like, Spec):
        like = np.empty(like.shape, like.dtype)
    return exchanged("recv", like, root=operator.index(source), out=out)


# -- arrays in and out --------------------------------------------------------------------------------------------


def exchanged(
    kind: str,
    x: Any,
    *,
    op: str = "sum",
    group: Group = None,
    pairs: Any = (),
    root: int = 0,
    axis: int = 0,
    concat_axis: int = 0,
    out: Any = None,
) -> Any:
    """Runs one collective, or records it in a function that is traced; a tensor gives a tensor, a buffer a buffer, anything else an array.

    ``out`` is an array that gets the result and is returned.
    """
    if kind in ("send", "recv"):
        refuse_traced(kind, x)
    elif current_trace() is not None:
        made = recorded(kind, x, op, groups_of(group), pairs, root, operator.index(axis), operator.index(concat_axis))
        return made if out is None else written_to(kind, out, made)
    elif type(x) is Tensor and out is None:
        result = exchange(kind, x._recorded, op, groups_of(group), pairs, root, axis, concat_axis)
        return tensor_of(TracedArray(result)).eval()
    array, given = (x, None) if type(x) is np.ndarray else array_of(kind, x)
    if kind == "all_gather" and not array.ndim:
        array = array.reshape(1)
    groups = groups_of(group)
    if axis or concat_axis:
        result = along(kind, array, operator.index(axis), operator.index(concat_axis), op, groups)
        if out is not None:
            return written_to(kind, out, result)
    else:
        result = current().run(kind, array, op, groups, pairs, root, out=out)
        if out is not None:
            return out
    return result if given is None or result is None else given(result)


def written_to(kind: str, out: Any, result: Any) -> Any:
    """``out``, an array of the result's type, with its elements."""
    if current_trace() is not None:
        out = written(out, f"{kind} with out=")
    fits = isinstance(out, (np.ndarray, TracedArray)) and (out.dtype, out.ndim) == (result.dtype, result.ndim)
    if not fits or not all(map(_core.dims_equal, out.shape, result.shape)):
        raise_here(
            ArgumentValueError, f"{kind}: out must be an array of {result.dtype} and shape {result.shape}", "out"
        )
    out[...] = result
    return out


def refuse_traced(kind: str, x: Any = None) -> None:
    if current_trace() is not None or isinstance(x, TracedArray):
        raise_here(UnsupportedError, f"{kind} is no part of a program: it runs between programs", "collective")


def array_of(kind: str, x: Any) -> tuple[np.ndarray, Callable[[Any], Any] | None]:
    """The array of an argument, and what makes the result of one."""
    if isinstance(x, Tensor):
        return x.numpy(), Tensor
    if isinstance(x, Buffer):
        return x.numpy(), Buffer
    if isinstance(x, np.ma.MaskedArray):
        raise_here(
            ArgumentTypeError, f"{kind}: arrays must be plain ndarrays, got {type(x).__name__}", "array_subclass"
        )
    return np.array(x, copy=None, subok=False), None


def groups_of(group: Group) -> list[list[int]]:
    """Groups as a list for each; none: one of all."""
    if group is None:
        return []
    members = list(group)
    if all(hasattr(member, "__index__") for member in members):
        members = [members]
    groups = [[operator.index(rank) for rank in one] for one in members]
    if not groups or not all(groups):
        raise_here(ArgumentValueError, f"a group must name a rank at least, got {group!r}", "groups")
    return groups


def along(kind: str, array: np.ndarray, axis: int, concat_axis: int, op: str, groups: list[list[int]]) -> Any:
    """A collective whose parts are along another axis than the first."""
    for one in (axis, concat_axis):
        if not -array.ndim <= one < array.ndim:
            raise_here(ArgumentValueError, f"{kind}: axis must be one of {array.ndim}, got {one}", "axis")
    axis, concat_axis = axis % array.ndim, concat_axis % array.ndim
    communicator = current()
    result = communicator.run(kind, np.moveaxis(array, axis, 0), op, groups, axis=axis, shape=array.shape)
    if axis == concat_axis or kind != "all_to_all":
        return np.ascontiguousarray(np.moveaxis(result, 0, axis))
    size = next((len(group) for group in groups if communicator.rank in group), communicator.size)
    return np.concatenate([np.moveaxis(part, 0, axis) for part in np.split(result, size)], concat_axis)
