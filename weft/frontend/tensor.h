// The user's lazy array: a value that is not computed yet, or a buffer once it is.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <source_location>
#include <span>
#include <string>

#include "weft/core/api.h"
#include "weft/core/type.h"
#include "weft/runtime/buffer.h"

namespace weft {

struct Record;
class Literal;
class Selector;

// The line of a caller: errors, the IR and profiles name it.
using Where = std::source_location;

// The dtype of elements of T: bool, integers, float, double and complex numbers of these.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, bool>)
    return DType::boolean;
  else if constexpr (std::same_as<T, float>)
    return DType::f32;
  else if constexpr (std::same_as<T, double>)
    return DType::f64;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return DType::c64;
  else if constexpr (std::same_as<T, std::complex<double>>)
    return DType::c128;
  else {
    static_assert(std::integral<T> && sizeof(T) <= 8, "no dtype has elements of this type");
    constexpr DType of_size[][4] = {{DType::u8, DType::u16, DType::u32, DType::u64},
                                    {DType::i8, DType::i16, DType::i32, DType::i64}};
    return of_size[std::signed_integral<T>][sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
  }
}

// A handle on a result of a recorded call, or on elements that are there. Copies share it; it never changes but that it
// is computed, once, when a value is asked for (eval, data, item, text, a condition). Thread-safe. Types are inferred
// when a call is recorded, so a wrong one throws Error where it was written. Inside of a function that is traced, and
// for what such a function kept, asking for a value is Error(value, "data_dependent").
class WEFT_API Tensor {
 public:
  Tensor() = default;
  // The elements of a buffer, which nobody writes while the tensor is used.
  explicit Tensor(Buffer buffer);
  // Elements of the host, copied.
  template <class T>
  static Tensor copy_of(std::span<const T> elements, Ints dims) {
    require_count(static_cast<int64_t>(elements.size()), dims);
    return Tensor(Buffer::copy_of(elements.data(), dtype_of<T>(), std::move(dims)));
  }
  // Elements of the host, used where they lie; nobody writes them while the tensor, or what is computed of it, is used.
  // `owner` is held that long.
  template <class T>
  static Tensor adopt(const T* elements, Ints dims, std::shared_ptr<const void> owner = {}) {
    return Tensor(Buffer::adopt(static_cast<const void*>(elements), dtype_of<T>(), std::move(dims), std::move(owner)));
  }

  // Whether it is a tensor at all, which Tensor() is not.
  bool is_valid() const { return record_ != nullptr; }
  // Error(type, "no_tensor") of what is none.
  const Type& type() const;
  DType dtype() const { return type().dtype; }
  const Dims& dims() const { return type().dims; }
  int64_t rank() const { return type().rank(); }
  // Whether the elements are there.
  bool is_computed() const;

  // Computes it, as eval({*this}).
  const Buffer& eval(Where where = Where::current()) const;
  // Its elements, row-major, computed if need be; they stay as long as the tensor. Error(type, "element_type") for
  // another T.
  template <class T>
  std::span<const T> data(Where where = Where::current()) const {
    return {static_cast<const T*>(elements(dtype_of<T>(), where)), static_cast<size_t>(eval(where).count())};
  }
  // The only element, as C converts it. Error(value, "item_count") where there are several.
  template <class T>
  T item(Where where = Where::current()) const {
    if constexpr (std::integral<T>)
      return static_cast<T>(item_as_integer(where));
    else if constexpr (std::floating_point<T>)
      return static_cast<T>(item_as_complex(where).real());
    else
      return T(item_as_complex(where));
  }
  // Whether the only element is not zero.
  explicit operator bool() const { return item_as_complex({}) != 0.0; }
  // The elements as NumPy prints them: "[[1. 2.]\n [3. 4.]]"; the middle of many is left out.
  std::string text() const;

  // x[2], x[Slice{1, 5}], x[{0, ellipsis, newaxis}]: see index() in functions.h.
  Tensor operator[](const Selector& place) const;
  Tensor operator[](std::initializer_list<Selector> places) const;

  // Whether both are handles on one result; == compares elements.
  bool is_same(const Tensor& other) const { return record_ == other.record_ && index_ == other.index_; }
  const Record& record() const {
    if (!record_) [[unlikely]]
      fail_unset();
    return *record_;
  }
  uint32_t index() const { return index_; }
  // How many handles there are on results of the call, operands of other calls among them.
  long handles() const { return record_.use_count(); }
  // The value of a constant of the program; nothing for anything else.
  const Literal* constant() const;

 private:
  friend struct Record;
  friend Tensor make_tensor(std::shared_ptr<Record> record, uint32_t index);
  friend Tensor sibling(const Tensor& tensor, uint32_t index);
  [[noreturn]] static void fail_unset();
  static void require_count(int64_t count, const Ints& dims);
  const void* elements(DType dtype, Where where) const;
  int64_t item_as_integer(Where where) const;
  std::complex<double> item_as_complex(Where where) const;
  std::shared_ptr<const Record> record_;
  uint32_t index_ = 0;
};

// Computes all of them as one program, which is compiled when a structure of calls is met for the first time. Results
// are then held instead of the calls that led there, and so is what lies between where somebody has a handle on it and
// it is no larger than what the program reads and gives; the rest is computed again if it is asked for later. Programs
// of the last 256 structures are kept; elements of buffers are no part of a structure, but numbers written in the code
// are.
WEFT_API void eval(std::span<const Tensor> tensors, Where where = Where::current());
inline void eval(std::initializer_list<Tensor> tensors, Where where = Where::current()) {
  eval(std::span(tensors.begin(), tensors.size()), where);
}

// How often tensors were computed in this process, how many programs were compiled for that or read from the cache on
// disk, and of the newest one how many calls it has and the types of its inputs, as people write them.
struct EvalCounts {
  uint64_t runs = 0, programs = 0;
  size_t newest_calls = 0;
  std::string newest_inputs;
};
WEFT_API EvalCounts eval_counts();

// A tensor of these elements, in row-major order; a vector unless dims are given.
template <class T>
Tensor tensor(std::initializer_list<T> elements, Ints dims = {-1}) {
  if (dims == Ints{-1}) dims[0] = static_cast<int64_t>(elements.size());
  return Tensor::copy_of(std::span<const T>(elements.begin(), elements.size()), std::move(dims));
}

WEFT_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
// Writes the elements and a line break to standard output.
WEFT_API void print(const Tensor& tensor);

}  // namespace weft
