// Moving elements without changing them.
#include "weft/core/element.h"
#include "weft/ir/direct.h"
#include "weft/ir/graph.h"
#include "weft/ops/infer.h"
#include "weft/ops/walk.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

Types infer_broadcast_in_dim(const Call& call) {
  const Type& x = call.operand(0);
  const Dims& dims = call.attrs.dims(Attr::dims);
  const Ints& dimensions = call.attrs.ints(Attr::dimensions);
  call.require(static_cast<int64_t>(dimensions.size()) == x.rank(), "c2", "needs a dimension for each of ", x, ", got ",
               dimensions);
  call.require(are_axes(dimensions, static_cast<int64_t>(dims.size())), "c3", "dimensions ", dimensions,
               " must be different ones of ", dims);
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const Dim& target = dims[static_cast<size_t>(dimensions[i])];
    call.require(x.dims[i].is(1) || x.dims[i] == target, "c5", "dimension ", i, " of ", x, " must be 1 or ", target);
  }
  return {{x.dtype, dims}};
}

Literals eval_broadcast_in_dim(const Node& node, std::span<const Literal> operands) {
  const Ints& dimensions = node.ints(Attr::dimensions);
  Ints from = operands[0].type().static_dims(), own = row_major_strides(from), strides(node.type().dims.size());
  for (size_t i = 0; i < from.size(); ++i) strides[static_cast<size_t>(dimensions[i])] = from[i] == 1 ? 0 : own[i];
  return {strided(node.type(), operands[0], 0, strides)};
}

Types infer_reshape(const Call& call) {
  const Type& x = call.operand(0);
  Type result{x.dtype, call.attrs.dims(Attr::dims)};
  call.require(x.count() == result.count(), "c1", "elements must agree, got ", x, " and dims ", result.dims);
  return {result};
}

Types infer_transpose(const Call& call) {
  const Type& x = call.operand(0);
  const Ints& permutation = call.attrs.ints(Attr::permutation);
  call.require(static_cast<int64_t>(permutation.size()) == x.rank() && are_axes(permutation, x.rank()), "c2",
               "permutation ", permutation, " must name every dimension of ", x, " once");
  Type result{x.dtype, {}};
  for (int64_t axis : permutation) result.dims.push_back(x.dims[static_cast<size_t>(axis)]);
  return {result};
}

Literals eval_transpose(const Node& node, std::span<const Literal> operands) {
  const Ints& permutation = node.ints(Attr::permutation);
  Ints own = row_major_strides(operands[0].type().static_dims()), strides;
  for (int64_t axis : permutation) strides.push_back(own[static_cast<size_t>(axis)]);
  return {strided(node.type(), operands[0], 0, strides)};
}

Types infer_slice(const Call& call) {
  const Type& x = call.operand(0);
  const Dims &start = call.attrs.dims(Attr::start_indices), &limit = call.attrs.dims(Attr::limit_indices);
  const Ints& strides = call.attrs.ints(Attr::strides);
  size_t rank = x.dims.size();
  call.require(start.size() == rank && limit.size() == rank && strides.size() == rank, "c2",
               "needs start, limit and stride for each dimension of ", x);
  Type result{x.dtype, {}};
  for (size_t i = 0; i < rank; ++i) {
    call.require(strides[i] > 0, "c4", "strides must be positive, got ", strides);
    bool legal = known_less(start[i], Dim(0)) != true && known_less(limit[i], start[i]) != true &&
                 known_less(x.dims[i], limit[i]) != true &&
                 (!limit[i].is_static() || limit[i].value() <= x.dims[i].min());
    call.require(legal, "c3", "dimension ", i, ": 0 <= ", start[i], " <= ", limit[i], " <= ", x.dims[i], " must hold");
    result.dims.push_back(ceildiv(limit[i] - start[i], strides[i]));
  }
  return {result};
}

Literals eval_slice(const Node& node, std::span<const Literal> operands) {
  const Dims& start = node.attrs.dims(Attr::start_indices);
  Ints strides = row_major_strides(operands[0].type().static_dims());
  int64_t first = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    first += start[i].value() * strides[i];
    // The stride to an element that is not there may be any number.
    strides[i] *= node.type().dims[i].value() > 1 ? node.ints(Attr::strides)[i] : 0;
  }
  return {strided(node.type(), operands[0], first, strides)};
}

