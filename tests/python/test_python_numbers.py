"""Numbers of Python's and NumPy's in loops: their types, and what is raised, are what the run decides."""

from __future__ import annotations

import random

import numpy as np
import pytest
from same_types import outcome, same, same_outcome
from sources import function_of

import weftwork as wf


@pytest.fixture(autouse=True)
def compiled_at_once(at_once):
    """Each way is compiled when it is met."""


#: Of an element of an array, a counter, Python's booleans, integers and floats.
EXPRESSIONS = """
abs(not x[i])
-(not x[i])
+(not x[i])
~(not x[i])
round(not x[i])
(not x[i])+(not x[0])
(not x[i])*2.0
(not x[i])//True
(not x[i])/2
(not x[i])**2
(not x[i])&True
(not x[i])&3
(not x[i])<<1
max(not x[i],False)
divmod(not x[i],2)[0]
(not x[i])-(not x[0])
(not x[i])%True
(not x[i])^True
min(not x[i],1)
int(not x[i])
float(not x[i])
sum([not x[i],True])
np.abs(not x[i])
abs(int(x[i]))
abs(float(x[i]))
round(float(x[i]))
-int(x[i])
~int(x[i])
int(x[i])&1
int(x[i])<<2
int(x[i])/2
int(x[i])**2
float(x[i])//2
float(x[i])%2
divmod(float(x[i]),2)[0]
round(x[i])
round(float(x[i]),1)
abs(x[i]>0)
+(x[i]>0)
(x[i]>0)+1
(x[i]>0)+(x[0]>0)
(x[i]>0)*1.5
x[i]//1
x[i]%2
divmod(x[i],2)[1]
math.floor(x[i])
math.sqrt(abs(x[i]))
math.trunc(x[i])
bool(x[i])
bool(x[i])+1
(x[i]>0)/2
(not x[i])>>1
(x[i]>0)&(x[0]>0)
(not x[i])or x[i]
x[i] and 1.0
x[i] or 0
x[i]>0 and x[i]
0 if x[i]>0 else x[i]
1.0 if x[i]>0 else 0
True if x[i]>0 else 0.5
int(x[i]>0)
float(x[i]>0)
pow(x[i],2)
pow(int(x[i]),2)
x[i]**0.5
complex(x[i]).real
abs(complex(x[i]))
x[i].real
x[i].item()
float(x[i]).is_integer()
np.sign(x[i])
np.sign(float(x[i]))
np.floor(float(x[i]))
max(x[i],0)
min(x[i],1.5)
max(0,int(x[i]))
np.maximum(int(x[i]),0)
sum((x[i],1))
len(x)-i
i/2
i//2
-i
i*x[i]
i%3
i>2
not i
abs(i-3)
float(i)
(i-3)**2
min(i,3)
i&1
1<<i
x[i]<0<i
math.exp(x[i])
math.pow(x[i],2)
math.hypot(x[i],1)
math.erf(x[i])
math.erfc(x[i])
math.lgamma(x[i])
math.fabs(x[i])
math.isnan(x[i])
math.copysign(1,x[i])
math.ceil(x[i])
np.int32(x[i])
np.float32(x[i])
np.bool_(x[i])
x[i].astype(int)
type(x[i])(1)
np.round(x[i])
np.clip(x[i],0,1)
np.hypot(x[i],1)
"""


INITIAL = ["0", "0.0", "x[0]", "False", "None"]
CONDITIONS = ["", "if x[i] > 0: "]
WAYS = [(initial, condition) for condition in CONDITIONS for initial in INITIAL]
LINES = EXPRESSIONS.split("\n")[1:-1]


@pytest.mark.parametrize("number", range(len(LINES)), ids=lambda number: LINES[number])
def test_what_is_bound_in_a_turn(number):
    values = np.array([0.0, 1, -2.5, 0, 3, 0])
    arrays = np.tile(values, 2), -np.tile(values, 2), np.arange(-4, 9), np.array([0.5, 0.0] * 6, np.float32)
    for initial, condition in (WAYS[(number + step) % len(WAYS)] for step in (0, 3, 6)):
        lines = [f"v = {initial}", "for i in range(len(x)):", f"    {condition}v = {LINES[number]}", "return v"]
        source = "\n    ".join(["def f(x):", *lines]) + "\n"
        function = function_of(source, "f", f"{LINES[number]} {initial} {condition}")
        for x in arrays:
            same_outcome(wf.jit(function, strict=False), function, (x,), source)


