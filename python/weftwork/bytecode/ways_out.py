"""Where ways of conditions begin and end, and what it is to leave a loop on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..numpy.early import LEFT, WAY
from ..numpy.loops import Turns
from ..numpy.places import Place
from ..numpy.tracer import TracedArray
from .frame import Frame
from .liveness import live_from
from .natural_loops import exits, landing, natural_loops
from .postdominators import meeting

__all__ = ["Bounds", "FirstTurn", "Fork", "Guard", "Left", "Several", "Way"]


class Left(NamedTuple):
    """What a way leaves in a place: what that was before it (see Place.state), and what it held before and holds now."""

    state: Any
    before: Any
    after: Any


class Way:
    """What a frame is at the beginning or end of a way, and which places the way has changed."""

    def __init__(self, frame: Frame, signal: Any) -> None:
        self.stack, self.locals, self.signal = list(frame.stack), dict(frame.locals), signal
        self.at, self.state = frame.at, frame.state
        self.places: dict[Place, Left] = {}

    def bring_back(self, frame: Frame) -> None:
        frame.at, frame.state, frame.stack[:] = self.at, self.state, self.stack
        frame.locals.clear()
        frame.locals.update(self.locals)

    def go(self, machine: Any, frame: Frame, fork: Fork) -> Way:
        """Runs the frame from here to where the ways meet."""
        self.bring_back(frame)
        return machine.follow(frame, fork)

    def is_empty(self, meets: int) -> bool:
        return self.at == meets


class FirstTurn(Way):
    """A turn of a ``while`` statement: it begins and ends with the same instruction."""

    def go(self, machine: Any, frame: Frame, fork: Fork) -> Way:
        self.bring_back(frame)
        frame.instruction = instruction = frame.code.instructions[self.at]
        frame.at += 1
        instruction.run.plain(machine, frame, instruction)  # type: ignore[attr-defined]
        return machine.follow(frame, fork)

    def is_empty(self, meets: int) -> bool:
        return False


class Several(Way):
    """The beginning of a way that goes on at one of several places."""

    def __init__(self, frame: Frame, behind: tuple[int, Any], options: list[tuple[Any, Way]], otherwise: Way) -> None:
        super().__init__(frame, None)
        self.at, self.behind, self.options, self.otherwise = -1, behind, options, otherwise

    def go(self, machine: Any, frame: Frame, fork: Fork) -> Way:
        signal = machine.go_on(frame, self.behind, self.options, self.otherwise)
        return machine.follow(frame, fork) if signal is None else machine.end_of_way(frame, fork.meets, signal)


class Bounds:
    """A loop that conditions may leave: its ways out end where the turn does, and it is handed on that they were taken."""

    is_of_turn = True

    def __init__(self, frame: Frame, header: int, stack: list[Any], places: dict[int, list[Any]]) -> None:
        # ``places``: where its ways out lead, those that are known, and which iterators of loops inside are on the stack there.
        self.code, self.header, self.stack, self.places = frame.code, header, stack, places
        inside = natural_loops(frame.code)[header]
        self.is_outside: Callable[[int], bool] = lambda at: at not in inside

    def meeting(self, at: int) -> int:
        return meeting(self.code, at, self.header)

    def live_behind(self) -> frozenset[str]:
        """What is read where the loop was left, or whether it was."""
        return frozenset([LEFT, WAY]).union(*(live_from(self.code, place) for place in self.places))

    def leave(self, frame: Frame) -> bool:
        """Notes that a way has left the loop; False where it leaves it with something on the stack."""
        place, depth = landing(self.code, frame.at), len(self.stack)
        more = frame.stack[depth:]
        if any(a is not b for a, b in zip(frame.stack, self.stack, strict=False)) or len(frame.stack) < depth:
            return False
        if not all(isinstance(item, Turns) for item in more):
            return False
        self.places[place] = more
        frame.stack[depth:] = []
        frame.locals |= {LEFT: True, WAY: list(self.places).index(place)}
        frame.at = self.header
        return True


class Guard(Bounds):
    """A ``while`` statement before its first turn: its condition decides whether there is one."""

    is_of_turn = False

    def __init__(self, frame: Frame, header: int, stack: list[Any], places: dict[int, list[Any]]) -> None:
        super().__init__(frame, header, stack, places)
        ends = exits(frame.code, header)
        self.is_outside = lambda at: landing(frame.code, at) in ends

    def meeting(self, at: int) -> int:
        return self.header


class Fork:
    """Two ways from the instruction ``at`` to where they meet; the second is taken where ``jumps`` holds.

    ``bounds``: the loop around, which ways may leave.
    """

    def __init__(self, at: int, meets: int, bounds: Bounds | None, first: Way, second: Way, jumps: TracedArray) -> None:
        self.at, self.meets, self.bounds = at, meets, bounds
        self.begins, self.jumps = (first, second), jumps
