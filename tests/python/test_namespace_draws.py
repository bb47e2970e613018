"""Calls of NumPy's whole namespace with drawn arguments, most of them odd: jitted they give what NumPy gives, or raise what it raises.

``python tests/python/test_namespace_draws.py SEED COUNT`` draws more, and prints what differs.
"""

from __future__ import annotations

import copy
import inspect
import random
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weftwork as wf

#: What prints, reads files, is about NumPy itself or leaves memory as it is; and functions that take functions.
LEFT_OUT = frozenset(
    [
        "save",
        "savetxt",
        "savez",
        "savez_compressed",
        "load",
        "loadtxt",
        "genfromtxt",
        "fromfile",
        "show_config",
        "show_runtime",
        "info",
        "test",
        "seterr",
        "seterrcall",
        "setbufsize",
        "set_printoptions",
        "printoptions",
        "geterr",
        "geterrcall",
        "getbufsize",
        "get_printoptions",
        "get_include",
        "busday_count",
        "busday_offset",
        "is_busday",
        "datetime_as_string",
        "datetime_data",
        "fromregex",
        "fromstring",
        "frombuffer",
        "frompyfunc",
        "nested_iters",
        "array2string",
        "array_repr",
        "array_str",
        "format_float_positional",
        "format_float_scientific",
        "binary_repr",
        "base_repr",
        "from_dlpack",
        "fromiter",
        "asmatrix",
        "bmat",
        "typename",
        "mintypecode",
        "require",
        "empty",
        "empty_like",
        "isdtype",
        "promote_types",
        "min_scalar_type",
        "can_cast",
        "common_type",
        "result_type",
        "issubdtype",
        "iterable",
        "putmask",
        "place",
        "copyto",
        "put",
        "put_along_axis",
        "fill_diagonal",
        "piecewise",
        "apply_along_axis",
        "apply_over_axes",
        "fromfunction",
        "einsum_path",
        "dump",
        "dumps",
        "tofile",
        "tobytes",
        "tolist",
        "setflags",
        "getfield",
        "setfield",
        "resize",
        "byteswap",
        "item",
        "to_device",
        "sort",
        "partition",
        "fill",
        "view",
    ]
)
#: Known differences: NaN coefficients, polynomials of no or several dimensions; the signs of vectors, which have tests of their own.
KNOWN = frozenset(["poly", "polyval", "polyder", "histogramdd", "eigh", "svd"])
SHAPES = [(3, 3), (3, 3), (2, 3), (3,), (3,), (0,), (), (1,), (2, 0), (2, 3, 4), (4,)]
DTYPES = ["f8", "f8", "f8", "i8", "i8", "f4", "u1", "?", "c16", "f2", "i4", "u8"]
NAMED: dict[str, list[Any]] = {
    "axis": [None, 0, 1, -1, -2, 2, 5, (0, 1), (0, 0), 1.0, True], "keepdims": [True, False], "k": [0, 1, -1, 5, 2.0], "n": [None, 0, 1, 2, -1, 7],
    "ddof": [0, 1, 5, 1.5], "dtype": [None, "f4", "f8", "i4", "i8", "c16", "u1", bool], "offset": [0, 1, -1], "axis1": [0, 1, -1, 3],
    "axis2": [0, 1, -1, 3], "shift": [0, 1, -2, (1, 2)], "order": ["C", "F", None, "K", 1, 2, np.inf, "fro", "x"], "decimals": [0, 1, -1, 3],
    "repeats": [0, 1, 2, [1, 2, 3]], "kth": [0, 1, -1, 9], "kind": [None, "stable", "quicksort", "linear", "foo"], "side": ["left", "right", "mid"],
    "mode": ["raise", "wrap", "clip", "constant", "edge", "full", "valid", "same", "reflect"], "right": [True, False],
    "bins": [3, 1, 0, [0.0, 1.0, 2.0], [2, 1, 0]], "q": [0.5, [0.1, 0.9], 2.0, -0.1, 50], "method": ["linear", "lower", "nearest", "bad"],
    "where": [True, False], "initial": [0, 1, 5], "indexing": ["ij", "xy", "zz"], "N": [None, 0, 2, 3, -1], "M": [None, 2, 3],
    "num": [0, 1, 5, -1], "reps": [1, 2, (2, 1), 0], "pad_width": [0, 1, (1, 2), ((1, 1), (0, 1)), -1], "newshape": [(-1,), (3, 3), (9,), (2, -1)],
    "shape": [(3, 3), (9,), (2, 3), (-1,), 3, (0,)], "axes": [None, 0, 1, 2, (0, 1), (1, 0), ([0], [0]), (0, 5)], "source": [0, 1, -1, 4],
    "destination": [0, 1, -1, 4], "rowvar": [True, False], "increasing": [True, False], "edge_order": [1, 2, 3],
    "indices_or_sections": [1, 2, 3, [1, 2], 0], "return_index": [True, False], "out": [None], "endpoint": [True, False], "copy": [True, False],
    "assume_unique": [True, False], "full_matrices": [True, False], "UPLO": ["L", "U"], "ord": [None, 1, 2, -1, np.inf, "fro", "nuc", 0, 3],
    "tol": [None], "rcond": [None], "norm": [None, "ortho", "forward", "bad"], "s": [None], "a_min": [0, None], "a_max": [2, None], "prepend": [0],
    "append": [1], "left": [None, 0.0], "period": [None, 2.0], "weights": [None], "returned": [False, True], "minlength": [0, 5, -1],
    "obj": [0, 1, -1, [0, 2], 5], "indices": [0, 1, -1, [0, 2], 9], "start": [0, 1.5, 3, -2], "stop": [0, 1.5, 3, -2], "fill_value": [0, 1.5],
}  # fmt: skip
SEQUENCES = frozenset(["arrays", "arys", "seq", "tup", "arrs"])
TOLERANCE = {2: 2e-2, 4: 1e-4, 8: 1e-7, 16: 1e-7}


