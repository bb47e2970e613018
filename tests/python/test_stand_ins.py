"""What stands for arrays and their elements is taken for what they are by everything that Python and NumPy ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf


def is_iterable(value: Any) -> tuple[bool, str]:
    try:
        iter(value)
    except TypeError as error:
        return False, str(error)
    return True, ""


def raised(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except (TypeError, ValueError) as error:
        return type(error).__name__, str(error)


PROGRAMS = {
    "elements are no iterables": lambda x, n: (
        is_iterable(x[0]),
        is_iterable(x),
        is_iterable(x.sum()),
        is_iterable(2.0),
    ),
    "numpy says so too": lambda x, n: (np.iterable(x[0]), np.iterable(x), np.iterable(x.reshape(3)[1])),
    "lists are repeated": lambda x, n: ([0] * n[0], n[0] * (1, 2), [x[0]] * n[1], [1] * np.argmax(x), "ab" * n[0]),
    "lists are not repeated": lambda x, n: (raised(lambda: [0] * x[0]), [1, 2, 3] * x, n * (1, 2, 3), 2.0 * x),
    "no dtype of an array": lambda x, n: [
        raised(call)
        for call in (
            lambda: np.dtype(x),
            lambda: np.zeros(3, x),
            lambda: np.ones(2, dtype=x),
            lambda: x.sum(dtype=n),
            lambda: str(np.finfo(x)),
            lambda: np.dtype(x.dtype),
            lambda: np.dtype(x[0]),
        )
    ],
    "two booleans": lambda x, n: ((x == x).all() is np.True_, (x != x).any() is not np.False_, x.any() is True),
    "priorities": lambda x, n: (x.__array_priority__, x[0].__array_priority__),
    "squeezed": lambda x, n: (x.squeeze() is x, np.squeeze(x) is x, x[None].squeeze(), x.squeeze()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_taken_for_an_array(name: str) -> None:
    program = PROGRAMS[name]

    def use(x: Any, n: Any) -> Any:
        return program(x, n), x * 2

    jitted = wf.jit(use, strict=False)
    for first in (2, 2, 1, 3):
        args = np.array([1.5, 3.0, 2.0]), np.array([first, 1, 2])
        assert repr(jitted(*args)) == repr(use(*args))
