"""What a recorded call iterates over: loops that are recorded once, rows of arrays, unpackings."""

from __future__ import annotations

from typing import Any

from ..numpy.endless import Counting, RangeByValues
from ..numpy.growing import Each, GrownList
from ..numpy.loops import Range as LoopRange
from ..numpy.loops import Turns, make_range
from ..numpy.rows import Pending, Rows, Together
from ..numpy.tracer import Selection, TracedArray
from .frame import Frame
from .generators import Generator
from .kinds import answers, is_user_object, type_of
from .machine import Machine

__all__ = ["Iteration"]

GET_ITER_SHORT = 8
COMPREHENSIONS = frozenset(["<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"])


class Iteration(Machine):
    """The part of a recorder that knows what to go through, and by which iterators."""

    are_kept: Any
    begin_comprehension: Any
    pending: Any
    turns_of: Any
    unknown_use: Any

    def iterate(self, frame: Frame, value: Any) -> Any:
        if isinstance(value, Selection) and self.can_break():
            self.begin_with_arrays()
        pending = self.pending(frame, value)
        if pending is not None:
            return self.born(pending)
        if type(value) is GrownList:
            return self.rows_of_list(frame, value)
        if isinstance(value, LoopRange) and type(value) is LoopRange:
            return (
                self.turns(value, frame, None, self.target(frame))
                if self.is_statement(frame)
                else self.born(iter(value.numbers()))
            )
        if type(value) is RangeByValues:
            return Counting(value, frame)
        if isinstance(value, TracedArray):
            return self.rows(frame, value)
        if type(value) is Together:
            return self.rows_of_several(frame, value)
        if answers(value):
            return self.user_iterate(value)
        self.require_known(value)
        result = self.guarded(iter, (self.concrete(value),), {})
        return result if result is value else self.born(result)

    def is_statement(self, frame: Frame) -> bool:
        """Whether a ``for`` statement asks, and not a comprehension."""
        code = frame.f_code
        following = frame.code.instructions[frame.at].name
        return following == "FOR_ITER" and code.co_name not in COMPREHENSIONS

    def target(self, frame: Frame) -> str | None:
        """The variable that a ``for`` statement binds, if it is one."""
        binding = frame.code.instructions[frame.at + 1]
        if binding.name in ("STORE_FAST", "STORE_DEREF", "STORE_NAME"):
            return binding.value
        return binding.value[0] if binding.name == "STORE_FAST_LOAD_FAST" else ""

    def rows(self, frame: Frame, array: TracedArray) -> Any:
        require_rows(array)
        count = array.shape[0]
        if self.is_statement(frame) and (not isinstance(count, int) or count > GET_ITER_SHORT):
            return self.turns(make_range(LoopRange, (count,)), frame, array, "")
        return self.born(Rows(array))

    def rows_of_several(self, frame: Frame, together: Together) -> Any:
        """A for statement over them that nothing else takes anything from is a loop over their numbers."""
        if not self.is_long_statement(frame, together.count) or together.is_taken(frame.locals.values()):
            return together
        return self.turns_of(frame, frame.at, None, together, together.count)

    def is_long_statement(self, frame: Frame, count: Any) -> bool:
        """Whether a ``for`` statement asks that has so many turns, or nobody knows how many, and is not written out."""
        is_long = not isinstance(count, int) or count > GET_ITER_SHORT
        is_unrolled = (frame.f_code.co_filename, frame.f_lineno) in self.trace.unrolled
        return is_long and not is_unrolled and self.is_statement(frame)

    def rows_of_list(self, frame: Frame, grown: GrownList) -> Any:
        if grown.has_texts():
            return self.unknown_use("a text of a list that grows in a loop", grown)
        if self.is_long_statement(frame, grown.count) and self.are_kept():
            return self.turns_of(frame, frame.at, None, grown, grown.count)
        return self.born(Rows(Each(grown)))

    @staticmethod
    def turns(numbers: LoopRange, frame: Frame, rows: TracedArray | Together | None, target: str | None) -> Turns:
        turns = Turns(numbers, frame, rows, target)
        turns.at = frame.at
        return turns

    def next_of(self, frame: Frame, iterator: Any) -> Any:
        if type(iterator) is Pending:
            iterator = self.begin_comprehension(frame, iterator)
        if isinstance(iterator, Turns):
            iterator.stack = list(frame.stack)
            return iterator.following(frame)
        if answers(iterator):
            return self.call_special(iterator, "__next__")
        self.require_known(iterator)
        if self.trace.is_repeated:
            self.changes(iterator, "an iterator")
        return next(iterator)

    def listed(self, frame: Frame, value: Any, asks_length: bool = False) -> list[Any]:
        if type(value) in (list, tuple):
            return list(value)
        iterator = self.iterate_plainly(frame, value)
        if asks_length and answers(value):
            self.ask_length(value)
        found = []
        while True:
            try:
                found.append(self.next_of(frame, iterator))
            except StopIteration:
                return found

    def ask_length(self, value: Any) -> None:
        """list() and tuple() ask an object for how much memory they need; where it raises a TypeError, they go on."""
        for name in ("__len__", "__length_hint__"):
            if self.found_in_class(type(value), name)[1] is not None:
                try:
                    self.call_special(value, name)
                except TypeError:
                    continue
                return

    def iterate_plainly(self, frame: Frame, value: Any) -> Any:
        """An iterator for an unpacking, which is no loop."""
        if type(value) is LoopRange:
            return self.born(iter(value.numbers()))
        if isinstance(value, Selection) and self.can_break():
            self.begin_with_arrays()
        if isinstance(value, TracedArray):
            require_rows(value)
            return self.born(Rows(value))
        if type(value) is GrownList:
            return self.born(Rows(Each(value)))
        return self.iterate(frame, value)

    def length(self, value: Any) -> int:
        return self.call(len, (value,), {})

    def mapping(self, value: Any) -> dict[Any, Any]:
        if isinstance(value, dict) and not is_user_object(value):
            self.require_known(value)
            return dict(value)
        if isinstance(value, dict):
            return dict(self.contents_of(value, dict))
        return self.refuse(f"{type(value).__name__} is unpacked as a mapping")

    def grow(self, container: Any) -> None:
        self.changes(container, "what a comprehension makes")

    def make_generator(self, frame: Frame) -> Any:
        return self.born(Generator(self, frame))


def require_rows(array: TracedArray) -> None:
    """NumPy's error for going through one element."""
    if not array.ndim:
        kind = type_of(array)
        name = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
        raise TypeError(f"'{name}' object is not iterable" if array.scalar else "iteration over a 0-d array")
