"""Every op of the registry, for every element type that it takes: NumPy = interpreter = kernels = machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from weftwork import _core
from weftwork.errors import Error

special = pytest.importorskip("scipy.special")

DTYPES = [
    np.dtype(t)
    for t in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
        *(ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.uint4),
    )
]
OPS = {row["name"]: row for row in _core.op_table()}


def kind(dtype: np.dtype) -> str:
    """b, i, u, f or c, for ml_dtypes' types too."""
    if dtype.kind != "V":
        return dtype.kind
    return "i" if dtype.name.startswith("int") else "u" if dtype.name.startswith("uint") else "f"


def bits(dtype: np.dtype) -> int:
    return 4 if dtype.name in ("int4", "uint4") else dtype.itemsize * 8


def values(dtype: np.dtype, seed: int) -> np.ndarray:
    """Edges and random elements, an odd number of them."""
    rng = np.random.default_rng(seed)
    group = kind(dtype)
    if group == "b":
        return rng.integers(0, 2, 37).astype(bool)
    if group in "iu":
        low = 0 if group == "u" else -(2 ** (bits(dtype) - 1))
        high = low + 2 ** bits(dtype) - 1
        edges = [low, high, 0, 1, min(3, high), max(-1, low)]
        some = rng.integers(max(low, -100), min(high, 100), 31, endpoint=True)
        return (
            np.array([*edges, *some.tolist()], dtype=object)
            .astype(np.int64 if group == "i" else np.uint64)
            .astype(dtype)
        )
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, np.inf, -np.inf, np.nan, 1e-30, 3.5, -2.5]
    reals = np.array([*edges, *rng.normal(0, 2, 24)])
    if group == "c":
        return (rng.normal(0, 2, 37) + 1j * rng.normal(0, 2, 37)).astype(dtype)
    with np.errstate(all="ignore"):
        return reals.astype(dtype)


def computed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function in f32 for narrower floats, rounded once."""

    def run(*arrays: np.ndarray) -> Any:
        dtype = arrays[0].dtype
        narrow = kind(dtype) == "f" and dtype.itemsize < 4
        result = function(*[a.astype(np.float32) if narrow and kind(a.dtype) == "f" else a for a in arrays])
        return result.astype(dtype) if narrow and result.dtype == np.float32 else result

    return run


def wide_integers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Integers of 4 bits wrap as their type does."""

    def run(*arrays: np.ndarray) -> Any:
        dtype = arrays[0].dtype
        if bits(dtype) != 4:
            return function(*arrays)
        result = function(*[a.astype(np.int64) for a in arrays])
        return result.astype(dtype) if result.dtype == np.int64 else result

    return run


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if kind(a.dtype) in "fc":
        return a / b
    zero = b == 0
    minus = (b == -1) if kind(a.dtype) == "i" else np.zeros_like(zero)
    safe = np.where(zero | minus, np.ones_like(b), b)
    quotient = (
        np.abs(a.astype(object))
        // np.abs(safe.astype(object))
        * np.sign(a.astype(object))
        * np.sign(safe.astype(object))
    )
    quotient = np.where(minus, -a.astype(object), quotient)
    wrapped = [int(q) % 2 ** bits(a.dtype) for q in np.where(zero, -1, quotient)]
    signed = [w - 2 ** bits(a.dtype) if kind(a.dtype) == "i" and w >= 2 ** (bits(a.dtype) - 1) else w for w in wrapped]
    return np.array(signed, dtype=object).astype(np.int64 if kind(a.dtype) == "i" else np.uint64).astype(a.dtype)


def remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if kind(a.dtype) == "f":
        return np.fmod(a, b)
    safe = np.where(b == 0, np.ones_like(b), b)
    wide = np.int64 if kind(a.dtype) == "i" else np.uint64
    minus = (safe == -1) if kind(a.dtype) == "i" else np.zeros(a.shape, bool)
    rest = np.fmod(a.astype(wide), np.where(minus, 1, safe.astype(wide)))
    return np.where(b == 0, a, np.where(minus, 0, rest).astype(a.dtype))


