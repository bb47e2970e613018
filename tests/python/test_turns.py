"""Turns of every kind: what a loop's body may do to variables, arrays and objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_numpy import close

import weftwork as wf

V = np.random.default_rng(21).normal(size=30)


def reads_a_list_of_arrays(x):
    ps = [x, x * 2, x + 1]
    s = 0.0
    for i in range(20):
        for p in ps:
            s = s + p[i]
    return s


def leaves_the_other_name_alone(x):
    y = x
    for _i in range(12):
        x = x + 1
    return x, y


def calls_a_lambda(x):
    s = np.zeros(3)
    for i in range(12):
        g = lambda v, turn=i: v * turn
        s = s + g(x[:3])
    return s


def continues_on_a_fixed_condition(x):
    for _i in range(12):
        if x.ndim == 2:
            continue
        x = x * 1.1
    return x


class State:
    def __init__(s, x):
        s.x = x
        s.n = 0

    def step(s, i):
        s.x = s.x + i
        s.n += 1


def keeps_state_in_an_object(x):
    o = State(x)
    for i in range(12):
        o.step(i)
    return o.x


def keeps_state_in_a_dict(x):
    d = {"a": x}
    for i in range(12):
        d["a"] = d["a"] * 1.5 + i
    return d["a"]


def rebinds_a_tuple(x):
    st = (x, x * 0)
    for i in range(12):
        st = (st[0] + 1, st[1] + st[0] * i)
    return st[1]


def writes_through_two_names(x):
    a = x.copy()
    b = a
    for i in range(12):
        a[i] = i
        b[i + 1] += a[i]
    return b


def has_a_first_time_flag(x):
    first = True
    s = 0.0
    for i in range(12):
        if first:
            s = x[0] * 100
            first = False
        s = s + x[i]
    return s


def nests_with_inner_state(x):
    s = 0.0
    for i in range(12):
        t = x[i]
        t = t * 2
        for j in range(10):
            t = t + x[j] * 0.1
        s = s + t
    return s, t


def remembers_the_previous(x):
    prev = x[0]
    out = np.zeros(20)
    for i in range(20):
        cur = x[i] * 2
        out[i] = cur - prev
        prev = cur
    return out, prev


def stores_windows(x):
    out = np.empty((12, 3))
    for i in range(12):
        out[i] = x[i : i + 3]
    return out


def sums_the_counter(x):
    n = 0
    for i in range(12):
        n = n + i
    return x * n


def asks_for_a_float(x):
    m = -np.inf
    for i in range(30):
        m = max(m, float(i))
    return x * m


def keeps_the_greatest(x):
    best = x[0]
    for i in range(1, 30):
        best = np.maximum(best, x[i])
    return best


def swaps_neighbours(x):
    for i in range(12):
        x[i], x[i + 1] = x[i + 1].copy(), x[i].copy()
    return x


def divides_the_counter(x):
    y = np.zeros((6, 5))
    for i in range(30):
        y[i // 5, i % 5] = x[i]
    return y


def counts_down_by_two(x):
    s = 0
    for i in range(29, 0, -2):
        s = s * 0.5 + x[i]
    return s


def rotates(x):
    for _i in range(10):
        x = np.concatenate([x[1:], x[:1]])
    return x


def clips_its_bounds(x):
    y = np.zeros(30)
    for i in range(30):
        y[i] = np.sum(x[max(0, i - 2) : min(30, i + 3)])
    return y


def counts_by_rows(x):
    c = 0
    for v in x:
        c = c + (v > 0)
    return c


def wraps_small_integers(x):
    y = np.zeros(30, np.int8)
    for i in range(30):
        y[i] += i
    return y


def stands_in_a_try(x):
    try:
        for _i in range(15):
            x = x * 0.9
    finally:
        x = x + 1
    return x


def closes_over_the_outer_loop(x):
    def inner(k):
        t = 0.0
        for j in range(12):
            t = t + x[j] * k
        return t

    s = 0.0
    for i in range(10):
        s = s + inner(i)
    return s


@pytest.mark.parametrize(
    "function",
    [
        reads_a_list_of_arrays,
        leaves_the_other_name_alone,
        calls_a_lambda,
        continues_on_a_fixed_condition,
        keeps_state_in_an_object,
        keeps_state_in_a_dict,
        rebinds_a_tuple,
        writes_through_two_names,
        has_a_first_time_flag,
        nests_with_inner_state,
        remembers_the_previous,
        stores_windows,
        sums_the_counter,
        asks_for_a_float,
        keeps_the_greatest,
        swaps_neighbours,
        divides_the_counter,
        counts_down_by_two,
        rotates,
        clips_its_bounds,
        counts_by_rows,
        wraps_small_integers,
        stands_in_a_try,
        closes_over_the_outer_loop,
    ],
)
def test_turns(function: Any) -> None:
    wanted_x, jit_x, simulated_x = V.copy(), V.copy(), V.copy()
    wanted = function(wanted_x)
    close(wf.jit(function)(jit_x), wanted)
    close(wf.simulate(function)(simulated_x), wanted)
    close(jit_x, wanted_x)
    close(simulated_x, wanted_x)


def horner(x):
    y = x
    for _ in range(20):
        y = y * x + 1.25
    return y


def series(x):
    t = s = np.ones_like(x)
    for i in range(30):
        t = t * x / (i + 1)
        s = s + t
    return s


def mandelbrot(a):
    b, x, y, n = a[::-1].copy(), np.zeros_like(a), np.zeros_like(a), np.zeros(a.shape, np.int32)
    for _ in range(50):
        x, y = x * x - y * y + a, 2 * x * y + b
        n[x * x + y * y < 4] += 1
    return n, x


def backwards_by_three(x):
    y = np.zeros_like(x)
    for i in range(70, -3, -3):
        y = y * 0.5 + x * i
    return y


def exchanged(a):
    b, c = a + 1, a * 2
    for _ in range(25):
        a, b, c = b - c * 0.125, c + a * 0.25, a + b * 0.5
    return a, b, c


def wave(u):
    v = u * 0.5
    for _ in range(17):
        w = 2 * u - v
        w[1:-1] += 0.125 * (u[2:] - 2 * u[1:-1] + u[:-2])
        v, u = u, w
    return u, v


def crossing(a):
    b = a * 3
    for _ in range(16):
        a, b = a[::-1] * 0.5 + b, b[::-1] * 0.25 - a
    return a, b


@pytest.mark.parametrize("function", [horner, series, mandelbrot, backwards_by_three, exchanged, wave, crossing])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("n", [1, 7, 1000, 70_001])
def test_several_turns_at_once_give_numpys_bits(function: Any, dtype: type, n: int) -> None:
    x = np.random.default_rng(n).random(n).astype(dtype)
    with np.errstate(all="ignore"):
        wanted = function(x.copy())
    found = wf.jit(function)(x)
    for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_elementwise_turns_are_few_passes_over_memory() -> None:
    x = np.random.default_rng(1).random((300, 400))
    assert [k.launches for k in wf.compile(horner, x).kernels] == [1]
    program = wf.compile(lambda a: mandelbrot(a)[0], x)
    assert len(program.kernels) <= 5  # what is carried begins as zeros; all that a pass gives is of one kernel
    dynamic = wf.jit(series, dynamic={"x": {0: wf.Dim("n", 1, 64, 3000)}})
    np.testing.assert_array_equal(dynamic(x), series(x))


def test_results_that_read_the_same_values_share_a_kernel() -> None:
    x, y = np.random.default_rng(2).random((2, 5000))
    program = wf.compile(lambda x, y: (x + y, x * y, np.exp(x) - y), x, y)
    assert len(program.kernels) == 1
    shifted = wf.compile(lambda x, y: (x[1:] + y[1:], x[:-1] * y[:-1], x[::-1] - y), x, y)
    for a, b in zip(shifted(x, y), (x[1:] + y[1:], x[:-1] * y[:-1], x[::-1] - y), strict=True):
        np.testing.assert_array_equal(a, b)
