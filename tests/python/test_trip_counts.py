"""While statements that count are loops over ranges: their turns are vectors, sums and tasks as those of for statements are."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from same_types import same_outcome
from sources import function_of

import weftwork as wf


def ends_by_values(function: Callable[..., Any], *args: Any) -> bool:
    """Whether a loop of the program asks in each turn whether it is the last."""
    return "until" in wf.trace(function, *args).core.kernels_text()


def kept_for_kernels(function: Callable[..., Any], *args: Any) -> int:
    return wf.trace(function, *args).core.kernels_text().count(" for (")


# Before the loop, the test, what a turn ends with, and whether the turns are known to be a range.
TESTS = [
    ("i = 0", "i < n", "i += 1", True),
    ("i = 0", "n > i", "i = i + 1", True),
    ("i = 0", "i <= n - 1", "i += 1", True),
    ("i = 0", "i != n", "i += 1", True),
    ("i = 0", "not i >= n", "i += 1", True),
    ("i = 1", "i < n", "i += 3", True),
    ("i = n - 1", "i >= 0", "i -= 1", True),
    ("i = n - 1", "i > 0", "i -= 2", True),
    ("i = n - 1", "i != -1", "i -= 1", True),
    ("i = 0", "i < n and i < 11", "i += 1", True),
    ("i = 0", "i * i < n", "i += 1", True),
    ("i = 0", "i < n or i < 5", "i += 1", False),
    ("i = 0", "i < n and x[i] >= 0", "i += 1", False),
    ("i = 0", "i < n and s < 9", "i += 1", False),
    ("i = n", "i > 1", "i //= 2", False),
]
TURNS = [
    "s += x[i % n] * 2",
    "y[i % n] = np.sin(x[i % n]) + i",
    "y[i % n] = y[i % n - 1] + x[i % n]",
    "s = s * 0.5 + i",
]


def program(before: str, test: str, after: str, turn: str) -> Callable[..., Any]:
    source = f"""
import numpy as np
def f(x):
    n, s, y = len(x), 0.0, np.zeros(len(x))
    {before}
    while {test}:
        {turn}
        {after}
    return y, s, i
"""
    return function_of(source, "f", f"while {test}: {turn}; {after}")


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(("before", "test", "after", "is_range"), TESTS)
def test_while_statements(before: str, test: str, after: str, is_range: bool, turn: str, strict: bool) -> None:
    f = program(before, test, after, turn)
    for n in (1, 2, 9, 10, 40):
        x = np.random.default_rng(n).random(n)
        same_outcome(wf.jit(f, strict=strict), f, (x,), f"{test} {turn}")
    x = np.random.default_rng(0).random(40)
    assert not (is_range and ends_by_values(f, x))
    same_outcome(wf.simulate(f), f, (x,), test)


def test_turns_are_vectors() -> None:
    def f(x: Any) -> Any:
        y, i = np.zeros(len(x)), 0
        while i < len(x):
            y[i] = np.sqrt(x[i]) + 1
            i += 1
        return y

    assert kept_for_kernels(f, np.ones(5000)) == 0


def sieve(n: int) -> Any:
    is_prime = np.ones(n + 1, bool)
    is_prime[:2] = False
    i = 2
    while i * i <= n:
        if is_prime[i]:
            j = i * i
            while j <= n:
                is_prime[j] = False
                j += i
        i += 1
    return np.flatnonzero(is_prime)


def count_above(x: Any, m: Any) -> Any:
    found, i = np.zeros((len(x), len(m)), int), 0
    while i < len(x):
        j = i + 1
        while j < len(m):
            found[i, j] = x[i] > m[j]
            j += 1
        i += 1
    return found


def test_loops_in_loops() -> None:
    fast = wf.jit(sieve, strict=False)
    for n in (0, 1, 2, 3, 4, 100, 1000, 5000):
        same_outcome(fast, sieve, (n,), "sieve")
    assert wf.jit(sieve, strict=False)(300_000)[-1] == 299_993
    rng = np.random.default_rng(0)
    for rows, columns in [(0, 3), (1, 1), (12, 30), (30, 12)]:
        same_outcome(wf.jit(count_above), count_above, (rng.random(rows), rng.random(columns)), "count_above")


def test_a_number_of_turns_that_the_program_computes() -> None:
    def f(x: Any) -> Any:
        n, i, s = int(x.sum()), 0, 0
        while i * i <= n:
            s += i
            i += 1
        return s, i

    for strict in (True, False):
        same_outcome(wf.jit(f, strict=strict), f, (np.array([1000.0, 23.5]),), "sqrt")


def test_what_a_turn_reads_for_its_test_alone_is_not_read_before() -> None:
    def f(x: Any, n: Any) -> Any:
        s, i = 0.0, 0
        while i < 30:
            j = 0
            while j < 4 and i + j + 1 < len(x):
                s += x[i + 1] * x[i + j + 1]
                j += 1
            i += 1
        return s

    for size in (1, 2, 3, 20, 31):
        same_outcome(wf.jit(f), f, (np.random.default_rng(0).random(size), 1), "read ahead")


def test_graphs_of_any_trip_count() -> None:
    """What counts is tested where it is less than it was, at all limits and steps."""
    for seed in range(60):
        rng = random.Random(seed)
        start, step, limit = rng.randint(-3, 3), rng.choice([1, 1, 2, 3, 7]), rng.randint(-2, 60)
        down, relation = rng.random() < 0.4, rng.choice(["<", "<=", "!="])
        if relation == "!=":
            step = 1
            limit = max(limit, start)
        if down:
            start, step, limit = -start, -step, -limit
            relation = {"<": ">", "<=": ">=", "!=": "!="}[relation]
        source = f"""
