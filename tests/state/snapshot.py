"""All that can be reached from a module's names, written down as a flat list that outlives the objects.

Every object gives one entry or several: a place, a kind and data. Two runs of a program are equal when their entries are.
"""

from __future__ import annotations

import collections
import functools
import io
import random
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

CASE = "case"  # the name of the module that a program runs as
ATOMS = {type(None), bool, int, float, complex, str, bytes, type(Ellipsis), type(NotImplemented), range, slice}
NO_IDENTITY = (tuple, frozenset, types.MethodType, types.BuiltinFunctionType, np.dtype)
HIDDEN = {
    "__warningregistry__",
    "__builtins__",
    "__name__",
    "__doc__",
    "__loader__",
    "__spec__",
    "__package__",
    "__annotations__",
    "jit",
}
FORGOTTEN = {"dispatch_cache", "cache_token", "_clear_cache"}  # what singledispatch remembers is nobody's state


def name_of(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class Snapshot:
    """``entries`` are (path, kind, data); ``unwrap`` gives the plain function that was jitted, or the value itself.

    ``traced`` are (path, kind) of what is weftwork's own, which nothing may hold after a call.
    """

    def __init__(self, names: dict[str, Any], unwrap: Callable[[Any], Any]) -> None:
        self.entries: list[tuple[str, str, Any]] = []
        self.traced: list[tuple[str, str]] = []
        self._unwrap = unwrap
        self._seen: dict[int, int] = {}
        self._alive: list[Any] = []
        self._arrays: list[tuple[str, np.ndarray]] = []
        self.visit(names.get("_result"), "result")
        for name in sorted(names):
            if name not in HIDDEN and name != "_result" and not isinstance(names[name], types.ModuleType):
                self.visit(names[name], name)
        self._add("np.random", "random state", random_state(np.random.mtrand._rand))
        self._add("random", "random state", random_state(random))
        self._add("np.geterr()", "str", str(np.geterr()))
        self._memory()
        self._alive, self._arrays, self._seen = [], [], {}

    def _add(self, path: str, kind: str, data: Any) -> None:
        self.entries.append((path, kind, data))

    def visit(self, value: Any, path: str) -> None:
        kind = type(value)
        if kind in ATOMS:
            self._add(path, kind.__name__, value)
            return
        value = self._unwrap(value)
        kind = type(value)
        if isinstance(value, np.generic):
            self._add(path, name_of(kind), value.item() if isinstance(value, np.void) else value)
            return
        if not isinstance(value, NO_IDENTITY):
            number = self._seen.get(id(value))
            if number is not None:
                self._add(path, "same object as", number)
                return
            self._seen[id(value)] = len(self._seen)
            self._alive.append(value)
        if kind.__module__.partition(".")[0] == "weftwork":
            self.traced.append((path, name_of(kind)))
            return
        HANDLERS[family(kind)](self, value, kind, path)

    def _sequence(self, value: Any, kind: type, path: str) -> None:
        self._add(path, name_of(kind), len(value))
        for i, item in enumerate(value):
            self.visit(item, f"{path}[{i}]")
        self._attributes(value, path)

    def _set(self, value: Any, kind: type, path: str) -> None:
        self._add(path, name_of(kind), len(value))
        for i, item in enumerate(sorted(value, key=repr)):
            self.visit(item, f"{path}[{i}]")

    def _dict(self, value: Any, kind: type, path: str) -> None:
        self._add(path, name_of(kind), len(value))
        for i, (key, item) in enumerate(list(value.items())):
            self.visit(key, f"{path}.key {i}")
            self.visit(item, f"{path}[{key!r}]" if type(key) in ATOMS else f"{path}[{i}]")
        if isinstance(value, collections.defaultdict):
            self.visit(value.default_factory, f"{path}.default_factory")
        self._attributes(value, path)

    def _array(self, value: np.ndarray, kind: type, path: str) -> None:
        if value.dtype.hasobject:
            self._add(path, name_of(kind), (str(value.dtype), value.shape))
            for i, item in enumerate(value.ravel().tolist()):
                self.visit(item, f"{path}[{i}]")
        else:
            self._add(path, name_of(kind), np.array(value, copy=True, subok=False))
        self._add(f"{path}.flags.writeable", "bool", value.flags.writeable)
        if isinstance(value, np.ma.MaskedArray):
            self.visit(np.ma.getmaskarray(value), f"{path}.mask")
        if value.size:
            self._arrays.append((path, value))

    def _function(self, value: types.FunctionType, kind: type, path: str) -> None:
        self._add(path, "function", value.__qualname__)
        if value.__module__ != CASE:
            return
        self.visit(value.__defaults__, f"{path}.__defaults__")
        self.visit(value.__kwdefaults__, f"{path}.__kwdefaults__")
        for name, item in sorted(value.__dict__.items()):
            if name not in FORGOTTEN:
                self.visit(item, f"{path}.{name}")
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
            if name not in FORGOTTEN:
                self.visit(cell, f"{path}.<{name}>")

    def _class(self, value: type, kind: type, path: str) -> None:
        self._add(path, "class", name_of(value))
        if value.__module__ != CASE:
            return
        for name, item in sorted(vars(value).items()):
            code = isinstance(self._unwrap(item), (types.FunctionType, staticmethod, classmethod, property))
            if code or not (name.startswith("__") or name == "_abc_impl"):
                self.visit(item, f"{path}.{name}")

    def _attributes(self, value: Any, path: str) -> None:
        """What lies in an object's own dict and slots."""
        own = getattr(value, "__dict__", None)
        for name, item in sorted((own or {}).items()):
            self.visit(item, f"{path}.{name}")
        for kind in type(value).__mro__:
            slots = vars(kind).get("__slots__", ()) if kind.__module__ == CASE else ()
            for name in (slots,) if isinstance(slots, str) else slots:
                if hasattr(value, name) and name not in (own or {}):
                    self.visit(getattr(value, name), f"{path}.{name}")

    def _parts(self, value: Any) -> list[tuple[str, Any]] | None:
        """Named parts of an object of Python's or NumPy's own; None where they are its attributes."""
        if isinstance(value, types.CellType):
            try:
                return [("", value.cell_contents)]
            except ValueError:
                return []
        if isinstance(value, types.MethodType):
            return [(".__func__", value.__func__), (".__self__", value.__self__)]
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            return [(".__name__", value.__name__), ("", None if isinstance(owner, types.ModuleType) else owner)]
        if isinstance(value, functools.partial):
            return [(".func", value.func), (".args", value.args), (".keywords", value.keywords)]
        if isinstance(value, types.GeneratorType):
            frame = value.gi_frame
            place = [(" line", frame.f_lineno)] if frame else [(" finished", True)]
            return [*place, *((f".<{n}>", v) for n, v in (sorted(frame.f_locals.items()) if frame else ()))]
        if isinstance(value, (staticmethod, classmethod)):
            return [("", value.__func__)]
        if isinstance(value, property):
            return [(".fget", value.fget), (".fset", value.fset)]
        if isinstance(value, functools._lru_cache_wrapper):
            return [(" cache", tuple(value.cache_info())), ("", value.__wrapped__)]
        if isinstance(value, BaseException):
            return [(".args", value.args), *((f".{n}", v) for n, v in sorted(vars(value).items()))]
        if isinstance(value, (random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator)):
            return [(" state", str(random_state(value)))]
        if isinstance(value, weakref.ref):
            return [("()", value())]
        if isinstance(value, io.StringIO):
            return [("", value.getvalue())]
        if isinstance(value, (types.ModuleType, np.ufunc, np.dtype, types.CodeType)):
            return [("", getattr(value, "__name__", "") or str(value))]
        return None

    def _other(self, value: Any, kind: type, path: str) -> None:
        self._add(path, "type", name_of(kind))
        parts = self._parts(value)
        if parts is None and name_of(kind) != kind.__qualname__ and kind.__module__ != "itertools":
            self._attributes(value, path)
            return
        if parts is None:
            # Iterators tell what they hold and how far they are, without moving.
            reduced = () if kind in (object,) else value.__reduce__()
            parts = [("", part) for part in reduced] if isinstance(reduced, tuple) else []
        for label, part in parts:
            self._alive.append(part)
            self.visit(part, path + label)

    def _memory(self) -> None:
        """An entry for each array that shares bytes with another: which bytes, numbered as they are met; strides do not count."""
        bounds = [(*np.lib.array_utils.byte_bounds(a), number) for number, (_, a) in enumerate(self._arrays)]
        near: list[list[int]] = []
        reach = -1
        for low, high, number in sorted(bounds):
            if low >= reach:
                near.append([])
            reach = max(reach, high)
            near[-1].append(number)
        groups = [sharing for group in near if len(group) > 1 for sharing in self._sharing(sorted(group))]
        for group in sorted(groups):
            places = np.concatenate([bytes_of(self._arrays[number][1]) for number in group])
            _, first, inverse = np.unique(places, return_index=True, return_inverse=True)
            ranks = np.argsort(np.argsort(first))[inverse]
            start = 0
            for number in group:
                path, array = self._arrays[number]
                mine, start = ranks[start : start + array.nbytes], start + array.nbytes
                self._add(path, "memory", (self._arrays[group[0]][0], tuple(mine[:: array.itemsize].tolist())))

    def _sharing(self, group: list[int]) -> list[list[int]]:
        """Those of arrays that lie near each other which share bytes, directly or by others."""
        parts: list[tuple[list[int], set[int]]] = []
        for number in group:
            members, places = [number], set(bytes_of(self._arrays[number][1]).tolist())
            others = [p for p in parts if not p[1].isdisjoint(places)]
            parts = [p for p in parts if p[1].isdisjoint(places)]
            for more, also in others:
                members, places = more + members, places | also
            parts.append((members, places))
        return [sorted(members) for members, _ in parts if len(members) > 1]


HANDLERS: dict[Any, Callable[[Snapshot, Any, type, str], None]] = {
    np.ndarray: Snapshot._array,
    (list, tuple, collections.deque): Snapshot._sequence,
    (dict, types.MappingProxyType): Snapshot._dict,
    (set, frozenset): Snapshot._set,
    types.FunctionType: Snapshot._function,
    type: Snapshot._class,
    object: Snapshot._other,
}


@functools.lru_cache(maxsize=256)
def family(kind: type) -> Any:
    """The first of HANDLERS that a type's objects belong to."""
    return next(parent for parent in HANDLERS if issubclass(kind, parent))


def bytes_of(array: np.ndarray) -> np.ndarray:
    """The addresses of all bytes of an array, element by element."""
    places = np.array(array.__array_interface__["data"][0])
    for extent, step in (*zip(array.shape, array.strides), (array.itemsize, 1)):
        places = places[..., None] + np.arange(extent) * step
    return places.ravel()


def random_state(value: Any) -> Any:
    """The state of a generator of random numbers, of Python's or NumPy's."""
    if hasattr(value, "getstate"):
        return value.getstate()
    if isinstance(value, np.random.RandomState):
        kind, key, *rest = value.get_state()
        return kind, key.tobytes(), *rest
    bits = value.bit_generator if isinstance(value, np.random.Generator) else value
    return str(bits.state)
