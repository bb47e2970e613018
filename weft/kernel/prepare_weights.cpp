// Products with weights that are computed from narrower elements, four bits in a byte, say. By a row they are one sum,
// and the matrix is never stored; by more rows it is stored in a byte an element where that keeps its values, unless
// the product reads four bits of what there is.
#include <algorithm>
#include <cmath>

#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// Operations that cost less than the memory they save.
bool is_light(Scalar scalar) {
  switch (scalar) {
    case Scalar::convert:
    case Scalar::add:
    case Scalar::subtract:
    case Scalar::multiply:
    case Scalar::negate:
    case Scalar::maximum:
    case Scalar::minimum:
    case Scalar::bit_and:
    case Scalar::bit_or:
    case Scalar::bit_xor:
    case Scalar::shift_left:
    case Scalar::shift_right_logical:
    case Scalar::shift_right_arithmetic:
      return true;
    default:
      return false;
  }
}

int64_t count_of(const Type& type) {
  int64_t count = 1;
  for (const Dim& dim : type.dims) count *= dim.max();
  return count;
}

// An expression over the elements of a matrix: how much it reads, and along which dimensions memory runs.
class Expression {
 public:
  explicit Expression(const Value& matrix) : whole_(count_of(matrix.type())) {
    Ints axes(matrix.type().dims.size());
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
    fits_ = walk(matrix, axes, false);
  }

  // Whether storing what is read takes no more than half of storing the matrix, and more than a widening is done.
  bool pays(DType dtype) const { return fits_ && computes_ && order_ && 2 * bytes_ <= size_of(dtype) * whole_; }
  // The matrix's dimensions, in the order in which they lie in memory.
  const Ints& order() const { return *order_; }
  // The concatenation inside of it, if any: of parts of one size along this dimension.
  std::optional<int64_t> joint() const { return joint_; }
  size_t parts() const { return parts_; }

 private:
  // What has memory in the order of the value's dimensions; null where nothing does.
  static const Node* memory_of(const Node& node) {
    const Node* at = &node;
    if (at->op == Op::reshape) do
        at = &at->operand(0).node();
      while (at->op == Op::convert);
    return at->op == Op::parameter || at->op == Op::constant || at->op == Op::result || at->op == Op::dot_general
               ? at
               : nullptr;
  }

  // `axes`: for each dimension of the value the matrix's.
  bool walk(const Value& value, const Ints& axes, bool reshaped) {
    const Node& node = value.node();
    if (is_inline_constant(node)) return true;
    if (++nodes_ > 24) return false;
    const Node* leaf = memory_of(node);
    if (leaf || count_of(value.type()) * 8 <= whole_) {
      bytes_ += size_of((leaf ? leaf : &node)->type().dtype) * count_of(value.type());
      if (leaf && !reshaped && !order_ && count_of(value.type()) * 8 > whole_) order_ = axes;
      return leaf != nullptr || is_light_or_view(node);
    }
    if (node.op == Op::transpose && !reshaped) {
      const Ints& permutation = node.ints(Attr::permutation);
      Ints below(axes.size());
      for (size_t i = 0; i < axes.size(); ++i) below[static_cast<size_t>(permutation[i])] = axes[i];
      return walk(node.operand(0), below, reshaped);
    }
    if (node.op == Op::slice) return walk(node.operand(0), axes, reshaped);
    if (node.op == Op::broadcast_in_dim || node.op == Op::reshape || node.op == Op::transpose)
      return walk(node.operand(0), axes, true);
    if (node.op == Op::concatenate && !reshaped && !joint_) {
      joint_ = axes[static_cast<size_t>(node.attrs.integer(Attr::dimension))];
      parts_ = node.operand_count();
      for (const Value& part : node.operands())
        if (part.type() != node.operand(0).type() || !walk(part, axes, false)) return false;
      return true;
    }
    if (!def(node.op).traits.elementwise || !is_light(def(node.op).scalar)) return false;
    computes_ |= !is_widening(node);
    return std::all_of(node.operands().begin(), node.operands().end(),
                       [&](const Value& operand) { return walk(operand, axes, reshaped); });
  }

