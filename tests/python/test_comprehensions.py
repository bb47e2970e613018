"""Comprehensions, generator expressions, and Python's functions that go through something: loops of one program."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from same_types import same, same_outcome
from sources import function_of

import weftwork as wf

pytestmark = pytest.mark.usefixtures("at_once")

X = np.random.default_rng(3).normal(size=200)
R = np.random.default_rng(4).normal(size=(40, 3))


def doubled(x, r):
    return [math.sin(v) * 2 for v in x], np.array([x[i] * x[i + 1] for i in range(len(x) - 1)])


def positive(x, r):
    return [v for v in x if v > 0], [i for i in range(len(x)) if x[i] > 1], np.array([v for v in x if v < -1])


def nothing(x, r):
    return [v for v in x if v > 100], np.array([v for v in x if v > 100]), sum([v for v in x if v > 100])


def summed(x, r):
    return sum(v * v for v in x), sum(1 for v in x if v > 0), sum((v for v in x), 5), sum([v for v in x], start=2.5)


def extremes(x, r):
    inside = [v for v in x if abs(v) < 1]
    return max(abs(v) for v in x), min(inside), max(inside), max(x), min(x)


def placed_extremes(x, r):
    return max(range(len(x)), key=lambda i: x[i]), min(x, key=lambda v: abs(v - 0.3)), max(x, key=abs)


def truths(x, r):
    return any(v > 3 for v in x), all(v < 9 for v in x), any([v > 2 for v in x]), all(x), any(x)


def side_by_side(x, r):
    high = [i for i in range(len(x)) if x[i] > 1]
    gaps = [b - a for a, b in zip(high, high[1:])]  # noqa: RUF007  as it is written everywhere
    return gaps, sum(gaps), sum(a * b for a, b in itertools.pairwise(high)), [(i, v) for i, v in enumerate(high)]


def of_arrays(x, r):
    return (
        [v * 2 for v in r],
        np.stack([v / np.linalg.norm(v) for v in r]),
        sum(v * v for v in r),
        [(i, v + 1) for i, v in enumerate(r)],
    )


def some_arrays(x, r):
    kept = [v * 2 for v in r if v[0] > 0]
    return kept, np.array(kept), [v.sum() for v in kept], len(kept)


def windows(x, r):
    parts = [x[i : i + 5] for i in range(len(x) - 4)]
    clipped = np.array([x[max(0, i - 2) : min(len(x), i + 3)].mean() for i in range(len(x))])
    return np.array(parts), [v.max() - v.min() for v in parts], clipped


def nested(x, r):
    return (
        [[a * b for a in x[:30]] for b in x[:20]],
        [a * b for a in x[:12] for b in x[:10]],
        [a + j for a in x for j in range(3) if a > 0],
    )


def ordered(x, r):
    by_value = sorted(range(len(x)), key=lambda i: x[i])
    return sorted(x)[:5], sorted(x, reverse=True), by_value, sorted([v for v in x if v > 0])[:3], sorted(-v for v in x)


def ordered_by(x, r):
    pairs = [(int(v * 2), v) for v in x]
    return (
        sorted(pairs),
        sorted(pairs, reverse=True),
        sorted(pairs, key=lambda p: p[0]),
        sorted(pairs, key=lambda p: -p[0], reverse=True),
    )


def sliced(x, r):
    kept = [v for v in x if v > 0]
    return kept[1:], kept[::-1], kept[-3:], kept[:5], kept[10:2:-2], kept[1000:], list(reversed(kept))


def applied(x, r):
    return list(map(abs, x)), list(filter(lambda v: v > 1, x)), list(v + 1 for v in x), x.tolist()


def looked_for(x, r):
    kept = [v for v in x if v > 0]
    return x[5] in kept, 0 in kept, x[7] * 0 + 100 in kept


def appended_later(x, r):
    kept = [v for v in x if v > 0]
    kept.append(x[0])
    last = kept.pop()
    kept[0] = last
    kept.append(5.0)
    return kept, len(kept), kept[-1]


def joined(x, r):
    high, low = [v for v in x if v > 1], [v for v in x if v < -1]
    both = high + low
    both.append(x[0])
    rows = [v * 2 for v in r] + [v + 1 for v in r if v[0] > 0]
    return both, low + [x[1], 0.5], [1] + high, np.array(high + [x[2]]), sum(low + high), rows, len(high)


def gone_through(x, r):
    total, last = 0.0, 0.0
    for v in [v for v in x if v > 0]:
        total += v * v
    for i, v in enumerate([v for v in x if v < 0]):
        last = v * i
    return total, last


def long_rows(x, r):
    rows = []
    for i in range(100):
        row = []
        for j in range(i):
            row.append(x[i] * x[j])
        rows.append(sum(row))
    return np.array(rows).reshape(10, 10) @ np.ones((10, 2)), rows[-1], len(rows)


PROGRAMS = [
    doubled, positive, nothing, summed, extremes, placed_extremes, truths, side_by_side, of_arrays, some_arrays, windows, nested,
    ordered, ordered_by, sliced, applied, looked_for, joined, appended_later, gone_through, long_rows,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_is_one_program(program: Any) -> None:
    fast = wf.jit(program, strict=False)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        same_outcome(fast, program, (rng.normal(size=200), rng.normal(size=(40, 3))), program.__name__)
    assert fast.ways == {"compiled": 3, "pieces": 0, "plain": 0}


@pytest.mark.parametrize("program", [doubled, positive, windows, summed, side_by_side])
def test_it_is_as_long_as_the_source(program: Any) -> None:
    assert len(wf.trace(program, X, R).core.op_names) < 120


def counts_calls(x):
    calls = 0

    def is_high(v):
        nonlocal calls
        calls += 1
        return v > 1

    return any(is_high(v) for v in x), calls


def writes(x):
    seen = np.zeros(len(x))

    def look(i):
        seen[i] = 1
        return x[i] < 1

    return all(look(i) for i in range(len(x))), seen


def counts_keys(x):
    asked = []
    return sorted(x, key=lambda v: asked.append(1) or -v)[:3], len(asked)


def takes_one_first(x):
    numbers = (v for v in x if v > 0)
    first = next(numbers)
    both = itertools.pairwise(x)
    pair = next(both)
    return first, sum(numbers), pair, [b - a for a, b in both], sum(numbers)


def identity(x):
    rows = [x[i : i + 3] * 2 for i in range(20)]
    first = rows[0]
    return first is rows[0], first is rows[1], rows


def written_rows(x):
    rows = [x[i : i + 3] * 2 for i in range(20)]
    rows[0][1] = 5
    rows[3] += 1
    return rows


def views(x):
    rows = [x[i : i + 3] for i in range(20)]
    x[0] = 100.0
    return rows[0][0], np.array(rows).sum()


def given_views(x):
    return [x[i : i + 3] for i in range(20)]


def changed_while_gone_through(x):
    queue, seen = [v for v in x[:12]], 0
    for v in queue:
        seen += 1
        if v > 0 and len(queue) < 60:
            queue.append(v - 1)
    return queue, seen


def two_kinds(x):
    return [v if v > 0 else 0 for v in x], [1 if v > 0 else 0.5 for v in x]


def joined_kinds(x):
    some, others = [v if v > 0 else 0.5 for v in x], [float(v) if v > 1 else 1 for v in x]
    return some + others, some + [float(v) for v in x], others + [1], [2] + others


def pythons(x):
    kept = [v for v in x if v > 0]
    del kept[0]
    kept.insert(1, 3.0)
    other = kept
    other.append(1.0)
    return kept, other is kept, kept + [2.0], kept == other, isinstance(kept, list), {i: v for i, v in enumerate(kept)}


def early_error(x):
    return any(1.0 / v > 0 for v in [float(v) for v in x] + [0.0])


@pytest.mark.parametrize(
    "program",
    [counts_calls, writes, counts_keys, takes_one_first, identity, written_rows, views, given_views, changed_while_gone_through]
    + [two_kinds, joined_kinds, pythons, early_error],
)  # fmt: skip
def test_what_shows_is_pythons(program: Any) -> None:
    fast = wf.jit(program, strict=False)
    for seed in range(3):
        same_outcome(fast, program, (np.random.default_rng(seed).normal(size=60),), program.__name__)


def test_arrays_of_a_list_are_arrays_of_their_own() -> None:
    found = wf.jit(lambda r: [v * 2 for v in r])(R)
    assert np.array_equal(found, R * 2) and all(row.base is None and row.flags.owndata for row in found)


@pytest.mark.parametrize("use", ["kept[0]", "max(kept)", "min(v for v in x if v > 100)", "kept.pop()"])
def test_nothing_is_no_value(use: str) -> None:
    program = function_of(f"def f(x):\n    kept = [v for v in x if v > 100]\n    return {use}", "f", f"nothing {use}")
    with pytest.raises((IndexError, ValueError)) as raised:
        wf.jit(program, strict=False)(X)
    assert type(raised.value) in (IndexError, ValueError)  # Python's own
    with pytest.raises(wf.errors.Error, match="out of range"):
        wf.jit(program, strict=True)(X)
    assert wf.jit(program, strict=True)(X + 100) == program(X + 100)


def test_arrays_of_a_list_have_numpys_layout() -> None:
    program = lambda r: [np.outer(v, r[0]).T * 2 for v in r]
    fast = wf.jit(program, strict=False)
    for _ in range(2):
        assert [v.flags.f_contiguous for v in fast(R)] == [v.flags.f_contiguous for v in program(R)]


def test_large_arrays_by_a_condition_need_no_memory() -> None:
    program = lambda x: len([np.zeros((3000, 3000)) + v for v in x if v > 2.9])
    assert wf.jit(program, strict=False)(X) == program(X)


def test_a_nan_is_ordered_by_python() -> None:
    x = np.where(X > 1, np.nan, X)
    fast = wf.jit(lambda x: sorted(x)[:5], strict=False)
    assert repr(fast(x)) == repr(sorted(x)[:5])


def test_ties_stay_in_their_order() -> None:
    def program(k):
        pairs = [(v, i) for i, v in enumerate(k)]
        return sorted(pairs, key=lambda p: p[0]), sorted(pairs, key=lambda p: p[0], reverse=True), np.lexsort((k,))

    k = np.random.default_rng(5).integers(0, 4, 60)
    fast = wf.jit(program, strict=False)
    same(fast(k), program(k))
    assert fast.ways["compiled"] == 1


def drawn(seed: int) -> str:
    """A function of comprehensions over arrays, ranges, and lists that it made before."""
    r = random.Random(seed)
    numbers, lists, pairs, results = ["a"], [], [], []

    def expression(names: list[str], depth: int = 0) -> str:
        k = r.random()
        if k < 0.4 or depth > 2:
            return r.choice([*names, *names, "1", "0.5", "-2"])
        inner = lambda: expression(names, depth + 1)
        if k < 0.75:
            return f"({inner()} {r.choice('+-*')} {inner()})"
        return r.choice(
            [f"abs({inner()})", f"max({inner()}, {inner()})", f"({inner()} if {condition(names)} else {inner()})"]
        )

    def condition(names: list[str]) -> str:
        return f"{expression(names, 2)} {r.choice(['<', '>', '<=', '=='])} {expression(names, 2)}"

    def clause(number: int) -> tuple[str, list[str]]:
        v, w = f"v{number}", f"w{number}"
        several = ["zip(x, y)", "enumerate(x)", "zip(x, x[1:])", *(f"zip({n}, {n}[1:])" for n in lists)]
        single = ["x", "y", "x[::2]", "range(len(x))", "range(12)", "range(4)"]
        single += [part for n in lists for part in (n, f"{n}[1:]", f"{n}[::-1]", f"{n}[-4:]")]
        if pairs and r.random() < 0.3:
            return f"for {v}, {w} in {r.choice(pairs)}", [v, w]
        if r.random() < 0.3:
            return f"for {v}, {w} in {r.choice(several)}", [v, w]
        return f"for {v} in {r.choice(single)}", [v]

    def comprehension(number: int) -> tuple[list[str], str]:
        text, bound = clause(number)
        names = [*numbers, *bound, *bound]
        if r.random() < 0.45:
            text += f" if {condition(names)}"
        if r.random() < 0.12:
            more, bound = clause(number + 10)
            text, names = f"{text} {more}", [*names, *bound]
        return names, text

    lines = ["def f(x, y, a):"]
    for number in range(r.randint(2, 5)):
        name, (names, text), kind = f"l{number}", comprehension(number), r.random()
        if kind < 0.4:
            lines.append(f"    {name} = [{expression(names)} {text}]")
            lists.append(name)
        elif kind < 0.5:
            lines.append(f"    {name} = [({expression(names)}, {expression(names)}) {text}]")
            pairs.append(name)
        elif kind < 0.7:
            lines.append(f"    {name} = {r.choice(['sum', 'max', 'min'])}({expression(names)} {text})")
            numbers.append(name)
        elif kind < 0.8:
            lines.append(f"    {name} = {r.choice(['any', 'all'])}({condition(names)} {text})")
        elif kind < 0.9 and lists:
            key = r.choice(["", ", reverse=True", ", key=abs"])
            lines.append(f"    {name} = sorted({r.choice(lists)}{key})")
            lists.append(name)
        else:
            lines.append(f"    {name} = np.array([{expression(names)} {text}])")
        results.append(name)
    return "\n".join([*lines, f"    return {', '.join(results)},"])


@pytest.mark.parametrize("seed", range(40))
def test_drawn_programs(seed: int) -> None:
    source = drawn(seed)
    function = function_of(source, "f", f"comprehensions {seed}")
    fast = wf.jit(function, strict=False)
    for turn in range(3):
        rng = np.random.default_rng(100 * seed + turn)
        same_outcome(fast, function, (rng.normal(size=12), np.round(rng.normal(size=12)), float(turn)), source)
