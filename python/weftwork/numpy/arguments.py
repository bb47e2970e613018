"""How arguments are spelled: integers, shapes, axes, orders, copies and devices, as NumPy takes and refuses them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, Error
from .tracer import TracedArray, raise_here


def known(value: Any, what: str) -> Any:
    """What extents, axes and places are: of an array its constant, or the value that Python has."""
    return value._need_value(what, "make it a constant", True) if isinstance(value, TracedArray) else value


def known_deep(value: Any, what: str) -> Any:
    """Known numbers in lists and tuples."""
    if type(value) in (list, tuple):
        return type(value)(known_deep(item, what) for item in value)
    return known(value, what)


def integer(value: Any, name: str) -> Any:
    """operator.index, and symbolic extents as they are; an error that names the user's line for what is no integer."""
    if isinstance(value, _core.Dim):
        return value
    try:
        return operator.index(value)
    except Error:
        raise
    except TypeError as error:
        return raise_here(ArgumentTypeError, f"{name}: {error}", "integer")


def c_int(value: Any, name: str, bits: int = 32) -> Any:
    """An integer that NumPy keeps in one of C's, so that it must not be larger."""
    number = integer(value, name)
    if isinstance(number, int) and not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise_here(ArgumentValueError, f"{name} must be an integer of {bits} bits, got {number}", "integer_range")
    return number


def near_diagonal(k: Any, rows: Any, columns: Any) -> Any:
    """The diagonal ``k`` of an array, or one beside the last where it is further out; of symbolic extents nobody knows."""
    return min(max(k, -rows - 1), columns + 1) if all(isinstance(n, int) for n in (k, rows, columns)) else k


def items_of(value: Any, name: str) -> list[Any]:
    """A sequence of integers, or one alone: tuples, lists, ranges and arrays are sequences."""
    if isinstance(value, TracedArray) and value.ndim:
        value = known(value, name)
    if isinstance(value, np.ndarray) and value.ndim:
        value = list(value)
    if isinstance(value, (str, bytes)) or value is None:
        raise_here(
            ArgumentTypeError, f"{name}: an integer or a sequence of integers was wanted, got {value!r}", "integer"
        )
    if hasattr(value, "__index__"):
        return [value]
    return list(value) if hasattr(value, "__iter__") else [value]


def extents_of(shape: Any, name: str = "shape") -> tuple[Any, ...]:
    """A shape: an integer or integers, symbolic extents among them."""
    if isinstance(shape, (bool, np.bool_, dict, set)):
        raise_here(
            ArgumentTypeError, f"{name}: an integer or a sequence of integers was wanted, got {shape!r}", "integer"
        )
    return tuple(c_int(item, name, 64) for item in items_of(shape, name))


def new_extents(shape: Any) -> tuple[Any, ...]:
    """The shape of an array to be made, in which nothing is negative."""
    extents = extents_of(shape)
    if any(isinstance(e, int) and e < 0 for e in extents):
        raise_here(ArgumentValueError, f"negative dimensions are not allowed, got {extents}", "negative_extent")
    return extents


def axis_number(axis: Any, name: str) -> int:
    """An axis as NumPy's compiled functions take one: an integer, and no truth value."""
    if isinstance(axis, (bool, np.bool_)):
        raise_here(ArgumentTypeError, f"{name}: an integer is required for the axis, got {axis!r}", "integer")
    return integer(axis, f"{name}: axis")


def order_letter(order: Any, default: str = "C", allowed: str = "CFAK") -> str:
    """One of C, F, A and K."""
    if order is None:
        return default
    letter = order.upper() if isinstance(order, str) and len(order) == 1 else ""
    if not letter or letter not in "CFAK":
        raise_here(ArgumentValueError, f"order must be one of 'C', 'F', 'A' and 'K', got {order!r}", "order")
    if letter not in allowed:
        raise_here(
            ArgumentValueError, f"only {' or '.join(map(repr, allowed))} order is permitted, got {order!r}", "order"
        )
    return letter


def copy_wanted(copy: Any) -> bool | None:
    """True: always; False: never; None: if needed."""
    modes = {np._CopyMode.ALWAYS: True, np._CopyMode.NEVER: False, np._CopyMode.IF_NEEDED: None}
    if copy is None or isinstance(copy, np._CopyMode):
        return None if copy is None else modes[copy]
    if isinstance(copy, str):
        raise_here(
            ArgumentValueError, "strings are not allowed for 'copy' keyword. Use True/False/None instead.", "copy"
        )
    return bool(copy)


def refuse_copy(copy: bool | None) -> None:
    """The error of ``copy=False`` where only a copy can be given."""
    if copy is False:
        raise_here(
            ArgumentValueError,
            "Unable to avoid copy while creating an array as requested: it needs another dtype, order or kind",
            "copy",
        )


def require_cpu(device: Any) -> None:
    if device is not None and device != "cpu":
        raise_here(
            ArgumentValueError, f'Device not understood. Only "cpu" is allowed, but received: {device}', "device"
        )


def require_casting(casting: Any) -> None:
    """NumPy's error for a casting rule that it does not know."""
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise_here(
            ArgumentValueError,
            f"casting must be one of 'no', 'equiv', 'safe', 'same_kind', 'unsafe', got {casting!r}",
            "casting",
        )


def dtype_of(dtype: Any) -> np.dtype:
    """A dtype as it is given; NumPy makes none of an array, though one of what else has a dtype."""
    if isinstance(dtype, TracedArray):
        raise_here(ArgumentTypeError, f"Cannot interpret {dtype!r} as a data type", "dtype")
    return np.dtype(dtype)


def is_number(dtype: Any) -> bool:
    """Whether elements are numbers or booleans; arrays of others are NumPy's own."""
    target = np.dtype(dtype)
    return target.kind not in "OSUMm" and target.names is None and target.subdtype is None
