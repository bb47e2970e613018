"""What a recorded call reads and writes by an index, where numbers in it may be another at the next call."""

from __future__ import annotations

import operator
from types import NoneType
from typing import Any

import numpy as np

from ..numpy.growing import GrownList
from ..numpy.indexing import expand_ellipsis
from ..numpy.items import Start, dynamic_slice, is_view_at, told
from ..numpy.tracer import TracedArray
from ..numpy.validity import note_bound
from ..numpy.views import Flat
from .kinds import ABSENT, NUMBERS, answers, compares_by_identity, contains_traced
from .machine import Machine
from .outside import HostValue

__all__ = ["DELETE_ITEM", "ITEM", "STORE_ITEM", "Items"]

#: Where NumPy stores elements: it asks what is stored for them.
ARRAYS = (TracedArray, np.ndarray, np.flatiter, Flat)
ITEM, STORE_ITEM, DELETE_ITEM = operator.getitem, operator.setitem, operator.delitem


class Items(Machine):
    """The part of a recorder that knows items and the keys that lead to them."""

    def item(self, owner: Any, key: Any) -> Any:
        if type(owner) is GrownList:
            return self.list_item(owner, key)
        if type(owner) is HostValue:
            owner = self.traced(owner) if isinstance(owner.value, np.generic) else self.concrete(owner)
        if answers(owner):
            return self.call_special(owner, "__getitem__", key)
        if id(owner) in self.large:
            found = self.entry_of(owner, self.key(owner, key))
            if found is ABSENT:
                raise KeyError(key)
            return found
        if type(owner) is np.ndarray and contains_traced(key):
            self.begin_with_array(owner)
        if isinstance(owner, np.lib._index_tricks_impl.AxisConcatenator) or type(owner).__module__.startswith("numpy"):
            return self.numpy_item(owner, self.known_key(owner, key))
        if type(owner) is TracedArray and is_constant(key):
            return self.guarded(ITEM, (owner, key), {})
        key = self.asked_bounds(owner, key)
        owner, key = self.at_place(owner, self.computed_items(owner, key), key)
        return self.guarded(ITEM, (owner, self.known_key(owner, key)), {})

    def hashed(self, value: Any) -> Any:
        value = self.concrete_deep(value)
        if isinstance(value, TracedArray) and value.scalar:
            self.refuse("a traced value as a key")
        if answers(value):
            if not compares_by_identity(value):
                self.refuse("an object whose methods C code may call")
            self.steps.is_bound = True  # the order in a set, say, follows from where it is in memory
        if type(value) is tuple:
            for item in value:
                self.hashed(item)
        return value

    def known_key(self, owner: Any, key: Any) -> Any:
        """A key without host values, of which C code asks no method of the user's."""
        if not isinstance(owner, dict):
            self.require_no_user_objects(key)
        return self.key(owner, key)

    def key(self, owner: Any, key: Any) -> Any:
        """A key without host values: in the index of an array they are arrays, elsewhere constants."""
        if isinstance(owner, dict):
            return self.hashed(key)
        if type(key) is HostValue:
            return self.index(owner, 0, key)
        if type(key) is slice:
            return slice(*(self.concrete(part) for part in (key.start, key.stop, key.step)))
        if type(key) is tuple:
            # Where each part has an axis of its own.
            indexed = owner if all(type(part) in (int, slice, HostValue) for part in key) else None
            return tuple(
                self.index(indexed, axis, part) if type(part) is HostValue else self.key(owner, part)
                for axis, part in enumerate(key)
            )
        if type(key) is list and self.holds_host(key):
            return self.call(np.array, (key,), {}) if isinstance(owner, TracedArray) else self.concrete_deep(key)
        return key

    def index(self, array: Any, axis: int, place: HostValue) -> Any:
        """A number of Python's as the index of one element along an axis; of what is no array as a constant."""
        if (
            not isinstance(array, TracedArray)
            or not is_integer(place)
            or axis >= array.ndim
            or not isinstance(array.shape[axis], int)
            or self.bakes
        ):
            return self.concrete(place)
        extent = array.shape[axis]
        return note_bound(self.traced(self.host(Wrapped(extent, axis), place)), extent)

    def at_place(self, array: Any, items: list[Any] | None, key: Any) -> tuple[Any, Any]:
        """A view of an array whose place Python computes at each call, and the index within; else the array and the key."""
        if items is None:
            return array, key
        view, within = dynamic_slice(array, items, self.begun, list(map(told_by_step, items)))
        # With an ellipsis, what is left when each axis has its place is an array, no scalar.
        keeps_array = type(key) is tuple and any(part is Ellipsis for part in key)
        return view, (*within, Ellipsis) if keeps_array else tuple(within)

    def computed_items(self, array: Any, key: Any) -> list[Any] | None:
        """An item for each axis of an index that makes a view whose place Python computes; None for others."""
        places = key if type(key) is tuple else (key,)
        if not isinstance(array, TracedArray) or array.scalar or self.bakes or not any(map(is_computed, places)):
            return None
        used = sum(place is not None and place is not Ellipsis for place in places)
        is_fixed = all(type(extent) is int for extent in array.shape)
        if not is_fixed or used > array.ndim or not all(map(is_basic, places)):
            return None
        return expand_ellipsis(places, array.ndim)

    def begun(self, item: Any, extent: int, axis: int) -> Any:
        """An item of an index as where a part begins, if Python computes that."""
        if type(item) is HostValue:
            start = self.host(Wrapped(extent, axis), item)
            return Start(self.traced(start).tensor, start, 1, 0)
        return self.span(item, extent) if is_computed(item) else item

    def asked_bounds(self, array: Any, key: Any) -> Any:
        """An index whose slices have bounds that the program computes, with those that this call has: shapes depend on them."""
        parts = key if type(key) is tuple else (key,)
        bounds = [bound for part in parts if type(part) is slice for bound in (part.start, part.stop, part.step)]
        asked = [bound for bound in bounds if isinstance(bound, TracedArray) and bound.scalar]
        if not asked or not isinstance(array, TracedArray) or not self.can_break():
            return key
        found = dict(zip(map(id, asked), self.host_operands(asked), strict=True))
        known = lambda bound: found.get(id(bound), bound)
        parts = tuple(
            slice(*map(known, (part.start, part.stop, part.step))) if type(part) is slice else part for part in parts
        )
        return parts if type(key) is tuple else parts[0]

    def span(self, place: slice, extent: int) -> Any:
        """A slice along an axis as where it begins: the program is for this many elements."""
        step = self.concrete(place.step)
        bounds = (place.start, place.stop)
        first, last = (bound.value if type(bound) is HostValue else bound for bound in bounds)
        count = len(range(extent)[first:last:step])
        self.truth(self.host(HasLength(extent, step, count), *bounds))
        if not count:
            return slice(0, 0)
        start = self.host(Lowest(extent, step), *bounds)
        return Start(self.traced(start).tensor, start, (count - 1) * abs(step or 1) + 1, slice(None, None, step))

    def store_item(self, owner: Any, key: Any, value: Any) -> None:
        if type(owner) is GrownList:
            self.store_in_list(owner, key, value)
            return
        if answers(owner):
            self.call_special(owner, "__setitem__", key, value)
            return
        key = self.asked_bounds(owner, key)
        items = self.computed_items(owner, key)
        if items is not None and is_view_at(value, owner, list(map(told_by_step, items))):
            return
        owner, key = self.at_place(owner, items, key)
        key = self.known_key(owner, key)
        if isinstance(owner, ARRAYS):
            self.require_no_user_objects(value)
        elif type(key) is slice:
            self.require_plain(value)
        if isinstance(owner, TracedArray):
            self.require_stored_alike(owner, value)
            value = self.array_operand(value)
        elif isinstance(owner, (np.ndarray, np.flatiter)):
            self.store_in_plain(owner, key, value)
            return
        else:
            self.changes(owner, place=self.entry_place(owner, key))
        self.guarded(STORE_ITEM, (owner, key, value), {})

    def delete_item(self, owner: Any, key: Any) -> None:
        if answers(owner):
            self.call_special(owner, "__delitem__", key)
            return
        self.changes(owner)
        self.guarded(DELETE_ITEM, (owner, self.known_key(owner, key)), {})

    def number_operand(self, value: Any) -> Any:
        is_number = type(value) is HostValue and (type(value.value) in NUMBERS or isinstance(value.value, np.generic))
        return self.traced(value) if is_number else value

    def array_operand(self, value: Any) -> Any:
        if type(value) is HostValue:
            return self.traced(value)
        if type(value) in (list, tuple):
            return type(value)(self.array_operand(v) for v in value) if self.holds_host(value) else value
        return value

    def holds_host(self, value: Any) -> bool:
        if type(value) in (list, tuple):
            return any(self.holds_host(v) for v in value)
        return type(value) is HostValue

    def store_in_plain(self, owner: np.ndarray | np.flatiter, key: Any, value: Any) -> None:
        """A write to an array that NumPy made: of what is known it is done now."""
        array = owner if isinstance(owner, np.ndarray) else owner.base
        if self.bakes and array.flags.writeable and not self.is_own(array):
            self.refuse("an array of the surroundings is written")
        if contains_traced(value) or contains_traced(key) or self.trace.is_repeated:
            self.written(array)
        self.guarded(STORE_ITEM, (owner, key, self.concrete(value)), {})


