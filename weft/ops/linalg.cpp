// Products.
#include "weft/core/element.h"
#include "weft/ir/graph.h"
#include "weft/ops/infer.h"
#include "weft/ops/product_sum.h"
#include "weft/ops/walk.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

// Dimensions of an operand that are neither batching nor contracting.
Ints free_dims(int64_t rank, const Ints& batching, const Ints& contracting) {
  Ints free;
  for (int64_t i = 0; i < rank; ++i)
    if (!contains(batching, i) && !contains(contracting, i)) free.push_back(i);
  return free;
}

Types infer_dot_general(const Call& call) {
  const Type &lhs = call.operand(0), &rhs = call.operand(1);
  const Ints &lb = call.attrs.ints(Attr::lhs_batching_dimensions), &rb = call.attrs.ints(Attr::rhs_batching_dimensions),
             &lc = call.attrs.ints(Attr::lhs_contracting_dimensions),
             &rc = call.attrs.ints(Attr::rhs_contracting_dimensions);
  bool converts = call.attrs.find(Attr::type) != nullptr;
  call.require(lhs.dtype == rhs.dtype || converts, "c13", "operands must be of one element type, got ", lhs, " and ",
               rhs);
  call.require(lb.size() == rb.size(), "c1", "batching dimensions must pair up, got ", lb, " and ", rb);
  call.require(lc.size() == rc.size(), "c2", "contracting dimensions must pair up, got ", lc, " and ", rc);
  Ints left = lb, right = rb;
  left.insert(left.end(), lc.begin(), lc.end());
  right.insert(right.end(), rc.begin(), rc.end());
  call.require(are_axes(left, lhs.rank()), "c3", "dimensions ", left, " must be different ones of ", lhs);
  call.require(are_axes(right, rhs.rank()), "c4", "dimensions ", right, " must be different ones of ", rhs);
  for (size_t i = 0; i < left.size(); ++i)
    call.require(lhs.dims[static_cast<size_t>(left[i])] == rhs.dims[static_cast<size_t>(right[i])],
                 i < lb.size() ? "c9" : "c10", "extents must agree, got dimension ", left[i], " of ", lhs,
                 " and dimension ", right[i], " of ", rhs);
  Type result{converts ? call.attrs.dtype(Attr::type) : lhs.dtype, {}};
  for (int64_t i : lb) result.dims.push_back(lhs.dims[static_cast<size_t>(i)]);
  for (int64_t i : free_dims(lhs.rank(), lb, lc)) result.dims.push_back(lhs.dims[static_cast<size_t>(i)]);
  for (int64_t i : free_dims(rhs.rank(), rb, rc)) result.dims.push_back(rhs.dims[static_cast<size_t>(i)]);
  return {result};
}

// Offsets in memory for every index over some dimensions of a literal.
Ints offsets_of(const Literal& x, const Ints& axes) {
  Ints dims = x.type().static_dims(), strides = row_major_strides(dims), chosen_dims, chosen_strides, offsets;
  for (int64_t axis : axes) {
    chosen_dims.push_back(dims[static_cast<size_t>(axis)]);
    chosen_strides.push_back(strides[static_cast<size_t>(axis)]);
  }
  for_each_index(chosen_dims, [&](const Ints& index) { offsets.push_back(linear(index, chosen_strides)); });
  return offsets;
}

template <class T>
std::vector<T> factors(const Literal& x) {
  std::vector<T> values;
  for (int64_t i = 0; i < x.count(); ++i) values.push_back(factor<T>(x, i));
  return values;
}

template <class T>
Literal product(const Node& node, const Literal& lhs, const Literal& rhs) {
  const Ints &lb = node.ints(Attr::lhs_batching_dimensions), &rb = node.ints(Attr::rhs_batching_dimensions),
             &lc = node.ints(Attr::lhs_contracting_dimensions), &rc = node.ints(Attr::rhs_contracting_dimensions);
  Ints l_batch = offsets_of(lhs, lb), r_batch = offsets_of(rhs, rb), l_sum = offsets_of(lhs, lc),
       r_sum = offsets_of(rhs, rc);
  Ints l_free = offsets_of(lhs, free_dims(lhs.type().rank(), lb, lc)),
       r_free = offsets_of(rhs, free_dims(rhs.type().rank(), rb, rc));
  std::vector<T> a = factors<T>(lhs), b = factors<T>(rhs);
  Literal result(node.type());
  std::byte* out = result.mutable_bytes();
  for (size_t i = 0; i < l_batch.size(); ++i)
    for (int64_t m : l_free)
      for (int64_t n : r_free) {
        ProductSum<T> sum;
        for (size_t k = 0; k < l_sum.size(); ++k)
          sum.add(a[static_cast<size_t>(l_batch[i] + m + l_sum[k])], b[static_cast<size_t>(r_batch[i] + n + r_sum[k])]);
        store(out, element_of(result.dtype(), sum.value()));
        out += size_of(result.dtype());
      }
  return result;
}

}  // namespace

OpDef define_dot_general() {
  return {.doc =
              "Products summed over contracting dimensions, for each index of the batching ones: batch, free of lhs, "
              "free of rhs.",
          .operands = 2,
          .attrs = {{Attr::lhs_batching_dimensions, AttrKind::ints},
                    {Attr::rhs_batching_dimensions, AttrKind::ints},
                    {Attr::lhs_contracting_dimensions, AttrKind::ints},
                    {Attr::rhs_contracting_dimensions, AttrKind::ints},
                    {Attr::type, AttrKind::dtype, true}},
          .infer = infer_dot_general,
          .eval = [](const Node& node, std::span<const Literal> operands) -> Literals {
            const Literal &lhs = operands[0], &rhs = operands[1];
            return {by_product_type(node.type().dtype, lhs.dtype(), rhs.dtype(),
                                    [&](auto type) { return product<decltype(type)>(node, lhs, rhs); })};
          },
          .names = {.stablehlo = "dot_general", .hlo = "dot", .aten = "bmm"}};
}

}  // namespace weft
