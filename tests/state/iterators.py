"""Fragments with generators and iterators, used at once or kept and moved on over several calls."""

from __future__ import annotations

from .builder import Builder
from .registry import fragment

KEPT = (
    "itertools.count({n})", "itertools.cycle([1.0, -2.0, 0.5])", "iter([0.5, 1.5, 2.5, 3.5, 4.5, 5.5])", "itertools.cycle([x1[:3], x1[-3:]])",
    "iter(range(3))", "numbers({n})", "(k * 0.5 for k in range(20))", "itertools.accumulate([1.0, 2.0, 3.0, 4.0])", "zip(range(9), 'abcdefghi')",
    "map(float, range(4))", "iter({{'a': 1, 'b': 2}})", "enumerate('abcdef')", "itertools.chain([1.0], [2.0, 3.0])",
)  # fmt: skip
NUMBERS = "def numbers(start):\n    while True:\n        got = yield start\n        start += 1 if got is None else got"


@fragment
def advance(b: Builder) -> None:
    """next() of an iterator that lives on."""
    name = b.name("it")
    b.top(NUMBERS)
    b.top(f"{name} = {b.pick(*KEPT).format(n=b.literal('int'))}")
    item = f"next({name})" if b.chance(0.6) else f"next({name}, 0.0)"
    b.results.append(item)
    b.between.append(f"next({name}, None)")
    text = next(t for t in b.tops if t.startswith(f"{name} ="))
    if any(word in text for word in ("count", "numbers", "range(20)", "accumulate", "-2.0", "chain", "map")):
        b.let("float", f"{item} * 1.0")
    else:
        b.emit(b.pick(f"{name}_last = {item}", f"print({item} is None)"))


@fragment
def generator_inside(b: Builder) -> None:
    name = b.name("gen")
    b.emit(f"def {name}():", f"    for row in {b.pick('m', 'x')}:", f"        yield row * {b.any('float')}")
    use = b.pick(
        f"sum({name}())",
        f"list({name}())",
        f"next({name}())",
        f"[k.sum() for k in {name}()]",
        f"max(k.sum() for k in {name}())",
    )
    b.results.append(use)
    if b.chance(0.3):
        kept = b.name("kept")
        b.emit(f"{kept} = {name}()", f"next({kept})")
        b.results.append(kept)


@fragment
def generator_with_state(b: Builder) -> None:
    """A running mean that is sent values."""
    name = b.name("mean")
    b.top(
        "def running():\n    total, n = 0.0, 0\n    while True:\n        value = yield total / max(n, 1)\n        total, n = total + value, n + 1"
    )
    b.top(f"{name} = running()\nnext({name})")
    b.let("float", f"{name}.send({b.float()})")
    b.between.append(f"{name}.send(1.0)")


@fragment
def expression(b: Builder) -> None:
    b.let("float", b.pick(
        f"sum(e * {b.any('float')} for e in x)", "sum(row.sum() for row in m)", f"max(abs(e) for e in x) + {b.any('float')}",
        "float(any(e > 1 for e in x))", "sum(1 for e in x if e > 0)", "functools.reduce(lambda p, q: 0.5 * p + q, x)",
    ))  # fmt: skip


@fragment
def comprehension(b: Builder) -> None:
    text = b.pick(
        "[e * 2 for e in x]", "[row.sum() for row in m]", "{i: row for i, row in enumerate(m)}", "[i for i, e in enumerate(x) if e > 0]",
        "{int(e) for e in x}", "[[e * k for k in (1, 2)] for e in x[:2]]", "[(i, j) for i in range(2) for j in range(i)]",
        "list(map(lambda e: e + 1, x))", "list(zip(x, range(9)))", "sorted(x.tolist(), reverse=True)", "dict(enumerate(x.tolist()))",
        "list(filter(None, x.tolist()))", "tuple(row * 2 for row in m)", "list(itertools.accumulate(x.tolist()))",
    )  # fmt: skip
    name = b.name("c")
    b.emit(f"{name} = {text}")
    b.results += [name, f"len({name})"]


@fragment
def gathered(b: Builder) -> None:
    """A list built in a loop and made an array."""
    name = b.name("parts")
    b.emit(f"{name} = []", f"for i in range({b.pick('3', '3', '30', 'len(m)')}):")
    b.emit(
        b.pick(
            f"    {name}.append({b.float()} * i)",
            f"    {name}.append({b.vec()})",
            f"    {name}.append(len({name}))",
            f"    {name} = [*{name}, i]",
        )
    )
    b.results.append(b.pick(f"np.array({name})", f"np.stack({name})", name, f"len({name})", f"{name}[-1]"))


@fragment
def walrus(b: Builder) -> None:
    name = b.name("v")
    b.emit(f"if ({name} := {b.float()}) > {b.literal('float')}:", f"    {b.place('int').text} += 1")
    b.know("float", name)


@fragment
def kept_generator_of_arrays(b: Builder) -> None:
    """A generator that is kept in an object and yields views of a global array."""
    name, data = b.name("batches"), b.name("data")
    b.top(
        "def batches(data):\n    while True:\n        for i in range(0, len(data), 3):\n            yield data[i : i + 3]"
    )
    b.top(f"{data} = np.arange(9.0)")
    b.top(f"{name} = types.SimpleNamespace(source=batches({data}), served=0)")
    w = b.let("vec", f"next({name}.source)")
    b.emit(f"{name}.served += 1", b.pick("pass", f"{w} *= 0.5", f"{w}[0] = {b.float()}"))
    b.between += [f"{data}[:] = 1.0", f"next({name}.source)"]
