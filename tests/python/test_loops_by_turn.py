"""Loops whose turns are independent: one kernel over all of them. Those that only look so keep their order."""

from __future__ import annotations

import numpy as np
import pytest
from sources import function_of

import weftwork as wf

RNG = np.random.default_rng(8)
X, Y = RNG.standard_normal(61), RNG.standard_normal(61)


def plain(x, y):
    o = np.zeros(len(x))
    for i in range(len(x)):
        o[i] = max(x[i], 0.0) * y[i]
    return o


def shifted(x, y):
    o = y * 2
    for i in range(1, len(x) - 1):
        o[i + 1] = x[i - 1] + x[i] * y[3]
    return o


def strided(x, y):
    o = x.copy()
    for i in range(0, 60, 3):
        o[i] += y[60 - i]
    return o


def backwards(x, y):
    o = np.ones(len(x))
    for i in range(50, 10, -1):
        o[i] = x[i] - i
    return o


def every_second_place(x, y):
    o = np.zeros(len(x))
    for i in range(30):
        o[2 * i] = x[i]
    return o


def from_the_end(x, y):
    o = np.zeros(len(x))
    for i in range(len(x)):
        o[60 - i] = x[i] if i % 3 else y[i]
    return o


def two_arrays(x, y):
    o, p = np.zeros(len(x)), np.ones(len(x))
    for i in range(len(x)):
        o[i] = np.sin(x[i])
        p[i] *= y[i]
    return o, p


def upwind(x, y):
    u = np.outer(x, y)
    v = u.copy()
    for i in range(1, 60):
        for j in range(1, 60):
            if u[i, j] > 0.1:
                v[i, j] = u[i, j] - 0.5 * (u[i, j] - u[i - 1, j])
            else:
                v[i, j] = u[i, j] - 0.5 * (u[i, j + 1] - u[i, j])
    return v


def transposed(x, y):
    o = np.zeros((20, 30))
    for i in range(30):
        for j in range(20):
            o[j, i] = x[i] - y[j]
    return o


def rows(x, y):
    m, o = np.outer(x, y), np.zeros((61, 61))
    for i in range(60):
        o[i + 1] = m[i] * x[i] + y
    return o


def into_an_argument(x, y):
    for i in range(len(x)):
        x[i] = x[i] * 2 + y[i]
    return x.sum()


def short_types(x, y):
    f, o = x.astype(np.float32), np.zeros(len(x), np.int8)
    for i in range(len(x)):
        o[i] = 3 if f[i] > 0 else -2
    return o


ONE_KERNEL = [
    plain, shifted, strided, backwards, every_second_place, from_the_end, two_arrays, upwind, transposed, rows,
    into_an_argument, short_types,
]  # fmt: skip


def before(x, y):
    o = x.copy()
    for i in range(1, len(x)):
        o[i] = o[i - 1] * 0.5 + y[i]
    return o


def beside(x, y):
    o = x.copy()
    for i in range(len(x) - 1):
        o[i] = o[i + 1] + y[i]
    return o


def one_place(x, y):
    o = np.zeros(len(x))
    for i in range(len(x)):
        o[5] = o[5] * 0.5 + x[i]
    return o


def again(x, y):
    o = x.copy()
    for _ in range(20):
        for i in range(1, 60):
            o[i] = o[i] * 0.5 + y[i - 1]
    return o


def diagonal(x, y):
    o = np.zeros((61, 61))
    for i in range(30):
        for j in range(30):
            o[i + j, j] = x[i] * y[j]
    return o


def other_array(x, y):
    o, p = x.copy(), y.copy()
    for i in range(1, len(x)):
        o[i] = p[i - 1] * 2
        p[i] = o[i] + 1
    return o, p


def triangle(x, y):
    o = np.zeros((61, 61))
    for i in range(20, 60):
        for j in range(i):
            o[i, j] = x[i] - y[j]
    return o


def parts_of_rows(x, y):
    o = np.outer(x, y)
    for i in range(len(x)):
        o[i, : i + 1] += 1.0
    return o * np.floor(o[:, 0])


