"""What a recorded program reads from outside of its arguments, and what has to hold for it to be the right one again.

A recording is a proof for one way through the function. Each read of a global, a cell, an attribute or an item is a *step*,
which is taken anew at each call; *checks* on the steps' values say whether the program may be used. Numbers that Python
computes with (:class:`HostValue`) are steps too: they are computed by Python, at each call, before the program runs.
"""

from __future__ import annotations

import functools
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .machine import Stop

__all__ = ["HostValue", "Mark", "Refused", "Stage", "Steps"]

ENTRY, ATTRIBUTE, CELL, ITEM, CALL, OBJECT, LEAF, ARGUMENT, VALUE = (
    "entry",
    "attribute",
    "cell",
    "item",
    "call",
    "object",
    "leaf",
    "argument",
    "value",
)

#: In the place of a name in a class: its bases, in their order.
BASES = "mro()"


class Refused(Stop):
    """This call cannot be recorded as one program: why, and where."""

    def __init__(self, reason: str, place: str = "", recorder: Any = None) -> None:
        super().__init__(reason)
        self.reason, self.place, self.recorder = reason, place, recorder
        self.is_long = "more than" in reason  # it was met after much work
        #: What the way to the refusal depends on.
        self.steps: Steps | None = None


#: An attribute that a class has itself.
CLASS = "class"


class HostValue:
    """A number that Python has before the program runs: a global float, what is computed of it.

    ``value`` is what it is in the call that is recorded, ``step`` where later calls find it.
    """

    __slots__ = ("__weakref__", "step", "traced", "value")

    def __init__(self, value: Any, step: int, traced: Any = None) -> None:
        self.value, self.step, self.traced = value, step, traced
        made = getattr(_watch, "made", None)
        if made is not None:
            made.append(weakref.ref(self))

    def __repr__(self) -> str:
        return f"<{self.value!r}, step {self.step}>"

    def _unknown(self, *operands: Any) -> Any:
        """What code that is not interpreted asks of it: nobody there knows that the number may be another at the next call."""
        raise Stop("a number of the surroundings is used by code that is not recorded")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown
    __hash__ = __bool__ = __int__ = __float__ = __index__ = __complex__ = __str__ = _unknown  # type: ignore[assignment]
    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = _unknown


_watch = threading.local()


@contextmanager
def watching() -> Iterator[None]:
    """While it lasts, all host values that this thread makes are known, as long as anybody has them."""
    before, _watch.made = getattr(_watch, "made", None), []
    try:
        yield
    finally:
        _watch.made = before


def watched() -> list[HostValue]:
    """Those host values."""
    found = [(reference, reference()) for reference in _watch.made]
    _watch.made = [reference for reference, value in found if value is not None]
    return [value for _, value in found if value is not None]


@dataclass(frozen=True)
class Mark:
    """How many steps, checks and entries there were."""

    steps: int = 0
    checks: int = 0
    entries: int = 0


@dataclass(frozen=True)
class Stage:
    """The steps and checks between two pieces: as a function, and as what it is made of."""

    function: Callable[..., Any]
    source: str
    names: dict[str, Any]
    entries: list[tuple[Any, Any, Any]]

    def is_like(self, other: Stage) -> bool:
        """Whether it reads and checks the same."""
        return (
            self.source == other.source
            and self.names.keys() == other.names.keys()
            and all(is_like(value, other.names[name]) for name, value in self.names.items())
            and len(self.entries) == len(other.entries)
            and all(map(is_like, self.entries, other.entries))
        )


def is_like(lhs: Any, rhs: Any) -> bool:
    """Whether two recordings mean the same object or constant."""
    if lhs is rhs:
        return True
    if type(lhs) is not type(rhs):
        return False
    if isinstance(lhs, (tuple, list)):
        return len(lhs) == len(rhs) and all(map(is_like, lhs, rhs))
    if isinstance(lhs, np.ndarray):
        return same_elements(lhs, rhs)
    if hasattr(lhs, "is_like"):
        return bool(lhs.is_like(rhs))
    if isinstance(lhs, (int, float, complex, str, bytes, np.generic, np.dtype, slice)):
        return same(lhs, rhs)
    if isinstance(lhs, (types.BuiltinFunctionType, types.MethodType)):
        return lhs == rhs
    return False


