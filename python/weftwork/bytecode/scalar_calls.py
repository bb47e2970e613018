"""Python's functions of one number, ``math.sqrt(x[i])``, ``int(x[i])``, as operations of the program.

Where Python raises, the call runs plainly; a program that has to be one raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from ..numpy.tracer import TracedArray, as_tensor, wrap
from ..numpy.validity import demanded

__all__ = ["as_python", "converted", "is_scalar_function", "scalar_call"]


def is_finite_again(result: Any, *given: Any) -> Any:
    """A result that is infinite, or a NaN, where nothing that was given is, is an error of Python's."""
    holds = np.isfinite(result)
    for value in given:
        holds = holds | ~np.isfinite(value)
    return holds


def is_no_infinity(result: Any, value: Any) -> Any:
    return ~np.isinf(value)


def operation_of_one(name: str) -> Callable[[Any], Any]:
    """An operation that NumPy has no function for."""
    return lambda x: wrap(_core.apply(name, [x.tensor]))


#: The operation, and where Python does not raise: of the result and what was given.
FLOATS: dict[Any, tuple[Callable[..., Any], Callable[..., Any] | None]] = {
    math.sqrt: (np.sqrt, lambda r, x: ~(x < 0)),
    math.exp: (np.exp, is_finite_again), math.expm1: (np.expm1, is_finite_again),
    math.log: (np.log, lambda r, x: ~(x <= 0)), math.log2: (np.log2, lambda r, x: ~(x <= 0)),
    math.log10: (np.log10, lambda r, x: ~(x <= 0)), math.log1p: (np.log1p, lambda r, x: ~(x <= -1)),
    math.sin: (np.sin, is_no_infinity), math.cos: (np.cos, is_no_infinity), math.tan: (np.tan, is_no_infinity),
    math.sinh: (np.sinh, is_finite_again), math.cosh: (np.cosh, is_finite_again), math.tanh: (np.tanh, None),
    math.asin: (np.arcsin, is_finite_again), math.acos: (np.arccos, is_finite_again), math.atan: (np.arctan, None),
    math.asinh: (np.arcsinh, None), math.acosh: (np.arccosh, is_finite_again), math.atanh: (np.arctanh, is_finite_again),
    math.atan2: (np.arctan2, None), math.copysign: (np.copysign, None), math.fabs: (np.abs, None),
    math.degrees: (np.degrees, None), math.radians: (np.radians, None),
    math.erf: (operation_of_one("erf"), None), math.erfc: (operation_of_one("erfc"), None),
    math.lgamma: (operation_of_one("lgamma"), is_finite_again),
    math.pow: (np.power, is_finite_again), math.hypot: (np.hypot, None),
}  # fmt: skip
INTEGERS: dict[Any, Callable[[Any], Any]] = {
    int: np.trunc, math.trunc: np.trunc, math.floor: np.floor, math.ceil: np.ceil, round: np.rint
}  # fmt: skip
#: Of which dtypes NumPy's scalars have no such method.
LACKING: dict[Any, Any] = {
    math.trunc: [np.dtype(c) for c in "?bhilBHILefqQ"], round: [np.dtype(bool)]
}  # fmt: skip
TRUTHS: dict[Any, Callable[[Any], Any]] = {math.isnan: np.isnan, math.isinf: np.isinf, math.isfinite: np.isfinite}


#: By identity: a callable of the user's is not asked for its hash.
KNOWN = frozenset(map(id, (*FLOATS, *INTEGERS, *TRUTHS)))


def is_scalar_function(function: Any) -> bool:
    return id(function) in KNOWN


def scalar_call(function: Any, args: tuple) -> Any:
    """The result as a value; NotImplemented for other numbers of arguments, and for what are no real numbers."""
    count = 2 if function in (math.atan2, math.copysign, math.pow, math.hypot) else 1
    is_real = lambda v: (
        type(v) in (bool, int, float) or (isinstance(v, TracedArray) and v.scalar and v.dtype.kind in "biuf")
    )
    if len(args) != count or not all(map(is_real, args)):
        return NotImplemented
    if function in LACKING and not getattr(args[0], "weak", int) and args[0].dtype in LACKING[function]:
        return NotImplemented
    if function in INTEGERS and args[0].dtype.kind in "biu":
        return as_python(args[0], int) if args[0].dtype != np.uint64 else NotImplemented
    given = [wrap(as_tensor(value, np.dtype(np.float64))) for value in args]
    if function in TRUTHS:
        return as_python(TRUTHS[function](*given), bool)
    if function in INTEGERS:
        whole = INTEGERS[function](given[0])
        fits = (whole >= -(2.0**63)) & (whole < 2.0**63)
        checked = demanded(
            whole.tensor, fits, "integer", "cannot convert float to integer: NaN, infinite or beyond int64"
        )
        return as_python(wrap(checked), int)
    operation, holds = FLOATS[function]
    result = operation(*given)
    if holds is not None:
        result = wrap(demanded(result.tensor, holds(result, *given), "math", "math domain error, or math range error"))
    return as_python(result, float)


def converted(kind: type, value: Any) -> Any:
    """A number or array by a type of NumPy's, ``np.uint32(x[i])``; NotImplemented where that may raise in ways of its own."""
    dtype, weak = np.dtype(kind), getattr(value, "weak", None)
    if type(value) not in (TracedArray, _core.Dim) or (getattr(value, "dtype", dtype).kind == "c") > (
        dtype.kind == "c"
    ):
        return NotImplemented
    if weak in (float, complex) and dtype.kind in "iu":
        return NotImplemented
    if getattr(value, "ndim", 0):
        return value.astype(dtype, copy=False)  # the array itself where it has the type
    result = wrap(as_tensor(value, dtype))
    result.scalar = True
    return result


def as_python(value: TracedArray, kind: type) -> TracedArray:
    return TracedArray(as_tensor(value, np.dtype(np.int64 if kind is int else kind)), kind)
