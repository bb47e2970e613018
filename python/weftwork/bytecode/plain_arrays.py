"""Arrays that NumPy makes of constants while a call is recorded: constants too, until the program writes a value to one.

Then whatever has the array, or a view of it, has to see the write: variables, containers, objects, iterators, bound methods.
So the call is recorded once more, with all arrays that are made at that place as values of the program from the beginning.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from .. import _core
from ..numpy.layout import given_strides
from ..numpy.retry import Retry
from ..numpy.tracer import Trace, TracedArray
from .kinds import contains_traced
from .reads import Reads

__all__ = ["PlainArrays"]

#: Methods that write to the array that they belong to, and those that may.
CHANGING_METHODS = frozenset(["put", "fill", "sort", "partition"])
MAY_CHANGE = CHANGING_METHODS | {"resize", "byteswap", "__setitem__"}
#: Where an array is made: the code's file, its first line and name, and the instruction. None where that is not known.
Origin = tuple[str, int, str, int] | None


class PlainArrays(Reads):
    """The part of a recorder that knows which arrays are the program's own, and where they were made."""

    trace: Trace

    def __init__(self) -> None:
        super().__init__()
        self.plain_arrays: dict[int, tuple[np.ndarray, Origin]] = {}

    def own_arrays(self, result: Any, *operands: Any) -> Any:
        """Notes the arrays that a call made of its operands, and gives them as the program is to have them."""
        if type(result) in (list, tuple) and any(type(item) is np.ndarray for item in result):
            return type(result)([self.own_arrays(item, *operands) for item in result])
        if (
            type(result) is not np.ndarray
            or id(result) in self.plain_arrays
            or any(result is operand for operand in operands)
        ):
            return result
        if result.base is not None and sys.getrefcount(result.base) > 2:
            return result  # a view of what somebody else has
        origin = self.here()
        if origin in self.trace.unrolled and result.dtype.kind in "fciub":
            traced = TracedArray(_core.constant(result.copy()))
            traced._storage.strides = given_strides(result, list(result.shape))
            return traced
        self.plain_arrays[id(result)] = (result, origin)
        if type(result.base) is np.ndarray:  # as of what np.linspace gives, and of views of that
            self.plain_arrays[id(result.base)] = (result.base, origin)
        return result

    def here(self) -> Origin:
        frame = self.frame
        if frame is None:
            return None
        code = frame.f_code
        return (code.co_filename, code.co_firstlineno, code.co_name, frame.at)

    def is_own(self, array: np.ndarray) -> bool:
        """Whether the program made an array, or what it is a view of."""
        return self.made(array) is not None

    def made(self, array: np.ndarray) -> tuple[np.ndarray, Origin] | None:
        """The array that the program made of which this is a view, or is all, and where; None where it made none."""
        base: Any = array
        while isinstance(base, np.ndarray) and id(base) not in self.plain_arrays:
            base = base.base
        return self.plain_arrays[id(base)] if isinstance(base, np.ndarray) else None

    def written(self, array: np.ndarray) -> NoReturn:
        """Called before a value of the program is written to an array of NumPy's."""
        self.begin_with_array(array)
        self.refuse("a value is written to an array that is no value of the program")

    def begin_with_array(self, array: np.ndarray) -> None:
        """Has the call recorded once more, with an array as a value of the program, if that has not been tried and it is its own."""
        made = self.made(array)
        origin = made[1] if made is not None else None
        if origin is not None and origin not in self.trace.unrolled:
            raise Retry(origin, "a value is written to an array that is made here")

    def before_method(self, owner: np.ndarray, name: str, args: tuple) -> None:
        """Called before a method of an array of NumPy's."""
        if name in MAY_CHANGE and (self.trace.is_repeated or any(map(contains_traced, args))):
            self.written(owner)

    @contextlib.contextmanager
    def watching_arrays(self, args: tuple, kwargs: dict[str, Any]) -> Iterator[None]:
        """What NumPy writes in a loop that is recorded once would be written as often as its body is recorded."""
        values = [*args, *kwargs.values()] if self.trace.is_repeated else []
        values += [item for value in values if type(value) is tuple for item in value]
        before = [(value, value.tobytes()) for value in values if isinstance(value, np.ndarray)]
        yield
        for array, content in before:
            if array.tobytes() != content:
                self.written(array)
