"""Fragments of loops that end when values of arrays say so, after turns that may be many."""

from __future__ import annotations

from .builder import Builder
from .registry import fill, nesting

HEADS = {
    "while": "while {error} > {small} and {turn} < {most}:",
    "for": "for {turn} in range({most}):",
    "true": "while True:",
}
#: What the loop keeps besides: how it begins, what each turn does to it, and what is made of it afterwards.
KEPT = {
    "nothing": ("", "", ""),
    "last": ("{kept} = None", "{kept} = {new}", "0.0 if {kept} is None else {kept}[0]"),
    "history": ("{kept} = []", "{kept}.append({error})", "sum({kept})"),
    "flag": ("{kept} = False", "{kept} = not {kept}", "1.0 if {kept} else 0.25"),
    "total": ("{kept} = [0.0, 0]", "{kept}[0] = {kept}[0] + {error}; {kept}[1] += 1", "{kept}[0] + {kept}[1]"),
    "tuple": ("{kept} = (0, 1.0)", "{kept} = ({kept}[0] + 1, {kept}[1] * 0.5)", "{kept}[0] + {kept}[1]"),
    "table": (
        "{kept} = {{'n': 0, 'v': x}}",
        "{kept}['n'] += 1; {kept}['v'] = {new}[1:]",
        "{kept}['n'] * {kept}['v'][-1]",
    ),
    "array": ("{kept} = np.zeros(40)", "{kept}[{turn} % 40] = {error}", "{kept}.sum()"),
    "view": ("{kept} = {values}[1:]", "{kept} = {new}[::2]", "{kept}.sum()"),
    "counter": ("{kept} = itertools.count()", "next({kept})", "next({kept}) * 0.5"),
    "object": (
        "{kept} = types.SimpleNamespace(n=0, e=1.0)",
        "{kept}.n += 1; {kept}.e = {error}",
        "{kept}.n * {kept}.e",
    ),
    "closure": ("{kept} = lambda: {error} * {turn}", "{kept}()", "{kept}()"),
}


@nesting
def settling(b: Builder) -> None:
    values, error = b.let("vec", f"{b.vec()} * 1.0"), b.name("v")
    words = {
        "values": values,
        "error": error,
        "new": b.name("w"),
        "turn": b.name("turn"),
        "kept": b.name("k"),
        "any": b.any("float"),
    }
    words |= {
        "most": b.pick("40", "25", "6") if b.loops < 2 else "3",
        "small": b.pick("1e-3", "1e-2", "0.1"),
        "some": b.any("vec"),
    }
    emit = lambda *lines: b.emit(*(line.format(**words) for line in lines if line))
    kind, (begin, keep, made) = b.pick(*HEADS), KEPT[b.pick(*KEPT)]
    emit("{error} = " + b.pick("1e9", "np.inf", "float(x.max()) + 10.0"), "{turn} = 0", begin)
    with b.block(HEADS[kind].format(**words), True):
        b.know("int", words["turn"])
        if b.chance(0.4):
            fill(b, 1, 1)
        emit(
            "{new} = "
            + b.pick(
                "{values} * 0.5 + x[:3] * 0.25",
                "0.5 * ({values} + m[0])",
                "np.minimum({values}, x[:3]) * 0.75",
                "{values} - 0.5 * ({values} - {any})",
            )
        )
        distances = (
            "np.abs({new} - {values}).max()",
            "float(np.abs({new} - {values}).sum())",
            "np.sqrt((({new} - {values}) ** 2).sum())",
        )
        emit("{error} = " + b.pick(*distances))
        if b.chance(0.4):
            emit("if {error} > 0.5:", b.pick("    {new} = 0.5 * {new}", "    {new} += 0.25", "    {new}[1:] *= 0.5"))
        emit(keep)
        stores = (
            "{values} = {new}",
            "{values}[...] = {new}",
            "{values}, {new} = {new}, {values}",
            "{values} = {new}; {some}[{turn} % 3] = {error}",
        )
        emit(b.pick(stores[0], *stores))
        if b.chance(0.3):
            fill(b, 1, 1)
        if kind != "for":
            emit("{turn} += 1")
        if kind != "while":
            emit("if {error} < {small} or {turn} >= {most}:", "    break")
    b.know("int", words["turn"])
    b.know("float", error)
    if made:
        emit(f"{b.place('float').text} = {made}")
