// Views: parts of a value that calls which only move elements make of it, and the value with another part in its place.
#pragma once

#include <optional>
#include <vector>

#include "weft/frontend/record.h"

namespace weft {

// One such call: a slice, reverse, reshape, transpose or broadcast, or a part of complex numbers.
struct Move {
  Op op;
  Attrs attrs;
  Dims before;  // the dims of its operand

  Tensor read(const Tensor& base) const;
  // `base` with `part` where read() finds it. Error(value, "read_only") of a broadcast.
  Tensor write(const Tensor& base, const Tensor& part) const;
  bool operator==(const Move&) const = default;
};

// The moves that made `part` of `base`, the first of them first; nothing where it is made of it in another way, or not
// of it.
std::optional<std::vector<Move>> moves_between(const Tensor& base, const Tensor& part);

// `base` with a part of it replaced: `starts` and `strides`, which are positive, say which.
Tensor put_slice(const Tensor& base, const Tensor& part, const Dims& starts, const Ints& strides);

}  // namespace weft
