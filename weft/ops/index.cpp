// Reading and writing at positions that are values: dynamic slices, gather, scatter.
#include <algorithm>
#include <functional>
#include <numeric>

#include "weft/core/element.h"
#include "weft/core/range_check.h"
#include "weft/ir/direct.h"
#include "weft/ir/graph.h"
#include "weft/ir/interpret.h"
#include "weft/ir/scalar_body.h"
#include "weft/ops/infer.h"
#include "weft/ops/walk.h"

namespace weft {
namespace {

using Literals = std::vector<Literal>;

void require_indices(const Call& call, size_t first, int64_t rank) {
  call.require(static_cast<int64_t>(call.operands.size() - first) == rank, "c2", "needs a start index for each of ",
               rank, " dimensions, got ", call.operands.size() - first);
  for (size_t i = first; i < call.operands.size(); ++i)
    call.require(call.operand(i).rank() == 0 && is_integer(call.operand(i).dtype), "c3",
                 "start indices must be integer scalars, got ", call.operand(i));
}

Types infer_dynamic_slice(const Call& call) {
  call.require(!call.operands.empty(), "operands", "needs an operand");
  const Type& x = call.operand(0);
  require_indices(call, 1, x.rank());
  const Dims& sizes = call.attrs.dims(Attr::slice_sizes);
  call.require(sizes.size() == x.dims.size(), "c2", "needs a slice size for each dimension of ", x);
  for (size_t i = 0; i < sizes.size(); ++i)
    call.require(known_less(x.dims[i], sizes[i]) != true && known_less(sizes[i], Dim(0)) != true, "c4", "slice sizes ",
                 sizes, " must fit ", x);
  return {{x.dtype, sizes}};
}

Types infer_dynamic_update_slice(const Call& call) {
  call.require(call.operands.size() >= 2, "operands", "needs an operand and an update");
  const Type &x = call.operand(0), &update = call.operand(1);
  call.require(update.dtype == x.dtype && update.rank() == x.rank(), "c3", "the update must be a part of ", x, ", got ",
               update);
  require_indices(call, 2, x.rank());
  for (size_t i = 0; i < x.dims.size(); ++i)
    call.require(known_less(x.dims[i], update.dims[i]) != true, "c6", "the update ", update, " must fit ", x);
  return {x};
}

// Start indices clamped so that the slice stays inside.
Ints clamped_starts(std::span<const Literal> indices, const Ints& dims, const Ints& sizes) {
  Ints starts;
  for (size_t i = 0; i < dims.size(); ++i)
    starts.push_back(std::clamp<int64_t>(indices[i].as_int(0), 0, dims[i] - sizes[i]));
  return starts;
}

// Whether parts of such sizes can be taken or put: where extents are symbols, that is known only now. If not, what is
// taken is zero and nothing is put.
bool fits(const Ints& sizes, const Ints& dims) { return std::ranges::equal(sizes, dims, std::less_equal<>()); }

Literals eval_dynamic_slice(const Node& node, std::span<const Literal> operands) {
  if (!fits(node.type().static_dims(), operands[0].type().static_dims())) return {Literal(node.type())};
  Ints starts = clamped_starts(operands.subspan(1), operands[0].type().static_dims(), node.type().static_dims());
  Ints strides = row_major_strides(operands[0].type().static_dims());
  return {strided(node.type(), operands[0], linear(starts, strides), strides)};
}

Literal copy_of(const Literal& literal) {
  Literal result(literal.type());
  std::memcpy(result.mutable_bytes(), literal.bytes().data(), literal.bytes().size());
  return result;
}

Literals eval_dynamic_update_slice(const Node& node, std::span<const Literal> operands) {
  Ints dims = node.type().static_dims(), sizes = operands[1].type().static_dims(), strides = row_major_strides(dims);
  if (!fits(sizes, dims)) return {operands[0]};
  Ints starts = clamped_starts(operands.subspan(2), dims, sizes);
  Literal result = copy_of(operands[0]);
  int64_t at = 0;
  for_each_index(sizes, [&](const Ints& index) {
    copy_element(result, linear(index, strides) + linear(starts, strides), operands[1], at++);
  });
  return {result};
}

// The dims of start_indices without the one that holds an index vector.
Dims batch_dims_of(const Type& indices, int64_t index_vector_dim) {
  Dims dims = indices.dims;
  if (index_vector_dim < indices.rank()) dims.erase(dims.begin() + index_vector_dim);
  return dims;
}

// What gather and scatter share: an index vector with a component for each mapped dimension, and dimensions of the
// operand that go in step with some of the indices. `dropped`: those that slices do not have.
struct IndexDims {
  const Type &operand, &indices;
  const Ints &map, &dropped, &batching, &indices_batching;
  int64_t vector_dim;