  static bool is_light_or_view(const Node& node) {
    return node.op == Op::broadcast_in_dim || node.op == Op::reshape || node.op == Op::transpose ||
           node.op == Op::slice || (def(node.op).traits.elementwise && is_light(def(node.op).scalar));
  }

  int64_t whole_, bytes_ = 0;
  int nodes_ = 0;
  bool fits_ = false, computes_ = false;
  std::optional<Ints> order_;
  std::optional<int64_t> joint_;
  size_t parts_ = 1;
};

// Part `i` along an axis of what is computed element by element from a concatenation.
Value part_of(Builder& build, const Value& value, int64_t axis, size_t parts, size_t i) {
  const Node node = value.node();
  auto at = static_cast<size_t>(axis);
  if (node.op == Op::concatenate && node.attrs.integer(Attr::dimension) == axis && node.operand_count() == parts)
    return node.operand(i);
  if (node.op == Op::transpose) {
    Ints permutation = node.ints(Attr::permutation);
    return build.transpose(part_of(build, node.operand(0), permutation[at], parts, i), permutation);
  }
  if (!def(node.op).traits.elementwise) {
    int64_t size = value.type().dims[at].value() / static_cast<int64_t>(parts), low = size * static_cast<int64_t>(i);
    return slice(build, value, at, low, low + size);
  }
  std::vector<Value> operands;
  for (const Value& operand : node.operands()) operands.push_back(part_of(build, operand, axis, parts, i));
  return build.call(node.op, std::move(operands), node.attrs, node.regions).result(0);
}

// What the elements of a value are known to be: whole numbers between two bounds.
struct Range {
  double low, high;
};

std::optional<Range> range_of_type(DType dtype) {
  if (is_bool(dtype)) return Range{0, 1};
  if (!is_integer(dtype) || bit_width(dtype) > 16) return std::nullopt;
  double all = static_cast<double>(int64_t{1} << bit_width(dtype));
  return is_signed(dtype) ? Range{-all / 2, all / 2 - 1} : Range{0, all - 1};
}

std::optional<Range> range_of(const Value& value);

std::optional<Range> range_of_call(Scalar scalar, const Node& node) {
  std::optional<Range> a = range_of(node.operand(0)), b;
  if (node.operand_count() > 1) b = range_of(node.operand(1));
  if (scalar == Scalar::bit_and && (a || b)) {
    bool left = a && a->low >= 0, right = b && b->low >= 0;
    if (left && right) return Range{0, std::min(a->high, b->high)};
    if (left || right) return Range{0, left ? a->high : b->high};
  }
  if (!a) return std::nullopt;
  if (scalar == Scalar::convert) return a;
  if (!b) return std::nullopt;
  if (scalar == Scalar::shift_right_logical && a->low >= 0 && b->low == b->high && b->low >= 0)
    return Range{std::floor(std::ldexp(a->low, -static_cast<int>(b->low))),
                 std::floor(std::ldexp(a->high, -static_cast<int>(b->low)))};
  if (scalar == Scalar::add) return Range{a->low + b->low, a->high + b->high};
  if (scalar == Scalar::subtract) return Range{a->low - b->high, a->high - b->low};
  return std::nullopt;
}

std::optional<Range> range_of(const Value& value) {
  const Node& node = value.node();
  DType dtype = value.type().dtype;
  std::optional<Range> all = range_of_type(dtype);
  if (is_inline_constant(node)) {
    double x = node.attrs.literal(Attr::value).as_double(0);
    return std::floor(x) == x ? std::optional<Range>(Range{x, x}) : std::nullopt;
  }
  switch (node.op) {
    case Op::broadcast_in_dim:
    case Op::reshape:
    case Op::transpose:
    case Op::slice:
      return range_of(node.operand(0));
    default:
      break;
  }
  if (!def(node.op).traits.elementwise) return all;
  std::optional<Range> found = range_of_call(def(node.op).scalar, node);
  if (!found) return all;
  // Whole numbers that every type here holds exactly; others may wrap or be rounded.
  bool holds = all ? found->low >= all->low && found->high <= all->high : std::max(-found->low, found->high) <= 256;
  return holds ? found : all;
}

