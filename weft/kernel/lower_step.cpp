// Steps that are no kernels: routines of weft/library, loops and branches.
#include <cmath>

#include "weft/ir/builder.h"
#include "weft/ir/interpret.h"
#include "weft/ir/routine_call.h"
#include "weft/kernel/draft.h"
#include "weft/kernel/lower.h"
#include "weft/library/sort.h"

namespace weft {
namespace {

// Where each result of a call lies; results that nobody reads have memory too.
std::vector<BufferId> result_buffers(Lowering& lowering, const Node& node) {
  std::vector<std::optional<NodeId>> results = results_of(lowering.graph, node);
  std::vector<BufferId> buffers;
  for (size_t i = 0; i < results.size(); ++i)
    buffers.push_back(results[i] ? static_cast<BufferId>(*results[i]) : lowering.add_temporary(node.type(i)));
  return buffers;
}

void finish_step(Lowering& lowering, Draft draft, const Node& node) {
  draft.kernel.loc = node.loc;
  draft.ops.emplace_back(name(node.op));
  draft.lines.push_back(node.loc);
  lowering.drafts.push_back(std::move(draft));
}

// A body of scalars as a kernel over pointers to its parameters and results.
Kernel body_kernel(Lowering& lowering, const Graph& body) {
  Kernel kernel;
  Access access(lowering.graph, lowering.fusion, kernel);
  std::vector<ExprId> arguments;
  auto add_memory = [&](DType dtype, bool written) {
    kernel.memories.push_back({cat("m", kernel.memories.size()), dtype, written, 0});
    return static_cast<int32_t>(kernel.memories.size() - 1);
  };
  for (NodeId id : body.parameters()) {
    DType dtype = body.node(id).type().dtype;
    arguments.push_back(access.load_from(add_memory(dtype, false), dtype, 0));
  }
  std::vector<ExprId> results = access.inlined(body, arguments);
  for (size_t i = 0; i < results.size(); ++i)
    kernel.body.push_back(store_statement(add_memory(body.outputs()[i].value.type().dtype, true), 0, results[i]));
  kernel.name = "body";
  return kernel;
}

// How the usual comparators order keys: the first operand's elements alone, or a float's as NumPy and JAX order them.
struct KnownOrder {
  SortKey key = SortKey::body;
  bool descending = false;
};

bool is_number(Value value, double wanted) {
  const Node& node = value.node();
  if (node.op != Op::constant || node.attrs.literal(Attr::value).count() != 1) return false;
  double number = node.attrs.literal(Attr::value).as_double(0);
  return wanted == 0 ? number == 0 : std::isnan(number);
}

bool compares(Value value, const char* direction, NodeId lhs) {
  const Node& node = value.node();
  return node.op == Op::compare && node.attrs.text(Attr::comparison_direction) == direction &&
         node.operand(0).id() == lhs;
}

// select(x != x, NaN, select(x == 0, 0, x))
bool is_canonical_key(Value key, NodeId x) {
  const Node& outer = key.node();
  if (outer.op != Op::select || !compares(outer.operand(0), "NE", x) || outer.operand(0).node().operand(1).id() != x ||
      !is_number(outer.operand(1), NAN))
    return false;
  const Node& inner = outer.operand(2).node();
  return inner.op == Op::select && compares(inner.operand(0), "EQ", x) &&
         is_number(inner.operand(0).node().operand(1), 0) && is_number(inner.operand(1), 0) &&
         inner.operand(2).id() == x;
}

KnownOrder order_of(const Graph& body) {
  const Node& root = body.outputs()[0].value.node();
  if (root.op != Op::compare) return {};
  const std::string& direction = root.attrs.text(Attr::comparison_direction);
  if (direction != "LT" && direction != "GT") return {};
  NodeId first = body.parameters()[0], second = body.parameters()[1];
  DType dtype = body.node(first).type().dtype;
  bool descending = direction == "GT";
  if (root.operand(0).id() == first && root.operand(1).id() == second) {
    if (is_total_order(root)) return {SortKey::total_float, descending};
    // The unused bits of a narrow integer's byte say nothing.
    if (is_float(dtype) || is_complex(dtype) || (is_integer(dtype) && bit_width(dtype) < 8)) return {};
    return {is_signed(dtype) ? SortKey::signed_int : SortKey::unsigned_int, descending};
  }
  bool known_float = dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
  if (!is_total_order(root) || !known_float) return {};
  if (!is_canonical_key(root.operand(0), first) || !is_canonical_key(root.operand(1), second)) return {};
  return {dtype == DType::bf16 ? SortKey::bf16 : SortKey::numpy_float, descending};
}

void lower_sort(Lowering& lowering, const Node& node) {
  Draft draft;
  draft.kind = LaunchKind::routine;
  draft.routine = "sort";
  const Dims& dims = node.type().dims;
  const size_t axis = dims.empty() ? 0 : sorted_axis(node);
  Dim outer = 1, inner = 1, length = dims.empty() ? Dim(1) : dims[axis];
  for (size_t i = 0; i < dims.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) = (i < axis ? outer : inner) * dims[i];
  GraphPtr body = node.regions[0];
  KnownOrder order = order_of(*body);
  draft.numbers = {static_cast<int64_t>(node.operand_count()),
                   outer,
                   length,
                   inner,
                   static_cast<int64_t>(order.key),
                   order.descending ? 1 : 0};
  for (const Value& operand : node.operands()) {
    draft.buffers.push_back(static_cast<BufferId>(operand.id()));
    draft.numbers.push_back(size_of(operand.type().dtype));
  }
  auto read = lowering.places_read.find(node.id());
  draft.numbers.push_back(read == lowering.places_read.end() ? 0 : static_cast<int64_t>(read->second.size()));
  if (read != lowering.places_read.end())
    for (const auto& [begin, end] : read->second) draft.numbers.insert(draft.numbers.end(), {begin, end});
  draft.operands = draft.buffers.size();
  for (BufferId buffer : result_buffers(lowering, node)) draft.buffers.push_back(buffer);
  if (order.key == SortKey::body) draft.bodies.push_back(body_kernel(lowering, *body));
  finish_step(lowering, std::move(draft), node);
}

void lower_routine(Lowering& lowering, const Node& node) {
  std::optional<RoutineCall> call = routine_of(node);
  if (!call) {
    std::string what = node.op == Op::custom_call
                           ? cat("custom_call of '", node.attrs.text(Attr::call_target_name), "'")
                           : std::string(name(node.op));
    raise({ErrorKind::unsupported, cat(what, ": no implementation is known"), "custom_call_target", node.loc});
  }
  Draft draft;
  draft.kind = LaunchKind::routine;
  draft.routine = call->name;
  draft.numbers = call->numbers;
  draft.texts = call->texts;
  for (const Value& operand : node.operands()) draft.buffers.push_back(static_cast<BufferId>(operand.id()));
  draft.operands = draft.buffers.size();
  for (BufferId buffer : result_buffers(lowering, node)) draft.buffers.push_back(buffer);
  for (const Type& type : call->scratch) draft.buffers.push_back(lowering.add_temporary(type));
  finish_step(lowering, std::move(draft), node);
}

// The region as a program. Of a loop's body: each output written back to its parameter, those that do not change left
// out.
GraphPtr loop_body(const Graph& region) {
  Builder build(region.level(), region.name());
  std::vector<Value> arguments;
  for (NodeId id : region.parameters()) arguments.push_back(build.parameter(region.node(id).type(), ""));
  std::vector<Output> outputs;
  std::vector<Value> results = build.inlined(region, arguments);
  // A counted loop gives fewer values than it takes: what stays the same comes last.
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i] != arguments[i]) outputs.push_back({results[i], "", static_cast<int>(i)});
  return build.finish(std::move(outputs));
}

