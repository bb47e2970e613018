"""Sums over pairs of short vectors, and products of many small matrices: values, and that nothing of all pairs is stored."""

from collections.abc import Callable

import numpy as np
import pytest

import weftwork as wf

N = 192  # more pairs than a kernel does alone, fewer than tests take long for


def points(dtype: type = np.float64, dimensions: int = 3) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(3)
    return draw.normal(size=(N, dimensions)).astype(dtype), draw.uniform(0.5, 1, N).astype(dtype)


def accelerations(p, m):
    d = p[None] - p[:, None]
    r2 = (d * d).sum(axis=-1) + 1e-2
    return (d * (m * r2**-1.5)[:, :, None]).sum(axis=1)


def accelerations_by_einsum(p, m):
    d = p[None] - p[:, None]
    r2 = np.einsum("ijk,ijk->ij", d, d) + 1e-2
    return np.einsum("ij,ijk->ik", m * r2**-1.5, d)


def accelerations_of_columns(p, m):
    d = p[None] - p[:, None]
    r2 = np.sum(d * d, axis=2, keepdims=True) + 1e-2
    return np.sum(d * m[:, None, None] / (r2 * np.sqrt(r2)), axis=0)


def lennard_jones(p, m):
    d = p[:, None] - p[None]
    r2 = (d**2).sum(-1) + 0.1
    i6 = 1 / r2**3
    return (((2 * i6 * i6 - i6) / r2)[:, :, None] * d).sum(1), (i6 * i6 - i6).sum()


def without_itself(p, m):
    d = p[:, None, :] - p
    r2 = np.sum(d * d, axis=-1)
    np.fill_diagonal(r2, 1.0)
    return (d / r2[:, :, None]).sum(1)


def vortices(p, m):
    d = p[:, None, :2] - p[None, :, :2]
    r2 = (d**2).sum(-1) + 0.01
    return (m[None, :, None] * np.stack([-d[..., 1], d[..., 0]], -1) / r2[..., None]).sum(1)


def nearest(p, m):
    r2 = ((p[:, None] - p[None]) ** 2).sum(-1) + 10 * np.eye(len(p))
    return r2.min(1), r2.argmin(1), (r2 < 1).sum(1)


def smoothed(p, m):
    k = np.exp(-((p[:, None] - p[None]) ** 2).sum(2) / 2)
    return k.sum(0), k.sum()


def furthest_by_axis(p, m):
    return np.abs(p[:, None] - p[None]).max(-1).min(0), np.abs(p[:, None] - p[None]).prod(-1).sum()


PAIRS = [
    accelerations,
    accelerations_by_einsum,
    accelerations_of_columns,
    lennard_jones,
    without_itself,
    vortices,
    nearest,
    smoothed,
    furthest_by_axis,
]


def same(function: Callable, *args: np.ndarray, rtol: float) -> None:
    got, want = wf.jit(function)(*args), function(*args)
    for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (got, want)), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max(initial=0))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", PAIRS)
def test_pairs(function: Callable, dtype: type) -> None:
    p, m = points(dtype)
    same(function, p, m, rtol=1e-12 if dtype is np.float64 else 1e-4)
    p[5, 1] = np.nan
    with np.errstate(all="ignore"):
        if function is not nearest:
            same(function, p, m, rtol=1e-12 if dtype is np.float64 else 1e-4)


@pytest.mark.parametrize("function", PAIRS)
def test_nothing_of_all_pairs_is_stored(function: Callable) -> None:
    assert all(kernel.written_bytes < 64 * N for kernel in wf.explain(wf.jit(function), *points()).kernels)


def test_reduced_value_that_is_a_result_too() -> None:
    def both(p, m):
        r2 = ((p[:, None] - p[None]) ** 2).sum(-1)
        return r2, np.sqrt(r2).sum(1), np.sqrt(r2).sum()

    same(both, *points(), rtol=1e-12)


