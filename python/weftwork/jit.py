"""jit, trace and compile: a NumPy function run by machine code."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from . import _core
from .abandoned import FIRST_LOOK, abandoned
from .annotation import Declared, declared_parameters, with_declared
from .bytecode.outside import LEAF as LEAF_STEP
from .bytecode.recorder import Refused
from .device import Device, Lent, to_device
from .errors import ArgumentTypeError, ArgumentValueError, ExecutionError, InternalError
from .graph import Executable, Graph
from .integers import Integers
from .joined import Joined, traced_jointly
from .knobs import is_on, target_name
from .neuron import compile_neff, is_neuron, on_device
from .numpy.tracer import TracedArray, current_trace
from .pieces import Postponed, Session, Ways, postponed_plan
from .plans import is_small, least_time, may_not_pay, plain_plan, plan_of, varying_of
from .profile import span
from .rebinding import rebound
from .runaway import Programs
from .spec import Spec, dynamic_extents
from .trace import Traced, positional_names, trace_call
from .travel import copied, pickler_that_asks, reduced_jit

logger = logging.getLogger("weftwork")

__all__ = ["compile", "jit", "trace"]


def names_of(names: str | Iterable[str]) -> set[str]:
    return {names} if isinstance(names, str) else set(names)


@dataclass(frozen=True)
class Options:
    """How a function is traced."""

    static: frozenset[str]
    donate: frozenset[str]
    dynamic: dict[str, dict[int, Any]]
    declared: dict[str, Declared] = field(default_factory=dict)
    target: str | None = None
    device: Device = field(default_factory=Device)
    pure: bool = False

    def of(self, function: Callable[..., Any]) -> Options:
        """These options with what the function's annotations declare; ``dynamic=`` goes before their extents."""
        declared = declared_parameters(function)
        axes = {
            name: {axis: extent for axis, extent in enumerate(d.shape) if isinstance(extent, _core.Dim)}
            for name, d in declared.items()
        }
        dynamic = {name: {**axes.get(name, {}), **self.dynamic.get(name, {})} for name in {**axes, **self.dynamic}}
        return Options(
            self.static,
            self.donate,
            {n: a for n, a in dynamic.items() if a},
            declared,
            self.target,
            self.device,
            self.pure,
        )

    def trace(
        self,
        function: Callable[..., Any],
        args: tuple,
        kwargs: dict[str, Any],
        *,
        bake: bool = False,
        strict: bool = True,
        varying: frozenset[Any] = frozenset(),
        session: Callable[[], Session] | None = None,
    ) -> Traced:
        lent = Lent(positional_names(function), self.static, args, kwargs)
        return trace_call(
            function,
            lent.args,
            lent.kwargs,
            static=set(self.static),
            donate=set(self.donate),
            dynamic=self.dynamic,
            declared=self.declared,
            bake=bake,
            strict=strict,
            varying=varying,
            session=session,
            pure=self.pure,
        )


