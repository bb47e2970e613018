"""Collectives as calls of a program: what a traced function and lazy tensors record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from ..errors import ArgumentValueError
from ..numpy import own
from ..numpy.tracer import Tensor, TracedArray, as_tensor, current_trace, raise_here
from . import ranks

__all__ = ["exchange", "recorded"]

#: What two elements become, by the operation of a reduction; a mean is a sum that is divided.
BODIES = {"sum": "add", "mean": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}
#: The dimensions that the operations name.
AXES = {"all_gather": "all_gather_dim", "reduce_scatter": "scatter_dimension"}

Groups = Sequence[Sequence[int]]


def recorded(
    kind: str, x: Any, op: str, groups: Groups, pairs: Sequence[tuple[int, int]], root: int, axis: int, concat_axis: int
) -> TracedArray:
    """Records a collective in the function that is traced; it is made wherever it stands, whoever needs what it gives."""
    array = own.asarray(x)
    result = TracedArray(exchange(kind, as_tensor(array), op, groups, pairs, root, axis, concat_axis))
    result.scalar = not result.ndim
    trace = current_trace()
    assert trace is not None
    trace.effects.append(result.tensor)
    return result


def exchange(
    kind: str,
    x: Tensor,
    op: str,
    groups: Groups,
    pairs: Sequence[tuple[int, int]],
    root: int,
    axis: int,
    concat_axis: int,
) -> Tensor:
    """The call of a collective on a recorded value."""
    if kind == "collective_permute":
        return _core.apply(kind, [x], {"source_target_pairs": [rank for pair in pairs for rank in pair]})
    if kind == "all_gather" and not x.ndim:
        x = _core.apply("reshape", [x], {"dims": (1,)})
    rows = rows_of(kind, op, groups, root)
    size = len(rows[0])
    attrs: dict[str, Any] = {"replica_groups": [rank for row in rows for rank in row], "group_size": size}
    if kind == "broadcast":
        return _core.apply("collective_broadcast", [x], attrs)
    axis, concat_axis = (within(kind, one, x.ndim) for one in (axis, concat_axis))
    if kind == "all_to_all":
        return _core.apply(
            kind, [x], attrs | {"split_dimension": axis, "concat_dimension": concat_axis, "split_count": size}
        )
    if kind in AXES:
        attrs[AXES[kind]] = axis
    if kind == "all_gather":
        return _core.apply(kind, [x], attrs)
    if op not in BODIES:
        raise_here(ArgumentValueError, f"op must be 'sum', 'prod', 'max', 'min' or 'mean', got {op!r}", "reduction")
    return _core.apply_with_body(kind, BODIES[op], [x], attrs | ({"mean": True} if op == "mean" else {}))


def within(kind: str, axis: int, ndim: int) -> int:
    if not -ndim <= axis < max(ndim, 1):
        raise_here(ArgumentValueError, f"{kind}: axis must be one of {ndim}, got {axis}", "axis")
    return axis % max(ndim, 1)


def rows_of(kind: str, op: str, groups: Groups, root: int) -> Groups:
    """The groups as programs name them, of one size, the root first: all of a call, or this rank's alone."""
    every = list(groups) or [list(range(ranks.required(ranks.number_of_ranks)))]
    if kind != "broadcast" and len({len(group) for group in every}) == 1:
        return every
    mine = every
    if len(every) > 1:
        rank = ranks.required(ranks.this_rank)
        mine = [group for group in every if rank in group][:1]
        if not mine:
            raise_here(ArgumentValueError, f"{kind}: is called by rank {rank}, which is in no group", "groups")
    if kind != "broadcast":
        return mine
    if root not in mine[0]:
        raise_here(
            ArgumentValueError, f"broadcast: the root must be a rank of the group {list(mine[0])}, got {root}", "rank"
        )
    return [[root, *sorted(member for member in mine[0] if member != root)]]
