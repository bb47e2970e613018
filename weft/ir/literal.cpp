// Dense host tensors.
#include "weft/ir/literal.h"

#include <cstring>

#include "weft/core/element.h"

namespace weft {

Literal::Literal(Type type) : type_(std::move(type)) {
  count_ = type_.count().value();
  auto size = static_cast<size_t>(checked_multiply(count_, size_of(type_.dtype)));
  std::shared_ptr<std::byte[]> memory(new std::byte[size ? size : 1]());
  bytes_ = memory.get();
  owner_ = std::move(memory);
}

Literal::Literal(Type type, const void* bytes, std::shared_ptr<const void> owner, bool live)
    : type_(std::move(type)), bytes_(static_cast<const std::byte*>(bytes)), owner_(std::move(owner)), live_(live) {
  count_ = type_.count().value();
  checked_multiply(count_, size_of(type_.dtype));
}

Literal Literal::scalar(DType dtype, double value) {
  Literal literal(Type{dtype, {}});
  store(literal.mutable_bytes(), convert(Element::of_double(DType::f64, value), dtype));
  return literal;
}

Literal Literal::scalar_int(DType dtype, int64_t value) {
  Literal literal(Type{dtype, {}});
  store(literal.mutable_bytes(), convert(Element::of_int(DType::i64, value), dtype));
  return literal;
}

Literal Literal::ints(const Ints& values) {
  Literal literal(Type{DType::i64, {static_cast<int64_t>(values.size())}});
  std::memcpy(literal.mutable_bytes(), values.data(), values.size() * sizeof(int64_t));
  return literal;
}

double Literal::as_double(int64_t index) const {
  return convert(load(bytes_ + index * size_of(type_.dtype), type_.dtype), DType::f64).real();
}

int64_t Literal::as_int(int64_t index) const {
  Element element = load(bytes_ + index * size_of(type_.dtype), type_.dtype);
  return is_float(element.dtype) || is_complex(element.dtype) ? convert(element, DType::i64).i : element.i;
}

std::complex<double> Literal::as_complex(int64_t index) const {
  Element element = load(bytes_ + index * size_of(type_.dtype), type_.dtype);
  return convert(element, DType::c128).c;
}

bool Literal::is_splat() const {
  if (live_ || count_ == 0) return false;
  auto size = static_cast<size_t>(size_of(type_.dtype));
  for (int64_t i = 1; i < count_; ++i)
    if (std::memcmp(bytes_, bytes_ + static_cast<size_t>(i) * size, size) != 0) return false;
  return true;
}

Literal Literal::reshaped(Dims dims) const {
  Literal result = *this;
  result.type_.dims = std::move(dims);
  check(result.type_.count().value() == count_, "a literal of ", type_, " cannot have dims ", result.type_.dims);
  return result;
}

Literal Literal::spread(Dims dims) const {
  Literal result(Type{type_.dtype, std::move(dims)});
  const auto size = static_cast<size_t>(size_of(type_.dtype));
  for (size_t i = 0; i < static_cast<size_t>(result.count_); ++i)
    std::memcpy(result.mutable_bytes() + i * size, bytes_, size);
  return result;
}

bool Literal::operator==(const Literal& other) const {
  if (type_ != other.type_ || live_ != other.live_) return false;
  if (bytes_ == other.bytes_) return true;
  if (live_) return false;
  return bytes().size() == other.bytes().size() && std::memcmp(bytes_, other.bytes_, bytes().size()) == 0;
}

}  // namespace weft
