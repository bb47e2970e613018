"""Calls whose arguments share elements: they are traced as views of one memory, as NumPy sees them."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .bytecode.kinds import contents
from .numpy.layout import Strided
from .numpy.tracer import current_trace
from .pytree import flatten, is_record, items_of
from .trace import is_array_leaf

__all__ = ["Joined", "traced_jointly"]


@dataclass(frozen=True)
class Place:
    """Array ``number`` as a part of memory ``base``: first element and strides, in elements."""

    number: int
    base: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    writeable: bool


@dataclass(frozen=True)
class Container:
    """The list or dictionary of this ``number`` among those of the arguments."""

    number: int


@dataclass(frozen=True)
class Static:
    """A static argument."""

    value: Any


class Joined:
    """The arguments of a call with a Place for each array that shares memory with another, and the memories."""

    def __init__(self, names: list[str], static: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        self.bases: list[np.ndarray] = []
        self._places: dict[int, tuple[np.ndarray, Place]] = {}
        given = [(names[i] if i < len(names) else "", value) for i, value in enumerate(args)] + list(kwargs.items())
        leaves = [leaf for name, value in given if name not in static for _, leaf in flatten(value, is_array_leaf)[0]]
        self.possible = all(map(self._add, groups_of([leaf for leaf in leaves if type(leaf) is np.ndarray])))
        self._containers = containers_of(tuple(value for _, value in given))
        replaced = [Static(value) if name in static else self._replace(value) for name, value in given]
        self.args = tuple(replaced[: len(args)])
        self.kwargs = dict(zip(kwargs, replaced[len(args) :], strict=True))

    def _add(self, arrays: list[np.ndarray]) -> bool:
        """Makes the arrays parts of one memory; False where they cannot be."""
        dtype = arrays[0].dtype
        ranges = [bounds(array) for array in arrays]
        low, high = min(r[0] for r in ranges), max(r[1] for r in ranges)
        for array in arrays:
            steps = (array.ctypes.data - low, *array.strides)
            if (
                array.dtype != dtype
                or not dtype.isnative
                or any(step % dtype.itemsize for step in steps)
                or overlaps_itself(array)
            ):
                return False
        # The arguments keep the memory alive for as long as the call lasts.
        memory = (ctypes.c_char * (high - low)).from_address(low)
        self.bases.append(np.frombuffer(memory, dtype))  # type: ignore[call-overload]
        for array in arrays:
            strides = tuple(stride // dtype.itemsize for stride in array.strides)
            offset = (array.ctypes.data - low) // dtype.itemsize
            place = Place(
                len(self._places), len(self.bases) - 1, offset, array.shape, strides, bool(array.flags.writeable)
            )
            self._places[id(array)] = (array, place)
        return True

    def _replace(self, value: Any) -> Any:
        return with_others(value, lambda leaf: self._places[id(leaf)][1] if id(leaf) in self._places else leaf)

    def result(self, value: Any) -> Any:
        """What the function returned, with the arrays and containers that it was given in their places."""
        given: dict[Any, Any] = {place: array for array, place in self._places.values()}
        given |= {Container(number): container for number, container in enumerate(self._containers)}
        return with_others(value, lambda part: given[part] if isinstance(part, (Place, Container)) else part)


def with_others(value: Any, other: Callable[[Any], Any]) -> Any:
    """An argument or result with other parts; containers that hold none of those stay the objects that they are."""
    changed = other(value)
    if changed is not value:
        return changed
    if type(value) is dict:
        items: Any = {key: with_others(item, other) for key, item in value.items()}
        return items if any(item is not value[key] for key, item in items.items()) else value
    if type(value) is list or is_record(type(value)) or type(value) is tuple:
        items = [with_others(item, other) for item in items_of(value)]
        is_same = all(map(operator.is_, items, items_of(value)))
        return value if is_same else items if type(value) is list else tuple.__new__(type(value), items)
    return value


def containers_of(value: Any) -> list[Any]:
    """The lists and dictionaries in a value."""
    if not isinstance(value, (list, tuple, dict)):
        return []
    inner = [c for item in (value.values() if isinstance(value, dict) else value) for c in containers_of(item)]
    return inner if isinstance(value, tuple) else [value, *inner]


def bounds(array: np.ndarray) -> tuple[int, int]:
    """The first byte of the array's elements, and the one behind the last."""
    reach = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)]
    low = array.ctypes.data + sum(step for step in reach if step < 0)
    return low, array.ctypes.data + sum(step for step in reach if step > 0) + array.itemsize


def groups_of(arrays: list[np.ndarray]) -> list[list[np.ndarray]]:
    """The arrays whose memory ranges overlap, together; each array once."""
    different = {id(array): array for array in arrays if array.size}
    groups: list[list[np.ndarray]] = []
    end = 0
    for array in sorted(different.values(), key=bounds):
        low, high = bounds(array)
        if groups and low < end:
            groups[-1].append(array)
        else:
            groups.append([array])
        end = max(end, high)
    return [group for group in groups if len(group) > 1]


def overlaps_itself(array: np.ndarray) -> bool:
    reach = array.itemsize
    for stride, extent in sorted((abs(s), e) for s, e in zip(array.strides, array.shape, strict=True) if e > 1):
        if stride < reach:
            return True
        reach += stride * (extent - 1)
    return False


def traced_jointly(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of the memories and of arguments with Places; in its result, what it was given is told by place and number."""

    def jointly(bases: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        views: dict[Place, Any] = {}

        def array_at(leaf: Any) -> Any:
            if isinstance(leaf, Static):
                return leaf.value
            if isinstance(leaf, Place) and leaf not in views:
                base = bases[leaf.base]
                views[leaf] = base.view_through(Strided(leaf.offset, leaf.shape, leaf.strides, leaf.writeable))
            return views[leaf] if isinstance(leaf, Place) else leaf

        trace = current_trace()
        assert trace is not None
        named = {name: with_others(value, array_at) for name, value in kwargs.items()}
        given_args = tuple(with_others(value, array_at) for value in args)
        before = [(c, contents(c)) for c in containers_of((*given_args, *named.values()))]
        result = trace.recorder.call(function, given_args, named)
        for container, held in before:
            now = contents(container)
            if len(now) != len(held) or any(a is not b for a, b in zip(now, held, strict=True)):
                trace.recorder.refuse("a container is changed among arguments that share memory")
        given = {id(view): place for place, view in views.items()}
        given |= {id(container): Container(number) for number, (container, _) in enumerate(before)}
        return with_others(result, lambda part: given.get(id(part), part))

    jointly.__name__ = getattr(function, "__name__", "jointly")
    return jointly
