// Inside dot: the tile that a target's registers hold, LLVM's names, text templates.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "weft/codegen/llvm/dot.h"

namespace weft {

// Sizes that follow from the target and the accumulator.
struct DotShape {
  int lanes;    // of a vector of accumulators
  int vectors;  // in a row of the tile
  int rows;     // of the full tile
  int width;    // lanes * vectors: columns of a panel
  int size;     // bytes of an accumulator
  int depth;    // k of a block of rhs, which stays in the first-level cache
  int block;    // rows of a work item
  int share;    // panels that share a block of lhs
  int scratch;  // rows of accumulators that a thread keeps between blocks of k
  int run;      // rows that share one packing of a block of rhs; a multiple of block
};
DotShape dot_shape(const Target& target, DType accumulate);

// The words that a kernel hands to the shared loops: pointers, extents, strides in bytes, and for
// four batch dimensions a table of extents and of either operand's strides.
struct DotField {
  std::string_view name;
  int word;
  bool is_pointer = false, is_table = false;
};
inline constexpr int max_batch_rank = 4;
inline constexpr DotField dot_fields[] = {{"lhs", 0, true},
                                          {"rhs", 1, true},
                                          {"m", 2},
                                          {"n", 3},
                                          {"k", 4},
                                          {"am", 5},
                                          {"ak", 6},
                                          {"bn", 7},
                                          {"bk", 8},
                                          {"packed", 21},
                                          {"extents", 9, false, true},
                                          {"lhs.strides", 13, false, true},
                                          {"rhs.strides", 17, false, true}};
inline constexpr int rows_per_base = 3;
// Rows of the small tile: with two vectors in a row, the fewest that hide the latency of a
// multiply-add.
inline constexpr int small_rows = 4;
// Panels that the tile of a single row takes at once, for the same reason.
inline constexpr int slim_panels = 4;
inline constexpr int dot_words = 22;

// Loads every field of the descriptor %d by its name; unused ones cost nothing.
std::string load_fields();

// The type of an element in memory: i8 for boolean, i16 for 16-bit floats.
std::string llvm_type(DType dtype);
std::string vector_type(DType dtype, int lanes);

// Replaces each $key$ of the text.
std::string fill(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> values);

// Writes the functions that kernels share, each once. Loops are written as they should be: `optsize` keeps LLVM's
// pipelines from unrolling them, which doubles the time of compilation and gains nothing.
struct DotWriter {
  DotEmitter& emitter;
  DotShape shape;
  DType accumulate;

  DotWriter(DotEmitter& emitter, DType accumulate)
      : emitter(emitter), shape(dot_shape(emitter.target_, accumulate)), accumulate(accumulate) {}

  // Each returns the function's name.
  std::string tile(DType lhs, DType rhs, int rows, int panels);
  // The call of a tile at row %a: `rest` are the arguments after those of lhs.
  std::string call_tile(const std::string& name, int rows, const std::string& rest);
  // The same for the small tile where %r.left rows are left: the first or second row stands in for
  // missing ones.
  std::string call_small_tile(const std::string& name, const std::string& rest);
  std::string inner(DType lhs, DType rhs);
  std::string pack(DType rhs);
  std::string driver(DType lhs, DType rhs, bool may_pack, bool may_be_inner);
  void write_driver(const std::string& name, const DotEmitter::Needs& needs);
  std::string pack_driver(DType rhs);

  // Appends the conversion of `value` (lanes 0: a scalar) to the accumulator's type; returns the
  // result's name. Names what it makes after `name`.
  std::string convert(std::string& ir, const std::string& name, const std::string& value, DType from, int lanes) const;
  // The instruction to = a * b + sum, rounded once where the target does that, of vectors or of
  // scalars.
  std::string multiply_add(const std::string& to, const std::string& a, const std::string& b, const std::string& sum,
                           int lanes = 0);
  std::string convert(std::string& ir, const std::string& name, const std::string& value, DType from, DType to,
                      int lanes) const;
  bool first(const std::string& name) { return emitter.done_.insert(name).second; }
  void declare(std::string line) { emitter.declarations_.insert(std::move(line)); }
  const Target& target() const { return emitter.target_; }
  std::string type() const { return llvm_type(accumulate); }
  std::string vector() const { return vector_type(accumulate, shape.lanes); }
};

}  // namespace weft