def shift(name: str) -> Callable[..., Any]:
    def run(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        width, mask = bits(a.dtype), 2 ** bits(a.dtype) - 1
        out = []
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            x, y = int(x), int(y)
            past = y < 0 or y >= width
            if name == "shift_left":
                r = 0 if past else (x << y) & mask
            elif name == "shift_right_logical":
                r = 0 if past else (x & mask) >> y
            else:
                signed = (x & mask) - 2**width if (x & mask) >> (width - 1) else x & mask
                r = signed >> (width - 1 if past else y)
            r &= mask
            out.append(r - 2**width if kind(a.dtype) == "i" and r >= 2 ** (width - 1) else r)
        return np.array(out, dtype=object).astype(np.int64 if kind(a.dtype) == "i" else np.uint64).astype(a.dtype)

    return run


def sign(x: np.ndarray) -> np.ndarray:
    if kind(x.dtype) == "f":
        return np.where(np.isnan(x) | (x == 0), x, np.sign(x)).astype(x.dtype)
    return np.sign(x)


def round_away(x: np.ndarray) -> np.ndarray:
    whole = np.trunc(x)
    return np.copysign(whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1, x), 0).astype(x.dtype), x)


def ones(x: np.ndarray) -> list[int]:
    return [int(v) & (2 ** bits(x.dtype) - 1) for v in x.tolist()]


def gelu(x: np.ndarray) -> np.ndarray:
    return x * 0.5 * (1 + special.erf(x.astype(np.float64) * np.sqrt(0.5))).astype(x.dtype)


