"""Operations on elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ... import _core
from ...nn import functions as nn
from ...numpy.functions import erf
from ...numpy.tracer import as_tensor, wrap
from ..dtypes import FROM_TORCH
from ..table import Want, cast, common, pointwise, rule, widely


def op(name: str) -> Any:
    return lambda *operands: wrap(_core.apply(name, [as_tensor(x) for x in operands]))


def scaled_by(x: Any, alpha: Any) -> Any:
    return x if type(alpha) is int and alpha == 1 else x * cast(alpha, x.dtype)


def is_complex(x: Any) -> bool:
    return getattr(x, "is_complex", lambda: False)()


def real_only(*operands: Any, **kwargs: Any) -> bool:
    return not any(map(is_complex, operands))


def sign(x: Any) -> Any:
    return cast(x > 0, x.dtype) - cast(x < 0, x.dtype) if x.dtype.kind != "b" else x


def may_have_elements(*operands: Any) -> bool:
    """Whether no extent of theirs is known to be 0."""
    return all(not isinstance(extent, int) or extent for x in operands for extent in x.shape)


# -- one operand ---------------------------------------------------------------------------------------------------

for names, function in {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh,
    "cos": np.cos, "cosh": np.cosh, "sin": np.sin, "sinh": np.sinh, "tan": np.tan, "tanh": np.tanh, "exp": np.exp,
    "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "neg": lambda x: -x, "positive": lambda x: x,
    "square": np.square, "conj_physical": np.conj, "reciprocal": lambda x: 1 / x, "sigmoid": op("logistic"),
    "bitwise_not": np.bitwise_not, "rsqrt": op("rsqrt"),
}.items():  # fmt: skip
    pointwise(names, function)

for names, function in {
    "ceil": np.ceil, "floor": np.floor, "round": np.round, "trunc fix": np.trunc, "exp2": np.exp2, "log2": np.log2, "log10": np.log10,
    "erf": erf, "erfc": op("erfc"), "lgamma": op("lgamma"), "erfinv": op("erf_inv"),
    "relu": nn.relu, "silu": nn.silu, "hardtanh": nn.hardtanh, "relu6": nn.relu6, "leaky_relu": nn.leaky_relu,
    "hardsigmoid": nn.hardsigmoid, "hardswish": nn.hardswish, "gelu": nn.gelu, "mish": nn.mish,
    "sign": sign,
    "frac": lambda x: x - np.trunc(x), "digamma": lambda x: np.where(x == 0, -1 / x, op("digamma")(x)),
}.items():  # fmt: skip
    pointwise(names, function, real_only)


@rule("abs")
def absolute(want: Want, x: Any) -> Any:
    return x if x.dtype.kind in "bu" else cast(np.abs(x), want.dtype)


@rule("elu", accepts=real_only)
def elu(want: Want, x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Any:
    return widely(
        want, lambda a: np.where(a > 0, a * scale, np.expm1(np.minimum(a, 0) * input_scale) * (alpha * scale)), x
    )


@rule(
    "rrelu_with_noise_backward",
    accepts=lambda gradient, x, noise, *rest: real_only(x) and (noise is not None or not rest[2]),
)
def rrelu_backward(
    want: Want, gradient: Any, x: Any, noise: Any, lower: float, upper: float, training: bool, is_result: bool
) -> Any:
    if training and upper - lower > 1e-6:
        return widely(want, lambda a, b: a * b, gradient, noise)
    return widely(want, lambda a, b: np.where(b > 0, a, a * ((lower + upper) / 2)), gradient, x)


@rule("softplus", accepts=real_only)
def softplus(want: Want, x: Any, beta: Any = 1, threshold: Any = 20) -> Any:
    return widely(
        want, lambda a: np.where(a * beta > threshold, a, np.log1p(np.exp(np.minimum(a * beta, threshold))) / beta), x
    )


@rule("isnan")
def isnan(want: Want, x: Any) -> Any:
    return x != x


def as_float(x: Any) -> Any:
    """Numbers as floats that NumPy has."""
    return cast(x, np.float32) if x.dtype.itemsize < 4 or x.dtype.kind in "iu" else x


@rule("isinf", accepts=real_only)
def isinf(want: Want, x: Any) -> Any:
    return np.isinf(as_float(x))


@rule("isfinite", accepts=real_only)
def isfinite(want: Want, x: Any) -> Any:
    return np.isfinite(as_float(x))


@rule("round.decimals", accepts=real_only)
def round_decimals(want: Want, x: Any, *, decimals: int) -> Any:
    if x.dtype.kind in "biu":
        return x
    power = 10.0 ** abs(decimals)
    return widely(want, lambda a: np.round(a * power) / power if decimals >= 0 else np.round(a / power) * power, x)


@rule("signbit", accepts=real_only)
def signbit(want: Want, x: Any) -> Any:
    return np.signbit(x) if x.dtype.kind == "f" else np.signbit(cast(x, np.float32)) if x.dtype.kind == "V" else x < 0


@rule("logical_not")
def logical_not(want: Want, x: Any) -> Any:
    return np.logical_not(cast(x, np.bool_))


@rule("nan_to_num", accepts=real_only)
def nan_to_num(want: Want, x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    if x.dtype.kind in "biu":
        return x
    from ml_dtypes import finfo

    limits = finfo(want.dtype)
    x = cast(np.where(x != x, cast(nan or 0.0, x.dtype), x), want.dtype)
    x = np.where(x == cast(math.inf, x.dtype), cast(float(limits.max) if posinf is None else posinf, x.dtype), x)
    return np.where(x == cast(-math.inf, x.dtype), cast(float(limits.min) if neginf is None else neginf, x.dtype), x)


# -- two operands --------------------------------------------------------------------------------------------------

for names, function in {
    "add.Tensor add.Scalar": lambda x, y, alpha=1: x + scaled_by(y, alpha),
    "sub.Tensor sub.Scalar": lambda x, y, alpha=1: x - scaled_by(y, alpha),
    "rsub.Tensor rsub.Scalar": lambda x, y, alpha=1: y - scaled_by(x, alpha),
    "mul.Tensor mul.Scalar": lambda x, y: x * y,
    "div.Tensor div.Scalar true_divide.Tensor": lambda x, y: x / y,
}.items():
    pointwise(names, function)

for names, function in {
    "maximum": np.maximum, "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin, "atan2": np.arctan2, "hypot": np.hypot,
    "nextafter": np.nextafter, "logaddexp": np.logaddexp, "copysign.Tensor copysign.Scalar": np.copysign,
    "bitwise_and.Tensor bitwise_and.Scalar bitwise_and.Scalar_Tensor": np.bitwise_and,
    "bitwise_or.Tensor bitwise_or.Scalar bitwise_or.Scalar_Tensor": np.bitwise_or,
    "bitwise_xor.Tensor bitwise_xor.Scalar bitwise_xor.Scalar_Tensor": np.bitwise_xor,
    "heaviside": np.heaviside,
}.items():  # fmt: skip
    pointwise(names, function, real_only)


def is_float(want: Want) -> bool:
    return want.dtype.kind in "fV"


@rule("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
def power(want: Want, x: Any, y: Any) -> Any:
    if isinstance(y, (int, float)) and float(y) in (0.5, 1.0, 2.0, 3.0, -1.0, -0.5) and is_float(want):
        simple = {
            0.5: np.sqrt,
            1.0: lambda a: a,
            2.0: lambda a: a * a,
            3.0: lambda a: a * a * a,
            -1.0: lambda a: 1 / a,
            -0.5: op("rsqrt"),
        }
        return widely(want, simple[float(y)], x)
    return widely(want, op("power"), x, y)


@rule(
    "div.Tensor_mode",
    "div.Scalar_mode",
    accepts=lambda x, y, rounding_mode=None: real_only(x, y) and (rounding_mode is None or no_integer_zero(x, y)),
)
def divide(want: Want, x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode is None:
        return widely(want, lambda a, b: a / b, x, y)
    if rounding_mode == "floor":
        return widely(want, floored, x, y)
    return widely(want, lambda a, b: np.trunc(a / b) if is_float(want) else op("divide")(a, b), x, y)


def no_integer_zero(x: Any, y: Any) -> bool:
    """Torch raises where an integer is divided by zero: of tensors, torch itself looks."""
    floats = any(getattr(v, "is_floating_point", lambda v=v: isinstance(v, float))() for v in (x, y))
    if isinstance(y, torch.SymInt):
        return floats or bool(y.node.shape_env.bound_sympy(y.node.expr).lower > 0)
    return floats or (isinstance(y, int) and not isinstance(y, bool) and y != 0)


def floored(a: Any, b: Any) -> Any:
    """torch's floor_divide of floats: the quotient less the remainder, so that it is exact near whole numbers."""
    if a.dtype.kind != "f":
        return np.floor_divide(a, b)
    rest = op("remainder")(a, b)
    quotient = (a - rest) / b
    quotient = np.where(np.logical_and(rest != 0, np.logical_xor(b < 0, rest < 0)), quotient - 1, quotient)
    whole = np.floor(quotient)
    whole = np.where(quotient - whole > 0.5, whole + 1, whole)
    whole = np.where(quotient == 0, np.copysign(np.zeros_like(a), a / b), whole)
    return np.where(b == 0, a / b, whole)


