// Functions of tensors, with NumPy's names, shapes and dtypes. Each records a call; nothing is computed.
//
// Operands of element-wise functions broadcast; their dtypes promote by NumPy's table. A call that cannot be is an
// Error with both types and the caller's line: ErrorKind::type for dtypes, value for shapes and axes, index for places.
#pragma once

#include <string_view>
#include <utility>

#include "weft/frontend/operand.h"

#pragma GCC visibility push(default)
namespace weft {

enum class Op : uint16_t;  // of weft/ir/op.h

// Element-wise functions of one tensor, and of two, by the names of ops (docs/ops.md says what each does). Those that
// are not defined for integers take them as the float that NumPy does: 8 bits as f16, 16 as f32, others as f64. divide
// gives floats always; remainder has the sign of the divisor; power with an exponent of -1, 0.5, 1, 2 or 3 is the
// simpler operation.
#define UNARY(name) Tensor name(const Tensor& x, Where where = Where::current());
#define BINARY(name) Tensor name(const Operand& lhs, const Operand& rhs);
#include "weft/frontend/regular.def"

// NumPy's names for some of these.
inline Tensor exp(const Tensor& x, Where where = Where::current()) { return exponential(x, where); }
inline Tensor expm1(const Tensor& x, Where where = Where::current()) { return exponential_minus_one(x, where); }
inline Tensor log1p(const Tensor& x, Where where = Where::current()) { return log_plus_one(x, where); }
inline Tensor sin(const Tensor& x, Where where = Where::current()) { return sine(x, where); }
inline Tensor cos(const Tensor& x, Where where = Where::current()) { return cosine(x, where); }
inline Tensor sigmoid(const Tensor& x, Where where = Where::current()) { return logistic(x, where); }
inline Tensor negative(const Tensor& x, Where where = Where::current()) { return negate(x, where); }
// The nearest integer, halves to even; integers become floats.
Tensor rint(const Tensor& x, Where where = Where::current());
// Logarithms and powers by other bases, the integer part, x * x, the conjugate; x * P(X <= x) and x * logistic(x).
Tensor exp2(const Tensor& x, Where where = Where::current());
Tensor log2(const Tensor& x, Where where = Where::current());
Tensor log10(const Tensor& x, Where where = Where::current());
Tensor trunc(const Tensor& x, Where where = Where::current());
Tensor square(const Tensor& x, Where where = Where::current());
Tensor conj(const Tensor& x, Where where = Where::current());
Tensor gelu(const Tensor& x, Where where = Where::current());
Tensor silu(const Tensor& x, Where where = Where::current());
// max(x, 0).
Tensor relu(const Tensor& x, Where where = Where::current());
// Booleans.
Tensor isnan(const Tensor& x, Where where = Where::current());
Tensor isinf(const Tensor& x, Where where = Where::current());
Tensor isfinite(const Tensor& x, Where where = Where::current());
Tensor signbit(const Tensor& x, Where where = Where::current());

inline Tensor pow(const Operand& lhs, const Operand& rhs) { return power(lhs, rhs); }
// Of two tensors: floor division as Python's //, C's fmod, and NumPy's functions of these names.
Tensor floor_divide(const Operand& lhs, const Operand& rhs);
Tensor fmod(const Operand& lhs, const Operand& rhs);
Tensor fmax(const Operand& lhs, const Operand& rhs);
Tensor fmin(const Operand& lhs, const Operand& rhs);
Tensor hypot(const Operand& lhs, const Operand& rhs);
Tensor logaddexp(const Operand& lhs, const Operand& rhs);
Tensor copysign(const Operand& lhs, const Operand& rhs);
Tensor heaviside(const Operand& lhs, const Operand& rhs);
// Of integers; and a number times 2 to the power of an integer.
Tensor gcd(const Operand& lhs, const Operand& rhs);
Tensor lcm(const Operand& lhs, const Operand& rhs);
Tensor ldexp(const Operand& lhs, const Operand& rhs);
Tensor left_shift(const Operand& lhs, const Operand& rhs);
Tensor right_shift(const Operand& lhs, const Operand& rhs);

// Comparisons: booleans. i64 and u64 compare as numbers; complex numbers by real part, then by imaginary part.
Tensor equal(const Operand& lhs, const Operand& rhs);
Tensor not_equal(const Operand& lhs, const Operand& rhs);
Tensor less(const Operand& lhs, const Operand& rhs);
Tensor less_equal(const Operand& lhs, const Operand& rhs);
Tensor greater(const Operand& lhs, const Operand& rhs);
Tensor greater_equal(const Operand& lhs, const Operand& rhs);
// Of what is not zero.
Tensor logical_and(const Operand& lhs, const Operand& rhs);
Tensor logical_or(const Operand& lhs, const Operand& rhs);
Tensor logical_xor(const Operand& lhs, const Operand& rhs);
Tensor logical_not(const Tensor& x, Where where = Where::current());

inline Tensor operator+(const Operand& lhs, const Operand& rhs) { return add(lhs, rhs); }
inline Tensor operator-(const Operand& lhs, const Operand& rhs) { return subtract(lhs, rhs); }
inline Tensor operator*(const Operand& lhs, const Operand& rhs) { return multiply(lhs, rhs); }
inline Tensor operator/(const Operand& lhs, const Operand& rhs) { return divide(lhs, rhs); }
// Python's %: the sign of the divisor.
inline Tensor operator%(const Operand& lhs, const Operand& rhs) { return remainder(lhs, rhs); }
inline Tensor operator&(const Operand& lhs, const Operand& rhs) { return and_(lhs, rhs); }
inline Tensor operator|(const Operand& lhs, const Operand& rhs) { return or_(lhs, rhs); }
inline Tensor operator^(const Operand& lhs, const Operand& rhs) { return xor_(lhs, rhs); }
inline Tensor operator==(const Operand& lhs, const Operand& rhs) { return equal(lhs, rhs); }
inline Tensor operator!=(const Operand& lhs, const Operand& rhs) { return not_equal(lhs, rhs); }
inline Tensor operator<(const Operand& lhs, const Operand& rhs) { return less(lhs, rhs); }
inline Tensor operator<=(const Operand& lhs, const Operand& rhs) { return less_equal(lhs, rhs); }
inline Tensor operator>(const Operand& lhs, const Operand& rhs) { return greater(lhs, rhs); }
inline Tensor operator>=(const Operand& lhs, const Operand& rhs) { return greater_equal(lhs, rhs); }
inline Tensor operator-(const Operand& x) { return negate(x.tensor, x.where); }
inline Tensor operator~(const Operand& x) { return not_(x.tensor, x.where); }

// x where the condition is not zero, y elsewhere; all three broadcast, x and y promote.
Tensor where(const Operand& condition, const Operand& x, const Operand& y);
// min(max(x, low), high); all three promote.
Tensor clip(const Tensor& x, const Operand& low, const Operand& high);
Tensor clip(const Tensor& x, const Operand* low, const Operand* high);  // null where it has no such bound
// Another dtype, as C casts: floats to integers truncate, complex to real drops the imaginary part.
Tensor cast(const Tensor& x, DType dtype, Where where = Where::current());

// -- new tensors: of f64 unless told, as NumPy's; extents may be symbolic
// ----------------------------------------------

Tensor full(Dims dims, const Operand& value, std::optional<DType> dtype = {});
Tensor zeros(Dims dims, DType dtype = DType::f64, Where where = Where::current());
Tensor ones(Dims dims, DType dtype = DType::f64, Where where = Where::current());
Tensor zeros_like(const Tensor& x, Where where = Where::current());
Tensor ones_like(const Tensor& x, Where where = Where::current());
// 0, 1, … stop - 1; and start + i * step below stop, i64 unless told.
Tensor arange(Dim stop, DType dtype = DType::i64, Where where = Where::current());
Tensor arange(Dim start, Dim stop, int64_t step = 1, DType dtype = DType::i64, Where where = Where::current());
// `count` numbers from start to stop, which is one of them unless told, along a new axis; and the distance of
// neighbours.
struct Spacing {
  bool endpoint = true;
  std::optional<DType> dtype = {};  // else the float of both
  int64_t axis = 0;
};
std::pair<Tensor, Tensor> spaced(const Operand& start, const Operand& stop, const Dim& count, const Spacing& how = {});
inline Tensor linspace(const Operand& start, const Operand& stop, const Dim& count, std::optional<DType> dtype = {}) {
  return spaced(start, stop, count, {.dtype = dtype}).first;
}
// Ones on a diagonal: on the k-th above the main one.
Tensor eye(Dim rows, std::optional<Dim> columns = {}, int64_t k = 0, DType dtype = DType::f64,
           Where where = Where::current());
// A symbolic extent as an i64 scalar.
Tensor extent(Dim dim, Where where = Where::current());

// -- shapes
// ------------------------------------------------------------------------------------------------------------

// The same elements in row-major order; one extent may be -1: what is left.
Tensor reshape(const Tensor& x, Dims dims, Where where = Where::current());
Tensor ravel(const Tensor& x, Where where = Where::current());
// Result axis i is axis permutation[i]; without one the axes are reversed.
Tensor transpose(const Tensor& x, Ints permutation, Where where = Where::current());
Tensor transpose(const Tensor& x, Where where = Where::current());
Tensor swapaxes(const Tensor& x, int64_t first, int64_t second, Where where = Where::current());
Tensor moveaxis(const Tensor& x, const Axes& source, const Axes& destination, Where where = Where::current());
Tensor broadcast_to(const Tensor& x, Dims dims, Where where = Where::current());
// New axes of extent 1, where they stand in the result; and without the axes given, or all of extent 1.
Tensor expand_dims(const Tensor& x, const Axes& axes, Where where = Where::current());
Tensor squeeze(const Tensor& x, const Axes& axes = {}, Where where = Where::current());
// One after another along an axis (of none all elements in a vector), or along a new one; dtypes promote.
Tensor concatenate(const std::vector<Tensor>& tensors, std::optional<int64_t> axis = 0, Where where = Where::current());
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis = 0, Where where = Where::current());
// Equal parts, parts of which the first may have one element more, or parts that begin at the places given.
// Error(value, "split") where parts are not equal.
std::vector<Tensor> split(const Tensor& x, int64_t parts, int64_t axis = 0, Where where = Where::current());
std::vector<Tensor> array_split(const Tensor& x, int64_t parts, int64_t axis = 0, Where where = Where::current());
std::vector<Tensor> split_at(const Tensor& x, const Dims& places, int64_t axis = 0, Where where = Where::current());
// Each element of an axis so many times in turn; the whole tensor so many times along each of its last axes.
Tensor repeat(const Tensor& x, const Dim& times, int64_t axis, Where where = Where::current());
Tensor tile(const Tensor& x, const Dims& times, Where where = Where::current());
// Elements moved up by so many places along an axis, those past the end to the beginning.
Tensor roll(const Tensor& x, const Dim& shift, int64_t axis, Where where = Where::current());
// Zero above, or below, the k-th diagonal of the last two axes; a vector is each of as many rows.
Tensor tril(const Tensor& x, int64_t k = 0, Where where = Where::current());
Tensor triu(const Tensor& x, int64_t k = 0, Where where = Where::current());
// Reversed order of elements.
Tensor flip(const Tensor& x, const Axes& axes = {}, Where where = Where::current());
// A value around: for each axis how many before and after.
Tensor pad(const Tensor& x, const std::vector<std::pair<Dim, Dim>>& widths, const Operand& value = 0);

