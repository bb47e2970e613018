// Operations among ranks, which they call in the order of the program.
#include <algorithm>
#include <set>

#include "weft/ir/interpret.h"
#include "weft/ir/routine_call.h"
#include "weft/library/collective.h"
#include "weft/library/custom.h"
#include "weft/ops/collective.h"
#include "weft/ops/infer.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

// Rows of ranks, of which none occurs twice; -1 fills rows up to one length, where groups may differ in size.
void require_groups(const Call& call, bool of_one_size) {
  const Ints groups = call.attrs.ints_or(Attr::replica_groups, 1, 0);
  const int64_t size = group_size_of(call.attrs);
  call.require(size >= (of_one_size ? 1 : 0), "replica_groups", "must be groups of a rank at least, got ", size);
  call.require(groups.empty() || (size > 0 && static_cast<int64_t>(groups.size()) % size == 0), "replica_groups",
               "must be rows of ", size, " ranks, got ", groups);
  std::set<int64_t> named;
  for (int64_t rank : groups) {
    if (rank == -1) {
      call.require(!of_one_size, "replica_groups", "must be groups of one size, got ", groups);
      continue;
    }
    call.require(rank >= 0, "replica_groups", "must name ranks, which are counted from 0, got ", rank);
    call.require(named.insert(rank).second, "replica_groups", "must name a rank once, got ", groups);
  }
  call.require(!call.attrs.flag(Attr::use_global_device_ids) || call.attrs.find(Attr::channel_handle), "channel_handle",
               "must be there where use_global_device_ids is");
}

void require_body(const Call& call) {
  for (const Type& type : call.operands)
    call.require(combines_scalars(*call.regions[0], {&type, 1}), "c5", "the body must take two scalars of ",
                 name(type.dtype), " to one");
  if (!call.attrs.flag(Attr::mean)) return;
  call.require(single_op(*call.regions[0]) == Op::add, "mean", "of what ranks have is that of a sum");
  for (const Type& type : call.operands)
    call.require(is_float_or_complex(type.dtype), "mean_dtype", "takes floats and complex numbers for a mean, got ",
                 type);
}

void require_dimension(const Call& call, Attr attr) {
  const int64_t axis = call.attrs.integer(attr);
  for (const Type& type : call.operands)
    call.require(axis >= 0 && axis < type.rank(), "c1", name(attr), " must be a dimension of ", type, ", got ", axis);
}

// The operands with a dimension divided into parts.
Types in_parts(const Call& call, Attr attr, int64_t parts, std::string_view label) {
  Types types(call.operands.begin(), call.operands.end());
  for (Type& type : types) {
    Dim& extent = type.dims[static_cast<size_t>(call.attrs.integer(attr))];
    call.require(!extent.is_static() || extent.value() % parts == 0, label, name(attr), " of ", type,
                 " must divide into ", parts, " parts, one for each rank");
    extent = floordiv(extent, parts);
  }
  return types;
}

Types same(const Call& call) { return {call.operands.begin(), call.operands.end()}; }

Types infer_all_reduce(const Call& call) {
  require_groups(call, call.attrs.flag(Attr::mean));
  require_body(call);
  return same(call);
}

Types infer_all_gather(const Call& call) {
  require_dimension(call, Attr::all_gather_dim);
  require_groups(call, true);
  Types types = same(call);
  for (Type& type : types) {
    Dim& extent = type.dims[static_cast<size_t>(call.attrs.integer(Attr::all_gather_dim))];
    extent = extent * Dim(group_size_of(call.attrs));
  }
  return types;
}

Types infer_reduce_scatter(const Call& call) {
  require_dimension(call, Attr::scatter_dimension);
  require_groups(call, true);
  require_body(call);
  return in_parts(call, Attr::scatter_dimension, group_size_of(call.attrs), "c2");
}

Types infer_all_to_all(const Call& call) {
  require_dimension(call, Attr::split_dimension);
  require_dimension(call, Attr::concat_dimension);
  require_groups(call, true);
  const int64_t parts = call.attrs.integer(Attr::split_count);
  call.require(parts == group_size_of(call.attrs), "c4", "split_count must be the size of a group, ",
               group_size_of(call.attrs), ", got ", parts);
  Types types = in_parts(call, Attr::split_dimension, parts, "c2");
  const int64_t split = call.attrs.integer(Attr::split_dimension), concat = call.attrs.integer(Attr::concat_dimension);
  // Put together again along the same dimension it is what it was, also where that is an expression.
  if (split == concat) return same(call);
  for (Type& type : types) {
    Dim& extent = type.dims[static_cast<size_t>(concat)];
    extent = extent * Dim(parts);
  }
  return types;
}

Types infer_broadcast(const Call& call) {
  require_groups(call, false);
  return same(call);
}

Types infer_permute(const Call& call) {
  const Ints& pairs = call.attrs.ints(Attr::source_target_pairs);
  call.require(pairs.size() % 2 == 0, "c1", "source_target_pairs must be pairs, got ", pairs);
  std::set<int64_t> sources, targets;
  for (size_t i = 0; i < pairs.size(); ++i) {
    call.require(pairs[i] >= 0, "c4", "source_target_pairs must name ranks, which are counted from 0, got ", pairs[i]);
    call.require((i % 2 ? targets : sources).insert(pairs[i]).second, i % 2 ? "c3" : "c2", "a rank ",
                 i % 2 ? "receives" : "sends", " once at most, got ", pairs);
  }
  return same(call);
}

