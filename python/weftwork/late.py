"""Programs of pieces that are compiled late: the interpreter runs them until they have earned it.

To compile a piece takes as long as thousands of NumPy's operations, and whether a call in pieces gains anything is known only
once it has run. So a program is interpreted as long as all its runs together have taken less than compiling it would: whatever
follows, that is at most twice the time of the better choice. What the next call needs is compiled beside the calls.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import _core
from .errors import Error
from .graph import Graph
from .result import LEAF, in_form, in_order

__all__ = ["Late", "Uncompiled", "compile_beside"]


class Uncompiled(Exception):
    """There is no machine code for a program."""


class Rate:
    """Nanoseconds for a unit of work on this machine: what was measured, and at first a guess."""

    def __init__(self, guess: float, units: float) -> None:
        self.nanoseconds, self.units = guess * units, units

    def note(self, nanoseconds: float, units: float) -> None:
        # The past fades, so that a machine that is busy for a while is believed only as long.
        self.nanoseconds, self.units = 0.9 * self.nanoseconds + nanoseconds, 0.9 * self.units + units

    def of(self, units: float) -> float:
        return units * self.nanoseconds / self.units


#: Of operations of a program that is compiled, and of elements that the interpreter computes.
COMPILING = Rate(300_000, 200)
INTERPRETING = Rate(30, 10_000)
#: What a program takes, whatever it does, in operations that are compiled.
EACH_PROGRAM = 30


class Late:
    """A program with what its runs are given, and what becomes of its outputs."""

    __slots__ = (
        "__weakref__", "compiler", "failed", "graph", "is_queued", "lock", "parts", "plan", "runs", "spent", "work"
    )  # fmt: skip

    def __init__(self, graph: Graph, compiler: Callable[..., Any], parts: tuple[Any, ...]) -> None:
        self.graph, self.compiler, self.parts = graph, compiler, parts
        self.plan: Any = None
        self.failed: Exception | None = None
        self.lock = threading.Lock()
        self.is_queued = False
        self.runs, self.spent = 0, 0.0  # so many by the interpreter, which took so many nanoseconds
        self.work = graph.core.interpreted_work

    @property
    def operations(self) -> int:
        return len(self.graph.core.op_names) + EACH_PROGRAM

    def is_compiled(self) -> bool:
        return self.plan is not None or self.failed is not None

    def has_earned(self) -> bool:
        """Whether its runs, with the next one, take as long as compiling it."""
        next_run = self.spent / self.runs if self.runs else INTERPRETING.of(self.work)
        return self.spent + next_run >= COMPILING.of(self.operations)

    def compile(self, beside: bool = False) -> None:
        """Makes the program; ``beside``: no run waits for it, so there is time for the best code at once."""
        with self.lock:
            if self.is_compiled():
                return
            begun = time.perf_counter_ns()
            try:
                core = self.compiler(self.graph, tiered=not beside)
            except Exception as error:
                self.failed = error
                return
            COMPILING.note(time.perf_counter_ns() - begun, self.operations)
            inputs, captured, slots, build, extra_inputs = self.parts
            self.plan = _core.Plan(core, inputs, captured, slots, build, [], [], None, extra_inputs)

    def finish(self) -> None:
        """Waits for the best code of what is compiled."""
        if self.plan is not None:
            self.plan.finish()

    def run(self, leaves: tuple, extra: Any) -> Any:
        """What the outputs are made of; for the last piece the result of the call."""
        if self.plan is None:
            given = None if self.is_compiled() or self.has_earned() else self.given(leaves, extra)
            outputs = self.interpreted(given) if given is not None else None
            if outputs is not None:
                return self.taken(outputs, leaves, extra)
            self.compile()
            if self.failed is not None:
                raise Uncompiled(str(self.failed).split("\n")[0]) from self.failed
        return self.plan.run(leaves, extra)

    def given(self, leaves: tuple, extra: Any) -> list[np.ndarray] | None:
        """The inputs as arrays; None where only the program itself can take them."""
        inputs, captured, _, _, extra_inputs = self.parts
        values = [*(in_order(leaves[i], axes) for i, axes in inputs), *captured, *extra[:extra_inputs]]
        arrays = []
        for value, io in zip(values, self.graph.inputs, strict=True):
            if type(value) in (bool, int, float, complex):
                with contextlib.suppress(OverflowError):
                    value = np.asarray(value, io.dtype)
            elif isinstance(value, np.generic):
                value = np.asarray(value)
            if type(value) is not np.ndarray:
                return None
            arrays.append(value)
        return arrays

    def interpreted(self, arrays: list[np.ndarray]) -> list[np.ndarray] | None:
        """The outputs; None where an error is for the program to raise."""
        targets = {i: arrays[io.alias] for i, io in enumerate(self.graph.outputs) if io.alias is not None}
        if not all(target.flags.writeable for target in targets.values()):
            return None
        begun = time.perf_counter_ns()
        try:
            if targets:
                _core.check_written(self.graph.core, arrays)
            results = [result.copy() for result in self.graph.core.interpret(arrays)]
        except Error:
            return None
        taken = time.perf_counter_ns() - begun
        self.spent += taken
        self.runs += 1
        INTERPRETING.note(taken, self.work)
        for i, target in targets.items():
            target[...] = results[i]
            results[i] = target
        return results

    def taken(self, outputs: list[np.ndarray], leaves: tuple, extra: Any) -> Any:
        _, _, slots, build, _ = self.parts
        values: list[Any] = []
        for source, index, form, axes in slots:
            value = leaves[index] if source == LEAF else outputs[index]
            values.append(value if source == LEAF else in_form(value, form, axes))
        return values if build is None else build(values, extra)


class Helper:
    """A thread that compiles programs beside the calls, one after the other, those of one call in their order.

    A process that forks, or ends, waits for the one that is being compiled.
    """

    def __init__(self) -> None:
        self.queue: deque[weakref.ref[Late]] = deque()
        self.changed = threading.Condition()
        self.busy = threading.Lock()
        self.thread: threading.Thread | None = None
        self.has_ended = False

    def add(self, programs: Iterable[Late]) -> None:
        with self.changed:
            self.queue.extend(weakref.ref(program) for program in programs)
            if self.thread is None or not self.thread.is_alive():
                self.thread = threading.Thread(target=self.work, name="weftwork compiler", daemon=True)
                self.thread.start()
            self.changed.notify()

    def work(self) -> None:
        while True:
            with self.changed:
                while not self.queue:
                    if not self.changed.wait(IDLE):
                        self.thread = None
                        return
            with self.busy:
                # What is not begun yet stays in the queue: a child that is forked before has it there.
                program = self.queue.popleft()()
                if program is not None and not self.has_ended:
                    program.compile(beside=True)
                del program

    def end(self) -> None:
        with self.busy:
            self.has_ended = True

    def in_child(self) -> None:
        self.changed, self.busy, self.thread = threading.Condition(), threading.Lock(), None
        if self.queue:
            self.add([])


#: Seconds after which a thread that has nothing to do ends.
IDLE = 10.0
HELPER = Helper()
atexit.register(HELPER.end)
os.register_at_fork(
    before=lambda: HELPER.busy.acquire(),
    after_in_parent=lambda: HELPER.busy.release(),
    after_in_child=lambda: HELPER.in_child(),
)


def compile_beside(programs: Iterable[Late]) -> None:
    """Has programs compiled while calls run plainly; they know when they are."""
    new = [program for program in programs if not program.is_queued and not program.is_compiled()]
    for program in new:
        program.is_queued = True
    if new:
        HELPER.add(new)
