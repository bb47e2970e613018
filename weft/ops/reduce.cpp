// reduce: combining elements along dimensions by a body.
#include "weft/core/element.h"
#include "weft/ir/graph.h"
#include "weft/ir/scalar_body.h"
#include "weft/ops/infer.h"
#include "weft/ops/walk.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

Types infer_reduce(const Call& call) {
  size_t count = call.operands.size() / 2;
  call.require(count > 0 && call.operands.size() % 2 == 0, "operands", "takes inputs and as many initial values, got ",
               call.operands.size(), " operands");
  const Type& x = call.operand(0);
  const Ints& dimensions = call.attrs.ints(Attr::dimensions);
  call.require(are_axes(dimensions, x.rank()), "c4", "dimensions ", dimensions, " must be different ones of ", x);
  Types results;
  for (size_t k = 0; k < count; ++k) {
    const Type &input = call.operand(k), &init = call.operand(count + k);
    call.require(input.dims == x.dims, "c1", "inputs must agree in shape, got ", x, " and ", input);
    call.require(init.rank() == 0 && init.dtype == input.dtype, "c2", "the initial value must be a scalar of ",
                 name(input.dtype), ", got ", init);
    Type result{input.dtype, {}};
    for (size_t i = 0; i < x.dims.size(); ++i)
      if (!contains(dimensions, static_cast<int64_t>(i))) result.dims.push_back(x.dims[i]);
    results.push_back(std::move(result));
  }
  call.require(combines_scalars(*call.regions[0], call.operands.first(count)), "c6",
               "the body must take two scalars of each input to one of each");
  return results;
}

// Combines the elements at `offsets` from `base` pairwise, so that rounding errors grow with the logarithm of their
// number; sums of floats narrower than f64 are added up in f64.
Element tree(Scalar op, const Literal& x, int64_t base, std::span<const int64_t> offsets) {
  if (offsets.size() == 1) {
    Element element = load(x.bytes().data() + (base + offsets[0]) * size_of(x.dtype()), x.dtype());
    return op == Scalar::add && is_float(x.dtype()) ? convert(element, DType::f64) : element;
  }
  size_t half = offsets.size() / 2;
  Element pair[2] = {tree(op, x, base, offsets.first(half)), tree(op, x, base, offsets.subspan(half))};
  return apply(op, pair[0].dtype, pair);
}

// The same of a usual type; floats are added up in f64.
template <class T, class F>
auto tree_of(const T* x, std::span<const int64_t> offsets, const F& f) {
  using Total = decltype(f(x[0], x[0]));
  if (offsets.size() == 1) return static_cast<Total>(x[offsets[0]]);
  size_t half = offsets.size() / 2;
  return f(tree_of(x, offsets.first(half), f), tree_of(x, offsets.subspan(half), f));
}

Element total(Scalar op, const Literal& x, int64_t base, std::span<const int64_t> offsets) {
  auto add = [](double a, double b) { return a + b; };
  auto both = [](bool a, bool b) { return a && b; };
  auto either = [](bool a, bool b) { return a || b; };
  if (op == Scalar::add && x.dtype() == DType::f64)
    return Element::of_double(DType::f64, tree_of(x.data<double>().data() + base, offsets, add));
  if (op == Scalar::add && x.dtype() == DType::f32)
    return Element::of_double(DType::f64, tree_of(x.data<float>().data() + base, offsets, add));
  if (op == Scalar::bit_and && x.dtype() == DType::boolean)
    return Element::of_int(DType::boolean, tree_of(x.data<uint8_t>().data() + base, offsets, both));
  if (op == Scalar::bit_or && x.dtype() == DType::boolean)
    return Element::of_int(DType::boolean, tree_of(x.data<uint8_t>().data() + base, offsets, either));
  return tree(op, x, base, offsets);
}

// Combines the elements of every input in order by the body.
std::vector<Element> fold_body(const ScalarBody& body, std::span<const Literal> inputs, int64_t base,
                               std::span<const int64_t> offsets, std::vector<Element> total) {
  std::vector<Element> arguments(2 * total.size());
  std::copy(total.begin(), total.end(), arguments.begin());
  std::span<Element> totals = std::span(arguments).first(total.size());
  for (int64_t offset : offsets) {
    for (size_t k = 0; k < total.size(); ++k) arguments[total.size() + k] = element_at(inputs[k], base + offset);
    body.into(totals, arguments);
  }
  return {totals.begin(), totals.end()};
}

Literals eval_reduce(const Node& node, std::span<const Literal> operands) {
  const Literal& x = operands[0];
  const Ints& dimensions = node.ints(Attr::dimensions);
  Ints dims = x.type().static_dims(), strides = row_major_strides(dims);
  Ints reduced_dims, reduced_strides, kept_dims, kept_strides;
  for (size_t i = 0; i < dims.size(); ++i) {
    bool reduced = contains(dimensions, static_cast<int64_t>(i));
    (reduced ? reduced_dims : kept_dims).push_back(dims[i]);
    (reduced ? reduced_strides : kept_strides).push_back(strides[i]);
  }
  Ints offsets;
  for_each_index(reduced_dims, [&](const Ints& index) { offsets.push_back(linear(index, reduced_strides)); });
  size_t count = operands.size() / 2;
  std::optional<Op> op = single_op(*node.regions[0]);
  ScalarBody body(*node.regions[0]);
  Literals results;
  for (const Type& type : node.types) results.emplace_back(type);
  std::vector<Element> inits;
  for (size_t k = 0; k < count; ++k) inits.push_back(element_at(operands[count + k], 0));
  auto combined = [&](int64_t base) {
    Element sum = total(def(*op).scalar, x, base, offsets);
    Element pair[2] = {convert(inits[0], sum.dtype), sum};
    return convert(apply(def(*op).scalar, sum.dtype, pair), x.dtype());
  };
  int64_t at = 0;
  for_each_index(kept_dims, [&](const Ints& index) {
    int64_t base = linear(index, kept_strides);
    if (op) {
      set_element(results[0], at, offsets.empty() ? inits[0] : combined(base));
    } else {
      std::vector<Element> totals = fold_body(body, operands.first(count), base, offsets, inits);
      for (size_t k = 0; k < count; ++k) set_element(results[k], at, totals[k]);
    }
    ++at;
  });
  return results;
}

}  // namespace

OpDef define_reduce() {
  return {.doc =
              "Combines elements along dimensions by a body of two scalars, from an initial value, in an order that "
              "depends on "
              "the shape only.",
          .operands = -1,
          .attrs = {{Attr::dimensions, AttrKind::ints}},
          .regions = 1,
          .infer = infer_reduce,
          .eval = eval_reduce,
          .names = {.stablehlo = "reduce", .hlo = "reduce"}};
}

}  // namespace weft
