"""Tracing: a NumPy function and example arguments → a Graph, and how its inputs and outputs map to Python's."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from .annotation import Declared
from .bytecode.branches import CONDITIONS
from .bytecode.kinds import INTEGERS
from .bytecode.machine import Stop
from .bytecode.outside import ARGUMENT, CALL, VALUE, HostValue, Steps, watching
from .bytecode.outside import LEAF as LEAF_STEP
from .bytecode.recorder import Escaped, Recorder, Refused
from .errors import ArgumentTypeError, ArgumentValueError, Error, UnsupportedError
from .numpy.axis_order import inverse, turned
from .numpy.checks import Checks
from .numpy.layout import deciding, given_strides
from .numpy.retry import Retry
from .numpy.tracer import MASKS, NDARRAY, Trace, TracedArray, tracing
from .profile import span
from .pytree import flatten, unflatten_with
from .result import ARRAY, LEAF, NUMBER, OUTPUT, SCALAR, Blueprint, Place, Slot
from .spec import Spec
from .static import Snapshots

#: A call that may run plainly does so where its program would have more.
MOST_OPERATIONS = 5_000

__all__ = ["ARRAY", "LEAF", "NUMBER", "OUTPUT", "SCALAR", "Slot", "Traced", "positional_names", "trace_call"]


@dataclass
class Traced:
    """A traced call."""

    graph: _core.Graph
    input_leaves: list[Place]
    captured: list[np.ndarray]
    blueprint: Blueprint
    layout_leaves: list[int]  # whose order in memory the program depends on
    aliases: dict[int, int] = field(default_factory=dict)  # program output → the input whose memory it lands in
    steps: Steps | None = None
    extra: list[int] = field(default_factory=list)  # steps whose values are wanted, those that are inputs first
    extra_inputs: int = 0
    outside_aliases: dict[int, int] = field(
        default_factory=dict
    )  # program output → which of the extra inputs it lands in
    is_checked: bool = True  # errors of values that the program finds as it runs count
    inputs: Any = None  # of the last of several pieces
    session: Any = None  # the pieces before it
    recorder: Any = None

    @property
    def slots(self) -> list[Slot]:
        return self.blueprint.slots

    @functools.cached_property
    def builder(self) -> Callable[[list[Any], tuple], Any]:
        """What makes the result of a call of a program's outputs, and of values of steps behind those that are inputs."""
        self.blueprint.first_step = self.extra_inputs
        return self.blueprint.builder()

    def build_result(self, values: list[Any], extra: tuple = ()) -> Any:
        return self.builder(values, extra)


@dataclass(eq=False)
class Leaf:
    """An array argument: where it is, what was given, what stands for it."""

    name: str
    given: Any
    traced: TracedArray
    program_input: int
    parameter: Any  # of the program, as the array lies in memory
    axes: tuple[int, ...] | None  # the array's axes in that order; None: that of rows


