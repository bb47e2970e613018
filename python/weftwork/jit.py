"""jit, simulate, trace and compile: the ways to run a NumPy function other than by NumPy."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from .annotation import Declared, declared_parameters, with_declared
from .device import Device, Lent, to_device
from .errors import ArgumentTypeError, ArgumentValueError, ExecutionError
from .graph import Executable, Graph
from .joined import Joined, traced_jointly
from .knobs import target_name
from .neuron import compile_neff, is_neuron, on_device
from .numpy.tracer import TracedArray, current_trace
from .profile import span
from .spec import Spec, dynamic_extents
from .trace import ARRAY, LEAF, SCALAR, Traced, positional_names, trace_call

__all__ = ["compile", "jit", "simulate", "trace"]


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

    def of(self, function: Callable[..., Any]) -> Options:
        """These options with what the function's annotations declare; ``dynamic=`` goes before their extents."""
        declared = declared_parameters(function)
        axes = {
            name: {axis: extent for axis, extent in enumerate(d.shape) if isinstance(extent, _core.Dim)}
            for name, d in declared.items()
        }
        dynamic = {name: {**axes.get(name, {}), **self.dynamic.get(name, {})} for name in {**axes, **self.dynamic}}
        return Options(self.static, self.donate, {n: a for n, a in dynamic.items() if a}, declared, self.target, self.device)

    def trace(self, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any], *, bake: bool = False) -> Traced:
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
        )


class Jit(_core.Dispatcher):
    """A function compiled for each signature that it is called with; see :func:`jit`."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        require_parameters(function, {*options.static, *options.donate, *options.dynamic})
        axes = {name: tuple(extents) for name, extents in options.dynamic.items()}
        super().__init__(self._compile, self._run_jointly, self._run_others, tuple(positional_names(function)), axes, tuple(options.static))
        functools.update_wrapper(self, function)
        self._function, self._options = function, options
        self._jointly: Jit | None = None

    def _compile(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        target = target_name(self._options.target)
        device = self._options.device
        if is_neuron(target) and device.kind != "neuron":
            raise ExecutionError(
                "a call needs a Neuron device: wf.jit(f, device='neuron:0') runs there, wf.compile(f, *arrays, "
                "target='neuron') gives the NEFF to save  [neuron_device]"
            )
        with span("jit", f"first call of {getattr(self._function, '__qualname__', 'a function')}"):
            traced = self._options.trace(self._function, args, kwargs)
            core = native_executable(Graph(traced.graph), target, device, tiered=True)
        single = traced.structure is None
        slots = [(slot.source, slot.index, slot.form) for slot in traced.slots]
        plan = _core.Plan(
            core, traced.input_leaves, traced.captured, slots, None if single else traced.build_result, traced.layout_leaves
        )
        return plan

    def _run_jointly(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A call whose arguments share elements that it writes; NotImplemented where it cannot be run."""
        call = Joined(positional_names(self._function), self._options.static, args, kwargs)
        if not call.possible or not call.bases:
            return NotImplemented
        if self._jointly is None:
            self._jointly = Jit(traced_jointly(self._function), Options(frozenset(), frozenset(), {}, target=self._options.target, device=self._options.device))
        return call.result(self._jointly(call.bases, call.args, call.kwargs))

    def _run_others(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A call with arrays that are not NumPy's own: those of a function that is traced, buffers, tensors of torch."""
        if current_trace() is not None:
            for name, value in (*zip(positional_names(self._function), args, strict=False), *kwargs.items()):
                if name in self._options.declared:
                    given = Spec(tuple(value.shape), value.dtype) if isinstance(value, TracedArray) else value
                    self._options.declared[name].require(name, given)
            return self._function(*args, **kwargs)
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

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

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
) -> Any:
    """Compiles a NumPy function to native code at its first call with each signature.

    A signature is the dtypes and shapes of the array arguments, and the values of all others: integers, booleans, strings
    and what ``static_argnames`` lists are part of the program; Python floats and complex numbers are inputs that promote
    as Python scalars do. Arrays may be nested in tuples, lists and dicts; a :class:`weftwork.Buffer`, or what has
    ``__dlpack__``, in the place of one is used where it lies; arrays of the result are buffers where any argument is one.
    Arrays that the function writes to are written in place. Read-only arrays that it reads from its surroundings are
    constants of the program, others are read anew at each call. A jitted function that another calls is a part of it.

    ``dynamic={"x": {0: wf.Dim("n", 1, 64, 4096)}}`` makes axis 0 of ``x`` a symbolic extent: one program serves all sizes
    from 1 to 4096. Annotations ``wf.tensor[...]`` declare the same, with dtype and shape. ``donate_argnames`` are arguments
    whose memory results of the same dtype and shape take over. ``target`` is the CPU level to compile for: "native",
    "avx512", "avx2" or "x86-64"; the knob WEFT_TARGET where it is not given. ``device`` is where it runs, a
    :class:`weftwork.Device` or its name.

    >>> import numpy as np, weftwork as wf
    >>> @wf.jit
    ... def f(x, w):
    ...     return np.tanh(x @ w)
    >>> f(np.zeros((2, 3), np.float32), np.ones((3, 4), np.float32)).shape
    (2, 4)
    """
    options = Options(
        frozenset(names_of(static_argnames)),
        frozenset(names_of(donate_argnames)),
        dynamic_extents(dynamic),
        target=target,
        device=to_device(device),
    )
    if function is None:
        return lambda wrapped: Jit(wrapped, options.of(wrapped))
    if not callable(function):
        raise ArgumentTypeError(f"jit takes a function, got {type(function).__name__}  [jit_function]")
    return Jit(function, options.of(function))


