"""One program for all objects of a kind: a plan that was recorded with some objects, made one for others like them.

A recording reads the attributes of the objects that a call is given, and of those that it finds in them, step by step, and
compares objects by identity alone. So it holds for other objects, too, if each of them is of the same class as the one in
whose place it is, no two of them are one where they were two, and all else that the recording relies on holds.
"""

from __future__ import annotations

import gc
import re
import types
from typing import Any

from .assembly import with_objects
from .bytecode.kinds import ABSENT, CONTAINERS, instance_space, is_user_object
from .bytecode.outside import (
    ARGUMENT,
    ATTRIBUTE,
    CALL,
    CELL,
    CLASS,
    ENTRY,
    ITEM,
    OBJECT,
    Steps,
    with_names,
)
from .plans import described

__all__ = ["rebound"]


#: Names of a guard for what steps are compared with, and for operands, keys and functions.
CONSTANT = re.compile(r"[ecfk]\d+(_\d+)?")


class Unknown(Exception):
    """What a step gives is not known before the call is flattened, or cannot be had."""


def rebound(function: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, list[Any], set[Any]]:
    """The plan of another call of a jitted function, with the objects of this one, or None; the plans that were tried, and the
    integers of their objects that are others here."""
    objects, plans = function.alike(*args, **kwargs)
    differing: set[Any] = set()
    for plan in plans:
        rebinding = Rebinding(plan, objects, args, kwargs)
        made = rebinding.result()
        if made is not None and function.holds(made, *args, **kwargs):
            return made, plans, differing
        differing |= rebinding.differing
    return None, plans, differing


