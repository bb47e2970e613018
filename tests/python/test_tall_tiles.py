"""Products by packed weights: tiles of up to 14 rows, rows fetched ahead, and quotients by what a column has in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weftwork as wf


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_rows_give_the_same_bits_in_tiles_of_any_height(target: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    x, w = ((9 * rng.standard_normal(shape)).astype(dtype) for shape in ((700, 300), (300, 70)))
    product = lambda x: wf.compile(lambda x: x @ w, x)(x)
    whole = product(x)
    np.testing.assert_allclose(whole, x.astype(np.float64) @ w, rtol=1e-3, atol=1e-2)
    for rows in (13, 14, 25, 26, 27, 28, 41, 49, 98, 196, 513):
        assert product(x[:rows].copy()).tobytes() == whole[:rows].tobytes(), rows


@pytest.mark.parametrize("width", [7, 13, 14, 27, 28])
def test_convolutions_over_lines_of_any_width(target: str, width: int) -> None:
    rng = np.random.default_rng(width)
    x = rng.standard_normal((2, 40, 9, width)).astype(np.float32)
    w = rng.standard_normal((48, 40, 3, 3)).astype(np.float32)
    around = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3), (2, 3))
    expected = np.einsum("bchwij,ocij->bohw", windows, w.astype(np.float64))
    np.testing.assert_allclose(wf.compile(lambda x: wf.conv2d(x, w, padding=1), x)(x), expected, atol=1e-4)


def hard_numbers(dtype: Any, count: int) -> np.ndarray:
    """Of every magnitude, with mantissas of few and of all bits, both zeros, subnormal numbers, infinities and NaN."""
    rng, info = np.random.default_rng(count), np.finfo(dtype)
    kinds = {np.float32: (np.uint32, 23), np.float64: (np.uint64, 52)}
    word, mantissa = kinds[dtype]
    bits = rng.integers(0, np.iinfo(word).max, count, dtype=word)
    low = word((1 << mantissa) - 1)
    bits[::3] = (bits[::3] & ~low) | (rng.integers(0, 4, len(bits[::3])).astype(word))
    bits[1::3] |= low - (bits[1::3] & word(3))
    values = bits.view(dtype)
    values = np.where(np.isfinite(values), values, dtype(1))
    values[::2] = np.ldexp(np.frexp(values[::2])[0], rng.integers(-20, 20, len(values[::2])))
    values[:9] = [0.0, -0.0, np.inf, -np.inf, np.nan, info.tiny, info.smallest_subnormal, info.max, -1]
    return values


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [512, 500])
def test_quotients_by_columns_are_those_of_numpy(target: str, dtype: Any, columns: int) -> None:
    numerators, divisors = hard_numbers(dtype, 2001), hard_numbers(dtype, columns)
    ordinary = np.ldexp(np.frexp(np.where(np.isfinite(divisors) & (divisors != 0), divisors, 1))[0], 3).astype(dtype)
    x = np.zeros((len(numerators), 4), dtype)
    x[:, 0] = numerators
    w = np.zeros((4, columns), dtype)
    w[0] = 1
    with np.errstate(all="ignore"):
        sums = x[:, :1] * w[:1] + dtype(0)
        for by in (divisors, ordinary):
            found = wf.compile(lambda x, by: np.maximum((x @ w) / by, -np.inf), x, by)(x, by)
            np.testing.assert_array_equal(found, np.maximum(sums / by, -np.inf))
            for rows in (1, 3, 5):
                few = wf.compile(lambda x, by: (x @ w) / by, x[:rows].copy(), by)(x[:rows].copy(), by)
                np.testing.assert_array_equal(few, sums[:rows] / by)