rule("floor_divide", accepts=lambda x, y: real_only(x, y) and no_integer_zero(x, y))(
    lambda want, x, y: widely(want, floored, x, y)
)


@rule(
    "remainder.Tensor",
    "remainder.Scalar",
    "remainder.Scalar_Tensor",
    accepts=lambda x, y: real_only(x, y) and no_integer_zero(x, y),
)
def remainder(want: Want, x: Any, y: Any) -> Any:
    def rest(a: Any, b: Any) -> Any:
        part = op("remainder")(a, b)
        return np.where(np.logical_and(part != 0, np.logical_xor(b < 0, part < 0)), part + b, part)

    return widely(want, rest, x, y)


@rule("fmod.Tensor", "fmod.Scalar", accepts=lambda x, y: real_only(x, y) and no_integer_zero(x, y))
def fmod(want: Want, x: Any, y: Any) -> Any:
    return widely(want, op("remainder"), x, y)


pointwise("gcd", np.gcd)
pointwise("lcm", np.lcm)


SHIFTS = "bitwise_{0}_shift.Tensor bitwise_{0}_shift.Tensor_Scalar bitwise_{0}_shift.Scalar_Tensor __{1}shift__.Tensor __{1}shift__.Scalar"
pointwise(SHIFTS.format("left", "l"), op("shift_left"))
pointwise(
    SHIFTS.format("right", "r"),
    lambda x, y: op("shift_right_logical" if x.dtype.kind == "u" else "shift_right_arithmetic")(x, y),
)


