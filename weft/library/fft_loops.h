// The loops of Fourier transforms over vectors of `bytes`; for fft_engine_*.cpp, each compiled for another kind of CPU.
// Nothing here may be seen by other files, nor may it call functions of the standard library that others share: the
// linker would keep one copy for all, with instructions that some CPUs lack.
#pragma once

#include "weft/library/fft_engine.h"
#include "weft/library/fft_vector.h"

namespace weft {
namespace {

template <class T, int bytes>
struct Loops : Butterfly<T, bytes> {
  using Base = Butterfly<T, bytes>;
  using Base::lanes;
  using typename Base::V;
  using typename Base::Z;

  static void gather(FftLines<const T> from, int64_t count, bool swap, T* rows) {
    if (from.apart == 1 && from.lanes > 1) {
      for (int64_t k = 0; k < count; ++k) {
        const T* at = from.at + 2 * k * from.step;
        Base::put_row(
            rows, k,
            Base::swapped(from.lanes == lanes ? Base::load_numbers(at) : Base::load_some(at, from.lanes), swap));
      }
      return;
    }
    if (from.step != 1) return gather_apart(from, count, swap, rows);
    constexpr int some = Base::loaded / 2;
    if (count < some) return gather_apart(from, count, swap, rows);
    blocks_of(count, some, [&](int64_t k) {
      V block[Base::loaded];
      const T* at = from.at + 2 * k;
      if (from.lanes == lanes)
        Base::load_lines(block, [&](int l) { return at + 2 * l * from.apart; });
      else
        Base::load_lines(block, [&](int l) { return at + 2 * (l < from.lanes ? l : 0) * from.apart; });
      WEFT_UNROLL for (int i = 0; i < some; ++i)
          Base::put_row(rows, k + i, Base::swapped({block[2 * i], block[2 * i + 1]}, swap));
    });
  }

  // Runs body(first) for blocks of `size` of at least as many elements; the last block may overlap the one before.
  template <class Body>
  WEFT_INLINE static void blocks_of(int64_t count, int size, const Body& body) {
    for (int64_t k = 0; k < count; k += size) body(k + size <= count ? k : count - size);
  }

  static void gather_apart(FftLines<const T> from, int64_t count, bool swap, T* rows) {
    for (int64_t k = 0; k < count; ++k)
      for (int64_t l = 0; l < lanes; ++l) {
        const T* at = from.at + 2 * ((l < from.lanes ? l : 0) * from.apart + k * from.step);
        rows[2 * lanes * k + l] = at[swap];
        rows[2 * lanes * k + lanes + l] = at[!swap];
      }
  }

  static void gather_reals(const T* from, int64_t apart, int64_t some_lanes, int64_t count, T* rows) {
    constexpr int some = Base::loaded;
    if (count >= some)
      return blocks_of(count, some, [&](int64_t k) {
        V block[some];
        Base::load_lines(block, [&](int l) { return from + (l < some_lanes ? l : 0) * apart + k; });
        WEFT_UNROLL for (int i = 0; i < some; ++i) Base::put_row(rows, k + i, {block[i], V{}});
      });
    for (int64_t k = 0; k < count; ++k)
      for (int64_t l = 0; l < lanes; ++l) {
        rows[2 * lanes * k + l] = from[(l < some_lanes ? l : 0) * apart + k];
        rows[2 * lanes * k + lanes + l] = 0;
      }
  }

  static void scatter(const T* rows, int64_t count, bool swap, T scale, FftLines<T> to) {
    auto scaled = [&](int64_t k) {
      Z z = Base::swapped(Base::row(rows, k), swap);
      return Z{z.re * scale, z.im * scale};
    };
    if (to.apart == 1 && to.lanes > 1) {
      for (int64_t k = 0; k < count; ++k) {
        T* at = to.at + 2 * k * to.step;
        if (to.lanes == lanes)
          Base::store_numbers(at, scaled(k));
        else
          Base::store_some(at, scaled(k), to.lanes);
      }
      return;
    }
    constexpr int some = lanes / 2;
    if (to.step != 1 || count < some) return scatter_apart(rows, count, swap, scale, to);
    alignas(64) T nowhere[lanes];
    blocks_of(count, some, [&](int64_t k) {
      V block[lanes];
      T* at = to.at + 2 * k;
      WEFT_UNROLL for (int i = 0; i < some; ++i) {
        Z z = scaled(k + i);
        block[2 * i] = z.re;
        block[2 * i + 1] = z.im;
      }
      if (to.lanes == lanes)
        Base::store_lines(block, [&](int l) { return at + 2 * l * to.apart; });
      else
        Base::store_lines(block, [&](int l) { return l < to.lanes ? at + 2 * l * to.apart : nowhere; });
    });
  }

