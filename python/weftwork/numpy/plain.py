"""Functions of this package that NumPy does not have, on arrays outside of a traced function."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .tracer import current_trace

#: The class of lazy arrays, and what records a call of them: that layer sets both.
lazy: list[Any] = []
Function = TypeVar("Function", bound=Callable[..., Any])


def on_plain_arrays(function: Function) -> Function:
    """Makes a function of traced arrays work outside of a trace too: compiled once for each signature, as by a strict wf.jit: NumPy cannot run it."""
    compiled: list[Callable[..., Any]] = []
    signature = inspect.signature(function)
    # Arguments that are part of the program, NumPy's integers too.
    counts = {n for n, p in signature.parameters.items() if p.annotation == "int"}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is not None:
            return function(*args, **kwargs)
        if holds_lazy(args) or holds_lazy(kwargs.values()):
            return lazy[1](call, args, kwargs)
        if not compiled:
            from ..integers import Integers
            from ..jit import jit

            made = jit(function, strict=True)
            made._integers = Integers(may_vary=False)  # extents and bounds are checked when they are known
            compiled.append(made)
        bound = signature.bind(*args, **kwargs)
        return compiled[0](
            **{
                n: operator.index(v) if n in counts and v is not None else hashable(v)
                for n, v in bound.arguments.items()
            }
        )

    return call  # type: ignore[return-value]


def holds_lazy(values: Any) -> bool:
    return any(type(value) is lazy[0] for value in values)


def hashable(value: Any) -> Any:
    """Lists as tuples where they hold integers, which name a signature; others as arrays."""
    if not isinstance(value, list):
        return value
    array = np.asarray(value)
    return frozen(array.tolist()) if array.dtype.kind in "iu" and array.size < 16 else array


def frozen(value: Any) -> Any:
    return tuple(map(frozen, value)) if isinstance(value, list) else value
