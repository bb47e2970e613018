// Plans of Fourier transforms: the way for a length, its tables, and the passes.
#include "weft/library/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "weft/library/vector_width.h"

namespace weft {
namespace {

constexpr int64_t largest_radix = 47;
// Up to this length a single line may leave lanes empty: a matrix would be too small for them as well.
constexpr int64_t longest_matrix_less = 48;
// Lines in the lanes need more of the cache for each, and none of a line's own shuffles: they are for short lines, and
// up to this length for those that cannot be cut into as many as there are lanes.
constexpr int64_t shortest_inside = 256, longest_beside = 2048;

template <class T>
void add_root(std::vector<T>& table, int64_t k, int64_t n) {
  Root root = fft_root(k, n);
  table.push_back(static_cast<T>(root.re));
  table.push_back(static_cast<T>(root.im));
}

// For each of `rows` rows k the roots exp(-2 pi i k l / n) of all lanes l: real parts, then imaginary ones.
template <class T>
std::vector<T> lane_twiddles(int64_t rows, int64_t lanes, int64_t n) {
  std::vector<T> table(static_cast<size_t>(2 * lanes * rows));
  for (int64_t k = 0; k < rows; ++k)
    for (int64_t l = 0; l < lanes; ++l) {
      Root root = fft_root(k * l, n);
      T* row = table.data() + 2 * lanes * k;
      row[l] = static_cast<T>(root.re);
      row[lanes + l] = static_cast<T>(root.im);
    }
  return table;
}

std::vector<int64_t> radices_of(int64_t n) {
  std::vector<int64_t> radices;
  for (; n % 9 == 0; n /= 9) radices.push_back(9);
  for (int64_t radix = 3; radix <= largest_radix; radix += 2)
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  // Eights, and what is left of the power of two as fours before it is a two.
  for (int64_t radix : {8, 4, 2})
    for (; n % radix == 0 && !(radix == 8 && n == 16); n /= radix) radices.push_back(radix);
  return radices;
}

// Rows of the matrix: near the root of n; both sides multiples of the lanes where they can be.
int64_t rows_for(int64_t n, int64_t lanes) {
  int64_t best = 1;
  double least = INFINITY;
  for (int64_t side = 2; side * side <= n; ++side) {
    if (n % side != 0) continue;
    for (int64_t rows : {side, n / side}) {
      auto waste = [&](int64_t count) {
        return static_cast<double>((count + lanes - 1) / lanes * lanes) / static_cast<double>(count);
      };
      double cost = (waste(rows) + waste(n / rows)) * (16 + std::log2(static_cast<double>(std::max(rows, n / rows))));
      if (cost < least) {
        least = cost;
        best = rows;
      }
    }
  }
  return best;
}

}  // namespace

Root fft_root(int64_t k, int64_t n) {
  // An angle of at most an eighth of a turn, in units of pi / n, has the accuracy of sine and cosine themselves.
  k %= n;
  bool below = 2 * k > n;
  int64_t angle = 2 * (below ? n - k : k);
  bool left = 2 * angle > n;
  if (left) angle = n - angle;
  bool steep = 4 * angle > n;
  double radians = steep ? static_cast<double>(n - 2 * angle) * (std::numbers::pi / 2) / static_cast<double>(n)
                         : static_cast<double>(angle) * std::numbers::pi / static_cast<double>(n);
  double cosine = std::cos(radians), sine = std::sin(radians);
  if (steep) std::swap(cosine, sine);
  return {left ? -cosine : cosine, below ? sine : -sine};
}

bool is_smooth(int64_t n) {
  for (int64_t radix = 2; radix <= largest_radix; ++radix)
    while (n % radix == 0) n /= radix;
  return n == 1;
}

int64_t fft_convolution_length(int64_t n) {
  int64_t best = INT64_MAX;
  for (int64_t factor : {1, 3, 5, 7, 9}) {
    int64_t length = 16 * factor;
    while (length < 2 * n - 1) length *= 2;
    best = std::min(best, length);
  }
  return best;
}

template <>
const FftEngine<float>& fft_engine(int bytes) {
  if (bytes == 0) bytes = widest_vectors();
  return bytes == 64 ? fft_engine_64_f32 : bytes == 32 ? fft_engine_32_f32 : fft_engine_16_f32;
}

template <>
const FftEngine<double>& fft_engine(int bytes) {
  if (bytes == 0) bytes = widest_vectors();
  return bytes == 64 ? fft_engine_64_f64 : bytes == 32 ? fft_engine_32_f64 : fft_engine_16_f64;
}

template <class T>
FftPlan<T>::FftPlan(const FftEngine<T>& engine, int64_t n, FftUse use) : engine_(engine), n_(n), way_(way_for(use)) {
  switch (way_) {
    case Way::beside:
      first_ = passes_of(n);
      break;
    case Way::inside:
      plan_inside();
      break;
    case Way::split:
      plan_split();
      break;
    case Way::chirp:
      plan_chirp();
      break;
  }
}

template <class T>
typename FftPlan<T>::Way FftPlan<T>::way_for(FftUse use) const {
  bool is_many = use == FftUse::many, fits = n_ % engine_.lanes == 0;
  if (!is_smooth(n_)) return Way::chirp;
  if (use == FftUse::columns || (is_many && (n_ < shortest_inside || (!fits && n_ <= longest_beside))))
    return Way::beside;
  if (fits && n_ <= (is_many ? fft_longest_of_many<T> : fft_longest_alone<T>)) return Way::inside;
  return n_ <= longest_matrix_less || rows_for(n_, engine_.lanes) == 1 ? Way::beside : Way::split;
}

template <class T>
typename FftPlan<T>::Passes FftPlan<T>::passes_of(int64_t length) const {
  Passes found;
  found.length = length;
  int64_t stride = 1;
  for (int64_t radix : radices_of(length)) {
    int64_t groups = length / radix / stride;
    std::vector<T> twiddles, roots;
    for (int64_t q = 0; q < groups; ++q)
      for (int64_t k = 1; k < radix; ++k) add_root(twiddles, q * k, groups * radix);
    for (int64_t k = 0; k < radix; ++k) add_root(roots, k, radix);
    found.passes.push_back({radix, groups, stride, twiddles.data(), roots.data()});
    found.tables.push_back(std::move(twiddles));
    found.tables.push_back(std::move(roots));
    stride *= radix;
  }
  return found;
}

template <class T>
T* FftPlan<T>::transform(const Passes& passes, T* rows, T* other) const {
  return engine_.transform(passes.passes.data(), static_cast<int64_t>(passes.passes.size()), rows, other);
}

template <class T>
void FftPlan<T>::plan_inside() {
  first_ = passes_of(n_ / engine_.lanes);
  twiddles_ = lane_twiddles<T>(first_.length, engine_.lanes, n_);
}

template <class T>
void FftPlan<T>::plan_split() {
  int64_t rows = rows_for(n_, engine_.lanes), columns = n_ / rows;
  first_ = passes_of(rows);
  second_ = passes_of(columns);
  twiddles_ = lane_twiddles<T>(rows, engine_.lanes, n_);
  for (int64_t column = 0; column < columns; column += engine_.lanes)
    for (int64_t k = 0; k < rows; ++k) add_root(steps_, column * k, n_);
}

template <class T>
void FftPlan<T>::plan_chirp() {
  int64_t length = fft_convolution_length(n_);
  inner_ = std::make_unique<FftPlan>(engine_, length, FftUse::alone);
  // The square of k modulo 2 n, without the square.
  int64_t square = 0;
  for (int64_t k = 0; k < n_; ++k, square = (square + 2 * k - 1) % (2 * n_)) add_root(chirp_, square, 2 * n_);
  filter_.assign(static_cast<size_t>(2 * length), 0);
  for (int64_t k = 0; k < n_; ++k)
    for (int64_t at : {k, (length - k) % length}) {
      filter_[static_cast<size_t>(2 * at)] = chirp_[static_cast<size_t>(2 * k)];
      filter_[static_cast<size_t>(2 * at + 1)] = -chirp_[static_cast<size_t>(2 * k + 1)];
    }
  FftRoom<T> room(inner_->room());
  inner_->run({filter_.data(), length, filter_.data(), length, 1, false, T(1)}, room.get(), by_caller);
}

template <class T>
int64_t FftPlan<T>::room() const {
  switch (way_) {
    case Way::split:
      return 2 * n_;
    case Way::chirp:
      return 2 * inner_->n_ + inner_->room();
    default:
      return row_room(first_.length);
  }
}

template <class T>
bool FftPlan<T>::is_shared() const {
  return (way_ == Way::split && n_ > fft_longest_alone<T>) || (way_ == Way::chirp && inner_->n_ > fft_longest_alone<T>);
}

template <class T>
int64_t FftPlan<T>::bytes() const {
  size_t count = steps_.size() + twiddles_.size() + chirp_.size() + filter_.size();
  for (const Passes* passes : {&first_, &second_})
    for (const std::vector<T>& table : passes->tables) count += table.size();
  return static_cast<int64_t>(count * sizeof(T)) + (inner_ ? inner_->bytes() : 0);
}

template <class T>
void FftPlan<T>::run(const FftJob<T>& job, T* room, Share share) const {
  if (way_ == Way::split) return split(job, room, share);
  if (way_ == Way::chirp) return convolve(job, room, share);
  if (way_ == Way::beside)
    return run_columns({job.from, 1, job.from_apart, job.lines}, {job.to, 1, job.to_apart, job.lines}, job.inverse,
                       job.scale, room);
  int64_t lanes = engine_.lanes;
  engine_.gather({job.from, lanes, 1, lanes}, first_.length, job.inverse, room);
  T* rows = transform(first_, room, room + 2 * lanes * first_.length);
  engine_.join(rows, first_.length, twiddles_.data(), job.inverse, job.scale, job.to);
}

template <class T>
void FftPlan<T>::run_columns(FftLines<const T> from, FftLines<T> to, bool inverse, T scale, T* room) const {
  engine_.gather(from, n_, inverse, room);
  T* rows = transform(first_, room, room + 2 * engine_.lanes * n_);
  engine_.scatter(rows, n_, inverse, scale, to);
}

template <class T>
void FftPlan<T>::run_even_reals(const T* from, T* to, int64_t lines, const T* roots, T* room) const {
  T* other = room + 2 * engine_.lanes * (n_ + 1);
  engine_.gather({from, 1, n_, lines}, n_, false, room);
  T* rows = transform(first_, room, other);
  engine_.split_rows(rows, n_, roots);
  engine_.scatter(rows, n_ + 1, false, T(1), {to, 1, n_ + 1, lines});
}

template <class T>
void FftPlan<T>::run_reals(const T* from, T* to, int64_t lines, T* room) const {
  engine_.gather_reals(from, n_, lines, n_, room);
  T* rows = transform(first_, room, room + 2 * engine_.lanes * n_);
  engine_.scatter(rows, n_ / 2 + 1, false, T(1), {to, 1, n_ / 2 + 1, lines});
}

// Blocks of columns of the line as a matrix, into `stage`.
template <class T>
void FftPlan<T>::columns(const FftJob<T>& job, T* stage, int64_t begin, int64_t end) const {
  int64_t length = first_.length, width = second_.length, lanes = engine_.lanes;
  FftRoom<T> room(row_room(length));
  for (int64_t block = begin; block < end; ++block) {
    int64_t column = block * lanes, some = std::min(lanes, width - column);
    engine_.gather({job.from + 2 * column, width, 1, some}, length, job.inverse, room.get());
    T* rows = transform(first_, room.get(), room.get() + 2 * lanes * length);
    engine_.turn(rows, length, steps_.data() + 2 * block * length, twiddles_.data());
    engine_.scatter(rows, length, false, T(1), {stage + 2 * column, width, 1, some});
  }
}

// Blocks of its rows, to where the result has them.
template <class T>
void FftPlan<T>::rows(const FftJob<T>& job, const T* stage, int64_t begin, int64_t end) const {
  int64_t height = first_.length, length = second_.length, lanes = engine_.lanes;
  FftRoom<T> room(row_room(length));
  for (int64_t block = begin; block < end; ++block) {
    int64_t row = block * lanes, some = std::min(lanes, height - row);
    engine_.gather({stage + 2 * row * length, 1, length, some}, length, false, room.get());
    T* rows = transform(second_, room.get(), room.get() + 2 * lanes * length);
    engine_.scatter(rows, length, job.inverse, job.scale, {job.to + 2 * row, height, 1, some});
  }
}

template <class T>
void FftPlan<T>::split(const FftJob<T>& job, T* room, Share share) const {
  int64_t height = first_.length, width = second_.length, lanes = engine_.lanes;
  shared(share, (width + lanes - 1) / lanes, 60 * lanes * height,
         [&](int64_t begin, int64_t end) { columns(job, room, begin, end); });
  shared(share, (height + lanes - 1) / lanes, 60 * lanes * width,
         [&](int64_t begin, int64_t end) { rows(job, room, begin, end); });
}

template <class T>
void FftPlan<T>::convolve(const FftJob<T>& job, T* room, Share share) const {
  int64_t length = inner_->n_;
  constexpr int64_t piece = 4096, cost = 200 * piece;
  T *line = room, *rest = room + 2 * length;
  auto pieces = [&](int64_t count, auto each) {
    shared(share, (count + piece - 1) / piece, cost,
           [&](int64_t begin, int64_t end) { each(begin * piece, std::min(end * piece, count)); });
  };
  pieces(length, [&](int64_t begin, int64_t end) {
    int64_t middle = std::clamp(n_, begin, end);
    engine_.multiply(job.from + 2 * begin, chirp_.data() + 2 * begin, middle - begin, job.inverse, false, T(1),
                     line + 2 * begin);
    std::fill(line + 2 * middle, line + 2 * end, T(0));
  });
  inner_->run({line, length, line, length, 1, false, T(1)}, rest, share);
  pieces(length, [&](int64_t begin, int64_t end) {
    engine_.multiply(line + 2 * begin, filter_.data() + 2 * begin, end - begin, false, false, T(1), line + 2 * begin);
  });
  inner_->run({line, length, line, length, 1, true, T(1) / static_cast<T>(length)}, rest, share);
  pieces(n_, [&](int64_t begin, int64_t end) {
    engine_.multiply(line + 2 * begin, chirp_.data() + 2 * begin, end - begin, false, job.inverse, job.scale,
                     job.to + 2 * begin);
  });
}

template class FftPlan<float>;
template class FftPlan<double>;

}  // namespace weft
