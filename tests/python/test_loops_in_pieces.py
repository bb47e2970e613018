"""Loops that end when values say so: the tree of pieces goes back to a header, so that any number of turns is a few programs."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest

import weftwork as wf


@pytest.fixture(autouse=True)
def without_trials(monkeypatch):
    """What gains nothing is not given back here, as that depends on the time that calls take."""
    monkeypatch.setenv("WEFT_TRIALS", "0")


def check(function, *calls):
    """The jitted function, after all calls gave what NumPy gives, twice."""
    fast = wf.jit(function, strict=False)
    for arguments in (*calls, *calls):
        ours, plain = copy.deepcopy(arguments), copy.deepcopy(arguments)
        got, wanted = fast(*ours), function(*plain)
        compare(got, wanted)
        for one, other in zip(ours, plain, strict=True):
            compare(one, other)
    assert not fast.ways["plain"] and not fast.refusals, (fast.ways, fast.refusals)
    return fast


def compare(got, wanted):
    if isinstance(wanted, (tuple, list)):
        assert type(got) is type(wanted) and len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            compare(one, other)
    elif isinstance(wanted, dict):
        assert list(got) == list(wanted)
        compare([*got.values()], [*wanted.values()])
    else:
        assert type(got) is type(wanted)
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)


def newton(x, tolerance):
    # A dictionary that loses a key in each turn keeps the loop in pieces.
    count, error = {"turns": 0}, np.inf
    while error > tolerance:
        y = 0.5 * (x + 2.0 / x)
        error = np.abs(y - x).max()
        x = y
        count["turns"] = count.pop("turns") + 1
    return x, count, error


def test_a_loop_of_any_length_is_a_few_programs():
    fast = check(
        newton,
        (np.array([1.0, 3.0, 1e3]), 1e-12),
        (np.array([1.0, 3.0, 1e100]), 1e-12),
        (np.array([2.0**0.5] * 3), 1e-12),
    )
    ways = fast.plans_for(np.ones(3), 1.0)[0].pieces
    pending, programs = [ways.first], 0
    while pending:
        piece = pending.pop()
        programs += piece.plan.core is not None
        pending += piece.following
    assert programs < 12


def test_counters_of_for_loops_and_elements_that_they_name():
    def gradient(a, b, history):
        x = np.zeros_like(b)
        r = b - a @ x
        p, rs, log = r.copy(), r @ r, {}
        for i in range(200):
            log["last"] = i
            q = a @ p
            alpha = rs / (p @ q)
            x, r = x + alpha * p, r - alpha * q
            new = r @ r
            history[i] = new
            history[-1] = i
            if np.sqrt(new) < 1e-8:
                break
            p, rs = r + (new / rs) * p, new
        return x, i, log

    rng = np.random.default_rng(0)
    a = rng.standard_normal((30, 30))
    a = a @ a.T + 40 * np.eye(30)
    check(gradient, (a, rng.standard_normal(30), np.zeros(201)), (2 * a, np.ones(30), np.zeros(201)))


@pytest.mark.parametrize("start, step", [(0, 1), (5, 3), (100, -2)])
def test_a_counter_has_the_numbers_of_its_range(start, step):
    def f(x):
        total = 0
        for i in range(start, start + 40 * step, step):
            x = x * 0.75
            total += i
            if x.max() < 0.01:
                break
        else:
            total = -1
        return x, total, i

    check(f, (np.array([3.0, 200.0]),), (np.array([0.5, 0.1]),), (np.array([1e9, 1.0]),))


def test_k_means_with_draws_masks_and_a_break():
    def kmeans(x, k):
        rng = np.random.default_rng(3)
        centers = x[rng.choice(len(x), k, replace=False)].copy()
        for turn in range(100):  # noqa: B007
            label = ((x[:, None] - centers[None]) ** 2).sum(-1).argmin(1)
            new = centers.copy()
            for j in range(k):
                if (label == j).any():
                    new[j] = x[label == j].mean(0)
            if np.allclose(new, centers):
                break
            centers = new
        return centers, label, turn, rng.random()

    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(c, 0.7, (60, 2)) for c in ([0, 0], [4, 0], [0, 4])])
    check(kmeans, (x, 3), (x[::-1].copy(), 3))


def test_branches_within_turns_and_numbers_that_are_drawn():
    def metropolis(x, count):
        rng = np.random.default_rng(7)
        at, accepted, total = 0.0, 0, 0.0
        now = -0.5 * ((x - at) ** 2).sum()
        for _ in range(count):
            step = at + 0.5 * rng.normal()
            new = -0.5 * ((x - step) ** 2).sum()
            if np.log(rng.random()) < new - now:
                at, now, accepted = step, new, accepted + 1
            total += at
        return total / count, accepted, rng.random()

    check(metropolis, (np.arange(4.0), 150), (np.arange(4.0) * 0.1, 150))


def test_loops_within_loops():
    def descent(a, b):
        value = lambda x: 0.5 * x @ a @ x - b @ x
        x, turns, halved, log = np.zeros_like(b), 0, 0, {}
        while True:
            g = a @ x - b
            log["turns"] = turns
            if np.linalg.norm(g) < 1e-5 or turns > 200:
                return x, turns, halved
            t = 1.0
            while value(x - t * g) > value(x) - 0.4 * t * (g @ g):
                t *= 0.5
                halved += 1
            x, turns = x - t * g, turns + 1

    a = np.diag([1.0, 2.0, 8.0]) + 0.5
    check(descent, (a, np.array([1.0, -2.0, 3.0])), (a * 2, np.array([1.0, 0.5, 3.0])))


def test_what_outer_variables_attributes_and_containers_keep():
    class Log:
        def __init__(self):
            self.turns, self.last = 0, None

    def f(x, table):
        log, total = Log(), [0.0, 0]

        def halve(y):
            log.turns += 1
            total[1] += 1
            return y * 0.5

        while x.max() > 1e-3:
            x = halve(x)
            total[0] = total[0] + x[0]
            table["sum"] = x.sum()
            log.last = x
        return x, log.turns, total, log.last[1:], table["sum"]

    check(f, (np.array([3.0, 200.0]), {"sum": 0.0}), (np.array([0.5, 1e6]), {"sum": 1.0}))


def test_arguments_that_are_written_in_each_turn():
    def relax(grid, edge):
        count = {"turns": 0}
        while True:
            before = grid.copy()
            grid[1:-1] = 0.5 * (grid[2:] + grid[:-2])
            grid[0] = edge
            count["turns"] += 1
            if np.abs(grid - before).max() < 1e-3:
                return count["turns"]

    check(relax, (np.linspace(0, 1, 9) ** 2, 0.0), (np.zeros(9), 1.0))


def test_views_and_names_that_are_exchanged():
    def f(x, y):
        part, n = x[1:], 0
        while part.sum() > 0.1:
            x, y = y * 0.7, x * 0.5
            part = x[1:]
            part[0] *= 0.9
            n += 1
        return x, y, part, n

    check(f, (np.arange(4.0), np.arange(4.0) + 1), (np.arange(4.0) * 9, np.ones(4)))


def test_a_generator_that_drives_a_loop():
    def halves(x):
        while x.max() > 0.01:
            x = x * 0.5
            yield x.sum()

    def f(x):
        total = 0.0
        for value in halves(x):
            total += value
        return total

    fast = wf.jit(f, strict=False)
    for x in (np.array([3.0, 90.0]), np.array([1.0, 1e5]), np.array([0.0, 0.0])):
        compare(fast(x), f(x))


def test_an_iterator_that_cannot_be_looked_into_is_no_obstacle():
    def f(x):
        counter = itertools.count(3)
        while x.max() > 0.5:
            x = x * 0.8
            n = next(counter)
        return x, n

    fast = wf.jit(f, strict=False)
    for x in (np.array([3.0, 9.0]), np.array([1.0, 400.0])):
        compare(fast(x), f(x))


def test_an_error_in_a_later_turn_is_pythons_own():
    def f(x, table):
        i = 0
        while True:
            x = x * 0.5 + table[i]
            i += 1
            if x.sum() < 1.0:
                return x, i

    fast = wf.jit(f, strict=False)
    table = np.full(12, 0.1)
    compare(fast(np.array([3.0, 5.0]), table), f(np.array([3.0, 5.0]), table))
    for x in (np.array([1e9, 1.0]), np.array([1e8, 1.0])):
        with pytest.raises(IndexError, match="index 12 is out of bounds for axis 0 with size 12"):
            fast(x, table)
    compare(fast(np.array([30.0, 5.0]), table), f(np.array([30.0, 5.0]), table))


def test_an_index_that_python_computes_is_no_constant():
    def f(x, y):
        at = int(np.argmax(x))
        y[at] += 1.0
        return y[at] * 2, y[at - 1], x[at]

    fast = wf.jit(f, strict=False)
    for at in range(20):
        x, y = np.zeros(20), np.arange(20.0)
        x[at] = 1.0
        compare(fast(x, y.copy()), f(x, y.copy()))
    assert fast.ways["pieces"] + fast.ways["compiled"] >= 8 and fast.plan_count <= 2 and not fast.refusals


def test_functions_of_numbers_are_computed_by_python():
    rate = 1.0

    def f(x):
        return x * np.exp(-rate) + np.sqrt(np.float64(rate))

    fast = wf.jit(f, strict=False)
    for turn in range(20):
        rate = 1.0 + turn
        compare(fast(np.arange(3.0)), f(np.arange(3.0)))
    assert fast.plan_count == 1


def test_a_tuple_that_some_turns_set_back_to_constants():
    def f(x):
        kept, total = (0, 1.0), 0.0
        for turn in range(60):
            x = x * 0.9
            kept = (kept[0] + turn, kept[1] * 0.5)
            if x[0] < 1.0 and turn == 20:
                kept = (0, 1.0)
            total = total + kept[0] * kept[1] + kept[0]
            if x.max() < 0.05:
                break
        return kept, total, x

    fast = wf.jit(f, strict=False)
    for x in (np.array([3.0, 20.0]), np.array([9.0, 4.0]), np.array([2.0, 2.0]), np.array([50.0, 1.0])):
        for _ in range(2):
            compare(fast(x), f(x))


def padded(x: Any) -> Any:
    k = 0
    while True:
        p = np.pad(x, 1)
        y = np.maximum.reduce([p[:-2], p[2:]]) * 0.9
        k += 1
        if y.max() < 1e-3:
            return y, k
        x = y


def between_quantiles(x: Any) -> Any:
    while True:
        low, high = np.quantile(x, [0.1, 0.9])
        if high - low < 1e-3:
            return x
        x = np.clip(x, low, high) * 0.9


def filled(x: Any) -> Any:
    k = 0
    while True:
        i = np.flatnonzero(x > 0.01)
        if x[i].max(initial=0.0) < 0.1:
            return x, k
        x = x * 0.9
        k += 1


@pytest.mark.parametrize("function", [padded, between_quantiles, filled])
def test_what_numpys_functions_make_of_numbers_is_the_same_at_each_turn(function: Any) -> None:
    jitted = wf.jit(function, strict=False)
    for x in (np.linspace(1, 2, 50), np.linspace(0, 9, 50)):
        for given, wanted in zip(jitted(x), function(x), strict=True):
            np.testing.assert_allclose(given, wanted, rtol=1e-12)
    assert not jitted.ways["plain"], jitted.refusals


def same(a: Any, b: Any) -> Any:
    return a


def first_turns_in_ways(k: Any, m: Any) -> Any:
    n, p, z, i, q = len(k), 1, 0.0, 0, None
    while i < n:
        j = i * i
        while j < n:
            q = k[i % n]
            if m[i % n]:
                break
            j += i + 1
        if m[(i + 1) % n]:
            p = q
        else:
            q = same(z, p)
        i += 1
    return q, p


@pytest.mark.parametrize("trials", ["0", "1"])
def test_a_turn_that_is_recorded_once_more_is_no_other(trials: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("WEFT_TRIALS", trials)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        k, m = rng.integers(0, 4, 14), rng.random(14) > 0.5
        wanted = first_turns_in_ways(k, m)
        assert repr(wf.jit(first_turns_in_ways, strict=False)(k, m)) == repr(wanted)
