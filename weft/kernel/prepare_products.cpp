// Products of many small matrices or vectors as sums of what is multiplied element by element: a tile of registers for
// each would be mostly empty, and loops that compute or read the operands may take the sum along.
#include <algorithm>
#include <numeric>

#include "weft/kernel/prepare.h"
#include "weft/kernel/schedule.h"

namespace weft {
namespace {

// Multiplications of a product by a vector and of other ones up to which sums cost less (AVX-512, f32 and f64, batches
// of 200,000 elements), and results that are no tile: however long their sums are, these go with what computes an
// operand.
constexpr int64_t small_by_vector = 1024, small_product = 512, most_results = 4;
// Of many rows by one small matrix: multiplications of a row, and elements of it, up to which sums cost less.
constexpr int64_t most_of_points = 32, most_coordinates = 8;
// Of one small matrix by many columns, which lie in rows along memory: from so many columns on each row of the result
// is a loop over vectors.
constexpr int64_t least_columns = 16;

bool adds_up(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16 ||
         is_complex(dtype) || (is_integer(dtype) && bit_width(dtype) >= 8);
}

Dim extent_of(const Value& x, const Ints& dimensions) {
  Dim total = 1;
  for (int64_t i : dimensions) total = total * x.type().dims[static_cast<size_t>(i)];
  return total;
}

// Whether a loop of its own would compute a value, which is no view of memory or what that holds in another type.
bool is_computed_value(Value value) {
  while (value.node().op == Op::reshape || value.node().op == Op::transpose || value.node().op == Op::broadcast_in_dim)
    value = value.node().operand(0);
  return def(value.node().op).traits.elementwise && value.node().op != Op::convert;
}

// Whether the rows of an operand are points of few coordinates, and the other operand is a vector or a small matrix.
// What computes points would do so for each column.
bool is_of_points(const Value& points, const DotDims& dims, const Dim& columns, int64_t coordinates) {
  if (coordinates > most_coordinates || !columns.is_static() || columns.value() * coordinates > most_of_points)
    return false;
  auto kept = points.type().rank() - static_cast<int64_t>(dims.contracting.size());
  bool are_rows = std::ranges::all_of(dims.contracting, [&](int64_t i) { return i >= kept; });
  return columns.is(1) || (are_rows && !is_computed_value(points));
}

bool is_small(const Node& node, const DotDims& left, const DotDims& right) {
  const Value &lhs = node.operand(0), &rhs = node.operand(1);
  Dim m = extent_of(lhs, left.free), n = extent_of(rhs, right.free), k = extent_of(lhs, left.contracting);
  if (!k.is_static() || !adds_up(node.type().dtype) || k.value() < 1) return false;
  // With a batch or without, so that both give the same bits.
  if (is_of_points(lhs, left, n, k.value()) || is_of_points(rhs, right, m, k.value())) return true;
  if (left.batch.empty() || extent_of(lhs, left.batch).is(1) || !m.is_static() || !n.is_static()) return false;
  Dim results = m * n;
  if (!results.is_static()) return false;
  // A single number of two vectors is a sum without a batch, too.
  if (results.is(1)) return true;
  int64_t most = m.is(1) || n.is(1) ? small_by_vector : small_product;
  if (results.value() <= most && k.value() <= most / results.value()) return true;
  return results.value() <= most_results && (is_computed_value(lhs) || is_computed_value(rhs));
}

// Where the dimensions of both operands are among those of what they are multiplied to: the dimensions of the larger
// one in their order, with the other's before sums along memory.
struct Places {
  std::vector<int64_t> first, second;
  int64_t rank = 0;

