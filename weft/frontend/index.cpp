// Parts of tensors: basic indexing, and elements at places that are values.
#include <algorithm>

#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"
#include "weft/frontend/view.h"

namespace weft {
namespace {

// What indices select of each axis: from `start`, `count` elements by `step`; and the shape with axes dropped and added.
struct Selection {
  Dims starts, counts, shape;
  Ints steps;
};

// A position that may count from the end, counted from the beginning.
Dim from_start(const Dim& position, const Dim& extent) {
  if (position.min() >= 0) return position;
  return position.max() < 0 ? position + extent : mod(position, extent);
}

// Error(value, "slice_step").
void select_range(Selection& to, const Slice& range, const Dim& extent) {
  if (range.step == 0) fail(ErrorKind::value, "slice_step", "slice step cannot be zero");
  bool up = range.step > 0;
  Dim low = up ? Dim(0) : Dim(-1), high = up ? extent : extent - 1;
  auto bound = [&](const std::optional<Dim>& given, const Dim& otherwise) {
    if (!given) return otherwise;
    // What lies before the first element by counting from the end is cut off there.
    Dim place = given->is_static() && given->value() < 0 ? *given + extent : from_start(*given, extent);
    return weft::max(low, weft::min(place, high));
  };
  Dim start = bound(range.start, up ? low : high), stop = bound(range.stop, up ? high : low);
  Dim distance = up ? stop - start : start - stop;
  Dim count = weft::max(0, ceildiv(distance, up ? range.step : -range.step));
  to.starts.push_back(count.is(0) ? Dim(0) : start);
  to.counts.push_back(count);
  to.steps.push_back(range.step);
  to.shape.push_back(count);
}

void select_place(Selection& to, const Dim& place, const Dim& extent, size_t axis) {
  if (int64_t least = extent.min(); place.is_static() && (place.value() < -least || place.value() >= least))
    fail(ErrorKind::index, "index_bounds", "index ", place, " is out of bounds for axis ", axis, " with size ", extent,
         extent.is_static() ? "" : cat(" where that is ", least, ": give its Dim a min for which that is at least ", place.value() < 0 ? -place.value() : place.value() + 1));
  Dim start = from_start(place, extent);
  // A place that is not known to lie inside is brought inside when the program runs.
  if (!place.is_static() && (start.min() < 0 || known_less(start, extent) != true)) start = weft::max(0, weft::min(start, extent - 1));
  to.starts.push_back(std::move(start));
  to.counts.push_back(1);
  to.steps.push_back(1);
}

Selection selected(const Tensor& x, const std::vector<Selector>& places) {
  size_t used = 0, ellipses = 0;
  for (const Selector& place : places) {
    ellipses += std::holds_alternative<Ellipsis>(place.item);
    used += std::holds_alternative<Dim>(place.item) || std::holds_alternative<Slice>(place.item);
  }
  if (ellipses > 1) fail(ErrorKind::index, "two_ellipses", "an index can only have a single ellipsis");
  if (used > x.dims().size()) fail(ErrorKind::index, "too_many_indices", "too many indices: the array has ", x.rank(), " axes, but ", used, " were indexed");
  Selection result;
  auto whole_axes = [&](size_t count) {
    for (; count > 0; --count) select_range(result, {}, x.dims()[result.starts.size()]);
  };
  for (const Selector& place : places) {
    size_t axis = result.starts.size();
    if (std::holds_alternative<Ellipsis>(place.item)) whole_axes(x.dims().size() - used);
    else if (std::holds_alternative<NewAxis>(place.item)) result.shape.push_back(1);
    else if (const auto* range = std::get_if<Slice>(&place.item)) select_range(result, *range, x.dims()[axis]);
    else select_place(result, std::get<Dim>(place.item), x.dims()[axis], axis);
  }
  whole_axes(x.dims().size() - result.starts.size());
  return result;
}

// The same elements in ascending order: strides, and the axes to reverse. Moves starts.
Ints ascending(Selection& selection, Ints& reversed) {
  Ints strides = selection.steps;
  for (size_t i = 0; i < strides.size(); ++i) {
    if (strides[i] > 0) continue;
    if (!selection.counts[i].is(0)) selection.starts[i] = selection.starts[i] + (selection.counts[i] - 1) * strides[i];
    strides[i] = -strides[i];
    reversed.push_back(static_cast<int64_t>(i));
  }
  return strides;
}

Tensor shaped(const Tensor& x, const Dims& dims) { return x.dims() == dims ? x : apply(Op::reshape, {x}, {{Attr::dims, dims}}); }

Tensor part_of(const Tensor& x, Selection selection) {
  Ints reversed, strides = ascending(selection, reversed);
  Dims limits;
  for (size_t i = 0; i < strides.size(); ++i)
    limits.push_back(selection.counts[i].is(0) ? selection.starts[i] : selection.starts[i] + (selection.counts[i] - 1) * strides[i] + 1);
  Tensor part = x;
  if (selection.counts != x.dims() || !reversed.empty())
    part = apply(Op::slice, {x}, {{Attr::start_indices, selection.starts}, {Attr::limit_indices, limits}, {Attr::strides, strides}});
  if (!reversed.empty()) part = apply(Op::reverse, {part}, {{Attr::dimensions, reversed}});
  return shaped(part, selection.shape);
}

Tensor as_number(const Dim& dim) {
  return dim.is_static() ? number(static_cast<double>(dim.value()), DType::i64) : extent(dim);
}

// Indices from 0 on, where negative ones count from the end; a run ends in an error where one lies outside.
Tensor from_zero(const Tensor& indices, const Dim& extent_of_axis, int64_t axis) {
  if (!is_integer(indices.dtype())) fail(ErrorKind::type, "index_dtype", "indices must be integers, got ", indices.type());
  Tensor places = cast_to(indices, DType::i64);
  if (!is_unsigned(indices.dtype())) {
    const Tensor from_end = apply(Op::add, {places, as_number(extent_of_axis)});
    places = apply(Op::select, {compared("LT", places, number(0, DType::i64)), from_end, places});
  }
  return apply(Op::check_range, {places}, {{Attr::limit_indices, Dims{extent_of_axis}}, {Attr::label, std::string("index_bounds")}, {Attr::axis, axis}});
}

// Whether nothing is taken from an axis that has nothing. Error(index, "empty_take") where something is, or may be.
bool takes_nothing(const Tensor& indices, const Dim& extent_of_axis) {
  if (extent_of_axis.min() > 0) return false;
  if (!indices.type().count().is(0))
    fail(ErrorKind::index, "empty_take", "cannot take elements from an axis of extent ", extent_of_axis, extent_of_axis.is_static() ? "" : ", which may be 0");
  return true;
}

// The elements of the last axis at places that lie inside.
Tensor gathered(const Tensor& x, const Tensor& places) {
  Ints offsets;
  Dims sizes = x.dims();
  sizes.back() = 1;
  for (int64_t i = 0; i + 1 < x.rank(); ++i) offsets.push_back(i);
  return apply(Op::gather, {x, places},
               {{Attr::offset_dims, offsets},
                {Attr::collapsed_slice_dims, Ints{x.rank() - 1}},
                {Attr::operand_batching_dims, Ints{}},
                {Attr::start_indices_batching_dims, Ints{}},
                {Attr::start_index_map, Ints{x.rank() - 1}},
                {Attr::index_vector_dim, int64_t{1}},
                {Attr::slice_sizes, sizes}});
}

}  // namespace

Tensor Tensor::operator[](const Selector& place) const { return weft::index(*this, {place}, place.where); }
Tensor Tensor::operator[](std::initializer_list<Selector> places) const {
  return weft::index(*this, places, places.size() ? places.begin()->where : Where());
}

Tensor index(const Tensor& x, const std::vector<Selector>& places, Where where) {
  return recorded("index", where, [&] { return part_of(x, selected(x, places)); });
}

Tensor slice(const Tensor& x, int64_t axis, const Slice& range, Where where) {
  return recorded("slice", where, [&] {
    std::vector<Selector> places(static_cast<size_t>(one_axis(axis, x.rank())), Selector(Slice()));
    places.emplace_back(range);
    return part_of(x, selected(x, places));
  });
}

Tensor update(const Tensor& x, const std::vector<Selector>& places, const Operand& value) {
  return recorded("update", value.where, [&] {
    Selection selection = selected(x, places);
    Tensor part = shaped(broadcast_to(as_tensor(value, x.dtype()), selection.shape), selection.counts);
    Ints reversed, strides = ascending(selection, reversed);
    if (!reversed.empty()) part = apply(Op::reverse, {part}, {{Attr::dimensions, reversed}});
    return put_slice(x, part, selection.starts, strides);
  });
}

Tensor diagonal(const Tensor& given, int64_t k, int64_t first, int64_t second, Where where) {
  return recorded("diagonal", where, [&] {
    if (given.rank() < 2) fail(ErrorKind::value, "diagonal_rank", "an array of at least two dimensions was wanted, got ", given.type());
    if (one_axis(first, given.rank()) == one_axis(second, given.rank())) fail(ErrorKind::value, "axis_duplicate", "axis1 and axis2 cannot be the same");
    const Tensor x = moveaxis(given, {first, second}, {-2, -1});
    Dims dims(x.dims().begin(), x.dims().end() - 2);
    const Dim rows = x.dims()[dims.size()], columns = x.dims().back();
    const int64_t row = std::max<int64_t>(-k, 0), column = std::max<int64_t>(k, 0);
    const Dim count = weft::max(0, weft::min(rows - row, columns - column)), start = columns * row + column;
    dims.push_back(rows * columns);
    const Tensor line = shaped(x, dims);
    if (count.is(0)) return slice(line, -1, {0, 0});
    // Extents that only the run knows give no fixed stride.
    if (!rows.is_static() || !columns.is_static()) return gathered(line, arange(count) * as_number(columns + 1) + as_number(start));
    return slice(line, -1, {start, start + (count - 1) * (columns + 1) + 1, columns.value() + 1});
  });
}

Tensor take(const Tensor& x, const Tensor& indices, int64_t axis, Where where) {
  return recorded("take", where, [&] {
    int64_t along = one_axis(axis, x.rank());
    Ints offsets;
    Dims sizes = x.dims(), dims = sizes;
    if (takes_nothing(indices, sizes[static_cast<size_t>(along)])) {
      dims.erase(dims.begin() + along);
      dims.insert(dims.begin() + along, indices.dims().begin(), indices.dims().end());
      return zeros(dims, x.dtype());
    }
    sizes[static_cast<size_t>(along)] = 1;
    for (int64_t i = 0; i < x.rank(); ++i)
      if (i != along) offsets.push_back(i < along ? i : i + indices.rank() - 1);
    return apply(Op::gather, {x, from_zero(indices, x.dims()[static_cast<size_t>(along)], along)},
                 {{Attr::offset_dims, offsets},
                  {Attr::collapsed_slice_dims, Ints{along}},
                  {Attr::operand_batching_dims, Ints{}},
                  {Attr::start_indices_batching_dims, Ints{}},
                  {Attr::start_index_map, Ints{along}},
                  {Attr::index_vector_dim, indices.rank()},
                  {Attr::slice_sizes, sizes}});
  });
}

Tensor take_along_axis(const Tensor& x, const Tensor& indices, int64_t axis, Where where) {
  return recorded("take_along_axis", where, [&] {
    int64_t along = one_axis(axis, x.rank());
    if (indices.rank() != x.rank()) fail(ErrorKind::value, "take_along_rank", "needs indices of ", x.rank(), " axes, got ", indices.type());
    if (takes_nothing(indices, x.dims()[static_cast<size_t>(along)])) return zeros(indices.dims(), x.dtype());
    Ints batching;
    for (int64_t i = 0; i < x.rank(); ++i)
      if (i != along) batching.push_back(i);
    return apply(Op::gather, {x, from_zero(indices, x.dims()[static_cast<size_t>(along)], along)},
                 {{Attr::offset_dims, Ints{}},
                  {Attr::collapsed_slice_dims, Ints{along}},
                  {Attr::operand_batching_dims, batching},
                  {Attr::start_indices_batching_dims, batching},
                  {Attr::start_index_map, Ints{along}},
                  {Attr::index_vector_dim, indices.rank()},
                  {Attr::slice_sizes, Dims(x.dims().size(), Dim(1))}});
  });
}

}  // namespace weft
