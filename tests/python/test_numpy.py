"""NumPy snippets: jit, the interpreter and the kernel interpreter give what NumPy gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

RNG = np.random.default_rng(0)
F = RNG.normal(size=(4, 6)).astype(np.float32)
G = RNG.normal(size=(4, 6)).astype(np.float32)
D = RNG.normal(size=(5, 7))
V = RNG.normal(size=6).astype(np.float32)
I = RNG.integers(-9, 10, (4, 6))
U = RNG.integers(0, 200, (4, 6)).astype(np.uint8)
S = RNG.integers(-100, 100, (4, 6)).astype(np.int8)
H = RNG.normal(size=(4, 6)).astype(np.float16)
B = RNG.integers(0, 2, (4, 6)).astype(bool)
C = (RNG.normal(size=(4, 6)) + 1j * RNG.normal(size=(4, 6))).astype(np.complex64)
T3 = RNG.normal(size=(2, 3, 4)).astype(np.float32)
N = np.array([1.0, np.nan, -np.inf, np.inf, -0.0, 0.0, 2.5, -2.5])
IDX = np.array([2, 0, 3, -1])

SNIPPETS: list[tuple[Callable[..., Any], tuple]] = [
    # operators and promotion
    (lambda x, y: x + y * 2 - 1, (F, G)), (lambda x: x + 1.5, (F,)), (lambda x: x + 1, (U,)), (lambda x: x * 2.0, (I,)),
    (lambda x, y: x + y, (U, S)), (lambda x, y: x * y, (H, F)), (lambda x, y: x / y, (I, I + 20)), (lambda x: 1 / x, (F,)),
    (lambda x, y: x // y, (I, I)), (lambda x, y: x % y, (I, I)), (lambda x, y: x // y, (D, D + 1)), (lambda x: x % 0.7, (D,)),
    (lambda x, y: divmod(x, y), (I, I + 20)), (lambda x: x**2, (F,)), (lambda x: x**3, (I,)), (lambda x: 2.0**x, (F,)),
    (lambda x: -x, (S,)), (lambda x: ~x, (I,)), (lambda x: ~x, (B,)), (lambda x, y: x & y, (I, I + 1)), (lambda x, y: x | y, (B, ~B)),
    (lambda x, y: x ^ y, (U, U + 1)), (lambda x: x << 2, (I,)), (lambda x: x >> 1, (S,)), (lambda x, y: x < y, (F, G)),
    (lambda x: x == 3, (I,)), (lambda x: (x > 0) & (x < 1), (F,)), (lambda x: abs(x), (C,)), (lambda x, y: x + y, (B, B)),
    (lambda x, v: x + v, (F, V)), (lambda x: x + np.float64(1), (F,)), (lambda x: x * 1j, (F,)), (lambda x, y: x @ y.T, (F, G)),
    # ufuncs
    *[(lambda x, f=f: f(x), (F,)) for f in (np.exp, np.sin, np.cos, np.tanh, np.floor, np.ceil, np.trunc, np.rint, np.sign, np.square,
                                           np.absolute, np.isnan, np.isfinite, np.isinf, np.signbit, np.expm1, np.arctan, np.sinh,
                                           np.cosh, np.arcsinh, np.cbrt, np.deg2rad, np.rad2deg, np.logical_not, np.exp2, np.positive)],
    *[(lambda x, f=f: f(np.abs(x) + 0.1), (D,)) for f in (np.log, np.log2, np.log10, np.log1p, np.sqrt, np.reciprocal, np.arccosh)],
    *[(lambda x, y, f=f: f(x, y), (F, G)) for f in (np.maximum, np.minimum, np.fmax, np.fmin, np.arctan2, np.hypot, np.copysign,
                                                    np.logaddexp, np.fmod, np.heaviside, np.logical_and, np.logical_xor, np.greater)],
    *[(lambda x, f=f: f(x), (N,)) for f in (np.maximum.reduce, np.sign, np.isnan, np.isinf, np.rint, np.floor, np.signbit)],
    (lambda x, y: np.maximum(x, y), (N, N[::-1])), (lambda x: np.conjugate(x), (C,)), (lambda x, y: x * y + x, (C, C)),
    (lambda x: np.add.reduce(x, axis=1), (I,)), (lambda x, y: np.multiply.outer(x, y), (V, V)), (lambda x: np.float_power(x, 2), (F,)),
    (lambda x: np.add(x, 1, dtype=np.float64), (F,)), (lambda x: np.modf(x), (F,)), (lambda x: np.bitwise_and(x, 6), (I,)),
    # reductions
    *[(lambda x, f=f, a=a, k=k: f(x, axis=a, keepdims=k), (T3,)) for f in (np.sum, np.mean, np.max, np.min, np.prod, np.var, np.std)
      for a in (None, 0, 1, -1, (0, 2)) for k in (False, True)],
    *[(lambda x, f=f, a=a: f(x, axis=a), (B,)) for f in (np.any, np.all, np.sum, np.count_nonzero) for a in (None, 0, 1)],
    *[(lambda x, f=f, a=a: f(x, axis=a), (I,)) for f in (np.argmax, np.argmin, np.max, np.ptp, np.mean) for a in (None, 0, 1)],
    (lambda x: np.sum(x), (S,)), (lambda x: np.sum(x, dtype=np.float32), (I,)), (lambda x: np.sum(x, initial=5), (I,)),
    (lambda x, m: np.sum(x, where=m), (F, B)), (lambda x, m: np.max(x, initial=-9, where=m), (F, B)), (lambda x: x.mean(), (H,)),
    (lambda x, m: np.mean(x, axis=1, where=m), (F, np.ones_like(B))), (lambda x: np.var(x, ddof=1), (D,)), (lambda x: np.argmax(x), (N,)),
    (lambda x: x.sum(), (np.zeros((0, 3)),)), (lambda x: np.sum(x, axis=0), (np.zeros((0, 3)),)), (lambda x: x.any(), (np.zeros(0, bool),)),
    (lambda x: np.sum(x), (RNG.normal(size=100_003).astype(np.float32),)), (lambda x: np.max(x), (RNG.normal(size=50_000),)),
    # shape
    (lambda x: x.reshape(3, 8), (F,)), (lambda x: x.reshape(-1), (F,)), (lambda x: x.reshape(2, -1, 3), (F,)), (lambda x: x.T, (F,)),
    (lambda x: x.transpose(2, 0, 1), (T3,)), (lambda x: np.swapaxes(x, 0, 2), (T3,)), (lambda x: np.moveaxis(x, 0, -1), (T3,)),
    (lambda x: x[None, :, None], (F,)), (lambda x: np.expand_dims(x, (0, 2)), (F,)), (lambda x: np.squeeze(x[None]), (F,)),
    (lambda x: x.ravel(), (T3,)), (lambda x: np.broadcast_to(x, (3, 6)), (V,)), (lambda x, v: np.broadcast_arrays(x, v), (F, V)),
    (lambda x, y: np.concatenate([x, y]), (F, G)), (lambda x, y: np.concatenate([x, y], axis=1), (F, I)), (lambda x, y: np.stack([x, y], 1), (F, G)),
    (lambda x, y: np.vstack([x, y]), (V, F)), (lambda x, y: np.hstack([x, y]), (F, G)), (lambda x: np.split(x, 2), (F,)),
    (lambda x: np.array_split(x, 4, axis=1), (F,)), (lambda x: np.tile(x, (2, 3)), (F,)), (lambda x: np.repeat(x, 3, axis=1), (F,)),
    (lambda x: np.flip(x), (F,)), (lambda x: np.roll(x, 2), (F,)), (lambda x: np.roll(x, (1, -1), (0, 1)), (F,)), (lambda x: np.rot90(x), (F,)),
    (lambda x: np.pad(x, ((1, 2), (0, 3))), (F,)), (lambda x: np.pad(x, 1, mode="edge"), (F,)), (lambda x: np.diff(x), (F,)),
    (lambda x: np.atleast_2d(x), (V,)), (lambda x: np.column_stack([x, x]), (V,)), (lambda x: x.flatten(), (F,)),
    # indexing
    (lambda x: x[1], (F,)), (lambda x: x[-1, 2], (F,)), (lambda x: x[1:3], (F,)), (lambda x: x[::-1, ::2], (F,)), (lambda x: x[..., 1], (T3,)),
    (lambda x: x[:, None, 2:], (F,)), (lambda x: x[5:2], (F,)), (lambda x: x[3:0:-2], (F,)), (lambda x: x[IDX], (F,)), (lambda x: x[IDX, IDX], (F,)),
    (lambda x: x[:, IDX], (F,)), (lambda x: x[IDX[:, None], IDX], (F,)), (lambda x, i: x[i], (F, IDX)), (lambda x, i: x[i, 1:3], (F, IDX)),
    (lambda x, i: x[:, i], (F, IDX)), (lambda x, i: x[0, :, i], (T3, np.array([0, 3, 1]))), (lambda x: x[np.array([True, False, True, True])], (F,)),
    (lambda x, i: np.take(x, i, axis=1), (F, IDX)), (lambda x, i: np.take_along_axis(x, i, axis=1), (F, np.abs(I) % 6)),
    (lambda x: np.where(x > 0, x, 0), (F,)), (lambda x, m: np.where(m, x, 1.5), (F, B)), (lambda x: np.clip(x, -0.5, 0.5), (F,)),
    (lambda x: x.clip(2), (I,)), (lambda x: np.select([x > 1, x < -1], [x, -x], 0), (F,)), (lambda x: np.tril(x), (F,)), (lambda x: np.triu(x, 1), (F,)),
    (lambda x: np.round(x, 2), (D,)), (lambda x: np.nan_to_num(x), (N,)), (lambda x: np.isclose(x, x + 1e-9), (D,)),
    # products
    (lambda x, y: x @ y, (F, G.T.copy())), (lambda x, y: np.dot(x, y), (F, V)), (lambda x, y: np.matmul(x, y), (T3, T3.swapaxes(1, 2))),
    (lambda x, y: np.einsum("ij,kj->ik", x, y), (F, G)), (lambda x: np.einsum("bij->bj", x), (T3,)), (lambda x: np.einsum("ii->i", x), (D[:5, :5],)),
    (lambda x, y: np.einsum("bij,bkj->bik", x, y), (T3, T3)), (lambda x, y: np.tensordot(x, y, 1), (F, G.T)), (lambda x, y: np.inner(x, y), (F, G)),
    (lambda x, y: np.tensordot(x, y, ([1, 2], [1, 2])), (T3, T3)), (lambda x, y: np.outer(x, y), (V, V)), (lambda x: x @ x.T, (I,)),
    (lambda x, y: np.einsum("i,i->", x, y), (V, V)), (lambda x, y: x @ y, (C, C.T)), (lambda x: x @ np.ones((6, 2), np.float32), (F,)),
    # creation inside
    (lambda x: x + np.arange(6), (F,)), (lambda x: x * np.eye(4, 6), (F,)), (lambda x: np.zeros_like(x) + 1, (I,)), (lambda x: np.full((2,), x[0, 0]), (F,)),
    (lambda x: np.array([x[0, 0], x[1, 1], 2.0]), (F,)), (lambda x: np.ones((3, 4)) @ x, (D[:4],)), (lambda x: np.arange(5, 0, -2) * x, (V[:3],)),
    # layouts, empty, 0-d
    (lambda x: x * 2, (F[::2, ::-1],)), (lambda x: x + x.T, (np.asfortranarray(D[:5, :5]),)), (lambda x: x + 1, (np.zeros((0, 4)),)),
    (lambda x: np.tanh(x), (np.array(0.5),)), (lambda x: x + 1, (np.float32(2),)), (lambda x, s: x * s, (F, 2.5)), (lambda x, n: x * n, (F, 3)),
    (lambda x: x.astype(np.int32), (F,)), (lambda x: x.astype(bool), (I,)), (lambda x: (x.real, x.imag), (C,)), (lambda x: x.copy(), (F,)),
]  # fmt: skip


def close(actual: Any, wanted: Any) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(actual) == len(wanted)
        for a, w in zip(actual, wanted, strict=True):
            close(a, w)
        return
    a, w = np.asarray(actual), np.asarray(wanted)
    assert a.dtype == w.dtype, (a.dtype, w.dtype)
    assert a.shape == w.shape
    if w.dtype.kind in "fc":
        eps = np.finfo(w.dtype).eps
        scale = np.nanmax(np.abs(np.where(np.isfinite(w), w, 0)), initial=0)
        np.testing.assert_allclose(a, w, rtol=16 * eps, atol=float(16 * eps * scale))
    else:
        np.testing.assert_array_equal(a, w)


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet(number: int) -> None:
    function, args = SNIPPETS[number]
    with np.errstate(all="ignore"):
        wanted = function(*args)
    close(wf.jit(function)(*args), wanted)
    close(wf.simulate(function)(*args), wanted)


def write_slice(x: Any) -> None:
    x[1:3, ::2] = 7


def write_view(x: Any) -> None:
    x.T[0] = 1
    y = x[1:]
    y += 10
    x[0] *= y[0]


def write_mask(x: Any) -> None:
    x[x > 0.5] = 0


def write_index(x: Any) -> None:
    x[np.array([0, 2])] = x[np.array([2, 0])]


def write_add_at(x: Any) -> None:
    np.add.at(x, (np.array([0, 0, 1]), np.array([1, 1, 2])), 2)


def write_all(x: Any) -> Any:
    x[:] = x + 1
    return x


def write_swap(x: Any) -> None:
    x[0], x[1] = x[1].copy(), x[0].copy()


def write_reverse(x: Any) -> None:
    x[::-1] = x.copy()


@pytest.mark.parametrize(
    "function", [write_slice, write_view, write_mask, write_index, write_add_at, write_all, write_swap, write_reverse]
)
@pytest.mark.parametrize("run", [wf.jit, wf.simulate])
def test_writes_land_in_the_callers_array(function: Any, run: Any) -> None:
    wanted, actual = F.copy(), F.copy()
    expected, result = function(wanted), run(function)(actual)
    np.testing.assert_array_equal(actual, wanted)
    assert (result is actual) == (expected is wanted)


def test_symbolic_extents_serve_every_size_with_one_program() -> None:
    n = wf.Dim("n", 1, 16, 100)

    @wf.jit(dynamic={"x": {0: n}, "y": {0: n}})
    def f(x: Any, y: Any) -> Any:
        z = np.tanh(x @ x.T) + np.arange(x.shape[0])
        return (
            z,
            np.concatenate([x, y]),
            x[1:] - x[:-1],
            x.reshape(-1).sum(),
            np.mean(x, axis=0),
            x / np.max(x, axis=1, keepdims=True),
        )

    for size in (1, 2, 7, 33, 64, 100):
        x, y = RNG.normal(size=(size, 5)).astype(np.float32), RNG.normal(size=(size, 5)).astype(np.float32)
        got, wanted = f(x, y), f.__wrapped__(x, y)
        for a, w in zip(got, wanted, strict=True):
            np.testing.assert_allclose(a, w, rtol=2e-5, atol=2e-5)
            assert a.dtype == w.dtype
    assert f.plan_count == 1
    with pytest.raises(wf.Error, match="from 1 to 100, got 101"):
        f(np.zeros((101, 5), np.float32), np.zeros((101, 5), np.float32))


def test_captured_arrays_are_read_at_each_call() -> None:
    table = np.arange(6.0)
    f = wf.jit(lambda x: x + table)
    assert f(np.zeros(6))[5] == 5
    table[5] = 50
    assert f(np.zeros(6))[5] == 50


def test_the_same_array_twice_is_one_array() -> None:
    def f(x: Any, y: Any) -> Any:
        x[0] = 100
        return y + 1

    a, b = np.arange(3.0), np.arange(3.0)
    np.testing.assert_array_equal(wf.jit(f)(a, a), f(b, b))
    np.testing.assert_array_equal(a, b)