  static void scatter_apart(const T* rows, int64_t count, bool swap, T scale, FftLines<T> to) {
    for (int64_t k = 0; k < count; ++k)
      for (int64_t l = 0; l < to.lanes; ++l) {
        T* at = to.at + 2 * (l * to.apart + k * to.step);
        at[swap] = rows[2 * lanes * k + l] * scale;
        at[!swap] = rows[2 * lanes * k + lanes + l] * scale;
      }
  }

  template <int radix>
  WEFT_INLINE static void butterfly(Z* x, const T* roots) {
    if constexpr (radix == 3)
      Base::three(x[0], x[1], x[2]);
    else if constexpr (radix == 9)
      Base::nine(x, roots);
    else if constexpr (radix % 2 == 1)
      Base::template transform_odd<radix>(x, roots);
    else
      Base::template transform<radix>(x);
  }

  // The last pass, and the first group of the others, have twiddles of one: they are `plain`.
  template <int radix, bool plain>
  WEFT_INLINE static void group(const FftPass<T>& pass, const T* from, const T* w, T* to) {
    for (int64_t r = 0; r < pass.stride; ++r) {
      Z x[radix];
      WEFT_UNROLL for (int j = 0; j < radix; ++j) x[j] = Base::row(from, pass.stride * pass.groups * j + r);
      butterfly<radix>(x, pass.roots);
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
        Z x[47], y[47];
        for (int j = 0; j < radix; ++j) x[j] = Base::row(from, pass.stride * pass.groups * j + r);
        Base::transform_any(x, radix, pass.roots, y);
        Base::put_row(to, r, y[0]);
        for (int k = 1; k < radix; ++k)
          Base::put_row(to, pass.stride * k + r, Base::times(y[k], w[2 * k - 2], w[2 * k - 1]));
      }
    }
  }

  static T* transform_rows(const FftPass<T>* passes, int64_t count, T* rows, T* other) {
    for (const FftPass<T>* pass = passes; pass != passes + count; ++pass) {
      switch (pass->radix) {
        case 2:
          run<2>(*pass, rows, other);
          break;
        case 3:
          run<3>(*pass, rows, other);
          break;
        case 4:
          run<4>(*pass, rows, other);
          break;
        case 5:
          run<5>(*pass, rows, other);
          break;
        case 7:
          run<7>(*pass, rows, other);
          break;
        case 8:
          run<8>(*pass, rows, other);
          break;
        case 9:
          run<9>(*pass, rows, other);
          break;
        default:
          run_any(*pass, rows, other);
          break;
      }
      T* done = other;
      other = rows;
      rows = done;
    }
    return rows;
  }

  template <bool whole>
  WEFT_INLINE static void join_block(const T* rows, const T* twiddles, int64_t count, int64_t some, bool swap, T scale,
                                     T* to) {
    Z block[lanes];
    WEFT_UNROLL for (int i = 0; i < lanes; ++i) {
      int64_t at = whole || i < some ? i : 0;
      block[i] = Base::row(rows, at) * Base::table_row(twiddles, at);
    }
    Base::template transpose<lanes>(block);
    Base::template transform<lanes>(block);
    WEFT_UNROLL for (int l = 0; l < lanes; ++l) {
      Z z = Base::swapped(block[l], swap);
      z = {z.re * scale, z.im * scale};
      if (whole)
        Base::store_numbers(to + 2 * count * l, z);
      else
        Base::store_some(to + 2 * count * l, z, some);
    }
  }

