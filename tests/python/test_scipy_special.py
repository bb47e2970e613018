"""SciPy's special functions of real numbers, compiled: values, dtypes and edges are SciPy's."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weftwork as wf
from weftwork import _core

special = pytest.importorskip("scipy.special")

NAMES = _core.special_names()
ONE = [name for name in NAMES if getattr(special, name).nin == 1]
TWO = [name for name in NAMES if getattr(special, name).nin == 2]
#: Where SciPy loses digits itself: the tails of erfc, and psi and gammaln near their roots and poles.
LOOSE = {"erfc": 2e-13, "ndtr": 2e-13, "psi": 2e-10, "gammaln": 1e-12}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 0.3, 0.65, 1e-8, -1e-8, 1e-300, 10.0, -10.0, 30.0, 170.6, 700.0,
         1e30, -1e30, np.inf, -np.inf, np.nan]  # fmt: skip


def same(found: np.ndarray, wanted: np.ndarray, name: str) -> None:
    assert found.dtype == wanted.dtype
    single = wanted.dtype == np.float32
    rtol = 1e-6 if single else LOOSE.get(name, 1e-13)
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-7 if single else 1e-15)
    zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))


def numbers(dtype: str) -> np.ndarray:
    random = np.random.default_rng(7)
    with np.errstate(over="ignore"):
        return np.concatenate(
            [EDGES, random.normal(size=200), random.normal(size=200) * 10, random.random(200)]
        ).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ONE)
@pytest.mark.filterwarnings("ignore")
def test_functions_of_one_number(name: str, dtype: str) -> None:
    function = getattr(special, name)
    x = numbers(dtype)
    same(wf.jit(lambda x: function(x))(x), function(x), name)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", TWO)
@pytest.mark.filterwarnings("ignore")
def test_functions_of_two_numbers(name: str, dtype: str) -> None:
    function = getattr(special, name)
    x, y = (value.ravel() for value in np.meshgrid(numbers(dtype)[:60], numbers(dtype)[-80:]))
    for a, b in ((x, y), (y, x), (x, x)):
        same(wf.jit(lambda x, y: function(x, y))(a, b), function(a, b), name)


@pytest.mark.parametrize("dtype", ["?", "b", "h", "i", "q", "B", "H", "Q", "e"])
@pytest.mark.parametrize("name", ONE + TWO)
@pytest.mark.filterwarnings("ignore")
def test_dtypes_are_those_of_scipys_loops(name: str, dtype: str) -> None:
    function = getattr(special, name)
    x = np.array([0, 1, 1], dtype)
    given = (x, x) if name in TWO else (x,)
    same(wf.jit(lambda *x: function(*x))(*given), function(*given), name)


def test_numbers_of_pythons_beside_arrays() -> None:
    x = np.array([0.5, 2], np.float32)
    for function in (
        lambda x: special.xlogy(x, 2.0),
        lambda x: special.huber(1, x),
        lambda x: special.rel_entr(x, x[0]),
    ):
        same(wf.jit(function)(x), function(x), "")


def test_a_gelu_and_functions_that_scipy_writes_in_python() -> None:
    x = np.random.default_rng(1).normal(size=(5, 7))
    for function in (
        lambda x: 0.5 * x * (1 + special.erf(x / math.sqrt(2))),
        lambda x: special.softmax(x, axis=1),
        lambda x: special.log_softmax(x, axis=0),
        lambda x: special.logsumexp(x, axis=1),
        lambda x: special.expit(x[0, 0]) * x,
    ):
        wanted = function(x)  # SciPy's caches are filled once
        np.testing.assert_allclose(wf.jit(function)(x), wanted, rtol=1e-13)


def test_complex_numbers_and_functions_that_are_not_recorded_run_by_scipy() -> None:
    z = np.array([1 + 2j, 0.5])
    x = np.array([1.5, 2.5])
    fast = wf.jit(lambda x: special.xlogy(x, x))
    np.testing.assert_allclose(fast(z), special.xlogy(z, z), rtol=1e-13)
    for function, value in ((lambda z: special.psi(z) * 2, z), (lambda x: special.gamma(x) * 2, x)):
        np.testing.assert_allclose(wf.jit(function, strict=False)(value), function(value), rtol=1e-15)
        with pytest.raises(wf.errors.UnsupportedError, match="cannot be compiled"):
            wf.trace(function, value)


def test_lazy_arrays() -> None:
    x = wf.asarray(np.array([0.0, 1.0]))
    assert isinstance(special.expit(x), wf.Tensor)
    np.testing.assert_allclose(special.expit(x), special.expit(np.array([0.0, 1.0])), rtol=1e-15)


def test_ufuncs_of_other_libraries_are_not_taken_for_numpys_of_that_name() -> None:
    from numpy._core._umath_tests import matmul

    a = np.arange(9.0).reshape(3, 3)
    with pytest.raises(wf.errors.UnsupportedError, match="the ufunc matmul"):
        wf.trace(lambda a: matmul(a, a), a)
    np.testing.assert_array_equal(wf.jit(lambda a: matmul(a, a), strict=False)(a), a @ a)


def test_ufuncs_of_numba() -> None:
    numba = pytest.importorskip("numba")

    @numba.vectorize(["float64(float64)"])
    def sqrt(a: float) -> float:
        return a * 3

    np.testing.assert_array_equal(sqrt(wf.asarray(np.arange(3.0))), [0, 3, 6])
