"""Attention in the forms people write it: computed in blocks of rows, with the values of the whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf

from .agreement import close

RNG = np.random.default_rng(0)


def normal(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return RNG.normal(size=shape).astype(dtype)


def softmax(s: Any) -> Any:
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def plain(q: Any, k: Any, v: Any) -> Any:
    return softmax(q @ np.swapaxes(k, -1, -2) * np.asarray(0.125, q.dtype)) @ v


def causal_where(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2) / np.asarray(8, q.dtype)
    mask = np.tril(np.ones((q.shape[-2], k.shape[-2]), bool))
    return softmax(np.where(mask, s, np.asarray(-1e9, q.dtype))) @ v


def causal_compare(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2)
    rows, columns = np.arange(q.shape[-2])[:, None], np.arange(k.shape[-2])[None, :]
    past = k.shape[-2] - q.shape[-2]
    return softmax(np.where(columns <= rows + past, s, np.asarray(-np.inf, q.dtype))) @ v


def strictly_above(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2)
    rows, columns = np.arange(q.shape[-2])[:, None], np.arange(k.shape[-2])[None, :]
    return softmax(np.where(rows + 1 > columns, s, np.asarray(-3e38 if q.dtype == np.float32 else -1e300, q.dtype))) @ v


def strictly_below(q: Any, k: Any, v: Any) -> Any:
    """The first row sees nothing: all columns count the same there."""
    s = q @ np.swapaxes(k, -1, -2)
    rows, columns = np.arange(q.shape[-2])[:, None], np.arange(k.shape[-2])[None, :]
    return softmax(np.where(rows > columns, s, np.asarray(-1e9, q.dtype))) @ v


def scores_below_the_mask(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2) - np.asarray(2e4, q.dtype)
    return softmax(np.where(np.tril(np.ones((600, 600), bool)), s, np.asarray(-1e4, q.dtype))) @ v


def between_positions(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2)
    rows, columns = np.arange(600.0)[:, None] + 0.5, np.arange(600.0)[None, :] - 0.5
    return softmax(np.where(rows >= columns, s, np.asarray(-1e9, q.dtype))) @ v


def narrow_positions(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2)
    places = np.arange(600).astype(np.int8)
    return softmax(np.where(places[:, None] >= places[None, :], s, np.asarray(-1e9, q.dtype))) @ v


MASK = np.triu(np.ones((600, 600), bool), 1)
MASK.flags.writeable = False


def causal_literal(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2)
    return softmax(np.where(MASK, np.asarray(-1e30, q.dtype), s)) @ v


def kept_literal(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2)
    return softmax(np.where(~MASK, s, np.asarray(-1e30, q.dtype))) @ v


def added_mask(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2)
    return softmax(s + np.where(MASK, np.asarray(-1e30, q.dtype), np.asarray(0, q.dtype))) @ v


def upper(q: Any, k: Any, v: Any) -> Any:
    """Rows see what comes after them: nothing may be left out."""
    s = q @ np.swapaxes(k, -1, -2)
    return softmax(np.where(np.triu(np.ones((600, 600), bool)), s, np.asarray(-1e9, q.dtype))) @ v


def sliding_window(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2)
    rows, columns = np.arange(q.shape[-2])[:, None], np.arange(k.shape[-2])[None, :]
    return softmax(np.where((columns <= rows) & (rows - columns < 100), s, np.asarray(-np.inf, q.dtype))) @ v


def neither_padded_nor_above(q: Any, k: Any, v: Any) -> Any:
    """Rows may see nothing at all: those are NaN."""
    s = q @ np.swapaxes(k, -1, -2)
    hidden = (v[..., 0] < -1)[..., None, :] | ~np.tril(np.ones((q.shape[-2], k.shape[-2]), bool))
    with np.errstate(invalid="ignore"):
        return softmax(np.where(hidden, np.asarray(-np.inf, q.dtype), s)) @ np.nan_to_num(v)


def padded_mean(q: Any, k: Any, v: Any) -> Any:
    """Rows that see nothing are means of all columns, those above the diagonal too."""
    s = q @ np.swapaxes(k, -1, -2)
    seen = np.tril(np.ones((q.shape[-2], k.shape[-2]), bool)) & (np.arange(k.shape[-2]) > 2)
    return softmax(np.where(seen, s, np.asarray(-1e9, q.dtype))) @ v


def divided_last(q: Any, k: Any, v: Any) -> Any:
    s = q @ np.swapaxes(k, -1, -2)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return (e @ v) / e.sum(axis=-1)[..., None]


def weights_too(q: Any, k: Any, v: Any) -> Any:
    w = softmax(q @ np.swapaxes(k, -1, -2))
    return w @ v, w[..., 0].sum(axis=-1)


def heads_last(x: Any, wq: Any, wk: Any, wv: Any) -> Any:
    b, t, d = x.shape
    q, k, v = ((x @ w).reshape(b, t, 4, d // 4).transpose(0, 2, 1, 3) for w in (wq, wk, wv))
    s = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(np.float32(d // 4))
    s = np.where(np.tril(np.ones((t, t), bool))[None, None], s, np.finfo(np.float32).min)
    return np.einsum("bhqk,bhkd->bhqd", softmax(s), v).transpose(0, 2, 1, 3).reshape(b, t, d)


def grouped(q: Any, k: Any, v: Any) -> Any:
    return plain(q, np.repeat(k, 4, axis=1), np.repeat(v, 4, axis=1))


def normalised_by_columns(q: Any, k: Any, v: Any) -> Any:
    """A softmax over the rows is no work row by row."""
    s = q @ np.swapaxes(k, -1, -2)
    e = np.exp(s - s.max(axis=-2, keepdims=True))
    return (e / e.sum(axis=-2, keepdims=True)) @ v


def relu_squared(q: Any, k: Any, v: Any) -> Any:
    return np.maximum(q @ np.swapaxes(k, -1, -2), 0) ** 2 @ v


def three(*shape: int, columns: int | None = None, dtype: Any = np.float32) -> tuple[np.ndarray, ...]:
    *batch, rows, inner = shape
    other = (*batch, columns or rows, inner)
    return normal(*shape, dtype=dtype), normal(*other, dtype=dtype), normal(*other, dtype=dtype)


CASES: list[tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = [
    *[
        (f, three(600, 16))
        for f in (plain, causal_where, causal_compare, causal_literal, kept_literal, added_mask, strictly_above, upper)
    ],
    *[(f, three(600, 16)) for f in (strictly_below, scores_below_the_mask, between_positions, narrow_positions)],
    *[(f, three(2, 600, 16)) for f in (sliding_window, neither_padded_nor_above, padded_mean)],
    *[
        (f, three(3, 600, 8))
        for f in (
            causal_where,
            causal_literal,
            added_mask,
            divided_last,
            weights_too,
            normalised_by_columns,
            relu_squared,
        )
    ],
    (plain, three(2, 3, 300, 24)),
    (plain, three(7, 201, 5)),
    (plain, three(601, 16, columns=1030)),
    (causal_compare, three(2, 333, 16, columns=771)),
    (causal_compare, three(2, 500, 16, columns=500)),
    (causal_where, three(2, 2, 403, 40, dtype=np.float64)),
    (strictly_above, three(2, 403, 40, dtype=np.float64)),
    (heads_last, (normal(2, 300, 32), *(normal(32, 32) / 6 for _ in range(3)))),
    (grouped, (normal(2, 8, 180, 16), normal(2, 2, 180, 16), normal(2, 2, 180, 16))),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_as_numpy(number: int) -> None:
    function, args = CASES[number]
    wanted = function(*args)
    compiled = wf.jit(function)
    first = compiled(*args)
    close(first, wanted, 200)
    for threads in (1, 3):
        wf.set_num_threads(threads)
        try:
            again = compiled(*args)
        finally:
            wf.set_num_threads(0)
        for a, b in zip(*((r if isinstance(r, tuple) else (r,)) for r in (first, again)), strict=True):
            np.testing.assert_array_equal(a, b)


def kernels_of(function: Callable[..., Any], *args: Any) -> str:
    return wf.trace(function, *args).core.kernels_text()


def test_scores_are_never_whole() -> None:
    args = three(2, 600, 16)
    for function in (plain, causal_where, causal_compare, causal_literal, kept_literal, added_mask):
        text = kernels_of(function, *args)
        assert "independent" in text and "[2, 600, 600] arena" not in text, function.__name__
    assert "independent" not in kernels_of(normalised_by_columns, *args)
    assert "independent" not in kernels_of(weights_too, *args)
    assert "independent" not in kernels_of(plain, *three(2, 60, 16))


def test_columns_above_the_diagonal_are_left_out() -> None:
    args = three(2, 600, 16)
    for function in (
        causal_where,
        causal_compare,
        strictly_above,
        kept_literal,
        causal_literal,
        sliding_window,
        neither_padded_nor_above,
    ):
        assert "n min(600, 96*mod(block0, 7) + 96) k" in kernels_of(function, *args), function.__name__
    for function in (plain, upper, added_mask, padded_mean):
        assert "n 600 k" in kernels_of(function, *args), function.__name__


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("function", [plain, causal_where])
def test_narrow_floats(function: Any, dtype: Any) -> None:
    args = three(2, 700, 16, dtype=dtype)
    with np.errstate(over="ignore"):
        wanted = function(*[a.astype(np.float32) for a in args])
        result = wf.jit(function)(*args)
        assert result.dtype == function(*args).dtype
    np.testing.assert_allclose(result.astype(np.float32), wanted, atol=0.03 if dtype != np.float16 else 0.004)


def test_quotients_are_taken_after_the_product() -> None:
    """Of a softmax, whose numerators are one at most; other quotients stay where they are."""

    def without_maximum(q: Any, k: Any, v: Any) -> Any:
        e = np.exp(q @ np.swapaxes(k, -1, -2))
        return (e / e.sum(axis=-1, keepdims=True)) @ v

    args = three(2, 608, 16)
    for function in (plain, causal_where):
        rows, product = kernels_of(function, *args).split("\nkernel ")[-2:]
        assert "divide" not in rows and product.count(" = divide") == 1, function.__name__
    assert " = divide" not in kernels_of(without_maximum, *args).split("\nkernel ")[-1]
    q, k, v = args
    huge = plain(q, k, v * np.float32(1e35))
    np.testing.assert_allclose(wf.jit(plain)(q, k, v * np.float32(1e35)), huge, atol=np.abs(huge).max() * 1e-5)


@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.bool_, ml_dtypes.float8_e4m3fn, np.float16, np.float64])
def test_weights_of_another_type_are_converted_after_the_division(dtype: Any) -> None:
    q = normal(4, 608, 16) * np.float32(0.3)  # no weight is near one

    def converted(q: Any) -> Any:
        return softmax(q @ np.swapaxes(q, -1, -2)).astype(dtype).astype(np.float32) @ q

    def in_its_type(q: Any, v: Any) -> Any:
        return softmax(q @ np.swapaxes(q, -1, -2)).astype(dtype) @ v

    np.testing.assert_allclose(
        wf.jit(converted)(q),
        converted(q),
        rtol=1e-5,
        atol=2e-2 if dtype is np.float16 else 2e-1 if dtype is ml_dtypes.float8_e4m3fn else 1e-5,
    )
    if np.dtype(dtype).kind in "ib":
        v = (5 * q).astype(dtype)
        np.testing.assert_array_equal(wf.jit(in_its_type)(q, v), in_its_type(q, v))


def test_subnormal_numbers_that_something_else_reads_stay() -> None:
    """Products of bfloat16 may take them for zero, and what they alone read may be stored so."""

    def both(x: Any, w: Any) -> Any:
        h, only, last = (np.exp(y).astype(ml_dtypes.bfloat16).astype(w.dtype) for y in (x, x * 2, x + 1))
        return h @ w, h, only @ w, (last @ w) + last[:, :8]

    x = np.linspace(-92, 1, 40 * 48, dtype=np.float32).reshape(40, 48)
    w = normal(48, 8, dtype=ml_dtypes.bfloat16)
    wide = [part.astype(np.float32) for part in both(x, w.astype(np.float32))]
    found = wf.jit(both)(x, w)
    for part, wanted in zip(found, wide, strict=True):
        np.testing.assert_allclose(part.astype(np.float32), wanted, rtol=0.02, atol=0.02)
    assert 0 < found[1][0, 0] < 1.1e-38


def test_narrow_operands_are_multiplied_as_they_lie() -> None:
    def rounded(q: Any, k: Any, v: Any) -> Any:
        return softmax(q @ np.swapaxes(k, -1, -2)).astype(v.dtype) @ v

    text = kernels_of(rounded, *three(2, 700, 16, dtype=ml_dtypes.bfloat16))
    assert "independent" in text and text.count(" of bf16 bf16") == text.count(" of ") == 4


def test_blocks_write_the_result_where_it_stays() -> None:
    """Neither zeros before the loop, nor a copy of a block's result, nor a pass that rounds it afterwards."""

    def rounded(q: Any, k: Any, v: Any) -> Any:
        return causal_where(q, k, v).astype(np.float16)

    args = three(2, 608, 16)
    launches = kernels_of(rounded, *args).split("run:")[1].split("kernel ")[0]
    assert launches.count("independent") == 1 and launches.count(" x ") == 5
    np.testing.assert_allclose(wf.jit(rounded)(*args), rounded(*args), rtol=2e-3, atol=2e-3)

    def heads_side_by_side(q: Any, k: Any, v: Any) -> Any:
        return causal_where(q, k, v).transpose(2, 0, 1, 3).reshape(-1, 96) @ q[0, 0, :96]

    args = three(2, 3, 608, 16)
    launches = kernels_of(heads_side_by_side, *args).split("run:")[1].split("kernel ")[0]
    assert launches.count("independent") == 1 and launches.count(" x ") == 6
    close(wf.jit(heads_side_by_side)(*args), heads_side_by_side(*args), 200)


