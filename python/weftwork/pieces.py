"""Calls in pieces: several programs one after the other, with Python's own steps and decisions in between.

The pieces of a signature are a tree: each :class:`Piece` has the ways that go on from it, and a call takes the first whose
checks hold. Nothing outside is changed before a last piece runs, so a call that finds no way is given up without a trace: it
is recorded anew, as another way, or runs plainly.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from .bytecode.host import Undo, agree, undoing
from .bytecode.outside import Mark, Refused, Stage, Steps
from .errors import Error
from .graph import Graph
from .late import Late, Uncompiled, compile_beside
from .numpy.tracer import untraced
from .result import OUTPUT, Place, Slot, form_of
from .trace import MOST_OPERATIONS

__all__ = ["Piece", "Postponed", "Session", "Ways", "postponed_plan"]

#: Most pieces from the first to the last, most that one recording makes, and most ends of a tree.
MOST_PIECES = 32
MOST_NEW = 64
MOST_ENDS = 12
#: A first call of more programs than these runs plainly, as do all until that has taken as long as the recording had.
MOST_AT_FIRST = 10
#: After so many calls that found no way, a tree in which most do is used no more.
MANY_FAILURES = 16


class Piece:
    """A program, the checks before it, and the ways on from it. The last of a call builds the result; a plain one has none.

    One with a ``target`` has no program: it gathers values for a header, itself or one that the call goes back to. Where there
    is a ``program`` it is compiled late, and ``plan`` has the checks only.
    """

    __slots__ = ("following", "is_last", "is_plain", "number", "plan", "program", "signature", "stage", "target")

    def __init__(
        self, plan: Any, stage: Stage, signature: Any, number: int, is_last: bool = False, is_plain: bool = False
    ) -> None:
        self.plan, self.stage, self.signature, self.number = plan, stage, signature, number
        self.is_last, self.is_plain = is_last, is_plain
        self.following: list[Piece] = []
        self.target: Piece | None = None
        self.program: Late | None = None

    def run(self, leaves: tuple, extra: Any) -> Any:
        return (self.program or self.plan).run(leaves, extra)

    def is_end(self) -> bool:
        return self.is_last or self.is_plain

    def is_like(self, stage: Stage, signature: Any) -> bool:
        return self.signature == signature and self.stage.is_like(stage)


class Walk:
    """A call on its way through a tree."""

    __slots__ = ("args", "extra", "has_draws", "kwargs", "leaves", "state", "undo", "values")

    def __init__(self, leaves: tuple, args: tuple, kwargs: dict[str, Any], undo: Undo) -> None:
        self.leaves, self.args, self.kwargs, self.undo = leaves, args, kwargs, undo
        self.extra: tuple = ()
        self.state: list[Any] = []
        self.values: list[Any] = []
        self.has_draws = True

    def passed(self, piece: Piece) -> Piece:
        """Runs a piece; where the call is then."""
        at = piece.target
        values = piece.run(self.leaves, self.extra) if at is None else list(self.extra)
        at = at or piece
        self.values[at.number :] = [values]
        return at

    def chosen(self, piece: Piece) -> Piece | None:
        """The piece that follows; None where there is none whose checks hold."""
        for following in piece.following:
            extra = self.entered(following)
            if extra is not None:
                self.extra = extra
                return following
        return None

    def entered(self, piece: Piece) -> Any:
        """What the checks of a piece give; None where they do not hold, and then nothing is drawn."""
        if not self.has_draws:
            return piece.plan.enter(self.leaves, self.args, self.kwargs, self.state, self.values)
        part = Undo(self.undo)
        with undoing(part):
            extra = piece.plan.enter(self.leaves, self.args, self.kwargs, self.state, self.values)
        if extra is None:
            part.undo()
        return extra


class Ways:
    """The tree of a signature: a call from its first piece on."""

    def __init__(self, first: Piece, extend: Callable[[Ways, tuple, dict[str, Any]], bool]) -> None:
        self.first, self.extend = first, extend
        self.steps: list[Steps] = []
        self.ends = 0
        self.runs = self.failures = 0
        self.is_closed = False
        self.has_draws = False
        self.has_trial = False
        #: Programs that are not compiled, and the last call that did without: it was the first to come by.
        self.late: list[Late] = []
        self.last_without = 1

    def is_waiting(self) -> bool:
        """Whether programs are compiled beside the calls, which run plainly meanwhile.

        That begins once a path was met before, by the next call; and only what is compiled is on trial.
        """
        if not self.late:
            return False
        self.late = [program for program in self.late if not program.is_compiled()]
        plan = self.first.plan
        plan.has_trial = self.has_trial and not self.late
        if self.runs <= self.last_without:
            return False
        compile_beside(self.late)
        return bool(self.late)

    def __call__(self, leaves: tuple, args: tuple, kwargs: dict[str, Any], extra: tuple) -> Any:
        """The result of a call; NotImplemented where it has to run plainly."""
        self.runs += 1
        if self.is_closed or self.is_waiting():
            return NotImplemented
        result = self.run(leaves, args, kwargs, extra)
        if result is MISSED:
            result = NotImplemented
            if self.ends < MOST_ENDS and self.extend(self, args, kwargs):
                result = self.run(leaves, args, kwargs, extra)
                result = NotImplemented if result is MISSED else result
        if result is NotImplemented:
            self.failures += 1
            self.is_closed |= self.failures >= MANY_FAILURES and 2 * self.failures > self.runs
        return result

    def run(self, leaves: tuple, args: tuple, kwargs: dict[str, Any], extra: tuple) -> Any:
        undo = Undo()
        walk = Walk(leaves, args, kwargs, undo)
        walk.extra, walk.state, walk.has_draws = extra, extra[-1], self.has_draws
        piece: Piece | None = self.first
        result: Any = MISSED
        with undoing(undo):
            try:
                while piece is not None and not piece.is_end():
                    piece = walk.chosen(walk.passed(piece))
                if piece is not None:
                    result = piece.run(leaves, walk.extra) if piece.is_last else NotImplemented
            except Uncompiled:
                self.is_closed = True
                result = NotImplemented
            except Error as error:
                if error.label not in ("overlap", "number_input", "read_only"):
                    undo.undo()
                    raise
                result = NotImplemented
            if result is NotImplemented or result is MISSED:
                undo.undo()
        return result

    def finish(self) -> None:
        """Waits for better code of all programs but the first."""
        pending = list(self.first.following)
        while pending:
            piece = pending.pop()
            piece.plan.finish()
            if piece.program is not None:
                piece.program.finish()
            pending += piece.following


MISSED: Any = object()


class Postponed(Refused):
    """A call of many pieces is recorded to its end once it has come by: what that takes may be more than it ever gains."""

    def __init__(self, place: str, taken: int) -> None:
        super().__init__(f"a first call of more than {MOST_AT_FIRST} programs", place)
        self.taken = taken  # nanoseconds of the recording


class Postponement:
    """In the place of the pieces of such calls: they run plainly until ``again`` has the next one recorded to its end."""

    def __init__(self, plan: Any, again: Callable[[], None], needed: int) -> None:
        self.plan, self.again = plan, again
        self.needed = needed  # nanoseconds that plain calls have to have taken

    def __call__(self, leaves: tuple, args: tuple, kwargs: dict[str, Any], extra: tuple) -> Any:
        if self.plan.plain_nanoseconds >= self.needed:
            self.again()
        return NotImplemented

    def finish(self) -> None:
        """There are no programs."""


def postponed_plan(again: Callable[[], None], needed: int) -> Any:
    plan = _core.Plan(None, [], [], [], None, [], [], lambda *_: (), 0)
    plan.pieces = Postponement(plan, again, needed)
    return plan


class Session:
    """The pieces of one recording: it runs them as values are asked for, and finds those that are known again."""

    def __init__(
        self, compiler: Callable[..., Any], ways: Ways | None, is_late: bool = False, is_first: bool = False
    ) -> None:
        self.compiler, self.ways, self.is_late, self.is_first = compiler, ways, is_late, is_first
        self.begun = time.perf_counter_ns()
        self.late: list[Late] = []
        self.path: list[Piece] = []
        self.new = 0  # so many pieces were made
        self.operations = 0  # of programs that were compiled
        self.mark: Mark | None = None
        self.values: list[Any] = []
        self.state: list[Any] = []
        self.whole = Undo()
        self.undo = Undo(self.whole)  # since the piece before
        #: What was asked for, and where.
        self.breaks: list[str] = []
        self.leaves: tuple = ()
        self.args: tuple = ()
        self.kwargs: dict[str, Any] = {}
        self.recorder: Any = None
        self.inputs: list[Any] = []
        self.input_leaves: list[Place] = []

    def begin(self, recorder: Any, arguments: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        """Knows the arguments of the call."""
        self.args, self.kwargs = args, kwargs
        self.leaves = tuple(leaf.given for leaf in arguments.leaves)
        self.inputs = [leaf.parameter for leaf in arguments.inputs]
        self.input_leaves = [arguments.place(leaf) for leaf in arguments.inputs]
        for leaf, (number, _) in zip(arguments.inputs, self.input_leaves, strict=True):
            if isinstance(leaf.given, (np.ndarray, np.generic)):
                tensor = leaf.traced.tensor
                recorder.sources[id(tensor)] = (tensor, leaf.given, recorder.steps.leaf(number, leaf.name))
        recorder.session = self
        self.recorder = recorder

    @property
    def count(self) -> int:
        return len(self.path)

    def used(self, recorder: Any, outputs: list[Any], kept: set[int] = frozenset()) -> Inputs:  # type: ignore[assignment]
        """The inputs that a program with such outputs has; ``kept``: tensors that are in any case."""
        trace = recorder.trace
        arrays = trace.captured_arrays()
        every = [
            (tensor, f"x{i}", ("leaf", place))
            for i, (tensor, place) in enumerate(zip(self.inputs, self.input_leaves, strict=True))
        ]
        every += [(c.tensor, f"captured{i}", ("captured", arrays[i])) for i, c in enumerate(trace.captures)]
        every += [(tensor, f"number{i}", ("step", step)) for i, (tensor, step) in enumerate(trace.numbers)]
        every += [(read.tensor, read.name, ("step", read.step)) for read in trace.reads]
        wanted = set(_core.used_parameters([tensor for tensor, _, _ in every], outputs))
        return Inputs([entry for i, entry in enumerate(every) if i in wanted or id(entry[0]) in kept])

    def run_piece(self, recorder: Any, arrays: list[Any]) -> list[Any]:
        """The values of arrays, by a program of what was recorded since the piece before."""
        self.breaks.append(recorder.place())
        tensors = [array._storage.tensor for array in arrays]
        inputs = self.used(recorder, tensors)
        slots = [Slot(OUTPUT, i, form_of(array)).parts for i, array in enumerate(arrays)]
        graph = None
        if tensors:
            outputs = [(tensor, f"value{i}", -1) for i, tensor in enumerate(tensors)]
            graph = Graph(_core.record_graph(f"{recorder.trace.name}_{len(self.path)}", inputs.parameters(), outputs))
        stage = recorder.steps.stage(self.mark, inputs.steps)
        signature = (graph.text() if graph is not None else "", tuple(slots), tuple(inputs.leaves))
        piece = self.found(stage, signature)
        if piece is None:
            self.operations += len(graph.core.op_names) if graph is not None else 0
            if self.operations > MOST_OPERATIONS:
                recorder.refuse(f"programs of more than {MOST_OPERATIONS} operations together")
            if self.is_first and len(self.late) >= MOST_AT_FIRST:
                raise Postponed(recorder.place(), time.perf_counter_ns() - self.begun)
            plan, program = self.planned(graph, inputs, slots, None, stage)
            piece = self.made(recorder, plan, stage, signature)
            piece.program = program
        extra = self.required(piece, recorder)
        self.path.append(piece)
        self.mark = recorder.steps.mark()
        with untraced():
            try:
                self.values.append(piece.run(self.leaves, extra))
            except Uncompiled as error:
                recorder.refuse(str(error))
        return self.values[-1]

    def planned(
        self, graph: Graph | None, inputs: Inputs, slots: list[Any], build: Any, stage: Stage
    ) -> tuple[Any, Late | None]:
        """The checks before a program, and the program, where it is compiled late; else a plan that has it."""
        if not self.is_late or graph is None:
            core = self.compiler(graph) if graph is not None else None
            return self.plan(core, inputs, slots, build, stage, inputs.steps), None
        program = Late(graph, self.compiler, (inputs.leaves, inputs.captured, slots, build, len(inputs.steps)))
        self.late.append(program)
        return self.plan(None, Inputs([]), [], None, stage, []), program

    def made(self, recorder: Any, plan: Any, stage: Stage, signature: Any) -> Piece:
        self.new += 1
        if len(self.path) >= MOST_PIECES or self.new > MOST_NEW:
            recorder.refuse(f"Python asks for values more than {MOST_PIECES} times")
        return Piece(plan, stage, signature, len(self.path))

    def required(self, piece: Piece, recorder: Any) -> Any:
        """What the checks of a piece give, which hold."""
        extra = self.entered(piece, recorder)
        if extra is None:
            recorder.refuse("what the call reads changes while it is recorded")
        return extra

    # -- loops -----------------------------------------------------------------------------------------------------

    def run_header(self, recorder: Any, steps: list[int]) -> int:
        """Gathers what the turns of a loop find, and may leave otherwise; the number of the piece that does."""
        piece, values = self.gathering(recorder, steps, None)
        self.path.append(piece)
        self.mark = recorder.steps.mark()
        self.values.append(values)
        return piece.number

    def go_back(self, recorder: Any, header: Any, steps: list[int]) -> None:
        """Goes back to a header with other values, and on from there as far as turns are known."""
        target = self.path[header.number]
        piece, values = self.gathering(recorder, steps, target)
        join([*self.path[header.number :], piece])
        del self.path[header.number + 1 :]
        self.values[header.number :] = [values]
        self.mark = header.mark
        self.run_turns(target, recorder)

    def gathering(self, recorder: Any, steps: list[int], target: Piece | None) -> tuple[Piece, list[Any]]:
        """The piece that gathers these steps for a header, without one for itself; and what they are now."""
        stage = recorder.steps.stage(self.mark, steps)
        signature = ("gathered", target.number if target is not None else None)
        piece = self.found(stage, signature)
        if piece is None:
            piece = self.made(recorder, self.plan(None, Inputs([]), [], None, stage, []), stage, signature)
            piece.target = target or piece
        return piece, list(self.required(piece, recorder))

    def run_turns(self, header: Piece, recorder: Any) -> None:
        """Runs turns that come back to their header; one that does not is as if it had not begun."""
        while True:
            undo = Undo(self.whole)
            walk = Walk(self.leaves, self.args, self.kwargs, undo)
            walk.state, walk.values = list(self.state), list(self.values)
            with untraced(), undoing(undo):
                at: Piece | None = header
                while at is not None and (at := walk.chosen(at)) is not None:
                    at = None if at.is_end() else walk.passed(at)
                    if at is header:
                        break
            if at is None:
                undo.undo()
                break
            self.state, self.values = walk.state, walk.values
        self.undo = Undo(self.whole)
        for made, step in recorder.hosted.values():
            agree(made, self.state[step])

    def entered(self, piece: Piece, recorder: Any) -> Any:
        """What the checks of a piece give; what was drawn while it was recorded is drawn once more."""
        self.undo.undo()
        self.undo = Undo(self.whole)
        with untraced(), undoing(self.undo):
            if self.path:
                extra = piece.plan.enter(self.leaves, self.args, self.kwargs, self.state, self.values)
            else:
                extra = piece.plan.enter(self.leaves, self.args, self.kwargs)
                self.state = extra[-1] if extra is not None else []
        self.undo = Undo(self.whole)
        if extra is not None:
            for made, step in recorder.hosted.values():
                agree(made, self.state[step])
        return extra

    def found(self, stage: Stage, signature: Any) -> Piece | None:
        """The same piece of the tree, if all before it are the tree's too."""
        first = [self.ways.first] if self.ways is not None else []
        candidates = self.path[-1].following if self.path else first
        return next((p for p in candidates if p.is_like(stage, signature) and not p.is_end()), None)

    def plan(self, core: Any, inputs: Inputs, slots: list[Any], build: Any, stage: Stage, wanted: list[int]) -> Any:
        from .plans import described

        # What later pieces find out of the arguments' order in memory holds for calls with this order.
        layouts = [] if self.path else [i for i, leaf in enumerate(self.leaves) if isinstance(leaf, np.ndarray)]
        return _core.Plan(
            core,
            inputs.leaves,
            inputs.captured,
            slots,
            build,
            layouts,
            described(stage.entries),
            stage.function,
            len(inputs.steps),
        )

    # -- ends ------------------------------------------------------------------------------------------------------

    def end(self, recorder: Any, traced: Any) -> None:
        """The last piece: the recording's result."""
        slots = [slot.parts for slot in traced.slots]
        inputs = traced.inputs
        stage = recorder.steps.stage(self.mark, traced.extra)
        self.is_late &= not recorder.trace.effects  # what other ranks do too is compiled by all
        plan, program = self.planned(Graph(traced.graph), inputs, slots, traced.builder, stage)
        self.path.append(Piece(plan, stage, None, len(self.path), is_last=True))
        self.path[-1].program = program

    def end_plainly(self, recorder: Any) -> None:
        """From here on the function itself has to run."""
        stage = recorder.steps.stage(self.mark, [])
        self.path.append(
            Piece(self.plan(None, Inputs([]), [], None, stage, []), stage, None, len(self.path), is_plain=True)
        )

    def attach(self, steps: Steps, extend: Callable[[Ways, tuple, dict[str, Any]], bool]) -> Ways | None:
        """The tree with this way in it: the one that is there, or a new one; None where it fits into neither."""
        if self.ways is not None and self.path[0] is not self.ways.first:
            return None
        ways = self.ways or Ways(self.path[0], extend)
        join(self.path)
        ways.ends += 1
        ways.has_draws |= self.whole.is_used
        ways.steps.append(steps)
        if self.is_late:
            ways.late += self.late
            ways.last_without = max(ways.runs, 1)
        return ways


def join(path: list[Piece]) -> None:
    """Makes each piece one of those that follow the one before."""
    for before, after in itertools.pairwise(path):
        if after not in before.following:
            before.following.append(after)


class Inputs:
    """The inputs of a program: leaves of the arguments, captured arrays, and steps, in this order."""

    def __init__(self, entries: list[Any]) -> None:
        self.entries = entries
        self.leaves = [value for _, _, (kind, value) in entries if kind == "leaf"]
        self.captured = [value for _, _, (kind, value) in entries if kind == "captured"]
        self.steps = [value for _, _, (kind, value) in entries if kind == "step"]

    def parameters(self) -> list[tuple[Any, str, int]]:
        from .trace import uniquely_named

        return uniquely_named([(tensor, name, -1) for tensor, name, _ in self.entries])
