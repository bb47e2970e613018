#include "weft/distributed/reduction.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "weft/core/cpu.h"
#include "weft/core/error.h"
#include "weft/core/half.h"

namespace weft {
namespace {

constexpr std::string_view names[] = {"sum", "prod", "max", "min", "mean"};
// What is worked on at once stays in a core's first cache.
constexpr int64_t block = 1024;

// -- elements as they lie in memory, and as they are computed with ---------------------------------------------------
// by_vectors: whether wider vectors make them quicker.

template <class T>
struct Plain {
  using Stored = T;
  using Wide = T;
  static constexpr bool by_vectors = std::is_arithmetic_v<T>;
};

struct BFloat {
  using Stored = uint16_t;
  using Wide = float;
  static constexpr bool by_vectors = true;
  [[gnu::always_inline]] void widen(const uint16_t* from, float* to, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) to[i] = bf16_to_float(from[i]);
  }
  [[gnu::always_inline]] void narrow(const float* from, uint16_t* to, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) to[i] = float_to_bf16(from[i]);
  }
};

// Floats of a table of layouts: f16 and what is narrower.
template <class T>
struct SmallFloats {
  using Stored = T;
  using Wide = float;
  static constexpr bool by_vectors = false;
  DType dtype;
  void widen(const T* from, float* to, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) to[i] = small_to_float(from[i], dtype);
  }
  void narrow(const float* from, T* to, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(float_to_small(from[i], dtype));
  }
};

#if defined(__x86_64__)
// f16 by the CPU's own conversions, which round as ours do.
struct Half {
  using Stored = uint16_t;
  using Wide = float;
  static constexpr bool by_vectors = true;
  __attribute__((target("avx,f16c"))) void widen(const uint16_t* from, float* to, int64_t count) const {
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
    for (; i < count; ++i) to[i] = small_to_float(from[i], DType::f16);
  }
  __attribute__((target("avx,f16c"))) void narrow(const float* from, uint16_t* to, int64_t count) const {
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < count; ++i) to[i] = static_cast<uint16_t>(float_to_small(from[i], DType::f16));
  }
};
#endif

// Integers of 2 and 4 bits, one in the low bits of a byte whose others are zeros.
struct ShortInts {
  using Stored = uint8_t;
  using Wide = int;
  static constexpr bool by_vectors = false;
  DType dtype;
  void widen(const uint8_t* from, int* to, int64_t count) const {
    int spare = 32 - bit_width(dtype);
    for (int64_t i = 0; i < count; ++i) {
      uint32_t top = static_cast<uint32_t>(from[i]) << spare;
      to[i] = is_signed(dtype) ? static_cast<int>(top) >> spare : static_cast<int>(top >> spare);
    }
  }
  void narrow(const int* from, uint8_t* to, int64_t count) const {
    int mask = (1 << bit_width(dtype)) - 1;
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(from[i] & mask);
  }
};

// -- what two become ---------------------------------------------------------------------------------------------

template <class T>
constexpr bool is_complex_number = false;
template <class T>
constexpr bool is_complex_number<std::complex<T>> = true;

template <class T>
bool is_nan(T x) {
  if constexpr (is_complex_number<T>)
    return x.real() != x.real() || x.imag() != x.imag();
  else
    return x != x;
}

template <class T>
bool is_at_least(T a, T b) {
  if constexpr (is_complex_number<T>)
    return (a.real() > b.real() && !is_nan(a.imag()) && !is_nan(b.imag())) ||
           (a.real() == b.real() && a.imag() >= b.imag());
  else
    return a >= b;
}

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    // Unsigned, so that it wraps.
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  }
};

struct Product {
  template <class T>
  T operator()(T a, T b) const {
    // In 64 bits: two of 16 overflow the int that they would be promoted to.
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else if constexpr (is_complex_number<T>)
      return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    else
      return a * b;
  }
};

