"""Eigenvectors and singular vectors have the signs and phases that NumPy's LAPACK gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

KINDS = [np.float64, np.complex128, np.float32, np.complex64]


def made(shape: tuple[int, ...], dtype: Any, how: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    a: Any = rng.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.normal(size=shape)
    if how == "positive":
        a = np.abs(a)
    if how == "triangle":
        a = np.triu(a)
    if how == "diagonal":
        a = np.eye(shape[-2], shape[-1]) * -np.arange(1, shape[-1] + 1)
    return a.astype(dtype)


def hermitian(a: np.ndarray) -> np.ndarray:
    return a + np.conj(np.swapaxes(a, -1, -2))


def apart(values: np.ndarray, bound: float) -> np.ndarray:
    """Which values are far from their neighbours and from 0: vectors of others are anybody's."""
    scale = np.max(np.abs(values), axis=-1, keepdims=True)
    far = np.abs(np.diff(values, axis=-1)) > bound * scale
    edge = np.ones((*values.shape[:-1], 1), bool)
    return np.concatenate([edge, far], -1) & np.concatenate([far, edge], -1) & (np.abs(values) > bound * scale)


def agree(actual: Any, wanted: Any, values: np.ndarray) -> None:
    """Rows of vectors, where the values are apart."""
    single = wanted.real.dtype == np.float32
    chosen = apart(values.astype(float), 3e-2 if single else 1e-3)
    np.testing.assert_allclose(actual[chosen], wanted[chosen], atol=3e-3 if single else 1e-8)


def rows(columns: np.ndarray, count: int) -> np.ndarray:
    return np.swapaxes(columns, -1, -2)[..., :count, :]


@pytest.mark.parametrize("dtype", KINDS, ids=lambda k: k.__name__)
@pytest.mark.parametrize(
    "shape", [(1, 1), (2, 2), (3, 3), (8, 8), (3, 5, 5), (25, 25), (26, 26), (40, 40), (60, 60), (110, 110)]
)
@pytest.mark.parametrize("uplo", ["L", "U"])
def test_eigenvectors(shape: tuple[int, ...], dtype: Any, uplo: str) -> None:
    for how in ("random", "positive", "triangle", "diagonal"):
        a = hermitian(made(shape, dtype, how, 11))
        values, vectors = np.linalg.eigh(a, uplo)
        found = wf.jit(lambda a: np.linalg.eigh(a, uplo))(a)
        agree(rows(found.eigenvectors, shape[-1]), rows(vectors, shape[-1]), values)


@pytest.mark.parametrize("dtype", KINDS, ids=lambda k: k.__name__)
@pytest.mark.parametrize(
    "shape",
    [
        (1, 1),
        (2, 2),
        (5, 5),
        (6, 4),
        (4, 6),
        (12, 5),
        (5, 12),
        (2, 3, 4),
        (25, 25),
        (26, 26),
        (30, 20),
        (20, 30),
        (53, 53),
        (60, 26),
        (26, 60),
    ],
)
@pytest.mark.parametrize("full", [True, False])
def test_singular_vectors(shape: tuple[int, ...], dtype: Any, full: bool) -> None:
    for how in ("random", "positive", "triangle", "diagonal"):
        a = made(shape, dtype, how, 5)
        u, s, vt = np.linalg.svd(a, full)
        found = wf.jit(lambda a: np.linalg.svd(a, full))(a)
        agree(rows(found.U, s.shape[-1]), rows(u, s.shape[-1]), s)
        agree(found.Vh[..., : s.shape[-1], :], vt[..., : s.shape[-1], :], s)


@pytest.mark.parametrize("dtype", KINDS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("function", [np.linalg.qr, lambda a: np.linalg.qr(a, "complete")], ids=["reduced", "complete"])
def test_orthogonal_factors(function: Callable[..., Any], dtype: Any) -> None:
    for shape in ((1, 1), (3, 3), (6, 4), (4, 6), (2, 5, 3), (60, 50)):
        a = made(shape, dtype, "random", 7)
        for found, wanted in zip(wf.jit(function)(a), function(a), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-4 if found.real.dtype == np.float32 else 1e-10)
