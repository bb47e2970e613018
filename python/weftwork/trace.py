"""Tracing: a NumPy function and example arguments → a Graph, and how its inputs and outputs map to Python's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from .errors import ArgumentTypeError, ArgumentValueError
from .numpy.creation import traced_creation
from .numpy.tracer import Trace, TracedArray, as_tensor, tracing
from .pytree import flatten, unflatten_with
from .spec import Spec

OUTPUT, LEAF = 0, 1


@dataclass
class Slot:
    """What one leaf of the result is: a program output, or an argument that is returned as it is."""

    source: int
    index: int
    as_scalar: bool


@dataclass
class Traced:
    """A traced call."""

    graph: _core.Graph
    input_leaves: list[int]
    captured: list[np.ndarray]
    slots: list[Slot]
    structure: Any
    aliases: list[tuple[int, int]] = field(default_factory=list)  # (program output, leaf written)

    def build_result(self, values: list[Any]) -> Any:
        return unflatten_with(self.structure, values)


@dataclass
class Leaf:
    """An array argument: where it is, what was given, what stands for it."""

    name: str
    given: Any
    traced: TracedArray
    program_input: int


def is_array_leaf(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic, Spec)) or type(value) in (float, complex)


def positional_names(function: Callable[..., Any]) -> list[str]:
    """Names of the parameters that positional arguments bind to."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


class Arguments:
    """The arguments of a call with placeholders in the place of arrays, in the order of the cached call."""

    def __init__(self, names: list[str], static: set[str], dynamic: dict[str, dict[int, Any]]) -> None:
        self.names, self.static, self.dynamic = names, static, dynamic
        self.leaves: list[Leaf] = []
        self.inputs: list[Leaf] = []

    def replace(self, args: tuple, kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        named = [(self.names[i] if i < len(self.names) else f"arg{i}", value) for i, value in enumerate(args)]
        return [self._replace(n, v) for n, v in named], {n: self._replace(n, v) for n, v in kwargs.items()}

    def _replace(self, name: str, value: Any) -> Any:
        if name in self.static:
            return value
        leaves, structure = flatten(value, is_array_leaf, name)
        return unflatten_with(structure, [self._placeholder(path, leaf, name) for path, leaf in leaves])

    def _placeholder(self, path: str, given: Any, parameter: str) -> TracedArray:
        for known in self.leaves:
            if known.given is given and isinstance(given, np.ndarray):
                self.leaves.append(known)
                return known.traced
        weak = type(given) if type(given) in (float, complex) else None
        array = given if isinstance(given, Spec) else np.asarray(given)
        if isinstance(given, np.ndarray) and type(given) is not np.ndarray:
            raise ArgumentTypeError(f"'{path}' must be a plain ndarray, got {type(given).__name__}  [array_subclass]")
        shape = list(array.shape)
        for axis, extent in self.dynamic.get(parameter, {}).items() if path == parameter else ():
            if not -len(shape) <= axis < len(shape):
                raise ArgumentValueError(f"dynamic axis {axis} of '{path}' is out of range for shape {tuple(shape)}  [dynamic_axis]")
            shape[axis] = extent
        tensor = _core.parameter(shape, array.dtype.newbyteorder("="), path)
        leaf = Leaf(path, given, TracedArray(tensor, weak), len(self.inputs))
        self.leaves.append(leaf)
        self.inputs.append(leaf)
        return leaf.traced


def trace_call(
    function: Callable[..., Any],
    args: tuple,
    kwargs: dict[str, Any],
    *,
    static: set[str] = frozenset(),  # type: ignore[assignment]
    donate: set[str] = frozenset(),  # type: ignore[assignment]
    dynamic: dict[str, dict[int, Any]] | None = None,
    bake: bool = False,
) -> Traced:
    """Runs the function once on placeholders and returns what it did."""
    name = getattr(function, "__name__", "main").replace("<lambda>", "lambda")
    arguments = Arguments(positional_names(function), static, dynamic or {})
    trace = Trace(name, bake=bake)
    with tracing(trace), traced_creation():
        traced_args, traced_kwargs = arguments.replace(args, kwargs)
        originals = [leaf.traced.tensor for leaf in arguments.inputs]
        result = function(*traced_args, **traced_kwargs)
        return finish_trace(trace, arguments, originals, result, donate)


def finish_trace(trace: Trace, arguments: Arguments, originals: list[Any], result: Any, donate: set[str]) -> Traced:
    """Sorts what the function returned and wrote into program outputs."""
    is_result = lambda value: isinstance(value, (TracedArray, np.ndarray, np.generic))
    found, structure = flatten(result, is_result, "")
    storages = {id(leaf.traced._storage): i for i, leaf in reversed(list(enumerate(arguments.leaves)))}
    slots: list[Slot] = []
    outputs: list[tuple[Any, str, int]] = []
    for path, value in found:
        leaf = storages.get(id(value._storage)) if isinstance(value, TracedArray) and not value._steps else None
        if leaf is not None and not arguments.leaves[leaf].traced.weak:
            slots.append(Slot(LEAF, leaf, False))
            continue
        slots.append(Slot(OUTPUT, len(outputs), True))
        outputs.append((as_tensor(value), f"output.{path}" if path else "output", -1))
    donate_outputs(arguments, outputs, donate)
    aliases = []
    for parameter, original in zip(arguments.inputs, originals, strict=True):
        written = parameter.traced._storage.tensor
        if not written.is_same(original):
            aliases.append((len(outputs), arguments.leaves.index(parameter)))
            outputs.append((written, parameter.name, parameter.program_input))
    captured = trace.captured_arrays()
    parameters = [(tensor, leaf.name, -1) for leaf, tensor in zip(arguments.inputs, originals, strict=True)]
    parameters += [(capture.tensor, f"captured{i}", -1) for i, capture in enumerate(trace.captures)]
    graph = _core.record_graph(trace.name, parameters, outputs)
    input_leaves = [arguments.leaves.index(leaf) for leaf in arguments.inputs]
    return Traced(graph, input_leaves, captured, slots, structure, aliases)


def donate_outputs(arguments: Arguments, outputs: list[tuple[Any, str, int]], donate: set[str]) -> None:
    """Lets outputs land in the memory of donated arguments of the same dtype and shape."""
    for leaf in arguments.inputs:
        if leaf.name.split(".")[0] not in donate:
            continue
        for i, (tensor, name, alias) in enumerate(outputs):
            if alias < 0 and tensor.type_text() == leaf.traced.tensor.type_text():
                outputs[i] = (tensor, name, leaf.program_input)
                break