void add_block(const Lowering& lowering, Draft& draft, const Graph& region, std::vector<BufferId> inputs,
               std::vector<BufferId> outputs, const Counters& counters) {
  DraftBlock block{lower(region, counters, lowering.multiplies_bf16), std::move(inputs), std::move(outputs)};
  draft.blocks.push_back(std::move(block));
}

// One memory for the arenas of all blocks, the last of the draft's buffers.
void add_block_memory(Lowering& lowering, Draft& draft) {
  Dim bytes = 0;
  for (const DraftBlock& block : draft.blocks) bytes = max(bytes, block.program.arena_bytes);
  draft.buffers.push_back(lowering.add_temporary({DType::u8, {bytes}}));
}

// What a loop begins with, in the memory of what it carries. Stored values come last, which others may be parts of:
// where nothing reads them then, their memory is the loop's.
void lower_beginnings(Lowering& lowering, const Node& node, const std::vector<BufferId>& carried) {
  for (const bool stored : {false, true})
    for (size_t i = 0; i < carried.size(); ++i)
      if (lowering.fusion.is_stored[node.operand(i).id()] == stored)
        lower_copy(lowering, node.operand(i), carried[i], node.id());
}

void lower_loop(Lowering& lowering, const Node& node) {
  std::vector<BufferId> carried = result_buffers(lowering, node);
  lower_beginnings(lowering, node, carried);
  Draft draft;
  draft.kind = LaunchKind::loop;
  BufferId condition = lowering.add_temporary({DType::boolean, {}});
  draft.buffers = {condition};
  draft.buffers.insert(draft.buffers.end(), carried.begin(), carried.end());
  add_block(lowering, draft, *node.regions[0], carried, {condition}, lowering.counters);
  GraphPtr body = loop_body(*node.regions[1]);
  std::vector<BufferId> written;
  for (const Output& output : body->outputs()) written.push_back(carried[static_cast<size_t>(output.alias)]);
  add_block(lowering, draft, *body, carried, std::move(written), lowering.counters);
  add_block_memory(lowering, draft);
  finish_step(lowering, std::move(draft), node);
}