  void require(const Call& call) const {
    call.require(is_integer(indices.dtype), "indices", "indices must be integers, got ", indices);
    call.require(vector_dim >= 0 && vector_dim <= indices.rank(), "c2", "index_vector_dim ", vector_dim,
                 " must be at most ", indices.rank());
    Dim components = vector_dim < indices.rank() ? indices.dims[static_cast<size_t>(vector_dim)] : Dim(1);
    call.require(components.is(static_cast<int64_t>(map.size())), "c3", "the dimensions ", map, " must be ",
                 components);
    Ints none = dropped, both = map;
    none.insert(none.end(), batching.begin(), batching.end());
    both.insert(both.end(), batching.begin(), batching.end());
    call.require(are_axes(none, operand.rank()) && are_axes(both, operand.rank()), "c19",
                 "dimension numbers must be different ones of ", operand);
    bool in_step = indices_batching.size() == batching.size() && are_axes(indices_batching, indices.rank()) &&
                   !contains(indices_batching, vector_dim);
    for (size_t i = 0; in_step && i < batching.size(); ++i)
      in_step =
          indices.dims[static_cast<size_t>(indices_batching[i])] == operand.dims[static_cast<size_t>(batching[i])];
    call.require(in_step, "c17", "the batching dimensions ", indices_batching, " of ", indices, " must go with ",
                 batching, " of ", operand);
  }
};

Types infer_gather(const Call& call) {
  const Type &x = call.operand(0), &indices = call.operand(1);
  const Attrs& a = call.attrs;
  const Ints &offset = a.ints(Attr::offset_dims), &collapsed = a.ints(Attr::collapsed_slice_dims),
             &batching = a.ints(Attr::operand_batching_dims), &map = a.ints(Attr::start_index_map);
  const Dims& sizes = a.dims(Attr::slice_sizes);
  int64_t vector_dim = a.integer(Attr::index_vector_dim);
  IndexDims{x, indices, map, collapsed, batching, a.ints(Attr::start_indices_batching_dims), vector_dim}.require(call);
  call.require(sizes.size() == x.dims.size(), "c20", "needs a slice size for each dimension of ", x);
  Dims batch = batch_dims_of(indices, vector_dim), kept;
  bool reads_nothing = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto axis = static_cast<int64_t>(i);
    call.require(known_less(x.dims[i], sizes[i]) != true && known_less(sizes[i], Dim(0)) != true, "c21", "slice sizes ",
                 sizes, " must fit ", x);
    reads_nothing |= sizes[i].is(0);
    bool dropped = contains(collapsed, axis) || contains(batching, axis);
    call.require(!dropped || known_less(Dim(1), sizes[i]) != true, "c8",
                 "a dropped dimension must have slice size 1, got ", sizes);
    if (!dropped) kept.push_back(sizes[i]);
  }
  call.require(offset.size() == kept.size(), "c1", "offset_dims ", offset, " must place ", kept.size(), " dimensions");
  Type result{x.dtype, Dims(batch.size() + kept.size())};
  call.require(are_axes(offset, result.rank()), "c5", "offset_dims ", offset, " must be different ones of the result");
  size_t next_batch = 0, next_kept = 0;
  for (size_t i = 0; i < result.dims.size(); ++i)
    result.dims[i] = contains(offset, static_cast<int64_t>(i)) ? kept[next_kept++] : batch[next_batch++];
  bool is_empty = std::any_of(result.dims.begin(), result.dims.end(), [](const Dim& dim) { return dim.is(0); });
  call.require(!reads_nothing || is_empty, "c8", "slices ", sizes, " have no element for those of ", result);
  return {result};
}

// One index vector: where a slice starts in the operand (of the mapped dims; others 0), and batching coordinates.
struct IndexReader {
  const Literal& indices;
  int64_t vector_dim;
  const Ints &map, &operand_batching, &indices_batching;

