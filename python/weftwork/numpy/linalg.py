"""Products: matmul, dot, tensordot, einsum, and the gufuncs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..errors import ArgumentTypeError, ArgumentValueError, UnsupportedError
from .arguments import items_of, require_casting
from .dispatch import finish, implements, shown_name, widened_dtype
from .reductions import require_out_of
from .tracer import Tensor, TracedArray, as_tensor, raise_here, wrap


def product_dtype(*values: Any) -> np.dtype:
    """The dtype in which NumPy multiplies matrices of these."""
    return np.result_type(*[as_tensor(value).dtype for value in values])


def gufunc_dtype(ufunc: np.ufunc, inputs: tuple) -> np.dtype:
    """The same for a ufunc of matrices."""
    types = [as_tensor(value).dtype for value in inputs]
    widened = widened_dtype(ufunc, types) if any(t.kind == "V" for t in types) else None
    return widened or np.result_type(*types)


def call_gufunc(ufunc: np.ufunc, inputs: tuple, dtype: Any, kwargs: dict[str, Any]) -> list[Tensor]:
    """matmul, vecdot, matvec and vecmat."""
    if ufunc.__name__ == "vecdot" and "axis" in kwargs:
        axis = kwargs.pop("axis")
        arrays: list[Any] = [wrap(as_tensor(value)) for value in inputs]
        inputs = tuple(np.moveaxis(array, axis, -1) for array in arrays)
    if kwargs or ufunc.__name__ not in ("matmul", "vecdot", "matvec", "vecmat"):
        raise_here(
            UnsupportedError, f"{' '.join([shown_name(ufunc), *kwargs])} cannot be compiled", "unsupported_function"
        )
    target = np.dtype(dtype) if dtype is not None else gufunc_dtype(ufunc, inputs)
    return [getattr(_core, ufunc.__name__)(*(as_tensor(value, target) for value in inputs))]


def factors(*values: Any) -> list[Tensor]:
    """Operands of a product, of the dtype in which NumPy multiplies them."""
    target = product_dtype(*values)
    return [as_tensor(value, target) for value in values]


@implements(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    lhs, rhs = factors(a, b)
    if lhs.ndim and rhs.ndim and isinstance(out, TracedArray) and not out.flags.c_contiguous:
        raise_here(ArgumentValueError, "dot: output array is not acceptable: it must be contiguous", "out_layout")
    result = finish(np.matmul, _core.dot(lhs, rhs), out, True, "no" if lhs.ndim and rhs.ndim else "same_kind")
    if out is None or result.ndim:
        return result
    value = wrap(result.tensor)  # NumPy fills ``out`` and gives a scalar
    value.scalar = True
    return value


implements(np.inner)(lambda a, b: wrap(_core.inner(*factors(a, b))))
implements(np.vdot)(lambda a, b: wrap(_core.vdot(*factors(a, b))))


@implements(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    return finish(np.multiply, _core.outer(*factors(a, b)), out, True, "same_kind")


@implements(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    lhs, rhs = factors(a, b)
    if isinstance(axes, (int, np.integer)):
        first, second = list(range(lhs.ndim - int(axes), lhs.ndim)), list(range(int(axes)))
    else:
        first, second = (items_of(side, "tensordot: axes") for side in axes)
    return wrap(_core.tensordot(lhs, rhs, first, second))


@implements(np.einsum)
def einsum(
    *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, casting: str = "safe", **kwargs: Any
) -> Any:
    """Any number of operands, contracted in pairs from the left; optimize= changes nothing."""
    require_casting(casting)
    subscripts, *values = operands if isinstance(operands[0], str) else spelled_out(operands)
    target = np.dtype(dtype) if dtype is not None else product_dtype(*values)
    if not all(np.can_cast(as_tensor(value).dtype, target, casting) for value in values):
        raise_here(ArgumentTypeError, f"an operand of einsum cannot be cast to {target} by '{casting}'", "cast")
    result = _core.einsum(subscripts, [as_tensor(value, target) for value in values])
    if (
        len(values) == 1
        and out is None
        and isinstance(values[0], TracedArray)
        and _core.moves(values[0].tensor, result)
    ):
        return values[0].view_of(result)
    require_out_of(target, out, "einsum")
    return finish(np.add, result, out, True, "safe")


def spelled_out(operands: tuple) -> tuple:
    """einsum(a, [0, 1], b, [1, 2], [0, 2]) → a subscripts string."""

    def text(labels: Any) -> str:
        return "".join(
            "..." if label is Ellipsis else chr(ord("A") + label if label < 26 else ord("a") + label - 26)
            for label in labels
        )

    values, labels = list(operands[0 : len(operands) // 2 * 2 : 2]), [text(o) for o in operands[1::2]]
    joined = ",".join(labels) + ("->" + text(operands[-1]) if len(operands) % 2 else "")
    return (joined, *values)