def is_array_leaf(value: Any) -> bool:
    if isinstance(value, np.character):  # a text, as Python's are
        return False
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
        self,
        names: list[str],
        static: set[str],
        dynamic: dict[str, dict[int, Any]],
        declared: dict[str, Declared],
        row_major: bool = False,
        recorder: Recorder | None = None,
        integers: frozenset[str] = frozenset(),
    ) -> None:
        self.names, self.static, self.dynamic, self.declared = names, static, dynamic, declared
        self.row_major = row_major
        self.recorder = recorder
        self.integers = integers  # paths of those that are inputs
        self.leaves: list[Leaf] = []
        self.inputs: list[Leaf] = []
        self.extents: dict[str, tuple[int, str]] = {}

    def replace(self, args: tuple, kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        named = [(self.names[i] if i < len(self.names) else f"arg{i}", value) for i, value in enumerate(args)]
        replaced = [self._replace(n, v, i) for i, (n, v) in enumerate(named)]
        replaced_kwargs = {n: self._replace(n, v, n) for n, v in kwargs.items()}
        if self.recorder is not None and not self.recorder.bakes:
            for key, given, copy in [
                *zip(range(len(args)), args, replaced, strict=True),
                *((n, v, replaced_kwargs[n]) for n, v in kwargs.items()),
            ]:
                self.recorder.mirror_argument(given, copy, lambda key=key: self.recorder.steps.step(ARGUMENT, key))  # type: ignore[union-attr, misc]
        return replaced, replaced_kwargs

    def _replace(self, name: str, value: Any, key: int | str) -> Any:
        if name in self.static:
            return self._static(value, key)
        if name in self.declared:
            self.declared[name].require(name, value)
        leaves, structure = flatten(value, is_array_leaf, name, self.integers)
        return unflatten_with(structure, [self._given(path, leaf, name) for path, leaf in leaves])

    def _static(self, value: Any, key: int | str) -> Any:
        """What stands for a static argument: a copy, which nobody changes; or itself, as what is outside of the function."""
        if self.recorder is None or self.recorder.bakes:
            return value
        statics = self.recorder.statics
        copy = statics.of(value)
        if copy is not value and not statics.do:
            return self.recorder.outside(value, ARGUMENT, key)
        self.recorder.fresh |= statics.objects
        return copy

    def _given(self, path: str, given: Any, parameter: str) -> Any:
        """What the function gets for an argument: a Python number is one that Python computes with."""
        traced = self._placeholder(path, given, parameter)
        is_integer = type(given) is int or type(given) in INTEGERS
        if not (traced.weak or is_integer) or self.recorder is None or self.recorder.bakes:
            return traced
        step = self.recorder.steps.leaf(len(self.leaves) - 1, path)
        if is_integer:
            self.recorder.sources[id(traced.tensor)] = (traced.tensor, given, step)
        if traced.weak is None:
            return traced
        if type(given) is int:
            self.recorder.integers[path] = step
        return HostValue(given, step, traced)

    def _placeholder(self, path: str, given: Any, parameter: str) -> TracedArray:
        for known in self.leaves:
            if known.given is given and isinstance(given, np.ndarray):
                self.leaves.append(known)
                # One storage: what may be written by one name may be written.
                if parameter not in self.declared or self.declared[parameter].mutable:
                    known.traced.guard_writes(None)
                return known.traced
        weak = type(given) if type(given) in (int, float, complex) else None
        array = given if isinstance(given, Spec) else np.asarray(given)
        if isinstance(given, np.ndarray) and type(given) is not NDARRAY:
            raise ArgumentTypeError(f"'{path}' must be a plain ndarray, got {type(given).__name__}  [array_subclass]")
        if isinstance(given, np.generic) and type(given) is not given.dtype.type:
            raise ArgumentTypeError(f"'{path}' must be a NumPy scalar, got {type(given).__name__}  [array_subclass]")
        shape = list(array.shape)
        whole = path == parameter and not (isinstance(given, Spec) and parameter in self.declared)
        for axis, extent in self.dynamic.get(parameter, {}).items() if whole else ():
            if not -len(shape) <= axis < len(shape):
                raise ArgumentValueError(
                    f"dynamic axis {axis} of '{path}' is out of range for shape {tuple(shape)}  [dynamic_axis]"
                )
            if isinstance(extent, _core.Dim) and isinstance(shape[axis], int):
                self._require_agreement(extent, shape[axis], f"axis {axis} of '{path}'")
            shape[axis] = extent
        axes = _core.turned_axes(given) if type(given) is NDARRAY and not self.row_major else None
        lying = shape if axes is None else [shape[axis] for axis in axes]
        tensor = _core.parameter(lying, array.dtype.newbyteorder("="), path)
        traced = TracedArray(turned(tensor, inverse(axes)), weak)
        leaf = Leaf(path, given, traced, len(self.inputs), tensor, axes)
        leaf.traced.scalar = not isinstance(given, (np.ndarray, Spec))
        leaf.traced._storage.parents = ()
        leaf.traced._storage.foreign = not array.dtype.isnative
        leaf.traced._storage.locked = isinstance(given, np.ndarray) and not given.flags.writeable
        leaf.traced._storage.strides = None if self.row_major else given_strides(given, shape)
        if parameter in self.declared and not self.declared[parameter].mutable:
            leaf.traced.guard_writes(f"'{parameter}' is declared as {self.declared[parameter]!r}, without wf.mutable")
        self.leaves.append(leaf)
        self.inputs.append(leaf)
        if isinstance(given, np.ndarray) and self.recorder is not None and not self.recorder.bakes:
            self.recorder.arrays[id(given)] = (
                given,
                leaf.traced,
                self.recorder.steps.leaf(len(self.leaves) - 1, path),
            )
        return leaf.traced

    def place(self, leaf: Leaf) -> Place:
        """Where a program finds the argument."""
        return self.leaves.index(leaf), leaf.axes

    def _require_agreement(self, extent: Any, value: int, place: str) -> None:
        known, where = self.extents.setdefault(repr(extent), (value, place))
        if known != value:
            raise ArgumentValueError(
                f"extent '{extent!r}' is {known} on {where} but {value} on {place}  [extent_agreement]"
            )


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
    varying: frozenset[Any] = frozenset(),
    strict: bool = True,
    session: Callable[[], Any] | None = None,
    pure: bool = False,
) -> Traced:
    """Records what the function does to placeholders.

    With ``bake`` the program stands alone: arrays of the surroundings are constants, and arguments count as in row-major
    order. Without ``strict`` a call that is no single program raises :class:`Refused`; with it, the typed error that says why.
    ``varying`` names integers that differ from call to call, of the surroundings, and of arguments, as ("leaf", path). With ``session``, which makes a
    :class:`weftwork.pieces.Session`, the call may be recorded in pieces: the result then has the session. ``pure``: what is
    outside stays what it is.
    """
    name = getattr(function, "__name__", "main").replace("<lambda>", "lambda")
    call = Call(
        function,
        name,
        args,
        kwargs,
        static,
        donate,
        dynamic or {},
        declared or {},
        bake,
        varying,
        strict,
        session,
        pure,
    )
    with span("trace", f"trace {name}"):
        return call.traced()


