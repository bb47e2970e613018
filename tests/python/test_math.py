"""Elementary functions of float16 and bfloat16 at every number, and what docs/math.md says of special values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from scipy import special

import weftwork as wf
from weftwork import _core

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exponential": np.exp, "exp2": np.exp2, "exponential_minus_one": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log_plus_one": np.log1p, "sine": np.sin, "cosine": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "logistic": special.expit, "erf": special.erf, "erfc": special.erfc,
    "erf_inv": lambda x: np.copysign(special.erfinv(x), x), "cbrt": np.cbrt, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip


def applied(name: str, *arrays: np.ndarray) -> np.ndarray:
    parameters = [_core.parameter(a.shape, a.dtype, f"x{i}") for i, a in enumerate(arrays)]
    result = _core.apply(name, parameters, None)
    graph = _core.record_graph("main", [(p, f"x{i}", -1) for i, p in enumerate(parameters)], [(result, "y", -1)])
    return _core.call(_core.compile(graph), arrays)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_small_floats_are_rounded_once(name: str, dtype: Any) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    info = ml_dtypes.finfo(dtype)
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](x.astype(np.float64))
        got = applied(name, x).astype(np.float64)
        unit = np.exp2(np.maximum(np.floor(np.log2(np.abs(exact))), info.minexp) - info.nmant)
        error = np.abs(got - exact) / unit
    assert np.array_equal(np.isnan(got), np.isnan(exact))
    assert np.array_equal(np.signbit(got)[exact == 0], np.signbit(exact)[exact == 0])
    limit = float(info.max) * (1 + 2.0 ** -(info.nmant + 2))  # what rounds to infinity
    finite = np.isfinite(exact) & (np.abs(exact) < limit) & (exact != 0)
    assert np.array_equal(
        got[~finite & ~np.isnan(exact)], np.where(exact == 0, 0, np.copysign(np.inf, exact))[~finite & ~np.isnan(exact)]
    )
    # Half a last place, and a few of float32's.
    assert np.all(error[finite] <= 0.5 + 4 * 2.0 ** (info.nmant - 23)), (
        x[finite][error[finite].argmax()],
        error[finite].max(),
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whole_powers_are_exact(dtype: Any) -> None:
    powers = np.arange(-30, 31)
    x = np.exp2(powers).astype(dtype)
    assert np.array_equal(wf.jit(lambda v: np.log2(v))(x), powers)
    assert np.array_equal(wf.jit(lambda v: np.exp2(v))(powers.astype(dtype)), x)
    assert np.array_equal(
        wf.jit(lambda v: np.log10(v))(np.array([1, 10, 100, 1000, 1e6, 1e10], dtype)), [0, 1, 2, 3, 6, 10]
    )
    roots = wf.jit(lambda v: np.cbrt(v))(np.array([0, 1, 8, -27, 1e3], dtype))
    np.testing.assert_allclose(roots, [0, 1, 2, -3, 10], rtol=np.finfo(dtype).eps)  # the C library's without FMA


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["power", "arctan2", "hypot"])
def test_special_pairs_are_numpys(name: str, dtype: Any) -> None:
    edges = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 0.5, -0.5, 2, 3, -3, 1e-38, 1e38], dtype)
    x, y = np.repeat(edges, len(edges)), np.tile(edges, len(edges))
    function = getattr(np, name)
    with np.errstate(all="ignore"):
        wanted, got = function(x, y), wf.jit(lambda a, b: function(a, b))(x, y)
    np.testing.assert_allclose(got, wanted, rtol=4 * np.finfo(dtype).eps, atol=0)
    known = ~np.isnan(wanted)
    assert np.array_equal(np.signbit(got)[known], np.signbit(wanted)[known])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", [1.5, -0.5, -1.5, 2.5, 0.5])
def test_special_values_by_constant_powers_are_numpys(exponent: float, dtype: Any) -> None:
    info = np.finfo(dtype)
    edges = [
        0.0,
        -0.0,
        1,
        -1,
        np.inf,
        -np.inf,
        np.nan,
        0.25,
        -2,
        9,
        info.max,
        -info.max,
        info.tiny,
        info.smallest_subnormal,
    ]
    x = np.array(edges, dtype)
    with np.errstate(all="ignore"):
        wanted, got = x**exponent, wf.jit(lambda v: v**exponent)(x)
    np.testing.assert_allclose(got, wanted, rtol=2 * info.eps, atol=0)
    known = ~np.isnan(wanted)
    assert np.array_equal(np.signbit(got)[known], np.signbit(wanted)[known])


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles_are_reduced_exactly(name: str) -> None:
    x = np.array([1e5, 131072.5, 1e10, 2.0**40, 2.0**41 + 1, 1e22, 1.7e308, 6381956970095103 * 2.0**797])
    if name == "tan":
        x = x[:-1]  # next to its pole the C library is some last places off
    function = getattr(np, name)
    np.testing.assert_allclose(wf.jit(lambda v: function(v))(x), function(x), rtol=1e-15)
    single = x[:6].astype(np.float32)
    np.testing.assert_allclose(wf.jit(lambda v: function(v))(single), function(single.astype(np.float64)), rtol=1.2e-7)
