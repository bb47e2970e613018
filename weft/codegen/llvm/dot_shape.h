// Inside dot: the tile that a target's registers hold, LLVM's names, text templates.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/codegen/llvm/dot.h"
#include "weft/core/text.h"

namespace weft {

// Sizes that follow from the target and the accumulator.
struct DotShape {
  int lanes;    // of a vector of accumulators
  int vectors;  // in a row of the tile
  int rows;     // of the full tile
  int few;      // rows up to which rhs is read in place: packing would touch it twice
  int inner;    // rows that are multiplied at once by columns that lie along k; of twice as many packing takes longer
                // than reading rhs twice
  int slim;     // packed panels that the tile of a single row takes at once: enough sums to hide the latency
  int width;    // lanes * vectors: columns of a panel
  int tall;     // rows of a tile at most, where all tiles have nearly as many
  int paged;    // rows of a tile that are a multiple of a page apart
  int size;     // bytes of an accumulator
  int depth;    // k of a block of rhs that is the only one, in units
  int slot_depth;   // of other blocks, of which `share` panels have room beside each other
  int block;        // rows of a work item, where nothing asks for others
  int share;        // panels that share what is read of lhs
  int together;     // panels of a work item
  int scratch;      // rows of accumulators that a thread keeps between blocks of k
  int packed_rows;  // of lhs, at once
  int run;          // rows that share one packing of a block of rhs; a multiple of block
  int lhs_row;      // bytes from row to row of packed lhs that lies along k
  int lhs_column;   // bytes from k to k of packed lhs that does not
};

// How products of two element types are formed. Packed operands are units as large as an accumulator: one element of
// the accumulator's type, or `group` neighbours along k of a narrower type, whose products one instruction adds up.
struct DotForm {
  DType lhs, rhs, accumulate;
  DType packed;  // accumulate, bf16, i16 or i8
  int group = 1;
  // Bytes multiply as unsigned by signed. Of two signed ones lhs is taken plus 128, and what that adds is taken off
  // again; of signed by unsigned the operands of the instruction are exchanged.
  bool biased = false, swapped = false;
  bool packs_lhs = false;
  bool by_panels = false;  // that is of elements that are multiplied as they are, in panels of a tile's rows
  bool amx = false;  // more than a few rows of lhs that lie along k are multiplied by AMX, whose tiles take packed
                     // operands as they are
  std::optional<FourBits> bits = {};  // of bytes of rhs, what counts

  // Whether packing adds those 128, so that tiles need not: the addition takes a unit that multiplies from them.
  bool packs_biased() const { return biased && packs_lhs && !amx; }
  bool tiles_bias() const { return biased && !packs_biased(); }
  // Whether panels of rhs are packed once for several packed blocks of lhs.
  bool by_blocks() const { return by_panels || packs_biased(); }
  // Whether elements of rhs are used as they lie in memory.
  bool rhs_as_is() const { return rhs == packed && group == 1; }
  bool takes_windows() const { return rhs_as_is() && !packs_lhs && is_float(packed); }
  std::string name() const;
};
DotForm dot_form(const Target& target, DType lhs, DType rhs, DType accumulate);
DotShape dot_shape(const Target& target, const DotForm& form);

// The words that a kernel hands to the shared loops: pointers, extents, strides in bytes, how rhs lies (0: as given, 1:
// packed, 2: as given, to be added up as if it were packed, 3: as windows), for parts of m and k elements and
// the stride from part to part, rows of a work item, of a run and of a tile, how far ahead a single row fetches rhs (0:
// not), where tiles leave their sums (null: to the epilogue), for four batch dimensions a table of extents and of the
// strides of operands and result, and for what k and n of windows are made of tables of extents and strides.
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
                                          {"mp", 22},
                                          {"mj", 23},
                                          {"kp", 24},
                                          {"kj", 25},
                                          {"rows.block", 26},
                                          {"run.most", 27},
                                          {"panel.packed", 28},
                                          {"rows.tile", 29},
                                          {"fetch", 30},
                                          {"result", 31, true},
                                          {"result.row", 32},
                                          {"extents", 9, false, true},
                                          {"lhs.strides", 13, false, true},
                                          {"rhs.strides", 17, false, true},
                                          {"result.strides", 33, false, true},
                                          {"k.extents", 37, false, true},
                                          {"k.strides", 41, false, true},
                                          {"n.extents", 45, false, true},
                                          {"n.strides", 48, false, true}};
