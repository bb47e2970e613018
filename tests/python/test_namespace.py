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
    *[(lambda x: x.copy(), (a,)) for a in (np.array(1.5), np.ones((1, 1)), np.float32(2), C[0, 0], np.array([3]))], (lambda x: copy.copy(x) + copy.deepcopy(x), (F,)), (lambda x: x.__array_namespace__().exp(x), (F,)),
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

I8, I16, I32 = S, I.astype(np.int16) * 999, I.astype(np.int32) * 99_999_999
BIG = np.array([2**63 - 1, -(2**63), 12586269025, 7778742049, 0, 5])
FIB = np.array([4660046610375530309, 7540113804746346429, -(2**63), 0, 1, 5])
HALVES = np.arange(65536, dtype=np.uint16).view(np.float16)
EXTREMES = np.array(
    [0.0, -0.0, 1, -1, 1.5, 5e-324, -3e-310, 2.2250738585072014e-308, 1.7e308, np.inf, -np.inf, np.nan, 0.1, 1024]
)
with np.errstate(over="ignore"):
    EXTREMES_32 = EXTREMES.astype(np.float32)
POWERS = np.array([0, 1, -1, 1000, -1000, 1023, 1024, -1074, -1075, 2097, -2200, 2**31 - 1, -(2**31), 3], np.int32)

BITS: list[Snippet] = [
    *[(lambda x: np.bitwise_count(x), (a,)) for a in (I, U, S, I32, BIG)], (lambda x: np.gcd(x, 12), (I,)), (lambda x, y: np.gcd(x, y), (BIG, FIB)),
    *[(lambda x, y, f=f: f(x, y), (a, a[::-1])) for f in (np.gcd, np.lcm) for a in (I, U, S, I16, I32)], (lambda x, y: np.lcm(x, y), (I[0], I)),
    (lambda x: np.gcd(x, x + np.uint8(7)), (np.arange(256, dtype=np.uint8),)), *[(lambda x: np.frexp(x), (a,)) for a in (F, D, EXTREMES, EXTREMES_32, HALVES, I)],
    (lambda x, e: np.ldexp(x, e), (EXTREMES[:, None], POWERS)), (lambda x, e: np.ldexp(x, e), (EXTREMES_32[:, None], POWERS)),
    (lambda x, e: np.ldexp(x, e), (H, I.astype(np.int8))), (lambda x: np.ldexp(x, 3), (F,)), (lambda x: np.ldexp(*np.frexp(x)), (EXTREMES,)),
    *[(lambda x: np.spacing(x), (a,)) for a in (F, D, EXTREMES, EXTREMES_32, HALVES)], (lambda x, y: np.nextafter(x, y), (F, G)),
    (lambda x, y: np.nextafter(x, y), (EXTREMES[:, None], EXTREMES)), *[(lambda x, y: np.logaddexp2(x, y), (a, b)) for a, b in ((F, G), (D, D * 3), (SPECIAL[:, None], SPECIAL), (H, H))],
    *[(lambda x, o=o, k=k: np.packbits(x, axis=k, bitorder=o), (a,)) for o in ("big", "little") for k in (None, 0, -1) for a in (B, I)], (lambda x: np.packbits(x), (B[:0],)),
    *[(lambda x, o=o, k=k, c=c: np.unpackbits(x, axis=k, bitorder=o, count=c), (U,)) for o in ("big", "little") for k in (None, 0, 1) for c in (None, 13, -3, 300)],
    (lambda x, y: np.divmod(x, y), (I, I + 20)), (lambda x, y: np.float_power(x, y), (I, 2)), (lambda x, y: np.floor_divide(x, y), (S, U + 1)),
]  # fmt: skip

MASK = np.array([True, False, True, True])