for name, function in {"eq": np.equal, "ne": np.not_equal}.items():
    rule(f"{name}.Tensor", f"{name}.Scalar")(lambda want, x, y, function=function: function(*common(x, y)))
for name, function in {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}.items():
    rule(f"{name}.Tensor", f"{name}.Scalar", accepts=real_only)(
        lambda want, x, y, function=function: function(*common(x, y))
    )
for name, function in {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}.items():
    rule(name)(lambda want, x, y, function=function: function(cast(x, np.bool_), cast(y, np.bool_)))


# -- three ---------------------------------------------------------------------------------------------------------


@rule("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where(want: Want, condition: Any, x: Any, y: Any) -> Any:
    return np.where(cast(condition, np.bool_), cast(x, want.dtype), cast(y, want.dtype))


@rule("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(want: Want, x: Any, mask: Any, value: Any) -> Any:
    return np.where(mask, cast(value, want.dtype), x)


@rule("clamp", "clamp.Tensor", accepts=real_only)
def clamp(want: Want, x: Any, min: Any = None, max: Any = None) -> Any:
    x = cast(x, want.dtype)
    x = x if min is None else np.maximum(x, cast(min, want.dtype))
    return x if max is None else np.minimum(x, cast(max, want.dtype))


@rule("clamp_min", "clamp_min.Tensor", accepts=real_only)
def clamp_min(want: Want, x: Any, min: Any) -> Any:
    return clamp(want, x, min)


@rule("clamp_max", "clamp_max.Tensor", accepts=real_only)
def clamp_max(want: Want, x: Any, max: Any) -> Any:
    return clamp(want, x, None, max)


@rule("prims::fma")
def fma(want: Want, x: Any, y: Any, z: Any) -> Any:
    return widely(want, lambda x, y, z: x * y + z, x, y, z)


@rule("addcmul")
def addcmul(want: Want, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return widely(want, lambda x, a, b: x + scaled_by(a * b, value), x, a, b)


@rule("addcdiv")
def addcdiv(want: Want, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return widely(want, lambda x, a, b: x + scaled_by(a / b, value), x, a, b)


# -- dtypes --------------------------------------------------------------------------------------------------------


@rule("_to_copy", "to.dtype", "prims::convert_element_type")
def to_copy(want: Want, x: Any, *args: Any, **kwargs: Any) -> Any:
    return cast(x != 0, want.dtype) if want.dtype.kind == "b" and x.dtype.kind != "b" else cast(x, want.dtype)


@rule("clone", "alias", "detach", "lift_fresh_copy", "lift_fresh", "contiguous")
def clone(want: Want, x: Any, *args: Any, **kwargs: Any) -> Any:
    return wrap(x.tensor)


@rule("copy")
def copy(want: Want, x: Any, source: Any, non_blocking: bool = False) -> Any:
    return np.broadcast_to(to_copy(want, source), want.shape)


@rule(
    "view.dtype",
    accepts=lambda x, dtype: (
        x.dtype.itemsize == dtype.itemsize and x.dtype in FROM_TORCH and not is_complex(x) and not dtype.is_complex
    ),
)
def view_dtype(want: Want, x: Any, dtype: Any) -> Any:
    return wrap(_core.apply("bitcast_convert", [x.tensor], {"type": want.dtype}))


@rule("real")
def real(want: Want, x: Any) -> Any:
    return np.real(x)


@rule("imag")
def imag(want: Want, x: Any) -> Any:
    return np.imag(x)


@rule("sgn")
def sgn(want: Want, x: Any) -> Any:
    if x.dtype.kind != "c":
        return sign(x)
    size = np.abs(x)
    return np.where(
        size == 0, cast(0, want.dtype), x / cast(np.where(size == 0, cast(1, size.dtype), size), want.dtype)
    )


@rule("angle")
def angle(want: Want, x: Any) -> Any:
    if x.dtype.kind == "c":
        return cast(np.arctan2(np.imag(x), np.real(x)), want.dtype)
    x = cast(x, want.dtype)
    return np.where(x != x, x, np.where(x < 0, cast(math.pi, want.dtype), cast(0, want.dtype)))


@rule("polar")
def polar(want: Want, size: Any, angle: Any) -> Any:
    return complex_of(want, size * np.cos(angle), size * np.sin(angle))


@rule("_conj_physical", "_conj")
def conjugated(want: Want, x: Any) -> Any:
    return np.conj(x)


@rule("polygamma", accepts=lambda n, x: isinstance(n, int) and real_only(x))
def polygamma(want: Want, n: int, x: Any) -> Any:
    return widely(want, lambda a: op("polygamma")(np.broadcast_to(cast(n, a.dtype), a.shape), a), x)


pointwise("special_zeta", op("zeta"), real_only)


@rule("complex")
def complex_of(want: Want, x: Any, y: Any) -> Any:
    kind = np.float32 if want.dtype == np.complex64 else np.float64
    return op("complex")(cast(x, kind), cast(y, kind))