  Places(const DotDims& a, const DotDims& b, int64_t rank_a) {
    auto kept = rank_a - static_cast<int64_t>(a.contracting.size());
    bool sums_last = std::ranges::all_of(a.contracting, [&](int64_t i) { return i >= kept; });
    auto more = static_cast<int64_t>(b.free.size()), begin = sums_last ? kept : rank_a;
    rank = rank_a + more;
    for (int64_t i = 0; i < rank_a; ++i) first.push_back(i < begin ? i : i + more);
    second.resize(b.batch.size() + b.contracting.size() + b.free.size());
    auto match = [&](const Ints& from, const Ints& to) {
      for (size_t i = 0; i < from.size(); ++i) second[static_cast<size_t>(from[i])] = first[static_cast<size_t>(to[i])];
    };
    match(b.batch, a.batch);
    match(b.contracting, a.contracting);
    for (size_t i = 0; i < b.free.size(); ++i) second[static_cast<size_t>(b.free[i])] = begin + static_cast<int64_t>(i);
  }
};

Value spread(Builder& build, Value x, const std::vector<int64_t>& places, const Dims& dims) {
  Ints order(places.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int64_t i) { return places[static_cast<size_t>(i)]; });
  x = build.transpose(x, order);
  Ints dimensions(places.begin(), places.end());
  std::ranges::sort(dimensions);
  if (x.type().dims == dims) return x;
  return build(Op::broadcast_in_dim, {x}, {{Attr::dims, dims}, {Attr::dimensions, dimensions}});
}

// Short floats add up in f32 and are rounded once.
DType sum_type(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype; }

Value as_sum(Builder& build, const Node& node, Value lhs, Value rhs, const DotDims& left, const DotDims& right) {
  DType dtype = node.type().dtype;
  DType sum = sum_type(dtype);
  lhs = build.convert(lhs, sum);
  rhs = build.convert(rhs, sum);
  bool by_right = lhs.type().count().max() < rhs.type().count().max();
  const DotDims &a = by_right ? right : left, &b = by_right ? left : right;
  Value x = by_right ? rhs : lhs, y = by_right ? lhs : rhs;
  Places places(a, b, x.type().rank());
  Dims dims(static_cast<size_t>(places.rank));
  for (size_t i = 0; i < places.first.size(); ++i) dims[static_cast<size_t>(places.first[i])] = x.type().dims[i];
  for (int64_t i : b.free)
    dims[static_cast<size_t>(places.second[static_cast<size_t>(i)])] = y.type().dims[static_cast<size_t>(i)];
  Value product = build(Op::multiply, {spread(build, x, places.first, dims), spread(build, y, places.second, dims)});
  Ints reduced, wanted, kept;
  for (int64_t i : a.contracting) reduced.push_back(places.first[static_cast<size_t>(i)]);
  std::ranges::sort(reduced);
  Value result = product;
  if (!reduced.empty())
    result =
        build(Op::reduce, {product, build.scalar(sum, 0)}, {{Attr::dimensions, reduced}}, {binary_body(Op::add, sum)});
  for (int64_t i : a.batch) wanted.push_back(places.first[static_cast<size_t>(i)]);
  const std::vector<int64_t>&of_left = by_right ? places.second : places.first,
        &of_right = by_right ? places.first : places.second;
  for (int64_t i : left.free) wanted.push_back(of_left[static_cast<size_t>(i)]);
  for (int64_t i : right.free) wanted.push_back(of_right[static_cast<size_t>(i)]);
  for (int64_t i = 0; i < places.rank; ++i)
    if (!std::ranges::count(reduced, i)) kept.push_back(i);
  for (int64_t& place : wanted) place = std::ranges::find(kept, place) - kept.begin();
  return build.convert(build.transpose(result, wanted), dtype);
}

// Whether a small matrix is multiplied by points whose coordinates lie in rows of their own.
bool is_by_rows(const Node& node, const DotDims& left, const DotDims& right) {
  const Value &lhs = node.operand(0), &rhs = node.operand(1);
  if (left.free.size() != 1 || right.free.size() != 1 || left.contracting.size() != 1) return false;
  const Dim m = extent_of(lhs, left.free), k = extent_of(lhs, left.contracting), n = extent_of(rhs, right.free);
  if (!adds_up(node.type().dtype) || !m.is_static() || !k.is_static() || right.free[0] != rhs.type().rank() - 1)
    return false;
  return m.value() > 1 && m.value() <= most_coordinates && k.value() > 0 && m.value() * k.value() <= most_of_points &&
         (!n.is_static() || n.value() >= least_columns);
}

// What begins at zero, as other sums do.
Value with_product(Builder& build, Value total, const Dims& dims, Value lhs, Value rhs) {
  Ints all(dims.size());
  std::iota(all.begin(), all.end(), 0);
  for (Value* side : {&lhs, &rhs})
    if (side->type().dims != dims)
      *side = build(Op::broadcast_in_dim, {*side}, {{Attr::dims, dims}, {Attr::dimensions, all}});
  if (!total)
    total = build(Op::broadcast_in_dim, {build.scalar(lhs.type().dtype, 0)},
                  {{Attr::dims, dims}, {Attr::dimensions, Ints{}}});
  return build(Op::add, {total, build(Op::multiply, {lhs, rhs})});
}

// Whether points in rows of few coordinates are multiplied by a small matrix, whose rows are as short as theirs.
bool is_by_short_rows(const Node& node, const DotDims& left, const DotDims& right) {
  const Value &lhs = node.operand(0), &rhs = node.operand(1);
  if (!left.batch.empty() || right.free.size() != 1 || left.contracting.size() != 1) return false;
  const Dim k = extent_of(lhs, left.contracting), n = extent_of(rhs, right.free);
  const DType dtype = node.type().dtype;
  if (!k.is_static() || !n.is_static() || left.contracting[0] != lhs.type().rank() - 1) return false;
  return n.value() > 1 && n.value() <= std::min(short_row, short_row_bytes / size_of(dtype)) && k.value() > 0 &&
         k.value() <= most_coordinates && n.value() * k.value() <= most_of_points && adds_up(dtype) &&
         !is_complex(dtype);
}

// Columns of the points by rows of the matrix: element by element, as what comes before and after it is.
Value by_short_rows(Builder& build, const Node& node, Value lhs, Value rhs, const DotDims& left, const DotDims& right) {
  const DType dtype = node.type().dtype, sum = sum_type(dtype);
  lhs = build.convert(lhs, sum);
  rhs = build.transpose(build.convert(rhs, sum), {right.contracting[0], right.free[0]});
  const auto last = static_cast<size_t>(left.contracting[0]);
  Dims row(last + 1, Dim(1));
  row[last] = rhs.type().dims[1];
  Value total;
  for (int64_t j = 0; j < rhs.type().dims[0].value(); ++j)
    total = with_product(build, total, node.type().dims, slice(build, lhs, last, j, j + 1),
                         build.reshape(slice(build, rhs, 0, j, j + 1), row));
  return build.convert(total, dtype);
}

// Each row as a sum of rows, so that a loop reads the points once for all of them.
Value by_rows(Builder& build, const Node& node, Value lhs, Value rhs, const DotDims& left, const DotDims& right) {
  const DType dtype = node.type().dtype, sum = sum_type(dtype);
  Ints order = right.batch;
  order.insert(order.end(), {right.contracting[0], right.free[0]});
  rhs = build.transpose(build.convert(rhs, sum), order);
  lhs = build.transpose(build.convert(lhs, sum), left.order());
  const size_t axis = left.batch.size();
  const int64_t m = lhs.type().dims[axis].value(), k = lhs.type().dims[axis + 1].value();
  Dims row = node.type().dims;
  row[axis] = 1;
  std::vector<Value> rows, coordinates;
  for (int64_t j = 0; j < k; ++j) coordinates.push_back(slice(build, rhs, axis, j, j + 1));
  for (int64_t i = 0; i < m; ++i) {
    const Value weights = slice(build, lhs, axis, i, i + 1);
    Value total;
    for (int64_t j = 0; j < k; ++j)
      total = with_product(build, total, row, slice(build, weights, axis + 1, j, j + 1),
                           coordinates[static_cast<size_t>(j)]);
    rows.push_back(build.convert(total, dtype));
  }
  return build(Op::concatenate, std::move(rows), {{Attr::dimension, static_cast<int64_t>(axis)}});
}

}  // namespace

