"""Recording a call: the interpreter with arrays that stand for values, and with a watch on what is outside of the call.

Nothing that is outside of the call is changed while it is recorded. Stores to attributes, items, globals and cells wait in
an overlay until the program has run; a call that would do anything else ends the recording. So a recording can be given up
at any moment, and the function then runs as if nothing had been.
"""

from __future__ import annotations

import collections
import operator
import types
from typing import Any

import numpy as np

from .. import _core
from ..errors import Error
from ..numpy.loops import Retry
from ..numpy.tracer import Selection, Storage, Trace, TracedArray, wrap
from ..numpy.validity import note_bound
from ..numpy.views import Flat
from . import (  # noqa: F401  those of operations fill the interpreter's table
    builtin_calls,
    known_calls,
    operations,
    operations_calls,
    operations_control,
    operations_matching,
    operations_values,
)
from .appends import Appends
from .calls import Calls
from .frame import DefaultOf, Frame
from .headers import LoopHeaders
from .host import has_to_run
from .iteration import Iteration
from .kinds import ABSENT, NUMBERS, compares_by_identity, contains_traced, is_user_object, type_of
from .machine import BINARY, COMPARE, OLD, Escaped, Stop
from .outside import HostValue, Refused, Steps

if OLD:
    from . import blocks  # noqa: F401

__all__ = ["Recorder", "Refused"]

#: Most calls of Python functions in one recording; what makes more is better run as it is.
MOST_CALLS = 20_000
#: Most instructions of Python in a recording: it takes about 4 us for each.
MOST_INSTRUCTIONS = 200_000
#: Where NumPy stores elements: it asks what is stored for them.
ARRAYS = (TracedArray, np.ndarray, np.flatiter, Flat)
#: Containers that compare what they hold.
HOLDERS = (list, tuple, dict, collections.OrderedDict)


