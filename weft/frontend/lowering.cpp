// Element-wise functions that are no single op.
#include "weft/frontend/lowering.h"

#include <limits>
#include <numbers>

#include "weft/frontend/promote.h"

namespace weft {
namespace {

Tensor on_parts(Op op, const Tensor& x) {
  return apply(Op::complex, {apply(op, {apply(Op::real, {x})}), apply(op, {apply(Op::imag, {x})})});
}

Tensor select(const Tensor& condition, const Tensor& on_true, const Tensor& on_false) {
  return apply(Op::select, {condition, on_true, on_false});
}

Tensor like(double value, const Tensor& x) { return number(value, x.dtype()); }

Tensor is_zero(const Tensor& x) { return compared("EQ", x, like(0, x)); }

// NumPy orders complex numbers by real part, then imaginary part.
Tensor compare_complex(std::string_view direction, const Tensor& lhs, const Tensor& rhs) {
  const char* strict = direction[0] == 'L' ? "LT" : "GT";
  const Tensor real_l = apply(Op::real, {lhs}), real_r = apply(Op::real, {rhs}), imag_l = apply(Op::imag, {lhs}),
               imag_r = apply(Op::imag, {rhs});
  const Tensor numbers = apply(Op::and_, {compared("EQ", imag_l, imag_l), compared("EQ", imag_r, imag_r)});
  return apply(Op::or_, {apply(Op::and_, {compared(strict, real_l, real_r), numbers}),
                         apply(Op::and_, {compared("EQ", real_l, real_r), compared(direction, imag_l, imag_r)})});
}

// x / |x|; one infinite part decides alone, two are NaN.
Tensor direction_of(const Tensor& x) {
  const Tensor re = apply(Op::real, {x}), im = apply(Op::imag, {x}), length = apply(Op::abs, {x});
  const Tensor zero = like(0, length), nan = like(std::numeric_limits<double>::quiet_NaN(), length);
  const Tensor infinite = apply(Op::is_inf, {length}),
               both = apply(Op::and_, {apply(Op::is_inf, {re}), apply(Op::is_inf, {im})});
  const auto part = [&](const Tensor& of) {
    Tensor known = select(apply(Op::is_inf, {of}), apply(Op::sign, {of}), zero);
    Tensor result = select(infinite, select(both, nan, known), apply(Op::divide, {of, length}));
    return select(is_zero(length), zero, result);
  };
  return apply(Op::complex, {part(re), part(im)});
}

// 1 / x as NumPy has it, which is no division: signs of zeros differ.
Tensor complex_reciprocal(const Tensor& x) {
  const Tensor re = apply(Op::real, {x}), im = apply(Op::imag, {x});
  const Tensor flat = compared("LE", apply(Op::abs, {im}), apply(Op::abs, {re}));
  const Tensor big = select(flat, re, im), ratio = apply(Op::divide, {select(flat, im, re), big});
  const Tensor scale = apply(Op::add, {big, apply(Op::multiply, {select(flat, im, re), ratio})});
  return apply(Op::complex, {apply(Op::divide, {select(flat, like(1, scale), ratio), scale}),
                             apply(Op::divide, {select(flat, apply(Op::negate, {ratio}), like(-1, scale)), scale})});
}

// A product that is rounded once where numbers are narrow; of types that NumPy has no loop for it is of f32.
Tensor scaled(const Tensor& x, double numerator, double denominator) {
  const Tensor wide = size_of(x.dtype()) < 4 ? cast_to(x, DType::f32) : x;
  const bool narrow = wide.dtype() == DType::f32;
  const double factor =
      narrow ? static_cast<float>(numerator) / static_cast<float>(denominator) : numerator / denominator;
  return apply(Op::multiply, {wide, like(factor, wide)});
}

// Scaled, as the dtype that NumPy gives: for bf16 and narrower, degrees and radians give f32, rad2deg and deg2rad their
// own.
Tensor turned(const Ufunc& ufunc, const Tensor& x, double numerator, double denominator) {
  Tensor result = scaled(x, numerator, denominator);
  const bool keeps = x.dtype() == DType::f16 || ufunc.name == "deg2rad" || ufunc.name == "rad2deg";
  return keeps ? cast_to(result, x.dtype()) : result;
}

Tensor times_real(const Tensor& x, double factor) {
  const Tensor re = apply(Op::real, {x}), im = apply(Op::imag, {x});
  return apply(Op::complex, {apply(Op::multiply, {re, like(factor, re)}), apply(Op::multiply, {im, like(factor, im)})});
}

}  // namespace

std::vector<Tensor> single_op(const Ufunc& ufunc, std::span<const Tensor> x) {
  return {apply(*ufunc.op, {x.begin(), x.end()})};
}
Tensor unchanged(const Ufunc&, const Tensor& x) { return x; }
Tensor magnitude(const Ufunc&, const Tensor& x) {
  return is_bool(x.dtype()) || is_unsigned(x.dtype()) ? x : apply(Op::abs, {x});
}
Tensor rounded(const Ufunc& ufunc, const Tensor& x) {
  return is_whole(x.dtype()) ? x : is_complex(x.dtype()) ? on_parts(*ufunc.op, x) : apply(*ufunc.op, {x});
}
Tensor conjugate(const Ufunc&, const Tensor& x) {
  return is_complex(x.dtype()) ? apply(Op::complex, {apply(Op::real, {x}), apply(Op::negate, {apply(Op::imag, {x})})})
                               : x;
}
Tensor sign_of(const Ufunc&, const Tensor& x) {
  if (is_complex(x.dtype())) return direction_of(x);
  if (is_unsigned(x.dtype())) return cast_to(cast_to(x, DType::boolean), x.dtype());
  const Tensor sign = apply(Op::sign, {x});
  return is_float(x.dtype()) ? select(is_zero(x), like(0, x), sign) : sign;  // NumPy's sign of -0.0 is 0.0
}
Tensor squared(const Ufunc&, const Tensor& x) { return apply(Op::multiply, {x, x}); }
Tensor reciprocal(const Ufunc&, const Tensor& x) {
  if (is_complex(x.dtype())) return complex_reciprocal(x);
  if (!is_whole(x.dtype())) return apply(Op::divide, {like(1, x), x});
  // 1 / 0 is what NumPy's conversion of an infinity gives.
  const Tensor zero = is_zero(x), one = like(1, x);
  const double of_zero =
      x.dtype() == DType::i32 || x.dtype() == DType::i64 ? -std::ldexp(1.0, bit_width(x.dtype()) - 1) : 0;
  return select(zero, like(of_zero, x), apply(Op::divide, {one, select(zero, one, x)}));
}
Tensor to_radians(const Ufunc& ufunc, const Tensor& x) { return turned(ufunc, x, std::numbers::pi, 180); }
Tensor to_degrees(const Ufunc& ufunc, const Tensor& x) { return turned(ufunc, x, 180, std::numbers::pi); }

// Of complex numbers by e and a factor, as NumPy computes them.
Tensor power_of_two(const Ufunc&, const Tensor& x) {
  return is_complex(x.dtype()) ? apply(Op::exponential, {times_real(x, std::numbers::ln2)}) : apply(Op::exp2, {x});
}
Tensor log_of_two(const Ufunc&, const Tensor& x) {
  return is_complex(x.dtype()) ? times_real(apply(Op::log, {x}), std::numbers::log2e) : apply(Op::log2, {x});
}
Tensor log_of_ten(const Ufunc&, const Tensor& x) {
  return is_complex(x.dtype()) ? times_real(apply(Op::log, {x}), std::numbers::log10e) : apply(Op::log10, {x});
}

Tensor differs_from_itself(const Ufunc&, const Tensor& x) { return compared("NE", x, x); }
Tensor both_finite(const Ufunc&, const Tensor& x) {
  if (is_whole(x.dtype())) return compared("EQ", x, x);
  if (!is_complex(x.dtype())) return apply(Op::is_finite, {x});
  return apply(Op::and_, {apply(Op::is_finite, {apply(Op::real, {x})}), apply(Op::is_finite, {apply(Op::imag, {x})})});
}
Tensor one_infinite(const Ufunc&, const Tensor& x) {
  if (is_whole(x.dtype())) return compared("NE", x, x);
  if (!is_complex(x.dtype())) return apply(Op::is_inf, {x});
  return apply(Op::or_, {apply(Op::is_inf, {apply(Op::real, {x})}), apply(Op::is_inf, {apply(Op::imag, {x})})});
}
Tensor of_truth(const Ufunc& ufunc, const Tensor& x) { return apply(*ufunc.op, {cast_to(x, DType::boolean)}); }
Tensor of_truths(const Ufunc& ufunc, const Tensor& x, const Tensor& y) {
  return apply(*ufunc.op, {cast_to(x, DType::boolean), cast_to(y, DType::boolean)});
}

Tensor sum_of_two(const Ufunc&, const Tensor& x, const Tensor& y) {
  return apply(is_bool(x.dtype()) ? Op::or_ : Op::add, {x, y});
}
Tensor product_of_two(const Ufunc&, const Tensor& x, const Tensor& y) {
  return apply(is_bool(x.dtype()) ? Op::and_ : Op::multiply, {x, y});
}

Tensor comparison(const Ufunc& ufunc, const Tensor& x, const Tensor& y) {
  const std::string_view direction = ufunc.direction;
  const bool is_order = direction != "EQ" && direction != "NE";
  return is_complex(x.dtype()) && is_order ? compare_complex(direction, x, y) : compared(direction, x, y);
}

Tensor compare_signs(std::string_view direction, const Tensor& lhs, const Tensor& rhs) {
  if (lhs.dtype() == rhs.dtype()) return compared(direction, lhs, rhs);
  if (is_unsigned(lhs.dtype())) {
    static constexpr std::pair<std::string_view, std::string_view> turned[] = {
        {"LT", "GT"}, {"GT", "LT"}, {"LE", "GE"}, {"GE", "LE"}};
    for (auto [from, to] : turned)
      if (direction == from) return compare_signs(to, rhs, lhs);
    return compare_signs(direction, rhs, lhs);
  }
  // A negative number is less than all unsigned ones.
  const Tensor negative = compared("LT", lhs, like(0, lhs)),
               among_unsigned = compared(direction, cast_to(lhs, rhs.dtype()), rhs);
  if (direction == "LT" || direction == "LE" || direction == "NE") return apply(Op::or_, {negative, among_unsigned});
  return apply(Op::and_, {apply(Op::not_, {negative}), among_unsigned});
}

Tensor extreme(const Ufunc& ufunc, const Tensor& x, const Tensor& y) {
  const bool greatest = ufunc.direction[0] == 'G';
  if (is_bool(x.dtype())) return apply(greatest ? Op::or_ : Op::and_, {x, y});
  if (!is_complex(x.dtype())) return apply(greatest ? Op::maximum : Op::minimum, {x, y});
  return select(apply(Op::or_, {compare_complex(ufunc.direction, x, y), compared("NE", x, x)}), x, y);
}

Tensor number_extreme(const Ufunc& ufunc, const Tensor& x, const Tensor& y) {
  if (is_whole(x.dtype())) return extreme(ufunc, x, y);
  if (!is_complex(x.dtype())) return apply(*ufunc.op, {x, y});
  return select(apply(Op::or_, {compare_complex(ufunc.direction, x, y), compared("NE", y, y)}), x, y);
}

Tensor c_remainder(const Ufunc&, const Tensor& x, const Tensor& y) {
  if (!is_whole(x.dtype())) return apply(Op::remainder, {x, y});
  const Tensor by_zero = is_zero(y);
  return select(by_zero, like(0, x), apply(Op::remainder, {x, select(by_zero, like(1, y), y)}));
}

// By a number that is known NumPy computes these as the simpler operation.
Tensor power_of(const Ufunc& ufunc, const Tensor& x, const Tensor& y) {
  const Literal* known = y.constant();
  const DType dtype = x.dtype();
  const bool is_simple = known && !known->is_live() && known->type().dims.empty() &&
                         (is_complex(dtype) || (is_float(dtype) && bit_width(dtype) >= 16 && dtype != DType::bf16));
  const std::complex<double> exponent = is_simple ? known->as_complex(0) : 0;
  if (exponent == 2.0) return apply(Op::multiply, {x, x});
  if (exponent == 1.0) return x;
  if (exponent == 0.5 && is_float(dtype)) return apply(Op::sqrt, {x});
  if (exponent == -1.0) return reciprocal(ufunc, x);
  // Within 1 ULP of the cube, as NumPy's own power is, and ten times as fast.
  if (exponent == 3.0 && is_float(dtype) && size_of(dtype) >= 4)
    return apply(Op::multiply, {apply(Op::multiply, {x, x}), x});
  return apply(Op::power, {x, y});
}

Tensor right_shifted(const Ufunc&, const Tensor& x, const Tensor& y) {
  return apply(is_unsigned(x.dtype()) ? Op::shift_right_logical : Op::shift_right_arithmetic, {x, y});
}

std::vector<Tensor> divided_with_rest(const Ufunc&, std::span<const Tensor> x) {
  return {apply(Op::floor_divide, {x[0], x[1]}), apply(Op::mod, {x[0], x[1]})};
}

std::vector<Tensor> fraction_and_whole(const Ufunc&, std::span<const Tensor> x) {
  const Tensor whole = apply(Op::trunc, {x[0]});
  const Tensor fraction = select(apply(Op::is_inf, {x[0]}), like(0, x[0]), apply(Op::subtract, {x[0], whole}));
  return {apply(Op::copysign, {fraction, x[0]}), whole};
}

}  // namespace weft
