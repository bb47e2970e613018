"""NumPy's main namespace: every function gives under jit and simulate what NumPy gives, or says why it cannot."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

RNG = np.random.default_rng(1)
F = RNG.normal(size=(4, 6)).astype(np.float32)
G = RNG.normal(size=(4, 6)).astype(np.float32)
D = RNG.normal(size=(5, 7))
V = RNG.normal(size=6).astype(np.float32)
W = np.abs(RNG.normal(size=7)) + 0.1
I = RNG.integers(-9, 10, (4, 6))
U = RNG.integers(0, 200, (4, 6)).astype(np.uint8)
S = RNG.integers(-100, 100, (4, 6)).astype(np.int8)
H = RNG.normal(size=(4, 6)).astype(np.float16)
B = RNG.integers(0, 2, (4, 6)).astype(bool)
C = (RNG.normal(size=(4, 6)) + 1j * RNG.normal(size=(4, 6))).astype(np.complex64)
Z = RNG.normal(size=(3, 5)) + 1j * RNG.normal(size=(3, 5))
T3 = RNG.normal(size=(2, 3, 4)).astype(np.float32)
Q = RNG.normal(size=(5, 5))
E0 = np.zeros((0, 3))
SPECIAL = np.array([1.0, np.nan, -np.inf, np.inf, -0.0, 0.0, 2.5, -2.5])
N = np.where(RNG.integers(0, 3, (4, 6)) == 0, np.nan, RNG.normal(size=(4, 6)))
N[1] = np.nan
NF = N.astype(np.float32)
NC = N + 1j * RNG.normal(size=(4, 6))
NAMES = dict(globals())

Snippet = tuple[Callable[..., Any], tuple]

VIEWS: list[Snippet] = [
    *[(lambda x, k=k: np.diagonal(x, k), (a,)) for k in (0, 1, -2, 9, -9) for a in (F, Q, I)],
    (lambda x: np.diagonal(x, 1, 2, 0), (T3,)), (lambda x: x.diagonal(), (C,)), (lambda x: np.linalg.diagonal(x, offset=1), (T3,)),
    (lambda x: np.trace(x), (S,)), (lambda x: np.trace(x, 1), (Q,)), (lambda x: x.trace(0, 1, 2), (T3,)), (lambda x: np.trace(x, dtype=np.float32), (I,)),
    (lambda x: np.linalg.trace(x), (T3,)), (lambda x: np.trace(x), (B,)), (lambda x: np.trace(x), (E0,)),
    *[(lambda x, k=k: np.diag(x, k), (a,)) for k in (0, 2, -1) for a in (V, I[0], B[0], Z[0], np.zeros(0))], (lambda x: np.diag(x, 1), (F,)),
    (lambda x: np.diagflat(x, -1), (I[:2, :2],)), (lambda x: np.real(x), (C,)), (lambda x: np.imag(x), (Z,)), (lambda x: (x.real, x.imag), (I,)),
    (lambda x: x.imag, (F,)), (lambda x: x.imag, (B,)), (lambda x: np.broadcast_to(x, (2, 4, 6)) + 1, (F,)), (lambda x: np.broadcast_arrays(x, x[0]), (F,)),
    (lambda x: x.view(np.int32), (F,)), (lambda x: x.view(np.uint8), (F,)), (lambda x: x.view(np.float64), (F,)), (lambda x: x.view(np.float32), (C,)),
    (lambda x: x.view(np.complex64), (F,)), (lambda x: x.view(np.uint8), (B,)), (lambda x: x.view(np.int8), (U,)), (lambda x: x.view(np.uint64), (U[:, :0],)),
    (lambda x: x.view(np.int64), (Z,)), (lambda x: x.view(np.uint64), (D[0, 0].reshape(()),)), (lambda x: x.reshape((8, 3), order="F"), (F,)),
    (lambda x: x.ravel("F"), (T3,)), (lambda x: x.flatten("F"), (I,)), (lambda x: np.reshape(x, (-1, 4), order="F"), (T3,)), (lambda x: x.flat[3], (F,)),
    (lambda x: x.flat[2:9:2], (F,)), (lambda x: sum(x.flat), (I,)), (lambda x: np.array_equal(x, x, equal_nan=True), (N,)), (lambda x: np.nan_to_num(x, nan=2.0), (NC,)),
    (lambda x: copy.copy(x) + copy.deepcopy(x), (F,)), (lambda x: x.__array_namespace__().exp(x), (F,)),
]  # fmt: skip

STATISTICS: list[Snippet] = [
    *[(lambda x, a=a: np.average(x, axis=a), (v,)) for a in (None, 0, 1, (0, 1)) for v in (F, I, H, B)], (lambda x: np.average(x, returned=True), (F,)),
    (lambda x, w: np.average(x, axis=1, weights=w), (D, W)), (lambda x, w: np.average(x, weights=w, returned=True), (I, U + 1)),
    (lambda x, w: np.average(x, axis=0, weights=w, keepdims=True, returned=True), (F, np.abs(G))), (lambda x, w: np.average(x, axis=(0, 2), weights=w), (T3, np.abs(T3[:, 0]))),
    (lambda x, w: np.average(x, axis=(2, 0), weights=w), (T3, np.abs(T3[:, 0]).T.copy())), (lambda x: np.average(x, weights=[1, 2, 3, 4], axis=0), (F,)),
    *[(lambda x: np.cov(x), (a,)) for a in (F, D, I, V, C, Z[:0])], (lambda x, y: np.cov(x, y), (F, G)), (lambda x: np.cov(x, rowvar=False), (D,)),
    (lambda x, y: np.cov(x, y, rowvar=False), (D[:, 0], D[:, 1])), (lambda x: np.cov(x, bias=True), (D,)), (lambda x: np.cov(x, ddof=0, dtype=np.float32), (F,)),
    (lambda x, w: np.cov(x, aweights=w), (D, W)), (lambda x, w: np.cov(x, fweights=w), (D, np.arange(1, 8))),
    (lambda x, f, w: np.cov(x, fweights=f, aweights=w), (D, np.arange(1, 8), W)), (lambda x: np.cov(x, ddof=9), (D,)),
    *[(lambda x: np.corrcoef(x), (a,)) for a in (F, D, I, V, C)], (lambda x, y: np.corrcoef(x, y, rowvar=False), (D, D + 1)),
    *[(lambda x, f=f, a=a: f(x, axis=a), (v,)) for f in (np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd, np.nanmax, np.nanmin)
      for a in (None, 0, -1) for v in (N, NF, I)],
    *[(lambda x, f=f: f(x), (NC,)) for f in (np.nansum, np.nanprod, np.nanmean, np.nanvar, np.nanstd)], (lambda x: np.nansum(x, dtype=np.float64), (NF,)),
    *[(lambda x, f=f: f(x, keepdims=True), (H,)) for f in (np.nansum, np.nanmean, np.nanvar, np.nanmax)], (lambda x: np.nanvar(x, ddof=1, axis=0, keepdims=True), (N,)),
    (lambda x, m: np.nanmean(x, where=m), (N, B)), (lambda x, m: np.nanvar(x, axis=1, where=m), (N, B)), (lambda x, m: np.nanmax(x, initial=-1, where=m, axis=1), (N, B)),
    (lambda x: np.nanmin(x, initial=0.0), (N,)), *[(lambda x, f=f: f(x, axis=0), (N,)) for f in (np.nanargmax, np.nanargmin)],
    (lambda x: np.nanargmax(x, keepdims=True), (NF,)), (lambda x: np.nanargmin(x), (I,)), (lambda x: np.nansum(x), (E0,)), (lambda x: np.nanmean(x), (E0,)),
]  # fmt: skip

CALCULUS: list[Snippet] = [
    *[(lambda x: np.gradient(x), (a,)) for a in (F, D, I, U, V, Z)], (lambda x: np.gradient(x, 2.0, axis=1), (F,)), (lambda x: np.gradient(x, edge_order=2), (D,)),
    (lambda x, t: np.gradient(x, t, axis=1), (D, np.cumsum(W))), (lambda x, t: np.gradient(x, 0.5, t, edge_order=2), (D, np.cumsum(W))),
    (lambda x, h: np.gradient(x, h), (V, 0.1)), (lambda x, t: np.gradient(x, t), (V.astype(float), np.array([0, 1, 3, 4, 8, 9]))),
    *[(lambda x: np.ediff1d(x), (a,)) for a in (F, I, U, V[:1], V[:0])], (lambda x: np.ediff1d(x, to_end=[1, 2], to_begin=0), (I,)),
    (lambda x: np.trapezoid(x), (F,)), (lambda x: np.trapezoid(x, dx=0.5, axis=0), (I,)), (lambda y, x: np.trapezoid(y, x), (D, W)),
    (lambda y, x: np.trapezoid(y, x, axis=0), (D, D * 2)), (lambda x: np.trapezoid(x), (C,)),
    *[(lambda x, y, f=f, m=m: f(x, y, m), (a, b)) for f in (np.convolve, np.correlate) for m in ("full", "same", "valid")
      for a, b in ((D[0], D[1, :3]), (V[:2], V), (C[0], Z[0]), (I[0], U[0]), (D.ravel(), Q.ravel()), (Q.ravel()[:20], D.ravel()))],
    (lambda x, y: np.convolve(x, y), (B[0], B[1, :3])), (lambda x, y: np.convolve(x, y), (S[0], S[1, :2])), (lambda x: np.convolve(x, [1, 2]), (F[0],)),
    *[(lambda x, f=f: f(x), (a,)) for f in (np.sinc, np.i0) for a in (F, I, np.array(0.0), D * 9, H, E0)], (lambda x: np.sinc(x), (C,)),
    (lambda p, x: np.polyval(p, x), (D[0], Q)), (lambda p, x: np.polyval(p, x), (I[0], 2)), (lambda p, x: np.polyval(p, x), (V, I)),
    (lambda x: np.polyval([1, 2, 3], x), (F,)), (lambda p: np.polyval(p, 2.5), (V,)),
    *[(lambda p, q, f=f: f(p, q), (a, b)) for f in (np.polyadd, np.polysub) for a, b in ((V, I[0]), (V[:2], V), (I[0], I[1, :3]))],
    (lambda p: np.polyder(p), (V,)), (lambda p: np.polyder(p, 2), (I[0],)), (lambda p: np.polyder(p, 7), (D[0],)), (lambda p: np.polyint(p), (I[0],)),
    (lambda p: np.polyint(p, 2, 3), (V,)), (lambda p, k: np.polyint(p, 2, k), (D[0], W[:2])), (lambda p: np.polyint(p, 0), (V,)),
    *[(lambda x: np.vander(x), (a,)) for a in (V, I[0], U[0], B[0], Z[0])], (lambda x: np.vander(x, 3, True), (D[0],)), (lambda x: np.vander(x, 0), (V,)),
]  # fmt: skip

COMBINING: list[Snippet] = [
    *[(lambda x, y: np.cross(x, y), (a, b)) for a, b in ((F[:, :3], G[:, :3]), (I[0, :3], F[:, :3]), (U[:, :3], U[:, 3:]))],
    (lambda x, y: np.cross(x, y, axis=0), (D[:3], D[1:4])), (lambda x, y: np.cross(x, y, axisa=1, axisb=0, axisc=1), (T3, T3[0])),
    (lambda x, y: np.cross(x, y), (F[:, :2], G[:, :2])), (lambda x, y: np.cross(x, y), (F[:, :2], G[:, :3])), (lambda x, y: np.cross(x, y), (F[:, :3], G[:, :2])),
    (lambda x, y: np.linalg.cross(x, y), (F[:, :3], G[:, :3])),
    *[(lambda x, y: np.kron(x, y), (a, b)) for a, b in ((F, I[:2, :2]), (V, D), (T3, I[0, :2]), (F, np.array(2)), (np.array(2), T3), (B, B[:1]))],
    (lambda x, y: np.meshgrid(x, y), (V, W)), (lambda x, y, z: np.meshgrid(x, y, z, indexing="ij"), (V, I[0, :2], W)), (lambda x: np.meshgrid(x), (V,)),
    (lambda x, y: np.meshgrid(x, y, sparse=True), (V, W)), (lambda x, y: np.meshgrid(x, y, copy=False), (V, np.array(3))),
    (lambda x, i: x[np.ix_([0, 2], i)], (F, np.array([1, 3, 5]))), (lambda x: np.append(x, x), (F,)), (lambda x, y: np.append(x, y, 0), (F, I)), (lambda x: np.append(x, 3), (V,)),
    *[(lambda x, s=s: np.resize(x, s), (I,)) for s in (5, (7, 9), (0, 2), (4, 6))], (lambda x: np.resize(x, (2, 3)), (V[:0],)),
    (lambda x, y: np.block([[x, y], [y, x]]), (F, G)), (lambda x: np.block([x, x[:, :1]]), (F,)), (lambda x: np.block([[1, 2], [x]]), (V[:2],)), (lambda x: np.block(x), (F,)),
    (lambda x: np.unstack(x), (F,)), (lambda x: np.unstack(x, axis=1), (T3,)), (lambda x: np.dstack([x, x]), (F,)), (lambda x: np.dsplit(x, 2), (T3,)),
    (lambda x: np.hsplit(x, [1, 4]), (F,)), (lambda x: np.vsplit(x, 2), (I,)), (lambda x: np.hstack([x, 1.0]), (V,)), (lambda x: np.atleast_3d(x), (F,)),
    (lambda x: np.apply_along_axis(np.sum, 0, x), (F,)), (lambda x: np.apply_along_axis(lambda v: v[::-1] * 2, 1, x), (T3,)), (lambda x: np.apply_along_axis(np.diag, -1, x), (I,)),
    (lambda x: np.apply_over_axes(np.sum, x, (0, 2)), (T3,)), (lambda x: np.apply_over_axes(np.max, x, 1), (I,)),
    (lambda x: np.piecewise(x, [x < 0, x > 1], [-1, 1]), (F,)), (lambda x: np.piecewise(x, [x < 0, x > 5], [1, 2, 3]), (I,)), (lambda x: np.piecewise(x, x > 0, [2.5, 1]), (V,)),
    (lambda x, y: np.array_equiv(x, y), (F, F[0])), (lambda x: np.array_equiv(x, [x, x]), (V,)), (lambda x: np.array_equiv(x, x[:2]), (V,)),
    (lambda x: np.flipud(x), (I,)), (lambda x: np.fliplr(x), (I,)), (lambda x: np.rot90(x, 3), (F,)), (lambda x: np.rot90(x, 2, (1, 2)), (T3,)),
]  # fmt: skip

#: Bodies of functions that write; what they leave in x is compared too.
WRITES: list[tuple[str, str]] = [
    ("y = x.T.ravel(); y[0] = 50; return y", "D"),
    ("y = x[:, 1:].reshape(-1); y[0] = 50; return y", "F"),
    ("y = x[1:].reshape(-1); y[0] = 50; return y", "F"),
    ("y = x[:, ::2].reshape(4, 3, 1); y[0] = 50; return y", "F"),
    ("y = x[:, :4].reshape(4, 2, 2); y[0] = 50; return y", "F"),
    ("y = x.T.reshape(2, 3, 4); y[0] = 50; return y", "F"),
    ("y = np.broadcast_to(x, (2, 4, 6)); x[0] = 50; return y + 0", "F"),
    ("y = np.diagonal(x); x[1, 1] = 9; return y * 2", "I"),
    ("x.real[0] = 1; x.imag[:, 1] = 2; return x.real", "C"),
    ("x.real = 5; x.imag += 1; return x", "Z"),
    ("y = x.real; x[0] = 5; y[1] = 6; return y", "C"),
    ("x.real[0] = 1; return x", "F"),
    ("np.real(x)[0] = 3", "F"),
    ("y = copy.copy(x); y[0] = 5; return y", "F"),
    ("y = x.astype(x.dtype, copy=False); y[0] = 5", "I"),
    ("y = np.nan_to_num(x, copy=False, nan=7.0); return y", "N"),
    ("x.flat[1:] = [7, 8]", "F"),
    ("x.flat = [7, 8, 9]", "I"),
    ("x.flat[3] = 2", "U"),
    ("x.view(np.int32)[0] = 1", "F"),
    ("x.view(np.float32)[:, ::2] = 1", "C"),
    ("x.view(np.uint8)[0, 0] = 1", "S"),
    ("np.fill_diagonal(x, 5)", "F"),
    ("np.fill_diagonal(x, [1, 2], wrap=True)", "D"),
    ("np.fill_diagonal(x.T, x[0, :3] * 0 + 2, True)", "F"),
    ("y = np.zeros((9, 3)); np.fill_diagonal(y, x[0], wrap=True); return y", "F"),
    ("y = np.zeros((3, 3, 3)); np.fill_diagonal(y, x[0, 0]); return y", "F"),
    ("np.copyto(x, 3)", "F"),
    ("np.copyto(x, x[0] * 2, where=x > 0)", "F"),
    ("np.copyto(x, 7, where=x[0] > 0)", "U"),
    ("x.fill(3)", "I"),
    ("y = np.asarray(x); y += 1; return y", "F"),
]


def close(actual: Any, wanted: Any) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(actual) == len(wanted)
        for a, w in zip(actual, wanted, strict=True):
            close(a, w)
        return
    a, w = np.asarray(actual), np.asarray(wanted)
    assert a.dtype == w.dtype, (a.dtype, w.dtype)
    assert a.shape == w.shape, (a.shape, w.shape)
    if w.dtype.kind in "fc":
        eps = np.finfo(w.dtype).eps
        scale = np.nanmax(np.abs(np.where(np.isfinite(w), w, 0)), initial=0)
        np.testing.assert_allclose(a, w, rtol=32 * eps, atol=float(32 * eps * scale))
    else:
        np.testing.assert_array_equal(a, w)


SNIPPETS = [
    pytest.param(*snippet, id=f"{name}{i}")
    for name, group in (("views", VIEWS), ("statistics", STATISTICS), ("calculus", CALCULUS), ("combining", COMBINING))
    for i, snippet in enumerate(group)
]


@pytest.mark.parametrize(("function", "args"), SNIPPETS)
def test_as_numpy(function: Callable[..., Any], args: tuple) -> None:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = function(*args)
        close(wf.jit(function)(*args), wanted)
        close(wf.simulate(function)(*args), wanted)


@pytest.mark.parametrize(("body", "name"), WRITES)
def test_writes_as_numpy(body: str, name: str) -> None:
    scope: dict[str, Any] = {"np": np, "copy": copy}
    exec("def function(x):\n    " + body, scope)
    before, after = NAMES[name].copy(), [NAMES[name].copy() for _ in range(2)]
    wanted = scope["function"](before)
    for run, x in zip((wf.jit, wf.simulate), after, strict=True):
        result = run(scope["function"])(x)
        close(x, before)
        if wanted is not None:
            close(result, wanted)
