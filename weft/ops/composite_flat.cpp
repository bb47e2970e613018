// Flat ops that are written with others: they keep their spelling in text and are taken apart before kernels are made.
#include "weft/ops/composite.h"

namespace weft {
namespace {

using Values = std::vector<Value>;

OpDef unary(std::string_view doc, InferFn infer, ExpandFn expand, std::string_view stablehlo) {
  return {
      .doc = doc, .infer = infer, .expand = expand, .names = {.stablehlo = stablehlo}, .traits = {.elementwise = true}};
}

Types infer_map(const Call& call) {
  call.require(!call.operands.empty(), "operands", "needs at least one operand");
  const Type& x = call.operand(0);
  const Graph& body = *call.regions[0];
  for (const Type& type : call.operands)
    call.require(type.dims == x.dims, "c1", "operands must agree in shape, got ", x, " and ", type);
  call.require(call.attrs.ints(Attr::dimensions) == iota_ints(x.rank()), "c3", "dimensions must be all of ", x,
               " in order, got ", call.attrs.ints(Attr::dimensions));
  bool fits = body.parameters().size() == call.operands.size() && body.outputs().size() == 1 &&
              body.outputs()[0].value.type().rank() == 0;
  for (size_t i = 0; fits && i < call.operands.size(); ++i)
    fits = body.node(body.parameters()[i]).type() == Type{call.operand(i).dtype, {}};
  call.require(fits, "c4", "the body must take a scalar of each operand to one scalar");
  return {{body.outputs()[0].value.type().dtype, x.dims}};
}

// The body over whole tensors.
Values expand_map(Builder& build, const Node& node) {
  const Graph& body = *node.regions[0];
  const Dims& dims = node.type().dims;
  std::vector<Value> values(body.size());
  size_t next = 0;
  for (const Node& each : body.nodes()) {
    Values operands;
    for (const Value& operand : each.operands()) operands.push_back(values[operand.id()]);
    if (each.op == Op::parameter)
      values[each.id()] = node.operand(next++);
    else if (each.op == Op::constant)
      values[each.id()] = build.broadcast_to(build.constant(each.attrs.literal(Attr::value)), dims);
    else if (each.op == Op::reshape || each.op == Op::broadcast_in_dim)
      values[each.id()] = operands[0];
    else if (def(each.op).traits.elementwise || def(each.op).scalar != Scalar::none)
      values[each.id()] = build(each.op, operands, each.attrs);
    else
      raise({ErrorKind::unsupported, cat("map: its body uses ", name(each.op), ", which is not element-wise"),
             "map_body", node.loc});
  }
  return {values[body.outputs()[0].value.id()]};
}

Types infer_reduce_precision(const Call& call) {
  const Type& x = call.operand(0);
  call.require(is_float(x.dtype), "dtype", "takes floats, got ", x);
  call.require(call.attrs.integer(Attr::exponent_bits) >= 1, "c2", "exponent_bits must be positive, got ",
               call.attrs.integer(Attr::exponent_bits));
  call.require(call.attrs.integer(Attr::mantissa_bits) >= 0, "c3", "mantissa_bits must not be negative, got ",
               call.attrs.integer(Attr::mantissa_bits));
  return {x};
}

struct FloatFormat {
  int exponent, mantissa;
};

FloatFormat format_of(DType dtype) {
  if (dtype == DType::f64) return {11, 52};
  if (dtype == DType::f32) return {8, 23};
  if (dtype == DType::bf16) return {8, 7};
  return {5, 10};
}

// Rounds the pattern to nearest even at the last bit kept, then gives infinity past the largest exponent and zero below
// the least one.
Values expand_reduce_precision(Builder& build, const Node& node) {
  Value x = node.operand(0);
  DType dtype = x.type().dtype;
  if (size_of(dtype) == 1) {
    // Floats of a byte: through f32, whose format holds them all.
    Value wide = build.convert(x, DType::f32);
    return {build.convert(build(Op::reduce_precision, {wide}, node.attrs), dtype)};
  }
  FloatFormat format = format_of(dtype);
  auto exponent = static_cast<int>(std::min<int64_t>(node.attrs.integer(Attr::exponent_bits), 30));
  auto mantissa = static_cast<int>(std::min<int64_t>(node.attrs.integer(Attr::mantissa_bits), 60));
  int width = bit_width(dtype);
  DType bits = width == 64 ? DType::u64 : width == 32 ? DType::u32 : DType::u16;
  auto word = [&](uint64_t value) {
    return build.broadcast_to(build.constant(Literal::scalar_int(bits, static_cast<int64_t>(value))), x.type().dims);
  };
  auto op = [&](Op o, Value a, Value b) { return build(o, {a, b}); };
  Value pattern = build(Op::bitcast_convert, {x}, {{Attr::type, bits}}), result = pattern;
  if (mantissa < format.mantissa) {
    int dropped = format.mantissa - mantissa;
    Value last = op(Op::and_, op(Op::shift_right_logical, pattern, word(static_cast<uint64_t>(dropped))), word(1));
    Value bias = op(Op::add, last, word((uint64_t{1} << (dropped - 1)) - 1));
    result = op(Op::and_, op(Op::add, pattern, bias), word(~((uint64_t{1} << dropped) - 1)));
  }
  if (exponent < format.exponent) {
    uint64_t field = ((uint64_t{1} << format.exponent) - 1) << format.mantissa;
    uint64_t own_bias = (uint64_t{1} << (format.exponent - 1)) - 1, wanted_bias = (uint64_t{1} << (exponent - 1)) - 1;
    uint64_t most = own_bias + wanted_bias, least = own_bias - wanted_bias + 1;
    Value power = op(Op::and_, result, word(field)), sign = op(Op::and_, result, word(uint64_t{1} << (width - 1)));
    Value overflows = compared(build, power, word(most << format.mantissa), "GT"),
          vanishes = compared(build, power, word(least << format.mantissa), "LT");
    result = build(Op::select, {overflows, op(Op::or_, sign, word(field)), result});
    result = build(Op::select, {vanishes, sign, result});
  }
  Value rounded = build(Op::bitcast_convert, {result}, {{Attr::type, dtype}});
  // NaN stays NaN, unless there is no mantissa left to tell it.
  Value is_nan = compared(build, x, x, "NE");
  if (mantissa > 0) return {build(Op::select, {is_nan, x, rounded})};
  return {build(Op::select, {is_nan, build.splat(x.type(), std::numeric_limits<double>::infinity()), rounded})};
}

// -- batch normalisation --------------------------------------------------------------------------------------------

struct BatchNorm {
  Builder& build;
  const Dims dims;
  int64_t feature;
  DType dtype;
  BatchNorm(Builder& b, const Node& node)
      : build(b),
        dims(node.operand(0).type().dims),
        feature(node.attrs.integer(Attr::feature_index)),
        dtype(node.operand(0).type().dtype) {}
  Value spread(Value x) {
    return build(Op::broadcast_in_dim, {x}, {{Attr::dims, dims}, {Attr::dimensions, Ints{feature}}});
  }
  Value sum(Value x) {
    Ints others;
    for (int64_t i = 0; i < static_cast<int64_t>(dims.size()); ++i)
      if (i != feature) others.push_back(i);
    return build(Op::reduce, {x, build.scalar(dtype, 0)}, {{Attr::dimensions, others}}, {binary_body(Op::add, dtype)});
  }
  // How many elements a feature has, as a splat of its shape.
  Value count() {
    Dim others = 1;
    for (size_t i = 0; i < dims.size(); ++i)
      if (static_cast<int64_t>(i) != feature) others = others * dims[i];
    return build.broadcast_to(build.convert(build.extent(others), dtype), {dims[static_cast<size_t>(feature)]});
  }
  Value op(Op o, Value a, Value b) { return build(o, {a, b}); }
  Value epsilon(const Node& node, const Type& type) { return build.splat(type, node.attrs.number(Attr::epsilon)); }
};

Types infer_batch_norm(const Call& call) {
  const Type& x = call.operand(0);
  int64_t feature = call.attrs.integer(Attr::feature_index);
  call.require(is_float(x.dtype), "dtype", "takes floats, got ", x);
  call.require(feature >= 0 && feature < x.rank(), "c1", "feature_index ", feature, " must be a dimension of ", x);
  Type one{x.dtype, {x.dims[static_cast<size_t>(feature)]}};
  bool grad = call.op == Op::batch_norm_grad;
  for (size_t i = 1; i < call.operands.size(); ++i) {
    const Type& wanted = grad && i == 4 ? x : one;
    call.require(call.operand(i) == wanted, "c3", "operand ", i, " must be ", wanted, ", got ", call.operand(i));
  }
  if (call.op == Op::batch_norm_inference) return {x};
  return {x, one, one};
}

Value normalised(BatchNorm& norm, const Node& node, Value x, Value scale, Value offset, Value mean, Value variance) {
  Value deviation = norm.build(Op::sqrt, {norm.op(Op::add, variance, norm.epsilon(node, variance.type()))});
  Value centred = norm.op(Op::divide, norm.op(Op::subtract, x, norm.spread(mean)), norm.spread(deviation));
  return norm.op(Op::add, norm.op(Op::multiply, norm.spread(scale), centred), norm.spread(offset));
}

Values expand_inference(Builder& build, const Node& node) {
  BatchNorm norm(build, node);
  return {normalised(norm, node, node.operand(0), node.operand(1), node.operand(2), node.operand(3), node.operand(4))};
}

Values expand_training(Builder& build, const Node& node) {
  BatchNorm norm(build, node);
  Value x = node.operand(0), count = norm.count();
  Value mean = norm.op(Op::divide, norm.sum(x), count);
  Value centred = norm.op(Op::subtract, x, norm.spread(mean));
  Value variance = norm.op(Op::divide, norm.sum(norm.op(Op::multiply, centred, centred)), count);
  return {normalised(norm, node, x, node.operand(1), node.operand(2), mean, variance), mean, variance};
}

Values expand_grad(Builder& build, const Node& node) {
  BatchNorm norm(build, node);
  Value x = node.operand(0), scale = node.operand(1), mean = node.operand(2), variance = node.operand(3),
        grad = node.operand(4);
  Value count = norm.count(), centred = norm.op(Op::subtract, x, norm.spread(mean));
  Value safe = norm.op(Op::add, variance, norm.epsilon(node, variance.type()));
  Value deviation = build(Op::sqrt, {safe});
  Value grad_scale = norm.sum(norm.op(Op::multiply, grad, norm.op(Op::divide, centred, norm.spread(deviation))));
  Value grad_offset = norm.sum(grad);
  // scale / (deviation count) * (count grad - sum grad - centred / safe * sum(grad centred))
  Value pulled = norm.op(Op::divide, norm.sum(norm.op(Op::multiply, grad, centred)), safe);
  Value inner = norm.op(Op::subtract, norm.op(Op::multiply, grad, norm.spread(count)), norm.spread(grad_offset));
  inner = norm.op(Op::subtract, inner, norm.op(Op::multiply, centred, norm.spread(pulled)));
  Value factor = norm.op(Op::divide, norm.op(Op::divide, scale, deviation), count);
  return {norm.op(Op::multiply, norm.spread(factor), inner), grad_scale, grad_offset};
}

OpDef batch_norm(std::string_view doc, int operands, ExpandFn expand, Names names) {
  return {.doc = doc,
          .operands = operands,
          .attrs = {{Attr::epsilon, AttrKind::number}, {Attr::feature_index, AttrKind::integer}},
          .infer = infer_batch_norm,
          .expand = expand,
          .names = names};
}

// The high half of the product, through numbers of twice the width; 64-bit ones by parts.
Values expand_mulhi(Builder& build, const Node& node) {
  Value a = node.operand(0), b = node.operand(1);
  DType dtype = a.type().dtype;
  int width = bit_width(dtype);
  auto op = [&](Op o, Value x, Value y) { return build(o, {x, y}); };
  auto word = [&](DType of, int64_t value) {
    return build.broadcast_to(build.constant(Literal::scalar_int(of, value)), a.type().dims);
  };
  Op down = is_signed(dtype) ? Op::shift_right_arithmetic : Op::shift_right_logical;
  if (width < 64) {
    DType wide = is_signed(dtype) ? DType::i64 : DType::u64;
    Value product = op(Op::multiply, build.convert(a, wide), build.convert(b, wide));
    return {build.convert(op(down, product, word(wide, width)), dtype)};
  }
  Value mask = word(dtype, 0xffffffff), half = word(dtype, 32);
  Value a_low = op(Op::and_, a, mask), b_low = op(Op::and_, b, mask), a_high = op(down, a, half),
        b_high = op(down, b, half);
  Value low = op(Op::shift_right_logical, op(Op::multiply, a_low, b_low), half);
  Value middle = op(Op::add, op(Op::multiply, a_high, b_low), low);
  Value other = op(Op::add, op(Op::multiply, a_low, b_high), op(Op::and_, middle, mask));
  Value high = op(Op::add, op(Op::multiply, a_high, b_high), op(down, middle, half));
  return {op(Op::add, high, op(down, other, half))};
}

Values equals_infinity(Builder& build, const Node& node, double infinity) {
  return {compared(build, node.operand(0), build.splat(node.operand(0).type(), infinity), "EQ")};
}

}  // namespace

OpDef define_map() {
  return {.doc = "A body of scalars applied to each element.",
          .operands = -1,
          .attrs = {{Attr::dimensions, AttrKind::ints}},
          .regions = 1,
          .infer = infer_map,
          .expand = expand_map,
          .names = {.stablehlo = "map", .hlo = "map"}};
}

OpDef define_reduce_precision() {
  return {.doc = "Rounds floats to a format of so many exponent and mantissa bits.",
          .attrs = {{Attr::exponent_bits, AttrKind::integer}, {Attr::mantissa_bits, AttrKind::integer}},
          .infer = infer_reduce_precision,
          .expand = expand_reduce_precision,
          .names = {.stablehlo = "reduce_precision", .hlo = "reduce-precision"}};
}

OpDef define_batch_norm_training() {
  return batch_norm(
      "Normalises each feature over all other dimensions, then scales and shifts; gives mean and variance too.", 3,
      expand_training, {.stablehlo = "batch_norm_training", .hlo = "batch-norm-training"});
}
OpDef define_batch_norm_inference() {
  return batch_norm("Normalises each feature by a given mean and variance, then scales and shifts.", 5,
                    expand_inference, {.stablehlo = "batch_norm_inference", .hlo = "batch-norm-inference"});
}
OpDef define_batch_norm_grad() {
  return batch_norm("Gradients of batch_norm_training with respect to operand, scale and offset.", 5, expand_grad,
                    {.stablehlo = "batch_norm_grad", .hlo = "batch-norm-grad"});
}

OpDef define_get_dimension_size() {
  return {.doc = "The extent of a dimension, as a 32-bit integer.",
          .attrs = {{Attr::dimension, AttrKind::integer}},
          .infer = [](const Call& call) -> Types {
            int64_t dimension = call.attrs.integer(Attr::dimension);
            call.require(dimension >= 0 && dimension < call.operand(0).rank(), "c1", "dimension ", dimension,
                         " must be one of ", call.operand(0));
            return {{DType::i32, {}}};
          },
          .expand = [](Builder& build, const Node& node) -> Values {
            const Dim& extent = node.operand(0).type().dims[static_cast<size_t>(node.attrs.integer(Attr::dimension))];
            return {build.convert(build.extent(extent), DType::i32)};
          },
          .names = {.stablehlo = "get_dimension_size", .hlo = "get-dimension-size"}};
}

OpDef define_conj() {
  return unary(
      "Complex conjugate.", same_type<is_float_or_complex>,
      [](Builder& build, const Node& node) -> Values {
        Value x = node.operand(0);
        if (!is_complex(x.type().dtype)) return {x};
        return {build(Op::complex, {build(Op::real, {x}), build(Op::negate, {build(Op::imag, {x})})})};
      },
      "chlo.conj");
}

namespace {

// Of a complex number (re - im) (re + im) and 2 re im: nothing is lost where its squares are nearly equal.
Value squared(Builder& build, Value x) {
  if (!is_complex(x.type().dtype)) return build(Op::multiply, {x, x});
  Value re = build(Op::real, {x}), im = build(Op::imag, {x});
  auto compare = [&](Value a, Value b) { return build(Op::compare, {a, b}, {{Attr::comparison_direction, "EQ"}}); };
  Value even = build(Op::and_, {build(Op::is_finite, {re}), compare(build(Op::abs, {re}), build(Op::abs, {im}))});
  Value difference = build(Op::multiply, {build(Op::subtract, {re, im}), build(Op::add, {re, im})});
  Value product = build(Op::multiply, {re, im});
  return build(Op::complex,
               {build(Op::select, {even, build.splat(re.type(), 0), difference}), build(Op::add, {product, product})});
}

}  // namespace

OpDef define_square() {
  return unary(
      "x * x.", same_type<is_number>,
      [](Builder& build, const Node& node) -> Values { return {squared(build, node.operand(0))}; }, "chlo.square");
}

OpDef define_is_pos_inf() {
  return unary(
      "Whether positive infinity.", same_type_to_bool<is_float>,
      [](Builder& build, const Node& node) {
        return equals_infinity(build, node, std::numeric_limits<double>::infinity());
      },
      "chlo.is_pos_inf");
}

OpDef define_is_neg_inf() {
  return unary(
      "Whether negative infinity.", same_type_to_bool<is_float>,
      [](Builder& build, const Node& node) {
        return equals_infinity(build, node, -std::numeric_limits<double>::infinity());
      },
      "chlo.is_neg_inf");
}

OpDef define_mulhi() {
  return {.doc = "The high half of the product of two integers.",
          .operands = 2,
          .infer = same_type<is_integer>,
          .expand = expand_mulhi,
          .names = {.stablehlo = "chlo.mulhi"},
          .traits = {.commutative = true, .elementwise = true}};
}

}  // namespace weft
