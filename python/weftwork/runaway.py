"""Functions that are compiled again and again: what differs between their programs, and the way out."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np

from .bytecode.kinds import has_own_text
from .bytecode.outside import Steps
from .bytecode.words import Words, short
from .errors import RecompilationWarning
from .pytree import flatten, items_of
from .trace import is_array_leaf, positional_names

logger = logging.getLogger("weftwork")

__all__ = ["Programs"]

#: So many programs of a function are worth a warning; where each is for another object, as the methods of layers are, so many.
MANY, MANY_OBJECTS = 8, 32
#: Values that a warning tells.
MOST_TOLD = 4

#: What differs, as it is called → its value in a program; by the kind of thing that it is.
Facts = dict[tuple[str, str], Any]


class Programs:
    """What the programs of a function were compiled for: those for arguments of the same dtypes and types together."""

    def __init__(self) -> None:
        self.alike: dict[Any, list[Facts]] = {}
        self.has_warned = False

    def note(self, jitted: Any, args: tuple, kwargs: dict[str, Any], before: list[Any], plan: Any) -> None:
        """Notes one more program; ``before`` are those that the same arguments have, whose guards do not hold."""
        if self.has_warned or (plan.core is None and not hasattr(plan.pieces, "first")):
            return
        names, static = positional_names(jitted._function), jitted._options.static
        given = [(names[i] if i < len(names) else f"*{i}", value) for i, value in enumerate(args)] + list(
            kwargs.items()
        )
        kinds, facts = told(given, static)
        programs = self.alike.setdefault(kinds, [])
        programs.append(facts)
        if len(programs) < MANY:
            return
        found = differing(programs) or differing([guards_of(jitted._function, names, each) for each in (*before, plan)])
        if len(programs) < MANY_OBJECTS and {kind for kind, _ in found} == {"object"}:
            return
        self.has_warned, self.alike = True, {}
        text = text_of(jitted._function, len(programs), found)
        try:
            warnings.warn(text, RecompilationWarning, stacklevel=3)
        except RecompilationWarning:
            # Under NumPy the call would not raise: only who names this warning makes an error of it.
            if any(action == "error" and kind is RecompilationWarning for action, _, kind, *_ in warnings.filters):
                raise
            logger.warning(text)


def told(given: list[tuple[str, Any]], static: Any) -> tuple[Any, Facts]:
    """The kinds of arguments, and what a program depends on besides."""
    kinds: list[Any] = []
    facts: Facts = {}
    for name, value in given:
        if name in static:
            kinds.append((name, type(value)))
            facts["static", f"the static argument '{name}'"] = short(value)
            continue
        leaves, structure = flatten(value, is_array_leaf, name)
        is_whole = [path for path, _ in leaves] == [name]
        kinds.append((name, structure is None, type(value)))
        if isinstance(value, (tuple, list, dict)):
            facts["structure", f"what '{name}' holds"] = short(kind_of(value))
        elif not leaves and not has_own_text(value):
            facts["object", f"the argument '{name}'"] = f"{type(value).__name__} {id(value)}"
        elif not leaves:
            facts["value", f"the argument '{name}'"] = short(value)
        for path, leaf in leaves:
            if is_whole and isinstance(leaf, np.ndarray):
                kinds.append((leaf.dtype, leaf.ndim))
            for axis, extent in enumerate(np.shape(leaf)):
                facts["extent", f"axis {axis} of '{path}'"] = extent
    return tuple(kinds), facts


class Word:
    """A text that is shown without quotes."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def kind_of(value: Any) -> Any:
    """The containers of a value, with types in the place of arrays and numbers."""
    if isinstance(value, dict):
        return {key: kind_of(item) for key, item in dict.items(value)}
    if isinstance(value, (tuple, list)):
        items = [kind_of(item) for item in items_of(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, (np.ndarray, np.generic)):
        return Word(f"{value.dtype}[{', '.join(['...'] * value.ndim)}]")
    return Word(type(value).__name__) if type(value) in (float, complex) or not has_own_text(value) else value


def guards_of(function: Any, names: list[str], plan: Any) -> Facts:
    """What a program relies on of the surroundings."""
    facts: Facts = {}
    for steps in plan.steps if isinstance(plan.steps, list) else [plan.steps]:
        if isinstance(steps, Steps):
            words = Words(steps, function, names)
            for text in words.guards():
                place, verb, value = next((text.partition(v) for v in (" is ", " has ") if v in text), (text, "", ""))
                facts["guard", place] = f"{verb.strip()} {value}" if verb == " has " else value
    return facts


def differing(programs: list[Facts]) -> Facts:
    """What is not the same in all programs, with the values that it has."""
    found: Facts = {}
    for key in dict.fromkeys(key for facts in programs for key in facts):
        values = list(dict.fromkeys(str(facts[key]) for facts in programs if key in facts))
        if len(values) > 1:
            found[key] = values
    # Where containers differ, so do the paths to what is in them.
    kinds = {kind for kind, _ in found}
    return {key: found[key] for key in found if key[0] != "extent" or "structure" not in kinds}


WAYS_OUT = {
    "value": "texts, flags, other objects, and integers that shapes, axes or loops depend on, are part of a program: pass other "
    "numbers as floats or arrays (np.asarray)",
    "object": "objects of a class share a program if texts, flags, lengths and functions are the same that it reads of them: use one "
    "again, or pass the arrays and numbers that are needed of it",
    "static": "static arguments are part of a program: pass numbers as floats or arrays, and keep static what has few values",
    "extent": "make it a symbolic extent: {dynamic}, or annotate the parameter: wf.tensor[dtype, (..., 'n')]",
    "structure": "keep containers to one length, or pass what they hold as one array",
    "guard": "what a program reads of its surroundings, other than arrays and floats, is part of it: pass it as such an argument",
}


def text_of(function: Any, count: int, found: Facts) -> str:
    code = getattr(function, "__code__", None)
    place = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
    name = getattr(function, "__qualname__", "a function")
    most = sorted(found.items(), key=lambda item: -len(item[1]))[:3]
    lines = [
        f"{count} programs were compiled for '{name}'{place}, each for other values; wf.explain tells what a call runs as"
    ]
    for (kind, what), values in most:
        listed = ", ".join(values[:MOST_TOLD]) + (", ..." if len(values) > MOST_TOLD else "")
        lines.append(f"  {what}: {len(values)} objects" if kind == "object" else f"  {what}: {listed}")
    for kind in dict.fromkeys(kind for (kind, _), _ in most):
        first = next(what for (k, what), _ in most if k == kind)
        lines.append(f"  {WAYS_OUT[kind].format(dynamic=dynamic_for(first))}")
    return "\n".join(lines) + "  [recompilation]"


def dynamic_for(what: str) -> str:
    """The parameter of wf.jit that makes an axis symbolic; what: "axis 0 of 'x'"."""
    if not what.startswith("axis"):
        return ""
    axis, path = what.split()[1:4:2]
    name, _, nested = path.strip("'").partition(".")
    whole = f"wf.jit(..., dynamic={{'{name}': {{{axis}: 'n'}}}})"
    return f"{whole}, which takes arrays that are arguments themselves" if nested else whole
