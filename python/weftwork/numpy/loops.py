"""Python loops kept as loops: ``for i in range(n)`` in a traced function records its body once.

While a trace runs, ``range`` in the user's code makes a :class:`Range`. A ``for`` statement over one whose trip count is
large, or symbolic, runs its body with a symbolic counter, a few times: first to find out what changes from turn to turn
(local variables that are bound anew, arrays that are written to), then with placeholders in their place, until nothing
new turns up. What it recorded then is the body of one loop. Where that cannot be done (a condition on the counter, values
that are kept in a list …) the function is traced again with that loop written out.
"""

from __future__ import annotations

import builtins
import dis
import gc
import math
import os
import sys
import weakref
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from .. import _core
from ..errors import DataDependentError, UnsupportedError
from .appended import Appended
from .carried import Carried, CarriedValues, Unset
from .dispatch import broadcast_to
from .early import LEFT, WAY, EarlyEnd
from .frames import set_locals
from .mixed import PLAIN
from .places import Place
from .retry import Retry, Site
from .rows import Rows
from .shared_arrays import SharedArrays
from .tracer import Selection, Storage, Tensor, TracedArray, as_tensor, current_trace, raise_here
from .tuples import variable_of

#: Loops of at most so many turns are written out, and loops in each other of at most so many turns in all.
SHORT, SHORT_NEST = 8, 64
#: Loops that cannot be kept are written out up to so many turns.
LONGEST_UNROLLED = 20_000
MOST_PASSES = 6
PYTHON_RANGE = builtins.range
_GET_ITER = dis.opmap["GET_ITER"]


def is_library(filename: str) -> bool:
    """Whether the file belongs to NumPy, to this package or to Python itself: their loops are their own business."""
    return filename.startswith(_LIBRARIES) and "site-packages" not in filename.removeprefix(_STDLIB)[:20]


_STDLIB = os.path.dirname(os.__file__)
_LIBRARIES = (str(Path(np.__file__).parent), str(Path(__file__).parents[1]), _STDLIB, "<frozen")


class RangeType(type):
    """isinstance(x, range) holds for Python's own ranges too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is Range or isinstance(instance, PYTHON_RANGE)


class Range(metaclass=RangeType):
    """What ``range`` makes in a traced function: a sequence whose bounds may be symbolic extents."""

    def __new__(cls, *args: Any) -> Any:
        trace = current_trace()
        if trace is None or is_library(sys._getframe(1).f_code.co_filename):
            return PYTHON_RANGE(*args)
        return make_range(cls, args)

    start: Any
    stop: Any
    step: int
    forced: bool

    def numbers(self) -> range:
        """The same as Python's range; an error where a bound is symbolic."""
        if not isinstance(self.start, int) or not isinstance(self.stop, int):
            raise_here(
                DataDependentError,
                f"{self!r} has no fixed length: only a for statement can run over it",
                "symbolic_range",
            )
        return PYTHON_RANGE(self.start, self.stop, self.step)

    def __iter__(self) -> Any:
        frame = sys._getframe(1)
        if frame.f_code.co_code[frame.f_lasti] != _GET_ITER:
            return iter(self.numbers())
        return Turns(self, frame)

    def __reversed__(self) -> Any:
        numbers = self.numbers()[::-1]
        return iter(make_range(Range, (numbers.start, numbers.stop, numbers.step)).numbers())

    def __len__(self) -> int:
        return len(self.numbers())

    def __getitem__(self, index: Any) -> Any:
        found = self.numbers()[index]
        return make_range(Range, (found.start, found.stop, found.step)) if isinstance(found, PYTHON_RANGE) else found

    def __contains__(self, value: Any) -> bool:
        return value in self.numbers()

    def __eq__(self, other: Any) -> bool:
        return self.numbers() == (other.numbers() if type(other) is Range else other)

    def __hash__(self) -> int:
        return hash(self.numbers())

    def __repr__(self) -> str:
        return (
            f"range({self.start}, {self.stop})" if self.step == 1 else f"range({self.start}, {self.stop}, {self.step})"
        )


