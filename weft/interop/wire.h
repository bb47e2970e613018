// Protocol buffers on the wire: just what it takes to write messages, with no generated code.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  // The same, read only by bytes(): it must live until then. For what is too large to be copied at each level.
  void borrowed_text(uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(bytes_, value.size());
    borrowed_.push_back({bytes_.size(), value});
    borrowed_size_ += value.size();
  }
  // A message; written even when empty: present is something else than absent. Error past protobuf's 2 GiB.
  void message(uint32_t field, const Message& value) {
    if (value.size() + size() > size_t{std::numeric_limits<int32_t>::max()} - 64)
      fail(ErrorKind::value, "hlo_size", "a protocol buffer holds at most 2 GiB; pass large constants as parameters");
    tag(field, 2);
    varint(bytes_, value.size());
    append(value);
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
  void append(const Message& fields) {
    for (const Borrowed& each : fields.borrowed_) borrowed_.push_back({bytes_.size() + each.position, each.text});
    borrowed_size_ += fields.borrowed_size_;
    bytes_ += fields.bytes_;
  }
  size_t size() const { return bytes_.size() + borrowed_size_; }
  // The message as it goes over the wire.
  std::string bytes() const {
    std::string out;
    out.reserve(size());
    size_t position = 0;
    for (const Borrowed& each : borrowed_) {
      out.append(bytes_, position, each.position - position);
      out += each.text;
      position = each.position;
    }
    out.append(bytes_, position);
    return out;
  }

 private:
  struct Borrowed {
    size_t position;  // in bytes_, before which the text stands
    std::string_view text;
  };

  static void varint(std::string& out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }
  void tag(uint32_t field, uint32_t kind) { varint(bytes_, field << 3 | kind); }

  std::string bytes_;
  std::vector<Borrowed> borrowed_;
  size_t borrowed_size_ = 0;
};

}  // namespace weft
