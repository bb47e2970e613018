"""Values that Python asks for while a call is recorded: the program so far is run for them, and another one begins.

A recorded call has real arguments behind it. Where Python decides by a value (``if x.sum() > 0``), computes with it
(``math.sqrt(x[0])``), or calls what no program can hold (``np.unique(x)``, ``rng.normal(x)``), what is recorded by then becomes a
*piece*: a program of its own, which is run. What it gives, and what Python makes of that, are steps like all that is read from
outside, so that each call takes them anew; conditions are checks. Nothing outside is changed before the last piece runs.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from .. import _core
from ..numpy.layout import given_strides
from ..numpy.retry import Retry
from ..numpy.steps import whole_of
from ..numpy.tracer import MASKS, BoundMethod, Read, Selection, TracedArray, untraced
from ..pytree import items_of
from .effects import Effects
from .host import Called, Made, Method, Raised, Reading, ViewOf, undoing
from .kinds import contains_traced
from .liveness import live_values
from .outside import ITEM, VALUE, HostValue
from .plain_arrays import CHANGING_METHODS, MAY_CHANGE

__all__ = ["Breaks"]

#: Elements of a list that is made of an array.
LONGEST_LIST = 64
#: Elements of an array of extents or axes.
MOST_PINNED = 64
#: How deep containers are searched for arrays that may still be used.
DEEPEST = 5


class Breaks(Effects):
    """The part of a recorder that knows values."""

    #: What compiles and runs pieces; None where a call has to be one program.
    session: Any = None
    quiet = 0  # how many warnings.catch_warnings() are entered
    host_calls = 0
    settle_types: Any

    def __init__(self) -> None:
        super().__init__()
        # Values that are known: by the tensor that stands for them, what they are and the step that finds them.
        self.sources: dict[int, tuple[Any, Any, int]] = {}
        # Objects that host calls made: generators of random numbers.
        self.hosted: dict[int, tuple[Any, int]] = {}

    def can_break(self) -> bool:
        return self.session is not None and not self.trace.loops and self.trace.predicate is None

    def take_array(self, value: Any, kind: str, parts: tuple[Any, ...]) -> Any:
        traced = super().take_array(value, kind, parts)
        if isinstance(traced, TracedArray):
            self.sources[id(traced.tensor)] = (traced.tensor, value, self.steps.step(kind, *parts))
        return traced

    # -- asking ----------------------------------------------------------------------------------------------------

    def value_of(self, array: TracedArray) -> HostValue:
        """The value of an array as Python has it at each call."""
        constant = array.tensor.constant()
        if constant is not None:
            value = constant[()] if array.scalar else constant
            return HostValue(value, self.steps.object(value))
        known = self.known(array)
        if known is None:
            self.evaluate([array])
            known = self.known(array)
            assert known is not None
        return HostValue(*known)

    def known(self, array: TracedArray) -> tuple[Any, int] | None:
        """The value of an array and its step, where an argument, something outside or a piece has it."""
        found = self.sources.get(id(array.tensor))
        if found is not None:
            return found[1], found[2]
        base = self.sources.get(id(array._storage.tensor)) if array._storage.stale is None else None
        if base is None or not array._steps:
            return None
        view = ViewOf(array._steps, array.scalar)
        if not view.is_possible:
            return None
        with untraced():
            return view(base[1]), self.steps.call(view, [HostValue(base[1], base[2])])

    def pinned(self, array: TracedArray, is_extent: bool) -> Any:
        """What Python has as the value of an array, or was given: the program is for this value.

        None where that is not known, and where a number is asked for that is no extent, and Python can go on with it.
        """
        is_asked = is_extent or (array.scalar and array.dtype.kind in "iu" and not self.can_break())
        found = self.known(array) if is_asked and not self.bakes else None
        if found is None or np.size(found[0]) > MOST_PINNED:
            return None
        value = found[0] if array.scalar else np.array(found[0])  # which may be written later
        self.steps.check("equal" if array.scalar else "bytes", found[1], value)
        return value

    def number(self, value: Any) -> Any:
        """A value of no dimensions that Python computes with; others as they are."""
        if isinstance(value, TracedArray) and not value.ndim and value.scalar and self.can_break():
            return self.value_of(value)
        return value

    # -- pieces ----------------------------------------------------------------------------------------------------

    def is_valid(self, valid: TracedArray, result: Any) -> bool:
        """Whether NumPy raises nothing, which is known before arrays are written: by itself, or with what else is to be known then.

        By itself it takes its own steps once more; the others are written to memory and copied from there.
        """
        live = self.live_arrays([result, *(read.traced for read in self.trace.reads)])
        copied = sum(
            3.0 * array.size if isinstance(array.size, int) else 0.0 for array in live if self.is_computed(array.tensor)
        )
        self.evaluate([valid], [] if _core.element_work([valid.tensor]) <= copied else live)
        return self.truth(valid)

    def evaluate(self, asked: list[TracedArray], others: list[TracedArray] | None = None) -> None:
        """Ends a piece: what is asked for, and what may still be used, is known afterwards."""
        wanted = {id(array): array for array in (*asked, *(self.live_arrays() if others is None else others))}
        conditions = [c for array in wanted.values() for c in self.conditions_of(array)]
        wanted |= {id(condition): condition for condition in conditions}
        self.settle_types(wanted.values())
        arrays: dict[int, TracedArray] = {}  # by tensor: one of its arrays
        for array in wanted.values():
            if array._storage.stale is not None:
                self.refuse("an array whose layout is not known")
            base = whole_of(array)
            if self.is_computed(base._storage.tensor):
                arrays.setdefault(id(base._storage.tensor), base)
        outputs = self.before_exchanges(list(arrays.values()), asked)
        values = self.session.run_piece(self, outputs)
        number = self.session.count - 1
        stands: dict[int, Any] = {}
        for i, (array, value) in enumerate(zip(outputs, values, strict=True)):
            stands[id(array._storage.tensor)] = self.input_of(
                array, value, self.steps.step(VALUE, number, i), f"value{number}_{i}"
            )
        for array in wanted.values():
            replacement = stands.get(id(array._storage.tensor))
            if replacement is not None:
                array._storage.tensor = replacement
                if not array._steps:
                    array._cache = replacement
            if array._steps:
                array._cache = None
        for array in asked:
            if self.known(array) is None:  # a view that NumPy has no name for
                self.evaluate_parts(array)

    def before_exchanges(self, arrays: list[TracedArray], asked: list[TracedArray]) -> list[TracedArray]:
        """The arrays that depend on nothing that ranks exchange: that is done once, by the last piece, as it cannot be taken back."""
        effects = self.trace.effects
        if not effects:
            return arrays
        if _core.used_parameters(effects, [whole_of(array)._storage.tensor for array in asked]):
            self.refuse("Python asks for a value that ranks have exchanged")
        return [array for array in arrays if not _core.used_parameters(effects, [array._storage.tensor])]

    def evaluate_parts(self, array: TracedArray) -> None:
        """A view as a value of its own."""
        part = TracedArray(array.tensor)
        part.scalar = array.scalar
        self.evaluate([part])
        found = self.known(part)
        assert found is not None
        self.sources[id(array.tensor)] = (array.tensor, *found)

    def is_computed(self, tensor: Any) -> bool:
        """Whether a piece has to compute it."""
        return id(tensor) not in self.sources and tensor.op not in ("parameter", "constant")

    def input_of(self, array: TracedArray, value: Any, step: int, name: str) -> Any:
        """A known value as an input of what follows: its tensor."""
        tensor = _core.parameter(array._storage.tensor.shape, array._storage.tensor.dtype, name, from_outside=True)
        self.sources[id(tensor)] = (tensor, value, step)
        read = Read(value, name, step, tensor, array)
        for known in [r for r in self.trace.reads if r.traced._storage is array._storage]:
            if self.steps.steps[known.step][0] == VALUE:
                known.traced = TracedArray(known.tensor)  # what the array was before
            else:
                read.traced = TracedArray(tensor)  # the array itself is outside
        if any(given._storage is array._storage for given in self.trace.arguments):
            read.traced = TracedArray(tensor)
        self.trace.reads.append(read)
        return tensor

    def live_arrays(self, others: Iterable[Any] = ()) -> list[TracedArray]:
        """Arrays that what is left of the call may use; one that is missed here is computed again by a later piece."""
        pending: list[tuple[Any, int]] = [(value, 0) for value in others]
        frame = self.frame
        self.require_present(frame)
        self.require_no_grown(frame)
        while frame is not None:
            pending += [(value, 0) for value in live_values(frame)]
            frame = frame.caller
        pending += [(value, 0) for _, _, value in self.overlay.values()]
        pending += [(mirror.copy, 0) for mirror in self.mirrors.values()]
        pending += [(array, 0) for array in self.trace.arguments]
        pending.append((self.trace.checks.valid, 0))
        found: list[TracedArray] = []
        seen: set[int] = set()
        while pending:
            value, depth = pending.pop()
            if id(value) in seen or depth > DEEPEST:
                continue
            seen.add(id(value))
            if isinstance(value, TracedArray):
                found.append(value)
            elif isinstance(value, (list, tuple, set, frozenset, dict)):
                pending += [(item, depth + 1) for item in items_of(value)]
            elif id(value) in self.fresh and hasattr(value, "__dict__"):
                pending += [(item, depth + 1) for item in vars(value).values()]
        return found

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """While it lasts, NumPy's functions are its own, and what is drawn can be undone."""
        with untraced(), undoing(self.session.undo):
            yield

    # -- calls on NumPy's own arrays ---------------------------------------------------------------------------------

    def host_call(self, function: Any, args: tuple, kwargs: dict[str, Any] | None = None) -> Any:
        """What Python does with the values at each call; the result as the program sees it."""
        kwargs = kwargs or {}
        values = [*args, *kwargs.values()]
        if self.quiet:
            self.refuse("a call that may warn, where warnings are not seen")
        operands = self.host_operands(values)
        real = real_values(operands)
        step_function = Called(function, tuple(kwargs)) if kwargs else function
        self.host_calls += 1
        with self.quietly():
            result = self.computed(step_function, operands)
        arrays = [value for value in real if isinstance(value, np.ndarray)]
        for value, given in zip(real, values, strict=True):
            if result is value and isinstance(given, TracedArray):
                if any(type(other) is HostValue and not isinstance(other.value, np.ndarray) for other in operands):
                    self.refuse("a call that gives its argument where a number says so")
                return given
        return self.from_host(result, self.steps.call(step_function, operands), arrays)

    def reading_call(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A function of NumPy's that may have been asked to write to an argument, which no call between pieces does."""
        values = [*args, *kwargs.values()]
        try:
            return self.host_call(Reading(function, tuple(kwargs)), tuple(values))
        except ValueError as error:
            if "read-only" in str(error) and any(map(is_writable, values)):
                self.refuse("a function that writes to its argument is called outside of the program")
            raise

    def computed(self, function: Any, operands: list[Any]) -> Any:
        """What a function gives now. Where it raises, what follows is for calls in which it raises the same."""
        try:
            return function(*real_values(operands))
        except Exception as error:
            if not self.bakes:
                self.steps.check("equal", self.steps.call(Raised(function), operands), (type(error), str(error)))
            raise

    def host_operands(self, values: list[Any]) -> list[Any]:
        """Values as they are at each call: all that are asked for, by one piece."""
        missing: list[TracedArray] = []
        self.find_missing(values, missing)
        if missing:
            self.evaluate(missing)
        return [self.host_operand(value) for value in values]

    def find_missing(self, values: Any, missing: list[TracedArray]) -> None:
        for value in values:
            if isinstance(value, TracedArray):
                if value.tensor.constant() is None and self.known(value) is None:
                    missing.append(value)
            elif type(value) in (list, tuple):
                self.find_missing(value, missing)

    def host_operand(self, value: Any) -> Any:
        if isinstance(value, TracedArray):
            return self.value_of(value)
        if isinstance(value, Selection):
            self.begin_with_arrays()
        if isinstance(value, _core.Dim):
            self.refuse("an extent that only the run knows is used outside of the program")
        if id(value) in self.hosted:
            return HostValue(*self.hosted[id(value)])
        if type(value) in (list, tuple) and contains_traced(value):
            parts = [self.host_operand(item) for item in value]
            return HostValue(type(value)(real_values(parts)), self.steps.call(Made(type(value)), parts))
        if contains_traced(value) and type(value) is not HostValue:
            self.refuse(f"a {type(value).__name__} with values in it is used outside of the program")
        if type(value) in (list, dict, set) or (isinstance(value, np.ndarray) and self.is_own(value)):
            return copy.deepcopy(value)  # the program may change it later
        return value

    def order_of(self, keys: list[Any], backwards: bool) -> list[int]:
        """In which order Python sorts values: what follows is for this order."""
        operands = self.host_operands(keys)
        order = Order(backwards)
        found = order(*real_values(operands))
        self.steps.check("equal", self.steps.call(order, operands), found)
        return found

    def begin_with_arrays(self) -> NoReturn:
        """Where x[mask] has to be an array it has to be one from the beginning, in all its places."""
        raise Retry(MASKS, "elements that a mask selects are an array")

    def require_no_selections(self, function: Any, values: Any) -> None:
        """What works on elements that a mask selects only where they are an array."""
        owner = function.owner if isinstance(function, BoundMethod) else None
        if any(map(holds_selection, (owner, *values))):
            self.begin_with_arrays()

    def from_host(self, result: Any, step: int, operands: list[np.ndarray]) -> Any:
        """What a host call gave, as the program sees it."""
        kind = type(result)
        if kind is np.ndarray:
            return self.array_from_host(result, step, operands)
        if isinstance(result, np.generic) or kind in (float, complex, int, bool, str):
            if isinstance(result, np.generic) and result.dtype.kind not in "fciub":
                self.refuse(f"a value of {result.dtype}")
            self.steps.check("type", step, kind)
            return HostValue(result, step)
        if result is None or isinstance(result, np.dtype):
            self.steps.check("is" if result is None else "equal", step, result)
            return result
        if kind in (list, tuple) or (isinstance(result, tuple) and hasattr(kind, "_make")):
            if len(result) > LONGEST_LIST:
                self.refuse(f"a list of {len(result)} values")
            self.steps.check("type", step, kind)
            self.steps.check("length", step, len(result))
            items = [self.from_host(item, self.steps.step(ITEM, step, i), operands) for i, item in enumerate(result)]
            made = items if kind is list else tuple(items) if kind is tuple else kind._make(items)  # type: ignore[attr-defined]
            return self.born(made) if kind is list else made
        return self.refuse(f"a {kind.__name__} that is computed outside of the program")

    def array_from_host(self, result: np.ndarray, step: int, operands: list[np.ndarray]) -> Any:
        if result.dtype.kind not in "fciub" or not result.dtype.isnative:
            self.refuse(f"an array of {result.dtype}")
        if any(is_view_of(result, operand) for operand in operands):
            self.refuse("a view that is made outside of the program")
        self.steps.check("array", step, (result.dtype, result.shape, result.strides, result.flags.writeable))
        name = f"computed{len(self.trace.reads)}"
        tensor = _core.parameter(result.shape, result.dtype, name, from_outside=True)
        array = TracedArray(tensor)
        array._storage.strides = given_strides(result, list(result.shape))
        array._storage.parents = ()
        if not result.flags.writeable:
            array.guard_writes("it is read-only")
        self.sources[id(tensor)] = (tensor, result, step)
        self.trace.reads.append(Read(result, name, step, tensor, array))
        return array

    def compiled_call(self, function: Any, args: tuple, kwargs: dict[str, Any], written: tuple[int, ...]) -> Any:
        raise NotImplementedError

    def ask_extents(self, function: Any, args: tuple) -> bool:
        """Ends a piece where extents and axes are computed: a view that Python makes would be lost on the program."""
        flat = [item for value in args for item in (value if type(value) in (list, tuple) else (value,))]
        arrays = [value for value in (getattr(function, "owner", None), *flat) if isinstance(value, TracedArray)]
        asked = any(array.scalar and array.dtype.kind in "iu" and self.known(array) is None for array in arrays)
        if asked:
            self.evaluate(arrays)
        return asked

    def called_by_host(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A pure function that no program can hold, called by Python; NotImplemented where that is none."""
        if not self.can_break() or kwargs.get("out") is not None:
            return NotImplemented
        if getattr(function, "name", getattr(function, "__name__", "")) in VIEWS and self.ask_extents(function, args):
            return self.guarded(function, args, kwargs)
        if isinstance(function, BoundMethod):
            if function.name in MAY_CHANGE - CHANGING_METHODS:
                return NotImplemented
            if function.name in CHANGING_METHODS:
                return self.compiled_call(Method(function.name), (function.owner, *args), kwargs, (0,))
            return self.reading_call(Method(function.name), (function.owner, *args), kwargs)
        from . import natives

        name = getattr(function, "__name__", "")
        if function is operator.getitem and isinstance(args[0], TracedArray):
            return self.host_call(function, args)
        if args and isinstance(args[0], TracedArray) and getattr(TracedArray, name, None) is function:
            return self.reading_call(Method(name), args, kwargs) if hasattr(np.ndarray, name) else NotImplemented
        if not natives.is_numpy_function(function) and not isinstance(getattr(function, "__self__", None), np.ufunc):
            return NotImplemented
        if name in CHANGING:
            return self.compiled_call(function, args, kwargs, (0,))
        return self.reading_call(function, args, kwargs)


class Order:
    """The places of values in the order in which Python sorts them."""

    __slots__ = ("backwards",)

    def __init__(self, backwards: bool) -> None:
        self.backwards = backwards

    def __call__(self, *keys: Any) -> list[int]:
        return sorted(range(len(keys)), key=keys.__getitem__, reverse=self.backwards)

    def is_like(self, other: Order) -> bool:
        return self.backwards == other.backwards


def real_values(operands: list[Any]) -> list[Any]:
    """What operands of a step are in the call that is recorded."""
    return [o.value if type(o) is HostValue else o for o in operands]


def is_view_of(result: np.ndarray, operand: np.ndarray) -> bool:
    """Whether what a function gave is memory of its operand. A view of no elements shares none, and is told by its base."""
    owner = operand if operand.base is None else operand.base
    return np.may_share_memory(result, operand) or (result.base is owner and not result.size)


def is_writable(value: Any) -> bool:
    return isinstance(value, (TracedArray, np.ndarray)) and bool(value.flags.writeable)


def holds_selection(value: Any) -> bool:
    return isinstance(value, Selection) or (type(value) in (list, tuple) and any(map(holds_selection, value)))


#: Functions and methods that make views by extents and axes.
VIEWS = frozenset(
    ["reshape", "swapaxes", "transpose", "moveaxis", "expand_dims", "broadcast_to", "split", "array_split"]
)
#: Functions of NumPy, and methods of ufuncs, that change their first argument.
CHANGING = frozenset(["put", "place", "putmask", "copyto", "fill_diagonal", "put_along_axis", "at"])
