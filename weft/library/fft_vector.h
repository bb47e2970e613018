// Complex numbers in vectors of `bytes`, and Fourier transforms within registers; for fft_loops.h.
#pragma once

#include <cstdint>
#include <utility>

namespace weft {
namespace {

#define WEFT_INLINE [[gnu::always_inline]] inline
#define WEFT_UNROLL _Pragma("GCC unroll 32")

template <class T, int bytes>
struct Vectors {
  typedef T V __attribute__((vector_size(bytes)));
  typedef T Unaligned __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
  static constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  using Lanes = std::make_integer_sequence<int, lanes>;

  struct Z {
    V re, im;
    WEFT_INLINE friend Z operator+(const Z& a, const Z& b) { return {a.re + b.re, a.im + b.im}; }
    WEFT_INLINE friend Z operator-(const Z& a, const Z& b) { return {a.re - b.re, a.im - b.im}; }
    WEFT_INLINE friend Z operator*(const Z& a, const Z& b) {
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
  };
  // By -i.
  WEFT_INLINE static Z turned(const Z& a) { return {a.im, -a.re}; }
  WEFT_INLINE static Z times(const Z& a, T re, T im) { return {a.re * re - a.im * im, a.re * im + a.im * re}; }
  WEFT_INLINE static Z conj(const Z& a) { return {a.re, -a.im}; }

  WEFT_INLINE static V load(const T* at) { return *reinterpret_cast<const Unaligned*>(at); }
  WEFT_INLINE static void store(T* at, const V& value) { *reinterpret_cast<Unaligned*>(at) = value; }
  WEFT_INLINE static Z row(const T* rows, int64_t i) {
    auto* at = reinterpret_cast<const V*>(rows) + 2 * i;
    return {at[0], at[1]};
  }
  // Of a table, which may lie anywhere.
  WEFT_INLINE static Z table_row(const T* table, int64_t i) {
    return {load(table + 2 * lanes * i), load(table + 2 * lanes * i + lanes)};
  }
  WEFT_INLINE static void put_row(T* rows, int64_t i, const Z& value) {
    auto* at = reinterpret_cast<V*>(rows) + 2 * i;
    at[0] = value.re;
    at[1] = value.im;
  }

  template <int... j>
  WEFT_INLINE static Z parted(const V& a, const V& b, std::integer_sequence<int, j...>) {
    return {__builtin_shufflevector(a, b, (2 * j)...), __builtin_shufflevector(a, b, (2 * j + 1)...)};
  }
  template <int... j>
  WEFT_INLINE static void interleaved(const Z& z, V& a, V& b, std::integer_sequence<int, j...>) {
    a = __builtin_shufflevector(z.re, z.im, (j / 2 + j % 2 * lanes)...);
    b = __builtin_shufflevector(z.re, z.im, (j / 2 + j % 2 * lanes + lanes / 2)...);
  }
  template <int... j>
  WEFT_INLINE static V reversed(const V& a, std::integer_sequence<int, j...>) {
    return __builtin_shufflevector(a, a, (lanes - 1 - j)...);
  }

  // Complex numbers side by side in memory.
  WEFT_INLINE static Z load_numbers(const T* at) { return parted(load(at), load(at + lanes), Lanes{}); }
  WEFT_INLINE static void store_numbers(T* at, const Z& z) {
    V a, b;
    interleaved(z, a, b, Lanes{});
    store(at, a);
    store(at + lanes, b);
  }
  WEFT_INLINE static Z load_some(const T* at, int64_t count) {
    alignas(bytes) T some[2 * lanes] = {};
    for (int64_t i = 0; i < 2 * count; ++i) some[i] = at[i];
    return load_numbers(some);
  }
  WEFT_INLINE static void store_some(T* at, const Z& z, int64_t count) {
    alignas(bytes) T some[2 * lanes];
    store_numbers(some, z);
    for (int64_t i = 0; i < 2 * count; ++i) at[i] = some[i];
  }

