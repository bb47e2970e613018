"""ufuncs over the bits of numbers, and bits packed into bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError
from .dispatch import implements, ufunc_form
from .functions import one_axis, solid
from .tracer import Tensor, convert, raise_here, wrap
from .ufuncs import compare, op, scalar, select
from .views import bitcast

#: Steps of Euclid's algorithm for the worst pair (neighbouring Fibonacci numbers) below 2**bits.
EUCLID_STEPS = {8: 12, 16: 24, 32: 47, 64: 93}

F64 = np.dtype(np.float64)
I64 = np.dtype(np.int64)


@ufunc_form("bitwise_count")
def _(x: Tensor) -> Tensor:
    return op("popcnt", op("abs", x) if x.dtype.kind == "i" else x)


def magnitude(x: Tensor) -> Tensor:
    """The absolute value as an unsigned integer: that of the least integer too."""
    if x.dtype.kind != "i":
        return x
    return bitcast(op("abs", x), np.dtype(f"u{x.dtype.itemsize}"))


def greatest_divisor(lhs: Tensor, rhs: Tensor) -> Tensor:
    """Euclid's algorithm for unsigned operands, with as many steps as the dtype can need."""
    zero, one = scalar(0, lhs), scalar(1, lhs)
    for _ in range(EUCLID_STEPS[8 * lhs.dtype.itemsize]):
        done = compare("EQ", rhs, zero)
        rest = op("remainder", lhs, select(done, one, rhs))
        lhs, rhs = select(done, lhs, rhs), select(done, zero, rest)
    return lhs


@ufunc_form("gcd")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return bitcast(greatest_divisor(magnitude(lhs), magnitude(rhs)), lhs.dtype)


@ufunc_form("lcm")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    x, y = magnitude(lhs), magnitude(rhs)
    divisor = greatest_divisor(x, y)
    zero = compare("EQ", divisor, scalar(0, divisor))
    each = op("divide", x, select(zero, scalar(1, divisor), divisor))
    return bitcast(select(zero, scalar(0, divisor), op("multiply", each, y)), lhs.dtype)


# -- mantissa and exponent -----------------------------------------------------------------------------------------


def power_of_two(exponent: Tensor) -> Tensor:
    """2.0**exponent for int64 exponents of normal float64 numbers, exactly."""
    biased = op("add", exponent, scalar(1023, exponent))
    return bitcast(op("shift_left", biased, scalar(52, exponent)), F64)


def split_float(x: Tensor) -> tuple[Tensor, Tensor]:
    """float64 x as (mantissa of magnitude 0.5 to 1, int64 exponent); 0, infinity and NaN are their own mantissa."""
    small = compare("LT", op("abs", x), scalar(2.0**-1022, x))
    normal = select(small, op("multiply", x, scalar(2.0**54, x)), x)
    bits = bitcast(normal, I64)
    exponent = op("and_", op("shift_right_logical", bits, scalar(52, bits)), scalar(0x7FF, bits))
    exponent = op("subtract", exponent, select(small, scalar(1022 + 54, bits), scalar(1022, bits)))
    kept = op("and_", bits, scalar(~(0x7FF << 52), bits))
    mantissa = bitcast(op("or_", kept, scalar(1022 << 52, bits)), F64)
    alone = op("or_", compare("EQ", x, scalar(0, x)), op("not_", op("is_finite", x)))
    return select(alone, x, mantissa), select(alone, scalar(0, exponent), exponent)


@ufunc_form("frexp")
def _(x: Tensor) -> tuple[Tensor, Tensor]:
    return split_float(convert(x, F64))


def bounded(x: Tensor, limit: int) -> Tensor:
    return op("minimum", op("maximum", x, scalar(-limit, x)), scalar(limit, x))


@ufunc_form("ldexp")
def _(x: Tensor, exponent: Tensor) -> Tensor:
    # Two factors that are normal numbers: the first product is exact, so that only the second rounds.
    mantissa, own = split_float(convert(x, F64))
    total = op("add", bounded(convert(exponent, I64), 5000), own)
    first = bounded(total, 1000)
    rest = bounded(op("subtract", total, first), 1000)
    return convert(op("multiply", op("multiply", mantissa, power_of_two(first)), power_of_two(rest)), x.dtype)


@ufunc_form("nextafter")
def _(x: Tensor, towards: Tensor) -> Tensor:
    if x.dtype != np.float16:
        return op("next_after", x, towards)
    bits = wrap(convert(bitcast(x, np.dtype(np.uint16)), np.dtype(np.int32)))
    start, end = wrap(x), wrap(towards)
    away = np.equal(start > 0, end > start)
    stepped = np.where(start == 0, np.where(np.signbit(end), 0x8001, 1), np.where(away, bits + 1, bits - 1))
    result: Any = wrap(bitcast(convert(stepped.tensor, np.dtype(np.uint16)), x.dtype))
    result = np.where(np.equal(start, end), end, result)
    return np.where(np.logical_or(np.isnan(start), np.isnan(end)), np.float16(np.nan), result).tensor


