"""Reductions of rows with what is computed from them: tails of every kind, NaN and infinities, any number of threads."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf

random = np.random.default_rng(0)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def logsumexp(x: Any) -> Any:
    top = x.max(axis=-1, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=-1)) + top[:, 0]


def layer_norm(x: Any) -> Any:
    c = x - x.mean(axis=-1, keepdims=True)
    return c / np.sqrt((c * c).mean(axis=-1, keepdims=True) + 1e-5)


def extremes(x: Any) -> Any:
    return x.max(axis=-1) - x.min(axis=-1), (x - x.min(axis=-1, keepdims=True)).max(axis=-1)


@pytest.mark.parametrize("columns", [1, 16, 65, 1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_with_tails(columns: int, dtype: Any) -> None:
    for rows in (1, 6, 129, 130):
        x = random.standard_normal((rows, columns)).astype(dtype)
        for i, special in enumerate((np.nan, np.inf, -np.inf)):
            if rows > 3:
                x[i + 1, columns * i // 3] = special
        for function in (softmax, logsumexp, layer_norm, extremes):
            with np.errstate(all="ignore"):
                want = function(x)
            found = wf.jit(function)(x)
            for f, w in zip(found, want, strict=True) if isinstance(want, tuple) else [(found, want)]:
                np.testing.assert_allclose(
                    f, w, rtol=2e-5 if dtype == np.float32 else 1e-13, atol=1e-6 if dtype == np.float32 else 1e-14
                )


@pytest.mark.parametrize("rows", [1001, 1002])
def test_rows_are_the_same_on_any_number_of_threads(rows: int) -> None:
    x = random.standard_normal((rows, 700)).astype(np.float32)
    found = []
    for threads in (1, 2, 5):
        wf.set_num_threads(threads)
        found.append([wf.jit(function)(x).tobytes() for function in (softmax, logsumexp, layer_norm)])
    wf.set_num_threads(0)
    assert found[0] == found[1] == found[2]


def test_short_rows_are_taken_two_at_a_time() -> None:
    for rows, columns, turns in ((1002, 700, 501), (1001, 700, 1001), (1002, 7000, 1002), (32, 700, 32)):
        x = np.zeros((rows, columns), np.float32)
        assert f"parallel for .p < {turns} " in wf.trace(softmax, x).core.kernels_text(), (rows, columns)
    for columns, turns in ((200, 501), (700, 1002)):
        x = np.zeros((1002, columns), np.float16)
        assert (
            f"parallel for .p < {turns} " in wf.trace(lambda x: logsumexp(x.astype(np.float32)), x).core.kernels_text()
        )


@pytest.mark.parametrize("columns", [127, 128, 130, 257, 1024, 1025])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_what_functions_take_is_computed_ahead(columns: int, dtype: Any) -> None:
    """With the same bits, to the ends of memory that nothing lies behind, where a function of it is taken once or twice."""
    x = random.standard_normal((37, columns)).astype(dtype)
    x[3, :4] = [np.nan, np.inf, -np.inf, 0]
    for function in (
        lambda x: np.exp(x - x[0]),
        lambda x: np.tanh(x * x + x) * x,
        lambda x: np.exp(x * x[0]).sum(axis=-1),
    ):

        def one(x: Any, function: Any = function) -> Any:
            return function(x.astype(np.float32))

        def two(x: Any, function: Any = function) -> Any:
            return one(x, function), np.cos(x.astype(np.float32))

        assert wf.jit(one)(x).tobytes() == wf.jit(two)(x)[0].tobytes()
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(wf.jit(one)(x), one(x), rtol=1e-5, atol=1e-6)


def test_exponentials_of_float16_are_those_of_float32() -> None:
    """Their numbers need no bound: no difference of two is too large."""
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    wide = x.astype(np.float32)
    for other in (
        np.float16(0),
        np.float16(-65504),
        np.float16(65504),
        np.float16(np.inf),
        np.float16(-np.inf),
        np.float16(np.nan),
        np.float16(3.14),
    ):
        near = wf.jit(lambda x, y: np.exp(x.astype(np.float32) - y.astype(np.float32)))(x, other)
        assert near.tobytes() == wf.jit(lambda x, y: np.exp(x - y))(wide, np.float32(other)).tobytes()
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(near, np.exp(wide - np.float32(other)), rtol=3e-7, atol=1e-44)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("function", [softmax, layer_norm])
def test_rows_of_many_are_those_of_few(function: Any, dtype: Any) -> None:
    """Many rows are divided beside the sums of the next ones: in place too, and with the same results."""

    def rows_of(x: Any) -> Any:
        return function(x.astype(np.float32)).astype(dtype)

    x = random.standard_normal((2112, 1001)).astype(dtype)
    for i, special in enumerate((np.nan, np.inf, -np.inf, 0)):
        x[[i, 60 + i, 2108 + i], 330 * i] = special
    few, many = wf.jit(rows_of), wf.jit(rows_of, donate_argnames="x")
    assert ("for .q < 16" in wf.trace(rows_of, x).core.kernels_text()) == (function is softmax or dtype != np.float32)
    wanted = np.concatenate([few(x[i : i + 33]) for i in range(0, 2112, 33)])
    for threads in (1, 3):
        wf.set_num_threads(threads)
        found = np.asarray(many(wf.Buffer(x.copy())))
        wf.set_num_threads(0)
        assert found.tobytes() == wanted.tobytes()


def test_rows_that_are_read_in_another_order_are_not_overwritten_early() -> None:
    def flipped(x: Any) -> None:
        x[:] = softmax(x[:, ::-1])

    x = random.standard_normal((2048, 640)).astype(np.float32)
    assert "for .q" not in wf.trace(flipped, x).core.kernels_text()
    wanted = wf.jit(softmax)(np.ascontiguousarray(x[:, ::-1]))
    wf.jit(flipped)(x)
    assert x.tobytes() == wanted.tobytes()


def test_sums_of_what_is_stored_share_its_kernel() -> None:
    """A result of the row and the sum over it: memory is gone through once."""

    def parts(x: Any) -> Any:
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e, e.sum(axis=-1), (e * e).sum(axis=-1)

    x = random.standard_normal((3, 70, 130)).astype(np.float32)
    assert wf.trace(parts, x).core.kernels_text().count("\nkernel ") == 1
    for found, wanted in zip(wf.jit(parts)(x), parts(x), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_bfloat16_becomes_float32_bit_by_bit() -> None:
    """However many lanes a loop has; subnormal numbers, infinities and what NaNs carry too."""
    patterns = np.arange(1 << 16, dtype=np.uint16)
    for count in (1 << 16, 65531, 100, 16, 3):
        x = patterns[-count:].view(ml_dtypes.bfloat16)
        wide = wf.jit(lambda x: x.astype(np.float32))(x)
        np.testing.assert_array_equal(np.asarray(wide).view(np.uint32) >> 16, patterns[-count:])
        assert not (np.asarray(wide).view(np.uint32) & 0xFFFF).any()
    lines = patterns.reshape(64, 1024)[:, :1001].view(ml_dtypes.bfloat16)
    with np.errstate(all="ignore"):
        want = lines.astype(np.float32).max(axis=-1, keepdims=True)
    np.testing.assert_array_equal(wf.jit(lambda x: x.astype(np.float32).max(axis=-1, keepdims=True))(lines), want)


def shifted(x: Any) -> Any:
    return layer_norm(np.concatenate([x[:1], np.tanh(x)[:-1]]))


def mirrored(x: Any) -> Any:
    return softmax(np.tanh(x)[:, ::-1] * 2)


def normed_twice(x: Any) -> Any:
    inner = layer_norm(x)
    return inner, layer_norm(np.cos(inner))


@pytest.mark.parametrize("function", [shifted, mirrored, normed_twice])
def test_costly_values_are_kept_where_they_are_read(function: Any) -> None:
    x = random.standard_normal((17, 33))
    wanted = function(x)
    found = wf.jit(function, strict=True)(x)
    for f, w in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]:
        np.testing.assert_allclose(f, w, rtol=1e-12, atol=1e-13)


def column_beside_its_array(a, held):
    for _ in range(20):
        a = a * 2
        x = a[:, 0]
    return x, a


def column_beside_a_stored_array(a, held):
    for _ in range(20):
        a = a * 2
        x = a[:, 0]
    held["a"] = [a.T]
    return x[1:]


def column_of_an_inner_loops_array(a, held):
    first, x = a * 1, a[0]
    for i in range(20):
        for _ in range(i, 20):
            a = first[:, ::-1] + 1
        x = a[:, i // 2]
    return [x, a]


def column_alone(a, held):
    for _ in range(20):
        a = a * 2
        x = a[:, 0]
    return x, a + 1


@pytest.mark.parametrize(
    ("function", "is_one"),
    [
        (column_beside_its_array, True),
        (column_beside_a_stored_array, True),
        (column_of_an_inner_loops_array, True),
        (column_alone, False),
    ],
)
def test_parts_of_the_result_share_memory_as_numpys_do(function, is_one):
    given = np.random.default_rng(1).random((20, 20))
    fast = wf.jit(function, strict=False)
    for _ in range(2):
        arrays = []
        for call in (function, fast):
            held = {}
            result = call(given.copy(), held)
            parts = list(result) if isinstance(result, (tuple, list)) else [result, *held["a"]]
            assert np.shares_memory(*parts) == is_one
            arrays.append(parts)
        for one, other in zip(*arrays, strict=True):
            np.testing.assert_allclose(one, other)
    assert fast.ways["compiled"] == (0 if is_one else 2)
