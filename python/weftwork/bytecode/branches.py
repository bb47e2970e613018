"""Conditions on values in a loop that is kept as one: both ways are recorded, and where they meet each value is chosen.

This is if-conversion (Allen, Kennedy, Porterfield, Warren, POPL 1983): what a way writes to an array is stored where its
*predicate* holds, and what it looks at counts there alone. Both ways are computed at each turn, so they must be short, and
nothing else may come of them than elements of arrays and the values of variables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import _core
from ..errors import Error
from ..numpy.mixed import chosen
from ..numpy.tracer import Storage, Tensor, TracedArray, as_tensor, python_truth, wrap
from ..numpy.validity import can_note, note
from .frame import NULL, Frame
from .liveness import LOOKING, live_from
from .machine import COMPARE, RETURN, Machine, Stop
from .outside import Refused
from .postdominators import NEVER, RETURNS, meeting, raises_surely

__all__ = ["Branches", "Predicate"]

#: Elements that the ways of a condition may compute in all: about as long as Python takes for the condition alone.
MOST_WORK = 512
#: Conditions that are chosen by in the ways of one: `(a and b) or (c and d) or ...` has twice as many ways with each part.
MOST_INSIDE = 128
#: What leaves the frame, handles exceptions, or sets a variable that other functions see.
NOT_IN_A_WAY = frozenset(
    ("STORE_DEREF", "DELETE_DEREF", "YIELD_VALUE", "SEND", "YIELD_FROM", "SETUP_WITH", "BEFORE_WITH", "SETUP_FINALLY")
    + ("PUSH_EXC_INFO", "POP_EXCEPT", "RERAISE", "RAISE_VARARGS")
)


class Undecided(Stop):
    """The ways of a condition cannot be recorded both."""


class Predicate:
    """Whether the way that is recorded is the one taken, and what the ways have written: arrays, and what was there before."""

    def __init__(self, holds: TracedArray, written: dict[int, tuple[Storage, Tensor]]) -> None:
        self.holds, self.written = holds, written
        self.born = next(Storage.births)


class Way:
    """What a frame is at the beginning or end of a way."""

    def __init__(self, frame: Frame, signal: Any) -> None:
        self.stack, self.locals, self.signal = list(frame.stack), dict(frame.locals), signal
        self.at, self.state = frame.at, frame.state

    def bring_back(self, frame: Frame) -> None:
        frame.at, frame.state, frame.stack[:] = self.at, self.state, self.stack
        frame.locals.clear()
        frame.locals.update(self.locals)


class Branches(Machine):
    """The part of a recorder that chooses between ways."""

    trace: Any
    births: dict[int, tuple[int, Any]]

    def __init__(self) -> None:
        super().__init__()
        # Conditions on counters: the value, and what was compared.
        self.of_counters: dict[int, tuple[Tensor, str, Any, Any]] = {}
        self.inside = 0  # so many conditions were chosen by in the ways of the outermost

    def conditional_jump(self, f: Frame, i: Any, value: Any, when: bool, kept: tuple = ()) -> Any:
        condition = self.condition(value)
        if condition is None:
            return super().conditional_jump(f, i, value, when, kept)
        start, loops, stops = Way(f, None), list(self.trace.loops), self.stops
        outer = self.trace.predicate
        written: dict[int, tuple[Storage, Tensor]] = {} if outer is None else outer.written
        try:
            return self.choose(f, i, condition if when else negated(condition), kept, written)
        except Undecided:
            if outer is not None:
                raise
        # As if no way had been tried; what asks for the value says why it is not known.
        for storage, tensor in written.values():
            storage.set_back(tensor)
        start.bring_back(f)
        self.trace.loops[:], self.stops = loops, stops
        return super().conditional_jump(f, i, value, when, kept)

    def can_choose(self) -> bool:
        """Whether all that goes on is loops that are kept as one, their first turns too, and others of a program that has to be one."""
        loops, peeled = self.trace.loops, self.trace.peeled
        is_turn = bool(loops) or (peeled is not None and peeled() is not None)
        is_turn = is_turn or (self.raises and any(turns() is not None for turns in self.trace.written_out))
        return is_turn and all(hasattr(loop, "turns") for loop in loops)

    def condition(self, value: Any) -> TracedArray | None:
        """A truth value that only the run knows, where it can be chosen by; None elsewhere."""
        if not self.can_choose():
            return None
        if type(value) is _core.Dim:
            value = self.compare("!=", value, 0)
        if not isinstance(value, TracedArray) or not value.scalar or value.tensor.constant() is not None:
            return None
        return value if value.dtype == bool else wrap(as_tensor(value, np.dtype(bool)))

    def truth_value(self, value: Any) -> Any:
        condition = self.condition(value)
        return super().truth_value(value) if condition is None else python_truth(wrap(condition.tensor))

    def negation(self, value: Any) -> Any:
        condition = self.condition(value)
        return super().negation(value) if condition is None else python_truth(negated(condition))

    def choose(
        self, f: Frame, i: Any, jumps: TracedArray, kept: tuple, written: dict[int, tuple[Storage, Tensor]]
    ) -> Any:
        """Records both ways from a jump to where they meet; ``written``: arrays that they write, and what was there before."""
        at, outer = f.at - 1, self.trace.predicate
        meets = meeting(f.code, at)
        if meets == NEVER:
            raise Undecided("a condition that a loop goes on by")
        self.inside = 0 if outer is None else self.inside + 1
        if self.inside > MOST_INSIDE:
            raise Undecided("many conditions in a way")
        start, begun, effects = Way(f, None), _core.next_serial(), len(self.trace.effects)
        ways: list[Way | None] = []
        for holds, begin, more in ((negated(jumps), f.at, ()), (jumps, i.target, kept)):
            if raises_surely(f.code, begin):
                self.never(holds)
                ways.append(None)
                continue
            start.bring_back(f)
            f.at, f.stack[:] = begin, [*start.stack, *more]
            with self.way(holds, written):
                ways.append(self.follow(f, at, meets))
        if len(self.trace.effects) != effects:
            raise Undecided("ranks exchange arrays in a way")
        signal = self.meet(f, meets, ways, jumps, start.locals)
        if outer is None:
            self.require_short(begun, f, written)
        return signal

    def either(self, value: Any, a: Any, b: Any) -> Any:
        """``a`` where a value is true, ``b`` where it is not."""
        condition = self.condition(value)
        if condition is not None:
            try:
                return Joined(self.trace, condition).value(b, a)
            except Undecided:
                pass
        return a if self.truth(value) else b

    def never(self, holds: TracedArray) -> None:
        """A way that raises: the call then runs plainly."""
        if self.raises or not can_note(self.trace):
            raise Undecided("a way raises")
        note(self.trace, negated(holds))

    @contextmanager
    def way(self, holds: TracedArray, written: dict[int, tuple[Storage, Tensor]]) -> Iterator[None]:
        outer = self.trace.predicate
        inner = holds if outer is None else np.logical_and(outer.holds, holds)
        self.trace.predicate = Predicate(inner, written)
        try:
            yield
        finally:
            self.trace.predicate = outer

    def follow(self, f: Frame, at: int, meets: int) -> Way:
        """Runs a frame up to where the ways from the jump at ``at`` meet."""
        instructions, signal = f.code.instructions, None
        try:
            while f.at != meets and signal is None:
                f.instruction = instruction = instructions[f.at]
                goes_back = 0 <= instruction.target <= at and instruction.target != meets
                if instruction.name in NOT_IN_A_WAY or goes_back:
                    raise Undecided(f"{instruction.name} in a way")
                f.at += 1
                self.instructions += 1
                if self.instructions > self.most_instructions:
                    raise Undecided("too many instructions")
                signal = instruction.run(self, f, instruction)
        except (Refused, Exception) as error:
            raise Undecided(f"in a way: {error}") from error
        if signal is not None and (signal != RETURN or meets != RETURNS):
            raise Undecided("a way leaves the loop")
        return Way(f, signal)

    def meet(self, f: Frame, meets: int, ways: list[Way | None], second: TracedArray, variables: dict[str, Any]) -> Any:
        """Makes a frame what it is behind both ways; ``second``: whether the second one is taken."""
        taken = [way for way in ways if way is not None]
        if not taken:
            raise Undecided("both ways raise")
        f.at = meets
        if len(taken) == 1:
            taken[0].bring_back(f)
            return taken[0].signal
        first, other = taken
        joined = Joined(self.trace, second)
        f.locals.clear()
        if meets == RETURNS:
            f.locals.update(variables)
            f.state = joined.value(first.state, other.state)
            return RETURN
        if len(first.stack) != len(other.stack):
            raise Undecided("stacks of two depths")
        f.stack[:] = [joined.value(a, b) for a, b in zip(first.stack, other.stack, strict=True)]
        live = None if not LOOKING.isdisjoint(f.f_code.co_names) else live_from(f.code, meets)
        for name in {**first.locals, **other.locals}:
            a, b = first.locals.get(name, NULL), other.locals.get(name, NULL)
            if a is b:
                f.locals[name] = a
            elif live is None or name in live:
                f.locals[name] = joined.value(a, b)
            elif name in variables:
                f.locals[name] = variables[name]
        return None

    def require_short(self, begun: int, f: Frame, written: dict[int, tuple[Storage, Tensor]]) -> None:
        """What both ways compute is little, and nothing in it raises by itself."""
        results = [
            value.tensor for value in (*f.locals.values(), *f.stack, *flat(f.state)) if isinstance(value, TracedArray)
        ]
        outputs = [*results, *(storage.tensor for storage, _ in written.values())]
        if _core.element_work(outputs, begun) > MOST_WORK:
            raise Undecided("ways that take long")

    def require_of_way(self, value: Any) -> None:
        """Called before anything but an array is changed: in a way, what is older than it must not be."""
        predicate = self.trace.predicate
        if predicate is not None:
            known = self.births.get(id(value))
            if known is None or known[0] < predicate.born:
                raise Undecided("a way changes more than arrays and variables")

    # -- counters --------------------------------------------------------------------------------------------------

    def compare(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        """Of a counter a value, where its bounds do not decide it."""
        are_extents = type(lhs) is _core.Dim or type(rhs) is _core.Dim
        if not (are_extents and self.can_choose() and all(type(v) in (int, bool, _core.Dim) for v in (lhs, rhs))):
            return super().compare(symbol, lhs, rhs)
        try:
            return COMPARE[symbol](lhs, rhs)
        except Error:
            value = COMPARE[symbol](*(wrap(as_tensor(side, np.dtype(np.int64))) for side in (lhs, rhs)))
        self.of_counters[id(value.tensor)] = (value.tensor, symbol, lhs, rhs)
        return python_truth(value)

    def store_attribute(self, owner: Any, name: str, value: Any) -> None:
        if isinstance(owner, TracedArray):
            self.require_of_way(owner)
        super().store_attribute(owner, name, value)

    def undecided(self, value: Any) -> Any:
        """What nobody could choose by: a condition on a counter as Python has it, for its error."""
        known = self.of_counters.get(id(value.tensor)) if isinstance(value, TracedArray) else None
        return value if known is None else super().compare(*known[1:])


def negated(condition: TracedArray) -> TracedArray:
    return wrap(as_tensor(np.logical_not(condition)))


def said(value: Any) -> str:
    """What a value is, for an error."""
    if isinstance(value, TracedArray) and value.weak is not None:
        return f"a {value.weak.__name__} that is computed"
    if isinstance(value, TracedArray):
        return repr(value)
    return "unbound" if value is NULL else f"of type {type(value).__name__}"


def flat(value: Any) -> list[Any]:
    return [item for part in value for item in flat(part)] if type(value) is tuple else [value]


class Joined:
    """Values of two ways, each pair as one."""

    def __init__(self, trace: Any, second: TracedArray) -> None:
        self.trace, self.second = trace, second
        self.known: dict[tuple[int, int], Any] = {}

    def value(self, a: Any, b: Any) -> Any:
        if a is b:
            return a
        key = (id(a), id(b))
        if key not in self.known:
            self.known[key] = self.joined(a, b)
        return self.known[key]

    def joined(self, a: Any, b: Any) -> Any:
        if type(a) is type(b) is tuple and len(a) == len(b):
            return tuple(self.value(x, y) for x, y in zip(a, b, strict=True))
        found = chosen(self.trace, self.second, b, a)
        if found is None:
            raise Undecided(f"a value is {said(a)} or {said(b)}")
        return found