def may_ask(recorder: Recorder | None) -> bool:
    """Whether a recording chose by conditions outside of loops, whose values Python could have had, and did nothing else yet."""
    return recorder is not None and recorder.has_chosen and not (recorder.session is not None and recorder.session.path)


@dataclass
class Call:
    """A call that is to be traced."""

    function: Callable[..., Any]
    name: str
    args: tuple
    kwargs: dict[str, Any]
    static: set[str]
    donate: set[str]
    dynamic: dict[str, dict[int, Any]]
    declared: dict[str, Declared]
    bake: bool
    varying: frozenset[Any]
    strict: bool
    session: Callable[[], Any] | None = None
    pure: bool = False
    unrolled: dict[Any, str] = field(default_factory=dict)
    peels: dict[Any, int] = field(default_factory=dict)
    known: set[Any] = field(default_factory=set)
    growing: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    statics: Snapshots = field(default_factory=Snapshots)

    def traced(self) -> Traced:
        """The recording, tried once more for each loop that turns out not to be recordable as one."""
        first: BaseException | None = None
        while True:
            try:
                traced = self._record()
                if traced is not None:
                    return traced
            except Retry as retry:
                known = self.unrolled.keys() | self.peels.items() | self.growing.items()
                retry.note(self.unrolled, self.peels, self.known, self.growing)
                if known == self.unrolled.keys() | self.peels.items() | self.growing.items():
                    refused = Refused(retry.reason, "")  # rather than to try the same for ever
                    raise unsupported(refused) if self.strict else refused from None
                continue
            except (Exception, Refused) as error:
                if CONDITIONS not in self.unrolled and isinstance(error, Refused) and may_ask(error.recorder):
                    self.unrolled[CONDITIONS] = error.reason
                    error.recorder.let_go()
                    error.__traceback__ = None
                    continue
                if self.strict and MASKS not in self.unrolled and is_about_counts(error):
                    # Masks of the surroundings are known; a selection by another fails again, where it was made.
                    self.unrolled[MASKS] = str(error)
                    first = error
                    continue
                if first is not None:
                    raise first from None
                if not self.statics.are_used():
                    raise
            self.statics.do = False

    def _recorder(self, trace: Trace) -> Recorder:
        recorder = Recorder(trace, None if self.bake else Steps())
        if self.strict:
            recorder.most_instructions = 1 << 62
        recorder.strict, recorder.varying = self.strict, set(self.varying)
        recorder.steps.varied, recorder.steps.trusts_outside = self.varying, self.pure
        return recorder

    def _record(self) -> Traced | None:
        trace = Trace(self.name, bake=self.bake)
        trace.unrolled, trace.peels, trace.known = self.unrolled, self.peels, self.known
        trace.growing = self.growing
        recorder = self._recorder(trace)
        integers = frozenset(key[1] for key in self.varying if key[0] == LEAF_STEP)
        arguments = Arguments(
            positional_names(self.function), self.static, self.dynamic, self.declared, self.bake, recorder, integers
        )
        self.statics = recorder.statics = Snapshots(self.statics.do)
        with tracing(trace), interpreting(recorder), watching():
            begun = False
            leaving: Exception
            try:
                traced_args, traced_kwargs = arguments.replace(self.args, self.kwargs)
                begun = True
                if not self.strict and not self.bake:
                    trace.checks.holds = TracedArray(_core.constant(np.asarray(True)))
                originals = [leaf.traced.tensor for leaf in arguments.inputs]
                trace.arguments = [leaf.traced for leaf in arguments.inputs]
                if recorder.unfit:
                    recorder.refuse(recorder.unfit)
                if self.session is not None:
                    self.session().begin(recorder, arguments, self.args, self.kwargs)
                result = recorder.call(self.function, tuple(traced_args), traced_kwargs)
                if trace.loops:
                    trace.loops[-1].left_early()
                traced = finish_trace(recorder, arguments, originals, result, self.donate)
                traced.session, traced.recorder = recorder.session, recorder
                if self.statics.have_escaped(recorder, traced.blueprint):
                    return None
                if not self.strict and len(traced.graph.op_names) > MOST_OPERATIONS:
                    recorder.refuse(f"a program of more than {MOST_OPERATIONS} operations")
                return traced
            except Escaped as escaped:
                self._write_out(trace, str(escaped.error).split("\n")[0])
                leaving = escaped.error
            except Stop as stop:
                refused = stop if isinstance(stop, Refused) else Refused(str(stop), recorder.last_place)
                self._write_out(trace, refused.reason)
                if not self.strict:
                    refused.steps, refused.recorder = recorder.steps, recorder
                    raise refused from None
                leaving = stop.__cause__ if isinstance(stop.__cause__, Exception) else unsupported(refused)
            except Error as error:
                self._write_out(trace, str(error).split("\n")[0])
                if self.strict or not begun:
                    raise
                raise Refused(str(error).split("\n")[0], recorder.last_place, recorder) from error
            except Exception as error:
                self._write_out(trace, str(error).split("\n")[0])
                if self.strict:
                    raise
                raise Refused(f"it raises {type(error).__name__}", recorder.last_place, recorder) from error
            finally:
                if recorder.session is not None:
                    recorder.session.whole.undo()
            # Here nothing is handled: an error whose context has it as its cause cannot be pickled by all.
            raise leaving from None

    @staticmethod
    def _write_out(trace: Trace, reason: str) -> None:
        """A loop in which something cannot be recorded is written out, if that was not asked against."""
        trace.recorder.write_out_lists()
        loops = [loop for loop in trace.loops if hasattr(loop, "turns")]
        # Of loops in each other, the one whose counter has no value.
        loops = [loop for loop in loops if re.search(rf"\b{loop.symbol}\b", reason)] or loops
        if loops and not loops[-1].turns.numbers.forced:
            raise Retry(loops[-1].turns.site, reason)


