// Writing one kernel as LLVM IR text: statements, expressions over lanes, indices.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "weft/codegen/target.h"
#include "weft/core/element.h"
#include "weft/kernel/kernel.h"

namespace weft {

// The text of a module under way, and what it shares.
struct ModuleText {
  const Target& target;
  std::string out;
  std::set<std::string> declarations;            // "declare …" lines
  std::map<std::string, std::string> functions;  // helpers by name, once each
  bool is_quick = false;                         // compiles soon, whatever that costs a run
  int64_t left_out = 0;                          // for that, in prices of kernel/cost.h
  std::set<std::string> other_ways{};            // kernels that are there in two ways
  std::set<const Launch*> short_loops{};         // whose turns take their kernels in

  // Whether the writer is to do with so much less.
  bool takes_less(int64_t price) {
    if (is_quick) left_out += price;
    return is_quick;
  }

  void declare(const std::string& line) { declarations.insert(line); }
};

// An SSA value: one scalar, or one for each lane; complex numbers are two.
struct Ssa {
  std::string re, im;  // im: complex only
  bool vector = false;
};

// In registers small floats are float, booleans i1, integers as wide as they are.
std::string register_type(DType dtype);
std::string lanes_type(const std::string& element, int lanes);
// Bytes of @weft.zero, which loads whose condition does not hold read.
inline constexpr int64_t zero_bytes = 1024;
// "v16f32": how intrinsics spell types.
std::string mangled(const std::string& element, int lanes);
// The type of one element, or of one part of a complex one, in memory.
std::string memory_type(DType dtype);
// The literal text of a constant, or of its part.
std::string constant_text(DType dtype, const Literal& value, bool imaginary = false);
// A float of any width as LLVM writes it: the bits of the f64.
std::string float_text(double value);
// Whether it is a constant such as 1/2, 8 or -2.
bool is_power_of_two(const Expr& e);

class KernelEmitter {
 public:
  KernelEmitter(ModuleText& module, const Kernel& kernel);

  // The whole function of a loop kernel; `inlined`: the end of its name where its arguments are parameters.
  void emit_loop_kernel(std::string_view inlined = {});
  // For dot kernels: values of %args in a function, and the epilogue at lanes of one row.
  void load_arguments(bool epilogue = false);
  void emit_dot_body(const std::string& accumulator, int lanes, const std::string& m, const std::string& n,
                     const std::vector<std::string>& batch, const std::string& mask, const std::string& rows);
  // An i64 value of an extent over symbols and counters that are bound.
  std::string extent(const Dim& dim);
  void bind(const std::string& symbol, const std::string& value) { counters_[symbol] = value; }
  // Extents that are made meanwhile are for this block alone: others may run without it, or by another counter of its
  // name.
  void in_block(const auto& write) {
    scopes_.emplace_back();
    write();
    scopes_.pop_back();
  }
  // Buffers, symbols and where checks fail: what follows them is a kernel's own.
  size_t argument_count() const {
    auto scratch = std::ranges::count_if(kernel_.memories, [](const Memory& memory) { return memory.scratch != 0; });
    return kernel_.memories.size() - static_cast<size_t>(scratch) + kernel_.symbols.size() +
           static_cast<size_t>(kernel_.checks);
  }
  const std::string& pointer(int32_t memory) const { return pointers_[static_cast<size_t>(memory)]; }
  // The buffer that the text goes to; the emitter's own by default.
  std::string* out;

 private:
  std::string take_parameters();
  struct Known {
    Ssa value;
    std::vector<std::string> read;  // registers of the variables that it was computed from
  };
  struct Scope {
    std::map<ExprId, Known> values;
    std::map<std::string, std::string> extents;
  };
  // Lanes of the vector loop that is being written.
  struct Lanes {
    int count = 1;
    std::string counter;  // its name; its base value is bound in counters_
    std::string mask;     // <count x i1>, empty: all
    bool by_bytes =
        false;  // each group of 16 lanes is every fourth element: 32 bits of a register hold four neighbouring bytes
  };

  // Loads of one line, by their distance from the first; `now`: the lanes of that in the turn that is written.
  struct Shifted {
    ExprId first;
    std::vector<std::pair<ExprId, int64_t>> others;
    std::string now;
  };

