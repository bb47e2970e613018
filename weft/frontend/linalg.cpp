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
      if (real != DType::f32 && real != DType::f64)
        fail(ErrorKind::type, "linalg_dtype", "takes f32, f64, complex numbers and integers, got ", x.type());
    }
    result = result_type(operands);
    wide = is_complex(result) ? DType::c128 : DType::f64;
  }
  Tensor rounded(const Tensor& x) const { return cast_to(x, is_complex(x.dtype()) ? result : real_type(result)); }
};

void require_matrices(const Tensor& a, bool square) {
  if (a.rank() < 2) fail(ErrorKind::value, "linalg_rank", "needs at least two dimensions, got ", a.type());
  for (size_t i = a.dims().size() - 2; i < a.dims().size(); ++i)
    if (!a.dims()[i].is_static())
      fail(ErrorKind::unsupported, "symbolic_extent", "matrices of a symbolic extent (", a.dims()[i],
           ") cannot be compiled");
  if (square && !(a.dims().back() == *(a.dims().end() - 2)))
    fail(ErrorKind::value, "linalg_square", "the last two dimensions must be equal, got ", a.type());
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
std::vector<Tensor> lapack(std::string_view name, const std::vector<Tensor>& operands, const std::vector<Type>& results,
                           std::string options = "") {
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

  explicit Matrices(Tensor x)
      : a(std::move(x)),
        batch(a.dims().begin(), a.dims().end() - 2),
        m(*(a.dims().end() - 2)),
        n(a.dims().back()),
        k(weft::min(m, n)) {}
  Type type(std::initializer_list<Dim> rest) const { return {a.dtype(), with(batch, rest)}; }
  Type real(std::initializer_list<Dim> rest) const { return {real_type(a.dtype()), with(batch, rest)}; }
  Type whole(std::initializer_list<Dim> rest) const { return {DType::i32, with(batch, rest)}; }
};

}  // namespace

std::pair<Tensor, Tensor> packed_lu(const Tensor& a) {
  const Matrices x(a);
  const std::vector<Tensor> found = lapack("getrf", {a}, {a.type(), x.whole({x.k}), x.whole({})});
  return {found[0], found[1]};
}

std::pair<Tensor, Tensor> packed_qr(const Tensor& a) {
  const Matrices x(a);
  const std::vector<Tensor> found = lapack("geqrf", {a}, {a.type(), x.type({x.k})});
  return {found[0], found[1]};
}

Tensor reflected(const Tensor& vectors, const Tensor& factors) {
  return lapack(is_complex(vectors.dtype()) ? "ungqr" : "orgqr", {vectors, factors}, {vectors.type()})[0];
}

std::array<Tensor, 3> singular_vectors(const Tensor& a, bool full) {
  const Matrices x(a);
  const Type left = x.type({x.m, full ? x.m : x.k}), right = x.type({full ? x.n : x.k, x.n});
  const std::vector<Tensor> found =
      lapack("gesdd", {a}, {a.type(), x.real({x.k}), left, right, x.whole({})}, letter("mode", full ? 'A' : 'S'));
  return {found[2], found[1], found[3]};
}

Tensor singular_values(const Tensor& a) {
  const Matrices x(a);
  // LAPACK wants places for the vectors even where it leaves them alone.
  return lapack("gesdd", {a}, {a.type(), x.real({x.k}), x.type({x.m, x.k}), x.type({x.k, x.n}), x.whole({})},
                letter("mode", 'N'))[1];
}

std::pair<Tensor, Tensor> hermitian_values(const Tensor& a, bool lower, bool vectors) {
  const Matrices x(a);
  const std::string options = cat(letter("mode", vectors ? 'V' : 'N'), ", ", letter("uplo", lower ? 'L' : 'U'));
  const std::vector<Tensor> found =
      lapack(is_complex(a.dtype()) ? "heevd" : "syevd", {a}, {a.type(), x.real({x.n}), x.whole({})}, options);
  return {found[1], found[0]};
}

