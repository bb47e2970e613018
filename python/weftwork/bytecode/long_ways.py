"""Conditions of which a way takes long: it is the one turn of a loop that has none where the way is not taken.

Such a loop changes arrays where they are, as all loops do, and hands on the values of the variables where the ways meet. A way
is recorded with parameters in the place of the arrays that ways write.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from ..numpy.dispatch import broadcast_to
from ..numpy.maybe import Either, Maybe
from ..numpy.mixed import mark_of, marked
from ..numpy.shared_arrays import Side
from ..numpy.tracer import Storage, Tensor, TracedArray, as_tensor, wrap
from .branches import MOST_WORK_OF_A_CALL, Joined, Predicate, Undecided, bring_places_back, negated
from .frame import Frame
from .journal import WITHOUT
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


class JoinedTurns(Joined):
    """Values of two ways that run only where they are taken; ``born``: what is younger is made by one of them."""

    def __init__(self, trace: Any, second: TracedArray, select: Any, born: int) -> None:
        super().__init__(trace, second, select)
        self.born = born

    def apart(self, first: Any, second: Any) -> Either:
        ways = (second, lambda value, none: (value, none)), (first, lambda value, none: (none, value))
        return Either(self.second, *(self.handed_on(result, pair, {}) for result, pair in ways))

    def handed_on(self, value: Any, pair: Any, known: dict[int, Any]) -> Any:
        """A result of a way with what the loop hands on in the place of arrays and numbers that the way makes."""
        if id(value) not in known:
            known[id(value)] = self.each_handed_on(value, lambda part: self.handed_on(part, pair, known), pair)
        return known[id(value)]

    def each_handed_on(self, value: Any, part: Any, pair: Any) -> Any:
        mark = mark_of(self.trace, value)
        if mark is not None:
            python = mark.python if type(mark.python) is bool else part(mark.python)
            return marked(self.trace, part(mark.number), python, mark.kind)
        if isinstance(value, TracedArray):
            return value if value._storage.born < self.born else self.array_handed_on(value, pair)
        if type(value) in (tuple, list):
            return type(value)(map(part, value))
        if type(value) is dict:
            return {key: part(item) for key, item in value.items()}
        if type(value) is Maybe:
            return Maybe(part(value.missing), part(value.value), value.site)
        if type(value) is Either:
            return Either(*map(part, value))
        if not isinstance(value, WITHOUT):
            raise Undecided("a way that takes long gives an object")
        return value

    def array_handed_on(self, value: TracedArray, pair: Any) -> TracedArray:
        storage = value._storage
        if not value.scalar and (not Side(value).is_whole or storage.choice or storage.apart or storage.linked):
            raise Undecided("a way that takes long gives what shares memory")
        none = wrap(broadcast_to(as_tensor(0, np.dtype(value.dtype)), value.shape))
        made = self.select(self.second, *pair(value, none))
        made.weak, made.scalar = value.weak, value.scalar
        made._storage.strides, made._storage.parents = storage.strides, storage.parents
        return made


class LongWays(Maybes):
    """The part of a recorder that records ways which run only where they are taken."""

    def in_turns(self, f: Frame, fork: Fork, written: dict[int, tuple[Storage, Tensor]]) -> Any:
        begins, jumps = fork.begins, fork.jumps
        if any(w.at >= 0 and raises_surely(f.code, w.at) for w in begins):
            raise Undecided("ways that take long")
        born, writes, variables = next(Storage.births), list(written.values()), dict(f.locals)
        for storage, tensor in writes:
            storage.set_back(tensor)
        first, second = (self.turn_of(f, fork, begin, writes) for begin in begins)
        ways: list[Way | None] = [first.way, second.way]
        collected = Collected()
        self.meet(f, fork, ways, JoinedTurns(self.trace, jumps, collected.note, born), variables)
        bring_places_back(ways)
        if not (self.trace.loops or self.raises or is_little([a for a, _ in collected.pairs], writes)):
            raise Undecided("ways that take long and give large arrays")
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
        return self.meet(f, fork, ways, JoinedTurns(self.trace, jumps, collected.take, born), variables)

    def turn_of(self, f: Frame, fork: Fork, begin: Way, writes: list[tuple[Storage, Tensor]]) -> Turn:
        """Records a way with parameters in the place of arrays that are written."""
        outer, since = self.trace.predicate, _core.next_serial()
        parameters = [_core.parameter(tensor.shape, tensor.dtype, "array") for _, tensor in writes]
        for (storage, _), parameter in zip(writes, parameters, strict=True):
            storage.set_back(parameter)
        self.trace.predicate = predicate = Predicate(None, {}, outer)
        try:
            way = begin.go(self, f, fork)
            way.places = predicate.left()
            known = {id(storage) for storage, _ in writes}
            if not known.issuperset(predicate.written):
                raise Undecided("an array is written in a way that takes long, and was not before")
            return Turn(way, since, parameters, [storage.tensor for storage, _ in writes])
        finally:
            self.trace.predicate = outer
            predicate.undo()
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


def is_little(values: list[Tensor], writes: list[tuple[Storage, Tensor]]) -> bool:
    """Whether what a loop hands on is few elements, which take less time to carry than a call in pieces takes to begin."""
    extents = [tensor.shape for tensor in (*values, *(tensor for _, tensor in writes))]
    is_known = all(isinstance(extent, int) for shape in extents for extent in shape)
    return is_known and sum(map(math.prod, extents)) <= MOST_WORK_OF_A_CALL
