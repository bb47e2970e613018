// Discrete Fourier transforms: one-dimensional plans, applied along each dimension.
#include "weft/library/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <numbers>
#include <vector>

namespace weft {
namespace {

template <class T>
using Numbers = std::vector<std::complex<T>>;

// exp(-2 pi i k / n), computed in double whatever T.
template <class T>
std::complex<T> root(int64_t k, int64_t n) {
  double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
}

// Products without the checks for infinities that std::complex's own operator makes.
template <class T>
std::complex<T> times(const std::complex<T>& a, const std::complex<T>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// A forward transform of one length.
template <class T>
class Plan {
 public:
  explicit Plan(int64_t n) : n_(n) {
    int64_t rest = n;
    for (int64_t radix : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31})
      while (rest % radix == 0 && rest > 1) radices_.push_back(radix), rest /= radix;
    if (rest > 1) {
      prepare_bluestein();
      return;
    }
    int64_t length = n;
    for (int64_t radix : radices_) {
      Numbers<T> twiddles, roots;
      for (int64_t q = 0; q < length / radix; ++q)
        for (int64_t k = 0; k < radix; ++k) twiddles.push_back(root<T>(q * k, length));
      for (int64_t k = 0; k < radix; ++k) roots.push_back(root<T>(k, radix));
      twiddles_.push_back(std::move(twiddles));
      roots_.push_back(std::move(roots));
      length /= radix;
    }
  }

  // In place; `work` holds as many numbers.
  void run(std::complex<T>* x, std::complex<T>* work) const {
    if (inner_) return bluestein(x);
    std::complex<T>*from = x, *to = work;
    int64_t length = n_, stride = 1;
    for (size_t i = 0; i < radices_.size(); ++i) {
      pass(i, length, stride, from, to);
      length /= radices_[i];
      stride *= radices_[i];
      std::swap(from, to);
    }
    if (from != x) std::copy_n(from, n_, x);
  }

 private:
  // One Stockham step: blocks of `length` with elements `stride` apart become radix times as many, shorter ones.
  void pass(size_t i, int64_t length, int64_t stride, const std::complex<T>* from, std::complex<T>* to) const {
    int64_t radix = radices_[i], m = length / radix;
    for (int64_t q = 0; q < m; ++q) {
      const std::complex<T>* w = &twiddles_[i][static_cast<size_t>(q * radix)];
      const std::complex<T>* x = from + stride * q;
      std::complex<T>* y = to + stride * radix * q;
      if (radix == 2) two(x, x + stride * m, y, y + stride, w[1], stride);
      else if (radix == 4) four(x, stride * m, y, stride, w);
      else any(i, x, stride * m, y, stride, w);
    }
  }

  static void two(const std::complex<T>* a, const std::complex<T>* b, std::complex<T>* y, std::complex<T>* z, std::complex<T> w, int64_t count) {
    for (int64_t r = 0; r < count; ++r) {
      y[r] = a[r] + b[r];
      z[r] = times(a[r] - b[r], w);
    }
  }

  static void four(const std::complex<T>* x, int64_t step, std::complex<T>* y, int64_t stride, const std::complex<T>* w) {
    for (int64_t r = 0; r < stride; ++r) {
      std::complex<T> a = x[r] + x[r + 2 * step], b = x[r] - x[r + 2 * step];
      std::complex<T> c = x[r + step] + x[r + 3 * step], d = x[r + step] - x[r + 3 * step];
      std::complex<T> turned{d.imag(), -d.real()};
      y[r] = a + c;
      y[r + stride] = times(b + turned, w[1]);
      y[r + 2 * stride] = times(a - c, w[2]);
      y[r + 3 * stride] = times(b - turned, w[3]);
    }
  }

  void any(size_t i, const std::complex<T>* x, int64_t step, std::complex<T>* y, int64_t stride, const std::complex<T>* w) const {
    const std::complex<T>* roots = roots_[i].data();
    switch (radices_[i]) {
      case 3: return odd<3>(3, roots, x, step, y, stride, w);
      case 5: return odd<5>(5, roots, x, step, y, stride, w);
      case 7: return odd<7>(7, roots, x, step, y, stride, w);
      default: return odd<31>(radices_[i], roots, x, step, y, stride, w);
    }
  }

  // Terms j and radix - j have conjugate roots: sums and differences of the two by real numbers. `most` is the radix
  // itself, known to the compiler, or more.
  template <int64_t most>
  static void odd(int64_t radix, const std::complex<T>* roots, const std::complex<T>* x, int64_t step, std::complex<T>* y, int64_t stride,
                  const std::complex<T>* w) {
    if (most < 31) radix = most;
    int64_t half = (radix - 1) / 2;
    std::complex<T> sums[most / 2 + 1], differences[most / 2 + 1];
    for (int64_t r = 0; r < stride; ++r) {
      std::complex<T> first = x[r], total = first;
      for (int64_t j = 1; j <= half; ++j) {
        std::complex<T> a = x[r + j * step], b = x[r + (radix - j) * step];
        sums[j] = a + b, differences[j] = a - b;
        total += sums[j];
      }
      y[r] = total;
      for (int64_t k = 1; k <= half; ++k) {
        std::complex<T> even = first, turn{};
        for (int64_t j = 1, at = k; j <= half; ++j, at = at + k < radix ? at + k : at + k - radix)
          even += sums[j] * roots[at].real(), turn += differences[j] * roots[at].imag();
        std::complex<T> turned{-turn.imag(), turn.real()};
        y[r + k * stride] = times(even + turned, w[k]);
        y[r + (radix - k) * stride] = times(even - turned, w[radix - k]);
      }
    }
  }

  // A transform of any length as a convolution with a chirp, by transforms of a power of two (Bluestein 1970).
  void prepare_bluestein() {
    int64_t size = 1;
    while (size < 2 * n_ - 1) size *= 2;
    inner_ = std::make_unique<Plan>(size);
    for (int64_t k = 0; k < n_; ++k) chirp_.push_back(root<T>(k * k % (2 * n_), 2 * n_));
    filter_.assign(static_cast<size_t>(size), {});
    for (int64_t k = 0; k < n_; ++k) {
      filter_[static_cast<size_t>(k)] = std::conj(chirp_[static_cast<size_t>(k)]);
      if (k > 0) filter_[static_cast<size_t>(size - k)] = std::conj(chirp_[static_cast<size_t>(k)]);
    }
    Numbers<T> work(static_cast<size_t>(size));
    inner_->run(filter_.data(), work.data());
  }

  void bluestein(std::complex<T>* x) const {
    size_t size = filter_.size();
    Numbers<T> a(size), work(size);
    for (size_t k = 0; k < chirp_.size(); ++k) a[k] = times(x[k], chirp_[k]);
    inner_->run(a.data(), work.data());
    for (size_t k = 0; k < size; ++k) a[k] = std::conj(times(a[k], filter_[k]));
    inner_->run(a.data(), work.data());
    for (size_t k = 0; k < chirp_.size(); ++k) x[k] = times(std::conj(a[k]), chirp_[k]) / static_cast<T>(size);
  }

  int64_t n_;
  std::vector<int64_t> radices_;
  std::vector<Numbers<T>> twiddles_, roots_;
  std::unique_ptr<Plan> inner_;
  Numbers<T> chirp_, filter_;
};

// Every line of `dims` along `axis`, forwards.
template <class T>
void along(std::complex<T>* data, const std::vector<int64_t>& dims, size_t axis) {
  int64_t n = dims[axis], outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) inner *= dims[i];
  Plan<T> plan(n);
  Numbers<T> line(static_cast<size_t>(n)), work(static_cast<size_t>(n));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      std::complex<T>* start = data + o * n * inner + i;
      if (inner == 1) {
        plan.run(start, work.data());
        continue;
      }
      for (int64_t k = 0; k < n; ++k) line[static_cast<size_t>(k)] = start[k * inner];
      plan.run(line.data(), work.data());
      for (int64_t k = 0; k < n; ++k) start[k * inner] = line[static_cast<size_t>(k)];
    }
}