  template <int step, int... j>
  WEFT_INLINE static void exchange(V& a, V& b, std::integer_sequence<int, j...>) {
    V low = __builtin_shufflevector(a, b, (j & step ? lanes + j - step : j)...);
    b = __builtin_shufflevector(a, b, (j & step ? lanes + j : j + step)...);
    a = low;
  }
  template <int step>
  WEFT_INLINE static void exchange(Z& a, Z& b, Lanes all) {
    exchange<step>(a.re, b.re, all);
    exchange<step>(a.im, b.im, all);
  }
  // Element j of row i and element i of row j change places, in each half where there are half as many rows as lanes.
  template <int count, int step = 1, class Row>
  WEFT_INLINE static void transpose(Row* block) {
    if constexpr (step < count) {
      WEFT_UNROLL for (int i = 0; i < count; ++i) if (!(i & step)) exchange<step>(block[i], block[i + step], Lanes{});
      transpose<count, 2 * step>(block);
    }
  }
  template <int... j>
  WEFT_INLINE static V halves(const T* low, const T* high, std::integer_sequence<int, j...>) {
    typedef T Half __attribute__((vector_size(bytes / 2)));
    typedef T Unaligned __attribute__((vector_size(bytes / 2), aligned(alignof(T)), may_alias));
    Half a = *reinterpret_cast<const Unaligned*>(low), b = *reinterpret_cast<const Unaligned*>(high);
    return __builtin_shufflevector(a, b, j...);
  }
  // Of as many lines as there are lanes, which begin at line(0), line(1), ...: number i of each is vector i of `loaded`
  // ones. Halves of two lines come from memory as one vector, which takes one exchange less; two lanes have a whole
  // line in each.
  static constexpr int loaded = lanes == 2 ? 2 : lanes / 2;
  template <class Line>
  WEFT_INLINE static void load_lines(V* block, const Line& line) {
    WEFT_UNROLL for (int i = 0; i < loaded; ++i) {
      if constexpr (lanes == 2)
        block[i] = load(line(i));
      else
        block[i] = halves(line(i), line(i + loaded), Lanes{});
    }
    transpose<loaded>(block);
  }
  // The other way, `lanes` numbers of each: memory takes whole vectors best.
  template <class Line>
  WEFT_INLINE static void store_lines(V* block, const Line& line) {
    transpose<lanes>(block);
    WEFT_UNROLL for (int i = 0; i < lanes; ++i) store(line(i), block[i]);
  }

  WEFT_INLINE static Z swapped(const Z& z, bool swap) { return swap ? Z{z.im, z.re} : z; }
};

// Transforms of a power of two, within registers.
template <class T, int bytes>
struct Butterfly : Vectors<T, bytes> {
  using Base = Vectors<T, bytes>;
  using typename Base::Z;

  // By exp(-2 pi i k / n), n at most 16, k below n / 2.
  template <int n>
  WEFT_INLINE static Z rotated(const Z& a, int k) {
    constexpr T cosines[] = {1, T(0.92387953251128675613), T(0.70710678118654752440), T(0.38268343236508977173), 0};
    int step = k * 16 / n;
    if (step == 0) return a;
    if (step == 4) return Base::turned(a);
    if (step == 2) return {cosines[2] * (a.re + a.im), cosines[2] * (a.im - a.re)};
    if (step == 6) return {cosines[2] * (a.im - a.re), -cosines[2] * (a.re + a.im)};
    T cosine = step < 4 ? cosines[step] : -cosines[8 - step], sine = step < 4 ? cosines[4 - step] : cosines[step - 4];
    return Base::times(a, cosine, -sine);
  }