def targets() -> list[tuple[str, Any]]:
    spaces = [("", np), ("linalg.", np.linalg), ("fft.", np.fft)]
    found = [
        (prefix + name, f)
        for prefix, space in spaces
        for name, f in sorted(vars(space).items())
        if callable(f) and not isinstance(f, type) and name[0] != "_" and name not in LEFT_OUT | KNOWN
    ]
    methods = [n for n in dir(np.ndarray) if n[0] != "_" and callable(getattr(np.ndarray, n)) and n not in LEFT_OUT]
    return found + [(f"ndarray.{name}", name) for name in methods]


TARGETS = targets()


class Draw:
    """A function or method and its arguments; arrays are arguments of what is jitted, all else is constant."""

    def __init__(self, seed: str) -> None:
        self.random, self.numbers = random.Random(seed), np.random.default_rng(abs(hash_of(seed)))
        self.name, self.target = self.random.choice(TARGETS)
        self.arrays: list[np.ndarray] = []
        self.args, self.kwargs = self.arguments()

    def array(self) -> Any:
        shape, dtype = self.random.choice(SHAPES), self.random.choice(DTYPES)
        values = np.asarray(
            self.numbers.integers(-3, 9, shape)
            if self.random.random() < 0.5
            else self.numbers.standard_normal(shape) * 3,
            float,
        )
        if self.random.random() < 0.07 and dtype[0] in "fc":
            values = np.where(self.numbers.random(shape) < 0.3, np.nan, values)
        self.arrays.append(
            np.asarray(values > 0 if dtype == "?" else (np.abs(values) if dtype[0] == "u" else values).astype(dtype))
        )
        return Place(len(self.arrays) - 1)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        pick = self.random.choice
        if isinstance(self.target, np.ufunc):
            return [
                self.array() if self.random.random() < 0.85 else pick([2, 0, -1, 1.5, True, 1j])
                for _ in range(self.target.nin)
            ], {}
        try:
            parameters = (
                [] if isinstance(self.target, str) else list(inspect.signature(self.target).parameters.values())
            )
        except ValueError:
            parameters = []
        if not parameters:
            others = [0, 1, -1, 2, 5, (1, 0), None, "f4", (9,), (3, 3)]
            return [self.array(), *(pick(others) for _ in range(pick([0, 0, 1, 1, 2])))], {}
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for p in parameters:
            if p.kind is p.VAR_POSITIONAL:
                args += [self.array() for _ in range(pick([1, 2]))]
            elif p.kind is p.VAR_KEYWORD:
                continue
            elif p.default is not p.empty or p.kind is p.KEYWORD_ONLY:
                if p.name in NAMED and self.random.random() < 0.3:
                    kwargs[p.name] = pick(NAMED[p.name])
            elif p.name in NAMED:
                args.append(pick(NAMED[p.name]))
            elif p.name in SEQUENCES:
                args.append([self.array(), self.array()] if self.random.random() < 0.8 else self.array())
            else:
                args.append(self.array() if self.random.random() < 0.93 else pick([2, 1.5, True]))
        return args, kwargs

    def call(self, *arrays: Any) -> Any:
        args = [filled(a, arrays) for a in self.args]
        return (
            getattr(args[0], self.target)(*args[1:], **self.kwargs)
            if isinstance(self.target, str)
            else self.target(*args, **self.kwargs)
        )

    def __str__(self) -> str:
        shown = [f"{a.dtype}{list(a.shape)}" for a in self.arrays]
        return f"{self.name}{(*self.args,)} {self.kwargs or ''} of {', '.join(shown)}"


