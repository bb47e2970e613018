// A row by a matrix that lies in rows, as the sum of some rows by parts of it: threads that share the columns read a piece of
// each row, and memory is faster from front to back.
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
  bool is_there = node->op == Op::parameter || node->op == Op::result || (node->op == Op::constant && dtype != DType::bf16);
  return is_there ? std::optional(dtype) : std::nullopt;
}

}  // namespace

Value row_by_parts(Builder& build, const Node& node, Value lhs, Value rhs) {
  DType dtype = node.type().dtype;
  if (rhs.type().rank() != 2 || node.ints(Attr::rhs_contracting_dimensions) != Ints{0} || (!is_float(dtype) && !is_integer(dtype))) return {};
  const Dim &k = rhs.type().dims[0], &n = rhs.type().dims[1];
  std::optional<DType> stored = in_rows(rhs);
  int64_t parts = parts_of(k);
  if (parts == 1 || !(lhs.type().count() == k) || !stored || (k * n).opt() * size_of(*stored) < worth_parts) return {};
  Dim deep = k.value() / parts;
  DType wide = size_of(dtype) < size_of(DType::f32) && is_float(dtype) ? DType::f32 : dtype;
  Value rows = build.convert(reshaped(build, lhs, {parts, 1, deep}), wide), matrices = build.convert(reshaped(build, rhs, {parts, deep, n}), wide);
  Value products = dot_in_kernel_form(build, rows, matrices,
                                      {{Attr::lhs_batching_dimensions, Ints{0}},
                                       {Attr::rhs_batching_dimensions, Ints{0}},
                                       {Attr::lhs_contracting_dimensions, Ints{2}},
                                       {Attr::rhs_contracting_dimensions, Ints{1}}});
  Value sum = build(Op::reduce, {products, build.scalar(wide, 0)}, {{Attr::dimensions, Ints{0}}}, {binary_body(Op::add, wide)});
  return build.reshape(build.convert(sum, dtype), node.type().dims);
}

}  // namespace weft
