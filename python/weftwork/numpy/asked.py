"""What NumPy itself says of a call that is none of a program: it is asked with arrays that stand in for the traced ones."""

from __future__ import annotations

import builtins
import functools
import warnings
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError, Error, OutOfBoundsError, UnsupportedError
from .tracer import BoundMethod, TracedArray, untraced

__all__ = ["as_numpy_raises"]

#: Stand-ins have no more elements together, and no parameter is a number that NumPy would try as a size for long.
MOST_ELEMENTS, LARGEST = 1 << 20, 1 << 24
#: Beyond this NumPy refuses a size at once.
BEYOND_MEMORY = 1 << 60
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
#: Of an exception of NumPy's, the class that we raise.
OURS = (
    (TypeError, ArgumentTypeError),
    (ValueError, ArgumentValueError),
    (IndexError, OutOfBoundsError),
    (NotImplementedError, UnsupportedError),
)


class CannotAsk(Exception):
    """A call that NumPy must not be asked about."""


def as_numpy_raises(
    error: Exception | None, is_seen: bool, place: str, function: Any, args: tuple, kwargs: dict[str, Any]
) -> Exception | None:
    """The error for a call that NumPy refuses, whatever the values of its arrays are: of NumPy's class; None where it does not.

    ``is_seen``: the program may catch it itself, and gets what NumPy raises where that is of the class.
    """
    if type(function) is BoundMethod:
        function, args = getattr(np.ndarray, function.name, None), (function.owner, *args)
    try:
        answers = [answer(function, args, kwargs, fill) for fill in FILLS]
    except CannotAsk:
        return None
    theirs = public(type(answers[0]))
    if not all(isinstance(each, theirs) for each in answers) or (
        isinstance(error, theirs) and (isinstance(error, Error) or is_seen)
    ):
        return error
    text, label = f"{answers[0]}  [numpy_refuses]" + (f"\n{place}" if place else ""), "numpy_refuses"
    if isinstance(error, Error) and not isinstance(error, UnsupportedError) and error.label != "data_dependent":
        text, label = str(error), error.label
    return made(theirs, type(error) if isinstance(error, Error) else Error, text, label)


FILLS = (np.zeros, np.ones, lambda shape, dtype: np.asarray(np.random.default_rng(0).random(shape) * 1.5).astype(dtype))


def answer(function: Any, args: tuple, kwargs: dict[str, Any], fill: Any) -> Any:
    """What NumPy raises; raises CannotAsk where it does not raise."""
    left = [MOST_ELEMENTS]
    given, named = [stand_in(a, fill, left) for a in args], {k: stand_in(v, fill, left) for k, v in kwargs.items()}
    with untraced(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*given, **named)
        except Exception as error:
            return error
    raise CannotAsk


def stand_in(value: Any, fill: Any, left: list[int]) -> Any:
    """A copy of an argument, with arrays in the place of traced ones."""
    again = functools.partial(stand_in, fill=fill, left=left)
    if isinstance(value, TracedArray):
        if any(not isinstance(extent, int) for extent in value.shape):
            raise CannotAsk
        left[0] -= value.size
        if left[0] < 0:
            raise CannotAsk
        array = fill(value.shape, value.dtype)
        return value.weak(array[()]) if value.weak else array[()] if value.scalar else array
    if isinstance(value, np.ndarray) and value.dtype != object:
        left[0] -= value.size
        return value.copy() if left[0] >= 0 else again(None)
    if type(value).__name__ == "HostValue":
        return again(value.value)
    if isinstance(value, int) and (LARGEST < value < BEYOND_MEMORY or -BEYOND_MEMORY < value < -(1 << 32)):
        raise CannotAsk
    if isinstance(value, type) and (issubclass(value, np.generic) or value in vars(builtins).values()):
        return value
    if type(value) in PLAIN or isinstance(value, (np.generic, np.dtype)):
        return value
    if type(value) in (list, tuple, set):
        return type(value)(map(again, value))
    if type(value) is dict:
        return {key: again(item) for key, item in value.items()}
    if type(value) is slice:
        return slice(again(value.start), again(value.stop), again(value.step))
    raise CannotAsk


def public(kind: type) -> type:
    """The class of Python's own or of NumPy's public ones that an exception is of."""
    return next(base for base in kind.__mro__ if base.__module__ in ("builtins", "numpy.exceptions", "numpy.linalg"))


@functools.lru_cache
def class_for(theirs: type[Exception], otherwise: type[Exception]) -> type[Exception]:
    """An error of ours that is one of NumPy's class: of our class of that kind, or ("otherwise") where we have none."""
    ours = next((ours for base, ours in OURS if issubclass(theirs, base)), otherwise)
    if issubclass(ours, theirs):
        return ours
    methods = {
        "__init__": lambda self, text: Exception.__init__(self, text),
        "__str__": lambda self: str(self.args[0]),
        "__reduce__": lambda self: (made, (theirs, otherwise, str(self), self.label)),
        "__module__": ours.__module__,
        "__doc__": ours.__doc__,
    }
    return type(theirs.__name__, (ours, theirs), methods)


def made(theirs: type[Exception], otherwise: type[Exception], text: str, label: str) -> Exception:
    error = class_for(theirs, otherwise)(text)
    error.label = label  # type: ignore[attr-defined]
    return error
