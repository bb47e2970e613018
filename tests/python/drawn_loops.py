"""Draws functions whose loops have conditions: nested, with connectives, on elements, counters and numbers of other types."""

from __future__ import annotations

from random import Random
from typing import Any

from sources import function_of

HELPERS = """
def clamp(v, low, high):
    if v < low: return low
    if v > high: return high
    return v

def pick(a, b):
    if a > b and a > 0:
        return a * 2
    return b
"""


class Drawn:
    """Statements and expressions of one program; ``wild`` ones mix types."""

    def __init__(self, random: Random) -> None:
        self.random, self.depth, self.wild = random, 0, random.random() < 0.3

    def one(self, *options: str) -> str:
        return self.random.choice(options)

    def share(self, simple: float) -> float:
        """A share of one, of the simple forms where expressions are deep."""
        return self.random.random() * (simple if self.depth > 3 else 1)

    def deeper(self, form: Any) -> str:
        self.depth += 1
        try:
            return form()
        finally:
            self.depth -= 1

    def number(self) -> str:
        return self.deeper(lambda: self._number(self.share(0.55)))

    def _number(self, share: float) -> str:
        one, number = self.one, self.number
        if share < 0.55:
            names = ["s", "best", "t", "x[i]", "y[i]", "x[k]", "z[i]", "x[i - 1]", "x[q[i]]"]
            names += ["f[i]", "v[i]", "v[i]", "1", "0"] if self.wild else []
            return self.random.choice([*names, "0.0", "1.5"])
        if share < 0.75:
            return f"({number()} {one('+', '-', '*')} {number()})"
        if share < 0.8:
            return one(f"max({number()}, {number()})", f"min({number()}, {number()}, {number()})")
        if share < 0.85:
            return f"abs({number()})"
        if share < 0.9:
            return f"({number()} if {self.condition()} else {number()})"
        if share < 0.95:
            name = one("sin", "tanh", "floor", "fabs", "exp", "log1p", "sqrt")
            return one(f"math.{name}({number()})", f"float({number()})", f"math.atan2({number()}, {number()})")
        if share < 0.97:
            return f"np.{one('sqrt', 'exp', 'floor', 'abs')}({number()})"
        return one(f"pick({number()}, {number()})", f"clamp({number()}, -0.5, {one('0.5', '1.0')})")

    def integer(self) -> str:
        return self.deeper(lambda: self._integer(self.share(0.5)))

    def _integer(self, share: float) -> str:
        if share < 0.5:
            return self.one("k", "m", "i", "q[i]", "j", "0", "1", "2", "i - 1")
        if share < 0.7:
            return f"({self.integer()} {self.one('+', '-')} {self.integer()})"
        if share < 0.8:
            return f"({self.integer()} if {self.condition()} else {self.integer()})"
        if share < 0.9:
            return f"{self.one('min', 'max')}({self.integer()}, {self.integer()})"
        number = self.number()
        return self.one(f"int({number})", f"round({number})", f"{self.integer()} % 3", f"{self.integer()} // 2")

    def condition(self) -> str:
        return self.deeper(lambda: self._condition(self.share(0.55)))

    def _condition(self, share: float) -> str:
        if share < 0.45:
            return f"{self.number()} {self.one('<', '>', '<=', '>=', '==', '!=')} {self.number()}"
        if share < 0.55:
            return self.one(
                "i > 0", "i % 2", "i % 3 == 1", "i < n - 1", "i != 3", "k", "flag", "not flag", "k > 2", "i > k"
            )
        if share < 0.72:
            return f"({self.condition()} {self.one('and', 'or')} {self.condition()})"
        if share < 0.77:
            return f"not ({self.condition()})"
        if share < 0.85:
            return f"{self.integer()} {self.one('<', '>', '==')} {self.integer()}"
        return self.one(f"-0.5 < {self.number()} <= 1.5", f"x[i] > {self.one('0.5', '0.0', 'best', 't')}")

    def statement(self, indent: int, depth: int = 0) -> list[str]:
        share, pad = self.random.random(), "    " * indent
        if depth < 3 and share < 0.35:
            lines = [f"{pad}if {self.condition()}:", *self.block(indent + 1, depth + 1)]
            if self.random.random() < 0.3:
                lines += [f"{pad}elif {self.condition()}:", *self.block(indent + 1, depth + 1)]
            if self.random.random() < 0.5:
                lines += [f"{pad}else:", *self.block(indent + 1, depth + 1)]
            return lines
        if share < 0.38 and depth:
            return [f"{pad}{self.one('continue', 'pass')}"]
        return [pad + self.simple()]

    def simple(self) -> str:
        number, integer = self.number(), self.integer()
        place = self.one("i", "q[i]", "i - 1", "k")
        return self.one(
            f"s = {number}",
            f"s {self.one('+=', '-=', '*=')} {number}",
            f"best = {number}",
            f"t = {number}",
            f"k {self.one('+=', '=')} {self.one('1', '2', 'i', '0')}",
            f"m = {integer}",
            f"flag = {self.one('True', 'False', self.condition(), 'not flag')}",
            f"y[{place}] {self.one('=', '+=', '-=')} {number}",
            f"y[{place}] = {number}",
            f"c[{self.one('i', 'q[i]')}] {self.one('=', '+=')} {integer}",
            "z[i], y[i] = y[i], z[i]",
            f"rows[i] = {number}",
            f"rows[i, 1:] += {number}",
            f"u = {number}; y[i] = u",
            "j = i",
            f"bytes[i] = {integer}",
        )

    def block(self, indent: int, depth: int) -> list[str]:
        return [line for _ in range(self.random.choice([1, 1, 2, 3])) for line in self.statement(indent, depth)]

    def behind(self) -> str:
        """What is computed behind the loop of a number of it, whose type may depend on the run."""
        v, w = self.one("s", "best", "t", "k", "m"), self.one("s", "best", "k")
        return self.one(
            "None", f"[{v}, {w}]", f"{v} * 2 + {w}", f"{v} / 2", f"abs({v}), -{v}", f"{v} > {w}, not {v}", f"{{'v': {v}}}",
            f"np.full(2, {v})", f"np.array([{v}, 1])", f"np.maximum({v}, 0)", f"np.square({v})", f"x * {v}", f"f * {v}",
            f"isinstance({v}, float), type({w}).__name__", f"max({v}, {w}), sum([{v}, {w}])", f"{v} if {w} > 0 else 1",
            f"{v} // 2, {v} % 3", f"round({v}, 1)", f"np.where(x > {v}, x, {w})", f"{v} if flag else {w}",
        )  # fmt: skip

    def program(self) -> str:
        first = lambda *simple: self.one(*simple, "0", "w", "1") if self.wild else self.one(*simple)
        lines = [
            "def drawn(x, v, z, q, f, w):",
            "    n, z = len(x), z.copy()",
            "    y, c, rows, bytes = np.zeros(n), np.zeros(n, int), np.ones((n, 3)), np.zeros(n, np.int8)",
            f"    s, best, t = {first('0.0', 'x[0]')}, {first('-1.0', '-np.inf', '1e9')}, {self.one('0.0', '1.5', 'x[1]')}",
            f"    k, m, flag, j = {self.one('0', '3')}, {self.one('0', '1')}, {self.one('True', 'False')}, 0",
            f"    for i in range({self.one('n', 'n', '1, n', 'n - 1', '0, n, 2', 'n - 1, 0, -1')}):",
            *self.block(2, 0),
        ]
        for _ in range(self.random.choice([0, 1, 2])):
            lines += self.statement(2)
        lines.append(f"    u = {self.behind()}")
        every = "u, s, best, t, k, m, flag, j, y, c, rows, bytes, z"
        lines.append(f"    return {self.one(every, 'y, s', 'best, k, u', '(s, flag), y, c', 'u')}")
        return "\n".join(lines)


