"""Fragments of control flow: loops of all kinds, branches, exceptions, with-statements, match."""

from __future__ import annotations

from .builder import Builder
from .registry import fill, fragment, nesting

TURNS = ("3", "3", "3", "30", "len(x)", "len(m)", "0")


def with_carried(b: Builder, head: str, loop: bool = True) -> None:
    """A loop, with names made before it that it changes."""
    for kind in b.random.sample(["vec", "float", "int"], b.random.randint(0, 2)):
        b.let(kind, b.literal(kind) if b.chance(0.5) else b.value(kind))
    with b.block(head, loop):
        fill(b)


@nesting
def for_range(b: Builder) -> None:
    if b.loops > 1:
        return with_carried(b, "for _ in range(2):")
    i = b.name("i")
    turns = b.pick(*TURNS, f"{b.place('int').text} % 4")
    head = b.pick(
        f"for {i} in range({turns}):", f"for {i} in range(1, {turns}):", f"for {i} in reversed(range({turns})):"
    )
    with b.block(head, True):
        b.know("int", i)
        fill(b, 1, 3)
        if b.chance(0.15):
            b.emit(f"if {b.condition()}:", f"    {b.pick('break', 'continue')}")
            fill(b, 1, 1)


@nesting
def for_rows(b: Builder) -> None:
    r, i = b.name("row"), b.name("i")
    head = b.pick(
        f"for {r} in m:",
        f"for {i}, {r} in enumerate(m):",
        f"for {i}, {r} in zip(range(9), m):",
        f"for {i}, {r} in enumerate(list(m), 1):",
    )
    with b.block(head, True):
        b.know("vec", r)
        if i in head:
            b.know("int", i)
        if b.chance(0.25):
            b.emit(b.pick(f"{r} *= 0.5", f"{r}[0] = {b.float()}", f"m[0] += {r}"))
        fill(b)


@nesting
def for_elements(b: Builder) -> None:
    v = b.name("e")
    items = b.pick(
        "x", "x.tolist()", b.variable("vec"), b.place("list").text + "[:4]", "zip(x, m[0])", "(0.5, 1, True)"
    )
    head = f"for {v}, other in {items}:" if "zip" in items else f"for {v} in {items}:"
    with b.block(head, True):
        b.know("float", v)
        fill(b)


@nesting
def while_loop(b: Builder) -> None:
    n, turns = b.name("turn"), b.pick("3", "3", "30", "len(m)") if b.loops < 2 else "2"
    b.emit(f"{n} = 0")
    with b.block(b.pick(f"while {n} < {turns}:", f"while {n} < {turns} and {b.condition()}:", "while True:"), True):
        b.emit(f"{n} += 1")
        b.emit(f"if {n} > {turns}:", "    break")
        if b.chance(0.4):
            b.emit(f"if {b.condition()}:", f"    {b.pick('break', 'continue')}")
        b.know("int", n)
        fill(b)
    if b.chance(0.4):
        with b.block("else:"):
            fill(b, 1, 1)
    b.know("int", n)


@fragment
def previous(b: Builder) -> None:
    """The vertex before: ``j = i`` at the end of the body."""
    j, s = b.name("j"), b.name("v")
    items = b.pick("range(len(x))", "range(3)", "range(3)", "range(30)")
    b.emit(f"{j} = {b.pick('len(x) - 1', '0', '-1')}", f"{s} = 0.0", f"for i in {items}:")
    at = "[i % 3]" if "30" in items else "[i]"
    b.emit(
        f"    {s} = {s} + x{at} * x[{j}] - {b.any('float')}",
        f"    {j} = {b.pick('i', 'i', 'i - 1')}{' % 3' if '30' in items else ''}",
    )
    b.know("float", s)
    b.know("int", j)


@fragment
def swap(b: Builder) -> None:
    p, q = b.name("n"), b.name("n")
    b.emit(f"{p}, {q} = 0, 1", f"for i in range({b.pick('3', '30', 'len(x)')}):")
    b.emit(b.pick(f"    {p}, {q} = {q}, i", f"    {p}, {q} = {q}, {p} + i", f"    {p}, {q} = i, {p}"))
    b.know("int", p)
    b.know("int", q)