  Ints start(const Ints& batch, int64_t rank) const {
    Ints strides = row_major_strides(indices.type().static_dims());
    Ints start(static_cast<size_t>(rank));
    bool has_vector = vector_dim < indices.type().rank();
    Ints at = batch;
    if (has_vector) at.insert(at.begin() + vector_dim, 0);
    for (size_t i = 0; i < map.size(); ++i) {
      if (has_vector) at[static_cast<size_t>(vector_dim)] = static_cast<int64_t>(i);
      start[static_cast<size_t>(map[i])] = indices.as_int(linear(at, strides));
    }
    for (size_t i = 0; i < operand_batching.size(); ++i) {
      int64_t source = indices_batching[i];
      if (has_vector && source > vector_dim) --source;
      start[static_cast<size_t>(operand_batching[i])] = batch[static_cast<size_t>(source)];
    }
    return start;
  }
};

// A gather whose slices lie one behind the other in the result.
Literal gathered_slices(const Type& type, const Literal& operand, const IndexReader& reader, const Ints& sizes,
                        size_t offsets) {
  Literal result(type);
  Ints batches = type.static_dims(), dims = operand.type().static_dims(), strides = row_major_strides(dims);
  batches.resize(batches.size() - offsets);
  int64_t at = 0, size = size_of(type.dtype);
  bool is_element = std::ranges::all_of(sizes, [](int64_t extent) { return extent == 1; });
  Type slice{type.dtype, Dims(sizes.begin(), sizes.end())};
  for_each_index(batches, [&](const Ints& batch) {
    Ints start = reader.start(batch, static_cast<int64_t>(dims.size()));
    for (size_t i = 0; i < dims.size(); ++i) start[i] = std::clamp<int64_t>(start[i], 0, dims[i] - sizes[i]);
    int64_t first = linear(start, strides);
    if (is_element) {
      copy_element(result, at++, operand, first);
      return;
    }
    Literal part = strided(slice, operand, first, strides);
    std::memcpy(result.mutable_bytes() + at * size, part.bytes().data(), part.bytes().size());
    at += part.count();
  });
  return result;
}

Literals eval_gather(const Node& node, std::span<const Literal> operands) {
  const Attrs& a = node.attrs;
  const Ints& offset = a.ints(Attr::offset_dims);
  const Ints &collapsed = a.ints(Attr::collapsed_slice_dims), &batching = a.ints(Attr::operand_batching_dims);
  IndexReader reader{operands[1], a.integer(Attr::index_vector_dim), a.ints(Attr::start_index_map), batching,
                     a.ints(Attr::start_indices_batching_dims)};
  Ints dims = operands[0].type().static_dims();
  const Dims& sizes = a.dims(Attr::slice_sizes);
  if (!fits(Type{node.type().dtype, sizes}.static_dims(), dims)) return {Literal(node.type())};
  Ints last(offset.size());
  std::iota(last.begin(), last.end(), node.type().rank() - static_cast<int64_t>(last.size()));
  if (offset == last)
    return {
        gathered_slices(node.type(), operands[0], reader, Type{node.type().dtype, sizes}.static_dims(), last.size())};
  return {gathered(node.type(), operands[0], [&](const Ints& index) {
    Ints batch, inner;
    for (size_t i = 0; i < index.size(); ++i)
      (contains(offset, static_cast<int64_t>(i)) ? inner : batch).push_back(index[i]);
    Ints source = reader.start(batch, static_cast<int64_t>(dims.size()));
    size_t next = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
      source[i] = std::clamp<int64_t>(source[i], 0, dims[i] - sizes[i].value());
      auto axis = static_cast<int64_t>(i);
      if (!contains(collapsed, axis) && !contains(batching, axis)) source[i] += inner[next++];
    }
    return source;
  })};
}

