"""Loops and branches on values: what Python's ``while`` and ``if`` cannot be asked in a traced function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, UnsupportedError
from ..pytree import flatten, unflatten_with
from . import own
from .creation import CREATORS
from .dispatch import broadcast_to
from .loops import kept_range
from .tracer import Storage, Tensor, TracedArray, as_tensor, current_trace, raise_here, wrap


def is_value(value: Any) -> bool:
    return isinstance(value, (TracedArray, np.ndarray, np.generic, int, float, complex, _core.Dim))


class NoWrites:
    """Stands among the loops that are recorded: a function of a branch or loop must not write to what is outside."""

    def __init__(self, what: str) -> None:
        self.what, self.born = what, next(Storage.births)

    def note_created(self, array: TracedArray) -> None:
        pass

    def note_write(self, storage: Storage) -> None:
        if storage.born < self.born:
            raise_here(
                UnsupportedError,
                f"a function given to wf.{self.what} writes to an array of its surroundings: return the new value instead",
                "branch_write",
            )


@contextmanager
def recorded(what: str) -> Iterator[None]:
    trace = current_trace()
    assert trace is not None
    guard = NoWrites(what)
    trace.loops.append(guard)
    try:
        yield
    finally:
        trace.loops.remove(guard)


def results_like(what: str, result: Any, types: list[tuple[np.dtype, tuple]] | None) -> tuple[list[Tensor], Any]:
    """The leaves of a result, converted to types that are given."""
    found, structure = flatten(result, is_value, "")
    tensors = [as_tensor(value) for _, value in found]
    if types is None:
        return tensors, structure
    if len(tensors) != len(types):
        raise_here(
            ArgumentTypeError,
            f"wf.{what}: the function gives {len(tensors)} values where {len(types)} are wanted",
            "structure",
        )
    converted = []
    for (path, _), tensor, (dtype, shape) in zip(found, tensors, types, strict=True):
        same_shape = tensor.ndim == len(shape) and all(map(_core.dims_equal, tensor.shape, shape))
        if not same_shape or not np.can_cast(tensor.dtype, dtype, "same_kind"):
            raise_here(
                ArgumentTypeError,
                f"wf.{what}: value '{path}' is {wrap(tensor)!r} where {dtype}{list(shape)} is wanted",
                "value_type",
            )
        converted.append(as_tensor(wrap(tensor), dtype))
    return converted, structure


def union(*lists: list[Tensor]) -> list[Tensor]:
    """Tensors of several lists, each once."""
    found: list[Tensor] = []
    for tensor in (t for tensors in lists for t in tensors):
        if not any(tensor.is_same(other) for other in found):
            found.append(tensor)
    return found


def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init: Any) -> Any:
    """Applies ``body_fun`` to a value for as long as ``cond_fun`` of it holds; the value may be nested in tuples, lists, dicts.

    Dtypes and shapes stay those of ``init``. Works on plain arrays too. Both functions may read arrays of their
    surroundings but not write to them.

    >>> import numpy as np, weftwork as wf
    >>> f = wf.jit(lambda x: wf.while_loop(lambda v: v < 100, lambda v: v * 2, x))
    >>> float(f(np.float64(3)))
    192.0
    """
    trace = current_trace()
    if trace is None:
        while cond_fun(init):
            init = body_fun(init)
        return init
    found, structure = flatten(init, is_value, "")
    inits = [as_tensor(value) for _, value in found]
    types = [(t.dtype, t.shape) for t in inits]
    since = _core.next_serial()
    parameters = [_core.parameter(shape, dtype, "carried") for dtype, shape in types]
    state = lambda: unflatten_with(structure, [wrap(p) for p in parameters])
    with recorded("while_loop"):
        condition, _ = results_like("while_loop", cond_fun(state()), [(np.dtype(bool), ())])
        between = _core.next_serial()
        outputs, _ = results_like("while_loop", body_fun(state()), types)
    effects = trace.taken_effects(since, since)
    asks, works = [e for e in effects if e.serial < between], [e for e in effects if e.serial >= between]
    captured = union(
        _core.record_region(parameters, condition, since, asks)[1],
        _core.record_region(parameters, outputs, since, works)[1],
    )
    inside = [*parameters, *captured]
    regions = [
        _core.record_region(inside, condition, since, asks)[0],
        _core.record_region(inside, [*outputs, *captured], since, works)[0],
    ]
    results = _core.apply_all("while", [*inits, *captured], None, regions)
    trace.effects += results[:1] if effects else []
    return unflatten_with(structure, [wrap(r) for r in results[: len(inits)]])


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """``true_fun(*operands)`` where ``pred`` holds, ``false_fun(*operands)`` otherwise; only the one chosen runs.

    Both give values of the same structure, dtypes and shapes.

    >>> import numpy as np, weftwork as wf
    >>> f = wf.jit(lambda x: wf.cond(x.sum() > 0, np.sqrt, np.negative, x))
    >>> f(np.array([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    trace = current_trace()
    if trace is None or not isinstance(pred, TracedArray):
        return true_fun(*operands) if pred else false_fun(*operands)
    if pred.ndim:
        raise_here(ArgumentTypeError, f"wf.cond takes one truth value, got {pred!r}", "cond_predicate")
    chosen = as_tensor(pred, np.dtype(bool))
    since = _core.next_serial()
    with recorded("cond"):
        first, structure = results_like("cond", true_fun(*operands), None)
        between = _core.next_serial()
        second, other = results_like("cond", false_fun(*operands), None)
    if len(first) != len(second) or repr(structure) != repr(other):
        raise_here(
            ArgumentTypeError, f"wf.cond: one function gives {len(first)} values, the other {len(second)}", "structure"
        )
    pairs = [shared_type(a, b) for a, b in zip(first, second, strict=True)]
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    effects = trace.taken_effects(since, since)
    branches = [
        (first, [e for e in effects if e.serial < between]),
        (second, [e for e in effects if e.serial >= between]),
    ]
    captured = union(*(_core.record_region([], tensors, since, own)[1] for tensors, own in branches))
    regions = [_core.record_region(captured, tensors, since, own)[0] for tensors, own in branches]
    results = _core.apply_all("if", [chosen, *captured], None, regions)
    trace.effects += results[:1] if effects else []
    return unflatten_with(structure, [wrap(r) for r in results])


def shared_type(lhs: Tensor, rhs: Tensor) -> tuple[Tensor, Tensor]:
    dtype = np.promote_types(lhs.dtype, rhs.dtype)
    if lhs.ndim != rhs.ndim or not all(map(_core.dims_equal, lhs.shape, rhs.shape)):
        raise_here(
            ArgumentTypeError, f"wf.cond: one function gives {wrap(lhs)!r}, the other {wrap(rhs)!r}", "value_type"
        )
    return as_tensor(wrap(lhs), dtype), as_tensor(wrap(rhs), dtype)


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any = None, length: int | None = None
) -> tuple[Any, Any]:
    """Runs ``carry, y = f(carry, x)`` over the rows of ``xs``; the last carry and all ``y`` stacked.

    ``xs`` may be nested; without it ``f`` gets None ``length`` times. Needs at least one turn.

    >>> import numpy as np, weftwork as wf
    >>> f = wf.jit(lambda x: wf.scan(lambda c, v: (c + v, c * v), 0.0, x))
    >>> f(np.array([1.0, 2.0, 3.0]))[1].tolist()
    [0.0, 2.0, 9.0]
    """
    rows, x_structure = flatten(xs, lambda value: isinstance(value, (TracedArray, np.ndarray)), "")
    arrays = [value for _, value in rows if value is not None]
    count = length if not arrays else arrays[0].shape[0]
    if count is None or (isinstance(count, int) and count < 1):
        raise_here(ArgumentTypeError, f"wf.scan needs at least one turn, got {count}", "scan_length")
    at = lambda i: unflatten_with(x_structure, [a[i] for a in arrays]) if arrays else None
    found, structure = flatten(init, is_value, "")
    state = [
        own.array(own.asarray(value)) if not isinstance(value, TracedArray) else value.copy() for _, value in found
    ]
    if current_trace() is not None:
        state = [value if isinstance(value, TracedArray) else wrap(as_tensor(value)) for value in state]
    _, sample = f(unflatten_with(structure, list(state)), at(0))
    samples, y_structure = flatten(sample, is_value, "")
    zeros = np.zeros if current_trace() is None else CREATORS["zeros"]
    stacked = [
        zeros(
            (count, *np.shape(y)), getattr(y, "dtype", own.asarray(y).dtype if not isinstance(y, TracedArray) else None)
        )
        for _, y in samples
    ]
    del sample, samples
    for i in kept_range(count):
        carry, y = f(unflatten_with(structure, list(state)), at(i))
        for slot, leaf in zip(state, flatten(carry, is_value, "")[0], strict=True):
            slot[...] = leaf[1]
        for slot, leaf in zip(stacked, flatten(y, is_value, "")[0], strict=True):
            slot[i] = leaf[1]
        del carry, y, slot, leaf
    return unflatten_with(structure, [s[()] for s in state]), unflatten_with(y_structure, stacked)


__all__ = ["broadcast_to", "cond", "scan", "while_loop"]