struct Greater {
  template <class T>
  T operator()(T a, T b) const {
    return is_nan(a) || is_at_least(a, b) ? a : b;
  }
};

struct Less {
  template <class T>
  T operator()(T a, T b) const {
    return is_nan(a) || is_at_least(b, a) ? a : b;
  }
};

// -- all of them ---------------------------------------------------------------------------------------------------

using Inputs = std::span<const std::byte* const>;
using Outputs = std::span<std::byte* const>;

// A result may be the memory of an operand: then element by element, so nothing depends on an element before.
template <class T, class Fold>
[[gnu::always_inline]] inline void combine(const T* a, const T* b, T* result, int64_t count, Fold step) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) result[i] = step(a[i], b[i]);
}

template <class T>
[[gnu::always_inline]] inline void divide_all(T* values, int64_t count, [[maybe_unused]] size_t ranks) {
  if constexpr (!std::is_integral_v<T>)
    for (int64_t i = 0; i < count; ++i) values[i] /= static_cast<decltype(std::real(T{}))>(ranks);
}

template <class Elements, class Fold>
[[gnu::always_inline]] inline void fold_inline(const Elements& elements, Fold step, Inputs inputs, Outputs results,
                                               int64_t count, bool divide, bool past_caches) {
  using Stored = typename Elements::Stored;
  using Wide = typename Elements::Wide;
  constexpr bool as_stored = std::is_same_v<Elements, Plain<Wide>>;
  Wide sum[block], next[as_stored ? 1 : block];
  Stored piece[block];
  bool has_pieces = past_caches || results.size() > 1;
  for (int64_t start = 0; start < count; start += block) {
    int64_t length = std::min(block, count - start);
    auto at = [&](size_t input) { return reinterpret_cast<const Stored*>(inputs[input]) + start; };
    auto* target = has_pieces ? piece : reinterpret_cast<Stored*>(results[0]) + start;
    if constexpr (as_stored) {
      const Stored* left = at(0);
      for (size_t input = 1; input < inputs.size(); ++input) {
        Stored* to = input + 1 == inputs.size() ? target : sum;
        combine(left, at(input), to, length, step);
        left = to;
      }
      if (divide) divide_all(target, length, inputs.size());
    } else {
      elements.widen(at(0), sum, length);
      for (size_t input = 1; input < inputs.size(); ++input) {
        elements.widen(at(input), next, length);
        combine(sum, next, sum, length, step);
      }
      if (divide) divide_all(sum, length, inputs.size());
      elements.narrow(sum, target, length);
    }
    if (!has_pieces) continue;
    for (std::byte* result : results)
      copy_elements(reinterpret_cast<std::byte*>(piece), result + start * static_cast<int64_t>(sizeof(Stored)),
                    length * static_cast<int64_t>(sizeof(Stored)), past_caches);
  }
}

#if defined(__x86_64__)
const bool has_avx2 = has_feature("avx2") && has_feature("f16c");

template <class Elements, class Fold>
__attribute__((target("avx2,f16c"))) void fold_avx2(const Elements& elements, Fold step, Inputs inputs, Outputs results,
                                                    int64_t count, bool divide, bool past_caches) {
  fold_inline(elements, step, inputs, results, count, divide, past_caches);
}
#endif

template <class Elements, class Fold>
void fold(const Elements& elements, Fold step, Inputs inputs, Outputs results, int64_t count, bool divide,
          bool past_caches) {
#if defined(__x86_64__)
  if constexpr (Elements::by_vectors)
    if (has_avx2) return fold_avx2(elements, step, inputs, results, count, divide, past_caches);
#endif
  fold_inline(elements, step, inputs, results, count, divide, past_caches);
}