def is_about_counts(error: BaseException) -> bool:
    """Whether a result would have as many elements as only the run knows."""
    return isinstance(error, Error) and error.label == "dynamic_result_shape"


def unsupported(refused: Refused) -> UnsupportedError:
    error = UnsupportedError(f"this cannot be one program: {refused.reason}  [one_program]\n  {refused.place}")
    error.label = "one_program"
    return error


@contextmanager
def interpreting(recorder: Recorder) -> Iterator[None]:
    """While it lasts, the user's lines are those that the recorder interprets."""
    _core.set_interpreted_calls(recorder.frames)
    try:
        with np.errstate():  # what is entered and not left is undone
            yield
    finally:
        _core.set_interpreted_calls(None)


def blueprint_of(recorder: Recorder, arguments: Arguments, written: set[int], result: Any) -> Blueprint:
    """How what the function returned and stored is made of outputs of the program; ``written``: ids of leaves."""
    trace = recorder.trace
    storages = {id(leaf.traced._storage): i for i, leaf in reversed(list(enumerate(arguments.leaves)))}

    def leaf_of(value: TracedArray) -> int | None:
        """The argument that a result is; who runs a program that stands alone has none but those that are written."""
        at = storages.get(id(value._storage)) if not value._steps and not value.scalar else None
        return at if at is not None and (not trace.bake or id(arguments.leaves[at]) in written) else None

    blueprint = Blueprint(recorder, leaf_of)
    blueprint.sharing.find(
        [result, *(v for _, _, v in recorder.overlay.values()), *(m.copy for m in recorder.mirrors.values())]
    )
    blueprint.add_result(result)
    recorder.add_effects(blueprint)
    note_unread(trace.checks, [tensor for tensor, _ in blueprint.outputs])
    if trace.checks.may_run_plainly and trace.checks.holds.tensor.constant() is None:
        blueprint.add_validity(trace.checks.holds)
    return blueprint


