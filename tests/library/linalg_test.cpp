// Factorisations give back the matrix they were made of, for every dtype and for odd shapes.
#include "tests/library/linalg_matrix.h"

namespace linalg = weft::linalg;

namespace {

// Around the sizes at which the algorithms go from one block to several.
const std::vector<int64_t> sizes = {0, 1, 2, 3, 7, 16, 17, 33, 50, 101};
constexpr double tolerance = 4;

template <class T>
Matrix<T> positive(int64_t n) {
  Matrix<T> a = random<T>(n, n), result = a * adjoint(a);
  for (int64_t i = 0; i < n; ++i) result(i, i) += T(1);
  return result;
}

// The other triangle must not be read.
template <class T>
Matrix<T> only(bool low, const Matrix<T>& a) {
  return make<T>(a.rows, a.cols,
                 [&](int64_t i, int64_t j) { return (low ? i >= j : i <= j) ? a(i, j) : not_a_number<T>; });
}

template <class T>
Matrix<T> swap_back(Matrix<T> a, const std::vector<int32_t>& pivots) {
  for (size_t i = pivots.size(); i-- > 0;)
    for (int64_t j = 0; j < a.cols; ++j) std::swap(a(static_cast<int64_t>(i), j), a(pivots[i], j));
  return a;
}

}  // namespace

TEST_CASE_TEMPLATE("a Cholesky factor times its adjoint is the matrix", T, WEFT_EACH_DTYPE) {
  for (int64_t n : sizes) {
    for (bool low : {true, false}) {
      const Matrix<T> a = positive<T>(n);
      Matrix<T> l(n, n);
      int32_t info = 9;
      linalg::cholesky(dtype_of<T>, 1, n, low, only(low, a).data(), l.data(), &info);
      CHECK(info == 0);
      CHECK(error(low ? l * adjoint(l) : adjoint(l) * l, a) < tolerance);
      CHECK(error(low ? lower(l) : upper(l), l) == 0);
    }
  }
}

TEST_CASE_TEMPLATE("Cholesky names the minor that is not positive", T, WEFT_EACH_DTYPE) {
  const int64_t n = 70;
  for (int64_t bad : {0, 5, 40, 69}) {
    for (T value : {T(-1), T(0), not_a_number<T>}) {
      Matrix<T> a = identity<T>(n, n), l(n, n);
      a(bad, bad) = value;
      int32_t info = 0;
      linalg::cholesky(dtype_of<T>, 1, n, true, a.data(), l.data(), &info);
      CHECK(info == bad + 1);
      CHECK(std::isnan(std::real(l(n - 1, 0))));
      CHECK(l(0, n - 1) == T(0));
    }
  }
}

TEST_CASE_TEMPLATE("a triangular system is solved from both sides, transposed and adjoint", T, WEFT_EACH_DTYPE) {
  for (int64_t n : sizes) {
    for (int64_t nrhs : {0, 1, 5}) {
      for (int choice = 0; choice < 24; ++choice) {
        const bool left = choice & 1, low = choice & 2, unit = choice & 4;
        const int op = choice / 8;
        Matrix<T> a = random<T>(n, n);
        for (T& entry : a.items) entry /= static_cast<Real<T>>(n + 1);
        for (int64_t i = 0; i < n; ++i) a(i, i) = unit ? T(1) : a(i, i) + T(2);
        const Matrix<T> triangle = low ? lower(a) : upper(a);
        const Matrix<T> applied = op == 0 ? triangle : op == 1 ? transpose(triangle) : adjoint(triangle);
        const Matrix<T> b = left ? random<T>(n, nrhs) : random<T>(nrhs, n);
        Matrix<T> x(b.rows, b.cols), given = only(low, a);
        for (int64_t i = 0; unit && i < n; ++i) given(i, i) = not_a_number<T>;
        linalg::triangular_solve(dtype_of<T>, 1, n, nrhs, left, low, unit, op, given.data(), b.data(), x.data());
        CHECK(error(left ? applied * x : x * applied, b) < tolerance);
      }
    }
  }
}

TEST_CASE_TEMPLATE("a singular triangular system gives what is not finite", T, WEFT_EACH_DTYPE) {
  const Matrix<T> a(3, 3), b = random<T>(3, 2);
  Matrix<T> x(3, 2);
  linalg::triangular_solve(dtype_of<T>, 1, 3, 2, true, true, false, 0, a.data(), b.data(), x.data());
  for (T entry : x.items) CHECK_FALSE(std::isfinite(std::abs(entry)));
}

