// Parts of tensors: basic indexing, and elements at places that are values.
#include <algorithm>

#include "weft/frontend/bounds.h"
#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"
#include "weft/frontend/view.h"

namespace weft {
namespace {

// What indices select of each axis: from `start`, `count` elements by `step`; and the shape with axes dropped and
// added.
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
  if (place.is_static()) require_inside(place.value(), extent, static_cast<int64_t>(axis));
  Dim start = from_start(place, extent);
  // A place that is not known to lie inside is brought inside when the program runs.
  if (start.min() < 0 || known_less(start, extent) != true) start = weft::max(0, weft::min(start, extent - 1));
  to.starts.push_back(std::move(start));
  to.counts.push_back(1);
  to.steps.push_back(1);
}

// How many axes an index leaves to an ellipsis, or to what follows it.
size_t whole_axes_of(const Tensor& x, const std::vector<Selector>& places) {
  size_t used = 0, ellipses = 0;
  for (const Selector& place : places) {
    ellipses += std::holds_alternative<Ellipsis>(place.item);
    used += !std::holds_alternative<Ellipsis>(place.item) && !std::holds_alternative<NewAxis>(place.item);
  }
  if (ellipses > 1) fail(ErrorKind::index, "two_ellipses", "an index can only have a single ellipsis");
  if (used > x.dims().size())
    fail(ErrorKind::index, "too_many_indices", "too many indices: the array has ", x.rank(), " axes, but ", used,
         " were indexed");
  return x.dims().size() - used;
}

Selection selected(const Tensor& x, const std::vector<Selector>& places) {
  const size_t whole = whole_axes_of(x, places);
  Selection result;
  auto whole_axes = [&](size_t count) {
    for (; count > 0; --count) select_range(result, {}, x.dims()[result.starts.size()]);
  };
  for (const Selector& place : places) {
    size_t axis = result.starts.size();
    if (std::holds_alternative<Ellipsis>(place.item))
      whole_axes(whole);
    else if (std::holds_alternative<NewAxis>(place.item))
      result.shape.push_back(1);
    else if (const auto* range = std::get_if<Slice>(&place.item))
      select_range(result, *range, x.dims()[axis]);
    else
      select_place(result, std::get<Dim>(place.item), x.dims()[axis], axis);
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

Tensor shaped(const Tensor& x, const Dims& dims) {
  return x.dims() == dims ? x : apply(Op::reshape, {x}, {{Attr::dims, dims}});
}

Tensor part_of(const Tensor& x, Selection selection) {
  Ints reversed, strides = ascending(selection, reversed);
  Dims limits;
  for (size_t i = 0; i < strides.size(); ++i)
    limits.push_back(selection.counts[i].is(0) ? selection.starts[i]
                                               : selection.starts[i] + (selection.counts[i] - 1) * strides[i] + 1);
  Tensor part = x;
  if (selection.counts != x.dims() || !reversed.empty())
    part = apply(Op::slice, {x},
                 {{Attr::start_indices, selection.starts}, {Attr::limit_indices, limits}, {Attr::strides, strides}});
  if (!reversed.empty()) part = apply(Op::reverse, {part}, {{Attr::dimensions, reversed}});
  return shaped(part, selection.shape);
}

Tensor as_number(const Dim& dim) {
  return dim.is_static() ? number(static_cast<double>(dim.value()), DType::i64) : extent(dim);
}

// An item of an index that is a value, as places that lie inside.
Tensor place_values(const Selector& selector, const Dim& extent, int64_t axis) {
  const auto* values = std::get_if<Tensor>(&selector.item);
  if (values && selector.is_inside) return *values;
  const IndexPlaces places = places_of(values ? *values : as_number(std::get<Dim>(selector.item)), extent, axis);
  if (places.are_inside) return places.from_start;
  return apply(Op::check_range, {places.from_start},
               {{Attr::limit_indices, Dims{extent}}, {Attr::label, std::string("index_bounds")}, {Attr::axis, axis}});
}

bool has_values(const std::vector<Selector>& items) {
  return std::any_of(items.begin(), items.end(),
                     [](const Selector& item) { return std::holds_alternative<Tensor>(item.item); });
}

// What an index with values is about.
struct Placed {
  Tensor base, places;  // what ranges and new axes leave of the tensor; where in it, as vectors along the last axis
  Ints axes, window;    // of the base: those whose places are values; of the result: the others
  Dims dims;            // of the result
};

Placed placed(const Tensor& x, std::vector<Selector> items) {
  const auto whole = static_cast<int64_t>(whole_axes_of(x, items));
  Placed result;
  Dims shared;
  std::vector<Tensor> places;
  bool is_apart = false;
  int64_t axis = 0, kept = 0;
  for (size_t i = 0, last = 0; i < items.size(); ++i) {
    const bool is_new = std::holds_alternative<NewAxis>(items[i].item),
               is_ellipsis = std::holds_alternative<Ellipsis>(items[i].item);
    if (!is_new && !is_ellipsis && !std::holds_alternative<Slice>(items[i].item)) {
      is_apart = is_apart || (!places.empty() && i != last + 1);
      last = i;
      result.axes.push_back(kept);
      places.push_back(place_values(items[i], x.dims()[static_cast<size_t>(axis)], axis));
      shared = broadcast(shared, places.back().dims());
      items[i] = Slice{};
    }
    axis += is_ellipsis ? whole : !is_new;
    kept += is_ellipsis ? whole : 1;
  }
  result.base = part_of(x, selected(x, items));
  // Where the shape of the places stands in the result.
  const int64_t at = is_apart ? 0 : result.axes[0], along = static_cast<int64_t>(shared.size());
  for (axis = 0; axis < result.base.rank(); ++axis) {
    if (std::find(result.axes.begin(), result.axes.end(), axis) != result.axes.end()) continue;
    const auto i = static_cast<int64_t>(result.dims.size());
    result.window.push_back(i < at ? i : i + along);
    result.dims.push_back(result.base.dims()[static_cast<size_t>(axis)]);
  }
  result.dims.insert(result.dims.begin() + at, shared.begin(), shared.end());
  Dims vectors = shared;
  vectors.push_back(1);
  for (Tensor& place : places) place = shaped(broadcast_to(place, shared), vectors);
  result.places =
      places.size() == 1 ? places[0] : apply(Op::concatenate, std::move(places), {{Attr::dimension, along}});
  return result;
}

Tensor read_at(const Tensor& x, const std::vector<Selector>& items) {
  const Placed from = placed(x, items);
  if (std::any_of(from.dims.begin(), from.dims.end(), [](const Dim& dim) { return dim.is(0); }))
    return zeros(from.dims, x.dtype());
  Dims sizes = from.base.dims();
  for (int64_t axis : from.axes) {
    if (sizes[static_cast<size_t>(axis)].is(0))
      fail(ErrorKind::index, "index_bounds", "an index is out of bounds for axis ", axis, " with size 0");
    sizes[static_cast<size_t>(axis)] = 1;
  }
  return apply(Op::gather, {from.base, from.places},
               {{Attr::offset_dims, from.window},
                {Attr::collapsed_slice_dims, from.axes},
                {Attr::operand_batching_dims, Ints{}},
                {Attr::start_indices_batching_dims, Ints{}},
                {Attr::start_index_map, from.axes},
                {Attr::index_vector_dim, from.places.rank() - 1},
                {Attr::slice_sizes, sizes}});
}

// What a scatter makes of an element and an update of it: the update, or an operation on both.
GraphPtr scatter_body(DType dtype, std::optional<Op> combine) {
  if (combine) return binary_body(*combine, dtype);
  Builder build(Level::flat);
  build.parameter({dtype, {}}, "");
  const Value update = build.parameter({dtype, {}}, "");
  return build.finish({{update, ""}});
}

// Assignment takes a value with more axes where the first ones have extent 1.
Tensor fitted(Tensor value, const Dims& dims) {
  while (value.dims().size() > dims.size() && value.dims()[0].is(1))
    value = shaped(value, Dims(value.dims().begin() + 1, value.dims().end()));
  return broadcast_to(value, dims);
}

Tensor write_at(const Tensor& x, const std::vector<Selector>& items, const Operand& value, std::optional<Op> combine) {
  const Placed to = placed(x, items);
  Tensor part = apply(Op::scatter, {to.base, to.places, fitted(as_tensor(value, x.dtype()), to.dims)},
                      {{Attr::update_window_dims, to.window},
                       {Attr::inserted_window_dims, to.axes},
                       {Attr::scatter_dims_to_operand_dims, to.axes},
                       {Attr::input_batching_dims, Ints{}},
                       {Attr::scatter_indices_batching_dims, Ints{}},
                       {Attr::index_vector_dim, to.places.rank() - 1}},
                      {scatter_body(x.dtype(), combine)});
  if (to.base.is_same(x)) return part;
  const std::vector<Move> moves = *moves_between(x, to.base);
  std::vector<Tensor> wholes{x};
  for (const Move& move : moves) wholes.push_back(move.read(wholes.back()));
  for (size_t i = moves.size(); i-- > 0;) part = moves[i].write(wholes[i], part);
  return part;
}

}  // namespace

Tensor Tensor::operator[](const Selector& place) const { return weft::index(*this, {place}, place.where); }
Tensor Tensor::operator[](std::initializer_list<Selector> places) const {
  return weft::index(*this, places, places.size() ? places.begin()->where : Where());
}

Tensor index(const Tensor& x, const std::vector<Selector>& places, Where where) {
  return recorded("index", where,
                  [&] { return has_values(places) ? read_at(x, places) : part_of(x, selected(x, places)); });
}

Tensor slice(const Tensor& x, int64_t axis, const Slice& range, Where where) {
  return recorded("slice", where, [&] {
    std::vector<Selector> places(static_cast<size_t>(one_axis(axis, x.rank())), Selector(Slice()));
    places.emplace_back(range);
    return part_of(x, selected(x, places));
  });
}

Tensor update(const Tensor& x, const std::vector<Selector>& places, const Operand& value, std::optional<Op> combine) {
  return recorded("update", value.where, [&] {
    if (has_values(places)) return write_at(x, places, value, combine);
    Selection selection = selected(x, places);
    Tensor part = fitted(as_tensor(value, x.dtype()), selection.shape);
    if (combine) part = apply(*combine, {part_of(x, selection), part});
    part = shaped(part, selection.counts);
    Ints reversed, strides = ascending(selection, reversed);
    if (!reversed.empty()) part = apply(Op::reverse, {part}, {{Attr::dimensions, reversed}});
    return put_slice(x, part, selection.starts, strides);
  });
}

Tensor diagonal(const Tensor& given, int64_t k, int64_t first, int64_t second, Where where) {
  return recorded("diagonal", where, [&] {
    if (given.rank() < 2)
      fail(ErrorKind::value, "diagonal_rank", "an array of at least two dimensions was wanted, got ", given.type());
    if (one_axis(first, given.rank()) == one_axis(second, given.rank()))
      fail(ErrorKind::value, "axis_duplicate", "axis1 and axis2 cannot be the same");
    const Tensor x = moveaxis(given, {first, second}, {-2, -1});
    Dims dims(x.dims().begin(), x.dims().end() - 2);
    const Dim rows = x.dims()[dims.size()], columns = x.dims().back();
    const int64_t row = std::max<int64_t>(-k, 0), column = std::max<int64_t>(k, 0);
    const Dim count = weft::max(0, weft::min(rows - row, columns - column)), start = columns * row + column;
    dims.push_back(rows * columns);
    const Tensor line = shaped(x, dims);
    if (count.is(0)) return slice(line, -1, {0, 0});
    // Extents that only the run knows give no fixed stride.
    if (!rows.is_static() || !columns.is_static())
      return read_at(line, {ellipsis, Selector::inside(arange(count) * as_number(columns + 1) + as_number(start))});
    return slice(line, -1, {start, start + (count - 1) * (columns + 1) + 1, columns.value() + 1});
  });
}

void require_inside(int64_t place, const Dim& extent, int64_t axis) {
  // Places in extents that are computed of others are brought inside when the program runs.
  const std::vector<Symbol> symbols = extent.symbols();
  const int64_t least = symbols.empty() || extent == Dim(symbols[0]) ? extent.min() : extent.max();
  if (place >= -least && place < least) return;
  fail(ErrorKind::index, "index_bounds", "index ", place, " is out of bounds for axis ", axis,
       extent.is_static() ? " with size " : " where its size ", extent,
       extent.is_static()
           ? ""
           : cat(" is ", least, ": give its Dim a min for which that is at least ", place < 0 ? -place : place + 1));
}

IndexPlaces places_of(const Tensor& indices, const Dim& extent, int64_t axis) {
  if (!is_integer(indices.dtype()))
    fail(ErrorKind::index, "index_dtype", "arrays used as indices must be of integer (or boolean) type, got ",
         numpy_name(indices.dtype()));
  const Literal* known = indices.constant();
  if (known && !known->is_live()) {
    Literal places(Type{DType::i64, known->type().dims});
    for (int64_t i = 0; i < known->count(); ++i) {
      const int64_t place = known->as_int(i);
      require_inside(place, extent, axis);
      places.mutable_data<int64_t>()[static_cast<size_t>(i)] =
          place < 0 && extent.is_static() ? place + extent.value() : place;
    }
    if (extent.is_static()) return {constant(std::move(places)), true};
  }
  const std::optional<Bounds> bounds = bounds_of(indices);
  const bool are_inside =
      known || (bounds && known_at_most(0 - extent, bounds->least) && known_at_most(bounds->greatest, extent - 1));
  const Tensor places = cast_to(indices, DType::i64);
  if (is_unsigned(indices.dtype()) || (bounds && known_at_most(0, bounds->least))) return {places, are_inside};
  const Tensor from_end = apply(Op::add, {places, as_number(extent)});
  return {apply(Op::select, {compared("LT", places, number(0, DType::i64)), from_end, places}), are_inside};
}

Tensor take(const Tensor& x, const Tensor& indices, int64_t axis, Where where) {
  return recorded("take", where, [&] {
    std::vector<Selector> places(static_cast<size_t>(one_axis(axis, x.rank())), Selector(Slice()));
    places.emplace_back(indices);
    return read_at(x, places);
  });
}

Tensor take_along_axis(const Tensor& x, const Tensor& indices, int64_t axis, Where where) {
  return recorded("take_along_axis", where, [&] {
    const int64_t along = one_axis(axis, x.rank());
    if (indices.rank() != x.rank())
      fail(ErrorKind::value, "take_along_rank", "needs indices of ", x.rank(), " axes, got ", indices.type());
    std::vector<Selector> places;
    for (int64_t i = 0; i < x.rank(); ++i) {
      Dims line(x.dims().size(), 1);
      line[static_cast<size_t>(i)] = x.dims()[static_cast<size_t>(i)];
      places.push_back(i == along ? Selector(indices)
                                  : Selector::inside(shaped(arange(x.dims()[static_cast<size_t>(i)]), line)));
    }
    return read_at(x, places);
  });
}

}  // namespace weft
