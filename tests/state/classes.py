"""Fragments with classes and functions of the program's own: helpers, records, inheritance, dispatch, decorators."""

from __future__ import annotations

from .builder import Builder
from .registry import fragment


@fragment
def dataclass_inside(b: Builder) -> None:
    b.top(b.pick(
        "@dataclass\nclass Point:\n    a: object\n    b: object = 1.0\n\n    def total(self):\n        return self.a + self.b",
        "@dataclass(frozen=True)\nclass Point:\n    a: object\n    b: object = 1.0\n\n    def total(self):\n        return self.a + self.b",
        "@dataclass\nclass Point:\n    a: object\n    b: object = field(default_factory=lambda: np.ones(3))\n\n    def total(self):\n        return self.a + self.b",
    ) if not any("class Point" in t for t in b.tops) else next(t for t in b.tops if "class Point" in t))  # fmt: skip
    name = b.name("point")
    b.emit(f"{name} = Point({b.vec()}{b.pick('', ', ' + b.float())})")
    b.let("vec", f"{name}.total()")
    b.results += [name, f"{name}.b"]


@fragment
def named_tuple(b: Builder) -> None:
    b.top("Pair = namedtuple('Pair', 'left right')")
    name = b.name("pair")
    b.emit(f"{name} = Pair({b.float()}, right={b.vec()})")
    b.let("float", f"{name}.left")
    b.results += [name, f"{name}._replace(left=0)", f"{name}[1]"]


@fragment
def own_class_inside(b: Builder) -> None:
    """An object that is made, used and perhaps returned."""
    b.top(
        "class Total:\n    made = 0\n\n    def __init__(self, start=0.0):\n        self.sum, self.n = start, 0\n        Total.made += 1\n\n"
        "    def add(self, value):\n        self.sum = self.sum + value\n        self.n += 1\n        return self\n\n"
        "    @property\n    def mean(self):\n        return self.sum / max(self.n, 1)\n\n    @classmethod\n    def of(cls, values):\n"
        "        total = cls()\n        for value in values:\n            total.add(value)\n        return total\n\n"
        "    @staticmethod\n    def half(value):\n        return value * 0.5\n\n    def __len__(self):\n        return self.n\n\n"
        "    def __call__(self, value):\n        return self.add(value).mean\n\n    def __iadd__(self, value):\n        return self.add(value)"
    )
    name = b.name("total")
    make = b.pick("Total()", "Total.of(x)", "Total.of(m)", f"Total({b.float()})", "Total(start=1.0)")
    if b.chance(0.4):
        b.top(f"{name} = Total()")
        b.between.append(f"{name}.sum = 1.5")
    else:
        b.emit(f"{name} = {make}")
    wide = "of(m)" in make or b.chance(0.3)
    b.emit(b.pick(f"{name}.add({b.vec() if wide else b.float()})", f"{name}({b.vec() if wide else b.float()})"))
    b.results += [name, f"{name}.mean", f"len({name})", "Total.made", f"Total.half({name}.sum)"]


@fragment
def inherited(b: Builder) -> None:
    b.top(
        "class Layer:\n    scale = 0.5\n\n    def __init__(self):\n        self.calls = 0\n\n    def __call__(self, a):\n"
        "        self.calls += 1\n        return self.forward(a)\n\n    def forward(self, a):\n        return a * self.scale"
    )
    b.top(
        "class Wide(Layer):\n    def __init__(self, shift):\n        super().__init__()\n        self.shift = shift\n        self.last = None\n\n"
        "    def forward(self, a):\n        self.last = a\n        return super().forward(a) + self.shift"
    )
    name = b.name("layer")
    b.top(f"{name} = {b.pick('Layer()', 'Wide(1.0)', 'Wide(np.ones(3))')}")
    b.between += [f"{name}.scale = 2.0", "Layer.scale = -1.0", f"{name}.calls = 0", "Wide.scale = 3.0"]
    b.let("vec", f"{name}({b.vec()})")


@fragment
def network(b: Builder) -> None:
    """Objects in a list, each with state."""
    name = b.name("net")
    b.top(
        "class Cell:\n    def __init__(self, w):\n        self.w, self.seen = w, 0\n\n    def __call__(self, a):\n        self.seen += 1\n"
        "        return np.tanh(self.w * a)"
    )
    b.top(f"{name} = [Cell(0.5), Cell(np.ones(3)), Cell(-1.5)]")
    w = b.let("vec", b.vec())
    b.emit(f"for cell in {name}:", f"    {w} = cell({w})")
    b.between += [f"{name}[1].w = 2.0", f"{name}.pop()", f"{name}[0].w = {b.literal('vec')}"]


@fragment
def slots(b: Builder) -> None:
    b.top(
        "class Node:\n    __slots__ = ('value', 'link')\n\n    def __init__(self, value, link=None):\n        self.value, self.link = value, link"
    )
    name = b.name("node")
    b.top(f"{name} = Node(1.0)")
    b.emit(
        b.pick(
            f"{name} = Node({b.float()}, {name})",
            f"{name}.value = {b.float()}",
            f"{name}.link = Node({b.vec()})",
            f"{name}.link = {name}",
        )
    )
    if any(f"{name} = Node" in line for line in b.lines[-1:]):
        b.globals.add(name)
    b.results += [f"{name}.value", f"{name}.link is None"]