  // kernel_emitter.cpp
  std::string fresh(const char* stem = "t");
  std::string label(const char* stem);
  void line(const std::string& text);
  std::string assign(const std::string& text);
  std::string add(const std::string& a, const std::string& b);
  std::string multiply(const std::string& a, const std::string& b);
  std::string vector_extent(const Dim& dim);  // <lanes x i64>
  std::string element_type(DType dtype) const { return lanes_type(register_type(dtype), lanes_.count); }
  void allocate_scratch();
  void find_dependencies();

  // loop.cpp
  void statements(const std::vector<Stmt>& body);
  void statement(const Stmt& stmt);
  // `turns`: writes the body for `step` turns at once.
  void serial_loop(const Stmt& loop, const std::string& begin, const std::string& end, int step = 1,
                   const std::function<void()>& turns = {});
  void vector_loop(const Stmt& loop);
  void vector_part(const Stmt& loop, const std::string& begin, const std::string& end, int unroll, bool masked,
                   int lanes, std::map<int32_t, Ssa>& sums);
  ExprId argument_of_function(const Stmt& loop) const;
  std::string lanes_at(ExprId id, const Lanes& lanes, const std::string& at);
  void lanes_ahead(ExprId id, const Lanes& lanes, const std::string& at, const std::string& end,
                   const std::string& now);
  // Vectors of a turn: so many side by side, of which so many groups have sums of their own.
  struct InFlight {
    int at_once, unroll;
  };
  InFlight vectors_in_flight(const Stmt& loop, const std::map<int32_t, Scalar>& sums, int lanes, bool has_rows);
  std::string steps();
  bool keeps_to_lines(const Stmt& stmt, const std::string& counter, bool by_lanes = false) const;
  std::string past_caches(int64_t bytes);
  void store(const Stmt& stmt);
  bool is_short(const Stmt& loop) const;
  void written_out(const Stmt& loop);
  void hoist(const std::vector<Stmt>& body, const std::string& counter);
  void hoist(ExprId id, const std::string& counter, const std::set<int32_t>& changed, std::set<ExprId>& seen);
  int64_t price_of(const std::vector<Stmt>& body) const;
  int vectors_at_once(const std::vector<Stmt>& body) const;
  // shifted.cpp
  std::string shifted_part(const Stmt& loop, const std::string& middle, int lanes, std::map<int32_t, Ssa>& sums);
  std::vector<Shifted> shifted_loads(const Stmt& loop, int lanes) const;
  void open_shifted(std::vector<Shifted>& groups, const Lanes& lanes, const std::string& begin);
  void carry_shifted(std::vector<Shifted>& groups, int lanes, const std::string& before, const std::string& latch);
  void take_shifted(const std::vector<Shifted>& groups, const Lanes& lanes, const std::string& next);
  // lanes.cpp
  std::optional<int> doublings_of_turns(const Stmt& loop) const;
  int doublings_over_rows(const Stmt& loop) const;
  int lanes_for(const std::vector<Stmt>& body) const;
  Ssa combine(Scalar op, DType dtype, const Ssa& a, const Ssa& b);
  Ssa neutral(Scalar op, DType dtype, int lanes);
  Ssa across(Scalar op, DType dtype, Ssa value, int lanes, int left);
  Ssa in_order(Scalar op, DType dtype, const Ssa& value, int lanes, int64_t count);
  void take_total(int32_t slot, Scalar op, const Ssa& lanes, int count, const Dim& elements);
  static bool is_in_order(Scalar op, DType dtype, const Dim& count);

