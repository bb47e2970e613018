"""What the body of a loop that is recorded once leaves behind: lists that it appends to, variables that are read later."""

from __future__ import annotations

import types
from typing import Any

from ..numpy.mixed import mark_of
from ..numpy.shared_arrays import is_held
from .frame import Frame
from .liveness import LOOKING, live_from

__all__ = ["Appends"]

ATTRIBUTES = frozenset(["LOAD_METHOD", "LOAD_ATTR"])


class Appends:
    """The part of a recorder that knows which lists a loop does nothing with but append to, so that nobody can tell when it does."""

    trace: Any
    frame: Any
    births: dict[int, tuple[int, Any]]

    array_operand: Any
    name_of: Any
    appended_in_loops: Any
    asks_to_grow: Any
    is_older: Any
    keep_short_loop: Any
    raises: Any
    settle: Any

    def appends_a_row(self, function: Any, args: tuple) -> bool:
        """Whether a loop that is recorded once appends to a list that is older, which gets its rows when the loop is done."""
        if not self.trace.is_repeated or not is_append(function, "append" if args else "pop") or len(args) > 1:
            return False
        # No variable here has the list: who else has it is counted below.
        if not self.trace.loops:
            self.keep_short_loop(function.__self__)
        elif args:
            self.appended_in_loops(function.__self__, args[0])
            if mark_of(self.trace, args[0]) is not None and not self.raises:
                self.settle(args[0])
        elif function.__self__:
            self.asks_to_grow(function.__self__, function.__self__[-1])
        if not args or not self.trace.loops or self.trace.predicate is not None:
            return False
        loop = self.trace.loops[-1]
        if (
            not all(hasattr(outer, "turns") for outer in self.trace.loops)
            or not self.is_older(function.__self__, loop.born)
            or self.frame is not loop.frame
        ):
            return False
        for outer in self.trace.loops[:-1]:
            if self.is_older(function.__self__, outer.born):
                outer.fail(f"{self.name_of(function.__self__)} is changed in each turn")
        known = [
            self.births.get(id(function.__self__)),
            *(part for outer in self.trace.loops for part in (outer.entry, outer.at_begin, *outer.appended.arrays)),
        ]
        if not is_only_appended_to(function, self.frame, loop.turns.at, known):
            return False
        loop.appended.append(function.__self__, self.array_operand(args[0]))
        return True

    def is_read_later(self, turns: Any, name: str) -> bool:
        """Whether what a variable has at the end of a turn may be read, by the next turn or when the loop is done or left."""
        # Of a frame that Python runs that is not known.
        return (
            turns.at < 0
            or self.is_read_when_done(turns, name)
            or any(name in live_from(turns.frame.code, place) for place in turns.places)
        )

    @staticmethod
    def is_read_when_done(turns: Any, name: str) -> bool:
        frame = turns.frame
        is_seen = name in frame.cells or not LOOKING.isdisjoint(frame.f_code.co_names)
        return is_seen or name in live_from(frame.code, turns.at)


def is_append(function: Any, name: str = "append") -> bool:
    """Whether it is the method of a list."""
    return type(function) is types.BuiltinFunctionType and type(function.__self__) is list and function.__name__ == name


def is_only_appended_to(append: types.BuiltinFunctionType, frame: Frame, at: int, known: list[Any]) -> bool:
    """Whether one variable of the frame has the list of this method, and the loop that asks for its turns at this instruction only appends to it.

    ``known``: what may refer to the list beside that variable.
    """
    names = []
    for name, value in frame.locals.items():  # a comprehension would refer to the list by a cell
        if value is append.__self__:
            names.append(name)
    if len(names) != 1 or at < 0 or not LOOKING.isdisjoint(frame.f_code.co_names):
        return False
    return is_only_read_to_append(names[0], frame, at) and not is_held_by_others(append, [frame.locals, known, *known])


def is_only_read_to_append(name: str, frame: Frame, at: int) -> bool:
    instructions = frame.code.instructions
    for i in range(at, instructions[at].target):
        value = instructions[i].value
        if "FAST" not in instructions[i].name or (value != name and (type(value) is not tuple or name not in value)):
            continue
        is_last = value == name or (value[-1] == name and value[0] != name)
        following = instructions[i + 1]
        loads = (
            is_last and instructions[i].name.endswith(("LOAD_FAST", "LOAD_FAST_CHECK")) and following.name in ATTRIBUTES
        )
        if not loads or "append" not in (following.value if type(following.value) is tuple else (following.value,)):
            return False
    return True


def is_held_by_others(append: types.BuiltinFunctionType, known: list[Any]) -> bool:
    """Whether anything refers to the list of this method but what is known, methods of it, and Python's own frames."""
    is_known = lambda holder: is_append(holder) or type(holder) is types.FrameType
    return is_held(append.__self__, 1, known, is_known)
