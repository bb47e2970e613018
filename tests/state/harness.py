"""Runs a program's text twice, plain and jitted, and tells what differs after each statement of its calls.

A program is the text of a module. It imports ``jit`` from weftwork and uses it as a user does. All before the line
``# calls`` is run at once; after each statement below it results and all state are compared.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import itertools
import linecache
import random
import re
import signal
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .builder import IMPORT, MARK
from .compare import difference, same_text
from .snapshot import CASE, Snapshot
from .wrappers import nothing

SECONDS = 30  # of the CPU, for one program
NUMBERS = itertools.count()


class Hang(BaseException):
    """A program took longer than SECONDS."""


@dataclass
class Step:
    """What one statement did: its error, if any, what it printed and all state afterwards."""

    text: str
    error: BaseException | None
    printed: str
    state: Snapshot


@dataclass
class Failure:
    """``kind`` groups failures; ``text`` says what differs and after which statement."""

    kind: str
    text: str
    source: str = ""
    tags: tuple[str, ...] = ()


@dataclass
class Outcome:
    """``failure`` is None where jit did as Python does; ``ways`` counts how calls were run; ``raised``: calls that raise."""

    failure: Failure | None
    ways: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    raised: int = 0


@functools.lru_cache(maxsize=1)  # the plain run and the jitted one
def compiled(source: str) -> tuple[str, list[tuple[str, types.CodeType]]]:
    """A file name, and the text and the code of the definitions and of each statement of the calls."""
    filename = f"<case {next(NUMBERS)}>"
    lines = source.splitlines()
    mark = next((i for i, line in enumerate(lines) if line.strip() == MARK), len(lines))
    calls = ast.parse("\n" * mark + "\n".join(lines[mark:])).body
    statements = [("the definitions", compile("\n".join(lines[:mark]) + "\n", filename, "exec"))]
    for call in calls:
        if isinstance(call, ast.Expr):
            code = compile(ast.Expression(call.value), filename, "eval")
        else:
            code = compile(ast.Module([call], []), filename, "exec")
        statements.append(("\n".join(lines[call.lineno - 1 : call.end_lineno]), code))
    return filename, statements


class Run:
    """One run of a program in a module of its own."""

    def __init__(self, source: str, wrapper: Callable[[Any], Any]) -> None:
        self.source, self.wrapper = source.replace(IMPORT, "#", 1), wrapper
        self.wrapped: dict[int, tuple[Any, Any]] = {}
        self.module = types.ModuleType(CASE)
        self.module.__dict__["jit"] = self.jit

    def jit(self, function: Any) -> Any:
        made = self.wrapper(function)
        if made is not function:
            self.wrapped[id(made)] = (made, function)
        return made

    def unwrap(self, value: Any) -> Any:
        while id(value) in self.wrapped:
            value = self.wrapped[id(value)][1]
        return value

    def steps(self) -> Iterator[Step]:
        filename, statements = compiled(self.source)
        linecache.cache[filename] = (len(self.source), None, self.source.splitlines(True), filename)
        names = self.module.__dict__
        names["_results"] = []
        sys.modules[CASE] = self.module
        np.random.seed(12345)
        random.seed(12345)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                for text, code in statements:
                    yield self.step(text, code)
            finally:
                sys.modules.pop(CASE, None)
                linecache.cache.pop(filename, None)

    def step(self, text: str, code: types.CodeType) -> Step:
        names = self.module.__dict__
        error = None
        names["_result"] = None
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                names["_result"] = eval(code, names)
                names["_results"].append(names["_result"])
            except Hang:
                raise
            except BaseException as raised:
                error = raised
        with deep_recursion():
            return Step(text, error, printed.getvalue(), Snapshot(names, self.unwrap))

    def ways(self) -> Counter[str]:
        """How calls were run, where jit tells."""
        found: Counter[str] = Counter()
        for made, _ in self.wrapped.values():
            ways = getattr(made, "ways", None)
            found.update(ways if isinstance(ways, dict) else {})
        return found


@contextlib.contextmanager
def deep_recursion() -> Iterator[None]:
    """For what goes along the links of a drawn program's lists."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20 * limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def error_name(error: BaseException | None) -> str:
    kind = type(error)
    return "no error" if error is None else f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")


def is_ours(error: BaseException | None) -> bool:
    return any(kind.__module__.startswith("weftwork") for kind in type(error).__mro__)


def error_difference(actual: BaseException | None, wanted: BaseException | None) -> tuple[str, str]:
    """(kind, text) of what differs between what was raised; arguments count for a program's own exceptions."""
    names = error_name(actual), error_name(wanted)
    if is_ours(actual):
        label = re.search(r"  \[([a-z]\w*)\]", str(actual))
        return f"our error {names[0]} {label[1] if label else ''}", f"{names[0]}: {actual} for {names[1]}"
    if names[0] != names[1]:
        if wanted is None:
            return f"raises {names[0]}", f"{names[0]}: {actual}"
        return f"exception {names[0]} for {names[1]}", f"{names[0]}: {actual} for {names[1]}: {wanted}"
    if wanted is not None and type(wanted).__module__ == CASE and not same_text(repr(actual), repr(wanted), 1e-6):
        return "exception value", f"{actual!r} for {wanted!r}"
    return "", ""


def step_difference(actual: Step, wanted: Step, tolerance: float) -> tuple[str, str]:
    kind, text = error_difference(actual.error, wanted.error)
    if not kind:
        kind, text = difference(actual.state, wanted.state, tolerance)
    if not kind and not same_text(actual.printed, wanted.printed, tolerance):
        kind, text = "printed", f"{actual.printed!r} for {wanted.printed!r}"
    return kind, text


def alarm(*_: Any) -> None:
    raise Hang


def outcome(source: str, wrapper: Callable[[Any], Any]) -> Outcome:
    """Runs a program plain and wrapped, statement by statement."""
    tolerance = 1e-4 if "float32" in source else 1e-7
    signal.signal(signal.SIGPROF, alarm)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    run = Run(source, wrapper)
    result = Outcome(None)
    plain: list[Step] = []
    try:
        plain = list(Run(source, nothing).steps())
        for number, (actual, wanted) in enumerate(zip(run.steps(), plain)):
            result.calls += number > 0
            result.raised += number > 0 and wanted.error is not None
            kind, text = step_difference(actual, wanted, tolerance)
            if kind:
                text = f"after statement {number}, {actual.text}:\n{text}"
                result.failure = Failure(kind, text, source)
                break
    except Hang:
        # A program that takes too long by itself says nothing.
        result.failure = Failure("hang", f"longer than {SECONDS} s", source) if plain else None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    result.ways = run.ways()
    return result
