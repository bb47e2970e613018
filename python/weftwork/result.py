"""What a recorded function gives and stores, as a plan that later calls build it by."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from .assembly import Assembly, PartAt, PartOf
from .bytecode.kinds import (
    CONTAINERS,
    attributes_of,
    contains_traced,
    is_method_of_data,
    is_record,
    is_user_object,
    type_of,
)
from .bytecode.outside import CALL, VALUE, HostValue
from .numpy.axis_order import inverse, turned
from .numpy.growing import GrownList, array_of_elements, listed_elements
from .numpy.layout import axes_of, is_contiguous
from .numpy.maybe import Either, Maybe
from .numpy.mixed import mark_of
from .numpy.shared_arrays import Choice, Side
from .numpy.steps import fixed, is_turned, view_of, whole_of
from .numpy.tracer import Selection, TracedArray, as_tensor
from .numpy.views import DynamicSlice, is_read_only
from .pytree import items_of
from .sharing import Sharing, root_of

__all__ = ["ARRAY", "LEAF", "NUMBER", "OUTPUT", "SCALAR", "Blueprint", "Place", "Slot", "in_form", "in_order"]

OUTPUT, LEAF = 0, 1
#: What a result without dimensions is.
ARRAY, SCALAR, NUMBER = 0, 1, 2


#: Where an input of a program is: an argument's number, and its axes as they lie in memory; None: by rows.
Place = tuple[int, tuple[int, ...] | None]


@dataclass
class Slot:
    """What an array of the result is: a program output, or an argument that is returned as it is."""

    source: int
    index: int
    form: int
    axes: tuple[int, ...] | None = None  # the array's axes among those of an output that lies in another order

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.source, self.index, self.form, self.axes


class Blueprint:
    """The parts of a result, each once, in an order in which they can be built, and what is stored where afterwards."""

    def __init__(self, recorder: Any, leaf_of: Callable[[TracedArray], int | None]) -> None:
        self.recorder, self.leaf_of = recorder, leaf_of
        self.slots: list[Slot] = []
        self.outputs: list[tuple[Any, str]] = []
        self.parts: list[tuple[Any, ...]] = []
        self.steps: list[int] = []
        self.first_step = 0
        self.stores: list[tuple[Any, ...]] = []
        self.known: dict[int, int] = {}
        self.kept: list[Any] = []
        #: By array that was chosen, and choice of a side that nobody else has: the part.
        self.own_parts: dict[tuple[int, int], int] = {}
        self.open: set[int] = set()
        self.result = -1
        self.validity: int | None = None  # the slot of whether NumPy would not have raised
        self.sharing = Sharing(recorder)

    # -- taking apart ----------------------------------------------------------------------------------------------

    def add_result(self, value: Any) -> None:
        self.result = self.add(value, "")

    def add_validity(self, value: TracedArray) -> None:
        self.outputs.append((value.tensor, "valid"))
        self.slot(Slot(OUTPUT, len(self.outputs) - 1, NUMBER))
        self.validity = len(self.slots) - 1

    def is_single(self) -> bool:
        """Whether the result is one slot, and nothing is stored."""
        return (
            self.validity is None and not self.stores and self.parts[self.result][0] == "slot" and len(self.slots) == 1
        )

    def add(self, value: Any, path: str) -> int:
        """The number of the part that this value is."""
        # A program that stands alone has an output for each place.
        if id(value) in self.known and not (self.recorder.bakes and isinstance(value, TracedArray)):
            return self.known[id(value)]
        if id(value) in self.open:
            self.recorder.refuse("a result that contains itself")
        self.open.add(id(value))
        part = self.part(value, path)
        self.open.discard(id(value))
        self.parts.append(part)
        self.kept.append(value)
        self.known[id(value)] = len(self.parts) - 1
        return len(self.parts) - 1

    def part(self, value: Any, path: str) -> tuple[Any, ...]:
        mirror = self.recorder.copies.get(id(value))
        if mirror is not None and not isinstance(value, tuple):
            return ("step", self.step(mirror.step))
        trimmed = self.recorder.trimmed.get(id(value))
        if trimmed is not None:
            return self.grown(functools.partial(array_of_elements, trimmed.empty), trimmed.count, [trimmed.rows], path)
        if type(value) is GrownList:
            if self.sharing.is_exact and value.has_views:
                value.written()
            form = functools.partial(listed_elements, value.elements, list(value.texts))
            return self.grown(form, value.count, value.stored(), path)
        if isinstance(value, Selection):
            if not self.recorder.can_break():
                value.leave()
            self.recorder.begin_with_arrays()
        mark = mark_of(self.recorder.trace, value)
        if mark is not None and not self.recorder.raises:
            python = self.add(mark.python, f"{path}.python" if path else "python")
            return ("mixed", python, self.add(mark.number, path), mark.kind)
        if isinstance(value, (TracedArray, np.ndarray, np.generic, _core.Dim)):
            return self.array(value, path)
        if type(value) is HostValue:
            return ("step", self.step(value.step))
        if type(value) is Maybe:
            return (
                "maybe",
                self.add(value.missing, f"{path}.missing" if path else "missing"),
                self.add(value.value, path),
            )
        if type(value) is Either:
            sides = [self.add(side, f"{path}.either") for side in value[1:]]
            return ("either", self.add(value.condition, "condition"), *sides)
        if id(value) in self.recorder.hosted:
            return ("step", self.step(self.recorder.hosted[id(value)][1]))
        join = lambda key: f"{path}.{key}" if path else str(key)
        kind = type(value)
        if kind in (list, tuple) or is_record(kind):
            return ("sequence", kind, [self.add(item, join(i)) for i, item in enumerate(items_of(value))])
        if kind is slice and contains_traced(value):
            return ("slice", kind, [self.add(item, "") for item in (value.start, value.stop, value.step)])
        if type(value) is dict:
            return ("dict", [(key, self.add(item, join(ascii_of(key)))) for key, item in value.items()])
        if id(value) in self.recorder.fresh:
            return self.object(value, join)
        return self.constant(value)

    def grown(self, form: Callable[..., Any], count: Any, columns: list[TracedArray], path: str) -> tuple[Any, ...]:
        """What is made of the first rows of arrays, so many as the program says."""
        parts = [self.add(count, f"{path}.count" if path else "count"), *(self.add(column, path) for column in columns)]
        return ("grown", form, parts)

    def step(self, step: int) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def array(self, value: Any, path: str) -> tuple[Any, ...]:
        if isinstance(value, np.ndarray):
            if id(value) in self.recorder.frozen:
                return ("constant", value)
            root = root_of(value)
            if root is not value and id(root) in self.sharing.roots and not self.recorder.bakes:
                if not root.flags.c_contiguous:
                    self.recorder.refuse("the result has several views of an array that is not in row-major order")
                return ("view", self.add(root, path), [PartOf(root, value)])
        elif isinstance(value, TracedArray):
            if self.sharing.is_exact and value._storage.apart:
                self.sharing.refuse_copy(value._storage.apart)
            choice = value._storage.choice
            if choice is not None and not self.recorder.bakes and choice.shows(value):
                if choice.is_told(Side(value)):
                    return self.chosen(choice, value, path)
                if not self.recorder.strict:
                    self.recorder.write_out_choice(choice)
            if not value.scalar:
                view = self.view(value, path)
                if view is not None:
                    return view
            read = next((r for r in self.recorder.trace.reads if r.traced is value), None)
            if read is not None:
                return ("step", self.step(read.step))
            leaf = self.leaf_of(value)
            if leaf is not None:
                return self.slot(Slot(LEAF, leaf, ARRAY))
        elif isinstance(value, np.generic) and not self.recorder.bakes:
            return ("constant", value)
        return self.own(value, path)

    def chosen(self, choice: Choice, value: TracedArray, path: str) -> tuple[Any, ...]:
        """The one of several arrays that NumPy has, as somebody else has it too."""
        sides = [self.side(side, value, path) for side in choice.sides]
        return ("either", self.add(choice.condition, "condition"), *sides)

    def side(self, side: Side | None, value: TracedArray, path: str) -> int:
        """The array that a side of ``value`` is, or what ``value`` is if nobody else has that."""
        array = None if side is None else self.sharing.held(side)
        if array is not None:
            return self.add(array, path)
        older = side.storage.choice if side is not None and side.is_whole else None
        key = (id(value), id(older))
        if key not in self.own_parts:
            self.parts.append(self.own(value, path) if older is None else self.chosen(older, value, path))
            self.own_parts[key] = len(self.parts) - 1
        return self.own_parts[key]

    def own(self, value: Any, path: str) -> tuple[Any, ...]:
        """An array that the program gives."""
        axes = None if self.recorder.bakes else order_of(value)
        self.outputs.append((turned(as_tensor(value), axes), path))
        slot = self.slot(Slot(OUTPUT, len(self.outputs) - 1, form_of(value), inverse(axes)))
        if self.recorder.bakes or not is_protected(value):
            return slot
        self.parts.append(slot)
        return ("view", len(self.parts) - 1, [fixed])

    def view(self, value: TracedArray, path: str) -> tuple[Any, ...] | None:
        """A view of an argument, of an array of the surroundings, or of another part of the result; None for others."""
        storage = value._storage
        if self.recorder.bakes:
            return None
        steps = self.recorder.steps.steps
        outside = [r.traced for r in self.recorder.trace.reads if steps[r.step][0] not in (CALL, VALUE)]
        given = [*outside, *self.recorder.trace.arguments]
        whole = next((array for array in given if array._storage is storage), self.sharing.wholes.get(id(storage)))
        if whole is None and is_turned(value):
            whole = self.sharing.wholes[id(storage)] = whole_of(value)
        if whole is None or whole is value or whole.scalar:
            return None
        forms = [self.part_at(step) if isinstance(step, DynamicSlice) else view_of(step) for step in value._steps] or [
            np.ndarray.view
        ]
        if any(form is None for form in forms) and self.recorder.strict:
            return None
        if any(form is None for form in forms):
            return self.recorder.refuse(
                "the result is a view of an array that the function was given, or gives besides"
            )
        return ("view", self.add(whole, path), forms)

    def part_at(self, step: DynamicSlice) -> PartAt:
        return PartAt(step.sizes, [None if place is None else self.place(place) for place in step.places])

    def place(self, place: Any) -> tuple[bool, int]:
        """Where a call finds a number: whether the program computes it, and its slot or step."""
        if type(place) is HostValue:
            return False, self.step(place.step)
        self.outputs.append((place, "place"))
        self.slot(Slot(OUTPUT, len(self.outputs) - 1, NUMBER))
        return True, len(self.slots) - 1

    def slot(self, slot: Slot) -> tuple[Any, ...]:
        self.slots.append(slot)
        return ("slot", len(self.slots) - 1)

    def object(self, value: Any, join: Callable[[Any], str]) -> tuple[Any, ...]:
        """An object that the function made: made anew at each call."""
        kind = type(value)
        if kind is functools.partial:
            return self.recorder.refuse("the result holds a functools.partial")
        return ("object", kind, [(name, self.add(held, join(name))) for name, held in attributes_of(value).items()])

    def constant(self, value: Any) -> tuple[Any, ...]:
        kind = type(value)
        plain = value is None or kind in (
            bool,
            int,
            float,
            complex,
            str,
            bytes,
            type(Ellipsis),
            type(NotImplemented),
            slice,
        )
        known = (
            isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType, np.dtype, enum.Enum, np.ufunc))
            or id(value) in self.recorder.opaque
        )
        if is_method_of_data(value) and not self.recorder.bakes:
            return self.recorder.refuse("the result holds a method")
        if plain or known or self.recorder.bakes or kind.__module__ == "weftwork.joined":
            return ("constant", value)
        is_object = is_user_object(value) and not isinstance(value, CONTAINERS)
        if is_object or self.recorder.is_outside(value):
            return ("constant", value)
        if kind in (set, frozenset) and all(type(v) in (int, float, str, bool, bytes, type(None)) for v in value):
            return ("copy", kind, tuple(value))
        if type_of(value) is range:
            return ("constant", range(value.start, value.stop, value.step))
        return self.recorder.refuse(f"the result holds a {type_of(value).__name__} that the function made")

    def let_go(self) -> None:
        """Forgets what it was made of: later calls build by the parts alone."""
        self.recorder = self.leaf_of = self.sharing = None  # type: ignore[assignment]
        self.outputs, self.kept, self.known = [], [], {}

    def builder(self) -> Callable[[list[Any], tuple], Any]:
        """What makes the result of a call of a program's outputs and of the values of steps, and stores what is stored."""
        return Assembly(self).function()


