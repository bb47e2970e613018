// What is read and written through views.
#include "weft/frontend/view.h"

#include <algorithm>

#include "weft/frontend/promote.h"

namespace weft {
namespace {

bool is_move(Op op) {
  switch (op) {
    case Op::slice:
    case Op::reverse:
    case Op::reshape:
    case Op::transpose:
    case Op::broadcast_in_dim:
    case Op::real:
    case Op::imag:
      return true;
    default:
      return false;
  }
}

// By a mask: zeros around and between the elements of the part.
Tensor put_strided(const Tensor& base, const Tensor& part, const Dims& starts, const Ints& strides) {
  Dims high;
  Ints between;
  for (size_t i = 0; i < strides.size(); ++i) {
    high.push_back(base.dims()[i] - starts[i] - ((part.dims()[i] - 1) * strides[i] + 1));
    between.push_back(strides[i] - 1);
  }
  const Attrs around{
      {Attr::edge_padding_low, starts}, {Attr::edge_padding_high, high}, {Attr::interior_padding, between}};
  const Tensor ones =
      apply(Op::broadcast_in_dim, {number(1, DType::boolean)}, {{Attr::dims, part.dims()}, {Attr::dimensions, Ints{}}});
  return apply(Op::select, {apply(Op::pad, {ones, number(0, DType::boolean)}, around),
                            apply(Op::pad, {part, number(0, part.dtype())}, around), base});
}

}  // namespace

Tensor put_slice(const Tensor& base, const Tensor& part, const Dims& starts, const Ints& strides) {
  if (std::any_of(part.dims().begin(), part.dims().end(), [](const Dim& dim) { return dim.is(0); })) return base;
  if (part.dims() == base.dims()) return part;
  if (std::any_of(starts.begin(), starts.end(), [](const Dim& start) { return !start.is_static(); }))
    return apply(Op::update_slice, {base, part}, {{Attr::start_indices, starts}, {Attr::strides, strides}});
  if (std::any_of(strides.begin(), strides.end(), [](int64_t stride) { return stride != 1; }))
    return put_strided(base, part, starts, strides);
  std::vector<Tensor> operands{base, part};
  for (const Dim& start : starts) operands.push_back(number(static_cast<double>(start.value()), DType::i64));
  return apply(Op::dynamic_update_slice, std::move(operands));
}

Tensor Move::read(const Tensor& base) const { return apply(op, {base}, attrs); }

Tensor Move::write(const Tensor& base, const Tensor& part) const {
  switch (op) {
    case Op::slice:
      return put_slice(base, part, attrs.dims(Attr::start_indices), attrs.ints(Attr::strides));
    case Op::reverse:
      return apply(op, {part}, attrs);
    case Op::reshape:
      return apply(op, {part}, {{Attr::dims, before}});
    case Op::transpose:
      return apply(op, {part}, {{Attr::permutation, inverse(attrs.ints(Attr::permutation))}});
    case Op::real:
      return apply(Op::complex, {part, apply(Op::imag, {base})});
    case Op::imag:
      return apply(Op::complex, {apply(Op::real, {base}), part});
    default:
      fail(ErrorKind::value, "read_only", "assignment destination is read-only");
  }
}

std::optional<std::vector<Move>> moves_between(const Tensor& base, const Tensor& part) {
  std::vector<Move> moves;
  Tensor at = part;
  while (!at.is_same(base)) {
    const Record& record = at.record();
    if (!is_move(record.op) || record.operands.size() != 1) return {};
    moves.push_back({record.op, record.attrs, record.operands[0].dims()});
    const Tensor operand = record.operands[0];
    at = operand;
  }
  // A view of all of it is a view still.
  if (moves.empty()) moves.push_back({Op::reshape, {{Attr::dims, base.dims()}}, base.dims()});
  std::reverse(moves.begin(), moves.end());
  return moves;
}

}  // namespace weft
