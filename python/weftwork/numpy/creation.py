"""np.zeros, np.arange and the like: inside a traced function they make traced arrays.

NumPy's protocols do not see functions that take no array. While any trace runs, these names of NumPy's namespace lead
here; calls from other threads, or from code that no trace runs, go straight on to NumPy.
"""

from __future__ import annotations

import builtins
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentValueError, UnsupportedError
from .dispatch import FUNCTIONS, broadcast_to, implements
from .grids import Joiner
from .loops import PYTHON_RANGE, Range
from .tracer import NDARRAY, TracedArray, as_tensor, contains_traced, convert, current_trace, raise_here, untraced, wrap

CREATORS: dict[str, Callable[..., Any]] = {}
_lock = threading.Lock()
_active = 0
_constructing = 0
_originals: dict[str, Callable[..., Any]] = {}


def creates(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the traced form of a creation function; it returns NotImplemented to let NumPy do it."""

    def register(form: Callable[..., Any]) -> Callable[..., Any]:
        CREATORS[name] = form
        return form

    return register


def redirected(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is not None:
            result = CREATORS[name](*args, **kwargs)
            if result is not NotImplemented:
                return result
        return original(*args, **kwargs)

    return call


@contextmanager
def traced_creation() -> Iterator[None]:
    """While it lasts, creation functions called by traced code make traced arrays."""
    global _active
    with _lock:
        if _active == 0:
            for name in CREATORS:
                _originals[name] = getattr(np, name)
                setattr(np, name, redirected(name, _originals[name]))
            for name, columns in (("r_", False), ("c_", True)):
                _originals[name] = getattr(np, name)
                setattr(np, name, Joiner(_originals[name], columns))
            builtins.range = Range  # type: ignore[assignment,misc]
        _active += 1
    try:
        yield
    finally:
        with _lock:
            _active -= 1
            if _active == 0:
                for name, original in _originals.items():
                    setattr(np, name, original)
                _originals.clear()
                builtins.range = PYTHON_RANGE  # type: ignore[misc]


class NdarrayType(type):
    """isinstance(x, np.ndarray) means what it always does."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, NDARRAY)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, NDARRAY)



class Ndarray(np.ndarray, metaclass=NdarrayType):
    """Stands for np.ndarray in functions that make arrays by calling it."""

    def __new__(cls, shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None, order: Any = None) -> Any:
        if current_trace() is None or buffer is not None or offset or strides is not None or order not in (None, "C") or not is_number(dtype):
            return NDARRAY(shape, dtype, buffer, offset, strides, order)
        return filled(shape, 0, dtype)


@contextmanager
def traced_constructor() -> Iterator[None]:
    """While it lasts, np.ndarray(shape) called by traced code makes a traced array.

    Only for functions that fail without: np.ndarray is a type, which other code may compare with.
    """
    global _constructing
    with _lock:
        _constructing += 1
        np.ndarray = Ndarray  # type: ignore[misc,assignment]
    try:
        yield
    finally:
        with _lock:
            _constructing -= 1
            if _constructing == 0:
                np.ndarray = NDARRAY  # type: ignore[misc]


def extents_of(shape: Any) -> tuple[Any, ...]:
    items = shape if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(item if isinstance(item, _core.Dim) else item.__index__() for item in items)


def filled(shape: Any, value: Any, dtype: Any) -> TracedArray:
    return wrap(broadcast_to(as_tensor(value, np.dtype(dtype)), extents_of(shape)))


def is_number(dtype: Any) -> bool:
    """Whether elements are numbers or booleans; arrays of others are NumPy's own."""
    target = np.dtype(dtype)
    return target.kind not in "OSUMm" and target.names is None and target.subdtype is None


def is_plain(kwargs: dict[str, Any]) -> bool:
    return kwargs.get("order", "C") in ("C", "K", None) and kwargs.get("like") is None


@creates("zeros")
def zeros(shape: Any, dtype: Any = float, **kwargs: Any) -> Any:
    return filled(shape, 0, dtype) if is_plain(kwargs) and is_number(dtype) else NotImplemented


@creates("empty")
def empty(shape: Any, dtype: Any = float, **kwargs: Any) -> Any:
    return filled(shape, 0, dtype) if is_plain(kwargs) and is_number(dtype) else NotImplemented


@creates("ones")
def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
    target = float if dtype is None else dtype
    return filled(shape, 1, target) if is_plain(kwargs) and is_number(target) else NotImplemented


@creates("full")
def full(shape: Any, fill_value: Any, dtype: Any = None, **kwargs: Any) -> Any:
    if not is_plain(kwargs) or (dtype is not None and not is_number(dtype)):
        return NotImplemented
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, TracedArray) else np.asarray(fill_value).dtype
    return filled(shape, fill_value, dtype)


