// One element of any type, and what every scalar operation does to it: the meaning that machine code is held to.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "weft/core/dtype.h"
#include "weft/core/scalar.h"

namespace weft {

// A value in the widest type of its class; always representable in `dtype`.
struct Element {
  DType dtype = DType::f32;
  int64_t i = 0;             // booleans (0, 1), signed and unsigned integers (two's complement)
  std::complex<double> c{};  // floats in the real part, complex numbers

  static Element of_int(DType dtype, int64_t value);    // wraps to the type's width
  static Element of_double(DType dtype, double value);  // rounds to the type
  static Element of_complex(DType dtype, std::complex<double> value);
  double real() const { return c.real(); }
  uint64_t u() const { return static_cast<uint64_t>(i); }
};

Element load(const std::byte* memory, DType dtype);
void store(std::byte* memory, const Element& element);
// StableHLO's convert: floats to integers truncate and saturate, NaN gives 0; anything to a boolean is != 0; complex to
// real drops the imaginary part; integers wrap.
Element convert(const Element& element, DType dtype);
// The same bits in a type of equal width.
Element bitcast(const Element& element, DType dtype);
// The operation on arity(op) operands; `result` is the type of convert and bitcast, and of complex, real and imag.
// Integers: division by zero gives -1 (all ones), the remainder the dividend; shifts by the width or more give 0 or the
// sign. maximum and minimum propagate NaN.
Element apply(Scalar op, DType result, const Element* operands);

}  // namespace weft
