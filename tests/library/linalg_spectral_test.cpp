// Eigenvalues of general matrices, Schur, Hessenberg and tridiagonal forms, and tridiagonal systems.
#include "tests/library/linalg_matrix.h"

namespace linalg = weft::linalg;

namespace {

const std::vector<int64_t> sizes = {0, 1, 2, 3, 8, 17, 49, 70};
constexpr double tolerance = 8;

template <class T>
using Complex = std::complex<Real<T>>;

size_t count(int64_t n) { return static_cast<size_t>(std::max<int64_t>(n, 0)); }

template <class T>
Matrix<Complex<T>> complex(const Matrix<T>& a) {
  return make<Complex<T>>(a.rows, a.cols, [&](int64_t i, int64_t j) { return Complex<T>(a(i, j)); });
}

template <class T>
Matrix<T> zero(int64_t n) {
  return Matrix<T>(n, n);
}

// One Jordan block.
template <class T>
Matrix<T> defective(int64_t n) {
  return make<T>(n, n, [](int64_t i, int64_t j) { return i == j || i + 1 == j ? T(1) : T(0); });
}

// Shifts a vector around: its eigenvalues lie on the unit circle.
template <class T>
Matrix<T> cycle(int64_t n) {
  return make<T>(n, n, [&](int64_t i, int64_t j) { return i == (j + 1) % n ? T(1) : T(0); });
}

template <class T>
std::vector<Matrix<T>> kinds(int64_t n) {
  std::vector<Matrix<T>> result{random<T>(n, n), zero<T>(n), defective<T>(n), transpose(defective<T>(n)), cycle<T>(n)};
  for (Real<T> scale : {Real<T>(1e-30), Real<T>(1e30)}) {
    result.push_back(random<T>(n, n));
    for (T& entry : result.back().items) entry *= scale;
  }
  return result;
}

// H = I - tau v v^H for the vector below row `first` of column `column`.
template <class T>
Matrix<T> reflector(const Matrix<T>& packed, int64_t first, int64_t column, T tau) {
  Matrix<T> v(packed.rows, 1);
  v(first, 0) = T(1);
  for (int64_t i = first + 1; i < packed.rows; ++i) v(i, 0) = packed(i, column);
  const Matrix<T> outer = v * adjoint(v);
  return make<T>(packed.rows, packed.rows,
                 [&](int64_t i, int64_t j) { return (i == j ? T(1) : T(0)) - tau * outer(i, j); });
}

template <class T>
Matrix<T> reversed(const Matrix<T>& a) {
  return make<T>(a.rows, a.cols, [&](int64_t i, int64_t j) { return a(a.rows - 1 - i, a.cols - 1 - j); });
}

}  // namespace

TEST_CASE_TEMPLATE("left and right eigenvectors belong to their eigenvalues", T, WEFT_EACH_DTYPE) {
  for (int64_t n : sizes) {
    for (const Matrix<T>& a : kinds<T>(n)) {
      std::vector<Complex<T>> w(count(n)), values_only(w);
      Matrix<Complex<T>> vl(n, n), vr(n, n);
      int32_t info = 9;
      linalg::eig(dtype_of<T>, 1, n, a.data(), w.data(), vl.data(), vr.data(), &info);
      CHECK(info == 0);
      const Matrix<Complex<T>> whole = complex(a), zeros(n, n);
      // Measured against the matrix: the products may be zero.
      const auto against = [&](const Matrix<Complex<T>>& x, const Matrix<Complex<T>>& y) {
        const auto moved =
            make<Complex<T>>(n, n, [&](int64_t i, int64_t j) { return x(i, j) - y(i, j) + whole(i, j); });
        return error(moved, whole);
      };
      CHECK(against(whole * vr, vr * diagonal(w)) < tolerance);
      CHECK(against(adjoint(vl) * whole, diagonal(w) * adjoint(vl)) < tolerance);
      for (const Matrix<Complex<T>>& v : {vl, vr}) {
        const Matrix<Complex<T>> products = adjoint(v) * v;
        for (int64_t k = 0; k < n; ++k) CHECK(products(k, k).real() == doctest::Approx(1));
      }
      linalg::eig(dtype_of<T>, 1, n, a.data(), values_only.data(), nullptr, nullptr, nullptr);
      CHECK(values_only == w);
    }
  }
}