  template <int n>
  WEFT_INLINE static void transform(Z* x) {
    if constexpr (n == 2) {
      Z a = x[0];
      x[0] = a + x[1];
      x[1] = a - x[1];
    } else if constexpr (n == 4) {
      Z a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = Base::turned(x[1] - x[3]);
      x[0] = a + c;
      x[1] = b + d;
      x[2] = a - c;
      x[3] = b - d;
    } else {
      Z even[n / 2], odd[n / 2];
      WEFT_UNROLL for (int k = 0; k < n / 2; ++k) {
        even[k] = x[2 * k];
        odd[k] = x[2 * k + 1];
      }
      transform<n / 2>(even);
      transform<n / 2>(odd);
      WEFT_UNROLL for (int k = 0; k < n / 2; ++k) {
        Z turned = rotated<n>(odd[k], k);
        x[k] = even[k] + turned;
        x[k + n / 2] = even[k] - turned;
      }
    }
  }

  // Terms j and radix - j have conjugate roots: sums and differences of the two by real numbers.
  template <int radix>
  WEFT_INLINE static void transform_odd(Z* x, const T* roots) {
    Z sums[radix / 2 + 1], differences[radix / 2 + 1], first = x[0];
    WEFT_UNROLL for (int j = 1; j <= radix / 2; ++j) {
      sums[j] = x[j] + x[radix - j];
      differences[j] = x[j] - x[radix - j];
      x[0] = x[0] + sums[j];
    }
    WEFT_UNROLL for (int k = 1; k <= radix / 2; ++k) {
      Z even = first, turn = {};
      WEFT_UNROLL for (int j = 1; j <= radix / 2; ++j)
          add_term(roots + 2 * (j * k % radix), sums[j], differences[j], even, turn);
      x[k] = even + turn;
      x[radix - k] = even - turn;
    }
  }

  WEFT_INLINE static void three(Z& a, Z& b, Z& c) {
    Z sum = b + c, middle = {a.re - sum.re * T(0.5), a.im - sum.im * T(0.5)}, turn = Base::turned(b - c);
    turn = {turn.re * T(0.86602540378443864676), turn.im * T(0.86602540378443864676)};
    a = a + sum;
    b = middle + turn;
    c = middle - turn;
  }

  WEFT_INLINE static void nine(Z* x, const T* roots) {
    WEFT_UNROLL for (int b = 0; b < 3; ++b) three(x[b], x[b + 3], x[b + 6]);
    WEFT_UNROLL for (int k = 1; k < 3; ++k) WEFT_UNROLL for (int b = 1; b < 3; ++b) x[3 * k + b] =
        Base::times(x[3 * k + b], roots[2 * b * k], roots[2 * b * k + 1]);
    WEFT_UNROLL for (int k = 0; k < 3; ++k) three(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
    Z y[9];
    WEFT_UNROLL for (int i = 0; i < 9; ++i) y[i] = x[i % 3 * 3 + i / 3];
    WEFT_UNROLL for (int i = 0; i < 9; ++i) x[i] = y[i];
  }

  WEFT_INLINE static void add_term(const T* root, const Z& sum, const Z& difference, Z& even, Z& turn) {
    even = {even.re + sum.re * root[0], even.im + sum.im * root[0]};
    turn = {turn.re - difference.im * root[1], turn.im + difference.re * root[1]};
  }

  // The same for a radix that the compiler does not know, up to 47; into `y`.
  WEFT_INLINE static void transform_any(const Z* x, int radix, const T* roots, Z* y) {
    Z sums[24] = {}, differences[24] = {};
    y[0] = x[0];
    for (int j = 1; j <= radix / 2; ++j) {
      sums[j] = x[j] + x[radix - j];
      differences[j] = x[j] - x[radix - j];
      y[0] = y[0] + sums[j];
    }
    for (int k = 1; k <= radix / 2; ++k) {
      Z even = x[0], turn = {};
      for (int j = 1, at = k; j <= radix / 2; ++j, at = at + k < radix ? at + k : at + k - radix)
        add_term(roots + 2 * at, sums[j], differences[j], even, turn);
      y[k] = even + turn;
      y[radix - k] = even - turn;
    }
  }
};

}  // namespace
}  // namespace weft
