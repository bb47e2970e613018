"""Chains of float16 and bfloat16 operations: NumPy's bits, whether or not all numbers are within the bounds of quick rounding."""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf

random = np.random.default_rng(11)
DTYPES = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]


def polynomial(x: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    half, third = x.dtype.type(0.5), x.dtype.type(1 / 3)
    y = (x + row) * column
    y = np.maximum(y - half * row, -2) * (row - column)
    y = (y + x) * x - column * row
    return np.minimum(np.abs(y), 8) + third * x


def signs(x: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Products whose zeros keep their signs, and sums that hide them."""
    tiny, two = x.dtype.type(2.0**-9), x.dtype.type(-2)
    y = x * row * tiny
    z = np.where(x > row, -y, y * column)
    z = np.where(z < row, z * tiny, column * tiny) * row * tiny
    return (z * tiny - x * two * tiny) * tiny * tiny


def cancelling(x: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    y = x + row
    y = (y - x) * column - row * column
    y = (y - x) + (x - row)
    y = (y + row) * (x + column) - x * row
    return (y * y + x) * (x - row)


def mixed(x: np.ndarray, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Operations of every kind, each of what another gives; 1 more hides the sign of a zero, which extremes choose freely."""
    y = np.clip(x * row, -row, column) + np.floor(x) * np.sign(column)
    z = np.where((y > x) & (row != column), np.minimum(y, column), np.ceil(-x) - np.rint(row * 3))
    z = np.maximum(z, np.abs(y)) * (x / (row + column)) - np.sqrt(np.abs(z))
    return (np.where(z <= y, np.fmax(z, row), np.fmin(x, column) * y + z) + x.dtype.type(1)).astype(x.dtype)


def awkward(shape: tuple[int, ...], dtype: np.dtype, some: float) -> np.ndarray:
    values = random.standard_normal(shape).astype(np.float32)
    specials = np.array(
        [0, -0.0, np.inf, -np.inf, np.nan, 1e-7, -6e-8, 3e-5, 6e4, -1e38, 1e-40, 2.0**-126, 300, 1e3], np.float32
    )
    where = random.random(shape) < some
    values[where] = random.choice(specials, int(where.sum()))
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def assert_same_bits(got: np.ndarray, wanted: np.ndarray) -> None:
    assert got.dtype == wanted.dtype
    nan = np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(got), nan)
    np.testing.assert_array_equal(got.view(np.uint16)[~nan], wanted.view(np.uint16)[~nan])


@pytest.mark.parametrize("function", [polynomial, signs, cancelling, mixed], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("some", [0.0, 0.0005, 0.2])
def test_chains(function: Callable, dtype: np.dtype, some: float) -> None:
    for rows, columns in ((300, 512), (70, 1000), (3, 7), (1, 1), (9, 0)):
        args = awkward((rows, columns), dtype, some), awkward((columns,), dtype, some), awkward((rows, 1), dtype, some)
        with np.errstate(all="ignore"):
            wanted = function(*args)
        assert_same_bits(wf.jit(function)(*args), wanted)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("some", [0, 0.003])
def test_a_large_chain(dtype: np.dtype, some: float) -> None:
    """More vectors at a time, and what all rows have in common kept, within the bounds or not."""
    args = awkward((1100, 1024), dtype, 1e-5), awkward((1024,), dtype, some), awkward((1100, 1), dtype, 1e-3)
    with np.errstate(all="ignore"):
        wanted = polynomial(*args)
    assert_same_bits(wf.jit(polynomial)(*args), wanted)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_other_operands(dtype: np.dtype) -> None:
    """Elements of another type at places that do not step by one."""
    args = (
        awkward((64, 1024), dtype, 0),
        awkward((1024,), dtype, 0),
        awkward((64, 1), dtype, 0),
        random.random(512) < 0.5,
    )

    def function(x: np.ndarray, row: np.ndarray, column: np.ndarray, some: np.ndarray) -> np.ndarray:
        y = cancelling(x, row, column)
        return np.where(np.repeat(some, 2), y + x, y - x)

    with np.errstate(all="ignore"):
        wanted = function(*args)
    assert_same_bits(wf.jit(function)(*args), wanted)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_small_numbers(dtype: np.dtype) -> None:
    """Sums and products at the lower end, where float16 has fewer digits."""
    x = np.arange(2**16, dtype=np.uint16).view(dtype).reshape(64, 1024)
    x = x[(np.abs(x.astype(np.float32)) <= 8).all(axis=1)]
    for exponent in (0, -3, -8, -13):
        row, column = (
            awkward((1024,), dtype, 0.0),
            (awkward((len(x), 1), dtype, 0.0) * dtype.type(2.0**exponent)).astype(dtype),
        )
        with np.errstate(all="ignore"):
            wanted = cancelling(x, row, column), signs(x, row, column)
        assert_same_bits(wf.jit(cancelling)(x, row, column), wanted[0])
        assert_same_bits(wf.jit(signs)(x, row, column), wanted[1])


@pytest.mark.parametrize("shape", [(64, 1024), (130, 300), (3, 7), (5, 129), (70000,)])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("numbers", ["all", "positive", "negative", "zeros", "NaN"])
def test_extremes_of_every_pattern(shape: tuple[int, ...], dtype: np.dtype, numbers: str) -> None:
    """Of signed and unsigned patterns, with and without NaN; the tail of a row too."""

    def extremes(x: np.ndarray) -> tuple[np.ndarray, ...]:
        wide = x.astype(np.float32)
        most = wide.max(axis=-1, keepdims=True)
        return x.max(axis=-1), x.min(axis=-1), wide.min(axis=-1), np.exp(wide - most).max(axis=-1), x.max()

    patterns = random.integers(0, 1 << 16, shape).astype(np.uint16)
    patterns = {"positive": patterns & 0x7FFF, "negative": patterns | 0x8000, "zeros": patterns & 0x8000}.get(
        numbers, patterns
    )
    x = patterns.view(dtype)
    if numbers != "NaN":
        x[np.isnan(x)] = -1 if numbers == "negative" else 1
    with np.errstate(all="ignore"):
        wanted = extremes(x)
    for got, want in zip(wf.jit(extremes)(x), wanted):
        assert np.asarray(got).dtype == want.dtype
        np.testing.assert_allclose(np.float64(got), np.float64(want), rtol=3e-7 if want.dtype == np.float32 else 0)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_extremes_of_nothing(dtype: np.dtype) -> None:
    """An empty extent, known or not, leaves what the caller begins with."""

    def extremes(x: np.ndarray) -> tuple[np.ndarray, ...]:
        return (
            x.max(axis=-1, initial=-5),
            x.min(axis=-1, initial=5),
            x.max(initial=-7),
            x.astype(np.float32).max(-1, initial=3),
        )

    columns = wf.Dim("n", 0, 50, 1000)
    for function in (wf.jit(extremes), wf.jit(extremes, dynamic={"x": {1: columns}})):
        for x in (np.zeros((4, 0), dtype), np.full((4, 37), -6, dtype), np.full((4, 37), 6, dtype)):
            for got, want in zip(function(x), extremes(x), strict=True):
                np.testing.assert_array_equal(np.float64(got), np.float64(want))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_extremes_that_pass_over_nan(dtype: np.dtype) -> None:
    x = random.normal(size=(5, 40)).astype(dtype)
    x[:, ::3] = np.nan
    for function in (np.nanmax, np.nanmin):
        np.testing.assert_array_equal(
            np.float64(wf.jit(lambda x, f=function: f(x, axis=-1))(x)), np.float64(function(x, axis=-1))
        )


def test_bfloat16_of_subnormal_numbers() -> None:
    """Stores round them too, one among others: the CPU's instruction would take them for zero."""
    patterns = random.integers(0, 1 << 32, (64, 1000), dtype=np.uint64).astype(np.uint32)
    patterns[::2, :] &= 0x80FFFFFF  # a half of these is subnormal
    patterns[1::4, 17] = 0x8001
    x = patterns.view(np.float32)
    with np.errstate(all="ignore"):
        assert_same_bits(
            wf.jit(lambda x: (x * np.float32(1)).astype(ml_dtypes.bfloat16))(x), x.astype(ml_dtypes.bfloat16)
        )
        rows = x * np.float32(2**-10)
        wanted = (rows - rows[:, :1]).astype(ml_dtypes.bfloat16)
    assert_same_bits(
        wf.jit(lambda x: (x * np.float32(2**-10) - x[:, :1] * np.float32(2**-10)).astype(ml_dtypes.bfloat16))(x), wanted
    )
