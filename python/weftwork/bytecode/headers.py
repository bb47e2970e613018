"""Loops in pieces: where a turn of a loop begins as an earlier one did, the tree of pieces goes back there.

A loop whose body asks for values, and that is not one loop of a program (see early_exits.py), would be written out, each turn with
pieces of its own. At the jump back to its beginning, the *header*, the state of the call is compared to what it was there
before. Where it has the same form, what differs is *carried*: values of arrays, and numbers. A header is a piece without a
program that gathers what is carried; the pieces of a later turn end by gathering the same, and the next is the header again.
"""

from __future__ import annotations

import copy
import operator
from typing import Any

import numpy as np

from .. import _core
from ..numpy.tracer import Read, TracedArray
from .call_state import CallState, Number, StoredValue, Unknown
from .compiled import CompiledCalls
from .frame import Frame
from .machine import Stop
from .outside import CALL, VALUE, HostValue, Mark, watched

__all__ = ["LoopHeaders"]

#: So many headers are tried for one loop: numbers become values at the second, what is made of them at the third.
MOST_HEADERS = 6
#: Turns of a loop that are always pieces of their own.
FIRST_TURNS = 2


class Site:
    """A loop of one call of a function: where its turns begin."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.asked = -1  # what a session had been asked for when the turn began
        self.turns = self.headers = 0
        self.is_closed = False


class Header:
    """A place of the tree to which later turns come back."""

    def __init__(
        self, key: tuple[int, int], recorder: Any, number: int, carried: list[int], tensors: dict[int, Any]
    ) -> None:
        # ``tensors``: of carried arrays, by the number of the value.
        self.key, self.number, self.carried, self.tensors = key, number, carried, tensors
        self.state = CallState(recorder)
        self.fixed = [entry.fixed(recorder) for entry in self.state.values]
        self.mark: Mark = recorder.session.mark
        self.after: Mark = recorder.steps.mark()
        self.reads = list(recorder.trace.reads)
        self.numbers = list(recorder.trace.numbers)
        self.sources = dict(recorder.sources)
        # What is decided on the way from here depends on the way alone.
        self.sites = {key: copy.copy(site) for key, site in recorder.sites.items()}

    def can_take(self, state: CallState) -> bool:
        """Whether what is carried can be put into a state of the same form."""
        return all(state.values[i].is_settable for i in self.carried)

    def changed(self, state: CallState, recorder: Any) -> list[int]:
        """The values that are not carried and are others now."""
        return [
            i
            for i, (entry, before) in enumerate(zip(state.values, self.fixed, strict=True))
            if before is not None and entry.fixed(recorder) != before
        ]


class Counted:
    """The iterator of a loop over a range whose turns are not told apart: its place is a number that each call finds."""

    def __init__(self, recorder: Any, numbers: range, place: Any) -> None:
        self.recorder, self.numbers, self.place = recorder, numbers, place

    def __iter__(self) -> Counted:
        return self

    def __next__(self) -> Any:
        r, numbers = self.recorder, self.numbers
        if not r.truth(r.host(operator.lt, self.place, len(numbers))):
            raise StopIteration
        turn = self.place
        self.place = r.host(operator.add, turn, 1)
        value = turn if numbers.step == 1 else r.host(operator.mul, turn, numbers.step)
        return value if numbers.start == 0 else r.host(operator.add, value, numbers.start)


class LoopHeaders(CompiledCalls):
    """The part of a recorder that knows loops in pieces."""

    def __init__(self) -> None:
        super().__init__()
        self.sites: dict[tuple[int, int], Site] = {}
        self.headers: list[Header] = []  # those of the path, from the first

    def counted(self, numbers: range, place: Any) -> Counted:
        return Counted(self, numbers, place)

    def back_edge(self, frame: Frame) -> None:
        """Called where a turn of a loop begins, but for the first."""
        session = self.session
        # What is recorded in a way of a condition may be taken back, and is then recorded once more.
        if session is None or not session.path or self.trace.is_repeated:
            return
        key = (id(frame), frame.at)
        site = self.sites.get(key)
        if site is None or site.frame is not frame:
            site = self.sites[key] = Site(frame)
        site.turns += 1
        if site.turns > FIRST_TURNS and not site.is_closed and site.asked != len(session.path):
            try:
                self.begin_turn(key, site)
            except Unknown:
                site.is_closed = True
        self.sites[key].asked = len(session.path)

    def begin_turn(self, key: tuple[int, int], site: Site) -> None:
        state = CallState(self)
        valid = self.trace.checks.valid
        if valid is not None and valid.tensor.constant() is None:
            if not self.truth(valid):
                self.refuse("an operation that raises for these values")
            self.trace.checks.holds = TracedArray(_core.constant(np.asarray(True)))
            state = CallState(self)
        computed = [e.array for e in state.values if isinstance(e, StoredValue) and self.is_computed(e.storage.tensor)]
        if computed:
            self.evaluate(computed)
        known = [header for header in reversed(self.headers) if header.key == key and header.state.form == state.form]
        changes = [header.changed(state, self) for header in known]
        for header, changed in zip(known, changes, strict=True):
            if not changed and header.can_take(state):
                self.go_back(header, state)
                return
        site.headers += 1
        if site.headers > MOST_HEADERS:
            site.is_closed = True
            return
        self.begin_header(key, state, changes[0] if changes else [])

    def begin_header(self, key: tuple[int, int], state: CallState, changed: list[int]) -> None:
        """From here on the values of a state are what a piece gathers."""
        carried = [i for i, entry in enumerate(state.values) if i in changed or entry.fixed(self) is None]
        if not all(state.values[i].is_settable for i in carried):
            raise Unknown("a number in a tuple changes from turn to turn")
        number = self.session.run_header(self, [state.values[i].step(self) for i in carried])
        steps = [self.steps.step(VALUE, number, place) for place in range(len(carried))]
        self.forget_values(0)
        tensors: dict[int, Any] = {}
        for i, step, value in zip(carried, steps, self.session.values[number], strict=True):
            entry = state.values[i]
            if isinstance(entry, StoredValue):
                name = f"carried{step}"
                tensor = tensors[i] = _core.parameter(entry.array.shape, entry.array.dtype, name, from_outside=True)
                self.trace.reads.append(Read(value, name, step, tensor, TracedArray(tensor)))
        self.give(state, number, carried, tensors)
        self.headers.append(Header(key, self, number, carried, tensors))
        self.poison(state)

    def go_back(self, header: Header, state: CallState) -> None:
        """The turn that begins is one of those from a header: as many as are like those before run at once."""
        self.session.go_back(self, header, [state.values[i].step(self) for i in header.carried])
        self.headers = self.headers[: self.headers.index(header) + 1]
        self.sites = {key: copy.copy(site) for key, site in header.sites.items()}
        self.steps.cut(header.after)
        self.forget_values(header.mark.steps)
        self.trace.reads[:] = [*header.reads, *(read for read in self.trace.reads if read not in header.reads)]
        self.trace.numbers[:] = [*header.numbers, *(n for n in self.trace.numbers if n not in header.numbers)]
        self.sources |= header.sources
        self.give(state, header.number, header.carried, header.tensors)
        self.poison(state)

    def forget_values(self, since: int) -> None:
        """No input is any more what was computed by a piece, or by Python from the step ``since`` on."""
        steps = self.steps.steps
        is_kept = lambda step: step < len(steps) and (step < since or steps[step][0] not in (CALL, VALUE))
        self.trace.reads[:] = [read for read in self.trace.reads if is_kept(read.step)]
        self.trace.numbers[:] = [(tensor, step) for tensor, step in self.trace.numbers if is_kept(step)]
        self.sources = {key: source for key, source in self.sources.items() if is_kept(source[2])}

    def give(self, state: CallState, number: int, carried: list[int], tensors: dict[int, Any]) -> None:
        """Puts what a header gathered in the place of what is carried; views are read anew, and what nobody reads is dropped."""
        for place, (i, value) in enumerate(zip(carried, self.session.values[number], strict=True)):
            state.values[i].become(self, value, self.steps.step(VALUE, number, place), tensors.get(i))
        for array in state.arrays:
            array._cache = None if array._steps else array._storage.tensor
        state.drop_dead()

    def poison(self, state: CallState) -> None:
        """Numbers that Python computed before, and that nobody was found to have, are not to be used again."""
        carried = {id(entry.value) for entry in state.values if isinstance(entry, Number)}
        for value in watched():
            if id(value) not in carried and type(value) is HostValue and self.is_stale(value.step):
                value.__class__ = Stale

    def is_stale(self, step: int) -> bool:
        return step >= self.headers[-1].mark.steps or self.steps.steps[step][0] in (CALL, VALUE)


class Stale(HostValue):
    """A number of an earlier turn."""

    __slots__ = ()

    @property
    def step(self) -> int:  # type: ignore[override]
        raise Stop("a number of an earlier turn of a loop")
