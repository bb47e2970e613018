"""Convolutions and products of windows by vectors, whose windows are read where they lie, and products of a matrix by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weftwork as wf

TYPES = ["f4", "f8", "i4", "i8", "c8", "c16", "?"]
windows = np.lib.stride_tricks.sliding_window_view


def near(given: Any, asked: Any) -> None:
    assert given.dtype == asked.dtype and given.shape == asked.shape
    tolerance = 2e-3 if asked.dtype in (np.float32, np.complex64) else 1e-9
    np.testing.assert_allclose(given, asked, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", TYPES)
def test_long_kernels(dtype: str, mode: str) -> None:
    """Beyond the ends of a signal nothing is multiplied: infinities of either reach no place where the other is not."""
    rng = np.random.default_rng(2)
    for count, taps in ((17, 17), (50, 49), (100, 20), (1001, 33), (1, 1), (33, 1001)):
        x, w = (rng.normal(size=n).astype(dtype) * np.ones(1, dtype) for n in (count, taps))
        if x.dtype.kind == "f" and taps > 2 and count > 3:
            x[3], w[2] = np.inf, -np.inf
        for function in (np.convolve, np.correlate):
            with np.errstate(invalid="ignore"):
                near(wf.jit(lambda x, w, f=function: f(x, w, mode))(x, w), function(x, w, mode))


@pytest.mark.parametrize("dtype", TYPES[:-1])
def test_windows_by_vectors(dtype: str) -> None:
    rng = np.random.default_rng(3)
    x, image = (10 * rng.normal(size=1000)).astype(dtype), (10 * rng.normal(size=(40, 33))).astype(dtype)
    for taps in (1, 2, 9, 64, 999):
        w = (10 * rng.normal(size=taps)).astype(dtype)
        near(wf.jit(lambda x, w: windows(x, len(w)) @ w)(x, w), windows(x, taps) @ w)
        near(wf.jit(lambda x, w: w @ windows(x, len(w))[::3].T)(x, w), w @ windows(x, taps)[::3].T)
    patch = (10 * rng.normal(size=(3, 5))).astype(dtype)
    filtered = lambda image, patch: np.einsum("ijkl,kl->ij", windows(image, patch.shape), patch)
    near(wf.jit(filtered)(image, patch), filtered(image, patch))
    filtered = lambda image, patch: np.tensordot(windows(image, patch.shape), patch, 2)[::2, 1:]
    near(wf.jit(filtered)(image, patch), filtered(image, patch))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4"])
def test_a_matrix_by_itself(dtype: str) -> None:
    """Half is computed: the same bits as of two matrices."""
    rng = np.random.default_rng(4)
    for rows, columns in ((256, 512), (300, 513), (1000, 520), (257, 2049)):
        x = (10 * rng.normal(size=(rows, columns))).astype(dtype)
        for function in (
            lambda x, y: x.T @ y,
            lambda x, y: np.ascontiguousarray(x.T) @ np.ascontiguousarray(y.T).T,
            lambda x, y: (x.T * 2 + 1) @ y,
        ):
            by_itself = wf.jit(lambda x, f=function: f(x, x))(x)
            np.testing.assert_array_equal(by_itself, wf.jit(function)(x, x.copy()))
    bias = rng.normal(size=513)
    x = rng.normal(size=(300, 513))
    centred = lambda x, bias: (x - x.mean(0)).T @ (x - x.mean(0)) / 299 + np.diag(bias)
    near(wf.jit(centred)(x, bias), centred(x, bias))
    near(wf.jit(np.cov)(x.T), np.cov(x.T))