std::pair<Tensor, Tensor> general_values(const Tensor& a, bool vectors) {
  const Matrices x(a);
  const Type pairs{DType::c128, a.dims()}, values = x.type({x.n});
  const std::string options = cat(letter("compute_left", 'N'), ", ", letter("compute_right", vectors ? 'V' : 'N'));
  if (is_complex(a.dtype())) {
    const std::vector<Tensor> found = lapack("geev", {a}, {values, pairs, pairs, x.whole({})}, options);
    return {found[0], found[2]};
  }
  const std::vector<Tensor> found = lapack("geev", {a}, {values, values, pairs, pairs, x.whole({})}, options);
  return {apply(Op::complex, {found[0], found[1]}), found[3]};
}

namespace {

// Eliminating in a and b at once leaves triangular systems, whatever rows are swapped.
Tensor solution(const Tensor& a, const Tensor& b) {
  Tensor packed = packed_lu(concatenate({a, b}, -1)).first;
  Dim n = a.dims().back();
  return apply(Op::triangular_solve, {slice(packed, -1, {{}, n}), slice(packed, -1, {n, {}})},
               {{Attr::left_side, true},
                {Attr::lower, false},
                {Attr::unit_diagonal, false},
                {Attr::transpose_a, std::string("NO_TRANSPOSE")}});
}

}  // namespace

Tensor solve(const Tensor& a, const Tensor& b, Where where) {
  return recorded("solve", where, [&] {
    require_matrices(a, true);
    Precision precision({a, b});
    Tensor columns = b.rank() == 1 ? expand_dims(b, 1) : b;
    if (columns.rank() < 2 || !(*(columns.dims().end() - 2) == a.dims().back()))
      fail(ErrorKind::value, "linalg_shapes", a.type(), " and ", b.type(), " do not fit");
    require_matrices(columns, false);
    Dims batch =
        broadcast(Dims(a.dims().begin(), a.dims().end() - 2), Dims(columns.dims().begin(), columns.dims().end() - 2));
    Dim n = a.dims().back(), k = columns.dims().back();
    Tensor x = solution(broadcast_to(cast_to(a, precision.wide), with(batch, {n, n})),
                        broadcast_to(cast_to(columns, precision.wide), with(batch, {n, k})));
    return precision.rounded(b.rank() == 1 ? squeeze(x, -1) : x);
  });
}

Tensor inv(const Tensor& a, Where where) {
  return recorded("inv", where, [&] {
    require_matrices(a, true);
    Precision precision({a});
    return precision.rounded(
        solution(cast_to(a, precision.wide), broadcast_to(eye(a.dims().back(), {}, 0, precision.wide), a.dims())));
  });
}

Tensor det(const Tensor& a, Where where) {
  return recorded("det", where, [&] {
    require_matrices(a, true);
    Precision precision({a});
    Dim n = a.dims().back();
    const auto [packed, pivots] = packed_lu(cast_to(a, precision.wide));
    Tensor swaps = sum(pivots != arange(1, n + 1, 1, DType::i32), -1);
    return precision.rounded((1 - 2 * (swaps % 2)) * prod(diagonal(packed, 0, -2, -1), -1));
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
    const Matrices x(cast_to(a, precision.wide));
    const auto [packed, factors] = packed_qr(x.a);
    return std::pair(precision.rounded(reflected(slice(packed, -1, {{}, x.k}), factors)),
                     precision.rounded(triu(slice(packed, -2, {{}, x.k}))));
  });
}

std::array<Tensor, 3> svd(const Tensor& a, bool full_matrices, Where where) {
  return recorded("svd", where, [&] {
    require_matrices(a, false);
    Precision precision({a});
    const auto [u, s, vh] = singular_vectors(cast_to(a, precision.wide), full_matrices);
    return std::array{precision.rounded(u), precision.rounded(s), precision.rounded(vh)};
  });
}

std::pair<Tensor, Tensor> eigh(const Tensor& a, Where where) {
  return recorded("eigh", where, [&] {
    require_matrices(a, true);
    Precision precision({a});
    const auto [values, vectors] = hermitian_values(cast_to(a, precision.wide), true, true);
    return std::pair(precision.rounded(values), precision.rounded(vectors));
  });
}

}  // namespace weft::linalg