def test_keys_and_values_are_packed_once() -> None:
    """A matrix for each group of heads that share it, before the blocks."""
    before = kernels_of(causal_where, *three(3, 608, 16)).split(" independent")[0]
    assert before.count("pack_f32_turns") == 2
    q, k, v = normal(2, 3, 4, 608, 16), normal(2, 3, 1, 608, 16), normal(2, 3, 1, 608, 16)
    text = kernels_of(causal_where, q, k, v)
    assert text.count("pack batch [2, 3] ") == 2 and text.count(" packed ") == 2
    close(wf.jit(causal_where)(q, k, v), causal_where(q, k, v), 200)


def test_repeated_keys_and_values_are_read_where_they_lie() -> None:
    def from_cache(q: Any, cache: Any) -> Any:
        k, v = cache[0, 100:700].transpose(1, 0, 2), cache[1, 100:700].transpose(1, 0, 2)
        return plain(q[:, 1:], np.repeat(k, 3, axis=0), np.repeat(v[:, ::1], 3, axis=0))

    args = normal(6, 601, 16), normal(2, 800, 2, 16)
    for function, given in (
        (grouped, (normal(2, 8, 600, 16), normal(2, 2, 600, 16), normal(2, 2, 600, 16))),
        (from_cache, args),
    ):
        text = kernels_of(function, *given)
        assert text.count("pack batch [2") == 2 and text.split("run:")[1].split(" for ")[0].count(" x ") == 2
        close(wf.jit(function)(*given), function(*given), 200)


