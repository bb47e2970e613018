"""All that the rest of a recorded call may depend on, at one moment: to see whether a turn of a loop begins as another one did.

Two states are alike if they have the same form (the same frames, containers and objects, the same arrays but for their values)
and the same constants; what else is in them are values, which may differ. What cannot be looked into makes a state unknown.
"""

from __future__ import annotations

import enum
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..numpy.loops import Range, Turns
from ..numpy.steps import whole_of
from ..numpy.tracer import BoundMethod, TracedArray
from .frame import NULL, Frame
from .generators import frame_of
from .kinds import CONTAINERS, NUMBERS, instance_space, is_record, is_user_object
from .liveness import LOOKING, live_at
from .outside import CALL, VALUE, HostValue
from .reads import is_key

__all__ = ["CallState", "Number", "StoredValue", "Unknown"]

Put = Callable[[Any], Any]
ITERATORS: tuple[type, ...] = (
    type(iter([])),
    type(iter(())),
    type(iter(range(0))),
    type(iter({}.items())),
    enumerate,
    zip,
    reversed,
)
BY_IDENTITY = (type, types.ModuleType, types.CodeType, np.ufunc, np.dtype, np.errstate, enum.Enum, property)
#: Bytes of a constant array that is compared by its elements.
LARGEST_COMPARED = 1 << 16


class Unknown(Exception):
    """The state of a call that has this cannot be compared."""


class StoredValue:
    """The value of a whole array."""

    is_settable = True

    def __init__(self, array: TracedArray) -> None:
        self.array = whole_of(array)
        self.storage = array._storage

    def fixed(self, recorder: Any) -> Any:
        """What it is, where it is a constant or was given from outside; None where it was computed."""
        tensor = self.storage.tensor
        constant = tensor.constant()
        if constant is not None:
            return ("constant", constant.tobytes()) if constant.nbytes <= LARGEST_COMPARED else ("given", id(tensor))
        source = recorder.sources.get(id(tensor))
        if source is None:
            return ("given", id(tensor)) if tensor.op == "parameter" else None
        return None if recorder.steps.steps[source[2]][0] in (CALL, VALUE) else ("given", id(tensor))

    def step(self, recorder: Any) -> int:
        constant = self.storage.tensor.constant()
        if constant is not None:
            return recorder.steps.object(constant[()] if self.array.scalar else constant)
        source = recorder.sources.get(id(self.storage.tensor))
        if source is None:
            raise Unknown("an array that is read from outside")
        return source[2]

    def become(self, recorder: Any, value: Any, step: int, tensor: Any) -> None:
        recorder.sources[id(tensor)] = (tensor, value, step)
        self.storage.tensor = tensor


class Number:
    """A number, or what else Python has as a value, and how another is put in its place."""

    def __init__(self, recorder: Any, value: Any, put: Put | None) -> None:
        self.value, self.put = value, put
        self.is_computed = type(value) is HostValue and recorder.steps.steps[value.step][0] in (CALL, VALUE)

    def fixed(self, recorder: Any) -> Any:
        if self.is_computed:
            return None
        is_step = type(self.value) is HostValue
        return ("step", self.value.step) if is_step else ("constant", type(self.value), repr(self.value))

    def step(self, recorder: Any) -> int:
        return self.value.step if type(self.value) is HostValue else recorder.steps.object(self.value)

    @property
    def is_settable(self) -> bool:
        """Whether another can take its place: a constant in a tuple stays what it is."""
        return self.is_computed or self.put is not None

    def become(self, recorder: Any, value: Any, step: int, tensor: Any) -> None:
        if self.is_computed:
            # Whoever has it sees it.
            self.value.value, self.value.step, self.value.traced = value, step, None
        else:
            assert self.put is not None
            self.value = HostValue(value, step)
            self.put(self.value)