// -- parts
// -------------------------------------------------------------------------------------------------------------

// x[places, ranges, newaxis, ellipsis], as NumPy's indexing. Tensors of places broadcast together, and a run ends in an
// Error(index, "index_bounds") where one lies outside.
Tensor index(const Tensor& x, const std::vector<Selector>& places, Where where = Where::current());
// The k-th diagonal of two axes, which are one, the last, in the result.
Tensor diagonal(const Tensor& x, int64_t k = 0, int64_t first = 0, int64_t second = 1, Where where = Where::current());
// start:stop:step of one axis.
Tensor slice(const Tensor& x, int64_t axis, const Slice& range, Where where = Where::current());
// x with other elements at those places, or with what an operation makes of them and the value; that broadcasts and is
// cast. Of places that are named several times one value is written, but the operation takes all of them.
Tensor update(const Tensor& x, const std::vector<Selector>& places, const Operand& value,
              std::optional<Op> combine = {});
// The slices of an axis at integer indices of any shape, which stands in the axis' place: as index().
Tensor take(const Tensor& x, const Tensor& indices, int64_t axis = 0, Where where = Where::current());
// The elements at indices along an axis; both broadcast but there.
Tensor take_along_axis(const Tensor& x, const Tensor& indices, int64_t axis = -1, Where where = Where::current());

