"""A program that is being drawn: text of a module, typed names in it, and what may be changed from outside between calls.

Types of names: "int", "float", "vec" (array of 3 floats), "list" (list of numbers), "flag" (bool), "mode" (one of MODES).
A place is something that holds a value between calls: a global, an attribute, an item, a cell, an element of an array.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

MARK = "# calls"
IMPORT = "from weftwork import jit"
MODES = ("sum", "mean", "max")
FLOATS = ("0.5", "1.5", "-2.0", "0.25", "3.0", "-0.75", "0.1", "1.0")
HOMES = ("global", "object", "item", "list item", "nested item", "class", "argument", "argument item", "default", "own")
BOXES = (
    "class Box:\n    def __init__(self, value):\n        self.value = value",
    "class Box:\n    __slots__ = ('value',)\n\n    def __init__(self, value):\n        self.value = value",
    "@dataclass\nclass Box:\n    value: object",
    "class Box(types.SimpleNamespace):\n    def __init__(self, value):\n        super().__init__(value=value)",
    "class Box:\n    def __init__(self, value):\n        self._value = value\n        self.reads = 0\n\n    @property\n"
    "    def value(self):\n        self.reads += 1\n        return self._value\n\n    @value.setter\n"
    "    def value(self, value):\n        self._value = value",
)
IMPORTS = (
    "import collections", "import contextlib", "import functools", "import itertools", "import math", "import random", "import types",
    "from collections import Counter", "from collections import OrderedDict", "from collections import defaultdict",
    "from collections import deque", "from collections import namedtuple", "from dataclasses import dataclass",
    "from dataclasses import field", "import numpy as np", IMPORT,
)  # fmt: skip


@dataclass
class Place:
    """Text that reads and writes it inside the entry, and outside of all functions ('' where nothing reaches it)."""

    kind: str
    text: str
    outside: str


@dataclass
class Parameter:
    """A parameter of the entry, and the texts that its calls draw from."""

    name: str
    given: tuple[str, ...]
    default: str = ""
    keyword_only: bool = False


@dataclass
class Builder:
    """Fragments add to it; :meth:`source` gives the program."""

    random: Random
    tops: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    globals: set[str] = field(default_factory=set)
    cells: dict[str, str] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)
    parameters: list[Parameter] = field(default_factory=list)
    between: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)
    results: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    depth: int = 1
    loops: int = 0
    count: int = 0
    shape: str = "function"

    # -- choices ---------------------------------------------------------------------------------------------------

    def pick(self, *options: Any) -> Any:
        return options[self.random.randrange(len(options))]

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    # -- text ------------------------------------------------------------------------------------------------------

    def top(self, text: str) -> None:
        """A statement of the module, once."""
        if text not in self.tops:
            self.tops.append(text)

    def emit(self, *lines: str) -> None:
        for text in lines:
            self.lines += ["    " * self.depth + line if line else "" for line in text.split("\n")]

    @contextmanager
    def block(self, head: str, loop: bool = False) -> Iterator[None]:
        """An indented block; names made in it are forgotten after it, since it may not have run."""
        self.emit(head)
        names = {kind: list(known) for kind, known in self.names.items()}
        self.depth += 1
        self.loops += loop
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.emit("pass")
        self.depth -= 1
        self.loops -= loop
        self.names = names

    def let(self, kind: str, text: str) -> str:
        """A new name for a value."""
        name = self.name({"int": "n", "float": "v", "vec": "w", "list": "l", "flag": "b", "mode": "s"}[kind])
        self.emit(f"{name} = {text}")
        self.know(kind, name)
        return name

    def know(self, kind: str, name: str) -> None:
        self.names.setdefault(kind, []).append(name)

    # -- values ----------------------------------------------------------------------------------------------------

    def literal(self, kind: str) -> str:
        match kind:
            case "int":
                return str(self.random.randint(0, 5))
            case "float":
                return self.pick(*FLOATS)
            case "vec":
                return f"np.array([{', '.join(self.pick(*FLOATS) for _ in range(3))}])"
            case "list":
                return f"[{', '.join(self.pick(*FLOATS) for _ in range(self.random.randint(2, 4)))}]"
            case "flag":
                return self.pick("True", "False")
        return repr(self.pick(*MODES))

    def any(self, kind: str) -> str:
        """A name or a place of a kind, or a literal."""
        known = [p.text for p in self.places if p.kind == kind] + 2 * self.names.get(kind, [])
        if known and self.chance(0.8):
            return self.pick(*known)
        if self.chance(0.4):
            return self.place(kind, new=True).text
        return self.literal(kind)

    def variable(self, kind: str) -> str:
        """A name of a kind, made where there is none."""
        known = self.names.get(kind)
        return self.pick(*known) if known else self.let(kind, self.any(kind))

    def int(self) -> str:
        return self.pick(
            self.any("int"),
            self.any("int"),
            "len(x)",
            "x.shape[0]",
            f"int({self.any('float')})",
            f"{self.any('int')} % 3",
        )

    def float(self) -> str:
        v, w = self.any("float"), self.any("vec")
        return self.pick(
            v, v, f"float({w}.sum())", f"{w}[{self.pick(0, 1, -1)}]", f"{v} * 0.5", f"{w}.max()", f"(x * {v}).mean()",
            f"float(x[0]) + {v}", "np.abs(m).sum()", f"{self.any('int')} * 0.5", f"{w}[{self.any('int')} % 3]",
            f"x[{self.any('int')} % 2 :][:2].max()", f"(m * {self.any('int')}).sum()",
        )  # fmt: skip

    def vec(self) -> str:
        w, v = self.any("vec"), self.any("float")
        return self.pick(
            w, "x[:3]", "x[-3:]", "m[0]", "m.sum(axis=0)", f"np.tanh({w})", f"{w} * {v}", f"0.5 * ({w} + x[:3])",
            f"np.where({w} > 0, {w}, {v})", f"np.maximum({w}, m[-1])", f"np.abs({w})", f"np.sort({w})",
            f"m[{self.any('int')} % 2]", f"{w} + {self.any('int')}",
        )  # fmt: skip

    def condition(self) -> str:
        return self.pick(
            f"{self.any('float')} > {self.literal('float')}", f"{self.any('vec')}.sum() > {self.any('float')}",
            f"(x > {self.any('float')}).any()", self.any("flag"), f"not {self.any('flag')}", f"{self.any('int')} % 2 == 0",
            f"{self.any('mode')} == {self.literal('mode')}", "x.shape[0] > 3", f"{self.any('int')} > 2", "x[0] > x[1]",
            f"{self.any('float')} > 0 and {self.any('vec')}[0] < 1",
        )  # fmt: skip

    def value(self, kind: str) -> str:
        match kind:
            case "int":
                return self.int()
            case "float":
                return self.float()
            case "vec":
                return self.vec()
            case "flag":
                return self.condition()
        return self.any(kind)

    # -- places ----------------------------------------------------------------------------------------------------

    def place(self, kind: str, new: bool = False) -> Place:
        known = [p for p in self.places if p.kind == kind]
        if known and not new and self.chance(0.6):
            return self.pick(*known)
        home = self.pick(*HOMES)
        if kind == "float" and self.chance(0.15):
            home = "element"
        made = self._at_home(kind, home, self.literal(kind))
        self.places.append(made)
        if made.outside:
            self.between.append(f"{made.outside} = {self.literal(kind)}")
            if kind == "vec":
                self.between.append(f"{made.outside}[1] = {self.pick(*FLOATS)}")
        return made

    def _at_home(self, kind: str, home: str, value: str) -> Place:
        name = self.name("g")
        match home:
            case "object":
                boxes = [t for t in self.tops if "class Box" in t]
                self.top(boxes[0] if boxes else self.pick(*BOXES))
                self.top(f"{name} = Box({value})")
                return Place(kind, f"{name}.value", f"{name}.value")
            case "item" | "list item" | "nested item" | "element":
                text, item = {
                    "item": (f"{{'n': {value}, 'other': 1}}", "['n']"),
                    "list item": (f"[{value}, 7]", "[0]"),
                    "nested item": (f"[[{value}], {{'a': 2}}]", "[0][0]"),
                    "element": (f"np.array([{value}, 2.0])", "[0]"),
                }[home]
                self.top(f"{name} = {text}")
                return Place(kind, name + item, name + item)
            case "class":
                self.top(f"class C{name}:\n    total = {value}")
                return Place(kind, f"C{name}.total", f"C{name}.total")
            case "argument" | "argument item":
                text, item = (
                    (f"types.SimpleNamespace(w={value})", ".w")
                    if home == "argument"
                    else (f"{{'w': {value}}}", "['w']")
                )
                self.top(f"a{name} = {text}")
                self.parameters.append(Parameter(name, (f"a{name}",)))
                return Place(kind, name + item, f"a{name}{item}")
            case "default":
                self.parameters.append(Parameter(name, (), f"[{value}]"))
                return Place(kind, f"{name}[0]", "")
            case "own":
                return self._own(kind, name, value)
        self.top(f"{name} = {value}")
        self.globals.add(name)
        return Place(kind, name, name)

    def _own(self, kind: str, name: str, value: str) -> Place:
        """Where the entry's own state is: an attribute of self, a cell of the closure, an attribute of a function."""
        if self.shape in ("method", "decorated method"):
            self.own[name] = value
            return Place(kind, f"self.{name}", f"model.{name}")
        if self.shape == "closure":
            self.cells[name] = value
            return Place(kind, name, "")
        self.top("def tool(a):\n    tool.calls += 1\n    return a * 2\n\n\ntool.calls = 0")
        self.top(f"tool.{name} = {value}")
        return Place(kind, f"tool.{name}", f"tool.{name}")

    # -- the program -----------------------------------------------------------------------------------------------

    def signature(self) -> str:
        plain = [p.name for p in self.parameters if not p.keyword_only and not p.default]
        defaults = [f"{p.name}={p.default}" for p in self.parameters if not p.keyword_only and p.default]
        keywords = [p.name + (f"={p.default}" if p.default else "") for p in self.parameters if p.keyword_only]
        own = ["self"] if "method" in self.shape else []
        return ", ".join([*own, *plain, *defaults, *(["*", *keywords] if keywords else [])])

    def body(self) -> list[str]:
        heads = [f"    global {n}" for n in sorted(self.globals) if any(n in line for line in self.lines)]
        heads += [f"    nonlocal {n}" for n in sorted(self.cells)]
        return [*heads, *self.lines] or ["    pass"]

    def definition(self) -> str:
        """The entry: ``f`` is what is called."""
        inner = [f"def f({self.signature()}):", *self.body()]
        indented = ["    " + line for line in inner]
        text = "\n".join
        if self.shape == "function":
            return text(["@jit", *inner])
        if self.shape == "assigned":
            return text([*inner, "", "", "f = jit(f)"])
        if self.shape == "closure":
            cells = [f"    {n} = {v}" for n, v in self.cells.items()]
            return text(["def make():", *cells, "    @jit", *indented, "    return f", "", "", "f = make()"])
        own = [f"        self.{n} = {v}" for n, v in self.own.items()] or ["        self.ready = True"]
        decorated = self.shape == "decorated method"
        head = ["class Model:", "    def __init__(self):", *own, "", *(["    @jit"] if decorated else []), *indented]
        return text([*head, "", "", "model = Model()", "f = model.f" if decorated else "f = jit(model.f)"])

    def call(self) -> str:
        given = [self.pick(*p.given) for p in self.parameters if p.given and not p.keyword_only]
        named = [f"{p.name}={self.pick(*p.given)}" for p in self.parameters if p.given and p.keyword_only]
        return f"f({', '.join([*given, *named])})"

    def source(self, calls: list[str]) -> str:
        texts = [*self.tops, self.definition(), MARK + "\n" + "\n".join(calls)]
        used = set(re.findall(r"\w+", " ".join(texts)))
        imports = [line for line in IMPORTS if line.split()[-1] in used]
        parts = ["\n".join(imports), *texts]
        text = parts[0]
        for before, part in itertools.pairwise(parts):
            text += ("\n" if is_short(before) and is_short(part) and part in self.tops else "\n\n") + part
        return text + "\n"


def is_short(text: str) -> bool:
    return text.count("\n") < 2 and not text.startswith(("class ", "from ", "import "))
