// Fourier transforms are those of the definition, whatever the length, the vectors and the threads.
#include "weft/library/fft.h"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <set>
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
    long double angle =
        -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots[static_cast<size_t>(k)] = {std::cos(angle), inverse ? -std::sin(angle) : std::sin(angle)};
  }
  for (int64_t k = 0; k < n; ++k) {
    long double re = 0, im = 0;
    for (size_t j = 0, at = 0; j < x.size(); ++j, at = (at + static_cast<size_t>(k)) % x.size()) {
      re += x[j].real() * roots[at].real() - x[j].imag() * roots[at].imag();
      im += x[j].real() * roots[at].imag() + x[j].imag() * roots[at].real();
    }
    found[static_cast<size_t>(k)] = {re, im};
  }
  return found;
}

template <class T>
Numbers<T> random_numbers(int64_t count) {
  static uint32_t state = 12345;
  auto next = [&] {
    return static_cast<T>(static_cast<int32_t>(state = state * 1664525u + 1013904223u)) / static_cast<T>(1u << 31);
  };
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

const std::vector<int64_t> lengths = {1,  2,   3,   4,   5,   6,   7,   8,   9,   12,  13,  15,  16,  17,
                                      24, 31,  32,  37,  45,  47,  48,  53,  49,  60,  62,  64,  74,  81,
                                      96, 100, 128, 143, 160, 217, 243, 256, 341, 384, 509, 512, 999, 1024};

template <class T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::c64 : DType::c128;

void backwards(int64_t count, int64_t, void (*body)(void** args, int64_t begin, int64_t end), void** args) {
  for (int64_t i = count; i-- > 0;) body(args, i, i + 1);
}

// One call, its scratch made as a program would.
template <class T, class From, class To>
void call(FftKind kind, int64_t batch, std::vector<int64_t> extents, const From& from, To& to,
          Share share = by_caller) {
  FftScratch sizes = fft_scratch(dtype_of<T>, kind, extents);
  FftRoom<std::complex<T>> scratch(sizes.once + batch * sizes.each);
  fft(dtype_of<T>, kind, batch, extents, from.data(), to.data(), scratch.get(), share);
}

}  // namespace

TEST_CASE_TEMPLATE("plans for every kind of vectors give the definition", T, float, double) {
  for (int bytes : usable_bytes())
    for (int64_t n : lengths)
      for (FftUse use : {FftUse::alone, FftUse::many, FftUse::columns}) {
        FftPlan<T> plan(fft_engine<T>(bytes), n, use);
        for (int64_t lines : {int64_t{1}, plan.block() / 2 + 1, plan.block()})
          for (bool inverse : {false, true}) {
            if (lines > plan.block()) continue;
            INFO(bytes, " bytes, ", n, ", use ", static_cast<int>(use), ", ", lines,
                 inverse ? " lines, inverse" : " lines");
            // A number between the lines, which nobody may touch.
            Numbers<T> x = random_numbers<T>(lines * (n + 1)), y(x.size(), T(7));
            FftRoom<T> room(plan.room());
            plan.run({reinterpret_cast<const T*>(x.data()), n + 1, reinterpret_cast<T*>(y.data()), n + 1, lines,
                      inverse, T(0.5)},
                     room.get(), by_caller);
            for (int64_t line : std::set<int64_t>{0, lines / 2, lines - 1}) {
              Exact wanted = definition(exact(&x[static_cast<size_t>(line * (n + 1))], n), inverse);
              for (auto& z : wanted) z *= 0.5L;
              CHECK(error(&y[static_cast<size_t>(line * (n + 1))], wanted) < 2.5);
              CHECK(y[static_cast<size_t>(line * (n + 1) + n)] == std::complex<T>(7));
            }
          }
      }
}

TEST_CASE_TEMPLATE("all kinds give the definition, whatever the order of the work", T, float, double) {
  for (int64_t n : lengths)
    for (int64_t batch : {1, 3, 40}) {
      INFO(batch, " of length ", n);
      int64_t half = n / 2 + 1;
      Numbers<T> x = random_numbers<T>(batch * n), spectra(static_cast<size_t>(batch * half)), back(x.size());
      std::vector<T> reals, again(x.size());
      for (auto& z : x) reals.push_back(z.real());
      call<T>(FftKind::real_forward, batch, {n}, reals, spectra, backwards);
      call<T>(FftKind::real_inverse, batch, {n}, spectra, again, backwards);
      call<T>(FftKind::forward, batch, {n}, x, back, backwards);
      Numbers<T> forward = back;
      call<T>(FftKind::inverse, batch, {n}, forward, back, backwards);
      for (int64_t line : std::set<int64_t>{0, batch / 2, batch - 1}) {
        auto at = static_cast<size_t>(line * n);
        CHECK(error(&forward[at], definition(exact(&x[at], n), false)) < 2.5);
        CHECK(error(&back[at], exact(&x[at], n)) < 4);
        Exact real(static_cast<size_t>(n));
        for (size_t i = 0; i < real.size(); ++i) real[i] = reals[at + i];
        Numbers<T> found(&again[at], &again[at] + n);
        CHECK(error(found.data(), real) < 4);
        Exact wanted = definition(real, false);
        wanted.resize(static_cast<size_t>(half));
        CHECK(error(&spectra[static_cast<size_t>(line * half)], wanted) < 2.5);
        CHECK(spectra[static_cast<size_t>(line * half)].imag() == 0);
      }
    }
}

