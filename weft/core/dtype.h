// Element types: names, sizes, classes and NumPy's promotion table.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "weft/core/api.h"

namespace weft WEFT_API {

// All StableHLO element types. Sub-byte types are stored one element a byte, as ml_dtypes and XLA's host literals do.
enum class DType : uint8_t {
  boolean,  // i1
  i2,
  i4,
  i8,
  i16,
  i32,
  i64,
  u2,
  u4,
  u8,
  u16,
  u32,
  u64,
  f4e2m1fn,
  f6e2m3fn,
  f6e3m2fn,
  f8e3m4,
  f8e4m3,
  f8e4m3b11fnuz,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0fnu,
  bf16,
  f16,
  f32,
  f64,
  c64,
  c128,
};
inline constexpr int dtype_count = static_cast<int>(DType::c128) + 1;

// Bytes of one element in memory.
int64_t size_of(DType dtype);
// Bits that carry the value: 4 for i4, 64 for c64.
int bit_width(DType dtype);

bool is_bool(DType dtype);
bool is_signed(DType dtype);    // signed integers only
bool is_unsigned(DType dtype);  // unsigned integers only, not bool
bool is_integer(DType dtype);   // signed or unsigned, not bool
bool is_float(DType dtype);     // f4 to f64
bool is_complex(DType dtype);

// StableHLO's spelling: i1, ui8, f8E4M3FN, complex<f32>.
std::string_view name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);
// NumPy's and ml_dtypes' spelling: bool, uint8, float8_e4m3fn, bfloat16, complex64.
std::string_view numpy_name(DType dtype);
std::optional<DType> dtype_from_numpy_name(std::string_view name);

// The real type of a complex type's parts (c64 -> f32); other types unchanged.
DType real_type(DType dtype);
// The complex type over a real type (f32 -> c64, anything else -> c128).
DType complex_type(DType dtype);

// np.promote_types: the smallest type to which both can be cast safely; nothing where NumPy raises.
std::optional<DType> promote(DType lhs, DType rhs);

}  // namespace weft
