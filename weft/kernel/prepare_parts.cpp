// Products as sums of products of parts of k. A row by a matrix that lies in rows: threads that share the columns read
// a piece of each row, and memory is faster from front to back. Few rows by few columns: there is too little else to
// share.
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// Bytes of the matrix that several threads read, and elements of the row in a part, at least.
constexpr int64_t worth_parts = 2 << 20, fewest_elements = 64;

// The number of parts: the same for any number of threads, as it decides how sums are rounded.
int64_t parts_of(const Dim& k) {
  if (!k.is_static()) return 1;
  int64_t parts = 8;
  while (parts > 1 && (k.value() % (2 * parts) != 0 || k.value() / parts < fewest_elements)) parts /= 2;
  return parts;
}

// Conversions are done after it.
Value reshaped(Builder& build, const Value& value, const Dims& dims) {
  const Node node = value.node();
  if (node.op != Op::convert) return build.reshape(value, dims);
  return build.convert(reshaped(build, node.operand(0), dims), value.type().dtype);
}

// The element type of its memory, where that is there in the order of its dimensions. Constants of bfloat16 are packed.
std::optional<DType> in_rows(const Value& matrix) {
  const Node* node = &matrix.node();
  while (node->op == Op::convert) node = &node->operand(0).node();
  DType dtype = node->type().dtype;
  while (node->op == Op::reshape || node->op == Op::slice) node = &node->operand(0).node();
  bool is_there =
      node->op == Op::parameter || node->op == Op::result || (node->op == Op::constant && dtype != DType::bf16);
  return is_there ? std::optional(dtype) : std::nullopt;
}

// Elements of a result that are one or two pieces of work, and multiplications that are worth more than a start of
// threads and the sums.
constexpr int64_t few_results = 1024, worth_threads = 1 << 20;

// In parts along an axis, by a dimension before it, of what memory holds: that is a view.
Value in_parts(Builder& build, const Value& value, int64_t axis, int64_t parts) {
  const Node node = value.node();
  if (node.op == Op::convert) return build.convert(in_parts(build, node.operand(0), axis, parts), value.type().dtype);
  if (node.op == Op::transpose) {
    const Ints& permutation = node.ints(Attr::permutation);
    int64_t inner = permutation[static_cast<size_t>(axis)];
    Ints order;
    for (int64_t from : permutation) {
      if (from == inner) order.push_back(inner);
      order.push_back(from + (from >= inner ? 1 : 0));
    }
    return build.transpose(in_parts(build, node.operand(0), inner, parts), order);
  }
  Dims dims = value.type().dims;
  Dim& extent = dims[static_cast<size_t>(axis)];
  extent = extent.value() / parts;
  dims.insert(dims.begin() + axis, Dim(parts));
  return build.reshape(value, dims);
}

}  // namespace

Value few_by_parts(Builder& build, const Node& node, const Value& lhs, const Value& rhs) {
  DType dtype = node.type().dtype;
  if (lhs.type().rank() != 2 || rhs.type().rank() != 2 || !node.ints(Attr::lhs_batching_dimensions).empty()) return {};
  if ((dtype != DType::f32 && dtype != DType::f64) || lhs.type().dtype != dtype || rhs.type().dtype != dtype) return {};
  if (node.ints(Attr::lhs_contracting_dimensions).size() != 1 || !node.type().is_static()) return {};
  int64_t along_lhs = node.ints(Attr::lhs_contracting_dimensions)[0],
          along_rhs = node.ints(Attr::rhs_contracting_dimensions)[0];
  const Dim& k = lhs.type().dims[static_cast<size_t>(along_lhs)];
  int64_t parts = parts_of(k), results = node.type().count().value();
  if (parts == 1 || results > few_results || results * k.value() < worth_threads) return {};
  Value products =
      dot_in_kernel_form(build, in_parts(build, lhs, along_lhs, parts), in_parts(build, rhs, along_rhs, parts),
                         {{Attr::lhs_batching_dimensions, Ints{along_lhs}},
                          {Attr::rhs_batching_dimensions, Ints{along_rhs}},
                          {Attr::lhs_contracting_dimensions, Ints{along_lhs + 1}},
                          {Attr::rhs_contracting_dimensions, Ints{along_rhs + 1}}});
  return build(Op::reduce, {products, build.scalar(dtype, 0)}, {{Attr::dimensions, Ints{0}}},
               {binary_body(Op::add, dtype)});
}

Value row_by_parts(Builder& build, const Node& node, Value lhs, Value rhs) {
  DType dtype = node.type().dtype;
  if (rhs.type().rank() != 2 || node.ints(Attr::rhs_contracting_dimensions) != Ints{0} ||
      (!is_float(dtype) && !is_integer(dtype)))
    return {};
  const Dim &k = rhs.type().dims[0], &n = rhs.type().dims[1];
  std::optional<DType> stored = in_rows(rhs);
  int64_t parts = parts_of(k);
  if (parts == 1 || !(lhs.type().count() == k) || !stored || (k * n).opt() * size_of(*stored) < worth_parts) return {};
  Dim deep = k.value() / parts;
  DType wide = size_of(dtype) < size_of(DType::f32) && is_float(dtype) ? DType::f32 : dtype;
  Value rows = build.convert(reshaped(build, lhs, {parts, 1, deep}), wide),
        matrices = build.convert(reshaped(build, rhs, {parts, deep, n}), wide);
  Value products = dot_in_kernel_form(build, rows, matrices,
                                      {{Attr::lhs_batching_dimensions, Ints{0}},
                                       {Attr::rhs_batching_dimensions, Ints{0}},
                                       {Attr::lhs_contracting_dimensions, Ints{2}},
                                       {Attr::rhs_contracting_dimensions, Ints{1}}});
  Value sum =
      build(Op::reduce, {products, build.scalar(wide, 0)}, {{Attr::dimensions, Ints{0}}}, {binary_body(Op::add, wide)});
  return build.reshape(build.convert(sum, dtype), node.type().dims);
}

}  // namespace weft
