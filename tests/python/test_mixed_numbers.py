"""Behind a loop with conditions NumPy has a number of Python's, or a scalar of its own, as the run decides: types are as NumPy gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from same_types import same

import weftwork as wf
from weftwork import errors

X = np.random.default_rng(1).standard_normal(30)
INPUTS = [X, -np.abs(X), np.where(X > 0, 0.0, X), X.clip(-1, 0.3)]


@dataclass
class Found:
    top: Any
    at: Any


def largest(x, top):
    for i in range(len(x)):
        if x[i] > top:
            top = x[i]
    return top


def from_int(x):
    return largest(x, 0)


def from_float(x):
    return largest(x, 0.0)


def share(x):
    s, c = 1, 0.0
    for i in range(len(x)):
        if x[i] > 0:
            c += x[i]
            s = s * 2
    return c / s, s, c // s


def in_bytes(x):
    y = np.zeros(4, np.int8)
    y[1], y[2] = from_int(x), from_float(x)
    return y


def appended(x):
    out = []
    out.append(from_float(x))
    out.append(from_int(x) + 1)
    return out


FORMS = {
    "share": share,
    "in_bytes": in_bytes,
    "appended": appended,
    "array": lambda x: np.array([from_int(x), 1]),
    "full": lambda x: np.full(3, from_int(x)),
    "abs": lambda x: (np.abs(from_int(x)), abs(from_int(x)), -from_float(x)),
    "isinstance": lambda x: (isinstance(from_int(x), float), isinstance(from_float(x), np.floating)),
    "type": lambda x: type(from_int(x)).__name__,
    "dict": lambda x: {"top": from_int(x), "all": [from_float(x)]},
    "object": lambda x: Found(from_float(x), 3),
    "operators": lambda x: (from_float(x) * 2, from_float(x) + from_int(x), from_int(x) / 2, from_int(x) // 2),
    "power": lambda x: from_float(x) ** 0.5,
    "functions": lambda x: (np.maximum(from_int(x), 0), np.sqrt(from_float(x)), np.square(from_int(x))),
    "arrays": lambda x: (x * from_float(x), x.astype(np.float32) * from_int(x), np.minimum(from_int(x), x)),
    "condition": lambda x: 3 if from_float(x) > 1 else 4,
    "slice": lambda x: x[: int(from_float(x))].sum(),
    "truth": lambda x: (from_float(x) > 0.5, from_float(x) == 0, not from_float(x)),
    "clip": lambda x: (x.clip(from_float(x) * 0.1, 5), np.clip(x, 0, from_float(x))),
    "conversions": lambda x: (round(from_float(x), 2), float(from_float(x)), int(from_float(x))),
    "builtins": lambda x: (sum([from_float(x), 1.0]), max([from_float(x), 0.5]), sorted([from_float(x), 0.1])),
    "attribute": lambda x: from_float(x).dtype if isinstance(from_float(x), np.floating) else "float",
    "repeated": lambda x: [from_int(x)] * 2,
}


@pytest.mark.parametrize("name", FORMS)
def test_types(name):
    function = FORMS[name]
    for x in INPUTS:
        fast = wf.jit(function, strict=False)
        for _ in range(2):
            try:
                wanted = function(x)
            except ZeroDivisionError:
                with pytest.raises(ZeroDivisionError):
                    fast(x)
            else:
                same(fast(x), wanted)


def test_what_is_stored_outside():
    def stores(d, out, x):
        d["top"] = from_float(x)
        out.append(from_int(x))
        return x.sum()

    for x in INPUTS:
        fast = wf.jit(stores, strict=False)
        wanted = ({"top": 1}, [])
        stores(*wanted, x)
        for _ in range(2):
            got = ({"top": 1}, [])
            fast(*got, x)
            same(got, wanted)


def test_a_strict_program_takes_the_scalar():
    got = wf.jit(lambda x: (from_float(x), from_int(x) + 1))(INPUTS[1])
    assert got == (0.0, 1.0) and all(type(value) is np.float64 for value in got)
    with pytest.raises(errors.UnsupportedError, match="Python's or NumPy's"):
        wf.jit(lambda x: x.astype(np.float32) * from_float(x))(X)


def sum_below(x):
    total, i = 0.0, 0
    while i < len(x) and x[i] < 50:
        total += x[i]
        i += 1
    return total, i


def largest_of(x):
    best, place = 0, -1
    for i in range(len(x)):
        if x[i] > best:
            best, place = x[i], i
    return best, place, x + best


def average_of(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 2:
            s = s * 0.5 + x[i] * 0.25
    return s


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int32", "uint64", "complex64"])
@pytest.mark.parametrize("function", [sum_below, largest_of, average_of])
def test_numbers_beside_scalars_of_short_types(function, dtype):
    """A number of Python's that the short type has is one of those that a variable may be."""
    fast = wf.jit(function, strict=False)
    rng = np.random.default_rng(4)
    for x in (rng.random(40) * 90, rng.random(40), np.zeros(40), np.full(12, 60)):
        x = x.astype(dtype)
        try:
            with np.errstate(all="ignore"):
                wanted = function(x)
        except TypeError:  # complex numbers have no order
            with pytest.raises(TypeError):
                fast(x)
            continue
        same(fast(x), wanted)


@pytest.mark.parametrize("start", [2, 2.0, 0.5, True])
def test_a_number_that_the_caller_gives_is_one_of_two_types_behind_a_loop(start):
    def last(x, t):
        for i in range(30):
            t = 2
            if x[i] > 0:
                t = 1.0
        return t

    fast = wf.jit(last, strict=False)
    for x in (np.ones(30), -np.ones(30), np.arange(30) - 20.0):
        same(fast(x, start), last(x, start))


def test_a_result_of_a_long_way_is_pythons_number_where_numpy_has_one():
    def last(x, given):
        s, y = 0.0, np.zeros(3)
        for i in range(5):
            s += x[i]
            if y.sum() + x[0] > 1.5:
                return s, 1, 2
        while i < 12:
            s = given["k"]
            i += 1
        return y, s

    fast = wf.jit(last, strict=False)
    for x in (np.ones(30), np.full(30, 2.0)):
        same(fast(x, {"k": 0.25}), last(x, {"k": 0.25}))
