// Products of a matrix by itself, as x.T @ x: what lies above the diagonal is what lies below it, and is computed once.
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

// Rows of the result, and elements of each sum, from which the products that are left out take longer than moving what
// lies below the diagonal.
constexpr int64_t least_rows = 512, least_terms = 256, many_rows = 2048;

// The matrix that an operand of a product is, as it lies or transposed, and the dimension of it that is summed over.
struct Side {
  Value matrix;
  size_t summed;
};

std::optional<Side> side_of(Value operand, const DotDims& dims) {
  if (operand.type().rank() != 2 || !dims.batch.empty() || dims.contracting.size() != 1) return std::nullopt;
  auto summed = static_cast<size_t>(dims.contracting[0]);
  if (operand.node().op == Op::transpose) {
    summed = static_cast<size_t>(operand.node().ints(Attr::permutation)[summed]);
    operand = operand.node().operand(0);
  }
  return Side{operand, summed};
}

}  // namespace

Value product_of_itself(Builder& build, const Node& node, const Value& lhs, const Value& rhs) {
  const auto [of_left, of_right] = dims_of(node);
  const std::optional<Side> left = side_of(lhs, of_left), right = side_of(rhs, of_right);
  if (!left || !right || left->matrix != right->matrix || left->summed != right->summed) return {};
  const Value x = left->matrix;
  const size_t summed = left->summed, kept = 1 - summed;
  const Dim rows = x.type().dims[kept], terms = x.type().dims[summed];
  if (!rows.is_static() || rows.value() < least_rows || terms.min() < least_terms) return {};
  auto up_to = [](int64_t number, int64_t unit) { return (number + unit - 1) / unit; };
  constexpr int64_t tile = 64;
  const int64_t block = up_to(rows.value(), (rows.value() < many_rows ? 4 : 8) * tile) * tile;
  const int64_t count = up_to(rows.value(), block);
  auto begin_of = [&](int64_t i) { return std::min(block * i, rows.value()); };
  Attrs attrs = node.attrs;
  attrs.set(Attr::lhs_contracting_dimensions, Ints{static_cast<int64_t>(summed)});
  attrs.set(Attr::rhs_contracting_dimensions, Ints{static_cast<int64_t>(summed)});
  // Blocks of rows up to the diagonal, the diagonal's block included.
  std::vector<Value> below;
  for (int64_t i = 0; i < count; ++i)
    below.push_back(dot_in_kernel_form(build, slice(build, x, kept, begin_of(i), begin_of(i + 1)),
                                       slice(build, x, kept, 0, begin_of(i + 1)), attrs));
  std::vector<Value> blocks;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Value> row{below[static_cast<size_t>(i)]};
    for (int64_t j = i + 1; j < count; ++j)
      row.push_back(
          build.transpose(slice(build, below[static_cast<size_t>(j)], 1, begin_of(i), begin_of(i + 1)), {1, 0}));
    blocks.push_back(row.size() > 1 ? build(Op::concatenate, std::move(row), {{Attr::dimension, int64_t{1}}}) : row[0]);
  }
  return build(Op::concatenate, std::move(blocks), {{Attr::dimension, int64_t{0}}});
}

}  // namespace weft