TEST_CASE_TEMPLATE("eigenvalues of real matrices are real or conjugate pairs", T, float, double) {
  for (int64_t n : sizes) {
    const Matrix<T> a = random<T>(n, n);
    std::vector<Complex<T>> w(count(n));
    Matrix<Complex<T>> v(n, n);
    linalg::eig(dtype_of<T>, 1, n, a.data(), w.data(), nullptr, v.data(), nullptr);
    for (int64_t k = 0; k < n; ++k) {
      if (w[count(k)].imag() == 0) {
        for (int64_t i = 0; i < n; ++i) CHECK(v(i, k).imag() == 0);
        continue;
      }
      CHECK(w[count(k)].imag() > 0);
      CHECK(w[count(k + 1)] == std::conj(w[count(k)]));
      for (int64_t i = 0; i < n; ++i) CHECK(v(i, k + 1) == std::conj(v(i, k)));
      ++k;
    }
  }
}

TEST_CASE_TEMPLATE("eigenvalues of a triangular matrix are its diagonal", T, WEFT_EACH_DTYPE) {
  for (bool low : {true, false}) {
    const Matrix<T> whole = random<T>(12, 12), a = low ? lower(whole) : upper(whole);
    std::vector<Complex<T>> w(12);
    linalg::eig(dtype_of<T>, 1, 12, a.data(), w.data(), nullptr, nullptr, nullptr);
    for (int64_t i = 0; i < 12; ++i) CHECK(std::count(w.begin(), w.end(), Complex<T>(a(i, i))) == 1);
  }
}

