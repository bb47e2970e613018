// The types of LAPACK's functions as JAX calls them: routines write through pointers and trust the extents that they
// are given, so operands and results must have exactly these.
#include "weft/ir/routine_call.h"
#include "weft/ops/infer.h"

namespace weft {
namespace {

// The pieces that types consist of: those of the last operand that is a matrix, m x n with its batch.
struct Shapes {
  Type a;
  Dims batch;
  Dim m, n, k;

  explicit Shapes(const Type& matrix)
      : a(matrix),
        batch(matrix.dims.begin(), matrix.dims.end() - 2),
        m(*(matrix.dims.end() - 2)),
        n(matrix.dims.back()),
        k(min(m, n)) {}
  Type of(DType dtype, Dims rest) const {
    rest.insert(rest.begin(), batch.begin(), batch.end());
    return {dtype, rest};
  }
  Type vector(Dim length) const { return of(a.dtype, {length}); }
  Type real(Dim length) const { return of(real_type(a.dtype), {length}); }
  Type info() const { return of(DType::i32, {}); }
  Type matrix(Dim rows, Dim columns) const { return of(a.dtype, {rows, columns}); }
  Dim below() const { return n.is(0) ? n : n - 1; }
};

// What is not looked at may be anything.
using Wanted = std::vector<std::optional<Type>>;

Wanted spectral(std::string_view name, const Shapes& s, bool vectors) {
  bool is_real = !is_complex(s.a.dtype);
  if (name == "syevd" || name == "heevd") return {s.a, s.real(s.n), s.info()};
  if (name == "gehrd") return {s.a, s.vector(s.below()), s.info()};
  if (name == "sytrd" || name == "hetrd") return {s.a, s.real(s.n), s.real(s.below()), s.vector(s.below()), s.info()};
  Wanted wanted(is_real ? 2 : 1, s.vector(s.n));
  if (name == "geev") {
    Type complex = s.of(is_real ? complex_type(s.a.dtype) : s.a.dtype, {s.n, s.n});
    wanted.insert(wanted.end(), {complex, complex, s.info()});
  } else {
    wanted.insert(wanted.begin(), {s.a, vectors ? std::optional(s.a) : std::nullopt});
    wanted.insert(wanted.end(), {s.info(), s.info()});
  }
  return wanted;
}

Wanted results_of(std::string_view name, const Shapes& s, bool vectors, bool full) {
  if (name == "potrf") return {s.a, s.info()};
  if (name == "getrf") return {s.a, s.of(DType::i32, {s.k}), s.info()};
  if (name == "geqrf") return {s.a, s.vector(s.k)};
  if (name == "trsm" || name == "orgqr" || name == "ungqr") return {s.a};
  if (name == "gtsv") return {s.vector(s.m), s.vector(s.m), s.vector(s.m), s.a, s.info()};
  if (name != "gesdd" && name != "gesvd") return spectral(name, s, vectors);
  Wanted wanted{s.a, s.real(s.k), s.matrix(s.m, full ? s.m : s.k), s.matrix(full ? s.n : s.k, s.n), s.info()};
  if (!vectors) wanted[2] = wanted[3] = std::nullopt;
  return wanted;
}

bool is_square(std::string_view name) {
  for (std::string_view other : {"getrf", "geqrf", "orgqr", "ungqr", "gesdd", "gesvd", "gtsv", "trsm"})
    if (name == other) return false;
  return true;
}

void check_operands(const Call& call, std::string_view name, const Shapes& s) {
  auto need = [&](bool fits) {
    std::vector<Type> given(call.operands.begin(), call.operands.end());
    call.require(fits, "shapes", "'", call.attrs.text(Attr::call_target_name), "' does not take ", given);
  };
  need(!is_square(name) || s.m == s.n);
  if (name == "trsm") {
    Dim order = is_letter(call.attrs, "side", 'L') ? s.m : s.n;
    need(call.operand(0) == s.matrix(order, order));
  } else if (name == "orgqr" || name == "ungqr") {
    const Type& taus = call.operand(1);
    auto within = [](const Dim& x, const Dim& y) { return x == y || x.max() <= y.min(); };
    need(taus.rank() == s.a.rank() - 1 && taus == s.vector(taus.dims.back()) && within(s.n, s.m) &&
         within(taus.dims.back(), s.n));
  } else if (name == "gtsv") {
    for (size_t i = 0; i < 3; ++i) need(call.operand(i) == s.vector(s.m));
  }
}

}  // namespace

void check_lapack(const Call& call, std::string_view name) {
  const std::string& target = call.attrs.text(Attr::call_target_name);
  bool is_product = name == "orgqr" || name == "ungqr";
  size_t operands = name == "gtsv" ? 4 : name == "trsm" || is_product ? 2 : 1;
  call.require(call.operands.size() == operands, "operands", "'", target, "' takes ", operands, " operands, got ",
               call.operands.size());
  const Type& matrix = call.operands[is_product ? 0 : operands - 1];
  DType dtype = matrix.dtype;
  char letter = dtype == DType::f32    ? 's'
                : dtype == DType::f64  ? 'd'
                : dtype == DType::c64  ? 'c'
                : dtype == DType::c128 ? 'z'
                                       : '?';
  call.require(target[7] == letter && matrix.rank() >= 2, "dtype", "'", target, "' does not take ", matrix);
  Shapes shapes(matrix);
  check_operands(call, name, shapes);
  Wanted wanted = results_of(name, shapes, !is_letter(call.attrs, "mode", 'N'), is_letter(call.attrs, "mode", 'A'));
  const std::vector<Type>& results = call.attrs.types(Attr::types);
  call.require(results.size() == wanted.size(), "results", "'", target, "' has ", wanted.size(), " results, got ",
               results.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    call.require(!wanted[i] || results[i] == *wanted[i], "result_type", "result ", i, " of '", target, "' must be ",
                 wanted[i].value_or(Type{}), ", got ", results[i]);
}

}  // namespace weft
