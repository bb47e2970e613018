// simplify: local rewrites that always leave less work than they found.
//
// A rule belongs here only if it is exact for every input, NaN and -0.0 included, and never makes the graph larger.
// Anything that trades one cost for another is a decision, and decisions live in weft/kernel/fuse.cpp.
#include <algorithm>
#include <limits>

#include "weft/passes/pass.h"

namespace weft {
namespace {

bool is_splat(Value value, double wanted) {
  const Node* node = &value.node();
  if (node->op == Op::broadcast_in_dim) node = &node->operand(0).node();
  if (node->op != Op::constant) return false;
  const Literal& literal = node->attrs.literal(Attr::value);
  return literal.count() > 0 && literal.is_splat() && literal.as_complex(0) == std::complex<double>(wanted);
}

Value same_type_operand(Builder&, const Node& n) { return n.operand(0).type() == n.type() ? n.operand(0) : Value{}; }

Ints composed(const Ints& inner, const Ints& outer) {
  Ints result;
  for (int64_t i : outer) result.push_back(inner[static_cast<size_t>(i)]);
  return result;
}

Value identity_transpose(Builder&, const Node& n) {
  const Ints& permutation = n.ints(Attr::permutation);
  for (size_t i = 0; i < permutation.size(); ++i)
    if (permutation[i] != static_cast<int64_t>(i)) return {};
  return n.operand(0);
}

Value double_transpose(Builder& build, const Node& n) {
  Node inner = n.operand(0).node();
  if (inner.op != Op::transpose) return {};
  return build(Op::transpose, {inner.operand(0)},
               {{Attr::permutation, composed(inner.ints(Attr::permutation), n.ints(Attr::permutation))}});
}

Value double_reshape(Builder& build, const Node& n) {
  Node inner = n.operand(0).node();
  if (inner.op != Op::reshape) return {};
  return build(Op::reshape, {inner.operand(0)}, {{Attr::dims, n.attrs.dims(Attr::dims)}});
}

Value double_broadcast(Builder& build, const Node& n) {
  Node inner = n.operand(0).node();
  if (inner.op != Op::broadcast_in_dim) return {};
  Ints dimensions = composed(n.ints(Attr::dimensions), inner.ints(Attr::dimensions));
  return build(Op::broadcast_in_dim, {inner.operand(0)},
               {{Attr::dims, n.attrs.dims(Attr::dims)}, {Attr::dimensions, dimensions}});
}

Value widening_round_trip(Builder&, const Node& n) {
  const Node& inner = n.operand(0).node();
  if (inner.op != Op::convert) return {};
  DType from = inner.operand(0).type().dtype, through = inner.type().dtype;
  bool widens = is_float(from) && is_float(through) && bit_width(through) >= 32 && bit_width(from) < bit_width(through);
  return widens && n.type().dtype == from ? inner.operand(0) : Value{};
}

// The f64 value as f32 where every one of its elements is an f32 number; nothing where that is not known.
Value narrowed(Builder& build, Value value) {
  Node node = value.node();
  switch (node.op) {
    case Op::constant: {
      const Literal& literal = node.attrs.literal(Attr::value);
      if (!literal.is_splat() || value.type().dtype != DType::f64) return {};
      double number = literal.as_double(0);
      bool is_held = static_cast<double>(static_cast<float>(number)) == number;
      return is_held ? build.splat({DType::f32, value.type().dims}, number) : Value{};
    }
    case Op::convert: {
      DType from = node.operand(0).type().dtype;
      if (!is_float(from) || bit_width(from) > 32) return {};
      return build.convert(node.operand(0), DType::f32);
    }
    case Op::broadcast_in_dim: {
      Value inner = narrowed(build, node.operand(0));
      return inner ? build(Op::broadcast_in_dim, {inner}, node.attrs) : Value{};
    }
    default:
      return {};
  }
}

// Rounding to f64's 53 digits and then to 24 is rounding to 24, for sums, products and quotients of numbers of 24
// digits: Figueroa 1995, "When is double rounding innocuous?". The range of f64 holds them all.
Value step_through_f64(Builder& build, const Node& n) {
  Node step = n.operand(0).node();
  bool rounds_once = step.op == Op::add || step.op == Op::subtract || step.op == Op::multiply || step.op == Op::divide;
  if (!rounds_once || n.type().dtype != DType::f32 || step.type().dtype != DType::f64) return {};
  Value a = narrowed(build, step.operand(0));
  if (!a) return {};
  Value b = narrowed(build, step.operand(1));
  return b ? build(step.op, {a, b}) : Value{};
}

// The i64 value as i32 where each of its elements is known to be one; nothing elsewhere.
Value shortened(Builder& build, Value value) {
  Node node = value.node();
  if (value.type().dtype != DType::i64) return {};
  switch (node.op) {
    case Op::constant: {
      const Literal& literal = node.attrs.literal(Attr::value);
      bool is_held =
          literal.count() > 0 && literal.is_splat() && literal.as_int(0) == static_cast<int32_t>(literal.as_int(0));
      return is_held ? build.broadcast_to(build.constant(Literal::scalar_int(DType::i32, literal.as_int(0))),
                                          value.type().dims)
                     : Value{};
    }
    case Op::iota: {
      const Dim& extent = value.type().dims[static_cast<size_t>(node.attrs.integer(Attr::dimension))];
      if (extent.max() > std::numeric_limits<int32_t>::max()) return {};
      return build(Op::iota, {},
                   {{Attr::type, DType::i32},
                    {Attr::dims, value.type().dims},
                    {Attr::dimension, node.attrs.integer(Attr::dimension)}});
    }
    case Op::convert:
      return node.operand(0).type().dtype == DType::i32 ? node.operand(0) : Value{};
    case Op::broadcast_in_dim:
    case Op::reshape: {
      Value inner = shortened(build, node.operand(0));
      return inner ? build(node.op, {inner}, node.attrs) : Value{};
    }
    default:
      return {};
  }
}

Value comparison_of_short(Builder& build, const Node& n) {
  Value a = shortened(build, n.operand(0));
  if (!a) return {};
  Value b = shortened(build, n.operand(1));
  return b ? build(Op::compare, {a, b}, n.attrs) : Value{};
}

// The parts of one array side by side, each beginning where the one before ends: rows of a matrix that are stacked
// again.
Value joined_again(Builder& build, const Node& n) {
  const auto axis = static_cast<size_t>(n.attrs.integer(Attr::dimension));
  if (n.operand_count() < 2 || n.operand(0).node().op != Op::slice) return {};
  const Node first = n.operand(0).node();
  Dims end = first.attrs.dims(Attr::limit_indices);
  for (uint32_t i = 0; i < n.operand_count(); ++i) {
    const Node& part = n.operand(i).node();
    if (part.op != Op::slice || part.operand(0) != first.operand(0) || !has_unit_strides(part)) return {};
    const Dims &from = part.attrs.dims(Attr::start_indices), &to = part.attrs.dims(Attr::limit_indices);
    for (size_t d = 0; d < from.size(); ++d) {
      if (d == axis ? i > 0 && from[d] != end[d]
                    : from[d] != first.attrs.dims(Attr::start_indices)[d] || to[d] != end[d])
        return {};
    }
    end[axis] = to[axis];
  }
  return build(Op::slice, {first.operand(0)},
               {{Attr::start_indices, first.attrs.dims(Attr::start_indices)},
                {Attr::limit_indices, end},
                {Attr::strides, first.ints(Attr::strides)}});
}

// What is read where it was just written, or beside it.
Value read_of_written(Builder& build, const Node& n) {
  const Node before = n.operand(0).node();
  if (before.op != Op::update_slice || !has_unit_strides(n) || !has_unit_strides(before)) return {};
  const Dims &from = n.attrs.dims(Attr::start_indices), &written = before.attrs.dims(Attr::start_indices);
  const Dims &size = n.type().dims, &part = before.operand(1).type().dims;
  if (from == written && size == part) return before.operand(1);
  for (size_t i = 0; i < from.size(); ++i) {
    const bool is_behind = (from[i] - written[i] - part[i]).min() >= 0;
    if (is_behind || (written[i] - from[i] - size[i]).min() >= 0) return build(Op::slice, {before.operand(0)}, n.attrs);
  }
  return {};
}

Value read_of_written_at_values(Builder&, const Node& n) {
  const Node before = n.operand(0).node();
  const bool is_same = before.op == Op::dynamic_update_slice && before.operand(1).type() == n.type() &&
                       std::ranges::equal(before.operands().subspan(2), n.operands().subspan(1));
  return is_same ? before.operand(1) : Value{};
}

// Rows side by side, turned: each is a column without moving an element.
Value columns_side_by_side(Builder& build, const Node& n) {
  const Node joined = n.operand(0).node();
  if (joined.op != Op::concatenate) return {};
  const Ints& permutation = n.ints(Attr::permutation);
  const int64_t axis = joined.attrs.integer(Attr::dimension);
  std::vector<Value> columns;
  for (const Value& part : joined.operands()) {
    const Dims& dims = part.type().dims;
    Dims turned;
    int64_t last = -1;
    for (int64_t from : permutation) {
      turned.push_back(dims[static_cast<size_t>(from)]);
      if (turned.back().is(1)) continue;
      if (from < last) return {};
      last = from;
    }
    columns.push_back(build.reshape(part, turned));
  }
  return build(Op::concatenate, std::move(columns),
               {{Attr::dimension, inverse(permutation)[static_cast<size_t>(axis)]}});
}

// Not of complex numbers: inf + i times 1 + 0i has inf * 0 in it.
Value times_one(Builder&, const Node& n) {
  if (is_complex(n.type().dtype)) return {};
  if (is_splat(n.operand(1), 1)) return n.operand(0);
  return is_splat(n.operand(0), 1) ? n.operand(1) : Value{};
}

Value divided_by_one(Builder&, const Node& n) {
  return is_splat(n.operand(1), 1) && !is_complex(n.type().dtype) ? n.operand(0) : Value{};
}

Value with_neutral(const Node& n, double neutral) {
  if (!is_bool(n.type().dtype)) return {};
  if (is_splat(n.operand(1), neutral)) return n.operand(0);
  return is_splat(n.operand(0), neutral) ? n.operand(1) : Value{};
}

Value double_not(Builder&, const Node& n) {
  const Node& inner = n.operand(0).node();
  return inner.op == Op::not_ ? inner.operand(0) : Value{};
}

Value choice_of_not(Builder& build, const Node& n) {
  const Node& condition = n.operand(0).node();
  if (condition.op != Op::not_) return {};
  return build(Op::select, {condition.operand(0), n.operand(2), n.operand(1)}, {});
}

Value choice_of_truth(Builder& build, const Node& n) {
  const Value holds = n.operand(0), first = n.operand(1), second = n.operand(2);
  if (!is_bool(n.type().dtype) || holds.type().dims != n.type().dims) return {};
  auto fails = [&] { return build(Op::not_, {holds}, {}); };
  if (is_splat(first, 1)) return is_splat(second, 0) ? holds : build(Op::or_, {holds, second}, {});
  if (is_splat(first, 0)) return is_splat(second, 1) ? fails() : build(Op::and_, {fails(), second}, {});
  if (is_splat(second, 0)) return build(Op::and_, {holds, first}, {});
  return is_splat(second, 1) ? build(Op::or_, {fails(), first}, {}) : Value{};
}

Value reduction_of_one(Builder& build, const Node& n) {
  if (n.operand_count() != 2 || !n.type().dims.empty() || !n.operand(0).type().count().is(1)) return {};
  return build.inlined(*n.regions[0], {n.operand(1), build.reshape(n.operand(0), {})})[0];
}

// There is no "x + 0 is x": it is wrong for x = -0.0, where the sum is +0.0.
const Rule rules[] = {
    {"a convert to the same type is nothing", Op::convert, same_type_operand},
    {"a convert to a wider float and back is nothing", Op::convert, widening_round_trip},
    {"a step of f32 numbers in f64 is one in f32", Op::convert, step_through_f64},
    {"a reshape to the same dims is nothing", Op::reshape, same_type_operand},
    {"two reshapes are one", Op::reshape, double_reshape},
    {"a broadcast to the same dims is nothing", Op::broadcast_in_dim, same_type_operand},
    {"two broadcasts are one", Op::broadcast_in_dim, double_broadcast},
    {"a transpose by the identity is nothing", Op::transpose, identity_transpose},
    {"two transposes are one", Op::transpose, double_transpose},
    {"rows side by side, turned, are columns side by side", Op::transpose, columns_side_by_side},
    {"a slice of everything is nothing", Op::slice, same_type_operand},
    {"what is read where it was written is what was written", Op::slice, read_of_written},
    {"the same at values", Op::dynamic_slice, read_of_written_at_values},
    {"a concatenate of one is nothing", Op::concatenate,
     [](Builder&, const Node& n) { return n.operand_count() == 1 ? n.operand(0) : Value{}; }},
    {"the parts of an array side by side are one part", Op::concatenate, joined_again},
    {"integers of 32 bits are compared as such", Op::compare, comparison_of_short},
    {"what holds and x is x", Op::and_, [](Builder&, const Node& n) { return with_neutral(n, 1); }},
    {"what does not hold or x is x", Op::or_, [](Builder&, const Node& n) { return with_neutral(n, 0); }},
    {"not not x is x", Op::not_, double_not},
    {"where not c is where c the other way round", Op::select, choice_of_not},
    {"a choice between truth and x is and, or or", Op::select, choice_of_truth},
    {"a reduction of one element is done once", Op::reduce, reduction_of_one},
    {"x * 1 is x", Op::multiply, times_one},
    {"x / 1 is x", Op::divide, divided_by_one},
};

bool is_part_update(Op op) { return op == Op::update_slice || op == Op::dynamic_update_slice; }

// Whether an update writes all that the one before it wrote, which nobody else reads: an element of a loop, in both
// ways of a condition.
bool writes_again(const Node& n, const std::vector<uint32_t>& uses) {
  if (!is_part_update(n.op)) return false;
  const Node& before = n.operand(0).node();
  if (before.op != n.op || uses[before.id()] != 1) return false;
  if (before.operand(1).type() != n.operand(1).type()) return false;
  if (n.op == Op::dynamic_update_slice)
    return std::ranges::equal(before.operands().subspan(2), n.operands().subspan(2));
  return before.attrs.dims(Attr::start_indices) == n.attrs.dims(Attr::start_indices) &&
         before.ints(Attr::strides) == n.ints(Attr::strides);
}

GraphPtr without_overwritten(const Graph& graph) {
  const std::vector<uint32_t> uses = graph.uses();
  return rebuild(graph, Level::flat, [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
    if (!writes_again(node, uses)) return std::vector<Value>{};
    std::vector<Value> given = operands;
    given[0] = operands[0].node().operand(0);
    return std::vector<Value>{build(node.op, std::move(given), node.attrs)};
  });
}

GraphPtr simplified(const Graph& graph) {
  GraphPtr simple = rewrite(graph, rules);
  const bool has_updates =
      std::ranges::any_of(simple->nodes(), [](const Node& node) { return is_part_update(node.op); });
  return has_updates ? without_overwritten(*simple) : simple;
}

}  // namespace

const Pass simplify{
    .name = "simplify",
    .doc = "Applies exact, shrinking rewrites until none applies.",
    .from = Level::flat,
    .to = Level::flat,
    .run = simplified,
};

}  // namespace weft
