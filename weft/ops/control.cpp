// Loops, branches, calls, and what comes from outside of the registry.
#include "weft/ir/graph.h"
#include "weft/ir/interpret.h"
#include "weft/ir/routine_call.h"
#include "weft/ops/infer.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

std::vector<Type> parameter_types(const Graph& region) {
  std::vector<Type> types;
  for (NodeId id : region.parameters()) types.push_back(region.node(id).type());
  return types;
}

std::vector<Type> output_types(const Graph& region) {
  std::vector<Type> types;
  for (const Output& output : region.outputs()) types.push_back(output.value.type());
  return types;
}

Types infer_while(const Call& call) {
  Types carried(call.operands.begin(), call.operands.end());
  const Graph &condition = *call.regions[0], &body = *call.regions[1];
  call.require(parameter_types(condition) == carried, "c1", "the condition takes ", parameter_types(condition),
               ", the loop carries ", carried);
  Types decides = output_types(condition);
  call.require(decides == Types{{DType::boolean, {}}}, "c1", "the condition must give one boolean, got ", decides);
  call.require(parameter_types(body) == carried, "c2", "the body takes ", parameter_types(body), ", the loop carries ",
               carried);
  call.require(output_types(body) == carried, "c2", "the body gives ", output_types(body), ", the loop carries ",
               carried);
  return carried;
}

Literals eval_while(const Node& node, std::span<const Literal> operands) {
  Literals values(operands.begin(), operands.end());
  while (interpret(*node.regions[0], values)[0].as_int(0) != 0) values = interpret(*node.regions[1], values);
  return values;
}

// The carried values change from turn to turn, the rest is the same for all; the counter is a symbol that types and
// attributes of the body mention.
Types infer_for(const Call& call) {
  int64_t carried = call.attrs.integer(Attr::carried);
  const Graph& body = *call.regions[0];
  call.require(call.attrs.dims(Attr::trips).size() == 1 && call.attrs.dims(Attr::first).size() == 1, "trips",
               "needs one first value and number of turns");
  call.require(carried >= 0 && carried <= static_cast<int64_t>(call.operands.size()), "carried", "carries ", carried,
               " of ", call.operands.size(), " operands");
  Types given(call.operands.begin(), call.operands.end()),
      changing(call.operands.begin(), call.operands.begin() + carried);
  call.require(parameter_types(body) == given, "c1", "the body takes ", parameter_types(body), ", it is given ", given);
  call.require(output_types(body) == changing, "c2", "the body gives ", output_types(body), ", the loop carries ",
               changing);
  if (call.attrs.flag(Attr::until))
    call.require(carried > 0 && changing[0] == Type{DType::boolean, {}}, "until",
                 "the first of what is carried must be one boolean, got ", changing);
  return changing;
}

Literals eval_for(const Node& node, std::span<const Literal> operands) {
  auto carried = static_cast<std::ptrdiff_t>(node.attrs.integer(Attr::carried));
  Literals values(operands.begin(), operands.end());
  int64_t trips = node.attrs.dims(Attr::trips)[0].value();
  int64_t first = node.attrs.dims(Attr::first)[0].value(), step = node.attrs.integer(Attr::step);
  const bool until = node.attrs.flag(Attr::until);
  for (int64_t i = 0; i < trips && !(until && values[0].as_int(0) != 0); ++i) {
    GraphPtr body = substitute(*node.regions[0], {{node.attrs.text(Attr::counter), Dim(first + i * step)}});
    Literals next = interpret(*body, values);
    std::copy(next.begin(), next.begin() + carried, values.begin());
  }
  values.resize(static_cast<size_t>(carried));
  return values;
}

// What branches use of the surroundings is passed to all of them after the operand that chooses.
Types infer_branches(const Call& call) {
  call.require(!call.regions.empty(), "c1", "needs a branch");
  call.require(!call.operands.empty(), "operands", "needs the operand that chooses");
  Types captured(call.operands.begin() + 1, call.operands.end());
  Types results = output_types(*call.regions[0]);
  for (const GraphPtr& branch : call.regions) {
    call.require(parameter_types(*branch) == captured, "c2", "a branch takes ", parameter_types(*branch),
                 ", it is given ", captured);
    call.require(output_types(*branch) == results, "c3", "branches must agree, got ", results, " and ",
                 output_types(*branch));
  }
  return results;
}

Types infer_if(const Call& call) {
  Types results = infer_branches(call);
  call.require(call.operand(0) == Type{DType::boolean, {}}, "i1", "the predicate must be one boolean, got ",
               call.operand(0));
  return results;
}

Types infer_case(const Call& call) {
  Types results = infer_branches(call);
  call.require(call.operand(0) == Type{DType::i32, {}}, "i1", "the index must be one 32-bit integer, got ",
               call.operand(0));
  return results;
}