def parts_of_columns(x, y):
    o = np.zeros((61, 61))
    for i in range(len(x)):
        for j in range(3):
            o[i:, i] = x[i] - j
    return o


IN_ORDER = [before, beside, one_place, again, diagonal, other_array, triangle, parts_of_rows, parts_of_columns]


@pytest.mark.parametrize("function", ONE_KERNEL + IN_ORDER, ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["native", "avx2", "x86-64"])
def test_values(function, target):
    wanted_args, args = (X.copy(), Y.copy()), (X.copy(), Y.copy())
    wanted = function(*wanted_args)
    with wf.knobs(target=target):
        got = wf.jit(function)(*args)
    for a, b in zip((got, *args), (wanted, *wanted_args), strict=True):
        for one, other in zip(np.atleast_1d(a), np.atleast_1d(b), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("function", ONE_KERNEL, ids=lambda f: f.__name__)
def test_is_one_kernel(function):
    text = wf.trace(function, X, Y).core.kernels_text()
    assert "\n  for (" not in text[: text.index("\nkernel ")]


def test_threads():
    def scaled(x, y):
        o = np.zeros(len(x))
        for i in range(len(x)):
            o[i] = np.exp(x[i]) if x[i] > y[i] else y[i]
        return o

    x, y = RNG.standard_normal(100_003), RNG.standard_normal(100_003)
    wanted = np.where(x > y, np.exp(x), y)
    np.testing.assert_allclose(wf.jit(scaled)(x, y), wanted, rtol=1e-13)


def test_symbolic_extents():
    n = wf.Dim("n", 1, 64, 1000)

    def relu(x):
        o = np.zeros_like(x)
        for i in range(x.shape[0]):
            o[i] = x[i] if x[i] > 0 else 0.0
        return o

    compiled = wf.compile(relu, x=wf.spec((n,), "float64"))
    for size in (1, 2, 63, 64, 1000):
        x = RNG.standard_normal(size)
        np.testing.assert_array_equal(compiled(x), relu(x))


def test_drawn():
    """Places and expressions in drawn combinations, with and without dependences."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        one = lambda *options, rng=rng: options[rng.integers(len(options))]
        reads = [
            "x[i]",
            "x[i + 1]",
            "x[2 * i]",
            "y[i] * x[i]",
            "x[49 - i]",
            "float(i)",
            "(x[i] if x[i] > y[i] else -y[i])",
            "o[i]",
            "p[i]",
            "o[i + 1]",
        ]
        writes = [one("o[i]", "o[i + 1]", "o[2 * i]", "o[49 - i]"), "p[i]"][: rng.integers(1, 3)]
        source = f"def f(x, y):\n o, p = {one('np.zeros(61)', 'y * 2', 'x.copy()')}, np.ones(61)\n for i in range({one('25', '1, 24', '0, 24, 2', '24, 0, -1')}):\n"
        source += "\n".join(f"  {w} {one('=', '+=')} {one(*reads)} * {one(*reads)} + {one(*reads)}" for w in writes)
        space: dict = {"np": np}
        exec(source + "\n return o, p", space)
        for a, b in zip(wf.jit(space["f"])(X, Y), space["f"](X, Y), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13, err_msg=source)


@pytest.mark.parametrize(
    "factor",
    ["float(i)", "math.sqrt(i)", "math.exp(-i)", "math.atan2(i, 3)", "(i & 1) + (i >> 1)", "(i ^ 3) + (i << 1)"]
    + ["(1.0 if i in (2, 3) else 5.0)", "abs(i - 5)", "divmod(i, 4)[1]", "(i | 2) / (i + 1)", "float(max(i - 3, 0))"],
)
def test_numbers_of_the_counter(factor: str) -> None:
    program = function_of(
        f"def f(x):\n    s = 0.0\n    for i in range(len(x)):\n        s = s + {factor} * x[i]\n    return s",
        "f",
        factor,
    )
    x = np.random.default_rng(0).standard_normal(30)
    fast = wf.jit(program, strict=True)
    np.testing.assert_allclose(fast(x), program(x), rtol=1e-12)
    assert "for" in str(wf.explain(fast, x))