UNARY: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "cbrt": np.cbrt, "ceil": np.ceil, "cosine": np.cos, "exponential": np.exp,
    "exponential_minus_one": np.expm1, "floor": np.floor, "imag": np.imag, "is_finite": np.isfinite, "log": np.log,
    "log_plus_one": np.log1p, "logistic": lambda x: (1 / (1 + np.exp(-x.astype(np.result_type(x, np.float64))))).astype(x.dtype),
    "negate": np.negative, "not": np.invert, "real": np.real, "round_nearest_even": np.rint, "round_nearest_afz": round_away,
    "rsqrt": lambda x: x.dtype.type(1) / np.sqrt(x), "sign": sign, "sine": np.sin, "sqrt": np.sqrt, "tan": np.tan,
    "tanh": np.tanh, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "cosh": np.cosh, "sinh": np.sinh, "erf": special.erf, "erfc": special.erfc,
    "lgamma": lambda x: np.where(np.isinf(x), np.inf, special.gammaln(x)).astype(x.dtype),
    "digamma": special.digamma, "erf_inv": special.erfinv, "bessel_i1e": special.i1e, "exp2": np.exp2, "log2": np.log2, "log10": np.log10, "trunc": np.trunc, "is_nan": np.isnan,
    "is_inf": np.isinf, "signbit": lambda x: np.signbit(x) if kind(x.dtype) == "f" else x < 0, "gelu": gelu,
    "silu": lambda x: x * (1 / (1 + np.exp(-x.astype(np.float64)))).astype(x.dtype),
    "popcnt": lambda x: np.array([v.bit_count() for v in ones(x)]).astype(x.dtype),
    "count_leading_zeros": lambda x: np.array([bits(x.dtype) - v.bit_length() for v in ones(x)]).astype(x.dtype),
}  # fmt: skip
BINARY: dict[str, Callable[..., Any]] = {
    "add": np.add, "and": np.bitwise_and, "atan2": np.arctan2, "divide": divide, "maximum": np.maximum,
    "minimum": np.minimum, "multiply": np.multiply, "next_after": np.nextafter, "or": np.bitwise_or, "power": np.power,
    "remainder": remainder, "subtract": np.subtract, "xor": np.bitwise_xor, "copysign": np.copysign, "hypot": np.hypot, "gcd": np.gcd,
    "logaddexp": np.logaddexp, "heaviside": np.heaviside, "fmax": np.fmax, "fmin": np.fmin,
    "floor_divide": np.floor_divide, "mod": np.mod, "complex": lambda a, b: (a + 1j * b).astype(np.result_type(a.dtype, np.complex64)),
    "polygamma": lambda n, x: special.polygamma(n, x), "zeta": special.zeta,
    **{name: shift(name) for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical")},
}  # fmt: skip

#: Largest error in units of the last place of the result's type: (interpreter, machine code). Others: (1, 1).
ULPS = {
    **dict.fromkeys(("sine", "cosine", "tan", "log", "exponential", "tanh", "cbrt", "rsqrt", "erf"), (4, 4)),
    **dict.fromkeys(("asin", "acos", "atan", "asinh", "acosh", "atanh", "sinh", "cosh", "atan2"), (4, 4)),
    **dict.fromkeys(
        ("exponential_minus_one", "log_plus_one", "logistic", "silu", "logaddexp", "log2", "log10"), (4, 4)
    ),
    # gelu of negative numbers is a small difference of numbers near 1.
    "gelu": (64, 64),
    # erfc, lgamma and digamma are compared where they are far from their roots.
    **dict.fromkeys(("power", "exp2", "hypot"), (2, 2)),
    **dict.fromkeys(("erfc", "lgamma", "digamma", "erf_inv", "bessel_i1e", "polygamma", "zeta"), (64, 64)),
}
#: Complex functions differ between libraries near branch cuts and at large arguments.
COMPLEX_ULPS = 512


def close(actual: np.ndarray, wanted: np.ndarray, ulps: float) -> bool:
    """Whether all elements agree: NaN with NaN, infinities exactly, numbers within so many last places."""
    group = kind(wanted.dtype)
    if group in "biu":
        return bool(np.array_equal(actual.astype(object), wanted.astype(object)))
    wide = np.complex128 if group == "c" else np.float64
    a, w = actual.astype(wide), wanted.astype(wide)
    eps = float(ml_dtypes.finfo(wanted.dtype).eps) if group == "f" else float(np.finfo(wanted.dtype).eps)
    tiny = float(ml_dtypes.finfo(wanted.dtype).smallest_normal) if group == "f" else 1e-30
    with np.errstate(all="ignore"):
        same = (a == w) | (np.isnan(a) & np.isnan(w))
        near = np.abs(a - w) <= ulps * eps * np.maximum(np.abs(w), tiny)
    if group == "c":
        near |= ~np.isfinite(w.real) | ~np.isfinite(w.imag)
    return bool(np.all(same | near))


def graph_of(op: str, arrays: list[np.ndarray], attrs: dict[str, Any] | None = None) -> Any:
    """A graph of the one op; None where the op does not take these types."""
    parameters = [_core.parameter(a.shape, a.dtype, f"x{i}") for i, a in enumerate(arrays)]
    try:
        result = _core.apply(op, parameters, attrs)
    except Error:
        return None
    return _core.record_graph("main", [(p, f"x{i}", -1) for i, p in enumerate(parameters)], [(result, "y", -1)])


def first_by_machine(graph: Any, arrays: list[np.ndarray]) -> np.ndarray:
    result = _core.call(_core.compile(graph), tuple(arrays))
    return result[0] if isinstance(result, tuple) else result


def results(graph: Any, arrays: list[np.ndarray]) -> dict[str, np.ndarray]:
    return {
        "interpreter": graph.interpret(arrays)[0],
        "kernels": graph.interpret_kernels(arrays)[0],
        "machine": first_by_machine(graph, arrays),
    }


def agree(
    op: str, arrays: list[np.ndarray], wanted: np.ndarray, attrs: dict[str, Any] | None = None, ulps: Any = (1, 1)
) -> bool:
    """Runs the op in every way; False where it does not take these types."""
    graph = graph_of(op, arrays, attrs)
    if graph is None:
        return False
    if kind(arrays[0].dtype) == "c" and kind(wanted.dtype) in "cf":
        ulps = (COMPLEX_ULPS, COMPLEX_ULPS)
    for way, actual in results(graph, arrays).items():
        assert actual.dtype == wanted.dtype, (op, way, actual.dtype, wanted.dtype)
        assert actual.shape == wanted.shape, (op, way)
        allowed = ulps[1] if way == "machine" else ulps[0]
        if not close(actual, wanted, allowed):
            bad = [
                (*[a.ravel()[i] for a in arrays if a.size == actual.size], actual.ravel()[i], wanted.ravel()[i])
                for i in range(actual.size)
                if not close(actual.ravel()[i : i + 1], wanted.ravel()[i : i + 1], allowed)
            ]
            raise AssertionError(f"{op} {arrays[0].dtype} {way}: (operands, got, wanted) {bad[:5]}")
    return True


@pytest.mark.parametrize("op", sorted(UNARY))
def test_unary(op: str) -> None:
    taken = 0
    for dtype in DTYPES:
        x = values(dtype, 1)
        if op in ("lgamma", "digamma") and kind(dtype) == "f":
            x = np.maximum(np.abs(x.astype(np.float32)), np.float32(3)).astype(dtype)
        if graph_of(op, [x]) is None:
            continue
        with np.errstate(all="ignore"):
            oracle = UNARY[op] if op in ("popcnt", "count_leading_zeros") else wide_integers(computed(UNARY[op]))
            wanted = np.asarray(oracle(x))
        taken += agree(op, [x], wanted, ulps=ULPS.get(op, (1, 1)))
        taken += agree(op, [x[:0]], wanted[:0]) + agree(
            op, [x[2:3].reshape(())], wanted[2:3].reshape(()), ulps=ULPS.get(op, (1, 1))
        )
    assert taken


@pytest.mark.parametrize("op", sorted(BINARY))
def test_binary(op: str) -> None:
    taken = 0
    for dtype in DTYPES:
        a, b = values(dtype, 2), values(dtype, 3)[::-1].copy()
        if op == "power" and kind(dtype) in "iu":
            b = np.abs(b.astype(np.int64) % 5).astype(dtype)
        if op in ("polygamma", "zeta") and kind(dtype) == "f":
            # Where the sums converge and no result overflows.
            tame = lambda x: np.minimum(np.abs(np.nan_to_num(x.astype(np.float32), posinf=3, neginf=3)), np.float32(6))
            a, b = (np.rint(tame(a)) + (op == "zeta") * 2).astype(dtype), (tame(b) + np.float32(0.5)).astype(dtype)
        if graph_of(op, [a, b]) is None:
            continue
        with np.errstate(all="ignore"):
            oracle = BINARY[op] if op.startswith("shift") else wide_integers(computed(BINARY[op]))
            wanted = np.asarray(oracle(a, b))
        taken += agree(op, [a, b], wanted, ulps=ULPS.get(op, (1, 1)))
        taken += agree(op, [a[:0], b[:0]], wanted[:0])
    assert taken


@pytest.mark.parametrize("direction", ["EQ", "NE", "LT", "LE", "GT", "GE"])
def test_compare(direction: str) -> None:
    function = {
        "EQ": np.equal,
        "NE": np.not_equal,
        "LT": np.less,
        "LE": np.less_equal,
        "GT": np.greater,
        "GE": np.greater_equal,
    }[direction]
    for dtype in DTYPES:
        a, b = values(dtype, 4), values(dtype, 5)
        if kind(dtype) == "c" and direction not in ("EQ", "NE"):
            assert graph_of("compare", [a, b], {"comparison_direction": direction}) is None
            continue
        wanted = np.array([bool(function(x, y)) for x, y in zip(a, b, strict=True)])
        assert agree("compare", [a, b], wanted, {"comparison_direction": direction})


def test_select_and_clamp() -> None:
    for dtype in DTYPES:
        mask, a, b = values(np.dtype(bool), 6), values(dtype, 7), values(dtype, 8)
        assert agree("select", [mask, a, b], np.where(mask, a, b))
        if kind(dtype) in "biu":
            low, high = np.minimum(a, b).astype(dtype), np.maximum(a, b).astype(dtype)
            wanted = np.minimum(np.maximum(a[::-1], low), high).astype(dtype)
            assert agree("clamp", [low, a[::-1].copy(), high], wanted)


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_convert(source: np.dtype) -> None:
    for target in DTYPES:
        x = values(source, 9)
        if kind(source) == "c" and kind(target) not in "c":
            continue
        if kind(source) == "f" and kind(target) in "iu":
            x = np.array([0, 1, 2, 3.5, 7]).astype(source)
        with np.errstate(all="ignore"):
            through = np.int64 if kind(source) == "i" else np.uint64
            wide = x.astype(through) if bits(source) == 4 else x
            if kind(target) in "iu" and bits(target) == 4:
                wanted = (wide.astype(np.int64) & 15).astype(np.int8)
                wanted = np.where((wanted > 7) & (kind(target) == "i"), wanted - 16, wanted).astype(target)
            elif kind(target) == "b":
                wanted = wide != 0
            else:
                wanted = wide.astype(target)
        assert agree("convert", [x], wanted, {"type": target})


def spread(x: np.ndarray, value: np.ndarray) -> np.ndarray:
    """One row before, one between all rows, two columns after."""
    out = np.full((2 * x.shape[0], x.shape[1] + 2), value)
    out[1::2, : x.shape[1]] = x
    return out


STRUCTURAL: list[tuple[str, list[tuple[int, ...]], dict[str, Any], Callable[..., Any]]] = [
    ("reshape", [(3, 4)], {"dims": (2, 6)}, lambda x: x.reshape(2, 6)),
    ("reshape", [(0, 4)], {"dims": (2, 0)}, lambda x: x.reshape(2, 0)),
    ("transpose", [(2, 3, 5)], {"permutation": (2, 0, 1)}, lambda x: x.transpose(2, 0, 1)),
    ("broadcast_in_dim", [(3, 1)], {"dims": (2, 3, 4), "dimensions": (1, 2)}, lambda x: np.broadcast_to(x, (2, 3, 4))),
    ("broadcast_in_dim", [()], {"dims": (7,), "dimensions": ()}, lambda x: np.broadcast_to(x, (7,))),
    ("slice", [(7, 5)], {"start_indices": (1, 0), "limit_indices": (7, 4), "strides": (2, 3)}, lambda x: x[1:7:2, 0:4:3]),
    ("reverse", [(3, 5)], {"dimensions": (1,)}, lambda x: x[:, ::-1]),
    ("concatenate", [(2, 3), (2, 0), (2, 4)], {"dimension": 1}, lambda *xs: np.concatenate(xs, 1)),
    ("concatenate", [(1, 3), (2, 3)], {"dimension": 0}, lambda *xs: np.concatenate(xs, 0)),
    ("pad", [(3, 4), ()], {"edge_padding_low": (1, 0), "edge_padding_high": (0, 2), "interior_padding": (1, 0)},
     lambda x, v: spread(x, v)),
    ("pad", [(5,), ()], {"edge_padding_low": (-1,), "edge_padding_high": (-2,), "interior_padding": (0,)}, lambda x, v: x[1:3]),
    ("reduce_max", [(5, 33)], {"axes": (1,), "keepdims": False}, lambda x: x.max(1)),
    ("reduce_min", [(5, 33)], {"axes": (0,), "keepdims": True}, lambda x: x.min(0, keepdims=True)),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(STRUCTURAL)), ids=lambda i: f"{STRUCTURAL[i][0]}-{i}")