#: What may be done with a variable that is None at first.
NONES = (
    ["p = i"], ["p = x[i]"], ["p = None"], ["p = k"], ["if p is None:", "    p = i"], ["if x[i] > 0:", "    p = i"],
    ["if p is not None and x[i] > 0:", "    k = 1"], ["if p is None or x[i] < 0:", "    p = x[i]"], ["if x[i] < 0:", "    p = None"],
    ["p = i if x[i] > 0 else None"], ["if p is None:", "    m = 2", "else:", "    y[i] = p"], ["p = s"],
)  # fmt: skip


class DrawnExits(Drawn):
    """Loops that end early: ``while``, ``break``, ``return``, ``else``, and loops like that in others."""

    loops = 0

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.wild = random.random() < 0.1
        self.arrays = random.random() < 0.4
        self.nones = random.random() < 0.3

    def statement(self, indent: int, depth: int = 0) -> list[str]:
        share, pad = self.random.random(), "    " * indent
        if self.arrays and share > 0.93:
            return [
                pad
                + self.one("a = y.copy()", "a = x * 2", "a = x", "a = y", "a = z", "s = a[i]", "a[i] = s", "a = a + 1")
            ]
        if self.nones and share > 0.85:
            return [pad + line for line in self.one(*NONES)]
        if share < 0.1:
            jump = self.one(
                "break", "break", "break", "continue", f"return {self.one('s', 'k, y', 'i', '(flag, best)')}"
            )
            return [f"{pad}if {self.condition()}:", *self.few(indent + 1), f"{pad}    {jump}"]
        if share < 0.16 and self.loops < 2 and depth < 2:
            return self.loop(indent, depth + 1)
        return super().statement(indent, depth + 1)

    def few(self, indent: int) -> list[str]:
        return ["    " * indent + self.simple()] if self.random.random() < 0.5 else []

    def loop(self, indent: int, depth: int) -> list[str]:
        """A loop in another, of a few turns at most."""
        pad, name = "    " * indent, f"h{self.loops}"
        self.loops += 1
        inside = self.block(indent + 1, depth)
        end = [f"{pad}else:", *self.block(indent + 1, 3)] if self.random.random() < 0.25 else []
        if self.random.random() < 0.4:
            condition = self.one(self.condition(), f"x[{name}] > {self.number()}")
            jump = [f"{pad}    if {condition}:", f"{pad}        break"] if self.random.random() < 0.7 else []
            stop = self.one("9", "n - 1", "i", "3", "q[i]", "q[i] - 4", "k", "m, n - 1", "q[i], -1, -2")
            return [f"{pad}for {name} in range({stop}):", *inside, *jump, *end]
        if self.random.random() < 0.3:
            # Numbers that Python knows end it in some turns of the loop around it.
            head = self.one(f"{name} >= 0 and {self.condition()}", f"{self.condition()} and {name} > 0", f"{name} > 0")
            start = self.one("i - 1", "1", "2", "0", "min(i, 3)")
            return [f"{pad}{name} = {start}", f"{pad}while {head}:", f"{pad}    {name} -= 1", *inside, *end]
        head = self.one(f"{name} < 8 and {self.condition()}", f"{self.condition()} and {name} < n - 1", f"{name} < i")
        return [f"{pad}{name} = 0", f"{pad}while {head}:", f"{pad}    {name} += 1", *inside, *end]

    def program(self) -> str:
        lines = super().program().split("\n")
        if self.arrays:
            lines.insert(2, f"    a = {self.one('z', 'x.copy()', 'x', 'np.zeros(n)')}")
            lines[-1] += self.one(", a", ", a, z", ", a[1:]")
        if self.nones:
            lines.insert(2, "    p = None")
            lines[-1] += ", p"
        at = next(number for number, line in enumerate(lines) if line.startswith("    for i in"))
        if self.random.random() < 0.5:
            head = self.one("i < n - 2", f"i < n - 2 and {self.condition()}", f"not ({self.condition()}) and i < n - 2")
            lines[at : at + 1] = [f"    i = {self.one('0', '1')}", f"    while {head}:", "        i += 1"]
        elif self.random.random() < 0.3:
            lines[at] = f"    for i in range({self.one('1, 4', '3', '5')}):"
        if self.random.random() < 0.2:
            end = next(number for number, line in enumerate(lines) if line.startswith("    u = "))
            lines[end:end] = ["    else:", f"        {self.simple()}"]
        return "\n".join(lines)


def drawn_program(random: Random, kind: type[Drawn] = Drawn) -> tuple[str, Any]:
    """The text of a function of (x, v, z, q, f, w), and the function."""
    source = HELPERS + kind(random).program()
    return source, function_of(source, "drawn", f"drawn loop {abs(hash(source))}")
