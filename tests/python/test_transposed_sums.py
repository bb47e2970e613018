"""Reductions of transposed arrays and what is computed from those, done in the order in which memory lies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weftwork as wf

random = np.random.default_rng(0)
X, CUBE = random.standard_normal((130, 67)), random.standard_normal((9, 33, 20))


def centred(x: Any) -> Any:
    y = x.T
    return y - y.mean(axis=1, keepdims=True)


def standardised(x: Any) -> Any:
    y = x.transpose(2, 0, 1) * 2
    return (
        (y - y.mean(axis=(1, 2), keepdims=True)) / np.sqrt(y.var(axis=(1, 2), keepdims=True) + 1),
        y.max(axis=2),
        y.sum(axis=0),
    )


def softmax(x: Any) -> Any:
    e = np.exp(x.T - x.T.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(
    "function, x",
    [
        (centred, X),
        (lambda x: np.corrcoef(x, rowvar=False), X),
        (lambda x: np.cov(x.T, bias=True), X),
        (standardised, CUBE),
        (softmax, X),
        (softmax, X.astype(np.float32)),
        (lambda x: (np.where(x.T > 0, x.T, 1).sum(axis=1), x.T + np.arange(x.shape[0]), x.T.argmax(axis=1)), X),
        (lambda x: ((x.T > 0).any(axis=1), (x.T + np.ones(x.T.shape) * np.arange(67)[:, None]).sum(axis=1)), X),
        (lambda x: (x.transpose(1, 2, 0) + x.transpose(1, 2, 0).sum(axis=2, keepdims=True)).swapaxes(0, 1), CUBE),
        (lambda x: (x.transpose(1, 2, 0) - CUBE.transpose(1, 2, 0)[:, ::-1]).min(axis=(0, 2)), CUBE),
        (lambda x: (x.T.sum(axis=1), x.T * x[:, 0], np.clip(x.T, -1, 1)), (X * 9).astype(np.int32)),
        (lambda x: x.T.sum(axis=1), X[:0]),
    ],
)
def test_equal_numpy(function: Any, x: Any) -> None:
    want, found, tolerance = function(x), wf.jit(function)(x), 1e-5 if x.dtype == np.float32 else 1e-12
    for a, b in zip(want, found, strict=True) if isinstance(want, tuple) else [(want, found)]:
        assert a.dtype == b.dtype
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)


def test_a_mean_of_columns_reads_rows() -> None:
    exe = wf.compile(centred, np.ones((4096, 512)))
    assert next(kernel.ops for kernel in exe.kernels) == ("reduce",)


def test_symbolic_extents() -> None:
    f = wf.jit(centred, dynamic={"x": {0: wf.Dim("n", 1, 64, 4096)}})
    for n in (1, 5, 700):
        x = random.standard_normal((n, 31))
        np.testing.assert_allclose(f(x), centred(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float16, np.float32, np.float64, np.complex64])
def test_transposes_with_what_is_computed_on_the_way(dtype: Any) -> None:
    for shape, axes in (
        ((130, 257), (1, 0)),
        ((64, 3, 96), (2, 1, 0)),
        ((3, 128, 80), (0, 2, 1)),
        ((90, 70, 65), (2, 0, 1)),
    ):
        x = (random.standard_normal(shape) * 9).astype(dtype)
        y = (random.standard_normal([shape[i] for i in axes]) * 9).astype(dtype)
        for function in (
            lambda x, y, axes=axes: np.transpose(x, axes).copy(),
            lambda x, y, axes=axes: np.transpose(x, axes) + y * y[..., :1],
        ):
            np.testing.assert_array_equal(wf.jit(function)(x, y), function(x, y))


def long_rows(dtype: str, rows: int = 2052, columns: int = 1100) -> Any:
    x = np.random.default_rng(4).integers(-99, 99, (rows, columns)).astype(dtype)
    if np.issubdtype(x.dtype, np.floating):
        x[5, ::7], x[9, ::3], x[11, ::5] = np.nan, np.inf, -0.0
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "float16"])
@pytest.mark.parametrize("kind", ["sum", "max", "prod"])
def test_many_long_rows_are_combined_in_pieces(dtype: str, kind: str) -> None:
    def reduced(x: Any) -> Any:
        return getattr(x.astype(np.float32) if x.dtype.itemsize < 4 else x, kind)(axis=0)

    x, results = long_rows(dtype), []
    if kind == "prod":
        x = np.sign(x)
    for threads in (1, 3):
        wf.set_num_threads(threads)
        results.append(wf.jit(reduced)(x))
    wf.set_num_threads(0)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(results[0], reduced(x))  # whole numbers: exact in any order
    assert results[0].tobytes() == results[1].tobytes()


def test_rows_of_pieces_may_be_of_any_number_and_length() -> None:
    f = wf.jit(
        lambda x: ((x * 2).sum(axis=0), x.max(axis=0)),
        dynamic={"x": {0: wf.Dim("n", 1, 2100, 9000), 1: wf.Dim("k", 1, 4097, 90000)}},
    )
    for shape in [(2055, 1201), (3, 5), (2100, 4097), (1, 1100), (30, 70000)]:
        x = np.random.default_rng(5).integers(-9, 9, shape).astype(np.float32)
        for found, wanted in zip(f(x), ((x * 2).sum(axis=0), x.max(axis=0)), strict=True):
            np.testing.assert_array_equal(found, wanted)
    x = np.random.default_rng(6).integers(-9, 9, (3, 700, 1100)).astype(np.float32)
    np.testing.assert_array_equal(wf.jit(lambda x: x.sum(axis=1))(x), x.sum(axis=1))
