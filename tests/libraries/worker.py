"""The process that replays cases: `check 7` or `steady 7` comes in as a line, what was found goes out as lines of JSON.

`python -m tests.libraries.worker FILE FD TIME JIT`; the parent ends it when a case takes too long.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import pickle
import random
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .catalogue import LIBRARIES, chosen
from .compare import Comparison, magnitude, short
from .enlarge import enlarged
from .targets import resolve

MEMORY = 10 << 30
PLAIN_SECONDS = 3.0  # a case that takes longer is left out
ITEMS = 50  # of an iterator that is a result
TRIALS = 8  # plain calls before one is believed to be always the same

#: Numbers that a library counts up in names, as (owner, attribute); they begin anew with each call.
COUNTERS: list[tuple[Any, str]] = []


@dataclass
class Outcome:
    """What a call gave and left behind."""

    result: Any
    error: BaseException | None
    args: Any
    seconds: float
    shared: tuple = ()

    def different(self, wanted: Outcome, scale: float) -> str:
        """What differs from another outcome, or nothing."""
        if (self.error is not None or wanted.error is not None) and type(self.error) is not type(wanted.error):
            return f"raises {described(self.error)} for {described(wanted.error)}"
        comparison = Comparison(scale)
        return comparison.difference(self.result, wanted.result, "result") or comparison.difference(
            self.args, wanted.args, "arguments "
        )


def described(error: BaseException | None) -> str:
    if error is None:
        return "nothing"
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:160]}"


def run(function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Outcome:
    """Calls the function as the first thing in a quiet and seeded world."""
    random.seed(1)
    np.random.seed(1)
    for owner, name in COUNTERS:
        setattr(owner, name, 0)
    result = error = None
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        begun = time.perf_counter()
        try:
            result = function(*args, **kwargs)
        except (Exception, SystemExit) as caught:
            error = caught
        seconds = time.perf_counter() - begun
        if isinstance(result, Iterator):
            kind = type(result).__name__
            try:
                result = (kind, list(islice(result, ITEMS)))
            except Exception as caught:
                result, error = None, caught
    return Outcome(result, error, (args, kwargs), seconds, shared_with(result, (*args, *kwargs.values())))


def shared_with(result: Any, arguments: tuple) -> tuple:
    """Which arguments the result is, or has its elements from."""
    results = result if isinstance(result, (tuple, list)) and len(result) < 20 else [result]
    return tuple(
        tuple(i for i, a in enumerate(arguments) if isinstance(a, np.ndarray) and np.may_share_memory(r, a))
        for r in results
        if isinstance(r, np.ndarray)
    )


def varied(value: Any) -> Any:
    """The arguments with other floats, as far as they are seen from outside."""
    if isinstance(value, np.ndarray) and type(value) is np.ndarray and value.dtype.kind in "fc":
        return (value * value.dtype.type(1.25)).reshape(value.shape)
    if type(value) is float:
        return value * 1.25
    if type(value) in (list, tuple):
        return type(value)(varied(v) for v in value)
    return {k: varied(v) for k, v in value.items()} if type(value) is dict else value


class LeftOut(Exception):
    """A case that says nothing: plain Python cannot repeat it."""


class Case:
    """One case and how its function is run."""

    def __init__(self, case: dict[str, Any], send: Callable[[dict], None], elements: int = 0) -> None:
        self.case, self.send, self.elements = case, send, elements
        try:
            self.function = resolve(case["module"], case["qualname"])
            args, kwargs = self.fresh()
        except LeftOut:
            raise
        except Exception as error:
            raise LeftOut(f"not loaded: {described(error)}") from error
        self.scale = magnitude((args, kwargs))

    def fresh(self) -> tuple[tuple, dict[str, Any]]:
        given = pickle.loads(self.case["data"])
        if self.elements:
            given = enlarged(given, self.elements)
            if given is None:
                raise LeftOut("has no arrays that can be longer")
        return given

    def fresh_varied(self) -> tuple[tuple, dict[str, Any]]:
        args, kwargs = self.fresh()
        return varied(args), varied(kwargs)

    def plain(self) -> tuple[Outcome, Outcome]:
        """What plain calls give of the arguments and of varied ones."""
        first = run(self.function, *self.fresh())
        if first.seconds > PLAIN_SECONDS:
            raise LeftOut("slow in plain Python")
        if self.elements and first.error is not None:
            raise LeftOut("does not allow longer arrays")
        wanted = run(self.function, *self.fresh())
        if text := first.different(wanted, self.scale):
            raise LeftOut(f"differs from itself: {text}")
        return wanted, run(self.function, *self.fresh_varied())

    def check(self, jit: Callable[..., Any], timed: bool) -> dict[str, Any]:
        """All calls of the jitted function beside the plain one."""
        wanted, other = self.plain()
        self.send({"stage": "jit"})
        jitted = jit(self.function)
        calls = [("first call", self.fresh, wanted), ("second call", self.fresh, wanted)]
        if other.seconds < PLAIN_SECONDS:
            calls.append(("other values", self.fresh_varied, other))
        found: dict[str, Any] = {"way": "unknown", "alias": False, "raises": wanted.error is not None}
        for name, arguments, plain in calls:
            self.send({"stage": name})
            before = dict(getattr(jitted, "ways", {}))
            actual = run(jitted, *arguments())
            if text := actual.different(plain, self.scale):
                if actual.error is not None and plain.error is None:
                    return {**found, "outcome": "error", "text": described(actual.error), "in": name}
                return {**found, "outcome": "wrong", "text": text, "in": name}
            after = getattr(jitted, "ways", {})
            if way := next((w for w, count in after.items() if count > before.get(w, 0)), None):
                found["way"] = way
            if found["way"] == "plain" and getattr(jitted, "refusals", None):
                found["why"] = list(jitted.refusals)[-1]
            found["alias"] |= actual.shared != plain.shared
        if "strict" in inspect.signature(jit).parameters:
            self.send({"stage": "strict"})
            found["strict"] = self.strict(jit, wanted)
        if timed:
            self.send({"stage": "time"})
            found |= self.times(jitted, wanted)
        return {**found, "outcome": "equal"}

    def steady(self) -> dict[str, Any]:
        """Whether many plain calls agree: memory that nobody wrote and generators of a library's own show late."""
        wanted, other = self.plain()
        for arguments, plain in [(self.fresh, wanted), (self.fresh_varied, other)] * TRIALS:
            if text := run(self.function, *arguments()).different(plain, self.scale):
                raise LeftOut(f"differs from itself: {text}")
        return {"outcome": "steady"}

    def strict(self, jit: Callable[..., Any], wanted: Outcome) -> str:
        """Whether it is one program: 'one', or why not."""
        try:
            actual = run(jit(self.function, strict=True), *self.fresh())
        except Exception as error:
            return described(error)
        return (
            "one"
            if not actual.different(wanted, self.scale)
            else described(actual.error)
            if actual.error
            else "other result"
        )

    def times(self, jitted: Callable[..., Any], wanted: Outcome) -> dict[str, Any]:
        """Least seconds of plain and of jitted calls: with new copies, and with the same arguments if they stay."""
        found = {"renewed": [least(self.function, self.fresh), least(jitted, self.fresh)]}
        args, kwargs = self.fresh()
        if not Comparison(self.scale).difference(wanted.args, (args, kwargs)):
            found["seconds"] = [least(f, lambda: (args, kwargs)) for f in (self.function, jitted)]
        return found


