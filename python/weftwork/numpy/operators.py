"""Element-wise calls by the shortest way, and the operators of traced arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .dispatch import elementwise
from .layout import inherit
from .tracer import Storage, Tensor, TracedArray, note_created

__all__ = ["BINARY", "COMPARISONS", "MIXIN", "PLAIN", "RECORDED", "UNARY", "operated", "ufunc_result"]

#: Types of operands about which NumPy's protocols have nothing to say.
PLAIN = frozenset([TracedArray, bool, int, float, complex, _core.Dim])
PYTHON_TYPES: dict[str, type] = {"b": bool, "i": int, "f": float, "c": complex}
MIXIN = np.lib.mixins.NDArrayOperatorsMixin
BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "floordiv": np.floor_divide, "mod": np.remainder,
    "divmod": np.divmod, "pow": np.power, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}  # fmt: skip
COMPARISONS = {
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
UNARY = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}
#: The functions of one result that C++ has, with their names there.
RECORDED = {ufunc: name for name in _core.elementwise_names() if (ufunc := getattr(np, name)).nout == 1}
_core.set_traced_arrays(TracedArray, Storage, Storage.births, note_created)


def ufunc_result(ufunc: np.ufunc, inputs: tuple) -> Any:
    """The array, or arrays, that a call of a ufunc gives of plain operands."""
    name = RECORDED.get(ufunc)
    result = None if name is None else _core.traced_operated(name, *inputs)
    return computed(elementwise(ufunc, inputs), inputs) if result is None else result


def computed(result: Tensor | tuple[Tensor, ...], inputs: tuple) -> Any:
    """The array, or arrays, that an element-wise call of such inputs gives."""
    if isinstance(result, tuple):
        return tuple([computed(each, inputs) for each in result])
    made = TracedArray(result)
    made._storage.owned = True
    made.scalar = not result.ndim
    return inherit(made, inputs, {}, inputs)


def operated(ufunc: np.ufunc, *inputs: Any) -> Any:
    """What an operator gives of plain operands: Python's numbers stay such among themselves, as they do not in a call of the ufunc."""
    result = ufunc_result(ufunc, inputs)
    for value in inputs:
        if type(value) is TracedArray and not value.weak:
            return result
    for each in result if isinstance(result, tuple) else (result,):
        each.weak = PYTHON_TYPES[each.dtype.kind]
    return result


def forward(name: str, ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    longer, shortest = getattr(MIXIN, name), RECORDED.get(ufunc, "")

    def method(self: TracedArray, other: Any) -> Any:
        result = _core.traced_operated(shortest, self, other)
        if result is None:
            result = operated(ufunc, self, other) if type(other) in PLAIN else longer(self, other)
        return result

    return method


def reflected(name: str, ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    longer, shortest = getattr(MIXIN, name), RECORDED.get(ufunc, "")

    def method(self: TracedArray, other: Any) -> Any:
        result = _core.traced_operated(shortest, other, self)
        if result is None:
            result = operated(ufunc, other, self) if type(other) in PLAIN else longer(self, other)
        return result

    return method


def in_place(name: str, ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    """A scalar is never written: it becomes another one."""
    longer, of_scalar = getattr(MIXIN, name), forward(f"__{name[3:]}", ufunc)

    def method(self: TracedArray, other: Any) -> Any:
        return of_scalar(self, other) if self.scalar else longer(self, other)

    return method


def of_one(ufunc: np.ufunc) -> Callable[[Any], Any]:
    return lambda self: operated(ufunc, self)


def magnitude(self: TracedArray) -> Any:
    """NumPy's absolute value, which takes another way for one complex number than for arrays of them."""
    if self.scalar and self.dtype.kind == "c":
        return operated(np.hypot, self.real, self.imag)
    return operated(np.absolute, self)


def power(self: TracedArray, exponent: Any) -> Any:
    """NumPy squares here, and a boolean's square is an int8."""
    if type(exponent) is int and exponent == 2 and self.dtype == np.bool_ and not self.scalar:
        return np.square(self)
    return operated(np.power, self, exponent) if type(exponent) in PLAIN else MIXIN.__pow__(self, exponent)


def install() -> None:
    """Gives traced arrays their operators."""
    for name, ufunc in (BINARY | COMPARISONS).items():
        setattr(TracedArray, f"__{name}__", forward(f"__{name}__", ufunc))
    for name, ufunc in BINARY.items():
        setattr(TracedArray, f"__r{name}__", reflected(f"__r{name}__", ufunc))
        if name != "divmod":
            setattr(TracedArray, f"__i{name}__", in_place(f"__i{name}__", ufunc))
    for name, ufunc in UNARY.items():
        setattr(TracedArray, f"__{name}__", of_one(ufunc))
    TracedArray.__abs__ = magnitude  # type: ignore[method-assign, assignment]
    TracedArray.__pow__ = power  # type: ignore[method-assign, assignment]
