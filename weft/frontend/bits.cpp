// Element-wise functions that look at the bits of numbers.
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "weft/frontend/functions.h"
#include "weft/frontend/lowering.h"
#include "weft/frontend/promote.h"

namespace weft {
namespace {

Tensor bits_as(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : apply(Op::bitcast_convert, {x}, {{Attr::type, dtype}});
}

// The absolute value as an unsigned integer: that of the least integer too.
Tensor unsigned_of(const Tensor& x) {
  const int bits = bit_width(x.dtype());
  if (bits < 8) fail(ErrorKind::type, "no_loop", "not defined for ", numpy_name(x.dtype()));
  if (is_unsigned(x.dtype())) return x;
  const DType dtype = bits == 8 ? DType::u8 : bits == 16 ? DType::u16 : bits == 32 ? DType::u32 : DType::u64;
  return bits_as(apply(Op::abs, {x}), dtype);
}

// 2 to the power of an i64 that is the exponent of a normal f64.
Tensor exact_power(const Tensor& exponent) { return bits_as(left_shift(exponent + 1023, 52), DType::f64); }

// A number as an f64 of magnitude 0.5 to 1 and an i64 exponent; 0, infinities and NaN are themselves and 0.
std::pair<Tensor, Tensor> split(const Tensor& given) {
  const Tensor x = cast_to(given, DType::f64), is_small = abs(x) < 0x1p-1022;
  const Tensor bits = bits_as(where(is_small, x * 0x1p54, x), DType::i64);
  const Tensor exponent = (shift_right_logical(bits, 52) & 0x7FF) - where(is_small, 1022 + 54, 1022);
  const Tensor mantissa = bits_as((bits & ~(int64_t{0x7FF} << 52)) | (int64_t{1022} << 52), DType::f64);
  const Tensor is_alone = (x == 0) | ~isfinite(x);
  return {where(is_alone, x, mantissa), where(is_alone, 0, exponent)};
}

Tensor bounded(const Tensor& x, int64_t limit) { return minimum(maximum(x, -limit), limit); }

// NumPy's own rule for f16: positive for negative numbers too, and halved at negative powers of two.
Tensor half_spacing(const Tensor& x) {
  const Tensor bits = cast_to(bits_as(x, DType::u16), DType::i64), exponent = right_shift(bits & 0x7C00, 10);
  const Tensor shrink = where((bits >= 0x8000) & ((bits & 0x3FF) == 0), 11, 10);
  const Tensor normal = left_shift(exponent - shrink, 10), tiny = left_shift(1, maximum(exponent - shrink + 9, 0));
  const Tensor finite = where(exponent > shrink, normal, where(exponent > 1, tiny, 1));
  const Tensor result = where(bits == 0x7BFF, 0x7C00, where(exponent == 31, 0x7E00, finite));
  return bits_as(cast_to(result, DType::u16), DType::f16);
}

}  // namespace

Tensor bits_set(const Ufunc&, const Tensor& x) { return cast_to(apply(Op::popcnt, {unsigned_of(x)}), DType::u8); }

Tensor common_multiple(const Ufunc&, const Tensor& x, const Tensor& y) {
  const Tensor a = unsigned_of(x), b = unsigned_of(y), divisor = apply(Op::gcd, {a, b}), none = divisor == 0;
  return bits_as(where(none, 0, apply(Op::divide, {a, where(none, 1, divisor)}) * b), x.dtype());
}

std::vector<Tensor> mantissa_and_exponent(const Ufunc&, std::span<const Tensor> x) {
  const auto [mantissa, exponent] = split(x[0]);
  return {cast_to(mantissa, x[0].dtype()), cast_to(exponent, DType::i32)};
}

Tensor scaled_by_power(const Ufunc&, const Tensor& x, const Tensor& by) {
  // Two factors that are normal numbers: the first product is exact, so that only the second rounds.
  const auto [mantissa, exponent] = split(x);
  const Tensor total = bounded(by, 5000) + exponent, first = bounded(total, 1000);
  return cast_to(mantissa * exact_power(first) * exact_power(bounded(total - first, 1000)), x.dtype());
}

Tensor next_number(const Ufunc&, const Tensor& x, const Tensor& y) {
  const Tensor next = apply(Op::next_after, {x, y});
  return x.dtype() == DType::f16 ? where(x == y, x, next) : next;  // from a zero to the other: by NumPy's own rule
}

Tensor distance_to_next(const Ufunc&, const Tensor& x) {
  if (x.dtype() == DType::f16) return half_spacing(x);
  const double least = std::ldexp(1.0, x.dtype() == DType::f64 ? -1074 : x.dtype() == DType::f32 ? -149 : -133);
  const Tensor away = apply(Op::copysign, {number(std::numeric_limits<double>::infinity(), x.dtype()), x});
  return where(x == 0, least, apply(Op::next_after, {x, away}) - x);
}

Tensor log_of_sum(const Ufunc& ufunc, const Tensor& x, const Tensor& y) {
  if (size_of(x.dtype()) < 4)  // rounded once
    return cast_to(log_of_sum(ufunc, cast_to(x, DType::f32), cast_to(y, DType::f32)), x.dtype());
  const Tensor more = log_plus_one(exp2(-abs(x - y))) * std::numbers::log2e;
  return where(x == y, x + 1, maximum(x, y) + more);
}

}  // namespace weft
