// The table of element types.
#include "weft/core/dtype.h"

#include <algorithm>
#include <array>

#include "weft/core/error.h"

namespace weft {
namespace {

enum class Kind : uint8_t { boolean, signed_, unsigned_, float_, complex };

struct Row {
  std::string_view name, numpy;
  Kind kind;
  int8_t bytes;
  int8_t bits;
};

constexpr std::array<Row, dtype_count> rows{{
    {"i1", "bool", Kind::boolean, 1, 1},
    {"i2", "int2", Kind::signed_, 1, 2},
    {"i4", "int4", Kind::signed_, 1, 4},
    {"i8", "int8", Kind::signed_, 1, 8},
    {"i16", "int16", Kind::signed_, 2, 16},
    {"i32", "int32", Kind::signed_, 4, 32},
    {"i64", "int64", Kind::signed_, 8, 64},
    {"ui2", "uint2", Kind::unsigned_, 1, 2},
    {"ui4", "uint4", Kind::unsigned_, 1, 4},
    {"ui8", "uint8", Kind::unsigned_, 1, 8},
    {"ui16", "uint16", Kind::unsigned_, 2, 16},
    {"ui32", "uint32", Kind::unsigned_, 4, 32},
    {"ui64", "uint64", Kind::unsigned_, 8, 64},
    {"f4E2M1FN", "float4_e2m1fn", Kind::float_, 1, 4},
    {"f6E2M3FN", "float6_e2m3fn", Kind::float_, 1, 6},
    {"f6E3M2FN", "float6_e3m2fn", Kind::float_, 1, 6},
    {"f8E3M4", "float8_e3m4", Kind::float_, 1, 8},
    {"f8E4M3", "float8_e4m3", Kind::float_, 1, 8},
    {"f8E4M3B11FNUZ", "float8_e4m3b11fnuz", Kind::float_, 1, 8},
    {"f8E4M3FN", "float8_e4m3fn", Kind::float_, 1, 8},
    {"f8E4M3FNUZ", "float8_e4m3fnuz", Kind::float_, 1, 8},
    {"f8E5M2", "float8_e5m2", Kind::float_, 1, 8},
    {"f8E5M2FNUZ", "float8_e5m2fnuz", Kind::float_, 1, 8},
    {"f8E8M0FNU", "float8_e8m0fnu", Kind::float_, 1, 8},
    {"bf16", "bfloat16", Kind::float_, 2, 16},
    {"f16", "float16", Kind::float_, 2, 16},
    {"f32", "float32", Kind::float_, 4, 32},
    {"f64", "float64", Kind::float_, 8, 64},
    {"complex<f32>", "complex64", Kind::complex, 8, 64},
    {"complex<f64>", "complex128", Kind::complex, 16, 0},
}};

// Whoever makes a dtype of a number may have another one.
const Row& row(DType dtype) {
  auto number = static_cast<size_t>(dtype);
  if (number >= rows.size()) [[unlikely]]
    fail(ErrorKind::type, "dtype", "there is no dtype of number ", number);
  return rows[number];
}

std::optional<DType> find(std::string_view wanted, std::string_view Row::* field) {
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].*field == wanted) return static_cast<DType>(i);
  return std::nullopt;
}

DType signed_of(int bits) {
  return bits <= 8 ? DType::i8 : bits <= 16 ? DType::i16 : bits <= 32 ? DType::i32 : DType::i64;
}

// The float that holds every integer of so many bits, by NumPy's table.
DType float_for(int bits) { return bits <= 8 ? DType::f16 : bits <= 16 ? DType::f32 : DType::f64; }

// ml_dtypes' types promote with themselves, booleans and (bf16 aside) nothing else that NumPy knows.
bool is_extension(DType dtype) {
  return dtype == DType::bf16 || (is_float(dtype) && bit_width(dtype) <= 8) ||
         (is_integer(dtype) && bit_width(dtype) < 8);
}

std::optional<DType> promote_integers(DType lhs, DType rhs) {
  int a = bit_width(lhs), b = bit_width(rhs);
  if (is_signed(lhs) == is_signed(rhs)) return a >= b ? lhs : rhs;
  int signed_bits = is_signed(lhs) ? a : b, unsigned_bits = is_signed(lhs) ? b : a;
  if (signed_bits > unsigned_bits) return is_signed(lhs) ? lhs : rhs;
  if (unsigned_bits == 64) return DType::f64;
  return signed_of(unsigned_bits * 2);
}

std::optional<DType> promote_floats(DType lhs, DType rhs) {
  if (lhs == DType::bf16 || rhs == DType::bf16) {
    DType other = lhs == DType::bf16 ? rhs : lhs;
    return other == DType::f64 ? DType::f64 : DType::f32;
  }
  return bit_width(lhs) >= bit_width(rhs) ? lhs : rhs;
}

}  // namespace

int64_t size_of(DType dtype) { return row(dtype).bytes; }
int bit_width(DType dtype) { return dtype == DType::c128 ? 128 : row(dtype).bits; }

bool is_bool(DType dtype) { return dtype == DType::boolean; }
bool is_signed(DType dtype) { return row(dtype).kind == Kind::signed_; }
bool is_unsigned(DType dtype) { return row(dtype).kind == Kind::unsigned_; }
bool is_integer(DType dtype) { return is_signed(dtype) || is_unsigned(dtype); }
bool is_float(DType dtype) { return row(dtype).kind == Kind::float_; }
bool is_complex(DType dtype) { return row(dtype).kind == Kind::complex; }

std::string_view name(DType dtype) { return row(dtype).name; }
std::string_view numpy_name(DType dtype) { return row(dtype).numpy; }
std::optional<DType> dtype_from_name(std::string_view text) { return find(text, &Row::name); }
std::optional<DType> dtype_from_numpy_name(std::string_view text) { return find(text, &Row::numpy); }

DType real_type(DType dtype) { return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype; }
DType complex_type(DType dtype) { return dtype == DType::f32 ? DType::c64 : DType::c128; }

std::optional<DType> promote(DType lhs, DType rhs) {
  if (lhs == rhs) return lhs;
  if (is_bool(lhs)) return rhs;
  if (is_bool(rhs)) return lhs;
  bool small = (is_extension(lhs) && lhs != DType::bf16) || (is_extension(rhs) && rhs != DType::bf16);
  if (small) return std::nullopt;
  if (is_complex(lhs) || is_complex(rhs)) {
    auto real = promote(real_type(lhs), real_type(rhs));
    if (!real) return std::nullopt;
    return bit_width(*real) > 32 ? DType::c128 : DType::c64;
  }
  if (is_integer(lhs) && is_integer(rhs)) return promote_integers(lhs, rhs);
  if (is_float(lhs) && is_float(rhs)) return promote_floats(lhs, rhs);
  DType real = is_float(lhs) ? lhs : rhs, whole = is_float(lhs) ? rhs : lhs;
  if (real == DType::bf16) return bit_width(whole) <= 16 ? DType::f32 : DType::f64;
  return promote_floats(real, float_for(bit_width(whole)));
}

}  // namespace weft