def require_parameters(function: Callable[..., Any], names: set[str]) -> None:
    """Error for a name that no parameter of the function has."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    known = [p.name for p in parameters]
    unknown = sorted(names - set(known))
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters):
        raise ArgumentValueError(f"'{unknown[0]}' is no parameter of '{getattr(function, '__name__', function)}', they are {known}  [argnames]")


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


def compile(function: Any, *args: Any, target: str | None = None, device: Device | str | None = None, **kwargs: Any) -> Any:
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


def native_executable(graph: Graph, target: str, device: Device, tiered: bool = False) -> Any:
    """A program compiled for a target and loaded on a device; ``tiered``: it runs at once."""
    return on_device(graph, device, target) if device.kind == "neuron" else _core.compile(graph.core, target, device=device, tiered=tiered)


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
        inputs = [np.asarray(leaves[i]) for i in traced.input_leaves] + traced.captured
        try:
            _core.check_written(traced.graph, inputs)
        except ArgumentValueError as error:
            call = Joined(positional_names(plain), options.static, args, kwargs)
            if error.label != "overlap" or not call.possible or not call.bases:
                raise
            return call.result(simulate(traced_jointly(plain))(call.bases, call.args, call.kwargs))
        # A result may be the memory of an argument, which is written below.
        results = [result.copy() for result in traced.graph.interpret(inputs)]
        landed = {output: leaves[leaf] for output, leaf in traced.aliases.items() if isinstance(leaves[leaf], np.ndarray)}
        for output, target in landed.items():
            target[...] = results[output]
        values = []
        for slot in traced.slots:
            value = leaves[slot.index] if slot.source == LEAF else landed.get(slot.index)
            value = results[slot.index] if value is None else value
            values.append(value if slot.form == ARRAY else value[()] if slot.form == SCALAR else value.item())
        return traced.build_result(values)

    return run


def call_leaves(options: Options, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> list[Any]:
    """The array leaves of a call, in the order in which tracing numbers them."""
    from .pytree import flatten
    from .trace import is_array_leaf

    names = positional_names(function)
    named = [(names[i] if i < len(names) else "", value) for i, value in enumerate(args)] + list(kwargs.items())
    return [leaf for name, value in named if name not in options.static for _, leaf in flatten(value, is_array_leaf)[0]]
