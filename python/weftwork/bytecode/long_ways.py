"""Conditions of which a way takes long: it is the one turn of a loop that has none where the way is not taken.

Such a loop changes arrays where they are, as all loops do, and hands on the values of the variables where the ways meet. A way
is recorded with parameters in the place of the arrays that ways write.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..numpy.dispatch import broadcast_to
from ..numpy.tracer import Storage, Tensor, TracedArray, as_tensor, wrap
from .branches import Joined, Predicate, Undecided, negated
from .frame import Frame
from .maybes import Maybes
from .postdominators import raises_surely
from .ways_out import Fork, Way

__all__ = ["LongWays"]

TRUTH = np.dtype(bool)


class Turn:
    """A way as the turn of a loop: where the frame was when it ended, and what it had written."""

    def __init__(self, way: Way, since: int, parameters: list[Tensor], after: list[Tensor]) -> None:
        self.way, self.since, self.parameters, self.after = way, since, parameters, after


class Collected:
    """Stands for the choice between two ways: notes what is chosen from, then gives what the loops handed on."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Tensor, Tensor]] = []  # of the first way and the second
        self.results: list[Tensor] = []

    def note(self, condition: Any, second: TracedArray, first: TracedArray) -> TracedArray:
        self.pairs.append((first.tensor, second.tensor))
        return wrap(_core.parameter(first.shape, first.dtype, "chosen"))

    def take(self, condition: Any, second: TracedArray, first: TracedArray) -> TracedArray:
        return wrap(self.results.pop(0))


class LongWays(Maybes):
    """The part of a recorder that records ways which run only where they are taken."""

    def in_turns(self, f: Frame, fork: Fork, written: dict[int, tuple[Storage, Tensor]]) -> Any:
        begins, jumps = fork.begins, fork.jumps
        if not (self.trace.loops or self.raises) or any(w.at >= 0 and raises_surely(f.code, w.at) for w in begins):
            raise Undecided("ways that take long")
        writes, variables = list(written.values()), dict(f.locals)
        for storage, tensor in writes:
            storage.set_back(tensor)
        first, second = (self.turn_of(f, fork, begin, writes) for begin in begins)
        ways: list[Way | None] = [first.way, second.way]
        collected = Collected()
        self.meet(f, fork, ways, Joined(self.trace, jumps, collected.note), variables)
        # A way without instructions gives what there was before.
        values = [broadcast_to(as_tensor(0, np.dtype(a.dtype)), a.shape) for a, _ in collected.pairs]
        for number, begin in enumerate(begins):
            if begin.is_empty(fork.meets):
                values = [pair[number] for pair in collected.pairs]
        arrays = [tensor for _, tensor in writes]
        for number, (turn, taken) in enumerate(((first, negated(jumps)), (second, jumps))):
            if not begins[number].is_empty(fork.meets):
                outputs = [pair[number] for pair in collected.pairs]
                results = self.run_turn(turn, self.where_taken(taken), values, outputs, arrays)
                values, arrays = results[: len(values)], results[len(values) :]
        for (storage, _), array in zip(writes, arrays, strict=True):
            storage.replace(array)
        collected.results = values
        return self.meet(f, fork, ways, Joined(self.trace, jumps, collected.take), variables)

    def turn_of(self, f: Frame, fork: Fork, begin: Way, writes: list[tuple[Storage, Tensor]]) -> Turn:
        """Records a way with parameters in the place of arrays that are written."""
        outer, since = self.trace.predicate, _core.next_serial()
        parameters = [_core.parameter(tensor.shape, tensor.dtype, "array") for _, tensor in writes]
        for (storage, _), parameter in zip(writes, parameters, strict=True):
            storage.set_back(parameter)
        self.trace.predicate = predicate = Predicate(None, {})
        try:
            way = begin.go(self, f, fork)
            known = {id(storage) for storage, _ in writes}
            if not known.issuperset(predicate.written):
                raise Undecided("an array is written in a way that takes long, and was not before")
            return Turn(way, since, parameters, [storage.tensor for storage, _ in writes])
        finally:
            self.trace.predicate = outer
            for storage, tensor in writes:
                storage.set_back(tensor)

    def run_turn(
        self, turn: Turn, taken: TracedArray, values: list[Tensor], outputs: list[Tensor], arrays: list[Tensor]
    ) -> list[Tensor]:
        """What the variables and arrays are behind a way that is taken or not."""
        given = [as_tensor(negated(taken), TRUTH), *values, *arrays]
        inside = [_core.parameter(v.shape, v.dtype, "value") for v in given[: 1 + len(values)]]
        ends = as_tensor(True, TRUTH)
        graph, captured = _core.record_region(
            [*inside, *turn.parameters], [ends, *outputs, *turn.after], turn.since, []
        )
        self.trace.loop_count += 1
        attrs = {"counter": f"way{self.trace.loop_count}", "first": (0,), "trips": (1,), "step": 1}
        attrs |= {"carried": len(given), "until": True}
        return _core.apply_all("for", [*given, *captured], attrs, [graph])[1:]
