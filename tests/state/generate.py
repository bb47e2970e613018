"""Draws a whole program: an entry, fragments in its body, results, and calls with changes from outside between them."""

from __future__ import annotations

from random import Random

from . import arrays, classes, control, iterators, kinds, objects, randoms, settling, state, values  # noqa: F401  register their fragments
from .builder import Builder, Parameter
from .registry import FRAGMENTS, add_fragment

SHAPES = ("function", "function", "assigned", "closure", "method", "decorated method")


def program(seed: str) -> tuple[str, tuple[str, ...]]:
    """The text of a program, and the names of the fragments that it is made of."""
    b = Builder(Random(seed))
    b.shape = b.pick(*SHAPES)
    arguments(b)
    names = theme(b) if b.chance(0.3) else ()
    for _ in range(b.random.randint(2, 5)):
        add_fragment(b, *names)
    finish(b)
    return b.source(calls(b)), tuple(b.tags)


def theme(b: Builder) -> list[str]:
    """Fragments of one family alone, so that they meet each other."""
    family = FRAGMENTS[b.pick(*FRAGMENTS)].__module__
    return [name for name, function in FRAGMENTS.items() if function.__module__ == family]


def arguments(b: Builder) -> None:
    """``x`` is an array of three elements or more, ``m`` has rows of three; other shapes and dtypes come in some calls."""
    n = 0
    given: dict[str, list[str]] = {"x": [], "m": []}
    for name, texts in (
        ("x", [b.literal("vec"), b.literal("vec"), "np.arange(4.0)", "np.linspace(-1.0, 2.0, 5)"]),
        ("m", [f"np.array([{rows(b, 2)}])", f"np.array([{rows(b, 2)}])", f"np.array([{rows(b, 3)}])"]),
    ):
        if name == "x" and b.chance(0.15):
            texts.append(
                b.pick("np.arange(3)", "np.ones(3, np.float32)", "np.arange(6.0)[::2]", "np.array([True, False, True])")
            )
        for text in texts[: b.random.randint(2, len(texts))]:
            n += 1
            b.top(f"{name}{n} = {text}")
            given[name].append(f"{name}{n}")
            if b.chance(0.3):
                b.between.append(f"{name}{n}[0] = {b.pick('2.5', '-1.0', '0.0')}")
        b.parameters.append(Parameter(name, tuple(given[name])))
    if b.chance(0.4):
        texts = b.pick(
            ("2.0", "-1.5"), ("3", "1"), ("np.float64(1.5)", "2.0"), ("True", "0.5"), ("np.array(2.0)", "1.0")
        )
        b.parameters.append(Parameter("s", texts, keyword_only=b.chance(0.4)))
        b.know("float", "s")
    if b.chance(0.4):
        texts = b.pick(("0", "1", "2", "3", "4"), ("2", "1"), ("1", "-1", "300", "0"), ("1", "2", "True", "3", "2.0"))
        b.parameters.append(Parameter("k", texts, keyword_only=b.chance(0.3)))
        b.know("int", "k")


def rows(b: Builder, count: int) -> str:
    return ", ".join(b.literal("vec").removeprefix("np.array(").removesuffix(")") for _ in range(count))


def finish(b: Builder) -> None:
    """The return statement: some of what is known, in one of many forms."""
    known = [n for kind in ("float", "vec", "int", "list", "flag") for n in b.names.get(kind, [])]
    known += [p.text for p in b.places if p.kind in ("float", "int", "vec", "list")] + b.results + ["x", b.value("vec")]
    chosen = list(dict.fromkeys(b.pick(*known) for _ in range(b.random.randint(1, 4))))
    items = ", ".join(chosen)
    texts = [
        items,
        f"({items},)",
        f"[{items}]",
        "{" + ", ".join(f"'k{i}': {c}" for i, c in enumerate(chosen)) + "}",
        chosen[0],
    ]
    texts.append(f"types.SimpleNamespace(first={chosen[0]}, last={chosen[-1]})")
    texts.append(f"OrderedDict(a={chosen[0]}, b={chosen[-1]})")
    texts.append(f"(lambda scale: {chosen[0]} * scale if scale else {chosen[-1]})")
    if b.chance(0.25):
        text = b.pick(*texts[5:])
    else:
        text = b.pick(*texts[:5])
    if b.chance(0.93):
        b.emit(f"return {text}")


def calls(b: Builder) -> list[str]:
    lines: list[str] = []
    for number in range(b.random.randint(3, 5)):
        if number and b.between and b.chance(0.75):
            lines += [b.pick(*b.between) for _ in range(b.random.randint(1, 2))]
        lines.append(lines[0] if number and b.chance(0.3) else b.call())
    return lines


__all__ = ["FRAGMENTS", "program"]
