"""Lists that a loop appends to: the loop stays one, and the list has what NumPy's has, with the same objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

FUNCTIONS: list[Callable[[Any], Any]] = []


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    FUNCTIONS.append(function)
    return function


@program
def euler(x: Any) -> Any:
    out = []
    for _i in range(30):
        x = x + 0.1 * np.sin(x)
        out.append(x)
    return np.array(out)


@program
def before(x: Any) -> Any:
    out = []
    for _i in range(30):
        out.append(x)
        x = x + 0.1 * np.sin(x)
    return np.array(out), x


@program
def listed(x: Any) -> Any:
    out = []
    for _i in range(30):
        x = x * 0.9
        out.append(x.sum())
    return out, x


@program
def ident(x: Any) -> Any:
    out = []
    for _i in range(30):
        x = x * 0.9
        out.append(x)
    x[0] = 7
    return out[-1], out[-2], x is out[-1]


@program
def inplace_after(x: Any) -> Any:
    out = []
    for i in range(30):
        x = x * 0.9
        out.append(x)
        x[0] = i
    return np.array(out)


@program
def inplace_next(x: Any) -> Any:
    out = []
    x = x.copy()
    for _i in range(30):
        x *= 0.9
        out.append(x)
    return np.array(out)


@program
def copies(x: Any) -> Any:
    out = []
    x = x.copy()
    for i in range(30):
        x *= 0.9
        x[i % 3] += 1
        out.append(x.copy())
    return np.stack(out), len(out)


@program
def two(x: Any) -> Any:
    out = []
    e = []
    for _i in range(30):
        x = x * 0.9
        out.append(x)
        e.append(np.abs(x).max())
    return np.array(out), np.array(e), e[3], out[4]


@program
def twice(x: Any) -> Any:
    out = [1.0]
    for _i in range(12):
        x = x * 0.9
        out.append(x.sum())
        out.append(x.max())
    return np.array(out)


@program
def sametwice(x: Any) -> Any:
    out = []
    for _i in range(12):
        x = x * 0.9
        out.append(x)
        out.append(x)
    out[0][0] = 100
    return np.array(out)


@program
def length(x: Any) -> Any:
    out = []
    for _i in range(12):
        x = x * 0.9
        out.append(x * len(out))
    return np.array(out)


@program
def lastread(x: Any) -> Any:
    out = [x]
    for _i in range(12):
        out.append(out[-1] * 0.9)
    return np.array(out)


@program
def alias(x: Any) -> Any:
    out = []
    o2 = out
    for _i in range(12):
        x = x * 0.9
        out.append(x)
        x = x + len(o2)
    return np.array(out)


@program
def method(x: Any) -> Any:
    out = []
    app = out.append
    for _i in range(12):
        x = x * 0.9
        app(x)
    return np.array(out)


@program
def view(x: Any) -> Any:
    out = []
    for _i in range(12):
        x = x * 0.9
        out.append(x[1:])
    x[:] = 0
    return np.array(out)


@program
def viewvar(x: Any) -> Any:
    out = []
    for _i in range(12):
        x = x * 0.9
        y = x[1:]
        out.append(x)
    y[:] = 0
    return np.array(out)


@program
def nested(x: Any) -> Any:
    rows = []
    for _i in range(10):
        r = []
        for j in range(12):
            x = x * 0.99
            r.append(x.sum() * j)
        rows.append(np.array(r))
    return np.array(rows)


@program
def nested2(x: Any) -> Any:
    r = []
    for _i in range(10):
        for j in range(12):
            x = x * 0.99
            r.append(x.sum() * j)
    return np.array(r)


@program
def counter(x: Any) -> Any:
    r = []
    for i in range(10):
        r.append(i * 2)
    return np.array(r) * x[0]


@program
def tup(x: Any) -> Any:
    r = []
    for i in range(10):
        x = x * 0.5
        r.append((i, x))
    return r


@program
def argl(x: Any) -> Any:
    l = [x]

    def g(q):
        for i in range(10):
            q.append(x * i)

    g(l)
    return l


@program
def cond(x: Any) -> Any:
    r = []
    for i in range(10):
        x = x * 0.5
        if i > 5:
            r.append(x)
    return np.array(r)


@program
def held(x: Any) -> Any:
    r = []
    last = None
    for _i in range(10):
        x = x * 0.5
        r.append(x)
        last = x
    last[0] = 5
    return np.array(r), x, last


@program
def held2(x: Any) -> Any:
    r = []
    prev = x
    for _i in range(10):
        y = prev * 0.5
        r.append(prev)
        prev = y
    prev[0] = 5
    return np.array(r), prev


@program
def intl(x: Any) -> Any:
    r = []
    for _i in range(10):
        x = x * 0.5
        r.append(x > 0.1)
    return np.array(r).sum(0), np.mean(r, axis=0), np.concatenate(r), np.vstack(r)


@program
def ret_loop(x: Any) -> Any:
    r = []
    for _i in range(10):
        x = x * 0.5
        r.append(x)
    return [q.sum() for q in r], sum(r), max(float(q[0]) for q in r)


@program
def argwrite(x: Any) -> Any:
    r = []
    for _i in range(10):
        r.append(x)
        x = x * 0.5
    r[0][0] = 9
    return r


@program
def weak(x: Any) -> Any:
    s = 0.0
    r = []
    for _i in range(10):
        s = s + 0.5
        r.append(s)
    return r, x


@program
def weak2(x: Any) -> Any:
    s = 0.0
    r = []
    for _i in range(10):
        s += x.sum()
        r.append(s)
    return r


@program
def python_numbers(x: Any) -> Any:
    r, q = [], []
    for i in range(10):
        r.append(float(np.array([-2.0, 1.5]).sum()) * i)
        q.append(i * 0.5)
    return r[-1], q[3], x


@program
def nonloc(x: Any) -> Any:
    r = []

    def add(v):
        r.append(v)

    for _i in range(10):
        x = x * 0.5
        add(x)
    return r


@program
def pop(x: Any) -> Any:
    r = []
    for _i in range(10):
        x = x * 0.5
        r.append(x)
        r.pop()
    return r, x


@program
def iadd(x: Any) -> Any:
    r = []
    for _i in range(10):
        x = x * 0.5
        r += [x]
    return r


@program
def while_(x: Any) -> Any:
    r = []
    i = 0
    while i < 10:
        x = x * 0.5
        r.append(x)
        i += 1
    return r


def parts(value: Any) -> list[Any]:
    return [part for item in value for part in parts(item)] if isinstance(value, (list, tuple)) else [value]


def require_same(found: Any, want: Any) -> None:
    assert repr(found) == repr(want)
    for mine, other in zip(parts(found), parts(want), strict=True):
        assert type(mine) is type(other)
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_list_has_what_the_turns_append(function: Callable[[Any], Any]) -> None:
    jitted = wf.jit(function, strict=False)
    for x in (np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.25, 8.0])):
        mine, other = x.copy(), x.copy()
        require_same(jitted(mine), function(other))
        np.testing.assert_array_equal(mine, other)
    assert jitted.ways["plain"] == 0


def test_loops_stay_loops() -> None:
    def simulated(x: Any) -> Any:
        states, energies = [], []
        for _ in wf.range(1000):
            x = x + 0.01 * np.cos(x)
            states.append(x)
            energies.append((x * x).sum())
        return np.array(states), np.stack(energies), x

    x = np.linspace(0, 1, 5)
    compiled = wf.compile(simulated, x)
    assert len(compiled.kernels) < 12  # rows that are stacked again are the array that they are rows of
    for mine, other in zip(compiled(x), simulated(x), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)


def test_what_cannot_be_rows_is_said() -> None:
    def read(x: Any) -> Any:
        states = [x]
        for _ in wf.range(20):
            states.append(states[-1] * 2)
        return states

    def written(x: Any) -> Any:
        states = []
        for i in wf.range(20):
            x = x * 2
            states.append(x)
            x[0] = i
        return states

    for function, reason in (
        (read, "'states' is changed in each turn"),
        (written, "an array is written that is in a list by then"),
    ):
        with pytest.raises(wf.errors.UnsupportedError, match=reason):
            wf.compile(function, np.ones(3))


def test_containers_that_a_turn_makes() -> None:
    def read_later(x: Any) -> Any:
        for i in range(20):
            pair = [x * i, x + i]
        return pair[0]

    def filled(x: Any) -> Any:
        total = x
        for i in range(20):
            parts, table = [x * i, x + i], {"k": x * i}
            parts.append(total)
            table["z"] = total
            total = total + (parts[0] + parts[2] + table["z"]) * 0.01
        return total

    for function in (read_later, filled):
        jitted = wf.jit(function)
        require_same(jitted(np.array([1.0, 2.0])), function(np.array([1.0, 2.0])))
        assert jitted.ways["compiled"] == 1