@implements(np.zeros_like)
def zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None) -> Any:
    return like(a, 0, dtype, shape, order)


@implements(np.empty_like)
def empty_like(prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None) -> Any:
    return like(prototype, 0, dtype, shape, order)


@implements(np.ones_like)
def ones_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None) -> Any:
    return like(a, 1, dtype, shape, order)


@implements(np.full_like)
def full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None) -> Any:
    return like(a, fill_value, dtype, shape, order)


def like(a: Any, value: Any, dtype: Any, shape: Any, order: str) -> Any:
    from .layout import column_major, inherit

    x = as_tensor(a)
    result = filled(x.shape if shape is None else shape, value, x.dtype if dtype is None else dtype)
    if order == "F":
        result._storage.strides = column_major(result.shape)
    return inherit(result, (a,), {}) if order in ("K", "A") else result


for _name in ("zeros_like", "empty_like", "ones_like", "full_like"):
    CREATORS[_name] = FUNCTIONS[getattr(np, _name)]


@creates("arange")
def arange(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
    symbolic = any(isinstance(a, (_core.Dim, TracedArray)) for a in args)
    integers = all(isinstance(a, (int, np.integer)) for a in args)
    # A ramp of whole numbers is an iota, never a table.
    if not symbolic and not (is_plain(kwargs) and integers and 1 <= len(args) <= 3):
        return NotImplemented
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    if isinstance(step, (TracedArray, _core.Dim)) or isinstance(start, TracedArray) or isinstance(stop, TracedArray):
        return NotImplemented
    step = step.__index__()
    if step == 0:
        return NotImplemented
    distance = stop - start if step > 0 else start - stop
    count = _core.dim_max(0, (distance + abs(step) - 1) // abs(step))
    if isinstance(count, int) and count < 0:
        count = 0
    target = np.dtype(np.int64 if dtype is None else dtype)
    inner = target if target.kind in "iuf" else np.dtype(np.int64)
    ramp: Any = wrap(_core.apply("iota", [], {"type": np.dtype(np.int64), "dims": (count,), "dimension": 0}))
    if step != 1:
        ramp = np.multiply(ramp, step)
    if not isinstance(start, int) or start != 0:
        ramp = np.add(ramp, start if isinstance(start, int) else wrap(as_tensor(start)))
    return wrap(convert(convert(ramp.tensor, inner), target))


@creates("eye")
def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = float, **kwargs: Any) -> Any:
    if not is_plain(kwargs):
        return NotImplemented
    rows, columns = N, N if M is None else M
    row, column = arange(rows), arange(columns)
    diagonal = np.equal(np.reshape(row, (rows, 1)) + k, np.reshape(column, (1, columns)))
    return wrap(convert(diagonal.tensor, np.dtype(dtype)))


@creates("identity")
def identity(n: Any, dtype: Any = None, **kwargs: Any) -> Any:
    return eye(n, dtype=float if dtype is None else dtype, **kwargs)


@creates("tri")
def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = float, **kwargs: Any) -> Any:
    from .functions import triangle

    return wrap(convert(triangle(N, N if M is None else M, k), np.dtype(dtype)))


