// Operations among ranks, which they call in the order of the program.
#include <algorithm>
#include <set>

#include "weft/ir/interpret.h"
#include "weft/ir/routine_call.h"
#include "weft/library/collective.h"
#include "weft/library/custom.h"
#include "weft/ops/infer.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

int64_t group_size_of(const Attrs& attrs) { return attrs.find(Attr::group_size) ? attrs.integer(Attr::group_size) : 1; }

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

// -- the form that is called: one operand, along its first dimension, combined in a way that communicators know
// ----------

std::optional<ReduceOp> reduction_of(const Node& node) {
  if (node.regions.empty()) return ReduceOp::sum;
  const std::optional<Op> op = single_op(*node.regions[0]);
  const bool of_bools = is_bool(node.operand(0).type().dtype);
  if (op == Op::add) return node.attrs.flag(Attr::mean) ? ReduceOp::mean : ReduceOp::sum;
  if (op == Op::multiply) return ReduceOp::prod;
  if (op == Op::maximum) return ReduceOp::max;
  if (op == Op::minimum) return ReduceOp::min;
  if (op == Op::or_ && of_bools) return ReduceOp::max;
  if (op == Op::and_ && of_bools) return ReduceOp::min;
  return std::nullopt;
}

constexpr Attr axis_attrs[] = {Attr::all_gather_dim, Attr::scatter_dimension, Attr::split_dimension,
                               Attr::concat_dimension};

int64_t axis_of(const Node& node) {
  for (Attr attr : axis_attrs)
    if (node.attrs.find(attr)) return node.attrs.integer(attr);
  return 0;
}

Ints to_the_front(int64_t axis, int64_t rank) {
  Ints order{axis};
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) order.push_back(i);
  return order;
}

// Where each dimension of what was moved so came from.
Ints back_again(const Ints& order) {
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return back;
}

// Writes a collective with those of that form.
class Former {
 public:
  Former(Builder& build, const Node& node, CollectiveResult result) : build_(build), node_(node), result_(result) {}

  Value form(Value x) {
    if (!reduction_of(node_)) return folded(x);
    const int64_t axis = axis_of(node_);
    const Ints order = to_the_front(axis, std::max<int64_t>(x.type().rank(), 1));
    if (node_.op == Op::all_to_all && node_.attrs.integer(Attr::concat_dimension) != axis)
      return rearranged(call(node_.op, build_.transpose(x, order), axis), axis);
    if (axis == 0) return call(node_.op, x, 0);
    return build_.transpose(call(node_.op, build_.transpose(x, order), axis), back_again(order));
  }

 private:
  // Of an operand whose dimension `axis` stands first.
  Value call(Op op, Value x, int64_t axis) {
    Attrs attrs = node_.attrs;
    for (Attr attr : axis_attrs)
      if (attrs.find(attr)) attrs.set(attr, int64_t{0});
    if (axis != 0) attrs.set(Attr::axis, axis);
    return result_(build_, build_.call(op, {x}, std::move(attrs), node_.regions));
  }

  // The parts that an all_to_all along one dimension gave, one after the other along another.
  Value rearranged(Value x, int64_t split) {
    const int64_t parts = group_size_of(node_.attrs), concat = node_.attrs.integer(Attr::concat_dimension),
                  rank = x.type().rank();
    Dims dims = x.type().dims;
    if (!dims[0].is_static()) return one_by_one(x, split);
    dims[0] = floordiv(dims[0], parts);
    dims.insert(dims.begin(), parts);
    Ints order;
    for (int64_t i = 0; i < rank; ++i) {
      if (i == concat) order.push_back(0);
      order.push_back(i == split ? 1 : i < split ? i + 2 : i + 1);
    }
    Value apart = build_.transpose(build_.reshape(x, std::move(dims)), order);
    Dims whole = apart.type().dims;
    const auto at = static_cast<std::ptrdiff_t>(concat);
    whole[static_cast<size_t>(concat)] = whole[static_cast<size_t>(concat)] * whole[static_cast<size_t>(concat) + 1];
    whole.erase(whole.begin() + at + 1);
    return build_.reshape(apart, std::move(whole));
  }

