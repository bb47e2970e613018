"""What arrays of a trace do by functions of arrays: operators, indices, methods and NumPy's protocols, given to their class here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, UnsupportedError
from . import arguments, extents, operators, ufunc_methods
from .dispatch import call_function, elementwise, finish, is_known, refused_ufunc, shown_name, signature_of
from .functions import copied, known_order, set_shape
from .items import get_item, set_item
from .layout import GIVE_ARRAYS, OF_SORTED, by_rows, inherit, memory_order, scalars
from .linalg import call_gufunc
from .loops import rows_of
from .methods import METHODS, PROPERTIES
from .operators import PLAIN, ufunc_result
from .refused import reason
from .tracer import BoundMethod, Selection, TracedArray, raise_here

__all__ = ["install"]


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple, kwargs: dict[str, Any]) -> Any:
    """__array_ufunc__: a ufunc, or a method of one, called on traced arrays."""
    if not is_known(ufunc):
        return refused_ufunc(ufunc)
    if method != "__call__":
        form = ufunc_methods.METHODS.get(method)
        if form is None:
            raise_here(UnsupportedError, f"{shown_name(ufunc)}.{method} cannot be compiled", "unsupported_function")
        return form(ufunc, *inputs, **kwargs)
    out = kwargs.pop("out", None)
    where = kwargs.pop("where", True)
    casting = kwargs.pop("casting", "same_kind")
    dtype, signature = kwargs.pop("dtype", None), kwargs.pop("signature", None)
    order, _ = arguments.order_letter(kwargs.pop("order", None), "K"), kwargs.pop("subok", None)
    arguments.require_casting(casting)
    if ufunc.signature is not None:
        results = call_gufunc(ufunc, inputs, dtype, kwargs)
    else:
        if kwargs:
            raise_here(
                UnsupportedError, f"{shown_name(ufunc)} with {', '.join(kwargs)} cannot be compiled", "ufunc_argument"
            )
        found = elementwise(ufunc, inputs, signature_of(ufunc, dtype, signature), casting)
        results = list(found) if isinstance(found, tuple) else [found]
    outs = out if isinstance(out, tuple) else (out,) * len(results)
    finished = [finish(ufunc, r, o, where, casting) for r, o in zip(results, outs, strict=True)]
    if ufunc.signature is not None and out is None:
        for result in finished:
            result._storage.parents = ()  # in row-major order whatever the operands' is
    if order != "K" and out is None:
        finished = [in_asked_order(result, inputs, order) for result in finished]
    return finished[0] if len(finished) == 1 else tuple(finished)


def in_asked_order(result: TracedArray, inputs: tuple, order: str) -> TracedArray:
    """What ``order=`` says of a new array: A is by columns where all operands are."""
    if order == "A":
        wide = [x for x in inputs if isinstance(x, TracedArray) and x.ndim]
        rows = [known_order(x, memory_order(x, "A")) == list(range(x.ndim)) for x in wide]
        order = "F" if wide and not any(rows) else "C"
    return copied(None, result.tensor, order)


#: Functions of arrays alone that are no ufuncs, and keep the order of their operands in memory.
KEEPING = frozenset([np.where, np.clip, np.copy])


def array_ufunc(self: TracedArray, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    if (
        not kwargs
        and method == "__call__"
        and ufunc.signature is None
        and all(type(value) in PLAIN for value in inputs)
    ):
        return ufunc_result(ufunc, inputs)
    if method != "at" and any(isinstance(value, Selection) for value in inputs):
        return NotImplemented
    kept = inputs if method == "__call__" and not kwargs and ufunc.signature is None else None
    result = inherit(call_ufunc(ufunc, method, inputs, dict(kwargs)), inputs, kwargs, kept)
    return result if "out" in kwargs else scalars(result)


def array_function(self: TracedArray, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    if any(issubclass(kind, Selection) for kind in types):
        return NotImplemented
    selected = next((value for value in args if isinstance(value, Selection)), None)
    if selected is not None:  # at a place where NumPy does not look for one
        return selected.__array_function__(function, types, args, kwargs)
    kept = args if function in KEEPING and not kwargs else None
    result = call_function(function, args, kwargs)
    by_rows(function, result, args, kwargs)
    result = inherit(result, args, kwargs, kept)
    if kwargs.get("out") is not None:
        return result
    name, is_weighted = function.__name__, kwargs.get("weights") is not None
    array = name in GIVE_ARRAYS or ((kwargs.get("keepdims") or is_weighted) and name in OF_SORTED)
    if name == "astype" and args[0].scalar:
        array = False
    return scalars(result, args, scalar=not array)


def get(self: TracedArray, index: Any) -> Any:
    return inherit(get_item(self, index), (self,), {})


def put(self: TracedArray, index: Any, value: Any) -> None:
    if self.scalar:
        self.write(self.tensor)
    set_item(self, index, value)


def iterate(self: TracedArray) -> Iterator[TracedArray]:
    if not self.ndim:
        raise TypeError("iteration over a 0-d array")
    return rows_of(self, sys._getframe(1))


def attribute(self: TracedArray, name: str) -> Any:
    if name in METHODS:
        return BoundMethod(self, name, METHODS[name])
    if name in PROPERTIES:
        return PROPERTIES[name](self)
    if name.startswith("__") or not hasattr(np.ndarray, name):
        if self.scalar and not name.startswith("__") and hasattr(self.dtype.type, name):
            return getattr(self._need_value(f"'{name}' of a number", "keep it an array"), name)
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")
    return raise_here(
        ArgumentTypeError, f"ndarray.{name} cannot be compiled{reason(f'ndarray.{name}')}", "unsupported_method"
    )


def call_method(self: BoundMethod, *args: Any, **kwargs: Any) -> Any:
    if self.form is None:
        return getattr(self.owner, self.name)  # which says why there is none
    keeps = self.name == "copy" or (self.name == "astype" and len(args) == 1 and not kwargs)
    kept = (self.owner,) if keeps else None
    result = self.form(self.owner, *args, **kwargs)
    by_rows(getattr(np, self.name, None), result, (self.owner, *args), kwargs)
    result = inherit(result, (self.owner, *args), kwargs, kept)
    is_array = self.name in GIVE_ARRAYS or kwargs.get("out") is not None
    return result if is_array else scalars(result, (self.owner, *args))


def install() -> None:
    """Makes arrays of a trace, their methods and extents what NumPy's functions and Python's operators take."""
    members = {
        "__array_ufunc__": array_ufunc,
        "__array_function__": array_function,
        "__getitem__": get,
        "__setitem__": put,
        "__iter__": iterate,
        "__getattr__": attribute,
        "shape": TracedArray.shape.setter(set_shape),
    }
    for name, member in members.items():
        setattr(TracedArray, name, member)
    BoundMethod.__call__ = call_method  # type: ignore[method-assign]
    operators.install()
    extents.install(call_function, call_ufunc)