def test_few_and_no_pairs() -> None:
    for count in (0, 1, 2, 7):
        p, m = points()
        same(accelerations, p[:count], m[:count], rtol=1e-12)
        same(accelerations_by_einsum, p[:count], m[:count], rtol=1e-12)


PRODUCTS = {
    "nij,njk->nik": ((300, 3, 3), (300, 3, 3)),
    "nij,nkj->nik": ((300, 3, 4), (300, 2, 4)),
    "nij,nj->ni": ((300, 3, 5), (300, 5)),
    "nij,ni->nj": ((300, 24, 24), (300, 24)),
    "ni,ni->n": ((300, 70), (300, 70)),
    "ij,ij->j": ((70, 300), (70, 300)),
    "ni,nj->nij": ((300, 4), (300, 3)),
    "ij,jik->ik": ((40, 50), (50, 40, 3)),
    "ij,ijk->ik": ((40, 50), (40, 50, 3)),
    "abij,baj->iab": ((5, 7, 3, 2), (7, 5, 2)),
    "ijab,ijab->ij": ((20, 30, 3, 3), (20, 30, 3, 3)),
    "ni,nij,nj->n": ((300, 3), (300, 3, 3), (300, 3)),
    "nij,njk->ik": ((300, 3, 3), (300, 3, 3)),
    "nij,njk->kni": ((2, 9, 9), (2, 9, 9)),
}
DTYPES = [np.float64, np.float32, np.float16, np.complex128, np.int32, np.uint8]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("subscripts", PRODUCTS)
def test_products_of_small_matrices(subscripts: str, dtype: type) -> None:
    draw = np.random.default_rng(5)
    args = [(4 * draw.uniform(size=shape)).astype(dtype) for shape in PRODUCTS[subscripts]]
    tolerance = {np.float16: 2e-2, np.float32: 1e-5}.get(dtype, 1e-12)
    same(lambda *operands: np.einsum(subscripts, *operands), *args, rtol=tolerance)


def test_stacks_of_small_matrices() -> None:
    draw = np.random.default_rng(5)
    a, v = draw.normal(size=(6, 50, 3, 3)), draw.normal(size=(50, 3))
    same(lambda a, v: (a @ a, a @ v[..., None], np.matmul(v[:, None], v[..., None]), a @ a[0, 0]), a, v, rtol=1e-12)
    same(lambda a, v: np.linalg.vecdot(v, v), a, v, rtol=1e-12)
    same(lambda a, v: (a[:, :0] @ a[:, :0], a[..., :0] @ a[..., :0, :]), a, v, rtol=0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_powers_of_roots(dtype: type) -> None:
    limits = np.finfo(dtype)
    draw = np.random.default_rng(1)
    bits = draw.integers(0, 2 ** (limits.bits - 1), 4003, np.uint64).astype(f"u{limits.bits // 8}").view(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, -1, -limits.tiny, limits.tiny, limits.smallest_subnormal, limits.max]
    x = np.concatenate([bits, np.array(special, dtype)])
    with np.errstate(all="ignore"):
        wide = np.abs(x).astype(np.longdouble)
        for power, want in (
            (lambda x: x**1.5, wide * np.sqrt(wide)),
            (lambda x: x**-0.5, 1 / np.sqrt(wide)),
            (lambda x: x**-1.5, 1 / (wide * np.sqrt(wide))),
        ):
            got = wf.jit(power)(x)
            want = want.astype(dtype)
            want[(x < 0) & (x > -np.inf)] = np.nan
            np.testing.assert_array_max_ulp(got[np.isfinite(want)], want[np.isfinite(want)], 1)
            np.testing.assert_array_equal(got[~np.isfinite(want)], want[~np.isfinite(want)])
            np.testing.assert_array_equal(np.signbit(got[want == 0]), False)
            one = wf.jit(power)(x[:1])
            assert one[0] == got[0] or np.isnan(one[0])