  static void join(const T* rows, int64_t count, const T* twiddles, bool swap, T scale, T* to) {
    int64_t k = 0;
    for (; k + lanes <= count; k += lanes)
      join_block<true>(rows + 2 * lanes * k, twiddles + 2 * lanes * k, count, lanes, swap, scale, to + 2 * k);
    if (k < count)
      join_block<false>(rows + 2 * lanes * k, twiddles + 2 * lanes * k, count, count - k, swap, scale, to + 2 * k);
  }

  static void turn(T* rows, int64_t count, const T* steps, const T* twiddles) {
    for (int64_t k = 0; k < count; ++k)
      Base::put_row(rows, k,
                    Base::row(rows, k) * Base::times(Base::table_row(twiddles, k), steps[2 * k], steps[2 * k + 1]));
  }

  static void multiply(const T* a, const T* b, int64_t count, bool swap_a, bool swap_to, T scale, T* to) {
    for (int64_t k = 0; k < count; k += lanes) {
      int64_t some = count - k;
      bool whole = some >= lanes;
      Z x = whole ? Base::load_numbers(a + 2 * k) : Base::load_some(a + 2 * k, some);
      Z y = whole ? Base::load_numbers(b + 2 * k) : Base::load_some(b + 2 * k, some);
      Z z = Base::swapped(Base::swapped(x, swap_a) * y, swap_to);
      z = {z.re * scale, z.im * scale};
      if (whole)
        Base::store_numbers(to + 2 * k, z);
      else
        Base::store_some(to + 2 * k, z, some);
    }
  }

  // Number k and the conjugate of its partner become those of the other transform; w: the root.
  template <bool merge>
  WEFT_INLINE static void combine(Z& low, Z& mirrored, const Z& w) {
    Z even = low + mirrored, odd = low - mirrored;
    if constexpr (merge) {
      odd = Base::conj(w) * odd;
      odd = {-odd.im, odd.re};
    } else {
      even = {even.re * T(0.5), even.im * T(0.5)};
      odd = Base::turned({odd.re * T(0.5), odd.im * T(0.5)}) * w;
    }
    low = even + odd;
    mirrored = even - odd;
  }

  // As many pairs as there are lanes: `low` and, in the order of memory, `high` are numbers k, k + 1, ... and their
  // partners, w the roots.
  template <bool merge>
  WEFT_INLINE static void pair(Z& low, Z& high, const Z& w) {
    auto mirrored = [](const Z& z) {
      return Base::conj({Base::reversed(z.re, typename Base::Lanes{}), Base::reversed(z.im, typename Base::Lanes{})});
    };
    high = mirrored(high);
    combine<merge>(low, high, w);
    high = mirrored(high);
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
      Base::store_numbers(to + 2 * k, low);
      Base::store_numbers(to + 2 * partner, high);
    }
    for (; k < end; ++k) {
      const T *a = from + 2 * k, *b = from + 2 * (half - k);
      Z low = {V{a[0]}, V{a[1]}}, high = {V{} + b[0], V{} + b[1]};
      pair<merge>(low, high, {V{cosines[k]}, V{sines[k]}});
      T *c = to + 2 * k, *d = to + 2 * (half - k);
      c[0] = low.re[0];
      c[1] = low.im[0];
      d[0] = high.re[lanes - 1];
      d[1] = high.im[lanes - 1];
    }
  }

  static void split_rows(T* rows, int64_t half, const T* roots) {
    const T *cosines = roots, *sines = roots + half / 2 + 1;
    Z first = Base::row(rows, 0);
    Base::put_row(rows, 0, {first.re + first.im, V{}});
    Base::put_row(rows, half, {first.re - first.im, V{}});
    for (int64_t k = 1; k <= half / 2; ++k) {
      Z low = Base::row(rows, k), mirrored = Base::conj(Base::row(rows, half - k));
      combine<false>(low, mirrored, {V{} + cosines[k], V{} + sines[k]});
      Base::put_row(rows, k, low);
      Base::put_row(rows, half - k, Base::conj(mirrored));
    }
  }

  static constexpr FftEngine<T> engine() {
    return {lanes, gather, gather_reals, scatter,      transform_rows, split_rows,
            join,  turn,   multiply,     pairs<false>, pairs<true>};
  }
};

}  // namespace
}  // namespace weft
