"""Numbers that loops compute: what follows from counters and conditions is not asked again, and no more than that; they are Python's
where NumPy has Python's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from early_programs import insertion_sort, places_of
from same_types import same, same_outcome
from sources import function_of

import weftwork as wf


def drawn(rng: random.Random) -> str:
    """A function of an array and an array of places, whose loops move integers about and read and write there."""
    one = rng.choice
    names = ["p", "q", "r"]
    name = lambda: one(names)
    number = lambda: one(["0", "1", "1", "2", "3", "n", "n - 1", "n // 2", "5"])
    simple = lambda: one([name(), name(), number()])
    condition = lambda: one(
        [
            f"{name()} {one(['<', '<=', '>', '>=', '!='])} {simple()}",
            f"0 <= {name()} < n",
            f"{name()} >= 0 and a[{name()}] > {name()}",
            f"a[{name()} - 1] < 0.5",
            f"{name()} < n and {name()} > 0",
            f"not {name()} >= {simple()}",
        ]
    )
    expression = lambda: one(
        [
            f"{name()} {one(['+', '-'])} {one(['1', '1', '2', '3'])}",
            f"({name()} + {name()}) // 2",
            f"{name()} // 2",
            f"{name()} % n",
            f"min({name()}, n - 1)",
            f"max({name()} - 1, 0)",
            f"int(k[{name()}])",
            f"k[{name()}]",
            f"2 * {name()} + 1",
            f"abs({name()} - {name()})",
            simple(),
        ]
    )
    place = lambda: one([name(), name(), f"{name()} {one(['+', '-'])} {one(['1', '2'])}", f"{name()} % n"])

    def statement(depth: int) -> list[str]:
        kind = rng.random()
        if kind < 0.35:
            return [f"{name()} = {expression()}"]
        if kind < 0.45:
            return [f"{name()} {one(['+=', '-='])} {one(['1', '1', '2'])}"]
        if kind < 0.6:
            return [f"a[{place()}] = {one(['a[' + place() + ']', 's', 't', '0.25', name()])}"]
        if kind < 0.65:
            return [f"k[{place()}] = {one([name(), name() + ' % n'])}"]
        if kind < 0.75:
            return [
                one(
                    [
                        f"s = s + a[{place()}]",
                        f"s = {one(['a[' + place() + ']', 't', '0', '0.5'])}",
                        f"t = {one(['t + 1', 't * 2', 't - s', '-t', 'abs(t)', 'max(t, s)', 't // 2', 's', 'a[0]', name()])}",
                        f"if t {one(['<', '>', '=='])} a[{place()}]: t = {one(['a[' + place() + ']', 't + 1', '0'])}",
                    ]
                )
            ]
        if kind < 0.85 or depth == 0:
            return [f"if {condition()}:", *("    " + line for line in statement(0))]
        return loop(depth - 1)

    def loop(depth: int) -> list[str]:
        body = [line for _ in range(one([1, 2, 2, 3])) for line in statement(depth)]
        if rng.random() < 0.4:
            names.append(counter := f"i{depth}")
            turns = one(["n", "1, n", "n - 1, -1, -1", "p, n", "n // 2", "3", "2, n, 2"])
            body = [line for _ in range(one([1, 2])) for line in statement(depth)]
            names.remove(counter)
            return [f"for {counter} in range({turns}):", *("    " + line for line in body)]
        ends = ["c += 1", "if c > 60: break"]
        return [f"while {condition()}:", *("    " + line for line in [*body, *ends])]

    lines = [
        "a, k = a.copy(), k.copy()",
        "n = len(a)",
        "c = 0",
        f"s = {one(['0', '0.0'])}",
        f"t = {one(['0', '1', '0.0'])}",
    ]
    lines += [f"{each} = {one(['0', '1', 'n - 1', 'n', 'n // 2', '0'])}" for each in names]
    for _ in range(one([1, 1, 2])):
        lines += loop(1)
    return "\n".join(["def f(a, k):", *("    " + line for line in [*lines, "return a, k, p, q, r, s, t"])]) + "\n"


@pytest.mark.parametrize("seed", range(40))
def test_integers_that_loops_move_about(seed):
    rng = random.Random(seed)
    source = drawn(rng)
    function = function_of(source, "f", f"integers {seed}")
    arrays = np.random.default_rng(seed)
    dtypes = rng.choice(["f8", "f8", "f4", "i8", "i4"]), rng.choice(["i8", "i8", "i4", "i2", "u1"])
    jitted = wf.jit(function, strict=False)
    for n in (rng.choice([1, 2, 3]), 12, rng.choice([5, 24]), 12):
        args = (
            (arrays.random(n) * 3).astype(dtypes[0]),
            arrays.integers(0, n + rng.choice([0, 0, 1]), n).astype(dtypes[1]),
        )
        same_outcome(jitted, function, args, source)


def those_above(a):
    out, n = np.zeros(len(a)), 0
    for i in range(len(a)):
        if a[i] > 0.5:
            out[n] = a[i]
            n += 1
    return out, n


@pytest.mark.parametrize("function, count", [(insertion_sort, 1), (places_of, 2), (those_above, 1)])
def test_indices_that_lie_inside_are_not_looked_at(function, count):
    a = np.sort(np.random.default_rng(0).random(40))
    text = wf.trace(function, *[a] * count).core.kernels_text()
    assert "clamp" not in text and "checked" not in text
    for n in (0, 1, 2, 40):
        given, plain = ([a[:n][::-1].copy() for _ in range(count)] for _ in range(2))
        same(wf.jit(function)(*given), function(*plain), types=False)


def test_what_a_loop_that_never_runs_would_read_is_not_read_before_it():
    """An invariant index lies inside where the loop has a turn."""

    def summed(a, k):
        s, i = 0.0, int(k[0])
        while i < len(a):
            s += a[int(k[0])]
            i += 1
        return s

    for first in (3, 39, 40, 10**12):
        args = np.arange(40.0), np.array([first])
        assert wf.jit(summed, strict=False)(*args) == summed(*args)
