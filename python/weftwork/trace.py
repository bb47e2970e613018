"""Tracing: a NumPy function and example arguments → a Graph, and how its inputs and outputs map to Python's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from .annotation import Declared
from .errors import ArgumentTypeError, ArgumentValueError
from .numpy.creation import traced_constructor, traced_creation
from .numpy.layout import deciding, given_strides
from .numpy.loops import Retry, is_library
from .numpy.tracer import NDARRAY, Selection, Trace, TracedArray, as_tensor, tracing
from .profile import span
from .pytree import flatten, unflatten_with
from .spec import Spec

OUTPUT, LEAF = 0, 1
#: What a result without dimensions is.
ARRAY, SCALAR, NUMBER = 0, 1, 2


@dataclass
class Slot:
    """What one leaf of the result is: a program output, or an argument that is returned as it is."""

    source: int
    index: int
    form: int


@dataclass
class Traced:
    """A traced call."""

    graph: _core.Graph
    input_leaves: list[int]
    captured: list[np.ndarray]
    slots: list[Slot]
    structure: Any
    layout_leaves: list[int]  # whose order in memory the program depends on
    aliases: dict[int, int] = field(default_factory=dict)  # program output → the leaf whose memory it lands in

    def build_result(self, values: list[Any]) -> Any:
        return unflatten_with(self.structure, values)


@dataclass(eq=False)
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

    def __init__(
        self, names: list[str], static: set[str], dynamic: dict[str, dict[int, Any]], declared: dict[str, Declared],
        row_major: bool = False,
    ) -> None:
        self.names, self.static, self.dynamic, self.declared = names, static, dynamic, declared
        self.row_major = row_major
        self.leaves: list[Leaf] = []
        self.inputs: list[Leaf] = []
        self.extents: dict[str, tuple[int, str]] = {}

    def replace(self, args: tuple, kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        named = [(self.names[i] if i < len(self.names) else f"arg{i}", value) for i, value in enumerate(args)]
        return [self._replace(n, v) for n, v in named], {n: self._replace(n, v) for n, v in kwargs.items()}

    def _replace(self, name: str, value: Any) -> Any:
        if name in self.static:
            return value
        if name in self.declared:
            self.declared[name].require(name, value)
        leaves, structure = flatten(value, is_array_leaf, name)
        return unflatten_with(structure, [self._placeholder(path, leaf, name) for path, leaf in leaves])

    def _placeholder(self, path: str, given: Any, parameter: str) -> TracedArray:
        for known in self.leaves:
            if known.given is given and isinstance(given, np.ndarray):
                self.leaves.append(known)
                # One storage: what may be written by one name may be written.
                if parameter not in self.declared or self.declared[parameter].mutable:
                    known.traced.guard_writes(None)
                return known.traced
        weak = type(given) if type(given) in (float, complex) else None
        array = given if isinstance(given, Spec) else np.asarray(given)
        if isinstance(given, np.ndarray) and type(given) is not NDARRAY:
            raise ArgumentTypeError(f"'{path}' must be a plain ndarray, got {type(given).__name__}  [array_subclass]")
        shape = list(array.shape)
        whole = path == parameter and not (isinstance(given, Spec) and parameter in self.declared)
        for axis, extent in self.dynamic.get(parameter, {}).items() if whole else ():
            if not -len(shape) <= axis < len(shape):
                raise ArgumentValueError(f"dynamic axis {axis} of '{path}' is out of range for shape {tuple(shape)}  [dynamic_axis]")
            if isinstance(extent, _core.Dim) and isinstance(shape[axis], int):
                self._require_agreement(extent, shape[axis], f"axis {axis} of '{path}'")
            shape[axis] = extent
        tensor = _core.parameter(shape, array.dtype.newbyteorder("="), path)
        leaf = Leaf(path, given, TracedArray(tensor, weak), len(self.inputs))
        leaf.traced.scalar = not isinstance(given, (np.ndarray, Spec))
        leaf.traced._storage.parents = ()
        leaf.traced._storage.foreign = not array.dtype.isnative
        leaf.traced._storage.strides = None if self.row_major else given_strides(given, shape)
        if parameter in self.declared and not self.declared[parameter].mutable:
            leaf.traced.guard_writes(f"'{parameter}' is declared as {self.declared[parameter]!r}, without wf.mutable")
        self.leaves.append(leaf)
        self.inputs.append(leaf)
        return leaf.traced

    def _require_agreement(self, extent: Any, value: int, place: str) -> None:
        known, where = self.extents.setdefault(repr(extent), (value, place))
        if known != value:
            raise ArgumentValueError(f"extent '{extent!r}' is {known} on {where} but {value} on {place}  [extent_agreement]")


def trace_call(
    function: Callable[..., Any],
    args: tuple,
    kwargs: dict[str, Any],
    *,
    static: set[str] = frozenset(),  # type: ignore[assignment]
    donate: set[str] = frozenset(),  # type: ignore[assignment]
    dynamic: dict[str, dict[int, Any]] | None = None,
    declared: dict[str, Declared] | None = None,
    bake: bool = False,
) -> Traced:
    """Runs the function once on placeholders and returns what it did.

    With ``bake`` the program stands alone: arrays of the surroundings are constants, and arguments count as in row-major
    order.
    """
    name = getattr(function, "__name__", "main").replace("<lambda>", "lambda")
    with span("trace", f"trace {name}"):
        return run_traced(function, name, args, kwargs, static, donate, dynamic or {}, declared or {}, bake)


def run_traced(
    function: Callable[..., Any],
    name: str,
    args: tuple,
    kwargs: dict[str, Any],
    static: set[str],
    donate: set[str],
    dynamic: dict[str, dict[int, Any]],
    declared: dict[str, Declared],
    bake: bool,
) -> Traced:
    """What the function did on placeholders, tried once more for each loop that turns out not to be recordable as one."""
    unrolled: dict[Any, str] = {}
    peels: dict[Any, int] = {}
    constructor: Callable[[], Any] = nullcontext
    while True:
        arguments = Arguments(positional_names(function), static, dynamic, declared, bake)
        trace = Trace(name, bake=bake)
        trace.unrolled, trace.peels = unrolled, peels
        with tracing(trace), traced_creation(), constructor():
            traced_args, traced_kwargs = arguments.replace(args, kwargs)
            originals = [leaf.traced.tensor for leaf in arguments.inputs]
            trace.arguments = [leaf.traced for leaf in arguments.inputs]
            try:
                result = function(*traced_args, **traced_kwargs)
            except Retry as retry:
                retry.note(unrolled, peels)
                continue
            except Exception as error:
                if constructor is nullcontext and names_ndarray(error):
                    constructor = traced_constructor
                    continue
                if not trace.loops or trace.loops[-1].turns.numbers.forced:
                    raise
                unrolled[trace.loops[-1].turns.site] = str(error).splitlines()[0]
                continue
            if trace.loops:
                unrolled[trace.loops[-1].turns.site] = "it is left before its end"
                continue
            return finish_trace(trace, arguments, originals, result, donate)


def names_ndarray(error: Exception) -> bool:
    """Whether a function that the error came through may have called np.ndarray to make an array."""
    at = error.__traceback__
    while at is not None:
        if "ndarray" in at.tb_frame.f_code.co_names and not is_library(at.tb_frame.f_code.co_filename):
            return True
        at = at.tb_next
    return False


def finish_trace(trace: Trace, arguments: Arguments, originals: list[Any], result: Any, donate: set[str]) -> Traced:
    """Sorts what the function returned and wrote into program outputs."""
    is_result = lambda value: isinstance(value, (TracedArray, Selection, np.ndarray, np.generic))
    found, structure = flatten(result, is_result, "")
    storages = {id(leaf.traced._storage): i for i, leaf in reversed(list(enumerate(arguments.leaves)))}
    written = {id(p) for p, o in zip(arguments.inputs, originals, strict=True) if not p.traced._storage.read().is_same(o)}
    slots: list[Slot] = []
    outputs: list[tuple[Any, str, int]] = []
    kept: set[int] = set()
    for path, value in found:
        if isinstance(value, Selection):
            value.leave()
        at = storages.get(id(value._storage)) if isinstance(value, TracedArray) and not value._steps else None
        leaf = None if at is None or arguments.leaves[at].traced.weak else arguments.leaves[at]
        if leaf is not None:
            kept.add(id(leaf))
        # Who runs a program that stands alone has no arguments to take a result from but those that are written.
        if leaf is not None and (not trace.bake or id(leaf) in written):
            slots.append(Slot(LEAF, at, ARRAY))
            continue
        slots.append(Slot(OUTPUT, len(outputs), form_of(value)))
        outputs.append((as_tensor(value), f"output.{path}" if path else "output", -1))
    free = [leaf for leaf in arguments.inputs if id(leaf) not in written and id(leaf) not in kept]
    donate_outputs(outputs, [leaf for leaf in free if leaf.name.split(".")[0] in donate])
    for parameter in (leaf for leaf in arguments.inputs if id(leaf) in written):
        outputs.append((parameter.traced._storage.read(), parameter.name, parameter.program_input))
    input_leaves = [arguments.leaves.index(leaf) for leaf in arguments.inputs]
    aliases = {i: input_leaves[alias] for i, (_, _, alias) in enumerate(outputs) if alias >= 0}
    captured = trace.captured_arrays()
    parameters = [(tensor, leaf.name, -1) for leaf, tensor in zip(arguments.inputs, originals, strict=True)]
    parameters += [(capture.tensor, f"captured{i}", -1) for i, capture in enumerate(trace.captures)]
    graph = _core.record_graph(trace.name, uniquely_named(parameters), uniquely_named(outputs))
    decides = deciding(trace)
    layouts = [i for i, leaf in enumerate(arguments.leaves) if id(leaf.traced._storage) in decides]
    return Traced(graph, input_leaves, captured, slots, structure, layouts, aliases)


def form_of(value: Any) -> int:
    """Whether NumPy gives an array, a scalar or a Python number here."""
    if isinstance(value, TracedArray):
        return NUMBER if value.weak else SCALAR if value.scalar else ARRAY
    return ARRAY if isinstance(value, np.ndarray) else SCALAR


def uniquely_named(tensors: list[tuple[Any, str, int]]) -> list[tuple[Any, str, int]]:
    """The same with "_1", "_2" behind names that occur before."""
    used: set[str] = set()
    result = []
    for tensor, name, alias in tensors:
        unique, count = name, 0
        while unique in used:
            count += 1
            unique = f"{name}_{count}"
        used.add(unique)
        result.append((tensor, unique, alias))
    return result


def donate_outputs(outputs: list[tuple[Any, str, int]], donated: list[Leaf]) -> None:
    """Lets outputs land in the memory of donated arguments of the same dtype and shape."""
    for leaf in donated:
        for i, (tensor, name, alias) in enumerate(outputs):
            if alias < 0 and tensor.type_text() == leaf.traced.tensor.type_text():
                outputs[i] = (tensor, name, leaf.program_input)
                break