void lower_counted(Lowering& lowering, const Node& node) {
  // Independent turns write all that they carry.
  const bool independent = node.attrs.find(Attr::independent) != nullptr;
  const bool until = node.attrs.flag(Attr::until);
  if (!independent && !until && !has_effect(node)) {
    GraphPtr prepared = prepare(*node.regions[0]);
    if (prepared->size() <= largest_body &&
        (lower_by_element(lowering, node, *prepared) || lower_by_turn(lowering, node, prepared)))
      return;
  }
  std::vector<BufferId> inputs = result_buffers(lowering, node);
  if (!independent) lower_beginnings(lowering, node, inputs);
  for (size_t i = inputs.size(); i < node.operand_count(); ++i)
    inputs.push_back(static_cast<BufferId>(node.operand(i).id()));
  Draft draft;
  draft.kind = LaunchKind::count;
  draft.counter = node.attrs.text(Attr::counter);
  draft.first = node.attrs.dims(Attr::first)[0];
  draft.trips = node.attrs.dims(Attr::trips)[0];
  draft.step = node.attrs.integer(Attr::step);
  draft.buffers = inputs;
  GraphPtr body = loop_body(*node.regions[0]);
  std::vector<BufferId> written;
  for (const Output& output : body->outputs()) written.push_back(inputs[static_cast<size_t>(output.alias)]);
  Counters counters = lowering.counters;
  Dim last = draft.first + (draft.trips - Dim(1)) * Dim(draft.step);
  Counter counter{draft.counter, draft.step > 0 ? draft.first : last, draft.step > 0 ? last : draft.first};
  // Free of the outer counters: their extremes.
  for (auto outer = counters.rbegin(); outer != counters.rend(); ++outer) {
    counter.high = upper_bound(counter.high, *outer);
    counter.low = upper_bound(counter.low * Dim(-1), *outer) * Dim(-1);
  }
  counters.push_back(std::move(counter));
  add_block(lowering, draft, *body, inputs, std::move(written), counters);
  draft.until = until;
  draft.independent = independent;
  if (independent) pack_for_turns(lowering, draft, node);
  if (!draft.independent) add_block_memory(lowering, draft);
  finish_step(lowering, std::move(draft), node);
}

void lower_branch(Lowering& lowering, const Node& node) {
  std::vector<BufferId> results = result_buffers(lowering, node), captured;
  for (size_t i = 1; i < node.operand_count(); ++i) captured.push_back(static_cast<BufferId>(node.operand(i).id()));
  Draft draft;
  draft.kind = LaunchKind::branch;
  draft.buffers = {static_cast<BufferId>(node.operand(0).id())};
  draft.buffers.insert(draft.buffers.end(), captured.begin(), captured.end());
  draft.buffers.insert(draft.buffers.end(), results.begin(), results.end());
  for (const GraphPtr& branch : node.regions) add_block(lowering, draft, *branch, captured, results, lowering.counters);
  add_block_memory(lowering, draft);
  finish_step(lowering, std::move(draft), node);
}

}  // namespace

void lower_step(Lowering& lowering, const Stage& stage) {
  const Node& node = lowering.graph.node(stage.root);
  switch (node.op) {
    case Op::sort:
      return lower_sort(lowering, node);
    case Op::for_:
      return lower_counted(lowering, node);
    case Op::while_:
      return lower_loop(lowering, node);
    case Op::if_:
    case Op::case_:
      return lower_branch(lowering, node);
    default:
      return lower_routine(lowering, node);
  }
}

}  // namespace weft