def f(x):
    i, turns, s = {start}, 0, 0.0
    while i {relation} {limit}:
        s = s * 0.5 + x[turns]
        turns += 1
        i += {step}
    return s, turns, i
"""
        f = function_of(source, "f", f"counted {seed}")
        same_outcome(wf.jit(f), f, (np.random.default_rng(seed).random(70),), source)


def halved(a: Any, b: Any) -> Any:
    a = a * 2
    for _ in range(3):
        a = a - b
    return a


def written_in_long_ways(x: Any) -> Any:
    y, n, s, i = np.zeros(len(x)), len(x), True, -1
    while True:
        if i > n:
            break
        if x[i % n] < 0 or s:
            y[(i + 1) % n] = halved(1, x[0])
        i = i + 2
    return y


def first_turns_that_may_be_none(x: Any) -> Any:
    n, s, i = len(x), True, 0
    while i < 16:
        i += 1
        for _ in range(n - 1, i, -1):
            s = x[(i + 1) % n]
    return s


def sums_over_the_turns_before(x: Any) -> Any:
    t, i, s = 0.0, 0, 0.0
    while t < 2:
        i += 1
        for j in range(i):
            if x[j % 2] > 0:
                s += x[j % 2]
        t += 0.125
    return s, i


def arrays_of_as_many_elements(x: Any) -> Any:
    t, i, s = 0.0, 0, 0.0
    while t < 2:
        i += 1
        s += np.sort(np.arange(i) * x[0])[0]
        t += 0.125
    return s


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    "function",
    [written_in_long_ways, first_turns_that_may_be_none, sums_over_the_turns_before, arrays_of_as_many_elements],
)
def test_turns_of_all_kinds(function: Callable[..., Any], strict: bool) -> None:
    fast = wf.jit(function, strict=strict)
    for n in (14, 33, 2):
        x = np.random.default_rng(n).normal(size=n)
        same_outcome(fast, function, (x,), function.__name__)


def checksum(data: Any) -> Any:
    c, i = 0xFFFF, 0
    while i < len(data):
        c ^= int(data[i]) << 8
        k = 0
        while k < 8:
            c = ((c << 1) ^ 0x1021) & 0xFFFF if c & 0x8000 else (c << 1) & 0xFFFF
            k += 1
        i += 1
    return c


def test_turns_that_ask_for_values_are_one_loop() -> None:
    fast = wf.jit(checksum, strict=False)
    for n in (0, 2, 5, 300):
        same_outcome(fast, checksum, (np.arange(n) % 256,), "checksum")
    assert fast.ways["plain"] == fast.ways["pieces"] == 0