// Elements that bytes hold, in arithmetic of bytes: sums that wrap on the way come out right.
Value in_bytes(Builder& build, const Value& value) {
  const Node node = value.node();
  std::optional<Range> range = range_of(value);
  if (range && range->low == range->high) return build.splat({DType::i8, value.type().dims}, range->low);
  Scalar scalar = def(node.op).scalar;
  if (scalar == Scalar::convert) return in_bytes(build, node.operand(0));
  if (scalar == Scalar::add || scalar == Scalar::subtract)
    return build(node.op, {in_bytes(build, node.operand(0)), in_bytes(build, node.operand(1))});
  if (node.op == Op::transpose) return build.transpose(in_bytes(build, node.operand(0)), node.ints(Attr::permutation));
  return build.convert(value, DType::i8);
}

// The matrix by way of bytes, where those hold its elements.
std::optional<Value> through_bytes(Builder& build, const Value& matrix) {
  std::optional<Range> range = range_of(matrix);
  if (!range || !is_float(matrix.type().dtype) || range->low < -128 || range->high > 127) return std::nullopt;
  return build.convert(in_bytes(build, matrix), matrix.type().dtype);
}

// The products of the parts, added up; an empty value where the matrix is better stored as it is.
Value rows_by_parts(Builder& build, const Node& node, const Value& lhs, const Value& rhs, const Expression& matrix) {
  DType dtype = node.type().dtype;
  if (matrix.joint() && dtype != DType::f32 && dtype != DType::f64) return {};
  int64_t axis = node.ints(Attr::lhs_contracting_dimensions)[0],
          contracted = node.ints(Attr::rhs_contracting_dimensions)[0];
  Value sum;
  for (size_t i = 0; i < matrix.parts(); ++i) {
    Value part = matrix.joint() ? part_of(build, rhs, contracted, matrix.parts(), i) : rhs;
    std::optional<Value> narrow = through_bytes(build, part);
    if (!narrow) return {};
    Dim size = part.type().dims[static_cast<size_t>(contracted)], low = size * Dim(static_cast<int64_t>(i));
    Value product =
        dot_in_kernel_form(build, slice(build, lhs, static_cast<size_t>(axis), low, low + size), *narrow, node.attrs);
    sum = sum ? build(Op::add, {sum, product}) : product;
  }
  return sum;
}

}  // namespace

// What a matrix is computed from, as it is or with rows parted in groups: of these dimensions, the groups along `axis`.
// Parts that were joined along it stay whole.
Value regrouped(Builder& build, const Value& value, size_t axis, const Dims& dims) {
  const Node node = value.node();
  bool parts_rows = node.type().dims.size() != dims.size(),
       is_one_number = node.op == Op::broadcast_in_dim && node.operand(0).type().rank() == 0;
  auto with = [&](std::vector<Value> operands) {
    return build.call(node.op, std::move(operands), node.attrs, node.regions).result(0);
  };
  std::vector<Value> operands;
  if (def(node.op).traits.elementwise) {
    for (const Value& operand : node.operands())
      operands.push_back(operand.type().dims == node.type().dims ? regrouped(build, operand, axis, dims) : operand);
    return with(std::move(operands));
  }
  if (!parts_rows) {
    Dims joined = dims;
    joined[axis] = dims[axis] * dims[axis + 1];
    joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    return node.op == Op::reshape && node.operand(0).type().dims == joined
               ? regrouped(build, node.operand(0), axis, dims)
               : value;
  }
  if (is_one_number) return build.broadcast_to(node.operand(0), dims);
  bool joins = node.op == Op::concatenate && node.attrs.integer(Attr::dimension) == static_cast<int64_t>(axis);
  for (size_t i = 0; joins && i < node.operand_count(); ++i) {
    Dims part = dims;
    int64_t rows = node.operand(i).type().dims[axis].value(), size = dims[axis + 1].value();
    joins = rows % size == 0;
    part[axis] = rows / size;
    if (joins) operands.push_back(regrouped(build, node.operand(i), axis, part));
  }
  return joins ? with(std::move(operands)) : build.reshape(value, dims);
}