class Jit(_core.Dispatcher):
    """A function compiled for each signature that it is called with; see :func:`jit`."""

    def __init__(
        self, function: Callable[..., Any], options: Options, strict: bool | None = None, plain: Any = None
    ) -> None:
        strict = is_on("strict") if strict is None else strict
        require_parameters(function, {*options.static, *options.donate, *options.dynamic})
        axes = {name: tuple(extents) for name, extents in options.dynamic.items()}
        positional = tuple(positional_names(function))
        super().__init__(
            plain or function,
            self._compile,
            self._run_jointly,
            self._run_others,
            self._measure,
            positional,
            axes,
            tuple(options.static),
            strict,
        )
        functools.update_wrapper(self, function)
        self._function, self._options = function, options
        self._strict = strict
        is_function = plain is None and options.device.kind == "cpu"
        self._has_trials = not strict and is_function and is_on("trials")
        self._jointly: Jit | None = None
        self._integers = Integers()
        self._programs = Programs()
        self._next_look = FIRST_LOOK
        self._is_recorded_again = False
        #: Ways in which calls ran otherwise than as one program: the reason and the line, with how often it was met.
        self.refusals: dict[tuple[str, str], int] = {}

    def _compile(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        target = target_name(self._options.target)
        device = self._options.device
        if is_neuron(target) and device.kind != "neuron":
            raise ExecutionError(
                "a call needs a Neuron device: wf.jit(f, device='neuron:0') runs there, wf.compile(f, *arrays, "
                "target='neuron') gives the NEFF to save  [neuron_device]"
            )
        self._drop_abandoned()
        with span("jit", f"first call of {getattr(self._function, '__qualname__', 'a function')}"):
            before = self.plans_for(*args, **kwargs)
            if len(before) >= MANY_WAYS and self._fixed_integers(args, kwargs):
                before = self.plans_for(*args, **kwargs)
            if not self._strict and len(before) >= MOST_WAYS:
                return plain_plan(None)
            plan, alike, differing = (None, [], set()) if self._options.static else rebound(self, args, kwargs)
            if plan is not None:
                return plan
            plan = self._recorded(args, kwargs, [*before, *alike], None, differing)
            self._is_recorded_again = False
        self._programs.note(self, args, kwargs, before, plan)
        return plan

    def _drop_abandoned(self) -> None:
        """Lets go of objects that have died but for the plans for calls with them."""
        plans = self.plans()
        if len(plans) < self._next_look:
            return
        for plan in abandoned(plans):
            self.drop(plan)
        self._next_look = max(FIRST_LOOK, 2 * len(self.plans()))

    def _recorded(
        self, args: tuple, kwargs: dict[str, Any], before: list[Any], ways: Ways | None, differing: Iterable[Any] = ()
    ) -> Any:
        """The plan of a call; with ``ways`` it is one more way through pieces that are there."""
        varying = varying_of(before, args, kwargs).union(differing)
        if ways is not None:
            return self._planned(self._traced(args, kwargs, varying, ways))
        version, integers = self.inputs_version, self._integers
        outside = frozenset(key for key in varying if key[0] != LEAF_STEP)
        leaves = lambda paths: frozenset((LEAF_STEP, path) for path in paths)
        inputs = integers.inputs
        found: Any = None
        while new := integers.varying(self.integers_of(*args, **kwargs)):
            with contextlib.suppress(Exception):
                found = self._traced(args, kwargs, outside | leaves(inputs | new), None)
            pinned = found.recorder.pinned_integers() & new if isinstance(found, Traced) else new
            if not pinned:
                break
            integers.fix(pinned)
            found = None
        if found is None:
            found = self._traced(args, kwargs, outside | leaves(inputs), None)
        elif self.inputs_version == version:
            integers.inputs = inputs | new
            version = self.set_inputs(integers.inputs)
        plan = self._planned(found)
        plan.inputs_version = version
        return plan

    def _traced(self, args: tuple, kwargs: dict[str, Any], varying: frozenset[Any], ways: Ways | None) -> Any:
        """The recording of a call, or why there is none."""
        session = self.new_session(ways, is_first=ways is None and not self._is_recorded_again)
        try:
            return self._options.trace(
                self._function, args, kwargs, strict=self._strict, varying=varying, session=session
            )
        except Refused as refused:
            return refused

    def _fixed_integers(self, args: tuple, kwargs: dict[str, Any]) -> bool:
        """Makes the call's integers that are inputs a part of programs again; whether there were any."""
        paths = self._integers.inputs.intersection(path for path, _ in self.integers_of(*args, **kwargs))
        self._integers.fix(paths)
        if paths:
            self.set_inputs(self._integers.inputs)
        return bool(paths)

    def _planned(self, traced: Any) -> Any:
        """The plan of a recording, which lets go of the call; None where it is a way of none."""
        try:
            return self._plan_of(traced)
        finally:
            if isinstance(traced, Traced):
                traced.blueprint.let_go()
            else:
                traced.__traceback__ = traced.__context__ = None
            if traced.recorder is not None:
                traced.recorder.let_go()

    def _plan_of(self, traced: Any) -> Any:
        if isinstance(traced, Refused):
            return self._refused(traced)
        if traced.session is None or not traced.session.path:
            try:
                native = self._native(Graph(traced.graph), traced.is_checked)
            except InternalError as error:
                return self._uncompiled(error, traced)
            plan = plan_of(traced, native)
            if self._has_trials and not traced.recorder.trace.effects:  # other ranks would be waited for
                self._begin_trial(plan, traced)
            return plan
        traced.session.end(traced.recorder, traced)
        return self._in_pieces(traced.session, traced.steps)

    def _uncompiled(self, error: InternalError, traced: Traced) -> Any:
        """The plan of a call whose program we fail to compile: the mistake is ours, and the call runs plainly."""
        if self._strict or is_on("verify"):
            raise error
        logger.warning("%s is not compiled, please report it: %s", self._function, error)
        refused = Refused(str(error).split("\n")[0], recorder=traced.recorder)
        refused.steps = traced.steps
        return self._plain(refused)

    def _begin_trial(self, plan: Any, traced: Traced) -> None:
        """Has the plan measured: in the place of calls where results are NumPy's bits or small, else beside them."""
        recorder = traced.recorder
        if recorder.host_calls or is_small(traced.graph) or may_not_pay(traced.graph):
            plan.has_trial = True
        elif not traced.blueprint.stores and not traced.aliases and not traced.outside_aliases:
            plan.is_measured_aside = True

    def _measure(self, args: tuple, kwargs: dict[str, Any]) -> int:
        """The nanoseconds that the function itself takes, which has no effects; -1 where it raises."""
        return least_time(self._function, args, kwargs)

    def new_session(self, ways: Ways | None = None, is_first: bool = False) -> Callable[[], Session] | None:
        """What makes the sessions of recordings; None where calls have to be one program."""
        if self._strict or self._options.dynamic:
            return None
        return lambda: Session(self._native, ways, self._has_trials, is_first)

    def _native(self, graph: Graph, checks: bool = False, tiered: bool = True) -> Any:
        """``checks``: errors of values that the program finds end its runs; pieces ask for them before."""
        return native_executable(
            graph, target_name(self._options.target), self._options.device, tiered=tiered, checks=checks
        )

    def _in_pieces(self, session: Session, steps: Any) -> Any:
        """The plan of a tree that has this way; None where it is a way of none."""
        ways = session.attach(steps, self._extend)
        if ways is None:
            return None
        plan = ways.first.plan
        if session.ways is None:  # one that was there may have been given back meanwhile
            plan.pieces, plan.steps = ways, ways.steps
            ways.has_trial = self._has_trials and not (session.recorder is not None and session.recorder.trace.effects)
            plan.has_trial = ways.has_trial and not ways.late
        return plan

    def _extend(self, ways: Ways, args: tuple, kwargs: dict[str, Any]) -> bool:
        """One more way for a tree; whether there is one."""
        plan = self._recorded(args, kwargs, [ways], ways)
        return plan is ways.first.plan

    def _refused(self, refused: Refused) -> Any:
        if isinstance(refused, Postponed):
            return self._postponed(refused)
        session = refused.recorder.session if refused.recorder is not None else None
        late = session is not None and (session.count > MOST_BEFORE_PLAIN or refused.is_long)
        if session is None or not session.path or (session.ways is None and late):
            # What is asked for on the way to the refusal cannot be looked at without going there.
            refused.steps = None if session is not None and session.path else refused.steps
            return self._plain(refused)
        session.end_plainly(refused.recorder)
        self._note(refused)
        return self._in_pieces(session, refused.recorder.steps)

    def _postponed(self, postponed: Postponed) -> Any:
        """The plan of a call that is recorded once it comes by again."""

        def again() -> None:
            self.drop(plan)
            self._is_recorded_again = True

        plan = postponed_plan(again, postponed.taken)
        return plan

    def _plain(self, refused: Refused) -> Any:
        """The plan of a call that runs plainly; a function all of whose calls do is asked no more."""
        self._note(refused)
        # What takes long to find out is not found out again.
        refusals = sum(self.refusals.values()) + refused.is_long * (MOST_REFUSALS - 2)
        if refusals >= MOST_REFUSALS and all(plan.core is None and plan.pieces is None for plan in self.plans()):
            self.is_plain = True
        return plain_plan(refused.steps)

    def _note(self, refused: Refused) -> None:
        reason = (refused.reason, refused.place)
        self.refusals[reason] = self.refusals.get(reason, 0) + 1
        logger.info("%s runs plainly: %s (%s)", getattr(self._function, "__qualname__", "a function"), *reason)

    def require_declared(self, args: tuple, kwargs: dict[str, Any]) -> None:
        """An error where an argument of a call within another traced function is not what its annotation says."""
        for name, value in (*zip(positional_names(self._function), args, strict=False), *kwargs.items()):
            if name in self._options.declared:
                given = Spec(tuple(value.shape), value.dtype) if isinstance(value, TracedArray) else value
                self._options.declared[name].require(name, given)

    @property
    def ways(self) -> dict[str, int]:
        """How many calls ran as one compiled program, in compiled pieces, and plainly."""
        return {"compiled": self.compiled_calls, "pieces": self.piece_calls, "plain": self.plain_calls}

    def _run_jointly(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A call whose arguments share elements that it writes; NotImplemented where it cannot be run."""
        call = Joined(positional_names(self._function), self._options.static, args, kwargs)
        if not call.possible or not call.bases:
            return NotImplemented
        if self._jointly is None:
            options = Options(frozenset(), frozenset(), {}, target=self._options.target, device=self._options.device)
            self._jointly = Jit(
                traced_jointly(self._function), options, self._strict, plain=lambda *_, **__: NotImplemented
            )
        result = self._jointly(call.bases, call.args, call.kwargs)
        return result if result is NotImplemented else call.result(result)

    def _run_others(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A call with arrays that are not NumPy's own: those of a function that is traced, buffers, tensors of torch."""
        trace = current_trace()
        if trace is not None:
            self.require_declared(args, kwargs)
            return (
                trace.recorder.call(self._function, args, kwargs)
                if trace.recorder is not None
                else self._function(*args, **kwargs)
            )
        lent = Lent(positional_names(self._function), self._options.static, args, kwargs)
        device = self._options.device
        return lent.result(self(*lent.args, **lent.kwargs), device if device.kind == "cpu" else None)

    @property
    def executables(self) -> list[Executable]:
        """One for each signature that was compiled and is kept, oldest first."""
        return [Executable(core) for core in self.cores]

    def clear(self) -> None:
        """Forgets everything compiled."""
        self.clear_plans()
        self._jointly = None
        self._integers = Integers()
        self.set_inputs(())

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        # What only the function has: cache_info of one with a cache, defaults, code.
        function = self.__dict__.get("_function")
        if function is None or (name[:2] == "__" and name not in FUNCTION_PARTS):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(function, name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced_jit(self, pickler_that_asks())

    def __copy__(self) -> Jit:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Jit:
        return copied(self, memo)

    def __repr__(self) -> str:
        return f"<weftwork.jit of {getattr(self._function, '__qualname__', self._function)!s}>"


def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnames: str | Iterable[str] = (),
    donate_argnames: str | Iterable[str] = (),
    device: Device | str | None = None,
    dynamic: dict[str, dict[int, Any]] | None = None,
    target: str | None = None,
    strict: bool | None = None,
    pure: bool = False,
) -> Any:
    """Compiles a NumPy function to native code at its first call with each signature.

    A signature is the dtypes and shapes of the array arguments, and the values of all others: booleans, strings, integers and
    what ``static_argnames`` lists (lists, dictionaries, sets, slices, arrays and dataclasses by what they hold, other objects
    that cannot be hashed by identity) are part of the program; Python floats and complex numbers are inputs that promote
    as Python scalars do, and so is an integer once it differs at a later call, unless shapes, axes or loops depend on it. Arrays may be nested in tuples, lists and dicts; a :class:`weftwork.Buffer`, or what has
    ``__dlpack__``, in the place of one is used where it lies, and then arrays of the result are buffers. Arrays that the
    function writes to are written in place. A jitted function that another calls is a part of it.

    What it reads from globals, attributes, outer functions and containers may change: arrays, floats and integers are read anew at
    each call (read-only arrays are constants); another text, flag, object or length is another program. What it stores there is
    stored once the program has run; ``pure=True`` promises that all but arrays and floats stay what they are. A call in which
    Python asks for values runs as several programs; one that no program can take runs plainly, with NumPy, and so does, after
    twelve calls, what is no faster. Pieces are compiled beside the first calls. ``strict=True`` (or the knob WEFT_STRICT=1)
    raises and names the line instead. :func:`weftwork.explain`, ``ways`` and ``refusals`` tell which and why.

    ``dynamic={"x": {0: wf.Dim("n", 1, 64, 4096)}}`` makes axis 0 of ``x`` a symbolic extent: one program serves all sizes
    from 1 to 4096. Annotations ``wf.tensor[...]`` declare the same, with dtype and shape. ``donate_argnames`` are arguments
    whose memory results of the same dtype and shape take over. ``target`` is the CPU level to compile for: "native",
    "avx512", "avx2" or "x86-64"; the knob WEFT_TARGET where it is not given. ``device``: where it runs, or its name.

    >>> import numpy as np, weftwork as wf
    >>> @wf.jit
    ... def f(x, w):
    ...     return np.tanh(x @ w)
    >>> f(np.zeros((2, 3), np.float32), np.ones((3, 4), np.float32)).shape
    (2, 4)
    >>> class Model:
    ...     def __init__(self): self.weights, self.steps = np.zeros(3), 0
    ...     @wf.jit
    ...     def step(self, gradient, rate):
    ...         self.weights = self.weights - rate * gradient
    ...         self.steps += 1
    ...         return self.weights.max()
    >>> model = Model()
    >>> [float(model.step(np.ones(3), rate)) for rate in (0.5, 0.25, 0.25)], model.steps
    ([-0.5, -0.75, -1.0], 3)
    >>> Model.step.ways
    {'compiled': 3, 'pieces': 0, 'plain': 0}
    """
    static, donate = frozenset(names_of(static_argnames)), frozenset(names_of(donate_argnames))
    options = Options(static, donate, dynamic_extents(dynamic), target=target, device=to_device(device), pure=pure)
    if function is None:
        return lambda wrapped: jitted(wrapped, options, strict)
    return jitted(function, options, strict)


def jitted(function: Any, options: Options, strict: bool | None) -> Any:
    """The function compiled; of a class method or static method, the same kind of method that is."""
    if isinstance(function, (classmethod, staticmethod)):
        return type(function)(jitted(function.__func__, options, strict))
    if not callable(function):
        raise ArgumentTypeError(f"jit takes a function, got {type(function).__name__}  [jit_function]")
    return Jit(function, options.of(function), strict)


#: What Python tells of a function under names of its own.
FUNCTION_PARTS = frozenset(["__closure__", "__code__", "__defaults__", "__globals__", "__kwdefaults__"])
#: So many ways through a function are compiled for one signature; further ones run plainly.
MOST_WAYS = 8
#: After so many, integers that were made inputs are a part of programs again.
MANY_WAYS = 4
#: A call that cannot go on in pieces after more than so many runs plainly from its start, at later calls too.
MOST_BEFORE_PLAIN = 2
#: After so many refusals, and no program, all calls of a function run plainly.
MOST_REFUSALS = 4


def require_parameters(function: Callable[..., Any], names: set[str]) -> None:
    """Error for a name that no parameter of the function has."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    known = [p.name for p in parameters]
    unknown = sorted(names - set(known))
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        raise ArgumentValueError(
            f"'{unknown[0]}' is no parameter of '{getattr(function, '__name__', function)}', they are {known}  [argnames]"
        )


def plain_function(function: Any) -> tuple[Callable[..., Any], Options]:
    """What a jitted function wraps, and its options."""
    if isinstance(function, Jit):
        return function._function, function._options
    if not callable(function):
        raise ArgumentTypeError(f"a function was wanted, got {type(function).__name__}  [function]")
    return function, Options(frozenset(), frozenset(), {}).of(function)


def trace(function: Any, *args: Any, **kwargs: Any) -> Graph:
    """The program that the function is for such arguments: arrays, or ``wf.spec(shape, dtype)`` in their place.

    Parameters that ``wf.tensor[...]`` declares need no argument. Arrays that it reads from its surroundings become constants,
    arguments that it returns are outputs.

    >>> import numpy as np, weftwork as wf
    >>> print(wf.trace(lambda x: np.tanh(x), wf.spec((2, "n"), np.float32)).outputs[0].shape)
    (2, n)
    """
    plain, options = plain_function(function)
    args, kwargs = with_declared(plain, options.declared, args, kwargs)
    return Graph(options.trace(plain, args, kwargs, bake=True).graph)


def compile(
    function: Any, *args: Any, target: str | None = None, device: Device | str | None = None, **kwargs: Any
) -> Any:
    """Compiles a Graph, or a function for such arguments (see :func:`trace`), into an Executable.

    ``target`` is the CPU level to compile for: "native", "avx512", "avx2" or "x86-64"; the knob WEFT_TARGET where it is
    not given; ``device`` is where it will run, a :class:`weftwork.Device` or its name (so parameters of the function with these
    names are passed by position). With "neuron", or
    "neuron:trn1" and the like, the program's HLO goes to the compiler ``neuronx-cc`` and the result is a
    :class:`weftwork.neuron.Neff`, which is saved and run elsewhere; an :class:`ExecutionError` says what to install where
    that compiler is missing. With ``device="neuron:0"`` it is loaded there, and the result is an Executable.
    """
    if isinstance(function, Graph):
        graph = function.function(*args, **kwargs)
    else:
        options = plain_function(function)[1]
        graph, target, device = trace(function, *args, **kwargs), target or options.target, device or options.device
    wanted = target_name(target)
    where = to_device(device)
    if is_neuron(wanted) and where.kind != "neuron":
        return compile_neff(graph, wanted)
    return Executable(native_executable(graph, wanted, where))


def native_executable(graph: Graph, target: str, device: Device, tiered: bool = False, checks: bool = True) -> Any:
    """A program compiled for a target and loaded on a device; ``tiered``: it runs at once."""
    return (
        on_device(graph, device, target)
        if device.kind == "neuron"
        else _core.compile(graph.core, target, device=device, tiered=tiered, checks=checks)
    )
