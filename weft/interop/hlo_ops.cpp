// One rule for each op whose instruction says more than opcode and operands; field numbers are those of hlo.proto and
// xla_data.proto.
#include <map>

#include "weft/interop/hlo_rules.h"

namespace weft {
namespace {

// Fields of xla.HloInstructionProto.
constexpr uint32_t slices_field = 17, dynamic_sizes_field = 20, padding_field = 21, dot_field = 30, gather_field = 33,
                   gather_sizes_field = 34, scatter_field = 48, sorted_field = 67, unique_field = 69;

HloValues write_constant(HloComputation& hlo, const Node& node, const HloValues&) {
  return {hlo.constant(node.attrs.literal(Attr::value))};
}

// The attribute that HLO keeps in the field `dimensions`.
template <Attr attr>
HloValues write_dimensions(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  fields.numbers(hlo_dimensions, node.ints(attr));
  return write_fields(hlo, node, operands, fields);
}

HloValues write_dimension(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  fields.numbers(hlo_dimensions, Ints{node.attrs.integer(Attr::dimension)});
  return write_fields(hlo, node, operands, fields);
}

// HLO's broadcast does not stretch extents of 1: they go first.
HloValues write_broadcast(HloComputation& hlo, const Node& node, const HloValues& operands) {
  const Dims& from = operands[0].type.dims;
  const Ints& dimensions = node.ints(Attr::dimensions);
  Ints kept;
  Dims dims;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != node.type().dims[static_cast<size_t>(dimensions[i])]) continue;
    kept.push_back(dimensions[i]);
    dims.push_back(from[i]);
  }
  return {hlo.broadcast(hlo.reshape(operands[0], dims), node.type(), kept)};
}

HloValues write_compare(HloComputation& hlo, const Node& node, const HloValues& operands) {
  std::string_view order =
      node.attrs.find(Attr::compare_type) ? std::string_view(node.attrs.text(Attr::compare_type)) : "";
  return {hlo.compare(node.attrs.text(Attr::comparison_direction), operands[0], operands[1], order)};
}

HloValues write_slice(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Ints start = static_extents(node.attrs.dims(Attr::start_indices)),
       limit = static_extents(node.attrs.dims(Attr::limit_indices));
  Message fields;
  for (size_t i = 0; i < start.size(); ++i) {
    Message slice;
    slice.number(1, start[i]);
    slice.number(2, limit[i]);
    slice.number(3, node.ints(Attr::strides)[i]);
    fields.message(slices_field, slice);
  }
  return write_fields(hlo, node, operands, fields);
}

HloValues write_pad(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Ints low = static_extents(node.attrs.dims(Attr::edge_padding_low)),
       high = static_extents(node.attrs.dims(Attr::edge_padding_high));
  Message fields, config;
  for (size_t i = 0; i < low.size(); ++i) {
    Message dimension;
    dimension.number(1, low[i]);
    dimension.number(2, high[i]);
    dimension.number(3, node.ints(Attr::interior_padding)[i]);
    config.message(1, dimension);
  }
  fields.message(padding_field, config);
  return write_fields(hlo, node, operands, fields);
}

HloValues write_dynamic_slice(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  fields.numbers(dynamic_sizes_field, static_extents(node.attrs.dims(Attr::slice_sizes)));
  return write_fields(hlo, node, operands, fields);
}

HloValues write_gather(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields, numbers;
  numbers.numbers(1, node.ints(Attr::offset_dims));
  numbers.numbers(2, node.ints(Attr::collapsed_slice_dims));
  numbers.numbers(3, node.ints(Attr::start_index_map));
  numbers.number(4, node.attrs.integer(Attr::index_vector_dim));
  numbers.numbers(5, node.ints(Attr::operand_batching_dims));
  numbers.numbers(6, node.ints(Attr::start_indices_batching_dims));
  fields.message(gather_field, numbers);
  fields.numbers(gather_sizes_field, static_extents(node.attrs.dims(Attr::slice_sizes)));
  fields.number(sorted_field, node.attrs.flag(Attr::indices_are_sorted));
  return write_fields(hlo, node, operands, fields);
}

