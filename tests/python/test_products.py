"""Matrix products of every element type, size, layout and target against NumPy in a wider type."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weftwork as wf

FLOATS = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
WHOLE = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
SIZES = [(1, 131, 129), (2, 33, 7), (5, 128, 66), (13, 97, 298), (49, 65, 515)]


def every_layout(multiply: Any) -> Any:
    """A compiled function of (a, a transposed, a between gaps) and the same of b: products of every pair of layouts."""

    def products(a: Any, at: Any, a_wide: Any, b: Any, bt: Any, b_wide: Any) -> list[Any]:
        lefts, rights = (a, at.T, a_wide[:, ::2]), (b, bt.T, b_wide[:, ::2])
        return [multiply(x, y) for x in lefts for y in rights]

    return wf.jit(products)


def layouts(x: Any) -> list[Any]:
    """Rows as they are, columns as rows, and elements with gaps between them."""
    wide = np.zeros((x.shape[0], 2 * x.shape[1]), x.dtype)
    wide[:, ::2] = x
    return [x, np.ascontiguousarray(x.T), wide]


def multiplies_bf16() -> bool:
    """Whether this CPU multiplies pairs of bfloat16, which fill half of the memory that widened ones do."""
    info = Path("/proc/cpuinfo")
    return info.exists() and "avx512_bf16" in info.read_text()


def whole_numbers(rng: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Every value of the type, both ends included."""
    info = np.iinfo(dtype)
    values = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    values.flat[0] = info.min
    values.flat[-1] = info.min
    return values


def test_floats_agree_with_a_wider_type(target: str) -> None:
    rng = np.random.default_rng(1)
    for (name, dtype), (m, n, k) in itertools.product(FLOATS.items(), SIZES):
        a, b = (rng.standard_normal(s).astype(dtype) for s in ((m, k), (k, n)))
        wide = a.astype(np.float64) @ b.astype(np.float64)
        size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
        unit = 2.0**-52 if name == "f64" else 2.0**-23
        last = {"bf16": 2.0**-8, "f16": 2.0**-11}.get(name, 0)
        limit = size * unit * (k**0.5 + 2) + np.abs(wide) * last
        for i, got in enumerate(every_layout(lambda x, y: x @ y)(*layouts(a), *layouts(b))):
            assert (np.abs(got.astype(np.float64) - wide) <= limit).all(), (name, m, n, k, i)


def test_whole_numbers_wrap_as_numpy_does(target: str) -> None:
    rng = np.random.default_rng(2)
    for dtype, (m, n, k) in itertools.product(WHOLE.values(), SIZES):
        a, b = whole_numbers(rng, (m, k), dtype), whole_numbers(rng, (k, n), dtype)
        want = a @ b
        for i, got in enumerate(every_layout(lambda x, y: x @ y)(*layouts(a), *layouts(b))):
            np.testing.assert_array_equal(got, want, err_msg=f"{a.dtype} {m} {n} {k} {i}")


@pytest.mark.parametrize("pair", ["i8 i8", "u8 i8", "i8 u8", "u8 u8", "i16 i8"])
def test_small_whole_numbers_add_up_in_32_bits(target: str, pair: str) -> None:
    rng = np.random.default_rng(3)
    left, right = (WHOLE[name] for name in pair.split())
    for m, n, k in SIZES:
        a, b = whole_numbers(rng, (m, k), left), whole_numbers(rng, (k, n), right)
        want = a.astype(np.int32) @ b.astype(np.int32)
        wide = every_layout(lambda x, y: x.astype(np.int32) @ y.astype(np.int32))
        for i, got in enumerate(wide(*layouts(a), *layouts(b))):
            np.testing.assert_array_equal(got, want, err_msg=f"{pair} {m} {n} {k} {i}")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int64], ids=str)
def test_points_by_small_matrices(dtype: Any, target: str) -> None:
    """Rows of few coordinates by a vector or a small matrix, from either side, are sums; alone and in batches."""
    rng = np.random.default_rng(21)
    programs = [
        wf.jit(lambda x, w: x @ w, target=target),
        wf.jit(lambda x, w: w.T @ np.swapaxes(x, -1, -2), target=target),
    ]
    for k, n in ((1, 4), (2, 2), (3, 3), (3, 1), (8, 4), (8, 5), (4, 8)):
        w = (9 * rng.standard_normal((k, n))).astype(dtype)
        for shape in ((1, k), (7, k), (1001, k), (5, 33, k), (0, k)):
            x = (9 * rng.standard_normal(shape)).astype(dtype)
            if np.dtype(dtype).kind == "f" and x.size > 9:
                x.flat[4] = np.inf
            for program, function in zip(
                programs, (lambda x, w: x @ w, lambda x, w: w.T @ np.swapaxes(x, -1, -2)), strict=True
            ):
                with np.errstate(invalid="ignore"):
                    asked, given = function(x, w), program(x, w)
                tolerance = 1e-5 if np.dtype(dtype).itemsize * (1 + (np.dtype(dtype).kind != "c")) <= 8 else 1e-13
                np.testing.assert_allclose(given, asked, rtol=tolerance, atol=tolerance * 100)


