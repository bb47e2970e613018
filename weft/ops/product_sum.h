// Sums of products as kernels add them up: in the element type, in order, where a product of reals and its addition are
// rounded once. Long ones are added up in pieces.
#pragma once

#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>

#include "weft/core/element.h"
#include "weft/ir/graph.h"

namespace weft {

template <class T>
class ProductSum {
 public:
  void add(const T& a, const T& b) {
    if constexpr (std::is_floating_point_v<T>)
      piece_ = std::fma(a, b, piece_);
    else
      piece_ += Sum(a) * Sum(b);
    if (++count_ % 256 == 0) total_ += std::exchange(piece_, Sum{});
  }
  T value() const { return T(total_ + piece_); }

 private:
  // Sums of integers wrap around.
  using Sum = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  Sum total_{}, piece_{};
  int64_t count_ = 0;
};

template <class T>
T factor(const Literal& x, int64_t at) {
  if constexpr (std::is_integral_v<T>)
    return x.as_int(at);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(x.as_double(at));
  else
    return T(x.as_complex(at));
}

template <class T>
Element element_of(DType dtype, const T& value) {
  if constexpr (std::is_integral_v<T>)
    return Element::of_int(dtype, is_bool(dtype) ? value != 0 : value);
  else if constexpr (std::is_floating_point_v<T>)
    return Element::of_double(dtype, value);
  else
    return Element::of_complex(dtype, std::complex<double>(value));
}

// What `products`, a function of a value of the type that they are added up in, gives.
template <class Products>
auto by_product_type(DType result, DType lhs, DType rhs, const Products& products) {
  auto is_wide = [](DType dtype) {
    return dtype == DType::f64 || dtype == DType::c128 || (is_integer(dtype) && bit_width(dtype) > 16);
  };
  bool wide = is_wide(result) || is_wide(lhs) || is_wide(rhs);
  if (is_complex(result)) return wide ? products(std::complex<double>()) : products(std::complex<float>());
  if (is_float(result)) return wide ? products(double()) : products(float());
  return products(int64_t());
}

}  // namespace weft
