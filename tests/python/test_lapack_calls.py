"""LAPACK's functions as JAX calls them in StableHLO: they run as JAX runs them, and wrong shapes never reach a routine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weftwork as wf

jax = pytest.importorskip("jax")
L = jax.lax.linalg


def adjoint(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


#: Those whose results are the only ones there are.
UNIQUE: dict[str, Callable[..., Any]] = {
    "hessenberg": L.hessenberg,
    "tridiagonal": lambda x: L.tridiagonal(x + adjoint(x)),
    "tridiagonal_upper": lambda x: L.tridiagonal(x + adjoint(x), lower=False),
    "qr": lambda x: L.qr(x, full_matrices=True),
    "lu": L.lu,
    "cholesky": lambda x: L.cholesky(x @ adjoint(x) + 5 * jax.numpy.eye(x.shape[-1])),
    "singular_values": lambda x: L.svd(x, compute_uv=False),
    "singular_values_qr": lambda x: L.svd(x, compute_uv=False, algorithm=L.SvdAlgorithm.QR),
    "solve_left": lambda x: L.triangular_solve(x, x[..., :2], left_side=True, lower=True),
    "solve_right": lambda x: L.triangular_solve(x, x[..., :2, :]),
    "tridiagonal_solve": lambda x: L.tridiagonal_solve(x[..., 0], x[..., 1] + 9, x[..., 2], x),
}
SHAPES = [(4, 4), (2, 3, 5, 5), (0, 4, 4)]
DTYPES = [np.float32, np.float64, np.complex64, np.complex128]


def numbers(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    random = np.random.default_rng(5)
    x = random.standard_normal(shape)
    return (x + 1j * random.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def both_ways(function: Callable[..., Any], x: np.ndarray) -> tuple[list[list[np.ndarray]], list[np.ndarray]]:
    """The results of the interpreter and of machine code, and JAX's."""
    with jax.enable_x64(True):
        compiled = jax.jit(function)
        text, wanted = compiled.lower(x).as_text(), jax.tree.leaves(compiled(x))
    graph = wf.stablehlo.parse(text)
    ways = [wf.simulate(graph)(x), wf.compile(graph)(x)]
    return [list(way) if isinstance(way, tuple) else [way] for way in ways], [np.asarray(w) for w in wanted]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", UNIQUE)
def test_results_are_jaxs(name: str, shape: tuple[int, ...], dtype: Any) -> None:
    if name == "tridiagonal_solve" and np.dtype(dtype).kind == "c":
        pytest.skip("JAX takes real numbers")
    ways, wanted = both_ways(UNIQUE[name], numbers(shape, dtype))
    tolerance = 2000 * float(np.finfo(dtype).eps)
    for got in ways:
        assert len(got) == len(wanted)
        for g, w in zip(got, wanted, strict=True):
            assert g.dtype == w.dtype
            np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [*SHAPES, (1, 1)], ids=str)
def test_schur_gives_the_matrix_back(shape: tuple[int, ...], dtype: Any) -> None:
    # Eigenvalues may come in any order.
    x = numbers(shape, dtype)
    tolerance = 2000 * float(np.finfo(dtype).eps)
    for t, z in both_ways(L.schur, x)[0]:
        np.testing.assert_allclose(z @ t @ adjoint(z), x, atol=tolerance)
        np.testing.assert_allclose(z @ adjoint(z), np.broadcast_to(np.eye(shape[-1]), shape), atol=tolerance)
        assert not np.tril(t, -1 if np.dtype(dtype).kind == "c" else -2).any()


SCHUR = """func.func @main(%x: tensor<5x5xf64>) -> (tensor<5x5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<i32>) {
  %0:6 = stablehlo.custom_call @lapack_dgees_ffi(%x) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}} : (tensor<5x5xf64>) -> (tensor<5x5xf64>, tensor<5x5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<i32>, tensor<i32>)
  return %0#0, %0#2, %0#3, %0#5 : tensor<5x5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<i32>
}"""


def test_schur_gives_eigenvalues() -> None:
    x = numbers((5, 5), np.float64)
    _, real, imaginary, info = wf.compile(wf.stablehlo.parse(SCHUR))(x)
    assert info == 0 and imaginary.any()
    key = lambda z: (z.real.round(9), z.imag)
    np.testing.assert_allclose(
        sorted(real + 1j * imaginary, key=key), sorted(np.linalg.eigvals(x), key=key), atol=1e-12
    )


@pytest.mark.parametrize(
    ("target", "operands", "results"),
    [
        ("dgetrf", ["4x4xf64"], ["4x4xf64", "2xi32", "i32"]),
        ("dgetrf", ["4x4xf64"], ["2x2xf64", "4xi32", "i32"]),
        ("dgeqrf", ["4x4xf64"], ["4x4xf64", "1xf64"]),
        ("dpotrf", ["2x5xf64"], ["2x5xf64", "i32"]),
        ("dgehrd", ["4x4xf64"], ["4x4xf64", "3xf64"]),
        ("dgehrd", ["4x4xf64"], ["4x4xf64", "2xf64", "i32"]),
        ("dgesdd", ["4x3xf64"], ["4x3xf64", "3xf64", "1x1xf64", "3x3xf64", "i32"]),
        ("dgeev", ["3x4xf64"], ["4xf64", "4xf64", "4x4xcomplex<f64>", "4x4xcomplex<f64>", "i32"]),
        ("dgeev", ["4x4xf64"], ["4xf64", "4xf64", "4x4xf64", "4x4xcomplex<f64>", "i32"]),
        ("dorgqr", ["4x3xf64", "4xf64"], ["4x3xf64"]),
        ("dorgqr", ["3x4xf64", "3xf64"], ["3x4xf64"]),
        ("dtrsm", ["4x4xf64", "3x2xf64"], ["3x2xf64"]),
        ("dgtsv", ["4xf64", "3xf64", "4xf64", "4x2xf64"], ["4xf64", "4xf64", "4xf64", "4x2xf64", "i32"]),
        ("sgetrf", ["4x4xf64"], ["4x4xf64", "4xi32", "i32"]),
        ("dgetrf", ["4xf64"], ["4xf64", "4xi32", "i32"]),
    ],
)
def test_what_does_not_fit_is_refused(target: str, operands: list[str], results: list[str]) -> None:
    inputs = ", ".join(f"%a{i}: tensor<{operand}>" for i, operand in enumerate(operands))
    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    types = [", ".join(f"tensor<{t}>" for t in side) for side in (operands, results)]
    text = f"""func.func @main({inputs}) -> tensor<{results[0]}> {{
  %0:{len(results)} = stablehlo.custom_call @lapack_{target}_ffi({names}) {{mhlo.backend_config = {{mode = 65 : ui8}}}} : ({types[0]}) -> ({types[1]})
  return %0#0 : tensor<{results[0]}>
}}"""
    with pytest.raises(wf.errors.ArgumentTypeError, match=rf"'lapack_{target}_ffi'(.|\n)*<text>:2:3"):
        wf.stablehlo.parse(text)