template <class T>
void conjugate(Numbers<T>& data) {
  for (std::complex<T>& z : data) z = std::conj(z);
}

template <class T>
void all_dims(Numbers<T>& data, const std::vector<int64_t>& dims, bool inverse) {
  if (inverse) conjugate(data);
  for (size_t axis = 1; axis < dims.size(); ++axis) along(data.data(), dims, axis);
  if (!inverse) return;
  T count = 1;
  for (size_t axis = 1; axis < dims.size(); ++axis) count *= static_cast<T>(dims[axis]);
  for (std::complex<T>& z : data) z = std::conj(z) / count;
}

int64_t product(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

template <class T>
void real_forward(std::vector<int64_t> dims, const T* input, std::complex<T>* output) {
  Numbers<T> data(input, input + product(dims));
  all_dims(data, dims, false);
  int64_t n = dims.back(), half = n / 2 + 1, rows = product(dims) / n;
  for (int64_t row = 0; row < rows; ++row) std::copy_n(&data[static_cast<size_t>(row * n)], half, output + row * half);
}

// The rest of a Hermitian spectrum: element (i, j) is the conjugate of (-i, -j).
template <class T>
void real_inverse(std::vector<int64_t> dims, const std::complex<T>* input, T* output) {
  int64_t n = dims.back(), half = n / 2 + 1, rows = product(dims) / n;
  // The dimensions before the last one first, on the half alone; then every line by itself.
  std::vector<int64_t> half_dims = dims;
  half_dims.back() = half;
  Numbers<T> data(input, input + rows * half);
  conjugate(data);
  T count = static_cast<T>(n);
  for (size_t axis = 1; axis + 1 < dims.size(); ++axis) along(data.data(), half_dims, axis), count *= static_cast<T>(dims[axis]);
  Plan<T> plan(n);
  Numbers<T> line(static_cast<size_t>(n)), work(static_cast<size_t>(n));
  for (int64_t row = 0; row < rows; ++row) {
    const std::complex<T>* from = &data[static_cast<size_t>(row * half)];
    for (int64_t k = 0; k < n; ++k) line[static_cast<size_t>(k)] = k < half ? from[k] : std::conj(from[n - k]);
    // The imaginary parts of what stands for itself are ignored.
    line[0] = line[0].real();
    if (n % 2 == 0) line[static_cast<size_t>(n / 2)] = line[static_cast<size_t>(n / 2)].real();
    plan.run(line.data(), work.data());
    for (int64_t k = 0; k < n; ++k) output[row * n + k] = line[static_cast<size_t>(k)].real() / count;
  }
}

template <class T>
void run(FftKind kind, int64_t batch, std::span<const int64_t> lengths, const void* input, void* output) {
  std::vector<int64_t> dims{batch};
  dims.insert(dims.end(), lengths.begin(), lengths.end());
  if (product(dims) == 0) return;
  if (kind == FftKind::real_forward) return real_forward<T>(dims, static_cast<const T*>(input), static_cast<std::complex<T>*>(output));
  if (kind == FftKind::real_inverse) return real_inverse<T>(dims, static_cast<const std::complex<T>*>(input), static_cast<T*>(output));
  auto* from = static_cast<const std::complex<T>*>(input);
  Numbers<T> data(from, from + product(dims));
  all_dims(data, dims, kind == FftKind::inverse);
  std::copy(data.begin(), data.end(), static_cast<std::complex<T>*>(output));
}

}  // namespace

void fft(DType dtype, FftKind kind, int64_t batch, std::span<const int64_t> lengths, const void* input, void* output) {
  if (dtype == DType::c128) run<double>(kind, batch, lengths, input, output);
  else run<float>(kind, batch, lengths, input, output);
}

}  // namespace weft