SELECTION: list[Snippet] = [
    (lambda x: np.compress([True, False, True], x, axis=0), (F,)), (lambda x: x.compress(MASK, 0), (F,)), (lambda x: np.compress(MASK, x), (I,)),
    (lambda x: np.compress([False], x, axis=1), (F,)), (lambda x: np.extract(B, x), (I,)),
    *[(lambda x, o=o, a=a: np.delete(x, o, a), (F,)) for o, a in ((1, 0), (-1, 1), ([0, 2], 0), (slice(1, 3), 1), (slice(None, None, 2), 1), ([], 0), ([3], None), (MASK, 0),
                                                               (slice(4, 1, -1), 1), (np.array([1, 1, -1]), 1))],
    *[(lambda x, v, o=o, a=a: np.insert(x, o, v, a), (F, v)) for o, v, a in ((1, np.array(5.0), 0), (1, V, 0), (-1, V[:4], 1), ([0, 2], V[:2], 1), ([1], V, 0), ([1, 1, 3], np.array(9), 1),
                                                                         (slice(0, 4, 2), V, 0), ([], V, 0), (3, V, None), (6, D[:4, :2].T.copy(), 1), (MASK, V, 0), ([1], D[:4, :1], 1))],
    (lambda x: np.insert(x, 2, 7.9), (I,)),
    (lambda i, x, y: np.choose(i, (x, y)), (B.astype(int), F, I)), (lambda i, x: np.choose(i, x), (np.array([0, 3, 1, 2, 0, 1]), F)), (lambda i, x: np.choose(i, [x, 5, -x], mode="wrap"), (I, F)),
    (lambda i, x: i.choose([x, 5, -x], mode="clip"), (I, F[0])), (lambda i: np.choose(i, [1, 2]), (B,)), (lambda x: np.choose([0, 1, 0, 1, 1, 0], [x, -x]), (F,)),
    (lambda x: np.isin(x, [1, 2, 3]), (I,)), (lambda x, y: np.isin(x, y, invert=True), (I, U)), (lambda x: np.isin(x, []), (I,)), (lambda x: np.isin(x, [np.nan, 1.0]), (SPECIAL,)), (lambda x: np.isin(3, x), (I,)),
    *[(lambda x, f=f: f(x), (a,)) for f in (np.iscomplex, np.isreal, np.angle, np.iscomplexobj, np.isrealobj) for a in (C, Z.real + 0j, F, I, B)],
    *[(lambda x, f=f: f(x), (a,)) for f in (np.isneginf, np.isposinf) for a in (SPECIAL, I, U, SPECIAL.astype(np.float16))], (lambda x: np.angle(x, deg=True), (C,)), (lambda x: np.angle(x, True), (F,)),
    (lambda x: np.real_if_close(x), (F,)), *[(lambda i, o=o: np.unravel_index(i, (3, 4, 5), o), (U % 60,)) for o in "CF"], (lambda i: np.unravel_index(i, 40), (np.abs(I),)),
    *[(lambda i, j, m=m, o=o: np.ravel_multi_index((i, j), (7, 5), m, o), (np.abs(I) % 7, np.abs(I) % 5)) for m in ("raise", "wrap", "clip") for o in "CF"],
    (lambda i, j: np.ravel_multi_index((i, j), (7, 5), ("wrap", "clip")), (I, I)), (lambda x: x[np.triu_indices_from(x)], (Q,)), (lambda x: x[np.tril_indices_from(x, -1)], (F,)),
    (lambda x: x[np.diag_indices_from(x)], (Q,)), (lambda x: np.allclose(x, x + 1e-12), (D,)), (lambda x: np.isclose(x, x, equal_nan=True), (N,)), (lambda x: np.common_type(x, x)(1) + x, (F,)),
    *[(lambda x, n=n: (x < n, n <= x, x == n, x != n, n > x, x >= n), (a,)) for n in (-1, 300, 2**70, -(2**63) - 1) for a in (U, S, I, U.astype(np.uint64))],
    (lambda x: np.can_cast(x, np.float32), (D,)), (lambda x: np.take(x, [1, -7, 30], mode="wrap"), (I,)), (lambda x: x.take([1, 9], 1, mode="clip"), (I,)),
]  # fmt: skip

