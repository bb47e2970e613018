// Reductions, running totals and orders.
#include <limits>

#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"

namespace weft {
namespace {

// The dtype in which NumPy adds and multiplies up.
DType total_type(DType dtype) {
  if (is_unsigned(dtype)) return DType::u64;
  return is_whole(dtype) ? DType::i64 : dtype;
}

// The dtype in which NumPy averages. Its sums of f16 are of f32, which the op's are as well.
DType mean_type(DType dtype) { return is_whole(dtype) ? DType::f64 : dtype; }

Tensor over_axes(Op op, const Tensor& x, const Axes& axes, bool keepdims) {
  // A tensor of no dimensions may be told to reduce its axis 0.
  bool scalar = x.rank() == 0 && axes.list && axes.list->size() == 1 && (axes.list->front() == 0 || axes.list->front() == -1);
  return apply(op, {x}, {{Attr::axes, scalar ? Ints{} : axes_of(axes, x.rank())}, {Attr::keepdims, keepdims}});
}

Tensor extreme(std::string_view function, Op op, const Tensor& x, const Axes& axes, bool keepdims, Where where) {
  return recorded(function, where, [&] {
    for (int64_t axis : x.rank() ? axes_of(axes, x.rank()) : Ints{})
      if (x.dims()[static_cast<size_t>(axis)].is(0))
        fail(ErrorKind::value, "empty_reduction", "a tensor of shape ", x.dims(), " has no elements along axis ", axis, " and there is no identity");
    return over_axes(op, x, axes, keepdims);
  });
}

Tensor place_of(std::string_view function, Op op, const Tensor& given, std::optional<int64_t> axis, bool keepdims, Where where) {
  return recorded(function, where, [&] {
    bool flat = !axis || given.rank() == 0;
    Tensor x = flat ? ravel(given) : given;
    if (is_bool(x.dtype())) x = cast_to(x, DType::u8);
    int64_t along = flat ? 0 : one_axis(*axis, x.rank());
    if (x.dims()[static_cast<size_t>(along)].is(0)) fail(ErrorKind::value, "empty_reduction", "there are no elements in a tensor of shape ", given.dims());
    Tensor result = apply(op, {x}, {{Attr::axis, along}});
    if (!keepdims) return result;
    Dims dims = given.dims();
    for (size_t i = 0; i < dims.size(); ++i)
      if (flat || static_cast<int64_t>(i) == along) dims[i] = 1;
    return reshape(result, dims);
  });
}

Tensor along(std::string_view function, Op op, const Tensor& x, int64_t axis, Where where) {
  return recorded(function, where, [&] { return apply(op, {x}, {{Attr::axis, one_axis(axis, x.rank())}}); });
}

Tensor logical(std::string_view function, Op op, const Tensor& x, const Axes& axes, bool keepdims, Where where) {
  return recorded(function, where, [&] { return over_axes(op, cast_to(x, DType::boolean), axes, keepdims); });
}

Tensor infinite_to_zero(const Tensor& x) { return apply(Op::select, {isfinite(x), x, number(0, x.dtype())}); }

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, bool keepdims, Where where) {
  return recorded("sum", where, [&] { return over_axes(Op::sum, cast_to(x, total_type(x.dtype())), axes, keepdims); });
}
Tensor prod(const Tensor& x, const Axes& axes, bool keepdims, Where where) {
  return recorded("prod", where, [&] { return over_axes(Op::prod, cast_to(x, total_type(x.dtype())), axes, keepdims); });
}
Tensor max(const Tensor& x, const Axes& axes, bool keepdims, Where where) { return extreme("max", Op::reduce_max, x, axes, keepdims, where); }
Tensor min(const Tensor& x, const Axes& axes, bool keepdims, Where where) { return extreme("min", Op::reduce_min, x, axes, keepdims, where); }
Tensor mean(const Tensor& x, const Axes& axes, bool keepdims, Where where) {
  return recorded("mean", where, [&] { return over_axes(Op::mean, cast_to(x, mean_type(x.dtype())), axes, keepdims); });
}
Tensor var(const Tensor& x, const Axes& axes, bool keepdims, double ddof, Where where) {
  return recorded("var", where, [&] {
    return apply(Op::var, {cast_to(x, mean_type(x.dtype()))}, {{Attr::axes, axes_of(axes, x.rank())}, {Attr::keepdims, keepdims}, {Attr::ddof, ddof}});
  });
}
Tensor std(const Tensor& x, const Axes& axes, bool keepdims, double ddof, Where where) { return sqrt(var(x, axes, keepdims, ddof, where), where); }
Tensor any(const Tensor& x, const Axes& axes, bool keepdims, Where where) { return logical("any", Op::any, x, axes, keepdims, where); }
Tensor all(const Tensor& x, const Axes& axes, bool keepdims, Where where) { return logical("all", Op::all, x, axes, keepdims, where); }
Tensor argmax(const Tensor& x, std::optional<int64_t> axis, bool keepdims, Where where) {
  return place_of("argmax", Op::argmax, x, axis, keepdims, where);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> axis, bool keepdims, Where where) {
  return place_of("argmin", Op::argmin, x, axis, keepdims, where);
}

Tensor logsumexp(const Tensor& given, const Axes& axes, bool keepdims, Where where) {
  return recorded("logsumexp", where, [&] {
    Tensor x = cast_to(given, mean_type(given.dtype()));
    Tensor top = infinite_to_zero(max(x, axes, true));
    Tensor result = log(sum(exp(x - top), axes, true)) + top;
    return keepdims ? result : reshape(result, max(x, axes).dims());
  });
}
Tensor softmax(const Tensor& x, int64_t axis, Where where) {
  return along("softmax", Op::softmax, cast(x, mean_type(x.dtype()), where), axis, where);
}
Tensor log_softmax(const Tensor& x, int64_t axis, Where where) {
  return recorded("log_softmax", where, [&] { return x - logsumexp(x, axis, true); });
}
Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon, Where where) {
  return recorded("layer_norm", where, [&] { return apply(Op::layer_norm, {x, scale, bias}, {{Attr::epsilon, epsilon}}); });
}
Tensor cumsum(const Tensor& x, int64_t axis, Where where) {
  return along("cumsum", Op::cumulative_sum, cast(x, total_type(x.dtype()), where), axis, where);
}
Tensor cumprod(const Tensor& x, int64_t axis, Where where) {
  return along("cumprod", Op::cumulative_prod, cast(x, total_type(x.dtype()), where), axis, where);
}
Tensor sort(const Tensor& x, int64_t axis, Where where) { return along("sort", Op::sort_values, x, axis, where); }
Tensor argsort(const Tensor& x, int64_t axis, Where where) { return along("argsort", Op::argsort, x, axis, where); }
std::pair<Tensor, Tensor> top_k(const Tensor& x, int64_t k, Where where) {
  return recorded("top_k", where, [&] {
    std::vector<Tensor> results = apply_all(Op::top_k, {x}, {{Attr::k, k}});
    return std::pair(results[0], results[1]);
  });
}

}  // namespace weft
