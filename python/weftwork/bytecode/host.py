"""Calls that Python does between two pieces of a program: on NumPy's own arrays, at each call of the function."""

from __future__ import annotations

import operator
import random
import sys
import threading
from typing import Any

import numpy as np

from ..numpy.steps import fixed, view_of
from .outside import is_like

__all__ = [
    "Called",
    "Draw",
    "Made",
    "Method",
    "Raised",
    "Reading",
    "Undo",
    "ViewOf",
    "agree",
    "has_to_run",
    "is_compiled",
    "is_generator",
    "set_state",
    "state_of",
    "undoing",
]


#: Names of the types that Cython, f2py and pybind11 give functions.
KINDS = frozenset(
    ["cython_function_or_method", "fused_cython_function", "fortran", "builtin_function_or_method", "_Function"]
)


def is_compiled(function: Any) -> bool:
    """Whether it is a function that is not Python code, of whatever tool."""
    return type(function).__name__ in KINDS


class Called:
    """A function with some of its arguments by name, as a step that takes them all by position."""

    __slots__ = ("function", "names")

    def __init__(self, function: Any, names: tuple[str, ...]) -> None:
        self.function, self.names = function, names

    def __call__(self, *values: Any) -> Any:
        count = len(values) - len(self.names)
        return self.function(*values[:count], **dict(zip(self.names, values[count:], strict=True)))

    def is_like(self, other: Called) -> bool:
        return is_like(self.function, other.function) and self.names == other.names


class Reading(Called):
    """A function that is given arrays that it cannot write: none of those that it is called with changes."""

    __slots__ = ()

    def __call__(self, *values: Any) -> Any:
        shown = [fixed(value) if isinstance(value, np.ndarray) else value for value in values]
        result = super().__call__(*shown)
        return next((value for value, view in zip(values, shown, strict=True) if result is view), result)

    def is_like(self, other: Called) -> bool:
        return isinstance(other, Reading) and super().is_like(other)


class Method:
    """A method by its name, of the first argument."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, owner: Any, *values: Any, **named: Any) -> Any:
        return getattr(owner, self.name)(*values, **named)

    def is_like(self, other: Method) -> bool:
        return self.name == other.name


class Made:
    """A list or tuple of values."""

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __call__(self, *values: Any) -> Any:
        return self.kind(values)

    def is_like(self, other: Made) -> bool:
        return self.kind is other.kind


class Raised:
    """What a call raises: the exception's type and text; None where it raises nothing."""

    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *values: Any) -> tuple[type, str] | None:
        try:
            self.function(*values)
        except Exception as error:
            return type(error), str(error)
        return None

    def is_like(self, other: Raised) -> bool:
        return is_like(self.function, other.function)


class ViewOf:
    """A part of an array, by the steps that lead to it; of a scalar, the scalar."""

    __slots__ = ("forms", "is_scalar", "key")

    def __init__(self, steps: tuple[Any, ...], is_scalar: bool) -> None:
        self.forms = [view_of(step) for step in steps]
        self.is_scalar = is_scalar
        self.key = steps

    @property
    def is_possible(self) -> bool:
        return all(form is not None for form in self.forms)

    def __call__(self, array: Any) -> Any:
        for form in self.forms:
            array = form(array)  # type: ignore[misc]
        return array[()] if self.is_scalar and isinstance(array, np.ndarray) else array

    def is_like(self, other: ViewOf) -> bool:
        return self.is_scalar == other.is_scalar and self.key == other.key


# -- random numbers -------------------------------------------------------------------------------------------------------


def draws_by_numpy() -> bool:
    """Whether NumPy's generators are loaded: a program that asks for ``np.random`` does that, `import weftwork` does not."""
    return "numpy.random" in sys.modules


def is_numpys_generator(value: Any) -> bool:
    return draws_by_numpy() and type(value) in (np.random.Generator, np.random.RandomState)


def is_generator(value: Any) -> bool:
    """Whether it is a generator of random numbers whose state can be taken and set."""
    return type(value) is random.Random or is_numpys_generator(value)


class Undo:
    """The states of generators before a call drew from them: given up, the call leaves them as they were."""

    def __init__(self, whole: Undo | None = None) -> None:
        self.states: list[tuple[Any, Any]] = []
        self.is_used = False  # whether anything was drawn
        self.whole = whole  # of a part of a call: that of all of it

    def note(self, owner: Any) -> None:
        if self.whole is not None:
            self.whole.note(owner)
        self.is_used = True
        if not any(owner is known for known, _ in self.states):
            self.states.append((owner, state_of(owner)))

    def undo(self) -> None:
        for owner, state in self.states:
            set_state(owner, state)
        self.states.clear()


def state_of(owner: Any) -> Any:
    if isinstance(owner, random.Random):
        return owner.getstate()
    return owner.bit_generator.state if isinstance(owner, np.random.Generator) else owner.get_state(legacy=False)


def set_state(owner: Any, state: Any) -> None:
    if isinstance(owner, random.Random):
        owner.setstate(state)
    elif isinstance(owner, np.random.Generator):
        owner.bit_generator.state = state
    else:
        owner.set_state(state)


def agree(owner: Any, other: Any) -> None:
    """Gives a generator the state of another one of its kind."""
    if owner is not other and is_generator(owner):
        set_state(owner, state_of(other))


_current = threading.local()


class undoing:
    """While it lasts, draws note the states of their generators in ``undo``."""

    def __init__(self, undo: Undo | None) -> None:
        self.undo = undo

    def __enter__(self) -> None:
        self.before = getattr(_current, "undo", None)
        _current.undo = self.undo

    def __exit__(self, *_: Any) -> None:
        _current.undo = self.before


class Draw(Method):
    """A method of a generator of random numbers, whose state is noted before."""

    __slots__ = ()

    def __call__(self, owner: Any, *values: Any, **named: Any) -> Any:
        undo = getattr(_current, "undo", None)
        if undo is None:
            raise RuntimeError("a draw outside of a call")
        undo.note(owner)
        if self.name != "shuffle":
            return super().__call__(owner, *values, **named)
        array = values[0].copy(order="K")
        owner.shuffle(array, *values[1:], **named)
        return array


#: Operators that raise for no numbers; NumPy's own warn.
SAFE_OPERATORS = frozenset(
    [
        getattr(operator, name)
        for name in (
            "add",
            "iadd",
            "sub",
            "isub",
            "mul",
            "imul",
            "neg",
            "pos",
            "abs",
            "eq",
            "ne",
            "lt",
            "le",
            "gt",
            "ge",
        )
    ]
)
#: Functions of numbers whose results have types that the numbers' values decide.
OF_VARIOUS_TYPES = frozenset([operator.pow, operator.ipow, pow, min, max])


def has_to_run(function: Any) -> bool:
    """Whether each call computes a function of numbers even if nothing needs it: it may raise, or its type is not known."""
    may_raise = function not in SAFE_OPERATORS and not isinstance(function, (np.ufunc, operator.itemgetter))
    return may_raise or function in OF_VARIOUS_TYPES