HloValues write_scatter(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields, numbers;
  numbers.numbers(1, node.ints(Attr::update_window_dims));
  numbers.numbers(2, node.ints(Attr::inserted_window_dims));
  numbers.numbers(3, node.ints(Attr::scatter_dims_to_operand_dims));
  numbers.number(4, node.attrs.integer(Attr::index_vector_dim));
  numbers.numbers(5, node.ints(Attr::input_batching_dims));
  numbers.numbers(6, node.ints(Attr::scatter_indices_batching_dims));
  fields.message(scatter_field, numbers);
  fields.number(sorted_field, node.attrs.flag(Attr::indices_are_sorted));
  fields.number(unique_field, node.attrs.flag(Attr::unique_indices));
  fields.numbers(hlo_called, Ints{hlo.region(0).id});
  return write_fields(hlo, node, operands, fields);
}

HloValues write_reduce(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  fields.numbers(hlo_dimensions, node.ints(Attr::dimensions));
  fields.numbers(hlo_called, Ints{hlo.region(0).id});
  return write_fields(hlo, node, operands, fields);
}

HloValues write_dot(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields, numbers;
  numbers.numbers(1, node.ints(Attr::lhs_contracting_dimensions));
  numbers.numbers(2, node.ints(Attr::rhs_contracting_dimensions));
  numbers.numbers(3, node.ints(Attr::lhs_batching_dimensions));
  numbers.numbers(4, node.ints(Attr::rhs_batching_dimensions));
  fields.message(dot_field, numbers);
  fields.message(hlo_precision, highest_precision());
  return write_fields(hlo, node, operands, fields);
}

const std::map<Op, HloRule>& rules() {
  static const std::map<Op, HloRule> table = {
      {Op::constant, write_constant},
      {Op::iota, write_dimension},
      {Op::bitcast_convert, write_plain},
      {Op::convert, write_plain},
      {Op::compare, write_compare},
      {Op::broadcast_in_dim, write_broadcast},
      {Op::reshape, write_plain},
      {Op::transpose, write_dimensions<Attr::permutation>},
      {Op::slice, write_slice},
      {Op::pad, write_pad},
      {Op::concatenate, write_dimension},
      {Op::reverse, write_dimensions<Attr::dimensions>},
      {Op::dynamic_slice, write_dynamic_slice},
      {Op::dynamic_update_slice, write_plain},
      {Op::gather, write_gather},
      {Op::scatter, write_scatter},
      {Op::reduce, write_reduce},
      {Op::dot_general, write_dot},
      {Op::while_, write_while},
      {Op::if_, write_conditional},
      {Op::case_, write_conditional},
      {Op::optimization_barrier, write_barrier},
      {Op::sort, write_sort},
      {Op::custom_call, write_custom_call},
      {Op::all_reduce, write_all_reduce},
      {Op::reduce_scatter, write_reduce_scatter},
      {Op::all_gather, write_all_gather},
      {Op::all_to_all, write_all_to_all},
      {Op::collective_broadcast, write_collective_broadcast},
      {Op::collective_permute, write_collective_permute},
      {Op::convolution, write_convolution},
      {Op::reduce_window, write_reduce_window},
      {Op::select_and_scatter, write_select_and_scatter},
      {Op::cholesky, write_cholesky},
      {Op::triangular_solve, write_triangular_solve},
      {Op::fft, write_fft},
  };
  return table;
}

}  // namespace

HloValues write_fields(HloComputation& hlo, const Node& node, const HloValues& operands, const Message& fields) {
  std::string_view opcode = def(node.op).names.hlo;
  if (node.types.size() == 1) return {hlo.add(opcode, node.type(), operands, fields)};
  return hlo.add_tuple(opcode, node.types, operands, fields);
}

HloValues write_plain(HloComputation& hlo, const Node& node, const HloValues& operands) {
  return write_fields(hlo, node, operands, {});
}

Message highest_precision() {
  Message precision;
  precision.numbers(1, Ints{2, 2});
  return precision;
}

HloValues write_node(HloComputation& hlo, const Node& node, const HloValues& operands) {
  const OpDef& op = def(node.op);
  auto row = rules().find(node.op);
  if (row != rules().end()) return row->second(hlo, node, operands);
  if (HloRule rule = expansion(node.op)) return rule(hlo, node, operands);
  if (op.names.hlo.empty() || !op.attrs.empty() || op.regions || node.types.size() != 1)
    fail(ErrorKind::unsupported, "hlo_op", name(node.op), ": cannot be written as HLO");
  return write_plain(hlo, node, operands);
}

}  // namespace weft
