"""Stencils over computed values: what is computed again at several shifts, what is stored, and NumPy's bits either way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf


def laplacian(a: Any) -> Any:
    return a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1] - 4 * a[1:-1, 1:-1]


def diffusion(field: Any) -> Any:
    lap = laplacian(field)
    flux = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flux = np.where(flux * (field[2:-1, 2:-2] - field[1:-2, 2:-2]) > 0, 0.0, flux)
    along = lap[1:-1, 1:] - lap[1:-1, :-1]
    along = np.where(along * (field[2:-2, 2:-1] - field[2:-2, 1:-2]) > 0, 0.0, along)
    return field[2:-2, 2:-2] - 0.1 * (flux[1:] - flux[:-1] + along[:, 1:] - along[:, :-1])


def box(a: Any) -> Any:
    rows = a[:, :-2] + a[:, 1:-1] + a[:, 2:]
    return rows[:-2] + rows[1:-1] + rows[2:]


def far_along(a: Any) -> Any:
    return box(box(laplacian(laplacian(a))))


def of_exponentials(a: Any) -> Any:
    return laplacian(np.exp(-a))


def across(a: Any) -> Any:
    """Shifts of what is turned, repeated, strided and padded."""
    turned = (a * 2 - 1).T
    sums = turned[1:, :-1] + turned[:-1, 1:]
    lines = a[0] * 3 + a[1]
    every = (a * a)[::2, 1::3]
    padded = np.pad(a + 1, 1)
    return sums.T, lines[None, 1:] - lines[:-1, None][:5], every[1:] - every[:-1], padded[2:] * padded[:-2]


def kernels(function: Callable[..., Any], *args: Any) -> int:
    return len(wf.compile(function, *args).kernels)


@pytest.mark.parametrize("function", [diffusion, box, far_along, across])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(9, 14), (64, 37), (700, 411)])
def test_stencils_over_stencils_are_numpys(function: Callable[..., Any], dtype: type, shape: tuple[int, int]) -> None:
    x = np.random.default_rng(3).random(shape).astype(dtype)
    wanted = function(x)
    for dynamic in (None, {"a" if function is not diffusion else "field": {0: wf.Dim("n", 9, 64, 4096)}}):
        found = wf.jit(function, dynamic=dynamic)(x)
        for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_little_work_is_done_again_rather_than_sent_through_memory() -> None:
    large, small = np.zeros((700, 411)), np.zeros((64, 37))
    assert kernels(diffusion, large) == 1  # two levels of stencils, of 5 places each
    assert kernels(box, small) == 1
    assert kernels(of_exponentials, large) == 2
    assert kernels(far_along, large) > 1  # it would be 25 places of 25
