// Dense arrays on a device.
#pragma once

#include <memory>
#include <span>

#include "weft/core/api.h"
#include "weft/core/dtype.h"
#include "weft/core/type.h"
#include "weft/runtime/device.h"

namespace weft WEFT_API {

// A handle on row-major elements; copies and slices share them, and the memory is let go of with the last. The handle
// is immutable and thread-safe; who writes elements while others use them must see to it alone.
class Buffer {
 public:
  // None.
  Buffer() = default;
  explicit operator bool() const { return state_ != nullptr; }

  // With elements that are not set. Error(value) for negative or too large extents, Error(runtime, "out_of_memory").
  Buffer(DType dtype, Ints dims, const Device& device = {});
  static Buffer zeros(DType dtype, Ints dims, const Device& device = {});
  // Memory of the host that others own, used as it lies; `owner` is held as long as it is used. Error(value,
  // "null_memory") of none, "alignment" where elements of the dtype cannot begin.
  static Buffer adopt(void* data, DType dtype, Ints dims, std::shared_ptr<const void> owner = {},
                      const Device& device = {});
  // The same, never to be written: programs that write it refuse it.
  static Buffer adopt(const void* data, DType dtype, Ints dims, std::shared_ptr<const void> owner = {},
                      const Device& device = {});
  // Takes the elements from host memory that is dense and row-major.
  static Buffer copy_of(const void* data, DType dtype, Ints dims, const Device& device = {});

  DType dtype() const;
  const Ints& dims() const;
  int64_t count() const;
  int64_t bytes() const;
  const Device& device() const;
  bool is_writable() const;
  // Where the elements are; Error(type, "device_memory") where that is no memory of the host, Error(value, "read_only")
  // when a buffer that must not be written is asked for memory to write.
  const void* data() const;
  void* writable_data() const;
  // The same as elements; Error(type, "element_type") where their size is another one.
  template <class T>
  std::span<const T> elements() const {
    require_size(sizeof(T));
    return {static_cast<const T*>(data()), static_cast<size_t>(count())};
  }
  template <class T>
  std::span<T> writable_elements() const {
    require_size(sizeof(T));
    return {static_cast<T*>(writable_data()), static_cast<size_t>(count())};
  }

  // Part [begin, end) of the first dimension; the same elements with other extents. Both share the memory.
  // Error(index, "slice") outside of it, Error(value, "reshape") for another number of elements.
  Buffer slice(int64_t begin, int64_t end) const;
  Buffer reshape(Ints dims) const;
  // Copies between devices, or on one; the elements must be as many and of the same dtype for copy_from.
  Buffer to(const Device& device) const;
  void copy_from(const Buffer& other) const;

 private:
  struct State;
  friend class Executable;
  explicit Buffer(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const;
  void require_size(size_t size) const;
  static Buffer adopt_as(void* data, DType dtype, Ints dims, std::shared_ptr<const void> owner, const Device& device,
                         bool writable);
  std::shared_ptr<const State> state_;
};

}  // namespace weft
