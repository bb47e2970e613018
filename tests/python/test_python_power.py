"""Powers of Python's floats: where Python raises, or gives a complex number, the program does not give an infinity or NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from same_types import same_outcome

import weftwork as wf

VALUES = [np.arange(1.0, 21), np.arange(20.0), np.full(20, 1e200), -np.arange(1.0, 21) - 0.5]
VALUES += [np.full(20, v) for v in (np.inf, -np.inf, np.nan, -0.0)]


def inverse(x):
    return float(x[0]) ** -1


def square(x):
    return float(x[0]) ** 2, pow(float(x[1]), 2)


def root(x):
    return float(x[0]) ** 0.5


def of_two(x):
    return float(x[0]) ** float(x[1])


def of_counter(x):
    total = 0.0
    for i in range(20):
        total += float(x[i]) ** i + 2.0**i + 0.5 ** (i - 3)
    return total


def in_place(x):
    v = float(x[3])
    v **= 3
    return v


def summed(x):
    return sum(float(v) ** -3 for v in x)


def of_numpy(x):
    return x[0] ** -1 + x[1] ** 2.5


@pytest.mark.parametrize("program", [inverse, square, root, of_two, of_counter, in_place, summed, of_numpy])
def test_powers_of_floats(program: Any) -> None:
    fast = wf.jit(program, strict=False)
    for x in VALUES:
        same_outcome(fast, program, (x,), f"{program.__name__} of {x[0]}")
    assert fast.ways["compiled"] > 0


@pytest.mark.parametrize("program", [inverse, square, of_counter, summed])
def test_one_program_raises(program: Any) -> None:
    fast = wf.jit(program, strict=True)
    assert np.allclose(fast(VALUES[0]), program(VALUES[0]))
    bad = VALUES[1] if program in (inverse, summed) else VALUES[2]
    with pytest.raises((ZeroDivisionError, OverflowError)):
        program(bad)
    with pytest.raises(wf.errors.Error, match="out of range"):
        fast(bad)