EDGES = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
MANY = np.linspace(-3, 3, 41)

SEARCHING: list[Snippet] = [
    *[(lambda x, b, r=r: np.digitize(x, b, r), (a, b)) for r in (False, True) for a in (D, np.append(EDGES, MANY), N) for b in (EDGES, EDGES[::-1], MANY, MANY[::-1], np.repeat(EDGES, 2))],
    *[(lambda x, r=r: np.digitize(x, [-5, 0, 3, 8], r), (a,)) for r in (False, True) for a in (I, S, F)], (lambda x: np.digitize(x, [3, 1, 0]), (I,)), (lambda x, b: np.digitize(x, b), (D, EDGES[:1])),
    (lambda x: np.digitize(x, []), (I,)),
    *[(lambda x, a, b: np.interp(x, a, b), (x, a, b)) for x in (D, F, SPECIAL, I) for a, b in ((EDGES, EDGES**2), (MANY, np.sin(MANY)), (EDGES, EDGES + 1j * EDGES**2), (np.arange(6), I[0]))],
    (lambda x, a, b: np.interp(x, a, b, left=-7, right=7), (D, EDGES, EDGES**3)), (lambda x, a, b: np.interp(x, a, b), (D, EDGES[:1], EDGES[:1])), (lambda x, a, b: np.interp(x, a, b), (0.3, EDGES, EDGES**3)),
    (lambda x, a: np.interp(x, a, a), (np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, np.inf]))),
    (lambda x: np.bincount(x, minlength=12), (np.abs(I[0]),)), (lambda x, w: np.bincount(x, w, 12), (np.abs(I).ravel(), F.ravel())), (lambda x: np.bincount(x, minlength=256), (U[0],)),
    (lambda x: np.bincount(x, minlength=2), (B[0],)), (lambda x: np.bincount([1, 2, 2, 5], x), (V[:4],)), (lambda x: np.bincount(x, minlength=3), (I[0, :0],)), (lambda x: np.bincount(x), (I[0, :0],)),
    *[(lambda x, b=b, r=r: np.histogram(x, b, r), (a,)) for a in (F, D, I, U, B) for b, r in ((10, None), (7, (-1, 1)), ([-1, 0, 2, 5], None), (5, (0, 200)))],
    (lambda x: np.histogram(x, 4), (np.full(5, 3.0),)), (lambda x: np.histogram(x, 4), (E0,)), (lambda x: np.histogram(x, 4, (2, 2)), (I,)), (lambda x: np.histogram(x, EDGES), (N,)),
    (lambda x, w: np.histogram(x, 6, weights=w), (D, np.abs(D))), (lambda x, w: np.histogram(x, 6, (-1, 1), weights=w), (F, I)), (lambda x, w: np.histogram(x, EDGES, weights=w), (F, C)),
    (lambda x: np.histogram(x, 8, density=True), (D,)), (lambda x, b: np.histogram(x, b, density=True), (D, EDGES)), (lambda x: np.histogram_bin_edges(x, 5), (F,)), (lambda x: np.histogram_bin_edges(x, EDGES), (I,)),
    (lambda x, y: np.histogram2d(x, y, 4), (D[0], D[1])), (lambda x, y: np.histogram2d(x, y, [3, EDGES], density=True), (D[0], D[1])), (lambda x, y: np.histogram2d(x, y, EDGES), (D[0], D[1])),
    (lambda x: np.histogramdd(x, 3), (D[:, :3],)), (lambda x, w: np.histogramdd(x, (3, 2), range=((-1, 1), None), weights=w), (D[:, :2], D[:, 2])), (lambda x: np.histogram(x, 10, (0.0, 1.0)), (H,)),
]  # fmt: skip

