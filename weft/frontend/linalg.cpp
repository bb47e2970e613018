// Factorisations as programs know them: LAPACK's functions, called as JAX calls them, and triangular systems.
#include "weft/frontend/linalg.h"

#include <algorithm>
#include <numeric>

#include "weft/frontend/functions.h"
#include "weft/frontend/promote.h"

namespace weft::linalg {
namespace {

// The dtype of results, and that of the numbers on the way.
struct Precision {
  DType result, wide;

  explicit Precision(std::vector<Tensor> operands) {
    for (Tensor& x : operands) {
      if (is_whole(x.dtype())) x = cast_to(x, DType::f64);
      DType real = real_type(x.dtype());
      if (real != DType::f32 && real != DType::f64) fail(ErrorKind::type, "linalg_dtype", "takes f32, f64, complex numbers and integers, got ", x.type());
    }
    result = result_type(operands);
    wide = is_complex(result) ? DType::c128 : DType::f64;
  }
  Tensor rounded(const Tensor& x) const { return cast_to(x, is_complex(x.dtype()) ? result : real_type(result)); }
};

void require_matrices(const Tensor& a, bool square) {
  if (a.rank() < 2) fail(ErrorKind::value, "linalg_rank", "needs at least two dimensions, got ", a.type());
  for (size_t i = a.dims().size() - 2; i < a.dims().size(); ++i)
    if (!a.dims()[i].is_static()) fail(ErrorKind::unsupported, "symbolic_extent", "matrices of a symbolic extent (", a.dims()[i], ") cannot be compiled");
  if (square && !(a.dims().back() == *(a.dims().end() - 2))) fail(ErrorKind::value, "linalg_square", "the last two dimensions must be equal, got ", a.type());
}

Dims with(const Dims& batch, std::initializer_list<Dim> rest) {
  Dims dims = batch;
  dims.insert(dims.end(), rest);
  return dims;
}

// The order of dimensions in memory, the fastest first: LAPACK's matrices are stored by columns.
std::string layout(int64_t rank, int64_t batch) {
  Ints order(static_cast<size_t>(rank));
  std::iota(order.rbegin(), order.rend(), int64_t{0});
  if (rank == batch + 2) std::swap(order[0], order[1]);
  return cat("dense<", rank == 0 ? "" : rank == 1 ? "0" : cat(order), "> : tensor<", rank, "xindex>");
}

// A function without its letter of precision; `options` as MLIR writes them.
std::vector<Tensor> lapack(std::string_view name, const std::vector<Tensor>& operands, const std::vector<Type>& results, std::string options = "") {
  int64_t batch = operands[0].rank() - 2;
  std::string given, gives;
  for (const Tensor& x : operands) append(given, given.empty() ? "" : ", ", layout(x.rank(), batch));
  for (const Type& type : results) append(gives, gives.empty() ? "" : ", ", layout(type.rank(), batch));
  return apply_all(Op::custom_call, operands,
                   {{Attr::call_target_name, cat("lapack_", is_complex(operands[0].dtype()) ? "z" : "d", name, "_ffi")},
                    {Attr::types, results},
                    {Attr::backend_config, cat("{", options, "}")},
                    {Attr::call_attributes, cat("operand_layouts = [", given, "], result_layouts = [", gives, "]")}});
}

std::string letter(std::string_view name, char value) { return cat(name, " = ", static_cast<int>(value), " : ui8"); }

// Of matrices in double precision: their batch, extents and types beside them.
struct Matrices {
  Tensor a;
  Dims batch;
  Dim m, n, k;

