"""np.zeros, np.arange and the like: inside a traced function they make traced arrays.

NumPy's protocols do not see functions that take no array. The recorder sees the calls of the traced function, and calls what
stands here in the place of NumPy's own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from . import ranges
from .arguments import (
    c_int,
    copy_wanted,
    dtype_of,
    extents_of,
    integer,
    is_number,
    near_diagonal,
    new_extents,
    order_letter,
    refuse_copy,
    require_cpu,
)
from .dispatch import FUNCTIONS, broadcast_to, implements
from .functions import copied, in_memory_order, tri_diagonal
from .layout import column_major
from .own import CREATORS
from .ranges import is_whole_ramp, known_number, ramp, table
from .stored import require_stored
from .tracer import TracedArray, as_tensor, contains_traced, raise_here, untraced, wrap

_NoValue = np._NoValue


def creates(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the traced form of a creation function; it returns NotImplemented to let NumPy do it."""

    def register(form: Callable[..., Any]) -> Callable[..., Any]:
        CREATORS[name] = form
        function = getattr(np, name)

        @functools.wraps(form)
        def asked_for(*args: Any, **kwargs: Any) -> Any:
            # As like= of a traced array calls it.
            result = form(*args, **kwargs)
            if result is not NotImplemented:
                return result
            with untraced():
                return function(*args, **kwargs)

        FUNCTIONS.setdefault(function, asked_for)
        return form

    return register


def filled(shape: Any, value: Any, dtype: Any, order: str = "C") -> TracedArray:
    """An array of that shape, dtype and order in memory with one value in it, or values that broadcast."""
    result = wrap(broadcast_to(as_tensor(value, np.dtype(dtype)), new_extents(shape)))
    if order == "F":
        result._storage.strides = column_major(result.shape)
    return result


def made(shape: Any, value: Any, dtype: Any, order: Any, device: Any) -> Any:
    """np.zeros and its like; NumPy's own for elements that are no numbers."""
    if not is_number(dtype):
        return NotImplemented
    require_cpu(device)
    return filled(shape, value, dtype, order_letter(order, allowed="CF"))


@creates("zeros")
def zeros(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Any:
    return made(shape, 0, dtype, order, device)


@creates("empty")
def empty(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Any:
    return made(shape, 0, dtype, order, device)


@creates("ones")
def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Any:
    return made(shape, 1, dtype, order, device)


@creates("full")
def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
) -> Any:
    if dtype is None:
        dtype = as_tensor(fill_value).dtype if contains_traced(fill_value) else np.asarray(fill_value).dtype
    return made(shape, fill_value, dtype, order, device)


@implements(np.zeros_like)
def zeros_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return like_of(a, 0, dtype, shape, order, device)


@implements(np.empty_like)
def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return like_of(prototype, 0, dtype, shape, order, device)


@implements(np.ones_like)
def ones_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return like_of(a, 1, dtype, shape, order, device)


@implements(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    return like_of(a, fill_value, dtype, shape, order, device)


def like_of(a: Any, value: Any, dtype: Any, shape: Any, order: Any, device: Any) -> Any:
    require_cpu(device)
    x = as_tensor(a)
    extents = tuple(x.shape) if shape is None else new_extents(shape)
    tensor = filled(extents, value, x.dtype if dtype is None else dtype).tensor
    letter = order_letter(order, "K")
    # Of another number of dimensions, the prototype's order says nothing.
    return copied(a, tensor, "C" if letter == "K" and len(extents) != x.ndim else letter)


for _name in ("zeros_like", "empty_like", "ones_like", "full_like"):
    CREATORS[_name] = FUNCTIONS[getattr(np, _name)]


@creates("arange")
def arange(
    start_or_stop: Any = _NoValue,
    /,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    start: Any = _NoValue,
    device: Any = None,
    like: Any = None,
) -> Any:
    alone = start is _NoValue and stop is None
    if (start_or_stop is _NoValue and alone) or (
        start is not _NoValue and (stop is None or start_or_stop is not _NoValue)
    ):
        raise_here(ArgumentTypeError, "arange() requires stop to be specified, and start once", "arange_stop")
    start, stop = (None, start_or_stop) if alone else (start_or_stop if start is _NoValue else start, stop)
    start = None if start is _NoValue else start
    given = [v for v in (start, stop, step) if v is not None]
    if any(isinstance(v, TracedArray) for v in given):
        given = [known_number(v) for v in given]
        start, stop, step = (None if v is None else given.pop(0) for v in (start, stop, step))
    symbolic = any(isinstance(v, _core.Dim) for v in given)
    # A ramp of whole numbers is an iota, never a table.
    if not symbolic and not is_whole_ramp(given, dtype):
        return table(start, stop, step, dtype, device)
    require_cpu(device)
    return ramp(0 if start is None else start, stop, 1 if step is None else step, dtype, given)


@creates("linspace")
def linspace(start: Any, stop: Any, num: Any = 50, *args: Any, **kwargs: Any) -> Any:
    return ranges.linspace(start, stop, num, *args, **kwargs) if isinstance(num, _core.Dim) else NotImplemented


@creates("eye")
def eye(
    N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C", *, device: Any = None, like: Any = None
) -> Any:
    require_cpu(device)
    if not is_number(dtype):
        return NotImplemented
    rows, columns = new_extents((N, N if M is None else M))
    k = near_diagonal(integer(k, "eye: k"), rows, columns)
    return copied(None, _core.eye(rows, columns, k, np.dtype(dtype)), order_letter(order, allowed="CF"))


@creates("identity")
def identity(n: Any, dtype: Any = None, *, like: Any = None) -> Any:
    return eye(n, dtype=dtype)


@creates("tri")
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, like: Any = None) -> Any:
    if not is_number(dtype):
        return NotImplemented
    rows, columns = (
        max(e, 0) if isinstance(e, int) else e for e in extents_of((N, N if M is None else M))
    )  # as NumPy takes them
    return wrap(_core.tril(filled((rows, columns), 1, dtype).tensor, tri_diagonal(integer(k, "tri: k"), rows, columns)))


@creates("array")
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: Any = 0,
    ndmax: Any = 0,
    like: Any = None,
) -> Any:
    if not contains_traced(object):
        return NotImplemented

    letter, wanted = order_letter(order, "K"), copy_wanted(copy)
    target = None if dtype is None else dtype_of(dtype)
    if (
        wanted is not True
        and isinstance(object, TracedArray)
        and not object.scalar
        and (target is None or target == object.dtype)
    ):
        result = in_memory_order(object, letter, wanted)
    else:
        refuse_copy(wanted)
        if target is not None:
            require_stored(object, target, is_item=False)
        result = copied(object, as_tensor(object, target), letter)
    if not 0 <= c_int(ndmax, "ndmax") <= 64:
        raise_here(ArgumentValueError, f"ndmax must be in the range [0, 64], got {ndmax}", "ndmax")
    limit, least = integer(ndmax, "ndmax"), integer(ndmin, "ndmin")
    if limit and result.ndim > limit:
        raise_here(
            UnsupportedError, f"np.array with ndmax={limit} of {result.ndim} dimensions cannot be compiled", "ndmax"
        )
    return result if result.ndim >= least else np.reshape(result, (1,) * (least - result.ndim) + tuple(result.shape))