PRODUCTS: list[Snippet] = [
    *[(lambda x, o=o: np.linalg.norm(x, o), (a,)) for o in (None, "fro", 1, -1, np.inf, -np.inf) for a in (F, D, I, C)], *[(lambda x, o=o: np.linalg.norm(x, o), (a,)) for o in (None, 0, 1, 2, 3, -1, np.inf, -np.inf, 0.5) for a in (V, I[0] + 20, Z[0])],
    *[(lambda x, o=o, k=k: np.linalg.norm(x, o, axis=1, keepdims=k), (T3,)) for o in (None, 1, 2, 4, np.inf) for k in (False, True)], *[(lambda x, o=o, k=k: np.linalg.norm(x, o, (2, 0), k), (T3,)) for o in (None, 1, -1, np.inf, -np.inf) for k in (False, True)],
    (lambda x: np.linalg.norm(x), (T3,)), (lambda x: np.linalg.norm(x, keepdims=True), (T3,)), (lambda x: np.linalg.norm(x), (np.array(-3.0),)), (lambda x: np.linalg.norm(x), (H,)), (lambda x: np.linalg.norm(x, axis=0), (E0,)),
    (lambda x: np.linalg.matrix_norm(x), (T3,)), (lambda x: np.linalg.matrix_norm(x, ord=1, keepdims=True), (T3,)), *[(lambda x, a=a, k=k: np.linalg.vector_norm(x, axis=a, keepdims=k), (T3,)) for a in (None, 1, (0, 2), (2, 0)) for k in (False, True)],
    *[(lambda x, f=f, a=a: f(x, a), (v,)) for f in (np.fft.fftshift, np.fft.ifftshift) for a in (None, 0, (0, 1), -1) for v in (D, F)],
    (lambda x: np.linalg.vector_norm(x, ord=1), (I,)), *[(lambda x, n=n: np.linalg.matrix_power(x, n), (a,)) for n in (0, 1, 2, 3, 5, 8) for a in (Q, I[:, :4], RNG.normal(size=(2, 3, 3)))],
    (lambda a, b, c: np.linalg.multi_dot([a, b, c]), (F, F.T.copy(), F)), (lambda a, b, c: np.linalg.multi_dot([a, b, c, a]), (V, F.T.copy(), F)), (lambda a, b: np.linalg.multi_dot([a, b]), (V, V)),
    (lambda a, b: np.linalg.multi_dot([a, b, b.T, a]), (V, F.T.copy())), (lambda x, y: np.linalg.matmul(x, y.T), (F, G)), (lambda x, y: np.linalg.tensordot(x, y, axes=([0], [0])), (F, G)), (lambda x: np.linalg.matrix_transpose(x), (T3,)),
    (lambda x, y: np.linalg.outer(x, y), (V, I[0])), (lambda x, y: np.linalg.vecdot(x, y), (C, C[0])), (lambda x, y: np.linalg.vecdot(x, y, axis=0), (F, G)), (lambda x, y: np.vecdot(x, y), (F, G)), (lambda x, y: np.matvec(x, y), (T3, F[0, :4])),
    (lambda x, y: np.vecmat(x, y), (F[0, :3], T3)), (lambda x, y: np.vdot(x, y), (C, Z.ravel()[:1] * C)), (lambda x, y: np.vdot(x, y), (I, F)), (lambda x, y: np.inner(x, y), (T3, F[0, :4])), (lambda x: x.dot(x.T), (B,)), (lambda x, y: np.outer(x, y), (D, I)),
    (lambda x: np.linspace(x[0], x[1], 5), (F,)), (lambda x: np.linspace(x[0, 0], 3, 7, endpoint=False, retstep=True), (F,)), (lambda x: np.linspace(0, x, 5, axis=-1), (I,)), (lambda x: np.linspace(x, x, 3), (V,)), (lambda x: np.linspace(0, x, 4, dtype=int), (np.array(10.0),)),
    (lambda x: np.linspace(x, 1, 1), (V,)), (lambda x: np.linspace(x, 1, 0), (V,)), (lambda x: np.logspace(x, 2, 5), (V,)), (lambda x: np.logspace(0, 2, 4, base=x), (W,)), (lambda x: np.geomspace(x, 100, 5), (W,)), (lambda x: np.geomspace(-1, x, 4, axis=1), (-W,)),
]  # fmt: skip

