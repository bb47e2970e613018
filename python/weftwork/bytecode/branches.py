"""Conditions on values, in loops that are kept as one and outside of them: both ways are recorded, and where they meet each value is chosen.

This is if-conversion (Allen, Kennedy, Porterfield, Warren, POPL 1983): what a way writes to an array is stored where its
*predicate* holds, and what it looks at counts there alone. Both ways are computed at each turn, so they must be short, and
nothing else may come of them than elements of arrays and the values of variables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import _core
from ..errors import Error
from ..numpy.early import LEFT, WAY
from ..numpy.growing import GrownList
from ..numpy.maybe import Either, Maybe, holds_maybe
from ..numpy.mixed import chosen
from ..numpy.places import Entry, Place
from ..numpy.tracer import Storage, Tensor, TracedArray, as_tensor, python_truth, wrap
from ..numpy.validity import can_note, note
from ..pytree import items_of
from .frame import NULL, Frame
from .journal import Journal
from .liveness import LOOKING, live_from
from .machine import COMPARE, RETURN, Machine, Stop
from .outside import Refused
from .postdominators import NEVER, RETURNS, meeting, raises_surely
from .ways_out import Bounds, Fork, Left, Way

__all__ = ["Branches", "Predicate"]

#: Elements that the ways of a condition may compute in all: about as long as Python takes for the condition alone.
MOST_WORK = 512
#: The same of conditions outside of loops, where a call that is no program takes microseconds more.
MOST_WORK_OF_A_CALL = 2048
#: Conditions that are chosen by in the ways of one: `(a and b) or (c and d) or ...` has twice as many ways with each part.
MOST_INSIDE = 128
#: Conditions whose ways go on to the end of the function, in the ways of one.
MOST_APART = 8
#: Times that a condition outside of loops is chosen by: a loop that Python runs would make a program of all its turns.
MOST_TIMES = 64
#: What leaves the frame, handles exceptions, or unbinds a variable that other functions see.
NOT_IN_A_WAY = frozenset(
    ("DELETE_DEREF", "YIELD_VALUE", "SEND", "YIELD_FROM", "SETUP_WITH", "BEFORE_WITH", "SETUP_FINALLY")
    + ("PUSH_EXC_INFO", "POP_EXCEPT", "RERAISE", "RAISE_VARARGS")
)


class Undecided(Stop):
    """The ways of a condition cannot be recorded both."""


class Unlike(Undecided):
    """They can, and leave what is not one value."""


class Predicate:
    """Whether the way that is recorded is the one taken, and what the ways have written: arrays and places, and what was there before.

    ``holds`` is None in a way that runs only where it is taken, see long_ways.py. ``is_long``: it may take long, as it is of that
    kind, or is the rest of a turn that may leave its loop, which is computed in vain once; conditions in it count by themselves.
    ``outer``: of the way around.
    """

    def __init__(
        self,
        holds: TracedArray | None,
        written: dict[int, tuple[Storage, Tensor]],
        outer: Predicate | None,
        is_long: bool = True,
    ) -> None:
        self.holds, self.written, self.outer, self.is_long = holds, written, outer, is_long
        self.born = next(Storage.births)
        #: Where each way leaves containers of its own.
        self.journal: Journal | None = None
        self.joins = True  # the other way meets it before the function returns
        self.places: dict[Place, tuple[Any, Any]] = {}  # what they were, see Place.state, and held

    def left(self) -> dict[Place, Left]:
        """What the places hold that the way has changed."""
        return {place: Left(state, before, place.read()) for place, (state, before) in self.places.items()}

    def has_whole(self, container: Any) -> bool:
        """Whether a container is as it was as a whole when the way has been recorded."""
        return self.journal is not None and id(container) in self.journal.entries

    def undo(self) -> None:
        if self.journal is not None:
            self.journal.undo()
        for place, (state, _) in self.places.items():
            place.bring_back(state)


#: In the place of a loop that is to be written out: Python asks for the values of conditions outside of loops.
CONDITIONS = ("if", 0)


class Appended:
    """How many elements lists that grow may have so far."""

    def __init__(self, lists: list[GrownList]) -> None:
        self.counts = [(grown, grown.in_pass, grown.before, grown.pass_) for grown in lists]

    def bring_back(self) -> None:
        for grown, in_pass, before, pass_ in self.counts:
            grown.in_pass, grown.before, grown.pass_ = in_pass, before, pass_


class Before:
    """What a recording was before ways were tried; ``written``: arrays that ways around have written, and what was there before."""

    def __init__(self, recorder: Branches, f: Frame, written: dict[int, tuple[Storage, Tensor]]) -> None:
        self.recorder, self.frame, self.begin, self.written = recorder, f, Way(f, None), written
        self.loops, self.effects = list(recorder.trace.loops), list(recorder.trace.effects)
        self.appended = Appended(recorder.grown)
        self.stops, self.tensors = recorder.stops, {key: storage.tensor for key, (storage, _) in written.items()}

    def bring_back(self) -> None:
        for key, (storage, tensor) in list(self.written.items()):
            storage.set_back(self.tensors.get(key, tensor))
            if key not in self.tensors:
                del self.written[key]
        self.begin.bring_back(self.frame)
        self.appended.bring_back()
        trace = self.recorder.trace
        trace.loops[:], trace.effects[:], self.recorder.stops = self.loops, self.effects, self.stops


class Branches(Machine):
    """The part of a recorder that chooses between ways."""

    trace: Any
    session: Any
    grown: list[GrownList]
    bakes: bool
    is_older: Callable[[Any, int], bool]
    note_change: Callable[[Place], None]
    overlay: dict[Any, Any]
    mirrors: dict[int, Any]
    copies: dict[int, Any]
    opaque: dict[int, Any]
    seen: dict[int, Any]

    def __init__(self) -> None:
        super().__init__()
        # Conditions on counters: the value, and what was compared.
        self.of_counters: dict[int, tuple[Tensor, str, Any, Any]] = {}
        self.has_chosen = False  # by a condition outside of loops
        self.apart = 0  # so many conditions had ways that went on apart, in the outermost
        self.inside = 0  # so many conditions were chosen by in the ways of the outermost
        self.come_by: Counter[tuple[Any, int]] = Counter()  # conditions outside of loops that are kept as one

    def conditional_jump(self, f: Frame, i: Any, value: Any, when: bool, kept: tuple = ()) -> Any:
        condition = self.condition(value)
        if condition is None:
            return super().conditional_jump(f, i, value, when, kept)
        jumps = condition if when else negated(condition)
        found = self.attempted(f, lambda written: self.choose(f, i, jumps, kept, written))
        return super().conditional_jump(f, i, value, when, kept) if found is None else found[0]

    def attempted(self, f: Frame, record: Callable[[dict[int, tuple[Storage, Tensor]]], Any]) -> tuple[Any] | None:
        """How the frame gives back control after both ways were recorded; None, and as if no way had been tried, where they cannot be."""
        is_outside, outer = not self.is_in_turn(), self.trace.predicate
        written: dict[int, tuple[Storage, Tensor]] = {} if outer is None else outer.written
        before = Before(self, f, written)
        try:
            found = (record(written),)
            self.has_chosen |= is_outside
            return found
        except Undecided:
            if outer is not None:
                raise
        # What asks for the value says why it is not known.
        before.bring_back()
        return None

    def can_choose(self) -> bool:
        """Whether all that goes on is loops that are kept as one, their first turns too, or Python need not have values of conditions outside of loops."""
        need_not_ask = self.raises or (self.session is not None and CONDITIONS not in self.trace.unrolled)
        return (need_not_ask or self.is_in_turn()) and all(hasattr(loop, "turns") for loop in self.trace.loops)

    def is_in_turn(self) -> bool:
        """Whether a turn of a loop is recorded, or its first one before it."""
        peeled = self.trace.peeled
        return bool(self.trace.loops) or (peeled is not None and peeled() is not None)

    def condition(self, value: Any) -> TracedArray | None:
        """A truth value that only the run knows, where it can be chosen by; None elsewhere."""
        if not self.can_choose():
            return None
        if type(value) is GrownList:
            value = value.is_filled()
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

    def bounds(self, f: Frame, at: int) -> Bounds | None:
        """What the ways from a jump may be left for, beside where they meet: the loop that goes on there."""
        return None

    def choose(
        self, f: Frame, i: Any, jumps: TracedArray, kept: tuple, written: dict[int, tuple[Storage, Tensor]]
    ) -> Any:
        """Records both ways from a jump to where they meet; ``written``: arrays that they write, and what was there before."""
        at = f.at - 1
        if not self.trace.loops and not any(turns() is not None for turns in self.trace.written_out):
            self.come_by[f.f_code, at] += 1
            if self.come_by[f.f_code, at] > MOST_TIMES:
                raise Undecided("a condition that comes by often")
        bounds = self.bounds(f, at)
        meets = meeting(f.code, at) if bounds is None else bounds.meeting(at)
        first, second = Way(f, None), Way(f, None)
        second.at = i.target
        second.stack += kept
        before = Before(self, f, written)
        try:
            return self.both(f, Fork(at, meets, bounds, first, second, jumps), written)
        except Unlike as error:
            if not self.can_go_on_apart(meets, bounds):
                raise Undecided(*error.args) from error
        before.bring_back()
        return self.both(f, Fork(at, RETURNS, None, first, second, jumps), written)

    def can_go_on_apart(self, meets: int, bounds: Bounds | None) -> bool:
        """Whether ways that leave what is not one value may each go on to where the function returns."""
        if self.trace.predicate is None and self.apart <= MOST_APART:  # of a function with more, none are tried again
            self.apart = 0
        self.apart += 1
        is_outside = bounds is None and not self.is_in_turn() and not self.bakes
        return is_outside and meets not in (RETURNS, NEVER) and self.apart <= MOST_APART

    def both(self, f: Frame, fork: Fork, written: dict[int, tuple[Storage, Tensor]]) -> Any:
        """Records two ways, both of which are computed."""
        bounds, jumps, outer = fork.bounds, fork.jumps, self.trace.predicate
        if fork.meets == NEVER:
            raise Undecided("a condition that a loop goes on by")
        self.inside = 0 if outer is None else self.inside + 1
        if self.inside > MOST_INSIDE:
            raise Undecided("many conditions in a way")
        start, begun, effects = Way(f, None), _core.next_serial(), len(self.trace.effects)
        appended = Appended(self.grown)
        before = {key: (storage, storage.tensor) for key, (storage, _) in written.items()}
        leaves = bounds is not None and bounds.is_of_turn and any(bounds.is_outside(begin.at) for begin in fork.begins)
        ways: list[Way | None] = []
        for holds, begin in zip((negated(jumps), jumps), fork.begins, strict=True):
            if begin.at >= 0 and raises_surely(f.code, begin.at):
                self.never(holds)
                ways.append(None)
                continue
            with self.way(f, fork, holds, written, leaves):
                way = self.with_containers(f, fork, begin.go(self, f, fork))
                way.places = self.trace.predicate.left()
            ways.append(way)
        if len(self.trace.effects) != effects:
            raise Undecided("ranks exchange arrays in a way")
        signal = self.meet(f, fork, ways, Joined(self.trace, jumps), start.locals)
        is_counted = (outer is None or outer.is_long) and not leaves
        changed = [place.read() for way in taken_of(ways) for place in way.places]
        if is_counted and not self.is_short(begun, f, changed, [storage for storage, _ in written.values()]):
            start.bring_back(f)
            appended.bring_back()
            bring_places_back(ways)
            return self.in_turns(f, fork, {**written, **before})
        return signal

    def in_turns(self, f: Frame, fork: Fork, written: dict[int, tuple[Storage, Tensor]]) -> Any:
        """Records ways that are too long to be computed both."""
        raise Undecided("ways that take long")

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

    def where_taken(self, holds: TracedArray) -> TracedArray:
        """Whether a way in the one that is recorded is taken: both are."""
        return holds if self.trace.taken is None else np.logical_and(self.trace.taken, holds)

    @contextmanager
    def way(
        self, f: Frame, fork: Fork, holds: TracedArray, written: dict[int, tuple[Storage, Tensor]], is_long: bool
    ) -> Iterator[None]:
        outer = self.trace.predicate
        self.trace.predicate = predicate = Predicate(self.where_taken(holds), written, outer, is_long)
        predicate.journal = None if self.is_in_turn() or self.bakes else Journal()
        predicate.joins = fork.meets != RETURNS or f.caller is not None
        try:
            yield
        finally:
            self.trace.predicate = outer
            predicate.undo()

    def with_containers(self, f: Frame, fork: Fork, way: Way) -> Way:
        """A way that has changed containers gives the function's result, and that with copies of them."""
        journal = self.trace.predicate.journal
        if journal is None or not journal.entries:
            return way
        if fork.meets != RETURNS or f.caller is not None:
            raise Unlike("a way changes a container")
        held = [*(stored[2] for stored in self.overlay.values()), *(mirror.copy for mirror in self.mirrors.values())]
        try:
            if journal.is_in(held):
                raise LookupError
            way.state = journal.copied(way.state, {id(mirror.copy): mirror.copy for mirror in self.mirrors.values()})
        except LookupError:
            raise Undecided("a way changes a container that others hold") from None
        return way

    def follow(self, f: Frame, fork: Fork) -> Way:
        """Runs a frame up to where the ways meet, or out of the loop."""
        at, meets, bounds = fork.at, fork.meets, fork.bounds
        instructions, signal = f.code.instructions, None
        try:
            while f.at != meets and signal is None:
                if bounds is not None and bounds.is_outside(f.at):
                    if not bounds.leave(f):
                        raise Undecided("a loop is left within an expression")
                    break
                if f.at <= at:
                    raise Undecided("another turn of a loop in a way")
                f.instruction = instruction = instructions[f.at]
                if instruction.name in NOT_IN_A_WAY:
                    raise Undecided(f"{instruction.name} in a way")
                f.at += 1
                self.instructions += 1
                if self.instructions > self.most_instructions:
                    raise Undecided("too many instructions")
                signal = instruction.run(self, f, instruction)
        except (Refused, Exception) as error:
            raise Undecided(f"in a way: {error}") from error
        return self.end_of_way(f, meets, signal)

    @staticmethod
    def end_of_way(f: Frame, meets: int, signal: Any) -> Way:
        if signal is not None and (signal != RETURN or meets != RETURNS):
            raise Undecided("a way leaves the loop")
        return Way(f, signal)

    def meet(self, f: Frame, fork: Fork, ways: list[Way | None], joined: Joined, variables: dict[str, Any]) -> Any:
        """Makes a frame what it is behind both ways; ``variables``: those before them."""
        meets, bounds = fork.meets, fork.bounds
        taken = taken_of(ways)
        if not taken:
            raise Undecided("both ways raise")
        f.at = meets
        if len(taken) == 1:
            taken[0].bring_back(f)
            self.put({place: left.after for place, left in taken[0].places.items()})
            return taken[0].signal
        first, other = taken
        f.locals.clear()
        if meets == RETURNS:
            f.locals.update(variables)
            f.state = self.joined_result(f, joined, first.state, other.state)
            self.require_handed_on(f)
            self.put(joined.places(first, other))
            return RETURN
        if len(first.stack) != len(other.stack):
            raise Unlike("stacks of two depths")
        f.stack[:] = [joined.value(a, b) for a, b in zip(first.stack, other.stack, strict=True)]
        live = None if not LOOKING.isdisjoint(f.f_code.co_names) else live_where(f, meets, bounds)
        is_end = bounds is not None and live is not None and meets == bounds.header
        gone = [is_end and way.locals.get(LEFT) is True for way in (first, other)]
        behind = frozenset() if bounds is None or not any(gone) else bounds.live_behind()
        for name in {**first.locals, **other.locals}:
            a, b = first.locals.get(name, NULL), other.locals.get(name, NULL)
            if a is b:
                f.locals[name] = a
            elif any(gone) and name not in behind:
                # The next turn alone would read it.
                f.locals[name] = b if gone[0] else a
            elif live is None or name in live:
                f.locals[name] = joined.value(a, b)
            elif name in variables:
                f.locals[name] = variables[name]
        self.require_handed_on(f)
        self.put(joined.places(first, other))
        return None

    def put(self, values: dict[Place, Any]) -> None:
        """Makes places what they are behind both ways."""
        for place, value in values.items():
            self.note_change(place)
            place.put(value)

    def joined_result(self, f: Frame, joined: Joined, first: Any, second: Any) -> Any:
        """What a function returns after either way; from the whole function that may be anything."""
        try:
            return joined.value(first, second)
        except Undecided:
            if f.caller is not None or self.bakes:
                raise
            return joined.apart(first, second)

    def require_handed_on(self, f: Frame) -> None:
        """Values that may be None are only where a program can have them."""

    def is_short(self, begun: int, f: Frame, changed: list[Any], storages: list[Storage]) -> bool:
        """Whether what both ways compute is little; ``changed``: what is in places that they have changed."""
        values = (*f.locals.values(), *f.stack, *flat(f.state), *changed)
        results = [value.tensor for value in values if isinstance(value, TracedArray)]
        most = MOST_WORK if self.is_in_turn() else MOST_WORK_OF_A_CALL
        return _core.element_work([*results, *(storage.tensor for storage in storages)], begun) <= most

    def require_of_way(self, value: Any, is_container: bool = False) -> None:
        """Called before anything but an array is changed: in a way, what is older than it must not be, but for the function's own containers."""
        predicate = self.trace.predicate
        if predicate is not None and self.is_older(value, predicate.born):
            journal, is_own = predicate.journal, is_container and not self.is_of_surroundings(value)
            if journal is None or not is_own or not journal.can_note(value):
                raise Undecided("a way changes more than arrays and variables")
            journal.note(value)

    def note_in_way(self, predicate: Predicate, place: Place) -> None:
        """Called before what a place holds is changed in a way."""
        journal, owner = predicate.journal, place.owner
        if type(place) is Entry and not (predicate.joins or self.is_of_surroundings(owner)) and journal is not None:
            if not journal.can_note(owner):
                raise Undecided("a way changes a container that cannot be as it was")
            journal.note(owner)
        elif place not in predicate.places:
            predicate.places[place] = place.state(), place.read()

    def is_of_surroundings(self, container: Any) -> bool:
        """Whether the function was given a container, or found it outside."""
        return any(id(container) in known for known in (self.copies, self.opaque, self.seen))

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


