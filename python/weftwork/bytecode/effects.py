"""Arrays and containers that a recorded call has from outside, and what it does to them: done once the program has run."""

from __future__ import annotations

import enum
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _core
from ..numpy.frozen import is_frozen
from ..numpy.layout import given_strides
from ..numpy.tracer import Read, Trace, TracedArray
from .host import ViewOf, is_numpys_generator
from .kinds import CONSTANTS, CONTAINERS, SAME, Mirror, contains_traced, is_method_of_data, is_record, is_user_object
from .outside import CALL, VALUE
from .reads import is_key
from .user_classes import UserClasses

__all__ = ["Effects"]

#: Arrays of the surroundings with at most so many elements may be constants that are compared at each call.
LARGEST_FIXED = 4096


class Effects(UserClasses):
    """The part of a recorder that takes arrays and containers in, and gives back what became of them."""

    trace: Trace
    varying: set[Any]
    frozen: dict[int, np.ndarray]
    statics: Any = None  # the copies that stand for static arguments
    unfit = ""  # why the arguments cannot be those of a program

    # -- arrays and containers of the surroundings -----------------------------------------------------------------

    def varying_keys(self) -> set[Any]:
        return self.varying

    def take_array(self, value: Any, kind: str, parts: tuple[Any, ...]) -> Any:
        """An array, or a NumPy scalar, that later calls read again."""
        if isinstance(value, np.ndarray) and is_frozen(value):
            self.pin(value, kind, parts)
            self.steps.check("array", self.steps.step(kind, *parts), form_of(value))
            self.frozen[id(value)] = value
            return value
        step = self.steps.step(kind, *parts)
        name = (
            f"{parts[-1]}"
            if isinstance(parts[-1], str) and parts[-1].isidentifier()
            else f"captured{len(self.trace.reads)}"
        )
        tensor = _core.parameter(value.shape, value.dtype, name, from_outside=True)
        traced = TracedArray(tensor)
        traced._storage.born = -1  # older than the loop in which it is read for the first time
        if isinstance(value, np.ndarray):
            self.steps.check("array", step, form_of(value))
            traced._storage.strides = given_strides(value, list(value.shape))
            self.arrays[id(value)] = (value, traced, step)
            if not value.flags.writeable:
                traced.guard_writes("it is read-only")
        else:
            self.steps.check("type", step, type(value))
            traced.scalar = True
        traced._storage.parents = ()
        self.trace.reads.append(Read(value, name, step, tensor, traced))
        return traced

    def mirror_argument(self, given: Any, copy: Any, step: Any) -> None:
        """Lists and dictionaries among the arguments: what the function does to their copies is done to them."""
        if is_method_of_data(given):
            self.opaque[id(given.__self__)] = given.__self__
            return
        if type(given) is frozenset and all(map(is_key, given)):
            # Equal ones may have another order, and numbers of other types.
            self.steps.check("type", step(), frozenset)
            self.steps.check("keys", step(), list(given))
            return
        if type(given) not in (list, dict, tuple) and not is_record(type(given)):
            if is_numpys_generator(given):  # told by its type alone: a call has the one that it is given
                self.host_argument(given, step())
            elif not is_plain_argument(given) and not isinstance(copy, TracedArray):
                self.opaque[id(given)] = given  # what it is may change between calls
            if copy is not given and isinstance(given, (list, tuple)):
                self.unfit = f"an argument of type {type(given).__name__}"
            return
        if given is copy:
            return
        pairs = given.items() if isinstance(given, dict) else enumerate(given)
        for key, value in pairs:
            self.mirror_argument(value, copy[key], lambda key=key: self.steps.step("item", step(), key))
        if isinstance(given, tuple):
            return
        mirror = self.copies[id(copy)] = Mirror(given, copy, step())
        if self.mirrors.setdefault(id(given), mirror) is not mirror:
            self.doubled.append(mirror)

    def host_argument(self, value: Any, step: int) -> None:
        raise NotImplementedError

    def is_given(self, array: TracedArray) -> bool:
        """Whether it stands for an object that the caller or the surroundings have."""
        return any(array is read.traced for read in self.trace.reads) or any(
            array is given for given in self.trace.arguments
        )

    def is_outside(self, value: Any) -> bool:
        """Whether a function or other object is what it was before the call."""
        if isinstance(value, types.FunctionType):
            return id(value) in self.seen
        if isinstance(value, types.MethodType):
            return (
                id(value.__self__) not in self.fresh
                and id(value.__self__) not in self.copies
                and self.is_outside(value.__func__)
            )
        return id(value) in self.seen

    def add_effects(self, blueprint: Any) -> None:
        """What the function stored, to be done once the program has run."""
        changed = [
            mirror for mirror in self.mirrors.values() if not isinstance(mirror.original, tuple) and mirror.is_changed()
        ]
        twice = {id(mirror.original) for mirror in self.doubled}
        if any(id(mirror.original) in twice for mirror in changed) or any(
            mirror.is_changed() for mirror in self.doubled
        ):
            self.refuse("a container that is an argument twice is changed")
        if changed and not self.bakes:
            self.require_apart(m.step for m in self.mirrors.values() if not isinstance(m.original, tuple))
        if self.bakes and (self.overlay or changed):
            what = next((str(key) for _, key, _ in self.overlay.values()), "a container")
            self.refuse(f"it stores '{what}' outside of its own variables")
        for (kind, _, _), (container, key, value) in self.overlay.items():
            blueprint.stores.append((kind, container, key, blueprint.add(value, str(key))))
        for function, args, kwargs in [] if self.bakes else self.asked:
            blueprint.stores.append(("call", function, (args, kwargs), -1))
        for mirror in changed:
            copy = mirror.copy
            original = blueprint.add(copy, "")
            if isinstance(copy, dict):
                parts: Any = [(key, blueprint.add(value, str(key))) for key, value in copy.items()]
                blueprint.stores.append(("dict", original, None, parts))
            elif isinstance(copy, set):
                blueprint.stores.append(("set", original, None, frozenset(copy)))
            else:
                blueprint.stores.append(
                    ("list", original, None, [blueprint.add(value, str(i)) for i, value in enumerate(copy)])
                )

    def require_apart(self, steps: Iterable[int]) -> None:
        """Containers that are several objects are so at later calls, too."""
        found = sorted(set(steps))
        if len(found) > 1:
            call = self.steps.step(CALL, are_apart, tuple(("step", step) for step in found))
            self.steps.check("truth", call, True)

    def fixed(self, value: Any) -> Any:
        """A small array of the surroundings, or a part of one, as the constant that it is: the program is for this one only."""
        if type(value) in (tuple, list) and contains_traced(value):
            items = [self.fixed(item) for item in value]
            return type(value)(items) if any(new is not old for new, old in zip(items, value, strict=True)) else value
        if not isinstance(value, TracedArray):
            return value
        read = next((r for r in self.trace.reads if r.traced._storage is value._storage), None)
        if (
            read is None
            or self.steps.steps[read.step][0] in (VALUE, CALL)
            or read.traced._storage.version
            or read.array.size > LARGEST_FIXED
        ):
            return value
        view = ViewOf(value._steps, value.scalar)
        if not view.is_possible:
            return value
        if isinstance(read.array, np.ndarray):
            self.steps.check("bytes", read.step, read.array.copy())
        else:
            self.steps.check("equal", read.step, read.array)
        result = view(read.array)
        if value.scalar:
            return result
        result = np.array(result)
        self.plain_arrays[id(result)] = (result, None)
        return result


def are_apart(*values: Any) -> bool:
    return len(set(map(id, values))) == len(values)


def form_of(array: np.ndarray) -> Any:
    """What has to be as it was for a program that reads it: what can be set in place, too."""
    return array.dtype, array.shape, array.strides, array.flags.writeable


def is_plain_argument(value: Any) -> bool:
    """Whether an argument that is no array is a constant, or an object whose attributes are watched."""
    if type(value) in (*SAME, *CONSTANTS, float, complex) or isinstance(
        value, (type, enum.Enum, np.generic, np.ndarray, np.dtype)
    ):
        return True
    return is_user_object(value) and not isinstance(value, CONTAINERS)