def ascii_of(key: Any) -> str:
    # A key need not be text that can be encoded.
    text = str(key)
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def is_protected(value: Any) -> bool:
    """Whether NumPy gives an array here that must not be written."""
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    return isinstance(value, TracedArray) and not value.scalar and is_read_only(value)


def in_order(array: Any, axes: tuple[int, ...] | None) -> Any:
    """A view of an array with its axes in this order; None: as they are."""
    return array if axes is None else array.transpose(axes)


def order_of(value: Any) -> tuple[int, ...] | None:
    """The axes of an array that NumPy has in another order in memory than that of rows, from the outermost."""
    if not isinstance(value, TracedArray) or value._steps or value._storage.strides is None:
        return None
    axes = axes_of(value.shape, value._storage.strides)
    return None if axes is None or is_contiguous(value.shape, value._storage.strides) else axes


def in_form(array: Any, form: int, axes: tuple[int, ...] | None = None) -> Any:
    """An output as what NumPy gives: an array, a NumPy scalar, or a number of Python's."""
    if form == ARRAY:
        return in_order(array, axes)
    return array.item() if form == NUMBER else array if array.ndim else array[()]


def form_of(value: Any) -> int:
    """Whether NumPy gives an array, a scalar or a Python number here."""
    if isinstance(value, TracedArray):
        return NUMBER if value.weak else SCALAR if value.scalar else ARRAY
    if isinstance(value, _core.Dim):
        return NUMBER
    return ARRAY if isinstance(value, np.ndarray) else SCALAR
