// Values from nothing: parameters, constants, ramps.
#include "weft/core/element.h"
#include "weft/ir/graph.h"
#include "weft/ops/infer.h"

namespace weft {

OpDef define_parameter() {
  return {.doc = "An input of the program.",
          .operands = 0,
          .attrs = {{Attr::name, AttrKind::text}},
          .infer = [](const Call& call) -> Types { call.fail("call", "is made by Builder::parameter"); }};
}

OpDef define_constant() {
  return {.doc = "A value known to the compiler.",
          .operands = 0,
          .attrs = {{Attr::value, AttrKind::literal}},
          .infer = [](const Call& call) -> Types { return {call.attrs.literal(Attr::value).type()}; },
          .eval = [](const Node& node, std::span<const Literal>) -> std::vector<Literal> {
            return {node.attrs.literal(Attr::value)};
          },
          .names = {.stablehlo = "constant", .hlo = "constant"}};
}

OpDef define_iota() {
  return {.doc = "0, 1, 2 … along one dimension.",
          .operands = 0,
          .attrs = {{Attr::type, AttrKind::dtype}, {Attr::dims, AttrKind::dims}, {Attr::dimension, AttrKind::integer}},
          .infer = [](const Call& call) -> Types {
            Type type{call.attrs.dtype(Attr::type), call.attrs.dims(Attr::dims)};
            int64_t dimension = call.attrs.integer(Attr::dimension);
            call.require(!is_bool(type.dtype), "dtype", "does not make booleans");
            call.require(dimension >= 0 && dimension < type.rank(), "c1", "dimension ", dimension, " must be one of ",
                         type);
            return {type};
          },
          .eval = [](const Node& node, std::span<const Literal>) -> std::vector<Literal> {
            Literal result(node.type());
            Ints dims = node.type().static_dims();
            auto axis = static_cast<size_t>(node.attrs.integer(Attr::dimension));
            int64_t stride = row_major_strides(dims)[axis], size = size_of(node.type().dtype);
            for (int64_t i = 0; i < result.count(); ++i) {
              Element count = Element::of_int(DType::i64, i / stride % dims[axis]);
              store(result.mutable_bytes() + i * size, convert(count, node.type().dtype));
            }
            return {result};
          },
          .names = {.stablehlo = "iota", .hlo = "iota", .aten = "arange"}};
}

OpDef define_result() {
  return {.doc = "One result of a call, as a value that has memory. Made when kernels are prepared.",
          .infer = [](const Call& call) -> Types { return {call.operand(0)}; },
          .eval = [](const Node&, std::span<const Literal> operands) -> std::vector<Literal> { return {operands[0]}; }};
}

OpDef define_extent() {
  return {.doc = "A symbolic extent as an i64 scalar.",
          .operands = 0,
          .attrs = {{Attr::dims, AttrKind::dims}},
          .infer = [](const Call& call) -> Types {
            call.require(call.attrs.dims(Attr::dims).size() == 1, "dims", "takes one extent, got ",
                         call.attrs.dims(Attr::dims));
            return {{DType::i64, {}}};
          },
          .eval = [](const Node& node, std::span<const Literal>) -> std::vector<Literal> {
            return {Literal::scalar_int(DType::i64, node.attrs.dims(Attr::dims)[0].value())};
          },
          .names = {.stablehlo = "weft.extent"}};
}

}  // namespace weft
