// Eigen and what the linalg_*.cpp files share around it; no other file may include this one.
#pragma once

#define EIGEN_MPL2_ONLY
#define EIGEN_NO_IO
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "weft/core/dtype.h"
#include "weft/core/error.h"

namespace weft::linalg {

using Eigen::Index;
template <class T>
using Real = typename Eigen::NumTraits<T>::Real;
template <class T>
using Complex = std::complex<Real<T>>;
template <class T>
inline constexpr bool is_complex_type = Eigen::NumTraits<T>::IsComplex;

// What is worked on: column-major, as Eigen's and LAPACK's algorithms want it.
template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using Part = Eigen::Ref<Matrix<T>>;

template <class T>
inline constexpr T not_a_number = T(std::numeric_limits<Real<T>>::quiet_NaN());

// Matrix `item` of a batch, in the caller's memory.
template <class T>
auto read(const void* data, Index item, Index rows, Index cols) {
  using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(static_cast<const T*>(data) + item * rows * cols, rows, cols);
}
template <class T>
auto write(void* data, Index item, Index rows, Index cols) {
  using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<RowMajor>(static_cast<T*>(data) + item * rows * cols, rows, cols);
}

// `to`, column-major, from a matrix in the caller's memory, and back: by blocks, as one of both goes across memory.
template <class From, class To>
void copy_across(const From& from, To&& to) {
  constexpr Index block = 32;
  for (Index i = 0; i < from.rows(); i += block)
    for (Index j = 0; j < from.cols(); j += block) {
      const Index rows = std::min(block, from.rows() - i), cols = std::min(block, from.cols() - j);
      to.block(i, j, rows, cols) = from.block(i, j, rows, cols);
    }
}

inline void report(int32_t* info, Index item, Index value) {
  if (info) info[item] = static_cast<int32_t>(value);
}

// The largest real or imaginary part by absolute value, 0 for an empty matrix; anything when one is NaN.
template <class Dense>
typename Dense::RealScalar largest_part(const Dense& x) {
  using R = typename Dense::RealScalar;
  if (x.size() == 0) return R(0);
  return std::max<R>(x.real().cwiseAbs().maxCoeff(), x.imag().cwiseAbs().maxCoeff());
}

// x *= 2^exponent, exact but for underflow; in two steps, since 2^exponent may be out of range where the result is not.
template <class Dense>
void scale_by_power(Dense& x, int exponent) {
  using R = typename Dense::RealScalar;
  if (exponent == 0) return;
  x *= std::ldexp(R(1), exponent / 2);
  x *= std::ldexp(R(1), exponent - exponent / 2);
}

// The power of two to take out of a matrix so that products of three entries stay in range; 0 nearly always.
template <class R>
int excess_exponent(R largest) {
  const int limit = std::numeric_limits<R>::max_exponent / 4;
  if (!(largest > 0)) return 0;
  const int exponent = std::ilogb(largest);
  return exponent > limit ? exponent - limit : exponent < -limit ? exponent + limit : 0;
}

// Calls body.operator()<T>() with the C++ type of dtype.
template <class Body>
void by_dtype(DType dtype, const Body& body) {
  // Eigen cuts products by the cache sizes that it finds; fixed ones make every machine add in the same order.
  [[maybe_unused]] static const bool fixed = (Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20), true);
  if (dtype == DType::f32) return body.template operator()<float>();
  if (dtype == DType::f64) return body.template operator()<double>();
  if (dtype == DType::c64) return body.template operator()<std::complex<float>>();
  if (dtype == DType::c128) return body.template operator()<std::complex<double>>();
  check(false, "linalg: no factorisations of ", name(dtype));
}

}  // namespace weft::linalg