  explicit Matrices(Tensor x) : a(std::move(x)), batch(a.dims().begin(), a.dims().end() - 2), m(*(a.dims().end() - 2)), n(a.dims().back()), k(weft::min(m, n)) {}
  Type type(std::initializer_list<Dim> rest) const { return {a.dtype(), with(batch, rest)}; }
  Type real(std::initializer_list<Dim> rest) const { return {real_type(a.dtype()), with(batch, rest)}; }
  Type whole(std::initializer_list<Dim> rest) const { return {DType::i32, with(batch, rest)}; }
  // The factors packed in one matrix, and pivots from 1 on.
  std::vector<Tensor> lu() const { return lapack("getrf", {a}, {a.type(), whole({k}), whole({})}); }
};

// Eliminating in a and b at once leaves triangular systems, whatever rows are swapped.
Tensor solution(const Tensor& a, const Tensor& b) {
  Tensor packed = Matrices(concatenate({a, b}, -1)).lu()[0];
  Dim n = a.dims().back();
  return apply(Op::triangular_solve, {slice(packed, -1, {{}, n}), slice(packed, -1, {n, {}})},
               {{Attr::left_side, true}, {Attr::lower, false}, {Attr::unit_diagonal, false}, {Attr::transpose_a, std::string("NO_TRANSPOSE")}});
}

}  // namespace

Tensor solve(const Tensor& a, const Tensor& b, Where where) {
  return recorded("solve", where, [&] {
    require_matrices(a, true);
    Precision precision({a, b});
    Tensor columns = b.rank() == 1 ? expand_dims(b, 1) : b;
    if (columns.rank() < 2 || !(*(columns.dims().end() - 2) == a.dims().back())) fail(ErrorKind::value, "linalg_shapes", a.type(), " and ", b.type(), " do not fit");
    require_matrices(columns, false);
    Dims batch = broadcast(Dims(a.dims().begin(), a.dims().end() - 2), Dims(columns.dims().begin(), columns.dims().end() - 2));
    Dim n = a.dims().back(), k = columns.dims().back();
    Tensor x = solution(broadcast_to(cast_to(a, precision.wide), with(batch, {n, n})), broadcast_to(cast_to(columns, precision.wide), with(batch, {n, k})));
    return precision.rounded(b.rank() == 1 ? squeeze(x, -1) : x);
  });
}

Tensor inv(const Tensor& a, Where where) {
  return recorded("inv", where, [&] {
    require_matrices(a, true);
    Precision precision({a});
    return precision.rounded(solution(cast_to(a, precision.wide), broadcast_to(eye(a.dims().back(), {}, 0, precision.wide), a.dims())));
  });
}

Tensor det(const Tensor& a, Where where) {
  return recorded("det", where, [&] {
    require_matrices(a, true);
    Precision precision({a});
    Dim n = a.dims().back();
    std::vector<Tensor> found = Matrices(cast_to(a, precision.wide)).lu();
    Tensor diagonal = sum(weft::where(eye(n, {}, 0, DType::boolean), found[0], number(0, precision.wide)), -1);
    Tensor swaps = sum(found[1] != arange(1, n + 1, 1, DType::i32), -1);
    return precision.rounded((1 - 2 * (swaps % 2)) * prod(diagonal, -1));
  });
}

Tensor cholesky(const Tensor& a, Where where) {
  return recorded("cholesky", where, [&] {
    require_matrices(a, true);
    Precision precision({a});
    return precision.rounded(tril(apply(Op::cholesky, {cast_to(a, precision.wide)}, {{Attr::lower, true}})));
  });
}

std::pair<Tensor, Tensor> qr(const Tensor& a, Where where) {
  return recorded("qr", where, [&] {
    require_matrices(a, false);
    Precision precision({a});
    Matrices x(cast_to(a, precision.wide));
    std::vector<Tensor> packed = lapack("geqrf", {x.a}, {x.a.type(), x.type({x.k})});  // reflections below r, and their factors
    Tensor vectors = slice(packed[0], -1, {{}, x.k});
    Tensor q = lapack(is_complex(precision.wide) ? "ungqr" : "orgqr", {vectors, packed[1]}, {vectors.type()})[0];
    return std::pair(precision.rounded(q), precision.rounded(triu(slice(packed[0], -2, {{}, x.k}))));
  });
}

std::array<Tensor, 3> svd(const Tensor& a, bool full_matrices, Where where) {
  return recorded("svd", where, [&] {
    require_matrices(a, false);
    Precision precision({a});
    Matrices x(cast_to(a, precision.wide));
    Type left = x.type({x.m, full_matrices ? x.m : x.k}), right = x.type({full_matrices ? x.n : x.k, x.n});
    std::vector<Tensor> found = lapack("gesdd", {x.a}, {x.a.type(), x.real({x.k}), left, right, x.whole({})}, letter("mode", full_matrices ? 'A' : 'S'));
    return std::array{precision.rounded(found[2]), precision.rounded(found[1]), precision.rounded(found[3])};
  });
}

std::pair<Tensor, Tensor> eigh(const Tensor& a, Where where) {
  return recorded("eigh", where, [&] {
    require_matrices(a, true);
    Precision precision({a});
    Matrices x(cast_to(a, precision.wide));
    std::string options = cat(letter("mode", 'V'), ", ", letter("uplo", 'L'));
    std::vector<Tensor> found = lapack(is_complex(precision.wide) ? "heevd" : "syevd", {x.a}, {x.a.type(), x.real({x.n}), x.whole({})}, options);
    return std::pair(precision.rounded(found[1]), precision.rounded(found[0]));
  });
}

}  // namespace weft::linalg
