// Reductions, running totals and orders.
#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"
#include "weft/frontend/reduction.h"

namespace weft {
namespace {

Tensor reduced(std::string_view function, const Tensor& x, Reduction how, Where where) {
  return recorded(function, where, [&] { return reduce(function, x, how); });
}

Tensor placed(std::string_view function, const Tensor& x, std::optional<int64_t> axis, bool keepdims, Where where) {
  return recorded(function, where, [&] { return place_of(function, x, axis, keepdims); });
}

Tensor along(std::string_view function, Op op, const Tensor& x, int64_t axis, Where where) {
  return recorded(function, where, [&] { return apply(op, {x}, {{Attr::axis, one_axis(axis, x.rank())}}); });
}

Tensor infinite_to_zero(const Tensor& x) { return apply(Op::select, {isfinite(x), x, number(0, x.dtype())}); }

}  // namespace

#define REDUCTION(name)                                                        \
  Tensor name(const Tensor& x, const Axes& axes, bool keepdims, Where where) { \
    return reduced(#name, x, {.axes = axes, .keepdims = keepdims}, where);     \
  }
REDUCTION(sum)
REDUCTION(prod)
REDUCTION(max)
REDUCTION(min)
REDUCTION(mean)
REDUCTION(any)
REDUCTION(all)
#undef REDUCTION
Tensor var(const Tensor& x, const Axes& axes, bool keepdims, double ddof, Where where) {
  return reduced("var", x, {.axes = axes, .keepdims = keepdims, .ddof = ddof}, where);
}
Tensor std(const Tensor& x, const Axes& axes, bool keepdims, double ddof, Where where) {
  return reduced("std", x, {.axes = axes, .keepdims = keepdims, .ddof = ddof}, where);
}
Tensor argmax(const Tensor& x, std::optional<int64_t> axis, bool keepdims, Where where) {
  return placed("argmax", x, axis, keepdims, where);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> axis, bool keepdims, Where where) {
  return placed("argmin", x, axis, keepdims, where);
}

Tensor logsumexp(const Tensor& given, const Axes& axes, bool keepdims, Where where) {
  return recorded("logsumexp", where, [&] {
    Tensor x = cast_to(given, average_type(given.dtype()));
    Tensor top = infinite_to_zero(max(x, axes, true));
    Tensor result = log(sum(exp(x - top), axes, true)) + top;
    return keepdims ? result : reshape(result, max(x, axes).dims());
  });
}
Tensor softmax(const Tensor& x, int64_t axis, Where where) {
  return along("softmax", Op::softmax, cast(x, average_type(x.dtype()), where), axis, where);
}
Tensor log_softmax(const Tensor& x, int64_t axis, Where where) {
  return recorded("log_softmax", where, [&] { return x - logsumexp(x, axis, true); });
}
Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon, Where where) {
  return recorded("layer_norm", where,
                  [&] { return apply(Op::layer_norm, {x, scale, bias}, {{Attr::epsilon, epsilon}}); });
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
