// The op table, attributes and calls.
#include "weft/ir/op.h"

#include <algorithm>
#include <array>

#include "weft/ir/graph.h"

namespace weft {

#define OP(name, family) OpDef define_##name();
#include "weft/ir/ops.def"

namespace {

struct Row {
  std::string_view name;
  Family family;
  OpDef def;
};

// C++ keywords carry an underscore that the text does not.
constexpr std::string_view spelled(std::string_view name) {
  return name.back() == '_' ? name.substr(0, name.size() - 1) : name;
}

const std::vector<Row>& table() {
  static const std::vector<Row> rows = {
#define OP(name, family) {spelled(#name), Family::family, define_##name()},
#include "weft/ir/ops.def"
  };
  return rows;
}

constexpr std::string_view attr_names[] = {
    "value",
    "type",
    "dims",
    "dimension",
    "dimensions",
    "permutation",
    "start_indices",
    "limit_indices",
    "strides",
    "edge_padding_low",
    "edge_padding_high",
    "interior_padding",
    "slice_sizes",
    "comparison_direction",
    "lhs_batching_dimensions",
    "rhs_batching_dimensions",
    "lhs_contracting_dimensions",
    "rhs_contracting_dimensions",
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
    "indices_are_sorted",
    "unique_indices",
    "axis",
    "axes",
    "keepdims",
    "name",
    "descending",
    "reversed",
    "epsilon",
    "ddof",
    "compare_type",
    "window_dimensions",
    "window_strides",
    "base_dilations",
    "window_dilations",
    "padding",
    "lhs_dilation",
    "rhs_dilation",
    "window_reversal",
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
    "feature_group_count",
    "batch_group_count",
    "is_stable",
    "fft_type",
    "fft_length",
    "lower",
    "left_side",
    "unit_diagonal",
    "transpose_a",
    "rng_algorithm",
    "rng_distribution",
    "exponent_bits",
    "mantissa_bits",
    "feature_index",
    "k",
    "call_target_name",
    "backend_config",
    "call_attributes",
    "has_side_effect",
    "types",
    "composite_attributes",
    "version",
    "replica_groups",
    "source_target_pairs",
    "group_size",
    "channel_handle",
    "use_global_device_ids",
    "mean",
    "counter",
    "first",
    "trips",
    "step",
    "carried",
    "until",
    "split_dimension",
    "concat_dimension",
    "split_count",
    "all_gather_dim",
    "scatter_dimension",
    "independent",
    "label",
    "message",
    "number",
    "weft.in_bounds",
};
static_assert(std::size(attr_names) == static_cast<size_t>(Attr::in_bounds) + 1);

template <class T>
const T& attr_as(const Attrs& attrs, Attr attr) {
  const AttrValue* value = attrs.find(attr);
  check(value && std::holds_alternative<T>(*value), "attribute ", name(attr), " is missing or of another kind");
  return std::get<T>(*value);
}

bool is_kind(const AttrValue& value, AttrKind kind) {
  switch (kind) {
    case AttrKind::flag:
      return std::holds_alternative<bool>(value);
    case AttrKind::integer:
      return std::holds_alternative<int64_t>(value);
    case AttrKind::number:
      return std::holds_alternative<double>(value);
    case AttrKind::text:
      return std::holds_alternative<std::string>(value);
    case AttrKind::ints:
      return std::holds_alternative<Ints>(value);
    case AttrKind::dims:
      return std::holds_alternative<Dims>(value);
    case AttrKind::dtype:
      return std::holds_alternative<DType>(value);
    case AttrKind::literal:
      return std::holds_alternative<Literal>(value);
    case AttrKind::types:
      return std::holds_alternative<std::vector<Type>>(value);
  }
  return false;
}

}  // namespace

std::string_view name(Attr attr) { return attr_names[static_cast<size_t>(attr)]; }

std::optional<Attr> attr_from_name(std::string_view text) {
  for (size_t i = 0; i < std::size(attr_names); ++i)
    if (attr_names[i] == text) return static_cast<Attr>(i);
  return std::nullopt;
}

Attrs::Attrs(std::initializer_list<std::pair<Attr, AttrValue>> items) {
  for (const auto& [attr, value] : items) set(attr, value);
}

const AttrValue* Attrs::find(Attr attr) const {
  for (const auto& [key, value] : items_)
    if (key == attr) return &value;
  return nullptr;
}

void Attrs::set(Attr attr, AttrValue value) {
  auto at = std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item.first >= attr; });
  if (at != items_.end() && at->first == attr) {
    at->second = std::move(value);
  } else {
    items_.insert(at, {attr, std::move(value)});
  }
}

