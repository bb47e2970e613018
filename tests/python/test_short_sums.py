"""Sums over short axes: vectors of results, small operands copied into the order in which they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weftwork as wf

random = np.random.default_rng(0)


def distances(x: Any, y: Any) -> Any:
    difference = x[:, None, :] - y[None, :, :]
    return np.sqrt((difference * difference).sum(axis=-1))


def gravity(place: Any, mass: Any) -> Any:
    away = place[None, :, :] - place[:, None, :]
    squared = (away * away).sum(axis=-1) + 1e-2
    return (away * (mass * squared**-1.5)[:, :, None]).sum(axis=1)


@pytest.mark.parametrize(
    "rows, columns, depth",
    [
        (33, 700, 5),
        (129, 257, 32),
        (40, 1000, 64),
        (1000, 17, 3),
        (64, 4097, 2),
        (12, 9001, 7),
        (700, 2, 2),
        (700, 9, 16),
        (700, 8, 40),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.complex64])
def test_between_all_pairs(rows: int, columns: int, depth: int, dtype: Any) -> None:
    x = (random.standard_normal((rows, depth)) * 9).astype(dtype)
    y = (random.standard_normal((columns, depth)) * 9).astype(dtype)
    for function in (distances, lambda x, y: (x[:, None] * y[None, :, ::-1]).sum(axis=-1)):
        if dtype == np.int8 and function is distances:
            continue  # NumPy's root of int8 is a float16
        want, found = function(x, y), wf.jit(function)(x, y)
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=1e-4 if dtype in (np.float32, np.complex64) else 1e-12, atol=1e-3)


@pytest.mark.parametrize("shape", [(1000, 3), (5, 7, 3), (4096, 2, 2), (777, 16), (3, 1000, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.bool_, np.complex128])
def test_of_one_array(shape: tuple, dtype: Any) -> None:
    x = (random.standard_normal(shape) * 3).astype(dtype)
    for function in (
        lambda x: x.sum(axis=-1),
        lambda x: x.prod(axis=-1),
        lambda x: x.all(axis=-1),
        lambda x: x.sum(axis=0),
    ):
        np.testing.assert_allclose(wf.jit(function)(x), function(x), rtol=1e-5, atol=1e-4)


def test_expensive_values_are_stored_before_they_are_repeated() -> None:
    place, mass = random.standard_normal((333, 3)), random.uniform(0.5, 1, 333)
    np.testing.assert_allclose(wf.jit(gravity)(place, mass), gravity(place, mass), rtol=1e-11)
    with_powers = [k for k in wf.compile(gravity, place, mass).kernels if "power" in k.ops]
    assert len(with_powers) == 1 and "reduce" in with_powers[0].ops
    x, y = random.standard_normal(300), random.standard_normal((300, 300))
    function = lambda x, y: np.exp(x) * y
    np.testing.assert_allclose(wf.jit(function)(x, y), function(x, y), rtol=1e-14)
    assert [k.ops for k in wf.compile(function, x, y).kernels] == [("exponential",), ("multiply",)]


def test_of_every_second_to_fifth_element() -> None:
    for dtype in (np.float32, np.float64, np.int8, np.float16):
        x = np.arange(1500).astype(dtype)
        for step in (2, 3, 4, 5):
            function = lambda x, step=step: x[step - 1 :: step] + x[: len(x) - step + 1 : step]
            np.testing.assert_array_equal(wf.jit(function, static_argnames="step")(x), function(x))


def test_of_symbolic_extents() -> None:
    n, m = wf.Dim("n", 1, 64, 4096), wf.Dim("m", 1, 300, 4096)
    jitted = wf.jit(distances, dynamic={"x": {0: n}, "y": {0: m}})
    for rows, columns in ((1, 1), (3, 70), (100, 333)):
        x, y = random.standard_normal((rows, 6)), random.standard_normal((columns, 6))
        np.testing.assert_allclose(jitted(x, y), distances(x, y), rtol=1e-13)
    pulled = wf.jit(gravity, dynamic={"place": {0: n}, "mass": {0: n}})
    for count in (1, 5, 100):
        place, mass = random.standard_normal((count, 3)), random.uniform(0.5, 1, count)
        np.testing.assert_allclose(pulled(place, mass), gravity(place, mass), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int8, np.int64, np.uint32])
@pytest.mark.parametrize("count", [1, 3, 16, 17, 64, 1000])
def test_places_of_extremes_are_found_and_compared_in_32_bits(count: int, dtype: type) -> None:
    x = np.random.default_rng(count).integers(0, max(2, count // 3), (37, count)).astype(dtype)
    if dtype == np.float32:
        x[1, count // 2 :] = np.nan
    for find in (np.argmin, np.argmax):
        for axis in (0, 1, None):
            place = wf.jit(lambda x, find=find, axis=axis: find(x, axis=axis))(x)
            np.testing.assert_array_equal(place, find(x, axis=axis))
            assert place.dtype == np.int64
        f = lambda x, find=find: (find(x, axis=1)[:, None] == np.arange(5), find(x, axis=0)[None] != 3)
        for got, wanted in zip(wf.jit(f)(x), f(x), strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", range(1, 8))
def test_few_elements_add_up_in_numpys_order(count: int, dtype: Any) -> None:
    for shape, axis in (
        ((count,), None),
        ((5, count), 1),
        ((40, count), -1),
        ((count, 9), 0),
        ((2, count), None) if count < 4 else ((1, count), None),
    ):
        for function in (lambda x: x.sum(axis=axis), lambda x: (x * 0.1).mean(axis=axis), lambda x: x.prod(axis=axis)):  # noqa: B023
            compiled = wf.compile(function, np.zeros(shape, dtype))
            for _ in range(10):
                x = random.standard_normal(shape).astype(dtype)
                np.testing.assert_array_equal(compiled(x), function(x))
