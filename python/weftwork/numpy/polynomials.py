"""Polynomials from points and from roots; their values, sums and derivatives are in calculus."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import own
from .dispatch import implements
from .functions import solid
from .selection import fixed_extent
from .tracer import raise_here


@implements(np.polyfit)
def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """Without the warning about a small rank, which is known only when the program runs."""
    order = deg.__index__() + 1
    points, values = solid(x) + 0.0, solid(y) + 0.0
    if order < 1:
        raise_here(ArgumentValueError, "expected deg >= 0", "polyfit_degree")
    if points.ndim != 1 or values.ndim not in (1, 2):
        raise_here(
            ArgumentTypeError,
            f"expected 1D vector for x and 1D or 2D array for y, got shapes {points.shape} and {values.shape}",
            "polyfit_rank",
        )
    count = fixed_extent(points, 0, "polyfit")
    if not count or count != values.shape[0]:
        raise_here(
            ArgumentTypeError,
            f"expected x and y to have same length, at least 1, got {points.shape[0]} and {values.shape[0]}",
            "polyfit_length",
        )
    rcond = count * np.finfo(points.dtype).eps if rcond is None else rcond
    powers: Any = np.vander(points, order)
    if w is not None:
        weights = solid(w) + 0.0
        if weights.shape != (count,):
            raise_here(
                ArgumentTypeError,
                f"expected a 1-d array of {count} weights, got shape {weights.shape}",
                "polyfit_weights",
            )
        powers = (powers * weights[:, None]).astype(powers.dtype)
        values = (values * (weights[:, None] if values.ndim == 2 else weights)).astype(values.dtype)
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    powers = powers / scale
    found, residuals, rank, s = np.linalg.lstsq(powers, values, rcond)
    found = (found.T / scale).T
    if full:
        return found, residuals, rank, s, rcond
    if not cov:
        return found
    base = np.linalg.inv(np.dot(powers.T, powers)) / np.outer(scale, scale)
    if cov != "unscaled":
        if count <= order:
            raise_here(
                ArgumentValueError,
                "the number of data points must exceed order to scale the covariance matrix",
                "polyfit_covariance",
            )
        factor = residuals / (count - order)
        return found, base * factor if values.ndim == 1 else base[:, :, None] * factor
    return found, base if values.ndim == 1 else base[:, :, None]


@implements(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """Of real roots."""
    roots = np.atleast_1d(solid(seq_of_zeros))
    if roots.ndim != 1 or roots.dtype.kind == "c":
        raise_here(
            UnsupportedError,
            "numpy.poly of complex roots or of a matrix cannot be compiled: it gives real or complex coefficients as the values have it; write the product with np.convolve",
            "dynamic_result_dtype",
        )
    if roots.dtype.kind != "f" or roots.dtype == np.float16:
        roots = roots.astype(np.float64)
    if not fixed_extent(roots, 0, "poly"):
        return 1.0
    result: Any = own.ones(1, roots.dtype)
    zero = own.zeros(1, roots.dtype)
    for root in roots:
        result = np.concatenate([result, zero]) - root * np.concatenate([zero, result])
    return result
