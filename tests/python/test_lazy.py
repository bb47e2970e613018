"""Lazy arrays: the functions and methods of tensors give what NumPy gives, and are computed when they are used."""

from __future__ import annotations

import copy
import gc
import inspect
import linecache
import pickle
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import array_api_strict
import numpy as np
import pytest
from agreement import close
from test_namespace_draws import Draw, difference, outcome

import weftwork as wf
from weftwork import _core
from weftwork.numpy.asked import public

RNG = np.random.default_rng(5)
DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
SHAPES: list[tuple[int, ...]] = [(), (0,), (2, 1, 3)]
UNARY = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_invert",
    "ceil",
    "conj",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "floor",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_not",
    "negative",
    "positive",
    "real",
    "reciprocal",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
BINARY = [
    "add",
    "atan2",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "copysign",
    "divide",
    "equal",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "less",
    "less_equal",
    "logaddexp",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "nextafter",
    "not_equal",
    "pow",
    "remainder",
    "subtract",
]
REDUCTIONS = ["sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "count_nonzero", "argmax", "argmin"]


def values(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    kind = np.dtype(dtype).kind
    if kind == "b":
        return RNG.integers(0, 2, shape).astype(dtype)
    if kind in "iu":
        return RNG.integers(0 if kind == "u" else -9, 10, shape).astype(dtype)
    numbers = RNG.normal(size=shape) * 3
    return (numbers + 1j * RNG.normal(size=shape) if kind == "c" else numbers).astype(dtype)


def tensors(value: Any) -> Any:
    return wf.asarray(value) if isinstance(value, np.ndarray) else value


def require_same(wanted: Any, found: Any) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(wanted) == len(found)
        for each, other in zip(wanted, found, strict=True):
            require_same(each, other)
    elif isinstance(wanted, (np.ndarray, np.generic)):
        assert isinstance(found, wf.Tensor)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        close(found.numpy(), np.asarray(wanted))
    else:
        assert found == wanted


def compare(function: Callable[..., Any], *args: Any) -> None:
    """``function`` of the namespace and these arguments; where NumPy raises, an error of that class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = function(np, *args)
        except Exception as error:
            with pytest.raises(Exception) as raised:
                wf.eval(function(wf, *map(tensors, args)))
            assert isinstance(raised.value, type(error)) or isinstance(error, type(raised.value).__mro__)
            return
        require_same(wanted, function(wf, *map(tensors, args)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_one_tensor(dtype: str) -> None:
    for shape in SHAPES:
        for name in UNARY:
            compare(lambda xp, x, name=name: getattr(xp, name)(x), values(dtype, shape))
        for name in REDUCTIONS:
            compare(lambda xp, x, name=name: getattr(xp, name)(x), values(dtype, shape))
            if shape:
                compare(lambda xp, x, name=name: getattr(xp, name)(x, axis=-1, keepdims=True), values(dtype, shape))


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_two_tensors(dtype: str) -> None:
    # A third of all, other functions for each pair.
    for i, other in enumerate(DTYPES, DTYPES.index(dtype)):
        for name in BINARY[i % 3 :: 3]:
            compare(lambda xp, x, y, name=name: getattr(xp, name)(x, y), values(dtype, (3, 4)), values(other, (4,)))
    for i, number in enumerate((2, 2.5, True, 1j, -1), DTYPES.index(dtype)):
        for name in BINARY[i % 4 :: 4]:
            compare(lambda xp, x, name=name, number=number: getattr(xp, name)(x, number), values(dtype, (3,)))
            compare(lambda xp, x, name=name, number=number: getattr(xp, name)(number, x), values(dtype, (3,)))


OPERATORS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y, lambda x, y: x // y, lambda x, y: x % y, lambda x, y: x**2,
    lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x == y, lambda x, y: x != y, lambda x, y: x > y, lambda x, y: x >= y, lambda x, y: -x,
    lambda x, y: +x, lambda x, y: abs(x), lambda x, y: ~x, lambda x, y: x & y, lambda x, y: x | y, lambda x, y: x ^ y, lambda x, y: x << 1,
    lambda x, y: x >> 1, lambda x, y: x @ y.T, lambda x, y: 2 + x, lambda x, y: 2 - x, lambda x, y: 2 * x, lambda x, y: 2 / x, lambda x, y: 2 // x,
    lambda x, y: 7 % x, lambda x, y: 2**x, lambda x, y: 5 & x, lambda x, y: 5 | x, lambda x, y: 5 ^ x, lambda x, y: 1 << x, lambda x, y: 99 >> x,
    lambda x, y: x + x[0].tolist(), lambda x, y: x == None, lambda x, y: x + None, lambda x, y: x < 10**30,  # noqa: E711
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32", "float64", "complex128"])
def test_operators(dtype: str) -> None:
    for operator in OPERATORS:
        compare(lambda xp, x, y, operator=operator: operator(x, y), values(dtype, (3, 4)), values(dtype, (3, 4)))


X, Y, V, C = (3, 4), (4, 2), (4,), (2, 3, 4)
FUNCTIONS: list[tuple[Callable[..., Any], tuple]] = [
    (lambda xp, x: x.T, (X,)), (lambda xp, c: c.mT, (C,)), (lambda xp, x: x[1:, ::-1], (X,)), (lambda xp, x: x[1], (X,)), (lambda xp, x: x[1, 2], (X,)),
    (lambda xp, x: x[-1, -2:], (X,)), (lambda xp, x: x[:, None, ...], (X,)), (lambda xp, x: x[x != x[0, 0]], (X,)), (lambda xp, x: x[5], (X,)),
    (lambda xp, x: x[:, xp.asarray([True, False, True, False])], (X,)), (lambda xp, x: x[xp.asarray([2, 0, 0])], (X,)), (lambda xp, x: x[[0, 2]], (X,)),
    (lambda xp, x: x[xp.asarray([2, 0]), xp.asarray([1, -1])], (X,)), (lambda xp, x: x[xp.asarray([3])], (X,)), (lambda xp, x: x["a"], (X,)),
    (lambda xp, x: xp.concat([x, x], axis=1), (X,)), (lambda xp, x: xp.concat([x, x], axis=None), (X,)), (lambda xp, x: xp.stack([x, x], axis=-1), (X,)),
    (lambda xp, x, v: xp.concat([x, v]), (X, V)), (lambda xp, x: xp.expand_dims(x, axis=1), (X,)), (lambda xp, x: xp.flip(x), (X,)),
    (lambda xp, x: xp.flip(x, axis=1), (X,)), (lambda xp, x: xp.roll(x, (1, -2), axis=(0, 1)), (X,)), (lambda xp, x: xp.roll(x, 5), (X,)),
    (lambda xp, c: xp.permute_dims(c, (2, 0, 1)), (C,)), (lambda xp, x: xp.reshape(x, (-1, 6)), (X,)), (lambda xp, x: xp.reshape(x.T, (2, 6)), (X,)),
    (lambda xp, x: xp.reshape(x, (5, -1)), (X,)), (lambda xp, x: xp.squeeze(x[:1], axis=0), (X,)), (lambda xp, x: xp.squeeze(x, axis=0), (X,)),
    (lambda xp, v: xp.broadcast_to(v, (2, 4)), (V,)), (lambda xp, v: xp.broadcast_to(v, (2, 3)), (V,)), (lambda xp, x, v: tuple(xp.broadcast_arrays(x, v)), (X, V)),
    (lambda xp, c: xp.moveaxis(c, 0, -1), (C,)), (lambda xp, x: xp.repeat(x, 2, axis=1), (X,)), (lambda xp, x: xp.repeat(x, xp.asarray([1, 0, 2]), axis=0), (X,)),
    (lambda xp, x: xp.tile(x, (2, 1, 2)), (X,)), (lambda xp, x: tuple(xp.unstack(x, axis=1)), (X,)), (lambda xp, x, y: xp.matmul(x, y), (X, Y)),
    (lambda xp, x, v: x @ v, (X, V)), (lambda xp, y, v: v @ y, (Y, V)), (lambda xp, v: v @ v, (V,)), (lambda xp, x: x @ x, (X,)),
    (lambda xp, x, c: xp.tensordot(x, c, axes=((0, 1), (1, 2))), (X, C)), (lambda xp, x, v: xp.vecdot(x, v), (X, V)), (lambda xp, x: xp.where(x != 0, x, 1), (X,)),
    (lambda xp, x: xp.where(x != 0, x, xp.zeros_like(x)), (X,)), (lambda xp, x: xp.tril(x, k=1), (X,)), (lambda xp, x: xp.triu(x, k=-1), (X,)),
    (lambda xp, x: xp.clip(x, 0, 2) if x.dtype.kind != "c" else x, (X,)), (lambda xp, x: xp.sort(x, axis=0), (X,)), (lambda xp, x: xp.argsort(x, axis=1, stable=True), (X,)),
    (lambda xp, v: xp.searchsorted(xp.sort(v), v), (V,)), (lambda xp, x: xp.take(x, xp.asarray([1, 1, -1]), axis=1), (X,)), (lambda xp, x: xp.take(x, xp.asarray([9]), axis=1), (X,)),
    (lambda xp, x: xp.take_along_axis(x, xp.asarray([[0], [1], [-1]]), axis=1), (X,)), (lambda xp, x: np.sort(xp.unique_values(x)), (X,)), (lambda xp, x: tuple(xp.unique_all(x)), (X,)),
    (lambda xp, x: tuple(xp.unique_counts(x)), (X,)), (lambda xp, x: tuple(xp.unique_inverse(x)), (X,)), (lambda xp, x: xp.nonzero(x), (X,)), (lambda xp, x: xp.isin(x, x[0]), (X,)),
    (lambda xp, x: xp.cumulative_sum(x, axis=1, include_initial=True), (X,)), (lambda xp, v: xp.cumulative_prod(v), (V,)), (lambda xp, x: xp.diff(x, axis=0), (X,)),
    (lambda xp, v: xp.diff(v, prepend=v[:1]), (V,)), (lambda xp, x: xp.astype(x, xp.bool), (X,)), (lambda xp, v: tuple(xp.meshgrid(v, v[:2], indexing="ij")), (V,)),
    (lambda xp: xp.arange(1, 10, 2.5), ()), (lambda xp: xp.arange(5), ()), (lambda xp: xp.arange(5, 1), ()), (lambda xp: xp.linspace(0, 1, 7), ()),
    (lambda xp: xp.linspace(0, 5, 5, endpoint=False, dtype=xp.float32), ()), (lambda xp: xp.eye(3, 4, k=1), ()), (lambda xp: xp.full((2, 3), 7), ()),
    (lambda xp, x: xp.full_like(x, 1), (X,)), (lambda xp: xp.zeros(3, dtype=xp.int32), ()), (lambda xp: xp.ones(()), ()), (lambda xp: xp.zeros((-1, 2)), ()),
    (lambda xp, x: xp.std(x, axis=1, correction=1), (X,)), (lambda xp, x: xp.var(x, correction=0.5), (X,)), (lambda xp, x: xp.mean(x, axis=(0, 1), keepdims=True), (X,)),
    (lambda xp, x: xp.diff(x, 2), (X,)),
    (lambda xp, v: xp.fft.rfftn(v, axes=(0, 0)), (V,)), (lambda xp, x: xp.fft.irfftn(x, axes=(0, 1, 0)), (X,)),
    (lambda xp, x: xp.fft.fft(x), (X,)), (lambda xp, c: xp.fft.fftn(c, axes=(0, 2)), (C,)), (lambda xp, x: xp.fft.irfft(x, n=5), (X,)), (lambda xp, x: xp.fft.fftshift(x), (X,)),
    (lambda xp: xp.fft.fftfreq(5, d=0.1), ()), (lambda xp, x: xp.fft.rfft(x), (X,)), (lambda xp, x: x.sum(0), (X,)), (lambda xp, x: x.reshape(2, 6), (X,)),
    (lambda xp, x: x.astype("f8"), (X,)), (lambda xp, x: x.ravel(), (X,)), (lambda xp, x: x.real, (X,)), (lambda xp, x: np.median(x, axis=0), (X,)),
    (lambda xp, x: np.einsum("ij,kj->ik", x, x), (X,)), (lambda xp, x: np.exp(x), (X,)), (lambda xp, x: np.add.reduce(x, axis=1), (X,)),
    (lambda xp, x: np.concatenate([x, x]), (X,)), (lambda xp, x: np.histogram(x, bins=3), (X,)), (lambda xp, x: x.nonzero(), (X,)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64", "complex128"])
def test_functions_of_whole_tensors(dtype: str) -> None:
    for function, shapes in FUNCTIONS:
        compare(function, *[values(dtype, shape) for shape in shapes])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_linear_algebra(dtype: str) -> None:
    a = values(dtype, (4, 4)) + 6 * np.eye(4, dtype=dtype)
    symmetric, positive, b = (a + a.conj().T) / 2, a @ a.conj().T, values(dtype, (4, 2))
    for function in (
        lambda xp, a: xp.linalg.det(a), lambda xp, a: xp.linalg.inv(a), lambda xp, a: tuple(xp.linalg.slogdet(a)), lambda xp, a: xp.linalg.matrix_power(a, -2),
        lambda xp, a: xp.linalg.matrix_rank(a), lambda xp, a: xp.linalg.matrix_norm(a), lambda xp, a: xp.linalg.matrix_norm(a, ord="nuc"),
        lambda xp, a: xp.linalg.vector_norm(a, axis=1, ord=3), lambda xp, a: xp.linalg.svdvals(a), lambda xp, a: xp.linalg.pinv(a), lambda xp, a: xp.linalg.trace(a),
        lambda xp, a: xp.linalg.diagonal(a, offset=1), lambda xp, a: xp.linalg.outer(a[0], a[1]), lambda xp, a: xp.linalg.cross(a[:, :3], a[:, 1:]),
        lambda xp, a: tuple(xp.linalg.qr(a)), lambda xp, a: xp.linalg.svd(a).S, lambda xp, a: xp.linalg.inv(a * 0), lambda xp, a: xp.linalg.det(a[:2]),
    ):  # fmt: skip
        compare(function, a)
    compare(lambda xp, s: xp.linalg.eigh(s).eigenvalues, symmetric)
    compare(lambda xp, s: xp.linalg.eigvalsh(s), symmetric)
    compare(lambda xp, p: xp.linalg.cholesky(p), positive)
    compare(lambda xp, p: xp.linalg.cholesky(-p), positive)
    compare(lambda xp, a, b: xp.linalg.solve(a, b), a, b)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float64"])
def test_writes_are_seen_through_views(dtype: str) -> None:
    def program(xp: Any, x: Any) -> Any:
        x = xp.asarray(x, copy=True)
        row, turned, flat = x[1], x.T, xp.reshape(x, (-1,))
        row[0] = 1
        turned[2, :] = row[3]
        x[x == 0] = 5
        x += 1
        x[:, ::2] *= 2
        x[0] = x[1]
        x[xp.asarray([0, 2]), 1] = 7
        flat[-1] = 9
        row += x[2]
        taken = x[xp.asarray([0, 1])]
        taken[...] = 0
        return x, row, turned, flat, taken

    compare(program, values(dtype, (3, 4)))


def test_what_was_given_stays_what_it_was() -> None:
    array = np.arange(4.0)
    x = wf.asarray(array)
    array[0] = 9
    assert x.tolist() == [0, 1, 2, 3]
    seen = x.numpy()
    x[1] = 5
    assert seen.tolist() == [0, 1, 2, 3] and x.tolist() == [0, 5, 2, 3]
    assert not seen.flags.writeable and np.array(x).flags.writeable
    y = x + 0
    x += 1
    assert y.tolist() == [0, 5, 2, 3]


def test_a_tensor_is_computed_when_it_is_used() -> None:
    x = wf.asarray(np.ones(3))
    y, unused = x * 2, x * 3
    assert not y.is_computed
    assert float(y.sum()) == 6
    assert y.is_computed and not unused.is_computed  # what is held and was needed is kept
    for use in (
        str,
        repr,
        bool,
        float,
        int,
        complex,
        list,
        len,
        np.asarray,
        lambda t: f"{t:.1f}",
        lambda t: t.item(),
        lambda t: [0, 1, 2, 3][t.astype(int)],
    ):
        one = wf.asarray(np.ones(1))[0] + 0 if use is not list and use is not len else wf.asarray(np.ones(1)) + 0
        use(one)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError, match="0-d"):
        iter(x.sum())


def test_a_tensor_as_an_index_makes_a_copy_that_is_written_back() -> None:
    def program(xp: Any, x: Any) -> Any:
        x, i = xp.asarray(x, copy=True), xp.asarray(1)
        row = x[i]
        row[0] = 7
        x[i] *= 2
        x[i, :] += 1
        x[xp.argmax(x[:, 0])] -= 3
        x[i, ..., 1] = 5
        return x, row

    compare(program, values("float64", (3, 2)))
    x = wf.asarray(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="read-only"):
        wf.broadcast_to(x, (2, 3, 2))[0, 0, 0] = 1


def test_what_an_array_tells_of_its_memory() -> None:
    x = wf.asarray(np.arange(6.0).reshape(2, 3)).T
    assert x.strides == (16, 8) and not x.flags.writeable and list(x.flat) == [0, 3, 1, 4, 2, 5]
    assert memoryview(x.data).tolist() == x.tolist()


def test_repr() -> None:
    assert repr(wf.asarray([1, 2])) == "Tensor([1, 2])"
    assert repr(wf.asarray([1.5], dtype=wf.float32)) == "Tensor([1.5], dtype=float32)"
    assert repr(wf.zeros((0, 3))) == "Tensor([], shape=(0, 3), dtype=float64)"
    assert repr(wf.asarray(True)) == "Tensor(True)"


def test_a_loop_that_reads_a_value_each_turn_holds_one_turn() -> None:
    x, w = wf.asarray(values("float64", (64,))), wf.asarray(values("float64", (64,)))
    target = np.array(w)
    _core.eval_counts()
    programs = []
    for _ in range(30):
        loss = ((w - x) * (w - x)).sum()
        w = w - 0.1 * (w - x)
        assert float(loss) >= 0
        programs.append(_core.eval_counts()[1])
    for _ in range(30):
        target = target - 0.1 * (target - np.array(x))
    close(w.numpy(), target)
    assert programs[-1] == programs[4]


def test_a_long_chain_is_computed_in_between() -> None:
    x = wf.asarray(np.zeros(4))
    for _ in range(20_000):
        x = x + 1
    assert x.tolist() == [20_000] * 4
    y = wf.asarray(np.zeros(4))
    for _ in range(5_000):
        y += 1
    assert y.tolist() == [5_000] * 4


def test_other_elements_and_numbers_compile_nothing() -> None:
    def program(x: Any, rate: float) -> Any:
        return (wf.exp(x) * rate + 0.5).sum()

    for i in range(4):
        program(wf.asarray(values("float32", (17,))), 0.1 + i).eval()
    before = _core.eval_counts()
    for i in range(10):
        program(wf.asarray(values("float32", (17,))), 0.3 * i).eval()
    assert _core.eval_counts()[:2] == (before[0] + 10, before[1])


@pytest.mark.parametrize(
    "program",
    [
        lambda x, i: x[i],
        lambda x, i: x[i, i % 3],
        lambda x, i: x[4 * i : 4 * i + 4].sum(axis=0) * float(i),
        lambda x, i: x[i : i + 11 : 2, ::3] + x[i + 1 : i + 12 : 2, ::3],
        lambda x, i: x[i + 8 : i : -2] - 1.5,
        lambda x, i: x[[i, i + 2, 5 * i]] * 2.0,
        lambda x, i: x[i : i + 20] @ x[i : i + 20].T,
        lambda x, i: x[i:i],
    ],
)
def test_other_places_compile_nothing(program: Callable[..., Any]) -> None:
    given = values("float64", (200, 7))
    x = wf.asarray(given)
    for i in range(4):
        close(program(x, i).numpy(), program(given, i))
    before = _core.eval_counts()
    for i in range(4, 40):
        close(program(x, i).numpy(), program(given, i))
    assert _core.eval_counts()[:2] == (before[0] + 36, before[1])


def test_writes_at_other_places_compile_nothing() -> None:
    x, wanted = wf.asarray(np.zeros((60, 6))), np.zeros((60, 6))
    programs = []
    for i in range(50):
        for y in (x, wanted):
            y[i] = y[i - 1] * 0.5 + i
            y[i : i + 3, 1:4] += y[i, 0]
        assert float(x[i, 2]) == wanted[i, 2]
        programs.append(_core.eval_counts()[1])
    close(x.numpy(), wanted)
    assert programs[-1] == programs[8]


def test_a_table_that_is_read_while_it_is_filled_is_not_filled_again() -> None:
    first, second = "kitten sits on the mitten", "sitting in the kitchen"

    def distance(d: Any) -> Any:
        for i in range(len(first) + 1):
            d[i, 0] = i
        for j in range(len(second) + 1):
            d[0, j] = j
        for i in range(1, len(first) + 1):
            for j in range(1, len(second) + 1):
                replaced = float(d[i - 1, j - 1]) + (first[i - 1] != second[j - 1])
                d[i, j] = min(float(d[i - 1, j]) + 1, float(d[i, j - 1]) + 1, replaced)
        return d

    shape = len(first) + 1, len(second) + 1
    before = _core.eval_counts()
    found = distance(wf.zeros(shape))
    assert _core.eval_counts()[1] - before[1] < 20
    assert np.array_equal(found.numpy(), distance(np.zeros(shape)))


def test_a_line_that_compiles_again_and_again_is_told() -> None:
    with pytest.warns(wf.RecompilationWarning, match=r"float64\[5\d\][\s\S]*test_lazy.py"):
        for n in range(40, 60):
            (wf.asarray(np.ones(n)) * 3 - 1).sum().eval()


def test_a_line_that_compiles_for_other_constants_is_told() -> None:
    with pytest.warns(wf.RecompilationWarning, match="a shape, a slice or a constant differs"):
        for n in range(40, 60):
            wf.ones(n).sum().eval()


def test_a_chain_that_grows_from_turn_to_turn_is_told() -> None:
    x = wf.asarray(np.ones(8))
    with pytest.warns(wf.RecompilationWarning, match="calls"):
        for turns in range(1, 20):
            y = x
            for _ in range(turns):
                y = y * 1.5 + 1
            y.eval()


def test_large_values_that_are_held_are_not_made() -> None:
    huge = wf.zeros((100_000, 100_000)) + 1.0
    assert float(huge[5, :10].sum()) == 10
    assert float(huge[6, :10].sum()) == 10
    assert not huge.is_computed


def test_what_is_recorded_can_be_seen() -> None:
    x = wf.asarray(np.ones((2, 3), np.float32))
    graph = (wf.exp(x) @ x.T).graph()
    assert "exponential" in graph.text() and "float32[2, 2]" in graph.text() and "test_lazy.py" in graph.text()
    assert "stablehlo.exponential" in graph.stablehlo() and len(graph.inputs) == 1
    close(wf.simulate(graph)(np.ones((2, 3), np.float32)), (wf.exp(x) @ x.T).numpy())
    assert "&lt;" not in x._repr_html_() and "float32[2, 3]" in x._repr_html_()


def test_errors_name_the_line() -> None:
    x = wf.asarray(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"test_lazy\.py"):
        x + wf.asarray(np.ones((2, 2)))
    taken = wf.take(x, wf.asarray([7]), axis=0)
    with pytest.raises(IndexError, match=r"7[\s\S]*test_lazy\.py"):
        taken.eval()
    with pytest.raises(TypeError):
        wf.asarray(["a"])
    with pytest.raises(ValueError, match="copy"):
        wf.asarray([1.0], copy=False)
    with pytest.raises(ValueError, match="device"):
        wf.zeros(2, device="cpu:1")
    with pytest.raises(ValueError, match="1999"):
        x.__array_namespace__(api_version="1999.12")


def test_numpy_and_tensors_together() -> None:
    array, x = np.arange(3.0), wf.asarray(np.ones(3))
    for made in (array + x, x + array, np.add(array, x), np.stack([x, x]), np.sum(x), np.float64(2) * x):
        assert isinstance(made, wf.Tensor)
    assert np.array_equal(np.asarray(array + x), array + 1)
    out = np.zeros(3)
    assert np.array_equal(np.asarray(x, dtype=np.float32), np.ones(3, np.float32)) and np.asarray(x).base is not None
    assert np.add(array, x, out=out) is out and out.tolist() == [1, 2, 3]
    np.copyto(out, x)
    np.add.at(out, [0, 0], wf.asarray(1.0))
    assert out.tolist() == [3, 1, 1]
    np.put(x, [1], 7)
    assert np.add(x, 1, out=x) is x and x.tolist() == [2, 8, 2]


def test_dlpack() -> None:
    x = wf.asarray(values("float32", (3, 4)))
    there = np.from_dlpack(x)
    assert np.array_equal(there, x.numpy()) and not there.flags.writeable
    assert np.array_equal(np.from_dlpack(x.T), x.numpy().T)
    back = wf.from_dlpack(np.arange(5))
    assert isinstance(back, wf.Tensor) and back.tolist() == [0, 1, 2, 3, 4]
    assert x.__dlpack_device__() == (1, 0)
    torch = pytest.importorskip("torch")
    assert torch.equal(torch.from_dlpack(x * 2), torch.from_numpy(x.numpy() * 2))
    assert wf.asarray(torch.arange(3)).tolist() == [0, 1, 2] and wf.from_dlpack(torch.ones(2)).dtype == wf.float32


COPIES: list[Callable[[Any], Any]] = [
    lambda t: wf.asarray(t, copy=True), lambda t: wf.from_dlpack(t, copy=True), lambda t: t.copy(), copy.copy, copy.deepcopy, np.copy,
    lambda t: t[:].copy(), lambda t: wf.astype(t, wf.float64), lambda t: t.astype(float), lambda t: wf.reshape(t, (5,), copy=True),
    lambda t: +t, wf.conj,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(COPIES)))
def test_copies_do_not_see_what_others_write_by_dlpack(number: int) -> None:
    torch = pytest.importorskip("torch")
    for first, lent, kept in (("copy", 0, 1), ("lend", 0, 1), ("copy", 1, 0), ("lend", 1, 0)):
        both = [wf.arange(5.0)]
        if first == "lend":
            torch.from_dlpack(both[0])
        both.append(COPIES[number](both[0]))
        torch.from_dlpack(both[lent])[0] = 99
        assert both[kept].tolist() == [0, 1, 2, 3, 4]
    # What nobody shares is lent where it lies.
    alone = wf.arange(5.0)
    assert torch.from_dlpack(alone).data_ptr() == alone.numpy().ctypes.data


def test_what_comes_by_dlpack_may_be_written_by_its_owner() -> None:
    torch = pytest.importorskip("torch")
    for given in (torch.ones(3), array_api_strict.ones(3), wf.Buffer(np.ones(3))):
        x = wf.asarray(given) + 1
        (np.asarray(given) if isinstance(given, wf.Buffer) else given)[0] = 5
        assert x.tolist() == [2, 2, 2]
    seen = torch.ones(3)
    x = wf.from_dlpack(seen)
    seen[0] = 5
    assert x.tolist() == [5, 1, 1]


def test_lists_of_tensors_are_found() -> None:
    class Row(list):
        pass

    x = wf.asarray(2) + 0
    for given in ([1, x], ((1, x), (3, 4)), [[1, 2], Row([x, 4])]):
        assert np.array_equal(
            wf.asarray(given),
            np.asarray([[int(v) for v in row] if isinstance(row, (list, tuple)) else int(row) for row in given]),
        )
    assert wf.asarray([]).shape == (0,) and wf.asarray([[1], [2]]).shape == (2, 1)


@pytest.mark.parametrize("other", ["a", b"a", np.array(["a", "b"]), np.datetime64("2020"), [1, "a"], object(), None])
def test_what_is_no_number_is_not_equal(other: Any) -> None:
    compare(lambda xp, x: (x == other, x != other), np.ones(2))


def test_copies_and_pickles() -> None:
    x = wf.asarray([[1.5, 2.5]], dtype=wf.float32) + 1
    for other in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x), wf.asarray(x, copy=True)):
        assert other.dtype == x.dtype and other.tolist() == x.tolist()
        other[0, 0] = 0
        assert x[0, 0] == 2.5


def test_jit_gives_tensors_for_tensors() -> None:
    def step(w: Any, x: Any) -> Any:
        return {"w": w - 0.1 * x, "loss": np.sum(w * x)}

    w, x = values("float64", (5,)), values("float64", (5,))
    for strict in (True, False):
        found, wanted = wf.jit(step, strict=strict)(wf.asarray(w), wf.asarray(x)), step(w, x)
        assert isinstance(found["w"], wf.Tensor) and isinstance(found["loss"], wf.Tensor)
        close(found["w"].numpy(), wanted["w"])
        close(found["loss"].numpy(), wanted["loss"])
    assert isinstance(wf.simulate(step)(wf.asarray(w), wf.asarray(x))["w"], wf.Tensor)
    # The namespace is for functions that are traced, too.
    graph = wf.trace(lambda x: wf.exp(x) + wf.sum(x, axis=0), wf.spec((3,), np.float32))
    assert "exponential" in graph.text()


def test_a_tensor_of_the_surroundings_is_read_at_each_call() -> None:
    held = wf.asarray(np.ones(3))
    plus = wf.jit(lambda x: x + held, strict=False)
    assert np.asarray(plus(np.ones(3))).tolist() == [2, 2, 2]
    held[0] = 5
    assert np.asarray(plus(np.ones(3))).tolist() == [6, 2, 2]
    with pytest.raises(wf.errors.UnsupportedError, match="captured_tensor"):
        wf.jit(lambda x: x + held, strict=True)(np.ones(3))


def test_threads_record_and_evaluate_at_once() -> None:
    shared = wf.asarray(np.arange(100.0)) * 2
    barrier = threading.Barrier(4)

    def work(k: int) -> float:
        barrier.wait()
        total = wf.zeros(100)
        for i in range(20):
            total = total + shared * i + k
            if i % 7 == 0:
                total.eval()
        return float(total.sum())

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(4)))
    assert found == [float(sum((np.arange(100.0) * 2 * i + k).sum() for i in range(20))) for k in range(4)]


def test_several_at_once() -> None:
    x = wf.asarray(np.arange(4.0))
    y, z = x + 1, {"a": [x * 2]}
    before = _core.eval_counts()[0]
    wf.eval(y, z)
    assert y.is_computed and z["a"][0].is_computed and _core.eval_counts()[0] == before + 1
    later = x - 1
    wf.async_eval(later).result(timeout=60)
    assert later.is_computed
    with pytest.raises(IndexError):
        wf.async_eval(wf.take(x, wf.asarray([9]))).result(timeout=60)


def test_what_is_let_go_of_is_freed() -> None:
    gc.collect()
    before = wf.Device().memory["in_use"]
    for _ in range(20):
        x = wf.asarray(np.ones(100_000)) + 1
        x.eval()
    del x
    gc.collect()
    assert wf.Device().memory["in_use"] - before < 4_000_000


# -- drawn calls of NumPy's whole namespace ----------------------------------------------------------------------------


def plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return np.asarray(value) if isinstance(value, (wf.Tensor, np.ndarray, np.generic)) else value


@pytest.mark.parametrize("part", range(4))
def test_drawn_calls(part: int) -> None:
    found = []
    for number in range(60):
        draw = Draw(f"lazy{part}.{number}")
        if not draw.arrays:
            continue
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            wanted, error = outcome(draw.call, draw.arrays)
            got, ours = outcome(lambda *arrays, draw=draw: plain(draw.call(*map(wf.asarray, arrays))), draw.arrays)
            if error is not None or ours is not None:
                agree = error is not None and isinstance(ours, public(type(error)))
            else:
                agree = bool(got) == wanted if isinstance(wanted, bool) else not difference(got, plain(wanted))
        if not agree:
            found.append(f"{draw}: {ours!r} for {error!r}" if error or ours else f"{draw}: {got} for {wanted}")
    assert not found, "\n".join(found)


# -- programs of several fields ----------------------------------------------------------------------------------------


def fixed() -> np.random.Generator:
    return np.random.default_rng(7)


def k_means(xp: Any) -> Any:
    points = xp.asarray(fixed().normal(size=(200, 3)))
    centers = points[:4]
    for _ in range(8):
        nearest = xp.argmin(xp.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2), axis=1)
        centers = xp.stack([xp.mean(points[nearest == k], axis=0) for k in range(4)])
    return centers, nearest


def game_of_life(xp: Any) -> Any:
    grid = xp.asarray((fixed().random((24, 24)) > 0.6).astype(int))
    for _ in range(10):
        around = sum(xp.roll(grid, (i, j), axis=(0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        grid = xp.astype((around == 3) | ((grid == 1) & (around == 2)), xp.int64)
    return grid


def heat(xp: Any) -> Any:
    u = xp.zeros((20, 20))
    u[5:10, 5:10] = 1.0
    for _ in range(30):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


def kalman(xp: Any) -> Any:
    f, h = xp.asarray(np.array([[1, 0.1], [0, 1]])), xp.asarray(np.array([[1.0, 0]]))
    x, p, path = xp.zeros(2), xp.eye(2), []
    for z in fixed().normal(size=20):
        x, p = f @ x, f @ p @ f.T + 0.01 * xp.eye(2)
        gain = p @ h.T @ xp.linalg.inv(h @ p @ h.T + xp.eye(1))
        x, p = x + gain @ (z - h @ x), (xp.eye(2) - gain @ h) @ p
        path.append(x)
    return xp.stack(path)


def adam(xp: Any) -> Any:
    x, y = xp.asarray(fixed().normal(size=(50, 5))), xp.asarray(fixed().normal(size=50))
    w, m, v, losses = xp.zeros(5), xp.zeros(5), xp.zeros(5), []
    for t in range(1, 40):
        gradient = 2 * x.T @ (x @ w - y) / 50
        m, v = 0.9 * m + 0.1 * gradient, 0.99 * v + 0.01 * gradient * gradient
        w = w - 0.05 * (m / (1 - 0.9**t)) / (xp.sqrt(v / (1 - 0.99**t)) + 1e-8)
        losses.append(round(float(xp.mean((x @ w - y) ** 2)), 9))
    return w, losses


def low_pass(xp: Any) -> Any:
    t = xp.linspace(0, 1, 256, endpoint=False)
    spectrum = xp.fft.rfft(xp.sin(6 * xp.pi * t) + 0.3 * xp.sin(120 * xp.pi * t))
    spectrum[20:] = 0
    return xp.fft.irfft(spectrum, n=256)


def sieve(xp: Any) -> Any:
    is_prime = xp.ones(200, dtype=xp.bool)
    is_prime[:2] = False
    for i in range(2, 15):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    return xp.nonzero(is_prime)[0]


def gram_schmidt(xp: Any) -> Any:
    columns, basis = xp.asarray(fixed().normal(size=(6, 4))), []
    for i in range(4):
        v = columns[:, i]
        for u in basis:
            v = v - xp.vecdot(v, u) * u
        basis.append(v / xp.linalg.vector_norm(v))
    return xp.stack(basis, axis=1)


def newton(xp: Any) -> Any:
    x, turns = xp.asarray(np.array([1.0, 2.0, 3.0])), 0
    while xp.max(xp.abs(x * x - 2)) > 1e-12:
        x, turns = x - (x * x - 2) / (2 * x), turns + 1
    return x, turns


def xorshift(xp: Any) -> Any:
    x = xp.asarray(fixed().integers(0, 2**31, 20, dtype=np.uint32))
    x ^= x << 13
    x ^= x >> 17
    x ^= x << 5
    return x, xp.astype(x, xp.float32) / 2**32


@pytest.mark.parametrize(
    "program", [k_means, game_of_life, heat, kalman, adam, low_pass, sieve, gram_schmidt, newton, xorshift]
)
def test_programs(program: Callable[..., Any]) -> None:
    require_same(program(np), program(wf))


def parameters(function: Any) -> list[tuple]:
    found = inspect.signature(function).parameters.values()
    return [
        (p.name if p.kind is not p.POSITIONAL_ONLY else "", p.kind, "default" if p.default is not p.empty else "")
        for p in found
    ]


#: What the standard has by other means of writing it: device= has a default of its own there, axis= is a keyword alone until 2025, as
#: is n= of diff.
OTHER_SIGNATURES = {"expand_dims", "diff"}


@pytest.mark.parametrize("part", ["", "linalg", "fft"])
def test_the_namespace_is_the_standards(part: str) -> None:
    theirs, ours = (getattr(module, part) if part else module for module in (array_api_strict, wf))
    names = [
        n
        for n in (theirs.__all__ if part else array_api_strict.__all__)
        if not n.startswith("__") and "flags" not in n.lower() and n not in ("linalg", "fft", "Device")
    ]
    assert len(names) > 10
    for name in names:
        function = getattr(ours, name)
        assert name in ours.__all__ or not part
        if inspect.isfunction(getattr(theirs, name)) and name not in OTHER_SIGNATURES | {"eig", "eigvals"}:
            assert parameters(function) == parameters(getattr(theirs, name)), name
        if callable(function):
            assert function.__doc__


def test_the_namespace_tells_of_itself() -> None:
    info = wf.asarray(1.0).__array_namespace__(api_version="2024.12").__array_namespace_info__()
    assert (
        info.default_dtypes()["real floating"] == wf.float64 and wf.arange(3).dtype == info.default_dtypes()["indexing"]
    )
    assert set(info.dtypes()) == set(array_api_strict.__array_namespace_info__().dtypes())
    assert info.dtypes(kind="unsigned integer").keys() == {"uint8", "uint16", "uint32", "uint64"}
    assert info.capabilities()["boolean indexing"] and info.devices() == [info.default_device()]
    assert (
        wf.isdtype(wf.float32, "real floating")
        and wf.isdtype(wf.int8, (wf.int8, "bool"))
        and not wf.isdtype(wf.bool, wf.int8)
    )
    assert wf.isdtype(wf.bfloat16, "real floating") and wf.isdtype(wf.bfloat16, ("bool", wf.bfloat16))
    assert {type(limit) for limit in wf.finfo(wf.float32)[1:5]} == {float} == {type(wf.finfo(wf.bfloat16).eps)}
    assert wf.finfo(wf.asarray(1.0)).bits == 64 and wf.iinfo(wf.int8).max == 127 and wf.finfo(wf.bfloat16).bits == 16
    assert wf.result_type(wf.asarray(1, dtype=wf.int8), 2.0) == wf.float64 and wf.can_cast(wf.int8, wf.int16)
    assert wf.__array_api_version__ == "2024.12"


REFUSED: list[tuple[type[Exception], Callable[[], Any]]] = [
    (ValueError, lambda: wf.__array_namespace_info__().dtypes(kind="foo")),
    (ValueError, lambda: wf.__array_namespace_info__().dtypes(device="foo")),
    (ValueError, lambda: wf.__array_namespace_info__().default_dtypes(device="cpu:9")),
    (ValueError, lambda: wf.tril(wf.ones(2))),
    (ValueError, lambda: wf.triu(wf.ones(()))),
    (TypeError, lambda: wf.fft.fftfreq(5, dtype=wf.int64)),
    (TypeError, lambda: wf.fft.rfftfreq(5, dtype=wf.complex64)),
    (TypeError, lambda: wf.isdtype(wf.ones(2), "bool")),
    (TypeError, lambda: wf.astype(wf.ones(2, dtype=wf.complex64), wf.float32)),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_the_standard_refuses(number: int) -> None:
    kind, call = REFUSED[number]
    with pytest.raises(kind):
        call()


A, B = wf.ones((2, 3)), wf.ones(4)  # where they are made


class Holder:
    weight = wf.ones((3, 3))


# What stands under the line: marks under the operands, and what each is.
WRONG: dict[str, tuple[str, list[str]]] = {
    "(A * 2) + B": (
        " ^^^^^    ^",
        ["float64[2, 3] on cpu:0, made at <wrong>:1", "float64[4] on cpu:0, made at test_lazy.py:"],
    ),
    "wf.matmul(A, B)": ("          ^  ^", ["float64[2, 3]", "float64[4]"]),
    "np.concatenate([A, wf.ones((2, 4))], axis=0)": (
        "                ^  ^^^^^^^^^^^^^^^",
        ["float64[2, 3]", "float64[2, 4]"],
    ),
    "A.reshape((5,))": ("^", ["float64[2, 3]"]),
    "A[5]": ("^", ["float64[2, 3]"]),
    "wf.sum(A, axis=3)": ("       ^", ["float64[2, 3]"]),
    "'üü' and B * Holder.weight  # a text": ("         ^   ^^^^^^^^^^^^^", ["float64[4]", "float64[3, 3]"]),
    "A @ np.ones((4, 4)) + 1": ("^   ^^^^^^^^^^^^^^^", ["float64[2, 3]", "float64[4, 4], an array of NumPy"]),
    "A < B": ("^   ^", ["float64[2, 3]", "float64[4]"]),
    "-A + Holder.weight[None, :2, :2]": ("^^   ^^^^^^^^^^^^^^^^^^^^^^^^^^^", ["float64[2, 3]", "float64[1, 2, 2]"]),
    "wf.linalg.inv(A)": ("              ^", ["float64[2, 3]"]),
    "wf.bitwise_and(A, B)": ("               ^  ^", ["float64[2, 3]", "float64[4]"]),
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
@pytest.mark.parametrize("text", WRONG)
def test_errors_mark_the_operands(text, monkeypatch):
    monkeypatch.setitem(linecache.cache, "<wrong>", (len(text), None, [text + "\n"], "<wrong>"))
    with pytest.raises(wf.Error) as error:
        eval(compile(text, "<wrong>", "eval"))
    carets, operands = WRONG[text]
    place, line, marks, *told = error.value.__notes__[0].split("\n")
    assert (place, line, marks) == ("  <wrong>:1", f"    {text}", f"    {carets}")
    assert len(told) == len(operands)
    for line, kind in zip(told, reversed(operands), strict=True):
        assert line.lstrip(" |").startswith(kind)
    assert "<wrong>:1" in str(error.value)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
def test_errors_of_statements_and_of_several_lines():
    y = wf.ones(3)
    with pytest.raises(ValueError) as error:
        y += B
    assert error.value.__notes__[0].split("\n")[1:3] == ["    y += B", "    ^    ^"]
    with pytest.raises(ValueError) as error:
        wf.where(A > 0,
                 B, Holder.weight)  # fmt: skip
    note = error.value.__notes__[0]
    assert "^" not in note and "bool[2, 3]" in note and "float64[3, 3]" in note
    # Without a source there is nothing to show.
    with pytest.raises(ValueError) as error:
        eval("A + B")
    assert "^" not in "".join(getattr(error.value, "__notes__", []))


def test_threads_that_view_one_result_at_once_view_one_array():
    for _ in range(50):
        x = wf.asarray(np.zeros(8)) + 0.0
        with ThreadPoolExecutor(8) as threads:
            views = list(threads.map(lambda i, x=x: x[i:], range(8)))
        for i, view in enumerate(views):
            view[0] = float(i)
        assert x.tolist() == list(map(float, range(8)))


@pytest.mark.parametrize("shape, axis", [((3, 0), 0), ((2, 0, 3), 0), ((0, 3), 1), ((0, 3), 0)])
@pytest.mark.parametrize("index", [5, -9])
def test_indices_outside_raise_where_no_element_is_taken_or_written(shape, axis, index):
    x, places = wf.ones(shape), wf.asarray([index]) + 0
    key = (slice(None),) * axis + (places,)
    if axis == 0:  # NumPy's take looks at no index where there is nothing before the axis
        with pytest.raises(IndexError):
            wf.eval(wf.take(x, places, axis=axis))
    with pytest.raises(IndexError):
        wf.eval(x[key])
    with pytest.raises(IndexError):
        x[key] = 1
        wf.eval(x)
    assert wf.take(x, wf.asarray([], dtype=wf.int64), axis=axis).shape[axis] == 0


def test_a_reshape_that_must_not_copy_raises_where_no_view_is_possible():
    x = wf.arange(6)
    for function in (
        lambda t: wf.reshape(t, (6,), copy=False),
        lambda t: np.reshape(t, 6, copy=False),
        lambda t: t.reshape(6, copy=False),
    ):
        with pytest.raises(ValueError, match="Unable to avoid"):
            function(wf.reshape(x, (2, 3)).T)
    view = wf.reshape(x, (2, 3), copy=False)
    view[0] = 7
    assert x.tolist() == [7, 7, 7, 3, 4, 5]


def test_a_device_has_no_streams():
    assert wf.ones(2).to_device("cpu:0", stream=None).shape == (2,)
    with pytest.raises(ValueError, match="no streams"):
        wf.ones(2).to_device("cpu:0", stream=1)


def test_parts_of_complex_tensors_are_assigned() -> None:
    x = np.arange(4) + 1j
    t = wf.asarray(x.copy())
    rows = t[1:]
    rows.imag, x[1:].imag = 5, 5
    t.real, x.real = wf.asarray([4.0, 3.0, 2.0, 1.0]), np.array([4.0, 3.0, 2.0, 1.0])
    np.testing.assert_array_equal(t.numpy(), x)
    np.testing.assert_array_equal((t * 2).imag.numpy(), (x * 2).imag)
    with pytest.raises(TypeError, match="imaginary part"):
        wf.asarray([1.0]).imag = 2
