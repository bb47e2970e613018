"""Sorting, searching among sorted values, medians and quantiles: jit and simulate give what NumPy gives."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from agreement import agrees, close

import weftwork as wf

RNG = np.random.default_rng(5)
F = RNG.normal(size=(4, 6)).astype(np.float32)
D = RNG.normal(size=(5, 7))
V = RNG.normal(size=40).astype(np.float32)
I = RNG.integers(-9, 10, (4, 6))
U = RNG.integers(0, 9, (4, 6)).astype(np.uint8)
S = RNG.integers(-100, 100, (4, 6)).astype(np.int8)
H = RNG.normal(size=(4, 6)).astype(np.float16)
B = RNG.integers(0, 2, (4, 6)).astype(bool)
T3 = RNG.normal(size=(2, 3, 4)).astype(np.float32)
E0 = np.zeros((0, 3))
SPECIAL = np.array([1.0, np.nan, -np.inf, np.inf, -0.0, 0.0, 2.5, -2.5, np.nan, 5e-324])
SPECIAL_16 = SPECIAL.astype(np.float16)
N = np.where(RNG.integers(0, 3, (4, 6)) == 0, np.nan, RNG.normal(size=(4, 6)))
N[1] = np.nan
NF = N.astype(np.float32)
PARTS = np.array([0.0, -0.0, 1, np.nan, -np.inf, 2])
Z = np.array([complex(a, b) for a in PARTS for b in PARTS])[RNG.permutation(36)]
C = (RNG.integers(-2, 3, (4, 6)) + 1j * RNG.integers(-2, 3, (4, 6))).astype(np.complex64)
W = RNG.integers(0, 4, 7).astype(float)
W2 = RNG.integers(1, 5, (5, 7)).astype(float)
METHODS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
           "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest")  # fmt: skip
QS = np.array([0, 0.1, 0.25, 0.5, 0.77, 1.0])

Snippet = tuple[Callable[..., Any], tuple]

SORTS: list[Snippet] = [
    *[(lambda x: np.sort(x), (a,)) for a in (F, D, V, I, U, S, H, B, T3, E0, C, Z, SPECIAL, SPECIAL_16)],
    *[(lambda x, k=k: np.sort(x, axis=k), (a,)) for a in (F, I, B, C, E0) for k in (0, -2, None)], (lambda x: np.sort(x, 1), (T3,)),
    *[(lambda x: np.argsort(x, kind="stable"), (a,)) for a in (F, I, U, B, C, Z, SPECIAL, SPECIAL_16, E0)],
    *[(lambda x, k=k: x.argsort(k, stable=True), (a,)) for a in (F, U, B) for k in (0, None)],
    (lambda x: np.sort_complex(x), (Z,)), (lambda x: np.sort_complex(x), (F,)), (lambda x: np.sort_complex(x), (U,)),
    (lambda x: np.partition(np.sort(x), 3), (V,)), (lambda x: np.partition(x, (1, -1), axis=0)[[1, -1]], (D,)), (lambda x: np.argpartition(x, 3)[3], (V,)),
    (lambda x, y: np.lexsort((x, y)), (U[0], U[1])), (lambda x: np.lexsort(x), (U,)), (lambda x, y: np.lexsort((x, y), axis=0), (U, B)), (lambda x: np.lexsort((x,)), (Z,)), (lambda x, y: np.lexsort([y, x]), (U[0], U[1])),
    *[(lambda a, v, s=s: np.searchsorted(a, v, side=s), (np.sort(a), v)) for s in ("left", "right") for a in (V, I[0], U.ravel(), SPECIAL, E0[:, 0]) for v in (F, I, SPECIAL)],
    (lambda a, v: np.searchsorted(a, v, sorter=np.argsort(a)), (V, F)), (lambda a: np.searchsorted(a, 0), (np.sort(V),)), (lambda a: a.searchsorted([0, 1], "right"), (np.sort(V),)),
    (lambda x: np.sort(x)[::-1], (I,)), (lambda x: np.take_along_axis(x, np.argsort(x, axis=0, kind="stable"), axis=0), (F,)),
]  # fmt: skip

QUANTILES: list[Snippet] = [
    *[(lambda x, k=k, f=f: f(x, axis=k), (a,)) for f in (np.median, np.nanmedian) for a in (F, D, I, U, H, N, NF, SPECIAL[:, None]) for k in (None, 0, -1)],
    (lambda x: np.median(x, axis=(0, 2), keepdims=True), (T3,)), (lambda x: np.nanmedian(x, axis=(1, 0)), (T3,)), (lambda x: np.median(x), (B,)), (lambda x: np.median(x), (E0,)),
    (lambda x: np.median(x), (C,)), (lambda x: np.nanmedian(x, axis=0, keepdims=True), (NF,)), (lambda x: np.nanmedian(x), (E0,)),
    *[(lambda x, m=m, f=f: f(x, QS, axis=1, method=m), (a,)) for f in (np.quantile, np.nanquantile) for m in METHODS for a in (F, D, U, NF)],
    *[(lambda x, m=m: np.percentile(x, 40, method=m), (a,)) for m in METHODS for a in (V, I)],
    *[(lambda x, q=q: np.percentile(x, q, axis=0, keepdims=True), (F,)) for q in (30, 30.5, np.float32(30), [10, 90], np.array([[10, 20], [30, 40.0]]))],
    (lambda x: np.quantile(x, [0, 1]), (F,)), (lambda x: np.quantile(x, 0.3, axis=(0, 2)), (T3,)), (lambda x, q: np.quantile(x, q), (F, 0.3)), (lambda x, q: np.quantile(x, q, axis=0), (F, QS)),
    (lambda x, q: np.nanquantile(x, q, axis=1), (NF, QS.astype(np.float32))), (lambda x: np.nanpercentile(x, 30, axis=0, keepdims=True), (NF,)), (lambda x: np.percentile(x, [25, 75]), (N,)),
    *[(lambda x, q=q, a=a, k=k: np.nanquantile(x, q, axis=a, keepdims=k), (np.arange(24.0).reshape(2, 3, 4),)) for q in (QS[:2], QS[:2, None], QS[None, :3])
      for a in (1, (0, 2), (0, 1, 2)) for k in (False, True)],
    *[(lambda x, f=f: f(x, QS), (a,)) for f in (np.quantile, np.nanquantile) for a in (SPECIAL[[0, 2, 3]], SPECIAL, np.array([np.inf]), H)],
    *[(lambda x, w, f=f: f(x, QS, axis=1, weights=w, method="inverted_cdf"), (a, w))
      for f, w in ((np.quantile, W), (np.quantile, W2), (np.nanquantile, W2)) for a in (D, np.where(D > 0.5, np.nan, D))],
    (lambda x: np.quantile(x, 0.4, weights=x * x, method="inverted_cdf"), (V,)), (lambda x: np.percentile(x, [20, 60], axis=(0, 1), weights=x * 0 + 1, method="inverted_cdf"), (T3,)),
]  # fmt: skip

SNIPPETS = [
    pytest.param(*s, id=f"{name}{i}")
    for name, group in (("sorts", SORTS), ("quantiles", QUANTILES))
    for i, s in enumerate(group)
]


@pytest.mark.parametrize(("function", "args"), SNIPPETS)
def test_as_numpy(function: Callable[..., Any], args: tuple) -> None:
    agrees(function, args)


BITS = RNG.integers(0, 2**64, 3000, np.uint64)
LONG = [
    *[BITS.view(np.uint8)[:3000].astype(d) for d in (np.int8, np.uint8)], *[BITS.view(np.int16)[:3000].view(d) for d in (np.int16, np.uint16, np.float16)],
    *[BITS.view(np.int32)[:3000].view(d) for d in (np.int32, np.uint32, np.float32)], *[BITS.view(d) for d in (np.int64, np.uint64, np.float64)],
    BITS % 2 == 0, np.tile(SPECIAL, 300), np.tile(SPECIAL.astype(np.float32), 300), np.tile(SPECIAL_16, 300), (BITS % 7).astype(np.float32), BITS % 5, np.zeros(3000, np.int32),
]  # fmt: skip


@pytest.mark.parametrize("x", LONG, ids=[f"{x.dtype}{i}" for i, x in enumerate(LONG)])
def test_long_lines(x: np.ndarray) -> None:
    """Lines that are sorted by the bytes of their keys; equal elements keep their order."""

    def function(x: Any) -> Any:
        return (
            np.sort(x),
            np.argsort(x, kind="stable"),
            np.sort(x.reshape(-1, 3), axis=0),
            np.argsort(x.reshape(2, -1, 3), axis=1, kind="stable"),
        )

    close(wf.jit(function)(x), function(x))
    values, places = wf.topk(x, len(x))
    order = np.argsort(x, kind="stable")
    key = np.empty(len(x), np.int64)  # equal elements have one number
    key[order] = np.cumsum(
        np.append(
            0,
            ~np.isclose(x[order][1:].astype(float), x[order][:-1].astype(float), 0, 0, equal_nan=True)
            if x.dtype.kind == "f"
            else x[order][1:] != x[order][:-1],
        )
    )
    close(places, np.argsort(-key, kind="stable"))
    close(values, x[places])


@pytest.mark.parametrize("run", [wf.jit, wf.simulate])
def test_sort_in_place(run: Any) -> None:
    def function(x: Any) -> Any:
        x[1:].sort(axis=0)
        y = np.copy(x)
        y.partition(2)
        return y[:, 2]

    wanted, given = F.copy(), F.copy()
    result = function(wanted)
    close(run(function)(given), result)
    close(given, wanted)


@pytest.mark.parametrize("run", [lambda f: f, wf.jit, wf.simulate])
def test_topk(run: Any) -> None:
    for x in (F, I, U, D):
        values, places = run(lambda x: wf.topk(x, 3, axis=0))(x)
        close(values, -np.sort(-x.astype(float), axis=0)[:3].astype(x.dtype))
        close(np.take_along_axis(x, places, 0), values)
        close(run(lambda x: wf.topk(x, 2, largest=False)[0])(x), np.sort(x)[..., :2])
    close(wf.topk(F, np.int64(2))[0], wf.topk(F, 2)[0])
    close(run(lambda x: wf.topk(x, 4))(U[0])[1], np.argsort(-U[0].astype(int), kind="stable")[:4])
    assert np.isnan(run(lambda x: wf.topk(x, 2)[0])(SPECIAL)).all()
    with pytest.raises(wf.errors.ArgumentValueError, match="k must be"):
        run(lambda x: wf.topk(x, 9))(F)


@pytest.mark.parametrize("run", [lambda f: f, wf.jit, wf.simulate])
def test_unique_of_a_size(run: Any) -> None:
    for x in (I, U, SPECIAL, B, C):
        value, index, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        n = len(value)
        results = run(lambda x, n=n: wf.unique(x, n + 2, x.ravel()[0] * 0, True, True, True))(x)
        close(results[0][:n], value)
        close(results[1][:n], index)
        close(results[2], inverse)
        close(results[3], np.append(counts, [0, 0]))
        close(run(lambda x: wf.unique(x, 2))(x), value[:2])
    close(run(lambda x: wf.unique(x, 3))(np.array([7, 7])), np.array([7, 7, 7]))
    close(run(lambda x: wf.unique(x, 3, fill_value=2.5))(np.zeros(0, np.float32)), np.full(3, 2.5, np.float32))


def test_symbolic_extents() -> None:
    def function(x: Any) -> Any:
        return np.sort(x, axis=0), np.argsort(x, axis=0), np.median(x, axis=1), np.cumsum(x, axis=1)

    compiled = wf.jit(function, dynamic={"x": {0: wf.Dim("n", 1, 16, 100)}})
    for size in (2, 7, 1):
        x = RNG.normal(size=(size, 5))
        close(compiled(x), function(x))
    assert compiled.plan_count == 1


ERRORS: list[tuple[Callable[..., Any], tuple, type[Exception], str]] = [
    (lambda x: np.sort(x, 2), (F,), wf.errors.ArgumentValueError, "out of bounds"), (lambda x: np.partition(x, 6), (F,), wf.errors.ArgumentValueError, "kth"),
    (lambda x: np.unique(x), (F,), wf.errors.UnsupportedError, "wf.unique"), (lambda x: np.quantile(x, 2), (F,), wf.errors.ArgumentValueError, "range"),
    (lambda x: np.percentile(x, 2, method="bad"), (F,), wf.errors.ArgumentValueError, "bad"), (lambda x: np.percentile(x, 2), (C,), wf.errors.ArgumentTypeError, "real"),
    (lambda x: np.searchsorted(x, 1, "middle"), (V,), wf.errors.ArgumentValueError, "side"), (lambda x: np.searchsorted(x, 1), (F,), wf.errors.ArgumentValueError, "vector"),
    (lambda x: np.sort(x, order="a"), (F,), wf.errors.ArgumentValueError, "fields"),
    (lambda x: np.quantile(x, 0.5), (E0,), wf.errors.OutOfBoundsError, "no elements"), (lambda x: np.quantile(x, 0.5, weights=x), (F,), wf.errors.ArgumentValueError, "inverted_cdf"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "args", "kind", "text"), [pytest.param(*row, id=str(i)) for i, row in enumerate(ERRORS)]
)
def test_errors(function: Any, args: tuple, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        wf.jit(function)(*args)


@pytest.mark.parametrize("kind", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"])
def test_small_dtypes(kind: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, kind))
    x = (
        (RNG.normal(size=(3, 200)) * 3).astype(dtype)
        if dtype.name != "uint4"
        else RNG.integers(0, 16, (3, 200)).astype(dtype)
    )
    for function in (lambda x: np.sort(x, axis=0), lambda x: np.sort(x), lambda x: np.argsort(x, kind="stable")):
        for run in (wf.jit, wf.simulate):
            result, wanted = run(function)(x), function(x)
            assert result.dtype == wanted.dtype
            np.testing.assert_array_equal(result.astype(np.float64), wanted.astype(np.float64))
    if dtype.name.startswith(("bf", "float")):
        for function in (
            lambda x: np.maximum.accumulate(x, axis=1),
            lambda x: np.minimum.accumulate(x),
            lambda x: np.max(x, axis=1),
            lambda x: np.min(x),
        ):
            for run in (wf.jit, wf.simulate):
                np.testing.assert_array_equal(run(function)(x).astype(np.float64), function(x).astype(np.float64))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [7, 200, 30000])
def test_equal_numbers_of_different_bits_keep_their_order(dtype: str, count: int) -> None:
    rng = np.random.default_rng(count)
    x = rng.integers(-2, 3, count).astype(dtype)
    x[rng.random(count) < 0.5] *= -1
    x[rng.random(count) < 0.1] = np.nan
    x[rng.random(count) < 0.1] = -np.nan
    for values in (x, x[::-1]):
        order = np.argsort(values, kind="stable")
        bits = f"u{x.itemsize}"
        np.testing.assert_array_equal(wf.jit(np.sort)(values).view(bits), values[order].view(bits))
        pairs = np.stack([values, values], axis=1)
        np.testing.assert_array_equal(
            wf.jit(lambda p: np.sort(p, axis=0))(pairs)[:, 1].view(bits), values[order].view(bits)
        )


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8", "int32", "uint32", "int64"])
@pytest.mark.parametrize("length", [0, 1, 2, 33, 600])
def test_short_lines_side_by_side(kind: str, length: int) -> None:
    rng = np.random.default_rng(length)
    x = rng.integers(0 if kind[0] == "u" else -9, 10, (3, 7, length)).astype(kind)
    if kind[0] == "f":
        x[rng.random(x.shape) < 0.2] *= -1
        x[rng.random(x.shape) < 0.1] = np.nan
    order = np.argsort(x, axis=-1, kind="stable")
    bits = f"u{x.itemsize}"
    for lines, axis in (
        (x, -1),
        (np.ascontiguousarray(np.moveaxis(x, -1, 0)), 0),
        (np.ascontiguousarray(np.moveaxis(x, -1, 1)), 1),
    ):
        got = np.moveaxis(wf.jit(lambda a, axis=axis: np.sort(a, axis))(lines), axis, -1)
        np.testing.assert_array_equal(np.ascontiguousarray(got).view(bits), np.take_along_axis(x, order, -1).view(bits))
        places = wf.jit(lambda a, axis=axis: np.argsort(a, axis, kind="stable"))(lines)
        np.testing.assert_array_equal(np.moveaxis(places, axis, -1), order)


LONG = 100_003  # sorted by parts


def long_line(kind: str, dtype: type) -> np.ndarray:
    draw = np.random.default_rng(7)
    x = {
        "normal": lambda: draw.normal(size=LONG) * 100,
        "few values": lambda: draw.integers(0, 5, LONG),
        "one value": lambda: np.full(LONG, 3),
        "sorted": lambda: np.arange(LONG) % 30_000,
        "reversed": lambda: np.arange(LONG)[::-1] // 4,
        "mostly one": lambda: np.where(draw.uniform(size=LONG) < 0.99, 1, draw.integers(0, 100, LONG)),
    }[kind]()
    x = x.astype(dtype)
    if np.issubdtype(dtype, np.floating):
        x[::977] = np.nan
        x[5::991], x[6::991], x[7::5003], x[8::5003] = 0.0, -0.0, np.inf, -np.inf
    return x


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.uint32, np.int8])
@pytest.mark.parametrize("kind", ["normal", "few values", "one value", "sorted", "reversed", "mostly one"])
def test_lines_that_are_sorted_by_parts(kind: str, dtype: type) -> None:
    x = long_line(kind, dtype)
    np.testing.assert_array_equal(wf.jit(np.sort)(x), np.sort(x))
    np.testing.assert_array_equal(wf.jit(lambda x: np.argsort(x, kind="stable"))(x), np.argsort(x, kind="stable"))
    two = np.stack([x, x[::-1]], axis=1)
    np.testing.assert_array_equal(wf.jit(lambda x: np.sort(x, axis=0))(two), np.sort(two, axis=0))
    with wf.knobs(threads=1):
        np.testing.assert_array_equal(wf.jit(np.sort)(x), np.sort(x))
    top, places = wf.jit(lambda x: wf.topk(x, 7))(np.nan_to_num(x))
    np.testing.assert_array_equal(top, np.sort(np.nan_to_num(x))[::-1][:7])
    np.testing.assert_array_equal(np.nan_to_num(x)[places], top)


@pytest.mark.parametrize("tests", [0, 200, 300, 5000])
@pytest.mark.parametrize("dtypes", ["dd", "ll", "fd", "ld", "BB", "bB", "Lq", "DD", "ee"])
def test_members_of_many(tests: int, dtypes: str) -> None:
    draw = np.random.default_rng(tests)
    x = (draw.normal(size=(70, 50)) * 300).astype(dtypes[0])
    among = (draw.normal(size=tests) * 300).astype(dtypes[1])
    for values in (x, among):
        if values.dtype.kind in "fc" and values.size:
            values.flat[0], values.flat[-1] = np.nan, 0
    for invert in (False, True):
        member = wf.jit(lambda x, among, invert=invert: np.isin(x, among, invert=invert))
        np.testing.assert_array_equal(member(x, among), np.isin(x, among, invert=invert))


def long_lines(dtype: Any) -> list[np.ndarray]:
    """Lengths about those of registers, networks and parts that threads take; few values, orders, both zeros and NaN."""
    rng = np.random.default_rng(6)
    lines = []
    for count in (1, 7, 16, 17, 64, 129, 256, 257, 1000, 4097, 70001, 1 << 20):
        drawn = rng.normal(size=count) * 1e6
        lines += [drawn.astype(dtype), rng.integers(0, 3, count).astype(dtype)]
        if count in (1000, 70001):
            lines += [np.sort(drawn).astype(dtype), np.sort(drawn)[::-1].astype(dtype), np.full(count, 7, dtype)]
        if np.dtype(dtype).kind == "f" and count > 7:
            odd = drawn.astype(dtype)
            odd[:: count // 5], odd[1 :: count // 7 + 1], odd[2 :: count // 3 + 1] = np.nan, -0.0, 0.0
            lines.append(odd)
    return lines


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u4", "u8"])
def test_long_lines_are_sorted(dtype: str) -> None:
    sort = wf.jit(lambda x: (np.sort(x), np.argsort(x, kind="stable")))
    for x in long_lines(dtype):
        ordered, places = sort(x)
        assert ordered.tobytes() == x[np.argsort(x, kind="stable")].tobytes(), x.size
        np.testing.assert_array_equal(places, np.argsort(x, kind="stable"))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u4", "u8"])
def test_what_stands_at_a_few_places_is_found(dtype: str) -> None:
    places = wf.jit(lambda x: (np.sort(x)[:1], np.sort(x)[-3:], np.sort(x)[x.size // 3]))
    quantiles = wf.jit(lambda x: (np.median(x), np.percentile(x, [1, 50, 99.5]), np.median(x.reshape(-1, 1), axis=0)))
    for x in long_lines(dtype):
        with np.errstate(invalid="ignore"):
            ordered = np.sort(x)
            for given, asked in zip(places(x), (ordered[:1], ordered[-3:], ordered[x.size // 3]), strict=True):
                np.testing.assert_array_equal(given, asked)
            asked = (np.median(x), np.percentile(x, [1, 50, 99.5]), np.median(x.reshape(-1, 1), axis=0))
            for given, number in zip(quantiles(x), asked, strict=True):
                np.testing.assert_allclose(given, number, rtol=1e-6)


@pytest.mark.parametrize("target", ["avx2", "x86-64"])
def test_narrower_vectors_sort_too(target: str, request: pytest.FixtureRequest) -> None:
    chosen = ("-k", "(long_lines_are or few_places or sorts) and not narrower", "-p", "no:cacheprovider", "-q")
    chosen += ("--share", str(request.config.getoption("share")))
    environment = {**os.environ, "WEFT_TARGET": target}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *chosen, __file__], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_medians_along_axes_of_long_lines() -> None:
    x = np.random.default_rng(8).normal(size=(3, 9001, 2))
    for axis in (0, 1, 2, (0, 1), (1, 2)):
        np.testing.assert_array_equal(wf.jit(lambda x, axis=axis: np.median(x, axis))(x), np.median(x, axis))
    x[1, 77, 0] = np.nan
    np.testing.assert_array_equal(wf.jit(lambda x: np.median(x, 1))(x), np.median(x, 1))
    np.testing.assert_array_equal(wf.jit(lambda x: np.nanmedian(x, 1))(x), np.nanmedian(x, 1))
