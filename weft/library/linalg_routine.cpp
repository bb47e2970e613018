// The routines of linear algebra: from numbers and buffers to calls. They are large, and therefore apart.
#include "weft/library/routine.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include "weft/library/linalg.h"

namespace weft {
namespace {

DType dtype_of(const int64_t* numbers) { return static_cast<DType>(numbers[0]); }
int32_t* ints(void* buffer) { return static_cast<int32_t*>(buffer); }

void cholesky(const int64_t* n, void* const* b, const RoutineBody*) {
  linalg::cholesky(dtype_of(n), n[1], n[2], n[3] != 0, b[0], b[1], ints(b[2]));
}

void triangular_solve(const int64_t* n, void* const* b, const RoutineBody*) {
  linalg::triangular_solve(dtype_of(n), n[1], n[2], n[3], n[4] != 0, n[5] != 0, n[6] != 0, static_cast<int>(n[7]), b[0],
                           b[1], b[2]);
}

void lu(const int64_t* n, void* const* b, const RoutineBody*) {
  linalg::lu(dtype_of(n), n[1], n[2], n[3], b[0], b[1], ints(b[2]), ints(b[3]));
  int64_t pivots = n[1] * (n[2] < n[3] ? n[2] : n[3]);
  for (int64_t i = 0; i < pivots; ++i) ++ints(b[2])[i];
}

void qr(const int64_t* n, void* const* b, const RoutineBody*) {
  linalg::qr(dtype_of(n), n[1], n[2], n[3], b[0], b[1], b[2]);
}

void householder_product(const int64_t* n, void* const* b, const RoutineBody*) {
  linalg::householder_product(dtype_of(n), n[1], n[2], n[3], n[4], b[0], b[1], b[2]);
}

void eigh(const int64_t* n, void* const* b, const RoutineBody*) {
  linalg::eigh(dtype_of(n), n[1], n[2], n[3] != 0, b[0], b[2], n[4] ? b[1] : nullptr, ints(b[3]));
}

void svd(const int64_t* n, void* const* b, const RoutineBody*) {
  linalg::svd(dtype_of(n), n[1], n[2], n[3], n[4] != 0, b[0], b[2], n[5] ? b[3] : nullptr, n[5] ? b[4] : nullptr,
              ints(b[5]));
}

void eig(const int64_t* n, void* const* b, const RoutineBody*) {
  DType dtype = dtype_of(n);
  if (is_complex(dtype))
    return linalg::eig(dtype, n[1], n[2], b[0], b[1], n[3] ? b[2] : nullptr, n[4] ? b[3] : nullptr, ints(b[4]));
  auto count = static_cast<size_t>(n[1] * n[2]);
  auto split = [&]<class T>(T) {
    std::vector<std::complex<T>> w(count);
    linalg::eig(dtype, n[1], n[2], b[0], w.data(), n[3] ? b[3] : nullptr, n[4] ? b[4] : nullptr, ints(b[5]));
    for (size_t i = 0; i < count; ++i) {
      static_cast<T*>(b[1])[i] = w[i].real();
      static_cast<T*>(b[2])[i] = w[i].imag();
    }
  };
  if (dtype == DType::f64)
    split(double{});
  else
    split(float{});
}

void clear(void* info, int64_t count) { std::fill_n(ints(info), count, 0); }

void hessenberg(const int64_t* n, void* const* b, const RoutineBody*) {
  linalg::hessenberg(dtype_of(n), n[1], n[2], b[0], b[1], b[2]);
  clear(b[3], n[1]);
}

// The eigenvalues that a Schur form shows: its diagonal, where real ones have pairs in blocks of two with equal
// diagonals.
template <class T>
void real_eigenvalues(int64_t batch, int64_t n, const T* t, T* wr, T* wi) {
  for (int64_t item = 0; item < batch; ++item, t += n * n, wr += n, wi += n) {
    for (int64_t i = 0; i < n; ++i) {
      wr[i] = t[i * n + i];
      wi[i] = 0;
    }
    for (int64_t i = 0; i + 1 < n; ++i) {
      T above = t[i * n + i + 1], below = t[(i + 1) * n + i];
      if (below == 0) continue;
      wi[i] = std::sqrt(std::abs(above)) * std::sqrt(std::abs(below));
      wi[i + 1] = -wi[i];
    }
  }
}

template <class T>
void diagonals(int64_t batch, int64_t n, const T* t, T* w) {
  for (int64_t i = 0; i < batch * n; ++i) w[i] = t[i / n * n * n + i % n * (n + 1)];
}

void schur(const int64_t* n, void* const* b, const RoutineBody*) {
  DType dtype = dtype_of(n);
  int last = is_complex(dtype) ? 5 : 6;
  linalg::schur(dtype, n[1], n[2], b[0], b[1], n[3] ? b[2] : nullptr, ints(b[last]));
  clear(b[last - 1], n[1]);
  if (dtype == DType::f64)
    real_eigenvalues(n[1], n[2], static_cast<double*>(b[1]), static_cast<double*>(b[3]), static_cast<double*>(b[4]));
  else if (dtype == DType::f32)
    real_eigenvalues(n[1], n[2], static_cast<float*>(b[1]), static_cast<float*>(b[3]), static_cast<float*>(b[4]));
  else if (dtype == DType::c64)
    diagonals(n[1], n[2], static_cast<std::complex<float>*>(b[1]), static_cast<std::complex<float>*>(b[3]));
  else
    diagonals(n[1], n[2], static_cast<std::complex<double>*>(b[1]), static_cast<std::complex<double>*>(b[3]));
}

void tridiagonal(const int64_t* n, void* const* b, const RoutineBody*) {
  linalg::tridiagonal(dtype_of(n), n[1], n[2], n[3] != 0, b[0], b[1], b[2], b[3], b[4]);
  clear(b[5], n[1]);
}
void tridiagonal_solve(const int64_t* n, void* const* b, const RoutineBody*) {
  linalg::tridiagonal_solve(dtype_of(n), n[1], n[2], n[3], b[0], b[1], b[2], b[3], b[4]);
}

// As LAPACK's: the diagonals, the solution and info are results.
void gtsv(const int64_t* n, void* const* b, const RoutineBody*) {
  auto bytes = static_cast<size_t>(n[1] * n[2] * size_of(dtype_of(n)));
  for (int i = 0; i < 3; ++i) std::memcpy(b[4 + i], b[i], bytes);
  linalg::tridiagonal_solve(dtype_of(n), n[1], n[2], n[3], b[0], b[1], b[2], b[3], b[7]);
  clear(b[8], n[1]);
}

struct Row {
  std::string_view name;
  Routine routine;
};

const Row rows[] = {
    {"cholesky", cholesky},
    {"triangular_solve", triangular_solve},
    {"lu", lu},
    {"qr", qr},
    {"householder_product", householder_product},
    {"eigh", eigh},
    {"svd", svd},
    {"eig", eig},
    {"hessenberg", hessenberg},
    {"schur", schur},
    {"tridiagonal", tridiagonal},
    {"tridiagonal_solve", tridiagonal_solve},
    {"gtsv", gtsv},
};

}  // namespace

Routine find_linalg_routine(std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return row.routine;
  return nullptr;
}

}  // namespace weft