// -- reductions: over all axes unless told; keepdims leaves extents of 1
// -----------------------------------------------

// Booleans and integers of less than 64 bits add and multiply up as 64 bits; narrow floats in f32.
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdims = false, Where where = Where::current());
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keepdims = false, Where where = Where::current());
// NaN where one is. Error(value, "empty_reduction") of no elements.
Tensor max(const Tensor& x, const Axes& axes = {}, bool keepdims = false, Where where = Where::current());
Tensor min(const Tensor& x, const Axes& axes = {}, bool keepdims = false, Where where = Where::current());
// Of integers f64. The count is less by ddof for var and std.
Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdims = false, Where where = Where::current());
Tensor var(const Tensor& x, const Axes& axes = {}, bool keepdims = false, double ddof = 0,
           Where where = Where::current());
Tensor std(const Tensor& x, const Axes& axes = {}, bool keepdims = false, double ddof = 0,
           Where where = Where::current());
Tensor any(const Tensor& x, const Axes& axes = {}, bool keepdims = false, Where where = Where::current());
Tensor all(const Tensor& x, const Axes& axes = {}, bool keepdims = false, Where where = Where::current());
// i64 places along an axis, or among all elements: the first of equals, the first NaN.
Tensor argmax(const Tensor& x, std::optional<int64_t> axis = {}, bool keepdims = false, Where where = Where::current());
Tensor argmin(const Tensor& x, std::optional<int64_t> axis = {}, bool keepdims = false, Where where = Where::current());
// log(sum(exp(x))) without overflow.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keepdims = false, Where where = Where::current());
Tensor softmax(const Tensor& x, int64_t axis = -1, Where where = Where::current());
Tensor log_softmax(const Tensor& x, int64_t axis = -1, Where where = Where::current());
// (x - mean) / sqrt(var + epsilon) * scale + bias along the last axis; scale and bias are vectors of its extent.
Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon = 1e-5,
                  Where where = Where::current());