TEST_CASE_TEMPLATE("L times U is the matrix with its rows swapped", T, WEFT_EACH_DTYPE) {
  for (int64_t m : sizes) {
    for (int64_t n : sizes) {
      const int64_t size = std::min(m, n);
      const Matrix<T> a = random<T>(m, n);
      Matrix<T> packed(m, n);
      std::vector<int32_t> pivots(static_cast<size_t>(size));
      int32_t info = 9;
      linalg::lu(dtype_of<T>, 1, m, n, a.data(), packed.data(), pivots.data(), &info);
      CHECK(info == 0);
      Matrix<T> l = lower(columns(packed, size)), u(size, n);
      for (int64_t i = 0; i < size; ++i) l(i, i) = T(1);
      u = make<T>(size, n, [&](int64_t i, int64_t j) { return i <= j ? packed(i, j) : T(0); });
      CHECK(error(swap_back(l * u, pivots), a) < tolerance);
    }
  }
}

TEST_CASE_TEMPLATE("LU names the first zero pivot and goes on", T, WEFT_EACH_DTYPE) {
  for (int64_t n : {3, 60}) {
    for (int64_t bad : {int64_t{1}, n - 1}) {
      Matrix<T> a = identity<T>(n, n), packed(n, n);
      a(bad, bad) = T(0);
      std::vector<int32_t> pivots(static_cast<size_t>(n));
      int32_t info = 0;
      linalg::lu(dtype_of<T>, 1, n, n, a.data(), packed.data(), pivots.data(), &info);
      CHECK(info == bad + 1);
      CHECK(error(packed, a) == 0);
    }
  }
}

TEST_CASE_TEMPLATE("Q times R is the matrix, and Q is orthogonal", T, WEFT_EACH_DTYPE) {
  for (int64_t m : sizes) {
    for (int64_t n : sizes) {
      const int64_t size = std::min(m, n);
      const Matrix<T> a = random<T>(m, n);
      Matrix<T> factors(m, n);
      std::vector<T> taus(static_cast<size_t>(size));
      linalg::qr(dtype_of<T>, 1, m, n, a.data(), factors.data(), taus.data());
      const Matrix<T> vectors = columns(factors, size);
      Matrix<T> q(m, size);
      linalg::householder_product(dtype_of<T>, 1, m, size, size, vectors.data(), taus.data(), q.data());
      const Matrix<T> r = make<T>(size, n, [&](int64_t i, int64_t j) { return i <= j ? factors(i, j) : T(0); });
      CHECK(error(q * r, a) < tolerance);
      CHECK(error_of_orthogonality(q) < tolerance);
    }
  }
}

TEST_CASE_TEMPLATE("R has LAPACK's signs, for columns of any length", T, WEFT_EACH_DTYPE) {
  const Real<T> small = std::numeric_limits<Real<T>>::min(), large = std::numeric_limits<Real<T>>::max() / 16;
  for (Real<T> scale : {Real<T>(1), small, small / 4, large}) {
    const Matrix<T> a = make<T>(2, 1, [&](int64_t i, int64_t) { return (i ? 4 : 3) * scale; });
    Matrix<T> factors(2, 1);
    T tau = T(0);
    linalg::qr(dtype_of<T>, 1, 2, 1, a.data(), factors.data(), &tau);
    CHECK(std::real(factors(0, 0)) / scale == doctest::Approx(-5));
    CHECK(std::real(factors(1, 0)) == doctest::Approx(0.5));
    CHECK(std::real(tau) == doctest::Approx(1.6));
  }
}

TEST_CASE_TEMPLATE("eigenvectors of a Hermitian matrix diagonalise it", T, WEFT_EACH_DTYPE) {
  for (int64_t n : sizes) {
    for (bool low : {true, false}) {
      for (double scale : {1.0, 1e-30, 1e30}) {
        const Matrix<T> half = random<T>(n, n);
        const Matrix<T> a = make<T>(
            n, n, [&](int64_t i, int64_t j) { return (half(i, j) + conj(half(j, i))) * static_cast<Real<T>>(scale); });
        Matrix<T> v(n, n);
        std::vector<Real<T>> w(static_cast<size_t>(n)), values_only(w);
        int32_t info = 9;
        linalg::eigh(dtype_of<T>, 1, n, low, only(low, a).data(), w.data(), v.data(), &info);
        CHECK(info == 0);
        CHECK(std::is_sorted(w.begin(), w.end()));
        CHECK(error(v * diagonal(std::vector<T>(w.begin(), w.end())) * adjoint(v), a) < tolerance);
        CHECK(error_of_orthogonality(v) < tolerance);
        linalg::eigh(dtype_of<T>, 1, n, low, only(low, a).data(), values_only.data(), nullptr, nullptr);
        CHECK(values_only == w);
      }
    }
  }
}

