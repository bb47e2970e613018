// Short arrays without memory of their own.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace weft {

// An array of zeros, on the stack while it is short.
template <class T>
class Few {
 public:
  explicit Few(size_t size) : size_(size) {
    if (size > few_.size()) many_.resize(size);
  }
  T* data() { return size_ > few_.size() ? many_.data() : few_.data(); }
  T& operator[](size_t i) { return data()[i]; }
  std::span<T> span() { return {data(), size_}; }

 private:
  std::array<T, 24> few_{};
  std::vector<T> many_;
  size_t size_;
};

}  // namespace weft