// Running totals; dtypes as sum and prod.
Tensor cumsum(const Tensor& x, int64_t axis = 0, Where where = Where::current());
Tensor cumprod(const Tensor& x, int64_t axis = 0, Where where = Where::current());
// Ascending order, NaN last; and the i64 places of the elements in it (equal elements keep their order).
Tensor sort(const Tensor& x, int64_t axis = -1, Where where = Where::current());
Tensor argsort(const Tensor& x, int64_t axis = -1, Where where = Where::current());
// The k greatest of the last axis, descending, and their i32 places.
std::pair<Tensor, Tensor> top_k(const Tensor& x, int64_t k, Where where = Where::current());

// -- products
// ----------------------------------------------------------------------------------------------------------

// Matrix product as NumPy has it: vectors on either side, leading dims broadcast.
Tensor matmul(const Tensor& lhs, const Tensor& rhs, Where where = Where::current());
// The last axis of one by the last but one of the other, or by its last; of no dimensions products.
Tensor dot(const Tensor& lhs, const Tensor& rhs, Where where = Where::current());
Tensor inner(const Tensor& lhs, const Tensor& rhs, Where where = Where::current());
// Products over the last axes, or over all elements (vdot), batches broadcast: of vectors (the first conjugate), of a
// matrix and a vector, of a vector (conjugate) and a matrix.
Tensor vdot(const Tensor& lhs, const Tensor& rhs, Where where = Where::current());
Tensor vecdot(const Tensor& lhs, const Tensor& rhs, Where where = Where::current());
Tensor matvec(const Tensor& lhs, const Tensor& rhs, Where where = Where::current());
Tensor vecmat(const Tensor& lhs, const Tensor& rhs, Where where = Where::current());
// Every element of one by every element of the other.
Tensor outer(const Tensor& lhs, const Tensor& rhs, Where where = Where::current());
// Products summed over pairs of axes: lhs' other axes, then rhs'.
Tensor tensordot(const Tensor& lhs, const Tensor& rhs, const Ints& lhs_axes, const Ints& rhs_axes,
                 Where where = Where::current());
// Einstein's summation: "bij,bjk->bik"; ellipses and repeated labels of one operand as in NumPy, pairs from the left.
Tensor einsum(std::string_view subscripts, const std::vector<Tensor>& operands, Where where = Where::current());
// Images (batch, channels, height, width) by weights (outputs, channels / groups, height, width), torch's way round.
struct Convolution {
  Ints stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  int64_t groups = 1;
};
Tensor conv2d(const Tensor& x, const Tensor& weight, const Convolution& options = {}, Where where = Where::current());

}  // namespace weft
#pragma GCC visibility pop
