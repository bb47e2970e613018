"""ufunc.reduce, outer and at."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedError
from . import reductions
from .tracer import as_tensor, convert, raise_here, wrap

REDUCERS = {
    "add": reductions.sum,
    "multiply": reductions.prod,
    "maximum": reductions.max,
    "minimum": reductions.min,
    "logical_or": reductions.any_,
    "logical_and": reductions.all_,
}
BODIES = {"add": "add", "multiply": "multiply", "maximum": "maximum", "minimum": "minimum"}


def unsupported(ufunc: np.ufunc, method: str) -> Any:
    return raise_here(UnsupportedError, f"numpy.{ufunc.__name__}.{method} cannot be compiled", "unsupported_function")


def reduce(ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, **kwargs: Any) -> Any:
    reducer = REDUCERS.get(ufunc.__name__)
    if reducer is None:
        return unsupported(ufunc, "reduce")
    if dtype is not None:
        if ufunc.__name__ in ("add", "multiply"):
            kwargs["dtype"] = dtype
        else:
            array = wrap(as_tensor(array, dtype))
    out = out[0] if isinstance(out, tuple) else out
    return reducer(array, axis=axis, out=out, **kwargs)


def outer(ufunc: np.ufunc, lhs: Any, rhs: Any, **kwargs: Any) -> Any:
    left, right = wrap(as_tensor(lhs)), wrap(as_tensor(rhs))
    return ufunc(np.reshape(left, (*left.shape, *(1,) * right.ndim)), right, **kwargs)


def at(ufunc: np.ufunc, array: Any, indices: Any, values: Any = None) -> None:
    from .advanced import scatter_indexed
    from .indexing import expand_ellipsis, is_basic

    items = expand_ellipsis(indices, array.ndim)
    if ufunc.nin == 1 or all(is_basic(item) for item in items):
        array[indices] = ufunc(array[indices], *([] if ufunc.nin == 1 else [values]))
    elif ufunc.__name__ in BODIES:
        value = convert(as_tensor(values), array.dtype)
        array.write(scatter_indexed(array.tensor, items, value, BODIES[ufunc.__name__]))
    elif ufunc.__name__ == "subtract":
        at(np.add, array, indices, np.negative(values))
    else:
        unsupported(ufunc, "at")


METHODS = {"reduce": reduce, "outer": outer, "at": at}
