// Reductions: the dtypes in which NumPy computes them, and what they record.
#include "weft/frontend/reduction.h"

#include <algorithm>
#include <limits>

#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"

namespace weft {
namespace {

// Over axes of `axes_of`.
Tensor over(Op op, const Tensor& x, const Ints& axes, bool keepdims) {
  return apply(op, {x}, {{Attr::axes, axes}, {Attr::keepdims, keepdims}});
}

// The identity where an element takes no part.
Tensor masked(const Tensor& x, const Tensor& mask, double identity) {
  return mask.is_valid() ? apply(Op::select, {cast_to(mask, DType::boolean), x, number(identity, x.dtype())}) : x;
}

Tensor total(const Tensor& given, const Reduction& how, Op op, Op joins, double identity) {
  const Ints axes = reduced_axes(how.axes, given.rank());
  const Tensor x = masked(cast_to(given, how.dtype.value_or(total_type(given.dtype()))), how.mask, identity);
  const Tensor result = over(op, x, axes, how.keepdims);
  return how.initial ? apply(joins, {result, as_tensor(*how.initial, x.dtype())}) : result;
}

// The identity of the least (`greatest`) or the greatest element.
Tensor bound(DType dtype, bool greatest) {
  if (is_bool(dtype)) return as_tensor(greatest, dtype);
  if (!is_integer(dtype))
    return number(greatest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity(), dtype);
  const int bits = bit_width(dtype);
  if (is_unsigned(dtype)) return as_tensor(greatest ? ~uint64_t{0} >> (64 - bits) : uint64_t{0}, dtype);
  const int64_t most = std::numeric_limits<int64_t>::max() >> (64 - bits);
  return as_tensor(greatest ? most : -most - 1, dtype);
}

Tensor extreme_along(const Tensor& x, const Reduction& how, Op op) {
  const bool is_max = op == Op::reduce_max;
  const std::string_view name = is_max ? "maximum" : "minimum";
  const Ints axes = reduced_axes(how.axes, x.rank());
  if (is_complex(x.dtype()))
    fail(ErrorKind::type, "complex_order", name, " of ", numpy_name(x.dtype()), " cannot be compiled");
  if (!how.initial) {
    for (int64_t axis : axes)
      if (x.dims()[static_cast<size_t>(axis)].is(0))
        fail(ErrorKind::value, "empty_reduction", "zero-size array to reduction operation ", name,
             " which has no identity");
    if (how.mask.is_valid())
      fail(ErrorKind::value, "where_without_initial", "reduction operation '", name,
           "' does not have an identity, so to use a where mask one has to specify 'initial'");
  }
  Tensor taken = x;
  if (how.mask.is_valid()) taken = apply(Op::select, {cast_to(how.mask, DType::boolean), x, bound(x.dtype(), !is_max)});
  const Tensor result = over(op, taken, axes, how.keepdims);
  if (!how.initial) return result;
  const Operand initial = as_tensor(*how.initial, x.dtype());
  return is_max ? maximum(result, initial) : minimum(result, initial);
}

Tensor of_truths_along(const Tensor& x, const Reduction& how, Op op, bool identity) {
  const Ints axes = reduced_axes(how.axes, x.rank());
  return over(op, masked(cast_to(x, DType::boolean), how.mask, identity), axes, how.keepdims);
}

// How many elements each result is made of; one number where no mask leaves some out.
Tensor count_of(const Tensor& x, const Ints& axes, const Tensor& mask, bool keepdims, DType dtype) {
  if (!mask.is_valid()) {
    Dim count = 1;
    for (int64_t axis : axes) count = count * x.dims()[static_cast<size_t>(axis)];
    return count.is_static() ? number(static_cast<double>(count.value()), dtype) : cast_to(extent(count), dtype);
  }
  const Tensor ones =
      apply(Op::broadcast_in_dim, {number(1, dtype)}, {{Attr::dims, x.dims()}, {Attr::dimensions, Ints{}}});
  return over(Op::sum, masked(ones, mask, 0), axes, keepdims);
}

// The dtype in which NumPy averages.
DType mean_type(DType dtype) { return dtype == DType::f16 ? DType::f32 : average_type(dtype); }

Tensor average(const Tensor& given, const Reduction& how) {
  const Ints axes = axes_of(how.axes, given.rank());
  const DType inner = how.dtype.value_or(mean_type(given.dtype()));
  const Tensor x = cast_to(given, inner);
  const Tensor result = !how.mask.is_valid()
                            ? over(Op::mean, x, axes, how.keepdims)
                            : apply(Op::divide, {over(Op::sum, masked(x, how.mask, 0), axes, how.keepdims),
                                                 count_of(x, axes, how.mask, how.keepdims, inner)});
  return cast_to(result, how.dtype.value_or(average_type(given.dtype())));
}

Tensor squares_of(const Tensor& x) {
  if (!is_complex(x.dtype())) return apply(Op::multiply, {x, x});
  const Tensor re = apply(Op::real, {x}), im = apply(Op::imag, {x});
  return apply(Op::add, {apply(Op::multiply, {re, re}), apply(Op::multiply, {im, im})});
}

Tensor variance(const Tensor& given, const Reduction& how) {
  const Ints axes = axes_of(how.axes, given.rank());
  const DType inner = how.dtype.value_or(mean_type(given.dtype()));
  const Tensor x = cast_to(given, inner), count = count_of(x, axes, how.mask, true, real_type(inner));
  const Tensor center =
      how.mean.is_valid()
          ? cast_to(how.mean, inner)
          : apply(Op::divide, {over(Op::sum, masked(x, how.mask, 0), axes, true), cast_to(count, inner)});
  const Tensor squares = squares_of(apply(Op::subtract, {x, center}));
  const Tensor freedom =
      apply(Op::maximum, {apply(Op::subtract, {count, number(how.ddof, count.dtype())}), number(0, count.dtype())});
  const Tensor result = cast_to(apply(Op::divide, {over(Op::sum, masked(squares, how.mask, 0), axes, true), freedom}),
                                how.dtype.value_or(real_type(average_type(given.dtype()))));
  if (how.keepdims) return result;
  Dims dims;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) dims.push_back(x.dims()[static_cast<size_t>(axis)]);
  return apply(Op::reshape, {result}, {{Attr::dims, std::move(dims)}});
}

}  // namespace

