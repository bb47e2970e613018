"""Loops that end as values say: ``while error > tolerance``, ``break``, ``return`` in a loop that is kept as one.

A condition that leaves a loop is one of a turn: both ways are recorded, one of which is that the loop is left, and the end of the
turn is where they meet (see branches.py). The loop hands on whether it was left, and ends there (``until`` in the graph). Behind
it, where ways out lead to different places, the program chooses between them as between other ways.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..numpy.early import LEFT, WAY
from ..numpy.endless import RangeByValues, While
from ..numpy.growing import GrownList
from ..numpy.loops import SHORT, Turns, is_library
from ..numpy.retry import Retry
from ..numpy.shared_arrays import Choice, identity
from ..numpy.tracer import TracedArray, as_tensor, python_truth, wrap
from .frame import Frame
from .iteration import COMPREHENSIONS
from .long_ways import LongWays
from .machine import GENERATOR
from .natural_loops import exits, guarded, innermost, landing, natural_loops
from .postdominators import meeting_of
from .ways_out import Bounds, FirstTurn, Fork, Guard, Several, Way

__all__ = ["EarlyExits"]


class EarlyExits(LongWays):
    """The part of a recorder that knows how loops are left."""

    def __init__(self) -> None:
        super().__init__()
        # Of while statements before their first turn: where their ways out lead; of those whose first turns are written out.
        self.entering: dict[tuple[Frame, int], dict[int, list[Any]]] = {}
        self.peeling: dict[tuple[Frame, int], While] = {}
        self.at_ends = 0  # so many conditions at the beginning or end of loops are being recorded
        # The jump back to a turn's beginning that was the last, and the turns that while statements have had so far.
        self.jumped_back: tuple[Frame, int] | None = None
        self.known_turns: dict[tuple[Frame, int], KnownTurns] = {}

    # -- conditions ------------------------------------------------------------------------------------------------

    def can_choose(self) -> bool:
        return (self.at_ends > 0 and self.are_kept()) or super().can_choose()

    def are_kept(self) -> bool:
        return all(hasattr(loop, "turns") for loop in self.trace.loops)

    @contextmanager
    def at_end(self) -> Iterator[None]:
        self.at_ends += 1
        try:
            yield
        finally:
            self.at_ends -= 1

    def conditional_jump(self, f: Frame, i: Any, value: Any, when: bool, kept: tuple = ()) -> Any:
        if type(value) is GrownList:
            value = value.is_filled()
        if not isinstance(value, TracedArray) or not value.scalar or value.tensor.constant() is not None:
            return super().conditional_jump(f, i, value, when, kept)
        header = guarded(f.code, f.at - 1)
        if header is None or not self.can_keep(f, header):
            self.keep_around(f, f.at - 1)
            return super().conditional_jump(f, i, value, when, kept)
        with self.at_end():
            signal = super().conditional_jump(f, i, value, when, kept)
        if f.at != header:
            self.entering.pop((f, header), None)
        return signal

    def can_keep(self, f: Frame, header: int) -> bool:
        is_generator = f.f_code.co_flags & GENERATOR
        return not is_generator and (f.f_code, header) not in self.trace.unrolled and self.are_kept()

    def keep_around(self, f: Frame, at: int) -> None:
        """A loop whose turns ask for values is recorded as one when the function is traced again: a ``while`` statement, or a
        short ``for`` statement that may be left.
        """
        header = innermost(f.code, at)
        if header is None or f.f_code.co_flags & GENERATOR or not self.are_kept():
            return
        if f.code.instructions[header].name != "FOR_ITER":
            site = None if self.turns_at(f, header) is not None else (f.f_code, header)
        else:
            written_out = [turns for ref in self.trace.written_out if (turns := ref()) is not None]
            site = next((turns.site for turns in written_out if turns.frame is f and turns.at == header), None)
            if not exits(f.code, header) - {landing(f.code, f.code.instructions[header].target)}:
                return
        if site is not None and site not in self.trace.peels and site not in self.trace.unrolled:
            raise Retry(site, "a value decides in it", keep=True)

    def bounds(self, f: Frame, at: int) -> Bounds | None:
        f.locals.setdefault(LEFT, False)
        f.locals.setdefault(WAY, 0)
        header = guarded(f.code, at)
        if header is not None and self.can_keep(f, header):
            self.trace.decided = (f.f_code, header)
            return Guard(f, header, list(f.stack), self.entering.setdefault((f, header), {}))
        turns = self.turns_around(f, at)
        if turns is not None:
            self.trace.decided = turns.site
        return bounds_of(f, turns)

    def turns_around(self, f: Frame, at: int) -> Turns | None:
        """The innermost loop around an instruction that is recorded, or whose first turns are written out."""
        peeled = self.trace.peeled
        every = [
            peeled() if peeled is not None else None,
            *(loop.turns for loop in self.trace.loops if hasattr(loop, "turns")),
        ]
        loops = natural_loops(f.code)
        around = [t for t in every if t is not None and t.at >= 0 and t.frame is f and at in loops[t.at]]
        return min(around, key=lambda turns: len(loops[turns.at]), default=None)

    def conditions_of(self, array: TracedArray) -> list[TracedArray]:
        """What says which of two arrays one is, where that shows; else the loop of the condition is written out."""
        choice = array._storage.choice
        if choice is None or not choice.shows(array):
            return []
        if not choice.is_computed:
            self.write_out_choice(choice)
        return choice.conditions()

    def write_out_choice(self, choice: Choice) -> Any:
        """The loop whose condition decides is not one of a program."""
        if choice.site is None or choice.site in self.trace.unrolled:
            self.refuse("which of two arrays a variable has shows")
        raise Retry(choice.site, "which of two arrays a variable has shows")

    def same_of_chosen(self, lhs: TracedArray, rhs: TracedArray) -> Any:
        """Whether two arrays, of which a condition has chosen one, are one object."""
        for one, other in ((lhs, rhs), (rhs, lhs)):
            found = identity(one, other)
            if found is not None:
                return found
        for array in (lhs, rhs):
            if array._storage.choice is not None:
                return self.write_out_choice(array._storage.choice)
            if array._storage.apart not in (True, False):
                raise Retry(array._storage.apart, "which of two arrays a variable has shows")
        return self.refuse("which of two arrays a variable has shows")

    def range_by_values(self, args: tuple) -> RangeByValues | None:
        """The range that a ``for`` statement asks for next, where the program computes a bound of it."""
        f = self.frame
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3] if args else (0, 0, 0)
        is_computed = any(isinstance(v, TracedArray) and v.tensor.constant() is None for v in (start, stop))
        if f is None or not is_computed or type(step) is not int or not step:
            return None
        bounds = [self.number_operand(bound) for bound in (start, stop)]
        if not all(
            type(v) is int or (isinstance(v, TracedArray) and v.scalar and v.dtype.kind in "iu") for v in bounds
        ):
            return None
        following = f.code.instructions[f.at : f.at + 2]
        site = (f.f_code.co_filename, following[0].line)
        if [i.name for i in following] != ["GET_ITER", "FOR_ITER"] or f.f_code.co_name in COMPREHENSIONS:
            return None
        if site in self.trace.unrolled or f.f_code.co_flags & GENERATOR or not self.are_kept():
            return None
        first, last = (wrap(as_tensor(bound, np.dtype(np.int64))) for bound in bounds)
        return RangeByValues(first, last, step)

    # -- turns -----------------------------------------------------------------------------------------------------

    def turns_at(self, f: Frame, at: int) -> While | None:
        for loop in reversed(self.trace.loops):
            turns = getattr(loop, "turns", None)
            if isinstance(turns, While) and turns.frame is f and turns.at == at:
                return turns
        return self.peeling.get((f, at))

    def require_left(self, f: Frame, at: int) -> None:
        """Called where a turn of a loop begins: a loop inside of it that is being recorded was left, as Python knew in its turn."""
        loop = self.trace.loops[-1]
        turns = getattr(loop, "turns", None)
        if turns is not None and turns.frame is f and turns.at >= 0 and at not in natural_loops(f.code)[turns.at]:
            loop.left_early()

    def next_of(self, frame: Frame, iterator: Any) -> Any:
        if self.trace.loops:
            self.require_left(frame, frame.at - 1)
        return super().next_of(frame, iterator)

    def at_header(self, f: Frame, at: int) -> tuple[Any] | None:
        if self.trace.loops:
            self.require_left(f, at)
        turns = self.turns_at(f, at)
        if turns is not None and turns.loop is not None:
            return None if turns.loop.end() is not None else (self.behind(f, turns),)
        places = self.entering.pop((f, at), None)
        if turns is None:
            if not self.can_keep(f, at):
                return None
            if places is None and (f.f_code, at) not in self.trace.peels:
                self.count_turn(f, at)
                return None
            turns = While(f, at, places or {})
        if turns.peeled < self.trace.peels.get(turns.site, 0):
            turns.peeled += 1
            self.peeling[f, at] = turns
            self.trace.peeled = weakref.ref(turns)
            left = f.locals.get(LEFT, False)
            return None if left is False else (self.turn_unless(f, turns, left),)
        self.peeling.pop((f, at), None)
        turns.begin()
        return None

    def back_edge(self, frame: Frame) -> None:
        self.jumped_back = frame, frame.at
        super().back_edge(frame)

    def count_turn(self, f: Frame, at: int) -> None:
        """A while statement whose condition Python knows is recorded as one loop if it has as many turns as a for statement that is,
        or asks for values in one.
        """
        came_back, self.jumped_back = self.jumped_back == (f, at), None
        asked = self.session.count if self.session is not None else 0
        if not came_back:
            self.known_turns[f, at] = KnownTurns(arrays_in(f), asked)
            return
        known = self.known_turns.get((f, at))
        if known is None or is_library(f.f_code.co_filename):
            return
        known.count += 1
        has_many = known.count >= SHORT and arrays_in(f) != known.arrays
        if asked > known.asked or has_many:
            reason = "it has many turns" if has_many else "its turns ask for values"
            raise Retry((f.f_code, at), reason, keep=True, known=True)

    def turn_unless(self, f: Frame, turns: While, left: TracedArray) -> Any:
        """Records a first turn that is written out, which is none where the loop was left before it."""
        turn, none = FirstTurn(f, None), Way(f, None)
        for way, is_left in ((turn, False), (none, True)):
            way.at, way.locals[LEFT] = turns.at, is_left
        fork = Fork(turns.at, turns.at, bounds_of(f, turns), turn, none, left)
        found = self.attempted(f, lambda written: self.both(f, fork, written))
        if found is None:
            raise Retry(turns.site, "its first turns may be the last")
        return found[0]

    def end_of_loop(self, f: Frame, i: Any) -> Any:
        turns = f.stack[-1]
        super().end_of_loop(f, i)
        if not isinstance(turns, Turns) or turns.loop is None or not turns.places:
            return None
        return self.behind(f, turns, Way(f, None))

    # -- behind loops ----------------------------------------------------------------------------------------------

    def behind(self, f: Frame, turns: Turns, done: Way | None = None) -> Any:
        """Goes on where a loop was left; ``done``: where that is after its last turn."""
        assert turns.loop is not None
        early = turns.loop.early
        f.locals |= {LEFT: False, WAY: 0}
        options: list[tuple[Any, Way]] = []
        for number, (place, iterators) in enumerate(turns.places.items()):
            is_this = early.left if len(turns.places) == 1 else python_truth(early.way == number)
            if done is not None and len(turns.places) > 1:
                is_this = python_truth(np.logical_and(early.left, is_this))
            way = Way(f, None)
            way.at, way.stack = place, [*turns.stack, *iterators]
            options.append((is_this, way))
        if done is None:
            done = options.pop()[1]
        else:
            done.locals = dict(f.locals)
        return self.go_on(f, (turns.at, turns.site), options, done)

    def go_on(self, f: Frame, behind: tuple[int, Any], options: list[tuple[Any, Way]], otherwise: Way) -> Any:
        """Goes on at one of several places, behind a loop with this header and site."""
        at, site = behind
        ways = [*(way for _, way in options), otherwise]
        for way in ways:
            settle(f, way)
        if all((way.at, len(way.stack)) == (otherwise.at, len(otherwise.stack)) for way in ways):
            otherwise.bring_back(f)
            return None
        for way in ways:
            if way.at <= at:
                # By ``continue``, whose test is the header of a loop around the one that was left.
                self.keep_around(f, way.at)
        self.trace.decided = site
        holds, first = options[0]
        rest = otherwise if len(options) == 1 else Several(f, behind, options[1:], otherwise)
        bounds = bounds_of(f, self.turns_around(f, at))
        meets = meeting_of(f.code, [way.at for way in ways], None if bounds is None else bounds.header)
        if self.are_kept() and holds.tensor.constant() is None:
            with self.at_end():
                fork = Fork(at, meets, bounds, rest, first, holds)
                found = self.attempted(f, lambda written: self.both(f, fork, written))
            if found is not None:
                return found[0]
        if self.truth(holds):
            first.bring_back(f)
            return None
        return self.go_on(f, behind, options[1:], otherwise) if len(options) > 1 else rest.bring_back(f)


class KnownTurns:
    """How often the turns of a while statement have begun again, the arrays that there were before the first, and how many values
    had been asked for.
    """

    def __init__(self, arrays: dict[str, tuple[Any, int]], asked: int) -> None:
        self.arrays, self.asked, self.count = arrays, asked, 0


def arrays_in(f: Frame) -> dict[str, tuple[Any, int]]:
    return {n: (v._storage, v._storage.version) for n, v in f.locals.items() if isinstance(v, TracedArray)}


def bounds_of(f: Frame, turns: Turns | None) -> Bounds | None:
    return None if turns is None else Bounds(f, turns.at, turns.stack, turns.places)


def settle(f: Frame, way: Way) -> None:
    """Goes on by jumps and what takes iterators from the stack."""
    while f.code.instructions[way.at].name in ("POP_TOP", "POP_ITER", "END_FOR") or landing(f.code, way.at) != way.at:
        here = landing(f.code, way.at)
        if here == way.at:
            way.stack.pop()
            here += 1
        way.at = here
