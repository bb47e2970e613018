// Functions that kernels call: vector math written as IR, and the library's functions lane by lane.
#pragma once

#include <string>

#include "weft/codegen/llvm/kernel_emitter.h"

namespace weft {

struct MathFunction {
  std::string name, argument_type, result_type;
};

// Makes sure that the module has the function for so many lanes. Names are those of Scalar ("exp", "tanh"), and
// "small_to_float.D", "float_to_small.D", "double_to_small.D" (D: the number of the dtype),
// "complex_NAME" of both parts at once (vector_math.h) or "complex_NAME.re" and ".im", "hypot".
MathFunction math_function(ModuleText& module, const std::string& function, DType dtype, int lanes);

// The IR of an inline function over lanes of f32 or f64, or nothing where there is none.
std::string vector_math(ModuleText& module, const std::string& function, DType dtype, const std::string& name,
                        int lanes);

// The IR of a function `name` of two integers for each lane, of type `element` (i2 to i64): "power" and "gcd" of
// unsigned ones, "power.signed".
std::string integer_math(ModuleText& module, std::string_view function, const std::string& element,
                         const std::string& name, int lanes);

// The inline function of one operand that is its power by this exponent; empty where there is none.
std::string_view root_power(double exponent);
// Whether a scalar's function is inline on the target.
bool is_inline_function(std::string_view name, const Target& target);

}  // namespace weft