class Rebinding:
    """What of a plan's objects is in the place of which others in a call."""

    def __init__(self, plan: Any, objects: list[Any], args: tuple, kwargs: dict[str, Any]) -> None:
        self.plan, self.args, self.kwargs = plan, args, kwargs
        self.steps: Steps = plan.steps
        self.images: dict[int, tuple[Any, Any]] = {}
        self.differing: set[Any] = set()  # integers of these objects that are others, by the kind of step and its name
        self.objects = list(zip(plan.objects, objects, strict=True))

    def result(self) -> Any:
        """The plan for the other objects, whose guard has still to be asked; None where there is none."""
        steps = self.steps
        if self.plan.pieces is not None or steps is None or steps.is_bound or steps.trusts_outside:
            return None
        if not all(self.put(old, new) for old, new in self.objects) or not self.images:
            return None
        if not self.find_all() or not self.is_injective():
            return None
        guard, build = self.plan.guard, self.plan.build_result
        guard = None if guard is None else self.guard_of(guard)
        build = None if build is None else with_objects(build, self)
        if NotImplemented in (guard, build):
            return None
        mapped = self.mapped_steps()
        return self.plan.with_objects(build, described(list(mapped.entries.values())), guard, mapped)

    # -- which object is in the place of which ---------------------------------------------------------------------

    def put(self, old: Any, new: Any) -> bool:
        """Puts an object in the place of one; whether it can be there."""
        known = self.images.get(id(old))
        if known is not None or old is new:
            return (known[1] if known is not None else old) is new
        if type(old) is not type(new):
            return False
        if type(old) is types.MethodType:
            if old.__func__ is not new.__func__ or not self.put(old.__self__, new.__self__):
                return False
        elif not is_user_object(old) or isinstance(old, CONTAINERS):
            return False
        else:
            space = instance_space(old)
            if space is not None:
                self.images[id(space)] = (space, instance_space(new))
        self.images[id(old)] = (old, new)
        return True

    def find_all(self) -> bool:
        """Follows the steps until no further object is found; false where one does not fit."""
        while True:
            known = len(self.images)
            if not all(self.fits_entry(*entry) for entry in self.steps.entries.values()) or not self.fit_checks():
                return False
            if len(self.images) == known:
                return True

    def fits_entry(self, space: Any, key: Any, value: Any) -> bool:
        own = self.of(space)
        if own is space or not isinstance(space, dict):
            return True  # or the class of an object, which is the same
        found = own.get(self.of(key), ABSENT)
        if found is value:
            return True
        if type(found) is type(value) and type(value) in (str, bytes):
            return bool(found == value)
        if type(value) is int and type(found) is int:
            if found != value:
                self.differing.add((ENTRY, key))
            return True
        return value is not ABSENT and found is not ABSENT and self.put(value, found)

    def fit_checks(self) -> bool:
        values: dict[int, Any] = {}
        for kind, number, expected, _ in self.steps.checks:
            if kind not in ("is", "equal"):
                continue
            try:
                found = self.value(number, values)
            except Unknown:
                continue
            if kind == "is" and not self.put(expected, found):
                return False
            step = self.steps.steps[number]
            if kind == "equal" and type(expected) is int and type(found) is int and found != expected:
                self.differing.add((step[0], *step[2:]))
        return True

    def value(self, number: int, values: dict[int, Any]) -> Any:
        """What a step gives for the other objects, but for calls: `Steps.values` would make them, and draw numbers, say."""
        if number not in values:
            kind, *parts = self.steps.steps[number]
            try:
                if kind == OBJECT:
                    found = self.of(parts[0])
                elif kind == CELL:
                    found = parts[0].cell_contents
                elif kind == ENTRY:
                    found = self.of(parts[0])[self.of(parts[1])]
                elif kind in (ATTRIBUTE, CLASS):
                    found = getattr(self.value(parts[0], values), parts[1])
                elif kind == ITEM:
                    found = self.value(parts[0], values)[self.of(parts[1])]
                elif kind == ARGUMENT:
                    found = self.args[parts[0]] if isinstance(parts[0], int) else self.kwargs[parts[0]]
                else:
                    raise Unknown
            except Exception as error:
                raise Unknown from error
            values[number] = found
        return values[number]

    def is_injective(self) -> bool:
        """Whether objects that the recording could tell apart are still two."""
        steps = self.steps
        known = [value for _, _, value in steps.entries.values()]
        known += [expected for kind, _, expected, _ in steps.checks if kind == "is"]
        known += [step[1] for step in steps.steps if step[0] == OBJECT]
        fixed = {id(value) for value in known} - self.images.keys()
        images = [id(new) for _, new in self.images.values()]
        return len(set(images)) == len(images) and fixed.isdisjoint(images)

    # -- what was recorded, with the other objects -----------------------------------------------------------------

    def of(self, value: Any) -> Any:
        """What is in the place of an object, or of a method of one."""
        found = self.images.get(id(value))
        if found is not None:
            return found[1]
        if type(value) is types.MethodType and self.of(value.__self__) is not value.__self__:
            return types.MethodType(value.__func__, self.of(value.__self__))
        return value

    def within(self, value: Any) -> Any:
        """The same of a constant, which may hold objects."""
        if type(value) not in (list, tuple):
            return self.of(value)
        parts = [self.within(part) for part in value]
        return value if all(map(lambda a, b: a is b, parts, value)) else type(value)(parts)

    def hides(self, value: Any, depth: int = 2) -> bool:
        """Whether a value holds one of the objects where `of` does not find it."""
        if isinstance(value, (type, types.ModuleType, types.FunctionType)) or not gc.is_tracked(value) or depth == 0:
            return False
        if id(value) in self.images:
            return False
        return any(id(part) in self.images or self.hides(part, depth - 1) for part in gc.get_referents(value))

    def mapped_steps(self) -> Steps:
        steps, mapped = self.steps, Steps()
        for step in steps.steps:
            if step[0] == CALL:
                parts = tuple((kind, part if kind == "step" else self.within(part)) for kind, part in step[2])
                mapped.steps.append((CALL, self.of(step[1]), parts))
            else:
                mapped.steps.append((step[0], *map(self.of, step[1:])))
        mapped.checks = [(kind, number, self.within(expected), at) for kind, number, expected, at in steps.checks]
        for space, key, value in steps.entries.values():
            own, key = self.of(space), self.of(key)
            mapped.entries[id(own), key] = (own, key, self.of(value))
        mapped.varied, mapped.paths = steps.varied, steps.paths
        return mapped

    def guard_of(self, guard: Any) -> Any:
        """The guard with other values of its names: compiling it from the mapped steps takes longer than all the rest."""
        names = {name: value for name, value in guard.__globals__.items() if name != "guard"}
        for name, value in names.items():
            if CONSTANT.fullmatch(name):
                names[name] = self.within(value)
                if self.hides(value):
                    return NotImplemented
            else:
                names[name] = self.of(value)
        return with_names(guard, names)