def finish_trace(
    recorder: Recorder, arguments: Arguments, originals: list[Any], result: Any, donate: set[str]
) -> Traced:
    """Sorts what the function returned, stored and wrote into program outputs."""
    trace = recorder.trace
    # What ranks have exchanged cannot be taken back.
    checks_validity(recorder, writes(recorder, arguments, originals) or bool(trace.effects), result)
    written = {
        id(p) for p, o in zip(arguments.inputs, originals, strict=True) if not p.traced._storage.read().is_same(o)
    }
    blueprint = blueprint_of(recorder, arguments, written, result)
    outputs: list[tuple[Any, str, int]] = [
        (tensor, f"output.{path}" if path else "output", -1) for tensor, path in blueprint.outputs
    ]
    kept = {id(arguments.leaves[slot.index]) for slot in blueprint.slots if slot.source == LEAF}
    free = [leaf for leaf in arguments.inputs if id(leaf) not in written and id(leaf) not in kept]
    donate_outputs(outputs, [leaf for leaf in free if leaf.name.split(".")[0] in donate])
    for parameter in (leaf for leaf in arguments.inputs if id(leaf) in written):
        value = turned(parameter.traced._storage.read(), parameter.axes)
        outputs.append((value, parameter.name, parameter.program_input))
    captured = trace.captured_arrays()
    first_extra = len(arguments.inputs) + len(trace.captures)
    parameters = [(leaf.parameter, leaf.name, -1) for leaf in arguments.inputs]
    parameters += [(capture.tensor, f"captured{i}", -1) for i, capture in enumerate(trace.captures)]
    parameters += [(tensor, f"number{i}", -1) for i, (tensor, _) in enumerate(trace.numbers)]
    for i, read in enumerate(trace.reads):
        if not read.traced._storage.read().is_same(read.tensor):
            outputs.append((read.traced._storage.read(), read.name, first_extra + len(trace.numbers) + i))
        parameters.append((read.tensor, read.name, -1))
    if recorder.session is not None and recorder.session.path:
        return last_piece(recorder, blueprint, parameters, outputs)
    input_leaves = [arguments.place(leaf) for leaf in arguments.inputs]
    aliases = {i: alias for i, (_, _, alias) in enumerate(outputs) if 0 <= alias < len(input_leaves)}
    outside = {i: alias - first_extra for i, (_, _, alias) in enumerate(outputs) if alias >= first_extra}
    graph = _core.record_graph(trace.name, uniquely_named(parameters), uniquely_named(outputs), trace.effects)
    given = {id(v._storage) for v in blueprint.kept if isinstance(v, TracedArray)} if not trace.bake else set()
    decides = deciding(trace, given)
    layouts = [i for i, leaf in enumerate(arguments.leaves) if id(leaf.traced._storage) in decides]
    extra = [step for _, step in trace.numbers] + [read.step for read in trace.reads]
    wanted = [*extra, *blueprint.steps]
    return Traced(
        graph,
        input_leaves,
        captured,
        blueprint,
        layouts,
        aliases,
        recorder.steps,
        wanted,
        len(extra),
        outside,
        is_checked=trace.checks.is_in_program,
    )


