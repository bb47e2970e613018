// What nodes are to fusion and lowering.
#include <algorithm>

#include "weft/kernel/fuse.h"
#include "weft/kernel/schedule.h"

namespace weft {

bool is_fold(const Node& node) {
  if (node.op == Op::reduce) return node.operand_count() != 2 || !single_op(*node.regions[0]);
  return node.op == Op::reduce_window || node.op == Op::select_and_scatter;
}

bool is_step(const Node& node) {
  if (family(node.op) == Family::collective) return true;
  switch (node.op) {
    case Op::sort:
    case Op::fft:
    case Op::cholesky:
    case Op::triangular_solve:
    case Op::custom_call:
    case Op::for_:
    case Op::while_:
    case Op::if_:
    case Op::case_:
      return true;
    default:
      return false;
  }
}

bool is_update(Op op) { return op == Op::update_slice || op == Op::dynamic_update_slice || op == Op::scatter; }

bool has_updates(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) { return is_update(node.op); });
}

bool reads_part(Op op) { return op == Op::slice || op == Op::dynamic_slice || op == Op::gather; }

size_t sorted_axis(const Node& sort) {
  int64_t axis = sort.attrs.integer(Attr::dimension);
  return static_cast<size_t>(axis < 0 ? axis + sort.type().rank() : axis);
}

bool has_many_parts(const Node& node) {
  constexpr size_t few_parts = 4;  // which a loop may tell apart at every element
  return node.op == Op::concatenate && node.operand_count() > few_parts;
}

std::vector<std::optional<NodeId>> results_of(const Graph& graph, const Node& node) {
  std::vector<std::optional<NodeId>> results(node.types.size());
  for (const Node& user : graph.nodes())
    if (user.op == Op::result && user.operand(0).id() == node.id()) results[user.operand(0).index()] = user.id();
  return results;
}

std::optional<size_t> kept_rows(const Node& reduce) {
  const Ints& dimensions = reduce.ints(Attr::dimensions);
  auto rank = static_cast<size_t>(reduce.operand(0).type().rank());
  size_t kept = rank - dimensions.size();
  for (int64_t dimension : dimensions)
    if (static_cast<size_t>(dimension) < kept) return std::nullopt;
  return kept;
}

bool is_long_row(const Node& reduce, size_t kept) {
  const Dims& dims = reduce.operand(0).type().dims;
  Dim rows = 1, length = 1;
  for (size_t i = 0; i < dims.size(); ++i) (i < kept ? rows : length) = (i < kept ? rows : length) * dims[i];
  return rows.is(1) && length.opt() > 4 * chunk;
}

bool is_widening(const Node& node) {
  if (node.op != Op::convert) return false;
  DType from = node.operand(0).type().dtype, to = node.type().dtype;
  auto is_half = [](DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; };
  bool is_whole = is_bool(from) || (is_integer(from) && bit_width(from) >= 8);
  int bits = is_bool(from) ? 1 : bit_width(from);
  if (to == DType::f64) return from == DType::f32 || is_half(from) || (is_whole && bits <= 32);
  if (to == DType::f32) return is_half(from) || (is_whole && bits <= 16);
  if (is_half(to)) return is_whole && bits <= 8;
  return is_integer(to) && is_whole && bits < bit_width(to) && bit_width(to) >= 16;
}

std::optional<BitsOf> four_bits(const Node& node) {
  auto number = [](const Node& node) {
    const Node* by = node.operand_count() == 2 ? &node.operand(1).node() : nullptr;
    if (by && by->op == Op::broadcast_in_dim) by = &by->operand(0).node();
    return by && is_inline_constant(*by) ? by->attrs.literal(Attr::value).as_double(0) : -1;
  };
  auto is = [&](const Node& node, Op op, double by) { return node.op == op && number(node) == by; };
  auto is_byte = [](const Value& value, bool is_signed) {
    return value.type().dtype == DType::i8 || (!is_signed && value.type().dtype == DType::u8);
  };
  // A number that is added or taken off, where that does not wrap.
  const Node* at = &node;
  FourBits bits;
  for (; is_integer(at->type().dtype) && is_signed(at->type().dtype) && bit_width(at->type().dtype) >= 8;
       at = &at->operand(0).node()) {
    double by = number(*at);
    bool is_sum = at->op == Op::add || at->op == Op::subtract;
    if (is_sum && bits.more == 0 && by >= 0 && by <= 100)
      bits.more = static_cast<int>(at->op == Op::add ? by : -by);
    else if (at->op != Op::convert || !is_integer(at->operand(0).type().dtype))
      break;
  }
  bool is_masked = is(*at, Op::and_, 15);
  const Node& shift = is_masked ? at->operand(0).node() : *at;
  bool is_arithmetic = is(shift, Op::shift_right_arithmetic, 4),
       is_shifted = is_arithmetic || is(shift, Op::shift_right_logical, 4);
  if (!is_shifted && !is_masked) return std::nullopt;
  Value byte = is_shifted ? shift.operand(0) : at->operand(0);
  bits.low = is_shifted ? 4 : 0;
  bits.is_signed = is_arithmetic && !is_masked;
  if (bits.is_signed && is(byte.node(), Op::shift_left, 4)) {
    byte = byte.node().operand(0);
    bits.low = 0;
  }
  return is_byte(byte, bits.is_signed) ? std::optional<BitsOf>({byte, bits}) : std::nullopt;
}