def test_equal_layers_have_equal_kernels() -> None:
    def layers(x: Any) -> Any:
        for _ in range(3):
            x = causal_where(x, x, x)
        return x

    text = kernels_of(layers, normal(2, 608, 16))
    assert text.count(" independent") == 3 and text.count("kernel reduce") == 1


def test_two_layers() -> None:
    """Scales and masks of both are computed in blocks, and the first may be rounded in the blocks of the second."""

    def twice(q: Any, k: Any, v: Any) -> Any:
        x = causal_where(q, k, v).astype(np.float16).astype(np.float32)
        return causal_where(x, k, v).astype(np.float16)

    args = three(2, 608, 16)
    text = kernels_of(twice, *args)
    assert text.count("independent") == 2 and "608, 608] arena" not in text
    np.testing.assert_allclose(wf.jit(twice)(*args), twice(*args), rtol=2e-3, atol=2e-3)


def test_kernels_as_machine_code() -> None:
    args = three(1, 520, 4)
    for function in (plain, causal_where):
        graph = wf.trace(function, *args)
        (kernels,) = graph.core.interpret_kernels(list(args))
        close(kernels, function(*args), 200)


def test_extents_that_only_the_call_knows() -> None:
    f = wf.jit(dynamic={"q": {1: "n"}, "k": {1: "n"}, "v": {1: "n"}})(causal_where)
    for n in (1, 5, 64, 700, 900, 1024):
        args = three(2, n, 16)
        close(f(*args), causal_where(*args), 200)