def test_constant_matrices_are_packed_in_their_type(target: str) -> None:
    rng = np.random.default_rng(4)
    for m, n, k in [(8, 40, 33), (13, 97, 37), (64, 64, 600), (9, 33, 1)]:
        for element, dtype in {
            "f32": np.dtype(np.float32),
            "bf16": np.dtype(ml_dtypes.bfloat16),
            "i8": np.dtype(np.int8),
        }.items():
            if element == "i8":
                a, b = whole_numbers(rng, (m, k), dtype), whole_numbers(rng, (k, n), dtype)
            else:
                a, b = (rng.standard_normal(s).astype(dtype) for s in ((m, k), (k, n)))
            text = f"""func.func @main(%x: tensor<{m}x{k}x{element}>) -> tensor<{m}x{n}x{element}> {{
              %w = stablehlo.constant dense<"0x{b.tobytes().hex().upper()}"> : tensor<{k}x{n}x{element}>
              %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
                : (tensor<{m}x{k}x{element}>, tensor<{k}x{n}x{element}>) -> tensor<{m}x{n}x{element}>
              return %y : tensor<{m}x{n}x{element}>
            }}"""
            program = wf.compile(wf.stablehlo.parse(text))
            assert [kernel.name.split("_")[0] for kernel in program.kernels] == ["pack", "dot"]
            if element == "bf16" and target == "native" and multiplies_bf16():
                assert program.memory["persistent"] <= 2 * (k + 3) * (-(-n // 64) * 64)
            got = program(a)
            if element == "i8":
                np.testing.assert_array_equal(got, a @ b)
            else:
                exact = a.astype(np.float64) @ b.astype(np.float64)
                size = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
                limit = size * 2.0**-23 * (k**0.5 + 2) + np.abs(exact) * (2.0**-8 if element == "bf16" else 0)
                assert (np.abs(got.astype(np.float64) - exact) <= limit).all()


def test_constant_matrices_may_be_results_too() -> None:
    x = np.random.default_rng(6).standard_normal((12, 12))

    def times(x: Any, n: int) -> Any:
        w = np.full((12, n), 0.5)
        return x @ w, w, w.T

    def columns(x: Any) -> Any:
        w = np.full((12, 6), 0.5)
        return x @ w, w

    def windows(x: Any) -> Any:
        w = np.full((3, 3), 0.5)
        return np.einsum("abij,ij->ab", np.lib.stride_tricks.sliding_window_view(x, (3, 3)), w), w

    def branch(x: Any) -> Any:
        return wf.cond(x[0, 0] > 9, lambda x: (x[:, :6], x[:, 6:]), columns, x)

    packed = wf.compile(lambda x: times(x, 5), x)
    assert any(kernel.name.startswith("pack_") for kernel in packed.kernels)
    for f in (lambda x: times(x, 5), columns, windows, branch):
        program = wf.compile(f, x)
        for got, want in zip(program(x), wf.simulate(f)(x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weights", ["i8", "u8", "i16", "bf16", "f16"])
def test_weights_are_widened_on_the_way(target: str, weights: str) -> None:
    rng = np.random.default_rng(5)
    dtype = (WHOLE | FLOATS)[weights]
    for m, n, k in [(1, 128, 96), (1, 140, 77), (3, 64, 40), (20, 33, 70), (60, 64, 64)]:
        x, scale = rng.standard_normal((m, k), np.float32), rng.random(n, np.float32)
        w = whole_numbers(rng, (k, n), dtype) if weights in WHOLE else rng.standard_normal((k, n)).astype(dtype)
        exact = (x.astype(np.float64) @ w.astype(np.float64)) * scale
        size = (np.abs(x).astype(np.float64) @ np.abs(w.astype(np.float64))) * scale
        f = wf.jit(lambda x, w, wt, s: [(x @ w.astype(np.float32)) * s, (x @ wt.T.astype(np.float32)) * s])
        results = f(x, w, np.ascontiguousarray(w.T), scale)
        assert len(wf.compile(f, x, w, np.ascontiguousarray(w.T), scale).kernels) == 2
        for got in results:
            assert (np.abs(got - exact) <= size * 2.0**-22 * (k**0.5 + 2)).all(), (m, n, k)


def test_results_are_the_same_bits_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(6)
    for dtype in FLOATS.values():
        for m, n, k in [(1, 700, 400), (5, 300, 700), (40, 200, 300), (300, 170, 530)]:
            a, b = (rng.standard_normal(s).astype(dtype) for s in ((m, k), (k, n)))
            compiled = wf.jit(lambda x, y: [x @ y, np.maximum(y.T @ x.T, 0)])
            results = []
            for threads in (1, 2, 5):
                wf.set_num_threads(threads)
                results.append([r.tobytes() for r in compiled(a, b)])
            wf.set_num_threads(0)
            assert results[0] == results[1] == results[2], (dtype, m, n, k)


def nibbles(packed: Any, axis: int) -> Any:
    """Two whole numbers of four bits from each byte: the low halves, then the high ones."""
    return np.concatenate([packed & 15, packed >> 4], axis=axis).astype(np.float32) - 8


@pytest.mark.parametrize("rows", [1, 3, 8])
def test_weights_of_four_bits_are_not_stored_as_floats(target: str, rows: int) -> None:
    rng = np.random.default_rng(7)
    packed = rng.integers(0, 256, (48, 70), dtype=np.uint8)
    columns, scale = np.ascontiguousarray(packed.T), rng.random(70, np.float32)
    signed = rng.integers(-128, 128, (96, 70), dtype=np.int8)
    x = rng.standard_normal((rows, 96), np.float32)
    functions: list[tuple[Any, Any]] = [
        (lambda x, w: (x @ nibbles(w, 0)) * scale, packed),
        (lambda x, w: (x @ nibbles(w, 1).T) * scale, columns),
        (
            lambda x, w: x[:, :48] @ ((w & 15).astype(np.float32) - 8) + x[:, 48:] @ ((w >> 4).astype(np.float32) - 8),
            packed,
        ),
        (lambda x, w: x @ (w.astype(np.float32) * scale), signed),
        (lambda x, w: x @ ((w >> 4).astype(np.float32) - 120), signed),
        (lambda x, w: x @ ((w + w).astype(np.float32) + 1), signed),
    ]
    for i, (f, w) in enumerate(functions):
        exact = f(x.astype(np.float64), w)
        got = wf.jit(f)(x, w)
        np.testing.assert_allclose(got, exact, rtol=0, atol=2.0**-20 * np.abs(exact).max() * 8, err_msg=str(i))


FOURS: dict[str, tuple[type, Any]] = {
    "low": (np.uint8, lambda w: w & 15),
    "high": (np.uint8, lambda w: w >> 4),
    "low less 8": (np.uint8, lambda w: (w & 15).astype(np.float32) - 8),
    "high less 8": (np.uint8, lambda w: (w >> 4).astype(np.int8) - np.int8(8)),
    "signed low": (np.int8, lambda w: (w << 4) >> 4),
    "signed high": (np.int8, lambda w: w >> 4),
    "signed high and 100": (np.int8, lambda w: (w >> 4) + np.int8(100)),
    "high of signed": (np.int8, lambda w: (w >> 4) & 15),
    "low of signed": (np.int8, lambda w: w & np.int8(15)),
}


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", FOURS)
def test_rows_by_weights_of_four_bits_read_them_where_they_lie(target: str, name: str, dtype: type) -> None:
    rng, (byte, four), wide = (
        np.random.default_rng(8),
        FOURS[name],
        max(dtype, np.float32, key=lambda t: np.dtype(t).itemsize),
    )
    functions = (
        lambda x, w: x.astype(wide) @ four(w).astype(wide),
        lambda x, w: x.astype(wide) @ four(w).astype(wide).T,
    )
    for rows, k, n in ((2, 64, 96), (8, 37, 45), (30, 64, 33), (70, 301, 64)):
        x = rng.integers(-8, 8, (rows, k)).astype(dtype)  # sums are exact
        w = rng.integers(np.iinfo(byte).min, np.iinfo(byte).max + 1, (k, n)).astype(byte)
        for f, given in zip(functions, (w, np.ascontiguousarray(w.T)), strict=True):
            compiled, wanted = wf.compile(f, x, given), f(x, given)
            assert np.array_equal(compiled(x, given), wanted), (rows, k, n)
            assert len(compiled.kernels) == 1 and compiled.memory["arena"] == 0
            if k < 64:
                assert np.array_equal(wf.trace(f, x, given).core.interpret_kernels([x, given])[0], wanted)


def test_bytes_by_weights_of_four_bits() -> None:
    rng = np.random.default_rng(3)
    x, w = rng.integers(0, 256, (8, 64), dtype=np.uint8), rng.integers(0, 256, (64, 64), dtype=np.uint8)
    four = lambda w: (w & 15).astype(np.float32) - 8
    for f in (
        lambda x, w: x.astype(np.float32) @ four(w),
        lambda x, w: x.astype(np.int8).astype(np.float32) @ four(w),
        lambda x, w: four(x) @ four(w),
        lambda x, w: four(w) @ four(w),
        lambda x, w: four(w).T @ four(w),
    ):
        np.testing.assert_array_equal(wf.jit(f)(x, w), f(x, w))


def test_a_row_by_computed_weights_keeps_infinities_and_types() -> None:
    w = np.array([[0, 255], [16, 1]], np.uint8)
    x = np.array([[np.inf, 1.0]], np.float32)
    f = wf.jit(lambda x, w: x @ ((w & 15).astype(np.float32) + 1))
    np.testing.assert_array_equal(f(x, w), x @ ((w & 15).astype(np.float32) + 1))
    half = wf.jit(lambda x, w: x @ ((w & 15).astype(np.float16) - np.float16(8)))
    y = np.ones((1, 2), np.float16)
    assert half(y, w).dtype == np.float16
    np.testing.assert_array_equal(half(y, w), y @ ((w & 15).astype(np.float16) - np.float16(8)))


def test_values_of_two_bytes_are_stored_as_such_between_products() -> None:
    rng, bf16 = np.random.default_rng(9), np.dtype(ml_dtypes.bfloat16)
    x, v, w = (rng.standard_normal(s).astype(bf16) for s in ((64, 96), (96, 128), (128, 32)))

    def plain(x: Any) -> Any:
        return (x @ v).astype(bf16) @ w

    def moved(x: Any) -> Any:
        y = (x @ v).astype(bf16).reshape(64, 4, 32).transpose(1, 0, 2).copy()
        return y.transpose(1, 0, 2).reshape(64, 128) @ w

    for f, stored in ((plain, 1), (moved, 2)):
        found, want = wf.jit(f)(x), f(x)
        assert found.dtype == want.dtype
        np.testing.assert_allclose(found, want, rtol=1e-2, atol=0.3)
        assert wf.compile(f, x).memory["arena"] <= stored * 64 * 128 * bf16.itemsize


@pytest.mark.parametrize("rows", [5, 8, 47, 49, 56, 97, 1056, 1057])
def test_rows_that_lie_whole_pages_apart(rows: int) -> None:
    rng = np.random.default_rng(rows)
    x, w = rng.normal(size=(rows, 1024)).astype(np.float32), rng.normal(size=(1024, 40)).astype(np.float32)
    wanted = x.astype(np.float64) @ w
    for f, args in ((lambda x, w: x @ w, (x, w)), (lambda x: x @ w, (x,))):
        assert np.abs(wf.jit(f)(*args) - wanted).max() < 1e-3
    any_rows = wf.jit(lambda x: x @ w, dynamic={"x": {0: wf.Dim("n", 1, 64, 3000)}})
    assert np.abs(any_rows(x) - wanted).max() < 1e-3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("m", "n", "k"), [(25, 128, 7), (100, 300, 33), (257, 150, 1100), (1060, 130, 300), (64, 512, 4096)]
)
def test_a_left_operand_that_is_packed_gives_the_bits_of_one_in_place(
    m: int, n: int, k: int, dtype: Any, target: str
) -> None:
    rng = np.random.default_rng(m)
    x, y = rng.normal(size=(k, m)).astype(dtype), rng.normal(size=(k, n)).astype(dtype)
    apart = np.zeros((m, 8192 if k < 8192 else 16384), dtype)[:, :k]  # rows that are a multiple of 16 KB apart
    apart[:] = x.T
    for threads in (1, 3):
        with wf.knobs(threads=threads):
            wanted = wf.compile(lambda x, y: np.tanh(x @ y), x.T.copy(), y)(x.T.copy(), y)
            np.testing.assert_array_equal(wf.compile(lambda x, y: np.tanh(x.T @ y), x, y)(x, y), wanted)
            np.testing.assert_array_equal(wf.compile(lambda x, y: np.tanh(x @ y), apart, y)(apart, y), wanted)
    np.testing.assert_allclose(wanted, np.tanh(x.T.astype(np.float64) @ y), atol=1e-3 if dtype == np.float32 else 1e-10)


def test_a_large_transposed_left_operand_is_stored_first():
    rng = np.random.default_rng(0)
    x, y = rng.random((3000, 400)), rng.random((3000, 300))
    product = wf.compile(lambda x, y: x.T @ y, x, y)
    assert len(product.kernels) == 2
    np.testing.assert_allclose(product(x, y), x.T @ y, rtol=1e-12)
    assert len(wf.compile(lambda x, y: x.T @ y, x[:300].copy(), y[:300].copy()).kernels) == 1
    assert len(wf.compile(lambda x, y: x.T @ y, x, y[:, :20].copy()).kernels) == 1


def test_compiled_loops_give_the_bits_of_those_that_are_dumped(
    target: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is dumped is a whole program of its own; others call the loops that were compiled with Weftwork."""
    rng = np.random.default_rng(9)
    monkeypatch.setenv("WEFT_CACHE", "off")
    w = rng.standard_normal((70, 45)).astype(np.float32)
    w.flags.writeable = False
    arrays = [rng.standard_normal(s) for s in ((1, 70), (3, 70), (13, 70), (61, 70), (70, 61), (70, 64), (64, 70))]
    for dtype in (np.float32, np.float64, ml_dtypes.bfloat16, np.float16, np.int8):
        given = [(20 * a).astype(dtype) for a in arrays]

        def products(*xs: Any) -> list[Any]:
            multiply = lambda x, y: np.matmul(x, y, dtype=np.int32) if x.dtype == np.int8 else x @ y
            found = [multiply(x, y) for x in xs[:4] for y in (xs[4], xs[5], xs[6].T)]
            return [*found, multiply(xs[4].T, xs[4]), xs[3].astype(np.float32) @ w]

        found = wf.jit(products)(*given)
        folder = tmp_path / np.dtype(dtype).name
        monkeypatch.setenv("WEFT_DUMP", str(folder))
        whole = wf.jit(products)(*given)
        monkeypatch.delenv("WEFT_DUMP")
        assert "define internal void @weft.tile." in (folder / "products" / "30-emit.ll").read_text()
        assert [x.tobytes() for x in found] == [x.tobytes() for x in whole]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.uint32])
def test_functions_of_four_bits(dtype: Any, target: str) -> None:
    """What comes from the lowest or highest four bits alone is looked up; all of it is what NumPy computes."""
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(info.min, info.max, (37, 517), dtype=dtype, endpoint=True)
    high = info.bits - 4

    def halves(x: Any) -> list[Any]:
        low, top = (x & 15).astype(np.float32), (x >> high).astype(np.float32)
        mixed = ((x & 15) + (x & 7)).astype(np.float32)
        return [
            low - 8,
            low * top,
            3 / (low - 8),
            2 - (top * 0.5 - 8) * (top + 1),
            mixed,
            (low - 8).sum(axis=0),
            x & 15,
            (x & 15) + 0.5,
        ]

    with np.errstate(divide="ignore"):
        wanted = halves(x)
    for ours, known in zip(wf.jit(halves)(x), wanted, strict=True):
        assert ours.dtype == known.dtype
        np.testing.assert_array_equal(ours, known)


@pytest.mark.parametrize("dtype", [*FLOATS.values(), np.int8, np.int16], ids=[*FLOATS, "i8", "i16"])
def test_rows_that_the_first_tile_packs_give_the_bits_of_packed_ones(dtype: Any, target: str) -> None:
    """Rows of an argument are packed by the tile that multiplies by them first, those of a constant before."""
    rng = np.random.default_rng(11)
    multiply = lambda x, y: np.matmul(x, y, dtype=np.int32) if x.dtype.kind == "i" else x @ y
    of_arguments = wf.jit(multiply, dynamic={"x": {0: wf.Dim("rows", 1, 64, 2000)}})
    for m, n, k in [(25, 64, 64), (33, 96, 3), (61, 70, 132), (97, 32, 1030), (50, 64, 4100), (1101, 65, 40)]:
        x, y = ((20 * rng.standard_normal(shape)).astype(dtype) for shape in ((m, k), (k, n)))
        if x.dtype.kind != "i":
            x[0, 0], y[0, 1] = np.inf, np.nan
        fixed = y.copy()
        fixed.flags.writeable = False
        wanted = np.asarray(wf.jit(lambda x, y=fixed: multiply(x, y))(x)).tobytes()
        for threads in (1, 2):
            wf.set_num_threads(threads)
            assert np.asarray(wf.jit(multiply)(x, y)).tobytes() == wanted, (m, n, k)
            assert np.asarray(of_arguments(x, y)).tobytes() == wanted, (m, n, k)
        wf.set_num_threads(0)


@pytest.mark.parametrize("m", [1, 2, 5, 49, 500])
@pytest.mark.parametrize("n", [1, 31, 64])
def test_rows_that_all_rows_of_a_product_read(m: int, n: int, target: str) -> None:
    """They are loaded before the others, those of the argument that is written too."""
    rng = np.random.default_rng(12)

    def add_rows(x: Any, w: Any, bias: Any, y: Any) -> Any:
        y[:] = np.maximum((x @ w - bias) / 2 + y[y.shape[0] // 2] * y, bias[0])

    x, w, bias, y = (rng.integers(-8, 8, shape).astype(np.float32) for shape in ((m, 40), (40, n), (n,), (m, n)))
    for jitted in (
        wf.jit(add_rows),
        wf.jit(add_rows, dynamic={"x": {0: wf.Dim("rows", 1, 64, 2000)}, "y": {0: wf.Dim("rows", 1, 64, 2000)}}),
    ):
        wanted, found = y.copy(), y.copy()
        add_rows(x, w, bias, wanted)
        jitted(x, w, bias, found)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("k", [95, 2100])
@pytest.mark.parametrize("columns", [70, 300])
def test_any_number_of_rows_of_signed_bytes(k: int, columns: int, target: str) -> None:
    """One program, for which few rows read a matrix where it lies and many, with 128 added, are packed by blocks."""
    rng = np.random.default_rng(k + columns)
    y = rng.integers(-128, 128, (k, columns), dtype=np.int8)
    multiply = wf.jit(lambda x, y: np.matmul(x, y, dtype=np.int32), target=target, dynamic={"x": {0: "m"}})
    for rows in (1, 3, 24, 25, 97, 200, 1100):
        x = rng.integers(-128, 128, (rows, k), dtype=np.int8)
        for lhs in (x, np.full_like(x, -128), np.asfortranarray(x), x[::-1]):
            # Exact: BLAS is faster than NumPy's loops for integers.
            expected = lhs.astype(np.float64) @ y.astype(np.float64)
            assert np.array_equal(multiply(lhs, y), expected.astype(np.int32)), (rows, lhs.strides)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, ml_dtypes.bfloat16, np.int8], ids=str)
@pytest.mark.parametrize("rows", [1, 3])
def test_rows_by_many_short_lines_give_the_bits_of_few(dtype: Any, rows: int, target: str) -> None:
    """Lines that are fetched ahead, as those of a cache of keys, and matrices that stay near; as they lie and turned."""
    rng = np.random.default_rng(13)
    multiply = lambda x, y: np.matmul(x, y, dtype=np.int32) if x.dtype.kind == "i" else x @ y
    turned = lambda x, y: multiply(x, y.swapaxes(-1, -2))
    for short, long, count in [(64, 2048, 9), (37, 1003, 31), (100, 700, 32), (3, 4099, 90)]:
        for function, k, n in ((multiply, long, short), (turned, short, long)):
            x = (9 * rng.standard_normal((count, rows, k))).astype(dtype)
            y = (9 * rng.standard_normal((count, k, n) if function is multiply else (count, n, k))).astype(dtype)
            if dtype != np.int8:
                x[0, 0, 0], y[-1, -1, -1], y[0, 0, 1] = np.nan, np.inf, -np.inf
            one = wf.jit(function)
            few = [np.asarray(one(x[i], y[i])) for i in (0, 1, count - 1)]
            any_count = wf.jit(function, dynamic={"x": {0: "n"}, "y": {0: "n"}})
            for threads, jitted in itertools.product((1, 2), (wf.jit(function), any_count)):
                wf.set_num_threads(threads)
                found = np.asarray(jitted(x, y))
                assert [found[i].tobytes() for i in (0, 1, count - 1)] == [part.tobytes() for part in few], (
                    short,
                    long,
                    threads,
                )
            wf.set_num_threads(0)


ROW_LAYOUTS = {
    "as it is": lambda w: w,
    "columns of more": lambda w: w[:, 3:-5],
    "every other row": lambda w: w[::2],
    "widened": lambda w: w.astype(np.float64),
    "columns as rows": lambda w: w.T.copy().T,
}


@pytest.mark.parametrize("layout", ROW_LAYOUTS)
@pytest.mark.parametrize("dtype", [*FLOATS.values(), *WHOLE.values()], ids=[*FLOATS, *WHOLE])
def test_a_row_by_a_large_matrix(dtype: Any, layout: str) -> None:
    """It is multiplied in parts, whose sums are added: the same for any number of threads."""
    rng = np.random.default_rng(6)
    for k, n in ((1024, 1031), (1040, 515), (2064, 1040)):
        if dtype in WHOLE.values():
            x, w = whole_numbers(rng, (1, k), dtype), whole_numbers(rng, (k, n), dtype)
        else:
            x, w = (rng.standard_normal(s).astype(dtype) for s in ((1, k), (k, n)))
        seen = ROW_LAYOUTS[layout](w)
        x = np.ascontiguousarray(x[:, : seen.shape[0]])
        product = wf.jit(lambda x, w: x @ ROW_LAYOUTS[layout](w))
        got = []
        for threads in (1, 2, 5):
            with wf.knobs(threads=threads):
                got += [product(x, w), product(x[0], w)[None]]
        want = x @ seen
        for each in got:
            assert each.dtype == want.dtype and np.array_equal(each, got[0], equal_nan=True)
        if dtype in WHOLE.values() and layout != "widened":
            np.testing.assert_array_equal(got[0], want)
            continue
        exact = x.astype(np.float64) @ seen.astype(np.float64)
        size = np.abs(x.astype(np.float64)) @ np.abs(seen.astype(np.float64))
        unit = 2.0**-52 if want.dtype == np.float64 else 2.0**-23
        last = {np.float16: 2.0**-11, ml_dtypes.bfloat16: 2.0**-8}.get(want.dtype.type, 0)
        limit = size * unit * (k**0.5 + 2) + np.abs(exact) * last
        assert (np.abs(got[0].astype(np.float64) - exact) <= limit).all()


def test_a_row_by_a_large_matrix_of_extremes() -> None:
    x, w = np.ones((1, 1024), np.float32), np.ones((1024, 1024), np.float32)
    w[5, 0], w[6, 1], w[1000, 2], w[7, 3], w[900, 3] = np.inf, -np.inf, np.nan, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wf.jit(lambda x, w: x @ w)(x, w), x @ w)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_a_row_by_large_constants_and_parts_of_stacks(dtype: Any) -> None:
    rng = np.random.default_rng(7)
    x, stack = rng.standard_normal((1, 1536)).astype(dtype), rng.standard_normal((3, 1536, 1000)).astype(dtype)
    fixed = stack[2].copy()
    fixed.flags.writeable = False
    whole = wf.jit(lambda x, w: x @ w)(x, fixed)
    products = wf.jit(lambda x, stack: (x @ stack[2], x @ fixed))
    for _ in range(3):  # constants may be packed by now
        for got in products(x, stack):
            want = x.astype(np.float64) @ fixed.astype(np.float64)
            np.testing.assert_allclose(got.astype(np.float64), want, rtol=2.0**-7, atol=0.5)
        assert np.array_equal(products(x, stack)[0], whole)


def test_a_row_by_matrices_of_any_width() -> None:
    product = wf.jit(lambda x, w: x @ w, dynamic={"w": {1: "n"}})
    rng = np.random.default_rng(8)
    x = rng.standard_normal((1, 2048)).astype(np.float32)
    for n in (1, 17, 1000, 4099):
        w = rng.standard_normal((2048, n)).astype(np.float32)
        np.testing.assert_allclose(product(x, w), x.astype(np.float64) @ w.astype(np.float64), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("columns", [1024, 1500, 2112])
def test_a_row_by_many_weights_of_four_bits(target: str, columns: int) -> None:
    """Rows of bytes side by side, their digits in the order of registers: odd ends, infinities, NaN, any threads."""
    rng = np.random.default_rng(11)
    packed = rng.integers(0, 256, (2051, columns), dtype=np.uint8)
    packed[7, 5::9] = 0x88  # zeros
    functions: list[Any] = [
        lambda x, w: x @ nibbles(w, 0),
        lambda x, w: x[:, 2051:] @ ((w >> 4).astype(np.float32) - 3),
    ]
    for f in functions:
        for x in (rng.standard_normal((1, 4102), np.float32), np.ones((1, 4102), np.float32)):
            compiled, results = wf.jit(f), []
            for threads in (1, 3):
                wf.set_num_threads(threads)
                results.append(compiled(x, packed))
            wf.set_num_threads(0)
            exact = f(x.astype(np.float64), packed)
            np.testing.assert_allclose(results[0], exact, rtol=0, atol=2.0**-19 * np.abs(x).sum())
            assert results[0].tobytes() == results[1].tobytes()
            if (x == 1).all():
                np.testing.assert_array_equal(results[0], exact)
    x = np.zeros((1, 4102), np.float32)
    x[0, 7] = np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wf.jit(functions[0])(x, packed), x @ nibbles(packed, 0))


@pytest.mark.parametrize("columns", [1792, 2081, 4096])
def test_a_row_by_long_lines_of_bytes(target: str, columns: int) -> None:
    rng = np.random.default_rng(13)
    w, x = rng.integers(-128, 128, (1027, columns), dtype=np.int8), rng.integers(-9, 9, (1, 1027)).astype(np.float32)
    np.testing.assert_array_equal(wf.jit(lambda x, w: x @ w.astype(np.float32))(x, w), x @ w.astype(np.float32))


@pytest.mark.parametrize("n", [16384, 16421])
def test_a_row_by_bytes_that_no_cache_holds(n: int) -> None:
    """Lines of them are fetched ahead, beyond their ends too."""
    rng = np.random.default_rng(9)
    x, w = rng.integers(-9, 9, (1, 1608)).astype(np.float32), rng.integers(-128, 128, (1608, n), dtype=np.int8)
    product = wf.jit(lambda x, w: x @ w.astype(np.float32))
    for threads in (1, 3):
        with wf.knobs(threads=threads):
            np.testing.assert_array_equal(product(x, w), x @ w.astype(np.float32))


def grouped(x: Any, w: Any, scale: Any, zero: Any) -> Any:
    """Weights in groups of rows, each with a scale and a zero of its own."""
    (k, n), groups = w.shape, scale.shape[0]
    return x @ ((w.reshape(groups, k // groups, n).astype(x.dtype) - zero[:, None]) * scale[:, None]).reshape(k, n)


def grouped_along(x: Any, w: Any, scale: Any, zero: Any) -> Any:
    """The same of weights that lie along k, widened first."""
    (n, k), groups = w.shape, scale.shape[1]
    return (
        x @ ((w.astype(x.dtype).reshape(n, groups, k // groups) - zero[:, :, None]) * scale[:, :, None]).reshape(n, k).T
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16], ids=["f32", "f64", "f16"])
@pytest.mark.parametrize(
    ("groups", "size", "n"), [(7, 5, 33), (32, 64, 1056), (9, 48, 5001), (66, 33, 1024), (1, 128, 200)]
)
def test_a_row_by_weights_in_groups(dtype: Any, groups: int, size: int, n: int) -> None:
    rng = np.random.default_rng(10)
    w = rng.integers(-128, 128, (groups * size, n), dtype=np.int8)
    scale, zero = rng.uniform(0.01, 0.1, (groups, n)).astype(dtype), rng.integers(-3, 3, (groups, n)).astype(dtype)
    for rows in (1, 3):
        x = rng.standard_normal((rows, groups * size)).astype(dtype)
        wide = [v.astype(np.float64) for v in (x, w, scale, zero)]
        want, size_of_sums = grouped(*wide), np.abs(wide[0]) @ np.abs(grouped(np.eye(groups * size), *wide[1:]))
        unit = {np.float32: 2.0**-22, np.float16: 2.0**-9}.get(dtype, 2.0**-50)
        got = []
        for threads in (1, 3):
            with wf.knobs(threads=threads):
                got.append(wf.jit(grouped)(x, w, scale, zero))
                along = wf.jit(grouped_along)(
                    x, np.ascontiguousarray(w.T), np.ascontiguousarray(scale.T), np.ascontiguousarray(zero.T)
                )
                assert (np.abs(along - want) <= size_of_sums * unit * 4).all()
        assert got[0].tobytes() == got[1].tobytes()
        assert (np.abs(got[0] - want) <= size_of_sums * unit * 4).all()


def test_a_row_by_weights_in_groups_of_extremes() -> None:
    x, w, scale, zero = (
        np.ones((1, 256), np.float32),
        np.ones((256, 1100), np.int8),
        np.ones((4, 1100), np.float32),
        np.zeros((4, 1100), np.float32),
    )
    scale[0, 0], scale[1, 1], scale[2, 2], zero[3, 3] = np.inf, -np.inf, np.nan, np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wf.jit(grouped)(x, w, scale, zero), grouped(x, w, scale, zero))


@pytest.mark.parametrize("first", ["joined", "widened"])
@pytest.mark.parametrize(("groups", "size", "n"), [(32, 64, 1056), (18, 48, 3001), (6, 7, 50), (3, 64, 1024)])
def test_a_row_by_four_bit_weights_in_groups(first: str, groups: int, size: int, n: int) -> None:
    """Two of them in a byte, in the upper and the lower half of the rows; three groups are of both halves."""

    def product(x: Any, w: Any, scale: Any) -> Any:
        halves = np.concatenate([w & 15, w >> 4])
        if first == "widened":
            q = (halves.astype(np.float32) - 8).reshape(groups, size, n)
        else:
            q = halves.reshape(groups, size, n).astype(np.float32) - 8
        return x @ (q * scale[:, None]).reshape(groups * size, n)

    rng = np.random.default_rng(11)
    w = rng.integers(0, 256, (groups * size // 2, n), dtype=np.uint8)
    scale = rng.uniform(0.01, 0.1, (groups, n)).astype(np.float32)
    for rows in (1, 2):
        x = rng.standard_normal((rows, groups * size)).astype(np.float32)
        got = []
        for threads in (1, 3):
            with wf.knobs(threads=threads):
                got.append(wf.jit(product)(x, w, scale))
        assert got[0].tobytes() == got[1].tobytes()
        want = product(x.astype(np.float64), w, scale.astype(np.float64))
        assert (np.abs(got[0] - want) <= np.abs(x).sum() * 0.8 * 2.0**-21).all()


@pytest.mark.parametrize("rows", [1, 2, 8, 16, 17])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize(("groups", "size", "n"), [(4, 32, 48), (6, 34, 33), (2, 64, 200)])
def test_rows_by_weights_in_groups(rows: int, dtype: Any, groups: int, size: int, n: int) -> None:
    rng, k = np.random.default_rng(groups), groups * size
    x = rng.integers(-4, 5, (rows, k)).astype(dtype)  # all sums are exact
    scale = (2.0 ** rng.integers(-2, 3, (groups, 1, n))).astype(np.float64 if dtype is np.float64 else np.float32)
    q = rng.integers(-128, 128, (k, n), dtype=np.int8)
    packed = rng.integers(0, 256, (k // 2, n), dtype=np.uint8)
    wide = scale.dtype

    def int8(x, q, s):
        return x.astype(wide) @ (q.reshape(groups, size, n).astype(wide) * s).reshape(k, n)

    def along(x, q, s):
        return (
            x.astype(wide)
            @ (s.reshape(groups, n).T[:, :, None] * q.T.reshape(n, groups, size).astype(wide)).reshape(n, k).T
        )

    def int4(x, q, s):
        halves = np.concatenate([q & 15, q >> 4]).astype(wide) - 8
        return x.astype(wide) @ (halves.reshape(groups, size, n) * s).reshape(k, n)

    turned = np.ascontiguousarray(q.T).T
    for f, weights in ((int8, q), (along, turned), (int4, packed)):
        np.testing.assert_array_equal(wf.jit(f)(x, weights, scale), f(x, weights, scale), f.__name__)
    if rows * 2 <= size:
        stored = wf.compile(int8, x, q, scale).memory["arena"]
        assert stored <= 2 * groups * rows * n * wide.itemsize
    with_infinities = x.copy()
    with_infinities[0, 1], with_infinities[rows // 2, 2] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(wf.jit(int8)(with_infinities, q, scale), int8(with_infinities, q, scale))


def test_a_row_by_groups_of_joined_lines() -> None:
    """What is joined here are groups, not rows."""

    def product(x: Any, w: Any, scale: Any) -> Any:
        groups = np.concatenate([w & 15, w >> 4]).reshape(64, 32, 64).astype(np.float32)
        return x @ (groups * scale[:, None]).reshape(2048, 64)

    rng = np.random.default_rng(12)
    w, scale = rng.integers(0, 256, (32, 2048), dtype=np.uint8), rng.integers(1, 4, (64, 64)).astype(np.float32)
    x = rng.integers(-4, 5, (1, 2048)).astype(np.float32)
    np.testing.assert_array_equal(wf.jit(product)(x, w, scale), product(x, w, scale))


def test_products_of_costly_rows_that_are_repeated() -> None:
    random = np.random.default_rng(3)

    def pooled(g: Any, w: Any) -> Any:
        return np.broadcast_to((np.exp(g - g.sum(1, keepdims=True)) @ w)[:, None], (16, 32, 128)) * 2

    def grouped(x: Any, w: Any, p: Any) -> Any:
        value = (
            ((x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)) @ w.T).reshape(1, 32, 4, 16).transpose(0, 2, 1, 3)
        )
        return p @ np.broadcast_to(value[:, :, None], (1, 4, 2, 32, 16)).reshape(1, 8, 32, 16)

    for function, shapes in ((pooled, [(16, 128), (128, 128)]), (grouped, [(32, 128), (64, 128), (1, 8, 32, 32)])):
        args = [random.standard_normal(shape) * 0.1 for shape in shapes]
        np.testing.assert_allclose(wf.compile(function, *args)(*args), function(*args), rtol=1e-9)
