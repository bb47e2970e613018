"""Lists whose length only the run knows: what loops append by conditions, and take off again, in one program."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from same_types import same, same_outcome
from sources import function_of

import weftwork as wf

pytestmark = pytest.mark.usefixtures("at_once")

X = np.random.default_rng(3).normal(size=200)
K = np.random.default_rng(4).integers(0, 5, 200)


def selected(x, k):
    out = []
    for v in x:
        if v > 0:
            out.append(v * 2)
    return np.array(out)


def peaks(x, k):
    out = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1]:
            out.append(i)
    return out, len(out)


def run_lengths(x, k):
    values, counts = [], []
    last, n = k[0], 1
    for v in k[1:]:
        if v == last:
            n += 1
        else:
            values.append(last)
            counts.append(n)
            last, n = v, 1
    values.append(last)
    counts.append(n)
    return values, counts


def next_larger(x, k):
    stack, found = [], np.full(len(x), -1)
    for i in range(len(x)):
        while stack and x[stack[-1]] < x[i]:
            found[stack.pop()] = i
        stack.append(i)
    return found


def zigzag(x, k):
    turns, way = [(0, x[0])], 0
    for i, v in enumerate(x):
        if way >= 0 and v < turns[-1][1] - 1:
            turns.append((i, v))
            way = -1
        elif way <= 0 and v > turns[-1][1] + 1:
            turns.append((i, v))
            way = 1
        elif (way > 0 and v > turns[-1][1]) or (way < 0 and v < turns[-1][1]):
            turns[-1] = (i, v)
    return turns


def pairs(x, k):
    out = []
    for i in range(30):
        for j in range(i):
            if x[i] * x[j] < -0.5:
                out.append((i, j))
    return np.array(out)


def history(x, k):
    y, rows = 0.0, []
    for v in x:
        y += 0.1 * (v - y)
        rows.append((y, v))
        if y > 2:
            break
    return np.array(rows)


def by_a_helper(x, k):
    out = []

    def keep(v):
        if v > 0.5:
            out.append(v)

    for v in x:
        keep(v)
    return len(out)


def helper_of_its_own(x):
    out = []
    for i in range(len(x)):
        if x[i] < 0:
            out.append(i)
    return out


def given_back(x, k):
    found = helper_of_its_own(x)
    return {"found": found, "again": found, "n": len(found)}


def many_rows(x, k):
    out = []
    for v in x:
        out.append(v + 1)
    return out


def trades(x, k):
    slow, held, out = x[0], False, []
    for i in range(1, len(x)):
        slow += 0.1 * (x[i] - slow)
        if slow > 0.1 and not held:
            held = True
            out.append(("buy", i, x[i]))
        elif slow < -0.1 and held:
            held = False
            out.append(("sell", i, x[i]))
    return out


def flooded(x, k):
    open_, label, n = k.reshape(10, 20) > 1, np.zeros((10, 20), int), 0
    for i in range(10):
        for j in range(20):
            if open_[i, j] and not label[i, j]:
                n += 1
                stack = [(i, j)]
                label[i, j] = n
                while stack:
                    a, b = stack.pop()
                    for da, db in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                        u, v = a + da, b + db
                        if 0 <= u < 10 and 0 <= v < 20 and open_[u, v] and not label[u, v]:
                            label[u, v] = n
                            stack.append((u, v))
    return label, n


def short_loop(x, k):
    out = []
    for i in range(4):
        if x[i] > 0:
            out.append(x[i])
    return out


def reservoir(x, k):
    level, levels, short = 50.0, [], 0
    for v in x:
        level += v * 4
        if level > 60:
            level = 60.0  # a number of Python's
        elif level < 10:
            level, short = 10, short + 1
        levels.append((level, short))
    return levels


def capped(x, k):
    level, levels = 0.0, []
    for v in x:
        level += v
        if level > 2:
            level = 2.0
        levels.append(level)
    return levels, np.array(levels), levels[-1]


def first_fit(x, k):
    bins = []
    for v in np.abs(x) % 1:
        for i in range(len(bins)):
            if bins[i] >= v:
                bins[i] -= v
                break
        else:
            bins.append(1 - v)
    return bins


class Log:
    def __init__(self) -> None:
        self.rows, self.seen = [], 0

    def add(self, value):
        self.seen += 1
        if value > 0:
            self.rows.append((self.seen, value))


def logged(x, k):
    log = Log()
    for v in x:
        log.add(v)
    return log.rows, log.seen


PROGRAMS = [
    selected, peaks, run_lengths, next_larger, zigzag, pairs, history, given_back, many_rows, trades, flooded, short_loop, logged, capped,
    first_fit,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_is_one_program(program: Any) -> None:
    fast, strict = wf.jit(program, strict=False), wf.jit(program, strict=True)
    for x in (X, -X, np.abs(X) + 1, X[::-1]):
        same(fast(x, K), program(x, K))
        same(strict(x, K), program(x, K), types=program is not capped)
    assert fast.ways["compiled"] == (3 if program is pairs else 4)  # an array of no tuples is another matter


def test_numbers_of_more_than_two_types() -> None:
    fast = wf.jit(reservoir, strict=False)
    for x in (X, -X, np.abs(X)):
        same(fast(x, K), reservoir(x, K))


@pytest.mark.parametrize("program", [selected, pairs])
def test_nothing_is_appended(program: Any) -> None:
    fast, nothing = wf.jit(program, strict=False), np.zeros(200)
    same(fast(X, K), program(X, K))
    same(fast(nothing, K), program(nothing, K))  # of which NumPy makes an array of no columns


def test_a_list_that_another_variable_has() -> None:
    fast = wf.jit(by_a_helper, strict=False)
    for x in (X, -X):
        same(fast(x, K), by_a_helper(x, K))


class Model:
    def __init__(self) -> None:
        self.weight, self.history = 0.0, [9.0]

    def fit(self, x):
        self.history = []
        for v in x:
            self.weight += 0.1 * (v - self.weight)
            if abs(self.weight) > 0.05:
                self.history.append(self.weight)
        return self.weight

    def fit_more(self, x):
        for v in x:
            if v > 1:
                self.history.append(v)
        return len(self.history)

    def two_names(self, x):
        self.history = []
        history = self.history
        for v in x:
            if v > 0:
                history.append(v)
        return history is self.history, len(history)


@pytest.mark.parametrize("method", ["fit", "fit_more", "two_names"])
def test_a_list_that_an_object_of_the_callers_has(method: str) -> None:
    mine, theirs = Model(), Model()
    fast = wf.jit(getattr(Model, method), strict=False)
    for x in (X, -X, X * 0):
        same(fast(mine, x), getattr(theirs, method)(x))
        same(list(vars(mine).items()), list(vars(theirs).items()))


def test_few_of_many_turns_need_little_room() -> None:
    def converged(x):
        errors = []
        for _ in range(1_000_000):
            x = x * 0.5
            errors.append(float(abs(x[0])))
            if errors[-1] < 1e-6:
                break
        return errors

    def counted(x):
        found = []
        for i in range(1_000_000):
            if i % 2 == 0:
                found.append(i)
            if i > x[0]:
                break
        return len(found), found[-1]

    for function, starts in ((converged, (1.0, 1e9)), (counted, (10.0, 20_000.0, 30.0))):
        fast = wf.jit(function, strict=False)
        for start in starts:
            same(fast(np.full(3, start)), function(np.full(3, start)))
        assert fast.ways["compiled"] == 2


def test_a_stack_that_outgrows_its_room_is_pythons() -> None:
    def branching(x):
        stack, n = [int(x[0])], 0
        while stack:
            k = stack.pop()
            n += 1
            for _ in range(3):
                if k > 0:
                    stack.append(k - 1)
        return n

    fast = wf.jit(branching, strict=False)
    deep = wf.jit(lambda x: grow_deep(x), strict=False)
    for k in (0, 3, 5):
        x = np.array([float(k)])
        same(fast(x), branching(x))
    for k in (10, 6000, 3):
        same(deep(np.array([k])), grow_deep(np.array([k])))


def grow_deep(x):
    stack, n = [0], 0
    while stack and n < 20000:
        at = stack.pop()
        n += 1
        if at < x[0]:
            stack.append(at + 1)
            stack.append(int(x[0]))
    return n, len(stack)


@pytest.mark.parametrize(
    "use",
    [
        "sorted(a)", "sum(a)", "[v + 1 for v in a]", "a + [1]", "a[:2]", "a[::-1]", "list(a)", "tuple(a)", "a == [1]", "max(a)",
        "a.index(a[0])", "str(len(a))", "np.mean(np.array(a))", "np.array(a).sum() + len(a)", "a[-1]", "a[len(a) - 1]", "a[99]",
        "bool(a), not a", "(a.pop(), a)", "[a, a]", "isinstance(a, list)", "np.asarray(a, dtype=np.float32)", "np.array(a, int)",
        "(a.extend([1.0]), a)", "np.mean(a), np.max(a, initial=0)", "np.array(a) * 2", "np.sort(a)", "np.add(a, 1)", "[list(a), a]", "a != a", "a.copy()", "len(a) > 3 and a[2]", "np.array([a, a])", "x[np.array(a) > 1]", "f'{len(a)}'",
    ],
)  # fmt: skip
def test_what_else_is_done_with_it(use: str) -> None:
    source = f"def f(x):\n    a = []\n    for v in x:\n        if v > 0.5:\n            a.append(v)\n    return {use}\n"
    function = function_of(source, "f", f"use {use}")
    fast = wf.jit(function, strict=False)
    for x in (X, -X, X * 0, X[:100]):
        same_outcome(fast, function, (x,), source)


def two_loops(x):
    out = []
    for i in range(100):
        out.append(x[i])
    for i in range(100):
        out.append(x[i] * 2)
    return out


def a_condition_later(x):
    out = []
    for i in range(100):
        out.append(x[i])
    for i in range(100):
        if x[i] > 0:
            out.append(x[i] * 2)
    return out, len(out)


def length_of_each_turn(x):
    l = [v for v in x]
    s = 0
    for w in x:
        l.append(w)
        s += len(l)
    return l, s


def two_names(x):
    l = [v for v in x]
    m = l
    for w in x:
        l.append(w)
    return m, l is m


def made_of_others(x):
    h = [v for v in x if v > -100]
    g = [v for v in x if v < 100]
    b = h + g
    for v in x:
        b.append(v)
    b.append(x[0])
    b.append(x[1])
    c = b[::-1]
    c.append(x[3])
    c.append(x[4])
    d = sorted(c)
    d.append(x[5])
    d.append(x[5])
    return b, c, d, h, g


def twice_in_a_turn(x):
    l = [v for v in x if v > -100]
    for i in range(20):
        l.append(x[i])
        l.append(x[i + 1])
    return l


def last_element(x):
    out = []
    for i in range(100):
        out.append(x[i])
        if i > 3:
            s = out[-1]
    return out, s


def in_a_way(x):
    out = []
    if x[0] < 0:
        for i in range(100):
            out.append(x[i])
    return out, len(out)


def loops_in_a_short_one(x):
    out = []
    for k in range(3):
        for i in range(100):
            out.append(x[i] * k)
        out.append(x[k])
    return out


def copies(x):
    l = [v for v in x if v > 0]
    m = l.copy()
    m.append(x[0])
    n = list(l)
    n.append(x[1])
    l.append(x[2])
    for v in x:
        m.append(v)
    return l, m, n


def by_a_function(x):
    def add(l, v):
        l.append(v)

    out = []
    for i in range(100):
        add(out, x[i])
    return out


def begun_with_numbers(x):
    out = [x[0]] * 3
    for i in range(100):
        out.append(x[i] + out[0])
    return out


def lists_in_turns(x):
    rows = []
    for i in range(10):
        r = [v * i for v in x[:20]]
        for v in x[:15]:
            r.append(v)
        rows.append(sum(r))
    return rows


def length_by_a_dictionary(x):
    l = [v for v in x]
    d = {"l": l}
    s = 0
    for w in x:
        l.append(w)
        s += len(d["l"])
    return l, s


def last_by_a_list(x):
    l = [v for v in x]
    d = [l]
    s = 0.0
    for w in x:
        s += d[0][-1]
        l.append(w * 2)
    return l, s


def read_before(x):
    out = []
    d = [out]
    s = 0.0
    for i in range(100):
        s += len(d[0])
        out.append(x[i] * 2)
    return out, s


def read_by_a_function(x):
    out = []

    def size():
        return len(out)

    s = 0
    for i in range(100):
        out.append(x[i] * 2)
        s += size()
    return out, s


def length_as_element(x):
    out = []
    for i in range(100):
        out.append(x[i] * 2)
    d = (out,)
    for _ in range(100):
        out.append(float(len(d[0])))
    return out


LENGTHS = [
    two_loops, a_condition_later, length_of_each_turn, two_names, made_of_others, twice_in_a_turn, last_element, in_a_way, loops_in_a_short_one, copies, by_a_function, begun_with_numbers, lists_in_turns, length_by_a_dictionary, last_by_a_list, read_before, read_by_a_function, length_as_element,
]  # fmt: skip


@pytest.mark.parametrize("program", LENGTHS)
@pytest.mark.parametrize("strict", [False, True])
def test_lists_of_known_lengths(program: Any, strict: bool) -> None:
    fast = wf.jit(program, strict=strict)
    for seed in range(2):
        same_outcome(fast, program, (np.round(np.random.default_rng(seed).normal(size=100) * 20),), program.__name__)
    assert fast.ways["compiled"] == 2


def drawn(seed: int) -> str:
    """A function with lists that its loops append to and take from."""
    r = random.Random(seed)
    is_tuple = r.random() < 0.25
    numbers = ["x[i]", "i", "x[i] * 2", "k[i]", "s * x[i]", "float(x[i])", "np.float32(x[i])", "n"]
    of_a, of_b = r.choice(numbers[:6]), r.choice(numbers)
    if is_tuple:
        of_a = f"({r.choice(['x[i]', 'x[i] + 1'])}, {r.choice(['i', 'n'])})"
    element = {"a": of_a, "b": of_b}
    conditions = [
        "x[i] > 0",
        "k[i] % 3 == 0",
        "s > 1",
        "len(a) > 2",
        "a",
        "not a",
        "i % 2",
        "len(b) < 8",
        "k[i] > 0 and x[i] < 0",
    ]
    if not is_tuple:
        conditions.append("a and a[-1] > x[i]")

    def statement(depth: int) -> list[str]:
        indent, w = "    " * (depth + 2), r.choice("aab")
        options = [
            [f"{w}.append({element[w]})"],
            [f"{w}.append({element[w]})"],
            [f"if len({w}) > {r.choice([0, 0, 1, 3])}:", f"    {w}.pop()"],
            [f"if {w}:", f"    {w}[{r.choice(['-1', '0'])}] = {element[w]}"],
            ["s += x[i]", "if s > 3:", "    s = 0.0"],
            ["n += 1"],
            ["d['q'] += 1"],
        ]
        if not is_tuple:
            options += [["if a:", f"    s = s * 0.5 + a[{r.choice(['-1', '0', 'i % len(a)'])}]"]]
            options += [["while a and a[-1] < x[i]:", "    a.pop()"]]
        if depth == 0:
            options.append(["if x[i] > 2.2:", "    break"])
        if depth < 3 and r.random() < 0.45:
            lines = [indent + f"if {r.choice(conditions)}:", *statement(depth + 1)]
            return lines + ([indent + "else:", *statement(depth + 1)] if r.random() < 0.4 else [])
        return [indent + line for line in r.choice(options)]

    lines = ["def f(x, k):", "    a, b, s, n, d = [], [], 0.0, 0, {'q': 0}"]
    for _ in range(r.choice([1, 1, 2])):
        lines.append(f"    for i in range({r.choice(['len(x)', '1, len(x) - 1', '20'])}):")
        for _ in range(r.randint(1, 4)):
            lines += statement(0)
    results = [
        "a",
        "b",
        "np.array(a)",
        "(len(a), len(b))",
        "(np.array(b), n)",
        "(a, b, s)",
        "{'a': a, 'd': d}",
        "(a, a)",
        "sorted(a)",
    ]
    return "\n".join([*lines, f"    return {r.choice(results)}"])


@pytest.mark.parametrize("seed", range(40))
def test_drawn_programs(seed: int) -> None:
    source = drawn(seed)
    function = function_of(source, "f", f"lists {seed}")
    fast = wf.jit(function, strict=False)
    for turn in range(3):
        rng = np.random.default_rng(100 * seed + turn)
        x = rng.normal(size=30)
        same_outcome(fast, function, (-np.abs(x) if turn == 1 else x, rng.integers(-4, 9, 30)), source)
