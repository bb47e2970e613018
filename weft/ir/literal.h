// A dense host tensor.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "weft/core/error.h"
#include "weft/core/type.h"

namespace weft {

// Bytes of a tensor of a static type, row-major, shared and immutable for everyone but the one who makes it.
class Literal {
 public:
  Literal() = default;
  // Zero-filled; Error when the size overflows.
  explicit Literal(Type type);
  // Adopts memory that `owner` keeps alive. `live`: the owner may write to it between runs, so it must be neither
  // folded nor packed nor hashed by content; reads see what is there at the time of the run.
  Literal(Type type, const void* bytes, std::shared_ptr<const void> owner, bool live = false);

  static Literal scalar(DType dtype, double value);
  static Literal scalar_int(DType dtype, int64_t value);
  // A 1-d tensor of i64.
  static Literal ints(const Ints& values);

  const Type& type() const { return type_; }
  DType dtype() const { return type_.dtype; }
  int64_t count() const { return count_; }
  bool is_live() const { return live_; }
  std::span<const std::byte> bytes() const { return {bytes_, static_cast<size_t>(count_ * size_of(type_.dtype))}; }
  // Only for the one who has just made it by Literal(Type).
  std::byte* mutable_bytes() { return const_cast<std::byte*>(bytes_); }
  template <class T>
  std::span<const T> data() const {
    return {reinterpret_cast<const T*>(bytes_), static_cast<size_t>(count_)};
  }
  template <class T>
  std::span<T> mutable_data() {
    return {reinterpret_cast<T*>(mutable_bytes()), static_cast<size_t>(count_)};
  }
  // Element `index` (row-major) widened: exact for every integer and float type up to 53/63 bits.
  double as_double(int64_t index) const;
  int64_t as_int(int64_t index) const;
  std::complex<double> as_complex(int64_t index) const;
  // Whether all elements have the same bytes (true for one element, false for none or when live).
  bool is_splat() const;
  // The same bytes, live or not, under other dims of equal count.
  Literal reshaped(Dims dims) const;
  // The element of a splat under any dims.
  Literal spread(Dims dims) const;
  bool operator==(const Literal& other) const;  // type and bytes

 private:
  Type type_;
  const std::byte* bytes_ = nullptr;
  std::shared_ptr<const void> owner_;
  int64_t count_ = 0;
  bool live_ = false;
};

}  // namespace weft