class Drawn:
    """The text of a function of an array, an array of integers and one of booleans, whose loop binds numbers of all kinds."""

    NAMES = ("p", "q", "s", "t", "b", "z")
    PLACES = ("i", "i", "-1", "0", "i - 1", "(i + 1) % n")
    NUMBERS = ("0", "1", "2", "0.5", "True", "False", "-1", "3", "1.5", "-0.0", "n", "i")
    OF_TWO = (
        "{} + {}",
        "{} - {}",
        "{} * {}",
        "{} / {}",
        "{} // {}",
        "{} % {}",
        "{} and {}",
        "{} or {}",
        "{} & {}",
        "{} == {}",
    )
    OF_TWO += ("{} < {}", "min({}, {})", "max({}, {})", "np.maximum({}, {})", "int({} > {})", "divmod({}, {})[0]")
    OF_ONE = (
        "-{}",
        "abs({})",
        "{} ** 2",
        "float({})",
        "int({})",
        "bool({})",
        "round({})",
        "not {}",
        "{} | 1",
        "{} << 1",
        "{} >> 1",
    )
    OF_ONE += ("np.sqrt({})", "np.abs({})", "np.float32({})", "math.floor({})")
    HEADS = ("i in range(n)", "i in range(n)", "i in range(n - 1, -1, -1)", "i in range(1, n)")
    HEADS += ("i, e in enumerate(x)", "i, (e, g) in enumerate(zip(x, k))")

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.one = self.rng.choice

    def name(self) -> str:
        return self.one(self.NAMES)

    def element(self) -> str:
        return f"{self.one('xxkm')}[{self.one(self.PLACES)}]"

    def simple(self) -> str:
        return self.one([self.name(), self.one(self.NUMBERS), self.element()])

    def expression(self, depth: int) -> str:
        if depth == 0 or self.rng.random() < 0.4:
            return self.simple()
        first, second = self.expression(depth - 1), self.expression(depth - 1)
        kind = self.rng.random()
        if kind < 0.1:
            return f"({first} if {self.condition()} else {second})"
        return f"({self.one(self.OF_TWO if kind < 0.6 else self.OF_ONE).format(first, second)})"

    def condition(self) -> str:
        sign = self.one(["<", "<=", ">", ">=", "==", "!="])
        ask = self.one([f"{self.name()} {sign} {self.simple()}", self.name(), self.element(), f"0 < {self.name()} < 3"])
        return f"not ({ask})" if self.rng.random() < 0.1 else ask

    def statement(self, depth: int) -> list[str]:
        kind = self.rng.random()
        if kind < 0.45:
            return [f"{self.name()} = {self.expression(self.one([0, 1, 1, 2]))}"]
        if kind < 0.6:
            return [f"{self.name()} {self.one(['+=', '-=', '*='])} {self.simple()}"]
        if kind < 0.66:
            return [f"{self.name()}, {self.name()} = {self.simple()}, {self.simple()}"]
        if kind < 0.72:
            return [f"y[{self.one(self.PLACES)}] = {self.expression(1)}"]
        if depth == 0:
            return [f"{self.name()} = {self.simple()}"]
        if kind < 0.76:
            return [f"if {self.condition()}: {self.one(['break', 'continue'])}"]
        body = [f"if {self.condition()}:", *("    " + line for line in self.statement(0))]
        return body if self.rng.random() < 0.7 else [*body, "else:", f"    {self.name()} = {self.expression(1)}"]

    def text(self) -> str:
        lines = ["y = np.zeros(len(x))", "n = len(x)"]
        lines += [
            f"{name} = {self.one(['0', '1', '0.0', '0.5', 'False', 'x[0]', 'k[0]', 'm[0]'])}" for name in self.NAMES
        ]
        lines.append(f"for {self.one(self.HEADS)}:")
        lines += ["    " + line for _ in range(self.one([2, 3, 3, 4])) for line in self.statement(1)]
        if self.rng.random() < 0.15:
            lines += ["else:", f"    {self.name()} = {self.expression(1)}"]
        return "\n    ".join(["def f(x, k, m):", *lines, f"return y, {', '.join(self.NAMES)}"]) + "\n"