def test_structural(case: int) -> None:
    op, shapes, attrs, oracle = STRUCTURAL[case]
    for dtype in DTYPES:
        if op.startswith("reduce") and (kind(dtype) == "c" or dtype not in DTYPES[:14]):
            continue
        arrays = [np.resize(values(dtype, 10 + i), shape).astype(dtype) for i, shape in enumerate(shapes)]
        assert agree(op, arrays, np.ascontiguousarray(oracle(*arrays)), attrs)


@pytest.mark.parametrize("axes", [(1,), (0,), (0, 1), ()])
def test_sum_prod_any_all(axes: tuple[int, ...]) -> None:
    for dtype in DTYPES:
        x = np.resize(values(dtype, 20), (6, 17)).astype(dtype)
        if kind(dtype) in "fc":
            rng = np.random.default_rng(1)
            x = rng.uniform(0.5, 1.5, (6, 17)).astype(dtype)
        attrs = {"axes": axes, "keepdims": False}
        if kind(dtype) == "b":
            assert agree("any", [x], np.asarray(x.any(axes)), attrs)
            assert agree("all", [x], np.asarray(x.all(axes)), attrs)
            continue
        wide = np.float64 if kind(dtype) == "f" else np.complex128 if kind(dtype) == "c" else object
        for op, function in (("sum", np.sum), ("prod", np.prod)):
            exact = np.asarray(function(x.astype(wide), axis=axes))
            if wide is object:
                wrapped = np.array([int(v) % 2 ** bits(dtype) for v in exact.ravel()], dtype=object).reshape(
                    exact.shape
                )
                if kind(dtype) == "i":
                    wrapped = np.where(wrapped >= 2 ** (bits(dtype) - 1), wrapped - 2 ** bits(dtype), wrapped)
                exact = wrapped.astype(np.int64 if kind(dtype) == "i" else np.uint64)
            assert agree(op, [x], exact.astype(dtype), attrs, ulps=(16, 16))