inline constexpr int rows_per_base = 3;
// Rows of the small tile: with two vectors in a row, the fewest that hide the latency of a
// multiply-add.
inline constexpr int small_rows = 4;
// Rows of a tile of AMX: those of two of its registers.
inline constexpr int amx_rows = 32;
// Rows that are left to vectors.
inline constexpr int few_for_amx = 6;
// Of a chunk of rows that panels of AMX take turns at.
inline constexpr int amx_chunk = 2 * amx_rows;
inline constexpr int dot_words = 51;
// Channels or images, and three dimensions; places of windows.
inline constexpr int window_levels = 4, place_levels = 3;
// Bytes behind packed windows that packing may write: a vector less an element.
inline constexpr int window_slack = 64;
// Bytes between panels of lhs that packing may write, and between those of rhs that are packed together.
inline constexpr int panel_gap = 128;
// How a tile reads a panel of rhs: packed, of which the first half may be all that counts, or in rows as it lies, which
// it may pack meanwhile.
enum class TileRhs : uint8_t { packed, half, raw, packing };
// Added to a height by which a driver chooses a tile.
inline constexpr int raw_offset = 64, packing_offset = 128, half_offset = 192;
// Of tiles that pack rhs, the fewest rows: as many as fill the time of the stores, and as tiles of nearly equal heights
// have.
inline int least_packing(const DotShape& shape) { return 2 * shape.rows / 3; }

// The height of the next tile where $rows$.left rows are left, those that follow being of nearly the same:
// $rows$.height.
std::string tile_height(std::string_view rows);

// Loads every field of the descriptor %d by its name; unused ones cost nothing.
std::string load_fields();

// The type of an element in memory: i8 for boolean, i16 for 16-bit floats.
std::string llvm_type(DType dtype);
std::string vector_type(DType dtype, int lanes);

using KeyValues = std::vector<std::pair<std::string_view, std::string>>;
// Replaces each $key$ of the text.
std::string fill(std::string_view text, const KeyValues& values);

// Writes the functions that kernels share, each once. Loops are written as they should be: `optsize` keeps LLVM's
// pipelines from unrolling them, which doubles the time of compilation and gains nothing.
struct DotWriter {
  DotEmitter& emitter;
  DotForm form;
  DotShape shape;
  DType accumulate;

  DotWriter(DotEmitter& emitter, const DotForm& form)
      : emitter(emitter), form(form), shape(dot_shape(emitter.target_, form)), accumulate(form.accumulate) {}

  // Each returns the function's name.
  std::string tile(TileRhs rhs, int rows, int panels);
  // The call of a tile at row %a: `rest` are the arguments after those of lhs, `prefix` tells calls of one tile apart.
  std::string call_tile(const std::string& name, int rows, const std::string& rest, const std::string& prefix = {});
  // The same for the small tile where %r.left rows are left: the first or second row stands in for
  // missing ones.
  std::string call_small_tile(const std::string& name, const std::string& rest);
  // A tile of AMX, of up to amx_rows rows by a packed panel, which fetches what comes next or does not.
  std::string amx_tile(bool fetches);
  // Packs the rows of such a tile as it reads them.
  std::string amx_lhs();
  // Part of the driver: %tile.rows, the rows of a full tile, %amx, whether tiles of AMX are called, and %amx.packs,
  // whether lhs is packed for them.
  std::string choose_amx() const;
  // Parts of the driver: %amx.now, what AMX is configured for (0: not), before all tiles, and after them its release.
  std::string open_amx() const;
  std::string close_amx();
  // One row by panels of rhs that is read as it lies.
  std::string stream();
  // One row, or up to shape.inner, by columns along k.
  std::string inner(bool fetches, int rows);
  // The units of a row of a panel of rhs that is read as it lies, from `base` and %bk bytes apart.
  std::vector<std::string> load_rows(std::string& ir, const std::string& name, const std::string& base) const;
  std::string pack(DType from, bool biases = false);
  // Packs whole panels of rhs whose rows lie along n, in one pass over the rows.
  std::string pack_panels();
  std::string pack_lhs();
  std::string pack_lhs_panels();
  std::string pack_windows();
  // Of the units of a panel, what their sums are too large by when lhs is biased.
  std::string pack_head();
  // Whether tiles that read rhs in place differ from those of packed rhs.
  bool has_raw_tiles(const DotNeeds& needs) const { return needs.raw && !form.rhs_as_is(); }
  // Part of the driver: the calls of its tiles.
  std::string tiles(const DotNeeds& needs);
  std::string driver(const DotNeeds& needs);
  void write_driver(const std::string& name, const DotNeeds& needs);
  KeyValues driver_sizes() const;
  KeyValues driver_limits() const;
  KeyValues driver_calls(const DotNeeds& needs);
  std::string pack_driver();

