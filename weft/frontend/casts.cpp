// Tensors as another dtype, with the numbers that NumPy gives on the machine at hand where a float does not fit an
// integer.
#include <cmath>
#include <limits>

#include "weft/core/element.h"
#include "weft/frontend/promote.h"

namespace weft {
namespace {

// Whose instructions convert: on x86 the least integer stands for what does not fit (CVTTPS2DQ and its like), else the
// nearest.
#if defined(__x86_64__) || defined(_M_X64)
constexpr bool is_x86 = true;
#else
constexpr bool is_x86 = false;
#endif

// Constants of at most so many elements are converted when they are recorded.
constexpr int64_t most_folded = 1024;

Tensor converted(const Tensor& x, DType dtype) { return apply(Op::convert, {x}, {{Attr::type, dtype}}); }

// Floats as i32 or i64.
Tensor signed_integer(const Tensor& x, DType dtype) {
  Tensor integers = converted(x, dtype);
  if (!is_x86) return integers;
  const double limit = std::ldexp(1.0, bit_width(dtype) - 1);
  return apply(Op::select, {compared("LT", x, number(limit, x.dtype())), integers, number(-limit, dtype)});
}

// Floats as small or unsigned integers: those outside come around, as by way of the wider integers of the CPU.
Tensor wrapped_integer(const Tensor& x, DType dtype) {
  const Tensor wrapped = converted(signed_integer(x, bit_width(dtype) < 32 ? DType::i32 : DType::i64), dtype);
  if (bit_width(dtype) < 64) return wrapped;
  Tensor large = converted(x, dtype);
  if (!is_x86) return apply(Op::select, {compared("LT", x, number(0, x.dtype())), wrapped, large});
  // From 2**63 on the CPU converts what is beyond it; a NaN is not at or beyond it.
  large = apply(Op::select, {compared("LT", x, number(std::ldexp(1.0, 64), x.dtype())), large, number(0, dtype)});
  return apply(Op::select, {compared("GE", x, number(std::ldexp(1.0, 63), x.dtype())), large, wrapped});
}

Tensor integer_of_float(const Tensor& given, DType dtype) {
  const Tensor x = size_of(given.dtype()) < 4 ? converted(given, DType::f32) : given;
  return is_signed(dtype) && bit_width(dtype) >= 32 ? signed_integer(x, dtype) : wrapped_integer(x, dtype);
}

int64_t machine_integer(double value, int bits) {
  const double limit = std::ldexp(1.0, bits - 1);
  const bool fits = value < limit && value >= -limit;
  if (is_x86 && !fits) return bits == 32 ? std::numeric_limits<int32_t>::min() : std::numeric_limits<int64_t>::min();
  return convert(Element::of_double(DType::f64, value), bits == 32 ? DType::i32 : DType::i64).i;
}

// As the calls above have it.
Element element_as(const Element& given, DType dtype) {
  const Element element = is_complex(given.dtype) && !is_complex(dtype) && !is_bool(dtype)
                              ? Element::of_double(DType::f64, given.real())
                              : given;
  if (!is_integer(dtype) || !is_float(element.dtype)) return convert(element, dtype);
  const double value = element.real();
  if (bit_width(dtype) < 64 || is_signed(dtype))
    return Element::of_int(dtype, machine_integer(value, is_signed(dtype) && bit_width(dtype) == 32 ? 32
                                                         : bit_width(dtype) < 32                    ? 32
                                                                                                    : 64));
  const bool is_large = is_x86 ? value >= std::ldexp(1.0, 63) : !(value < 0);
  if (!is_large) return Element::of_int(dtype, machine_integer(value, 64));
  return is_x86 && value >= std::ldexp(1.0, 64) ? Element::of_int(dtype, 0) : convert(element, dtype);
}

Tensor folded(const Literal& literal, DType dtype) {
  Literal result(Type{dtype, literal.type().dims});
  const int64_t from = size_of(literal.dtype()), to = size_of(dtype);
  for (int64_t i = 0; i < literal.count(); ++i)
    store(result.mutable_bytes() + i * to, element_as(load(literal.bytes().data() + i * from, literal.dtype()), dtype));
  return constant(std::move(result));
}

}  // namespace

Tensor cast_to(const Tensor& given, DType dtype) {
  if (given.dtype() == dtype) return given;
  const Literal* literal = given.constant();
  if (literal && !literal->is_live() && literal->count() <= most_folded) return folded(*literal, dtype);
  Tensor x = given;
  if (is_complex(x.dtype()) && !is_complex(dtype) && !is_bool(dtype)) x = apply(Op::real, {x});
  if (x.dtype() == dtype) return x;
  return is_integer(dtype) && is_float(x.dtype()) ? integer_of_float(x, dtype) : converted(x, dtype);
}

}  // namespace weft