TEST_CASE_TEMPLATE("singular vectors and values give back the matrix", T, WEFT_EACH_DTYPE) {
  for (int64_t m : sizes) {
    for (int64_t n : sizes) {
      for (bool full : {true, false}) {
        const int64_t size = std::min(m, n);
        const Matrix<T> a = random<T>(m, n);
        Matrix<T> u(m, full ? m : size), vt(full ? n : size, n);
        std::vector<Real<T>> s(static_cast<size_t>(size)), values_only(s);
        int32_t info = 9;
        linalg::svd(dtype_of<T>, 1, m, n, full, a.data(), s.data(), u.data(), vt.data(), &info);
        CHECK(info == 0);
        CHECK(std::is_sorted(s.rbegin(), s.rend()));
        const Matrix<T> middle = diagonal(std::vector<T>(s.begin(), s.end()));
        CHECK(error(columns(u, size) * middle * adjoint(columns(adjoint(vt), size)), a) < tolerance);
        CHECK(error_of_orthogonality(u) < tolerance);
        CHECK(error_of_orthogonality(adjoint(vt)) < tolerance);
      }
    }
  }
}

TEST_CASE_TEMPLATE("singular vectors are orthogonal when squares of singular values underflow", T, WEFT_EACH_DTYPE) {
  const int64_t n = 60;
  const Matrix<T> half = random<T>(n, n);
  const int step = std::numeric_limits<Real<T>>::min_exponent / 30;
  const Matrix<T> a = make<T>(n, n, [&](int64_t i, int64_t j) {
    return half(i, j) * std::ldexp(Real<T>(1), step * static_cast<int>(i % 20 + j % 20));
  });
  Matrix<T> u(n, n), vt(n, n);
  std::vector<Real<T>> s(60);
  int32_t info = 9;
  linalg::svd(dtype_of<T>, 1, n, n, true, a.data(), s.data(), u.data(), vt.data(), &info);
  CHECK(info == 0);
  CHECK(error(u * diagonal(std::vector<T>(s.begin(), s.end())) * vt, a) < tolerance);
  CHECK(error_of_orthogonality(u) < tolerance);
  CHECK(error_of_orthogonality(adjoint(vt)) < tolerance);
}

TEST_CASE_TEMPLATE("eigenvalues and singular values of what is not finite are NaN", T, WEFT_EACH_DTYPE) {
  for (Real<T> bad : {std::numeric_limits<Real<T>>::quiet_NaN(), std::numeric_limits<Real<T>>::infinity()}) {
    for (int64_t n : {2, 30}) {
      Matrix<T> a = random<T>(n, n), u(n, n), vt(n, n);
      a(n - 1, 0) = T(bad);
      std::vector<Real<T>> w(static_cast<size_t>(n));
      int32_t info = 0;
      linalg::eigh(dtype_of<T>, 1, n, true, a.data(), w.data(), u.data(), &info);
      CHECK(info == 1);
      CHECK(all_nan(w));
      CHECK(all_nan(u.items));
      linalg::svd(dtype_of<T>, 1, n, n, true, a.data(), w.data(), u.data(), vt.data(), &info);
      CHECK(info == 1);
      CHECK(all_nan(w));
      CHECK(all_nan(vt.items));
    }
  }
}

TEST_CASE_TEMPLATE("NaN stays in its matrix of a batch", T, WEFT_EACH_DTYPE) {
  const int64_t n = 20;
  Matrix<T> a = positive<T>(n), both(2 * n, n), out(2 * n, n);
  std::copy(a.items.begin(), a.items.end(), both.data() + n * n);
  std::fill_n(both.data(), n * n, not_a_number<T>);
  std::vector<int32_t> info(2), pivots(2 * n);
  std::vector<T> taus(2 * n);
  const auto check_both = [&] {
    CHECK(std::isnan(std::real(out(n - 1, 0))));
    CHECK(std::none_of(out.items.begin() + n * n, out.items.end(), [](T x) { return std::isnan(std::real(x)); }));
  };
  linalg::cholesky(dtype_of<T>, 2, n, true, both.data(), out.data(), info.data());
  CHECK(info == std::vector<int32_t>{1, 0});
  check_both();
  linalg::lu(dtype_of<T>, 2, n, n, both.data(), out.data(), pivots.data(), info.data());
  check_both();
  for (int32_t pivot : pivots) CHECK((pivot >= 0 && pivot < n));
  linalg::qr(dtype_of<T>, 2, n, n, both.data(), out.data(), taus.data());
  check_both();
  linalg::householder_product(dtype_of<T>, 2, n, n, n, both.data(), taus.data(), out.data());
}

TEST_CASE("other dtypes are refused") {
  int32_t info = 0;
  CHECK_THROWS_AS(linalg::cholesky(weft::DType::i32, 1, 0, true, nullptr, nullptr, &info), weft::InternalError);
}
