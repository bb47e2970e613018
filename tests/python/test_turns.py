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


def by_a_table(x):
    table, y = (np.arange(90) % 7 * 0.125).astype(x.dtype).reshape(30, 3), np.zeros_like(x)
    for i in range(30):
        y = y * x + table[i, 1] - table[29 - i, 2] * x
    return y


def beside_a_number(x):
    t = x.dtype.type(1)
    for _ in range(40):
        t = t * x.dtype.type(0.875)
        x = x - t * x
    return x, t


def masked(x):
    alive, n = np.ones(x.shape, bool), np.zeros(x.shape, np.int64)
    for i in range(33):
        x = x * 1.25
        alive = alive & (x < 9)
        x = np.where(alive, x, 9)
        n = n * 3 + i * alive
    return x, alive, n


def with_parts(x):
    z = x + 1j * x[::-1]
    for _ in range(25):
        z = z.conj() * 0.5 + x
    return z


def beside_a_row(x):
    m, r = np.outer(x[:40], x[:9]), x[:9]
    for _ in range(70):
        m = m * 0.5 + r
        r = r * 0.25 + 1
    return m, r


def at_two_places(x):
    m, y = np.zeros((min(len(x), 20),) * 2, x.dtype), x[:20]
    for _ in range(70):
        m = m.T * 0.5 + y[:, None] * y[None, :]
        y = y * 0.75
    return m


def by_rows(x):
    a, y = np.outer(x[:30], x), x
    for i in range(a.shape[0]):
        y = y * 0.5 + a[i]
    return y


def nested(x):
    for i in range(12):
        y = x
        for j in range(20 + i):
            y = y * 0.5 + j
        x = x + y * i
    return x


def long(x):
    for _ in range(3000):
        x = x + x.dtype.type(0.25) * (1 - x)
    return x


ELEMENTWISE = [
    horner,
    series,
    mandelbrot,
    backwards_by_three,
    exchanged,
    by_a_table,
    beside_a_number,
    masked,
    with_parts,
    beside_a_row,
    nested,
    long,
]


@pytest.mark.parametrize("function", [*ELEMENTWISE, wave, crossing, at_two_places, by_rows])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("n", [1, 7, 1000, 70_001])
def test_turns_of_elements_give_numpys_bits(function: Any, dtype: type, n: int) -> None:
    if function is long and n > 1000:
        pytest.skip("takes NumPy seconds")
    x = np.random.default_rng(n).random(n).astype(dtype)
    with np.errstate(all="ignore"):
        wanted = function(x.copy())
    found = wf.jit(function)(x)
    for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_turns_of_elements_are_one_pass_over_memory() -> None:
    x = np.random.default_rng(1).random((300, 400))
    assert [k.launches for k in wf.compile(horner, x).kernels] == [1]
    for function in (exchanged, mandelbrot, masked, long):
        program = wf.compile(function, x)
        assert all(k.launches == 1 for k in program.kernels), function
        assert len(program.kernels) <= 2, function  # views that all turns read are stored
    dynamic = wf.jit(series, dynamic={"x": {0: wf.Dim("n", 1, 64, 3000)}})
    np.testing.assert_array_equal(dynamic(x), series(x))


def test_turns_of_elements_as_many_as_an_extent_says() -> None:
    def polynomial(x: Any, c: Any) -> Any:
        y = np.zeros_like(x)
        for i in range(c.shape[0]):
            y = y * x + c[i]
        return y

    function = wf.jit(polynomial, dynamic={"c": {0: wf.Dim("k", 0, 30, 3000)}, "x": {0: wf.Dim("n", 0, 64, 3000)}})
    for n, k in ((50, 20), (0, 9), (333, 1), (9, 0), (1, 100)):
        x, c = np.random.default_rng(n).random(n), np.random.default_rng(k).random(k)
        np.testing.assert_array_equal(function(x, c), polynomial(x, c))


def test_extents_with_python_floats_are_python_floats() -> None:
    def step(x: Any, n: Any) -> Any:
        return x * (n * 0.5), 0.1 * n - x, x / (n / 3), x + n**0.5, x * abs(n * -0.5), (n + 1) / 7 * x

    def counted(x: Any) -> Any:
        for i in range(20):
            x = x + 0.1 * i * (1 - x) + x * (i / 7) + (i * 0.3) ** 2
        return x

    x = np.random.default_rng(4).random(50).astype(np.float32)
    found = wf.jit(lambda x: step(x, x.shape[0]), dynamic={"x": {0: wf.Dim("n", 1, 64, 3000)}})(x)
    for a, b in zip([*found, wf.jit(counted)(x)], [*step(x, 50), counted(x)], strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
    assert len(str(wf.trace(counted, x)).splitlines()) < 40  # one loop


def test_turns_of_elements_write_arguments_in_place() -> None:
    def decay(a: Any, b: Any) -> None:
        for i in range(50):
            a *= 0.5
            a += b[::-1] * i

    a, b = np.random.default_rng(3).random((2, 4001))
    wanted = a.copy()
    decay(wanted, b)
    wf.jit(decay)(a, b)
    np.testing.assert_array_equal(a, wanted)
    wf.jit(decay)(a, a), decay(wanted, wanted)
    np.testing.assert_array_equal(a, wanted)


def test_results_that_read_the_same_values_share_a_kernel() -> None:
    x, y = np.random.default_rng(2).random((2, 5000))
    program = wf.compile(lambda x, y: (x + y, x * y, np.exp(x) - y), x, y)
    assert len(program.kernels) == 1
    shifted = wf.compile(lambda x, y: (x[1:] + y[1:], x[:-1] * y[:-1], x[::-1] - y), x, y)
    for a, b in zip(shifted(x, y), (x[1:] + y[1:], x[:-1] * y[:-1], x[::-1] - y), strict=True):
        np.testing.assert_array_equal(a, b)