METHODS: list[Snippet] = [
    *[(lambda x, f=f, a=a: f.reduce(x, axis=a), (v,)) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.logical_xor) for a in (None, 0, 1) for v in (I, U, B)],
    *[(lambda x, f=f: f.reduce(x), (v,)) for f in (np.subtract, np.fmax, np.fmin, np.gcd, np.lcm) for v in (I, U)],
    *[(lambda x, f=f: f.reduce(x, axis=1, keepdims=True), (F,)) for f in (np.subtract, np.divide, np.hypot, np.logaddexp, np.logaddexp2, np.fmax, np.logical_xor)],
    (lambda x, m: np.bitwise_or.reduce(x, where=m, initial=64), (U, B)), (lambda x: np.fmin.reduce(x, axis=0), (N,)), (lambda x: np.subtract.reduce(x, initial=3), (F,)), (lambda x: np.bitwise_and.reduce(x), (U[:0],)),
    (lambda x: np.maximum.reduce(x, initial=7, axis=None), (I,)), (lambda x: np.add.reduce(x, dtype=np.float32), (I,)), (lambda x: np.power.outer(x, [1.0, 2.0]), (V,)), (lambda x: np.logical_and.reduce(x, axis=1), (F,)),
    (lambda x, y: np.vecdot(x, y, axis=0), (F, G)), (lambda x, m: np.add(x, 1, out=np.zeros((4, 6)), where=m), (F, B)), (lambda x: np.multiply(x, 2, casting="unsafe", dtype=np.int8), (I,)),
    (lambda x: np.divmod(x, 2, out=(np.zeros((4, 6)), np.zeros((4, 6)))), (I,)), (lambda x: [x.itemsize, x.nbytes, len(x), x.size, x.ndim], (F,)), (lambda x: [v * 2 for v in x], (F,)),
    *[(lambda x: x.byteswap(), (a,)) for a in (F, I, U, C, B, H)], (lambda x: round(x[0, 0], 1), (F,)), (lambda x: x.round(1), (F,)), (lambda x: x.conj().dot(x.T), (C,)), (lambda x: x.swapaxes(0, 1), (T3,)),
    (lambda x: np.r_[x[0], 1, 2.5], (I,)), (lambda x: np.r_[x[0], 0:3, x[1]], (F,)), (lambda x: np.r_[x[0], 0:1:3j], (F,)), (lambda x: np.c_[x[0], x[1]], (F,)), (lambda x: np.c_[x, x[:, 0]], (F,)), (lambda x: np.r_[x, x], (F,)),
    (lambda x: np.r_[1:4] + x[:3], (V,)), (lambda x: np.c_[[1, 2], [3, 4]] + x[0], (V,)), (lambda x: np.lib.stride_tricks.sliding_window_view(x, 3), (V,)),
    (lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 3)), (F,)), (lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, 0), (T3,)), (lambda x: [a for _, a in np.ndenumerate(x)], (I,)),
    (lambda x: [i for i, _ in np.ndenumerate(x)], (I,)), (lambda x: np.asfortranarray(x) + np.require(x, np.float64, "C"), (F,)), (lambda x: np.zeros(np.broadcast_shapes(x.shape, (3, 1, 1))) + x, (F,)),
    (lambda x: x + np.isscalar(x), (2.5,)), (lambda x: np.isscalar(x), (np.float32(1),)), (lambda x: x.astype(np.min_scalar_type(x)), (F,)), (lambda x: np.einsum_path("ij,kj->ik", x, x)[0][1:], (F,)), (lambda x: np.tril(x), (V,)), (lambda x: np.triu(x, 1), (V,)),
    (lambda x: np.pad(x, {0: 1, -1: (2, 3)}), (F,)), (lambda x: np.pad(x, {1: 2}, mode="edge"), (F,)), (lambda x: np.indices((4, 6)) * x, (I,)), (lambda x: np.fromfunction(lambda i, j: i + j * x[0, 0], (2, 3)), (F,)), (lambda x: np.hanning(6) * x, (F,)),
    (lambda x: x[np.tril_indices(4)], (F,)), (lambda x: x.repeat([1, 2, 0, 1], axis=0), (F,)), (lambda x: np.zeros(2, [("a", float)]).shape + x.shape, (F,)),
]  # fmt: skip

