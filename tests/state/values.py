"""Fragments of whole small algorithms, as people write them."""

from __future__ import annotations

from .builder import Builder
from .registry import fragment


@fragment
def newton(b: Builder) -> None:
    v, n = b.let("float", f"abs({b.float()}) + 1.0"), b.name("n")
    b.emit(
        f"{n} = 0",
        f"target = {v}",
        f"while abs({v} * {v} - target) > 1e-6 and {n} < 30:",
        f"    {v} = 0.5 * ({v} + target / {v})",
        f"    {n} += 1",
    )
    b.know("int", n)


@fragment
def descent(b: Builder) -> None:
    w, losses = b.let("vec", b.literal("vec")), b.name("losses")
    b.emit(
        f"{losses} = []",
        f"for step in range({b.pick('3', '10', '30')}):",
        f"    grad = 2 * ({w} - x[:3])",
        f"    {w} {b.pick('-= ', f'= {w} - ')}0.1 * grad",
    )
    b.emit(
        f"    {losses}.append(float((grad**2).sum()))",
        f"    if {losses}[-1] < {b.pick('1e-3', '0.5', b.place('float').text)}:",
        "        break",
    )
    b.results += [losses, f"len({losses})", f"{losses}[-1]"]


@fragment
def best_so_far(b: Builder) -> None:
    v, at = b.let("float", "-1e9"), b.let("int", "-1")
    b.emit(
        "for i, value in enumerate(x):",
        f"    if value > {v}:",
        f"        {v}, {at} = {b.pick('value', 'float(value)')}, i",
    )


@fragment
def running_state(b: Builder) -> None:
    """Means that are kept over calls, as of a batch normalisation."""
    p, n = b.place("vec").text, b.place("int").text
    b.emit(f"{n} += 1", f"{p} = {p} + (m.mean(axis=0) - {p}) / max({n}, 1)")
    b.let("vec", f"x[:3] - {p}")


@fragment
def first_call(b: Builder) -> None:
    """Something that is made at the first call only."""
    name = b.name("ready")
    b.top(f"{name} = None")
    b.globals.add(name)
    b.emit(
        f"if {name} is None:", f"    {name} = {b.pick(b.vec(), 'np.zeros(3)', 'x[:3].copy()', 'np.random.randn(3)')}"
    )
    b.emit(b.pick(f"{name} = 0.5 * {name} + {b.vec()}", f"{name} += 0.5", "pass"))
    b.between.append(f"{name} = None")
    b.know("vec", name)


@fragment
def swapped_globals(b: Builder) -> None:
    """Two buffers that change places."""
    one, two = b.name("now"), b.name("then")
    b.top(f"{one} = {b.literal('vec')}\n{two} = np.zeros(3)")
    b.globals |= {one, two}
    b.emit(
        b.pick(f"{two}[:] = 0.5 * {one} + {b.vec()}", f"np.add({one}, {b.vec()}, out={two})"),
        f"{one}, {two} = {two}, {one}",
    )
    b.know("vec", one)


@fragment
def ring(b: Builder) -> None:
    """A ring of the last values, with a place that goes round."""
    name, at = b.name("ring"), b.place("int").text
    b.top(f"{name} = np.zeros(4)")
    b.emit(f"{name}[{at} % 4] = {b.float()}", f"{at} += 1")
    b.let("float", f"{name}.mean()")


@fragment
def converging(b: Builder) -> None:
    w, old = b.let("vec", b.vec()), b.name("old")
    b.emit(
        f"for turn in range({b.pick('3', '30', '50')}):",
        f"    {old} = {w}",
        f"    {w} = 0.5 * {w} + 0.1",
        f"    if np.abs({w} - {old}).max() < {b.pick('1e-3', '0.2')}:",
        "        break",
    )
    b.emit("else:", f"    {b.place('int').text} += 1")
    b.results.append("turn")


@fragment
def clusters(b: Builder) -> None:
    c = b.name("centers")
    b.emit(
        f"{c} = m[:2].copy()",
        "for _ in range(5):",
        f"    label = np.argmin(((m[:, None] - {c}) ** 2).sum(-1), axis=1)",
        "    for k in range(2):",
    )
    b.emit("        if (label == k).any():", f"            {c}[k] = m[label == k].mean(axis=0)")
    b.results.append(c)