template <class Elements>
void reduce(const Elements& elements, ReduceOp op, Inputs inputs, Outputs results, int64_t count, bool past_caches) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::mean:
      return fold(elements, Sum{}, inputs, results, count, op == ReduceOp::mean, past_caches);
    case ReduceOp::prod:
      return fold(elements, Product{}, inputs, results, count, false, past_caches);
    case ReduceOp::max:
      return fold(elements, Greater{}, inputs, results, count, false, past_caches);
    case ReduceOp::min:
      return fold(elements, Less{}, inputs, results, count, false, past_caches);
  }
}

void reduce_halves(ReduceOp op, Inputs inputs, Outputs results, int64_t count, bool past_caches) {
#if defined(__x86_64__)
  static const bool by_cpu = has_feature("f16c");
  if (by_cpu) return reduce(Half{}, op, inputs, results, count, past_caches);
#endif
  reduce(SmallFloats<uint16_t>{DType::f16}, op, inputs, results, count, past_caches);
}

}  // namespace

std::string_view name(ReduceOp op) { return names[static_cast<size_t>(op)]; }

std::optional<ReduceOp> reduction_named(std::string_view name) {
  for (size_t i = 0; i < std::size(names); ++i)
    if (names[i] == name) return static_cast<ReduceOp>(i);
  return {};
}

void require_reducible(ReduceOp op, DType dtype) {
  if (op == ReduceOp::mean && !is_float(dtype) && !is_complex(dtype))
    fail(ErrorKind::type, "mean_dtype", "mean: operands must be of a float or complex type, got ", numpy_name(dtype));
}

void reduce_in_order(ReduceOp op, DType dtype, Inputs inputs, Outputs results, int64_t count, bool past_caches) {
  // Parts of complex numbers are added up, and divided, each by itself.
  if (is_complex(dtype) && (op == ReduceOp::sum || op == ReduceOp::mean))
    return reduce_in_order(op, real_type(dtype), inputs, results, count * 2, past_caches);
  auto plain = [&](auto element) { reduce(Plain<decltype(element)>{}, op, inputs, results, count, past_caches); };
  switch (dtype) {
    case DType::boolean:
      op = op == ReduceOp::sum ? ReduceOp::max : op == ReduceOp::prod ? ReduceOp::min : op;
      return plain(uint8_t{});
    case DType::i2:
    case DType::i4:
    case DType::u2:
    case DType::u4:
      return reduce(ShortInts{dtype}, op, inputs, results, count, past_caches);
    case DType::i8:
      return plain(int8_t{});
    case DType::i16:
      return plain(int16_t{});
    case DType::i32:
      return plain(int32_t{});
    case DType::i64:
      return plain(int64_t{});
    case DType::u8:
      return plain(uint8_t{});
    case DType::u16:
      return plain(uint16_t{});
    case DType::u32:
      return plain(uint32_t{});
    case DType::u64:
      return plain(uint64_t{});
    case DType::f32:
      return plain(float{});
    case DType::f64:
      return plain(double{});
    case DType::c64:
      return plain(std::complex<float>{});
    case DType::c128:
      return plain(std::complex<double>{});
    case DType::bf16:
      return reduce(BFloat{}, op, inputs, results, count, past_caches);
    case DType::f16:
      return reduce_halves(op, inputs, results, count, past_caches);
    case DType::f4e2m1fn:
    case DType::f6e2m3fn:
    case DType::f6e3m2fn:
    case DType::f8e3m4:
    case DType::f8e4m3:
    case DType::f8e4m3b11fnuz:
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0fnu:
      return reduce(SmallFloats<uint8_t>{dtype}, op, inputs, results, count, past_caches);
  }
}

void copy_elements(const std::byte* from, std::byte* to, int64_t bytes, bool past_caches) {
  if (bytes == 0 || from == to) return;
#if defined(__x86_64__)
  if (past_caches && reinterpret_cast<uintptr_t>(to) % 16 == 0) {
    int64_t whole = bytes / 16 * 16;
    for (int64_t i = 0; i < whole; i += 16)
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    _mm_sfence();
    from += whole;
    to += whole;
    bytes -= whole;
  }
#endif
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

}  // namespace weft
