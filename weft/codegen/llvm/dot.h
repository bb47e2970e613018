// Matrix products as LLVM IR text: packed micro-kernels around an epilogue that the caller writes.
//
// A product is computed in work items: a panel of `width` columns by `block` rows of one batch. An
// item packs its part of rhs (unless rhs is a packed constant), runs micro-kernels over tiles of
// rows and hands each finished tile to the epilogue. The order in which an element's products are
// added follows from extents and strides alone, never from threads: one chain over ascending k, or,
// for few rows of lhs by columns of rhs that lie along k, a chain in each lane and a tree. Extents
// and strides are run-time values: kernels differ by types and epilogue only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "weft/codegen/emit.h"
#include "weft/codegen/target.h"
#include "weft/core/dim.h"
#include "weft/core/dtype.h"
#include "weft/kernel/kernel.h"

namespace weft {

// One operand. Strides are in elements, i64 values or literals of the kernel function ("%x",
// "384").
struct DotOperand {
  DType dtype = DType::f32;
  std::string pointer;             // to element (0, 0) of batch 0
  std::vector<std::string> batch;  // a stride for each batch extent
  std::string outer;               // along m (lhs) or n (rhs)
  std::string inner;               // along k
  // Where m (of lhs) or k (of lhs; of rhs in pack kernels) goes on evenly in parts of so many elements only: those, and
  // the stride from part to part. Operands in parts are f32 or f64, and of a product rhs is packed then. Zero: one
  // part.
  int64_t outer_part = 0, outer_jump = 0, inner_part = 0, inner_jump = 0;
  std::optional<FourBits> bits = {};  // of bytes of rhs, what counts
  // Of rhs that is windows: extents and strides of what k and n are made of (Dot::Windows); `outer` and `inner` are 0.
  struct Levels {
    std::vector<std::string> extents, strides;
  };
  bool is_windows = false;
  Levels k_levels = {}, n_levels = {};
};

// A vector of results, in the function that runs the epilogue.
struct DotVector {
  std::string value;               // <lanes x accumulate type>
  int lanes = 0;                   // consecutive n
  std::string m, n;                // i64: row, column of lane 0
  std::vector<std::string> batch;  // i64, one for each batch extent
  std::string mask;                // <lanes x i1>: the lanes that exist
  std::string rows;                // i64: rows of this call; those that follow may be next
};

// For few columns and many rows hand in the transposed product, lhs and rhs exchanged: vectors run
// along n. What the epilogue stores must not overlap lhs or rhs; m and n that are literals save
// code.
struct DotKernel {
  std::string name;
  DotOperand lhs, rhs;
  DType accumulate = DType::f32;   // f32, f64, i32 or i64 (unsigned too)
  std::vector<std::string> batch;  // extents, at most 4
  std::string m, n, k;
  int64_t n_factor = 1, k_factor = 1;  // divide n and k
  // rhs.pointer is what a pack kernel wrote: rhs.dtype is that of the matrix it read, outer and inner are the extents
  // of its matrices along n and k, `matrix` is the first of them that is read, and rhs.batch is all "0" for a matrix
  // shared by the batches or anything else for one of its own for each.
  bool packed_rhs = false;
  std::string matrix = "0";
  // Where that may still be to come: rhs as it lies, and an i64 that is 1 once it is packed, else 0. Sums are the same.
  std::optional<DotOperand> raw;
  std::string is_packed;
  // Writes the instructions that define the values named above: first lines of the kernel function,
  // in which %args is the kernel's first argument.
  std::function<void(std::string& ir)> entry;
  // The same for the epilogue's function, which has its own %args.
  std::function<void(std::string& ir)> epilogue_entry;
  // Writes what happens to one vector of results, stores included. May open blocks; names must not
  // start with "dot.". A light one is written for all vectors of a row side by side.
  std::function<void(std::string& ir, const DotVector& vector)> epilogue;
  bool light_epilogue = false;
  // Where the epilogue does nothing but store the sums, side by side along n: rows along m are `outer`. Whole tiles
  // leave them there themselves. The pointer may be null at run time.
  std::optional<DotOperand> result;
};

// What the kernels of one combination of element types ask of their shared loops.
struct DotNeeds {
  DType lhs = DType::f32, rhs = DType::f32, accumulate = DType::f32;
  bool packs_lhs = false;             // lhs in blocks: other elements than those that are multiplied
  bool by_panels = false;             // or in panels of a tile's rows
  bool pack = false;                  // rhs in blocks, as they are needed
  bool packed = false;                // rhs from a pack kernel
  bool raw = false;                   // rows of rhs read in place
  bool slim = false;                  // a single row
  bool inner = false;                 // few rows by columns that lie along k
  bool fetch = false;                 // that row fetches rhs ahead
  bool windows = false;               // rhs of windows, in blocks, as they are needed
  bool half = false;                  // a last panel of no more columns than a vector has lanes
  std::set<int> heights = {};         // of tiles: the full and the small one where extents are not known
  std::set<int> packing = {};         // of the first tile of a panel, which packs rows of rhs as it reads them
  std::optional<FourBits> bits = {};  // of bytes of rhs, what counts
};

// Writes dot kernels for one module.
class DotEmitter {
 public:
  explicit DotEmitter(Target target, const Library& library = {}) : target_(std::move(target)), library_(library) {}

  // Appends `void @NAME(ptr %args, i64 %begin, i64 %end)`, the kernel over work items [begin, end)
  // of items().
  void emit(std::string& ir, const DotKernel& kernel);
  // Appends the kernel of that form which packs rhs into the buffer `destination` (an
  // i64-addressable pointer value of the kernel function), over [0, batch * panels). Uses rhs,
  // batch, n, k, accumulate and entry, and of lhs the element type.
  void emit_pack(std::string& ir, const DotKernel& kernel, const std::string& destination);
  // The functions that emitted kernels share and the intrinsics: once, at the end of the module.
  std::string shared();
  // The module of each function of the library, by name: the loops of products of common element types, and of packing
  // constants for them. With AMX those that use it.
  static std::map<std::string, std::string> library(const Target& target);

  // Work items of a kernel; rough multiply-adds of one; work items of a pack kernel.
  Dim items(const DotKernel& kernel, const Dim& batch, const Dim& m, const Dim& n) const;
  Dim item_cost(const DotKernel& kernel, const Dim& m, const Dim& k) const;
  Dim pack_items(const DotKernel& kernel, const Dim& batch, const Dim& n) const;

 private:
  friend struct DotWriter;
  Target target_;
  Library library_;
  bool is_library_ = false;  // what is written is compiled once for all programs
  std::map<std::string, DotNeeds> drivers_;
  std::string functions_;
  std::set<std::string> done_, declarations_;
};

}  // namespace weft
