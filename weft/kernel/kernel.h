// The loop IR: loops, loads, scalar expressions, stores. What one launch does, and the program that launches.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weft/core/location.h"
#include "weft/core/range_check.h"
#include "weft/core/scalar.h"
#include "weft/core/type.h"
#include "weft/ir/literal.h"

namespace weft {

// An index in elements: a polynomial over loop counters (their names begin with ".") and the program's symbols. Its
// coefficient at the counter of a vector loop is the stride that decides between vector load, broadcast and gather.
using Index = Dim;

using ExprId = int32_t;
inline constexpr ExprId no_expr = -1;

enum class ExprKind : uint8_t {
  constant,  // `value`
  index,     // the value of `index`, as `dtype` (iota, guards)
  load,  // memory[index + sum(dynamic.first * dynamic.second)], where `mask` (if any) holds, else zero; its bits, if
         // `dtype` is another one of the same size
  variable,     // the variable `slot`
  accumulator,  // dot kernels: the element of the product at (batch, m, n)
  checked,  // args[0], an i64; where `mask` (if any) holds and it is not in [0, index), the launch's check `slot` fails
  scalar,   // `op` of `args`; convert and bitcast go from args[0]'s dtype to `dtype`
};

// One scalar expression; lives in its kernel's `exprs`, after its arguments. Evaluated once for each iteration of the
// innermost loop whose counters it uses.
struct Expr {
  ExprKind kind = ExprKind::constant;
  DType dtype = DType::f32;  // of the result
  Scalar op = Scalar::none;
  std::vector<ExprId> args;
  Literal value;      // constant: 0-d
  Index index;        // index, load, checked
  int32_t slot = -1;  // load: which memory; variable: which variable; checked: which of the kernel's checks
  std::vector<std::pair<ExprId, Index>> dynamic;  // load: integer expressions, each times a stride
  ExprId mask = no_expr;                          // load: a boolean
};

enum class StmtKind : uint8_t {
  loop,        // for counter in [0, extent): body
  define,      // variable slot = expr: each iteration of the enclosing loop has its own
  accumulate,  // variable slot = op(variable slot, expr), in an order the emitter may choose, fixed by extents alone
  assign,      // variable slot = expr, in loop order (scans, general reducers)
  store,       // memory[index + dynamic] = expr, where mask holds
  barrier_accumulate,  // memory[index + dynamic] = op(memory[…], expr), serially (scatter); never in a vector loop
};

enum class LoopKind : uint8_t {
  serial,
  parallel,  // outermost only: iterations are independent and handed to threads as [begin, end)
  vector,    // iterations are lanes; the last ones are masked. Variables defined inside are vectors of lanes; an
             // accumulate to a variable defined outside combines lanes in a fixed tree at the end of the loop
  lines,     // iterations are independent and hold a serial loop along memory: some may be taken side by side
};

struct Stmt {
  StmtKind kind = StmtKind::store;
  // loop
  LoopKind loop = LoopKind::serial;
  std::string counter;
  Dim extent;
  int unroll = 1;  // vector loops: independent vectors in flight
  std::vector<Stmt> body;
  // the others
  int32_t slot = -1;
  Scalar op = Scalar::none;  // add, multiply, maximum, minimum, bit_and, bit_or, bit_xor
  ExprId expr = no_expr;
  Index index;
  std::vector<std::pair<ExprId, Index>> dynamic;
  ExprId mask = no_expr;
};

// Memory that a kernel sees: a buffer handed in by the launch, or scratch of its own.
struct Memory {
  std::string name;
  DType dtype = DType::f32;
  bool written = false;
  // Elements, for scratch: at most 64 KiB, private to one iteration of the parallel loop. Zero: a buffer.
  int64_t scratch = 0;
  bool flushes = false;      // bfloat16 that nothing reads but products of pairs, to which subnormal numbers are zero
  bool past_caches = false;  // a written buffer that begins at a cache line: full lines of it go straight to memory
};

struct Variable {
  std::string name;
  DType dtype = DType::f32;
};

// Four bits of a byte as a whole number: those from bit `low` on (0 or 4), with a sign or without one, plus `more`.
struct FourBits {
  int low = 0;
  bool is_signed = false;
  int more = 0;