@fragment
def own_container(b: Builder) -> None:
    b.top(
        "class Table:\n    def __init__(self):\n        self.rows, self.reads = {}, 0\n\n    def __getitem__(self, key):\n        self.reads += 1\n"
        "        return self.rows.get(key, 0.0)\n\n    def __setitem__(self, key, value):\n        self.rows[key] = value\n\n"
        "    def __contains__(self, key):\n        return key in self.rows"
    )
    name, key = b.name("table"), b.pick("'a'", b.any("int"), b.place("mode").text)
    b.top(f"{name} = Table()")
    b.emit(
        b.pick(
            f"{name}[{key}] += {b.float()}",
            f"{name}[{key}] = {b.float()}",
            f"if {key} not in {name}:\n    {name}[{key}] = {b.vec()}",
        )
    )
    b.results.append(f"{name}[{key}]")


@fragment
def dispatched(b: Builder) -> None:
    b.top(
        "@functools.singledispatch\ndef kind(a):\n    return 0.5\n\n\n@kind.register(np.ndarray)\ndef _(a):\n    return 1.0\n\n\n"
        "@kind.register(float)\ndef _(a):\n    return 2.0\n\n\n@kind.register(int)\ndef _(a):\n    return 3.0"
    )
    b.let("float", f"kind({b.pick('x', b.float(), b.any('int'), b.vec(), 'x.sum()', 'x.tolist()[0]')})")


@fragment
def asked_type(b: Builder) -> None:
    subject = b.pick(
        "x",
        b.any("float"),
        "x.sum()",
        "x[0]",
        "float(x[0])",
        "m.T",
        b.any("int"),
        "x > 0",
        "np.float64(1)",
        "m.shape[0]",
    )
    test = b.pick(
        "isinstance({}, np.ndarray)", "isinstance({}, (float, np.floating))", "type({}) is np.ndarray", "isinstance({}, float)", "np.isscalar({})",
        "type({}) is float", "isinstance({}, (int, np.integer))", "hasattr({}, 'shape')", "type({}) in (int, float)", "callable({})",
        "isinstance({}, np.generic)", "type({}).__name__ == 'ndarray'",
    )  # fmt: skip
    b.let("flag", test.format(subject))


@fragment
def helper(b: Builder) -> None:
    """A function outside, with one of many kinds of signature."""
    b.top(
        "def mix(a, *rest, by=0.5, **named):\n    for value in rest:\n        a = a + by * value\n    return a * named.get('scale', 1.0)"
    )
    v, w = b.vec(), b.float()
    b.let(
        "vec",
        b.pick(
            f"mix({v})",
            f"mix({v}, {w}, 2.0)",
            f"mix({v}, by={w})",
            f"mix({v}, *x[:2])",
            f"mix({v}, **{{'scale': {w}}})",
            f"mix(*m, by={w})",
        ),
    )


@fragment
def decorated(b: Builder) -> None:
    b.top(
        "def counted(function):\n    @functools.wraps(function)\n    def call(*args, **named):\n        call.count += 1\n"
        "        return function(*args, **named)\n\n    call.count = 0\n    return call"
    )
    b.top("@counted\ndef smooth(a, by=0.5):\n    return a * by + a.mean()")
    b.let("vec", f"smooth({b.vec()}{b.pick('', ', by=' + b.float())})")
    b.results.append("smooth.count")
    b.between.append("smooth.count = 7")


@fragment
def inner_function(b: Builder) -> None:
    name, kind = b.name("inner"), b.pick("vec", "float")
    b.emit(b.pick(
        f"{name} = lambda a, k=2: a * k + {b.any('float')}", f"def {name}(a, *, k=1):\n    return a * k + {b.any('float')}",
        f"{name} = functools.partial(np.multiply, {b.any('float')})",
    ))  # fmt: skip
    b.let(kind, f"{name}({b.vec() if kind == 'vec' else b.float()})")
    if b.chance(0.3):
        b.results.append(name)


@fragment
def recursion(b: Builder) -> None:
    b.top("def deep(a, n):\n    if n == 0:\n        return a\n    return deep(a * 0.5 + n, n - 1)")
    b.let("vec", f"deep({b.vec()}, {b.pick('3', '0', b.any('int') + ' % 5', 'len(m)')})")


@fragment
def replaced_helper(b: Builder) -> None:
    """A function that is another one at a later call."""
    name = b.name("rule")
    b.top(f"def {name}(a):\n    return a + 1.0")
    b.between += [f"{name} = np.tanh", f"{name} = lambda a: a * 2"]
    b.let("vec", f"{name}({b.vec()})")


@fragment
def jitted_helper(b: Builder) -> None:
    """A jitted function that is called by another, with a counter of its own."""
    name = b.name("part")
    b.top(
        f"{name}_calls = 0\n\n\n@jit\ndef {name}(a, k=2.0):\n    global {name}_calls\n    {name}_calls += 1\n    return a * k"
    )
    b.between.append(f"{name}({b.literal('vec')})")
    b.let("vec", f"{name}({b.vec()}{b.pick('', ', ' + b.float())})")
