"""Lists that loops append to by conditions, or in other ways that are more than a row in each turn: see numpy/growing.py."""

from __future__ import annotations

import itertools
import math
import types
from typing import Any

import numpy as np

from .. import _core
from ..numpy.early import ENDLESS
from ..numpy.growing import LONGEST, Each, Elements, GrownList, Trimmed, elements_of, joined
from ..numpy.mixed import mark_of
from ..numpy.places import Attribute, Entry, Place, Stored
from ..numpy.retry import Retry
from ..numpy.rows import Together
from ..numpy.shared_arrays import is_held
from ..numpy.tracer import TracedArray, as_tensor, wrap
from ..numpy.validity import require
from . import loops_of_builtins
from .appends import is_only_read_to_append
from .frame import Frame
from .kinds import attributes_of, has_python, instance_space, is_user_object
from .liveness import LOOKING, live_at
from .natives import is_numpy_function
from .natural_loops import exits, landing
from .outside import ATTRIBUTE

__all__ = ["GrownLists", "ListMethod"]


class ListMethod:
    """A method of such a list."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: GrownList, name: str) -> None:
        self.owner, self.name = owner, name


#: Python's own code, which may have such a list.
CODE = (types.FunctionType, types.MethodType, ListMethod)
#: Functions that go through a list: in turns, or as far as it is known how many elements it has.
ANY_LENGTH = frozenset(map(id, (zip, enumerate, sorted, itertools.pairwise)))
KNOWN_LENGTH = frozenset(map(id, (tuple, set, frozenset, sum, min, max, any, all)))
#: Turns of a loop that appends a row in each of them, where each is a value of the program.
MOST_ROWS = 64
#: Elements that a list may have at least, where nobody knows how many are appended.
LEAST_ROOM = 4096
#: Times that what is known of a list may change before its loop is written out.
MOST_FORMS = 4


class GrownLists:
    """The part of a recorder that knows such lists."""

    trace: Any
    frame: Any
    births: dict[int, tuple[int, Any]]
    fresh: dict[int, Any]
    overlay: dict[Any, Any]
    bakes: bool
    raises: Any

    born: Any
    call: Any
    item: Any
    is_older: Any
    known_place: Any
    note_change: Any
    number_operand: Any
    refuse: Any
    run_function: Any

    def __init__(self) -> None:
        super().__init__()
        self.grown: list[GrownList] = []
        self.trimmed: dict[int, Trimmed] = {}  # arrays of their elements, by identity

    # -- lists that become such ones ----------------------------------------------------------------------------------

    def appended_in_loops(self, owner: list[Any], value: Any) -> None:
        """Called before a loop appends to a list: one row in each of few turns is another matter, see appended.py."""
        loop = self.trace.loops[-1]
        is_row = (
            self.trace.predicate is None
            and type(value) is not tuple
            and mark_of(self.trace, value) is None
            and self.frame is getattr(loop, "frame", None)
            and not any(self.is_older(owner, outer.born) for outer in self.trace.loops[:-1])
        )
        if not is_row or (hasattr(loop, "turns") and not (isinstance(loop.trips, int) and loop.trips <= MOST_ROWS)):
            self.asks_to_grow(owner, value)

    def keep_short_loop(self, owner: list[Any]) -> None:
        """Called where a way outside of loops appends: a short loop around that is written out is one whose list grows."""
        for ref in reversed(self.trace.written_out):
            turns = ref()
            if turns is not None and turns.frame is self.frame and turns.at >= 0 and not self.bakes:
                known = turns.site in self.trace.peels or turns.site in self.trace.unrolled
                if not known and self.is_older(owner, self.trace.predicate.born):
                    raise Retry(turns.site, "a list grows in it", keep=True)

    def asks_to_grow(self, owner: list[Any], value: Any) -> None:
        """Where a loop appends to a list: has it recorded once more, with the list as one that grows, where that can be."""
        loops = [loop for loop in self.trace.loops if hasattr(loop, "turns") and self.is_older(owner, loop.born)]
        if not loops or len(loops) != sum(self.is_older(owner, loop.born) for loop in self.trace.loops):
            return
        loop = loops[0]
        frame, site = loop.frame, loop.turns.site
        if not isinstance(frame, Frame):
            return
        names = self.names_of(frame, owner)
        if len(names) != 1 or not LOOKING.isdisjoint(frame.f_code.co_names):
            return
        times, variable = self.times_of(loops), names[0].partition(".")[0]
        sites = sum(i.value == variable for i in frame.code.instructions if i.name.startswith("LOAD_FAST"))
        most = self.room() if times is None else len(owner) + times * max(sites, 1)
        elements = elements_of(self.numbers_of(value), min(most, LONGEST))
        if elements is not None:
            self.ask_to_grow(site, names[0], elements)

    def names_of(self, frame: Frame, owner: list[Any]) -> list[str]:
        """What has a list: variables of a frame, and attributes of objects that these have."""
        found = []
        for name, value in frame.locals.items():
            if value is owner:
                found.append(name)
            if is_user_object(value):
                own = attributes_of(value) if id(value) in self.fresh else {}
                stored = {key: held for (_, _, key), (holder, _, held) in self.overlay.items() if holder is value}
                found += [f"{name}.{key}" for key, held in {**own, **stored}.items() if held is owner]
        return found

    def holder(self, frame: Frame, name: str) -> tuple[Place, Any] | None:
        """The place that such a name is of, and what refers to the value there."""
        variable, _, attribute = name.partition(".")
        if variable not in frame.locals:
            return None
        if not attribute:
            return Entry("", frame.locals, variable), frame.locals
        owner, key = frame.locals[variable], (ATTRIBUTE, id(frame.locals[variable]), attribute)
        if key in self.overlay:
            return Stored("", owner, self.overlay, key, attribute, None), self.overlay[key]
        if id(owner) not in self.fresh or not hasattr(owner, attribute):
            return None
        return Attribute("", owner, attribute), instance_space(owner) or owner

    def room(self) -> int:
        """How many elements a list may have of which nobody knows it: those of the largest argument, and some thousand."""
        sizes = [array.size for array in self.trace.arguments]
        return max(LEAST_ROOM, *(size for size in sizes if isinstance(size, int)))

    def times_of(self, loops: list[Any]) -> int | None:
        """How often the innermost of some loops has a turn at most; None where nobody knows, or few of many turns may be had."""
        times = math.prod(loop.trips if isinstance(loop.trips, int) else loop.trips.max for loop in loops)
        is_endless = any(loop.turns.trips == ENDLESS for loop in loops)
        is_unknown = is_endless or (times > self.room() and not self.raises and any(map(may_be_left, loops)))
        return None if is_unknown else times

    def ask_to_grow(self, site: Any, name: str, elements: Elements) -> None:
        known = self.trace.growing.get((site, name), ())
        if len(known) < MOST_FORMS and None not in known:
            raise Retry(site, "a list grows in it", grows=(name, elements))

    def grow_lists(self, frame: Any, site: Any) -> None:
        """Called before a loop is recorded: variables with lists that it is known to make grow get what stands for those."""
        for (where, name), forms in self.trace.growing.items():
            found = self.holder(frame, name) if where == site and isinstance(frame, Frame) else None
            if found is None or None in forms:
                continue
            (place, holder), value = found, found[0].read()
            if type(value) is not list:
                continue
            elements = forms[-1]
            items = [self.numbers_of(item) for item in value]
            is_alone = not is_held(value, 1, [holder, self.births.get(id(value))]) and self.is_of_way(value)
            if not is_alone or not all(map(elements.has, items)):
                raise Retry(
                    site, "a list grows in it that others have, or of elements of several forms", grows=(name, None)
                )
            self.grown.append(self.born(GrownList(elements, site, name, items)))
            place.put(self.grown[-1])

    def is_of_way(self, value: Any) -> bool:
        """Whether the ways that are recorded have made it themselves: what is older is kept for the other one."""
        predicate = self.trace.predicate
        while predicate is not None and not self.is_older(value, predicate.born):
            predicate = predicate.outer
        return predicate is None

    def numbers_of(self, value: Any) -> Any:
        return tuple(map(self.number_operand, value)) if type(value) is tuple else self.number_operand(value)

    def call_with_list(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A call that is given such a list; NotImplemented where it is Python code."""
        grown = args[0] if args else None
        if id(function) in ANY_LENGTH:
            return NotImplemented
        if id(function) in KNOWN_LENGTH and type(grown) is GrownList and isinstance(grown.count, int):
            return NotImplemented
        if type(function) in CODE or function is isinstance or (isinstance(function, type) and has_python(function)):
            return NotImplemented
        dtypes = [*args[1:], *(value for key, value in kwargs.items() if key == "dtype")]
        if type(grown) is GrownList and len(dtypes) == len(args) + len(kwargs) - 1 < 2:
            if function is np.array or function is np.asarray:
                return self.array_of_list(grown, *dtypes)
            if function is len and not dtypes:
                return grown.count
            if function is list and not dtypes:
                return self.copy_of(grown)
            if function is reversed and not dtypes:
                is_gone_through = self.frame.code.instructions[self.frame.at].name == "GET_ITER"
                every = self.slice_of(grown, slice(None, None, -1))
                return every if is_gone_through else self.run_function(loops_of_builtins.each_of, (every,), {})
        if is_numpy_function(function):
            given = lambda value: self.array_of_list(value) if type(value) is GrownList else value
            return self.call(function, tuple(map(given, args)), {key: given(value) for key, value in kwargs.items()})
        return self.unknown_use("such a call with a list that grows in a loop")

    # -- what a program does with them --------------------------------------------------------------------------------

    def write_out_lists(self, *lists: GrownList) -> None:
        """Has them be Python's lists: something else is done with one of them, or of those that there are."""
        for grown in lists or self.grown:
            if None not in self.trace.growing.get((grown.site, grown.name), ()):
                reason = "a list grows in it, and something else is done with it"
                raise Retry(grown.site, reason, grows=(grown.name, None))

    def require_no_grown(self, frame: Any) -> None:
        """What is left of the call is not of this program."""
        while frame is not None and self.grown:
            live = live_at(frame)
            held = [*(value for name, value in frame.locals.items() if name in live), *frame.stack]
            if any(type(value) is GrownList for value in held):
                self.write_out_lists()
            frame = frame.caller

    def list_call(self, method: ListMethod, args: tuple, kwargs: dict[str, Any]) -> Any:
        if method.name == "append" and len(args) == 1 and not kwargs:
            return self.append_to(method.owner, self.numbers_of(args[0]))
        if method.name == "pop" and not args and not kwargs:
            return self.pop_of(method.owner)
        if method.name == "copy" and not args and not kwargs:
            return self.copy_of(method.owner)
        return self.unknown_use(f"'{method.name}' of a list that grows in a loop")

    def copy_of(self, grown: GrownList) -> GrownList:
        self.grown.append(self.born(grown.copied()))
        return self.grown[-1]

    def unknown_use(self, what: str, *lists: GrownList) -> Any:
        self.write_out_lists(*lists)
        return self.refuse(what)

    def require_not_gone_through(self, grown: GrownList) -> None:
        """Called before a list changes its length: a loop that goes on over its elements knew how many there are."""
        for loop in self.trace.loops:
            rows = loop.turns.rows if hasattr(loop, "turns") else None
            parts = rows.every_part() if type(rows) is Together else [rows]
            if any(type(part) is Each and part.grown is grown for part in parts):
                loop.fail("a list that it goes through changes its length")

    def append_to(self, grown: GrownList, value: Any, is_by_comprehension: bool = False) -> None:
        self.require_not_gone_through(grown)
        loops = [loop for loop in self.trace.loops if self.is_older(grown, loop.born)]
        times, elements = self.times_of(loops), grown.elements
        if not elements.has(value):
            other = joined(elements, value)
            if other is not None and None not in self.trace.growing.get((grown.site, grown.name), ()):
                self.ask_to_grow(grown.site, grown.name, other)
            return self.unknown_use("what is appended to a list is of another form", grown)
        if times is None and elements.capacity > self.room():
            self.ask_to_grow(grown.site, grown.name, elements._replace(capacity=self.room()))
        grown.is_open |= times is None
        needed = 0 if times is None else grown.note_append(loops[0] if loops else None, times)
        if needed > elements.capacity < LONGEST:
            self.ask_to_grow(grown.site, grown.name, elements._replace(capacity=min(2 * needed, LONGEST)))
            self.unknown_use("a list grows more each time")
        if needed <= elements.capacity and (is_by_comprehension or self.is_only_appended_to(grown, loops)):
            place = self.place_in_turns(grown, loops)
            if place is not None:
                grown.write(place, value)
                return
        grown.is_open |= needed > elements.capacity
        grown.write(grown.end(), value)
        self.set_count(grown, self.counted_by(grown.count, 1))

    def place_in_turns(self, grown: GrownList, loops: list[Any]) -> Any:
        """The place of what is appended where each turn appends one element, so that the turns say it; None elsewhere."""
        trips = [loop.trips for loop in loops]
        is_counted = all(isinstance(number, int) for number in trips) and not any(
            loop.turns.is_endless or may_be_left(loop) for loop in loops
        )
        predicate = self.trace.predicate
        is_chosen = predicate is not None and (
            not loops or predicate.born > loops[0].born or self.is_older(grown, predicate.born)
        )
        if not loops or not is_counted or is_chosen or not grown.elements.by_turn:
            return None
        first, turn = grown.begin_pass(loops[0]), 0
        if first is None:
            raise Retry(
                grown.site, "several elements in each turn", grows=(grown.name, grown.elements._replace(by_turn=False))
            )
        for loop in loops:
            turn = turn * loop.trips + loop.turn()
        grown.count = first + math.prod(trips)
        return first + turn

    @staticmethod
    def is_only_appended_to(grown: GrownList, loops: list[Any]) -> bool:
        """Whether one variable has a list with which a loop does nothing but append to it."""
        frame = loops[0].frame if loops else None
        if not isinstance(frame, Frame) or loops[0].turns.at < 0 or not LOOKING.isdisjoint(frame.f_code.co_names):
            return False
        names = [name for name, value in frame.locals.items() if value is grown]
        return len(names) == 1 and is_only_read_to_append(names[0], frame, loops[0].turns.at)

    def pop_of(self, grown: GrownList) -> Any:
        if type(grown.count) is int and not grown.count:
            raise IndexError("pop from empty list")
        self.require_not_gone_through(grown)
        value = self.element_at(grown, -1, "pop index")
        self.set_count(grown, self.counted_by(grown.count, -1))
        return value

    @staticmethod
    def counted_by(count: Any, number: int) -> Any:
        if not isinstance(count, TracedArray):
            return count + number
        return TracedArray((wrap(count.tensor) + number).tensor, int)

    def set_count(self, grown: GrownList, count: Any) -> None:
        if self.trace.is_repeated:
            self.note_change(self.known_place(Attribute, grown, "count", "count"))
        grown.count = count

    def list_item(self, grown: GrownList, key: Any) -> Any:
        if type(key) is slice:
            return self.copy_of(grown) if key == slice(None) else self.slice_of(grown, key)
        return self.element_at(grown, self.list_index(key), "list index")

    def slice_of(self, grown: GrownList, key: slice) -> GrownList:
        start, stop = (None if bound is None else self.list_index(bound) for bound in (key.start, key.stop))
        step = 1 if key.step is None else key.step
        if type(step) is not int or not step:
            return self.unknown_use("such a slice of a list that grows in a loop", grown)
        self.grown.append(self.born(grown.sliced(start, stop, step)))
        return self.grown[-1]

    def joined_lists(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        """``a + b`` of lists of which at least one grows."""
        known = next(side for side in (lhs, rhs) if type(side) is GrownList)
        sides: list[Any] = [self.as_grown(side, known) if type(side) is list else side for side in (lhs, rhs)]
        if not all(type(side) is GrownList for side in sides):
            return self.unknown_use("a list that grows and what is no list, or has elements of another form", known)
        made = None if symbol == "+=" else sides[0].followed_by(sides[1])
        if made is None:
            return self.unknown_use("lists that grow with elements of several forms are joined", *sides)
        self.grown.append(self.born(made))
        return made

    def as_grown(self, items: list[Any], known: GrownList) -> GrownList | None:
        """A list of Python's as one with elements of the form of another; None where it has others."""
        numbers = [self.numbers_of(item) for item in items]
        elements: Elements | None = known.elements._replace(capacity=len(items))
        for number in numbers:
            if elements is not None and not elements.has(number):
                elements = joined(elements, number)
        is_of_one = elements is not None and all(map(elements.has, numbers))
        return GrownList(elements, known.site, known.name, numbers) if is_of_one else None  # type: ignore[arg-type]

    def placed(self, grown: GrownList, places: Any) -> GrownList:
        """A list with the same elements, in the order of these places."""
        self.grown.append(self.born(grown.placed(places)))
        return self.grown[-1]

    def element_at(self, grown: GrownList, index: Any, what: str) -> Any:
        if grown.has_texts():
            self.unknown_use("a text of a list that grows in a loop")
        return grown.read(grown.place(index, what))

    def store_in_list(self, grown: GrownList, key: Any, value: Any) -> None:
        value = self.numbers_of(value)
        if not grown.elements.has(value):
            self.unknown_use("what is stored in a list is of another form")
        grown.write(grown.place(self.list_index(key), "list assignment index"), value)

    def list_index(self, key: Any) -> Any:
        key = self.number_operand(key)
        is_number = isinstance(key, TracedArray) and key.scalar and key.dtype.kind in "iu"
        if type(key) is int or type(key) is _core.Dim or is_number:
            return key
        return self.unknown_use("such an index of a list that grows in a loop")

    def array_of_list(self, grown: GrownList, dtype: Any = None) -> Any:
        """``np.array(out)``"""
        if not grown.is_rectangular() or not grown.has_one_dtype():
            self.unknown_use("an array of elements of several types", grown)
        rows = grown.rows()
        if dtype is not None:
            rows = rows.astype(dtype)
        count = grown.count
        if type(count) is int:
            return wrap(as_tensor(rows[:count])) if count else np.zeros(0, dtype or np.float64)
        number, empty = grown.length(), np.dtype(np.float64 if dtype is None else dtype)
        if rows.ndim > 1 or rows.dtype != empty:
            require(number > 0)
        found = self.item(rows, np.arange(rows.shape[0]) < number)
        self.trimmed[id(found)] = Trimmed(found, rows, count, empty)
        return found


def may_be_left(loop: Any) -> bool:
    """Whether a for statement has ways out beside its end."""
    frame, at = loop.frame, loop.turns.at
    if at < 0 or not isinstance(frame, Frame):
        return False
    return bool(exits(frame.code, at) - {landing(frame.code, frame.code.instructions[at].target)})