@ufunc_form("spacing")
def _(x: Tensor) -> Tensor:
    if x.dtype == np.float16:
        return half_spacing(x)
    away = op("next_after", x, op("copysign", scalar(np.inf, x), x))
    smallest = scalar(np.finfo(x.dtype).smallest_subnormal, x)
    return select(compare("EQ", x, scalar(0, x)), smallest, op("subtract", away, x))


def half_spacing(x: Tensor) -> Tensor:
    """NumPy's own rule for float16: positive for negative numbers too, and halved at negative powers of two."""
    bits = wrap(convert(bitcast(x, np.dtype(np.uint16)), np.dtype(np.int32)))
    exponent = (bits & 0x7C00) >> 10
    at_power = (bits >= 0x8000) & ((bits & 0x03FF) == 0)
    shrink = np.where(at_power, 11, 10)
    normal = (exponent - shrink) << 10
    tiny = np.left_shift(1, np.maximum(exponent - shrink + 9, 0))
    result = np.where(exponent > shrink, normal, np.where(exponent > 1, tiny, 1))
    result = np.where(bits == 0x7BFF, 0x7C00, np.where(exponent == 31, 0x7E00, result))
    return bitcast(convert(result.tensor, np.dtype(np.uint16)), x.dtype)


@ufunc_form("logaddexp2")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    distance = op("negate", op("abs", op("subtract", lhs, rhs)))
    more = op("multiply", op("log_plus_one", op("exp2", distance)), scalar(np.log2(np.e), lhs))
    equal = op("add", lhs, scalar(1, lhs))
    return select(compare("EQ", lhs, rhs), equal, op("add", op("maximum", lhs, rhs), more))


# -- packed bits ---------------------------------------------------------------------------------------------------


def bit_weights(bitorder: str) -> list[int]:
    if bitorder not in ("big", "little"):
        raise_here(ArgumentValueError, f"'bitorder' must be either 'little' or 'big', got {bitorder!r}", "bitorder")
    return list(range(7, -1, -1)) if bitorder == "big" else list(range(8))


@implements(np.packbits)
def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Any:
    x = solid(a)
    if x.dtype.kind not in "iub":
        raise_here(ArgumentTypeError, f"expected an input array of integer or boolean data type, got {x.dtype}", "packbits_dtype")
    x = np.moveaxis(np.ravel(x), 0, -1) if axis is None else np.moveaxis(np.atleast_1d(x), one_axis(axis, np.atleast_1d(x).ndim, "packbits"), -1)
    order = bit_weights(bitorder)
    missing = -x.shape[-1] % 8
    flags = np.pad(x.astype(bool), [(0, 0)] * (x.ndim - 1) + [(0, missing)]).astype(np.uint8)
    groups = np.reshape(flags, (*x.shape[:-1], (x.shape[-1] + missing) // 8, 8))
    result: Any = groups[..., 0] << np.uint8(order[0])
    for i in range(1, 8):
        result = result | (groups[..., i] << np.uint8(order[i]))
    return np.moveaxis(result, -1, 0 if axis is None else axis)


@implements(np.unpackbits)
def unpackbits(a: Any, /, axis: Any = None, count: Any = None, bitorder: str = "big") -> Any:
    x = solid(a)
    if x.dtype != np.uint8:
        raise_here(ArgumentTypeError, f"expected an input array of unsigned byte data type, got {x.dtype}", "unpackbits_dtype")
    place = 0 if axis is None else one_axis(axis, np.atleast_1d(x).ndim, "unpackbits")
    x = np.ravel(x) if axis is None else np.moveaxis(np.atleast_1d(x), place, -1)
    bits = np.stack([(x >> np.uint8(i)) & np.uint8(1) for i in bit_weights(bitorder)], -1)
    line = np.reshape(bits, (*x.shape[:-1], x.shape[-1] * 8))
    if count is not None:
        more = count - line.shape[-1]
        if isinstance(line.shape[-1], int) and count < -line.shape[-1]:
            raise_here(ArgumentValueError, f"-count larger than number of elements: {count} of {line.shape[-1]}", "unpackbits_count")
        if more > 0:
            line = np.pad(line, [(0, 0)] * (line.ndim - 1) + [(0, more)])
        line = line[..., :count]
    return np.moveaxis(line, -1, place)
