// Quantised values by their stored integers.
#include "weft/ir/quantized.h"

#include <algorithm>

namespace weft {
namespace {

Type stored(const Type& type) { return {type.dtype, type.dims}; }

// One number, or one for each index along the dimension, spread over dims.
Value spread(Builder& build, const Quantization& quantized, DType dtype, const std::vector<double>& numbers,
             const Dims& dims) {
  if (quantized.dimension < 0) return build.splat({dtype, dims}, numbers[0]);
  Literal all(Type{DType::f64, {static_cast<int64_t>(numbers.size())}});
  std::copy(numbers.begin(), numbers.end(), all.mutable_data<double>().begin());
  return build(Op::broadcast_in_dim, {build.convert(build.constant(all), dtype)},
               {{Attr::dims, dims}, {Attr::dimensions, Ints{quantized.dimension}}});
}

std::vector<double> as_doubles(const Ints& values) { return {values.begin(), values.end()}; }

Attrs stored_attrs(const Attrs& attrs) {
  Attrs result = attrs;
  if (!attrs.find(Attr::types)) return result;
  std::vector<Type> types;
  for (const Type& type : attrs.types(Attr::types)) types.push_back(stored(type));
  result.set(Attr::types, types);
  return result;
}

}  // namespace

Value quantize(Builder& build, Value x, const Type& wanted) {
  const Quantization& q = *wanted.quantized;
  const Type type = x.type();
  Value scaled = build(Op::divide, {x, spread(build, q, type.dtype, q.scales, type.dims)});
  Value moved = build(Op::add, {scaled, spread(build, q, type.dtype, as_doubles(q.zero_points), type.dims)});
  auto bound = [&](int64_t value) { return build.splat(type, static_cast<double>(value)); };
  Value held = build(Op::clamp, {bound(q.storage_min), moved, bound(q.storage_max)});
  return build.convert(build(Op::round_nearest_even, {held}), wanted.dtype);
}

Value dequantize(Builder& build, Value x, const Quantization& q) {
  const Dims dims = x.type().dims;
  DType wide = bit_width(x.type().dtype) < 32 ? DType::i32 : DType::i64;
  Value moved = build(Op::subtract, {build.convert(x, wide), spread(build, q, wide, as_doubles(q.zero_points), dims)});
  return build(Op::multiply, {build.convert(moved, q.expressed), spread(build, q, q.expressed, q.scales, dims)});
}

bool is_quantized(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const Node& node) {
    return std::any_of(node.types.begin(), node.types.end(),
                       [](const Type& type) { return type.quantized != nullptr; }) ||
           std::any_of(node.regions.begin(), node.regions.end(),
                       [](const GraphPtr& region) { return is_quantized(*region); });
  });
}

GraphPtr with_stored_types(const Graph& graph) {
  Builder build(graph.level(), graph.name());
  std::vector<std::vector<Value>> values(graph.size());
  for (const Node& node : graph.nodes()) {
    std::vector<Value> operands;
    for (const Value& operand : node.operands()) operands.push_back(values[operand.id()][operand.index()]);
    std::vector<Value>& results = values[node.id()];
    build.set_loc(node.loc);
    if (node.op == Op::parameter) {
      results = {build.parameter(stored(node.type()), node.attrs.text(Attr::name), node.loc)};
    } else if (node.op == Op::uniform_quantize) {
      const Quantization* from = node.operand(0).type().quantized;
      results = {quantize(build, from ? dequantize(build, operands[0], *from) : operands[0], node.type())};
    } else if (node.op == Op::uniform_dequantize) {
      results = {dequantize(build, operands[0], *node.operand(0).type().quantized)};
    } else if (node.op == Op::bitcast_convert && node.attrs.find(Attr::types)) {
      results = {operands[0]};
    } else {
      std::vector<GraphPtr> regions;
      for (const GraphPtr& region : node.regions)
        regions.push_back(is_quantized(*region) ? with_stored_types(*region) : region);
      const Node& call = build.call(node.op, std::move(operands), stored_attrs(node.attrs), std::move(regions));
      for (uint32_t i = 0; i < call.types.size(); ++i) results.push_back(call.result(i));
    }
  }
  std::vector<Output> outputs;
  for (const Output& output : graph.outputs())
    outputs.push_back({values[output.value.id()][output.value.index()], output.name, output.alias});
  for (const GraphPtr& function : graph.functions()) build.add_function(function);
  return build.finish(std::move(outputs));
}

}  // namespace weft
