"""Counters of loops, and other numbers of Python's that a program computes, beside arrays of short integers."""

from __future__ import annotations

import numpy as np
import pytest
from same_types import same
from sources import function_of

import weftwork as wf

READS = [
    "b[i % 7] + N", "N - b[i % 7]", "b[i % 7] // (N + 1000)", "b[i % 7] | N", "b[i % 7] < N", "N == b[i % 7]", "b[i % 7] != N",
    "np.minimum(b[i % 7], N)", "np.where(b[i % 7] > 3, b[i % 7], N)", "b + N", "(N > b).sum()", "np.clip(b, 0, N).sum()",
    "np.full(3, N, b.dtype)", "np.array([N, 1], b.dtype)", "np.uint8(3) + N", "np.append(b, N)[-1]",
]  # fmt: skip
WRITES = ["b[i % 7] = N", "b[:] = N", "b += N", "b[1:3] -= N", "b.fill(N)", "b[b > 3] = N", "np.put(b, [1], N)"]


@pytest.fixture(autouse=True)
def without_trials(monkeypatch):
    monkeypatch.setenv("WEFT_TRIALS", "0")


def program(statement: str, turns: str, number: str):
    """``k`` is computed by the program, ``i`` is a counter."""
    lines = ["def f(b):", "    b, k, out = b.copy(), 0, None", f"    for i in range({turns}):"]
    source = "\n".join([*lines, f"        {statement.replace('N', number)}", "        k += 3", "    return b, out\n"])
    return function_of(source, "f", f"{statement} {turns} {number}")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64])
@pytest.mark.parametrize("number", ["i", "k", "(2 * i - 3)"])
@pytest.mark.parametrize("statement", [*(f"out = {read}" for read in READS), *WRITES])
def test_numbers_that_do_not_fit_raise(statement, number, dtype):
    for turns in ("20", "300", "-20, 20"):
        function, b = program(statement, turns, number), np.array([1, 2, 3, 4, 100, 6, 7], dtype)
        jitted = wf.jit(function, strict=False)
        try:
            with np.errstate(all="ignore"):
                wanted = function(b)
        except OverflowError:
            with pytest.raises(OverflowError):
                jitted(b)
        else:
            same(jitted(b), wanted)


def test_one_program_raises_too():
    def numbered(b):
        for i in range(len(b)):
            b[i] = i
        return b

    strict = wf.jit(numbered)
    same(strict(np.zeros(100, np.int8)), np.arange(100, dtype=np.int8))
    with pytest.raises(ValueError, match="out of bounds for int8"):
        strict(np.zeros(300, np.int8))


def test_scalars_at_computed_places_raise():
    def places(q, p):
        b = np.zeros(len(q), np.int8)
        for i in range(len(q)):
            b[p[i]] = q[i]
        return b

    def until_the_end(q, x):
        b, i = np.zeros(len(q), np.int8), 1
        while i < len(q) - 2:
            i += 1
            b[i] = q[i] - (i if x[i] > 0 else 1)
        return b

    for function, args in (
        (places, (np.arange(120, 150), np.arange(30))),
        (until_the_end, (np.zeros(30, np.uint8), np.ones(30))),
    ):
        args = (args[0].astype(np.uint8), *args[1:])
        with pytest.raises(OverflowError):
            function(*args)
        with pytest.raises(OverflowError):
            wf.jit(function, strict=False)(*args)
