"""Reads and stores while a call is recorded: globals, cells, attributes, and the containers and objects behind them."""

from __future__ import annotations

import builtins
import enum
import sys
import types
from typing import Any

import numpy as np

from .. import _core
from ..numpy.tracer import Selection, TracedArray
from .frame import Frame
from .machine import Machine, Stop
from .outside import ATTRIBUTE, CELL, ENTRY, ITEM, HostValue, Steps

__all__ = ["ABSENT", "DELETED", "Mirror", "Objects", "is_user_object", "type_of"]

#: Containers of the surroundings that hold more are not taken into a program.
LARGEST = 256
#: In the place of an entry: it is not there.
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "nothing"})()
DELETED: Any = type("Deleted", (), {"__repr__": lambda self: "deleted"})()
#: Values that are what they are: two that are equal need not be told apart.
CONSTANTS = (str, int, bytes, type(Ellipsis), type(NotImplemented), range, slice)
SAME = (bool, type(None), types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.MethodType, np.ufunc, np.dtype)
DUNDERS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul", "<<": "lshift",
    ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
COMPARISONS = {"<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"), "==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"),
               ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__")}  # fmt: skip


class Mirror:
    """What stands for a list or dictionary of the surroundings while a call is recorded: a copy with traced values in it."""

    __slots__ = ("copy", "original", "snapshot", "step")

    def __init__(self, original: Any, copy: Any, step: int) -> None:
        self.original, self.copy, self.step = original, copy, step
        self.snapshot = contents(copy)

    def is_changed(self) -> bool:
        now = contents(self.copy)
        return len(now) != len(self.snapshot) or any(a is not b for a, b in zip(now, self.snapshot, strict=True))


def contents(container: Any) -> list[Any]:
    if isinstance(container, dict):
        return [part for pair in container.items() for part in pair]
    return list(container)


def is_user_object(value: Any) -> bool:
    """Whether it is an instance of a class that Python code defines, which its own methods may steer."""
    kind = type(value)
    return kind.__flags__ & HEAP != 0 and kind not in OWN and not isinstance(value, (type, np.generic, BaseException, enum.Enum)) and has_python(kind)


HEAP = 1 << 9
OWN: set[type] = set()
_python_classes: dict[type, bool] = {}


def has_python(kind: type) -> bool:
    known = _python_classes.get(kind)
    if known is None:
        module = kind.__module__
        ours = module.startswith(("weftwork", "numpy.lib", "numpy._core")) and not module.startswith("weftwork.nn")
        known = _python_classes[kind] = not ours and any("__dict__" in vars(c) or "__slots__" in vars(c) or any(isinstance(v, types.FunctionType) for v in vars(c).values()) for c in kind.__mro__[:-1] if c.__flags__ & HEAP)
    return known


def type_of(value: Any) -> type:
    """The type that the value has where nothing is traced."""
    if isinstance(value, TracedArray):
        if value.weak is not None:
            return value.weak
        return value.dtype.type if value.scalar else np.ndarray
    if isinstance(value, Selection):
        return np.ndarray
    if type(value) is HostValue:
        return type(value.value)
    if isinstance(value, _core.Dim):
        return int
    if type(value).__module__.startswith("weftwork."):
        return STANDS_FOR.get(type(value).__name__, type(value))
    return type(value)


STANDS_FOR: dict[str, type] = {"Range": range, "Flat": np.flatiter}


def lookup(kind: type, name: str) -> tuple[Any, type | None]:
    """An attribute of a class as it stands there, and the class that has it."""
    for base in kind.__mro__:
        if name in vars(base):
            return vars(base)[name], base
    return ABSENT, None


