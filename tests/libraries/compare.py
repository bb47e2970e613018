"""Whether two values are equal through and through: types, dtypes, shapes, elements, the state of objects."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np

#: By the bytes of a real float: how near to the largest element, and how near to the largest argument.
NEAR = {2: (1e-2, 1e-3), 4: (1e-3, 1e-5), 8: (1e-6, 1e-12), 16: (1e-6, 1e-12)}
DEPTH, NODES = 14, 30_000
SAME = (types.ModuleType, types.BuiltinFunctionType, np.ufunc, type)
CALLABLE = (types.MethodType, types.FunctionType)


def magnitude(value: Any, depth: int = 0) -> float:
    """The largest finite number in arguments: what is rounded is as large."""
    if isinstance(value, (list, tuple)) and depth < 4:
        return max((magnitude(v, depth + 1) for v in value[:1000]), default=0.0)
    if isinstance(value, dict) and depth < 4:
        return magnitude(list(value.values()), depth + 1)
    if isinstance(value, (np.ndarray, np.number, float, complex, int)):
        array = np.asarray(value)
        if array.dtype.kind not in "iufc" or not array.size:
            return 0.0
        size = np.abs(array.astype(complex if array.dtype.kind == "c" else float))
        return float(np.max(size, where=np.isfinite(size), initial=0.0))
    return (
        magnitude(list(vars(value).values()), depth + 1)
        if hasattr(value, "__dict__") and depth < 2 and not isinstance(value, SAME)
        else 0.0
    )


class Comparison:
    """One comparison; pairs that are being compared are equal."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = min(max(scale, 1.0), 1e12)
        self.pairs: dict[tuple[int, int], Any] = {}

    def difference(self, a: Any, w: Any, where: str = "", depth: int = 0) -> str:
        """What differs first, or nothing."""
        if a is w or depth > DEPTH or len(self.pairs) > NODES:
            return ""
        if type(a) is not type(w):
            return f"{where}: type {name_of(a)} for {name_of(w)}"
        pair = (id(a), id(w))
        if pair in self.pairs:
            return ""
        self.pairs[pair] = (a, w)
        if isinstance(w, np.ma.MaskedArray):
            return self.masked(a, w, where)
        if isinstance(w, (np.ndarray, np.generic)):
            return self.arrays(a, w, where, depth)
        if isinstance(w, (float, complex)):
            return self.numbers(np.asarray(complex(a)), np.asarray(complex(w)), 8, where)
        if isinstance(w, (bool, int, str, bytes, range, np.dtype)) or w is None:
            return "" if a == w else f"{where}: {short(a)} for {short(w)}"
        if isinstance(w, SAME):
            return f"{where}: {short(a)} for {short(w)}"
        return self.parts(a, w, where, depth)

    def parts(self, a: Any, w: Any, where: str, depth: int) -> str:
        """What differs in the elements, entries or attributes of two objects of one type."""
        if isinstance(w, (set, frozenset)):
            return "" if a == w else f"{where}: {short(a)} for {short(w)}"
        try:
            left, right = dict(parts_of(a)), dict(parts_of(w))
        except Exception:
            return ""
        if list(left) != list(right) and (isinstance(w, (dict, list, tuple)) or set(left) != set(right)):
            return f"{where}: parts {short(list(left))} for {short(list(right))}"
        for name, part in right.items():
            if text := self.difference(left[name], part, f"{where}{name}", depth + 1):
                return text
        return ""

    def masked(self, a: Any, w: Any, where: str) -> str:
        if text := self.arrays(np.ma.getmaskarray(a), np.ma.getmaskarray(w), f"{where}.mask", 0):
            return text
        hidden = np.ma.getmaskarray(w)
        zero = np.zeros((), w.dtype)
        return self.arrays(np.where(hidden, zero, np.asarray(a)), np.where(hidden, zero, np.asarray(w)), where, 0)

    def arrays(self, a: Any, w: Any, where: str, depth: int) -> str:
        if a.dtype != w.dtype:
            return f"{where}: dtype {a.dtype} for {w.dtype}"
        if a.shape != w.shape:
            return f"{where}: shape {a.shape} for {w.shape}"
        left, right = np.asarray(a), np.asarray(w)
        if right.dtype.names:
            found = (self.arrays(left[n], right[n], f"{where}[{n!r}]", depth) for n in right.dtype.names)
            return next((text for text in found if text), "")
        if right.dtype.kind == "O":
            return self.difference(left.ravel().tolist(), right.ravel().tolist(), f"{where}.flat", depth + 1)
        if right.dtype.kind in "fc" or right.dtype.name in ("bfloat16",):
            size = right.dtype.itemsize // (2 if right.dtype.kind == "c" else 1)
            wide = np.result_type(right.dtype, np.complex128)
            return self.numbers(left.astype(wide), right.astype(wide), size, where)
        if right.dtype.kind == "V":
            return "" if left.tobytes() == right.tobytes() else f"{where}: bytes differ"
        unequal = left != right
        if right.dtype.kind in "mM":
            unequal &= ~(np.isnat(left) & np.isnat(right))
        return self.first(unequal, left, right, where)

    def numbers(self, a: Any, w: Any, size: int, where: str) -> str:
        """Complex arrays whose parts were floats of so many bytes."""
        near, floor = NEAR[size]
        with np.errstate(all="ignore"):
            finite = np.isfinite(a) & np.isfinite(w)
            largest = float(np.max(np.abs(w), where=np.isfinite(w), initial=0.0))
            close = np.abs(a - w) <= near * largest + floor * self.scale
            same = np.ones(a.shape, bool)
            for left, right in ((a.real, w.real), (a.imag, w.imag)):
                same &= (left == right) | np.isnan(left) & np.isnan(right) | np.isfinite(left) & np.isfinite(right)
            # A complex number with one infinite part has another one that says little.
            same |= ~finite & ~np.isfinite(a) & ~np.isfinite(w) & ((a.imag != 0) | (w.imag != 0))
        return self.first(~np.where(finite, close, same), a, w, where)

    def first(self, unequal: Any, a: Any, w: Any, where: str) -> str:
        if not np.any(unequal):
            return ""
        place = tuple(int(i) for i in np.argwhere(unequal)[0])
        at = f" at {place}, {int(np.sum(unequal))} of {unequal.size}" if place else ""
        left, right = a[place], w[place]
        if a.dtype.kind == "c" and not (np.imag(left) or np.imag(right)):
            left, right = np.real(left), np.real(right)
        return f"{where}: value {left} for {right}{at}"


