"""Fragments that read and write state: counters, attributes, items, lists, dicts, sets, optimisers, schedules."""

from __future__ import annotations

from .builder import FLOATS, Builder, Parameter
from .registry import fragment


@fragment
def count(b: Builder) -> None:
    p = b.place("int").text
    b.emit(b.pick(f"{p} += 1", f"{p} = {p} + 1", f"{p} += {b.int()}", f"{p} = ({p} + 1) % 5"))


@fragment
def add_float(b: Builder) -> None:
    p = b.place("float").text
    b.emit(b.pick(f"{p} += {b.float()}", f"{p} = {p} * 0.9", f"{p} = 0.5 * {p} + {b.float()}", f"{p} -= 0.1"))


@fragment
def rebind_vec(b: Builder) -> None:
    p = b.place("vec").text
    b.emit(
        b.pick(f"{p} = {p} - 0.1 * {b.vec()}", f"{p} = np.tanh({p} + {b.vec()})", f"{p} = {b.vec()}", f"{p} = x[:3]")
    )


@fragment
def write_vec(b: Builder) -> None:
    p, i = b.place("vec").text, b.pick("0", "1", "-1", f"{b.any('int')} % 3")
    b.emit(
        b.pick(
            f"{p} += 0.1 * {b.vec()}", f"{p}[{i}] += {b.float()}", f"{p}[:2] = {b.vec()}[1:]", f"{p}[{p} > 0] = {b.float()}",
            f"{p}[:] = {b.vec()}", f"{p} *= 0.5", f"np.copyto({p}, {b.vec()})", f"{p}.fill({b.float()})", f"{p}.sort()",
            f"np.add({p}, {b.vec()}, out={p})", f"np.add.at({p}, [0, 0, 2], {b.float()})",
        )
    )  # fmt: skip


@fragment
def read(b: Builder) -> None:
    kind = b.pick("int", "float", "vec", "flag")
    b.let(kind, b.pick(b.place(kind).text, b.value(kind)))


@fragment
def steered(b: Builder) -> None:
    """A branch on something that changes from outside."""
    condition = b.pick(
        b.place("flag").text, f"{b.place('mode').text} == {b.literal('mode')}", f"{b.place('float').text} > 0"
    )
    name = b.let("vec", b.vec())
    b.emit(f"if {condition}:", f"    {name} = {name} * {b.float()}", "else:", f"    {name} = {name} + {b.float()}")


@fragment
def method_by_name(b: Builder) -> None:
    b.let("float", b.pick(f"getattr(np, {b.place('mode').text})(x)", f"getattr(x, {b.place('mode').text})()"))


@fragment
def append(b: Builder) -> None:
    p = b.place("list").text
    b.emit(
        b.pick(
            f"{p}.append({b.float()})", f"{p} += [{b.float()}]", f"{p}.insert(0, {b.float()})", f"{p}.extend({b.vec()})",
            f"{p} = [*{p}[-3:], {b.float()}]", f"{p}.append(len({p}))", f"{p}.append({b.float()})\n{p} = {p}[-4:]",
        )
    )  # fmt: skip


@fragment
def change_list(b: Builder) -> None:
    p = b.place("list").text
    b.emit(
        b.pick(
            f"{p}.sort()", f"{p}.reverse()", f"{p}[0] = {b.float()}", f"if len({p}) > 1:\n    {p}.pop()", f"del {p}[1:]",
            f"{p}.clear()", f"{p}[0] += 1", f"{p}[1:2] = [1.0, 2.0]", f"{p}.sort(key=lambda q: -q)", f"{p}.pop(0)",
        )
    )  # fmt: skip


@fragment
def list_values(b: Builder) -> None:
    p = b.place("list").text
    kind, text = b.pick(
        ("int", f"len({p})"),
        ("float", f"sum({p})"),
        ("float", f"max({p})"),
        ("vec", f"x[:3] * {p}[-1]"),
        ("float", f"{p}[0]"),
    )
    b.let(kind, text)


@fragment
def write_item(b: Builder) -> None:
    """An argument that is a dict, a list or an object, with arrays and numbers in it."""
    name = b.name("p")
    text, first, second = b.pick(
        ("{'w': %s, 'n': 0}", "['w']", "['n']"),
        ("[%s, 0]", "[0]", "[1]"),
        ("types.SimpleNamespace(w=%s, n=0)", ".w", ".n"),
        ("[{'w': %s}, 0]", "[0]['w']", "[1]"),
    )
    b.top(f"a{name} = {text % b.literal('vec')}")
    b.parameters.append(Parameter(name, (f"a{name}",), keyword_only=b.chance(0.3)))
    b.between += [f"a{name}{first} = {b.literal('vec')}", f"a{name}{second} = 10"]
    w, n = name + first, name + second
    b.emit(b.pick(f"{w} = {w} - 0.1 * {b.vec()}", f"{w} -= 0.1 * {b.vec()}", f"{w}[1] = {b.float()}"))
    b.emit(b.pick(f"{n} += 1", f"{n} = {b.float()}", f"{n} = {n} + float({w}.sum())"))
    b.know("vec", w)


@fragment
def dict_count(b: Builder) -> None:
    name, key = b.name("d"), b.pick(b.place("mode").text, "'n'", b.any("int"), f"{b.any('int')} % 2")
    kind = b.pick("{}", "Counter()", "defaultdict(int)", "OrderedDict()")
    b.top(f"{name} = {kind}")
    b.between.append(f"{name}['n'] = 5")
    add = f"{name}[{key}] = {name}.get({key}, 0) + 1"
    if kind in ("Counter()", "defaultdict(int)"):
        add = b.pick(add, f"{name}[{key}] += 1")
    extra = b.pick(
        "",
        f"{name}.setdefault('m', []).append({b.int()})",
        f"{name}.update(last={b.float()})",
        f"{name}.pop('n', None)",
    )
    b.emit(*(line for line in (add, extra) if line))
    b.let("int", f"len({name})")


