"""Reads of what is outside of a call that is recorded: globals, cells, and the containers and arrays behind them."""

from __future__ import annotations

import collections
import enum
import importlib.util
import math
import sys
import types
from typing import Any

import numpy as np

from ..numpy.plain import holds_lazy
from ..numpy.tracer import Selection, TracedArray
from .frame import Frame
from .kinds import (
    ABSENT,
    CONSTANTS,
    CONTAINERS,
    INTEGERS,
    LARGEST,
    SAME,
    Mirror,
    answers,
    compares_by_identity,
    is_method_of_data,
    is_record,
    is_unset,
    is_user_object,
)
from .machine import Machine
from .outside import ATTRIBUTE, CELL, CLASS, ENTRY, ITEM, HostValue, Steps

__all__ = ["Reads"]

#: Modules whose numbers, such as np.pi, are constants of a program. Other numbers are its inputs, as they may vary, but for
#: infinities: what these hide, or begin with, decides what has to be computed at all.
LIBRARIES = frozenset(["numpy", "math", "cmath", "scipy.constants"])


class Reads(Machine):
    """The part of a recorder that reads from what is outside, and keeps what is to be stored there."""

    steps: Steps
    bakes: bool

    def __init__(self) -> None:
        super().__init__()
        self.overlay: dict[tuple[str, int, Any], tuple[Any, Any, Any]] = {}
        self.mirrors: dict[int, Mirror] = {}
        self.doubled: list[Mirror] = []  # of containers that are arguments more than once, but for the first
        self.copies: dict[int, Mirror] = {}
        self.fresh: dict[int, Any] = {}
        self.fresh_cells: dict[int, Any] = {}
        self.arrays: dict[int, tuple[np.ndarray, Any, int]] = {}
        self.reads: dict[tuple[Any, ...], Any] = {}
        self.opaque: dict[int, Any] = {}
        self.large: dict[int, dict] = {}
        self.structures: dict[int, tuple] = {}
        self.remembered: dict[tuple[int, Any], Any] = {}
        #: Calls of functions with caches that are done once more, after the program.
        self.asked: list[tuple[Any, tuple, dict[str, Any]]] = []
        self.seen: dict[int, Any] = {}
        self.errors: dict[int, BaseException] = {}  # that the call has made, of classes of the user's
        self.looked: dict[int, Any] = {}  # objects whose attributes are looked at as a dictionary

    def changes(self, value: Any, what: str = "", place: Any = None) -> None: ...

    def entry_of_space(self, space: dict[str, Any], name: str) -> Any: ...

    def cell_place(self, cell: Any) -> Any: ...

    def is_in_way(self) -> bool:
        """Whether a way of a condition is recorded."""
        return False

    # -- what is outside -------------------------------------------------------------------------------------------

    def outside(self, value: Any, kind: str, *parts: Any) -> Any:
        """A value that was read from outside, as the recorded program sees it; later calls read it again."""
        key = (kind, *[p if type(p) is str or type(p) is int else id(p) for p in parts])
        known = self.reads.get(key)
        if known is None:
            known = self.reads[key] = (self.taken(value, kind, parts), value, parts)
        return known[0]

    def taken(self, value: Any, kind: str, parts: tuple[Any, ...]) -> Any:
        t = type(value)
        step = lambda: self.steps.step(kind, *parts)
        if is_method_of_data(value):
            return self.outside_method(value, kind, parts)
        if t in SAME or isinstance(value, (type, enum.Enum, np.dtype)):
            self.seen[id(value)] = value
            self.pin(value, kind, parts)
            return value
        if t in CONSTANTS:
            if t is int and (kind, *parts[1:]) in self.varying_keys() and not self.bakes:
                self.steps.check("type", step(), int)
                return HostValue(value, step())
            if kind == ENTRY and t in (int, str, bytes):
                self.steps.entry(parts[0], parts[1], value)
            else:
                self.steps.check("equal", step(), value)
            return value
        if t is frozenset and all(map(is_key, value)):
            self.steps.check("type", step(), t)
            self.steps.check("keys", step(), list(value))
            return value
        if t is float and kind == ENTRY and parts[0].get("__name__") in LIBRARIES:
            self.pin(value, kind, parts)
            return value
        if isinstance(value, (float, np.floating)) and math.isinf(value) and not self.bakes:
            self.steps.check("equal", step(), value)
            return value
        if t in (float, complex) or t in INTEGERS:
            if self.bakes:
                return value
            self.steps.check("type", step(), t)
            return HostValue(value, step())
        if t in (np.bool_, np.str_, np.bytes_) and not self.bakes:
            self.steps.check("equal", step(), value)
            return value
        if isinstance(value, (np.generic, np.ndarray)):
            return self.outside_array(value, kind, parts)
        if self.bakes and holds_lazy([value]):
            return value.constant()
        if t is dict and len(value) > LARGEST and not self.bakes:
            # Its entries are read one by one.
            self.pin(value, kind, parts)
            self.large[id(value)] = self.opaque[id(value)] = self.seen[id(value)] = value
            return value
        if hasattr(t, "n_sequence_fields") and isinstance(value, tuple):
            self.structures[id(value)] = value
        if t in (list, dict, tuple, set, collections.OrderedDict, types.MappingProxyType) or is_record(t):
            return self.outside_container(value, step())
        if isinstance(value, (TracedArray, Selection)):
            self.refuse("a value of another recording is used")
        self.pin(value, kind, parts)
        self.seen[id(value)] = value
        if not is_user_object(value) or isinstance(value, CONTAINERS):
            self.opaque[id(value)] = value
        return value

    def outside_method(self, value: Any, kind: str, parts: tuple[Any, ...]) -> Any:
        """A method bound to a list or the like: the same one of what stands for its owner."""
        self.pin(value, kind, parts)
        owner = self.outside(value.__self__, ATTRIBUTE, self.steps.object(value), "__self__")
        if owner is value.__self__ or type(owner) is HostValue:
            return value
        if isinstance(value, types.MethodType):
            return types.MethodType(value.__func__, owner)
        return getattr(owner, value.__name__)

    def varying_keys(self) -> set[Any]:
        return set()

    def pin(self, value: Any, kind: str, parts: tuple[Any, ...]) -> None:
        """The same object at each call."""
        if kind == ENTRY:
            self.steps.entry(parts[0], parts[1], value)
        elif kind == CLASS:
            self.steps.entry(self.steps.steps[parts[0]][1], parts[1], value)
        else:
            self.steps.check("is", self.steps.step(kind, *parts), value)
        if is_user_object(value):
            self.steps.entry(value, "__class__", type(value))

    def outside_array(self, value: Any, kind: str, parts: tuple[Any, ...]) -> Any:
        if type(value) is np.memmap and not self.bakes:
            self.pin(value, kind, parts)
            whole = value.view(np.ndarray)
            self.seen[id(whole)] = whole
            return self.outside(whole, "object", whole)
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
            self.refuse(f"an array of type {type(value).__name__}")
        if isinstance(value, np.generic) and type(value) is not value.dtype.type:
            self.refuse(f"a scalar of type {type(value).__name__}")
        if self.bakes:
            return value
        known = self.arrays.get(id(value))
        if known is not None:
            # The same array by another way: at later calls, too.
            self.steps.check("alias", self.steps.step(kind, *parts), known[2])
            return known[1]
        if value.dtype.kind in "OSUMm" or value.dtype.names is not None or not value.dtype.isnative:
            self.refuse(f"an array of {value.dtype}")
        return self.take_array(value, kind, parts)

    def take_array(self, value: Any, kind: str, parts: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def outside_container(self, value: Any, step: int) -> Any:
        if self.bakes and isinstance(value, tuple) and not holds_lazy(value):
            return value
        if len(value) > LARGEST:
            self.refuse(f"a {type(value).__name__} of {len(value)} elements of the surroundings")
        known = self.mirrors.get(id(value))
        if known is not None:
            self.steps.check("is", step, value)
            return known.copy
        self.steps.check("type", step, type(value))
        copy: Any
        if isinstance(value, set):
            copy = set(value)
            # Its order too is what it was: a loop over it would be another one.
            if not all(map(is_key, value)) or list(copy) != list(value):
                self.refuse("a set of the surroundings")
            self.steps.check("keys", step, list(value))
        else:
            copy = self.elements(value, step)
            if type(value) not in (dict, list):
                copy = value._make(copy) if is_record(type(value)) else type(value)(copy)
        mirror = Mirror(value, copy, step)
        self.mirrors[id(value)] = self.copies[id(copy)] = mirror
        return copy

    def elements(self, value: Any, step: int) -> Any:
        """A list of what a sequence holds, or a dictionary of what a mapping does; later calls read each of it again."""
        if isinstance(value, (dict, types.MappingProxyType)):
            if any(answers(key) and not compares_by_identity(key) for key in value):
                self.refuse("a dict whose keys are objects with methods of their own")
            self.steps.check("keys", step, list(value))
            return {key: self.outside(item, ITEM, step, key) for key, item in value.items()}
        self.steps.check("length", step, len(value))
        return [self.outside(item, ITEM, step, i) for i, item in enumerate(value)]

    def entry_of(self, space: dict, key: Any) -> Any:
        """An entry of a large dictionary of the surroundings; ABSENT where there is none."""
        if not is_key(key):
            self.refuse(f"a dict of {len(space)} elements of the surroundings")
        if key not in space:
            self.steps.entry(space, key, ABSENT)
            return ABSENT
        return self.outside(space[key], ENTRY, space, key)

    def original(self, value: Any) -> Any:
        mirror = self.copies.get(id(value))
        return value if mirror is None else mirror.original

    # -- variables -------------------------------------------------------------------------------------------------

    def read_global(self, frame: Frame, name: str) -> Any:
        for space in (frame.globals, frame.builtins):
            stored = self.overlay.get((ENTRY, id(space), name))
            if stored is not None:
                return stored[2]
            if name in space:
                return self.outside(space[name], ENTRY, space, name)
            self.steps.entry(space, name, ABSENT)
        raise NameError(f"name '{name}' is not defined")

    def store_global(self, frame: Frame, name: str, value: Any) -> None:
        self.changes(frame.globals, f"the global '{name}'", self.entry_of_space(frame.globals, name))
        self.overlay[ENTRY, id(frame.globals), name] = (frame.globals, name, value)

    def delete_global(self, frame: Frame, name: str) -> None:
        self.refuse(f"the global '{name}' is deleted")

    def new_cell(self, cell: Any) -> None:
        self.fresh_cells[id(cell)] = cell

    def read_cell(self, cell: Any) -> Any:
        if id(cell) in self.fresh_cells:
            return cell.cell_contents
        stored = self.overlay.get((CELL, id(cell), ""))
        if stored is not None:
            return stored[2]
        return cell.cell_contents if self.found_unset(cell) else self.outside(cell.cell_contents, CELL, cell)

    def found_unset(self, place: Any, *owner: Any) -> bool:
        """Whether a cell, or a slot of an object, holds nothing: at later calls, too."""
        unset = is_unset(place, *owner)
        if unset:
            operands = [place, *(HostValue(value, self.steps.object(value)) for value in owner)]
            self.steps.check("equal", self.steps.call(is_unset, operands), True)
        return unset

    def store_cell(self, cell: Any, value: Any) -> None:
        if id(cell) in self.fresh_cells:
            # In a turn it is a variable of the frame like others, which its ways do not bring back.
            if self.is_in_way() or (
                self.frame is None
                or not any(cell is own for own in self.frame.cells.values())
                or cell_is_free(self.frame, cell)
            ):
                self.changes(cell, "a variable of an outer function", self.cell_place(cell))
            cell.cell_contents = value
            return
        self.changes(cell, "a variable of an outer function", self.cell_place(cell))
        self.overlay[CELL, id(cell), ""] = (cell, "", value)

    def constant(self, value: Any) -> Any:
        """A default: the object that the function has, whatever it holds."""
        if type(value) in (
            bool,
            type(None),
            str,
            int,
            float,
            complex,
            bytes,
            type(Ellipsis),
            types.FunctionType,
        ) or isinstance(value, type):
            return value
        return self.outside(value, "object", value)

    def import_name(self, frame: Frame, name: str, fromlist: Any, level: int) -> Any:
        if level:
            package = self.read_global(frame, "__package__")
            if type(package) is not str or package.count(".") < level - 1:
                self.refuse(f"the module '{name}' is imported")
            base = package.rsplit(".", level - 1)[0]
            name = f"{base}.{name}" if name else base
        missing = modules_missing(name, fromlist)
        if missing:
            self.before_import(missing)
            self.refuse(f"the module '{name}' is imported")
        found = sys.modules[name] if fromlist or "." not in name else sys.modules[name.partition(".")[0]]
        self.steps.entry(sys.modules, name, sys.modules[name])
        return found

    def before_import(self, missing: list[str]) -> None:
        """Modules are imported by the call itself, once; an error where there is none of that name, as there may be later."""
        for module in missing:
            self.steps.entry(sys.modules, module, ABSENT)
        first = missing[0]
        if "." not in first and is_nowhere(first) and not self.bakes:
            self.steps.check("truth", self.steps.call(is_nowhere, [first]), True)
            raise ModuleNotFoundError(f"No module named {first!r}", name=first)

    def build_class(self, frame: Frame) -> Any:
        return self.refuse("a class is made")


def modules_missing(name: str, fromlist: Any) -> list[str]:
    """The modules that an import statement would load, as far as is known before the first is loaded."""
    parts = name.split(".")
    found = [".".join(parts[: i + 1]) for i in range(len(parts))]
    missing = [module for module in found if module not in sys.modules]
    if missing:
        return missing
    return [
        f"{name}.{p}" for p in fromlist or () if f"{name}.{p}" not in sys.modules and not hasattr(sys.modules[name], p)
    ]


def is_nowhere(name: str) -> bool:
    """Whether there is no such module, nor a parent of it to ask."""
    try:
        return name not in sys.modules and importlib.util.find_spec(name) is None
    except (ImportError, ValueError):
        return False


def is_key(value: Any) -> bool:
    """Whether an element of a set is a constant, or a class: what it is equal to is Python's own matter."""
    if type(value) is tuple:
        return all(map(is_key, value))
    return type(value) in (str, int, bool, bytes, float, type(None), type)


def cell_is_free(frame: Frame, cell: Any) -> bool:
    return any(frame.cells.get(name) is cell for name in frame.f_code.co_freevars)