class Steps:
    """The steps and checks of one recording, in order."""

    def __init__(self) -> None:
        self.steps: list[tuple[Any, ...]] = []
        self.checks: list[tuple[Any, ...]] = []
        self.known: dict[Any, int] = {}
        self.checked: set[Any] = set()
        self.varied: frozenset[Any] = frozenset()  # integers that were known to differ from call to call
        self.trusts_outside = False  # what is read from outside is not checked
        self.is_bound = False  # the recording holds for these objects alone, not for others like them
        self.kept: list[Any] = []  # whatever is named by its id
        self.paths: dict[int, str] = {}  # of leaves
        # Entries of dictionaries that are the same objects at each call: (dictionary, key, object or nothing).
        self.entries: dict[tuple[int, Any], tuple[dict, Any, Any]] = {}

    def step(self, kind: str, *parts: Any) -> int:
        key = (
            kind,
            *(
                part if isinstance(part, (int, str)) and type(part) in (int, str) else ("id", id(part))
                for part in parts
            ),
        )
        found = self.known.get(key)
        if found is None:
            self.kept.append(parts)
            self.steps.append((kind, *parts))
            found = self.known[key] = len(self.steps) - 1
        return found

    def leaf(self, number: int, path: str) -> int:
        """A leaf of the arguments: ``path`` says where it is, to people."""
        self.paths[number] = path
        return self.step(LEAF, number)

    def object(self, value: Any) -> int:
        return self.step(OBJECT, value)

    def call(self, function: Callable[..., Any], operands: list[Any]) -> int:
        """A pure function of steps (as HostValues) and constants."""
        parts = tuple(("step", o.step) if isinstance(o, HostValue) else ("constant", o) for o in operands)
        self.steps.append((CALL, function, parts))
        return len(self.steps) - 1

    def require(self, function: Callable[[], Any], value: Any) -> None:
        """What a function gives is this at each call, also where what is outside is trusted."""
        if not any(kind == "equal" and self.steps[step] == (CALL, function, ()) for kind, step, *_ in self.checks):
            self.checks.append(("equal", self.call(function, []), value, len(self.steps)))

    def check(self, kind: str, step: int, expected: Any = None) -> None:
        key = (kind, step, id(expected))
        if self.trusts_outside and kind not in ("array", "type", *STEPS_TOO) and not self.depends_on_call(step):
            return
        if key not in self.checked:
            self.checked.add(key)
            self.kept.append(expected)
            self.checks.append((kind, step, expected, len(self.steps)))

    def entry(self, space: Any, key: Any, value: Any) -> None:
        """The entry of a dictionary stays this object, or what a class has itself, the class of an object, the code and
        the defaults of a function."""
        if self.trusts_outside:
            return
        self.entries[id(space), key] = (space, key, value)

    def depends_on_call(self, number: int) -> bool:
        """Whether a step's value comes from arguments, or from what is computed of them."""
        return any(
            self.steps[source][0] in (LEAF, ARGUMENT, VALUE)
            or (self.steps[source][0] == CALL and not parents(self.steps[source]))
            for source in self.sources([number])
        )

    def pins(self, number: int) -> bool:
        """Whether a check holds for one value of a step, or of what is computed of it, alone."""
        return number in self.sources([step for kind, step, *_ in self.checks if kind == "equal"])

    def sources(self, numbers: list[int]) -> set[int]:
        """These steps, and all that they are computed of."""
        found: set[int] = set()
        pending = list(numbers)
        while pending:
            number = pending.pop()
            if number not in found:
                found.add(number)
                pending += parents(self.steps[number])
        return found

    # -- as a function ---------------------------------------------------------------------------------------------

    def is_empty(self) -> bool:
        return not self.steps and not self.checks

    def compiled(self, wanted: list[int]) -> Callable[[Any, Any, Any], Any]:
        """The steps and checks as a Python function of (leaves, args, kwargs): None, or a tuple of the wanted steps' values."""
        names: dict[str, Any] = {"same": same, "fits": fits, "same_elements": same_elements}
        lines = self._lines(Mark(), self._needed(wanted), names)
        result = "".join(f"v{number}, " for number in wanted)
        return function_of("leaves, args, kwargs", lines, [f"return ({result})"], names)

    def mark(self) -> Mark:
        """What is known by now."""
        return Mark(len(self.steps), len(self.checks), len(self.entries))

    def cut(self, mark: Mark) -> None:
        """Forgets what came after a mark."""
        del self.steps[mark.steps :], self.checks[mark.checks :]
        self.known = {key: number for key, number in self.known.items() if number < mark.steps}
        self.checked = {(kind, step, id(expected)) for kind, step, expected, _ in self.checks}
        for key in list(self.entries)[mark.entries :]:
            del self.entries[key]

    def stage(self, since: Mark | None, wanted: list[int]) -> Stage:
        """The steps and checks since then, as a function of (leaves, args, kwargs, s, values).

        ``s`` has all earlier steps' values and gets these; ``values`` are the outputs of the pieces that have run. The
        first stage, since None, takes three arguments, and its result has the list ``s`` as its last element.
        """
        is_first, since = since is None, since or Mark()
        names: dict[str, Any] = {"same": same, "fits": fits, "same_elements": same_elements}
        lines = self._lines(since, set(range(since.steps, len(self.steps))), names)
        every = "".join(f"v{number}, " for number in range(since.steps, len(self.steps)))
        result = "".join(f"{place(number, since.steps)}, " for number in wanted)
        ends = (
            [f"s = [{every}]", f"return ({result} s,)"]
            if is_first
            else [f"s[{since.steps}:] = ({every})", f"return ({result})"]
        )
        function = function_of(
            "leaves, args, kwargs" if is_first else "leaves, args, kwargs, s, values", lines, ends, names
        )
        entries = list(self.entries.values())[since.entries :]
        return Stage(function, "\n".join([*lines, *ends]), names, entries)

    def _lines(self, since: Mark, needed: set[int], names: dict[str, Any]) -> list[str]:
        lines: list[str] = []
        checks = sorted(self.checks[since.checks :], key=lambda c: c[1])
        at = 0
        for number in range(-1, len(self.steps)):
            if number >= since.steps and number in needed:
                lines.append(f"v{number} = {expression(number, self.steps[number], names, since.steps)}")
            while at < len(checks) and checks[at][1] == number:
                kind, _, expected, _ = checks[at]
                names[f"e{at}"] = expected
                value = place(number, since.steps)
                other = Name(place(expected, since.steps) if kind in STEPS_TOO else f"e{at}")
                test = quick_test(kind, expected, value, f"e{at}", names) or CHECKS[kind].format(v=value, e=other)
                lines.append(f"if not ({test}): return None")
                at += 1
        return lines

    def _needed(self, wanted: list[int]) -> set[int]:
        todo = [
            *wanted,
            *(check[1] for check in self.checks),
            *(check[2] for check in self.checks if check[0] in STEPS_TOO),
        ]
        return self.sources(todo)

    def varying(self, args: Any, kwargs: Any) -> set[Any]:
        """Steps whose value was an integer, and now is another one."""
        now = self.values((), args, kwargs)
        changed = [
            c[1]
            for c in self.checks
            if c[0] == "equal" and type(c[2]) is int and type(now[c[1]]) is int and now[c[1]] != c[2]
        ]
        found = {(self.steps[number][0], *self.steps[number][2:]) for number in changed}
        for space, key, value in self.entries.values():
            if type(value) is int and isinstance(space, dict) and type(space.get(key)) is int and space[key] != value:
                found.add((ENTRY, key))
        return found | self.varied

    def values(self, leaves: Any, args: Any, kwargs: Any) -> list[Any]:
        """Each step's value now; what cannot be had is an exception in its place."""
        names: dict[str, Any] = {"leaves": leaves, "args": args, "kwargs": kwargs}
        for number, step in enumerate(self.steps):
            try:
                names[f"v{number}"] = eval(expression(number, step, names), names)
            except Exception as error:
                names[f"v{number}"] = error.with_traceback(None)  # which would hold all names
        return [names[f"v{number}"] for number in range(len(self.steps))]


