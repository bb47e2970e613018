"""Indices that run evenly: windows, ramps and their compositions, read as views where they lie within, as gathers where not."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view as windows

import weftwork as wf


def agree(function, *arrays, rtol=1e-5):
    wanted = function(*arrays)
    got = wf.jit(function)(*arrays)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=1e-4)


@st.composite
def ramps(draw, extent):
    """Start, steps and counts of indices with one or two dimensions, within -extent to extent - 1."""
    counts = draw(st.lists(st.integers(1, 5), min_size=1, max_size=2))
    steps = draw(st.lists(st.integers(-3, 3), min_size=len(counts), max_size=len(counts)))
    least = sum(min(0, s * (n - 1)) for s, n in zip(steps, counts, strict=True))
    most = sum(max(0, s * (n - 1)) for s, n in zip(steps, counts, strict=True))
    start = draw(st.integers(-extent - least, extent - 1 - most))
    index = np.full(counts, start)
    for axis, (step, count) in enumerate(zip(steps, counts, strict=True)):
        index += np.moveaxis(np.broadcast_to(step * np.arange(count), [*np.delete(counts, axis), count]), -1, axis)
    return index.astype(draw(st.sampled_from(["int8", "int32", "int64"])))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_ramps_of_constants(data):
    x = np.arange(31 * 17, dtype=np.float32).reshape(31, 17)
    rows, columns = data.draw(ramps(31)), data.draw(ramps(17))
    agree(lambda x: x[rows] + 1, x)
    agree(lambda x: np.take(x, columns, axis=1)[::-1, ...].sum(0), x)
    if rows.ndim == columns.ndim == 1:
        agree(lambda x: x[rows[:, None], columns] * 2, x)
        count = min(len(rows), len(columns))
        agree(lambda x: x[rows[:count], columns[:count]] * 2, x)


@pytest.mark.parametrize("shape", [(3, 3), (1, 5), (4, 2)])
def test_windows_in_products(shape):
    rng = np.random.default_rng(0)
    image, weight = (
        rng.standard_normal((3, 20, 23), dtype=np.float32),
        rng.standard_normal((7, 3, *shape), dtype=np.float32),
    )
    agree(lambda x, w: np.tensordot(w, windows(x, shape, (1, 2)), ((1, 2, 3), (0, 3, 4))), image, weight)
    agree(lambda x, w: np.tensordot(windows(x, shape, (1, 2))[:, ::2, 1::3], w, ((0, 3, 4), (1, 2, 3))), image, weight)
    agree(lambda x, w: np.einsum("ihwkl,oikl->ohw", windows(x, shape, (1, 2)), w), image, weight)

    def columns(x, w):
        parts = windows(x, shape, (1, 2))
        flat = parts.transpose(1, 2, 0, 3, 4).reshape(parts.shape[1] * parts.shape[2], -1)
        return flat @ w.reshape(7, -1).T

    agree(columns, image, weight)
    agree(lambda x, w: columns(x * 2 + 1, w), image, weight)
    last = np.ascontiguousarray(image.transpose(1, 2, 0))
    agree(lambda x, w: np.tensordot(windows(x, shape, (0, 1)), w, ((2, 3, 4), (1, 2, 3))), last, weight)


def test_windows_reduced():
    x = np.random.default_rng(1).standard_normal((5, 200))
    for size in (1, 7, 200):
        agree(lambda x, size=size: windows(x, size, 1).mean(-1), x)
        agree(lambda x, size=size: windows(np.exp(x), size, 1)[:, ::3].max(-1), x)
        agree(lambda x, size=size: np.swapaxes(windows(x, size, 1), 1, 2)[..., ::-1].std(1), x)


def test_places_past_the_end_raise():
    x = np.arange(10.0)
    for index in (np.arange(5, 13), np.arange(-12, -2), np.arange(20)[:, None] + np.arange(3)):

        def picked(x, index=index):
            return x[index] * 2

        for run in (wf.jit, wf.simulate):
            with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 10"):
                run(picked)(x)
        with wf.knobs(checks=False):
            np.testing.assert_array_equal(wf.jit(picked)(x), np.take(x, index + 10 * (index < 0), mode="clip") * 2)


def test_sizes_that_only_the_run_knows():
    f = wf.jit(lambda x: windows(x, 4, 0).sum(-1), dynamic={"x": {0: "n"}})
    for n in (4, 9, 50):
        x = np.arange(float(n))
        np.testing.assert_allclose(f(x), windows(x, 4).sum(-1))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u2", "i8", "f2", "?", "c8"])
@pytest.mark.parametrize("target", ["native", "avx2"])
def test_few_lines_become_elements_side_by_side(dtype: str, target: str) -> None:
    """Such as planes of colours the colours of each pixel, and those around the image."""
    rng = np.random.default_rng(6)
    with wf.knobs(target=target):
        for lines, n in itertools.product((2, 3, 4, 5), (1, 17, 64, 1000)):
            x = (50 * rng.standard_normal((lines, 2, n))).astype(dtype)
            turn = lambda x: (np.transpose(x, (1, 2, 0)), np.pad(np.transpose(x, (2, 1, 0)), ((1, 3), (0, 0), (0, 0))))
            for found, wanted in zip(wf.jit(turn)(x), turn(x), strict=True):
                np.testing.assert_array_equal(found, wanted, err_msg=f"{lines} {n}")
