// Calls of the process's LAPACK.
#include "weft/library/linalg_lapack.h"

#include <dlfcn.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "weft/core/knobs.h"
#include "weft/library/linalg.h"

namespace weft::linalg {
namespace {

// How builds of LAPACK name dgetrf, and whether integers have 64 bits there: OpenBLAS of NumPy's wheels, of others and
// of Julia, then those with integers of 32 bits (MKL, Netlib).
struct Naming {
  const char *before, *after;
  bool wide;
};
constexpr Naming namings[] = {
    {"scipy_", "_64_", true}, {"", "_64_", true}, {"", "64_", true}, {"scipy_", "_", false}, {"", "_", false}};

// From these extents on it takes less time than what is here (OpenBLAS of NumPy's wheels on one and two threads).
constexpr Index least_solved = 64, least_reflected = 128, least_squared = 256;

struct Library {
  void* handle;
  Naming naming;
};
std::atomic<const Library*> library{nullptr};

template <class T>
constexpr char letter = std::is_same_v<T, float>                 ? 's'
                        : std::is_same_v<T, double>              ? 'd'
                        : std::is_same_v<T, std::complex<float>> ? 'c'
                                                                 : 'z';

std::string symbol(const Naming& naming, char type, const char* routine) {
  return std::string(naming.before) + type + routine + naming.after;
}

// An integer or several as the library has them: the lower half is where one of 32 bits is read.
class Integers {
 public:
  explicit Integers(size_t count) : values_(count) {}
  void* data() { return values_.data(); }
  int64_t at(size_t i, bool wide) const {
    return wide ? values_[i] : reinterpret_cast<const int32_t*>(values_.data())[i];
  }

 private:
  std::vector<int64_t> values_;
};

// A routine with everything by address; texts have hidden lengths behind all.
class Routine {
 public:
  Routine(char type, const char* name, bool is_large = true) {
    if (!is_large) return;
    const Library* found = library.load(std::memory_order_acquire);
    if (!found || !knob_flag(Knob::lapack)) return;
    wide = found->naming.wide;
    address_ = dlsym(found->handle, symbol(found->naming, type, name).c_str());
  }
  explicit operator bool() const { return address_ != nullptr; }

  template <class... Args>
  void operator()(Args... args) const {
    reinterpret_cast<void (*)(Args..., size_t, size_t, size_t, size_t)>(address_)(args..., 1, 1, 1, 1);
  }

  bool wide = false;

 private:
  void* address_ = nullptr;
};

struct Number {
  int64_t value;
  void* data() { return &value; }
};

// Asks for the size of the workspace, then works: `call(work, lwork)`.
template <class T, class Call>
void with_workspace(const Call& call) {
  T best{};
  Number size{-1};
  call(&best, size.data());
  size.value = std::max<int64_t>(1, static_cast<int64_t>(std::real(best)));
  std::vector<T> work(static_cast<size_t>(size.value));
  call(work.data(), size.data());
}

}  // namespace

bool use_lapack(const char* path) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  for (const Naming& naming : namings) {
    if (!dlsym(handle, symbol(naming, 'd', "getrf").c_str()) || !dlsym(handle, symbol(naming, 'd', "trsm").c_str()))
      continue;
    static const Library found{handle, naming};
    library.store(&found, std::memory_order_release);
    return true;
  }
  dlclose(handle);
  return false;
}

template <class T>
std::optional<Index> getrf(Matrix<T>& a, int32_t* pivots) {
  const Index count = std::min(a.rows(), a.cols());
  Routine routine(letter<T>, "getrf", count >= least_solved);
  if (!routine) return std::nullopt;
  Number m{a.rows()}, n{a.cols()};
  Integers swaps(static_cast<size_t>(count)), info(1);
  routine(m.data(), n.data(), a.data(), m.data(), swaps.data(), info.data());
  for (Index i = 0; i < count; ++i)
    pivots[i] = static_cast<int32_t>(swaps.at(static_cast<size_t>(i), routine.wide) - 1);
  return info.at(0, routine.wide);
}

template <class T>
std::optional<Index> potrf(Matrix<T>& a) {
  Routine routine(letter<T>, "potrf", a.rows() >= least_squared);
  if (!routine) return std::nullopt;
  Number n{a.rows()};
  Integers info(1);
  char lower = 'L';
  routine(&lower, n.data(), a.data(), n.data(), info.data());
  return info.at(0, routine.wide);
}

template <class T>
std::optional<Index> trsm(Index size, Index nrhs, Side side, const T* a, const T* b, T* x) {
  Routine routine(letter<T>, "trsm", size >= least_solved && nrhs > 0);
  if (!routine) return std::nullopt;
  std::copy_n(b, size * nrhs, x);
  // Rows are the columns of the transposed matrices: x^T op(a)^T = b^T, and a^T has the other triangle. One vector is a
  // row and a column.
  const bool is_column = side.left && nrhs == 1 && !side.conjugate, from_right = side.left && !is_column;
  Number rows{from_right ? nrhs : size}, columns{from_right ? size : nrhs}, n{size};
  char where = from_right ? 'R' : 'L', triangle = side.lower ? 'U' : 'L', diagonal = side.unit ? 'U' : 'N';
  char turn = side.conjugate ? 'C' : side.transposed != is_column ? 'T' : 'N';
  T one(1);
  routine(&where, &triangle, &turn, &diagonal, rows.data(), columns.data(), &one, const_cast<T*>(a), n.data(), x,
          rows.data());
  return 0;
}

