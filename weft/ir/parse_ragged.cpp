// chlo.ragged_dot, read as a product with every group of which each row keeps that of its own.
#include "weft/ir/parse_legacy.h"

namespace weft {
namespace {

Ints field(const MlirAttr& attr, const char* name) {
  auto found = attr.fields.find(name);
  return found != attr.fields.end() && found->second.ints ? *found->second.ints : Ints{};
}

// Where each group of rows begins: the sum of the sizes before it.
Value begins(Builder& build, Value sizes) {
  Type type = sizes.type();
  Dims square{type.dims[0], type.dims[0]};
  auto iota = [&](int64_t dimension) {
    return build(Op::iota, {}, {{Attr::type, DType::i32}, {Attr::dims, square}, {Attr::dimension, dimension}});
  };
  Value before = build(Op::compare, {iota(1), iota(0)}, {{Attr::comparison_direction, "LT"}});
  Value rows = build(Op::broadcast_in_dim, {sizes}, {{Attr::dims, square}, {Attr::dimensions, Ints{1}}});
  Value kept = build(Op::select, {before, rows, build.splat({type.dtype, square}, 0)});
  return build(Op::reduce, {kept, build.scalar(type.dtype, 0)}, {{Attr::dimensions, Ints{1}}},
               {binary_body(Op::add, type.dtype)});
}

}  // namespace

// (m, k) and (g, k, n) with g sizes give (m, n); rows past the last group are 0.
std::vector<Value> ragged_dot(Builder& build, const ParsedCall& call) {
  auto numbers = call.attrs.find("ragged_dot_dimension_numbers");
  if (call.operands.size() != 3 || numbers == call.attrs.end())
    fail(ErrorKind::type, "operands", call.name,
         " takes two factors, the sizes of groups and ragged_dot_dimension_numbers");
  const Value &lhs = call.operands[0], &rhs = call.operands[1], &sizes = call.operands[2];
  const MlirAttr& given = numbers->second;
  bool plain =
      lhs.type().rank() == 2 && rhs.type().rank() == 3 && sizes.type().rank() == 1 && is_integer(sizes.type().dtype) &&
      field(given, "lhs_batching_dimensions").empty() && field(given, "rhs_batching_dimensions").empty() &&
      field(given, "lhs_contracting_dimensions") == Ints{1} && field(given, "rhs_contracting_dimensions") == Ints{1} &&
      field(given, "lhs_ragged_dimensions") == Ints{0} && field(given, "rhs_group_dimensions") == Ints{0};
  if (!plain || sizes.type().dims[0] != rhs.type().dims[0])
    fail(ErrorKind::unsupported, "unsupported_op", call.name,
         " must be of (m, k) and (g, k, n) with g sizes and ragged rows; other forms are not supported");
  Attrs attrs{{Attr::lhs_batching_dimensions, Ints{}},
              {Attr::rhs_batching_dimensions, Ints{}},
              {Attr::lhs_contracting_dimensions, Ints{1}},
              {Attr::rhs_contracting_dimensions, Ints{1}}};
  if (call.results.size() == 1 && call.results[0].dtype != lhs.type().dtype)
    attrs.set(Attr::type, call.results[0].dtype);
  Value all = build(Op::dot_general, {lhs, rhs}, std::move(attrs));  // (m, g, n)
  Dims pairs{lhs.type().dims[0], rhs.type().dims[0]};
  DType index = sizes.type().dtype;
  Value first = begins(build, sizes), last = build(Op::add, {first, sizes});
  auto by_group = [&](Value x) {
    return build(Op::broadcast_in_dim, {x}, {{Attr::dims, pairs}, {Attr::dimensions, Ints{1}}});
  };
  Value row = build(Op::iota, {}, {{Attr::type, index}, {Attr::dims, pairs}, {Attr::dimension, int64_t{0}}});
  Value own = build(Op::and_, {build(Op::compare, {row, by_group(first)}, {{Attr::comparison_direction, "GE"}}),
                               build(Op::compare, {row, by_group(last)}, {{Attr::comparison_direction, "LT"}})});
  Type type = all.type();
  Value mask = build(Op::broadcast_in_dim, {own}, {{Attr::dims, type.dims}, {Attr::dimensions, Ints{0, 1}}});
  Value kept = build(Op::select, {mask, all, build.splat(type, 0)});
  return {build(Op::reduce, {kept, build.scalar(type.dtype, 0)}, {{Attr::dimensions, Ints{1}}},
                {binary_body(Op::add, type.dtype)})};
}

}  // namespace weft