class Objects(Machine):
    """The part of a recorder that reads from and stores to what is outside."""

    steps: Steps
    bakes: bool

    def __init__(self) -> None:
        super().__init__()
        self.overlay: dict[tuple[str, int, Any], tuple[Any, Any, Any]] = {}
        self.mirrors: dict[int, Mirror] = {}
        self.copies: dict[int, Mirror] = {}
        self.fresh: dict[int, Any] = {}
        self.fresh_cells: dict[int, Any] = {}
        self.arrays: dict[int, tuple[np.ndarray, Any, int]] = {}
        self.plain_arrays: dict[int, np.ndarray] = {}
        self.reads: dict[tuple[Any, ...], Any] = {}
        self.opaque: dict[int, Any] = {}
        self.seen: dict[int, Any] = {}

    def changes(self, value: Any, what: str = "") -> None: ...

    # -- what is outside -------------------------------------------------------------------------------------------

    def outside(self, value: Any, kind: str, *parts: Any) -> Any:
        """A value that was read from outside, as the recorded program sees it; later calls read it again."""
        key = (kind, *(p if type(p) in (int, str) else id(p) for p in parts))
        known = self.reads.get(key)
        if known is None:
            known = self.reads[key] = (self.taken(value, kind, parts), value, parts)
        return known[0]

    def taken(self, value: Any, kind: str, parts: tuple[Any, ...]) -> Any:
        t = type(value)
        step = lambda: self.steps.step(kind, *parts)
        if t in SAME or isinstance(value, (type, enum.Enum)):
            self.pin(value, kind, parts)
            return value
        if t in CONSTANTS:
            if t is int and (kind, *parts[1:]) in self.varying_keys() and not self.bakes:
                self.steps.check("type", step(), int)
                return HostValue(value, step())
            self.steps.check("equal", step(), value)
            return value
        if t in (float, complex):
            if self.bakes:
                return value
            self.steps.check("type", step(), t)
            return HostValue(value, step())
        if isinstance(value, (np.generic, np.ndarray)):
            return self.outside_array(value, kind, parts)
        if t in (list, dict, tuple, set) or (isinstance(value, tuple) and hasattr(t, "_fields")):
            return self.outside_container(value, step())
        if isinstance(value, (TracedArray, Selection)):
            self.refuse("a value of another recording is used")
        self.pin(value, kind, parts)
        self.seen[id(value)] = value
        if not is_user_object(value):
            self.opaque[id(value)] = value
        return value

    def varying_keys(self) -> set[Any]:
        return set()

    def pin(self, value: Any, kind: str, parts: tuple[Any, ...]) -> None:
        """The same object at each call."""
        if kind == ENTRY:
            self.steps.entry(parts[0], parts[1], value)
        elif kind != "class":
            self.steps.check("is", self.steps.step(kind, *parts), value)

    def outside_array(self, value: Any, kind: str, parts: tuple[Any, ...]) -> Any:
        if type(value) is np.memmap and not self.bakes:
            self.pin(value, kind, parts)
            whole = value.view(np.ndarray)
            self.seen[id(whole)] = whole
            return self.outside(whole, "object", whole)
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
            self.refuse(f"an array of type {type(value).__name__}")
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
        if self.bakes and isinstance(value, tuple):
            return value
        if len(value) > LARGEST:
            self.refuse(f"a {type(value).__name__} of {len(value)} elements of the surroundings")
        known = self.mirrors.get(id(value))
        if known is not None:
            self.steps.check("is", step, value)
            return known.copy
        self.steps.check("type", step, type(value))
        if isinstance(value, dict):
            self.steps.check("keys", step, list(value))
            copy: Any = {key: self.outside(item, ITEM, step, key) for key, item in value.items()}
        elif isinstance(value, set):
            if not all(type(item) in (str, int, bool, bytes, float) for item in value):
                self.refuse("a set of the surroundings")
            self.steps.check("equal", step, set(value))
            copy = set(value)
        else:
            self.steps.check("length", step, len(value))
            items = [self.outside(item, ITEM, step, i) for i, item in enumerate(value)]
            copy = items if type(value) is list else tuple(items) if type(value) is tuple else type(value)._make(items)  # type: ignore[attr-defined]
        mirror = Mirror(value, copy, step)
        self.mirrors[id(value)] = self.copies[id(copy)] = mirror
        return copy

    def original(self, value: Any) -> Any:
        mirror = self.copies.get(id(value))
        return value if mirror is None else mirror.original

    # -- variables -------------------------------------------------------------------------------------------------

    def read_global(self, frame: Frame, name: str) -> Any:
        for space in (frame.globals, frame.builtins):
            stored = self.overlay.get((ENTRY, id(space), name))
            if stored is not None and stored[2] is not DELETED:
                return stored[2]
            if name in space and stored is None:
                return self.outside(space[name], ENTRY, space, name)
            self.steps.entry(space, name, ABSENT)
        raise NameError(f"name '{name}' is not defined")

    def store_global(self, frame: Frame, name: str, value: Any) -> None:
        self.changes(frame.globals, f"the global '{name}'")
        self.overlay[ENTRY, id(frame.globals), name] = (frame.globals, name, value)

    def delete_global(self, frame: Frame, name: str) -> None:
        self.refuse(f"the global '{name}' is deleted")

    def new_cell(self, cell: Any) -> None:
        self.fresh_cells[id(cell)] = cell

    def read_cell(self, cell: Any) -> Any:
        if id(cell) in self.fresh_cells:
            return cell.cell_contents
        stored = self.overlay.get((CELL, id(cell), ""))
        return stored[2] if stored is not None else self.outside(cell.cell_contents, CELL, cell)

    def store_cell(self, cell: Any, value: Any) -> None:
        if id(cell) in self.fresh_cells:
            if self.frame is None or not any(cell is own for own in self.frame.cells.values()) or cell_is_free(self.frame, cell):
                self.changes(cell, "a variable of an outer function")
            cell.cell_contents = value
            return
        self.changes(cell, "a variable of an outer function")
        self.overlay[CELL, id(cell), ""] = (cell, "", value)

    def constant(self, value: Any) -> Any:
        """A default: the object that the function has, whatever it holds."""
        if type(value) in (bool, type(None), str, int, float, complex, bytes, type(Ellipsis), types.FunctionType) or isinstance(value, type):
            return value
        return self.outside(value, "object", value)

    def import_name(self, frame: Frame, name: str, fromlist: Any, level: int) -> Any:
        if level or name not in sys.modules or any(f"{name}.{part}" not in sys.modules and not hasattr(sys.modules[name], part) for part in fromlist or ()):
            self.refuse(f"the module '{name}' is imported")
        found = sys.modules[name] if fromlist or "." not in name else sys.modules[name.partition(".")[0]]
        self.steps.entry(sys.modules, name, sys.modules[name])
        return found

    def build_class(self, frame: Frame) -> Any:
        return self.refuse("a class is made")

    # -- attributes ------------------------------------------------------------------------------------------------

    def attribute(self, owner: Any, name: str) -> Any:
        if type(owner) is HostValue:
            return getattr(self.concrete(owner), name)
        if name == "__class__":
            return type_of(owner)
        if isinstance(owner, (TracedArray, Selection)):
            return self.traced_attribute(owner, name)
        if type(owner) is types.ModuleType or isinstance(owner, types.ModuleType):
            return self.module_attribute(owner, name)
        if isinstance(owner, type):
            return self.class_attribute(owner, owner, name)
        if type(owner) is super:
            return self.super_attribute(owner, name)
        if is_user_object(owner):
            return self.instance_attribute(owner, name)
        if isinstance(owner, types.FunctionType) and name not in FUNCTION_CONSTANTS:
            if name in owner.__dict__:
                return self.outside(owner.__dict__[name], ENTRY, owner.__dict__, name)
            if hasattr(owner, name):
                return self.refuse(f"the attribute '{name}' of a function")
        if id(owner) in self.opaque:
            return self.opaque_attribute(owner, name)
        value = self.guarded(getattr, (owner, name), {})
        return value

    def traced_attribute(self, owner: Any, name: str) -> Any:
        kind = type_of(owner)
        if name.startswith("__") and hasattr(kind, name) and not hasattr(type(owner), name):
            self.refuse(f"'{name}' of an array")
        if not hasattr(kind, name) and not hasattr(type(owner), name):
            raise AttributeError(f"'{kind.__module__}.{kind.__name__}' object has no attribute '{name}'")
        return self.guarded(getattr, (owner, name), {})

    def module_attribute(self, module: types.ModuleType, name: str) -> Any:
        space = vars(module)
        stored = self.overlay.get((ENTRY, id(space), name))
        if stored is not None:
            return stored[2]
        if name not in space:
            value = getattr(module, name)  # by the module's own __getattr__, as np.random and the like are found
            if not isinstance(value, types.ModuleType) and name not in vars(module):
                self.refuse(f"'{name}' is computed by the module '{module.__name__}'")
            return value
        return self.outside(space[name], ENTRY, space, name)

    def class_attribute(self, kind: type, owner: Any, name: str) -> Any:
        stored = self.overlay.get((ATTRIBUTE, id(kind), name))
        if stored is not None:
            return stored[2]
        value, definer = lookup(kind, name)
        meta, _ = lookup(type(kind), name)
        if definer is None or (meta is not ABSENT and hasattr(type(meta), "__set__")) or not kind.__flags__ & HEAP:
            return getattr(kind, name)
        self.steps.entry(kind, None, ABSENT)  # type: ignore[arg-type]
        if isinstance(value, staticmethod):
            return value.__func__
        if isinstance(value, classmethod):
            return types.MethodType(value.__func__, kind)
        if isinstance(value, (types.FunctionType, property)) or hasattr(type(value), "__get__"):
            return value if isinstance(value, types.FunctionType) else getattr(kind, name)
        return self.outside(value, "class", self.steps.object(definer), name)

    def super_attribute(self, owner: super, name: str) -> Any:
        this, instance = owner.__thisclass__, owner.__self__
        kind = instance if isinstance(instance, type) else type_of(instance)
        mro = kind.__mro__
        for base in mro[mro.index(this) + 1 :]:
            if name in vars(base):
                value = vars(base)[name]
                self.steps.entry(base, None, ABSENT) if base.__flags__ & HEAP else None  # type: ignore[arg-type]
                if isinstance(value, types.FunctionType):
                    return value if isinstance(instance, type) and name != "__new__" else types.MethodType(value, instance) if name != "__new__" else value
                if isinstance(value, property):
                    return self.call(value.fget, (instance,), {})
                return getattr(owner, name)
        return getattr(owner, name)

    def opaque_attribute(self, owner: Any, name: str) -> Any:
        value, definer = lookup(type(owner), name)
        if definer is None or not isinstance(value, (types.MethodDescriptorType, types.BuiltinFunctionType)):
            self.refuse(f"'{name}' of an object of type {type(owner).__name__}")
        return getattr(owner, name)

    def instance_attribute(self, owner: Any, name: str) -> Any:
        kind = type(owner)
        stored = self.overlay.get((ATTRIBUTE, id(owner), name))
        if stored is not None:
            if stored[2] is DELETED:
                raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
            return stored[2]
        if isinstance(lookup(kind, "__getattribute__")[0], types.FunctionType):
            self.refuse(f"{kind.__name__} has a __getattribute__ of its own")
        value, definer = lookup(kind, name)
        if definer is not None and definer.__flags__ & HEAP:
            self.steps.entry(definer, None, ABSENT)  # type: ignore[arg-type]
        if definer is not None and (hasattr(type(value), "__set__") or hasattr(type(value), "__delete__")):
            return self.described(owner, value, name)
        space = instance_space(owner)
        if space is not None and name in space:
            return space[name] if id(owner) in self.fresh else self.outside(space[name], ENTRY, space, name)
        if space is not None and id(owner) not in self.fresh:
            self.steps.entry(space, name, ABSENT)
        if definer is not None:
            return self.bound(owner, value, name, definer)
        fallback, where = lookup(kind, "__getattr__")
        if where is None:
            raise AttributeError(f"'{kind.__name__}' object has no attribute '{name}'")
        return self.call(fallback, (owner, name), {})

    def described(self, owner: Any, value: Any, name: str) -> Any:
        """An attribute that a property or slot gives."""
        if type(value) is property:
            if value.fget is None:
                raise AttributeError(f"property '{name}' of '{type(owner).__name__}' object has no getter")
            return self.call(value.fget, (owner,), {})
        if isinstance(value, types.MemberDescriptorType):
            found = getattr(owner, name)
            return found if id(owner) in self.fresh else self.outside(found, ATTRIBUTE, self.steps.object(owner), name)
        getter = lookup(type(value), "__get__")[0]
        if isinstance(getter, types.FunctionType):
            return self.call(getter, (value, owner, type(owner)), {})
        if name in ("__dict__", "__weakref__"):
            return self.refuse(f"'{name}' of an object")
        return getattr(owner, name)

    def bound(self, owner: Any, value: Any, name: str, definer: type) -> Any:
        if isinstance(value, types.FunctionType):
            return types.MethodType(value, owner)
        if isinstance(value, staticmethod):
            return value.__func__
        if isinstance(value, classmethod):
            return types.MethodType(value.__func__, type(owner))
        getter = lookup(type(value), "__get__")[0]
        if isinstance(getter, types.FunctionType):
            return self.refuse(f"the attribute '{name}' is computed by {type(value).__name__}")
        if getter is not ABSENT:
            return getattr(owner, name)
        stored = self.overlay.get((ATTRIBUTE, id(definer), name))
        return stored[2] if stored is not None else self.outside(value, "class", self.steps.object(definer), name)

    def store_attribute(self, owner: Any, name: str, value: Any) -> None:
        if isinstance(owner, TracedArray):
            self.guarded(setattr, (owner, name, value), {})
            return
        if isinstance(owner, types.ModuleType):
            self.changes(owner, f"'{name}' of a module")
            self.overlay[ENTRY, id(vars(owner)), name] = (vars(owner), name, value)
            return
        if not is_user_object(owner) and not isinstance(owner, type):
            self.refuse(f"the attribute '{name}' of {type(owner).__name__} is stored")
        if not isinstance(owner, type):
            setter, definer = lookup(type(owner), "__setattr__")
            if isinstance(setter, types.FunctionType):
                self.call(setter, (owner, name, value), {})
                return
        self.set_attribute(owner, name, value)

    def set_attribute(self, owner: Any, name: str, value: Any) -> None:
        """object.__setattr__"""
        descriptor = lookup(type(owner), name)[0]
        if type(descriptor) is property:
            if descriptor.fset is None:
                raise AttributeError(f"property '{name}' of '{type(owner).__name__}' object has no setter")
            self.call(descriptor.fset, (owner, value), {})
            return
        if descriptor is not ABSENT and hasattr(type(descriptor), "__set__") and not isinstance(descriptor, types.MemberDescriptorType):
            self.refuse(f"the attribute '{name}' is stored by {type(descriptor).__name__}")
        if instance_space(owner) is None and not isinstance(descriptor, types.MemberDescriptorType) and not isinstance(owner, type):
            raise AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'")
        self.changes(owner, f"the attribute '{name}'")
        if id(owner) in self.fresh:
            object.__setattr__(owner, name, value)
        else:
            self.overlay[ATTRIBUTE, id(owner), name] = (owner, name, value)

    def delete_attribute(self, owner: Any, name: str) -> None:
        if id(owner) not in self.fresh:
            self.refuse(f"the attribute '{name}' is deleted")
        self.changes(owner)
        delattr(owner, name)

    # -- operators of user's classes ---------------------------------------------------------------------------------

    def special(self, owner: Any, name: str) -> Any:
        if is_user_object(owner):
            return self.special_method(owner, name)
        if id(owner) in self.opaque or not isinstance(owner, np.errstate):
            self.refuse(f"'{name}' of an object of type {type(owner).__name__}")
        return getattr(owner, name)

    def special_method(self, owner: Any, name: str) -> Any:
        value, definer = lookup(type(owner), name)
        if definer is None:
            raise TypeError(f"'{type(owner).__name__}' object has no {name}")
        if definer.__flags__ & HEAP:
            self.steps.entry(definer, None, ABSENT)  # type: ignore[arg-type]
        return types.MethodType(value, owner) if isinstance(value, types.FunctionType) else getattr(owner, name)

    def call_special(self, owner: Any, name: str, *args: Any) -> Any:
        if lookup(type(owner), name)[1] is None:
            raise TypeError(f"'{type(owner).__name__}' object does not support {name}")
        return self.call(self.special_method(owner, name), args, {})

    def has_special(self, value: Any, name: str) -> bool:
        return is_user_object(value) and lookup(type(value), name)[1] is not None and lookup(type(value), name)[1] is not object

    def user_binary(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        name = DUNDERS[symbol.rstrip("=")]
        tries = [(lhs, f"__{name}__", rhs)]
        if is_user_object(rhs):
            tries.insert(0 if type(rhs) is not type(lhs) and isinstance(rhs, type(lhs)) else 1, (rhs, f"__r{name}__", lhs))
        if symbol[-1] == "=":
            tries.insert(0, (lhs, f"__i{name}__", rhs))
        for owner, method, other in tries:
            if not is_user_object(owner):
                # An array asks the other side itself; others answer NotImplemented.
                if isinstance(owner, (TracedArray, np.ndarray, np.generic)) and not self.declines_arrays(other):
                    self.refuse(f"an array and a {type(other).__name__} under '{symbol}'")
                continue
            if lookup(type(owner), method)[1] is not None:
                result = self.call_special(owner, method, other)
                if result is not NotImplemented:
                    return result
        raise TypeError(f"unsupported operand type(s) for {symbol}: '{type_of(lhs).__name__}' and '{type_of(rhs).__name__}'")

    def declines_arrays(self, value: Any) -> bool:
        found = lookup(type(value), "__array_ufunc__")
        return found[1] is not None and found[0] is None

    def user_compare(self, symbol: str, lhs: Any, rhs: Any) -> Any:
        straight, turned = COMPARISONS[symbol]
        tries = [(lhs, straight, rhs), (rhs, turned, lhs)]
        if is_user_object(rhs) and type(rhs) is not type(lhs) and isinstance(rhs, type(lhs)):
            tries.reverse()
        for owner, method, other in tries:
            if not is_user_object(owner):
                if isinstance(owner, (TracedArray, np.ndarray, np.generic)):
                    self.refuse(f"an array and a {type(other).__name__} under '{symbol}'")
                continue
            result = self.call_special(owner, method, other) if lookup(type(owner), method)[1] is not None else NotImplemented
            if result is not NotImplemented:
                return result
        if symbol in ("==", "!="):
            return (self.original(lhs) is self.original(rhs)) == (symbol == "==")
        raise TypeError(f"'{symbol}' not supported between instances of '{type_of(lhs).__name__}' and '{type_of(rhs).__name__}'")

    def user_contains(self, container: Any, value: Any) -> Any:
        if lookup(type(container), "__contains__")[1] is not None:
            return self.truth(self.call_special(container, "__contains__", value))
        assert self.frame is not None
        for item in self.listed(self.frame, container):
            if self.same(item, value) or self.truth(self.compare("==", item, value)):
                return True
        return False

    def user_truth(self, value: Any) -> bool:
        for name in ("__bool__", "__len__"):
            if lookup(type(value), name)[1] is not None:
                return bool(self.call_special(value, name))
        return True

    def user_iterate(self, value: Any) -> Any:
        if lookup(type(value), "__iter__")[1] is not None:
            return self.call_special(value, "__iter__")
        return self.refuse(f"{type(value).__name__} is iterated over by its items")

    def require_no_user_objects(self, *values: Any) -> None:
        """For native code that calls methods of what it is given."""
        for value in values:
            if is_user_object(value) or (type(value) in (list, tuple, set) and any(map(is_user_object, value))) or (type(value) is dict and any(map(is_user_object, value.values()))):
                self.refuse("an object whose methods C code may call")
            self.require_known(value)

    def require_known(self, value: Any) -> None:
        if id(value) in self.opaque and not callable(value):
            self.refuse(f"an object of type {type(value).__name__} of the surroundings")


def cell_is_free(frame: Frame, cell: Any) -> bool:
    return any(frame.cells.get(name) is cell for name in frame.f_code.co_freevars)


def instance_space(owner: Any) -> dict[str, Any] | None:
    """The dictionary of an object; None where it has slots only."""
    try:
        return object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return None


FUNCTION_CONSTANTS = frozenset(["__name__", "__qualname__", "__doc__", "__module__", "__code__", "__get__", "__call__", "__class__"])
assert builtins is not None and Stop is not None
