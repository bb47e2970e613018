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


def path_text(path: Any) -> str:
    """A place as a person would write it: paths are (parent, label)."""
    parts: list[str] = []
    while path:
        path, label = path
        parts.append(label if isinstance(label, str) else f"[{label}]")
    return "".join(reversed(parts))


class Snapshot:
    """``entries`` are (path, kind, data); ``unwrap`` gives the plain function that was jitted, or the value itself."""

    def __init__(self, names: dict[str, Any], unwrap: Callable[[Any], Any]) -> None:
        self.entries: list[tuple[Any, str, Any]] = []
        self._unwrap = unwrap
        self._seen: dict[int, int] = {}
        self._alive: list[Any] = []
        self._arrays: list[tuple[Any, np.ndarray]] = []
        self.visit(names.get("_result"), (None, "result"))
        for name in sorted(names):
            if name not in HIDDEN and name != "_result" and not isinstance(names[name], types.ModuleType):
                self.visit(names[name], (None, name))
        self._add((None, "np.random"), "random state", random_state(np.random.mtrand._rand))
        self._add((None, "random"), "random state", random_state(random))
        self._add((None, "np.geterr()"), "str", str(np.geterr()))
        self._memory()
        self._alive, self._arrays, self._seen = [], [], {}

    def _add(self, path: Any, kind: str, data: Any) -> None:
        self.entries.append((path, kind, data))

    def visit(self, value: Any, path: Any) -> None:
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
            self._add(path, "TRACED", name_of(kind))
            return
        self._object(value, kind, path)

    def _object(self, value: Any, kind: type, path: Any) -> None:
        if isinstance(value, np.ndarray):
            self._array(value, path)
        elif isinstance(value, (list, tuple, collections.deque)):
            self._add(path, name_of(kind), len(value))
            for i, item in enumerate(value):
                self.visit(item, (path, i))
            self._attributes(value, path)
        elif isinstance(value, (dict, types.MappingProxyType)):
            self._dict(value, kind, path)
        elif isinstance(value, (set, frozenset)):
            self._add(path, name_of(kind), len(value))
            for i, item in enumerate(sorted(value, key=repr)):
                self.visit(item, (path, i))
        elif isinstance(value, types.FunctionType):
            self._function(value, path)
        elif isinstance(value, type):
            self._class(value, path)
        else:
            self._other(value, kind, path)

    def _dict(self, value: Any, kind: type, path: Any) -> None:
        self._add(path, name_of(kind), len(value))
        for i, (key, item) in enumerate(list(value.items())):
            self.visit(key, (path, f".key {i}"))
            self.visit(item, (path, f"[{key!r}]" if type(key) in ATOMS else i))
        if isinstance(value, collections.defaultdict):
            self.visit(value.default_factory, (path, ".default_factory"))
        self._attributes(value, path)

    def _array(self, value: np.ndarray, path: Any) -> None:
        if value.dtype.hasobject:
            self._add(path, name_of(type(value)), (str(value.dtype), value.shape))
            for i, item in enumerate(value.ravel().tolist()):
                self.visit(item, (path, i))
        else:
            self._add(path, name_of(type(value)), np.array(value, copy=True, subok=False))
        self._add((path, ".flags.writeable"), "bool", value.flags.writeable)
        if isinstance(value, np.ma.MaskedArray):
            self.visit(np.ma.getmaskarray(value), (path, ".mask"))
        if value.size:
            self._arrays.append((path, value))

    def _function(self, value: types.FunctionType, path: Any) -> None:
        self._add(path, "function", value.__qualname__)
        if value.__module__ != CASE:
            return
        self.visit(value.__defaults__, (path, ".__defaults__"))
        self.visit(value.__kwdefaults__, (path, ".__kwdefaults__"))
        for name, item in sorted(value.__dict__.items()):
            if name not in FORGOTTEN:
                self.visit(item, (path, f".{name}"))
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
            if name not in FORGOTTEN:
                self.visit(cell, (path, f".<{name}>"))

    def _class(self, value: type, path: Any) -> None:
        self._add(path, "class", name_of(value))
        if value.__module__ != CASE:
            return
        for name, item in sorted(vars(value).items()):
            code = isinstance(self._unwrap(item), (types.FunctionType, staticmethod, classmethod, property))
            if code or not (name.startswith("__") or name == "_abc_impl"):
                self.visit(item, (path, f".{name}"))

    def _attributes(self, value: Any, path: Any) -> None:
        """What lies in an object's own dict and slots."""
        own = getattr(value, "__dict__", None)
        for name, item in sorted((own or {}).items()):
            self.visit(item, (path, f".{name}"))
        for kind in type(value).__mro__:
            slots = vars(kind).get("__slots__", ()) if kind.__module__ == CASE else ()
            for name in (slots,) if isinstance(slots, str) else slots:
                if hasattr(value, name) and name not in (own or {}):
                    self.visit(getattr(value, name), (path, f".{name}"))

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

    def _other(self, value: Any, kind: type, path: Any) -> None:
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
            self.visit(part, (path, label))

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
                self._add(
                    path, "memory", (path_text(self._arrays[group[0]][0]), tuple(mine[:: array.itemsize].tolist()))
                )

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