@pytest.mark.parametrize("shapes", [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
                                    ((1, 17), (17, 33)), ((13, 70), (70, 35)), ((0, 4), (4, 5)), ((3, 0), (0, 5))])  # fmt: skip
def test_matmul(shapes: tuple) -> None:
    for dtype in DTYPES:
        if kind(dtype) == "b" or bits(dtype) == 4:
            continue
        rng = np.random.default_rng(3)
        a, b = (
            rng.integers(-4, 5, s).astype(dtype) if kind(dtype) != "u" else rng.integers(0, 5, s).astype(dtype)
            for s in shapes
        )
        narrow = kind(dtype) == "f" and dtype.itemsize < 4
        wanted = np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(dtype) if narrow else np.matmul(a, b)
        assert agree("matmul", [a, b], np.asarray(wanted))


def test_argmax_takes_the_first_and_nan() -> None:
    for dtype in DTYPES:
        if kind(dtype) in "bc" or dtype not in DTYPES[:14]:
            continue
        x = np.resize(values(dtype, 30), (5, 15)).astype(dtype)
        for axis in (0, 1):
            assert agree("argmax", [x], x.argmax(axis), {"axis": axis})
            assert agree("argmin", [x], x.argmin(axis), {"axis": axis})


def test_every_element_wise_op_has_an_oracle() -> None:
    missing = [
        name
        for name, row in OPS.items()
        if row["family"] in ("unary", "binary") and name not in UNARY and name not in BINARY
    ]
    assert not missing


