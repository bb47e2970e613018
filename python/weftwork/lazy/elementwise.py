"""Functions of every element: operands broadcast, dtypes promote as NumPy's do, and Python's numbers take the dtype of the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .calls import SHORTEST, called
from .tensor import Tensor

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor",
    "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan", "less", "less_equal", "log", "log1p", "log2", "log10",
    "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "nextafter", "not_equal",
    "positive", "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh",
    "trunc",
]  # fmt: skip


def unary(ufunc: np.ufunc, name: str, text: str) -> Callable[[Any], Tensor]:
    """A function of one tensor."""

    shortest = SHORTEST.get(ufunc, "")

    def function(x: Any, /) -> Tensor:
        result = _core.operated(shortest, x)
        return called(ufunc, (x,), {}) if result is None else result

    return named(function, name, text)


def binary(ufunc: np.ufunc, name: str, text: str) -> Callable[[Any, Any], Tensor]:
    """A function of two tensors, or of one and a number."""

    shortest = SHORTEST[ufunc]

    def function(x1: Any, x2: Any, /) -> Tensor:
        result = _core.operated(shortest, x1, x2)
        return called(ufunc, (x1, x2), {}) if result is None else result

    return named(function, name, text)


def named(function: Callable[..., Any], name: str, text: str, module: str = "weftwork") -> Callable[..., Any]:
    """The function with its name, text and module."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    function.__module__ = module
    return function


abs = unary(np.abs, "abs", "The magnitude.")
acos = unary(np.acos, "acos", "The inverse cosine.")
acosh = unary(np.acosh, "acosh", "The inverse hyperbolic cosine.")
asin = unary(np.asin, "asin", "The inverse sine.")
asinh = unary(np.asinh, "asinh", "The inverse hyperbolic sine.")
atan = unary(np.atan, "atan", "The inverse tangent.")
atanh = unary(np.atanh, "atanh", "The inverse hyperbolic tangent.")
bitwise_invert = unary(np.bitwise_invert, "bitwise_invert", "Every bit turned; not of booleans.")
ceil = unary(np.ceil, "ceil", "The least integer that is not below, as the same dtype.")
conj = unary(np.conj, "conj", "The complex conjugate.")
cos = unary(np.cos, "cos", "The cosine.")
cosh = unary(np.cosh, "cosh", "The hyperbolic cosine.")
exp = unary(np.exp, "exp", "e to that power.")
expm1 = unary(np.expm1, "expm1", "e to that power, less 1.")
floor = unary(np.floor, "floor", "The greatest integer that is not above, as the same dtype.")
isfinite = unary(np.isfinite, "isfinite", "Whether neither infinite nor NaN.")
isinf = unary(np.isinf, "isinf", "Whether infinite.")
isnan = unary(np.isnan, "isnan", "Whether NaN.")
log = unary(np.log, "log", "The natural logarithm.")
log10 = unary(np.log10, "log10", "The logarithm to base 10.")
log1p = unary(np.log1p, "log1p", "The natural logarithm of 1 + x.")
log2 = unary(np.log2, "log2", "The logarithm to base 2.")
logical_not = unary(np.logical_not, "logical_not", "Whether zero.")
negative = unary(np.negative, "negative", "The number of opposite sign.")
positive = unary(np.positive, "positive", "The number itself.")
reciprocal = unary(np.reciprocal, "reciprocal", "1 / x.")
sign = unary(np.sign, "sign", "-1, 0 or 1; of complex numbers x / abs(x).")
signbit = unary(np.signbit, "signbit", "Whether the sign bit is set.")
sin = unary(np.sin, "sin", "The sine.")
sinh = unary(np.sinh, "sinh", "The hyperbolic sine.")
sqrt = unary(np.sqrt, "sqrt", "The square root.")
square = unary(np.square, "square", "x * x.")
tan = unary(np.tan, "tan", "The tangent.")
tanh = unary(np.tanh, "tanh", "The hyperbolic tangent.")
trunc = unary(np.trunc, "trunc", "The integer part, as the same dtype.")
add = binary(np.add, "add", "The sum.")
atan2 = binary(np.atan2, "atan2", "The angle of the point (x2, x1), from -pi to pi.")
bitwise_and = binary(np.bitwise_and, "bitwise_and", "Bits that both have.")
bitwise_left_shift = binary(np.bitwise_left_shift, "bitwise_left_shift", "Bits moved up by x2 places.")
bitwise_or = binary(np.bitwise_or, "bitwise_or", "Bits that one has.")
bitwise_right_shift = binary(
    np.bitwise_right_shift, "bitwise_right_shift", "Bits moved down by x2 places; the sign stays."
)
bitwise_xor = binary(np.bitwise_xor, "bitwise_xor", "Bits that one alone has.")
copysign = binary(np.copysign, "copysign", "The magnitude of x1 with the sign of x2.")
divide = binary(np.divide, "divide", "The quotient, a float.")
equal = binary(np.equal, "equal", "Whether equal.")
floor_divide = binary(np.floor_divide, "floor_divide", "The greatest integer that is not above the quotient.")
greater = binary(np.greater, "greater", "Whether x1 > x2.")
greater_equal = binary(np.greater_equal, "greater_equal", "Whether x1 >= x2.")
hypot = binary(np.hypot, "hypot", "sqrt(x1**2 + x2**2) without overflow between.")
less = binary(np.less, "less", "Whether x1 < x2.")
less_equal = binary(np.less_equal, "less_equal", "Whether x1 <= x2.")
logaddexp = binary(np.logaddexp, "logaddexp", "log(exp(x1) + exp(x2)).")
logical_and = binary(np.logical_and, "logical_and", "Whether neither is zero.")
logical_or = binary(np.logical_or, "logical_or", "Whether one is not zero.")
logical_xor = binary(np.logical_xor, "logical_xor", "Whether one alone is not zero.")
maximum = binary(np.maximum, "maximum", "The greater one; NaN where one is.")
minimum = binary(np.minimum, "minimum", "The smaller one; NaN where one is.")
multiply = binary(np.multiply, "multiply", "The product.")
nextafter = binary(np.nextafter, "nextafter", "The next number from x1 towards x2.")
not_equal = binary(np.not_equal, "not_equal", "Whether they differ.")
pow = binary(np.pow, "pow", "x1 to the power x2.")
remainder = binary(np.remainder, "remainder", "The rest of the division, with the sign of x2.")
subtract = binary(np.subtract, "subtract", "The difference.")


def clip(x: Tensor, /, min: Any = None, max: Any = None) -> Tensor:
    """The number, or the nearer bound where it lies outside of them."""
    return called(np.clip, (x, min, max), {})


def imag(x: Tensor, /) -> Tensor:
    """The imaginary part."""
    return called(np.imag, (x,), {})


def real(x: Tensor, /) -> Tensor:
    """The real part."""
    return called(np.real, (x,), {})


def round(x: Tensor, /) -> Tensor:
    """The nearest integer, halves to even, as the same dtype."""
    return called(np.round, (x,), {})