  // lines.cpp: a serial loop under lanes whose loads and stores step by one along the loop and by lines between lanes
  struct Lines {
    std::vector<ExprId> loads;
    int64_t widest = 0;   // bytes of an element
    bool stores = false;  // whether lines are stored
    bool dealt = false;   // short lines, each of which begins where the one before ends
    bool has_blocks() const { return stores || !loads.empty(); }
  };
  std::optional<Lines> lines_of(const Stmt& loop, const std::string& across) const;
  // Whether a loop inside of this one moves lines in blocks.
  bool moves_blocks(const Stmt& loop) const;
  void lines_loop(const Stmt& loop);
  void block_loop(const Stmt& loop, const Lines& lines);
  void block(const Stmt& loop, const Lines& lines, int side);
  std::vector<std::string> line_places(int32_t slot, const std::string& element, const Index& index);
  // The place of a later element.
  std::string after(const std::string& place, const std::string& element, int count);
  std::vector<Ssa> load_block(const Expr& e, int side, bool dealt);
  void store_block(const Stmt& stmt, std::vector<std::string> values, const std::string& along, bool dealt);
  // blocks.cpp. Blocks that are as wide as there are vectors: element i of a block in vector k becomes element k in
  // vector i.
  std::vector<std::string> transposed(std::vector<std::string> vectors, const std::string& element, int lanes);
  // Lines of as many elements as there are vectors, one after the other, become a vector for each of their elements;
  // and back.
  std::vector<std::string> dealt_out(const std::vector<std::string>& vectors, const std::string& element, int lanes);
  std::vector<std::string> interleaved(const std::vector<std::string>& vectors, const std::string& element, int lanes);
  // So many vectors as are given, of which element i of number k is element `second` of vector `first` of where(k, i).
  template <class Where>
  std::vector<std::string> rearranged(const std::vector<std::string>& vectors, const std::string& element, int lanes,
                                      const Where& where);
  // Element i is number from(i) of the elements of `a` and then of `b`, vectors of that type; of a negative number,
  // any.
  template <class From>
  std::string shuffled(const std::string& type, const std::string& a, const std::string& b, int count,
                       const From& from) {
    std::string picks;
    for (int i = 0; i < count; ++i) {
      int at = static_cast<int>(from(i));
      append(picks, i ? ", i32 " : "i32 ", at < 0 ? "poison" : cat(at));
    }
    return assign(cat("shufflevector ", type, " ", a, ", ", type, " ", b, ", <", count, " x i32> <", picks, ">"));
  }
  // `count` lanes from `first` on.
  std::string part_of(const std::string& vector, const std::string& element, int lanes, int first, int count);
  // Vectors of `lanes` elements, a power of two of them, one after the other.
  std::string joined(std::vector<std::string> parts, const std::string& element, int lanes);
  std::string widened(const std::string& raw);
  std::string as_bits(const std::string& value, const std::string& from, const std::string& to);

  // short_float.cpp: chains of f16 or bf16 operations in a vector loop
  enum class Rounding : uint8_t { always, quick, quick_signed, at_store };
  struct ShortFloats {
    DType dtype = DType::f16;
    std::set<ExprId> used;
    std::vector<ExprId> loads;
    bool is_large = false;           // some of them are of many elements
    double largest = 0x1p14;         // what is loaded is no greater than this power of two
    int least = -60;                 // bf16: and no less than 2^least, unless it is zero
    std::vector<Rounding> rounding;  // by expr
  };
  std::optional<ShortFloats> short_floats(const Stmt& loop) const;
  int choose_roundings(const Stmt& loop, const std::set<ExprId>& used, const std::function<bool(ExprId)>& is_bounded,
                       ShortFloats& floats) const;
  double largest(ExprId id, int depth = 8) const;
  double largest(const std::vector<Stmt>& body, int32_t slot, int depth) const;
  std::string is_within(const ShortFloats& floats, const std::vector<ExprId>& loads);
  void keep_steady(const Stmt& rows);
  std::string steady_place(ExprId id);
  void staggered(const Stmt& loop, const std::string& begin);
  void short_turn(const Stmt& loop, const ShortFloats& floats, const std::string& begin);
  std::string larger_magnitude(const std::string& a, const std::string& b);
  std::string short_scalar(const Expr& e, Rounding rounding, const std::vector<Ssa>& args, const std::string* operands,
                           int lanes);

  // checked.cpp
  Ssa checked(const Expr& e);
  void begin_checks(size_t at);
  void end_checks();