class Wrapped:
    """An index along an axis as it counts from the beginning."""

    def __init__(self, extent: int, axis: int) -> None:
        self.extent, self.axis = extent, axis

    def __call__(self, index: Any) -> int:
        if not -self.extent <= index < self.extent:
            raise IndexError(f"index {index} is out of bounds for axis {self.axis} with size {self.extent}")
        return int(index) % self.extent

    def is_like(self, other: Wrapped) -> bool:
        return vars(self) == vars(other)


class Lowest:
    """The first place, counted from the beginning, of what a slice takes of an axis; it takes something."""

    def __init__(self, extent: int, step: int | None) -> None:
        self.extent, self.step = extent, step

    def taken(self, start: Any, stop: Any) -> range:
        return range(self.extent)[start : stop : self.step]

    def __call__(self, start: Any, stop: Any) -> int:
        taken = self.taken(start, stop)
        return min(taken[0], taken[-1])

    def is_like(self, other: Lowest) -> bool:
        return vars(self) == vars(other)


class HasLength(Lowest):
    """Whether a slice takes so many elements."""

    def __init__(self, extent: int, step: int | None, count: int) -> None:
        super().__init__(extent, step)
        self.count = count

    def __call__(self, start: Any, stop: Any) -> bool:
        return len(self.taken(start, stop)) == self.count


def is_computed(place: Any) -> bool:
    """Whether Python computes where an index begins."""
    if type(place) is slice:
        return type(place.start) is HostValue or type(place.stop) is HostValue
    return type(place) is HostValue


def told_by_step(item: Any) -> Any:
    """What tells an item of an index: a number that Python computes by its step, which the same variable has for one value only."""
    if type(item) is slice:
        return [told_by_step(part) for part in (item.start, item.stop, item.step)]
    return f"step {item.step}" if type(item) is HostValue else told(item)


def is_constant(key: Any) -> bool:
    """Whether an index is made of integers and slices of integers, which is most of them."""
    if type(key) is tuple:
        return all(map(is_constant, key))
    if type(key) is slice:
        return {type(key.start), type(key.stop), type(key.step)} <= {int, NoneType}
    return type(key) is int or key is None or key is Ellipsis


def is_basic(place: Any) -> bool:
    """Whether a part of an index makes a view: integers, slices of integers, new axes."""
    if type(place) is slice:
        return all(part is None or is_integer(part) for part in (place.start, place.stop, place.step))
    return place is None or place is Ellipsis or is_integer(place)


def is_integer(value: Any) -> bool:
    value = value.value if type(value) is HostValue else value
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
