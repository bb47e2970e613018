"""What loops and conditions change beside variables and arrays: attributes, entries of lists and dictionaries, globals, cells."""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest
from same_types import outcome, same
from sources import function_of

import weftwork as wf

pytestmark = pytest.mark.usefixtures("at_once")

X = np.random.default_rng(0).normal(size=40)
SEEN = {"turns": 0}
total = 0.0


class Running:
    """Mean and sum of squares by Welford's method."""

    count = 7  # an object has its own

    def __init__(self) -> None:
        self.mean, self.squares, self.count = 0.0, 0.0, 0

    def add(self, value):
        self.count += 1
        step = value - self.mean
        self.mean += step / self.count
        self.squares += step * (value - self.mean)


class Filter:
    __slots__ = ("level", "pushed")
    decay = 0.5

    def __init__(self) -> None:
        self.level, self.pushed = np.zeros(3), 0

    def push(self, value):
        self.level = self.decay * self.level + value
        self.pushed += 1
        return self.level.sum()


class Kalman:
    def __init__(self) -> None:
        self.cov, self.state = np.eye(2), np.zeros(2)

    def step(self, seen):
        move = np.array([[1, 0.1], [0, 1]])
        self.state, self.cov = move @ self.state, move @ self.cov @ move.T + 0.01 * np.eye(2)
        gain = self.cov[:, 0] / (self.cov[0, 0] + 0.1)
        self.state = self.state + gain * (seen - self.state[0])
        self.cov = self.cov - np.outer(gain, self.cov[0])


class Generator:
    def __init__(self) -> None:
        self.state = 12345

    def next(self):
        self.state = (1103515245 * self.state + 12345) % 2147483648
        return self.state / 2147483648


class Clamped:
    def __init__(self) -> None:
        self._value = 0.0

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, new):
        self._value = max(new, 0.0)


class Shared:
    count = 0


def welford(x):
    running = Running()
    for v in x:
        running.add(v)
    return running.mean, running.squares, running.count


def filtered(x):
    f, t = Filter(), 0.0
    for v in x:
        t += f.push(v)
    return t, f.level, f.pushed


def tracked(x):
    k, out = Kalman(), np.empty(len(x))
    for i in range(len(x)):
        k.step(x[i])
        out[i] = k.state[0]
    return out, k.cov


def drawn_numbers(x):
    g, t = Generator(), 0.0
    for v in x:
        t += v * g.next()
    return t, g.state


def clamped(x):
    c = Clamped()
    for v in x:
        c.value = c.value + v
    return c.value


def walk(x):
    state = {"p": 0.0, "v": 1.0, "n": 0}
    for a in x:
        state["v"] += a * 0.1
        state["p"] += state["v"]
        if state["p"] < 0:
            state["p"] = -state["p"]
            state["n"] += 1
    return state


def swapped(x):
    pair = [0.0, 1.0]
    for v in x:
        pair[0], pair[-1] = pair[1], pair[0] + v
    return pair


def two_names(x):
    d = {"a": 0.0}
    e = d
    for v in x:
        d["a"] += v
        e["a"] *= 0.9
    return d, d is e, e


def array_that_others_have(x):
    d = {"a": x[:3] * 1}
    before = d["a"]
    for v in x:
        d["a"] = d["a"] + v
    before[0] = 7
    return d["a"], before


def array_in_place(x):
    d = {"a": x[:3] * 1}
    same = d["a"]
    for v in x:
        d["a"] += v
    return d["a"], same


def best(x):
    found = {"best": None, "at": -1}
    for i in range(len(x)):
        if found["best"] is None or x[i] > found["best"]:
            found["best"], found["at"] = x[i], i
    return found


def left_early(x):
    d = {"n": 0, "s": 0.0}
    for v in x:
        d["n"] += 1
        d["s"] += v
        if d["s"] > 2:
            return d
    d["n"] = -1
    return d


def while_loop(x):
    at = {"i": 0, "s": 0.0}
    while at["i"] < len(x) and at["s"] < 3:
        at["s"] += abs(x[at["i"]])
        at["i"] += 1
    return at


def nested(x):
    d = {"c": 0, "t": 0.0}
    for i in range(20):
        for j in range(12):
            if x[i] > x[j]:
                d["c"] += 1
            d["t"] += x[j] * 0.1
        d["t"] *= 0.5
    return d


def object_of_a_turn(x):
    t = 0.0
    for i in range(20):
        running = Running()
        for j in range(12):
            running.add(x[i + j])
        t += running.squares
    return t


def no_turns(x):
    d = {"a": 1, "b": None}
    for i in range(len(x) - 40):
        d["a"] += x[i]
        d["b"] = i
    return d


def closure(x):
    low, n = 0.0, 0

    def note(v):
        nonlocal low, n
        if v < low:
            low = v
            n += 1

    for v in x:
        note(v)
    return low, n


def outside_of_loops(x):
    running = Running()
    if x[0] > 0:
        running.mean = x[1]
    else:
        running.squares = x[2] * 2
        running.count = 5
    return running.mean + running.squares, running.count


