"""Operators and calls on values that may be numbers of Python's or scalars of NumPy's, see numpy/mixed.py."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ..numpy.mixed import kind_of, kinds_agree, mark_of, marked, require_one_type
from ..numpy.tracer import TracedArray, python_truth
from ..numpy.validity import can_note, require
from ..pytree import each_of
from .appends import is_append
from .grown_lists import ListMethod
from .kinds import held_by
from .machine import COMPARE
from .natives import is_numpy_function
from .operators import Operators, as_integers, is_python_number
from .scalar_calls import is_scalar_function

__all__ = ["MixedNumbers"]


class MixedNumbers(Operators):
    """The part of a recorder that knows which results may be numbers of Python's instead.

    A program that has to be one takes them for NumPy's scalars, unless an array beside them would be of another dtype.
    """

    trace: Any
    can_break: Any
    can_choose: Any
    fresh: Any
    host: Any
    number: Any
    refuse: Any

    def unary(self, function: Any, value: Any) -> Any:
        result = super().unary(function, value)
        if not self.trace.mixed:
            return result
        return self.with_mark(function.__name__, functools.partial(super().unary, function), (value,), result)

    def binary(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        result = super().binary(symbol, lhs, rhs)
        if not self.trace.mixed:
            return result
        return self.with_mark(symbol, functools.partial(super().binary, symbol), (lhs, rhs), result)

    def compare(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        result = super().compare(symbol, lhs, rhs)
        if not self.trace.mixed:
            return result
        return self.with_mark(symbol, functools.partial(super().compare, symbol), (lhs, rhs), result)

    def with_mark(self, symbol: str, compute: Callable[..., Any], operands: tuple, result: Any) -> Any:
        """The result of an operator on values of which some may be numbers of Python's."""
        marks = [mark for mark in (mark_of(self.trace, value) for value in operands) if mark is not None]
        if not marks:
            return result
        self.require_one_result(operands)
        if not isinstance(result, TracedArray) or not all(map(self.may_be_python, operands)):
            return result  # NumPy's, whichever they are
        symbol = symbol if symbol in COMPARE else symbol.rstrip("=")
        kind = kind_of_result(symbol, [self.kind_in_python(value) for value in operands])
        if kind is None:
            for value in () if self.raises else operands:
                if mark_of(self.trace, value) is not None:
                    self.settle(value)
            return result
        python = functools.reduce(np.logical_and, [mark.python for mark in marks])
        if isinstance(python, TracedArray):
            python = python_truth(python)
        if not self.raises:
            is_natural = all(mark.is_natural for mark in marks)
            self.require_pythons_result(symbol, compute, operands, None if is_natural else result, python)
        return marked(self.trace, result, python, kind)

    def require_pythons_result(
        self, symbol: str, compute: Callable[..., Any], operands: tuple, result: Any, python: Any
    ) -> None:
        """Python raises nothing, and computes what the scalar is; ``result``: None where that follows from the dtypes."""
        if not can_note(self.trace):
            self.refuse_mixed()
        given = [self.where_python(value) for value in operands]
        if result is None and self.can_break() and self.may_divide_by_zero(symbol, given[0], given[-1]):
            # Not computed by Python itself, which the program would wait for.
            require(np.logical_or(np.not_equal(given[1], 0), np.logical_not(python)))
            return
        own = compute(*given)
        if result is not None:
            require(np.logical_or(np.equal(result, own), np.logical_not(python)))

    def kind_in_python(self, value: Any) -> Any:
        mark, kind = mark_of(self.trace, value), kind_of(value)
        return mark.kind if mark is not None else kind and kind[1]

    def where_python(self, value: Any) -> Any:
        """The number of Python's that a value may be: what Python computes of it is the scalar's, or the call runs plainly."""
        mark = mark_of(self.trace, value)
        if mark is None:
            return value
        number = np.where(mark.python, mark.number, mark.number.dtype.type(1)).astype(np.dtype(mark.kind))
        return TracedArray(number.tensor, mark.kind)

    def may_be_python(self, value: Any) -> bool:
        return is_python_number(value) or mark_of(self.trace, value) is not None

    def require_one_result(self, operands: tuple) -> None:
        """An operation gives the same of numbers of Python's and of the scalars that stand for them."""
        for value in operands:
            mark = mark_of(self.trace, value)
            for other in operands if mark is not None else ():
                if other is value or self.may_be_python(other):
                    continue
                is_array = isinstance(other, (np.ndarray, np.generic, TracedArray))
                if not is_array or not kinds_agree(mark, other.dtype):  # type: ignore[arg-type]
                    self.settle(value)

    def one_type_truth(self, value: TracedArray) -> TracedArray:
        """A value whose truth is asked, which does not show what number it is."""
        mark = mark_of(self.trace, value)
        return value if mark is None else mark.number

    def settle(self, value: TracedArray) -> None:
        """It shows whether a value is a number of Python's: behind a loop, it is none or the call runs plainly."""
        if self.trace.loops or not require_one_type(self.trace, value):
            self.refuse_mixed()

    def settle_types(self, values: Iterable[Any]) -> None:
        """What Python goes on with may not be numbers of Python's, or the call runs plainly."""
        for value in each_of(values if self.trace.mixed else (), lambda value: held_by(value, self.fresh)):
            if isinstance(value, TracedArray) and not require_one_type(self.trace, value) and not self.raises:
                self.refuse_mixed()

    def refuse_mixed(self) -> Any:
        """Whether a value is Python's number shows: the first turn of a loop may settle it, where it is written out."""
        for loop in reversed(self.trace.loops):
            if loop.parts.mixed:
                loop.peel("a number that may be Python's or NumPy's")
        return self.refuse("a number that may be Python's or NumPy's")

    def require_stored_alike(self, array: TracedArray, value: Any) -> None:
        """An array takes the number of Python's that a value may be, as it takes a scalar of NumPy's."""
        mark = mark_of(self.trace, value)
        if mark is not None and not np.can_cast(mark.number.dtype, array.dtype, "safe"):
            self.refuse_mixed()

    def attribute(self, owner: Any, name: str) -> Any:
        if mark_of(self.trace, owner) is not None and not self.raises:
            self.settle(owner)
        return super().attribute(owner, name)

    def call(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if id(function) in OF_INTEGERS_TOO:
            args = as_integers(*args)
            if function is divmod and len(args) == 2 and self.may_divide_by_zero("//", *args):
                if self.can_break():
                    return self.host(divmod, *map(self.number, args))
                self.require_divisor("//", args[1])
        if self.trace.mixed and not is_interpreted(function):
            mixed = self.mixed_in((*args, *kwargs.values()))
            if mixed:
                self.require_one_call(function, (*args, *kwargs.values()), mixed)
            if mixed and function is abs:
                compute = lambda *args: super(MixedNumbers, self).call(function, args, kwargs)
                return self.with_mark("abs", compute, args, compute(*args))
        return super().call(function, args, kwargs)

    def mixed_in(self, values: tuple | list) -> list[TracedArray]:
        """Those of the values, and of what lists and tuples among them hold, that may be numbers of Python's."""
        found = [value for value in values if mark_of(self.trace, value) is not None]
        for value in values:
            if type(value) in (list, tuple):
                found += self.mixed_in(value)
        return found

    def require_one_call(self, function: Any, operands: tuple, mixed: list[TracedArray]) -> None:
        """A call gives the same of numbers of Python's and of the scalars that stand for them."""
        is_kept = type(getattr(function, "__self__", None)) in (list, dict) and not self.trace.loops
        if (
            is_kept
            or type(function) is ListMethod
            or is_append(function)
            or (self.can_choose() and is_scalar_function(function))
        ):
            return
        if is_numpy_function(function):
            self.require_one_result(operands)
        for value in () if self.raises else mixed:
            is_operand = any(value is operand for operand in operands) and is_numpy_function(function)
            mark = mark_of(self.trace, value)
            if mark is not None and not (is_operand and mark.is_natural):
                self.settle(value)


#: By identity, as a callable of the user's is not asked for its hash: functions that take Python's booleans for integers.
OF_INTEGERS_TOO = frozenset(map(id, (abs, divmod, pow)))
OF_NUMBERS = ("+", "-", "*", "/", "//", "%", "neg", "pos", "abs")
OF_INTEGERS = ("&", "|", "^", "invert")


def kind_of_result(symbol: str, kinds: list[Any]) -> type | None:
    """Of which type Python's result is; None where that depends on more than types."""
    if symbol in COMPARE:
        return bool
    if any(kind not in (int, float) for kind in kinds):
        return None
    if symbol in OF_INTEGERS:
        return int if float not in kinds else None
    if symbol not in OF_NUMBERS:
        return None
    return float if float in kinds or symbol == "/" else int


def is_interpreted(function: Any) -> bool:
    """Whether what a call does with numbers is seen as it does it."""
    if isinstance(function, (FunctionType, MethodType)):
        return not is_numpy_function(function)
    return any(function is known for known in (min, max, bool, float))
