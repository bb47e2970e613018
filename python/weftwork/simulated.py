"""simulate: a NumPy function run by the reference interpreter."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from .device import Lent
from .errors import ArgumentValueError
from .graph import Graph
from .jit import Options, plain_function
from .joined import Joined, traced_jointly
from .pytree import flatten
from .result import in_form, in_order
from .trace import LEAF, is_array_leaf, positional_names

__all__ = ["simulate"]


def simulate(function: Any, name: str = "main") -> Callable[..., Any]:
    """The function run by the reference interpreter instead of machine code: the same semantics, no code generation.

    >>> import numpy as np, weftwork as wf
    >>> float(wf.simulate(lambda x: np.sum(x * 2))(np.ones(3)))
    6.0
    """
    if isinstance(function, Graph):
        return functools.partial(function.function(name).interpret)
    plain, options = plain_function(function)

    @functools.wraps(plain)
    def run(*args: Any, **kwargs: Any) -> Any:
        lent = Lent(positional_names(plain), options.static, args, kwargs)
        return lent.result(run_arrays(lent.args, lent.kwargs))

    def run_arrays(args: tuple, kwargs: dict[str, Any]) -> Any:
        traced = options.trace(plain, args, kwargs)
        leaves = call_leaves(options, plain, args, kwargs)
        extra = traced.steps.compiled(traced.extra)(leaves, args, kwargs) if traced.steps is not None else ()
        outside = list(extra[: traced.extra_inputs])
        inputs = [np.asarray(in_order(leaves[i], axes)) for i, axes in traced.input_leaves]
        inputs += traced.captured + list(map(np.asarray, outside))
        try:
            _core.check_written(traced.graph, inputs)
        except ArgumentValueError as error:
            call = Joined(positional_names(plain), options.static, args, kwargs)
            if error.label != "overlap" or not call.possible or not call.bases:
                raise
            return call.result(simulate(traced_jointly(plain))(call.bases, call.args, call.kwargs))
        # A result may be the memory of an argument, which is written below.
        results = [result.copy() for result in traced.graph.interpret(inputs)]
        landed = {output: inputs[i] for output, i in traced.aliases.items()}
        for output, target in landed.items():
            target[...] = results[output]
        for output, place in traced.outside_aliases.items():
            outside[place][...] = results[output]
        values = []
        for slot in traced.slots:
            value = leaves[slot.index] if slot.source == LEAF else landed.get(slot.index)
            value = results[slot.index] if value is None else value
            values.append(in_form(value, slot.form, slot.axes))
        return traced.build_result(values, extra)

    return run


def call_leaves(options: Options, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> list[Any]:
    """The array leaves of a call, in the order in which tracing numbers them."""
    names = positional_names(function)
    named = [(names[i] if i < len(names) else "", value) for i, value in enumerate(args)] + list(kwargs.items())
    return [leaf for name, value in named if name not in options.static for _, leaf in flatten(value, is_array_leaf)[0]]
