"""Operators and calls on values that may be numbers of Python's or scalars of NumPy's, see numpy/mixed.py."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from .. import _core
from ..numpy.maybe import Maybe
from ..numpy.mixed import MOST_NUMBERS, PLAIN, can_be, kinds_agree, mark, numbers_of, require_one_type, union
from ..numpy.tracer import TracedArray
from ..pytree import items_of
from .machine import BINARY, COMPARE
from .natives import is_numpy_function
from .operators import Operators
from .scalar_calls import is_scalar_function

__all__ = ["MixedNumbers"]


class MixedNumbers(Operators):
    """The part of a recorder that knows which results may be numbers of Python's instead.

    A program that has to be one takes them for NumPy's scalars, unless an array beside them would be of another dtype.
    """

    trace: Any
    can_choose: Any
    fresh: Any
    refuse: Any

    def unary(self, function: Any, value: Any) -> Any:
        result = super().unary(function, value)
        return self.with_numbers(function, (value,), result) if self.trace.mixed else result

    def binary(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        result = super().binary(symbol, lhs, rhs)
        return self.with_numbers(BINARY[symbol], (lhs, rhs), result) if self.trace.mixed else result

    def compare(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        result = super().compare(symbol, lhs, rhs)
        return self.with_numbers(COMPARE[symbol], (lhs, rhs), result) if self.trace.mixed else result

    def with_numbers(self, function: Any, operands: tuple, result: Any) -> Any:
        """The result of an operator on values of which some may be numbers of Python's."""
        numbers = [numbers_of(self.trace, value) for value in operands]
        if not any(numbers):
            return result
        self.require_one_result(operands, numbers)
        options = [
            own or ((value,) if type(value) in PLAIN else ()) for value, own in zip(operands, numbers, strict=True)
        ]
        if all(options) and isinstance(result, TracedArray):
            try:
                found = union(*((function(*each),) for each in itertools.product(*options)))
            except (ArithmeticError, ValueError, TypeError):
                found = (None,) * (MOST_NUMBERS + 1)
            if len(found) <= MOST_NUMBERS and all(can_be(n, result.dtype, result.weak) for n in found):
                mark(self.trace, result.tensor, tuple(n for n in found if type(n) is not result.weak))
            elif not self.raises:
                self.refuse_mixed()
        return result

    def require_one_result(self, operands: tuple, numbers: list[tuple]) -> None:
        """An operation gives the same of numbers of Python's and of the scalars that stand for them."""
        for value, own in zip(operands, numbers, strict=True):
            for other in operands if own else ():
                if other is value or type(other) in PLAIN or numbers_of(self.trace, other):
                    continue
                is_array = isinstance(other, (np.ndarray, np.generic)) or (
                    isinstance(other, TracedArray) and not other.weak
                )
                if (is_array and not all(kinds_agree(n, value.weak, value.dtype, other.dtype) for n in own)) or (
                    not is_array and not (self.raises and isinstance(other, (TracedArray, _core.Dim)))
                ):
                    self.settle(value)

    def one_type_truth(self, value: TracedArray) -> TracedArray:
        """A value whose truth is asked, which does not show what number it is."""
        return np.logical_not(np.logical_not(value)) if numbers_of(self.trace, value) else value  # type: ignore[return-value]

    def settle(self, value: TracedArray) -> None:
        """It shows whether a value is a number of Python's: behind a loop, it is none or the call runs plainly."""
        if self.trace.loops or not require_one_type(self.trace, value):
            self.refuse_mixed()

    def settle_types(self, results: Iterable[Any]) -> None:
        """Results that may be numbers of Python's are none, or the call runs plainly."""
        pending, seen = list(results) if self.trace.mixed else [], set()
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, TracedArray):
                if not require_one_type(self.trace, value) and not self.raises:
                    self.refuse_mixed()
            elif type(value) is Maybe:
                pending.append(value.value)
            elif isinstance(value, (list, tuple, dict)):
                pending += items_of(value)
            elif id(value) in self.fresh:
                pending += vars(value).values() if hasattr(value, "__dict__") else ()

    def refuse_mixed(self) -> Any:
        """Whether a value is Python's number shows: the first turn of a loop may settle it, where it is written out."""
        for loop in reversed(self.trace.loops):
            if any(item.numbers for item in loop.carried):
                loop.peel("a number that may be Python's or NumPy's")
        return self.refuse("a number that may be Python's or NumPy's")

    def require_stored_alike(self, array: TracedArray, value: Any) -> None:
        """An array takes the number of Python's that a value may be, as it takes a scalar of NumPy's."""
        for number in numbers_of(self.trace, value):
            try:
                np.zeros(1, array.dtype)[0] = number
            except (OverflowError, ValueError, TypeError):
                self.refuse_mixed()

    def attribute(self, owner: Any, name: str) -> Any:
        if self.trace.mixed and numbers_of(self.trace, owner) and not self.raises:
            self.settle(owner)
        return super().attribute(owner, name)

    def call(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        if self.trace.mixed and not is_interpreted(function):
            mixed = self.mixed_in((*args, *kwargs.values()))
            if mixed:
                self.require_one_call(function, (*args, *kwargs.values()), mixed)
            if mixed and function is abs:
                return self.with_numbers(abs, args, super().call(function, args, kwargs))
        return super().call(function, args, kwargs)

    def mixed_in(self, values: tuple | list) -> list[TracedArray]:
        """Those of the values, and of what lists and tuples among them hold, that may be numbers of Python's."""
        found = [value for value in values if numbers_of(self.trace, value)]
        for value in values:
            if type(value) in (list, tuple):
                found += self.mixed_in(value)
        return found

    def require_one_call(self, function: Any, operands: tuple, mixed: list[TracedArray]) -> None:
        """A call gives the same of numbers of Python's and of the scalars that stand for them."""
        is_kept = type(getattr(function, "__self__", None)) in (list, dict) and not self.trace.loops
        if is_kept or (self.can_choose() and is_scalar_function(function)):
            return
        if is_numpy_function(function):
            self.require_one_result(operands, [numbers_of(self.trace, value) for value in operands])
        for value in () if self.raises else mixed:
            is_operand = any(value is operand for operand in operands) and is_numpy_function(function)
            if not is_operand or any(np.asarray(n).dtype != value.dtype for n in numbers_of(self.trace, value)):
                self.settle(value)


def is_interpreted(function: Any) -> bool:
    """Whether what a call does with numbers is seen as it does it."""
    if isinstance(function, (FunctionType, MethodType)):
        return not is_numpy_function(function)
    return any(function is known for known in (min, max, bool, float))
