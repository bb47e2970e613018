// The loops of Fourier transforms over vectors of `bytes`; for fft_engine_*.cpp, each compiled for another kind of CPU. Nothing
// here may be seen by other files, nor may it call functions of the standard library that others share: the linker would keep
// one copy for all, with instructions that some CPUs lack.
#pragma once

#include <utility>

#include "weft/library/fft_engine.h"

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
    WEFT_INLINE friend Z operator*(const Z& a, const Z& b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
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
  WEFT_INLINE static Z table_row(const T* table, int64_t i) { return {load(table + 2 * lanes * i), load(table + 2 * lanes * i + lanes)}; }
  WEFT_INLINE static void put_row(T* rows, int64_t i, const Z& value) {
    auto* at = reinterpret_cast<V*>(rows) + 2 * i;
    at[0] = value.re, at[1] = value.im;
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
  WEFT_INLINE static V reversed(const V& a, std::integer_sequence<int, j...>) { return __builtin_shufflevector(a, a, (lanes - 1 - j)...); }

  // Complex numbers side by side in memory.
  WEFT_INLINE static Z load_numbers(const T* at) { return parted(load(at), load(at + lanes), Lanes{}); }
  WEFT_INLINE static void store_numbers(T* at, const Z& z) {
    V a, b;
    interleaved(z, a, b, Lanes{});
    store(at, a), store(at + lanes, b);
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
  // Element j of vector i and element i of vector j change places.
  template <int step = 1>
  WEFT_INLINE static void transpose(Z* rows) {
    if constexpr (step < lanes) {
      WEFT_UNROLL for (int i = 0; i < lanes; ++i) {
        if (i & step) continue;
        exchange<step>(rows[i].re, rows[i + step].re, Lanes{});
        exchange<step>(rows[i].im, rows[i + step].im, Lanes{});
      }
      transpose<2 * step>(rows);
    }
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
      x[0] = a + x[1], x[1] = a - x[1];
    } else if constexpr (n == 4) {
      Z a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = Base::turned(x[1] - x[3]);
      x[0] = a + c, x[1] = b + d, x[2] = a - c, x[3] = b - d;
    } else {
      Z even[n / 2], odd[n / 2];
      WEFT_UNROLL for (int k = 0; k < n / 2; ++k) even[k] = x[2 * k], odd[k] = x[2 * k + 1];
      transform<n / 2>(even), transform<n / 2>(odd);
      WEFT_UNROLL for (int k = 0; k < n / 2; ++k) {
        Z turned = rotated<n>(odd[k], k);
        x[k] = even[k] + turned, x[k + n / 2] = even[k] - turned;
      }
    }
  }

  // Terms j and radix - j have conjugate roots: sums and differences of the two by real numbers.
  template <int radix>
  WEFT_INLINE static void transform_odd(Z* x, const T* roots) {
    Z sums[radix / 2 + 1], differences[radix / 2 + 1], first = x[0];
    WEFT_UNROLL for (int j = 1; j <= radix / 2; ++j) {
      sums[j] = x[j] + x[radix - j], differences[j] = x[j] - x[radix - j];
      x[0] = x[0] + sums[j];
    }
    WEFT_UNROLL for (int k = 1; k <= radix / 2; ++k) {
      Z even = first, turn = {};
      WEFT_UNROLL for (int j = 1; j <= radix / 2; ++j) add_term(roots + 2 * (j * k % radix), sums[j], differences[j], even, turn);
      x[k] = even + turn, x[radix - k] = even - turn;
    }
  }

  WEFT_INLINE static void three(Z& a, Z& b, Z& c) {
    Z sum = b + c, middle = {a.re - sum.re * T(0.5), a.im - sum.im * T(0.5)}, turn = Base::turned(b - c);
    turn = {turn.re * T(0.86602540378443864676), turn.im * T(0.86602540378443864676)};
    a = a + sum, b = middle + turn, c = middle - turn;
  }

  WEFT_INLINE static void nine(Z* x, const T* roots) {
    WEFT_UNROLL for (int b = 0; b < 3; ++b) three(x[b], x[b + 3], x[b + 6]);
    WEFT_UNROLL for (int k = 1; k < 3; ++k)
      WEFT_UNROLL for (int b = 1; b < 3; ++b) x[3 * k + b] = Base::times(x[3 * k + b], roots[2 * b * k], roots[2 * b * k + 1]);
    WEFT_UNROLL for (int k = 0; k < 3; ++k) three(x[3 * k], x[3 * k + 1], x[3 * k + 2]);
    Z y[9];
    WEFT_UNROLL for (int i = 0; i < 9; ++i) y[i] = x[i % 3 * 3 + i / 3];
    WEFT_UNROLL for (int i = 0; i < 9; ++i) x[i] = y[i];
  }

  WEFT_INLINE static void add_term(const T* root, const Z& sum, const Z& difference, Z& even, Z& turn) {
    even = {even.re + sum.re * root[0], even.im + sum.im * root[0]};
    turn = {turn.re - difference.im * root[1], turn.im + difference.re * root[1]};
  }

  // The same for a radix that the compiler does not know, up to 31; into `y`.
  WEFT_INLINE static void transform_any(const Z* x, int radix, const T* roots, Z* y) {
    Z sums[16] = {}, differences[16] = {};
    y[0] = x[0];
    for (int j = 1; j <= radix / 2; ++j) {
      sums[j] = x[j] + x[radix - j], differences[j] = x[j] - x[radix - j];
      y[0] = y[0] + sums[j];
    }
    for (int k = 1; k <= radix / 2; ++k) {
      Z even = x[0], turn = {};
      for (int j = 1, at = k; j <= radix / 2; ++j, at = at + k < radix ? at + k : at + k - radix)
        add_term(roots + 2 * at, sums[j], differences[j], even, turn);
      y[k] = even + turn, y[radix - k] = even - turn;
    }
  }
};

template <class T, int bytes>
struct Loops : Butterfly<T, bytes> {
  using Base = Butterfly<T, bytes>;
  using typename Base::V;
  using typename Base::Z;
  using Base::lanes;

  static void gather(FftLines<const T> from, int64_t count, bool swap, T* rows) {
    if (from.apart == 1 && from.lanes > 1) {
      for (int64_t k = 0; k < count; ++k) {
        const T* at = from.at + 2 * k * from.step;
        Base::put_row(rows, k, Base::swapped(from.lanes == lanes ? Base::load_numbers(at) : Base::load_some(at, from.lanes), swap));
      }
      return;
    }
    if (from.step != 1) return gather_apart(from, count, swap, rows);
    for (int64_t k = 0; k < count; k += lanes) {
      Z block[lanes];
      int64_t some = count - k < lanes ? count - k : lanes;
      WEFT_UNROLL for (int l = 0; l < lanes; ++l) {
        const T* at = from.at + 2 * ((l < from.lanes ? l : 0) * from.apart + k);
        block[l] = some == lanes ? Base::load_numbers(at) : Base::load_some(at, some);
      }
      Base::transpose(block);
      WEFT_UNROLL for (int i = 0; i < lanes; ++i)
        if (i < some) Base::put_row(rows, k + i, Base::swapped(block[i], swap));
    }
  }

  static void gather_apart(FftLines<const T> from, int64_t count, bool swap, T* rows) {
    for (int64_t k = 0; k < count; ++k)
      for (int64_t l = 0; l < lanes; ++l) {
        const T* at = from.at + 2 * ((l < from.lanes ? l : 0) * from.apart + k * from.step);
        rows[2 * lanes * k + l] = at[swap], rows[2 * lanes * k + lanes + l] = at[!swap];
      }
  }

  static void gather_reals(const T* from, int64_t apart, int64_t some_lanes, int64_t count, T* rows) {
    int64_t k = 0;
    for (; k + lanes <= count; k += lanes) {
      Z block[lanes];
      WEFT_UNROLL for (int l = 0; l < lanes; ++l) block[l] = {Base::load(from + (l < some_lanes ? l : 0) * apart + k), V{}};
      Base::transpose(block);
      WEFT_UNROLL for (int i = 0; i < lanes; ++i) Base::put_row(rows, k + i, block[i]);
    }
    for (; k < count; ++k)
      for (int64_t l = 0; l < lanes; ++l) rows[2 * lanes * k + l] = from[(l < some_lanes ? l : 0) * apart + k], rows[2 * lanes * k + lanes + l] = 0;
  }

  static void scatter(const T* rows, int64_t count, bool swap, T scale, FftLines<T> to) {
    auto scaled = [&](int64_t k) {
      Z z = Base::swapped(Base::row(rows, k), swap);
      return Z{z.re * scale, z.im * scale};
    };
    if (to.apart == 1 && to.lanes > 1) {
      for (int64_t k = 0; k < count; ++k) {
        T* at = to.at + 2 * k * to.step;
        if (to.lanes == lanes) Base::store_numbers(at, scaled(k));
        else Base::store_some(at, scaled(k), to.lanes);
      }
      return;
    }
    if (to.step != 1) return scatter_apart(rows, count, swap, scale, to);
    for (int64_t k = 0; k < count; k += lanes) {
      Z block[lanes];
      int64_t some = count - k < lanes ? count - k : lanes;
      WEFT_UNROLL for (int i = 0; i < lanes; ++i) block[i] = scaled(i < some ? k + i : k);
      Base::transpose(block);
      WEFT_UNROLL for (int l = 0; l < lanes; ++l) {
        T* at = to.at + 2 * (l * to.apart + k);
        if (l >= to.lanes) continue;
        if (some == lanes) Base::store_numbers(at, block[l]);
        else Base::store_some(at, block[l], some);
      }
    }
  }

  static void scatter_apart(const T* rows, int64_t count, bool swap, T scale, FftLines<T> to) {
    for (int64_t k = 0; k < count; ++k)
      for (int64_t l = 0; l < to.lanes; ++l) {
        T* at = to.at + 2 * (l * to.apart + k * to.step);
        at[swap] = rows[2 * lanes * k + l] * scale, at[!swap] = rows[2 * lanes * k + lanes + l] * scale;
      }
  }

  // The last pass, and the first group of the others, have twiddles of one: they are `plain`.
  template <int radix, bool plain>
  WEFT_INLINE static void group(const FftPass<T>& pass, const T* from, const T* w, T* to) {
    for (int64_t r = 0; r < pass.stride; ++r) {
      Z x[radix];
      WEFT_UNROLL for (int j = 0; j < radix; ++j) x[j] = Base::row(from, pass.stride * pass.groups * j + r);
      if constexpr (radix == 3) Base::three(x[0], x[1], x[2]);
      else if constexpr (radix == 9) Base::nine(x, pass.roots);
      else if constexpr (radix % 2 == 1) Base::template transform_odd<radix>(x, pass.roots);
      else Base::template transform<radix>(x);
      Base::put_row(to, r, x[0]);
      WEFT_UNROLL for (int k = 1; k < radix; ++k)
        Base::put_row(to, pass.stride * k + r, plain ? x[k] : Base::times(x[k], w[2 * k - 2], w[2 * k - 1]));
    }
  }

  template <int radix>
  static void run(const FftPass<T>& pass, const T* from, T* to) {
    int64_t block = 2 * lanes * pass.stride;
    group<radix, true>(pass, from, nullptr, to);
    for (int64_t q = 1; q < pass.groups; ++q)
      group<radix, false>(pass, from + block * q, pass.twiddles + 2 * (radix - 1) * q, to + block * radix * q);
  }

  static void run_any(const FftPass<T>& pass, const T* from, T* to) {
    int radix = static_cast<int>(pass.radix);
    int64_t block = 2 * lanes * pass.stride;
    for (int64_t q = 0; q < pass.groups; ++q, from += block, to += block * radix) {
      const T* w = pass.twiddles + 2 * (radix - 1) * q;
      for (int64_t r = 0; r < pass.stride; ++r) {
        Z x[31], y[31];
        for (int j = 0; j < radix; ++j) x[j] = Base::row(from, pass.stride * pass.groups * j + r);
        Base::transform_any(x, radix, pass.roots, y);
        Base::put_row(to, r, y[0]);
        for (int k = 1; k < radix; ++k) Base::put_row(to, pass.stride * k + r, Base::times(y[k], w[2 * k - 2], w[2 * k - 1]));
      }
    }
  }

  static T* transform_rows(const FftPass<T>* passes, int64_t count, T* rows, T* other) {
    for (const FftPass<T>* pass = passes; pass != passes + count; ++pass) {
      switch (pass->radix) {
        case 2: run<2>(*pass, rows, other); break;
        case 3: run<3>(*pass, rows, other); break;
        case 4: run<4>(*pass, rows, other); break;
        case 5: run<5>(*pass, rows, other); break;
        case 7: run<7>(*pass, rows, other); break;
        case 8: run<8>(*pass, rows, other); break;
        case 9: run<9>(*pass, rows, other); break;
        default: run_any(*pass, rows, other); break;
      }
      T* done = other;
      other = rows, rows = done;
    }
    return rows;
  }

  template <bool whole>
  WEFT_INLINE static void join_block(const T* rows, const T* twiddles, int64_t count, int64_t some, bool swap, T scale, T* to) {
    Z block[lanes];
    WEFT_UNROLL for (int i = 0; i < lanes; ++i) {
      int64_t at = whole || i < some ? i : 0;
      block[i] = Base::row(rows, at) * Base::table_row(twiddles, at);
    }
    Base::transpose(block);
    Base::template transform<lanes>(block);
    WEFT_UNROLL for (int l = 0; l < lanes; ++l) {
      Z z = Base::swapped(block[l], swap);
      z = {z.re * scale, z.im * scale};
      if (whole) Base::store_numbers(to + 2 * count * l, z);
      else Base::store_some(to + 2 * count * l, z, some);
    }
  }

  static void join(const T* rows, int64_t count, const T* twiddles, bool swap, T scale, T* to) {
    int64_t k = 0;
    for (; k + lanes <= count; k += lanes) join_block<true>(rows + 2 * lanes * k, twiddles + 2 * lanes * k, count, lanes, swap, scale, to + 2 * k);
    if (k < count) join_block<false>(rows + 2 * lanes * k, twiddles + 2 * lanes * k, count, count - k, swap, scale, to + 2 * k);
  }

  static void turn(T* rows, int64_t count, const T* steps, const T* twiddles) {
    for (int64_t k = 0; k < count; ++k)
      Base::put_row(rows, k, Base::row(rows, k) * Base::times(Base::table_row(twiddles, k), steps[2 * k], steps[2 * k + 1]));
  }

  static void multiply(const T* a, const T* b, int64_t count, bool swap_a, bool swap_to, T scale, T* to) {
    for (int64_t k = 0; k < count; k += lanes) {
      int64_t some = count - k;
      bool whole = some >= lanes;
      Z x = whole ? Base::load_numbers(a + 2 * k) : Base::load_some(a + 2 * k, some);
      Z y = whole ? Base::load_numbers(b + 2 * k) : Base::load_some(b + 2 * k, some);
      Z z = Base::swapped(Base::swapped(x, swap_a) * y, swap_to);
      z = {z.re * scale, z.im * scale};
      if (whole) Base::store_numbers(to + 2 * k, z);
      else Base::store_some(to + 2 * k, z, some);
    }
  }

  // As many pairs as there are lanes, or `some`: `low` and, in the order of memory, `high` are numbers k, k + 1, ... and their
  // partners, w the roots.
  template <bool merge>
  WEFT_INLINE static void pair(Z& low, Z& high, const Z& w) {
    Z mirrored = Base::conj({Base::reversed(high.re, typename Base::Lanes{}), Base::reversed(high.im, typename Base::Lanes{})});
    Z even = low + mirrored, odd = low - mirrored;
    if constexpr (merge) {
      odd = Base::conj(w) * odd;
      odd = {-odd.im, odd.re};
    } else {
      even = {even.re * T(0.5), even.im * T(0.5)};
      odd = Base::turned({odd.re * T(0.5), odd.im * T(0.5)}) * w;
    }
    low = even + odd;
    mirrored = Base::conj(even - odd);
    high = {Base::reversed(mirrored.re, typename Base::Lanes{}), Base::reversed(mirrored.im, typename Base::Lanes{})};
  }

  template <bool merge>
  static void pairs(const T* from, int64_t half, const T* roots, int64_t begin, int64_t end, T* to) {
    const T *cosines = roots, *sines = roots + half / 2 + 1;
    int64_t k = begin;
    for (; k < end; k += lanes) {
      // The last ones once more, where that reads nothing that was written.
      if (k + lanes > end && (from == to || end - begin < lanes)) break;
      if (k + lanes > end) k = end - lanes;
      int64_t partner = half - k - lanes + 1;
      if (partner < k + lanes - 1) break;
      Z low = Base::load_numbers(from + 2 * k), high = Base::load_numbers(from + 2 * partner);
      pair<merge>(low, high, {Base::load(cosines + k), Base::load(sines + k)});
      Base::store_numbers(to + 2 * k, low), Base::store_numbers(to + 2 * partner, high);
    }
    for (; k < end; ++k) {
      const T *a = from + 2 * k, *b = from + 2 * (half - k);
      Z low = {V{a[0]}, V{a[1]}}, high = {V{} + b[0], V{} + b[1]};
      pair<merge>(low, high, {V{cosines[k]}, V{sines[k]}});
      T *c = to + 2 * k, *d = to + 2 * (half - k);
      c[0] = low.re[0], c[1] = low.im[0], d[0] = high.re[lanes - 1], d[1] = high.im[lanes - 1];
    }
  }

  static constexpr FftEngine<T> engine() {
    return {lanes, gather, gather_reals, scatter, transform_rows, join, turn, multiply, pairs<false>, pairs<true>};
  }
};

}  // namespace
}  // namespace weft
