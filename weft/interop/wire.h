// Protocol buffers on the wire: just what it takes to write messages, with no generated code.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "weft/core/error.h"

namespace weft {

// A message under construction. Scalar fields of value zero are left out, as proto3 does; order is that of the calls.
class Message {
 public:
  // int32, int64, enumerations and booleans.
  void number(uint32_t field, int64_t value) {
    if (value == 0) return;
    tag(field, 0);
    varint(bytes_, static_cast<uint64_t>(value));
  }
  // Strings and bytes; written even when empty, so that it may be an element of a repeated field.
  void text(uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(bytes_, value.size());
    bytes_ += value;
  }
  // A message; written even when empty: present is something else than absent. Error past protobuf's 2 GiB.
  void message(uint32_t field, const Message& value) {
    if (value.bytes_.size() + bytes_.size() > size_t{std::numeric_limits<int32_t>::max()} - 64)
      fail(ErrorKind::value, "hlo_size", "a protocol buffer holds at most 2 GiB; pass large constants as parameters");
    text(field, value.bytes_);
  }
  // Repeated integers, packed.
  template <class T>
  void numbers(uint32_t field, std::span<const T> values) {
    if (values.empty()) return;
    std::string packed;
    for (T value : values) varint(packed, static_cast<uint64_t>(value));
    text(field, packed);
  }
  void numbers(uint32_t field, const std::vector<int64_t>& values) { numbers(field, std::span<const int64_t>(values)); }
  // Fields of another message of the same type, as if they had been written here.
  void append(const Message& fields) { bytes_ += fields.bytes_; }
  const std::string& bytes() const { return bytes_; }

 private:
  static void varint(std::string& out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }
  void tag(uint32_t field, uint32_t kind) { varint(bytes_, field << 3 | kind); }

  std::string bytes_;
};

}  // namespace weft