  // The same where nothing shows that the extent divides.
  Value one_by_one(Value x, int64_t split) {
    const int64_t parts = group_size_of(node_.attrs);
    const Ints back = back_again(to_the_front(split, x.type().rank()));
    const Dim extent = floordiv(x.type().dims[0], parts);
    std::vector<Value> apart;
    for (int64_t i = 0; i < parts; ++i) apart.push_back(build_.transpose(rows(x, extent * Dim(i), extent), back));
    return build_(Op::concatenate, std::move(apart), {{Attr::dimension, node_.attrs.integer(Attr::concat_dimension)}});
  }

  // What ranks have, combined by a body that no communicator knows: from the first rank to the last, each for itself.
  Value folded(Value x) {
    const int64_t parts = group_size_of(node_.attrs);
    const Ints groups = node_.attrs.ints_or(Attr::replica_groups, 1, 0);
    if (parts < 1 || std::ranges::find(groups, -1) != groups.end())
      raise({ErrorKind::unsupported,
             cat(name(node_.op), ": a body of more than one call needs groups of one size that the program names"),
             "collective_body", node_.loc});
    const bool scatters = node_.op == Op::reduce_scatter;
    const int64_t axis = scatters ? axis_of(node_) : 0;
    const Ints order = to_the_front(axis, std::max<int64_t>(x.type().rank(), 1));
    Attrs attrs{{Attr::replica_groups, groups}, {Attr::group_size, parts}};
    Value all;
    if (scatters) {
      attrs.set(Attr::split_dimension, int64_t{0}), attrs.set(Attr::concat_dimension, int64_t{0}),
          attrs.set(Attr::split_count, parts);
      all = result_(build_, build_.call(Op::all_to_all, {build_.transpose(x, order)}, std::move(attrs)));
    } else {
      Dims row = x.type().dims;
      row.insert(row.begin(), 1);
      attrs.set(Attr::all_gather_dim, int64_t{0});
      all = result_(build_, build_.call(Op::all_gather, {build_.reshape(x, std::move(row))}, std::move(attrs)));
    }
    const Dim extent = floordiv(all.type().dims[0], parts);
    Value sum;
    for (int64_t i = 0; i < parts; ++i) {
      Value part = rows(all, extent * Dim(i), extent);
      if (!scatters) part = build_.reshape(part, x.type().dims);
      sum = sum ? combined(sum, part) : part;
    }
    return scatters ? build_.transpose(sum, back_again(order)) : sum;
  }

  Value rows(Value x, const Dim& first, const Dim& count) {
    Dims begin(x.type().dims.size(), 0), end = x.type().dims;
    begin[0] = first, end[0] = first + count;
    Ints strides(begin.size(), 1);
    return build_(Op::slice, {x}, {{Attr::start_indices, begin}, {Attr::limit_indices, end}, {Attr::strides, strides}});
  }

  Value combined(Value a, Value b) {
    Builder holder(Level::flat);
    const Type type = a.type();
    const Node& map = holder.call(Op::map, {holder.parameter(type, ""), holder.parameter(type, "")},
                                  {{Attr::dimensions, iota_ints(type.rank())}}, {node_.regions[0]});
    return expand(build_, map, {a, b})[0];
  }

  Builder& build_;
  const Node& node_;
  CollectiveResult result_;
};

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

std::vector<Value> in_called_form(Builder& build, const Node& node, const std::vector<Value>& operands,
                                  CollectiveResult result) {
  std::vector<Value> results;
  Former former(build, node, result);
  for (const Value& operand : operands) results.push_back(former.form(operand));
  return results;
}

std::optional<RoutineCall> collective_of(const Node& node) {
  if (node.op == Op::partition_id || node.op == Op::replica_id)
    return RoutineCall{"rank", {}, {}, {place_text(node.loc)}};
  if (node.operand_count() != 1 || axis_of(node) != 0) return std::nullopt;
  if (node.op == Op::all_to_all && node.attrs.integer(Attr::concat_dimension) != 0) return std::nullopt;
  const std::optional<ReduceOp> op = reduction_of(node);
  if (!op) return std::nullopt;
  ProgramCollective call{.kind = kind_of(node.op), .op = *op, .operand = node.operand(0).type()};
  call.axis = node.attrs.find(Attr::axis) ? node.attrs.integer(Attr::axis) : 0;
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