bool reads_windows(const Node& dot) { return dot.ints(Attr::lhs_contracting_dimensions).size() > 1; }

bool multiplies_windows(const Node& dot) {
  return reads_windows(dot) && dot.operand(1).node().op == Op::strided_view &&
         dot.operand(0).node().op != Op::strided_view;
}

bool overlaps(const Node& view) { return 2 * view.type().count().opt() > 3 * view.operand(0).type().count().opt(); }

NodeId below_reshapes(Value value) {
  while (value.node().op == Op::reshape) value = value.node().operand(0);
  return value.id();
}

const Node& below_own_reshapes(const Fusion& fusion, const Node& node) {
  const Node* below = &node;
  while (below->op == Op::reshape && !fusion.is_stored[below->operand(0).id()]) below = &below->operand(0).node();
  return *below;
}

bool pads_rows(const Node& node) {
  if (node.op != Op::pad || node.type().rank() == 0) return false;
  return node.attrs.dims(Attr::edge_padding_low).back().is(0) &&
         node.attrs.dims(Attr::edge_padding_high).back().is(0) && node.ints(Attr::interior_padding).back() == 0;
}

bool turns_first(const Node& dot) {
  const Node& lhs = dot.operand(0).node();
  if (lhs.op != Op::transpose || lhs.ints(Attr::permutation).back() + 1 == lhs.type().rank() ||
      !lhs.type().is_static() || !dot.type().is_static())
    return false;
  // More than a second-level cache holds by far, and read by enough columns to pay for a copy.
  constexpr int64_t many_bytes = int64_t{8} << 20, many_columns = 256;
  return lhs.type().count().value() * static_cast<int64_t>(size_of(lhs.type().dtype)) >= many_bytes &&
         dot.type().rank() > 0 && dot.type().dims.back().value() >= many_columns;
}

bool is_inline_constant(const Node& node) {
  if (node.op != Op::constant) return false;
  const Literal& literal = node.attrs.literal(Attr::value);
  return !literal.is_live() && literal.count() > 0 && literal.count() <= 65536 && literal.is_splat();
}

std::optional<std::vector<int>> operand_coordinates(const Node& node, size_t k, const std::vector<int>& at) {
  const Dims& dims = node.operand(k).type().dims;
  if (def(node.op).traits.elementwise) return at;
  std::vector<int> result(dims.size(), -1);
  if (node.op == Op::broadcast_in_dim) {
    const Ints& dimensions = node.ints(Attr::dimensions);
    for (size_t i = 0; i < dims.size(); ++i) result[i] = dims[i].is(1) ? -1 : at[static_cast<size_t>(dimensions[i])];
    return result;
  }
  if (node.op == Op::transpose) {
    const Ints& permutation = node.ints(Attr::permutation);
    for (size_t i = 0; i < permutation.size(); ++i) result[static_cast<size_t>(permutation[i])] = at[i];
    return result;
  }
  if (node.op == Op::reshape) {
    // Adding and dropping dims of extent 1 only.
    size_t i = 0, j = 0;
    const Dims& to = node.type().dims;
    while (i < dims.size() || j < to.size()) {
      if (i < dims.size() && dims[i].is(1)) {
        ++i;
      } else if (j < to.size() && to[j].is(1)) {
        ++j;
      } else if (i < dims.size() && j < to.size() && dims[i] == to[j]) {
        result[i++] = at[j++];
      } else {
        return std::nullopt;
      }
    }
    return result;
  }
  if (node.op == Op::reduce && k == 0) {
    // The operand's rows are the reduce's own; the rest is inner.
    for (size_t i = 0; i < at.size(); ++i) result[i] = at[i];
    for (size_t i = at.size(); i < dims.size(); ++i) result[i] = inner_coordinate(i);
    return result;
  }
  return std::nullopt;
}

std::optional<Ints> unit_reshape(const Node& node) {
  const Dims &from = node.operand(0).type().dims, &to = node.type().dims;
  Ints result;
  size_t j = 0;
  for (const Dim& dim : from) {
    while (j < to.size() && !(to[j] == dim) && to[j].is(1)) ++j;
    if (j < to.size() && to[j] == dim)
      result.push_back(static_cast<int64_t>(j++));
    else if (dim.is(1))
      result.push_back(-1);
    else
      return {};
  }
  for (; j < to.size(); ++j)
    if (!to[j].is(1)) return {};
  return result;
}

}  // namespace weft