Types infer_pad(const Call& call) {
  const Type &x = call.operand(0), &value = call.operand(1);
  const Dims &low = call.attrs.dims(Attr::edge_padding_low), &high = call.attrs.dims(Attr::edge_padding_high);
  const Ints& interior = call.attrs.ints(Attr::interior_padding);
  call.require(value.rank() == 0 && value.dtype == x.dtype, "c1", "the padding value must be a scalar of ",
               name(x.dtype), ", got ", value);
  size_t rank = x.dims.size();
  call.require(low.size() == rank && high.size() == rank && interior.size() == rank, "c2",
               "needs low, high and interior for each dimension of ", x);
  Type result{x.dtype, {}};
  for (size_t i = 0; i < rank; ++i) {
    call.require(interior[i] >= 0, "c3", "interior padding must not be negative, got ", interior);
    Dim spread = interior[i] == 0 ? x.dims[i] : x.dims[i] + max(x.dims[i] - Dim(1), Dim(0)) * Dim(interior[i]);
    Dim extent = low[i] + spread + high[i];
    call.require(known_less(extent, Dim(0)) != true, "c4", "dimension ", i, " would have the extent ", extent);
    result.dims.push_back(extent);
  }
  return {result};
}

Literals eval_pad(const Node& node, std::span<const Literal> operands) {
  Literal result(node.type());
  for (int64_t i = 0; i < result.count(); ++i) copy_element(result, i, operands[1], 0);
  const Dims& low = node.attrs.dims(Attr::edge_padding_low);
  const Ints& interior = node.ints(Attr::interior_padding);
  Ints dims = node.type().static_dims(), strides = row_major_strides(dims);
  int64_t at = 0;
  for_each_index(operands[0].type().static_dims(), [&](const Ints& index) {
    Ints target(index);
    for (size_t i = 0; i < index.size(); ++i) target[i] = low[i].value() + index[i] * (interior[i] + 1);
    if (inside(target, dims)) copy_element(result, linear(target, strides), operands[0], at);
    ++at;
  });
  return {result};
}

Types infer_concatenate(const Call& call) {
  call.require(!call.operands.empty(), "c3", "needs at least one operand");
  Type result = call.operand(0);
  int64_t dimension = call.attrs.integer(Attr::dimension);
  call.require(dimension >= 0 && dimension < result.rank(), "c4", "dimension ", dimension, " must be one of ", result);
  auto axis = static_cast<size_t>(dimension);
  for (size_t i = 1; i < call.operands.size(); ++i) {
    const Type& other = call.operand(i);
    call.require(other.dtype == result.dtype && other.rank() == result.rank(), "c1", "operands must agree, got ",
                 result, " and ", other);
    for (size_t d = 0; d < result.dims.size(); ++d)
      call.require(d == axis || other.dims[d] == result.dims[d], "c2", "operands must agree but in dimension ",
                   dimension, ", got ", call.operand(0), " and ", other);
    result.dims[axis] = result.dims[axis] + other.dims[axis];
  }
  return {result};
}

Literals eval_concatenate(const Node& node, std::span<const Literal> operands) {
  Literal result(node.type());
  Ints strides = row_major_strides(node.type().static_dims());
  auto axis = static_cast<size_t>(node.attrs.integer(Attr::dimension));
  int64_t offset = 0;
  for (const Literal& operand : operands) {
    int64_t at = 0;
    for_each_index(operand.type().static_dims(), [&](const Ints& index) {
      copy_element(result, linear(index, strides) + offset * strides[axis], operand, at++);
    });
    offset += operand.type().dims[axis].value();
  }
  return {result};
}

Types infer_reverse(const Call& call) {
  const Type& x = call.operand(0);
  const Ints& dimensions = call.attrs.ints(Attr::dimensions);
  call.require(are_axes(dimensions, x.rank()), "c2", "dimensions ", dimensions, " must be different ones of ", x);
  return {x};
}

Literals eval_reverse(const Node& node, std::span<const Literal> operands) {
  Ints dims = node.type().static_dims(), strides = row_major_strides(dims);
  int64_t first = 0;
  for (int64_t axis : node.ints(Attr::dimensions)) {
    auto a = static_cast<size_t>(axis);
    first += (dims[a] - 1) * strides[a];
    strides[a] = -strides[a];
  }
  return {strided(node.type(), operands[0], first, strides)};
}

