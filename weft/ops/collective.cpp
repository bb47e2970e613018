// Operations among devices. A program that runs on one device is a group of one: each gives what its operand is.
#include "weft/ops/infer.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

Types same(const Call& call) { return {call.operands.begin(), call.operands.end()}; }

Literals identity(const Node&, std::span<const Literal> operands) { return {operands.begin(), operands.end()}; }

void require_single(const Call& call) {
  for (Attr attr : {Attr::replica_groups, Attr::source_target_pairs}) {
    if (!call.attrs.find(attr)) continue;
    // -1 fills groups up to one size.
    for (int64_t id : call.attrs.ints(attr)) call.require(id == 0 || id == -1, "replica_groups", "names device ", id, ", the program runs on one, number 0");
  }
  for (Attr attr : {Attr::all_gather_dim, Attr::split_dimension, Attr::concat_dimension, Attr::scatter_dimension}) {
    if (!call.attrs.find(attr)) continue;
    int64_t axis = call.attrs.integer(attr);
    for (const Type& type : call.operands) call.require(axis >= 0 && axis < type.rank(), "c1", name(attr), " must be a dimension of ", type, ", got ", axis);
  }
  if (call.attrs.find(Attr::split_count))
    call.require(call.attrs.integer(Attr::split_count) == 1, "c4", "split_count must be 1, the size of a group of one device, got ", call.attrs.integer(Attr::split_count));
}

Types infer_single(const Call& call) {
  require_single(call);
  for (const GraphPtr& body : call.regions)
    for (const Type& type : call.operands)
      call.require(combines_scalars(*body, {&type, 1}), "c5", "the body must take two scalars of ", name(type.dtype), " to one");
  return same(call);
}

OpDef collective(std::string_view doc, std::vector<AttrSpec> attrs, int regions, Names names) {
  attrs.push_back({Attr::replica_groups, AttrKind::ints, true});
  return {.doc = doc, .operands = -1, .attrs = std::move(attrs), .regions = regions, .infer = infer_single, .eval = identity, .names = names};
}

OpDef device_number(std::string_view doc, Names names) {
  return {.doc = doc,
          .operands = 0,
          .infer = [](const Call&) -> Types { return {{DType::u32, {}}}; },
          .eval = [](const Node& node, std::span<const Literal>) -> Literals { return {Literal(node.type())}; },
          .names = names};
}

}  // namespace

OpDef define_partition_id() { return device_number("The number of the partition that runs the program.", {.stablehlo = "partition_id", .hlo = "partition-id"}); }
OpDef define_replica_id() { return device_number("The number of the replica that runs the program.", {.stablehlo = "replica_id", .hlo = "replica-id"}); }

OpDef define_all_gather() {
  return collective("The operands of a group's devices, one after the other.", {{Attr::all_gather_dim, AttrKind::integer}}, 0,
                    {.stablehlo = "all_gather", .hlo = "all-gather"});
}
OpDef define_all_reduce() {
  return collective("The operands of a group's devices combined by a body.", {}, 1, {.stablehlo = "all_reduce", .hlo = "all-reduce"});
}
OpDef define_all_to_all() {
  return collective("Sends part i of each operand to device i of the group.",
                    {{Attr::split_dimension, AttrKind::integer}, {Attr::concat_dimension, AttrKind::integer}, {Attr::split_count, AttrKind::integer}}, 0,
                    {.stablehlo = "all_to_all", .hlo = "all-to-all"});
}
OpDef define_collective_broadcast() {
  return collective("The operand of the group's first device.", {}, 0, {.stablehlo = "collective_broadcast", .hlo = "collective-broadcast"});
}
OpDef define_reduce_scatter() {
  return collective("The operands of a group's devices combined by a body, each device keeping its part.",
                    {{Attr::scatter_dimension, AttrKind::integer}}, 1, {.stablehlo = "reduce_scatter", .hlo = "reduce-scatter"});
}

OpDef define_collective_permute() {
  return {.doc = "The operand of the device that sends to this one; zeros where none does.",
          .attrs = {{Attr::source_target_pairs, AttrKind::ints}},
          .infer = infer_single,
          .eval = [](const Node& node, std::span<const Literal> operands) -> Literals {
            if (!node.ints(Attr::source_target_pairs).empty()) return {operands[0]};
            return {Literal(node.type())};
          },
          .names = {.stablehlo = "collective_permute", .hlo = "collective-permute"}};
}

}  // namespace weft
