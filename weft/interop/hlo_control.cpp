// Rules of loops, branches, sorting, calls to the outside and collectives; field numbers are those of hlo.proto.
#include <algorithm>
#include <cstdlib>

#include "weft/interop/hlo_rules.h"

namespace weft {
namespace {

constexpr uint32_t channel_field = 26, global_ids_field = 71, target_field = 28, backend_field = 43, groups_field = 49,
                   pairs_field = 52, constrained_field = 56, operand_shapes_field = 57, stable_field = 60,
                   side_effect_field = 65, api_field = 77;

constexpr Signature one_tuple{.tuple_parameters = true, .tuple_result = true};

// xla.CustomCallApiVersion.
constexpr int64_t original = 1, typed_ffi = 4;

int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

// A configuration as XLA keeps it: the text of a dictionary, or what a string in MLIR's quotes says.
std::string configuration(const Node& node) {
  std::string text = node.attrs.find(Attr::backend_config) ? node.attrs.text(Attr::backend_config) : std::string();
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return text;
  std::string out;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]); high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[++i];
    }
  }
  return out;
}

// The number of "#stablehlo.channel_handle<handle = 1, type = 0>", which XLA has where it is positive.
void write_channel(const Node& node, Message& fields) {
  if (!node.attrs.find(Attr::channel_handle)) return;
  const std::string& text = node.attrs.text(Attr::channel_handle);
  const size_t at = text.find("handle = ");
  const int64_t number = at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + 9, nullptr, 10);
  if (number > 0) fields.number(channel_field, number);
  if (node.attrs.flag(Attr::use_global_device_ids)) fields.number(global_ids_field, 1);
}

// Each row of the groups; a program that names none is one group of all devices.
void write_groups(const Node& node, Message& fields) {
  write_channel(node, fields);
  if (!node.attrs.find(Attr::replica_groups)) return;
  const Ints& ranks = node.ints(Attr::replica_groups);
  const auto size = static_cast<size_t>(node.attrs.integer_or(Attr::group_size, 1));
  for (size_t first = 0; first < ranks.size(); first += size) {
    Ints row(ranks.begin() + static_cast<std::ptrdiff_t>(first),
             ranks.begin() + static_cast<std::ptrdiff_t>(first + size));
    std::erase(row, -1);
    Message group;
    group.numbers(1, row);
    fields.message(groups_field, group);
  }
}

}  // namespace

HloValues write_while(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  int64_t body = hlo.region(1, one_tuple).id, condition = hlo.region(0, {.tuple_parameters = true}).id;
  fields.numbers(hlo_called, Ints{body, condition});
  return hlo.add_tuple("while", node.types, {hlo.tuple(operands)}, fields);
}

// Both kinds take the operand that chooses and, for each branch, what it is given.
HloValues write_conditional(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  HloValues arguments{operands[0]};
  HloValue captured = hlo.tuple({operands.begin() + 1, operands.end()});
  Ints called;
  for (size_t i = 0; i < node.regions.size(); ++i) {
    called.push_back(hlo.region(i, one_tuple).id);
    arguments.push_back(captured);
  }
  fields.numbers(hlo_called, called);
  return hlo.add_tuple("conditional", node.types, arguments, fields);
}

HloValues write_barrier(HloComputation& hlo, const Node& node, const HloValues& operands) {
  return hlo.add_tuple("opt-barrier", node.types, {hlo.tuple(operands)});
}

HloValues write_sort(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  fields.numbers(hlo_dimensions, Ints{node.attrs.integer(Attr::dimension)});
  fields.number(stable_field, node.attrs.flag(Attr::is_stable));
  fields.numbers(hlo_called, Ints{hlo.region(0).id});
  return write_fields(hlo, node, operands, fields);
}

// Functions that bear the names JAX gives to LAPACK's take matrices in its order: what has the rank of the matrices is
// one, what has less a vector or a flag of each.
HloValues write_custom_call(HloComputation& hlo, const Node& node, const HloValues& operands) {
  const std::string& target = node.attrs.text(Attr::call_target_name);
  if (target.starts_with("stablehlo."))
    raise({ErrorKind::unsupported, cat("custom_call: HLO needs tokens for ", target, ", which the graph does not have"),
           "hlo_op", node.loc});
  std::string config = configuration(node);
  Message fields;
  fields.text(target_field, target);
  fields.text(backend_field, config);
  fields.number(side_effect_field, node.attrs.flag(Attr::has_side_effect));
  fields.number(api_field, config.starts_with('{') ? typed_ffi : original);
  if (!target.starts_with("lapack_")) return write_fields(hlo, node, operands, fields);
  int64_t rank = 0;
  for (const HloValue& operand : operands) rank = std::max(rank, operand.type.rank());
  for (const Type& type : node.types) rank = std::max(rank, type.rank());
  auto shape_of = [&](const Type& type) {
    return shape_message(type, type.rank() == rank ? Order::column_major : Order::row_major);
  };
  std::vector<Message> shapes;
  for (const Type& type : node.types) shapes.push_back(shape_of(type));
  fields.number(constrained_field, 1);
  for (const HloValue& operand : operands) fields.message(operand_shapes_field, shape_of(operand.type));
  return hlo.add_shaped("custom-call", node.types, shapes, operands, fields);
}

HloValues write_all_reduce(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  write_groups(node, fields);
  fields.numbers(hlo_called, Ints{hlo.region(0).id});
  return write_fields(hlo, node, operands, fields);
}

HloValues write_reduce_scatter(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  write_groups(node, fields);
  fields.numbers(hlo_dimensions, Ints{node.attrs.integer(Attr::scatter_dimension)});
  fields.numbers(hlo_called, Ints{hlo.region(0).id});
  return write_fields(hlo, node, operands, fields);
}

HloValues write_all_gather(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  write_groups(node, fields);
  fields.numbers(hlo_dimensions, Ints{node.attrs.integer(Attr::all_gather_dim)});
  return write_fields(hlo, node, operands, fields);
}

HloValues write_all_to_all(HloComputation& hlo, const Node& node, const HloValues& operands) {
  int64_t split = node.attrs.integer(Attr::split_dimension), concat = node.attrs.integer(Attr::concat_dimension);
  if (split != concat)
    fail(ErrorKind::unsupported, "hlo_op", "all_to_all: HLO splits and concatenates along one dimension, got ", split,
         " and ", concat);
  Message fields;
  write_groups(node, fields);
  fields.numbers(hlo_dimensions, Ints{split});
  return write_fields(hlo, node, operands, fields);
}

HloValues write_collective_broadcast(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  write_groups(node, fields);
  return write_fields(hlo, node, operands, fields);
}

HloValues write_collective_permute(HloComputation& hlo, const Node& node, const HloValues& operands) {
  Message fields;
  write_channel(node, fields);
  const Ints& pairs = node.ints(Attr::source_target_pairs);
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    Message pair;
    pair.number(1, pairs[i]);
    pair.number(2, pairs[i + 1]);
    fields.message(pairs_field, pair);
  }
  return write_fields(hlo, node, operands, fields);
}

}  // namespace weft