#: Checks of two steps' values.
STEPS_TOO = ("alias", "apart")
CHECKS = {
    "is": "{v} is {e}",
    "type": "type({v}) is {e}",
    "equal": "same({v}, {e})",
    "length": "len({v}) == {e}",
    "keys": "same(list({v}), {e})",
    "array": "fits({v}, {e})",
    "truth": "bool({v}) is {e}",
    "alias": "{v} is {e}",
    "apart": "{v} is not {e}",
    "bytes": "same_elements({v}, {e})",
}


def quick_test(kind: str, expected: Any, v: str, e: str, names: dict[str, Any]) -> str:
    """A check that calls no Python function, where there is one."""
    if kind == "equal" and type(expected) in (int, str, bytes):
        return f"type({v}) is {type(expected).__name__} and {v} == {e}"
    if kind == "keys" and expected and {type(key) for key in expected} == {str}:
        return f"[*{v}] == {e} and {{*map(type, {v})}} == {{str}}"
    if kind == "array":
        names["ndarray"] = np.ndarray
        names[f"{e}d"], names[f"{e}s"], names[f"{e}t"], is_writeable = expected
        form = f"type({v}) is ndarray and {v}.shape == {e}s and {v}.strides == {e}t and {v}.dtype == {e}d"
        return f"{form} and {v}.flags.writeable is {is_writeable}"
    return ""


