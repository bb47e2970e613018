"""Plans of a jitted function: what a cached call does and looks at, and whether it has to be measured first."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

from . import _core
from .bytecode.kinds import ABSENT
from .bytecode.outside import Steps
from .graph import Graph
from .trace import Traced

__all__ = ["described", "guarded_plan", "is_small", "least_time", "may_not_pay", "plain_plan", "plan_of", "varying_of"]

#: Elements of a small array; src/dispatch.cpp has the same number.
LARGEST_SMALL = 1 << 13


def is_small(graph: Any) -> bool:
    """Whether a program has no large arrays, so that the call may cost more than the work."""
    shapes = [value.shape for value in (*Graph(graph).inputs, *Graph(graph).outputs)]
    sizes = [math.prod(shape) if all(isinstance(e, int) for e in shape) else LARGEST_SMALL + 1 for shape in shapes]
    return max(sizes, default=0) <= LARGEST_SMALL and not {"for", "while"} & set(graph.op_names)


#: Operations that move elements, or compare them, and so give the same bits as NumPy's.
MOVING = frozenset(
    ["parameter", "result", "constant", "reshape", "transpose", "slice", "strided_view", "broadcast_in_dim", "concatenate", "pad",
     "gather", "scatter", "select", "compare", "and", "or", "not", "xor", "convert", "iota", "reverse", "maximum", "minimum", "abs",
     "negate", "sign", "argmax", "argmin", "reduce_max", "reduce_min", "all", "any", "real", "imag", "complex", "conj",
     "bitcast_convert", "update_slice", "dynamic_slice", "dynamic_update_slice", "sort", "sort_values", "argsort", "is_nan",
     "is_finite", "clamp", "composite", "call"]
)  # fmt: skip
#: Operations of which NumPy has other algorithms, which may be faster for some sizes.
OTHERWISE = frozenset(["sort", "sort_values", "argsort", "custom_call", "fft", "top_k", "cholesky", "triangular_solve"])


def may_not_pay(graph: Any) -> bool:
    """Whether large arrays alone do not say that a program is faster than NumPy."""
    ops = set(graph.op_names)
    return ops <= MOVING or not OTHERWISE.isdisjoint(ops)


#: Nanoseconds of a call that is measured but once.
LONG = 50_000_000


def least_time(function: Any, args: tuple, kwargs: dict[str, Any]) -> int:
    """The nanoseconds that a function takes, which has no effects; -1 where it raises."""
    least = -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            begun = time.perf_counter_ns()
            try:
                function(*args, **kwargs)
            except Exception:
                return -1
            taken = time.perf_counter_ns() - begun
            least = taken if least < 0 else min(least, taken)
            if taken > LONG:
                break
    return least


def plan_of(traced: Traced, core: Any) -> Any:
    """What the cached call of a program needs."""
    slots = [slot.parts for slot in traced.slots]
    build = None if traced.blueprint.is_single() else traced.builder
    parts = (core, traced.input_leaves, traced.captured, slots, build, traced.layout_leaves)
    return guarded_plan(parts, traced.steps, traced.extra, traced.extra_inputs)


def plain_plan(steps: Steps | None) -> Any:
    return guarded_plan((None, [], [], [], None, []), steps, [], 0)


def guarded_plan(parts: tuple[Any, ...], steps: Steps | None, wanted: list[int], inputs: int) -> Any:
    plan = _core.Plan(*parts, entries_of(steps), guard_of(steps, wanted), inputs)  # type: ignore[call-arg]
    plan.steps = steps
    return plan


def entries_of(steps: Steps | None) -> list[tuple[Any, ...]]:
    return described(list(steps.entries.values())) if steps is not None else []


def described(entries: list[tuple[Any, Any, Any]]) -> list[tuple[Any, ...]]:
    """What C++ looks at itself: entries of dictionaries and types."""
    return [(space, key) if value is ABSENT else (space, key, value) for space, key, value in entries]


def guard_of(steps: Steps | None, wanted: list[int]) -> Any:
    if steps is None or (not wanted and not steps.checks):
        return None
    return steps.compiled(wanted)


def varying_of(plans: list[Any], args: tuple, kwargs: dict[str, Any]) -> frozenset[Any]:
    """The integers of the surroundings that are not what they were when the function was recorded."""
    found: set[Any] = set()
    for plan in plans:
        for steps in plan.steps if isinstance(plan.steps, list) else [plan.steps]:
            if steps is not None:
                found |= steps.varying(args, kwargs)
    return frozenset(found)
