// Which dimensions of the operands of attention are its batch dimensions, rows and columns.
#include <algorithm>

#include "weft/kernel/prepare.h"

namespace weft {

std::optional<std::vector<size_t>> merged_into(const Node& reshape) {
  const Dims &from = reshape.operand(0).type().dims, &to = reshape.type().dims;
  std::vector<size_t> places;
  for (size_t j = 0; j < to.size(); ++j) {
    for (Dim product = 1; !(product == to[j]); product = product * from[places.size()], places.push_back(j))
      if (places.size() == from.size() || (places.size() && places.back() == j && !product.is_static())) return {};
  }
  for (size_t i = places.size(); i < from.size(); places.push_back(to.size() - 1), ++i)
    if (!from[i].is(1) || to.empty()) return {};
  return places;
}

Labels labels_of_operand(const Node& node, const Labels& labels, size_t i, const Dim& columns) {
  const Dims& dims = node.operand(i).type().dims;
  Labels result(dims.size(), other_label);
  auto map = [&](const Ints& places) {
    for (size_t d = 0; d < dims.size(); ++d)
      if (places[d] >= 0 && dims[d] == node.type().dims[static_cast<size_t>(places[d])])
        result[d] = labels[static_cast<size_t>(places[d])];
  };
  switch (node.op) {
    case Op::broadcast_in_dim:
      map(node.ints(Attr::dimensions));
      return result;
    case Op::reshape: {
      if (std::optional<Ints> places = unit_reshape(node))
        map(*places);
      else if (std::optional<std::vector<size_t>> merged = merged_into(node))
        map({merged->begin(), merged->end()});
      return result;
    }
    case Op::slice:
      for (size_t d = 0; d < dims.size(); ++d)
        if (dims[d] == node.type().dims[d]) result[d] = labels[d];
      return result;
    case Op::transpose: {
      const Ints& permutation = node.ints(Attr::permutation);
      for (size_t d = 0; d < permutation.size(); ++d) result[static_cast<size_t>(permutation[d])] = labels[d];
      return result;
    }
    case Op::reduce: {
      const Ints& reduced = node.ints(Attr::dimensions);
      size_t next = 0;
      for (size_t d = 0; d < dims.size(); ++d) {
        bool gone = std::count(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) > 0;
        result[d] = !gone ? labels[next++] : reduced.size() == 1 && dims[d] == columns ? column_label : other_label;
      }
      return result;
    }
    case Op::dot_general: {
      const Ints& batch = node.ints(i == 0 ? Attr::lhs_batching_dimensions : Attr::rhs_batching_dimensions);
      result.assign(dims.size(), i == 0 ? row_label : column_label);
      for (size_t b = 0; b < batch.size(); ++b) result[static_cast<size_t>(batch[b])] = static_cast<int>(b);
      for (int64_t c : node.ints(i == 0 ? Attr::lhs_contracting_dimensions : Attr::rhs_contracting_dimensions))
        result[static_cast<size_t>(c)] = other_label;
      return result;
    }
    default:
      return dims.size() == labels.size() ? labels : result;
  }
}

}  // namespace weft
