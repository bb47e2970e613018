"""Rows shorter than vectors, and axes that are turned: lanes are neighbouring rows, blocks of them move through registers."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf

random = np.random.default_rng(5)
DTYPES = [np.float32, np.float64, np.uint8, np.float16, ml_dtypes.bfloat16, np.bool_, np.complex64]


def of(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    return random.integers(0, 2 if dtype == np.bool_ else 60, shape).astype(dtype)


def check(function: Callable[..., Any], *arrays: np.ndarray) -> None:
    want, found = function(*arrays), wf.jit(function)(*arrays)
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("channels", [2, 3, 4, 7, 8, 9, 16, 33, 65])
def test_channels_first_and_last(channels: int, dtype: Any) -> None:
    places = [(40, 41), (7, 300), (64, 64)][channels % 3]
    first, last = of((channels, *places), dtype), of((*places, channels), dtype)
    check(lambda x: np.moveaxis(x, 0, -1).copy(), first)
    check(lambda x: np.moveaxis(x, -1, 0).copy(), last)
    if dtype != np.bool_:
        check(lambda x, y, z: (np.moveaxis(x, 0, -1) + y) * z, first, last, last[0, 0])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [2, 3, 4, 5, 6, 7, 8])
def test_maps_of_short_rows(width: int, dtype: Any) -> None:
    if dtype == np.bool_:
        return
    rows = [1500, 16 * 64 + 1, 3000][width % 3]
    x, wide = of((rows, width), dtype), of((rows, width + 2), dtype)
    check(lambda x, b, s: x * s[:, None] + b, x, x[0], x[:, 0].copy())
    check(lambda w: w[:, 1:-1] + w[:, :1], wide)
    check(lambda x: x[:, ::-1] * x, x)
    check(lambda w: w[:, 2:], wide)
    check(lambda x, w: x[::-1] + w[:, ::-1][:, 2:], x, wide)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32])
@pytest.mark.parametrize("width", [2, 3, 4, 5, 7, 8])
def test_rows_beside_their_sums(width: int, dtype: Any) -> None:
    for rows in (20, 16 * 64 + 5):
        x = of((rows, width), dtype) + dtype(1)
        check(lambda x: x - x.max(-1, keepdims=True), x)
        check(lambda x: (x * x).sum(-1, keepdims=True, dtype=x.dtype) + x, x)
        if dtype != np.int32:
            check(lambda x: x / x.sum(-1, keepdims=True), x)
            check(lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True)), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [2, 3, 4, 5, 7, 8, 9])
def test_parts_that_take_turns(count: int, dtype: Any) -> None:
    shape = [(3001,), (16, 64), (5, 700)][count % 3]
    parts = [of(shape, dtype) for _ in range(count)]
    check(lambda *p: np.stack(p, -1), *parts)
    check(lambda *p: np.stack(p, -1).reshape(-1), *parts)
    if dtype != np.bool_:
        check(lambda *p: np.stack([q + p[0] for q in p], -1), *parts)
    x = of((8, 600, 2), dtype)
    check(lambda x: np.stack([x[..., 1::2], x[..., ::2]], -1).reshape(x.shape), x)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.complex128])
def test_places_between_channels(dtype: Any) -> None:
    for size in (3, 48):
        x = of((2, 4, 2, 2, size, 50), dtype)
        check(lambda x: x.transpose(0, 1, 4, 2, 5, 3).reshape(2, 4, 2 * x.shape[4], 100), x)
        check(lambda x, b: x.transpose(0, 1, 4, 2, 5, 3) + b[:, None, None, None, None], x, x[0, :, 0, 0, 0, 0])
        y = of((2, 4, size, 50, 2, 2), dtype)
        check(lambda y: y.transpose(0, 1, 2, 4, 3, 5).reshape(2, 4, 2 * y.shape[2], 100), y)


@pytest.mark.parametrize("shape", [("n", 3), (3, "n"), ("n", 8), (8, "n"), ("n", 2, 40), (3, 1, "n"), ("n", 5, 3)])
def test_of_symbolic_extents(shape: tuple[Any, ...]) -> None:
    n = wf.Dim("n", 0, 5000)

    def turned(x: Any) -> Any:
        return np.moveaxis(x, 0, -1) + x.dtype.type(1), np.moveaxis(x, -1, 0) * x.dtype.type(2), x[..., ::-1] + x

    for dtype in ("float32", "uint8"):
        program = wf.compile(turned, wf.spec(tuple(n if extent == "n" else extent for extent in shape), dtype))
        for count in (0, 1, 15, 16, 17, 64, 65, 1000):
            x = of(tuple(count if extent == "n" else extent for extent in shape), np.dtype(dtype))
            for found, want in zip(program(x), turned(x), strict=True):
                np.testing.assert_array_equal(found, want)


def test_results_too_large_for_the_caches() -> None:
    for dtype, side in ((np.float32, 2400), (np.uint8, 4100)):
        x = of((3, side, side), dtype)
        check(lambda x: np.moveaxis(x, 0, -1) + x.dtype.type(1), x)
