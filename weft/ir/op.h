// Operations: their names, and all that is known about each.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "weft/core/error.h"
#include "weft/core/scalar.h"
#include "weft/core/type.h"
#include "weft/ir/literal.h"

namespace weft {

class Graph;
class Node;
class Value;
class Builder;
using GraphPtr = std::shared_ptr<const Graph>;

enum class Op : uint16_t {
#define OP(name, family) name,
#include "weft/ir/ops.def"
};

enum class Family : uint8_t {
  source,
  unary,
  binary,
  compare,
  ternary,
  shape,
  reduce,
  index,
  linalg,
  window,
  control,
  random,
  collective,
  composite
};

// Names of attributes, one space for all ops; spelled as StableHLO spells them.
enum class Attr : uint8_t {
  value,        // literal
  type,         // dtype: convert, bitcast_convert, iota …
  dims,         // Dims: the result's dimensions (iota, broadcast_in_dim, reshape)
  dimension,    // int: iota, concatenate
  dimensions,   // ints: reduce, broadcast_in_dim, reverse
  permutation,  // ints
  start_indices,
  limit_indices,
  strides,  // Dims (strides: ints)
  edge_padding_low,
  edge_padding_high,
  interior_padding,      // Dims, Dims, ints
  slice_sizes,           // Dims
  comparison_direction,  // text: EQ NE LT LE GT GE
  lhs_batching_dimensions,
  rhs_batching_dimensions,  // ints
  lhs_contracting_dimensions,
  rhs_contracting_dimensions,  // ints
  offset_dims,
  collapsed_slice_dims,
  operand_batching_dims,
  start_indices_batching_dims,
  start_index_map,  // gather, ints
  update_window_dims,
  inserted_window_dims,
  input_batching_dims,
  scatter_indices_batching_dims,
  scatter_dims_to_operand_dims,  // scatter, ints
  index_vector_dim,              // int
  indices_are_sorted,
  unique_indices,  // bool
  axis,            // int: argmax
  axes,            // ints: sum …
  keepdims,        // bool
  name,            // text: parameter
  descending,
  reversed,      // bool: sort_values, cumulative_sum …
  epsilon,       // float
  ddof,          // float
  compare_type,  // text: TOTALORDER; absent for the natural order of the element type
  window_dimensions,
  window_strides,
  base_dilations,
  window_dilations,
  padding,  // ints; padding: low and high of each
  lhs_dilation,
  rhs_dilation,
  window_reversal,  // convolution, ints
  input_batch_dimension,
  input_feature_dimension,
  input_spatial_dimensions,
  kernel_input_feature_dimension,
  kernel_output_feature_dimension,
  kernel_spatial_dimensions,
  output_batch_dimension,
  output_feature_dimension,
  output_spatial_dimensions,
  feature_group_count,
  batch_group_count,  // int
  is_stable,          // bool: sort
  fft_type,           // text: FFT IFFT RFFT IRFFT
  fft_length,         // ints
  lower,
  left_side,
  unit_diagonal,     // bool
  transpose_a,       // text: NO_TRANSPOSE TRANSPOSE ADJOINT
  rng_algorithm,     // text: DEFAULT THREE_FRY PHILOX
  rng_distribution,  // text: UNIFORM NORMAL
  exponent_bits,
  mantissa_bits,         // int: reduce_precision
  feature_index,         // int: batch_norm
  k,                     // int: top_k
  call_target_name,      // text
  backend_config,        // text, as MLIR writes it
  call_attributes,       // text: the other attributes of a custom_call (layouts, API version), as MLIR writes them
  has_side_effect,       // bool
  types,                 // types of results that operands do not tell
  composite_attributes,  // text, as MLIR writes it
  version,               // int
  replica_groups,        // ints, row by row; source_target_pairs: pairs
  source_target_pairs,
  group_size,             // int: ranks of a row of replica_groups
  channel_handle,         // text, as MLIR writes it
  use_global_device_ids,  // flag
  mean,                   // flag: a sum of ranks is divided by how many they are
  counter,                // text: the symbol that a loop counts by
  first,
  trips,    // Dims, one each: the counter's first value, and how often the loop runs
  step,     // int: from turn to turn
  carried,  // int: the operands that change from turn to turn; the rest stay
  until,    // flag: a loop ends before a turn where the first of what it carries, one boolean, holds
  split_dimension,
  concat_dimension,
  split_count,
  all_gather_dim,
  scatter_dimension,  // int
  independent,        // flag: turns of a loop may run in any order, and at once
  label,
  message,    // text: of the error where a check fails
  number,     // int: of a check within its program
  in_bounds,  // flag: indices lie inside, as an analysis has shown; text never says so
};
std::string_view name(Attr attr);
std::optional<Attr> attr_from_name(std::string_view name);

using AttrValue =
    std::variant<std::monostate, bool, int64_t, double, std::string, Ints, Dims, DType, Literal, std::vector<Type>>;

// A few attributes of one node, sorted by name; equality is by value.
class Attrs {
 public:
  Attrs() = default;
  Attrs(std::initializer_list<std::pair<Attr, AttrValue>> items);
  const AttrValue* find(Attr attr) const;
  void set(Attr attr, AttrValue value);
  void erase(Attr attr);
  // check() fails when the attribute is missing or of another kind.
  bool flag(Attr attr) const;  // false when missing
  int64_t integer(Attr attr) const;
  int64_t integer_or(Attr attr, int64_t otherwise) const { return find(attr) ? integer(attr) : otherwise; }
  double number(Attr attr) const;
  const std::string& text(Attr attr) const;
  const Ints& ints(Attr attr) const;
  const Dims& dims(Attr attr) const;
  DType dtype(Attr attr) const;
  const Literal& literal(Attr attr) const;
  const std::vector<Type>& types(Attr attr) const;
  // The integers, or `count` times the value where the attribute is missing.
  Ints ints_or(Attr attr, size_t count, int64_t value) const;
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  bool empty() const { return items_.empty(); }
  bool operator==(const Attrs&) const = default;