def make_range(cls: type, args: tuple, forced: bool = False) -> Range:
    if not 1 <= len(args) <= 3:
        raise TypeError(f"range expected 1 to 3 arguments, got {len(args)}")
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    result: Range = object.__new__(cls)
    result.start, result.stop = (v if isinstance(v, _core.Dim) else v.__index__() for v in (start, stop))
    result.step, result.forced = step.__index__(), forced
    if result.step == 0:
        raise ValueError("range() arg 3 must not be zero")
    return result


def kept_range(*args: Any) -> Any:
    """A range whose for statement is always recorded as one loop in a traced function, and is Python's elsewhere.

    ``wf.range(stop)``, ``wf.range(start, stop[, step])``. Where the body cannot be recorded once, tracing raises
    UnsupportedError with the reason; plain ``range`` would be written out instead.

    >>> import numpy as np, weftwork as wf
    >>> @wf.jit
    ... def power(x, n):
    ...     y = np.ones_like(x)
    ...     for _ in wf.range(n):
    ...         y = y * x
    ...     return y
    >>> power(np.array([1.0, 2.0]), 3).tolist()
    [1.0, 8.0]
    """
    return PYTHON_RANGE(*args) if current_trace() is None else make_range(Range, args, forced=True)


def trips_of(numbers: Range) -> Any:
    if isinstance(numbers.start, int) and isinstance(numbers.stop, int):
        return len(numbers.numbers())
    distance = numbers.stop - numbers.start if numbers.step > 0 else numbers.start - numbers.stop
    size = abs(numbers.step)
    return _core.dim_max(0, distance if size == 1 else (distance + size - 1) // size)


class Turns:
    """The iterator of one for statement."""

    is_endless = is_while = False

    def __init__(
        self, numbers: Range, frame: FrameType, rows: Any = None, target: str | None = None, site: Site | None = None
    ) -> None:
        trace = current_trace()
        assert trace is not None
        self.rows = rows
        self.target = target  # the variable that the statement binds, where it is known
        self.trace, self.frame, self.numbers = trace, frame, numbers
        self.site: Site = site or (frame.f_code.co_filename, frame.f_lineno)
        self.trips = trips_of(numbers)
        self.plain: Any = None
        self.loop: Recording | None = None
        self.at = -1  # the instruction that asks for the next turn, where it is known
        self.places: dict[
            int, list[Any]
        ] = {}  # where the ways out of it lead, but for its end, with iterators that are not done
        self.stack: list[Any] = []  # of the frame, when a turn begins
        self.peeled = 0
        if (self.is_short() and self.site not in trace.peels) or self.site in trace.unrolled:
            if not isinstance(self.trips, int) or self.trips > LONGEST_UNROLLED:
                reason = trace.unrolled[self.site]
                raise_here(
                    UnsupportedError,
                    f"the loop over {numbers!r} cannot be kept as one loop ({reason}) and is too long to be written out",
                    "loop",
                )
            self.plain = iter(numbers.numbers())
            trace.written_out.append(weakref.ref(self))

    def is_short(self) -> bool:
        self.trace.written_out = [ref for ref in self.trace.written_out if ref()]
        around = math.prod(turns.trips for ref in self.trace.written_out if (turns := ref()))
        return (
            isinstance(self.trips, int)
            and not self.numbers.forced
            and self.trips <= SHORT
            and self.trips * around <= SHORT_NEST
        )

    def __iter__(self) -> Turns:
        return self

    def __next__(self) -> Any:
        return self.following(sys._getframe(1))

    def following(self, frame: Any) -> Any:
        """The next value, for the frame that asks."""
        if self.plain is None and frame is not self.frame:
            self.plain = iter(self.numbers.numbers())
        turn = self.next_turn() if self.plain is None else next(self.plain)
        return turn if self.rows is None else self.rows[turn]

    def next_turn(self) -> Any:
        if self.loop is None:
            is_over = isinstance(self.trips, int) and self.trips <= self.peeled
            is_written_out = self.peeled < self.trace.peels.get(self.site, 0) and isinstance(self.numbers.start, int)
            was_left = self.at >= 0 and self.frame.locals.get(LEFT, False) is not False
            may_be_over = not isinstance(self.trips, int) and self.trips.min <= self.peeled
            if ((is_over or is_written_out) and was_left) or (is_written_out and may_be_over):
                raise Retry(self.site, "its first turns may be the last")
            if is_over:
                raise StopIteration
            if is_written_out:
                self.peeled += 1
                self.trace.peeled = weakref.ref(self)
                return self.numbers.start + (self.peeled - 1) * self.numbers.step
            return self.begin()
        again = self.loop.end()
        if again is None:
            raise StopIteration
        return again

    def is_last(self) -> Any:
        """Whether the turn that is recorded is the last, where the program decides."""
        return None

    def begin(self) -> Any:
        """Begins to record the turns behind those that were written out."""
        self.trace.peeled = None
        before, way = False, 0
        if self.at >= 0:
            before, way = self.frame.locals.pop(LEFT, False), self.frame.locals.pop(WAY, 0)
        self.loop = Recording(self, before, way)
        return self.loop.begin()


class Recording(CarriedValues, SharedArrays):
    """A loop that is being recorded: the surroundings as they were, and what is known of its body."""

    def __init__(self, turns: Turns, before: Any, way: Any) -> None:
        super().__init__()
        self.turns, self.trace, self.frame = turns, turns.trace, turns.frame
        numbers, skipped = turns.numbers, turns.peeled
        self.first = numbers.start + skipped * numbers.step
        self.trips = turns.trips - skipped
        self.early = EarlyEnd(self, before, way, turns.places)
        self.step = numbers.step
        self.trace.loop_count += 1
        self.symbol = f"loop{self.trace.loop_count}"
        self.counter = self._counter()
        self.places: dict[str, Place] = {}  # that turns change, by their names
        if self.trace.recorder is not None:
            self.trace.recorder.grow_lists(self.frame, turns.site)
        self.entry = self.bound()
        self.containers = {
            name: shallow(value) for name, value in self.entry.items() if isinstance(value, (list, dict, set))
        }
        self.entry_tensors: dict[Storage, Tensor] = {}
        self.written: set[Storage] = set()  # by the pass that goes on
        self.appended = Appended(self)
        self.born = next(Storage.births)
        self.begun = _core.next_serial()
        self.created: list[weakref.ref] = []
        self.passes = 0

    def bound(self) -> dict[str, Any]:
        """The local variables, but for those that only an earlier pass has bound, and the places that turns change."""
        return self.parts.apart({name: value for name, value in self.variables().items() if value is not Unset})

    def variables(self) -> dict[str, Any]:
        return {**self.frame.f_locals, **{name: place.read() for name, place in self.places.items()}}

    def bind(self, values: dict[str, Any]) -> None:
        for name, place in self.places.items():
            if name in values:
                place.put(values[name])
        set_locals(self.frame, {name: value for name, value in values.items() if name not in self.places})

    def note_place(self, place: Place) -> None:
        """Called before what a place holds is changed in a turn."""
        if place.name not in self.places:
            self.places[place.name] = place
            parts = self.parts.apart({place.name: place.read()})
            self.entry |= parts
            self.at_begin |= parts

    def _counter(self) -> Any:
        """The counter as an extent that knows its bounds."""
        last = self.first + (self.trips - 1) * self.step
        low, high = (self.first, last) if self.step > 0 else (last, self.first)
        low = low if isinstance(low, int) else low.min
        high = high if isinstance(high, int) else high.max
        if isinstance(self.turns.numbers.stop, _core.Dim):
            # What the bound says is closer than first + (trips - 1) * step.
            edge = self.turns.numbers.stop
            if self.step > 0:
                high = min(high, edge.max - 1)
            else:
                low = max(low, edge.min + 1)
        if low < 0:
            count = max((high - low) // abs(self.step), 0)
            inner = _core.Dim(self.symbol, 0, count // 2, count)
            value = self.first + inner * self.step
            self.first, self.step, self.plain_counter = 0, 1, inner
            return value
        high = max(high, low)
        self.plain_counter = _core.Dim(self.symbol, low, (low + high) // 2, high)
        return self.plain_counter

    # -- passes over the body --------------------------------------------------------------------------------------

    def begin(self) -> Any:
        self.passes += 1
        if self.passes > MOST_PASSES:
            self.fail("what it carries does not settle")
        if self not in self.trace.loops:
            self.trace.loops.append(self)
        for storage, tensor in self.entry_tensors.items():
            storage.set_back(tensor)
        self.created = []
        self.since = _core.next_serial()
        values = {name: self.entry.get(name, Unset) for name in self.parts.apart(self.variables())}
        for name, (start, delta) in self.inductions.items():
            values[name] = start + delta * self.turn()
        for item in self.carried:
            item.parameter = _core.parameter(item.shape, item.dtype, item.name or "array")
            if item.storage is not None:
                item.storage.set_back(item.parameter)
            elif item.has_entry and item.name is not None:
                values[item.name] = item.array_of(item.parameter, not item.scalar)
        self.watch_shared(values)
        self.appended.begin(values)
        self.at_begin = values
        self.written = set()
        self.bind(self.parts.together(values, values, self.turns.site))
        if self.turns.at >= 0:
            self.frame.locals |= {LEFT: False, WAY: 0}
        return self.counter

    def turn(self) -> Any:
        """How many turns are done, as an extent."""
        distance = (self.plain_counter - self.first) if self.step > 0 else (self.first - self.plain_counter)
        return distance if abs(self.step) == 1 else distance // abs(self.step)

    def has_turns(self) -> bool:
        return (self.trips if isinstance(self.trips, int) else self.trips.min) > 0 and self.early.before is False

    def end(self) -> Any:
        """After a pass: the counter for the next one, or None where the loop is complete."""
        now = self.bound()
        self.check_kept(now)
        read = self.read_later(now)
        self.appended.end(read)
        carried = self.find_carried(read)
        if self.has_other_parts():
            return self.begin()
        self.find_shared(carried, now)
        if [c.key() for c in carried] != [c.key() for c in self.carried] or self.changed_inductions:
            self.carried = carried
            return self.begin()
        if self.drop_first_writes():
            return self.begin()
        self.close(now)
        return None

    def read_later(self, now: dict[str, Any]) -> dict[str, Any]:
        """The variables that the next turn may read, or what is behind the loop."""
        recorder = self.trace.recorder
        if recorder is None:
            return now
        return {name: value for name, value in now.items() if self.is_read_later(name)}

    def is_read_later(self, name: str) -> bool:
        variable = variable_of(name)
        return variable in self.places or self.trace.recorder.is_read_later(self.turns, variable)

    def drop_first_writes(self) -> bool:
        """Whether arrays were written in the first turn alone, as what stood for them is bound to others then.

        Those that nothing else refers to are forgotten; others ask for the first turn to be written out.
        """
        once = [storage for storage in self.entry_tensors if storage not in self.written]
        for storage in once:
            if self.is_known_elsewhere(storage):
                self.peel("an array is written in the first turn alone")
            storage.set_back(self.entry_tensors.pop(storage))
        self.carried = [item for item in self.carried if item.storage not in once]
        for item in self.carried:
            # What is bound to another array in each turn is, in the first, one that is written through others.
            entry = self.entry.get(item.name) if item.name is not None else None
            if isinstance(entry, TracedArray) and entry._storage in self.entry_tensors:
                self.peel(f"'{item.name}' is an array in the first turn that is written by another name")
        return bool(once)

    def peel(self, reason: str) -> Any:
        """Has the first turn written out, once or twice; then all of them."""
        if (
            isinstance(self.trips, int)
            and isinstance(self.turns.numbers.start, int)
            and self.trace.peels.get(self.turns.site, 0) < 2
        ):
            raise Retry(self.turns.site, reason, peel=True)
        return self.fail(reason)

    def left_early(self) -> None:
        """Called where Python knew in a turn that it was the last."""
        reason = "it is left before its end"
        raise Retry(
            self.turns.site, reason, peel=self.turns.is_endless and self.trace.peels.get(self.turns.site, 0) < 2
        )

    def check_kept(self, now: dict[str, Any]) -> None:
        """Nothing that the body made may be held by anything but local variables."""
        if self.trace.recorder is not None:
            return  # who sees each store before it happens
        for name, content in self.containers.items():
            if shallow(self.entry[name]) != content:
                self.fail(f"'{name}' is changed in each turn")
        held = {id(value) for value in now.values()} | {id(v) for v in self.at_begin.values()}
        for attempt in (1, 2):
            alive = [obj for ref in self.created if (obj := ref()) is not None and id(obj) not in held]
            if not alive:
                return
            if attempt == 1:
                del alive
                gc.collect()
        self.fail("a value of the body is kept in a container or object")

    def fail(self, reason: str) -> Any:
        if self.turns.numbers.forced:
            raise_here(UnsupportedError, f"the loop cannot be kept as one: {reason}", "loop")
        raise Retry(self.turns.site, reason)

    # -- the loop itself ---------------------------------------------------------------------------------------------

    def require_known_later(self, now: dict[str, Any]) -> None:
        """What only the body binds and the program reads later is an array or a number, not something that has values of the body in it."""
        recorder = self.trace.recorder
        carried = {item.name for item in self.carried}
        for name, value in now.items():
            known = name in carried or value is None or isinstance(value, (_core.Dim, *PLAIN, str, bytes, np.generic))
            if name not in self.entry and not known and recorder is not None and self.is_read_later(name):
                self.fail(
                    f"'{name}' is a {'view' if isinstance(value, TracedArray) else type(value).__name__} of the body that is read later"
                )

    def handed_on_early(self, now: dict[str, Any], has_effects: bool) -> list[tuple[Tensor, Tensor]]:
        """What a loop that may end early begins with and gives at each turn for that; nothing of others."""
        is_last = self.turns.is_last()
        if not self.early.is_possible() and is_last is None:
            return self.fail("nothing ends it") if self.turns.is_endless else []
        for (owner, _), value in zip(self.appended.arrays, self.appended.values, strict=True):
            self.trace.recorder.asks_to_grow(owner, value)
        if has_effects or self.appended.arrays:
            self.fail("ranks exchange arrays, or a list is appended to, in a loop that may end early")
        return self.early.handed_on(now, self.read_later(now), is_last)

    def close(self, now: dict[str, Any]) -> None:
        self.require_known_later(now)
        outputs = [
            as_tensor(self.in_program(now[item.name]), item.dtype) if item.storage is None else item.storage.tensor  # type: ignore[index]
            for item in self.carried
        ]
        inits = self.initials()
        parameters = [item.parameter for item in self.carried]
        effects = self.trace.taken_effects(self.begun, self.since)
        if effects and not inits:
            self.fail("ranks exchange arrays in it, and nothing comes of it")
        early = self.handed_on_early(now, bool(effects))
        if early:
            parameters = [*(_core.parameter((), before.dtype, "early") for before, _ in early), *parameters]
            inits = [*(before for before, _ in early), *inits]
            outputs = [*(after for _, after in early), *outputs]
        graph, captured = _core.record_region(parameters, outputs, self.since, effects)
        attrs: dict[str, Any] = {
            "counter": self.symbol,
            "first": (self.first,),
            "trips": (self.trips,),
            "step": self.step,
            "carried": len(inits),
            **({"until": True} if early else {}),
        }
        results = _core.apply_all("for", [*inits, *captured], attrs, [graph]) if inits else []
        self.trace.effects += results[:1] if effects else []
        self.trace.loops.remove(self)
        values: dict[str, Any] = {}
        if early:
            values, results = self.early.take(results)
        for item, result in zip(self.carried, results, strict=True):
            if item.storage is not None:
                item.storage.set_back(result)
            elif item.name is not None:
                values[item.name] = item.array_of(result, self.may_be_entry(item))
        carried_names = {item.name for item in self.carried}
        for name, value in now.items():
            if name in carried_names or name in values:
                continue
            if early and self.early.follows_counter(name, value):
                values[name] = Gone(name)
            elif isinstance(value, _core.Dim) and self.symbol in str(value):
                values[name] = value.substitute(self.symbol, self.last_symbol())
            elif isinstance(value, (TracedArray, Selection)) and name not in self.entry:
                values[name] = Gone(name)
        for name, (start, delta) in {} if early else self.inductions.items():
            values[name] = start + delta * self.trips
        if self.has_turns():
            self.parts.settled(values, now)
        self.watch_shared(values, is_done=True)
        self.appended.close(values)
        self.bind(self.parts.together(values, now, self.turns.site))
        if early:
            self.early.require_bound()
        # Who looks for what else refers to an array does not find it here.
        self.entry, self.at_begin, self.containers = {}, {}, {}

    def last_symbol(self) -> Any:
        return self.first + (self.trips - 1) * self.step

    def initials(self) -> list[Tensor]:
        """What the loop begins with: as arrays were then, which local variables may be views of."""
        after = {storage: storage.tensor for storage in self.entry_tensors}
        for storage, tensor in self.entry_tensors.items():
            storage.set_back(tensor)
        found = [
            self.entry_tensors[item.storage] if item.storage is not None else self.initial(item)
            for item in self.carried
        ]
        for storage, tensor in after.items():
            storage.set_back(tensor)
        return found

    def initial(self, item: Carried) -> Tensor:
        if not item.has_entry:
            return broadcast_to(as_tensor(0, item.dtype), item.shape)
        return broadcast_to(as_tensor(self.in_program(self.entry[item.name]), item.dtype), item.shape)  # type: ignore[index]

    # -- called by what is traced --------------------------------------------------------------------------------------

    def note_created(self, array: TracedArray | Selection) -> None:
        self.created.append(weakref.ref(array))
        if not isinstance(array, TracedArray) or self.turns.site not in self.trace.known:
            return
        if any(self.depends_on_turn(extent) for extent in array.shape):
            self.fail("arrays have as many elements as the turn says, and nobody says of how many turns")

    def depends_on_turn(self, extent: Any) -> bool:
        return type(extent) is _core.Dim and any(str(part) == self.symbol for part in extent.symbols)

    def note_write(self, storage: Storage) -> None:
        self.written.add(storage)
        if storage.born < self.born and storage not in self.entry_tensors:
            self.entry_tensors[storage] = storage.tensor


class Gone:
    """Stands for a view or array of varying size that only the body of a loop knew."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        raise_here(
            UnsupportedError,
            f"'{self.name}' belongs to the body of a loop: its last value cannot be read after it",
            "loop_local",
        )


def shallow(value: Any) -> Any:
    """What a container holds, to see whether it changes."""
    if isinstance(value, dict):
        return [(id(k), id(v)) for k, v in value.items()]
    return [id(v) for v in value]


def rows_of(array: TracedArray, frame: FrameType) -> Any:
    """The rows of an array: a for statement over many of them is a loop over their numbers."""
    count = array.shape[0]
    is_loop = (
        current_trace() is not None
        and frame.f_code.co_code[frame.f_lasti] == _GET_ITER
        and not is_library(frame.f_code.co_filename)
    )
    if is_loop and (not isinstance(count, int) or count > SHORT):
        return Turns(make_range(Range, (count,)), frame, array)
    return Rows(array)
