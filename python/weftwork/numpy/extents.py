"""Symbolic extents among Python's numbers: with integers they stay extents, with anything else they become values."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import _core
from .operators import BINARY, COMPARISONS, operated

Dim = _core.Dim
_EXACT = {f"__{side}{name}__": BINARY[name] for name in ("add", "sub", "mul", "floordiv", "mod") for side in ("", "r")}
_EXACT |= {f"__{name}__": ufunc for name, ufunc in COMPARISONS.items()}
_AS_VALUES = {f"__{name}__": BINARY[name] for name in ("truediv", "pow", "divmod")}


def mixed(
    name: str, ufunc: np.ufunc, exact: Callable[[Any, Any], Any] | None, reflected: bool
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


def install(call_function: Callable[..., Any], call_ufunc: Callable[..., Any]) -> None:
    """Gives extents the operators of Python's integers and NumPy's protocols."""

    def power(self: Any, exponent: Any) -> Any:
        # Small integer powers are products, which are extents.
        if type(exponent) is int and 0 <= exponent <= 8:
            return math.prod([self] * exponent)
        return of_power(self, exponent)

    hashed = Dim.__hash__
    for name, ufunc in _EXACT.items():
        setattr(Dim, name, mixed(name, ufunc, getattr(Dim, name), name.startswith("__r")))
    for name, ufunc in _AS_VALUES.items():
        setattr(Dim, name, mixed(name, ufunc, None, False))
        setattr(Dim, f"__r{name[2:]}", mixed(f"__r{name[2:]}", ufunc, None, True))
    Dim.__hash__ = hashed  # type: ignore[method-assign]
    of_power = Dim.__pow__
    Dim.__pow__ = power
    Dim.__pos__ = lambda self: self
    Dim.__abs__ = lambda self: self if self.min >= 0 else operated(np.absolute, self)
    Dim.__array_ufunc__ = lambda self, ufunc, method, *inputs, **kwargs: call_ufunc(ufunc, method, inputs, kwargs)
    Dim.__array_function__ = lambda self, function, types, args, kwargs: call_function(function, args, kwargs)
