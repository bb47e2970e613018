// From coordinates to loops: which dims become one, which loop is parallel and which is vector.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weft/kernel/kernel.h"

namespace weft {

// A loop to be: its counter and how often it runs.
struct Axis {
  std::string counter;
  Dim extent;
};

// The counter as an extent in [0, extent).
Dim counter_dim(const std::string& name, const Dim& extent);
// The factor of a counter in an index that is linear in it; nothing where it stands inside a division or is squared.
std::optional<Dim> coefficient(const Index& index, const std::string& counter);
bool uses_counter(const Index& index, const std::string& counter);

// How an index moves in a loop under lanes: not with the lanes, as a vector of memory in each turn, as lines that lie
// along the loop and are long enough for blocks or follow each other, or otherwise.
enum class LineStep : uint8_t { steady, across, along, other };
LineStep line_step(const Index& index, const std::string& across, const Axis& along);
// Whether lines that lie along a loop of this extent follow each other.
bool lines_follow(const Index& index, const std::string& across, const Dim& extent);
// Whether a load needs no block, since lanes read the same place in each turn or elements that lie near each other.
bool loads_lanes(const Index& index, const std::string& across, const std::string& along, DType dtype);
// Lines shorter than this are moved where they follow each other only.
inline constexpr int64_t least_line = 4;
// Whether all that is loaded and stored in loops over `along` under lanes of `across` moves in vectors or blocks.
// `in_order`: and lines lie close to each other.
bool moves_in_blocks(const Kernel& kernel, const Axis& across, const Axis& along, bool in_order);
// Rows of so few elements and bytes fill no vector.
inline constexpr int64_t short_row = 8, short_row_bytes = 32;
// Elements from lane to lane, up to which vectors are read and some of their elements kept.
inline constexpr int64_t near_elements = 4;
// Whether rows that are summed up in order are that short, and rows side by side are lanes instead.
bool are_short_rows(const Kernel& kernel, const std::vector<Axis>& rows, const std::vector<Axis>& inner);

// Replaces a counter everywhere in a kernel: expressions, statements, and the dot's strides.
void substitute_counter(Kernel& kernel, const std::string& counter, const Dim& value);

// Makes neighbouring axes one where every index of the kernel steps through them evenly; rewrites the kernel.
void merge_axes(Kernel& kernel, std::vector<Axis>& axes);

// Splits an axis into blocks of `size`: their counter becomes its own; returns the axis inside of a block.
Axis split(Kernel& kernel, Axis& axis, int64_t size, const std::string& inside);

// Loops over `axes` around `body`, the last one a vector loop.
std::vector<Stmt> nested(const std::vector<Axis>& axes, std::vector<Stmt> body, int unroll);
// Serial loops around statements.
std::vector<Stmt> serial(const std::vector<Axis>& axes, std::vector<Stmt> body);
// The outermost loop, over the counter ".p", which threads share.
Stmt parallel_loop(const Dim& extent, std::vector<Stmt> body);

// Turns `axes` into one parallel loop over all of them with counter ".p"; rewrites the kernel. Returns its extent.
Dim flatten_parallel(Kernel& kernel, const std::vector<Axis>& axes);

// Elements of one parallel piece of a long loop.
inline constexpr int64_t chunk = 8192;
// Loops of fewer scalar operations than this are not worth another thread.
inline constexpr int64_t small_work = 16384;

// The loops of a map over these axes: parallel outside when there is enough to do. Sets `parallel` to the extent of
// the parallel loop (1: there is none). `each`: how often the body's own loops run for one element; `least`: how many
// elements of the last axis stay together.
std::vector<Stmt> schedule_map(Kernel& kernel, std::vector<Axis> axes, std::vector<Stmt> body, Dim& parallel,
                               const Dim& each = 1, int64_t least = 256);

// Takes two of `parallel` rows of `length` elements at a time where that pays. `writes_results`: of which nothing reads
// any.
void pair_rows(Kernel& kernel, Dim& parallel, const Dim& length, bool writes_results);
// Then has what divides rows by their sums run beside the sums of the next ones.
void overlap_rows(Kernel& kernel, Dim& parallel, const Dim& length);

}  // namespace weft
