// Plans of one-dimensional complex Fourier transforms: how those of one length are done, and the tables for it.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "weft/library/fft_engine.h"
#include "weft/library/share.h"

namespace weft {

// Uninitialized numbers at a multiple of 64 bytes.
template <class T>
class FftRoom {
 public:
  explicit FftRoom(int64_t count)
      : at_(static_cast<T*>(::operator new(sizeof(T) * static_cast<size_t>(count), alignment))) {}
  ~FftRoom() { ::operator delete(at_, alignment); }
  FftRoom(const FftRoom&) = delete;
  FftRoom& operator=(const FftRoom&) = delete;
  T* get() const { return at_; }

 private:
  static constexpr std::align_val_t alignment{64};
  T* at_;
};

// The engine for the widest vectors that this CPU has. Tests choose others by their bytes.
template <class T>
const FftEngine<T>& fft_engine(int bytes = 0);

// A line alone is done by one thread up to the first of these lengths; where there are many, each is up to the second,
// as its rows are walked in order, which caches far from the CPU are fast enough for.
template <class T>
inline constexpr int64_t fft_longest_alone = (int64_t{1} << 18) / sizeof(T);
template <class T>
inline constexpr int64_t fft_longest_of_many = (int64_t{1} << 20) / sizeof(T);

// What a plan is for: one line, or as few that lanes stay empty; lines, or columns that lie side by side, to fill all
// lanes. Columns are of smooth lengths.
enum class FftUse : uint8_t { alone, many, columns };

// Whether the length has no prime factor over 47: others go by a convolution of this length.
bool is_smooth(int64_t n);
int64_t fft_convolution_length(int64_t n);

// What is transformed: up to `block` lines of contiguous elements, lines `apart` complex numbers apart. `to` may be
// `from`.
template <class T>
struct FftJob {
  const T* from;
  int64_t from_apart;
  T* to;
  int64_t to_apart, lines;
  bool inverse;
  T scale;
};

// Immutable, so that threads may share it.
template <class T>
class FftPlan {
 public:
  FftPlan(const FftEngine<T>& engine, int64_t n, FftUse use);

  int64_t length() const { return n_; }
  // How many lines a job may have.
  int64_t block() const { return way_ == Way::beside ? engine_.lanes : 1; }
  // Whether threads share a job; else many jobs.
  bool is_shared() const;
  // Numbers of type T that a job works with, at a multiple of 64 bytes.
  int64_t room() const;
  void run(const FftJob<T>& job, T* room, Share share) const;
  // Lanes side by side in memory, elements `step` apart; for columns.
  void run_columns(FftLines<const T> from, FftLines<T> to, bool inverse, T scale, T* room) const;
  // Lines of real numbers, `n / 2 + 1` numbers of each spectrum one after the other; where is_beside().
  bool is_beside() const { return way_ == Way::beside; }
  void run_reals(const T* from, T* to, int64_t lines, T* room) const;
  // Lines of 2 n real numbers, and `n + 1` numbers of each spectrum; where is_beside(). `roots`: see
  // FftEngine::split_real.
  void run_even_reals(const T* from, T* to, int64_t lines, const T* roots, T* room) const;
  int64_t bytes() const;

 private:
  // beside: a line in each lane; inside: a line is as many shorter ones as there are lanes; split: it is a matrix,
  // whose columns are transformed, then its rows; chirp: a convolution (Bluestein 1970).
  enum class Way : uint8_t { beside, inside, split, chirp };

  struct Passes {
    std::vector<FftPass<T>> passes;
    std::vector<std::vector<T>> tables;
    int64_t length = 1;
  };

  Way way_for(FftUse use) const;
  Passes passes_of(int64_t length) const;
  T* transform(const Passes& passes, T* rows, T* other) const;
  // Two buffers of rows, each with one more for the last number of a real transform.
  int64_t row_room(int64_t length) const { return 4 * engine_.lanes * (length + 1); }
  void plan_inside();
  void plan_split();
  void plan_chirp();
  void columns(const FftJob<T>& job, T* stage, int64_t begin, int64_t end) const;
  void rows(const FftJob<T>& job, const T* stage, int64_t begin, int64_t end) const;
  void split(const FftJob<T>& job, T* room, Share share) const;
  void convolve(const FftJob<T>& job, T* room, Share share) const;

  const FftEngine<T>& engine_;
  int64_t n_;
  Way way_;
  Passes first_, second_;            // of the lines; split: of columns and of rows
  std::vector<T> steps_, twiddles_;  // see FftEngine; split: steps_ for each block of columns
  std::unique_ptr<FftPlan> inner_;   // chirp
  std::vector<T> chirp_, filter_;
};

extern template class FftPlan<float>;
extern template class FftPlan<double>;

// exp(-2 pi i k / n), to the last bit but one of double.
struct Root {
  double re, im;
};
Root fft_root(int64_t k, int64_t n);

}  // namespace weft