GATHER = {"offset_dims": (1,), "collapsed_slice_dims": (0,), "operand_batching_dims": (), "start_indices_batching_dims": (),
          "start_index_map": (0,), "index_vector_dim": 1, "slice_sizes": (1, 3)}  # fmt: skip
SCATTER = {"update_window_dims": (1,), "inserted_window_dims": (0,), "input_batching_dims": (), "scatter_indices_batching_dims": (),
           "scatter_dims_to_operand_dims": (0,), "index_vector_dim": 1, "unique_indices": False}  # fmt: skip


def scattered(parameters: list[Any]) -> Any:
    since = _core.next_serial()
    both = [_core.parameter((), parameters[0].dtype, name) for name in ("was", "new")]
    return _core.apply_all("scatter", parameters, SCATTER, [_core.record_region(both, both[1:], since)[0]])[0]


@pytest.mark.parametrize("index", ["int32", "int64", "uint8"])
def test_gather_scatter_and_dynamic_slices(index: str) -> None:
    places = np.array([[4], [0], [9], [2], [0]]).astype(index)
    inside = np.minimum(places[:, 0].astype(int), 4)
    for dtype in DTYPES:
        x = np.resize(values(dtype, 40), (5, 3)).astype(dtype)
        updates = np.resize(values(dtype, 41), (5, 3)).astype(dtype)
        assert agree("gather", [x, places], x[inside], GATHER)
        wanted = x.copy()
        for row, place in enumerate(places[:, 0].tolist()):
            if place < 5:
                wanted[place] = updates[row]
        check_graph(scattered, [x, places, updates], wanted)
        start = [np.array(3).astype(index), np.array(1).astype(index)]
        assert agree("dynamic_slice", [x, *start], x[3:5, 1:3], {"slice_sizes": (2, 2)})
        part = updates[:2, :2].copy()
        wanted = x.copy()
        wanted[3:5, 1:3] = part
        assert agree("dynamic_update_slice", [x, part, *start], wanted)


