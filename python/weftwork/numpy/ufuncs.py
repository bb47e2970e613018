"""ufuncs that are no single op of the registry, over tensors of NumPy's loop dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from . import own
from .dispatch import UFUNCS, ufunc_form
from .tracer import Tensor, convert, wrap
from .validity import demanded


def op(name: str, *operands: Tensor, **attrs: Any) -> Tensor:
    return _core.apply(name, list(operands), attrs or None)


def scalar(value: Any, like: Tensor | np.dtype) -> Tensor:
    """A 0-d constant of a dtype, or of that of another tensor."""
    dtype = like if isinstance(like, np.dtype) else like.dtype
    return _core.constant(own.asarray(value).astype(dtype))


def iota(extent: Any, dtype: Any = np.int64) -> Tensor:
    """0, 1, … extent - 1."""
    return _core.apply("iota", [], {"type": np.dtype(dtype), "dims": (extent,), "dimension": 0})


def compare(direction: str, lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("compare", lhs, rhs, comparison_direction=direction)


def truth(x: Tensor) -> Tensor:
    return convert(x, np.dtype(bool))


def is_whole(x: Tensor) -> bool:
    """Integers and booleans."""
    return x.dtype.kind in "iub"


def select(condition: Tensor, on_true: Tensor, on_false: Tensor) -> Tensor:
    return op("select", condition, on_true, on_false)


for _ufunc, _direction in {
    "equal": "EQ", "not_equal": "NE", "less": "LT", "less_equal": "LE", "greater": "GT", "greater_equal": "GE",
}.items():  # fmt: skip

    def _compare(lhs: Tensor, rhs: Tensor, direction: str = _direction) -> Tensor:
        if lhs.dtype.kind == "c" and direction not in ("EQ", "NE"):
            return compare_complex(direction, lhs, rhs)
        return compare(direction, lhs, rhs) if lhs.dtype == rhs.dtype else compare_signs(direction, lhs, rhs)

    ufunc_form(_ufunc)(_compare)


def compare_signs(direction: str, lhs: Tensor, rhs: Tensor) -> Tensor:
    """int64 with uint64: a negative number is less than all unsigned ones."""
    if lhs.dtype.kind == "u":
        turned = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}.get(direction, direction)
        return compare_signs(turned, rhs, lhs)
    negative = compare("LT", lhs, scalar(0, lhs))
    among_unsigned = compare(direction, convert(lhs, rhs.dtype), rhs)
    if direction in ("LT", "LE", "NE"):
        return op("or_", negative, among_unsigned)
    return op("and_", op("not_", negative), among_unsigned)


def compare_complex(direction: str, lhs: Tensor, rhs: Tensor) -> Tensor:
    """NumPy orders complex numbers by real part, then imaginary part."""
    strict = {"LE": "LT", "GE": "GT"}.get(direction, direction)
    real_l, real_r, imag_l, imag_r = op("real", lhs), op("real", rhs), op("imag", lhs), op("imag", rhs)
    numbers = op("and_", compare("EQ", imag_l, imag_l), compare("EQ", imag_r, imag_r))
    return op("or_", op("and_", compare(strict, real_l, real_r), numbers),
              op("and_", compare("EQ", real_l, real_r), compare(direction, imag_l, imag_r)))


@ufunc_form("logical_and")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("and_", truth(lhs), truth(rhs))


@ufunc_form("logical_or")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("or_", truth(lhs), truth(rhs))


@ufunc_form("logical_xor")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("xor_", truth(lhs), truth(rhs))


@ufunc_form("logical_not")
def _(x: Tensor) -> Tensor:
    return op("not_", truth(x))


@ufunc_form("bitwise_and")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("and_", lhs, rhs)


@ufunc_form("bitwise_or")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("or_", lhs, rhs)


@ufunc_form("bitwise_xor")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("xor_", lhs, rhs)


@ufunc_form("invert")
def _(x: Tensor) -> Tensor:
    return op("not_", x)


@ufunc_form("add")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("or_" if lhs.dtype == bool else "add", lhs, rhs)


@ufunc_form("multiply")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("and_" if lhs.dtype == bool else "multiply", lhs, rhs)


@ufunc_form("maximum")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return extremum("maximum", "GE", lhs, rhs)


@ufunc_form("minimum")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return extremum("minimum", "LE", lhs, rhs)


def extremum(name: str, direction: str, lhs: Tensor, rhs: Tensor) -> Tensor:
    if lhs.dtype == bool:
        return op("or_" if name == "maximum" else "and_", lhs, rhs)
    if lhs.dtype.kind == "c":
        takes_left = op("or_", compare_complex(direction, lhs, rhs), compare("NE", lhs, lhs))
        return select(takes_left, lhs, rhs)
    return op(name, lhs, rhs)


@ufunc_form("fmax")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return nan_ignoring("fmax", "maximum", lhs, rhs)


@ufunc_form("fmin")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return nan_ignoring("fmin", "minimum", lhs, rhs)


def nan_ignoring(name: str, plain: str, lhs: Tensor, rhs: Tensor) -> Tensor:
    direction = "GE" if plain == "maximum" else "LE"
    if lhs.dtype.kind == "c":
        return select(op("or_", compare_complex(direction, lhs, rhs), compare("NE", rhs, rhs)), lhs, rhs)
    return extremum(plain, direction, lhs, rhs) if is_whole(lhs) else op(name, lhs, rhs)


@ufunc_form("positive", "conjugate")
def _(x: Tensor) -> Tensor:
    if x.dtype.kind != "c":
        return x
    return op("complex", op("real", x), op("negate", op("imag", x)))


@ufunc_form("positive")
def _(x: Tensor) -> Tensor:
    return x


@ufunc_form("absolute")
def _(x: Tensor) -> Tensor:
    return x if x.dtype.kind in "ub" else op("abs", x)


@ufunc_form("fabs")
def _(x: Tensor) -> Tensor:
    return op("abs", x)


@ufunc_form("sign")
def _(x: Tensor) -> Tensor:
    if x.dtype.kind == "u":
        return convert(compare("NE", x, scalar(0, x)), x.dtype)
    return op("sign", x)


for _ufunc, _op in {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "round_nearest_even"}.items():

    def _round(x: Tensor, name: str = _op) -> Tensor:
        if x.dtype.kind == "c":
            return op("complex", op(name, op("real", x)), op(name, op("imag", x)))
        return x if is_whole(x) else op(name, x)

    ufunc_form(_ufunc)(_round)


@ufunc_form("sign")
def _(x: Tensor) -> Tensor:
    if x.dtype.kind == "c":
        return direction_of(x)
    if x.dtype.kind == "u":
        return convert(truth(x), x.dtype)
    # NumPy's sign of -0.0 is 0.0.
    return select(compare("EQ", x, scalar(0, x)), scalar(0, x), op("sign", x)) if x.dtype.kind in "fV" else op("sign", x)


def direction_of(x: Tensor) -> Tensor:
    """x / |x|; one infinite part decides alone, two are NaN."""
    re, im = op("real", x), op("imag", x)
    length = op("abs", x)
    zero, nan = scalar(0, length), scalar(np.nan, length)
    infinite = op("is_inf", length)
    both = op("and_", op("is_inf", re), op("is_inf", im))

    def part(of: Tensor) -> Tensor:
        known = select(op("is_inf", of), op("sign", of), zero)
        result = select(infinite, select(both, nan, known), op("divide", of, length))
        return select(compare("EQ", length, zero), zero, result)

    return op("complex", part(re), part(im))


@ufunc_form("isnan")
def _(x: Tensor) -> Tensor:
    return compare("NE", x, x)


@ufunc_form("isinf")
def _(x: Tensor) -> Tensor:
    if is_whole(x):
        return compare("NE", x, x)
    if x.dtype.kind == "c":
        return op("or_", op("is_inf", op("real", x)), op("is_inf", op("imag", x)))
    return op("is_inf", x)


@ufunc_form("isfinite")
def _(x: Tensor) -> Tensor:
    if is_whole(x):
        return compare("EQ", x, x)
    if x.dtype.kind == "c":
        return op("and_", op("is_finite", op("real", x)), op("is_finite", op("imag", x)))
    return op("is_finite", x)


@ufunc_form("square")
def _(x: Tensor) -> Tensor:
    return op("multiply", x, x)


@ufunc_form("reciprocal")
def _(x: Tensor) -> Tensor:
    if x.dtype.kind == "c":
        return complex_reciprocal(x)
    if not is_whole(x):
        return op("divide", scalar(1, x), x)
    # 1 / 0 is what NumPy's conversion of an infinity gives.
    zero = compare("EQ", x, scalar(0, x))
    infinity = np.iinfo(x.dtype).min if x.dtype in (np.int32, np.int64) else 0
    return select(zero, scalar(infinity, x), op("divide", scalar(1, x), select(zero, scalar(1, x), x)))


def complex_reciprocal(x: Tensor) -> Tensor:
    """1 / x as NumPy has it, which is no division: signs of zeros differ."""
    re, im = op("real", x), op("imag", x)
    flat = compare("LE", op("abs", im), op("abs", re))
    big, small = select(flat, re, im), select(flat, im, re)
    ratio = op("divide", small, big)
    scale = op("add", big, op("multiply", small, ratio))
    one, minus = scalar(1, scale), scalar(-1, scale)
    return op("complex", op("divide", select(flat, one, ratio), scale), op("divide", select(flat, op("negate", ratio), minus), scale))


def scaled_complex(name: str, plain: str, factor: float, before: bool) -> None:
    """A logarithm or power by another base, which complex numbers have as NumPy computes it: by e, and a factor."""

    @ufunc_form(name)
    def form(x: Tensor) -> Tensor:
        if x.dtype.kind != "c":
            return op(name, x)
        parts = (lambda z: op("complex", *(op("multiply", op(p, z), scalar(factor, op(p, z))) for p in ("real", "imag"))))
        return op(plain, parts(x)) if before else parts(op(plain, x))


scaled_complex("log2", "log", np.log2(np.e), before=False)
scaled_complex("log10", "log", np.log10(np.e), before=False)
scaled_complex("exp2", "exponential", np.log(2), before=True)


@ufunc_form("divide", "true_divide")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("divide", lhs, rhs)


@ufunc_form("floor_divide")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("floor_divide", lhs, rhs)


@ufunc_form("remainder", "mod")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("mod", lhs, rhs)


@ufunc_form("divmod")
def _(lhs: Tensor, rhs: Tensor) -> tuple[Tensor, Tensor]:
    return op("floor_divide", lhs, rhs), op("mod", lhs, rhs)


@ufunc_form("fmod")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    if not is_whole(lhs):
        return op("remainder", lhs, rhs)
    zero = compare("EQ", rhs, scalar(0, rhs))
    return select(zero, scalar(0, lhs), op("remainder", lhs, select(zero, scalar(1, rhs), rhs)))


@ufunc_form("power", "float_power")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    exponent = rhs.constant()
    if exponent is not None and exponent.ndim == 0 and lhs.dtype.kind in "fc":
        # NumPy computes these exactly as the simpler operation.
        if exponent == 2:
            return op("multiply", lhs, lhs)
        if exponent == 1:
            return lhs
        if exponent == 0.5 and lhs.dtype.kind == "f":
            return op("sqrt", lhs)
        if exponent == -1:
            return UFUNCS["reciprocal"](lhs)
        if exponent == 3 and lhs.dtype.kind == "f" and lhs.dtype.itemsize >= 4:
            # Within 1 ULP of the cube, as NumPy's own power is, and ten times as fast.
            return op("multiply", op("multiply", lhs, lhs), lhs)
    if rhs.dtype.kind == "i":
        message = "Integers to negative integer powers are not allowed."
        rhs = demanded(rhs, np.greater_equal(wrap(rhs), 0), "negative_power", message)
    return op("power", lhs, rhs)


@ufunc_form("modf")
def _(x: Tensor) -> tuple[Tensor, Tensor]:
    whole = op("trunc", x)
    fraction = select(op("is_inf", x), scalar(0, x), op("subtract", x, whole))
    return op("copysign", fraction, x), whole


def scaled(x: Tensor, numerator: float, denominator: float) -> Tensor:
    """A product that is rounded once where numbers are narrow; of types that NumPy has no loop for it is float32."""
    wide = convert(x, np.float32) if x.dtype.itemsize < 4 else x
    factor = wide.dtype.type(numerator) / wide.dtype.type(denominator)
    result = op("multiply", wide, scalar(factor, wide))
    return convert(result, x.dtype) if x.dtype == np.float16 else result


@ufunc_form("deg2rad", "radians")
def _(x: Tensor) -> Tensor:
    return scaled(x, np.pi, 180.0)


@ufunc_form("rad2deg", "degrees")
def _(x: Tensor) -> Tensor:
    return scaled(x, 180.0, np.pi)


@ufunc_form("left_shift")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("shift_left", lhs, rhs)


@ufunc_form("right_shift")
def _(lhs: Tensor, rhs: Tensor) -> Tensor:
    return op("shift_right_logical" if lhs.dtype.kind == "u" else "shift_right_arithmetic", lhs, rhs)