@fragment
def swap_arrays(b: Builder) -> None:
    v, w = b.let("vec", b.vec()), b.let("vec", b.vec())
    turns = b.pick("3", "30", "2")
    b.emit(f"for _ in range({turns}):", b.pick(f"    {v}, {w} = {w}, 0.5 * ({v} + {w})", f"    {v}, {w} = {w}, {v}"))


@fragment
def carry(b: Builder) -> None:
    kind = b.pick("vec", "float", "int")
    names = [n for n in b.names.get(kind, []) if n.isidentifier() and not n.startswith("turn")]
    if not names:
        return
    n = b.pick(*names)
    if kind == "vec":
        b.emit(
            b.pick(f"{n} = np.tanh({n} + {b.vec()})", f"{n} = 0.5 * {n} + {b.vec()}", f"{n} += 0.1", f"{n} = {b.vec()}")
        )
    elif kind == "float":
        b.emit(b.pick(f"{n} += {b.float()}", f"{n} = 0.5 * {n} + {b.float()}", f"{n} = {b.float()}"))
    else:
        b.emit(b.pick(f"{n} += 1", f"{n} = {b.int()}", f"{n} = ({n} + {b.int()}) % 7"))


@nesting
def branch(b: Builder) -> None:
    with b.block(f"if {b.condition()}:"):
        fill(b)
    if b.chance(0.3):
        with b.block(f"elif {b.condition()}:"):
            fill(b, 1, 1)
    if b.chance(0.6):
        with b.block("else:"):
            fill(b)


@nesting
def early(b: Builder) -> None:
    with b.block(f"if {b.condition()}:"):
        fill(b, 1, 1)
        b.emit(
            b.pick(
                f"return {b.float()}",
                "return None",
                f"return {b.vec()}",
                "raise ValueError('too large')",
                f"assert {b.condition()}",
            )
        )


RISKS = (
    ("KeyError", "{'a': 1}['b']"), ("ZeroDivisionError", "1 // (%(i)s - %(i)s)"), ("TypeError", "float(m)"), ("IndexError", "x[9]"),
    ("TypeError", "float(x)"), ("ValueError", "m.reshape(5, 5)"), ("AttributeError", "x.missing"), ("IndexError", "[1.0][int(%(i)s)]"),
    ("ValueError", "x + np.ones(17)"), ("ZeroDivisionError", "1.0 / %(i)s"), ("TypeError", "len(%(f)s)"), ("ValueError", "bool(x > 0)"),
    ("StopIteration", "next(iter([]))"), ("ValueError", "int('none')"),
)  # fmt: skip


@nesting
def attempt(b: Builder) -> None:
    """try with what may raise in it, and what follows."""
    kind, text = b.pick(*RISKS)
    name = b.let("float", b.literal("float"))
    with b.block("try:"):
        if b.chance(0.5):
            fill(b, 1, 1)
        text = text % {"i": b.any("int"), "f": b.any("float")} if "%(" in text else text
        if b.chance(0.4):
            b.emit(f"if {b.condition()}:", f"    {text}")
        else:
            b.emit(b.pick(text, f"{name} = float({text})", text))
    caught = b.pick(kind, kind, kind, f"({kind}, OSError)", "Exception", "LookupError", f"{kind} as error")
    with b.block(f"except {caught}:"):
        b.emit(f"{name} = {b.pick('-1.0', b.float())}")
        if "as error" in caught:
            b.emit(b.pick("print(type(error).__name__)", f"{name} = float(len(error.args))", "raise"))
        if b.chance(0.4):
            fill(b, 1, 1)
    if b.chance(0.4):
        with b.block("else:"):
            fill(b, 1, 1)
    if b.chance(0.4):
        with b.block("finally:"):
            fill(b, 1, 1)


