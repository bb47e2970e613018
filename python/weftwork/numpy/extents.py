"""Symbolic extents among Python's numbers: with integers they stay extents, with anything else they become values."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import _core

Dim = _core.Dim
_EXACT: dict[str, np.ufunc] = {
    "__add__": np.add, "__radd__": np.add, "__sub__": np.subtract, "__rsub__": np.subtract, "__mul__": np.multiply, "__rmul__": np.multiply,
    "__floordiv__": np.floor_divide, "__rfloordiv__": np.floor_divide, "__mod__": np.remainder, "__rmod__": np.remainder, "__eq__": np.equal, "__ne__": np.not_equal, "__lt__": np.less,
    "__le__": np.less_equal, "__gt__": np.greater, "__ge__": np.greater_equal,
}  # fmt: skip
_AS_VALUES: dict[str, np.ufunc] = {"__truediv__": np.true_divide, "__pow__": np.power, "__divmod__": np.divmod}


def mixed(
    name: str, ufunc: np.ufunc, exact: Callable[[Any, Any], Any] | None, reflected: bool, operated: Callable[..., Any]
) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if exact is not None and (type(other) is int or isinstance(other, (Dim, np.integer))):
            return exact(self, other)
        if isinstance(other, (int, float, complex, Dim, np.generic, np.ndarray)):
            apply = ufunc if isinstance(other, (np.generic, np.ndarray)) else partial(operated, ufunc)
            return apply(other, self) if reflected else apply(self, other)
        return False if name == "__eq__" and other is None else NotImplemented

    method.__name__ = name
    return method


def install(call_function: Callable[..., Any], call_ufunc: Callable[..., Any], operated: Callable[..., Any]) -> None:
    """Gives extents the operators of Python's integers and NumPy's protocols; ``operated`` is what operators of arrays record."""

    def power(self: Any, exponent: Any) -> Any:
        # Small integer powers are products, which are extents.
        if type(exponent) is int and 0 <= exponent <= 8:
            return math.prod([self] * exponent)
        return of_power(self, exponent)

    hashed = Dim.__hash__
    for name, ufunc in _EXACT.items():
        setattr(Dim, name, mixed(name, ufunc, getattr(Dim, name), name.startswith("__r"), operated))
    for name, ufunc in _AS_VALUES.items():
        setattr(Dim, name, mixed(name, ufunc, None, False, operated))
        setattr(Dim, f"__r{name[2:]}", mixed(f"__r{name[2:]}", ufunc, None, True, operated))
    Dim.__hash__ = hashed  # type: ignore[method-assign]
    of_power = Dim.__pow__
    Dim.__pow__ = power
    Dim.__pos__ = lambda self: self
    Dim.__abs__ = lambda self: self if self.min >= 0 else operated(np.absolute, self)
    Dim.__array_ufunc__ = lambda self, ufunc, method, *inputs, **kwargs: call_ufunc(ufunc, method, inputs, kwargs)
    Dim.__array_function__ = lambda self, function, types, args, kwargs: call_function(function, args, kwargs)

