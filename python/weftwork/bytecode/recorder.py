"""Recording a call: the interpreter with arrays that stand for values, and with a watch on what is outside of the call.

Nothing that is outside of the call is changed while it is recorded. Stores to attributes, items, globals and cells wait in
an overlay until the program has run; a call that would do anything else ends the recording. So a recording can be given up
at any moment, and the function then runs as if nothing had been.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _core
from ..errors import Error
from ..numpy.growing import GrownList, lists_with
from ..numpy.retry import Retry
from ..numpy.shared_arrays import may_be_one
from ..numpy.stored import fits, holds_all
from ..numpy.tracer import Tensor, Trace, TracedArray
from ..numpy.validity import can_note, demanded, require
from . import (  # noqa: F401  those of operations fill the interpreter's table
    builtin_calls,
    known_calls,
    operations,
    operations_calls,
    operations_control,
    operations_matching,
    operations_values,
    ordered_lists,
)
from .appends import Appends
from .calls import SPECIAL, Calls
from .changes import Changes
from .comprehensions import Comprehensions
from .contents import Contents
from .early_exits import EarlyExits
from .frame import DefaultOf, Frame
from .grown_lists import GrownLists
from .headers import LoopHeaders
from .host import has_to_run
from .items import DELETE_ITEM, ITEM, STORE_ITEM, Items
from .iteration import Iteration
from .kinds import NUMBERS, answers, contains_traced, is_user_object, type_of
from .machine import OLD, Escaped, Stop
from .mixed_numbers import MixedNumbers
from .operators import HOLDERS
from .outside import HostValue, Refused, Steps, same_elements

if OLD:
    from . import blocks  # noqa: F401

__all__ = ["Recorder", "Refused"]

#: Most calls of Python functions in one recording; what makes more is better run as it is.
MOST_CALLS = 20_000
#: Most instructions of Python in a recording: it takes about 4 us for each.
MOST_INSTRUCTIONS = 200_000
#: Operations that are recorded, of which a program needs half or more.
MOST_RECORDED = 10_000


class Recorder(
    Changes,
    Comprehensions,
    GrownLists,
    EarlyExits,
    MixedNumbers,
    Appends,
    Items,
    Iteration,
    Contents,
    Calls,
    LoopHeaders,
):
    """Interprets one call of a function; the operations on arrays become the graph of ``trace``."""

    own_exceptions = (Stop, Retry, Error)
    stops = -1  # of one that was let go: its generators run nothing any more

    def __init__(self, trace: Trace, steps: Steps | None) -> None:
        super().__init__()
        self.trace = trace
        self.steps = steps if steps is not None else Steps()
        # Without steps the program stands alone: numbers and arrays of the surroundings are constants.
        self.bakes = steps is None
        self.varying: set[Any] = set()
        self.integers: dict[str, int] = {}  # those among the arguments that are inputs: path → step
        self.frozen: dict[int, np.ndarray] = {}
        self.last_place = ""
        self.calls = 0
        trace.recorder = self
        if not self.bakes:
            self.most_instructions, self.next_look = MOST_INSTRUCTIONS, 0
        self.first_serial = _core.next_serial()

    # -- where it is, and giving up --------------------------------------------------------------------------------

    def place(self) -> str:
        frame = self.frame
        return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""

    def let_go(self) -> None:
        """Forgets the call, whose arguments would live until the garbage collector finds the circles in a recording."""
        if self.session is not None:
            vars(self.session).clear()
        vars(self).clear()

    def refuse(self, reason: str) -> Any:
        raise Refused(reason, self.place())

    def look(self) -> None:
        super().look()
        if _core.next_serial() - self.first_serial > MOST_RECORDED and not (self.bakes or self.strict):
            self.refuse(f"more than {MOST_RECORDED} operations are recorded")

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

    def pinned_integers(self) -> frozenset[str]:
        """The integers among the inputs for one value of which, or of what is computed of them, the program is."""
        return frozenset(path for path, step in self.integers.items() if self.steps.pins(step))

    def note_function(self, function: types.FunctionType) -> None:
        if id(function) not in self.own_functions:
            parts = (function.__code__, function.__defaults__, function.__kwdefaults__)
            self.steps.entry(function, "__code__", parts)
            for name, value in (function.__kwdefaults__ or {}).items():
                self.steps.entry(function.__kwdefaults__, name, value)

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

    def fitted(self, value: Any, tensor: Tensor, dtype: np.dtype) -> Tensor:
        """The tensor of a number, where NumPy refuses one that a dtype of integers cannot hold."""
        if holds_all(dtype, value):
            return tensor
        known, number = self.sources.get(id(tensor)), TracedArray(tensor)
        if known is None and self.raises:
            return demanded(tensor, fits(number, dtype), "integer", f"a number out of bounds for {dtype}")
        if known is None and (type(value) is _core.Dim or not self.can_break()) and can_note(self.trace):
            require(fits(number, dtype))
        elif not self.truth(
            fits(number, dtype) if known is None else self.host(Fits(dtype), HostValue(known[1], known[2]))
        ):
            self.refuse(f"a number that {dtype} cannot hold")
        return tensor

    def truth(self, value: Any) -> bool:
        if type(value) is HostValue:
            outcome = bool(value.value)
            self.steps.check("truth", value.step, outcome)
            return outcome
        if type(value) is GrownList:
            return self.truth(value.is_filled())
        if answers(value):
            return self.user_truth(value)
        if isinstance(value, TracedArray) and self.can_break() and value.size == 1 and value.tensor.constant() is None:
            return self.truth(self.value_of(self.one_type_truth(value)))
        value = self.undecided(value)
        return bool(self.guarded(bool, (value,), {}))

    def concrete(self, value: Any) -> Any:
        """A host value as the number that it is: the program is for this number only."""
        if type(value) is HostValue:
            self.steps.check("equal", value.step, value.value)
            return value.value
        return value

    def same(self, lhs: Any, rhs: Any) -> Any:
        if (id(lhs) in self.hosted or id(rhs) in self.hosted) and lhs is not None and rhs is not None:
            self.refuse("whether a generator of random numbers is another object")
        if self.statics is not None:
            self.statics.note_comparison(lhs, rhs)
        if (type(lhs) is np.bool_ or type(rhs) is np.bool_) and type_of(lhs) is type_of(rhs):
            return self.truth(lhs) is self.truth(rhs)  # there are two of them
        if {type(lhs), type(rhs)} in ({HostValue}, {HostValue, int}):
            return self.truth(self.host(operator.is_, lhs, rhs))  # small integers are one object each
        if any(isinstance(v, TracedArray) and v.weak is not None for v in (lhs, rhs)):
            return self.same_numbers(lhs, rhs)
        is_same = self.original(lhs) is self.original(rhs)
        mirrors = [self.copies[id(value)] for value in (lhs, rhs) if id(value) in self.copies]
        if len(mirrors) == 2 and not is_same and not self.bakes:
            self.require_apart(mirror.step for mirror in mirrors)
        if not is_same and type(lhs) is type(rhs) is TracedArray:
            if lhs.scalar and rhs.scalar and not (lhs.weak or rhs.weak):
                self.refuse("whether two NumPy scalars are one object")
            in_lists = lists_with(lhs) and lists_with(rhs)
            if in_lists:
                in_lists[0].written()
            is_chosen = not (lhs._storage.choice is rhs._storage.choice is None)
            if not (lhs.scalar or rhs.scalar) and (is_chosen or may_be_one(lhs, rhs)):
                return self.same_of_chosen(lhs, rhs)
            places = sorted(self.sources[id(a.tensor)][2] for a in (lhs, rhs) if id(a.tensor) in self.sources)
            if len(places) == 2:
                self.steps.check("apart", places[1], places[0])
        return is_same

    # -- text ------------------------------------------------------------------------------------------------------

    def format(self, value: Any, spec: Any, conversion: str) -> Any:
        has_text = is_user_object(value) and self.found_in_class(type(value), "__format__")[0] is object.__format__
        if has_text and not spec and conversion in ("", "s", "r"):
            return SPECIAL[id(repr if conversion == "r" else str)](self, (value,), {})
        value = self.concrete(value)
        if isinstance(value, TracedArray) and self.can_break() and value.tensor.constant() is None:
            self.refuse("a value as text")
        if isinstance(value, TracedArray):
            value = self.guarded(lambda v: v._need_value("a format", "format what the function returns"), (value,), {})
        if contains_traced(value) or answers(value):
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
            if function is STORE_ITEM and error.label == "mask_assignment":
                if getattr(args[2], "ndim", 0) > 1 and type(args[1]) is not tuple:
                    # NumPy refuses them for a mask, and takes them for the places that would stand for it here.
                    self.refuse("values for a mask that have more than one dimension")
                return self.guarded(STORE_ITEM, (args[0], self.without_masks(args[1]), args[2]), {})
        forms = [] if self.bakes else [self.fixed, self.decided] if self.can_break() else [self.fixed]
        for form in forms:
            first, last = 0, len(args)
            if function in (ITEM, STORE_ITEM, DELETE_ITEM):
                # Of a container, which is what is read or changed, and of what it holds, the key alone is known.
                is_array = isinstance(args[0], TracedArray)
                first, last = (int(function is not ITEM), last) if is_array else (1, 2)
            changed = (*args[:first], *map(form, args[first:last]), *args[last:])
            if any(new is not old for new, old in zip(changed, args, strict=True)):
                return self.called_with(function, changed, args, kwargs)
        return NotImplemented

    def called_with(self, function: Any, changed: tuple, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A call with other arguments in the place of ``args``, which it must not write to, or give as its result."""
        made = [new for new, old in zip(changed, args, strict=True) if new is not old]
        constants = [(new, new.copy()) for new in made if isinstance(new, np.ndarray)]
        lists = [(each, list(each)) for each in lists_in(made)]
        result = self.guarded(function, changed, kwargs)
        is_array = isinstance(result, np.ndarray)
        for now, then in constants:
            if not same_elements(now, then) or (is_array and np.may_share_memory(now, result)):
                self.refuse("an array of the surroundings is changed, or seen, by what no operation can do")
        for each, items in lists:
            if result is each or len(each) != len(items) or any(map(operator.is_not, each, items)):
                self.refuse("a list is changed, or seen, by what no operation can do")
        return result

    def without_masks(self, key: Any) -> tuple[Any, ...]:
        """An index with the places of true elements, which Python asks for, instead of masks."""
        places: list[Any] = []
        for part in key if type(key) is tuple else (key,):
            is_mask = isinstance(part, TracedArray) and part.dtype == bool and part.ndim
            places += self.host_call(np.nonzero, (part,)) if is_mask else (part,)
        return tuple(places)

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


class Fits:
    """Whether a dtype of integers holds a number."""

    def __init__(self, dtype: np.dtype) -> None:
        limits = np.iinfo(dtype)
        self.least, self.most = limits.min, limits.max

    def __call__(self, number: int | float) -> bool:
        try:
            return self.least <= int(number) <= self.most
        except (OverflowError, ValueError):  # infinities and NaN
            return False

    def is_like(self, other: Fits) -> bool:
        return vars(self) == vars(other)


#: What divmod, math.modf and the like give, one by one.
ITEMS = tuple(map(operator.itemgetter, range(2)))


def lists_in(value: Any) -> Iterator[list[Any]]:
    """The lists in a list or tuple, itself among them."""
    if type(value) is list:
        yield value
    if type(value) in (list, tuple):
        for item in value:
            yield from lists_in(item)


def is_of_container(function: Any, args: tuple) -> bool:
    """Whether a call asks a list or dictionary of Python's own for an entry by a key that is known."""
    owner = getattr(function, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        owner, args = (args[0], args[1:]) if args else (None, ())
    return type(owner) in HOLDERS and not any(map(contains_traced, args[:1]))


assert builtin_calls is not None and known_calls is not None  # which fill the table of calls