@fragment
def number_or_not(b: Builder) -> None:
    name = b.let("float", "0.0")
    b.emit(
        "try:",
        f"    {name} = float({b.pick('x.sum()', 'x', 'm[0]', b.vec(), 'x[:1]', 'x[0]')})",
        "except TypeError:",
        f"    {name} = -1.0",
    )


NUMBER_RISKS = (
    ("ZeroDivisionError", "1.0 / %s"), ("ValueError", "math.sqrt(%s)"), ("ValueError", "math.log(%s)"), ("ZeroDivisionError", "7.0 %% %s"),
    ("OverflowError", "math.exp(400.0 * %s)"), ("ValueError", "math.acos(%s)"), ("ZeroDivisionError", "0.0 ** %s"),
)  # fmt: skip


@fragment
def caught_by_value(b: Builder) -> None:
    """An error that a number of the surroundings, of an argument or of an array may raise at one call and not at another."""
    kind, text = b.pick(*NUMBER_RISKS)
    number = b.pick(
        b.place("float").text, b.place("float").text, "float(x[0])", "x[1]", "float(x.sum() - x[0])", b.any("float")
    )
    name = b.let("float", "0.0")
    b.emit(
        "try:",
        f"    {name} = {text % number}",
        f"except {b.pick(kind, 'ArithmeticError', 'Exception as error')}:",
        f"    {name} = -1.0",
    )
    if "error" in b.lines[-2]:
        b.emit(b.pick("    print(len(str(error)))", "    pass"))


@nesting
def own_exception(b: Builder) -> None:
    b.top(
        "class Trouble(Exception):\n    def __init__(self, code, info=None):\n        super().__init__(code)\n        self.code, self.info = code, info"
    )
    code = b.pick(b.any("int"), b.float(), "'text'")
    if b.chance(0.3):
        b.emit(f"if {b.condition()}:", f"    raise Trouble({code}, info={b.any('int')})")
        return
    with b.block("try:"):
        fill(b, 1, 1)
        b.emit(f"if {b.condition()}:", f"    raise Trouble({code})")
    with b.block("except Trouble as trouble:"):
        b.emit(f"{b.place('float').text} = {b.pick('trouble.code', '0.25')}")
        fill(b, 1, 1)


CONTEXTS = (
    "class Scope:\n    depth = 0\n\n    def __enter__(self):\n        Scope.depth += 1\n        return self\n\n"
    "    def __exit__(self, kind, error, trace):\n        Scope.depth -= 1\n        self.kind = kind\n        return kind is KeyError",
    "@contextlib.contextmanager\ndef Scope():\n    print('enter')\n    try:\n        yield 2.0\n    finally:\n        print('leave')",
)


@nesting
def scope(b: Builder) -> None:
    made = [t for t in b.tops if "Scope" in t]
    text = made[0] if made else b.pick(*CONTEXTS)
    b.top(text)
    with b.block(f"with {b.pick('Scope()', 'Scope() as inside')}:"):
        fill(b)
        if "class" in text and b.chance(0.3):
            b.emit(f"if {b.condition()}:", "    raise KeyError('inside')")


@nesting
def suppressed(b: Builder) -> None:
    kind, text = b.pick(*RISKS)
    with b.block(f"with contextlib.suppress({kind}):"):
        fill(b, 1, 1)
        b.emit(text % {"i": b.any("int"), "f": b.any("float")} if "%(" in text else text)


@fragment
def matched(b: Builder) -> None:
    name, subject = (
        b.let("float", "0.0"),
        b.pick("x", b.any("float"), "m.shape", b.place("mode").text, b.place("list").text, b.any("int")),
    )
    b.emit(
        f"match {subject}:", "    case np.ndarray():", f"        {name} = 1.0", "    case float() | int() as number:",
        f"        {name} = number * 0.5", "    case (3, k):", f"        {name} = 3.0 + k", "    case [first, *rest]:",
        f"        {name} = first + len(rest)", "    case 'sum':", f"        {name} = {b.float()}", "    case _:", f"        {name} = -1.0",
    )  # fmt: skip
