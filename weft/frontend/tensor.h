// The user's lazy array: a value that is not computed yet, or a buffer once it is.
#pragma once

#include <initializer_list>
#include <memory>

#include "weft/core/type.h"

namespace weft {

struct Record;
class Literal;
class Index;

// A handle on a result of a recorded call. Copies share; nothing is computed. Element-wise operands broadcast as in
// NumPy; result types are inferred at once, so a wrong call throws Error where it was written.
class Tensor {
 public:
  Tensor() = default;
  // Whether it is a tensor at all, which Tensor() is not.
  bool is_valid() const { return record_ != nullptr; }
  const Type& type() const;
  DType dtype() const { return type().dtype; }
  const Dims& dims() const { return type().dims; }
  int64_t rank() const { return type().rank(); }
  const Record& record() const { return *record_; }
  uint32_t index() const { return index_; }
  // The value of a constant; nothing for anything that was computed.
  const Literal* constant() const;
  // Whether both are handles on one result; == compares elements.
  bool is_same(const Tensor& other) const { return record_ == other.record_ && index_ == other.index_; }
  // x[2], x[Slice{1, 5}], x[{0, ellipsis, newaxis}]: see index() in functions.h.
  Tensor operator[](const Index& place) const;
  Tensor operator[](std::initializer_list<Index> places) const;

 private:
  friend struct Record;
  friend Tensor make_tensor(std::shared_ptr<Record> record, uint32_t index);
  std::shared_ptr<const Record> record_;
  uint32_t index_ = 0;
};

}  // namespace weft