class CallState:
    """The state of a recorded call: its form, and its values in the order in which they are met."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.form: list[Any] = []
        self.values: list[StoredValue | Number] = []
        self.arrays: list[TracedArray] = []
        self.kept: list[Any] = []  # whatever the form names by its identity
        self.frames: list[Frame] = []
        self._known: dict[int, int] = {}  # objects: as what they were met
        self._steps: dict[int, int] = {}  # steps of host values: the number of the value
        if recorder.quiet or recorder.asked:
            raise Unknown("warnings that are not seen, or a call that is done after the program")
        self._surroundings()
        frame = recorder.frame
        while frame is not None:
            self._frame(frame)
            frame = frame.caller

    # -- places ------------------------------------------------------------------------------------------------------

    def _surroundings(self) -> None:
        r = self.recorder
        self.form.append((tuple(np.geterr().items()), id(np.geterrcall())))
        self.form.append(
            tuple(map(len, (r.reads, r.arrays, r.mirrors, r.large, r.remembered, r.hosted, r.trace.captures)))
        )
        for (kind, _, name), (container, key, value) in r.overlay.items():
            self._token("overlay", kind, container, repr(name))
            self.visit(value, lambda new, k=(kind, _, name), c=container, n=key: r.overlay.__setitem__(k, (c, n, new)))
        for mirror in r.mirrors.values():
            self._token("mirror", mirror.original)
            self.visit(mirror.copy)
        for array in r.trace.arguments:
            self.visit(array)
        for read in r.trace.reads:
            if r.steps.steps[read.step][0] not in (CALL, VALUE):
                self.visit(read.traced)
        self.visit(r.trace.checks.valid)

    def _frame(self, frame: Frame) -> None:
        names = set(frame.f_code.co_names)
        if (
            frame.names is not None
            or frame.shown is not None
            or frame.handled
            or frame.thrown
            or not names.isdisjoint(LOOKING)
        ):
            raise Unknown("variables that are looked at by others")
        if frame in self.frames:
            return
        self.frames.append(frame)
        self._token("frame", frame, frame.code, frame.at, tuple(frame.blocks), frame.keywords)
        for i, value in enumerate(frame.stack):
            self.visit(value, lambda new, stack=frame.stack, i=i: stack.__setitem__(i, new))
        live = live_at(frame)
        for name in sorted(frame.locals):
            if name in live:
                self.form.append(name)
                self.visit(frame.locals[name], lambda new, space=frame.locals, name=name: space.__setitem__(name, new))
        for name, cell in frame.cells.items():
            self.form.append(name)
            self._cell(cell)

    def drop_dead(self) -> None:
        """Forgets the variables that are not read any more."""
        for frame in self.frames:
            live = live_at(frame)
            for name in [name for name in frame.locals if name not in live]:
                del frame.locals[name]

    def _cell(self, cell: Any) -> None:
        if id(cell) not in self.recorder.fresh_cells:
            self._token("cell", cell)
        elif self._is_new(cell):
            try:
                value = cell.cell_contents
            except ValueError:
                self.form.append("an empty cell")
                return
            self.visit(value, lambda new: setattr(cell, "cell_contents", new))

    # -- values ------------------------------------------------------------------------------------------------------

    def visit(self, value: Any, put: Put | None = None) -> None:
        kind = type(value)
        if kind is HostValue:
            self._number(value, type(value.value), put)
        elif isinstance(value, TracedArray):
            self._array(value)
        elif kind in NUMBERS or (isinstance(value, np.generic) and value.dtype.kind in "fciub"):
            self._number(value, kind, put)
        elif value is None or value is NULL or value is Ellipsis or value is NotImplemented or kind in (str, bytes):
            self.form.append((kind, value if kind in (str, bytes) else None))
        elif kind in (list, tuple) or is_record(kind):
            self._sequence(value)
        elif kind is dict:
            self._dict(value)
        elif kind in (set, frozenset):
            self._set(value)
        elif kind is slice:
            self._parts("slice", (value.start, value.stop, value.step))
        elif kind in (range, Range):
            self._parts("range", (value.start, value.stop, value.step))
        elif kind is Turns:
            self._turns(value)
        elif kind in ITERATORS:
            self._iterator(value)
        else:
            self._object(value, kind)

    def _number(self, value: Any, kind: type, put: Put | None) -> None:
        number = Number(self.recorder, value, put)
        if number.is_computed:
            known = self._steps.setdefault(value.step, len(self.values))
            if known != len(self.values):
                self.form.append(("same number", known))
                return
        self.form.append(("number", kind))
        self.values.append(number)

    def _array(self, array: TracedArray) -> None:
        if not self._is_new(array):
            return
        self.arrays.append(array)
        storage = array._storage
        if storage.stale is not None or storage.twins or storage.peers or storage.checks:
            raise Unknown("an array whose memory others may have")
        if self._is_new(storage):
            strides = tuple(storage.strides) if isinstance(storage.strides, list) else id(storage.strides)
            self.form.append(
                (storage.tensor.dtype, storage.tensor.shape, strides, storage.guard, storage.apart, storage.foreign)
            )
            self.values.append(StoredValue(array))
        self.form.append(("array", array.scalar, array.weak, array._steps))

    def _sequence(self, value: Any) -> None:
        if self._is_new(value):
            self.form.append((type(value), len(value)))
            for i, item in enumerate(value):
                self.visit(item, (lambda new, i=i: value.__setitem__(i, new)) if type(value) is list else None)

    def _dict(self, value: dict[Any, Any]) -> None:
        if not all(map(is_key, value)):
            raise Unknown("a dictionary whose keys are objects")
        if self._is_new(value):
            self.form.append(("dict", [(type(key), repr(key)) for key in value]))
            for key, item in value.items():
                self.visit(item, lambda new, key=key: value.__setitem__(key, new))

    def _set(self, value: Any) -> None:
        if not all(map(is_key, value)):
            raise Unknown("a set of objects")
        if self._is_new(value):
            self.form.append((type(value), [(type(key), repr(key)) for key in value]))

    def _parts(self, name: str, parts: tuple[Any, ...]) -> None:
        self.form.append(name)
        for part in parts:
            self.visit(part)

    def _turns(self, turns: Turns) -> None:
        if not self._is_new(turns):
            return
        if turns.plain is None or turns.rows is not None:
            raise Unknown("a loop that is recorded once")
        numbers = turns.numbers.numbers()
        self.form.append(("turns", numbers))
        place = getattr(turns.plain, "place", None)
        if place is None:
            place = len(numbers) - operator.length_hint(turns.plain)
        self.visit(place, lambda new: setattr(turns, "plain", self.recorder.counted(numbers, new)))

    def _iterator(self, value: Any) -> None:
        if self._is_new(value):
            reduced = value.__reduce__()
            self.form.append(type(value))
            self._parts("iterator", (*reduced[1], *reduced[2:]))

    def _object(self, value: Any, kind: type) -> None:
        r = self.recorder
        if id(value) in r.hosted:
            self._token("hosted", r.hosted[id(value)][1])
        elif kind is types.FunctionType:
            self._function(value)
        elif kind is types.MethodType:
            self.form.append("method")
            self._parts("method", (value.__func__, value.__self__))
        elif kind is types.BuiltinFunctionType or kind is types.MethodWrapperType:
            self.form.append(value.__name__)
            self.visit(value.__self__)
        elif kind is BoundMethod:
            self.form.append(value.name)
            self.visit(value.owner)
        elif kind is types.GeneratorType:
            self._generator(value)
        elif kind is np.ndarray:
            self._constant(value)
        elif id(value) in r.fresh:
            self._made(value, kind)
        elif (
            isinstance(value, BY_IDENTITY)
            or id(value) in r.seen
            or id(value) in r.opaque
            or (is_user_object(value) and not isinstance(value, CONTAINERS))
        ):
            self._token("object", value)
        else:
            raise Unknown(f"a {kind.__name__}")

    def _function(self, function: types.FunctionType) -> None:
        if id(function) in self.recorder.seen or not self._is_new(function):
            self._token("function", function if id(function) in self.recorder.seen else None)
            return
        self._token("function", function.__code__, function.__globals__)
        if function.__dict__:
            raise Unknown("a function with attributes")
        self._parts("defaults", (function.__defaults__, function.__kwdefaults__))
        for cell in function.__closure__ or ():
            self._cell(cell)

    def _generator(self, generator: Any) -> None:
        frame = frame_of(generator)
        if frame in self.frames:
            self.form.append(("running", self.frames.index(frame)))
        elif frame is None or frame.caller is not None or frame.at == -1:
            raise Unknown("a generator")
        elif self._is_new(generator):
            self._frame(frame)

    def _constant(self, array: np.ndarray) -> None:
        if id(array) in self.recorder.frozen:
            self._token("frozen", array)
        elif array.base is not None or array.nbytes > LARGEST_COMPARED:
            raise Unknown("a view that is a constant, or a large one")
        elif self._is_new(array):
            self.form.append((array.dtype, array.shape, array.strides, array.flags.writeable, array.tobytes()))

    def _made(self, value: Any, kind: type) -> None:
        space = instance_space(value)
        if space is None or isinstance(value, CONTAINERS) or any("__slots__" in vars(base) for base in kind.__mro__):
            raise Unknown(f"a {kind.__name__} without a dictionary")
        if self._is_new(value):
            self._token("made", kind)
            self.visit(space)

    # -- the form ----------------------------------------------------------------------------------------------------

    def _token(self, name: str, *parts: Any) -> None:
        self.kept.append(parts)
        self.form.append((name, *(part if type(part) in (str, int, tuple) else id(part) for part in parts)))

    def _is_new(self, value: Any) -> bool:
        """Whether something is met for the first time; else the form says as what it was met."""
        self.kept.append(value)
        number = self._known.get(id(value))
        if number is None:
            self._known[id(value)] = len(self._known)
            return True
        self.form.append(("same", number))
        return False