Types infer_scatter(const Call& call) {
  const Type &x = call.operand(0), &indices = call.operand(1), &updates = call.operand(2);
  const Attrs& a = call.attrs;
  const Ints &window = a.ints(Attr::update_window_dims), &inserted = a.ints(Attr::inserted_window_dims),
             &batching = a.ints(Attr::input_batching_dims), &map = a.ints(Attr::scatter_dims_to_operand_dims);
  int64_t vector_dim = a.integer(Attr::index_vector_dim);
  call.require(updates.dtype == x.dtype, "c1", "updates must be ", name(x.dtype), ", got ", updates);
  call.require(combines_scalars(*call.regions[0], call.operands.first(1)), "c23", "the body must take two scalars of ",
               name(x.dtype), " to one");
  IndexDims{x, indices, map, inserted, batching, a.ints(Attr::scatter_indices_batching_dims), vector_dim}.require(call);
  call.require(are_axes(window, updates.rank()), "c7", "update_window_dims ", window, " must be different ones of ",
               updates);
  call.require(x.rank() == static_cast<int64_t>(window.size() + inserted.size() + batching.size()), "c2",
               "window, inserted and batching dimensions must make up those of ", x);
  Dims batch = batch_dims_of(indices, vector_dim), given;
  size_t next_window = 0;
  Dims kept;
  for (size_t i = 0; i < x.dims.size(); ++i)
    if (!contains(inserted, static_cast<int64_t>(i)) && !contains(batching, static_cast<int64_t>(i)))
      kept.push_back(x.dims[i]);
  for (size_t i = 0; i < updates.dims.size(); ++i) {
    if (!contains(window, static_cast<int64_t>(i))) {
      given.push_back(updates.dims[i]);
    } else {
      call.require(known_less(kept[next_window], updates.dims[i]) != true, "c4", "updates ", updates, " must fit ", x);
      ++next_window;
    }
  }
  call.require(given == batch, "c4", "updates ", updates, " must have the dims of the indices ", indices,
               " beside their window");
  return {x};
}

Literals eval_scatter(const Node& node, std::span<const Literal> operands) {
  const Attrs& a = node.attrs;
  const Ints &window = a.ints(Attr::update_window_dims), &inserted = a.ints(Attr::inserted_window_dims);
  const Ints& batching = a.ints(Attr::input_batching_dims);
  IndexReader reader{operands[1], a.integer(Attr::index_vector_dim), a.ints(Attr::scatter_dims_to_operand_dims),
                     batching, a.ints(Attr::scatter_indices_batching_dims)};
  Ints dims = node.type().static_dims(), strides = row_major_strides(dims);
  Literal result = copy_of(operands[0]);
  ScalarBody body(*node.regions[0]);
  int64_t at = 0;
  for_each_index(operands[2].type().static_dims(), [&](const Ints& index) {
    Ints batch, inner;
    for (size_t i = 0; i < index.size(); ++i)
      (contains(window, static_cast<int64_t>(i)) ? inner : batch).push_back(index[i]);
    Ints target = reader.start(batch, static_cast<int64_t>(dims.size()));
    size_t next = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
      auto axis = static_cast<int64_t>(i);
      if (!contains(inserted, axis) && !contains(batching, axis)) target[i] += inner[next++];
    }
    if (inside(target, dims)) {
      const Element pair[2] = {element_at(result, linear(target, strides)), element_at(operands[2], at)};
      set_element(result, linear(target, strides), body.one(pair));
    }
    ++at;
  });
  return {result};
}

Types infer_check_range(const Call& call) {
  const Dims& limits = call.attrs.dims(Attr::limit_indices);
  call.require(call.operand(0).dtype == DType::i64, "dtype", "looks at i64, got ", call.operand(0));
  call.require(limits.size() == 1, "limits", "takes one limit, got ", limits);
  return {call.operand(0)};
}

Literals eval_check_range(const Node& node, std::span<const Literal> operands) {
  if (std::optional<int64_t> found = found_outside(node, operands[0])) {
    RangeCheck check = range_check_of(node);
    raise(range_error(check, check.limit.value(), *found));
  }
  return {operands[0]};
}

}  // namespace