class Name(str):
    """A name in generated source."""

    __slots__ = ()


def parents(step: tuple[Any, ...]) -> list[int]:
    if step[0] == CALL:
        return [value for kind, value in step[2] if kind == "step"]
    return [step[1]] if step[0] in (ATTRIBUTE, ITEM, CLASS) else []


def place(number: int, first: int) -> str:
    """Where a step's value is, in the function of the stage whose first step that is."""
    return f"v{number}" if number >= first else f"s[{number}]"


@functools.lru_cache(maxsize=1024)
def code_of(source: str) -> types.CodeType:
    return compile(source, "<guards>", "exec")


def function_of(parameters: str, lines: list[str], ends: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    """A function whose lines may raise or return None where a check fails."""
    body = "".join(f"        {line}\n" for line in lines) or "        pass\n"
    end = "".join(f"    {line}\n" for line in ends)
    source = f"def guard({parameters}):\n    try:\n{body}    except Exception:\n        return None\n{end}"
    scope = dict(names)
    exec(code_of(source), scope)
    return scope["guard"]


def with_names(function: Any, names: dict[str, Any]) -> Callable[..., Any]:
    """Such a function with other objects in the place of those that its code names."""
    return types.FunctionType(function.__code__, names, "guard")


def expression(number: int, step: tuple[Any, ...], names: dict[str, Any], first: int = 0) -> str:
    """A step as Python code; steps before ``first`` are elements of ``s``."""
    kind, *parts = step
    if kind == VALUE:
        return f"values[{parts[0]}][{parts[1]}]"
    if kind == LEAF:
        return f"leaves[{parts[0]}]"
    if kind == ARGUMENT:
        return f"args[{parts[0]}]" if isinstance(parts[0], int) else f"kwargs[{parts[0]!r}]"
    if kind == CALL:
        names[f"f{number}"] = parts[0]
        operands = []
        for i, (source, value) in enumerate(parts[1]):
            if source != "step":
                names[f"c{number}_{i}"] = value
            operands.append(place(value, first) if source == "step" else f"c{number}_{i}")
        return f"f{number}({', '.join(operands)})"
    names[f"o{number}"] = parts[0]
    if kind == OBJECT:
        return f"o{number}"
    if kind == CELL:
        return f"o{number}.cell_contents"
    if kind == ENTRY:
        names[f"k{number}"] = parts[1]
        return f"o{number}[k{number}]"
    if kind in (ATTRIBUTE, CLASS):
        names[f"k{number}"] = parts[1]
        names["getattr"] = getattr
        owner = place(parts[0], first)
        return f"{owner}.{parts[1]}" if parts[1].isidentifier() else f"getattr({owner}, k{number})"
    names[f"k{number}"] = parts[1]
    return f"{place(parts[0], first)}[k{number}]"


def same(value: Any, expected: Any) -> bool:
    """Whether a constant is what it was: its type too, and the sign of a zero."""
    if type(value) is not type(expected):
        return False
    if type(value) in (float, complex):
        return repr(value) == repr(expected)
    if type(value) in (tuple, list):
        return len(value) == len(expected) and all(map(same, value, expected))
    return bool(value == expected)


def same_elements(value: Any, expected: np.ndarray) -> bool:
    return (
        type(value) is np.ndarray
        and value.dtype == expected.dtype
        and value.shape == expected.shape
        and value.tobytes() == expected.tobytes()
    )


def fits(value: Any, expected: Any) -> bool:
    """Whether an array has the dtype, shape and strides that were recorded."""
    if type(value) is not np.ndarray:
        return False
    return (value.dtype, value.shape, value.strides, value.flags.writeable) == expected