Types infer_bitcast_convert(const Call& call) {
  const Type& x = call.operand(0);
  DType target = call.attrs.dtype(Attr::type);
  // Between stored integers and what they stand for; the type tells what dtypes cannot.
  if (call.attrs.find(Attr::types)) {
    Types wanted = call.attrs.types(Attr::types);
    call.require(wanted.size() == 1 && x.dtype == wanted[0].dtype && x.dims == wanted[0].dims, "c1", "cannot see ", x,
                 " as ", wanted);
    return wanted;
  }
  if (x.dtype == target) return {{x.dtype, x.dims}};
  int from = bit_width(x.dtype), to = bit_width(target);
  call.require(
      from >= 8 && to >= 8 && !is_bool(x.dtype) && !is_bool(target) && is_complex(x.dtype) == is_complex(target), "c1",
      "cannot see ", name(x.dtype), " as ", name(target));
  Type result{target, x.dims};
  if (from > to) result.dims.push_back(from / to);
  if (from < to) {
    call.require(!result.dims.empty() && result.dims.back().is(to / from), "c1", "the last dimension of ", x,
                 " must be ", to / from);
    result.dims.pop_back();
  }
  return {result};
}

}  // namespace

OpDef define_bitcast_convert() {
  return {.doc = "The same bits as another element type; a wider or narrower one drops or adds a last dimension.",
          .attrs = {{Attr::type, AttrKind::dtype}, {Attr::types, AttrKind::types, true}},
          .infer = infer_bitcast_convert,
          .eval = [](const Node& node, std::span<const Literal> operands) -> Literals {
            Literal result(node.type());
            std::memcpy(result.mutable_bytes(), operands[0].bytes().data(), operands[0].bytes().size());
            return {result};
          },
          .names = {.stablehlo = "bitcast_convert", .hlo = "bitcast-convert", .aten = "view.dtype"}};
}
OpDef define_broadcast_in_dim() {
  return {.doc = "Repeats elements along new dimensions and those of extent 1.",
          .attrs = {{Attr::dims, AttrKind::dims}, {Attr::dimensions, AttrKind::ints}},
          .infer = infer_broadcast_in_dim,
          .eval = eval_broadcast_in_dim,
          .names = {.stablehlo = "broadcast_in_dim", .hlo = "broadcast", .aten = "expand"}};
}
OpDef define_reshape() {
  return {.doc = "The same elements in row-major order under other dimensions.",
          .attrs = {{Attr::dims, AttrKind::dims}},
          .infer = infer_reshape,
          .eval = [](const Node& node, std::span<const Literal> operands) -> Literals {
            return {operands[0].reshaped(node.type().dims)};
          },
          .names = {.stablehlo = "reshape", .hlo = "reshape", .aten = "view"}};
}
OpDef define_transpose() {
  return {.doc = "Reorders dimensions: result dimension i is operand dimension permutation[i].",
          .attrs = {{Attr::permutation, AttrKind::ints}},
          .infer = infer_transpose,
          .eval = eval_transpose,
          .names = {.stablehlo = "transpose", .hlo = "transpose", .aten = "permute"}};
}
OpDef define_slice() {
  return {.doc = "Elements from start to limit (not included) by strides.",
          .attrs = {{Attr::start_indices, AttrKind::dims},
                    {Attr::limit_indices, AttrKind::dims},
                    {Attr::strides, AttrKind::ints}},
          .infer = infer_slice,
          .eval = eval_slice,
          .names = {.stablehlo = "slice", .hlo = "slice", .aten = "slice"}};
}
OpDef define_pad() {
  return {.doc = "Puts a value around (negative: cuts off) and between elements.",
          .operands = 2,
          .attrs = {{Attr::edge_padding_low, AttrKind::dims},
                    {Attr::edge_padding_high, AttrKind::dims},
                    {Attr::interior_padding, AttrKind::ints}},
          .infer = infer_pad,
          .eval = eval_pad,
          .names = {.stablehlo = "pad", .hlo = "pad", .aten = "constant_pad_nd"}};
}
OpDef define_concatenate() {
  return {.doc = "Operands one after another along a dimension.",
          .operands = -1,
          .attrs = {{Attr::dimension, AttrKind::integer}},
          .infer = infer_concatenate,
          .eval = eval_concatenate,
          .names = {.stablehlo = "concatenate", .hlo = "concatenate", .aten = "cat"}};
}
OpDef define_reverse() {
  return {.doc = "Reverses the order of elements along dimensions.",
          .attrs = {{Attr::dimensions, AttrKind::ints}},
          .infer = infer_reverse,
          .eval = eval_reverse,
          .names = {.stablehlo = "reverse", .hlo = "reverse", .aten = "flip"}};
}