I64U64 = np.array([-5, -1, 0, 1, 2**62, 2**63 - 1]), np.array([0, 1, 2**62, 2**63, 2**64 - 1, 2**63 - 1], np.uint64)
PROMOTION: list[Snippet] = [
    *[(lambda x, f=f: f(x, 2.5), (a,)) for f in (np.dot, np.inner) for a in (F, H, C)], *[(lambda x, f=f: f(2, x), (a,)) for f in (np.dot, np.inner) for a in (S, U, F)],
    *[(lambda x, y, f=f: f(x[:, None], y), I64U64) for f in (np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal)],
    *[(lambda x, y, f=f: f(y, x[:, None]), I64U64) for f in (np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal)],
    *[(lambda x: np.reciprocal(x), (np.array([0, 1, 2, 255 if t in "BHILQ" else -1] * 9, t),)) for t in "bBhHiIlL"], *[(lambda x, d=d: np.round(x, d), (a,)) for d in (0, 1, -1) for a in (F, I, S)],
    (lambda x: np.round(x), (B,)), (lambda x: x.round(), (B,)), *[(lambda x, y: np.clip(x, y, None), (a, b)) for a in (B, I, F, H) for b in (S, F, H)], (lambda x, y: np.clip(x, -1, y), (B, F)), (lambda x, y: np.clip(x, -1, y), (U, F)),
    (lambda x, y: np.clip(x, y, 3), (2.5, F)), (lambda x: np.clip(x, 1, None), (U,)), (lambda x: x.clip(-1.5, 2), (I,)), (lambda x: np.clip(x, min=0), (N,)), (lambda x: np.clip(x, np.array([np.nan] * 6), 1), (F,)),
    *[(lambda x, y, f=f, m=m: f(x, y, m), (np.array([1, np.nan, np.inf, 2, -np.inf]), v)) for f in (np.convolve, np.correlate) for m in ("full", "same", "valid") for v in (V[:3].astype(float), np.array([np.inf, 1]))],
    (lambda x, y: np.convolve(x, y), (np.array([1.0, np.inf] * 20), np.arange(20.0))), (lambda x, y: np.vdot(x, y), (B, U)), (lambda x, y: np.vdot(x, y), (B, B)), (lambda x, y: np.isclose(x, y, atol=3), (U, U[::-1])),
    (lambda x: np.isclose(x, ~x), (B,)), (lambda x, y: np.nextafter(x, y), (HALVES, HALVES[::-1])), (lambda x: np.nextafter(x, np.float16(0)), (HALVES,)),
    *[(lambda x, y, f=f: f(x, y), (E0, E0)) for f in (np.kron, np.inner)], (lambda x, y: np.tensordot(x, y, 1), (E0.T, E0)), (lambda x, y: np.einsum("ij,ik->jk", x, y), (E0, E0)), (lambda x: np.kron(x, x), (np.zeros((2, 0), np.float32),)),
]  # fmt: skip

