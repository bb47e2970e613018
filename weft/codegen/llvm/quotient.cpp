// Quotients by what all rows of a tile have in common, such as the deviations of a normalisation behind a product: the
// reciprocal is computed once a tile, a quotient is corrected twice and rounded as a division rounds it (Markstein
// 1990, "Computation of elementary functions on the IBM RISC System/6000 processor"). A divider takes 16 cycles for a
// vector of 64 bytes, this takes five.
#include "weft/codegen/llvm/dot_shape.h"
#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/kernel/visit.h"

namespace weft {
namespace {

// Where no step is subnormal or overflows: patterns of magnitudes, as powers of two on both sides of one.
struct Bounds {
  int mantissa, middle;  // bits of the pattern; the exponent of one
  int dividend, divisor;

  std::string least(int power) const { return cat(int64_t{middle - power} << mantissa); }
  std::string range(int power) const { return cat(int64_t{2 * power} << mantissa); }
};
constexpr Bounds of_f32{23, 127, 60, 30}, of_f64{52, 1023, 500, 300};

}  // namespace

bool KernelEmitter::divides_by_column(const Expr& e) const {
  bool is_wide = e.dtype == DType::f32 || e.dtype == DType::f64;
  if (!accumulator_.vector || e.op != Scalar::divide || !is_wide || !module_.target.fma ||
      module_.target.vector_bytes < 64)
    return false;
  // Masked loads stay in the loop over rows, and the reciprocal with them.
  if (!lanes_.mask.empty() || (kernel_.dot->m.is_static() && kernel_.dot->m.value() < small_rows)) return false;
  const std::set<std::string>& counters = depends_[static_cast<size_t>(e.args[1])];
  bool is_column = counters == std::set<std::string>{".n"};
  visit_expressions(kernel_, {e.args[1]},
                    [&](ExprId, const Expr& of) { is_column &= of.kind != ExprKind::accumulator; });
  return is_column;
}

std::string KernelEmitter::quotient_by_column(DType dtype, const std::string& x, const std::string& y, int lanes) {
  const Bounds& bounds = dtype == DType::f64 ? of_f64 : of_f32;
  int bits = static_cast<int>(size_of(dtype)) * 8;
  std::string type = lanes_type(register_type(dtype), lanes), whole = lanes_type(cat("i", bits), lanes),
              mask = lanes_type("i1", lanes);
  auto all = [&](const std::string& value) { return cat("splat (i", bits, " ", value, ")"); };
  auto is_within = [&](const std::string& value, int power) {
    std::string pattern = assign(cat("bitcast ", type, " ", value, " to ", whole));
    std::string magnitude = assign(
        cat("and ", whole, " ", pattern, ", ", all(cat(~(uint64_t{1} << (bits - 1)) & (~uint64_t{0} >> (64 - bits))))));
    std::string above = assign(cat("sub ", whole, " ", magnitude, ", ", all(bounds.least(power))));
    return assign(cat("icmp ult ", whole, " ", above, ", ", all(bounds.range(power))));
  };
  std::string fine = assign(cat("and ", mask, " ", is_within(y, bounds.divisor), ", ", is_within(x, bounds.dividend)));
  std::string are_fine =
      assign(cat("icmp eq i", lanes, " ", assign(cat("bitcast ", mask, " ", fine, " to i", lanes)), ", -1"));
  auto fused = [&](const std::string& a, const std::string& b, const std::string& c) {
    std::string args[] = {a, b, c};
    return real_scalar(Scalar::fma, dtype, args, lanes);
  };
  std::string reciprocal = assign(cat("fdiv ", type, " splat (", register_type(dtype), " 1.0), ", y));
  std::string quick = label("quick"), plain = label("plain"), joined = label("joined");
  line(cat("br i1 ", are_fine, ", label %", quick, ", label %", plain));
  append(*out, quick, ":\n");
  std::string quotient = assign(cat("fmul ", type, " ", x, ", ", reciprocal));
  for (int step = 0; step < 2; ++step) {
    std::string less = assign(cat("fneg ", type, " ", quotient));
    quotient = fused(fused(less, y, x), reciprocal, quotient);
  }
  line(cat("br label %", joined));
  append(*out, plain, ":\n");
  std::string divided = assign(cat("fdiv ", type, " ", x, ", ", y));
  line(cat("br label %", joined));
  append(*out, joined, ":\n");
  return assign(cat("phi ", type, " [", quotient, ", %", quick, "], [", divided, ", %", plain, "]"));
}

}  // namespace weft
