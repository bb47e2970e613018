"""Large matrices are left to the LAPACK of NumPy: its results, and those of what is built in."""

import numpy as np
import pytest

import weftwork as wf
from weftwork import _core

DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def matrix(dtype: type, *shape: int) -> np.ndarray:
    draw = np.random.default_rng(len(shape) + sum(shape))
    x = draw.normal(size=shape)
    return (x + 1j * draw.normal(size=shape) if np.issubdtype(dtype, np.complexfloating) else x).astype(dtype)


def definite(dtype: type, n: int) -> np.ndarray:
    a = matrix(dtype, n, n)
    return a @ a.conj().T + n * np.eye(n, dtype=dtype)


FUNCTIONS = {
    "inv": lambda a, s, b: np.linalg.inv(a),
    "solve a vector": lambda a, s, b: np.linalg.solve(a, b[:, 0]),
    "solve": lambda a, s, b: np.linalg.solve(a, b),
    "det": lambda a, s, b: np.linalg.det(a / 10),
    "cholesky": lambda a, s, b: np.linalg.cholesky(s),
    "cholesky, upper": lambda a, s, b: np.linalg.cholesky(s, upper=True),
    "qr": lambda a, s, b: np.linalg.qr(a),
    "qr of a wide matrix": lambda a, s, b: np.linalg.qr(b.T),
    "complete qr": lambda a, s, b: np.linalg.qr(b, mode="complete"),
    "eigh": lambda a, s, b: np.linalg.eigh(s),
    "eigh of the upper triangle": lambda a, s, b: np.linalg.eigh(s, UPLO="U"),
    "eigvalsh": lambda a, s, b: np.linalg.eigvalsh(s),
    "svd": lambda a, s, b: np.linalg.svd(b, full_matrices=False),
    "full svd": lambda a, s, b: np.linalg.svd(b),
    "svd of a wide matrix": lambda a, s, b: np.linalg.svd(b.T, full_matrices=False),
    "singular values": lambda a, s, b: np.linalg.svd(a, compute_uv=False),
    "lstsq": lambda a, s, b: np.linalg.pinv(b),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("lapack", [True, False])
def test_large_matrices(name: str, dtype: type, lapack: bool) -> None:
    function, n = FUNCTIONS[name], 261
    args = matrix(dtype, n, n) + 3 * np.eye(n, dtype=dtype), definite(dtype, n), matrix(dtype, n, n - 40)
    want = function(*args)
    with wf.knobs(lapack=lapack):
        got = wf.jit(function)(*args)
    tolerance = 2e-3 if np.finfo(dtype).bits == 32 else 1e-9
    for g, w in zip(got if isinstance(got, tuple) else [got], want if isinstance(want, tuple) else [want], strict=True):
        assert g.dtype == w.dtype and g.shape == w.shape
        if not lapack and g.ndim == 2:  # vectors up to their signs
            g, w = np.abs(g), np.abs(w)
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance * np.abs(w).max())


ELEMENTS = {np.float32: "f32", np.float64: "f64", np.complex64: "complex<f32>", np.complex128: "complex<f64>"}
OPERATIONS = {
    "NO_TRANSPOSE": lambda a: a,
    "TRANSPOSE": lambda a: a.T,
    "ADJOINT": lambda a: a.conj().T,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("count", [1, 5])
def test_triangles(dtype: type, operation: str, left: bool, lower: bool, unit: bool, count: int) -> None:
    n = 90
    a = matrix(dtype, n, n) / 20 + 3 * np.eye(n, dtype=dtype)
    b = matrix(dtype, n, count) if left else matrix(dtype, count, n)
    square, sides = (f"tensor<{x.shape[0]}x{x.shape[1]}x{ELEMENTS[dtype]}>" for x in (a, b))
    text = f"""func.func @main(%a: {square}, %b: {sides}) -> {sides} {{
      %x = "stablehlo.triangular_solve"(%a, %b) {{left_side = {str(left).lower()}, lower = {str(lower).lower()},
        unit_diagonal = {str(unit).lower()}, transpose_a = #stablehlo<transpose {operation}>}} : ({square}, {sides}) -> {sides}
      return %x : {sides}
    }}"""
    solve = wf.compile(wf.stablehlo.parse(text))
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    triangle = OPERATIONS[operation](triangle)
    for lapack in (True, False):
        with wf.knobs(lapack=lapack):
            x = solve(a, b)
        tolerance = 1e-3 if b.dtype.itemsize // (1 + np.iscomplexobj(b)) == 4 else 1e-11
        np.testing.assert_allclose(triangle @ x if left else x @ triangle, b, rtol=tolerance, atol=tolerance)


def test_what_has_no_factors() -> None:
    singular, nan = np.ones((80, 80)), np.full((80, 80), np.nan)
    for function in (np.linalg.inv, lambda a: np.linalg.solve(a, a)):
        with pytest.raises(np.linalg.LinAlgError):
            wf.jit(function, strict=False)(singular)
    with pytest.raises(np.linalg.LinAlgError):
        wf.jit(np.linalg.cholesky, strict=False)(-np.eye(300))
    for function in (np.linalg.eigvalsh, lambda a: np.linalg.svd(a, compute_uv=False)):
        with pytest.raises(np.linalg.LinAlgError):
            wf.jit(function, strict=False)(nan)
    stack = np.stack([matrix(np.float64, 70, 70), np.eye(70)])
    np.testing.assert_allclose(wf.jit(np.linalg.inv)(stack), np.linalg.inv(stack), rtol=1e-9)
    assert wf.jit(np.linalg.inv)(stack[:0]).shape == (0, 70, 70)


def test_a_library_without_lapack() -> None:
    assert not _core.use_lapack("/nowhere.so")
    assert not _core.use_lapack(np.random._pcg64.__file__)