def test_blocks_of_extents_that_only_the_call_knows() -> None:
    """Memory is for the blocks of the call at hand."""
    many = {0: "b", 1: wf.Dim("n", 1, 800, 1 << 30)}
    for function in (plain, causal_where):
        f = wf.jit(dynamic={name: many for name in "qkv"})(function)
        for b, n in ((1, 700), (3, 64), (2, 1024), (5, 333), (1, 1)):
            args = three(b, n, 16)
            close(f(*args), function(*args), 200)


def test_extents_that_may_be_zero() -> None:
    any_number = {0: wf.Dim("b", 0, 3, 1 << 20), 1: wf.Dim("n", 0, 500, 1 << 20)}
    f = wf.jit(dynamic={name: any_number for name in "qkv"})(plain)
    for b, n in ((2, 300), (0, 300), (2, 0), (1, 1)):
        args = three(b, n, 16)
        close(f(*args), plain(*args) if n else args[2], 200)


def test_inside_a_loop() -> None:
    def steps(x: Any, w: Any) -> Any:
        for _ in range(12):
            x = x + causal_where(x @ w, x, x) * np.float32(0.1)
        return x

    x, w = normal(2, 600, 16), normal(16, 16)
    close(wf.jit(steps)(x, w), steps(x, w), 4000)


def test_the_next_block_of_queries_is_fetched(tmp_path: Any) -> None:
    """Where they lie one after the other, with other heads between them, and where only the call knows how many there are."""

    def heads_between(q: Any, k: Any, v: Any) -> Any:
        return causal_where(*(a.transpose(1, 0, 2) for a in (q, k, v)))

    n = wf.Dim("n", 600, 700, 900)
    for function, args, dynamic in (
        (causal_where, three(2, 608, 16), {}),
        (heads_between, three(607, 2, 16), {}),
        (causal_compare, three(2, 650, 16), {name: {1: n} for name in "qkv"}),
    ):
        with wf.knobs(dump=str(tmp_path), cache=""):
            close(wf.jit(function, dynamic=dynamic)(*args), function(*args), 200)
        text = (tmp_path / function.__name__ / "30-emit.ll").read_text()
        assert text.count("call void @weft.fetch(") == 1, function.__name__
