"""Fragments with objects of the program's own that answer operators, NumPy's protocols and attribute hooks."""

from __future__ import annotations

import re

from .builder import Builder, Parameter
from .kinds import guarded
from .registry import fragment

#: What has two rows, outside of all functions.
ROWS = "np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])"
#: A class, what makes one, statements that change one, expressions that read one. {o}: an object, {v}: a number, {w}: an array, {i}: an integer.
OBJECTS = (
    ("class Measured:\n    made = 0\n\n    def __init__(self, value, unit='m'):\n        self.value, self.unit = value, unit\n        Measured.made += 1\n\n"
     "    def __add__(self, other):\n        return Measured(self.value + getattr(other, 'value', other), self.unit)\n\n    __radd__ = __add__\n\n"
     "    def __mul__(self, other):\n        return Measured(self.value * getattr(other, 'value', other), self.unit + '*')\n\n    __rmul__ = __mul__\n\n"
     "    def __neg__(self):\n        return Measured(-self.value)\n\n    def __float__(self):\n        return float(np.sum(self.value))\n\n"
     "    def __lt__(self, other):\n        return float(self) < float(other)\n\n    def __eq__(self, other):\n        return isinstance(other, Measured) and float(self) == float(other)\n\n"
     "    def __hash__(self):\n        return hash(self.unit)\n\n    def __bool__(self):\n        return float(self) > 0\n\n    def __abs__(self):\n        return abs(self.value)",
     ("Measured({v})", "Measured({w})", "Measured({x}, 's')"),
     ("{o} += {v}", "{o}.value = {o}.value * 2", "{o}.value[0] = {v}", "{o} = {o} * {w}", "{o} = {w} * {o}", "{o} = -{o}", "{o}.unit += 'k'", "{o} = {v} + {o} + {o}"),
     ("float({o})", "{o} < {v}", "abs({o})", "{o} == {o}", "bool({o})", "x + {o}", "{o} + x", "{w} * {o}", "sum([{o}, {o}])", "max({o}, {o} * 2)", "sorted([{o}, -{o}])[0].value", "{{{o}: 1}}[{o}]",
      "Measured.made", "math.sqrt(abs(float({o})))", "np.float64({v}) * {o}", "x[0] * {o}", "not {o}", "{o} or {v}", "1.0 if {o} else {w}", "np.multiply({w}, {o})", "np.array([{o}, {o}])")),
    ("class Wrapped:\n    def __init__(self, data):\n        self.data, self.asked = data, 0\n\n    def __array__(self, dtype=None, copy=None):\n        self.asked += 1\n        return np.array(self.data, dtype=dtype, copy=copy)\n\n"
     "    def __len__(self):\n        return len(self.data)\n\n    def __getitem__(self, key):\n        return self.data[key]",
     ("Wrapped({w})", "Wrapped({x})", "Wrapped({m})", "Wrapped([1.0, {v}, 3.0])"),
     ("{o}.data = {w}", "{o}.data[0] = {v}", "x[:3] = {o}", "x[:3] += {o}", "np.add(x[:3], {o}, out=x[:3])", "np.asarray({o})[0] = {v}", "np.copyto(x[:3], {o})"),
     ("np.asarray({o})", "np.sum({o})", "np.sqrt({o})", "x[:3] + {o}", "{w} * {o}", "np.dot({w}, {o})", "{o}[0]", "len({o})", "[*{o}]", "np.array({o}, float)", "np.concatenate([{w}, {o}])", "np.stack([{w}, {o}])",
      "np.max({o})", "np.shape({o})", "np.where({o}, 1, 2)", "np.maximum({o}, {v})", "np.array([{w}, {o}])", "np.mean({o}, axis=0)", "np.array_equal({o}, {w})", "{w} == {o}", "{o}[{i}:]", "np.atleast_2d({o})", "float(np.sum({o}))", "{w} @ {o}")),
    ("class Tagged(np.lib.mixins.NDArrayOperatorsMixin):\n    def __init__(self, data, log=()):\n        self.data, self.log = data, list(log)\n\n"
     "    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):\n        values = [i.data if isinstance(i, Tagged) else i for i in inputs]\n        out = kwargs.get('out', ())\n"
     "        if out:\n            kwargs['out'] = tuple(o.data if isinstance(o, Tagged) else o for o in out)\n        found = getattr(ufunc, method)(*values, **kwargs)\n"
     "        return Tagged(found, [*self.log, ufunc.__name__])\n\n"
     "    def __array_function__(self, function, types, args, kwargs):\n        return function.__name__, len(args)",
     ("Tagged({w})", "Tagged({x})", "Tagged({v})"),
     ("{o} += {w}", "{o} *= {v}", "{o} = {o} - x[:3]", "{o}.data[0] = {v}", "{o} = np.sqrt({o})", "{o}.log.append('k')", "np.add({o}, 1, out={o})", "x[:3] += {o}"),
     ("{o} + {w}", "{w} + {o}", "{v} * {o}", "np.tanh({o})", "np.sum({o})", "np.add.reduce({o})", "-{o}", "{o} > {v}", "{o}.log", "np.concatenate([{o}, {o}])", "x[0] ** {o}", "np.hypot({o}, {w})", "np.maximum({w}, {o}).data", "{o}.data.sum()", "np.dot({w}, {o})", "np.multiply.outer({w}, {o})")),
    ("class Opaque:\n    __array_ufunc__ = None\n\n    def __init__(self, k):\n        self.k = k\n\n    def __radd__(self, other):\n        return 'radd', other * self.k\n\n    def __rmatmul__(self, other):\n        return other.sum() + self.k\n\n"
     "    def __rmul__(self, other):\n        self.k += 1\n        return other * self.k\n\n    def __gt__(self, other):\n        return other < self.k\n\n    def __eq__(self, other):\n        return other * 2\n\n    __hash__ = None",
     ("Opaque({v})", "Opaque({i})"),
     ("{o}.k += 1", "{o}.k = {v}"),
     ("{w} + {o}", "{w} @ {o}", "{w} * {o}", "x[0] * {o}", "{w} < {o}", "{w} == {o}", "{w}.sum() + {o}", "np.add({w}, {o})", "{v} + {o}", "x + {o}", "{w} - {o}", "{w}.sum() in [{o}]")),
    ("class Index:\n    def __init__(self, n):\n        self.n, self.asked = n, 0\n\n    def __index__(self):\n        self.asked += 1\n        return self.n\n\n    def __len__(self):\n        return self.n",
     ("Index(1)", "Index(2)", "Index({i})"),
     ("{o}.n = 0", "{o}.n = ({o}.n + 1) % 3", "x[{o}] = {v}", "x[{o}:] *= 2", "del [1, 2, 3][{o}]"),
     ("x[{o}]", "x[{o}:]", "m[0, {o}]", "range({o})", "[1, 2, 3][{o}]", "np.zeros({o})", "np.take(x, {o})", "x.repeat({o})", "np.roll(x, {o})", "m.sum(axis={o})", "x.reshape(-1, {o})", "np.arange({o})", "np.full((2, {o}), {v})", "int({o})", "len({o})", "bool({o})", "{w}[:{o}].sum()", "np.eye({o})", "x[np.array([0, {o}])]", "operator.index({o})", "np.tile(x, {o})", "np.sum(m, {o} % 2)" , "round({v}, {o})")),
    ("class Counting:\n    def __init__(self):\n        self.__dict__['log'] = []\n\n    def __getattr__(self, name):\n        self.log.append('get ' + name)\n        if name.startswith('__'):\n            raise AttributeError(name)\n        return len(self.log)\n\n"
     "    def __setattr__(self, name, value):\n        self.log.append('set ' + name)\n        self.__dict__[name] = value\n\n    def __delattr__(self, name):\n        self.log.append('del ' + name)\n        del self.__dict__[name]",
     ("Counting()",),
     ("{o}.a = {w}", "{o}.b = {v}", "{o}.a += 1", "del {o}.a", "setattr({o}, 'b', {w})", "{o}.__dict__['c'] = {v}", "vars({o}).update(d={w})", "{o}.a[0] = {v}", "x[0] = {o}.zero"),
     ("{o}.a", "{o}.missing", "getattr({o}, 'b', {v})", "hasattr({o}, 'a')", "{o}.log", "len({o}.log)", "{o}.a * x", "{o}.k * {w}", "vars({o})", "x + {o}.q", "'a' in vars({o})")),
    ("class Lazy:\n    def __init__(self, base):\n        self.base, self.runs = base, 0\n\n    @functools.cached_property\n    def square(self):\n        self.runs += 1\n        return self.base * self.base\n\n    @property\n    def half(self):\n        return self.base / 2\n\n    @half.setter\n    def half(self, value):\n        if np.any(np.isnan(value)):\n            raise ValueError('half')\n        self.base = value * 2",
     ("Lazy({w})", "Lazy({v})", "Lazy({x})"),
     ("{o}.base = {w}", "{o}.half = {v}", "{o}.half = {w}", "{o}.half += 1", "del {o}.square", "{o}.square = {v}", "{o}.half = np.nan * {w}", "{o}.square[0] = {v}", "{o}.base += 1"),
     ("{o}.square", "{o}.half", "{o}.runs", "'square' in vars({o})", "{o}.square + {o}.half", "{o}.square is {o}.square", "{o}.half * x[0]")),
    ("class Positive:\n    def __set_name__(self, owner, name):\n        self.name = '_' + name\n\n    def __get__(self, instance, owner=None):\n        return self if instance is None else getattr(instance, self.name, 1.0)\n\n    def __set__(self, instance, value):\n        setattr(instance, self.name, np.abs(value))\n\n\n"
     "class Model:\n    w = Positive()\n    b = Positive()\n    made = []\n\n    def __new__(cls, *args):\n        self = super().__new__(cls)\n        cls.made.append(len(cls.made))\n        return self\n\n    def __init__(self, w=0.5):\n        self.w = w\n\n    def __call__(self, a, *, by=1.0):\n        return a * self.w + self.b * by",
     ("Model()", "Model({v})", "Model({w})"),
     ("{o}.w = {w}", "{o}.b = {v}", "{o}.w -= 0.25 * {w}", "{o}.w *= -1", "Model.made.clear()", "del {o}._w", "x[:3] = {o}({w})", "{o}.b += {o}({v})", "Model.w = {v}"),
     ("{o}({w})", "{o}({v}, by={v})", "{o}.w", "Model.w", "Model.made", "{o}(x).sum()", "[{o}(row) for row in m]", "vars({o})", "functools.reduce(lambda a, _: {o}(a), range(3), {w})", "[*map({o}, m)]", "type(Model.w)")),
    ("class Bag(dict):\n    def __missing__(self, key):\n        self[key] = 0.0\n        return 0.0\n\n    def __getattr__(self, name):\n        try:\n            return self[name]\n        except KeyError:\n            raise AttributeError(name) from None\n\n    def __setattr__(self, name, value):\n        self[name] = value",
     ("Bag()", "Bag(a={w})", "Bag(a={v}, b={w})", "Bag({{'a': {x}}})"),
     ("{o}['a'] += {v}", "{o}.a = {w}", "{o}.c = {o}.a", "{o}.update(b={v})", "{o}.setdefault('d', {w})", "{o} |= {{'e': {w}}}", "{o}.pop('a', None)", "{o}['a'] = {o}['a'] * x[0]", "del {o}['b']", "{o}['n'] += 1"),
     ("{o}.a", "{o}['z']", "{o}.get('a')", "len({o})", "[*{o}]", "{o} == {{}}", "{{**{o}}}", "sum(np.sum(v) for v in {o}.values())", "'a' in {o}", "dict({o})", "{o}.copy()", "sorted({o})", "{o}.b")),
    ("class Row(list):\n    def total(self):\n        return sum(self)\n\n    def __add__(self, other):\n        return Row([a + b for a, b in zip(self, other)])\n\n    def __mul__(self, k):\n        return Row([a * k for a in self])\n\n    __rmul__ = __mul__",
     ("Row([1.0, {v}])", "Row({x})", "Row({m})", "Row([{w}, {v}])", "Row({x}.tolist())"),
     ("{o}.append({v})", "{o}[0] = {w}", "{o} += [{v}]", "{o} = {o} + {o}", "{o}[0] += 1", "{o}.extend(x)", "{o}.sort(key=np.sum)", "{o}.reverse()", "{o}[1:] = []", "{o}.insert(0, {v})"),
     ("{o}.total()", "len({o})", "{o} + x", "x[0] * {o}", "{w} * {o}", "np.array({o})", "np.sum({o})", "{o} * {v}", "{o} == [1.0]", "{o}[:1]", "max({o}, key=np.sum)", "[*reversed({o})]", "np.stack({o})", "{o}.index({v})", "{w} + {o}")),
    ("class Degrees(float):\n    def __new__(cls, value, label='deg'):\n        self = super().__new__(cls, value)\n        self.label = label\n        return self\n\n    def rad(self):\n        return self * np.pi / 180\n\n    def __add__(self, other):\n        return Degrees(float(self) + other, self.label + '+')",
     ("Degrees(30.0)", "Degrees({v}, 'k')", "Degrees({x}[0])", "Degrees({w}.sum())"),
     ("{o} = {o} + {v}", "{o}.label = 'n'", "{o} += x[0]", "{o} = Degrees({o} * {v})"),
     ("{o}.rad()", "np.sin({o})", "{o} * x", "x * {o}", "{o} + 1", "1 + {o}", "{o}.label", "isinstance({o}, float)", "type({o} * 2).__name__", "{o} > {v}", "x[0] + {o}", "{o} + x[0]", "{{{o}: 1}}[{o}]", "np.float64({o})", "np.where(x > {o}, x, {o})", "round({o})", "np.array([{o}, 1])", "str({o})", "{w}.clip(0, {o})", "{o}.is_integer()")),
    ("class Signal(np.ndarray):\n    rate = 1.0\n\n    def __new__(cls, values, rate=1.0):\n        self = np.array(values).view(cls)\n        self.rate = rate\n        return self\n\n    def __array_finalize__(self, base):\n        self.rate = getattr(base, 'rate', 0.5)\n\n    def energy(self):\n        return (self * self).sum() * self.rate",
     ("Signal({x})", "Signal({w}, 2.0)", "Signal({m}, {v})", "{x}.view(Signal)"),
     ("{o}[0] = {v}", "{o}.rate = {v}", "{o} += 1", "{o} = {o}[::-1]", "x[:2] = {o}[:2]", "{o} = {o} * {w}", "{o} = np.sort({o})"),
     ("{o}.energy()", "{o}.rate", "({o} + 1).rate", "{o} * {w}", "{w} * {o}", "type({o}[0]).__name__", "np.sum({o})", "np.sqrt({o})", "{o}.mean()", "np.concatenate([{o}, x])", "type({o}[1:]).__name__", "np.asarray({o})", "{o}.T", "isinstance({o}, Signal)", "np.where({o} > 0, {o}, 0)", "{o}.copy().rate", "np.dot({o}, {o})", "np.zeros_like({o})", "{o}.sum(axis=0)")),
    ("class Mode(enum.Enum):\n    SUM = 'sum'\n    MEAN = 'mean'\n    MAX = 'max'\n\n    def of(self, a):\n        return getattr(a, self.value)()\n\n\nclass Level(enum.IntEnum):\n    LOW = 1\n    HIGH = 2",
     ("Mode.SUM", "Mode.MAX", "Mode('mean')", "Level.LOW", "Level.HIGH", "Level({i})"),
     ("{o} = Mode['SUM']", "{o} = Level.HIGH", "{o} = [*Mode][0]", "x[{o}] = {v}", "{o} = Level({o} % 2 + 1)"),
     ("{o}.of({w})", "x[{o}]", "{o} * x", "{o} is Mode.SUM", "{o} == 2", "{o}.name", "{o}.value", "m.sum(axis={o} - 1)", "{{{o}: {v}}}[{o}]", "{o} in (Mode.MAX, Level.LOW)", "[k.of(x) for k in Mode]", "x * {o}.value", "{o} > 1 and {v}", "range({o})", "isinstance({o}, int)", "[10, 20, 30][{o}]")),
    ("class Guard:\n    depth = 0\n    log = []\n\n    def __init__(self, array=None):\n        self.array = array\n\n    def __enter__(self):\n        Guard.depth += 1\n        if self.array is not None:\n            self.saved = self.array.copy()\n        return self\n\n"
     "    def __exit__(self, kind, error, trace):\n        Guard.depth -= 1\n        Guard.log.append(getattr(kind, '__name__', None))\n        if kind and self.array is not None:\n            self.array[...] = self.saved\n        return kind is ValueError",
     ("Guard()", "Guard({x})", "Guard({m})", "Guard({w})"),
     ("with {o}:\n    x[0] = {v}", "with {o} as g:\n    if {v} > 0:\n        raise ValueError('k')\n    x[1] += 1", "with {o}:\n    x[0] = {v}\n    raise TypeError('t')", "with {o}, Guard():\n    m[0] = {w}", "with {o}:\n    x[:] *= 2\n    [][1]", "for k in range(3):\n    with {o}:\n        if k == 1:\n            continue\n        x[0] += k", "with {o}:\n    float('a')"),
     ("Guard.depth", "Guard.log", "vars({o})", "{o}.array", "len(Guard.log)")),
    ("@dataclass(order=True)\nclass Item:\n    score: float\n    data: object = field(compare=False, default=None)\n    tags: list = field(default_factory=list, compare=False)\n\n    def __post_init__(self):\n        self.score = float(self.score)\n\n    def scaled(self, k):\n        return dataclasses.replace(self, score=self.score * k, data=None if self.data is None else self.data * k)",
     ("Item({v})", "Item({v}, {w})", "Item({x}[0], {x})", "Item({w}.sum(), {m}, ['a'])"),
     ("{o}.score += {v}", "{o} = {o}.scaled({v})", "{o}.tags.append({i})", "{o}.data = {w}", "{o} = dataclasses.replace({o}, data={w})", "{o}.data[0] = {v}", "{o}.score = x[0]"),
     ("{o}.score", "{o} < Item({v})", "dataclasses.astuple({o})", "dataclasses.asdict({o})", "sorted([{o}, Item({v})])[0].score", "{o} == {o}.scaled(1)", "max({o}, Item(0.0)).score", "{o}.data", "len({o}.tags)", "[f.name for f in dataclasses.fields({o})]", "min([Item(e, e) for e in x]).data", "heapq.nsmallest(1, [{o}, Item(1.0)])[0].score")),
    ("class Meta(type):\n    count = 0\n\n    def __call__(cls, *args):\n        Meta.count += 1\n        return super().__call__(*args)\n\n    def __getitem__(cls, n):\n        return cls(*[float(k) for k in range(n)])\n\n    def __len__(cls):\n        return Meta.count\n\n\n"
     "class Vec(metaclass=Meta):\n    kinds = {}\n\n    def __init_subclass__(cls, scale=1.0, **named):\n        super().__init_subclass__(**named)\n        Vec.kinds[cls.__name__] = scale\n\n    def __init__(self, *items):\n        self.items = list(items)\n\n    def __iter__(self):\n        return iter(self.items)\n\n    def __getitem__(self, k):\n        return self.items[k]\n\n    def __setitem__(self, k, value):\n        self.items[k] = value\n\n"
     "    def __contains__(self, value):\n        return any(np.all(value == i) for i in self.items)\n\n    def __matmul__(self, other):\n        return sum(a * b for a, b in zip(self, other))\n\n    def __iadd__(self, other):\n        self.items = [i + other for i in self.items]\n        return self\n\n    def __reversed__(self):\n        return Vec(*self.items[::-1])\n\n    def __round__(self, n=0):\n        return Vec(*[round(float(np.sum(i)), n) for i in self.items])",
     ("Vec({v}, 2.0)", "Vec(*{x})", "Vec({w}, {w})", "Vec[3]", "Vec({x}, {m}[0])"),
     ("{o} += {v}", "{o}[0] = {w}", "{o}[0] += {v}", "{o}.items.append({v})", "{o} = reversed({o})", "{o}[0][0] = {v}", "{o}[0], {o}[1] = {o}[1], {o}[0]", "x[:2] = [*{o}][:2]", "class Own(Vec, scale={v}):\n    pass"),
     ("{o} @ {o}", "{o} @ x", "[*{o}]", "{v} in {o}", "{o}[-1]", "round({o}, 1).items", "len(Vec)", "Vec.kinds", "a if (a := {o}[0]) is x else {v}", "np.array([*{o}])", "[*zip({o}, x)]", "sum({o})", "max({o})", "x[0] in {o}", "dict(enumerate({o}))", "first(*{o})", "[i * 2 for i in {o}]", "np.sum([*{o}], axis=0)")),
)  # fmt: skip


