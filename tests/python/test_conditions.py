"""Conditions on values outside of loops, in programs that have to be one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from same_types import same, same_outcome
from sources import function_of

import weftwork as wf

FORMS = []


def form(function):
    FORMS.append(function)
    return function


@form
def scaled(x):
    if x.max() > 1:
        x = x / 255
    return x


@form
def mean_or_zero(x):
    if x.sum() > 0:
        return x.mean()
    return 0.0


@form
def some_written(x):
    y = x.copy()
    if x[0, 0] > 0:
        y[1:] += 1
    else:
        y[0] = 0
    return y


@form
def in_place(x):
    if x[0, 0] > 0:
        x[:, 0] = 7
    return x


@form
def without_signs(x):
    if np.any(x < 0):
        x = np.abs(x)
    return np.sqrt(x)


@form
def itself_or_twice(x):
    if x.sum() > 0:
        return x
    return x * 2


@form
def kinds(x):
    n = 0
    if x[0, 0] > 0 and x[1, 1] > 0:
        n = 1
    elif x[2, 2] > 0:
        n = 2
    return n


@form
def product_or_sum(x):
    if x.sum() > 0:
        return x @ x
    if x.min() < -2:
        return x + 1
    return x


@form
def by_numbers_of_python(x):
    s = float(x[0, 0])
    return math.sqrt(s) if s > 0 else math.exp(s)


@form
def behind_a_search(x):
    first = None
    for i in range(len(x)):
        if x[i, 0] > 0.5:
            first = i
            break
    if first is None:
        return -1
    return first + 1


@pytest.mark.parametrize("n", [3, 12, 40])
@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_they_decide_in_the_program(function, n):
    rng = np.random.default_rng(n)
    jitted = wf.jit(function, strict=True)
    for x in (rng.random((n, n)), -rng.random((n, n)) * 3, rng.standard_normal((n, n)), np.zeros((n, n))):
        ours, plain = x.copy(), x.copy()
        np.testing.assert_allclose(jitted(ours), function(plain), rtol=1e-12)
        same(ours, plain)
    assert jitted.plan_count == 1


def test_ways_that_are_not_taken_do_not_run():
    """A way that takes long is a loop that has no turn."""

    def f(x):
        return x @ x if x.sum() > 0 else x

    assert "until=true" in str(wf.trace(f, np.ones((40, 40))))


def test_ways_with_effects_are_no_program():
    with pytest.raises(wf.Error):
        wf.jit(lambda x: print(x.sum()) if x.sum() > 0 else None, strict=True)(np.ones(3))


def test_a_loop_of_many_turns_decides_at_each():
    def f(x, n):
        while n > 0:
            if x[n] > 0:
                x = x.reshape(-1)[::-1].copy()
            n -= 1
        return [x] * 2

    x = np.random.default_rng(0).standard_normal(200)
    same(wf.jit(f, strict=True, static_argnames="n")(x, 150), f(x, 150))


@pytest.mark.parametrize(
    "program", ["k[2] in (1, 2)", "k[2] not in [1, 2, k[3]]", "int(k[0]) in {0, 5}", "[v for v in k if v in (1, 3)]"]
)
def test_a_number_among_numbers(program: str) -> None:
    function = function_of(f"def f(k):\n    return {program}", "f", f"among {program}")
    fast = wf.jit(function, strict=True)
    for seed in range(4):
        k = np.random.default_rng(seed).integers(0, 7, 20)
        same_outcome(fast, function, (k,), program)