  // expr.cpp
  std::vector<std::string> registers_read(ExprId id) const;
  Ssa expr(ExprId id);
  Ssa compute(const Expr& e);
  Ssa load(const Expr& e);
  Ssa load_part(const std::string& pointer, DType dtype, const Index& index,
                const std::vector<std::pair<ExprId, Index>>& dynamic, int64_t scale, int64_t shift,
                const std::string& mask, const std::string& gate = {});  // gate: all lanes or none
  Ssa load_pairs(const std::string& base, DType dtype, const std::string& offset);
  bool store_pairs(const std::string& base, DType dtype, const Stmt& stmt, const Ssa& value);
  std::string reversed(const std::string& type, const std::string& value);
  void store_part(const std::string& pointer, DType dtype, const Index& index,
                  const std::vector<std::pair<ExprId, Index>>& dynamic, int64_t scale, int64_t shift,
                  const std::string& mask, const std::string& value, bool value_is_vector);
  // Byte-free addressing: element offset as i64, or as <lanes x i64> when it differs between lanes irregularly.
  struct Address {
    std::string base;    // i64: offset of lane 0, or of all
    int64_t step = 0;    // between lanes, when regular
    std::string vector;  // <lanes x i64>, when irregular
  };
  Address address(const Index& index, const std::vector<std::pair<ExprId, Index>>& dynamic, int64_t scale,
                  int64_t shift);
  void find_streams();
  void fetch_ahead(const Expr& e);
  void fetch_rows_after(const Index& index, int32_t slot, bool writes, const std::string& rows);
  void fetch_target(const Stmt& stmt);
  // Asks for the cache line of element `at` of a memory.
  void prefetch(int32_t slot, const std::string& at, bool writes);
  std::string masked_load(const std::string& place, const std::string& element, int lanes, int64_t align,
                          const std::string& mask);
  void masked_store(const std::string& place, const std::string& element, int lanes, int64_t align,
                    const std::string& mask, const std::string& value);
  std::string spread_mask(const std::string& mask, int first, int count, int step);
  std::string load_strided(const std::string& base, const std::string& element, const Address& at, int64_t bytes,
                           const std::string& mask);
  void store_strided(const std::string& base, const std::string& element, const Address& at, int64_t bytes,
                     const std::string& mask, const std::string& value);
  std::string splat(const std::string& type, const std::string& scalar, int lanes);
  std::string as_vector(const Ssa& value, DType dtype, bool imaginary = false);
  std::string from_memory(DType dtype, const std::string& raw, bool vector);
  std::string to_memory(DType dtype, const std::string& value, bool vector);
  std::string to_bf16(const std::string& value, int lanes, bool is_bounded);
  std::string combined_mask(ExprId mask, bool& vector);
  std::string any_of(const std::string& mask);  // whether a lane of it is on

  // table.cpp
  struct Digit {
    ExprId source;  // of which it is four bits
    int shift;      // where those begin
  };
  std::optional<Digit> digit_of(const Expr& e) const;
  ExprId only_digit(ExprId id, int depth) const;
  bool has_digits(const std::vector<Stmt>& body) const;
  bool takes_bytes() const;
  std::string by_bytes(const std::string& value, const std::string& element, bool back);
  std::string digits(ExprId source, int shift);
  Ssa add_products(const Ssa& total, ExprId id);
  // What the expression is where the digit is `value`.
  Element value_at(ExprId id, ExprId digit, int64_t value) const;
  std::optional<Ssa> looked_up(ExprId id);

  // quotient.cpp
  bool divides_by_column(const Expr& e) const;
  std::string quotient_by_column(DType dtype, const std::string& x, const std::string& y, int lanes);

  // scalar.cpp
  Ssa scalar(const Expr& e, const std::vector<Ssa>& args, bool vector);
  std::string real_scalar(Scalar op, DType dtype, const std::string* args, int lanes);
  std::string float_scalar(Scalar op, const std::string& element, const std::string* args, int lanes);
  std::string float_intrinsic(const char* name, const std::string& element, const std::string* args, int count,
                              int lanes, const char* flags = "");
  std::string float_extreme(bool is_maximum, const std::string& element, const std::string* args, int lanes);
  std::string known_power(DType dtype, const std::string& base, uint64_t exponent, int lanes);
  std::string integer_scalar(Scalar op, DType dtype, const std::string* args, int lanes);
  std::string bitcast(DType from, DType to, const std::string& value, int lanes);
  std::string clamp(DType dtype, const std::string* args, int lanes);
  std::string select(DType dtype, const std::string& condition, std::string a, std::string b, int lanes);
  bool has_short_values(ExprId id) const;
  std::string comparison(const Expr& e, std::string a, std::string b, int lanes);
  std::string compare(Scalar op, DType dtype, std::string a, std::string b, int lanes);
  std::string convert(DType from, DType to, const std::string& value, int lanes);
  std::string saturated(DType from, DType to, const std::string& value, int lanes);
  std::string complement_of_bias(const std::string& x, int lanes);
  // To a small float's values; `is_nan_short`: a NaN of bf16 has a low half of zeros.
  std::string rounded(DType dtype, const std::string& value, int lanes, bool is_nan_short = false);
  std::string call_math(const std::string& function, DType dtype, const std::string* args, size_t count, int lanes);
  void keep_calls_apart();

