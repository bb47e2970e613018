// Calls in the forms that have kernels.
#include "weft/kernel/fuse.h"

#include <algorithm>

#include "weft/ir/interpret.h"
#include "weft/ir/routine_call.h"
#include "weft/ir/window.h"
#include "weft/kernel/prepare.h"

namespace weft {
namespace {

bool has_dot_kernel(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16 ||
         (is_integer(dtype) && bit_width(dtype) >= 8);
}

// batch, free, and one dimension for all contracting ones; windows are stored with their places along memory.
Value canonical(Builder& build, Value x, const DotDims& dims) {
  const Dims& extents = x.type().dims;
  Dims shape;
  Dim inner = 1;
  for (int64_t i : dims.batch) shape.push_back(extents[static_cast<size_t>(i)]);
  for (int64_t i : dims.free) shape.push_back(extents[static_cast<size_t>(i)]);
  for (int64_t i : dims.contracting) inner = inner * extents[static_cast<size_t>(i)];
  shape.push_back(inner);
  if (x.node().op != Op::strided_view) return build.reshape(build.transpose(x, dims.order()), shape);
  size_t batch = dims.batch.size(), free = dims.free.size();
  Value ordered = strided_view_of(build, build.transpose(x, dims.order()));
  if (!places_lie_along(ordered.node(), batch, batch + free)) return build.reshape(ordered, shape);
  Ints last = dims.batch, back;
  last.insert(last.end(), dims.contracting.begin(), dims.contracting.end());
  last.insert(last.end(), dims.free.begin(), dims.free.end());
  for (size_t i = 0; i <= batch + free; ++i)
    back.push_back(static_cast<int64_t>(i < batch ? i : i < batch + free ? i + 1 : batch));
  std::rotate(shape.begin() + static_cast<std::ptrdiff_t>(batch), shape.end() - 1, shape.end());
  return build.transpose(build.reshape(strided_view_of(build, build.transpose(x, last)), shape), back);
}

// lhs (batch, m…, k) and rhs (batch, n…, k) multiplied element by element and summed.
Value multiply_and_reduce(Builder& build, Value lhs, Value rhs, size_t batch, const Type& type) {
  size_t free_lhs = lhs.type().dims.size() - batch - 1, free_rhs = rhs.type().dims.size() - batch - 1;
  Dims wide = type.dims;
  wide.push_back(lhs.type().dims.back());
  auto last = static_cast<int64_t>(wide.size() - 1);
  Ints left, right;
  for (size_t i = 0; i < batch; ++i) {
    left.push_back(static_cast<int64_t>(i));
    right.push_back(static_cast<int64_t>(i));
  }
  for (size_t i = 0; i < free_lhs; ++i) left.push_back(static_cast<int64_t>(batch + i));
  for (size_t i = 0; i < free_rhs; ++i) right.push_back(static_cast<int64_t>(batch + free_lhs + i));
  left.push_back(last);
  right.push_back(last);
  Value a = build(Op::broadcast_in_dim, {lhs}, {{Attr::dims, wide}, {Attr::dimensions, left}});
  Value b = build(Op::broadcast_in_dim, {rhs}, {{Attr::dims, wide}, {Attr::dimensions, right}});
  bool boolean = is_bool(type.dtype);
  Value product = build(boolean ? Op::and_ : Op::multiply, {a, b});
  return build(Op::reduce, {product, build.scalar(type.dtype, 0)}, {{Attr::dimensions, Ints{last}}},
               {binary_body(boolean ? Op::or_ : Op::add, type.dtype)});
}

// A product of complex numbers by products of their parts.
Value complex_dot(Builder& build, const Attrs& attrs, Value lhs, Value rhs) {
  auto product = [&](Op left, Op right) {
    return dot_in_kernel_form(build, build(left, {lhs}), build(right, {rhs}), attrs);
  };
  Value re = build(Op::subtract, {product(Op::real, Op::real), product(Op::imag, Op::imag)});
  Value im = build(Op::add, {product(Op::real, Op::imag), product(Op::imag, Op::real)});
  return build(Op::complex, {re, im});
}

Value prepared_dot(Builder& build, const Node& node, Value lhs, Value rhs) {
  auto [l, r] = dims_of(node);
  DType dtype = node.type().dtype;
  // One number of two vectors: sums are added up in pairs, and in parallel.
  bool is_number = node.type().rank() == 0 && (dtype == DType::f32 || dtype == DType::f64);
  if (is_number && lhs.type().dtype == dtype && rhs.type().dtype == dtype)
    return multiply_and_reduce(build, canonical(build, lhs, l), canonical(build, rhs, r), 0, node.type());
  if (has_dot_kernel(dtype) && l.contracting.size() == 1) return {};
  if (is_float(dtype) && !has_dot_kernel(dtype)) {
    // Floats of a byte add up in f32 and are rounded once.
    lhs = build.convert(lhs, DType::f32);
    rhs = build.convert(rhs, DType::f32);
    Value wide = build(Op::dot_general, {lhs, rhs}, node.attrs);
    if (l.contracting.size() != 1) wide = prepared_dot(build, Node(wide.node()), lhs, rhs);
    return build.convert(wide, dtype);
  }
  if (is_complex(dtype)) return complex_dot(build, node.attrs, lhs, rhs);
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

// Operands of other types than the product's are converted first.
Value typed_dot(Builder& build, const Node& node, Value lhs, Value rhs) {
  Value given[2] = {lhs, rhs};
  if (node.ints(Attr::lhs_contracting_dimensions) == Ints{1}) lhs = windows_by_places(build, lhs);
  if (node.ints(Attr::rhs_contracting_dimensions) == Ints{1}) rhs = windows_by_places(build, rhs);
  if (node.attrs.find(Attr::type)) {
    DType dtype = node.type().dtype;
    Attrs attrs;
    for (const auto& [attr, value] : node.attrs)
      if (attr != Attr::type) attrs.set(attr, value);
    lhs = build.convert(lhs, dtype);
    rhs = build.convert(rhs, dtype);
    Value plain = build(Op::dot_general, {lhs, rhs}, std::move(attrs));
    Value better = prepared_dot(build, Node(plain.node()), lhs, rhs);
    return better ? better : plain;
  }
  Value better = prepared_dot(build, node, lhs, rhs);
  if (better || (lhs == given[0] && rhs == given[1])) return better;
  return build(Op::dot_general, {lhs, rhs}, node.attrs);
}

DType bits_type(int width) {
  return width == 64   ? DType::u64
         : width == 32 ? DType::u32
         : width == 16 ? DType::u16
         : width == 8  ? DType::u8
         : width == 4  ? DType::u4
                       : DType::u2;
}

// A bitcast between elements of different widths, by shifting: the parts of an element are along the last dimension,
// the lowest first.
Value bitcast_by_parts(Builder& build, const Node& node, Value x) {
  int from = bit_width(x.type().dtype), to = bit_width(node.type().dtype);
  bool splits = from > to;
  DType wide = bits_type(std::max(from, to)), narrow = bits_type(std::min(from, to));
  const Dims& parts = splits ? node.type().dims : x.type().dims;
  auto last = static_cast<int64_t>(parts.size()) - 1;
  Value place = build(Op::iota, {}, {{Attr::type, wide}, {Attr::dims, parts}, {Attr::dimension, last}});
  Value distance = build(
      Op::multiply, {place, build.broadcast_to(build.constant(Literal::scalar_int(wide, std::min(from, to))), parts)});
  Value bits = build(Op::bitcast_convert, {x}, {{Attr::type, bits_type(from)}});
  if (splits) {
    Ints dimensions;
    for (int64_t i = 0; i < last; ++i) dimensions.push_back(i);
    Value spread = build(Op::broadcast_in_dim, {bits}, {{Attr::dims, parts}, {Attr::dimensions, dimensions}});
    Value part = build.convert(build(Op::shift_right_logical, {spread, distance}), narrow);
    return build(Op::bitcast_convert, {part}, {{Attr::type, node.type().dtype}});
  }
  Value moved = build(Op::shift_left, {build.convert(bits, wide), distance});
  Value whole =
      build(Op::reduce, {moved, build.scalar(wide, 0)}, {{Attr::dimensions, Ints{last}}}, {binary_body(Op::or_, wide)});
  return build(Op::bitcast_convert, {whole}, {{Attr::type, node.type().dtype}});
}

Value with_result(Builder& build, const Node& call) { return with_results(build, call)[0]; }

// Lines that are sorted lie one after the other: others are transposed there and back.
std::vector<Value> sorted_in_lines(Builder& build, const Node& node, const std::vector<Value>& operands) {
  auto rank = node.type().rank();
  if (rank == 0) return {};
  auto axis = static_cast<int64_t>(sorted_axis(node));
  Dim inner = 1;
  for (int64_t i = axis + 1; i < rank; ++i) inner = inner * node.type().dims[static_cast<size_t>(i)];
  if (inner.is(1)) return {};
  Ints order;
  for (int64_t i = 0; i < rank; ++i)
    if (i != axis) order.push_back(i);
  order.push_back(axis);
  Ints back = inverse(order);
  std::vector<Value> lines;
  for (const Value& operand : operands) lines.push_back(build.transpose(operand, order));
  Attrs attrs = node.attrs;
  attrs.set(Attr::dimension, rank - 1);
  std::vector<Value> results =
      with_results(build, build.call(Op::sort, std::move(lines), std::move(attrs), node.regions));
  for (Value& result : results) result = build.transpose(result, back);
  return results;
}

std::vector<Value> prepared(Builder& build, const Node& node, const std::vector<Value>& operands) {
  if (family(node.op) == Family::collective)
    return collective_of(node) ? std::vector<Value>{} : in_called_form(build, node, operands, with_result);
  switch (node.op) {
    case Op::optimization_barrier:
      return operands;
    case Op::dot_general:
      if (Value product = product_of_windows(build, node, operands[0], operands[1])) return {product};
      if (Value sum = windows_by_vector(build, node, operands[0], operands[1])) return {sum};
      if (Value product = product_of_itself(build, node, operands[0], operands[1])) return {product};
      if (Value sum = with_computed_weights(build, node, operands[0], operands[1])) return {sum};
      if (Value sum = row_by_parts(build, node, operands[0], operands[1])) return {sum};
      if (Value sum = few_by_parts(build, node, operands[0], operands[1])) return {sum};
      if (Value dot = typed_dot(build, node, operands[0], operands[1])) return {dot};
      return {};
    case Op::compare:
    case Op::next_after:
      return is_by_bits(node) ? std::vector<Value>{by_bits(build, node, operands[0], operands[1])}
                              : std::vector<Value>{};
    case Op::bitcast_convert:
      if (bit_width(node.type().dtype) != bit_width(operands[0].type().dtype))
        return {bitcast_by_parts(build, node, operands[0])};
      return {};
    case Op::convolution: {
      Value dot = convolution_as_dot(build, node, operands[0], operands[1]);
      return {dot};
    }
    case Op::gather:
      if (Value view = gather_as_view(build, node, operands[0], operands[1])) return {view};
      if (Value repeats = gather_as_repeats(build, node, operands[0], operands[1])) return {repeats};
      return {};
    case Op::slice:
    case Op::transpose:
      if (node.op == Op::transpose && operands[0].node().op == Op::transpose)
        return {transposed(build, operands[0], node.ints(Attr::permutation))};
      if (operands[0].node().op == Op::strided_view)
        return {strided_view_of(build, with_results(build, build.copy(node, operands))[0])};
      return {};
    case Op::sort:
      return sorted_in_lines(build, node, operands);
    case Op::reduce_window:
      return scan_of(node) ? std::vector<Value>{} : window_as_reduce(build, node, operands);
    default:
      return {};
  }
}

}  // namespace

DotDims::DotDims(int64_t rank, Ints batching, Ints contracted)
    : batch(std::move(batching)), contracting(std::move(contracted)) {
  for (int64_t i = 0; i < rank; ++i)
    if (!std::ranges::count(batch, i) && !std::ranges::count(contracting, i)) free.push_back(i);
}

std::pair<DotDims, DotDims> dims_of(const Node& dot) {
  auto dims = [&](size_t i, Attr batching, Attr contracting) {
    return DotDims(dot.operand(i).type().rank(), dot.ints(batching), dot.ints(contracting));
  };
  return {dims(0, Attr::lhs_batching_dimensions, Attr::lhs_contracting_dimensions),
          dims(1, Attr::rhs_batching_dimensions, Attr::rhs_contracting_dimensions)};
}

Ints DotDims::order() const {
  Ints all = batch;
  all.insert(all.end(), free.begin(), free.end());
  all.insert(all.end(), contracting.begin(), contracting.end());
  return all;
}

Value slice(Builder& build, const Value& value, size_t axis, const Dim& low, const Dim& high) {
  Dims start(value.type().dims.size(), Dim(0)), limit = value.type().dims;
  start[axis] = low;
  limit[axis] = high;
  return build(Op::slice, {value},
               {{Attr::start_indices, start}, {Attr::limit_indices, limit}, {Attr::strides, Ints(start.size(), 1)}});
}

Value dot_in_kernel_form(Builder& build, Value lhs, Value rhs, Attrs attrs) {
  Value plain = build(Op::dot_general, {lhs, rhs}, std::move(attrs));
  Value better = prepared_dot(build, Node(plain.node()), lhs, rhs);
  return better ? better : plain;
}

std::vector<Value> with_results(Builder& build, const Node& call) {
  Node copy = call;
  std::vector<Value> results;
  for (uint32_t i = 0; i < copy.types.size(); ++i) results.push_back(copy.result(i));
  if (is_fold(copy) || is_step(copy))
    for (Value& result : results) result = build(Op::result, {result});
  return results;
}

GraphPtr prepare(const Graph& given) {
  GraphPtr sums = with_small_products(given);
  const Graph& flat = sums ? *sums : given;
  Builder build(Level::flat, flat.name());
  std::vector<std::vector<Value>> values(flat.size());
  std::vector<bool> may_precede = before_transpositions(flat), of_components = sums_of_components(flat),
                    by_components = results_of_components(flat);
  Components components(build);
  for (NodeId id : reads_before_updates(flat)) {
    const Node& node = flat.node(id);
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.push_back(values[operand.id()][operand.index()]);
    build.set_loc(node.loc);
    if (may_precede[node.id()])
      if (Value before = before_transposition(build, node, operands)) values[node.id()] = {before};
    if (values[node.id()].empty() && node.op == Op::reduce && !is_fold(node)) {
      Value sum = of_components[node.id()] ? components.sum(node, operands[0], operands[1])
                                           : components.sums(node, operands[0], operands[1]);
      if (sum) values[node.id()] = {sum};
    }
    if (by_components[node.id()])
      if (Value joined = components.joined(node, operands, node.type().dims)) values[node.id()] = {joined};
    if (values[node.id()].empty() && node.op != Op::parameter) values[node.id()] = prepared(build, node, operands);
    if (values[node.id()].empty()) values[node.id()] = with_results(build, build.copy(node, std::move(operands)));
  }
  std::vector<Output> outputs;
  for (const Output& output : flat.outputs()) {
    Value value = values[output.value.id()][output.value.index()];
    // A kernel writes a splat that is a result; what reads it has one of its own, there before any kernel runs.
    if (is_inline_constant(value.node())) value = build.copy(Node(value.node()), {}).result(0);
    outputs.push_back({value, output.name, output.alias});
  }
  return build.finish(std::move(outputs));
}

}  // namespace weft