// The matrix before groups of its rows, with scales of their own, say, became one dimension; itself where there are
// none.
Value in_groups(Builder& build, const Value& matrix, int64_t rows) {
  const Node node = matrix.node();
  if (node.op != Op::reshape || node.operand(0).type().rank() != 3) return matrix;
  const Dims from = node.operand(0).type().dims, to = matrix.type().dims;
  bool joins_rows = rows == 0 ? from[2] == to[1] : from[0] == to[0];
  return joins_rows ? regrouped(build, node.operand(0), static_cast<size_t>(rows), from) : matrix;
}

// The factor that all elements of a group share, as it is for their first, groups leading, behind the other one. Empty
// values where there is no such thing.
std::pair<Value, Value> without_scales(Builder& build, const Value& matrix, size_t within) {
  const Node node = matrix.node();
  for (size_t i = 0; node.op == Op::multiply && i < 2; ++i) {
    const Node& spread = node.operand(i).node();
    if (spread.op != Op::broadcast_in_dim || spread.operand(0).type().rank() == 0) continue;
    const Ints& dimensions = spread.ints(Attr::dimensions);
    auto at = std::ranges::find(dimensions, static_cast<int64_t>(within));
    bool is_shared =
        at == dimensions.end() || spread.operand(0).type().dims[static_cast<size_t>(at - dimensions.begin())].is(1);
    if (!is_shared) continue;
    Value first = slice(build, node.operand(i), within, Dim(0), Dim(1));
    return {node.operand(1 - i), within == 2 ? build.transpose(first, {1, 2, 0}) : first};
  }
  return {};
}

// Several rows by weights in groups of rows, each with a scale of its own: a product for each group, scaled, and their
// sum, which takes less than the matrix would where the rows are fewer than half of a group.
Value rows_by_groups(Builder& build, const Node& node, const Value& lhs, const Value& source, int64_t contracted) {
  auto group = static_cast<size_t>(contracted), within = group + 1;
  const Dims& dims = source.type().dims;
  int64_t groups = dims[group].value(), size = dims[within].value(),
          axis = node.ints(Attr::lhs_contracting_dimensions)[0];
  if (lhs.type().rank() != 2 || axis != 1 || lhs.type().dims[0].max() > size / 2) return {};
  DType wide = node.type().dtype == DType::f64 ? DType::f64 : DType::f32;
  auto [weights, scales] = without_scales(build, source, within);
  if (!weights || weights.type().dtype != wide) return {};
  Expression matrix(weights);
  size_t parts = matrix.parts();
  if (matrix.joint() && *matrix.joint() != contracted) return {};
  Value rows = build.reshape(build.convert(lhs, wide), {lhs.type().dims[0], groups, size}), sum;
  Attrs attrs{{Attr::lhs_batching_dimensions, Ints{1}},
              {Attr::rhs_batching_dimensions, Ints{contracted}},
              {Attr::lhs_contracting_dimensions, Ints{2}},
              {Attr::rhs_contracting_dimensions, Ints{contracted + 1}}};
  for (size_t i = 0; i < parts; ++i) {
    Dim count = groups / static_cast<int64_t>(parts), low = count * Dim(static_cast<int64_t>(i));
    std::optional<Value> narrow =
        through_bytes(build, parts > 1 ? part_of(build, weights, contracted, parts, i) : weights);
    if (!narrow) return {};
    Value product = dot_in_kernel_form(build, slice(build, rows, 1, low, low + count), *narrow, attrs);
    Value scaled = build(Op::multiply,
                         {product, build.broadcast_to(slice(build, scales, 0, low, low + count), product.type().dims)});
    Value total =
        build(Op::reduce, {scaled, build.scalar(wide, 0)}, {{Attr::dimensions, Ints{0}}}, {binary_body(Op::add, wide)});
    sum = sum ? build(Op::add, {sum, total}) : total;
  }
  return build.convert(sum, node.type().dtype);
}

