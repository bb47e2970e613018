"""Small matrices by many points, arrays joined of what shares its operands, and what is normalised before it is padded."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf

DTYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.complex64, np.int8, np.int64, np.uint16]


def whole(rng: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    return rng.integers(0, 4, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("count", [0, 17, 300])
def test_points_in_rows_and_in_columns(dtype: Any, count: int, target: str) -> None:
    rng = np.random.default_rng(count)
    for rows, inner in [(3, 3), (8, 4), (2, 7)]:
        matrix, points, batch = (whole(rng, s, dtype) for s in ((rows, inner), (inner, count), (3, inner, count)))
        several = whole(rng, (3, rows, inner), dtype)

        def products(m: Any, p: Any, b: Any, s: Any) -> Any:
            flat = np.ascontiguousarray(p.T)
            return m @ p, flat @ m.T, flat.T.T @ m.T + m[:, 0], m @ b, s @ b, s @ p, (flat - 1) @ m.T, m @ (p + 1)

        kind = np.dtype(dtype).kind
        wide = dtype if kind in "iu" else np.complex128 if kind == "c" else np.float64
        expected = products(*(x.astype(wide) for x in (matrix, points, batch, several)))
        for got, want in zip(wf.jit(products)(matrix, points, batch, several), expected, strict=True):
            np.testing.assert_array_equal(got, want.astype(got.dtype))


def test_a_batch_of_points_gives_the_bits_of_each_alone() -> None:
    rng = np.random.default_rng(2)
    m, p = rng.standard_normal((5, 3, 3)).astype(np.float32), rng.standard_normal((5, 3, 70)).astype(np.float32)
    product = wf.jit(lambda m, p: m @ p)
    together = product(m, p)
    for i in range(5):
        np.testing.assert_array_equal(together[i], product(m[i], p[i]))


def test_points_of_any_count_are_one_program() -> None:
    rng = np.random.default_rng(3)

    def project(h: Any, p: Any, q: Any) -> Any:
        mapped = h @ p
        return mapped[:2] / (mapped[2] + 10), (q - q.mean(0)) @ h

    compiled = wf.jit(project, dynamic={"p": {1: "n"}, "q": {0: "n"}})
    h = rng.standard_normal((3, 3))
    for n in (1, 16, 33, 1000):
        p, q = rng.standard_normal((3, n)), rng.standard_normal((n, 3))
        for got, want in zip(compiled(h, p, q), project(h, p, q), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    assert len(compiled.executables) == 1


@pytest.mark.parametrize("parts", [2, 3, 8, 9, 17])
def test_joined_parts_share_a_loop_and_keep_their_places(parts: int, target: str) -> None:
    rng = np.random.default_rng(parts)
    x, y = rng.standard_normal((2, 5000)).astype(np.float32)
    short = rng.standard_normal(7).astype(np.float32)

    def joined(x: Any, y: Any, short: Any) -> Any:
        return (
            np.stack([x * i + y for i in range(parts)]),
            np.concatenate([x * 2, short, y - 1, x + 1, short * 2, y * x][: parts + 1]),
            np.concatenate([(x[:4998] * i).reshape(2, -1) for i in range(parts)], axis=1),
        )

    for got, want in zip(wf.jit(joined)(x, y, short), joined(x, y, short), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 4, 1, 1), (2, 3, 5, 17), (1, 6, 14, 14), (2, 0, 3, 3), (1, 2, 0, 40)], ids=str)
def test_what_is_normalised_is_padded(shape: tuple[int, ...], target: str) -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal(shape).astype(np.float32)
    mean, variance = rng.uniform(0.5, 2, (2, shape[1])).astype(np.float32)
    column = rng.uniform(1, 2, (shape[2], 1)).astype(np.float32)

    def padded(x: Any, mean: Any, variance: Any, column: Any) -> Any:
        y = (x - mean[:, None, None]) / np.sqrt(variance[:, None, None] + 1e-5) * column
        inner = np.pad(y, ((0, 0), (0, 0), (1, 1), (2, 1)))
        return (
            inner,
            np.pad(inner + 1, ((0, 0), (1, 0), (0, 0), (0, 3))),
            np.concatenate([y, x * column, y + 1], axis=3),
        )

    for got, want in zip(wf.jit(padded)(x, mean, variance, column), padded(x, mean, variance, column), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("groups", [1, 2])
def test_a_residual_is_added_in_the_product_of_a_convolution(groups: int) -> None:
    rng = np.random.default_rng(5)
    x, r = rng.standard_normal((3, 8, 5, 7)).astype(np.float32), rng.standard_normal((3, 6, 5, 7)).astype(np.float32)
    w, s = rng.standard_normal((6, 8 // groups, 1, 1)).astype(np.float32), rng.standard_normal(6).astype(np.float32)

    def block(x: Any, w: Any, r: Any, s: Any) -> Any:
        plain = wf.conv2d(x, w, groups=groups)
        return plain, np.maximum(wf.conv2d(x, w, groups=groups) * s[:, None, None] + r, 0)

    parts = zip(np.split(x, groups, 1), np.split(w[..., 0, 0], groups), strict=True)
    want = np.concatenate([np.einsum("nchw,oc->nohw", part, weight) for part, weight in parts], axis=1)
    plain, result = wf.jit(block)(x, w, r, s)
    np.testing.assert_allclose(plain, want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(result, np.maximum(want * s[:, None, None] + r, 0), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("count", [8191, 9000, 20001])
def test_all_of_many_points_is_reduced(width: int, count: int) -> None:
    rng = np.random.default_rng(6)
    points, centre = whole(rng, (count, width), np.float64), whole(rng, (width,), np.float64)
    weights = whole(rng, (count, 1), np.float64)

    def reduced(p: Any, c: Any, w: Any) -> Any:
        return (
            ((p - c) ** 2).sum(),
            np.abs(p - c).max(),
            (p * w).min(),
            (p * w > 8).any(),
            (p == c).sum(),
            (p * w).T.sum(),
        )

    points[count // 2, width - 1] = 1e3
    for got, want in zip(wf.jit(reduced)(points, centre, weights), reduced(points, centre, weights), strict=True):
        assert got == want
    points[count - 1, 0] = np.nan
    for got, want in zip(wf.jit(reduced)(points, centre, weights), reduced(points, centre, weights), strict=True):
        np.testing.assert_array_equal(got, want)