def parts_of(value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of an object by name; what holds nothing that is seen has none."""
    if isinstance(value, dict):
        yield "keys", list(value)
        for key, part in value.items():
            yield f"[{short(key)}]", part
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield f"[{i}]", part
    elif hasattr(value, "to_numpy"):  # of pandas
        for name in ("index", "columns", "dtype", "name"):
            if name != "index" or value.index is not value:
                yield f".{name}", getattr(value, name, None)
        yield ".values", value.to_numpy()
    elif isinstance(value, np.random.RandomState):
        yield ".state", value.get_state(legacy=False)
    elif isinstance(value, np.random.Generator):
        yield ".state", value.bit_generator.state
    elif isinstance(value, CALLABLE):
        yield ".name", value.__qualname__
        if isinstance(value, types.MethodType):
            yield ".self", value.__self__
    elif isinstance(value, slice):
        yield from ((".start", value.start), (".stop", value.stop), (".step", value.step))
    if isinstance(value, BaseException):
        yield ".args", value.args
    yield from attributes(value)


def attributes(value: Any) -> Iterator[tuple[str, Any]]:
    for name, part in getattr(value, "__dict__", {}).items():
        yield f".{name}", part
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name) and name not in ("__dict__", "__weakref__"):
                yield f".{name}", getattr(value, name)


def name_of(value: Any) -> str:
    return (
        type(value).__name__
        if type(value).__module__ == "builtins"
        else f"{type(value).__module__}.{type(value).__name__}"
    )


def short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        text = name_of(value)
    return text if len(text) <= 60 else text[:57] + "..."
