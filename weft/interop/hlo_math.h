// Arithmetic on HLO values as one writes it: each operator adds an instruction.
#pragma once

#include "weft/interop/hlo_rules.h"

namespace weft {

// An array in a computation; operands of one expression have one type, numbers are splats of it.
struct HloNumber {
  HloComputation* hlo;
  HloValue value;

  const Type& type() const { return value.type; }
  HloNumber of(double number) const { return {hlo, hlo->splat(value.type, number)}; }
  HloNumber as(DType dtype) const { return {hlo, hlo->convert(value, dtype)}; }
  // The same bits as another type of equal width.
  HloNumber bits(DType dtype) const { return {hlo, hlo->add("bitcast-convert", {dtype, value.type.dims}, {value})}; }
};

inline HloNumber call(std::string_view opcode, const HloNumber& x) {
  return {x.hlo, x.hlo->add(opcode, x.type(), {x.value})};
}
inline HloNumber call(std::string_view opcode, const HloNumber& x, const HloNumber& y) {
  return {x.hlo, x.hlo->add(opcode, x.type(), {x.value, y.value})};
}
inline HloNumber operator+(const HloNumber& x, const HloNumber& y) { return call("add", x, y); }
inline HloNumber operator-(const HloNumber& x, const HloNumber& y) { return call("subtract", x, y); }
inline HloNumber operator*(const HloNumber& x, const HloNumber& y) { return call("multiply", x, y); }
inline HloNumber operator/(const HloNumber& x, const HloNumber& y) { return call("divide", x, y); }
inline HloNumber operator+(const HloNumber& x, double y) { return x + x.of(y); }
inline HloNumber operator-(const HloNumber& x, double y) { return x - x.of(y); }
inline HloNumber operator*(const HloNumber& x, double y) { return x * x.of(y); }
inline HloNumber operator/(const HloNumber& x, double y) { return x / x.of(y); }
inline HloNumber operator+(double x, const HloNumber& y) { return y.of(x) + y; }
inline HloNumber operator-(double x, const HloNumber& y) { return y.of(x) - y; }
inline HloNumber operator*(double x, const HloNumber& y) { return y.of(x) * y; }
inline HloNumber operator/(double x, const HloNumber& y) { return y.of(x) / y; }
inline HloNumber operator-(const HloNumber& x) { return call("negate", x); }

// direction: EQ NE LT LE GT GE.
inline HloNumber compare(std::string_view direction, const HloNumber& x, const HloNumber& y) {
  return {x.hlo, x.hlo->compare(direction, x.value, y.value)};
}
inline HloNumber operator<(const HloNumber& x, const HloNumber& y) { return compare("LT", x, y); }
inline HloNumber operator<(const HloNumber& x, double y) { return x < x.of(y); }
inline HloNumber operator>(const HloNumber& x, double y) { return compare("GT", x, x.of(y)); }
inline HloNumber operator==(const HloNumber& x, const HloNumber& y) { return compare("EQ", x, y); }
inline HloNumber operator==(const HloNumber& x, double y) { return x == x.of(y); }
inline HloNumber select(const HloNumber& condition, const HloNumber& on_true, const HloNumber& on_false) {
  return {on_true.hlo, on_true.hlo->add("select", on_true.type(), {condition.value, on_true.value, on_false.value})};
}

// Special functions of f32 and f64.
HloNumber erfc(const HloNumber& x);
HloNumber erf_inv(const HloNumber& x);
HloNumber lgamma(const HloNumber& x);
HloNumber digamma(const HloNumber& x);
// The rule of Op::next_after.
HloValues next_after(HloComputation& hlo, const Node& node, const HloValues& operands);

}  // namespace weft
