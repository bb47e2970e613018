"""Conditions in loops that are kept as one: both ways are recorded, and Python's values and types come of them."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest
from drawn_loops import Drawn, drawn_program
from loop_programs import FORMS, PLAINLY, binned, mean_of_some, relu, validated
from same_types import same

import weftwork as wf
from weftwork import errors
from weftwork.bytecode.decode import decoded
from weftwork.bytecode.postdominators import NEVER, RETURNS, meeting

RNG = np.random.default_rng(11)
X, K = RNG.standard_normal(50), RNG.integers(0, 50, 50)


def given(x=X):
    return x.copy(), K.copy()


@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_is_one_program(function):
    args = given()
    wanted = function(*args)
    fast = wf.jit(function, strict=False)
    for _ in range(3):
        passed = given()
        same(fast(*passed), wanted)
        same(passed, args)
    assert fast.ways == {"compiled": 3, "pieces": 0, "plain": 0}
    other = np.sort(X)[::-1].copy()
    same(fast(*given(other)), function(*given(other)))


@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_strict(function):
    if function is validated:
        with pytest.raises(errors.DataDependentError):
            wf.jit(function)(*given())
    else:
        same(wf.jit(function)(*given()), function(*given()))


@pytest.mark.parametrize("function", PLAINLY, ids=lambda f: f.__name__)
def test_more_than_arrays_and_variables(function):
    fast = wf.jit(function, strict=False)
    for _ in range(3):
        same(fast(*given()), function(*given()))


@pytest.mark.parametrize("function", [relu, binned, mean_of_some], ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["avx2", "x86-64"])
def test_narrow_vectors(function, target):
    with wf.knobs(target=target):
        same(wf.jit(function)(*given()), function(*given()))


def test_what_raises_in_a_way():
    fast = wf.jit(validated, strict=False)
    same(fast(*given()), validated(*given()))
    bad = X.copy()
    bad[9] = -1e7
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^9$"):
            fast(bad, K)
    same(fast(*given()), validated(*given()))


def test_an_index_of_a_way_that_is_not_taken():
    def picked(x, k):
        s = 0.0
        for i in range(len(k)):
            if k[i] < len(x):
                s += x[k[i]]
        return s

    beyond = np.array([1, 70, 3, 99, 2, 1, 1, 1, 1, 1])
    for fast in (wf.jit(picked, strict=False), wf.jit(picked)):
        same(fast(X, beyond), picked(X, beyond))

    def unguarded(x, k):
        s = 0.0
        for i in range(len(k)):
            if x[i] > -100:
                s += x[k[i]]
        return s

    for fast in (wf.jit(unguarded, strict=False), wf.jit(unguarded)):
        with pytest.raises(IndexError):
            fast(X, beyond)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, -0.0, 2.5, -7.0])
def test_numbers_that_python_raises_for(value):
    import math

    def integer(x):
        n = np.zeros(len(x))
        for i in range(len(x)):
            n[i] = int(x[i]) + math.ceil(x[i])
        return n

    def root(x):
        n = np.zeros(len(x))
        for i in range(len(x)):
            n[i] = math.sqrt(x[i]) + math.sin(x[i])
        return n

    x = np.linspace(0, 5, 20)
    x[11] = value
    for function in (integer, root):
        fast = wf.jit(function, strict=False)
        try:
            wanted = function(x)
        except (ValueError, OverflowError) as error:
            with pytest.raises(type(error)):
                fast(x)
            with pytest.raises(errors.ArgumentValueError):
                wf.jit(function)(x)
        else:
            same(fast(x), wanted)


def test_a_float_beside_float32():
    def top(x, y):
        best = 0.0
        for i in range(len(x)):
            if x[i] > best:
                best = x[i]
        return best * y

    y = np.ones(4, np.float32)
    for x in (X, -np.abs(X)):
        for strict in (None, False):
            fast = wf.jit(top, strict=False) if strict is False else wf.jit(top)
            try:
                got = fast(x, y)
            except errors.UnsupportedError:
                assert strict is None  # a float64, or a number of Python's, decides the dtype
            else:
                same(got, top(x, y))


def test_many_conditions():
    """Ways double with each part of a condition: those are given up soon."""
    source = "def f(x, k):\n n = 0\n for i in range(len(x)):\n  v = x[i]\n  if "
    parts = " or ".join(f"(v > {i} and v < {i}.25)" for i in range(-12, 12))
    space: dict = {}
    exec(source + parts + ":\n   n += 1\n return n", space)
    f = space["f"]
    same(wf.jit(f, strict=False)(*given()), f(*given()))
    with pytest.raises(errors.DataDependentError):
        wf.jit(f)(*given())


def test_meetings():
    def f(x):
        if x > 0:
            y = 1
        else:
            y = 2
        if y > 1:
            return y
        while True:
            raise ValueError

    code = decoded(f.__code__)
    jumps = [at for at, i in enumerate(code.instructions) if "POP_JUMP" in i.name]
    first, second = jumps[:2]
    assert code.instructions[meeting(code, first)].line == f.__code__.co_firstlineno + 5
    assert meeting(code, second) not in (RETURNS, NEVER)
    last = [at for at, i in enumerate(code.instructions) if i.name == "RAISE_VARARGS"][-1]
    assert meeting(code, last) == NEVER


@pytest.mark.parametrize("seed", range(60))
def test_drawn(seed):
    check_drawn(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_many_drawn(block):
    for seed in range(1000 + 25 * block, 1025 + 25 * block):
        check_drawn(seed)


def check_drawn(seed, kind=Drawn):
    """The jitted function, after four calls gave what NumPy gives."""
    source, function = drawn_program(random.Random(seed), kind)
    rng = np.random.default_rng(seed)
    n = int(rng.choice([1, 3, 6, 9, 9, 9, 17, 17, 30, 30, 300]))
    calls = [
        (
            rng.standard_normal(n),
            rng.integers(-3, 4, n),
            rng.standard_normal(n),
            rng.integers(0, n, n),
            rng.standard_normal(n).astype(np.float32),
            float(rng.standard_normal()),
        )
        for _ in range(2)
    ]
    fast = wf.jit(function, strict=False)
    for args in calls * 2:
        before = copy.deepcopy(args)  # which the program may write
        try:
            with np.errstate(all="ignore"):
                wanted = function(*before)
        except Exception as error:
            with pytest.raises(type(error)):
                fast(*args)
            continue
        try:
            same(fast(*args), wanted)
            same(args, before)
        except AssertionError as error:
            raise AssertionError(source) from error
    return fast


def test_a_way_that_fails_in_a_first_turn():
    """What the ways had written by then is as it was: the call goes on in pieces."""

    def f(x, a):
        n, s = len(x), 0.0
        y, j = np.zeros(len(x)), len(x) - 1
        for i in range(n):
            if x[i] > 0:
                y[i] += 1
                s += a[(n - 1 - j) - 1 if j != n - 1 else 10**9]
            else:
                y[i] += 5
            j = i
        return y, s

    x, a = X.copy(), np.arange(100.0)
    x[0] = -1
    fast = wf.jit(f, strict=False)
    for _ in range(2):
        same(fast(x, a), f(x, a))