@pytest.mark.parametrize("seed", range(120))
def test_drawn(seed):
    source = Drawn(seed).text()
    function = function_of(source, "f", f"numbers {seed}")
    arrays, one = np.random.default_rng(seed), random.Random(seed).choice
    jitted = wf.jit(function, strict=False)
    dtypes = one(["f8", "f8", "f4", "i8"]), one(["i8", "i8", "i4", "u1"])
    for n in (one([1, 2, 3]), 14, 14):
        x, k = (arrays.normal(size=n) * 2).astype(dtypes[0]), arrays.integers(0, 4, n).astype(dtypes[1])
        args = (x, k, arrays.random(n) > 0.5)
        same_outcome(jitted, function, args, source)


def left_in_its_only_turn(x):
    for i in range(len(x)):
        t = i
        if x[i] < 2:
            break
    else:
        t = 7
    return t


@pytest.mark.parametrize("values", [[1.0], [7.0], [7.0, 1.0], [7.0, 7.0]])
def test_a_loop_of_few_turns_is_left(values):
    x = np.array(values)
    assert wf.jit(left_in_its_only_turn, strict=False)(x) == left_in_its_only_turn(x)


def left_before_the_second_turn(x):
    b, t = 0.5, 1
    for i in range(1, len(x)):
        b = np.sqrt(i)
        if t:
            b, t = x[i] > 0, 0.0
        if x[0]:
            break
    return b


def grows_by_a_truth_value(x):
    b, n = True, x[0]
    while n < 3:
        b += 0
        n = n + 1
    return b


def halved(x):
    a = np.where(x[0] > 100, x[0], x[1])
    while a > 3:
        a = a // 2
    return a


def quotient_of_what_a_loop_found(x):
    q, z = 0.0, 0
    for i in range(len(x)):
        q, z = float(x[i]), int(x[0])
    return divmod(q, z)


def power_of_a_counter(x):
    t = x[0]
    for i in range(-2, len(x)):
        t = 0.0**i
    return t


@pytest.mark.parametrize(
    "function",
    [left_before_the_second_turn, grows_by_a_truth_value, halved, quotient_of_what_a_loop_found, power_of_a_counter],
)
@pytest.mark.parametrize("first", [0.0, 1.0, 7.0])
def test_types_after_loops_of_few_turns(function, first):
    x = np.arange(14.0) + first
    jitted = wf.jit(function, strict=False)
    for _ in range(2):
        same(outcome(jitted, (x,)), outcome(function, (x,)))


def text_failures(text):
    failures, k = np.zeros(len(text), np.int64), 0
    for i in range(1, len(text)):
        while k > 0 and text[k] != text[i]:
            k = failures[k - 1]
        if text[k] == text[i]:
            k = k + 1
        failures[i] = k
    return failures, k


def longest_without_repetition(text):
    last, left, best = np.full(26, -1), 0, 0
    for i in range(len(text)):
        left = max(left, last[text[i]] + 1)
        last[text[i]] = i
        best = max(best, i - left + 1)
    return best, left


@pytest.mark.parametrize("function", [text_failures, longest_without_repetition])
def test_python_numbers_that_elements_take_the_place_of_are_one_program(function):
    text = np.random.default_rng(0).integers(0, 3, 60)
    for n in (1, 2, 60):
        jitted = wf.jit(function, strict=False)
        for _ in range(2):
            same(jitted(text[:n]), function(text[:n]))
    assert jitted.ways["plain"] == jitted.ways["pieces"] == 0


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool"])
def test_a_zero_by_integers(dtype):
    x = np.array([0, 1, 0, 5], dtype)
    with np.errstate(all="ignore"):
        for function in (lambda x: x * (0.0 / x), lambda x: (0.0 / x) * 2.0, lambda x: (-0.0 / x) * x):
            np.testing.assert_array_equal(wf.jit(function)(x), function(x))


@pytest.mark.parametrize("comparison", ["a == b", "a != b", "b == a", "a in [b]", "a + b == b + a"])
@pytest.mark.parametrize("number", ["1j", "1 + 0j", "1", "1.0", "True"])
def test_numbers_are_equal_to_elements_as_pythons_are(number: str, comparison: str) -> None:
    """A complex number of Python's takes a float64 for a float, so that the answer is Python's; others ask NumPy."""
    source = f"""
def f(x):
    a, b, s = {number}, 0, None
    for i in range(len(x)):
        b = x[i]
        s = {comparison}
    return s, {number} == x[0], x[0] != {number}
"""
    f = function_of(source, "f", f"{number} {comparison}")
    for dtype in ("f8", "f4", "i8", "c16"):
        same_outcome(wf.jit(f, strict=False), f, (np.ones(12, dtype),), source)