@fragment
def own_object(b: Builder) -> None:
    """An object that is made outside, given, or made inside; then it is used by what knows nothing of it."""
    text, makes, changes, reads = b.pick(*OBJECTS)
    for module in ("enum", "dataclasses", "heapq", "operator"):
        if f"{module}." in " ".join((text, *changes, *reads)):
            b.top(f"import {module}")
    b.top(text)
    name = b.name("o")
    use = home(b, name, b.pick(*makes), b.pick(*changes))
    for _ in range(b.random.randint(2, 5)):
        if b.chance(0.45):
            lines = inside(b, b.pick(*changes), use).split("\n")
            if b.chance(0.2):
                lines = [f"for i in range({b.pick('2', '3', '20')}):", *(f"    {line}" for line in lines)]
            guarded(b, *lines)
        else:
            result = b.name("r")
            b.emit(f"{result} = None")
            guarded(b, f"{result} = {inside(b, b.pick(*reads), use)}")
            b.results.append(result)
    if b.chance(0.4):
        b.results.append(use)


def home(b: Builder, name: str, make: str, change: str) -> str:
    """Makes the object; returns the text that stands for it inside."""
    where = b.pick("global", "global", "argument", "inside", "list", "attribute")
    if where == "inside":
        b.emit(f"{name} = {inside(b, make)}")
        return name
    made = outside(make)
    if where == "argument":
        given = [f"{letter}{name}" for letter in "ab"[: b.random.randint(1, 2)]]
        for text in given:
            b.top(f"{text} = {made}")
        b.parameters.append(Parameter(name, tuple(given)))
        return name
    form, use = {
        "global": ("{}", name),
        "list": ("[{}]", f"{name}[0]"),
        "attribute": ("types.SimpleNamespace(it={})", f"{name}.it"),
    }[where]
    b.top(f"{name} = {form.format(made)}")
    if where == "global":
        b.globals.add(name)
    if not re.search(r"\bx\b|\bm\b|\n", change):
        b.between.append(
            f"try:\n    {outside(change, use)}\nexcept Exception as error:\n    print(type(error).__name__)"
        )
    return use


def inside(b: Builder, text: str, use: str = "") -> str:
    numbers = ("1", "0.5", "-3.0", f"({b.float()})")
    return text.format(o=use, v=b.pick(*numbers), w=f"({b.vec()})", i=b.pick("0", "1", "2", b.any("int")), x="x", m="m")


def outside(text: str, use: str = "") -> str:
    return text.format(o=use, v="0.5", w="np.array([0.5, 1.0, -1.0])", i="1", x="x1", m=ROWS)
