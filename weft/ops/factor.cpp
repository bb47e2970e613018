// Factorisations, triangular systems and Fourier transforms: the shapes here, the numbers in weft/library.
#include "weft/ir/routine_call.h"
#include "weft/ir/scalar_body.h"
#include "weft/ops/infer.h"

namespace weft {
namespace {

bool has_factors(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::c64 || dtype == DType::c128;
}

void require_square(const Call& call, const Type& a) {
  // Narrow floats are solved as f32.
  call.require(has_factors(a.dtype) || a.dtype == DType::f16 || a.dtype == DType::bf16, "dtype",
               "takes f32, f64 and complex numbers, got ", a);
  call.require(a.rank() >= 2 && a.dims[a.dims.size() - 1] == a.dims[a.dims.size() - 2], "c2",
               "the last two dimensions must be equal, got ", a);
}

Literal converted(const Literal& x, DType dtype) {
  Literal result(Type{dtype, x.type().dims});
  for (int64_t i = 0; i < x.count(); ++i) set_element(result, i, convert(element_at(x, i), dtype));
  return result;
}

std::vector<Literal> eval_factor(const Node& node, std::span<const Literal> operands) {
  DType dtype = node.type().dtype;
  if (has_factors(dtype)) return run_routine(node, operands);
  Builder build(Level::flat);
  std::vector<Literal> wide;
  std::vector<Value> parameters;
  for (const Literal& operand : operands) {
    wide.push_back(converted(operand, DType::f32));
    parameters.push_back(build.parameter(wide.back().type(), ""));
  }
  return {converted(run_routine(build.call(node.op, parameters, node.attrs), wide)[0], dtype)};
}

Types infer_cholesky(const Call& call) {
  require_square(call, call.operand(0));
  return {call.operand(0)};
}

Types infer_triangular_solve(const Call& call) {
  const Type &a = call.operand(0), &b = call.operand(1);
  require_square(call, a);
  call.require(a.dtype == b.dtype && a.rank() == b.rank(), "c1", "operands must agree in element type and rank, got ",
               a, " and ", b);
  for (size_t i = 0; i + 2 < a.dims.size(); ++i)
    call.require(a.dims[i] == b.dims[i], "c3", "leading dimensions must agree, got ", a, " and ", b);
  size_t side = b.dims.size() - (call.attrs.flag(Attr::left_side) ? 2 : 1);
  call.require(b.dims[side] == a.dims.back(), "c3", "the system of ", a, " does not fit ", b);
  const std::string& transpose = call.attrs.text(Attr::transpose_a);
  call.require(transpose == "NO_TRANSPOSE" || transpose == "TRANSPOSE" || transpose == "ADJOINT", "transpose_a",
               "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT, got '", transpose, "'");
  return {b};
}

Types infer_fft(const Call& call) {
  const Type& x = call.operand(0);
  const std::string& type = call.attrs.text(Attr::fft_type);
  const Ints& lengths = call.attrs.ints(Attr::fft_length);
  bool known = type == "FFT" || type == "IFFT" || type == "RFFT" || type == "IRFFT";
  call.require(known, "fft_type", "fft_type must be FFT, IFFT, RFFT or IRFFT, got '", type, "'");
  call.require(!lengths.empty() && lengths.size() <= 3, "c3", "fft_length must have 1 to 3 extents, got ", lengths);
  call.require(x.dims.size() >= lengths.size(), "c1", "fft_length ", lengths, " has more extents than ", x);
  bool real = type == "RFFT";
  bool fits = real ? x.dtype == DType::f32 || x.dtype == DType::f64 : is_complex(x.dtype);
  call.require(fits, "c2", type, " does not take elements of type ", name(x.dtype));
  Type result{real ? complex_type(x.dtype) : type == "IRFFT" ? real_type(x.dtype) : x.dtype, x.dims};
  for (size_t i = 0; i < lengths.size(); ++i) {
    Dim& extent = result.dims[x.dims.size() - lengths.size() + i];
    bool last = i + 1 == lengths.size();
    Dim wanted = last && type == "IRFFT" ? (lengths[i] == 0 ? 0 : lengths[i] / 2 + 1) : lengths[i];
    call.require(extent == wanted, "c4", "fft_length ", lengths, " does not fit ", x);
    if (last && real) extent = lengths[i] == 0 ? 0 : lengths[i] / 2 + 1;
    if (last && type == "IRFFT") extent = lengths[i];
  }
  return {result};
}

}  // namespace

OpDef define_cholesky() {
  return {
      .doc = "The Cholesky factor of each Hermitian positive definite matrix; NaN where it is not positive definite.",
      .attrs = {{Attr::lower, AttrKind::flag, true}},
      .infer = infer_cholesky,
      .eval = eval_factor,
      .names = {.stablehlo = "cholesky", .hlo = "cholesky"}};
}

OpDef define_triangular_solve() {
  return {.doc = "Solves op(a) x = b, or x op(a) = b, for triangular matrices a.",
          .operands = 2,
          .attrs = {{Attr::left_side, AttrKind::flag},
                    {Attr::lower, AttrKind::flag},
                    {Attr::unit_diagonal, AttrKind::flag},
                    {Attr::transpose_a, AttrKind::text}},
          .infer = infer_triangular_solve,
          .eval = eval_factor,
          .names = {.stablehlo = "triangular_solve", .hlo = "triangular-solve"}};
}

OpDef define_fft() {
  return {.doc = "Discrete Fourier transform of the last dimensions.",
          .attrs = {{Attr::fft_type, AttrKind::text}, {Attr::fft_length, AttrKind::ints}},
          .infer = infer_fft,
          .eval = run_routine,
          .names = {.stablehlo = "fft", .hlo = "fft"}};
}

}  // namespace weft