class Recorder(Appends, Iteration, Calls, LoopHeaders):
    """Interprets one call of a function; the operations on arrays become the graph of ``trace``."""

    own_exceptions = (Stop, Retry, Error)

    def __init__(self, trace: Trace, steps: Steps | None) -> None:
        super().__init__()
        self.trace = trace
        self.steps = steps if steps is not None else Steps()
        # Without steps the program stands alone: numbers and arrays of the surroundings are constants.
        self.bakes = steps is None
        self.births: dict[int, tuple[int, Any]] = {}
        self.varying: set[Any] = set()
        self.frozen: dict[int, np.ndarray] = {}
        self.last_place = ""
        self.calls = 0
        trace.recorder = self
        if not self.bakes:
            self.most_instructions = MOST_INSTRUCTIONS

    # -- where it is, and giving up --------------------------------------------------------------------------------

    def place(self) -> str:
        frame = self.frame
        return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""

    def refuse(self, reason: str) -> Any:
        raise Refused(reason, self.place())

    def run(self, frame: Frame) -> Any:
        self.calls += 1
        if self.calls > MOST_CALLS and not (self.bakes or self.strict):
            self.refuse(f"it makes more than {MOST_CALLS} calls")
        if frame.at == 0:
            # A loop that is recorded reads and writes the variables as they stand.
            for name, value in frame.locals.items():
                if type(value) is DefaultOf:
                    frame.locals[name] = self.constant(value.value)
        return super().run(frame)

    def unwind(self, frame: Frame, error: BaseException) -> bool:
        self.last_place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        return super().unwind(frame, error)

    def frames(self) -> list[tuple[str, int, str]]:
        """File, line and function of the calls that are interpreted, innermost first."""
        found, frame = [], self.frame
        while frame is not None:
            code = frame.f_code
            found.append((code.co_filename, frame.f_lineno, code.co_name))
            frame = frame.caller
        return found

    # -- ages, for loops that are recorded once ----------------------------------------------------------------------

    def born(self, value: Any) -> Any:
        """Notes that a container or iterator was made; only while loops are recorded does it matter."""
        if self.trace.loops:
            self.births[id(value)] = (next(Storage.births), value)
        return value

    def changes(self, value: Any, what: str = "") -> None:
        """Called before anything is changed: what is older than the body of a loop must not be changed in it."""
        if self.trace.loops:
            self._require_young(value, what or self.name_of(value))

    def name_of(self, value: Any) -> str:
        """What the program calls a container, where one of its variables has it."""
        frame = self.frame
        while frame is not None:
            for name, held in frame.f_locals.items():
                if held is value:
                    return f"'{name}'"
            frame = frame.caller
        return "a container"

    def _require_young(self, value: Any, what: str) -> None:
        for loop in reversed(self.trace.loops):
            if not hasattr(loop, "turns"):
                self.refuse(f"{what} is changed in a function given to wf.{loop.what}")
            known = self.births.get(id(value))
            if known is None or known[0] < loop.born:
                loop.fail(f"{what} is changed in each turn")
            return

    # -- operators -------------------------------------------------------------------------------------------------

    def host(self, function: Any, *operands: Any) -> Any:
        """A number that Python computes at each call, or two of them."""
        value = self.computed(function, list(operands))
        result = HostValue(value, self.steps.call(function, list(operands)))
        if has_to_run(function) or isinstance(result.value, np.generic):
            self.steps.check("type", result.step, type(result.value))
        if type(value) is tuple:
            return tuple(self.host(item, result) for item in ITEMS[: len(value)])
        return result

    def traced(self, value: HostValue) -> TracedArray:
        """A host value as an operand of array operations."""
        if value.traced is None:
            kind = type(value.value)
            if isinstance(value.value, np.ndarray):
                value.traced = self.array_from_host(value.value, value.step, [])
                return value.traced
            if kind not in NUMBERS and not isinstance(value.value, np.generic):
                self.refuse(f"a {kind.__name__} that Python makes is an operand of arrays")
            dtype = np.dtype(np.int64) if kind is int else np.dtype(kind)
            tensor = _core.parameter((), dtype, f"number{len(self.trace.numbers)}", from_outside=True)
            value.traced = TracedArray(tensor, None if isinstance(value.value, np.generic) else kind)
            value.traced.scalar = True
            self.sources[id(tensor)] = (tensor, value.value, value.step)
            self.trace.numbers.append((tensor, value.step))
        return value.traced

    def unary(self, function: Any, value: Any) -> Any:
        if type(value) is HostValue:
            return self.host(function, value)
        if is_user_object(value):
            return self.call_special(value, SPECIAL_UNARY.get(function.__name__, "__pos__"))
        return self.own_arrays(self.guarded(function, (value,), {}), value)

    def operands(self, lhs: Any, rhs: Any) -> tuple[Any, Any] | None:
        """Both sides of an operator, host values as arrays where the other is one; None where Python computes it."""
        left, right = type(lhs) is HostValue, type(rhs) is HostValue
        if not (left or right):
            return lhs, rhs
        others = [v for v, host in ((lhs, left), (rhs, right)) if not host]
        if all(type(v) in NUMBERS for v in others):
            return None
        if all(isinstance(v, (TracedArray, np.ndarray, np.generic, _core.Dim, Selection)) for v in others):
            return (self.traced(lhs) if left else lhs), (self.traced(rhs) if right else rhs)
        return self.concrete(lhs), self.concrete(rhs)

    def binary(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        if symbol.startswith("**") and type(rhs) is HostValue and isinstance(lhs, (TracedArray, np.ndarray)):
            # NumPy's operator computes these otherwise than power does.
            rhs = self.concrete(rhs) if self.truth(self.host(is_short_power, rhs)) else rhs
        pair = self.operands(lhs, rhs)
        if pair is None:
            return self.host(BINARY[symbol.rstrip("=")], lhs, rhs)
        lhs, rhs = pair
        if type(lhs) in (str, bytes) and symbol[0] == "%":
            return self.formatted(lhs, rhs)
        if is_python_complex(lhs) and isinstance(rhs, TracedArray) and rhs.scalar and rhs.dtype == np.float64:
            # A float64 is one of Python's floats to a complex number on its left, whose operator answers first.
            if symbol.rstrip("=") in ("/", "**") and not (self.bakes or self.strict):
                self.refuse(f"Python's '{symbol}' of a complex number and one that is computed, which may raise")
            rhs = wrap(rhs.tensor)
            rhs.weak, rhs.scalar = float, True
        if symbol in ("*", "*=") and (type(lhs) in (list, tuple) or type(rhs) in (list, tuple)):
            lhs, rhs = self.repetition(lhs), self.repetition(rhs)
        if is_user_object(lhs) or is_user_object(rhs):
            return self.user_binary(symbol, lhs, rhs)
        if (
            symbol.rstrip("=") in ("/", "//", "%", "**")
            and is_python_number(lhs)
            and is_python_number(rhs)
            and not is_safe_divisor(rhs)
            and not self.bakes
        ):
            if self.can_break():
                return self.host(BINARY[symbol.rstrip("=")], self.number(lhs), self.number(rhs))
            self.refuse(f"Python's '{symbol}' of numbers that are computed by the program, which may raise")
        if symbol[-1] == "=":
            self.before_change(lhs, rhs)
        result = self.own_arrays(self.guarded(BINARY[symbol], (lhs, rhs), {}), lhs)
        return self.born(result) if type(result) in (list, dict, set) and result is not lhs else result

    def repetition(self, value: Any) -> Any:
        """How often a list is repeated: of a NumPy scalar, unlike an array, it is the number that a call has."""
        if isinstance(value, TracedArray) and value.scalar:
            return self.decided(value) if self.can_break() else self.refuse("a list times a number of the program")
        return value

    def before_change(self, owner: Any, value: Any) -> None:
        """Called before an operator changes its first operand in place."""
        if type(owner) in (list, set, dict):
            self.changes(owner)
        elif isinstance(owner, np.ndarray) and (contains_traced(value) or self.trace.loops):
            self.written(owner)

    def compare(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        pair = self.operands(lhs, rhs)
        if pair is None:
            return self.host(COMPARE[symbol], lhs, rhs)
        lhs, rhs = pair
        if is_user_object(lhs) or is_user_object(rhs):
            return self.user_compare(symbol, lhs, rhs)
        if type(lhs) in HOLDERS and type(rhs) in HOLDERS:
            self.require_no_user_objects(lhs, rhs)
        return self.own_arrays(self.guarded(COMPARE[symbol], (lhs, rhs), {}))

    def contains(self, container: Any, value: Any) -> Any:
        if is_user_object(container):
            return self.user_contains(container, value)
        if id(container) in self.large:
            return self.entry_of(container, self.hashed(value)) is not ABSENT
        if type(container) in (dict, set, frozenset):
            return self.guarded(BINARY_CONTAINS, (container, self.hashed(value)), {})
        self.require_no_user_objects(container, value)
        if isinstance(container, TracedArray) and self.can_break():
            return self.truth(self.host_call(BINARY_CONTAINS, (container, value)))
        return self.guarded(BINARY_CONTAINS, (self.concrete(container), self.concrete(value)), {})

    def truth(self, value: Any) -> bool:
        if type(value) is HostValue:
            outcome = bool(value.value)
            self.steps.check("truth", value.step, outcome)
            return outcome
        if is_user_object(value):
            return self.user_truth(value)
        if isinstance(value, TracedArray) and self.can_break() and value.size == 1 and value.tensor.constant() is None:
            return self.truth(self.value_of(value))
        return bool(self.guarded(bool, (value,), {}))

    def concrete(self, value: Any) -> Any:
        """A host value as the number that it is: the program is for this number only."""
        if type(value) is HostValue:
            self.steps.check("equal", value.step, value.value)
            return value.value
        return value

    def same(self, lhs: Any, rhs: Any) -> bool:
        if (id(lhs) in self.hosted or id(rhs) in self.hosted) and lhs is not None and rhs is not None:
            self.refuse("whether a generator of random numbers is another object")
        if self.statics is not None:
            self.statics.note_comparison(lhs, rhs)
        if (type(lhs) is np.bool_ or type(rhs) is np.bool_) and type_of(lhs) is type_of(rhs):
            return self.truth(lhs) is self.truth(rhs)  # there are two of them
        return self.original(lhs) is self.original(rhs)

    # -- items -----------------------------------------------------------------------------------------------------

    def item(self, owner: Any, key: Any) -> Any:
        if is_user_object(owner):
            return self.call_special(owner, "__getitem__", key)
        if id(owner) in self.large:
            found = self.entry_of(owner, self.key(owner, key))
            if found is ABSENT:
                raise KeyError(key)
            return found
        if isinstance(owner, np.lib._index_tricks_impl.AxisConcatenator) or type(owner).__module__.startswith("numpy"):
            return self.numpy_item(owner, self.known_key(owner, key))
        return self.guarded(ITEM, (owner, self.known_key(owner, key)), {})

    def hashed(self, value: Any) -> Any:
        value = self.concrete_deep(value)
        if isinstance(value, TracedArray) and value.scalar:
            self.refuse("a traced value as a key")
        if is_user_object(value) and not compares_by_identity(value):
            self.refuse("an object whose methods C code may call")
        if type(value) is tuple:
            for item in value:
                self.hashed(item)
        return value

    def known_key(self, owner: Any, key: Any) -> Any:
        """A key without host values, of which C code asks no method of the user's."""
        if not isinstance(owner, dict):
            self.require_no_user_objects(key)
        return self.key(owner, key)

    def key(self, owner: Any, key: Any) -> Any:
        """A key without host values: in the index of an array they are arrays, elsewhere constants."""
        if isinstance(owner, dict):
            return self.hashed(key)
        if type(key) is HostValue:
            return self.index(owner, 0, key)
        if type(key) is slice:
            return slice(*(self.concrete(part) for part in (key.start, key.stop, key.step)))
        if type(key) is tuple:
            # Where each part has an axis of its own.
            indexed = owner if all(type(part) in (int, slice, HostValue) for part in key) else None
            return tuple(
                self.index(indexed, axis, part) if type(part) is HostValue else self.key(owner, part)
                for axis, part in enumerate(key)
            )
        if type(key) is list and self.holds_host(key):
            return self.array_operand(key) if isinstance(owner, TracedArray) else self.concrete_deep(key)
        return key

    def index(self, array: Any, axis: int, place: HostValue) -> Any:
        """A number of Python's as the index of one element along an axis; of what is no array as a constant."""
        is_integer = isinstance(place.value, (int, np.integer)) and not isinstance(place.value, bool)
        if (
            not isinstance(array, TracedArray)
            or not is_integer
            or axis >= array.ndim
            or not isinstance(array.shape[axis], int)
            or self.bakes
        ):
            return self.concrete(place)
        extent = array.shape[axis]
        return note_bound(self.traced(self.host(Wrapped(extent, axis), place)), extent)

    def store_item(self, owner: Any, key: Any, value: Any) -> None:
        if is_user_object(owner):
            self.call_special(owner, "__setitem__", key, value)
            return
        key = self.known_key(owner, key)
        if isinstance(owner, ARRAYS):
            self.require_no_user_objects(value)
        elif type(key) is slice:
            self.require_plain(value)
        if isinstance(owner, TracedArray):
            value = self.array_operand(value)
        elif isinstance(owner, (np.ndarray, np.flatiter)):
            self.store_in_plain(owner, key, value)
            return
        else:
            self.changes(owner)
        self.guarded(STORE_ITEM, (owner, key, value), {})

    def delete_item(self, owner: Any, key: Any) -> None:
        if is_user_object(owner):
            self.call_special(owner, "__delitem__", key)
            return
        self.changes(owner)
        self.guarded(DELETE_ITEM, (owner, self.known_key(owner, key)), {})

    def array_operand(self, value: Any) -> Any:
        if type(value) is HostValue:
            return self.traced(value)
        if type(value) in (list, tuple):
            return type(value)(self.array_operand(v) for v in value) if self.holds_host(value) else value
        return value

    def holds_host(self, value: Any) -> bool:
        if type(value) in (list, tuple):
            return any(self.holds_host(v) for v in value)
        return type(value) is HostValue

    def store_in_plain(self, owner: np.ndarray | np.flatiter, key: Any, value: Any) -> None:
        """A write to an array that NumPy made: of what is known it is done now."""
        array = owner if isinstance(owner, np.ndarray) else owner.base
        if self.bakes and array.flags.writeable and not self.is_own(array):
            self.refuse("an array of the surroundings is written")
        if contains_traced(value) or contains_traced(key) or self.trace.loops:
            self.written(array)
        self.guarded(STORE_ITEM, (owner, key, self.concrete(value)), {})

    # -- text ------------------------------------------------------------------------------------------------------

    def format(self, value: Any, spec: Any, conversion: str) -> Any:
        value = self.concrete(value)
        if isinstance(value, TracedArray):
            value = self.guarded(lambda v: v._need_value("a format", "format what the function returns"), (value,), {})
        if contains_traced(value) or is_user_object(value):
            self.refuse(f"{type_of(value).__name__} as text")
        self.require_no_user_objects(value)
        return super().format(value, spec, conversion)

    def formatted(self, text: Any, values: Any) -> Any:
        """text % values"""
        values = self.concrete_deep(values)
        if contains_traced(values):
            self.refuse("a value as text")
        self.require_no_user_objects(values)
        return text % values

    # -- native calls that may see stand-ins -----------------------------------------------------------------------

    def guarded(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Calls what is no Python code; an exception in which a traced value had a part is ours, not the program's."""
        if self.opaque:
            for value in args:
                self.require_known(value)
        try:
            return function(*args, **kwargs)
        except (Stop, Retry, RecursionError):
            raise
        except Exception as error:
            if isinstance(error, (KeyError, IndexError)) and is_of_container(function, args):
                raise  # it is about the key, whatever is held
            if not any(map(contains_traced, args)) and not any(map(contains_traced, kwargs.values())):
                raise
            result = self.called_otherwise(error, function, args, kwargs)
            if result is not NotImplemented:
                return result
            self.blame(error)
            raise Refused(f"{type(error).__name__}: {error}", self.place()) from error

    def called_otherwise(self, error: Exception, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """What no operation can do with values, with what Python knows of them; NotImplemented where that is no help."""
        if self.can_break() and isinstance(error, Error):
            self.require_no_selections(function, (*args, *kwargs.values()))
            result = self.called_by_host(function, args, kwargs)
            if result is not NotImplemented:
                return result
        forms = [] if self.bakes else [self.fixed, self.decided] if self.can_break() else [self.fixed]
        for form in forms:
            changed = tuple(map(form, args))
            if any(new is not old for new, old in zip(changed, args, strict=True)):
                return self.guarded(function, changed, kwargs)
        return NotImplemented

    def decided(self, value: Any) -> Any:
        """A number that the program computes as the constant that it is in this call: what follows is for this one only."""
        if isinstance(value, TracedArray) and value.scalar and self.can_break():
            return self.concrete(self.value_of(value))
        if type(value) in (tuple, list) and contains_traced(value):
            items = [self.decided(item) for item in value]
            return type(value)(items) if any(new is not old for new, old in zip(items, value, strict=True)) else value
        if type(value) is slice:
            return slice(*map(self.decided, (value.start, value.stop, value.step)))
        return value

    def blame(self, error: Exception) -> None:
        """For who wants the exception itself."""
        if self.raises:
            raise Escaped(error) from error

    strict = False

    @property
    def raises(self) -> bool:
        return self.bakes or self.strict

    def float_is_symbolic(self, value: TracedArray) -> bool:
        """Whether float() of a value may stay a value: Python's own errors (division by zero) cannot come of it then."""
        return not self.bakes


class Wrapped:
    """An index along an axis as it counts from the beginning."""

    def __init__(self, extent: int, axis: int) -> None:
        self.extent, self.axis = extent, axis

    def __call__(self, index: Any) -> int:
        if not -self.extent <= index < self.extent:
            raise IndexError(f"index {index} is out of bounds for axis {self.axis} with size {self.extent}")
        return int(index) % self.extent

    def is_like(self, other: Wrapped) -> bool:
        return (self.extent, self.axis) == (other.extent, other.axis)


#: What divmod, math.modf and the like give, one by one.
ITEMS = tuple(map(operator.itemgetter, range(2)))


def is_of_container(function: Any, args: tuple) -> bool:
    """Whether a call asks a list or dictionary of Python's own for an entry by a key that is known."""
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        owner, args = (args[0], args[1:]) if args else (None, ())
    return type(owner) in HOLDERS and not any(map(contains_traced, args[:1]))


def is_short_power(exponent: Any) -> bool:
    return exponent in (-1, 0, 0.5, 1, 2)


def is_python_complex(value: Any) -> bool:
    return type(value) is complex or (isinstance(value, TracedArray) and value.weak is complex)


def is_python_number(value: Any) -> bool:
    """Whether Python has a number of its own here, some of whose operators raise where NumPy's give infinities."""
    return (
        isinstance(value, _core.Dim)
        or type(value) in NUMBERS
        or (isinstance(value, TracedArray) and value.weak is not None)
    )


def is_safe_divisor(value: Any) -> bool:
    return isinstance(value, _core.Dim) or (type(value) in NUMBERS and value != 0)


SPECIAL_UNARY = {"neg": "__neg__", "pos": "__pos__", "invert": "__invert__"}
ITEM, STORE_ITEM, DELETE_ITEM = (getattr(__import__("operator"), name) for name in ("getitem", "setitem", "delitem"))
BINARY_CONTAINS = __import__("operator").contains

assert builtin_calls is not None and known_calls is not None  # which fill the table of calls