TEST_CASE_TEMPLATE("the Schur form is triangular and unitarily similar", T, WEFT_EACH_DTYPE) {
  for (int64_t n : sizes) {
    for (const Matrix<T>& a : kinds<T>(n)) {
      Matrix<T> t(n, n), vs(n, n);
      int32_t info = 9;
      linalg::schur(dtype_of<T>, 1, n, a.data(), t.data(), vs.data(), &info);
      CHECK(info == 0);
      CHECK(error(vs * t * adjoint(vs), a) < tolerance);
      CHECK(error_of_orthogonality(vs) < tolerance);
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j + (Scalar<T>::complex ? 0 : 1) < i; ++j) CHECK(t(i, j) == T(0));
        if constexpr (!Scalar<T>::complex) {
          if (i == 0 || t(i, i - 1) == 0) continue;
          CHECK(t(i, i) == t(i - 1, i - 1));
          CHECK(std::signbit(t(i, i - 1)) != std::signbit(t(i - 1, i)));
          if (i + 1 < n) CHECK(t(i + 1, i) == 0);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("the Hessenberg form and its reflectors give back the matrix", T, WEFT_EACH_DTYPE) {
  for (int64_t n : sizes) {
    const Matrix<T> a = random<T>(n, n);
    Matrix<T> packed(n, n), q = identity<T>(n, n);
    std::vector<T> taus(count(n - 1));
    linalg::hessenberg(dtype_of<T>, 1, n, a.data(), packed.data(), taus.data());
    for (int64_t k = 0; k + 1 < n; ++k) q = q * reflector(packed, k + 1, k, taus[count(k)]);
    const Matrix<T> h = make<T>(n, n, [&](int64_t i, int64_t j) { return i <= j + 1 ? packed(i, j) : T(0); });
    CHECK(error(q * h * adjoint(q), a) < tolerance);
  }
}

TEST_CASE_TEMPLATE("the tridiagonal form and its reflectors give back the matrix", T, WEFT_EACH_DTYPE) {
  for (int64_t n : sizes) {
    for (bool low : {true, false}) {
      const Matrix<T> half = random<T>(n, n);
      const Matrix<T> a = make<T>(n, n, [&](int64_t i, int64_t j) { return half(i, j) + conj(half(j, i)); });
      Matrix<T> given = a, packed(n, n), q = identity<T>(n, n), t(n, n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j)
          if (low ? i < j : i > j) given(i, j) = not_a_number<T>;
      std::vector<Real<T>> d(count(n)), e(count(n - 1));
      std::vector<T> taus(count(n - 1));
      linalg::tridiagonal(dtype_of<T>, 1, n, low, given.data(), packed.data(), d.data(), e.data(), taus.data());
      // The upper form is the lower one with every order reversed.
      const Matrix<T> vectors = low ? packed : reversed(packed);
      for (int64_t k = 0; k + 1 < n; ++k) q = q * reflector(vectors, k + 1, k, taus[count(low ? k : n - 2 - k)]);
      if (!low) q = reversed(q);
      for (int64_t i = 0; i < n; ++i) {
        t(i, i) = T(d[count(i)]);
        if (i + 1 < n) t(i, i + 1) = t(i + 1, i) = T(e[count(i)]);
      }
      CHECK(error(q * t * adjoint(q), a) < tolerance);
    }
  }
}

TEST_CASE_TEMPLATE("a tridiagonal system is solved, with row swaps where needed", T, WEFT_EACH_DTYPE) {
  for (int64_t n : sizes) {
    for (Real<T> shift : {Real<T>(0), Real<T>(4)}) {
      Matrix<T> dl = random<T>(n, 1, 2), d = random<T>(n, 1, 3), du = random<T>(n, 1, 4);
      for (T& entry : d.items) entry += shift;
      const Matrix<T> a = make<T>(n, n, [&](int64_t i, int64_t j) {
        return i == j ? d(i, 0) : i == j + 1 ? dl(i, 0) : i + 1 == j ? du(i, 0) : T(0);
      });
      if (n > 0) dl(0, 0) = du(n - 1, 0) = not_a_number<T>;
      const Matrix<T> b = random<T>(n, 3);
      Matrix<T> x(n, 3);
      linalg::tridiagonal_solve(dtype_of<T>, 1, n, 3, dl.data(), d.data(), du.data(), b.data(), x.data());
      double largest = 1;
      for (T entry : x.items) largest = std::max(largest, static_cast<double>(std::abs(entry)));
      CHECK(error(a * x, b) < tolerance * largest);
    }
  }
}

TEST_CASE_TEMPLATE("a singular tridiagonal system gives NaN", T, WEFT_EACH_DTYPE) {
  const std::vector<T> zeros(4), ones(4, T(1));
  std::vector<T> x(4);
  linalg::tridiagonal_solve(dtype_of<T>, 1, 4, 1, zeros.data(), zeros.data(), ones.data(), ones.data(), x.data());
  CHECK(all_nan(x));
}

TEST_CASE_TEMPLATE("forms of what is not finite are NaN and end", T, WEFT_EACH_DTYPE) {
  for (Real<T> bad : {std::numeric_limits<Real<T>>::quiet_NaN(), std::numeric_limits<Real<T>>::infinity()}) {
    const int64_t n = 20;
    Matrix<T> a = random<T>(n, n), t(n, n), vs(n, n);
    a(3, 4) = T(bad);
    std::vector<Complex<T>> w(20);
    Matrix<Complex<T>> vr(n, n);
    std::vector<T> taus(20);
    std::vector<Real<T>> d(20), e(20);
    int32_t info = 0;
    linalg::eig(dtype_of<T>, 1, n, a.data(), w.data(), nullptr, vr.data(), &info);
    CHECK(info == 1);
    CHECK(all_nan(w));
    CHECK(all_nan(vr.items));
    linalg::schur(dtype_of<T>, 1, n, a.data(), t.data(), vs.data(), &info);
    CHECK(info == 1);
    CHECK(all_nan(t.items));
    CHECK(all_nan(vs.items));
    linalg::hessenberg(dtype_of<T>, 1, n, a.data(), t.data(), taus.data());
    CHECK(std::isnan(std::real(t(n - 1, n - 1))));
    linalg::tridiagonal(dtype_of<T>, 1, n, false, a.data(), t.data(), d.data(), e.data(), taus.data());
    CHECK(std::isnan(d[0]));
  }
}
