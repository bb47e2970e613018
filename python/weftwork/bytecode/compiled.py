"""Compiled functions of libraries, called by Python between two pieces: with copies of arrays, whose changes are the calls' results.

Only functions of a few numerical packages and routines that f2py wraps are trusted to depend on their arguments alone, and only
where these are arrays, numbers and texts: one that is given a function or an object may do anything with it.
"""

from __future__ import annotations

import operator
import pickle
import random
import types
from typing import Any

import numpy as np

from ..numpy.tracer import TracedArray
from .breaks import real_values
from .draws import Draws
from .host import Called, draws_by_numpy, is_compiled, set_state, state_of
from .kinds import contains_traced
from .outside import ITEM, Refused

__all__ = ["CompiledCalls", "is_trusted"]

#: Packages whose compiled functions compute with what they are given, and parts of them that do not.
TRUSTED = ("scipy.", "skimage.", "sklearn.", "pywt.", "bottleneck.")
STATEFUL = (
    "skimage.io",
    "scipy.io",
    "scipy.stats._unuran",
    "scipy._lib.messagestream",
    "scipy.integrate._vode",
    "scipy.integrate._dop",
)
PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic, np.dtype)


def global_generators() -> list[Any]:
    """Those that a compiled function may draw from without being given them."""
    ours = [random._inst]  # type: ignore[attr-defined]
    return [*ours, np.random.mtrand._rand] if draws_by_numpy() else ours


def is_trusted(function: Any) -> bool:
    """Whether a compiled function is taken to depend on its arguments alone."""
    if not is_compiled(function):
        return False
    if type(function).__name__ == "fortran":
        return True
    owner = getattr(function, "__self__", None)
    name = owner.__name__ if isinstance(owner, types.ModuleType) else getattr(function, "__module__", None)
    return isinstance(name, str) and name.startswith(TRUSTED) and not name.startswith(STATEFUL)


class CompiledCalls(Draws):
    """The part of a recorder that calls compiled functions of libraries."""

    def compiled_call(self, function: Any, args: tuple, kwargs: dict[str, Any], written: tuple[int, ...] = ()) -> Any:
        """``written``: arguments that it changes, whether or not it does in this call."""
        values = [*args, *kwargs.values()]
        if not all(map(is_plain, values)):
            return self.refuse(
                f"'{getattr(function, '__name__', 'a compiled function')}' is given what is no array or number"
            )
        operands = self.host_operands(values)
        real = real_values(operands)
        trial = OnCopies(function, tuple(kwargs), None)
        self.host_calls += 1
        generators = global_generators()
        states = [state_of(generator) for generator in generators]
        with self.quietly():
            result, changed = self.computed(trial, operands)
        for generator, state in zip(generators, states, strict=True):
            if not is_state(state, state_of(generator)):
                set_state(generator, state)
                self.refuse("a compiled function that draws random numbers")
        written = tuple(i for i, array in changed.items() if i in written or not is_same(array, real[i]))
        step = self.steps.call(OnCopies(function, tuple(kwargs), written), operands)
        for position, number in enumerate(written):
            self.write_back(
                values[number], changed[number], self.steps.step(ITEM, self.steps.step(ITEM, step, 1), position)
            )
        return self.from_host(result, self.steps.step(ITEM, step, 0), [])

    def write_back(self, target: Any, value: np.ndarray, step: int) -> None:
        """What a compiled function left in an array that it was given."""
        if isinstance(target, np.ndarray):
            self.written(target)
        if not isinstance(target, TracedArray):
            self.refuse("a list is written by a compiled function")
        self.guarded(operator.setitem, (target, ..., self.array_from_host(value, step, [])), {})


class OnCopies(Called):
    """A compiled function called with copies of arrays: (its result, what it left in those of ``written``).

    An error where it writes to others. Without ``written``: a dictionary of all copies.
    """

    __slots__ = ("written",)

    def __init__(self, function: Any, names: tuple[str, ...], written: tuple[int, ...] | None) -> None:
        super().__init__(function, names)
        self.written = written

    def __call__(self, *values: Any) -> Any:
        copies = {i: value.copy(order="K") for i, value in enumerate(values) if isinstance(value, np.ndarray)}
        lists = [(value, list(value)) for value in values if type(value) is list]
        result = super().__call__(*(copies.get(i, value) for i, value in enumerate(values)))
        for value, before in lists:
            if len(value) != len(before) or any(map(operator.is_not, value, before)):
                value[:] = before
                raise Refused("a compiled function writes to a list")
        if any(
            result is copy or (isinstance(result, np.ndarray) and np.may_share_memory(result, copy))
            for copy in copies.values()
        ):
            result = result.copy(order="K")
        if self.written is None:
            return result, copies
        if any(i not in self.written and not is_same(copy, values[i]) for i, copy in copies.items()):
            raise RuntimeError("it writes to another argument")
        return result, tuple(copies[i] for i in self.written)

    def is_like(self, other: Called) -> bool:
        return super().is_like(other) and isinstance(other, OnCopies) and self.written == other.written


def is_state(state: Any, other: Any) -> bool:
    return pickle.dumps(state) == pickle.dumps(other)


def is_same(array: np.ndarray, other: np.ndarray) -> bool:
    if array.dtype.kind not in "biufc" or not (array.flags.c_contiguous and other.flags.c_contiguous):
        return array.tobytes() == other.tobytes()
    unit = np.uint64 if array.nbytes % 8 == 0 else np.uint8
    return array.nbytes == 0 or bool((array.reshape(-1).view(unit) == other.reshape(-1).view(unit)).all())


def is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(is_plain(item) and type(item) is not list for item in value)
    return isinstance(value, (TracedArray, np.ndarray, *PLAIN)) or contains_traced(value)