  bool operator==(const FourBits&) const = default;
  int of(int byte) const { return (is_signed ? ((byte >> low & 15) ^ 8) - 8 : byte >> low & 15) + more; }
  std::string name() const;
};

// A matrix product around the body: for each batch, m, n the accumulator is sum over k of lhs * rhs, in `accumulate`
// type; then `body` (statements over the counters ".m", ".n" and those of batch, no loops) stores it. Strides in
// elements.
struct Dot {
  struct Side {
    int32_t memory = -1;
    Dim offset;
    Dims batch;  // a stride for each batch extent
    Dim outer;   // stride along m (lhs) or n (rhs)
    Dim inner;   // stride along k
    // Where m or k goes on evenly within parts of so many elements only: those, and the stride from part to part. m:
    // lhs; k: lhs, and rhs of packing kernels. Zero: one part.
    int64_t outer_part = 0, outer_jump = 0, inner_part = 0, inner_jump = 0;
    // The position of an element along m or n, and of one along k, with numbers for `outer` and `inner`.
    int64_t outer_at(int64_t i, int64_t stride) const {
      return outer_part ? i / outer_part * outer_jump + i % outer_part * stride : i * stride;
    }
    int64_t inner_at(int64_t p, int64_t stride) const {
      return inner_part ? p / inner_part * inner_jump + p % inner_part * stride : p * stride;
    }
  };
  Side lhs, rhs;
  // Where rhs is windows of an array: what k and n are made of, the innermost first, which says where an element is in
  // place of rhs.inner and rhs.outer. Rhs is f32 or f64, as lhs and the sums are.
  struct Level {
    Dim extent, stride;
  };
  struct Windows {
    std::vector<Level> k, n;
  };
  std::optional<Windows> windows;
  // Element types in memory, of packing kernels and before packing too: they decide the packed form.
  DType lhs_type = DType::f32, rhs_type = DType::f32;
  std::optional<FourBits>
      bits;    // of an element of rhs, where that is a byte and lhs is of floats; else all of it counts
  Dims batch;  // extents; their counters are ".b0", ".b1", …
  Dim m, n, k;
  DType accumulate = DType::f32;
  // rhs was packed into panels by a kernel with `pack_rhs`; rhs.memory is the packed buffer, rhs.outer and rhs.inner
  // are the extents of its matrices along n and k, and rhs.offset is the number of the first of those that are read.
  bool packed_rhs = false;
  // rhs as it lies, where the product reads it so until it is packed: then a last argument tells whether it is (1) or
  // not (0).
  std::optional<Side> raw;
  // This kernel is that packing: reads rhs, writes memory `packed`; lhs and body are unused.
  bool pack_rhs = false;
  int32_t packed = -1;
};

// Elements of the accumulate type that a packed right operand takes at most, on any target that multiplies bf16 or not.
Dim packed_elements(const Dot& dot, const Dim& batch, bool multiplies_bf16);

// What one launch does.
struct Kernel {
  std::string name;  // readable and unique: add_tanh_f32_1024x512_9f3c21aa
  std::vector<Memory> memories;
  std::vector<Variable> variables;
  std::vector<Expr> exprs;
  std::vector<Stmt> body;
  std::optional<Dot> dot;
  bool two_ways = false;  // what it writes past the caches may fit them: runs find out whether that takes longer
  // Program symbols used by any index or extent, in the order in which launches pass their values.
  std::vector<Symbol> symbols;
  int checks = 0;  // that it makes: launches tell which of the program's they are
  Location loc;