Literals evaluate_collective(const Node& node, std::span<const Literal> operands) {
  if (collective_of(node)) return run_routine(node, operands);
  Builder build(Level::flat);
  std::vector<Value> given;
  for (const Literal& operand : operands) given.push_back(build.parameter(operand.type(), ""));
  std::vector<Output> outputs;
  for (const Value& value :
       in_called_form(build, node, given, [](Builder&, const Node& call) { return call.result(); }))
    outputs.push_back({value, ""});
  return interpret(*build.finish(std::move(outputs)), operands);
}

OpDef collective(std::string_view doc, std::vector<AttrSpec> attrs, int regions, InferFn infer, Names names) {
  attrs.insert(attrs.end(), {{Attr::replica_groups, AttrKind::ints, true},
                             {Attr::group_size, AttrKind::integer, true},
                             {Attr::channel_handle, AttrKind::text, true},
                             {Attr::use_global_device_ids, AttrKind::flag, true},
                             {Attr::axis, AttrKind::integer, true}});
  if (regions > 0) attrs.push_back({Attr::mean, AttrKind::flag, true});
  return {.doc = doc,
          .operands = -1,
          .attrs = std::move(attrs),
          .regions = regions,
          .infer = infer,
          .eval = evaluate_collective,
          .names = names,
          .traits = {.pure = false}};
}

OpDef rank_number(std::string_view doc, Names names) {
  return {.doc = doc,
          .operands = 0,
          .infer = [](const Call&) -> Types { return {{DType::u32, {}}}; },
          .eval = run_routine,
          .names = names};
}

Collective kind_of(Op op) {
  switch (op) {
    case Op::all_gather:
      return Collective::all_gather;
    case Op::all_to_all:
      return Collective::all_to_all;
    case Op::collective_broadcast:
      return Collective::broadcast;
    case Op::collective_permute:
      return Collective::permute;
    case Op::reduce_scatter:
      return Collective::reduce_scatter;
    default:
      return Collective::all_reduce;
  }
}

}  // namespace

std::optional<RoutineCall> collective_of(const Node& node) {
  if (node.op == Op::partition_id || node.op == Op::replica_id)
    return RoutineCall{"rank", {}, {}, {place_text(node.loc)}};
  if (node.operand_count() != 1 || axis_of(node) != 0) return std::nullopt;
  if (node.op == Op::all_to_all && node.attrs.integer(Attr::concat_dimension) != 0) return std::nullopt;
  const std::optional<ReduceOp> op = reduction_of(node);
  if (!op) return std::nullopt;
  ProgramCollective call{.kind = kind_of(node.op), .op = *op, .operand = node.operand(0).type()};
  call.axis = node.attrs.integer_or(Attr::axis, 0);
  Dims& dims = call.operand.dims;
  if (call.axis > 0) std::rotate(dims.begin(), dims.begin() + 1, dims.begin() + call.axis + 1);
  if (node.op == Op::collective_permute) {
    call.pairs = node.ints(Attr::source_target_pairs);
  } else {
    const Ints ranks = node.attrs.ints_or(Attr::replica_groups, 1, 0);
    const int64_t size = group_size_of(node.attrs);
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (i % static_cast<size_t>(size) == 0) call.groups.emplace_back();
      if (ranks[i] >= 0) call.groups.back().push_back(ranks[i]);
    }
    if (call.kind != Collective::all_reduce && call.kind != Collective::broadcast) call.group_size = size;
  }
  return RoutineCall{"collective", call.numbers(), {}, {place_text(node.loc)}};
}

OpDef define_partition_id() {
  return rank_number("The number of the rank that runs the program.",
                     {.stablehlo = "partition_id", .hlo = "partition-id"});
}
OpDef define_replica_id() {
  return rank_number("The number of the rank that runs the program.", {.stablehlo = "replica_id", .hlo = "replica-id"});
}

OpDef define_all_gather() {
  return collective("The operands of a group's ranks, one after the other.",
                    {{Attr::all_gather_dim, AttrKind::integer}}, 0, infer_all_gather,
                    {.stablehlo = "all_gather", .hlo = "all-gather"});
}
OpDef define_all_reduce() {
  return collective("The operands of a group's ranks combined by a body, from the first rank to the last.", {}, 1,
                    infer_all_reduce, {.stablehlo = "all_reduce", .hlo = "all-reduce"});
}
OpDef define_all_to_all() {
  return collective("Sends part i of each operand to rank i of the group.",
                    {{Attr::split_dimension, AttrKind::integer},
                     {Attr::concat_dimension, AttrKind::integer},
                     {Attr::split_count, AttrKind::integer}},
                    0, infer_all_to_all, {.stablehlo = "all_to_all", .hlo = "all-to-all"});
}
OpDef define_collective_broadcast() {
  return collective("The operand of the group's first rank.", {}, 0, infer_broadcast,
                    {.stablehlo = "collective_broadcast", .hlo = "collective-broadcast"});
}
OpDef define_reduce_scatter() {
  return collective("The operands of a group's ranks combined by a body, each rank keeping its part.",
                    {{Attr::scatter_dimension, AttrKind::integer}}, 1, infer_reduce_scatter,
                    {.stablehlo = "reduce_scatter", .hlo = "reduce-scatter"});
}

OpDef define_collective_permute() {
  return {.doc = "The operand of the rank that sends to this one; zeros where none does.",
          .attrs = {{Attr::source_target_pairs, AttrKind::ints}, {Attr::channel_handle, AttrKind::text, true}},
          .infer = infer_permute,
          .eval = evaluate_collective,
          .names = {.stablehlo = "collective_permute", .hlo = "collective-permute"},
          .traits = {.pure = false}};
}

}  // namespace weft
