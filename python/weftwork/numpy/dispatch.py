"""What NumPy's protocols ask for: ufuncs, which C++ has, and other functions by a table."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, Error, UnsupportedError
from .refused import reason
from .stored import holds_all
from .tracer import (
    Selection,
    Tensor,
    TracedArray,
    as_tensor,
    convert,
    current_trace,
    fitted,
    raise_here,
    untraced,
    wrap,
)
from .ufuncs import power

#: np function → its traced form; filled by @implements.
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}


def implements(*functions: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the traced form of NumPy functions."""

    def register(traced: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            FUNCTIONS[function] = traced
        return traced

    return register


def call_function(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """__array_function__: a NumPy function called on traced arrays."""
    form = FUNCTIONS.get(function)
    if form is None:
        name = f"{getattr(function, '__module__', 'numpy')}.{getattr(function, '__name__', function)}"
        raise_here(
            UnsupportedError, f"{name} cannot be compiled{reason(name.removeprefix('numpy.'))}", "unsupported_function"
        )
    return form(*args, **kwargs)


def type_for_resolution(value: Any) -> Any:
    """What ufunc.resolve_dtypes takes for an operand: a dtype, or a Python type for what promotes weakly."""
    if isinstance(value, TracedArray):
        return value.weak if value.weak not in (None, bool) else value.dtype
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype
    if isinstance(value, _core.Dim):
        return int
    if isinstance(value, bool):
        return np.dtype(bool)
    if isinstance(value, (int, float, complex)):
        return (
            type(value)
            if type(value) in (int, float, complex)
            else next(kind for kind in (int, float, complex) if isinstance(value, kind))
        )
    return as_tensor(value).dtype


def result_type(*values: Any) -> np.dtype:
    """np.result_type of arrays, traced or not, and of numbers, of which Python's promote weakly."""
    return np.result_type(*[kind(1) if isinstance(kind, type) else kind for kind in map(type_for_resolution, values)])


@lru_cache(maxsize=4096)
def resolved(ufunc: np.ufunc, types: tuple, signature: Any, casting: str) -> tuple[np.dtype, ...]:
    """NumPy's loop dtypes for operands of these types (NEP 50), outputs included."""
    extended = any(isinstance(t, np.dtype) and t.kind == "V" for t in types)
    if extended:
        # ml_dtypes' loops are registered the old way: ask by calling on empty arrays.
        samples = [t(1) if isinstance(t, type) else np.array([], t) for t in types]
        results = ufunc(*samples)
        results = results if isinstance(results, tuple) else (results,)
        computed = results[0].dtype
        if ufunc is np.bitwise_count:
            computed = np.dtype(np.int8)
        elif computed.kind not in "iuf":
            computed = np.result_type(*samples)
        inputs = list(types) if ufunc is np.ldexp else [computed] * len(samples)
        return (*inputs, *(r.dtype for r in results))
    given = {} if signature is None else {"signature": signature}
    return ufunc.resolve_dtypes((*types, *[None] * ufunc.nout), casting=casting, **given)


def widened_dtype(function: Callable[..., Any], types: list[Any]) -> np.dtype | None:
    """The result dtype of a function of ml_dtypes' types, found by calling it; None where it refuses. ``types`` are dtypes,
    types of Python's numbers, and None."""
    samples = [np.ones((1, 1), t) if isinstance(t, np.dtype) else t and t(1) for t in types]
    with untraced(), contextlib.suppress(TypeError):
        return function(*samples).dtype
    return None


def shown_name(ufunc: np.ufunc) -> str:
    """A ufunc does not know its module: numpy.NAME where NumPy has it by that name."""
    name = ufunc.__name__
    return f"numpy.{name}" if getattr(np, name, None) is ufunc else f"the ufunc {name}"


@lru_cache(maxsize=1024)
def is_known(ufunc: np.ufunc) -> bool:
    """NumPy's own or SciPy's: that of another library may compute something else under such a name."""
    return getattr(np, ufunc.__name__, None) is ufunc or is_special(ufunc)


@lru_cache(maxsize=1024)
def is_special(ufunc: np.ufunc) -> bool:
    """SciPy's, whose dtypes follow from the order of its loops."""
    special = sys.modules.get("scipy.special._ufuncs")
    return special is not None and getattr(special, ufunc.__name__, None) is ufunc


def refused_ufunc(ufunc: np.ufunc) -> Any:
    return raise_here(UnsupportedError, f"{shown_name(ufunc)} cannot be compiled", "unsupported_function")


def signature_of(ufunc: np.ufunc, dtype: Any, signature: Any) -> Any:
    if signature is not None:
        return signature
    if dtype is None:
        return None
    return (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)


#: Labels of errors that NumPy is asked about: which one it raises, if any.
ASKED = frozenset(["no_loop", "number_range", "operand_count", "promotion"])
broadcast_to = _core.broadcast_to
COMPARISONS = frozenset(["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])


def elementwise(
    ufunc: np.ufunc, inputs: tuple, signature: Any = None, casting: str = "same_kind"
) -> Tensor | tuple[Tensor, ...]:
    """The result of an element-wise ufunc, or its results, in NumPy's dtypes."""
    if not is_known(ufunc):
        return refused_ufunc(ufunc)
    name = ufunc.__name__
    if signature is None and casting == "same_kind" and ufunc.nin <= 2 and not is_special(ufunc):
        x, weak = operand_of(inputs[0])
        y, also = operand_of(inputs[1]) if len(inputs) == 2 else (None, False)
        if ufunc.nin == 2 and (weak or also):
            x, y, weak, also = beside(name, inputs, (x, y), (weak, also))
        result = by_promotion(name, x, y, weak + 2 * also)
        if result is not None:
            return result
    return by_loop(ufunc, inputs, signature, casting)


def beside(name: str, values: tuple, operands: tuple, weak: tuple) -> tuple:
    """Two operands of which some are Python's integers, and whether they promote as such; comparisons are exact for all of them."""
    if name in COMPARISONS:
        types = [operand.dtype if isinstance(operand, Tensor) else np.dtype(np.int64) for operand in operands]
        fit = any(is_python and holds_all(t, v) for is_python, t, v in zip(weak, reversed(types), values, strict=True))
        if not fit and all(t.kind in "iu" and t != np.uint64 for t in types):
            return (*(convert(o, np.int64) if isinstance(o, Tensor) else o for o in operands), False, False)
    return (*fitted_operands(values, operands), *weak)


def fitted_operands(values: tuple, operands: tuple) -> tuple:
    """Two operands; Python's integers among them fit into the dtype of the other one."""
    return tuple(
        fitted(value, own, other.dtype) if isinstance(own, Tensor) and isinstance(other, Tensor) else own
        for value, own, other in zip(values, operands, reversed(operands), strict=True)
    )


def by_promotion(name: str, x: Any, y: Any = None, weak: int = 0) -> Any:
    """What C++ records of recorded values and Python's numbers; None where NumPy is to be asked, or it is a power of integers."""
    if name == "power" and is_whole(x) and is_whole(y):
        return None
    try:
        return _core.elementwise(name, x, y, weak)
    except Error as error:
        if error.label not in ASKED:
            raise
    return None


def operand_of(value: Any) -> tuple[Any, bool]:
    """A recorded value or a number of Python's for the operand, and whether the value promotes as such a number."""
    if type(value) is TracedArray:
        return value.tensor, value.weak is not None and value.weak is not bool
    if isinstance(value, (int, float, complex)) and not isinstance(value, np.generic):
        return value, False
    return as_tensor(value), isinstance(value, _core.Dim)


def is_whole(operand: Any) -> bool:
    """Integers and booleans."""
    return operand.dtype.kind in "iub" if isinstance(operand, Tensor) else isinstance(operand, int)


def by_loop(ufunc: np.ufunc, inputs: tuple, signature: Any, casting: str) -> Tensor | tuple[Tensor, ...]:
    """The results of a ufunc whose loop NumPy is asked for; its error where there is none."""
    name = ufunc.__name__
    if name in COMPARISONS:
        inputs = tuple(map(comparable, inputs, reversed(inputs)))
    try:
        types = resolved(ufunc, tuple(type_for_resolution(i) for i in inputs), signature, casting)
    except TypeError as error:
        shown = ", ".join(str(type_for_resolution(i)) for i in inputs)
        return raise_here(ArgumentTypeError, f"{name}: no loop for operands of types {shown}: {error}", "ufunc_types")
    operands = [as_tensor(value, dtype) for value, dtype in zip(inputs, types[: ufunc.nin], strict=True)]
    form = power if name == "power" else partial(_core.elementwise, name, in_loop=True)
    try:
        results = form(*operands) if ufunc.nin <= 2 else None
    except ArgumentTypeError:
        if not is_special(ufunc):
            raise
        results = None  # of complex numbers
    if results is None:
        return refused_ufunc(ufunc)
    if isinstance(results, tuple):
        return tuple(map(convert, results, types[ufunc.nin :]))
    return convert(results, types[ufunc.nin])


def comparable(value: Any, other: Any) -> Any:
    """A Python integer of more than 64 bits, beyond all elements of an array of integers, is an infinity beside it."""
    if (
        type(value) is not int
        or -(2**63) <= value < 2**64
        or getattr(type_for_resolution(other), "kind", "f") not in "iu"
    ):
        return value
    return math.inf if value > 0 else -math.inf


def finish(ufunc: np.ufunc, result: Tensor, out: Any, where: Any, casting: str, exact: bool = False) -> Any:
    """Honours ``out=`` and ``where=``; with ``exact`` the shape of ``out`` has to be that of the result."""
    if out is None:
        if where is not True:
            raise_here(
                ArgumentValueError,
                f"{ufunc.__name__} with where= needs out=: the other elements would be undefined",
                "where_without_out",
            )
        made = wrap(result)
        made._storage.owned, made.scalar = True, not result.ndim
        return made
    out = written(out, f"{ufunc.__name__} with out=")
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise_here(
            ArgumentTypeError,
            f"cannot cast {ufunc.__name__} output from {result.dtype} to {out.dtype} with casting rule '{casting}'",
            "out_cast",
        )
    if exact and not (len(out.shape) == result.ndim and all(map(_core.dims_equal, out.shape, result.shape))):
        raise_here(
            ArgumentValueError,
            f"output parameter of {ufunc.__name__} has the wrong shape: {tuple(out.shape)} for {tuple(result.shape)}",
            "out_shape",
        )
    value = broadcast_to(convert(result, out.dtype), out.shape)
    if where is not True:
        value = _core.apply("select", [broadcast_to(as_tensor(where, bool), out.shape), value, out.tensor])
    out.write(value)
    return out


def written(a: Any, name: str) -> TracedArray:
    """The argument that a function writes to; an array of the surroundings cannot be written by a traced function."""
    if isinstance(a, TracedArray):
        return a
    if isinstance(a, Selection):
        a.leave()
    trace = current_trace()
    if isinstance(a, np.ndarray) and trace is not None and trace.recorder is not None:
        trace.recorder.begin_with_array(a)
    message = (
        f"{name}: the array that is written to must be made or passed in the traced function, got {type(a).__name__}"
    )
    return raise_here(ArgumentTypeError, message, "out_kind")