  // Appends the conversion of `value` (lanes 0: a scalar) to the packed type; returns the result's name. Names what it
  // makes after `name`. Signed bytes that are `biased` get their 128.
  std::string convert(std::string& ir, const std::string& name, const std::string& value, DType from, int lanes,
                      bool biased = false) const;
  std::string convert(std::string& ir, const std::string& name, const std::string& value, DType from, DType to,
                      int lanes) const;
  // Of bytes, the bits that count, in 32 bits.
  std::string four_bits(std::string& ir, const std::string& name, const std::string& value, int lanes) const;
  // Vectors of `group` rows of k as the units of one vector.
  std::string interleave(std::string& ir, const std::string& name, std::vector<std::string> rows, int lanes) const;
  // Units of `lanes` * group neighbours along k, as one vector.
  std::string bitcast_units(std::string& ir, const std::string& name, const std::string& value, int lanes) const;
  // The instruction to = a * b + sum of units, rounded once where the target does that, of vectors or of scalars.
  std::string multiply_add(const std::string& to, const std::string& a, const std::string& b, const std::string& sum,
                           int lanes = 0);
  std::string multiply_add_units(const std::string& to, std::string a, std::string b, const std::string& sum);
  // Fetches the cache line at an address into the cache of that level, to be read or to be written.
  void prefetch(std::string& ir, const std::string& at, int level = 1, bool to_write = false) {
    append(ir, "  call void @llvm.prefetch.p0(ptr ", at, ", i32 ", to_write ? 1 : 0, ", i32 ", 4 - level, ", i32 1)\n");
    declare("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n");
  }
  // The one that is `ahead` bytes after `from`.
  void fetch(std::string& ir, const std::string& from, const std::string& ahead) {
    append(ir, "  ", from, ".ahead = getelementptr i8, ptr ", from, ", i64 ", ahead, "\n");
    prefetch(ir, from + ".ahead");
  }
  bool first(const std::string& name) { return emitter.done_.insert(name).second; }
  void declare(std::string line) { emitter.declarations_.insert(std::move(line)); }
  const Target& target() const { return emitter.target_; }
  // Of loops around loops: LLVM's time is for those that are compiled once for all programs.
  std::string linkage() const { return emitter.is_library_ ? "hidden" : "internal"; }
  std::string effort() const { return emitter.is_library_ ? "optsize" : "optnone"; }
  std::string type() const { return llvm_type(accumulate); }
  std::string vector() const { return vector_type(accumulate, shape.lanes); }
  std::string unit() const { return form.group > 1 ? "i32" : type(); }
  std::string units(int lanes) const {
    return form.group > 1 ? cat("<", lanes, " x i32>") : vector_type(accumulate, lanes);
  }
  std::string units() const { return units(shape.lanes); }
  // Rows of units in front of a packed panel: what to take off the sums.
  int head_rows() const { return form.biased ? 1 : 0; }
  // From one packed panel to the next; where they are packed together, their rows are not in the same sets of a cache.
  int slot_bytes() const {
    return (shape.slot_depth + head_rows()) * shape.width * shape.size + (form.by_panels ? panel_gap : 0);
  }
};

}  // namespace weft