template <class T>
std::optional<Index> geqrf(Matrix<T>& a, Vector<T>& taus) {
  Routine routine(letter<T>, "geqrf", taus.size() >= least_reflected);
  if (!routine) return std::nullopt;
  Number m{a.rows()}, n{a.cols()};
  Integers info(1);
  with_workspace<T>([&](T* work, void* size) {
    routine(m.data(), n.data(), a.data(), m.data(), taus.data(), work, size, info.data());
  });
  return info.at(0, routine.wide);
}

template <class T>
std::optional<Index> orgqr(const Matrix<T>& vectors, const Vector<T>& taus, Matrix<T>& q) {
  Routine routine(letter<T>, is_complex_type<T> ? "ungqr" : "orgqr", taus.size() >= least_reflected);
  if (!routine) return std::nullopt;
  q.leftCols(taus.size()) = vectors;
  Number m{q.rows()}, n{q.cols()}, k{taus.size()};
  Integers info(1);
  with_workspace<T>([&](T* work, void* size) {
    routine(m.data(), n.data(), k.data(), q.data(), m.data(), const_cast<T*>(taus.data()), work, size, info.data());
  });
  return info.at(0, routine.wide);
}

template <class T>
std::optional<Index> syevd(Matrix<T>& a, bool lower, bool vectors, Vector<Real<T>>& values) {
  Routine routine(letter<T>, is_complex_type<T> ? "heevd" : "syevd");
  if (!routine) return std::nullopt;
  Number n{a.rows()};
  char job = vectors ? 'V' : 'N', triangle = lower ? 'L' : 'U';
  Integers integers(static_cast<size_t>(3 + 5 * a.rows())), info(1);
  Number integer_count{3 + 5 * a.rows()};
  if constexpr (is_complex_type<T>) {
    const int64_t count = vectors ? 1 + 5 * n.value + 2 * n.value * n.value : std::max<int64_t>(1, n.value);
    std::vector<Real<T>> reals(static_cast<size_t>(count));
    Number real_count{count};
    with_workspace<T>([&](T* work, void* size) {
      routine(&job, &triangle, n.data(), a.data(), n.data(), values.data(), work, size, reals.data(), real_count.data(),
              integers.data(), integer_count.data(), info.data());
    });
  } else {
    with_workspace<T>([&](T* work, void* size) {
      routine(&job, &triangle, n.data(), a.data(), n.data(), values.data(), work, size, integers.data(),
              integer_count.data(), info.data());
    });
  }
  return info.at(0, routine.wide);
}

template <class T>
std::optional<Index> gesdd(Matrix<T>& a, char mode, Vector<Real<T>>& s, Matrix<T>& u, Matrix<T>& vt) {
  Routine routine(letter<T>, "gesdd");
  if (!routine) return std::nullopt;
  const Index least = std::min(a.rows(), a.cols()), most = std::max(a.rows(), a.cols());
  Number m{a.rows()}, n{a.cols()}, u_rows{std::max<Index>(u.rows(), 1)}, vt_rows{std::max<Index>(vt.rows(), 1)};
  Integers integers(static_cast<size_t>(8 * least)), info(1);
  std::vector<Real<T>> reals(
      is_complex_type<T> ? static_cast<size_t>(least * std::max(5 * least + 7, 2 * most + 2 * least + 1) + 1) : 0);
  with_workspace<T>([&](T* work, void* size) {
    auto run = [&](auto... rest) {
      routine(&mode, m.data(), n.data(), a.data(), m.data(), s.data(), u.data(), u_rows.data(), vt.data(),
              vt_rows.data(), work, size, rest...);
    };
    if constexpr (is_complex_type<T>)
      run(reals.data(), integers.data(), info.data());
    else
      run(integers.data(), info.data());
  });
  return info.at(0, routine.wide);
}

#define WEFT_LAPACK(T)                                                                    \
  template std::optional<Index> getrf<T>(Matrix<T>&, int32_t*);                           \
  template std::optional<Index> potrf<T>(Matrix<T>&);                                     \
  template std::optional<Index> trsm<T>(Index, Index, Side, const T*, const T*, T*);      \
  template std::optional<Index> geqrf<T>(Matrix<T>&, Vector<T>&);                         \
  template std::optional<Index> orgqr<T>(const Matrix<T>&, const Vector<T>&, Matrix<T>&); \
  template std::optional<Index> syevd<T>(Matrix<T>&, bool, bool, Vector<Real<T>>&);       \
  template std::optional<Index> gesdd<T>(Matrix<T>&, char, Vector<Real<T>>&, Matrix<T>&, Matrix<T>&);
WEFT_LAPACK(float)
WEFT_LAPACK(double)
WEFT_LAPACK(std::complex<float>)
WEFT_LAPACK(std::complex<double>)
#undef WEFT_LAPACK

}  // namespace weft::linalg
