// Dots in the one form that has a kernel.
#include "weft/kernel/fuse.h"

#include <algorithm>

#include "weft/ir/builder.h"

namespace weft {
namespace {

bool has_dot_kernel(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16 ||
         (is_integer(dtype) && bit_width(dtype) >= 8);
}

struct DotDims {
  Ints batch, free, contracting;
  DotDims(int64_t rank, Ints batching, Ints contracted) : batch(std::move(batching)), contracting(std::move(contracted)) {
    for (int64_t i = 0; i < rank; ++i)
      if (std::find(batch.begin(), batch.end(), i) == batch.end() &&
          std::find(contracting.begin(), contracting.end(), i) == contracting.end())
        free.push_back(i);
  }
  Ints order() const {
    Ints all = batch;
    all.insert(all.end(), free.begin(), free.end());
    all.insert(all.end(), contracting.begin(), contracting.end());
    return all;
  }
};

// batch, free, and one dimension for all contracting ones.
Value canonical(Builder& build, Value x, const DotDims& dims) {
  const Dims& extents = x.type().dims;
  Dims shape;
  Dim inner = 1;
  for (int64_t i : dims.batch) shape.push_back(extents[static_cast<size_t>(i)]);
  for (int64_t i : dims.free) shape.push_back(extents[static_cast<size_t>(i)]);
  for (int64_t i : dims.contracting) inner = inner * extents[static_cast<size_t>(i)];
  shape.push_back(inner);
  return build.reshape(build.transpose(x, dims.order()), shape);
}

// lhs (batch, m…, k) and rhs (batch, n…, k) multiplied element by element and summed.
Value multiply_and_reduce(Builder& build, Value lhs, Value rhs, size_t batch, const Type& type) {
  size_t free_lhs = lhs.type().dims.size() - batch - 1, free_rhs = rhs.type().dims.size() - batch - 1;
  Dims wide = type.dims;
  wide.push_back(lhs.type().dims.back());
  auto last = static_cast<int64_t>(wide.size() - 1);
  Ints left, right;
  for (size_t i = 0; i < batch; ++i) left.push_back(static_cast<int64_t>(i)), right.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < free_lhs; ++i) left.push_back(static_cast<int64_t>(batch + i));
  for (size_t i = 0; i < free_rhs; ++i) right.push_back(static_cast<int64_t>(batch + free_lhs + i));
  left.push_back(last), right.push_back(last);
  Value a = build(Op::broadcast_in_dim, {lhs}, {{Attr::dims, wide}, {Attr::dimensions, left}});
  Value b = build(Op::broadcast_in_dim, {rhs}, {{Attr::dims, wide}, {Attr::dimensions, right}});
  bool boolean = is_bool(type.dtype);
  Value product = build(boolean ? Op::and_ : Op::multiply, {a, b});
  return build(Op::reduce, {product, build.scalar(type.dtype, 0)}, {{Attr::dimensions, Ints{last}}},
               {binary_body(boolean ? Op::or_ : Op::add, type.dtype)});
}

Value prepared_dot(Builder& build, const Node& node, Value lhs, Value rhs) {
  DotDims l(lhs.type().rank(), node.ints(Attr::lhs_batching_dimensions), node.ints(Attr::lhs_contracting_dimensions));
  DotDims r(rhs.type().rank(), node.ints(Attr::rhs_batching_dimensions), node.ints(Attr::rhs_contracting_dimensions));
  if (has_dot_kernel(node.type().dtype) && l.contracting.size() == 1) return {};
  DType dtype = node.type().dtype;
  if (is_float(dtype) && !has_dot_kernel(dtype)) {
    // Floats of a byte add up in f32 and are rounded once.
    lhs = build.convert(lhs, DType::f32);
    rhs = build.convert(rhs, DType::f32);
    Value wide = build(Op::dot_general, {lhs, rhs}, node.attrs);
    if (l.contracting.size() != 1) wide = prepared_dot(build, Node(wide.node()), lhs, rhs);
    return build.convert(wide, dtype);
  }
  Value a = canonical(build, lhs, l), b = canonical(build, rhs, r);
  if (!has_dot_kernel(node.type().dtype)) return multiply_and_reduce(build, a, b, l.batch.size(), node.type());
  Ints batch(l.batch.size());
  for (size_t i = 0; i < batch.size(); ++i) batch[i] = static_cast<int64_t>(i);
  return build(Op::dot_general, {a, b},
               {{Attr::lhs_batching_dimensions, batch},
                {Attr::rhs_batching_dimensions, batch},
                {Attr::lhs_contracting_dimensions, Ints{a.type().rank() - 1}},
                {Attr::rhs_contracting_dimensions, Ints{b.type().rank() - 1}}});
}

}  // namespace

GraphPtr prepare(const Graph& flat) {
  Builder build(Level::flat, flat.name());
  std::vector<std::vector<Value>> values(flat.size());
  for (const Node& node : flat.nodes()) {
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.push_back(values[operand.id()][operand.index()]);
    build.set_loc(node.loc);
    if (node.op == Op::dot_general)
      if (Value dot = prepared_dot(build, node, operands[0], operands[1])) {
        values[node.id()] = {dot};
        continue;
      }
    const Node& copy = build.copy(node, std::move(operands));
    for (uint32_t i = 0; i < copy.types.size(); ++i) values[node.id()].push_back(copy.result(i));
  }
  std::vector<Output> outputs;
  for (const Output& output : flat.outputs())
    outputs.push_back({values[output.value.id()][output.value.index()], output.name, output.alias});
  return build.finish(std::move(outputs));
}

}  // namespace weft
