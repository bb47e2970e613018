// Walking multi-dimensional indices, for the interpreter.
#pragma once

#include <cstring>

#include "weft/ir/literal.h"

namespace weft {

// Calls visit(index) for every index of these dims in row-major order; nothing for empty dims.
template <class Visit>
void for_each_index(const Ints& dims, const Visit& visit) {
  for (int64_t dim : dims)
    if (dim == 0) return;
  Ints index(dims.size());
  for (;;) {
    visit(static_cast<const Ints&>(index));
    size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

inline int64_t linear(const Ints& index, const Ints& strides) {
  int64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i) sum += index[i] * strides[i];
  return sum;
}

inline bool inside(const Ints& index, const Ints& dims) {
  for (size_t i = 0; i < index.size(); ++i)
    if (index[i] < 0 || index[i] >= dims[i]) return false;
  return true;
}

inline void copy_element(Literal& to, int64_t to_index, const Literal& from, int64_t from_index) {
  int64_t size = size_of(from.dtype());
  std::memcpy(to.mutable_bytes() + to_index * size, from.bytes().data() + from_index * size, static_cast<size_t>(size));
}

// A literal of `type` whose element at each index is the operand's at source(index).
template <class Source>
Literal gathered(const Type& type, const Literal& operand, const Source& source) {
  Literal result(type);
  Ints strides = row_major_strides(operand.type().static_dims());
  int64_t at = 0;
  for_each_index(type.static_dims(),
                 [&](const Ints& index) { copy_element(result, at++, operand, linear(source(index), strides)); });
  return result;
}

}  // namespace weft