#: What cannot be traced: the error, a part of its text.
ERRORS: list[tuple[Callable[..., Any], tuple, type[Exception], str]] = [
    (lambda x: np.nonzero(x), (F,), wf.errors.DataDependentError, "np.where"), (lambda x: x.nonzero(), (F,), wf.errors.DataDependentError, "np.where"),
    (lambda x: np.compress(x > 0, x), (V,), wf.errors.DataDependentError, "as many elements"), (lambda x: np.extract(x > 0, x), (V,), wf.errors.DataDependentError, "np.where"),
    (lambda x: np.trim_zeros(x), (V,), wf.errors.UnsupportedError, "slice"), (lambda x: np.bincount(x), (I[0],), wf.errors.DataDependentError, "minlength"),
    (lambda x: np.histogram(x, "auto"), (F,), wf.errors.DataDependentError, "number of bins"), (lambda x: np.place(x, x > 0, [1, 2]), (F,), wf.errors.DataDependentError, "np.where"),
    (lambda x: np.real_if_close(x), (C,), wf.errors.DataDependentError, "x.real"), (lambda x: np.piecewise(x, [x > 0], [np.exp]), (F,), wf.errors.UnsupportedError, "np.select"),
    (lambda x: np.polymul(x, x), (V,), wf.errors.UnsupportedError, "np.convolve"), (lambda x: x.item(), (F,), wf.errors.DataDependentError, "known only"), (lambda x: x.tolist(), (F,), wf.errors.DataDependentError, "known only"),
    (lambda x: 3.0 in x, (F,), wf.errors.DataDependentError, "np.any"), (lambda x: f"{x[0, 0]:.2f}", (F,), wf.errors.DataDependentError, "format"),
    (lambda x: x.ctypes, (F,), wf.errors.ArgumentTypeError, "memory"), (lambda x: x.tobytes(), (F,), wf.errors.ArgumentTypeError, "values"), (lambda x: np.shares_memory(x, x[::2]), (F,), wf.errors.UnsupportedError, "memory"),
    (lambda x: x.astype(">f8"), (F,), wf.errors.ArgumentTypeError, "float64"), (lambda x: x[True, 0], (F,), wf.errors.UnsupportedError, "truth value"),
    (lambda x: np.add(x, 1, where=x > 0), (F,), wf.errors.ArgumentValueError, "out="), (lambda x: np.matmul(x, x, axes=[(0, 1)] * 3), (Q,), wf.errors.UnsupportedError, "axes"), (lambda x: np.add(x, 1.5, casting="no"), (I,), wf.errors.ArgumentTypeError, "casting"),
    (lambda x: np.fill_diagonal(x, 0), (V,), wf.errors.ArgumentValueError, "2-d"),
    (lambda x: np.diagonal(x), (V,), wf.errors.ArgumentValueError, "two dimensions"), (lambda x: np.delete(x, 9, 0), (F,), wf.errors.OutOfBoundsError, "9"), (lambda x: np.insert(x, 9, 0, 0), (F,), wf.errors.OutOfBoundsError, "9"),
    (lambda x: np.average(x, weights=[0, 0, 0, 0, 0, 0]), (V,), wf.errors.ArgumentValueError, "zero"), (lambda x: np.digitize(x, [0, 2, 1]), (V,), wf.errors.ArgumentValueError, "monotonically"), (lambda x: np.cross(x, x), (F,), wf.errors.ArgumentValueError, "2 or 3"),
    (lambda x: np.gcd.reduce(x), (F,), wf.errors.ArgumentTypeError, "gcd"), (lambda x: np.linalg.norm(x, "bad"), (V,), wf.errors.ArgumentValueError, "bad"), (lambda x: np.linalg.matrix_power(x, 2), (F,), wf.errors.ArgumentValueError, "square"),
    (lambda x: np.diagonal(x).__setitem__(0, 1), (F,), wf.errors.ArgumentValueError, "read-only"), (lambda x: np.broadcast_to(x, (2, 4, 6)).__setitem__(0, 1), (F,), wf.errors.ArgumentValueError, "read-only"), (lambda x: setattr(x, "shape", 24), (F,), wf.errors.ArgumentTypeError, "reshape"),
    (lambda x: setattr(x, "imag", 1), (F,), wf.errors.ArgumentTypeError, "imaginary"), (lambda x: x.view(bool), (U,), wf.errors.UnsupportedError, "view"), (lambda x: x.view(np.float64), (F[:, :3],), wf.errors.ArgumentValueError, "multiple"),
    (lambda x: np.choose(x, []), (I,), wf.errors.ArgumentValueError, "choice"), (lambda x: np.gradient(x), (V[:1],), wf.errors.ArgumentValueError, "at least 2"), (lambda x: np.convolve(x, []), (V,), wf.errors.ArgumentValueError, "empty"),
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
    ("np.put(x, [1, -3, 7], [10, 20])", "F"),
    ("np.put(x.T, [1, 1, 7], 5)", "I"),
    ("x.put([0, 30, -30], [1, 2, 3], mode='wrap')", "I"),
    ("np.put(x, [0, 30, -30], [1, 2, 3], mode='clip')", "U"),
    ("np.put_along_axis(x, np.argmax(x, axis=1, keepdims=True), 0, axis=1)", "F"),
    ("np.put_along_axis(x, np.array([3, 1, 3]), np.array([1, 2, 3]), axis=None)", "I"),
    ("np.putmask(x, x > 0, 7)", "F"),
    ("np.putmask(x, x > 2, [1, 2, 3, 4, 5])", "I"),
    ("np.putmask(x, x > 0, x * x)", "D"),
    ("np.place(x, x > 0, 7)", "U"),
    ("np.place(x, x > 0, [7.5])", "F"),
    ("np.place(x, x > 0, [7.5])", "I"),
    ("np.putmask(x, x > 0, 7.5)", "I"),
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
    for name, group in (
        ("views", VIEWS),
        ("statistics", STATISTICS),
        ("calculus", CALCULUS),
        ("combining", COMBINING),
        ("bits", BITS),
        ("selection", SELECTION),
        ("searching", SEARCHING),
        ("products", PRODUCTS),
        ("methods", METHODS),
        ("promotion", PROMOTION),
    )
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


@pytest.mark.parametrize(
    ("function", "args", "kind", "text"), [pytest.param(*row, id=str(i)) for i, row in enumerate(ERRORS)]
)
def test_errors_name_the_line_and_the_way_out(function: Any, args: tuple, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=r"(?s)test_namespace\.py") as caught:
        wf.jit(function)(*args)
    assert text in str(caught.value)


SYMBOLIC: list[Callable[[Any], Any]] = [
    lambda x: np.diagonal(x), lambda x: np.diagonal(x.T, 1), lambda x: np.diag(x[:, 0], -1), lambda x: np.trace(x), lambda x: np.gradient(x, axis=0), lambda x: np.average(x),
    lambda x: np.cov(x, rowvar=False), lambda x: np.nanvar(x, axis=0), lambda x: np.linalg.norm(x), lambda x: np.linalg.vector_norm(x), lambda x: np.trapezoid(x, axis=0),
    lambda x: np.kron(x, np.ones((2, 2))), lambda x: np.meshgrid(x[:, 0], x[0]), lambda x: np.digitize(x, [0, 1]), lambda x: np.histogram(x, 5, (-1, 1)), lambda x: np.isin(x, [1.0]),
    lambda x: np.vander(x[:, 0], 3), lambda x: np.linspace(x[:, 0], 1, 3), lambda x: np.packbits(x > 0, axis=1), lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, 0),
    lambda x: np.r_[x[:, 0], 1], lambda x: x.T.ravel(), lambda x: x[1:].reshape(-1), lambda x: x.reshape(-1, order="F"), lambda x: x.view(np.float32), lambda x: np.fft.fftshift(x),
    lambda x: np.unravel_index((x > 0).astype(int), x.shape), lambda x: np.broadcast_to(x[:, :1], x.shape), lambda x: x.imag, lambda x: np.linalg.norm(x, 1), lambda x: np.unstack(x, axis=1),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(SYMBOLIC)))
def test_symbolic_extents(number: int) -> None:
    function = SYMBOLIC[number]
    compiled = wf.jit(function, dynamic={"x": {0: wf.Dim("n", 2, 16, 100)}})
    for size in (2, 5, 7):
        x = RNG.normal(size=(size, 5))
        close(compiled(x), function(x))
    assert compiled.plan_count == 1