DType total_type(DType dtype) {
  if (!is_whole(dtype)) return dtype;
  return is_unsigned(dtype) ? DType::u64 : DType::i64;
}

DType average_type(DType dtype) { return is_whole(dtype) ? DType::f64 : dtype; }

Tensor reduce(std::string_view name, const Tensor& x, const Reduction& how) {
  if (name == "sum") return total(x, how, Op::sum, Op::add, 0);
  if (name == "prod") return total(x, how, Op::prod, Op::multiply, 1);
  if (name == "max") return extreme_along(x, how, Op::reduce_max);
  if (name == "min") return extreme_along(x, how, Op::reduce_min);
  if (name == "any") return of_truths_along(x, how, Op::any, false);
  if (name == "all") return of_truths_along(x, how, Op::all, true);
  if (name == "mean") return average(x, how);
  if (name == "var") return variance(x, how);
  if (name == "std") return apply(Op::sqrt, {variance(x, how)});
  fail(ErrorKind::value, "reduction", "there is no reduction '", name, "'");
}

Tensor place_of(std::string_view name, const Tensor& given, std::optional<int64_t> axis, bool keepdims) {
  const bool flat = !axis || given.rank() == 0;
  if (axis) reduced_axes(*axis, given.rank());
  Tensor x = flat ? ravel(given) : given;
  if (is_bool(x.dtype())) x = cast_to(x, DType::u8);
  const int64_t along = flat ? 0 : one_axis(*axis, x.rank());
  if (x.dims()[static_cast<size_t>(along)].is(0))
    fail(ErrorKind::value, "empty_reduction", "attempt to get ", name, " of an empty sequence");
  const Tensor result =
      cast_to(apply(name == "argmax" ? Op::argmax : Op::argmin, {x}, {{Attr::axis, along}}), DType::i64);
  if (!keepdims) return result;
  Dims dims = given.dims();
  for (size_t i = 0; i < dims.size(); ++i)
    if (flat || static_cast<int64_t>(i) == along) dims[i] = 1;
  return apply(Op::reshape, {result}, {{Attr::dims, std::move(dims)}});
}

}  // namespace weft