OpDef define_strided_view() {
  return {.doc =
              "Elements at start_indices[a] + the sum of strides[j] * index[j] over the result dimensions j with "
              "axes[j] = a; an axis of "
              "-1 repeats. Made when kernels are prepared.",
          .attrs = {{Attr::dims, AttrKind::dims},
                    {Attr::axes, AttrKind::ints},
                    {Attr::strides, AttrKind::ints},
                    {Attr::start_indices, AttrKind::dims}},
          .infer = [](const Call& call) -> Types {
            const Ints& axes = call.attrs.ints(Attr::axes);
            const Dims& dims = call.attrs.dims(Attr::dims);
            bool fits = axes.size() == dims.size() && call.attrs.ints(Attr::strides).size() == dims.size() &&
                        call.attrs.dims(Attr::start_indices).size() == call.operand(0).dims.size();
            for (int64_t axis : axes) fits = fits && axis >= -1 && axis < call.operand(0).rank();
            call.require(fits, "axes", "axes ", axes, " and strides must name a dimension of ", call.operand(0),
                         " for each of ", dims);
            return {{call.operand(0).dtype, dims}};
          },
          .eval = [](const Node& node, std::span<const Literal> operands) -> Literals {
            const Ints &axes = node.ints(Attr::axes), &strides = node.ints(Attr::strides);
            const Dims& start = node.attrs.dims(Attr::start_indices);
            return {gathered(node.type(), operands[0], [&](const Ints& index) {
              Ints source;
              for (const Dim& dim : start) source.push_back(dim.value());
              for (size_t j = 0; j < index.size(); ++j)
                if (axes[j] >= 0) source[static_cast<size_t>(axes[j])] += strides[j] * index[j];
              return source;
            })};
          }};
}

OpDef define_update_slice() {
  return {
      .doc = "The first operand with the elements at start_indices + index * strides replaced by those of the second.",
      .operands = 2,
      .attrs = {{Attr::start_indices, AttrKind::dims}, {Attr::strides, AttrKind::ints}},
      .infer = [](const Call& call) -> Types {
        const Type &x = call.operand(0), &part = call.operand(1);
        const Dims& start = call.attrs.dims(Attr::start_indices);
        const Ints& strides = call.attrs.ints(Attr::strides);
        call.require(part.dtype == x.dtype && part.rank() == x.rank(), "c1",
                     "operands must agree in element type and rank, got ", x, " and ", part);
        call.require(start.size() == x.dims.size() && strides.size() == x.dims.size(), "c2",
                     "needs start and stride for each dimension of ", x);
        for (size_t i = 0; i < x.dims.size(); ++i) {
          call.require(strides[i] > 0, "c4", "strides must be positive, got ", strides);
          Dim last = start[i] + (part.dims[i] - Dim(1)) * Dim(strides[i]);
          bool is_past = known_less(last, x.dims[i]) == false || (last.is_static() && last.value() >= x.dims[i].min());
          bool outside = known_less(start[i], Dim(0)) == true || (is_past && known_less(Dim(0), part.dims[i]) == true);
          call.require(!outside, "c3", "dimension ", i, ": elements ", start[i], " to ", last, " must lie in ",
                       x.dims[i]);
        }
        return {x};
      },
      .eval = [](const Node& node, std::span<const Literal> operands) -> Literals {
        Literal result(node.type());
        std::memcpy(result.mutable_bytes(), operands[0].bytes().data(), operands[0].bytes().size());
        const Dims& start = node.attrs.dims(Attr::start_indices);
        const Ints& strides = node.ints(Attr::strides);
        Ints dims = node.type().static_dims(), all = row_major_strides(dims);
        int64_t at = 0;
        for_each_index(operands[1].type().static_dims(), [&](const Ints& index) {
          Ints target(index);
          for (size_t i = 0; i < index.size(); ++i) target[i] = start[i].value() + index[i] * strides[i];
          copy_element(result, linear(target, all), operands[1], at++);
        });
        return {result};
      },
      .names = {.stablehlo = "weft.update_slice"}};
}

}  // namespace weft
