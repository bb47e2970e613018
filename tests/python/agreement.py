"""What NumPy gives and what compiled and interpreted functions give, compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import weftwork as wf


def close(actual: Any, wanted: Any, ulps: float = 32) -> None:
    """Same structure, dtype and shape; floats within a few ulps of the greatest, others equal."""
    if isinstance(wanted, (tuple, list)):
        assert len(actual) == len(wanted)
        for a, w in zip(actual, wanted, strict=True):
            close(a, w, ulps)
        return
    a, w = np.asarray(actual), np.asarray(wanted)
    assert a.dtype == w.dtype, (a.dtype, w.dtype)
    assert a.shape == w.shape, (a.shape, w.shape)
    if w.dtype.kind in "fc":
        eps = np.finfo(w.dtype).eps
        scale = np.nanmax(np.abs(np.where(np.isfinite(w), w, 0)), initial=0)
        np.testing.assert_allclose(a, w, rtol=ulps * eps, atol=float(ulps * eps * scale))
    else:
        np.testing.assert_array_equal(a, w)


def agrees(function: Callable[..., Any], args: tuple, ulps: float = 32) -> None:
    """jit and simulate give what NumPy gives."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = function(*args)
        close(wf.jit(function)(*args), wanted, ulps)
        close(wf.simulate(function)(*args), wanted, ulps)
