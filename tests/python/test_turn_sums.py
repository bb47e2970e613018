"""Loops that count, or add integers up, are reductions: turns in any order give the same."""

from __future__ import annotations

import numpy as np
import pytest
from same_types import same

import weftwork as wf

FORMS = []


def form(function):
    FORMS.append(function)
    return function


@form
def positive(x):
    count = 0
    for i in range(len(x)):
        if x[i] > 0:
            count += 1
    return count


@form
def peaks_and_negative(x):
    peaks, negative = 5, 0
    for i in range(1, len(x) - 1):
        if x[i] > x[i - 1] and x[i] > x[i + 1]:
            peaks += 1
        if x[i] < 0:
            negative += 1
    return peaks, negative


@form
def by_conditions(x):
    q = (x * 1000).astype(np.int64)
    most, least, s = 0, 10**9, 0
    for i in range(len(q)):
        most, least = max(most, q[i]), min(least, q[i])
        if q[i] % 3 == 0:
            s += q[i]
        elif q[i] % 5 == 1:
            s -= 2 * q[i]
    return most, least, s


@form
def bits(x):
    q = (x * 1000).astype(np.int16)
    every, some, odd, product = np.int16(-1), np.int16(0), np.int16(0), np.int16(1)
    for i in range(len(q)):
        every &= q[i]
        some |= q[i]
        odd ^= q[i]
        product *= q[i]
    return every, some, odd, product


@form
def anywhere(x):
    found, everywhere = False, True
    for i in range(len(x)):
        if x[i] > 3:
            found = True
        if x[i] < -3:
            everywhere = False
    return found, everywhere


@pytest.mark.parametrize("target", ["native", "avx2", "x86-64"])
@pytest.mark.parametrize("n", [0, 1, 3, 9, 63, 1000, 70001])
@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_they_give_what_numpy_gives(function, n, target, monkeypatch):
    monkeypatch.setenv("WEFT_TARGET", target)
    monkeypatch.setenv("WEFT_TRIALS", "0")
    x = np.random.default_rng(n).standard_normal(n)
    with np.errstate(all="ignore"):
        same(wf.jit(function, strict=False)(x), function(x))


@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_they_are_vectors(function):
    text = wf.trace(function, np.ones(1000)).core.kernels_text()
    loops = [line for line in text.splitlines() if " for ." in line]
    assert loops and all("vector" in line for line in loops), text


def test_sums_of_floats_keep_their_order():
    def total(x):
        s = 0.0
        for i in range(len(x)):
            s += x[i]
        return s

    x = np.random.default_rng(0).standard_normal(1000) * 10.0 ** np.arange(-8, 8, 0.016)
    assert wf.jit(total)(x) == total(x)