Value with_computed_weights(Builder& build, const Node& node, Value lhs, Value rhs) {
  DType dtype = node.type().dtype;
  const Dims& dims = rhs.type().dims;
  bool is_static = std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_static(); });
  if (!is_static || node.attrs.find(Attr::type) || dims.size() != 2 ||
      !node.ints(Attr::rhs_batching_dimensions).empty())
    return {};
  bool known = dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
  if (!known || node.ints(Attr::rhs_contracting_dimensions).size() != 1) return {};
  int64_t contracted = node.ints(Attr::rhs_contracting_dimensions)[0];
  Dim k = dims[static_cast<size_t>(contracted)];
  if (count_of(rhs.type()) == 0) return {};
  bool is_turned = rhs.node().op == Op::transpose && rhs.node().ints(Attr::permutation) == Ints{1, 0};
  Value straight = is_turned ? rhs.node().operand(0) : rhs;
  int64_t along = is_turned ? 1 - contracted : contracted;
  if (count_of(lhs.type()) != k.value()) {
    if (Value source = in_groups(build, straight, along); source.type().rank() == 3)
      if (Value sum = rows_by_groups(build, node, lhs, source, along)) return sum;
    Expression matrix(rhs);
    bool pays = matrix.pays(dtype) && (!matrix.joint() || *matrix.joint() == contracted);
    return pays ? rows_by_parts(build, node, lhs, rhs, matrix) : Value();
  }
  rhs = straight;
  contracted = along;
  Value source = in_groups(build, rhs, contracted);
  bool is_grouped = source.type().rank() == 3;
  Expression matrix(source);
  if (!matrix.pays(dtype) || (matrix.joint() && *matrix.joint() != contracted)) return {};
  DType wide = dtype == DType::f64 ? dtype : DType::f32;
  Ints places;
  Dims extents;
  for (int64_t axis = contracted; axis <= contracted + (is_grouped ? 1 : 0); ++axis) {
    places.push_back(std::find(matrix.order().begin(), matrix.order().end(), axis) - matrix.order().begin());
    extents.push_back(source.type().dims[static_cast<size_t>(axis)]);
  }
  Value row = build.convert(build.reshape(lhs, extents), wide), products;
  // A concatenation is no choice for each element: its parts add up, side by side.
  for (size_t i = 0; i < matrix.parts(); ++i) {
    int64_t size = extents[0].value() / static_cast<int64_t>(matrix.parts()), low = size * static_cast<int64_t>(i);
    Value part = matrix.joint() ? part_of(build, source, contracted, matrix.parts(), i) : source;
    Value by_memory = build.convert(build.transpose(part, matrix.order()), wide);
    Value spread = build(Op::broadcast_in_dim, {matrix.joint() ? slice(build, row, 0, low, low + size) : row},
                         {{Attr::dims, by_memory.type().dims}, {Attr::dimensions, places}});
    Value product = build(Op::multiply, {spread, by_memory});
    products = products ? build(Op::add, {products, product}) : product;
  }
  std::ranges::sort(places);
  Value sum =
      build(Op::reduce, {products, build.scalar(wide, 0)}, {{Attr::dimensions, places}}, {binary_body(Op::add, wide)});
  return build.reshape(build.convert(sum, dtype), node.type().dims);
}

}  // namespace weft
