"""Sums of millions of floats are as near to the exact ones as NumPy's, whatever is computed from them."""

from typing import Any

import numpy as np
import pytest

import weftwork as wf

RNG = np.random.default_rng(0)
FUNCTIONS: dict[str, Any] = {
    "sum": lambda a: a.sum(-1),
    "mean": lambda a: a.mean(-1),
    "variance": lambda a: a.var(-1),
    "norm": lambda a: np.sqrt((a * a).sum(-1)),
    "mean square": lambda a: (a * a).mean(-1),
    "ratio": lambda a: (a * a).sum(-1) / (a + 5000).sum(-1),
    "divided": lambda a: (a / np.sqrt((a * a).sum(-1, keepdims=True))).max(-1),
    "sum and extreme": lambda a: a.sum(-1) / a.max(-1),
    "product": lambda a: (a / a).prod(-1) + a.mean(-1),
    "complex": lambda a: abs((a * (1 + 2j)).mean(-1)),
}


@pytest.mark.parametrize("shape", [(3_000_001,), (1, 2_000_003), (2, 1_500_001), (3, 2, 700_001), (20, 300_007)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_do_not_grow_with_the_length(name: str, shape: tuple[int, ...]) -> None:
    function = FUNCTIONS[name]
    a = (RNG.standard_normal(shape) * 1e3 + 1e3).astype(np.float32)
    wanted = function(a.astype(np.float64))
    got, numpys = wf.jit(function)(a), function(a)
    assert got.dtype == numpys.dtype
    error, numpys_error = (np.abs(result / wanted - 1).max() for result in (got, numpys))
    assert error <= max(4 * numpys_error, 3e-7)


def test_pieces_are_the_same_for_any_threads() -> None:
    a = RNG.standard_normal((3, 1_000_003)).astype(np.float32)
    results = []
    for threads in (1, 2, 5):
        with wf.knobs(threads=threads):
            results.append(wf.jit(lambda a: (a.var(-1), np.sqrt((a * a).sum())))(a))
    for one in results[1:]:
        np.testing.assert_array_equal(one[0], results[0][0])
        np.testing.assert_array_equal(one[1], results[0][1])


def test_extents_that_only_the_run_knows() -> None:
    f = wf.jit(lambda a: (a * a).mean(-1), dynamic={"a": {1: wf.Dim("n", 0, 1000, 2**30)}})
    for n in (0, 1, 63, 8192, 131_073, 900_001):
        a = RNG.standard_normal((2, n)).astype(np.float32)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(f(a), (a * a).mean(-1) if n else np.full(2, np.nan), rtol=1e-6)


def test_no_kernel_counts_a_symbolic_extent() -> None:
    rows = wf.compile(
        lambda a: (a - a.mean(-1, keepdims=True)) / a.std(-1, keepdims=True), wf.spec(("m", "n"), np.float32)
    )
    assert len(rows.kernels) == 1


SCANS: dict[str, Any] = {
    "sums": lambda a: np.cumsum(a, axis=-2),
    "of computed elements": lambda a: np.cumsum(a * a + 1, axis=-2) - a,
    "backwards": lambda a: np.cumsum(a[..., ::-1, :], axis=-2)[..., ::-1, :],
    "of a transpose": lambda a: np.cumsum(a.T, axis=0) if a.ndim == 2 else np.cumsum(a, axis=0),
    "products": lambda a: np.cumprod(a, axis=-2),
}


# Even pieces, uneven ones, one that is narrower than a vector, one for each matrix, and none.
@pytest.mark.parametrize(
    "shape", [(1024, 2048), (701, 3001), (200_003, 11), (5, 311, 1500), (3, 40_001, 1, 19), (9, 300_000)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex64", "int16"])
@pytest.mark.parametrize("name", SCANS)
def test_scans_down_many_columns_are_numpys(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    function = SCANS[name]
    a = RNG.choice([-1, 1], shape).astype(dtype) if name == "products" else RNG.integers(-9, 9, shape).astype(dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = function(a)
    got = wf.jit(function)(a)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


def test_scans_down_columns_of_symbolic_extents() -> None:
    f = wf.jit(lambda a: np.cumsum(a, axis=0), dynamic={"a": {1: "m"}})
    for shape in [(2000, 2100), (2000, 5), (2000, 1025), (2000, 1)]:
        a = RNG.standard_normal(shape)
        np.testing.assert_array_equal(f(a), np.cumsum(a, axis=0))
    assert len(f.executables) == 1


RUNNING: dict[str, Any] = {
    "sums": lambda a: np.cumsum(np.exp(a) + 1, axis=1) * 2,
    "down": lambda a: np.cumsum(a, axis=0),
    "backwards": lambda a: np.cumsum(a[:, ::-1], axis=1)[:, ::-1],
    "of all": np.cumsum,
    "products": lambda a: np.cumprod(a, axis=1),
    "maxima": lambda a: np.maximum.accumulate(a, axis=1),
    "without NaN": lambda a: np.fmin.accumulate(a, axis=1),
    "of bits": lambda a: np.bitwise_xor.accumulate((a * 9).astype(np.int32), axis=0),
    "of truth": lambda a: np.logical_or.accumulate(a > 1, axis=1),
    "shares": lambda a: np.cumsum(a * a + 1, axis=1) / np.sum(a * a + 1, axis=1, keepdims=True),
}


@pytest.mark.parametrize("name", RUNNING)
@pytest.mark.parametrize("dims", [{0: "n"}, {1: "m"}, {0: "n", 1: "m"}], ids=str)
def test_running_totals_along_symbolic_extents(name: str, dims: dict[int, str]) -> None:
    symbols = {axis: wf.Dim(symbol, 0, 16, 1 << 31) for axis, symbol in dims.items()}
    f = wf.jit(RUNNING[name], dynamic={"a": symbols})
    for shape in [(3, 5), (1, 1), (0, 5), (3, 0), (70, 900), (2000, 5)]:
        a = RNG.standard_normal([extent if axis in dims else (3, 5)[axis] for axis, extent in enumerate(shape)])
        np.testing.assert_allclose(f(a), RUNNING[name](a), rtol=1e-12)
    assert len(f.executables) == 1