def check_graph(build: Callable[..., Any], arrays: list[np.ndarray], wanted: np.ndarray) -> None:
    parameters = [_core.parameter(a.shape, a.dtype, f"x{i}") for i, a in enumerate(arrays)]
    graph = _core.record_graph(
        "main", [(p, f"x{i}", -1) for i, p in enumerate(parameters)], [(build(parameters), "y", -1)]
    )
    for way, actual in results(graph, arrays).items():
        assert actual.dtype == wanted.dtype and close(actual, wanted, 1), way


def test_scatter_adds_in_order() -> None:
    for dtype in DTYPES:
        if kind(dtype) not in "iu" or bits(dtype) == 4:
            continue
        x, places = np.zeros((5, 3), dtype), np.array([[4], [0], [9], [2], [0]])
        updates = np.arange(15).reshape(5, 3).astype(dtype)
        wanted = np.zeros((5, 3), dtype)
        np.add.at(wanted, [4, 0, 2, 0], updates[[0, 1, 3, 4]])
        check_graph(lambda p: _core.apply_with_body("scatter", "add", p, SCATTER), [x, places, updates], wanted)


def test_iota_counts_in_every_type() -> None:
    for dtype in DTYPES:
        if kind(dtype) == "b":
            continue
        graph = _core.record_graph(
            "main", [], [(_core.apply("iota", [], {"type": dtype, "dims": (2, 7), "dimension": 1}), "y", -1)]
        )
        wanted = np.broadcast_to(np.arange(7).astype(dtype), (2, 7))
        for way, actual in results(graph, []).items():
            assert close(actual, wanted, 1), (dtype, way)


def test_rows_in_every_float() -> None:
    for dtype in DTYPES:
        if kind(dtype) != "f" or dtype.itemsize == 1:
            continue
        rng = np.random.default_rng(5)
        x, scale, bias = (rng.normal(size=s).astype(dtype) for s in ((5, 33), 33, 33))
        wide = x.astype(np.float64)
        power = np.exp(wide - wide.max(-1, keepdims=True))
        assert agree("softmax", [x], (power / power.sum(-1, keepdims=True)).astype(dtype), {"axis": 1}, ulps=(8, 8))
        assert agree(
            "mean",
            [x + dtype.type(3)],
            (x + dtype.type(3)).astype(np.float64).mean(1).astype(dtype),
            {"axes": (1,), "keepdims": False},
            ulps=(8, 8),
        )
        assert agree(
            "var", [x], wide.var(1, ddof=1).astype(dtype), {"axes": (1,), "keepdims": False, "ddof": 1.0}, ulps=(16, 16)
        )
        normal = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
        wanted = (normal * scale.astype(np.float64) + bias.astype(np.float64)).astype(dtype)
        for way, actual in results(
            graph_of("layer_norm", [x, scale, bias], {"epsilon": 1e-5}), [x, scale, bias]
        ).items():
            # Near zero the sum of two numbers cancels: an absolute bound in last places of 1.
            error = np.abs(actual.astype(np.float64) - wanted.astype(np.float64)).max()
            assert error <= 16 * float(ml_dtypes.finfo(dtype).eps), (dtype, way, error)
