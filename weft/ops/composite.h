// What composites are made of in several files.
#pragma once

#include <string>

#include "weft/ops/infer.h"

namespace weft {

inline Value compared(Builder& build, Value lhs, Value rhs, const char* direction) {
  return build(Op::compare, {lhs, rhs}, {{Attr::comparison_direction, std::string(direction)}});
}

// Narrow floats as f32, in which composites compute.
inline Value widened(Builder& build, Value x) {
  return is_float(x.type().dtype) && bit_width(x.type().dtype) < 32 ? build.convert(x, DType::f32) : x;
}

}  // namespace weft
