"""List comprehensions and generator expressions of many turns: each is one loop, which makes a list grow (see numpy/growing.py)."""

from __future__ import annotations

import copy
import types
from functools import lru_cache
from typing import Any

import numpy as np

from ..numpy.endless import Through
from ..numpy.growing import LIST, Each, Elements, GrownList, elements_of
from ..numpy.loops import SHORT, Turns, make_range, trips_of
from ..numpy.loops import Range as LoopRange
from ..numpy.retry import Retry
from ..numpy.rows import Numbers, Pending, Rows, Together
from ..numpy.tracer import TracedArray, as_tensor, wrap
from ..numpy.validity import require
from . import loops_of_builtins
from .decode import Code, Instruction
from .frame import Frame
from .generators import frame_of
from .loops_of_builtins import IN_PYTHON, IN_PYTHON_FILE

__all__ = ["Comprehensions", "count_of", "fewest"]

#: Comprehensions that are functions of their own, which give a list or what one can be made of.
GIVES_LIST = frozenset(["<listcomp>", "<genexpr>"])


class Comprehensions:
    """The part of a recorder that knows them."""

    trace: Any
    frame: Any
    grown: list[GrownList]

    call_with_list: Any
    called: Any
    unknown_use: Any
    listed: Any
    run_function: Any

    append_to: Any
    are_kept: Any
    born: Any
    changes: Any
    is_older: Any
    numbers_of: Any
    run: Any
    times_of: Any
    room: Any

    # -- what they go through ----------------------------------------------------------------------------------------

    def pending(self, frame: Frame, value: Any) -> Pending | None:
        """The iterator of a comprehension over what has many turns; None where these are recorded one by one."""
        if not is_of_comprehension(frame):
            return None
        count = trips_of(value) if type(value) is LoopRange else count_of(value)
        is_many = not isinstance(count, int) or count > SHORT
        # What Python's own functions are given they take at once.
        held = () if frame.f_code.co_filename == IN_PYTHON_FILE else frame.locals.values()
        if not is_many or (type(value) is Together and value.is_taken(held)):
            return None
        return Pending(value, count, lambda: self.one_by_one(value))

    def one_by_one(self, value: Any) -> Any:
        if type(value) is LoopRange:
            return iter(value.numbers())
        return value if type(value) is Together else Rows(Each(value) if type(value) is GrownList else value)

    def begin_comprehension(self, frame: Frame, pending: Pending) -> Any:
        """The iterator in the place of one that waits, when its first value is asked for."""
        at, place = frame.at - 1, place_of_list(frame.stack)
        if pending.iterator is not None or frame.stack[-1] is not pending or place is None:
            return pending
        site, owner = (frame.f_code, at), frame.stack[place]
        can_loop = frame.code.instructions[at].name == "FOR_ITER" and self.can_loop(site)
        if not can_loop or (type(owner) is list and owner):
            return pending
        if type(owner) is list:
            self.grown.append(self.born(GrownList(Elements(False, (), 0), site, LIST, [])))
            frame.stack[place] = self.grown[-1]
        frame.stack[-1] = self.turns_of(frame, at, site, pending.over, pending.count)
        return frame.stack[-1]

    def can_loop(self, site: Any) -> bool:
        known = self.trace.growing.get((site, LIST), ())
        return site not in self.trace.unrolled and None not in known and self.are_kept()

    def turns_of(self, frame: Frame, at: int, site: Any, value: Any, count: Any) -> Turns | Through:
        """The turns of a loop over an array, a list that grows, or several side by side; ``site``: None for that of a statement."""
        if type(value) is Together:
            value.take()
        rows = None if type(value) is LoopRange else Each(value) if type(value) is GrownList else value
        if isinstance(count, TracedArray):
            site = site or (frame.f_code.co_filename, frame.f_lineno)
            return Through(frame, at, site, rows, lambda: count_of(value), most_of(value))
        turns = Turns(value if rows is None else make_range(LoopRange, (count,)), frame, rows, "", site)  # type: ignore[arg-type]
        turns.at = at
        return turns

    # -- what they make ----------------------------------------------------------------------------------------------

    def append_in_comprehension(self, owner: Any, value: Any) -> None:
        if type(owner) is not GrownList:
            self.changes(owner, "a list that a comprehension makes")
            owner.append(value)
            return
        value = self.numbers_of(value)
        loops = [loop for loop in self.trace.loops if self.is_older(owner, loop.born)]
        if not owner.elements.forms:
            elements = self.first_form(owner, value, loops) if loops else None
            if elements is None:
                self.make_python_list(owner, "what it makes are no numbers or arrays")
            owner.take_form(elements, loops[0].born - 1)
        is_by_one = loops and owner.loop in (None, loops[0]) and (owner.loop or not owner.count)
        if not is_by_one:
            self.make_python_list(owner, "it is made by several loops")
        owner.loop = loops[0]
        self.append_to(owner, value, is_by_comprehension=True)

    def first_form(self, grown: GrownList, value: Any, loops: list[Any]) -> Elements | None:
        known = self.trace.growing.get((grown.site, LIST), ())
        if known and known[-1].has(value):
            return known[-1]
        return elements_of(value, known[-1].capacity if known else self.times_of(loops) or self.room())

    def make_python_list(self, grown: GrownList, reason: str) -> Any:
        raise Retry(grown.site, reason, grows=(grown.name, None))

    # -- generator expressions ---------------------------------------------------------------------------------------

    def collected(self, generator: Any, may_stop: bool = False) -> Any:
        """All that a generator expression gives, as a list, where one loop makes it; None for others, of which nothing is taken.

        ``may_stop``: Python may not ask for all of it, so that nothing else may come of what it computes.
        """
        frame = frame_of(generator) if type(generator) is types.GeneratorType else None
        if frame is None or frame.at != 0 or frame.f_code.co_name != "<genexpr>":
            return None
        header = next((at for at, i in enumerate(frame.code.instructions) if i.name == "FOR_ITER"), None)
        if type(frame.locals.get(".0")) is not Pending or header is None or not self.can_loop((frame.f_code, header)):
            return None
        frame.code = collecting(frame.code)
        frame.stack.append(self.born([]))
        if frame.code.instructions[0].name == "GEN_START":
            frame.stack.append(None)
        self.run(frame)
        generator.close()
        found = frame.stack[0]
        if may_stop and type(found) is GrownList and self.has_effects(found):
            self.make_python_list(found, "Python need not go on, and something else comes of it")
        return found

    def gathered(self, value: Any) -> Any:
        """The list of what a generator expression gives, where one loop makes it; all else as it is."""
        found = self.collected(value)
        return value if found is None else found

    def has_effects(self, grown: GrownList) -> bool:
        """Whether the loop that made a list has changed anything else."""
        if grown.loop is None:
            return True
        own = {column._storage for column in grown.stored()} | {self.trace.checks.holds._storage}
        return not grown.loop.entry_tensors.keys() <= own or any(
            type(place.owner) is not GrownList for place in grown.loop.places.values()
        )

    # -- functions that go through something --------------------------------------------------------------------------

    def is_long_row(self, array: Any) -> bool:
        """Whether an array has so many elements that a loop goes through them."""
        count = count_of(array)
        return array.ndim == 1 and self.are_kept() and not (isinstance(count, int) and count <= SHORT)

    def has_failed(self, written: types.FunctionType) -> bool:
        """Whether a loop of what is written in Python in the place of a function is none of the program."""
        failed = [*self.trace.unrolled, *(site for (site, _), forms in self.trace.growing.items() if None in forms)]
        lines = {line for *_, line in written.__code__.co_lines()}
        places = (
            (s.co_filename, s.co_firstlineno) if isinstance(s, types.CodeType) else (s, line) for s, line in failed
        )
        return any(file == IN_PYTHON_FILE and line in lines for file, line in places)

    def called_in_loops(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A call that goes through lists, or is given one that grows; NotImplemented where it is called as any other."""
        result = self.call_in_python(function, args, kwargs) if id(function) in IN_PYTHON else NotImplemented
        if result is NotImplemented and any(type(value) is GrownList for value in (*args, *kwargs.values())):
            return self.call_with_list(function, args, kwargs)
        return result

    def is_in_list(self, grown: GrownList, value: Any) -> Any:
        value = self.numbers_of(value)
        is_number = isinstance(value, TracedArray) and value.scalar
        if not (is_number or type(value) in (int, float)) or grown.elements.is_tuple or grown.has_texts():
            return self.unknown_use("what is looked for in a list that grows", grown)
        require(wrap(as_tensor(value)) == wrap(as_tensor(value)))  # a NaN may be the one in the list
        return self.run_function(loops_of_builtins.is_among, (grown, value), {})

    def call_in_python(self, function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """A function of Python's that goes through its argument, as one loop; NotImplemented where it has few elements, or is none."""
        written, (items, *rest) = IN_PYTHON[id(function)], args
        takes_start = function is sum
        if self.has_failed(written):
            return NotImplemented
        if len(rest) > takes_start or not kwargs.keys() <= {"start" if takes_start else "key"} or not self.are_kept():
            return NotImplemented
        if isinstance(items, types.GeneratorType):
            items = self.collected(items, may_stop=function is any or function is all)
            if type(items) is list:
                return self.called(function, (items, *rest), kwargs)
        is_array = isinstance(items, TracedArray) and items.ndim == 1
        is_range = type(items) is LoopRange and kwargs.get("key") is not None
        count = count_of(items) if is_array or type(items) is GrownList else trips_of(items) if is_range else 0
        is_short = isinstance(count, int) and count <= SHORT
        if is_short and type(items) is GrownList:
            return self.called(function, (self.listed(self.frame, items), *rest), kwargs)
        if is_short or (type(items) is GrownList and items.has_texts()):
            return NotImplemented
        return self.run_function(written, (items, *rest), kwargs)


def is_of_comprehension(frame: Frame) -> bool:
    """Whether a comprehension, or generator expression, asks for an iterator: it is called next, or goes on."""
    function = frame.stack[-1] if frame.stack else None
    is_called = type(function) is types.FunctionType and function.__code__.co_name in GIVES_LIST
    return (
        is_called
        or frame.f_code.co_name in GIVES_LIST
        or frame.code.instructions[frame.at].name == "LOAD_FAST_AND_CLEAR"
    )


def place_of_list(stack: list[Any]) -> int | None:
    """Where the list is that a comprehension makes, below its iterators."""
    for place in range(len(stack) - 2, -1, -1):
        if type(stack[place]) in (list, GrownList):
            return place
        if not hasattr(type(stack[place]), "__next__"):
            return None
    return None


def count_of(value: Any) -> Any:
    """How many turns a loop over it has; 0 where it is nothing that is known."""
    if type(value) is GrownList or type(value) is Together:
        return value.count
    return value.shape[0] if isinstance(value, TracedArray) and value.ndim else 0


def fewest(counts: list[Any]) -> Any:
    """The least of several numbers, of which the program may compute some; 0 of none."""
    known = [count for count in counts if isinstance(count, int)]
    result: Any = min(known, default=None)
    for count in (count for count in counts if isinstance(count, TracedArray)):
        result = count if result is None else np.minimum(result, wrap(count.tensor))
    return TracedArray(result.tensor, int) if isinstance(result, TracedArray) else result or 0


def most_of(value: Any) -> int:
    """How many turns that may be."""
    if type(value) is Together:
        parts = (part.grown if type(part) is Each else part for part in value.parts)
        return min(most_of(part) for part in parts if type(part) is not Numbers)
    return value.elements.capacity if type(value) is GrownList else value.shape[0]


@lru_cache(maxsize=1024)
def collecting(code: Code) -> Code:
    """A generator expression that appends to the list at the bottom of its stack what it would yield."""
    made = copy.copy(code)
    made.instructions = [copy.copy(instruction) for instruction in code.instructions]
    for instruction in made.instructions:
        if instruction.name == "YIELD_VALUE":
            instruction.name, instruction.run = "LIST_APPEND", append_yielded
    return made


def append_yielded(machine: Any, frame: Frame, instruction: Instruction) -> None:
    machine.append_in_comprehension(frame.stack[0], frame.stack.pop())
    frame.stack.append(None)  # what would have been sent