  // complex.cpp
  Ssa complex_binary(Scalar op, DType real, const std::array<std::string, 4>& parts, int lanes);
  Ssa complex_scalar(const Expr& e, const std::vector<Ssa>& args, int lanes);
  Ssa complex_convert(DType to, DType from, const std::string& re, const std::string& im, int lanes);
  std::string complex_is_finite(DType real, const std::string& re, const std::string& im, int lanes);
  std::array<std::string, 2> complex_divide(DType real, const std::array<std::string, 4>& parts, int lanes);
  std::array<std::string, 2> complex_multiply(DType real, const std::array<std::string, 4>& parts, int lanes);
  Ssa complex_library(Scalar op, DType real, const std::vector<std::string>& parts, int lanes);

  // halves.cpp
  // Whether the CPU computes the operation on this dtype, f16, without a conversion.
  bool computes_halves(Scalar op, DType dtype) const;
  bool stays_in_halves(const std::vector<Stmt>& body) const;
  std::string to_half(const std::string& value, int lanes);
  std::string from_half(const std::string& value, int lanes);
  std::string half_scalar(Scalar op, const std::string* args, int lanes);
  // The operation in f32, as the dtype rounds it.
  std::string small_scalar(Scalar op, DType dtype, const std::string* args, int lanes);

  ModuleText& module_;
  const Kernel& kernel_;
  std::string own_text_;
  int next_ = 0;
  std::vector<std::string> pointers_;
  std::vector<std::string> failed_;              // where each check's failure is told
  std::vector<int> checked_lanes_;               // of each check: the most that it looks at together
  std::map<std::string, std::string> counters_;  // counters and symbols → i64 value
  std::map<int32_t, Ssa> variables_;
  std::map<std::string, int, std::less<>> calls_;  // of functions of math.h, by name
  std::vector<Scope> scopes_;
  Lanes lanes_;
  int loops_ = 0;                                    // vector loops so far
  Dim row_;                                          // the extent of the last
  std::set<const Expr*> streams_;                    // loads of the loop that read past the caches
  std::map<const Expr*, std::pair<int, int>> read_;  // by load: the vector loops that read it first and second
  Ssa accumulator_;
  std::vector<std::set<std::string>> depends_;      // by expr: counters
  std::vector<std::set<int32_t>> reads_variables_;  // by expr
  std::set<int32_t> vector_variables_;              // defined inside of the vector loop
  std::optional<ShortFloats> chain_;                // of the vector loop that begins
  std::vector<Shifted> shifted_;                    // of the vector loop that begins
  ExprId ahead_ = no_expr;                          // what that loop computes a turn before it is needed
  const ShortFloats* short_ = nullptr;              // while what it says holds
  std::map<ExprId, std::string> steady_;            // where values that are the same for every row are kept, as f32
  std::vector<ExprId> steady_loads_;                // what they come from
  std::string steady_fine_;                         // whether that is within the bounds of quick rounding
  // What a store of bf16 gets: values of bf16, numbers that are not subnormal, or any.
  enum class AtStore : uint8_t { kept, bounded, any } at_store_ = AtStore::kept;
  bool stays_ = false;  // what is loaded no row of the product changes
  std::string down_;    // the counter of rows under the lanes, of which results go past the caches
  // Bytes of bf16 values as those of floats, and which are not zero.
  struct {
    std::string from, where;
  } widening_;
  bool by_bytes_ = false;            // lanes of vector loops are in the order of Lanes::by_bytes
  bool past_caches_ = false;         // the store that is being written goes past the caches
  bool writes_past_caches_ = false;  // some store of the kernel does
};

}  // namespace weft