Value windows_by_vector(Builder& build, const Node& node, const Value& lhs, const Value& rhs) {
  auto [left, right] = dims_of(node);
  auto are_windows = [&](const Value& x, const Value& other, const DotDims& dims) {
    return x.node().op == Op::strided_view && extent_of(other, dims.free).is(1);
  };
  if (!adds_up(node.type().dtype) || !(are_windows(lhs, rhs, right) || are_windows(rhs, lhs, left))) return {};
  return as_sum(build, node, lhs, rhs, left, right);
}

GraphPtr with_small_products(const Graph& flat) {
  using Form = Value (*)(Builder&, const Node&, Value, Value, const DotDims&, const DotDims&);
  auto form_of = [](const Node& node) -> Form {
    if (node.op != Op::dot_general) return nullptr;
    auto [left, right] = dims_of(node);
    return is_by_rows(node, left, right)         ? by_rows
           : is_by_short_rows(node, left, right) ? by_short_rows
           : is_small(node, left, right)         ? as_sum
                                                 : nullptr;
  };
  if (std::ranges::none_of(flat.nodes(), form_of)) return nullptr;
  return rebuild(flat, Level::flat, [&](Builder& build, const Node& node, const std::vector<Value>& operands) {
    const Form form = form_of(node);
    if (!form) return std::vector<Value>{};
    auto [left, right] = dims_of(node);
    return std::vector{form(build, node, operands[0], operands[1], left, right)};
  });
}

}  // namespace weft
