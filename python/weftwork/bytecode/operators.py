"""Operators of a program that is recorded: of arrays they are operations, of other objects what those answer."""

from __future__ import annotations

import collections
import operator
from typing import Any

import numpy as np

from .. import _core
from ..numpy.growing import GrownList
from ..numpy.mixed import scalar
from ..numpy.operators import operated
from ..numpy.tracer import Selection, TracedArray, as_tensor, python_truth, wrap
from ..numpy.validity import can_note, demanded, require
from .kinds import ABSENT, NUMBERS, answers, answers_equality, contains_traced, holds_object, type_of
from .machine import BINARY, COMPARE, Machine
from .outside import HostValue
from .scalar_calls import as_python

__all__ = ["BINARY_CONTAINS", "HOLDERS", "Operators", "is_among"]

#: Containers that compare what they hold.
HOLDERS = (list, tuple, dict, collections.OrderedDict)


#: Steps below it, as many as a loop has turns, stay in 64 bits.
MOST_STEP = 2**31


#: Numbers that a value is compared to where it is asked if it is one of them.
MOST_NUMBERS = 64


class Operators(Machine):
    """The part of a recorder that knows operators."""

    are_kept: Any

    def unary(self, function: Any, value: Any) -> Any:
        if type(value) is HostValue:
            return self.host(function, value)
        if answers(value):
            return self.call_special(value, SPECIAL_UNARY.get(function.__name__, "__pos__"))
        return self.own_arrays(self.guarded(function, (as_integer(value),), {}), value)

    def number_of_turn(self, value: Any) -> Any:
        """A counter of a loop that goes on, or an extent that follows it, as a number of the program; others as they are."""
        if type(value) is not _core.Dim or not self.are_kept():
            return value
        follows = any(loop.depends_on_turn(value) for loop in self.trace.loops)
        return scalar(value, np.dtype(np.int64), int) if follows else value

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
        if symbol in ELEMENTWISE and is_elementwise(lhs, rhs):
            # What most operators are: no number of Python's, whose errors are others, and nothing that is written.
            try:
                return operated(ELEMENTWISE[symbol], lhs, rhs)
            except Exception:
                pass  # the longer way raises it, too, and knows what to do
        if symbol.startswith("**") and type(rhs) is HostValue and isinstance(lhs, (TracedArray, np.ndarray)):
            # NumPy's operator computes these otherwise than power does.
            rhs = self.concrete(rhs) if self.truth(self.host(is_short_power, rhs)) else rhs
        pair = self.operands(lhs, rhs)
        if pair is None:
            return self.host(BINARY[symbol.rstrip("=")], lhs, rhs)
        lhs, rhs = pair
        if symbol[0] in "&|^<>":
            lhs, rhs = self.number_of_turn(lhs), self.number_of_turn(rhs)
        if symbol[0] == "+" and GrownList in (type(lhs), type(rhs)):
            return self.joined_lists(symbol, lhs, rhs)
        if type(lhs) in (str, bytes) and symbol[0] == "%":
            return self.formatted(lhs, rhs)
        if is_python_complex(lhs) and is_float64(rhs):
            may_raise = symbol.rstrip("=") in ("/", "**") and isinstance(rhs, TracedArray)
            if may_raise and not (self.bakes or self.strict):
                self.refuse(f"Python's '{symbol}' of a complex number and one that is computed, which may raise")
            rhs = as_python_float(rhs)
        if symbol in ("*", "*=") and (type(lhs) in REPEATED or type(rhs) in REPEATED):
            lhs, rhs = self.repetition(lhs), self.repetition(rhs)
        if answers(lhs) or answers(rhs):
            return self.user_binary(symbol, lhs, rhs)
        lhs, rhs = self.beside_no_number(lhs, rhs)
        if symbol[0] not in "&|^":
            lhs, rhs = as_integers(lhs, rhs)
        if self.may_divide_by_zero(symbol.rstrip("="), lhs, rhs):
            if self.can_break():
                return self.host(BINARY[symbol.rstrip("=")], self.number(lhs), self.number(rhs))
            self.require_divisor(symbol, rhs)
        if symbol[-1] == "=":
            self.before_change(lhs, rhs)
        result = self.own_arrays(self.guarded(BINARY[symbol], (lhs, rhs), {}), lhs)
        if symbol[:2] == "**" and isinstance(result, TracedArray) and result.weak is float:
            return self.python_power(result, lhs, rhs)
        if isinstance(result, TracedArray) and result.weak is int and self.trace.is_repeated:
            return in_int64(symbol.rstrip("="), lhs, rhs, result)
        return self.born(result) if type(result) in (list, dict, set) and result is not lhs else result

    def may_divide_by_zero(self, symbol: str, lhs: Any, rhs: Any) -> bool:
        """Whether an operator is Python's and raises for some values of its operands."""
        if symbol not in ("/", "//", "%", "**") or self.bakes or not (is_python_number(lhs) and is_python_number(rhs)):
            return False
        in_loop = bool(self.trace.loops)
        if symbol != "**":
            return not is_safe_divisor(rhs, in_loop)
        # Of floats the program looks at the power; with integers the exponent says whether it is one.
        if any(is_python_float(v) for v in (lhs, rhs)) and self.can_choose() and (self.raises or can_note(self.trace)):
            return False
        return (
            rhs.min < 0 and not is_safe_divisor(lhs, in_loop)
            if isinstance(rhs, _core.Dim)
            else not is_safe_divisor(rhs, in_loop)
        )

    def python_power(self, power: TracedArray, base: Any, exponent: Any) -> TracedArray:
        """A power of floats that Python has: it raises where that is infinite, and gives a complex number where there is none."""
        if self.bakes or is_bounded_power(base, exponent):
            return power
        if not (self.raises or can_note(self.trace)):
            self.refuse("Python's '**' of numbers that are computed by the program, which may raise")
        number, *operands = (wrap(as_tensor(v, np.dtype(np.float64))) for v in (power, base, exponent))
        has_infinite = np.logical_or(*map(np.isinf, operands))
        has_nan = np.logical_or(*map(np.isnan, operands))
        is_infinite = np.logical_and(np.isinf(number), has_infinite)
        holds = np.logical_or(np.logical_or(np.isfinite(number), has_nan), is_infinite)
        if type(exponent) is float and exponent == 0.5:
            power = wrap(power.tensor) + 0.0  # NumPy's is a root, of -0.0 too
        return TracedArray(
            demanded(power.tensor, holds, "power", "Numerical result out of range, or no real number"), float
        )

    def require_divisor(self, symbol: str, divisor: Any) -> None:
        if symbol[0:2] == "**" or not self.can_choose() or not can_note(self.trace):
            self.refuse(f"Python's '{symbol}' of numbers that are computed by the program, which may raise")
        require(np.not_equal(wrap(as_tensor(divisor)), 0))

    def beside_no_number(self, lhs: Any, rhs: Any) -> tuple[Any, Any]:
        """Both operands; beside what is no number types alone say what Python does, so that one stands for its number."""
        for number, other in ((lhs, rhs), (rhs, lhs)):
            if isinstance(number, TracedArray) and number.scalar and type_of(other) in NO_NUMBERS:
                if number.weak is not None:
                    return (number.weak(1), rhs) if number is lhs else (lhs, number.weak(1))
                if type(other) is bytearray:
                    self.refuse("a NumPy scalar and a bytearray")
        return lhs, rhs

    def repetition(self, value: Any) -> Any:
        """How often a list or a text is repeated: of a scalar, unlike an array, it is the number that a call has."""
        if isinstance(value, TracedArray) and value.scalar:
            return self.decided(value) if self.can_break() else self.refuse("a list times a number of the program")
        return value

    def before_change(self, owner: Any, value: Any) -> None:
        """Called before an operator changes its first operand in place."""
        if type(owner) in (list, set, dict):
            self.changes(owner)
        elif isinstance(owner, np.ndarray) and (contains_traced(value) or self.trace.is_repeated):
            self.written(owner)

    def compare(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        if symbol in ("==", "!=") and is_python_complex(lhs) and is_float64(rhs):
            rhs = as_python_float(rhs)
        has_order = symbol in ("==", "!=") or not (is_python_complex(lhs) or is_python_complex(rhs))
        if type(lhs) in RECORDED and type(rhs) in RECORDED and has_order:
            return self.guarded(COMPARE[symbol], (lhs, rhs), {})
        pair = self.operands(lhs, rhs)
        if pair is None:
            return self.host(COMPARE[symbol], lhs, rhs)
        lhs, rhs = pair
        if answers(lhs) or answers(rhs):
            return self.user_compare(symbol, lhs, rhs)
        lhs, rhs = self.beside_no_number(lhs, rhs)
        if symbol[0] in "<>" and any(map(is_python_complex, (lhs, rhs))) and all(map(is_python_number, (lhs, rhs))):
            raise TypeError(f"'{symbol}' not supported between complex numbers")
        if isinstance(lhs, np.dtype) and isinstance(rhs, TracedArray):
            self.refuse("a dtype and an array are compared")
        if type(lhs) in HOLDERS and type(rhs) in HOLDERS:
            are_sequences = type(lhs) is type(rhs) and type(lhs) in (list, tuple)
            if are_sequences and any(self.holds_host(side) or holds_object(side) for side in (lhs, rhs)):
                return self.compare_items(symbol, lhs, rhs)
            self.require_no_user_objects(lhs, rhs)
        return self.own_arrays(self.guarded(COMPARE[symbol], (lhs, rhs), {}))

    def compare_items(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        """Lists or tuples, of which the first items decide that are not equal."""
        if symbol in ("==", "!=") and len(lhs) != len(rhs):
            return symbol == "!="
        for a, b in zip(lhs, rhs, strict=False):
            if not self.same_or_equal(a, b):
                return symbol == "!=" if symbol in ("==", "!=") else self.compare(symbol, a, b)
        return COMPARE[symbol](len(lhs), len(rhs))

    def same_numbers(self, lhs: Any, rhs: Any) -> Any:
        """Whether numbers of Python's, of which the program computes one or both, are one object."""
        kinds = [v.weak if isinstance(v, TracedArray) else type(v) for v in (lhs, rhs)]
        if lhs is rhs or kinds[0] is not kinds[1]:
            return lhs is rhs
        if kinds[0] is bool:
            return self.compare("==", lhs, rhs)  # there is one True and one False
        if not self.can_break():
            self.refuse("whether numbers that are computed are one object")
        return self.truth(self.host(operator.is_, self.number(lhs), self.number(rhs)))

    def same_or_equal(self, lhs: Any, rhs: Any) -> bool:
        """What containers ask of an item."""
        for value in (lhs, rhs):
            if lhs is not rhs and type(value) is HostValue and value.value != value.value:
                self.refuse("a NaN in a list, which may be equal to itself")
        return lhs is rhs or self.truth(self.compare("==", lhs, rhs))

    def is_among_numbers(self, container: Any, value: Any) -> bool:
        """Whether it is asked if a number that only the run knows is one of a few numbers, or one of those a known number."""
        every = (value, *container) if len(container) <= MOST_NUMBERS else ()
        every = tuple(map(self.number_of_turn, every))
        is_known = [type(v) in NUMBERS or isinstance(v, np.generic) for v in every]
        traced = [v for v, known in zip(every, is_known, strict=True) if not known]
        return bool(traced) and self.can_choose() and all(isinstance(v, TracedArray) and v.scalar for v in traced)

    def contains_number(self, container: Any, value: Any) -> Any:
        found: Any = False
        for item in container:
            same = item is value or self.compare("==", item, value)
            if isinstance(same, TracedArray):
                found = same if found is False else np.logical_or(found, wrap(as_tensor(same, np.dtype(bool))))
            elif same:
                return True
        return python_truth(wrap(as_tensor(found, np.dtype(bool)))) if isinstance(found, TracedArray) else found

    def contains(self, container: Any, value: Any) -> Any:
        if answers(container):
            return self.user_contains(container, value)
        if type(container) is GrownList:
            return self.is_in_list(container, value)
        if type(container) in (list, tuple, frozenset) and self.is_among_numbers(container, value):
            return self.contains_number(container, value)
        if id(container) in self.large:
            return self.entry_of(container, self.hashed(value)) is not ABSENT
        if type(container) in (dict, set, frozenset):
            return self.guarded(BINARY_CONTAINS, (container, self.hashed(value)), {})
        if type(container) in (list, tuple) and (self.holds_host(container) or self.holds_host(value)):
            return any(self.same_or_equal(item, value) for item in container)
        self.require_no_user_objects(container, value, asked=answers_equality)
        if isinstance(container, Selection):
            return self.truth(self.guarded(is_among, (container, self.array_operand(value)), {}))
        if isinstance(container, TracedArray) and self.can_break():
            return self.truth(self.host_call(BINARY_CONTAINS, (container, value)))
        return self.guarded(BINARY_CONTAINS, (self.concrete(container), self.concrete(value)), {})


def in_int64(symbol: str, lhs: Any, rhs: Any, result: TracedArray) -> TracedArray:
    """A result of Python's integers, which do not end at 64 bits; to count by small steps takes no loop so far."""
    constant = next((abs(side) for side in (lhs, rhs) if type(side) is int), MOST_STEP)
    if symbol not in ("+", "-", "*", "**", "<<") or (symbol in "+-" and constant < MOST_STEP):
        return result
    first, second = (wrap(as_tensor(side, np.dtype(np.float64))) for side in (lhs, rhs))
    about = first * 2.0**second if symbol == "<<" else BINARY[symbol](first, second)
    message = "an integer of Python's is beyond int64"
    return TracedArray(demanded(result.tensor, np.abs(about) < 2.0**62, "integer", message), int)


def as_integer(value: Any) -> Any:
    """A truth value of Python's as the integer that its arithmetic takes it for; others as they are."""
    if isinstance(value, TracedArray) and value.weak is bool:
        return as_python(value, int)
    return int(value) if type(value) is bool else value


def as_integers(*values: Any) -> tuple[Any, ...]:
    """Numbers of Python's without a truth value among them; beside one of NumPy's, which has rules of its own, as they are."""
    return tuple(map(as_integer, values)) if all(map(is_python_number, values)) else values


def is_among(array: Any, value: Any) -> Any:
    """What ``value in array`` asks."""
    return np.any(np.equal(array, value))


def is_short_power(exponent: Any) -> bool:
    return exponent in (-1, 0, 0.5, 1, 2)


#: Operators that are one element-wise function of arrays, and what they take without asking anybody.
ELEMENTWISE = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "//": np.floor_divide, "%": np.remainder,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
}  # fmt: skip
#: What a whole number repeats.
REPEATED = (list, tuple, str, bytes, bytearray)
#: Types whose operators know no numbers; how often a list or text is repeated, and what a text shows, is known before.
NO_NUMBERS = frozenset(
    [list, tuple, str, bytes, bytearray, dict, set, frozenset, range, slice, type(None), type(Ellipsis)]
)
RECORDED = frozenset([TracedArray, int, float, complex])


def is_elementwise(lhs: Any, rhs: Any) -> bool:
    """Whether an operand is an array or NumPy scalar of the program that answers for the operator, and the other no object."""
    if type(lhs) is TracedArray and lhs.weak is None:
        return type(rhs) in RECORDED
    return type(lhs) in (int, float) and type(rhs) is TracedArray and rhs.weak is None


def is_float64(value: Any) -> bool:
    return type(value) is np.float64 or (
        isinstance(value, TracedArray) and value.scalar and value.weak is None and value.dtype == np.float64
    )


def as_python_float(value: Any) -> Any:
    """A float64 as it is to a complex number of Python's on its left, whose operator answers first: one of Python's floats."""
    if not isinstance(value, TracedArray):
        return float(value)
    number = wrap(value.tensor)
    number.weak, number.scalar = float, True
    return number


def is_python_complex(value: Any) -> bool:
    return type(value) is complex or (
        isinstance(value, TracedArray) and value.weak is not None and value.dtype.kind == "c"
    )


def is_python_float(value: Any) -> bool:
    return type(value) is float or (isinstance(value, TracedArray) and value.weak is float)


def is_bounded_power(base: Any, exponent: Any) -> bool:
    """Whether a known number has a power for all that an extent, or counter of a loop, may be."""
    if type(base) not in (int, float) or not isinstance(exponent, _core.Dim):
        return False
    try:
        return base > 0 and all(float(base) ** end < float("inf") for end in (exponent.min, exponent.max))
    except OverflowError:
        return False


def is_python_number(value: Any) -> bool:
    """Whether Python has a number of its own here, some of whose operators raise where NumPy's give infinities."""
    return (
        isinstance(value, _core.Dim)
        or type(value) in NUMBERS
        or (isinstance(value, TracedArray) and value.weak is not None)
    )


def is_safe_divisor(value: Any, in_loop: bool) -> bool:
    """Whether it is known not to be zero; of an extent of an array Python tells when it asks for it."""
    if isinstance(value, _core.Dim):
        return not in_loop or value.min > 0 or value.max < 0
    return type(value) in NUMBERS and value != 0


SPECIAL_UNARY = {"neg": "__neg__", "pos": "__pos__", "invert": "__invert__"}
BINARY_CONTAINS = operator.contains