@fragment
def set_of_seen(b: Builder) -> None:
    name = b.name("seen")
    b.top(f"{name} = set()")
    b.emit(f"{name}.add({b.pick('x.shape', b.int(), b.place('mode').text)})")
    b.let("int", f"len({name})")


@fragment
def remember(b: Builder) -> None:
    """A cache by hand: computed once, read afterwards."""
    name, key = b.name("memo"), b.pick("x.shape", "x.dtype.str", b.place("mode").text, b.any("int"))
    b.top(f"{name} = {{}}")
    b.emit(f"if {key} not in {name}:", f"    {name}[{key}] = {b.vec()}")
    b.know("vec", f"{name}[{key}]")


@fragment
def history(b: Builder) -> None:
    """Values of earlier calls are kept: arrays of a call must not change afterwards."""
    name = b.name("log")
    b.top(f"{name} = {b.pick('[]', 'deque(maxlen=3)')}")
    b.emit(f"{name}.append({b.pick(b.vec(), 'x', b.float(), 'x[1:]', 'm.T')})")
    b.let("int", f"len({name})")
    b.results.append(f"{name}[0]")


@fragment
def mutated_default(b: Builder) -> None:
    name = b.name("acc")
    b.parameters.append(Parameter(name, (), b.pick("[]", "{}")))
    add = f"{name}.append({b.float()})" if b.parameters[-1].default == "[]" else f"{name}[len({name})] = {b.float()}"
    b.emit(add)
    b.results.append(b.pick(f"len({name})", f"list({name})"))


@fragment
def helper_default(b: Builder) -> None:
    name = b.name("helper")
    b.top(f"def {name}(a, seen=[]):\n    seen.append(len(seen))\n    return a * len(seen)")
    b.let("vec", f"{name}({b.vec()})")


@fragment
def function_attribute(b: Builder) -> None:
    b.top("def tool(a):\n    tool.calls += 1\n    return a * 2\n\n\ntool.calls = 0")
    b.let("vec", f"tool({b.vec()})")
    b.results.append("tool.calls")
    b.between.append("tool.calls = 3")


@fragment
def adam(b: Builder) -> None:
    name = b.name("adam")
    b.top(
        "class Adam:\n    def __init__(self, lr=0.1):\n        self.lr, self.t = lr, 0\n        self.m = np.zeros(3)\n"
        "        self.v = np.zeros(3)\n\n    def step(self, w, g):\n        self.t += 1\n"
        "        self.m = 0.9 * self.m + 0.1 * g\n        self.v = 0.99 * self.v + 0.01 * g * g\n"
        "        m, v = self.m / (1 - 0.9**self.t), self.v / (1 - 0.99**self.t)\n"
        "        return w - self.lr * m / (np.sqrt(v) + 1e-8)"
    )
    b.top(f"{name} = Adam({b.pick('0.1', 'lr=0.5', '')})")
    w = b.place("vec").text
    b.emit(f"{w} = {name}.step({w}, {b.vec()})")
    b.between += [f"{name}.lr = 0.01", f"{name}.t = 0"]


@fragment
def schedule(b: Builder) -> None:
    t, lr = b.place("int").text, b.place("float").text
    form = b.pick(
        f"{lr} * 0.9**{t}",
        f"{lr} / (1 + {t})",
        f"{lr} if {t} < 2 else 0.1 * {lr}",
        f"0.5 * {lr} * (1 + math.cos(math.pi * {t} / 10))",
    )
    b.emit(f"{t} += 1")
    rate = b.let("float", form)
    b.let("vec", f"{b.vec()} * {rate}")


@fragment
def nonlocal_helper(b: Builder) -> None:
    """A counter in a closure of the function's own."""
    name, n = b.name("bump"), b.name("n")
    b.emit(f"{n} = {b.literal('int')}", f"def {name}(by=1):", f"    nonlocal {n}", f"    {n} += by", f"    return {n}")
    b.emit(*(f"{name}({b.pick('', '2', 'by=3')})" for _ in range(b.random.randint(1, 2))))
    b.know("int", n)
    b.results.append(b.pick(n, f"{name}()", name))


@fragment
def made_closure(b: Builder) -> None:
    """A counter in the closure of a helper outside."""
    name = b.name("tick")
    b.top(
        "def counter(start):\n    def tick():\n        nonlocal start\n        start += 1\n        return start\n\n    return tick"
    )
    b.top(f"{name} = counter({b.literal('int')})")
    b.between.append(f"{name}()")
    b.let("int", f"{name}()")


@fragment
def cached_helper(b: Builder) -> None:
    b.top("@functools.lru_cache(maxsize=None)\ndef power(n):\n    return 2.0**n")
    b.let("float", f"power({b.any('int')})")
    b.between.append("power.cache_clear()")


@fragment
def rebound_array(b: Builder) -> None:
    name = b.name("A")
    b.top(f"{name} = {b.literal('vec')}")
    b.between += [f"{name} = {b.literal('vec')}", f"{name}[0] = {b.pick(*FLOATS)}", f"{name} = {name} * 2"]
    b.let("vec", f"{b.vec()} * {name}")