TEST_CASE_TEMPLATE("several dimensions are one after the other", T, float, double) {
  for (std::vector<int64_t> extents : {std::vector<int64_t>{5, 6}, {37, 3}, {4, 1}, {3, 16, 10}, {2, 3, 7}})
    for (bool inverse : {false, true}) {
      int64_t batch = 2, size = batch, last = extents.back(), half = last / 2 + 1;
      for (int64_t extent : extents) size *= extent;
      Numbers<T> x = random_numbers<T>(size), y(x.size());
      call<T>(inverse ? FftKind::inverse : FftKind::forward, batch, extents, x, y);
      Exact wanted = exact(x.data(), size);
      for (int64_t axis = static_cast<int64_t>(extents.size()) - 1, inner = 1; axis >= 0;
           inner *= extents[static_cast<size_t>(axis--)])
        for (int64_t start = 0, n = extents[static_cast<size_t>(axis)]; start < size; ++start) {
          if (start / inner % n != 0) continue;
          Exact line;
          for (int64_t k = 0; k < n; ++k) line.push_back(wanted[static_cast<size_t>(start + k * inner)]);
          line = definition(line, inverse);
          for (int64_t k = 0; k < n; ++k)
            wanted[static_cast<size_t>(start + k * inner)] =
                line[static_cast<size_t>(k)] / (inverse ? static_cast<long double>(n) : 1);
        }
      CHECK(error(y.data(), wanted) < 3);
      // Real ones: half of the spectrum, and back.
      std::vector<T> reals, again(x.size());
      for (auto& z : x) reals.push_back(z.real()), z.imag(0);
      call<T>(FftKind::forward, batch, extents, x, y);
      Numbers<T> spectrum(static_cast<size_t>(size / last * half));
      call<T>(FftKind::real_forward, batch, extents, reals, spectrum);
      for (int64_t i = 0; i < size / last * half; ++i) {
        auto whole = std::complex<long double>(y[static_cast<size_t>(i / half * last + i % half)]);
        CHECK(std::abs(std::complex<long double>(spectrum[static_cast<size_t>(i)]) - whole) <
              100 * std::numeric_limits<T>::epsilon());
      }
      call<T>(FftKind::real_inverse, batch, extents, spectrum, again);
      for (size_t i = 0; i < reals.size(); ++i)
        CHECK(std::abs(again[i] - reals[i]) < 20 * std::numeric_limits<T>::epsilon());
    }
}

TEST_CASE_TEMPLATE("long lines are the same for one thread and for parts in any order, and come back", T, float,
                   double) {
  for (int64_t n : {int64_t{1} << 17, int64_t{3} << 16, int64_t{50021}, int64_t{177147}})
    for (bool real : {false, true}) {
      INFO(n, real ? ", real" : "");
      auto size = static_cast<size_t>(n);
      Numbers<T> x = random_numbers<T>(n), y(size), other(size), back(size);
      if (real) {
        std::vector<T> reals, again(size);
        for (auto& z : x) reals.push_back(z.real());
        call<T>(FftKind::real_forward, 1, {n}, reals, y);
        call<T>(FftKind::real_forward, 1, {n}, reals, other, backwards);
        call<T>(FftKind::real_inverse, 1, {n}, y, again, backwards);
        for (size_t i = 0; i < size; ++i) x[i] = reals[i], back[i] = again[i];
      } else {
        call<T>(FftKind::forward, 1, {n}, x, y);
        call<T>(FftKind::forward, 1, {n}, x, other, backwards);
        call<T>(FftKind::inverse, 1, {n}, y, back, backwards);
      }
      CHECK(y == other);
      CHECK(error(back.data(), exact(x.data(), n)) < 8);
      // One frequency, by the definition.
      std::complex<long double> wanted = 0;
      for (int64_t k = 0; k < n; ++k) {
        long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(k * 12345 % n) /
                            static_cast<long double>(n);
        wanted += std::complex<long double>(x[static_cast<size_t>(k)]) *
                  std::complex<long double>(std::cos(angle), std::sin(angle));
      }
      CHECK(std::abs(std::complex<long double>(y[12345]) - wanted) <
            8 * std::sqrt(static_cast<double>(n)) * std::numeric_limits<T>::epsilon());
    }
}

TEST_CASE("few plans are kept, and threads may ask for any") {
  for (int64_t n = 1; n < 200; ++n) CHECK(fft_tables<double>(n, FftUse::alone, false)->plan.length() == n);
  CHECK(kept_fft_tables<double>() == 64);
  CHECK(fft_tables<double>(199, FftUse::alone, false) == fft_tables<double>(199, FftUse::alone, false));
  // Larger ones push the others out.
  for (int64_t n : {1 << 20, 3 << 20, 1 << 22}) fft_tables<double>(n, FftUse::alone, true);
  CHECK(kept_fft_tables<double>() <= 3);
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (size_t i = 0; i < right.size(); ++i)
    threads.emplace_back([&right, i] {
      for (int64_t n = 1; n < 300; ++n) {
        std::vector<std::complex<double>> x(static_cast<size_t>(n)), y(x.size());
        x[0] = 1;
        call<double>(FftKind::forward, 1, {n}, x, y);
        right[i] += error(y.data(), Exact(x.size(), 1)) < 4;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == std::vector<int>(4, 299));
}
