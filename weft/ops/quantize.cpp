// Between real numbers and the integers that stand for them.
#include "weft/ir/quantized.h"
#include "weft/ops/infer.h"

namespace weft {
namespace {

// From real numbers, or from integers that stand for them in another way.
Types infer_quantize(const Call& call) {
  const Types& wanted = call.attrs.types(Attr::types);
  const Type& x = call.operand(0);
  call.require(wanted.size() == 1 && wanted[0].quantized, "i1", "must give a quantised type, got ", wanted);
  call.require(wanted[0].dims == x.dims, "c1", "must give the shape of ", x, ", got ", wanted[0]);
  DType expressed = x.quantized ? x.quantized->expressed : x.dtype;
  call.require(wanted[0].quantized->expressed == expressed, "c2", "the result must stand for ", name(expressed), " as ",
               x, ", got ", wanted[0]);
  return wanted;
}

Types infer_dequantize(const Call& call) {
  const Type& x = call.operand(0);
  call.require(x.quantized, "i1", "takes a quantised type, got ", x);
  return {{x.quantized->expressed, x.dims}};
}

std::vector<Value> expand_quantize(Builder& build, const Node& node) {
  Value x = node.operand(0);
  if (x.type().quantized) x = build(Op::uniform_dequantize, {x});
  return {quantize(build, x, node.type())};
}

}  // namespace

OpDef define_uniform_quantize() {
  return {.doc = "Real numbers, or integers that stand for them, as integers of another scale and zero point.",
          .attrs = {{Attr::types, AttrKind::types}},
          .infer = infer_quantize,
          .expand = expand_quantize,
          .names = {.stablehlo = "uniform_quantize"}};
}

OpDef define_uniform_dequantize() {
  return {.doc = "The real numbers that integers stand for.",
          .infer = infer_dequantize,
          .expand = [](Builder& build, const Node& node) -> std::vector<Value> {
            return {dequantize(build, node.operand(0), *node.operand(0).type().quantized)};
          },
          .names = {.stablehlo = "uniform_dequantize"}};
}

}  // namespace weft