class Place(int):
    """In the place of an array."""

    def __repr__(self) -> str:
        return f"array{int(self)}"


def hash_of(text: str) -> int:
    return int.from_bytes(text.encode(), "little") % (1 << 62)


def holds_array(value: Any) -> bool:
    return type(value) is Place or (type(value) is list and any(type(v) is Place for v in value))


def filled(value: Any, arrays: tuple) -> Any:
    if type(value) is Place:
        return arrays[value]
    return [filled(item, arrays) for item in value] if holds_array(value) else value


def outcome(function: Any, arrays: list[np.ndarray]) -> tuple[Any, Exception | None]:
    try:
        return function(*copy.deepcopy(arrays)), None
    except Exception as error:
        return None, error


def difference(got: Any, wanted: Any) -> str:
    """What differs; "" where nothing does."""
    if isinstance(wanted, (tuple, list)):
        if not isinstance(got, (tuple, list)) or len(got) != len(wanted):
            return f"{got!r} for {wanted!r}"
        return next((found for g, w in zip(got, wanted, strict=True) if (found := difference(g, w))), "")
    if type(got) is not type(wanted):
        return f"{type(got).__name__} for {type(wanted).__name__}"
    if not isinstance(wanted, (np.ndarray, np.generic)):
        return "" if got == wanted or got != got else f"{got!r} for {wanted!r}"
    if (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
        return f"{got.dtype}{list(got.shape)} for {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind not in "fc":
        return "" if np.array_equal(got, wanted) else f"{got!r} for {wanted!r}"
    tolerance = TOLERANCE[wanted.dtype.itemsize] if wanted.dtype.kind == "f" else 1e-6
    size = max(1.0, float(np.abs(np.where(np.isfinite(wanted), wanted, 0)).max(initial=0)))
    close = np.allclose(
        got.astype(complex), wanted.astype(complex), rtol=tolerance, atol=tolerance * size, equal_nan=True
    )
    return "" if close else f"{got!r} for {wanted!r}"


def found_in(seed: str) -> Iterator[str]:
    """What differs between NumPy and a jitted call."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        draw = Draw(seed)
        wanted, error = outcome(draw.call, draw.arrays)
        got, ours = outcome(wf.jit(draw.call, strict=False), draw.arrays)
        if type(error) is not type(ours):
            yield f"{seed} {draw}: {ours!r} for {error!r}"
        elif error is None and (text := difference(got, wanted)):
            yield f"{seed} {draw}: {text}"


@pytest.mark.parametrize("part", range(8))
def test_drawn_calls(part):
    found = [text for number in range(50) for text in found_in(f"{part}.{number}")]
    assert not found, "\n".join(found)


if __name__ == "__main__":
    texts = [text for number in range(int(sys.argv[2])) for text in found_in(f"{sys.argv[1]}.{number}")]
    print("\n".join(texts), f"\n{len(texts)} of {sys.argv[2]} differ")