def both_return(x):
    running = Running()
    if x[0] > 0:
        running.mean = x[1] * 1
        return running.mean
    running.mean = x[2] * 1
    return running.mean


def long_way(x):
    d = {"s": 0.0, "n": 0}
    if x[0] > 0:
        for i in range(40):
            d["s"] += x[i] * x[i]
            d["n"] = i
    return d


PROGRAMS = [
    welford, filtered, tracked, drawn_numbers, clamped, walk, swapped, two_names, array_that_others_have, array_in_place, best,
    left_early, while_loop, nested, object_of_a_turn, no_turns, closure, outside_of_loops, both_return, long_way,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_is_one_program(program: Any) -> None:
    fast, strict = wf.jit(program, strict=False), wf.jit(program, strict=True)
    for x in (X, -X, np.abs(X), X[::-1]):
        same(fast(x.copy()), program(x.copy()))
        same(strict(x.copy()), program(x.copy()), types=False)
    assert fast.ways["compiled"] == 4


def given_dictionary(x, d):
    for v in x:
        d["v"] += v * 0.1
        if v > 0:
            d["n"] += 1
    return d["n"]


def given_list(x, values):
    for v in x:
        if v > 0:
            values[0] += v
        else:
            values[1] += 1
            values[-1] = v
    return values


def given_object(x, running):
    for v in x:
        running.add(v)
    if x[0] > 0:
        running.squares = 0.5
    return running.mean


def held(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        return value
    return [getattr(value, name) for name in getattr(value, "__slots__", None) or vars(value)]


def given_slots(x, f):
    for v in x:
        f.push(v)
    return f.level


@pytest.mark.parametrize(
    ("program", "make"),
    [
        (given_dictionary, lambda: {"v": 0.0, "n": 0, "text": "as it was"}),
        (given_list, lambda: [0.0, 1, 2.0]),
        (given_object, Running),
        (given_slots, Filter),
    ],
)
def test_what_the_caller_has_is_changed(program: Any, make: Any) -> None:
    fast, got, wanted = wf.jit(program, strict=False), make(), make()
    for x in (X, -X, X * 2):
        same(fast(x.copy(), got), program(x.copy(), wanted))
        same(held(got), held(wanted))
    assert fast.ways["compiled"] == 3


def counts_globals(x):
    global total
    for v in x:
        SEEN["turns"] += 1
        if v > 0:
            total += v
            Shared.count += 1
    return total


def test_globals_and_attributes_of_classes() -> None:
    global total
    found = []
    for function in (counts_globals, wf.jit(counts_globals, strict=False)):
        total, SEEN["turns"], Shared.count = 0.0, 0, 0
        found.append([(function(X), SEEN["turns"], Shared.count, total) for _ in range(3)])
    same(found[1], found[0])
    assert function.ways["compiled"] == 3  # type: ignore[attr-defined]


def test_a_variable_of_a_function_outside_of_the_call() -> None:
    def make():
        level = np.array([-2.0, 1.0, -0.75])

        def step(x):
            nonlocal level
            n = 0
            while n < 3:
                n += 1
                if level.sum() > 1:
                    pass
                level = np.tanh(level + x[:3])
            for i in range(20):
                level = level * 0.9 + x[i]
            return level + 4

        return step

    plain, fast, strict = make(), wf.jit(make(), strict=False), wf.jit(make(), strict=True)
    for x in (X, -X, X):
        wanted = plain(x)
        same(fast(x), wanted)
        same(strict(x), wanted)


def test_a_class_keeps_what_an_object_lacks() -> None:
    class Counted:
        hits = 0

    def count(x, c):
        if x[0] > 0:
            c.hits += 1
        return x + 1

    fast, c = wf.jit(count, strict=False), Counted()
    fast(-np.ones(3), c)
    assert "hits" not in vars(c)
    fast(np.ones(3), c)
    assert vars(c) == {"hits": 1} and Counted.hits == 0


def counting_function(x):
    def h(v):
        h.calls += 1
        if v > 0:
            h.largest = max(h.largest, v)
        return v * h.calls

    h.calls, h.largest, s = 0, 0.0, 0.0
    for v in x:
        s += h(v)
    return s, h.calls, h.largest


def function_of_a_way(x):
    def h(): ...

    h.scale = 1.0
    if x[0] > 0:
        h.scale = x[1]
    return h.scale


def object_as_a_dictionary(x):
    r = Running()
    for i in range(20):
        if x[i] > 0:
            r.mean = x[i]
            vars(r)["mean"] = r.mean + 1
        else:
            r.__dict__["mean"] += 1
            r.mean *= 2
    return r.mean


@pytest.mark.parametrize("program", [counting_function, function_of_a_way, object_as_a_dictionary])
def test_attributes_of_functions_and_dictionaries_of_objects(program: Any) -> None:
    fast = wf.jit(program, strict=False)
    for x in (X, -X, np.abs(X)):
        same(fast(x), program(x))
    assert fast.ways["compiled"] == 3


def test_ways_that_are_given_up_leave_containers_as_they_were() -> None:
    def program(x, k):
        a = [x[0]]
        for i in range(20):
            if k[i] % 3 == 0:
                while a and a[-1] < x[i]:
                    a.pop()
                a.append(i)
            else:
                a.append(i)
            if a:
                a[-1] = i
            if len(a) > 0:
                a.pop()
            if a:
                a[0] = i
        return a

    fast = wf.jit(program, strict=False)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x, k = rng.normal(size=20), rng.integers(-4, 9, 20)
        same(fast(x, k), program(x, copy.copy(k)))


class Held:
    """What drawn programs change: of their own, and of the caller's."""

    def __init__(self) -> None:
        self.q, self.n, self.v, self._z = 0.5, 0, np.zeros(3), 0.0

    def step(self, t):
        self.n += 1
        if t > self.q:
            self.q = t
        self.v = self.v * 0.5 + t

    @property
    def z(self):
        return self._z

    @z.setter
    def z(self, t):
        self._z = t * 1.0


NUMBERS = ["d['p']", "d['n']", "o.q", "o.n", "o.z", "w.q", "w.n", "e['k']", "values[0]", "values[-1]", "c", "s"]
ARRAYS = ["d['v']", "o.v", "w.v", "values[1]", "y"]


def drawn(seed: int) -> str:
    """A function whose loops and conditions change numbers and arrays wherever they are."""
    r = random.Random(seed)

    def number() -> str:
        plain = r.choice([*NUMBERS, "x[i]", "x[i] * 2", "1.5", "i", "2"])
        return f"({plain} {r.choice('+-*')} {r.choice(NUMBERS)} * 0.5)" if r.random() < 0.3 else plain

    def condition() -> str:
        return r.choice(
            [
                f"{r.choice(NUMBERS)} > {r.choice(['0', '1', 'x[i]'])}",
                "x[i] > 0",
                "i % 3 == 0",
                f"{r.choice(ARRAYS)}.sum() > 1",
            ]
        )

    def statement(depth: int) -> list[str]:
        indent = "    " * (depth + 2)
        if depth < 3 and r.random() < 0.3:
            lines = [indent + f"if {condition()}:", *statement(depth + 1)]
            return lines + ([indent + "else:", *statement(depth + 1)] if r.random() < 0.5 else [])
        if depth < 2 and r.random() < 0.1:
            return [indent + f"for j in range({r.choice(['2', '11', 'i % 3'])}):", *statement(depth + 1)]
        a, b = r.choice(NUMBERS), r.choice(ARRAYS)
        return [
            indent
            + r.choice(
                [
                    f"{a} = {number()}",
                    f"{a} {r.choice('+-*')}= {r.choice(['x[i]', '0.5', '1'])}",
                    f"{a}, {r.choice(NUMBERS)} = {r.choice(NUMBERS)}, {a}",
                    f"{b} = {r.choice(ARRAYS)} * 0.9 + x[i]",
                    f"{b} = {r.choice([*ARRAYS, 'x[:3] * 1'])}",
                    f"{b} {r.choice('+*')}= {r.choice(['x[i]', '0.9'])}",
                    f"{b}[{r.choice(['0', 'i % 3', '-1'])}] = {number()}",
                    r.choice(["o.step(x[i])", "w.step(x[i])", "bump(x[i])"]),
                ]
            )
        ]

    lines = [
        "def f(Held, x, w, e):",
        "    d, o, values = {'p': 0.0, 'n': 0, 'v': x[:3] * 1}, Held(), [1.0, np.ones(3), 2]",
        "    c, s, y = 0.0, 0.0, np.zeros(3)",
        "    def bump(t):",
        "        nonlocal c",
        "        c += t",
    ]
    for _ in range(r.choice([1, 2])):
        lines.append(f"    for i in range({r.choice(['30', '30', '9', '5', 'len(x) - 20'])}):")
        for _ in range(r.randint(1, 4)):
            lines += statement(0)
        if r.random() < 0.3:
            lines.append(f"        if {condition()}: {r.choice(['break', 'continue', 'return s, d'])}")
            lines += statement(0)
    lines.append(
        f"    return {r.choice(['(s, d, o.q, o.n, o.v, o.z, values, c, y)', '(d, values)', '(o.v is w.v, y is w.v, s)', '(o.v, c)'])}"
    )
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(40))
def test_drawn_programs(seed: int) -> None:
    source = drawn(seed)
    function = function_of(source, "f", f"places {seed}")
    fast = wf.jit(function, strict=False)
    mine, theirs = (Held(), {"k": 0.0}), (Held(), {"k": 0.0})
    for call in range(3):
        x = np.random.default_rng(10 * seed + call).normal(size=30)
        x = np.abs(x) if call == 2 else x
        got, wanted = (outcome(run, (Held, x.copy(), *state)) for run, state in ((fast, mine), (function, theirs)))
        try:
            same([got, held(mine[0]), mine[1]], [wanted, held(theirs[0]), theirs[1]], atol=1e-9)
        except AssertionError as error:
            raise AssertionError(source) from error