RangeCheck range_check_of(const Node& node) {
  const Attrs& attrs = node.attrs;
  std::string message = attrs.find(Attr::message) ? attrs.text(Attr::message) : std::string();
  int64_t axis = attrs.find(Attr::axis) ? attrs.integer(Attr::axis) : 0;
  return {attrs.text(Attr::label), std::move(message), axis, attrs.dims(Attr::limit_indices)[0], node.loc};
}

std::optional<int64_t> found_outside(const Node& check, const Literal& values) {
  int64_t limit = check.attrs.dims(Attr::limit_indices)[0].value();
  for (int64_t i = 0; i < values.count(); ++i)
    if (int64_t found = values.as_int(i); found < 0 || found >= limit) return found;
  return {};
}

OpDef define_dynamic_slice() {
  return {.doc = "A slice whose start is a value, moved inside where it would stick out.",
          .operands = -1,
          .attrs = {{Attr::slice_sizes, AttrKind::dims}, {Attr::in_bounds, AttrKind::flag, true}},
          .infer = infer_dynamic_slice,
          .eval = eval_dynamic_slice,
          .names = {.stablehlo = "dynamic_slice", .hlo = "dynamic-slice"}};
}
OpDef define_dynamic_update_slice() {
  return {.doc = "The operand with a part replaced; the start is moved inside where the part would stick out.",
          .operands = -1,
          .attrs = {{Attr::in_bounds, AttrKind::flag, true}},
          .infer = infer_dynamic_update_slice,
          .eval = eval_dynamic_update_slice,
          .names = {.stablehlo = "dynamic_update_slice", .hlo = "dynamic-update-slice"}};
}
OpDef define_gather() {
  return {.doc = "Slices at index vectors, moved inside where they would stick out.",
          .operands = 2,
          .attrs = {{Attr::offset_dims, AttrKind::ints},
                    {Attr::collapsed_slice_dims, AttrKind::ints},
                    {Attr::operand_batching_dims, AttrKind::ints},
                    {Attr::start_indices_batching_dims, AttrKind::ints},
                    {Attr::start_index_map, AttrKind::ints},
                    {Attr::index_vector_dim, AttrKind::integer},
                    {Attr::slice_sizes, AttrKind::dims},
                    {Attr::indices_are_sorted, AttrKind::flag, true},
                    {Attr::in_bounds, AttrKind::flag, true}},
          .infer = infer_gather,
          .eval = eval_gather,
          .names = {.stablehlo = "gather", .hlo = "gather", .aten = "index"}};
}
OpDef define_scatter() {
  return {.doc = "Combines updates into the operand at index vectors, in order; what would land outside is dropped.",
          .operands = 3,
          .attrs = {{Attr::update_window_dims, AttrKind::ints},
                    {Attr::inserted_window_dims, AttrKind::ints},
                    {Attr::input_batching_dims, AttrKind::ints},
                    {Attr::scatter_indices_batching_dims, AttrKind::ints},
                    {Attr::scatter_dims_to_operand_dims, AttrKind::ints},
                    {Attr::index_vector_dim, AttrKind::integer},
                    {Attr::indices_are_sorted, AttrKind::flag, true},
                    {Attr::unique_indices, AttrKind::flag, true},
                    {Attr::in_bounds, AttrKind::flag, true}},
          .regions = 1,
          .infer = infer_scatter,
          .eval = eval_scatter,
          .names = {.stablehlo = "scatter", .hlo = "scatter", .aten = "index_put"}};
}

OpDef define_check_range() {
  return {.doc =
              "Its operand; a run where an element is not in [0, limit) ends in an error. What nothing reads is not "
              "looked at.",
          .attrs = {{Attr::limit_indices, AttrKind::dims},
                    {Attr::label, AttrKind::text},
                    {Attr::message, AttrKind::text, true},
                    {Attr::axis, AttrKind::integer, true},
                    {Attr::number, AttrKind::integer, true}},
          .infer = infer_check_range,
          .eval = eval_check_range,
          .names = {.stablehlo = "weft.check_range"},
          .traits = {.elementwise = true}};
}

}  // namespace weft
