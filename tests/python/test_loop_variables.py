"""Variables of loops that are tuples of numbers, nothing before the first turn, or scalars by NumPy's types."""

from __future__ import annotations

import numpy as np
import pytest
from same_types import same
from sources import function_of

import weftwork as wf

FORMS = []


def form(function):
    FORMS.append(function)
    return function


@form
def least_and_its_place(x):
    best, at = 10**9, (0, 0)
    for i in range(len(x)):
        for j in range(len(x)):
            if x[i] * x[j] < best:
                best, at = x[i] * x[j], (i, j)
    return best, at


@form
def fibonacci(x):
    pair = (0, 1)
    for _ in range(len(x)):
        pair = (pair[1], (pair[0] + pair[1]) % 1000)
    return pair


@form
def walk(x):
    place = (0.0, 0.0)
    for i in range(len(x)):
        a, b = place
        place = (a + x[i], b) if x[i] > 0 else (a, b + 1.0)
    return place


@form
def largest_segment(x):
    best, s, start = (0, 0, 0.0), 0.0, 0
    for i in range(len(x)):
        s += x[i]
        if s > best[2]:
            best = (start, i, s)
        if s < 0:
            s, start = 0.0, i + 1
    return best


@form
def halves(x):
    bounds, turns = (0, len(x)), 0
    while bounds[1] - bounds[0] > 1:
        middle = (bounds[0] + bounds[1]) // 2
        bounds = (middle, bounds[1]) if x[middle] < 0.5 else (bounds[0], middle)
        turns += 1
    return bounds, turns


@form
def counts_as_a_pair(x):
    state = (0, 0)
    for v in x:
        up, down = state
        if v > 0:
            up += 1
        else:
            down += 1
        state = up, down
    return state, sum(state)


@form
def smallest(x):
    best = at = None
    for i in range(len(x)):
        if best is None or x[i] < best:
            best, at = x[i], i
    return best, at


@form
def rises(x):
    before, n = None, 0
    for v in x:
        if before is not None and v > before:
            n += 1
        before = v
    return n


@form
def checksum(x):
    crc = np.uint32(0xFFFFFFFF)
    for b in x:
        crc = crc ^ np.uint32(abs(int(b)))
        for _ in range(8):
            crc = (crc >> np.uint32(1)) ^ np.uint32(0xEDB88320) if crc & np.uint32(1) else crc >> np.uint32(1)
    return crc ^ np.uint32(0xFFFFFFFF)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 9, 30, 100])
@pytest.mark.parametrize("function", FORMS, ids=lambda f: f.__name__)
def test_they_give_what_numpy_gives(function, n, monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "0")
    x = np.random.default_rng(n).standard_normal(n)
    jitted = wf.jit(function, strict=False)
    for _ in range(2):
        with np.errstate(all="ignore"):
            same(jitted(x), function(x))
    assert n < 30 or jitted.ways["compiled"] == 2, jitted.refusals


@pytest.mark.parametrize("dtype", ["float64", "uint8", "int32", "bool", "complex128"])
@pytest.mark.parametrize("kind", ["uint8", "int64", "uint64", "float32", "bool_", "complex64"])
@pytest.mark.parametrize("value", ["x[i]", "x[i] + 1", "i", "k", "x[i:i + 2]", "x", "float(x[i])", "x.sum()"])
def test_types_of_scalars(value, kind, dtype, monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "0")
    lines = [
        "def f(x):",
        "    k, v = 0, 0",
        "    for i in range(len(x) - 1):",
        f"        v = np.{kind}({value})",
        "        k += 2",
    ]
    source = "\n".join([*lines, "    return v, type(v).__name__\n"])
    function = function_of(source, "f", f"scalar {value} {kind} {dtype}")
    x = (np.arange(20) * 1.7 if dtype != "bool" else np.arange(20) % 3).astype(dtype)
    jitted = wf.jit(function, strict=False)
    with np.errstate(all="ignore"):
        try:
            wanted = function(x)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                jitted(x)
        else:
            same(jitted(x), wanted)


@pytest.mark.parametrize(
    "value",
    [
        "i + np.uint8(3)",
        "np.int64(3) * i",
        "np.float32(2) * i",
        "i // np.int64(2)",
        "np.int64(3) < i",
        "i + np.array(3)",
        "n * i",
    ],
)
def test_counters_beside_scalars(value):
    source = "\n".join(
        [
            "def f(x):",
            "    out, n = 0, np.int64(len(x))",
            "    for i in range(20):",
            f"        out = {value}",
            "    return out, x * out\n",
        ]
    )
    function = function_of(source, "f", f"counter {value}")
    x = np.ones(3, np.float32)
    same(wf.jit(function, strict=False)(x), function(x))
