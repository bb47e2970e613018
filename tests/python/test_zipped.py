"""Loops over zip and enumerate of arrays: one loop over the numbers of their rows, where nothing else takes from the iterators."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

FUNCTIONS: list[Callable[..., Any]] = []


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    FUNCTIONS.append(function)
    return function


@program
def zip2(x: Any, y: Any) -> Any:
    s = 0.0
    for a, b in zip(x, y):
        s = s + a * b
    return s


@program
def enum(x: Any, y: Any) -> Any:
    s = np.zeros(3)
    for i, r in enumerate(y.reshape(-1, 1) * np.ones(3)):
        s = s + r * i
    return s


@program
def enum1(x: Any, y: Any) -> Any:
    o = np.zeros_like(x)
    for i, v in enumerate(x, 1):
        o[i - 1] = v * i
    return o


@program
def enumpos(x: Any, y: Any) -> Any:
    out = []
    for i, v in enumerate(x, start=5):
        out.append(v * i)
    return np.array(out)


@program
def rk(x: Any, y: Any) -> Any:
    h = [x[0]]
    s = x[0]
    for a, b in itertools.pairwise(x):
        s = s + (b - a) * s * 0.1
        h.append(s)
    return np.array(h)


@program
def uneven(x: Any, y: Any) -> Any:
    s = 0
    for a, b, k in zip(x, y[:12], range(3, 100, 2)):
        s = s + a * b + k
    return s


@program
def held(x: Any, y: Any) -> Any:
    z = zip(x, y)
    s = 0
    a0, _b0 = next(z)
    for a, b in z:
        s = s + a * b
    return s, a0, list(z)


@program
def held2(x: Any, y: Any) -> Any:
    z = zip(x, y)
    s = 0
    for a, b in z:
        s = s + a * b
    return s, list(z)


@program
def brk(x: Any, y: Any) -> Any:
    s = 0
    for i, a in enumerate(x):
        if i == 5:
            break
        s = s + a
    return s, i


@program
def cond(x: Any, y: Any) -> Any:
    s = 0
    for _i, a in enumerate(x):
        if a > 0:
            s = s + a
    return s


@program
def lst(x: Any, y: Any) -> Any:
    return [a * b for a, b in zip(x, y)], dict(zip(range(20), x)), list(enumerate(y))[3], sorted(zip(x, y))[0]


@program
def nested(x: Any, y: Any) -> Any:
    s = 0
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            s = s + a * b * (i - j)
    return s


@program
def writes(x: Any, y: Any) -> Any:
    x = x.copy()
    for i, a in enumerate(x):
        if i + 1 < len(x):
            x[i + 1] += a
    return x


@program
def writes2(x: Any, y: Any) -> Any:
    x = x.copy()
    x2 = x.reshape(10, 2)
    for r, q in zip(x2, y):
        r += q
    return x


@program
def rev(x: Any, y: Any) -> Any:
    s = 0
    for i, a in enumerate(reversed(x)):
        s = s + a * i
    for a, b in zip(x, reversed(y)):
        s = s + a * b
    return s


@program
def const(x: Any, y: Any) -> Any:
    s = 0
    for w, a in zip(np.linspace(0, 1, 20), x):
        s = s + w * a
    return s


@program
def strict(x: Any, y: Any) -> Any:
    s = 0
    for w, a in zip(x, y, strict=True):
        s = s + w * a
    return s


@program
def after(x: Any, y: Any) -> Any:
    for i, (a, b) in enumerate(zip(x, y)):  # noqa: B007
        s = a + b
    return s, i, a, b


@program
def boolz(x: Any, y: Any) -> Any:
    n = 0
    for a, b in zip(x > 0, y > 0):
        n = n + (a & b)
    return n


@program
def enumzip(x: Any, y: Any) -> Any:
    s = 0
    for i, (a, b) in enumerate(zip(x, y)):
        s = s + a * b * i
    return s


@program
def enumzip_held(x: Any, y: Any) -> Any:
    z = zip(x, y)
    s = 0
    for i, (a, b) in enumerate(z):
        s = s + a * b * i
    return s, list(z)


def require_close(mine: Any, other: Any) -> None:
    assert type(mine) is type(other)
    if isinstance(mine, dict):
        mine, other = list(mine.items()), list(other.items())
    if isinstance(mine, (list, tuple)):
        for one, two in zip(mine, other, strict=True):
            require_close(one, two)
    else:
        np.testing.assert_allclose(mine, other, rtol=1e-13)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_rows_side_by_side(function: Callable[..., Any]) -> None:
    jitted = wf.jit(function, strict=False)
    for seed in (0, 1):
        x, y = np.random.default_rng(seed).standard_normal((2, 20))
        mine, other = x.copy(), x.copy()
        require_close(jitted(mine, y), function(other, y))
        np.testing.assert_array_equal(mine, other)
    assert jitted.ways["plain"] == 0


def test_many_rows_are_one_loop() -> None:
    def integrated(times: Any) -> Any:
        y, states = np.array([1.0, 0.0]), []
        for before, after in zip(times[:-1], times[1:]):  # noqa: RUF007
            y = y + (after - before) * np.array([y[1], -y[0] + np.sin(before)])
            states.append(y)
        return np.array(states)

    times = np.linspace(0, 10, 5000)
    compiled = wf.compile(integrated, times)
    assert len(compiled.kernels) < 12
    np.testing.assert_allclose(compiled(times), integrated(times), rtol=1e-9)