 private:
  std::vector<std::pair<Attr, AttrValue>> items_;
};

// A call to be inferred or verified.
struct Call {
  Op op;
  std::span<const Type> operands;
  const Attrs& attrs;
  std::span<const GraphPtr> regions;
  const Type& operand(size_t i) const { return operands[i]; }
  // Error(type) "op: message" with the label "op_label".
  template <class... Parts>
  void require(bool condition, std::string_view label, const Parts&... parts) const {
    if (!condition) [[unlikely]]
      fail(label, cat(parts...));
  }
  [[noreturn]] void fail(std::string_view label, const std::string& message) const;
};

enum class AttrKind : uint8_t { flag, integer, number, text, ints, dims, dtype, literal, types };
struct AttrSpec {
  Attr attr;
  AttrKind kind;
  bool optional = false;
};

// An input for the conformance suite: operand types, how to fill them, attributes, and for a bad one the label it
// must be rejected with.
struct Sample {
  std::string label = "typical";
  std::vector<Type> operands;
  Attrs attrs;
  std::string error;  // empty: legal
};

struct Names {
  std::string_view stablehlo = {};  // "tanh" means stablehlo.tanh; "chlo.erf" as written; empty: expanded by flatten
  std::string_view hlo = {};        // HLO opcode of the proto: "tanh", "exponential"
  std::string_view numpy = {};      // the ufunc or function of regular dispatch
  std::string_view aten = {};
};

struct Traits {
  bool commutative = false;
  bool elementwise = false;  // operands of equal dims; broadcast implicitly at trace level
  bool pure = true;
};

using InferFn = std::vector<Type> (*)(const Call& call);
using EvalFn = std::vector<Literal> (*)(const Node& node, std::span<const Literal> operands);
using ExpandFn = std::vector<Value> (*)(Builder& build, const Node& node);
using SamplesFn = std::vector<Sample> (*)();

// All that is known about an operation. Exactly one of `scalar`, `eval`, `expand` is set (parameter: none);
// a scalar that StableHLO lacks has `expand` too, for the text that other tools read.
struct OpDef {
  std::string_view doc;
  int operands = 1;  // -1: any number
  std::vector<AttrSpec> attrs = {};
  int regions = 0;  // -1: any number
  InferFn infer = nullptr;
  Scalar scalar = Scalar::none;
  EvalFn eval = nullptr;
  ExpandFn expand = nullptr;
  Names names = {};
  Traits traits = {};
  SamplesFn samples = nullptr;
};

const OpDef& def(Op op);
std::string_view name(Op op);
Family family(Op op);
std::optional<Op> op_from_name(std::string_view name);
// Every op, in the order of ops.def.
std::span<const Op> all_ops();

// Whether operands and results may be quantised: all that compute take real numbers, and text that has them otherwise
// is read with uniform_dequantize and uniform_quantize around them.
bool takes_quantized(Op op);
// Whether it computes nothing: it gives elements of its operand, numbers of another type, or what is known before.
bool only_moves(Op op);

// The result types of a call at flat level, or Error. At trace level element-wise operands are broadcast first.
std::vector<Type> infer(const Call& call);

}  // namespace weft