def least(function: Callable[..., Any], arguments: Callable[[], tuple]) -> float:
    """The least time of a call, of those that fit into a short while; a jitted function has decided by then what it runs."""
    shortest, end = float("inf"), time.monotonic() + 0.4
    for _ in range(60):
        shortest = min(shortest, run(function, *arguments()).seconds)
        if time.monotonic() > end:
            break
    return shortest


def identity(function: Callable[..., Any]) -> Callable[..., Any]:
    """In the place of wf.jit it shows whether the suite itself finds differences where there are none."""
    return function


def main(file: str, out: str, timed: str, jit: str, elements: str = "0") -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(3000)
    channel = os.fdopen(int(out), "w")
    cases = pickle.loads(Path(file).read_bytes())
    compiler = resolve(*jit.split(":"))
    (library,) = chosen([cases[0]["library"]]) if cases else LIBRARIES[:1]
    COUNTERS.extend((resolve(module, owner), name) for module, owner, name in library.counters)

    def send(message: dict[str, Any]) -> None:
        print(json.dumps(message), file=channel, flush=True)

    send({"ready": True})
    for line in sys.stdin:
        try:
            asked, number = line.split()
            case = Case(cases[int(number)], send, int(elements))
            found = case.steady() if asked == "steady" else case.check(compiler, timed == "time")
        except LeftOut as reason:
            found = {"outcome": "left out", "text": str(reason)}
        except Exception as error:
            found = {"outcome": "left out", "text": f"the suite itself fails: {short(described(error))}"}
        send(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