def live_where(f: Frame, meets: int, bounds: Bounds | None) -> frozenset[str]:
    """The variables that may be read where ways meet, or behind the loop that some have left."""
    behind = frozenset([LEFT, WAY]) if bounds is None or meets != bounds.header else bounds.live_behind()
    return behind | live_from(f.code, meets)


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
    if type(value) is Maybe:
        return [value.value]
    is_container = type(value) in (tuple, list, dict, Either)
    return [item for part in items_of(value) for item in flat(part)] if is_container else [value]


def taken_of(ways: list[Way | None]) -> list[Way]:
    """Those that do not raise."""
    return [way for way in ways if way is not None]


def bring_places_back(ways: list[Way | None]) -> None:
    """Makes the places that ways have changed what they were before them."""
    for way in taken_of(ways):
        for place, left in way.places.items():
            place.bring_back(left.state)


class Joined:
    """Values of two ways, each pair as one."""

    def __init__(self, trace: Any, second: TracedArray, select: Any = np.where) -> None:
        # ``second``: whether the second is taken.
        self.trace, self.second, self.select = trace, second, select
        self.known: dict[tuple[int, int], Any] = {}

    def value(self, a: Any, b: Any) -> Any:
        if a is b:
            return a
        key = (id(a), id(b))
        if key not in self.known:
            self.known[key] = self.joined(a, b)
        return self.known[key]

    def places(self, first: Way, second: Way) -> dict[Place, Any]:
        """What places hold behind both ways."""
        found = {}
        for place, (_, before, _) in {**first.places, **second.places}.items():
            none = Left(None, before, before)
            found[place] = self.value(first.places.get(place, none).after, second.places.get(place, none).after)
            if holds_maybe(found[place]):
                raise Unlike("a place may be None")
        return found

    def apart(self, first: Any, second: Any) -> Either:
        """The results of the two ways, which are nothing alike."""
        return Either(self.second, second, first)

    def joined(self, a: Any, b: Any) -> Any:
        a, b = self.trace.recorder.number_operand(a), self.trace.recorder.number_operand(b)
        if type(a) is type(b) is tuple and len(a) == len(b):
            return tuple(self.value(x, y) for x, y in zip(a, b, strict=True))
        found = chosen(self.trace, self.second, b, a, self.select)
        if found is None:
            raise Unlike(f"a value is {said(a)} or {said(b)}")
        return found
