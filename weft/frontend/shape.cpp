// New tensors, and tensors in another shape.
#include <algorithm>
#include <limits>
#include <numeric>

#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"

namespace weft {
namespace {

void require_extents(const Dims& dims) {
  for (const Dim& dim : dims)
    if (dim.max() < 0) fail(ErrorKind::value, "extent", "extents must be 0 or more, got ", dims);
}

Tensor spread(const Tensor& x, const Dims& dims) {
  require_extents(dims);
  if (x.dims() == dims) return x;
  size_t offset = dims.size() - x.dims().size();
  bool fits = dims.size() >= x.dims().size();
  for (size_t i = 0; fits && i < x.dims().size(); ++i) fits = x.dims()[i].is(1) || x.dims()[i] == dims[offset + i];
  if (!fits)
    fail(ErrorKind::value, "broadcast_to", "could not broadcast input array from shape ", tuple_text(x.dims()),
         " into shape ", tuple_text(dims));
  Ints dimensions(x.dims().size());
  std::iota(dimensions.begin(), dimensions.end(), static_cast<int64_t>(offset));
  return apply(Op::broadcast_in_dim, {x}, {{Attr::dims, dims}, {Attr::dimensions, std::move(dimensions)}});
}

Dim product(const Dims& dims) { return Type{DType::i64, dims}.count(); }

// The product of extents over that of divisors; factors that occur in both cancel, so that extents stay simple.
Dim quotient(Dims extents, const Dims& divisors) {
  Dims left;
  for (const Dim& divisor : divisors) {
    auto same = std::find(extents.begin(), extents.end(), divisor);
    if (same == extents.end())
      left.push_back(divisor);
    else
      extents.erase(same);
  }
  return floordiv(product(extents), product(left));
}

Tensor reshaped(const Tensor& x, Dims dims) {
  const Dims wanted = dims;
  const auto is_unknown = [](const Dim& dim) { return dim.max() < 0; };
  auto unknown = std::find_if(dims.begin(), dims.end(), is_unknown);
  if (std::count_if(dims.begin(), dims.end(), is_unknown) > 1)
    fail(ErrorKind::value, "reshape", "can only specify one unknown dimension, got ", tuple_text(wanted));
  const auto refuse = [&] {
    fail(ErrorKind::value, "reshape", "cannot reshape array of size ", x.type().count(), " into shape ",
         tuple_text(wanted));
  };
  if (unknown != dims.end()) {
    Dims known = dims;
    known.erase(known.begin() + (unknown - dims.begin()));
    if (product(known).is(0)) refuse();
    *unknown = quotient(x.dims(), known);
  }
  if (!(product(dims) == x.type().count())) refuse();
  return x.dims() == dims ? x : apply(Op::reshape, {x}, {{Attr::dims, std::move(dims)}});
}

Ints in_order(int64_t rank) {
  Ints axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

Tensor permuted(const Tensor& x, Ints permutation) {
  if (static_cast<int64_t>(permutation.size()) != x.rank())
    fail(ErrorKind::value, "transpose_axes", "axes don't match array: axes ", tuple_text(permutation), ", array of ",
         x.rank(), " dimensions");
  for (int64_t& axis : permutation) axis = one_axis(axis, x.rank());
  if (Ints sorted = permutation; std::sort(sorted.begin(), sorted.end()), sorted != in_order(x.rank()))
    fail(ErrorKind::value, "transpose_axes", "repeated axis in transpose: axes ", tuple_text(permutation));
  if (permutation == in_order(x.rank())) return x;
  return apply(Op::transpose, {x}, {{Attr::permutation, std::move(permutation)}});
}

// Axes in the order in which they are given, each once.
Ints listed_axes(const Axes& axes, int64_t rank) {
  axes_of(axes, rank);
  Ints result;
  for (int64_t axis : axes.list ? *axes.list : in_order(rank)) result.push_back(one_axis(axis, rank));
  return result;
}

std::string shapes_of(const std::vector<Tensor>& tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) append(text, text.empty() ? "" : ", ", tuple_text(tensor.dims()));
  return text;
}

Tensor joined(std::vector<Tensor> tensors, std::optional<int64_t> axis) {
  if (tensors.empty()) fail(ErrorKind::value, "no_tensors", "need at least one array to concatenate");
  if (!axis)
    for (Tensor& tensor : tensors) tensor = reshaped(tensor, {-1});
  DType dtype = result_type(tensors);
  for (Tensor& tensor : tensors) {
    if (tensor.rank() != tensors[0].rank() || tensor.rank() == 0)
      fail(ErrorKind::value, "concatenate_rank",
           "arrays to concatenate must have the same number of dimensions, at least 1, got shapes ",
           shapes_of(tensors));
    tensor = cast_to(tensor, dtype);
  }
  const int64_t along = one_axis(axis.value_or(0), tensors[0].rank());
  return tensors.size() == 1 ? tensors[0] : apply(Op::concatenate, std::move(tensors), {{Attr::dimension, along}});
}

Tensor with_axis(const Tensor& x, int64_t axis) {
  Dims dims = x.dims();
  dims.insert(dims.begin() + one_axis(axis, x.rank() + 1), 1);
  return reshaped(x, std::move(dims));
}

Tensor ramp(Dim count, DType dtype) {
  require_extents({count});
  return apply(Op::iota, {},
               {{Attr::type, dtype}, {Attr::dims, Dims{std::move(count)}}, {Attr::dimension, int64_t{0}}});
}

// How many numbers there are from `start` on before `stop`.
Dim ramp_count(const Dim& start, const Dim& stop, int64_t step) {
  const bool up = step > 0;
  const Dim &low = up ? start : stop, &high = up ? stop : start;
  if (!low.is_static() || !high.is_static()) return weft::max(ceildiv(high - low, up ? step : -step), 0);
  if (low.value() >= high.value()) return 0;
  // Distances of more than 63 bits are none for unsigned numbers.
  const uint64_t by = up ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t count = (static_cast<uint64_t>(high.value()) - static_cast<uint64_t>(low.value()) - 1) / by + 1;
  if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    fail(ErrorKind::value, "extent", "Maximum allowed size exceeded: ", count, " elements");
  return static_cast<int64_t>(count);
}

// The diagonal, or one beside the last where it is further out; of symbolic extents nobody knows.
int64_t near_diagonal(int64_t k, const Dim& rows, const Dim& columns) {
  return rows.is_static() && columns.is_static() ? std::clamp(k, -rows.value() - 1, columns.value() + 1) : k;
}

// The elements on the k-th diagonal and below it, or above; zeros elsewhere. A vector is each of as many rows.
Tensor triangle(std::string_view function, const Tensor& given, int64_t k, bool lower, Where where) {
  return recorded(function, where, [&] {
    if (given.rank() == 0)
      fail(ErrorKind::value, "triangle_rank", "an array of at least one dimension was wanted, got ", given.type());
    const Tensor x = given.rank() > 1 ? given : spread(given, {given.dims()[0], given.dims()[0]});
    const Dim &rows = x.dims()[x.dims().size() - 2], &columns = x.dims().back();
    const int64_t near = near_diagonal(k, rows, columns);
    const Tensor row = with_axis(ramp(rows, DType::i64), 1), column = ramp(columns, DType::i64);
    return weft::where(lower ? column <= row + near : row + near <= column, x, number(0, x.dtype()));
  });
}

std::vector<Tensor> parts(const Tensor& x, int64_t axis, const Dims& places) {
  std::vector<Tensor> result;
  for (size_t i = 0; i + 1 < places.size(); ++i) result.push_back(slice(x, axis, {places[i], places[i + 1]}));
  return result;
}

Tensor constant_of(Dims dims, double value, DType dtype, std::string_view function, Where where) {
  return recorded(function, where, [&] { return spread(number(value, dtype), dims); });
}

}  // namespace

Tensor full(Dims dims, const Operand& value, std::optional<DType> dtype) {
  return recorded("full", value.where,
                  [&] { return spread(as_tensor(value, dtype ? *dtype : result_type({&value})), dims); });
}
Tensor zeros(Dims dims, DType dtype, Where where) { return constant_of(std::move(dims), 0, dtype, "zeros", where); }
Tensor ones(Dims dims, DType dtype, Where where) { return constant_of(std::move(dims), 1, dtype, "ones", where); }
Tensor zeros_like(const Tensor& x, Where where) { return zeros(x.dims(), x.dtype(), where); }
Tensor ones_like(const Tensor& x, Where where) { return ones(x.dims(), x.dtype(), where); }
Tensor arange(Dim stop, DType dtype, Where where) { return arange(0, std::move(stop), 1, dtype, where); }
Tensor arange(Dim start, Dim stop, int64_t step, DType dtype, Where where) {
  return recorded("arange", where, [&] {
    if (step == 0) fail(ErrorKind::value, "arange_step", "Maximum allowed size exceeded: the step is zero");
    Tensor places = ramp(ramp_count(start, stop, step), DType::i64);
    if (step != 1) places = places * step;
    if (!start.is(0)) places = start.is_static() ? places + start.value() : places + extent(start);
    return cast_to(places, dtype);
  });
}
std::pair<Tensor, Tensor> spaced(const Operand& start, const Operand& stop, const Dim& count, const Spacing& how) {
  return recorded("linspace", start.where, [&] {
    if (count.max() < 0)
      fail(ErrorKind::value, "linspace_count", "number of samples, ", count, ", must be non-negative");
    const Operand one(1.0);
    const DType inner = result_type({&start, &stop, &one}), dtype = how.dtype.value_or(inner);
    const Tensor first = as_tensor(start, inner), last = as_tensor(stop, inner), distance = last - first;
    Dims line(distance.dims().size() + 1, 1);
    line[0] = count;
    const Tensor places = reshaped(cast_to(ramp(count, DType::i64), inner), line);
    const Dim parts = how.endpoint ? count - Dim(1) : count;
    const bool always = parts.min() > 0, sometimes = parts.max() > 0 && !always;
    const Tensor divisor =
        parts.is_static() ? number(static_cast<double>(parts.value()), inner) : cast_to(extent(parts), inner);
    Tensor step = number(std::numeric_limits<double>::quiet_NaN(), DType::f64), values = places * distance;
    if (always || sometimes) {
      const Tensor each = distance / divisor;
      // A step that vanishes would lose the distance.
      const Tensor apart = weft::where(any(each == 0), places / divisor * distance, places * each);
      step = always ? each : weft::where(divisor != 0, each, cast_to(step, inner));
      values = always ? apart : weft::where(divisor != 0, apart, values);
    }
    values = values + first;
    if (how.endpoint && always) values = update(values, {-1}, last);
    if (how.endpoint && sometimes) values = weft::where(logical_and(places == divisor, places != 0), last, values);
    values = moveaxis(values, 0, one_axis(how.axis, values.rank()));
    return std::pair(cast_to(is_integer(dtype) ? floor(values) : values, dtype), step);
  });
}
Tensor eye(Dim rows, std::optional<Dim> columns, int64_t k, DType dtype, Where where) {
  return recorded("eye", where, [&] {
    Tensor row = with_axis(ramp(rows, DType::i64), 1), column = ramp(columns ? *columns : rows, DType::i64);
    return cast_to(row + near_diagonal(k, rows, columns ? *columns : rows) == column, dtype);
  });
}
Tensor extent(Dim dim, Where where) {
  return recorded("extent", where, [&] { return apply(Op::extent, {}, {{Attr::dims, Dims{std::move(dim)}}}); });
}

Tensor reshape(const Tensor& x, Dims dims, Where where) {
  return recorded("reshape", where, [&] { return reshaped(x, std::move(dims)); });
}
Tensor ravel(const Tensor& x, Where where) { return reshape(x, {-1}, where); }
Tensor transpose(const Tensor& x, Ints permutation, Where where) {
  return recorded("transpose", where, [&] { return permuted(x, std::move(permutation)); });
}
Tensor transpose(const Tensor& x, Where where) {
  Ints axes = in_order(x.rank());
  return transpose(x, Ints(axes.rbegin(), axes.rend()), where);
}
Tensor swapaxes(const Tensor& x, int64_t first, int64_t second, Where where) {
  return recorded("swapaxes", where, [&] {
    Ints axes = in_order(x.rank());
    std::swap(axes[static_cast<size_t>(one_axis(first, x.rank()))],
              axes[static_cast<size_t>(one_axis(second, x.rank()))]);
    return permuted(x, std::move(axes));
  });
}
Tensor moveaxis(const Tensor& x, const Axes& source, const Axes& destination, Where where) {
  return recorded("moveaxis", where, [&] {
    const Ints from = listed_axes(source, x.rank()), to = listed_axes(destination, x.rank());
    if (from.size() != to.size())
      fail(ErrorKind::value, "moveaxis",
           "`source` and `destination` arguments must have the same number of elements, got ", from.size(), " and ",
           to.size());
    Ints axes(static_cast<size_t>(x.rank()), -1), rest;
    for (size_t i = 0; i < to.size(); ++i) axes[static_cast<size_t>(to[i])] = from[i];
    for (int64_t axis = x.rank(); axis-- > 0;)
      if (std::find(from.begin(), from.end(), axis) == from.end()) rest.push_back(axis);
    for (int64_t& axis : axes) {
      if (axis >= 0) continue;
      axis = rest.back();
      rest.pop_back();
    }
    return permuted(x, std::move(axes));
  });
}
Tensor broadcast_to(const Tensor& x, Dims dims, Where where) {
  return recorded("broadcast_to", where, [&] { return spread(x, dims); });
}
Tensor expand_dims(const Tensor& x, const Axes& axes, Where where) {
  return recorded("expand_dims", where, [&] {
    auto added = static_cast<int64_t>(axes.list ? axes.list->size() : 0);
    Dims dims = x.dims();
    for (int64_t axis : axes.list ? axes_of(axes, x.rank() + added) : Ints{}) dims.insert(dims.begin() + axis, 1);
    return reshaped(x, std::move(dims));
  });
}
Tensor squeeze(const Tensor& x, const Axes& axes, Where where) {
  return recorded("squeeze", where, [&] {
    Ints chosen = reduced_axes(axes, x.rank());
    Dims dims = x.dims();
    for (size_t i = chosen.size(); i-- > 0;) {
      const Dim& dim = x.dims()[static_cast<size_t>(chosen[i])];
      if (dim.is(1))
        dims.erase(dims.begin() + chosen[i]);
      else if (axes.list)
        fail(ErrorKind::value, "squeeze",
             "cannot select an axis to squeeze out which has size not equal to one, got axis ", chosen[i], " of size ",
             dim);
    }
    return reshaped(x, std::move(dims));
  });
}
Tensor concatenate(const std::vector<Tensor>& tensors, std::optional<int64_t> axis, Where where) {
  return recorded("concatenate", where, [&] { return joined(tensors, axis); });
}
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis, Where where) {
  return recorded("stack", where, [&] {
    if (tensors.empty()) fail(ErrorKind::value, "no_tensors", "need at least one array to stack");
    std::vector<Tensor> raised;
    for (const Tensor& tensor : tensors) {
      if (tensor.dims() != tensors[0].dims())
        fail(ErrorKind::value, "stack_shapes", "all input arrays must have the same shape, got ", shapes_of(tensors));
      raised.push_back(with_axis(tensor, axis));
    }
    return joined(std::move(raised), one_axis(axis, tensors[0].rank() + 1));
  });
}
std::vector<Tensor> array_split(const Tensor& x, int64_t count, int64_t axis, Where where) {
  return recorded("split", where, [&] {
    const Dim& dim = x.dims()[static_cast<size_t>(one_axis(axis, x.rank()))];
    if (count < 1) fail(ErrorKind::value, "split", "number sections must be larger than 0, got ", count);
    Dims places;
    // The first parts have one more, where as many are left.
    for (int64_t i = 0; i <= count; ++i)
      places.push_back(floordiv(dim, count) * i + (dim.is_static() ? weft::min(i, mod(dim, count)) : Dim(0)));
    return parts(x, axis, places);
  });
}
std::vector<Tensor> split(const Tensor& x, int64_t count, int64_t axis, Where where) {
  return recorded("split", where, [&] {
    const Dim& dim = x.dims()[static_cast<size_t>(one_axis(axis, x.rank()))];
    if (count > 0 && !mod(dim, count).is(0))
      fail(ErrorKind::value, "split", "array split does not result in an equal division: ", dim, " by ", count);
    return array_split(x, count, axis, where);
  });
}
std::vector<Tensor> split_at(const Tensor& x, const Dims& places, int64_t axis, Where where) {
  return recorded("split", where, [&] {
    Dims bounds{0};
    bounds.insert(bounds.end(), places.begin(), places.end());
    bounds.push_back(x.dims()[static_cast<size_t>(one_axis(axis, x.rank()))]);
    return parts(x, axis, bounds);
  });
}
Tensor repeat(const Tensor& x, const Dim& times, int64_t axis, Where where) {
  return recorded("repeat", where, [&] {
    int64_t along = one_axis(axis, x.rank());
    Tensor raised = with_axis(x, along + 1);
    Dims dims = raised.dims(), result = x.dims();
    dims[static_cast<size_t>(along) + 1] = times;
    result[static_cast<size_t>(along)] = result[static_cast<size_t>(along)] * times;
    return reshaped(spread(raised, dims), result);
  });
}
Tensor tile(const Tensor& x, const Dims& times, Where where) {
  return recorded("tile", where, [&] {
    Dims raised, spread_dims, result;
    size_t rank = std::max(times.size(), x.dims().size());
    for (size_t i = 0; i < rank; ++i) {
      Dim extent_here = i + x.dims().size() < rank ? Dim(1) : x.dims()[i + x.dims().size() - rank];
      Dim count = i + times.size() < rank ? Dim(1) : times[i + times.size() - rank];
      raised.insert(raised.end(), {1, extent_here});
      spread_dims.insert(spread_dims.end(), {count, extent_here});
      result.push_back(count * extent_here);
    }
    return reshaped(spread(reshaped(x, raised), spread_dims), result);
  });
}
Tensor roll(const Tensor& x, const Dim& shift, int64_t axis, Where where) {
  return recorded("roll", where, [&] {
    auto along = static_cast<size_t>(one_axis(axis, x.rank()));
    const Dim& around = x.dims()[along];
    Dim place = mod(0 - shift, weft::max(around, 1));
    if (around.min() > 0) return joined({slice(x, axis, {place, {}}), slice(x, axis, {{}, place})}, axis);
    // Of what may be nothing the parts' extents would not be known to add up.
    Dims starts(x.dims().size(), 0), limits = x.dims();
    starts[along] = place;
    limits[along] = place + around;
    return apply(
        Op::slice, {joined({x, x}, axis)},
        {{Attr::start_indices, starts}, {Attr::limit_indices, limits}, {Attr::strides, Ints(starts.size(), 1)}});
  });
}
Tensor tril(const Tensor& x, int64_t k, Where where) { return triangle("tril", x, k, true, where); }
Tensor triu(const Tensor& x, int64_t k, Where where) { return triangle("triu", x, k, false, where); }
Tensor flip(const Tensor& x, const Axes& axes, Where where) {
  return recorded("flip", where,
                  [&] { return apply(Op::reverse, {x}, {{Attr::dimensions, axes_of(axes, x.rank())}}); });
}
Tensor pad(const Tensor& x, const std::vector<std::pair<Dim, Dim>>& widths, const Operand& value) {
  return recorded("pad", value.where, [&] {
    if (static_cast<int64_t>(widths.size()) != x.rank())
      fail(ErrorKind::value, "pad_widths", "needs a pair of widths for each of ", x.rank(), " axes, got ",
           widths.size());
    Dims low, high;
    for (const auto& [before, after] : widths) {
      if (before.min() < 0 || after.min() < 0)
        fail(ErrorKind::value, "pad_widths", "widths must not be negative, got ", before, " and ", after);
      low.push_back(before);
      high.push_back(after);
    }
    return apply(Op::pad, {x, as_tensor(value, x.dtype())},
                 {{Attr::edge_padding_low, low},
                  {Attr::edge_padding_high, high},
                  {Attr::interior_padding, Ints(widths.size(), 0)}});
  });
}

}  // namespace weft
