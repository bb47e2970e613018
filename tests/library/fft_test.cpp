// Fourier transforms are those of the definition, whatever the length, the vectors and the threads.
#include "weft/library/fft.h"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include "weft/library/fft_cache.h"

using namespace weft;

namespace {

using Exact = std::vector<std::complex<long double>>;
template <class T>
using Numbers = std::vector<std::complex<T>>;

// By the definition, in long double.
Exact definition(const Exact& x, bool inverse) {
  auto n = static_cast<int64_t>(x.size());
  Exact roots(x.size()), found(x.size());
  for (int64_t k = 0; k < n; ++k) {
    long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots[static_cast<size_t>(k)] = {std::cos(angle), inverse ? -std::sin(angle) : std::sin(angle)};
  }
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j) found[static_cast<size_t>(k)] += x[static_cast<size_t>(j)] * roots[static_cast<size_t>(j * k % n)];
  return found;
}

template <class T>
Numbers<T> random_numbers(int64_t count) {
  static uint32_t state = 12345;
  auto next = [&] { return static_cast<T>(static_cast<int32_t>(state = state * 1664525u + 1013904223u)) / static_cast<T>(1u << 31); };
  Numbers<T> numbers(static_cast<size_t>(count));
  for (auto& z : numbers) z.real(next()), z.imag(next());
  return numbers;
}

// The error in units of the last place of the root of the mean square.
template <class T>
double error(const std::complex<T>* found, const Exact& wanted) {
  long double wrong = 0, all = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    wrong += std::norm(std::complex<long double>(found[i]) - wanted[i]);
    all += std::norm(wanted[i]);
  }
  return static_cast<double>(std::sqrt(wrong / all)) / static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
Exact exact(const std::complex<T>* x, int64_t n) {
  return Exact(x, x + n);
}

std::vector<int> usable_bytes() {
  std::vector<int> bytes{16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) bytes.push_back(32);
  if (__builtin_cpu_supports("avx512f")) bytes.push_back(64);
  return bytes;
}

const std::vector<int64_t> lengths = {1,  2,  3,  4,  5,  6,  7,  8,   9,   12,  13,  15,  16,  17,  24,  31,  32,  37,  45,  48,
                                      49, 60, 62, 64, 74, 81, 96, 100, 128, 143, 160, 217, 243, 256, 341, 384, 509, 512, 999, 1024};

template <class T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::c64 : DType::c128;

void backwards(int64_t count, int64_t, void (*body)(void** args, int64_t begin, int64_t end), void** args) {
  for (int64_t i = count; i-- > 0;) body(args, i, i + 1);
}

// One call, its scratch made as a program would.
template <class T, class From, class To>
void call(FftKind kind, int64_t batch, std::vector<int64_t> extents, const From& from, To& to, Share share = by_caller) {
  FftScratch sizes = fft_scratch(dtype_of<T>, kind, extents);
  FftRoom<std::complex<T>> scratch(sizes.once + batch * sizes.each);
  fft(dtype_of<T>, kind, batch, extents, from.data(), to.data(), scratch.get(), share);
}

}  // namespace

TEST_CASE_TEMPLATE("plans for every kind of vectors give the definition", T, float, double) {
  for (int bytes : usable_bytes())
    for (int64_t n : lengths)
      for (bool beside : {false, true}) {
        FftPlan<T> plan(fft_engine<T>(bytes), n, beside);
        for (int64_t lines : {int64_t{1}, plan.block() / 2 + 1, plan.block()})
          for (bool inverse : {false, true}) {
            if (lines > plan.block()) continue;
            INFO(bytes, " bytes, ", n, beside ? " beside, " : ", ", lines, inverse ? " lines, inverse" : " lines");
            // A number between the lines, which nobody may touch.
            Numbers<T> x = random_numbers<T>(lines * (n + 1)), y(x.size(), T(7));
            FftRoom<T> room(plan.room());
            plan.run({reinterpret_cast<const T*>(x.data()), n + 1, reinterpret_cast<T*>(y.data()), n + 1, lines, inverse, T(0.5)}, room.get(), by_caller);
            for (int64_t line = 0; line < lines; ++line) {
              Exact wanted = definition(exact(&x[static_cast<size_t>(line * (n + 1))], n), inverse);
              for (auto& z : wanted) z *= 0.5L;
              CHECK(error(&y[static_cast<size_t>(line * (n + 1))], wanted) < 2.5);
              CHECK(y[static_cast<size_t>(line * (n + 1) + n)] == std::complex<T>(7));
            }
          }
      }
}
