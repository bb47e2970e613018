// Small dense matrices by plain loops, to check what weft/library/linalg.h computes.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "weft/core/error.h"
#include "weft/library/linalg.h"

template <class T>
struct Scalar {
  using Real = T;
  static constexpr bool complex = false;
  static constexpr weft::DType dtype = sizeof(T) == 4 ? weft::DType::f32 : weft::DType::f64;
};
template <class R>
struct Scalar<std::complex<R>> {
  using Real = R;
  static constexpr bool complex = true;
  static constexpr weft::DType dtype = sizeof(R) == 4 ? weft::DType::c64 : weft::DType::c128;
};
template <class T>
using Real = typename Scalar<T>::Real;
template <class T>
constexpr weft::DType dtype_of = Scalar<T>::dtype;

template <class T>
T conj(T x) {
  if constexpr (Scalar<T>::complex)
    return std::conj(x);
  else
    return x;
}

// Row-major.
template <class T>
struct Matrix {
  Matrix(int64_t rows, int64_t cols) : rows(rows), cols(cols), items(static_cast<size_t>(rows * cols)) {}
  T& operator()(int64_t i, int64_t j) { return items[static_cast<size_t>(i * cols + j)]; }
  T operator()(int64_t i, int64_t j) const { return items[static_cast<size_t>(i * cols + j)]; }
  T* data() { return items.data(); }
  const T* data() const { return items.data(); }

  int64_t rows, cols;
  std::vector<T> items;
};

// Entry (i, j) is f(i, j).
template <class T, class F>
Matrix<T> make(int64_t rows, int64_t cols, F f) {
  Matrix<T> result(rows, cols);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) result(i, j) = T(f(i, j));
  return result;
}

template <class T>
Matrix<T> random(int64_t rows, int64_t cols, unsigned seed = 1) {
  std::mt19937 bits(seed * 7919u + static_cast<unsigned>(rows * 131 + cols));
  const auto number = [&] { return static_cast<Real<T>>(bits() % 2001) / 1000 - 1; };
  return make<T>(rows, cols, [&](int64_t, int64_t) {
    if constexpr (Scalar<T>::complex) {
      const Real<T> re = number();
      return T(re, number());
    } else {
      return number();
    }
  });
}

template <class T>
Matrix<T> identity(int64_t rows, int64_t cols) {
  return make<T>(rows, cols, [](int64_t i, int64_t j) { return i == j ? T(1) : T(0); });
}
template <class T>
Matrix<T> diagonal(const std::vector<T>& d) {
  const auto n = static_cast<int64_t>(d.size());
  return make<T>(n, n, [&](int64_t i, int64_t j) { return i == j ? d[static_cast<size_t>(i)] : T(0); });
}
template <class T>
Matrix<T> adjoint(const Matrix<T>& a) {
  return make<T>(a.cols, a.rows, [&](int64_t i, int64_t j) { return conj(a(j, i)); });
}
template <class T>
Matrix<T> transpose(const Matrix<T>& a) {
  return make<T>(a.cols, a.rows, [&](int64_t i, int64_t j) { return a(j, i); });
}
template <class T>
Matrix<T> lower(const Matrix<T>& a) {
  return make<T>(a.rows, a.cols, [&](int64_t i, int64_t j) { return i >= j ? a(i, j) : T(0); });
}
template <class T>
Matrix<T> upper(const Matrix<T>& a) {
  return make<T>(a.rows, a.cols, [&](int64_t i, int64_t j) { return i <= j ? a(i, j) : T(0); });
}
template <class T>
Matrix<T> columns(const Matrix<T>& a, int64_t count) {
  return make<T>(a.rows, count, [&](int64_t i, int64_t j) { return a(i, j); });
}
template <class T>
Matrix<T> operator*(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> result(a.rows, b.cols);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.cols; ++k)
      for (int64_t j = 0; j < b.cols; ++j) result(i, j) += a(i, k) * b(k, j);
  return result;
}

// The largest difference, relative to the largest entry of b, in units of the dtype's rounding times the matrices'
// size.
template <class T>
double error(const Matrix<T>& a, const Matrix<T>& b) {
  CHECK(a.rows == b.rows);
  CHECK(a.cols == b.cols);
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.items.size(); ++i) {
    const double here = std::abs(a.items[i] - b.items[i]);
    difference = std::isnan(here) ? std::numeric_limits<double>::infinity() : std::max(difference, here);
    size = std::max(size, static_cast<double>(std::abs(b.items[i])));
  }
  const auto extent = static_cast<double>(std::max(a.rows, a.cols) + 4);
  return difference == 0 ? 0 : difference / size / std::numeric_limits<Real<T>>::epsilon() / extent;
}

template <class T>
double error_of_orthogonality(const Matrix<T>& q) {
  return error(adjoint(q) * q, identity<T>(q.cols, q.cols));
}

template <class T>
bool all_nan(const std::vector<T>& items) {
  return std::all_of(items.begin(), items.end(), [](T x) { return std::isnan(std::real(x)); });
}

template <class T>
inline constexpr T not_a_number = T(std::numeric_limits<Real<T>>::quiet_NaN());

#define WEFT_EACH_DTYPE float, double, std::complex<float>, std::complex<double>