def checks_validity(recorder: Recorder, is_written: bool, result: Any) -> None:
    """Where arrays are written in place, and in pieces, NumPy's errors are looked for before: later it would be too late."""
    if not is_written and (recorder.session is None or not recorder.session.path):
        return
    valid = recorder.trace.checks.valid
    if valid is None or valid.tensor.constant() is not None:
        return
    if is_written:
        if not recorder.can_break():
            recorder.refuse("an operation that may raise, and arrays that are written or exchanged with other ranks")
        if not recorder.is_valid(valid, result):
            recorder.refuse("an operation that raises for these values")
        recorder.trace.checks.holds = None


def writes(recorder: Recorder, arguments: Arguments, originals: list[Any]) -> bool:
    """Whether the call writes arrays that it was given, or those of its surroundings."""
    pairs = [(leaf.traced, original) for leaf, original in zip(arguments.inputs, originals, strict=True)]
    pairs += [(read.traced, read.tensor) for read in recorder.trace.reads]
    return not all(array._storage.read().is_same(tensor) for array, tensor in pairs)


def note_unread(checks: Checks, outputs: list[Any]) -> None:
    """Programs do not look at elements that nothing reads, which NumPy does."""
    looked_at, checks.looked_at = checks.looked_at, []
    read = set(_core.read_to_the_last([tensor for tensor, _ in looked_at], outputs))
    for i, (_, note) in enumerate(looked_at):
        if i not in read:
            note()


def last_piece(recorder: Recorder, blueprint: Blueprint, parameters: list[Any], outputs: list[Any]) -> Traced:
    """The end of a call in pieces: a program of what is not known by now."""
    written = {id(parameters[alias][0]) for _, _, alias in outputs if alias >= 0}
    if written:
        # Whatever was given is an input, so that a run sees whether it shares elements with what is written.
        steps = recorder.steps.steps
        outside = [read for read in recorder.trace.reads if steps[read.step][0] not in (VALUE, CALL)]
        written |= {id(tensor) for tensor in recorder.session.inputs} | {id(read.tensor) for read in outside}
    effects = recorder.trace.effects
    inputs = recorder.session.used(recorder, [*(tensor for tensor, _, _ in outputs), *effects], written)
    places = {id(tensor): i for i, (tensor, _, _) in enumerate(inputs.entries)}
    outputs = [(t, name, places[id(parameters[alias][0])] if alias >= 0 else -1) for t, name, alias in outputs]
    graph = _core.record_graph(recorder.trace.name, inputs.parameters(), uniquely_named(outputs), effects)
    wanted = [*inputs.steps, *blueprint.steps]
    traced = Traced(graph, inputs.leaves, inputs.captured, blueprint, [], {}, recorder.steps, wanted, len(inputs.steps))
    traced.inputs = inputs
    return traced


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
            if alias < 0 and tensor.type_text() == leaf.parameter.type_text():
                outputs[i] = (tensor, name, leaf.program_input)
                break