void Attrs::erase(Attr attr) {
  std::erase_if(items_, [&](const auto& item) { return item.first == attr; });
}

bool Attrs::flag(Attr attr) const { return find(attr) && attr_as<bool>(*this, attr); }
int64_t Attrs::integer(Attr attr) const { return attr_as<int64_t>(*this, attr); }
double Attrs::number(Attr attr) const { return attr_as<double>(*this, attr); }
const std::string& Attrs::text(Attr attr) const { return attr_as<std::string>(*this, attr); }
const Ints& Attrs::ints(Attr attr) const { return attr_as<Ints>(*this, attr); }
const Dims& Attrs::dims(Attr attr) const { return attr_as<Dims>(*this, attr); }
DType Attrs::dtype(Attr attr) const { return attr_as<DType>(*this, attr); }
const Literal& Attrs::literal(Attr attr) const { return attr_as<Literal>(*this, attr); }
const std::vector<Type>& Attrs::types(Attr attr) const { return attr_as<std::vector<Type>>(*this, attr); }

Ints Attrs::ints_or(Attr attr, size_t count, int64_t value) const {
  return find(attr) ? ints(attr) : Ints(count, value);
}

void Call::fail(std::string_view label, const std::string& message) const {
  raise({ErrorKind::type, cat(name(op), ": ", message), cat(name(op), "_", label)});
}

const OpDef& def(Op op) { return table()[static_cast<size_t>(op)].def; }
std::string_view name(Op op) { return table()[static_cast<size_t>(op)].name; }
Family family(Op op) { return table()[static_cast<size_t>(op)].family; }

std::optional<Op> op_from_name(std::string_view text) {
  const auto& rows = table();
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name == text || (text.ends_with('_') && rows[i].name == text.substr(0, text.size() - 1)))
      return static_cast<Op>(i);
  return std::nullopt;
}

std::span<const Op> all_ops() {
  static const std::vector<Op> ops = [] {
    std::vector<Op> all;
    for (size_t i = 0; i < table().size(); ++i) all.push_back(static_cast<Op>(i));
    return all;
  }();
  return ops;
}

bool only_moves(Op op) {
  switch (op) {
    case Op::constant:
    case Op::iota:
    case Op::extent:
    case Op::convert:
    case Op::broadcast_in_dim:
    case Op::reshape:
    case Op::transpose:
    case Op::slice:
    case Op::reverse:
      return true;
    default:
      return false;
  }
}

bool takes_quantized(Op op) {
  switch (op) {
    case Op::uniform_quantize:
    case Op::uniform_dequantize:
    case Op::bitcast_convert:
    case Op::while_:
    case Op::if_:
    case Op::case_:
    case Op::call:
    case Op::composite:
    case Op::custom_call:
    case Op::optimization_barrier:
      return true;
    default:
      return false;
  }
}

std::vector<Type> infer(const Call& call) {
  const OpDef& op = def(call.op);
  if (op.operands >= 0)
    call.require(static_cast<int>(call.operands.size()) == op.operands, "operands", "takes ", op.operands,
                 " operands, got ", call.operands.size());
  for (const AttrSpec& spec : op.attrs) {
    const AttrValue* value = call.attrs.find(spec.attr);
    if (!value) {
      call.require(spec.optional, "attributes", "needs the attribute ", name(spec.attr));
    } else {
      call.require(is_kind(*value, spec.kind), "attributes", "attribute ", name(spec.attr), " is of the wrong kind");
    }
  }
  call.require(op.regions < 0 || static_cast<int>(call.regions.size()) == op.regions, "regions", "takes ", op.regions,
               " regions, got ", call.regions.size());
  for (const Type& type : call.operands)
    call.require(!type.quantized || takes_quantized(call.op), "quantized", "takes no quantised operands, got ", type);
  std::vector<Type> results = op.infer(call);
  for (const Type& result : results)
    call.require(result.is_possible(), "extent", "gives extents that are negative: ", result);
  return results;
}

}  // namespace weft