@creates("array")
def array(object: Any, dtype: Any = None, *, copy: Any = True, ndmin: int = 0, **kwargs: Any) -> Any:
    if not contains_traced(object) or not is_plain(kwargs):
        return NotImplemented
    from .layout import inherit

    target = None if dtype is None else np.dtype(dtype)
    if isinstance(object, TracedArray) and not copy and not object.scalar and (target is None or target == object.dtype):
        result = object
    else:
        result = wrap(as_tensor(object, target))
        if kwargs.get("order") != "C":
            inherit(result, (object,), {})
    return result if result.ndim >= ndmin else np.reshape(result, (1,) * (ndmin - result.ndim) + tuple(result.shape))


@creates("asarray")
def asarray(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    order = kwargs.pop("order", None)
    result = array(a, dtype, copy=kwargs.pop("copy", None), **kwargs)
    return ordered(result, order) if order in ("C", "F") and result is not NotImplemented else result


CREATORS["asanyarray"] = asarray


@creates("ascontiguousarray")
def ascontiguousarray(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    return ordered(at_least_a_line(asarray(a, dtype)), "C")


@creates("asfortranarray")
def asfortranarray(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    return ordered(at_least_a_line(asarray(a, dtype)), "F")


def at_least_a_line(array: Any) -> Any:
    return array.reshape(1) if isinstance(array, TracedArray) and not array.ndim else array


def ordered(array: Any, order: str) -> Any:
    from .layout import contiguous

    return contiguous(array, order) if isinstance(array, TracedArray) else array


@creates("require")
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    if not isinstance(a, TracedArray):
        return NotImplemented
    wanted = {str(r).upper()[0] for r in ([requirements] if isinstance(requirements, str) else requirements or ())}
    if not wanted <= set("CFAWOE"):
        raise_here(ArgumentValueError, f"require: unknown requirement among {requirements}", "require")
    if wanted & {"O", "W"}:
        raise_here(UnsupportedError, "whether np.require copies for 'O' and 'W' depends on who owns the memory; write np.copy(x)", "require")
    return ordered(asarray(a, dtype), "C" if "C" in wanted else "F") if wanted & {"C", "F"} else asarray(a, dtype)


@creates("isscalar")
def isscalar(element: Any) -> Any:
    return element.scalar if isinstance(element, TracedArray) else NotImplemented


@creates("min_scalar_type")
def min_scalar_type(a: Any, /) -> Any:
    if not isinstance(a, TracedArray):
        return NotImplemented
    if not a.ndim:
        with untraced():
            return np.min_scalar_type(a._need_value("min_scalar_type", "use x.dtype"))
    return a.dtype


@creates("broadcast_shapes")
def broadcast_shapes(*args: Any) -> Any:
    result: Any = ()
    for shape in args:
        result = _core.broadcast_shapes(result, extents_of(shape))
    return tuple(result)


@creates("einsum_path")
def einsum_path(*operands: Any, **kwargs: Any) -> Any:
    """The path depends on shapes only."""
    with untraced():
        shapes = [np.broadcast_to(np.zeros((), o.dtype), o.shape) if isinstance(o, TracedArray) else o for o in operands]
        return np.einsum_path(*shapes, **kwargs)


@creates("take")
def take(a: Any, indices: Any, *args: Any, **kwargs: Any) -> Any:
    """NumPy's protocol asks only the array that is taken from; here the indices may be what is traced."""
    if isinstance(a, TracedArray) or not contains_traced(indices):
        return NotImplemented
    return _originals["take"](wrap(as_tensor(a)), indices, *args, **kwargs)


@creates("lexsort")
def lexsort(keys: Any, *args: Any, **kwargs: Any) -> Any:
    # NumPy looks for traced arrays in a tuple of keys, not in a list.
    return np.lexsort(tuple(keys), *args, **kwargs) if isinstance(keys, list) and contains_traced(keys) else NotImplemented