@creates("asarray")
def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    require_cpu(device)
    return array(a, dtype, copy=copy, order="K" if order is None else order)


creates("asanyarray")(asarray)


@creates("ascontiguousarray")
def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    return at_least_a_line(asarray(a, dtype, "C"))


@creates("asfortranarray")
def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    return at_least_a_line(asarray(a, dtype, "F"))


def at_least_a_line(array: Any) -> Any:
    return array.reshape(1) if isinstance(array, TracedArray) and not array.ndim else array


@creates("require")
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    if not isinstance(a, TracedArray):
        return NotImplemented
    wanted = {str(r).upper()[0] for r in ([requirements] if isinstance(requirements, str) else requirements or ())}
    if not wanted <= set("CFAWOE"):
        raise_here(ArgumentValueError, f"require: unknown requirement among {requirements}", "require")
    if wanted >= {"C", "F"}:
        raise_here(ArgumentValueError, 'Cannot specify both "C" and "F" order', "require")
    order = "C" if "C" in wanted else "F" if "F" in wanted else "A"
    array = asarray(a, dtype, order)
    if "O" in wanted and not array._steps and not array._storage.owned:
        message = "whether np.require copies for 'O' depends on who owns the memory; write np.copy(x)"
        raise_here(UnsupportedError, message, "require")
    lacks = ("O" in wanted and array._steps) or ("W" in wanted and not array.flags.writeable)
    return array.copy(order) if lacks else array


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
    return _core.broadcast_shapes(*map(extents_of, args))


@creates("einsum_path")
def einsum_path(*operands: Any, **kwargs: Any) -> Any:
    """The path depends on shapes only."""
    with untraced():
        shapes = [
            np.broadcast_to(np.zeros((), o.dtype), o.shape) if isinstance(o, TracedArray) else o for o in operands
        ]
        return np.einsum_path(*shapes, **kwargs)


@creates("take")
def take(a: Any, indices: Any, *args: Any, **kwargs: Any) -> Any:
    """NumPy's protocol asks only the array that is taken from; here the indices may be what is traced."""
    if isinstance(a, TracedArray) or not contains_traced(indices):
        return NotImplemented
    return np.take(wrap(as_tensor(a)), indices, *args, **kwargs)


@creates("lexsort")
def lexsort(keys: Any, *args: Any, **kwargs: Any) -> Any:
    # NumPy looks for traced arrays in a tuple of keys, not in a list.
    return (
        np.lexsort(tuple(keys), *args, **kwargs) if isinstance(keys, list) and contains_traced(keys) else NotImplemented
    )