Literals eval_if(const Node& node, std::span<const Literal> operands) {
  return interpret(*node.regions[operands[0].as_int(0) != 0 ? 0 : 1], operands.subspan(1));
}

Literals eval_case(const Node& node, std::span<const Literal> operands) {
  auto branches = static_cast<int64_t>(node.regions.size());
  int64_t index = operands[0].as_int(0);
  if (index < 0 || index >= branches) index = branches - 1;
  return interpret(*node.regions[static_cast<size_t>(index)], operands.subspan(1));
}

Types infer_call(const Call& call) {
  Types given(call.operands.begin(), call.operands.end());
  call.require(parameter_types(*call.regions[0]) == given, "operands", "'", call.attrs.text(Attr::name), "' takes ",
               parameter_types(*call.regions[0]), ", got ", given);
  return output_types(*call.regions[0]);
}

std::vector<Value> expand_call(Builder& build, const Node& node) {
  return build.inlined(*node.regions[0], {node.operands().begin(), node.operands().end()});
}

Types infer_barrier(const Call& call) { return {call.operands.begin(), call.operands.end()}; }

OpDef branching(std::string_view doc, int regions, InferFn infer, EvalFn eval, Names names) {
  return {.doc = doc, .operands = -1, .regions = regions, .infer = infer, .eval = eval, .names = names};
}

}  // namespace

OpDef define_for_() {
  return {.doc =
              "Runs a body a number of times over carried values; the counter is a symbol that takes the values "
              "first, first + step, …; with `until` as long as the first of what is carried is false",
          .operands = -1,
          .attrs = {{Attr::counter, AttrKind::text},
                    {Attr::first, AttrKind::dims},
                    {Attr::trips, AttrKind::dims},
                    {Attr::step, AttrKind::integer},
                    {Attr::carried, AttrKind::integer},
                    {Attr::until, AttrKind::flag, true},
                    {Attr::independent, AttrKind::dims, true}},
          .regions = 1,
          .infer = infer_for,
          .eval = eval_for,
          .names = {.stablehlo = "weft.for"}};
}

OpDef define_while_() {
  return {.doc = "Runs a body over carried values for as long as a condition on them holds.",
          .operands = -1,
          .regions = 2,
          .infer = infer_while,
          .eval = eval_while,
          .names = {.stablehlo = "while", .hlo = "while"}};
}

OpDef define_if_() {
  return branching("One of two branches.", 2, infer_if, eval_if, {.stablehlo = "if", .hlo = "conditional"});
}

OpDef define_case_() {
  return branching("The branch of that number; the last one for numbers that have none.", -1, infer_case, eval_case,
                   {.stablehlo = "case", .hlo = "conditional"});
}

OpDef define_call() {
  return {.doc = "A function of the module.",
          .operands = -1,
          .attrs = {{Attr::name, AttrKind::text}},
          .regions = 1,
          .infer = infer_call,
          .expand = expand_call,
          .names = {.stablehlo = "func.call", .hlo = "call"}};
}

OpDef define_composite() {
  return {.doc = "A named operation with a function that says what it does.",
          .operands = -1,
          .attrs = {{Attr::name, AttrKind::text},
                    {Attr::composite_attributes, AttrKind::text, true},
                    {Attr::version, AttrKind::integer, true}},
          .regions = 1,
          .infer = infer_call,
          .expand = expand_call,
          .names = {.stablehlo = "composite", .hlo = "call"}};
}

OpDef define_custom_call() {
  return {.doc = "A function known by its name only.",
          .operands = -1,
          .attrs = {{Attr::call_target_name, AttrKind::text},
                    {Attr::types, AttrKind::types},
                    {Attr::backend_config, AttrKind::text, true},
                    {Attr::call_attributes, AttrKind::text, true},
                    {Attr::has_side_effect, AttrKind::flag, true}},
          .infer = [](const Call& call) -> Types {
            check_custom_call(call);
            return call.attrs.types(Attr::types);
          },
          .eval = [](const Node& node, std::span<const Literal> operands) -> Literals {
            if (is_expectation(node)) {
              require_expectation(node, operands);
              return Literals();
            }
            if (!routine_of(node))
              raise({ErrorKind::unsupported,
                     cat("custom_call: no implementation of '", node.attrs.text(Attr::call_target_name), "' is known"),
                     "custom_call_target", node.loc});
            return run_routine(node, operands);
          },
          .names = {.stablehlo = "custom_call", .hlo = "custom-call"}};
}

OpDef define_optimization_barrier() {
  return {.doc = "Its operands; nothing is moved across it.",
          .operands = -1,
          .infer = infer_barrier,
          .eval = [](const Node&, std::span<const Literal> operands) -> Literals {
            return {operands.begin(), operands.end()};
          },
          .names = {.stablehlo = "optimization_barrier", .hlo = "opt-barrier"}};
}

}  // namespace weft
