"""numpy.linalg: jit and simulate give what NumPy gives; vectors are compared by what they make up."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from agreement import agrees, close

import weftwork as wf

RNG = np.random.default_rng(7)
A = RNG.normal(size=(5, 5))
F = A.astype(np.float32)
Z = RNG.normal(size=(4, 4)) + 1j * RNG.normal(size=(4, 4))
C = Z.astype(np.complex64)
I = RNG.integers(-5, 6, (4, 4))
T = RNG.normal(size=(2, 3, 4, 4))
W = RNG.normal(size=(3, 6))
L = RNG.normal(size=(7, 4))
LF = L.astype(np.float32)
LC = (RNG.normal(size=(6, 3)) + 1j * RNG.normal(size=(6, 3))).astype(np.complex64)
V = RNG.normal(size=5)
P = A @ A.T + np.eye(5)
PF = P.astype(np.float32)
PZ = Z @ Z.conj().T + np.eye(4)
LOW = np.outer([1, 2, 3, 4.0], [1, 0, 2])
E0 = np.zeros((0, 0))
T4 = RNG.normal(size=(2, 3, 6))

Snippet = tuple[Callable[..., Any], tuple]

SYSTEMS: list[Snippet] = [
    *[(lambda a, b: np.linalg.solve(a, b), p) for p in ((A, V), (F, V.astype(np.float32)), (F, V), (A, A), (Z, Z[0]), (C, C[:, :2]), (I, I), (T, T), (T, T[0, 0]), (T[0, 0], T), (E0, E0), (I, I[0]), (A, np.zeros((5, 0))))],
    *[(lambda a, f=f: f(a), (a,)) for f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet) for a in (A, F, Z, C, I, T, E0, np.eye(3)[[1, 2, 0]], A[:1, :1])],
    *[(lambda a: np.linalg.det(a), (a,)) for a in (np.ones((3, 3)), np.zeros((2, 2)), T[..., :2, :2])], (lambda a: np.linalg.slogdet(a).sign, (A,)), (lambda a: np.linalg.slogdet(a), (np.zeros((2, 2)),)),
    *[(lambda a, u=u: np.linalg.cholesky(a, upper=u), (a,)) for u in (False, True) for a in (P, PF, PZ, PZ.astype(np.complex64), np.array([P, P + 1]), E0, np.array([[2, 1], [1, 2]]))],
    (lambda a, b: np.linalg.tensorsolve(a, b), (T4, np.ones((2, 3)))), (lambda a: np.linalg.tensorinv(a, ind=1), (W.reshape(3, 3, 2)[:, :, :1] + np.eye(3)[:, :, None],)),
    (lambda a: np.linalg.tensorinv(a), (RNG.normal(size=(2, 3, 3, 2)),)), (lambda a, b: np.linalg.tensorsolve(a, b, axes=(0, 2)), (RNG.normal(size=(3, 6, 4))[:, :, :2].reshape(3, 6, 2), V[:1].repeat(6))),
    *[(lambda a: np.linalg.matrix_power(a, -2), (a,)) for a in (A, C)],
]  # fmt: skip

ORTHOGONAL: list[Snippet] = [
    *[(lambda a, m=m: np.linalg.qr(a, m), (a,)) for m in ("reduced", "complete", "r", "raw") for a in (A, F, L, W, LC, I[:, :3])],
    *[(lambda a, m=m: np.linalg.qr(a, m), (T,)) for m in ("reduced", "complete", "r")], (lambda a: np.linalg.qr(a).Q, (L,)), (lambda a: np.linalg.qr(a), (np.zeros((3, 0)),)),
    *[(lambda a: np.linalg.svdvals(a), (a,)) for a in (A, F, L, W, LC, I, T, E0)], (lambda a: np.linalg.svd(a, compute_uv=False, hermitian=True), (PF,)),
    *[(lambda a, u=u: np.linalg.eigvalsh(a, u), (a,)) for u in ("L", "U") for a in (A, F, Z, C, I, T, E0)],
    *[(lambda a: np.linalg.pinv(a), (a,)) for a in (A, F, L, W, LC, LOW, T, np.zeros((0, 3)))], (lambda a: np.linalg.pinv(a, hermitian=True), (P,)), (lambda a: np.linalg.pinv(a, rtol=None), (LF,)), (lambda a: np.linalg.pinv(a, 0.5), (A,)),
    *[(lambda a: np.linalg.matrix_rank(a), (a,)) for a in (A, F, LOW, W, T, V, np.zeros((3, 3)), I)], (lambda a: np.linalg.matrix_rank(a, tol=0.5), (A,)), (lambda a: np.linalg.matrix_rank(a, rtol=0.2), (T,)),
    *[(lambda a, p=p: np.linalg.cond(a, p), (a,)) for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro") for a in (A, F, C, T)], (lambda a: np.linalg.cond(a), (L,)), (lambda a: np.linalg.cond(a, 1), (np.zeros((2, 2)),)), (lambda a: np.linalg.cond(a), (np.zeros((2, 2)),)),
    *[(lambda a, o=o: np.linalg.norm(a, o), (a,)) for o in (2, -2, "nuc") for a in (A, F, W, LC)], (lambda a: np.linalg.norm(a, 2, axis=(0, 2), keepdims=True), (T4,)),
    *[(lambda a, b: np.linalg.lstsq(a, b), p) for p in ((L, L[:, 0] ** 3), (L, L[:, :2] ** 2), (W, W[:, 0]), (LC, LC[:, 1:] ** 2), (LF, LF[:, 1] ** 2), (A, V), (W, W))], (lambda a, b: np.linalg.lstsq(a, b, rcond=0.1)[0], (L, L[:, 0] ** 2)),
    (lambda a, b: np.linalg.lstsq(a, b)[0], (LOW, V[:4])), (lambda a, b: np.linalg.lstsq(a, b)[2], (LOW, V[:4])),
]  # fmt: skip


X = RNG.normal(size=9)
Y = RNG.normal(size=(9, 3))
POLYNOMIALS: list[Snippet] = [
    *[(lambda x, y: np.polyfit(x, y, 2), p) for p in ((X, Y[:, 0]), (X, Y), (X.astype(np.float32), Y[:, 1].astype(np.float32)), (np.arange(9), Y[:, 0]))], (lambda x, y: np.polyfit(x, y, 3, full=True), (X, Y)),
    *[(lambda x, y, c=c: np.polyfit(x, y, 2, cov=c), (X, y)) for c in (True, "unscaled") for y in (Y, Y[:, 0])], (lambda x, y: np.polyfit(x, y, 1, w=x * x), (X, Y)), (lambda x, y: np.polyfit(x, y, 0), (X, Y[:, 2])),
    *[(lambda x: np.poly(x), (a,)) for a in (X[:5], X[:3].astype(np.float32), np.array([1, 2, 3]), X[:0])],
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "args"),
    [
        pytest.param(*s, id=f"{n}{i}")
        for n, g in (("systems", SYSTEMS), ("orthogonal", ORTHOGONAL), ("polynomials", POLYNOMIALS))
        for i, s in enumerate(g)
    ],
)
def test_as_numpy(function: Callable[..., Any], args: tuple) -> None:
    agrees(function, args, ulps=2000)


RUNS = [wf.jit, wf.simulate]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("a", [A, F, L, W, LC, T, I], ids=range(7))
def test_svd(run: Any, a: np.ndarray) -> None:
    for full in (True, False):
        wanted, result = np.linalg.svd(a, full), run(lambda a, full=full: np.linalg.svd(a, full))(a)
        close(result.S, wanted.S, 500)
        for part, other in zip(result, wanted, strict=True):
            assert (part.dtype, part.shape) == (other.dtype, other.shape)
        k = min(a.shape[-2:])
        back = (result.U[..., :k] * result.S[..., None, :]) @ result.Vh[..., :k, :]
        np.testing.assert_allclose(
            back, a, atol=1e-5 if back.dtype.itemsize < 8 or back.dtype == np.complex64 else 1e-12
        )
        eye = np.conj(np.swapaxes(result.U, -1, -2)) @ result.U
        np.testing.assert_allclose(
            eye, np.broadcast_to(np.eye(eye.shape[-1]), eye.shape), atol=1e-5 if eye.real.dtype == np.float32 else 1e-12
        )


@pytest.mark.parametrize("run", RUNS)
def test_eigh(run: Any) -> None:
    for a in (P, PF, PZ, PZ.astype(np.complex64), np.array([P, -P])):
        values, vectors = run(lambda a: np.linalg.eigh(a))(a)
        wanted = np.linalg.eigh(a)
        close(values, wanted[0], 500)
        assert (vectors.dtype, vectors.shape) == (wanted[1].dtype, wanted[1].shape)
        np.testing.assert_allclose(
            a @ vectors, vectors * values[..., None, :], atol=1e-4 if values.dtype == np.float32 else 1e-12
        )
        u, s, vh = run(lambda a: np.linalg.svd(a, hermitian=True))(a)
        np.testing.assert_allclose((u * s[..., None, :]) @ vh, a, atol=1e-4 if values.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("run", [lambda f: f, *RUNS])
def test_eig(run: Any) -> None:
    for a in (A, F, Z, C, T, I):
        values, vectors = run(lambda a: wf.linalg.eig(a))(a)
        assert (
            values.dtype == vectors.dtype == (np.complex64 if a.dtype in (np.float32, np.complex64) else np.complex128)
        )
        np.testing.assert_allclose(
            a @ vectors, vectors * values[..., None, :], atol=1e-5 if values.dtype == np.complex64 else 1e-12
        )
        close(
            np.sort_complex(run(lambda a: wf.linalg.eigvals(a))(a).ravel().round(3)),
            np.sort_complex(np.linalg.eigvals(a).astype(values.dtype).ravel().round(3)),
            1e4,
        )
    values, vectors = run(lambda a: np.linalg.eig(a))(Z)
    np.testing.assert_allclose(Z @ vectors, vectors * values, atol=1e-12)


def test_matrices_without_a_result() -> None:
    singular = np.ones((2, 3, 3))
    for run in (wf.jit, wf.simulate):
        for f, a in (
            (lambda a: np.linalg.inv(a), singular),
            (lambda a: np.linalg.solve(a, a[:, :1].mT), singular),
            (lambda a: np.linalg.cholesky(a), -singular),
            (lambda a: np.linalg.eigvals(a), singular * np.inf + 0j),
        ):
            with pytest.raises(np.linalg.LinAlgError) as wanted:
                f(a)
            with pytest.raises(np.linalg.LinAlgError, match=re.escape(str(wanted.value))) as raised:
                run(f)(a)
            assert "test_linalg.py" in str(raised.value)


@pytest.mark.parametrize("run", RUNS)
def test_systems_without_one_solution(run: Any) -> None:
    x, residuals, rank, _ = run(lambda a, b: np.linalg.lstsq(a, b))(LOW, V[:4])
    assert rank == 1 and np.isnan(residuals).all() and np.isfinite(x).all()


ERRORS: list[tuple[Callable[..., Any], tuple, type[Exception], str]] = [
    (lambda a: np.linalg.eig(a), (A,), wf.errors.UnsupportedError, "wf.linalg.eig"), (lambda a: np.linalg.eigvals(a), (A,), wf.errors.UnsupportedError, "wf.linalg.eigvals"),
    (lambda a: np.linalg.inv(a), (L,), wf.errors.ArgumentValueError, "square"), (lambda a: np.linalg.solve(a, a[:2]), (A,), wf.errors.ArgumentValueError, "fit"), (lambda a: np.linalg.qr(a), (V,), wf.errors.ArgumentValueError, "two-dimensional"),
    (lambda a: np.linalg.qr(a, "bad"), (A,), wf.errors.ArgumentValueError, "mode"), (lambda a: np.linalg.eigh(a, "X"), (A,), wf.errors.ArgumentValueError, "UPLO"), (lambda a: np.linalg.inv(a), (A.astype(np.float16),), wf.errors.ArgumentTypeError, "float16"),
    (lambda a: np.linalg.lstsq(a, a[:2]), (A,), wf.errors.ArgumentValueError, "dimensions"), (lambda a: np.linalg.cond(a), (E0,), wf.errors.ArgumentValueError, "empty"), (lambda a: np.linalg.pinv(a, 1, rtol=1), (A,), wf.errors.ArgumentValueError, "both"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "args", "kind", "text"), [pytest.param(*row, id=str(i)) for i, row in enumerate(ERRORS)]
)
def test_errors(function: Any, args: tuple, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        wf.jit(function)(*args)


def test_the_text_calls_lapack() -> None:
    text = wf.trace(lambda a, b: np.linalg.solve(a, b), A, V).stablehlo()
    assert "lapack_dgetrf_ffi" in text and "triangular_solve" in text


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x @ x,
        lambda x: np.dot(x, x),
        lambda x: np.vecdot(x, x),
        lambda x: np.matvec(x, x[0]),
        lambda x: np.tensordot(x, x, 1),
        lambda x: np.inner(x, x),
        lambda x: np.clip(x, 0, 1),
        lambda x: np.clip(x, 0, x),
        lambda x: np.clip(x, 0, None),
    ],
)
def test_products_of_narrow_floats_have_numpys_dtype(function: Any, dtype: Any) -> None:
    x = np.array([[1, 2.5], [-3, 0.25]], dtype)
    wanted = function(x)
    for run in (wf.jit, wf.simulate):
        result = run(function)(x)
        assert result.dtype == wanted.dtype
        np.testing.assert_array_equal(result.astype(np.float32), wanted.astype(np.float32))