  std::string text() const;  // for dumps and for telling equal kernels: everything but name and loc
};

// Where a buffer of the program lives.
enum class Place : uint8_t {
  input,       // number `index` of the program's inputs
  output,      // number `index` of its outputs
  constant,    // number `index` of its constants
  arena,       // at `offset` in memory that lasts one run
  turn,        // at `offset` in memory that lasts one turn of the independent loop around it
  persistent,  // at `offset` in memory that setup fills once
};

struct BufferPlan {
  Place place = Place::arena;
  int32_t index = -1;
  Dim offset;  // bytes, multiple of 64
  Dim bytes;
  Type type;
};

enum class LaunchKind : uint8_t {
  kernel,
  routine,  // a function of weft/library over the buffers
  loop,     // blocks[0], then blocks[1] for as long as the byte in buffers[0] is not zero
  count,    // blocks[0] for each value first + step * k of the symbol `counter`, k in [0, trips)
  branch,   // the block that the number in buffers[0] names, the last one for others; of a boolean: 0 is the second
};

struct Launch;
struct LaunchBlock {
  std::vector<Launch> launches;
};

// How the turns of a loop of kernels over rows may follow each other through a few rows at a time (tile_turns.cpp): of
// two kernels that touch one row of memory, one of them to write it, the rows they are at are at most `reach` apart.
struct Tiling {
  struct Rows {
    int64_t unit, first;  // parallel iterations of a row, and the row that the first of them is at
  };
  int64_t reach = 0;
  int64_t row_bytes = 0;   // of a row of all that a turn reads and writes
  std::vector<Rows> rows;  // of each launch of the block
};

struct Launch {
  LaunchKind kind = LaunchKind::kernel;
  int32_t kernel = -1;
  std::string routine;
  Dims numbers;                     // routine: what it is told
  std::vector<int32_t> bodies;      // routine: kernels it calls
  std::vector<std::string> texts;   // routine: more that it is told, behind the bodies
  std::vector<LaunchBlock> blocks;  // loop, count, branch
  std::string counter;
  Dim first, trips;
  int64_t step = 1;
  bool until = false;        // count: ends before a turn where the first buffer, one boolean, holds
  bool independent = false;  // count: turns may run in any order and at once, each with `turn_bytes` of its own
  Dim turn_bytes;
  std::optional<Tiling> tiling;  // count: where turns may be taken so
  std::vector<int32_t> buffers;  // kernel: one for each memory that is no scratch, in order
  Dims symbols;                  // values of the kernel's symbols
  std::vector<int32_t> checks;   // of the program, for each of the kernel's
  Dim parallel = 1;              // extent of the parallel loop, or number of tiles of a dot (filled by codegen)
  Dim cost;                      // price of one parallel iteration (see cost.h): small launches stay on the caller
  Location loc;
  std::vector<std::string> ops;  // the ops it does, for humans
  std::vector<Location> lines;   // of each op
  size_t operands = 0;           // routine: how many of its buffers, the first ones, it only reads
  bool later = false;            // setup: in runs after the first, as all that reads it can do without
};

struct ProgramInput {
  std::string name;
  Type type;
};
struct ProgramOutput {
  std::string name;
  Type type;
  int alias = -1;        // the input whose memory it lands in
  int32_t copy_of = -1;  // an input that is returned as it is, when not aliased (the launch list holds the copy)
};

// A value that was stored though it could have been computed where it is used.
struct Cut {
  std::string op;
  Location loc;
  std::string reason;                // "is used twice"
  std::vector<std::string> readers;  // "add (model.py:14)"

  std::string text() const;  // "exponential (model.py:12): is used twice"
};

// Kernels + launch order + memory plan + the signature: what codegen turns into one native entry.
struct Program {
  std::string name;
  std::vector<Kernel> kernels;
  std::vector<BufferPlan> buffers;
  std::vector<Literal> constants;
  std::vector<Launch> setup;  // once: packs constants, as the program is loaded or later, which is last
  std::vector<Launch> run;
  std::vector<ProgramInput> inputs;
  std::vector<ProgramOutput> outputs;
  std::vector<Symbol> symbols;
  Dim arena_bytes, persistent_bytes;
  std::vector<RangeCheck> checks;
  std::vector<Cut> cuts;  // each place where fusion stopped
  int64_t joined = 0;     // expressions more, for rows that are taken together

  std::string text() const;
};

// The launches of kernels and routines, those inside of loops and branches too. Machine code numbers those of a run,
// then those of setup.
std::vector<const Launch*> plain_launches(const std::vector<Launch>& launches);

}  // namespace weft
