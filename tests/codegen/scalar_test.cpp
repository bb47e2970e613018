// Every scalar operation of every element type as machine code, against what core says it means.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "run_kernel.h"

using namespace weft;

namespace {

constexpr int64_t count = 83;  // no multiple of any number of lanes

DType dtype_at(int i) { return static_cast<DType>(i); }

// Values that matter, then a spread; chosen so that every pair of operands meets.
Element sample(DType dtype, int64_t i, int operand) {
  static const double reals[] = {0.0,      -0.0,      1,   -1,    0.5,    -0.5,   1.5,  2.5, -2.5, 3,
                                 0.1,      -0.7,      7,   -13,   100,    -100,   1e-3, 1e3, 88,   -88,
                                 INFINITY, -INFINITY, NAN, 1e-40, 3.4e38, -1e-45, 1e9,  6e4, 2.0,  0.9999};
  static const int64_t integers[] = {0,         1,         -1,      2,     3,      -2,    5,          7,
                                     -8,        15,        31,      32,    63,     64,    100,        -100,
                                     127,       -128,      255,     32767, -32768, 65535, 2147483647, -2147483648LL,
                                     INT64_MAX, INT64_MIN, 1000003, 6,     4};
  int64_t k = operand == 0 ? i : operand == 1 ? i * 7 + 3 : i * 5 + 1;
  if (is_bool(dtype)) return Element::of_int(dtype, (i >> operand) & 1);
  if (is_integer(dtype)) return Element::of_int(dtype, integers[static_cast<size_t>(k) % std::size(integers)]);
  double re = reals[static_cast<size_t>(k) % std::size(reals)];
  if (!is_complex(dtype)) return Element::of_double(dtype, re);
  static const double parts[] = {0.5, -1, 2, 0.25, -0.75, 1.5};
  return Element::of_complex(dtype,
                             {parts[static_cast<size_t>(k) % 6], parts[static_cast<size_t>(k / 6 + operand) % 6]});
}

// How far apart, in units of the last place of the type; 0 for the same value or two NaNs.
double distance(double a, double b, DType dtype) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return INFINITY;
  DType part = real_type(dtype);
  int digits = part == DType::f64    ? 52
               : part == DType::f32  ? 23
               : part == DType::f16  ? 10
               : part == DType::bf16 ? 7
                                     : 1;
  int least = part == DType::f64    ? -1074
              : part == DType::f32  ? -149
              : part == DType::f16  ? -24
              : part == DType::bf16 ? -133
                                    : -20;
  int exponent = std::max(std::ilogb(b == 0 ? 1e-300 : b) - digits, least);
  return std::fabs(a - b) / std::ldexp(1.0, exponent);
}

bool is_close(const Element& got, const Element& wanted, double ulps) {
  if (!is_float(wanted.dtype) && !is_complex(wanted.dtype)) return got.i == wanted.i;
  if (is_complex(wanted.dtype)) {
    double size = std::abs(wanted.c);
    if (std::isfinite(size) && std::abs(got.c - wanted.c) <= 8 * size * (wanted.dtype == DType::c64 ? 1.2e-7 : 2.3e-16))
      return true;
  }
  return distance(got.c.real(), wanted.c.real(), wanted.dtype) <= ulps &&
         distance(got.c.imag(), wanted.c.imag(), wanted.dtype) <= ulps;
}

struct Case {
  Scalar op;
  DType from, to;
  std::vector<DType> operands;
};

DType result_of(Scalar op, DType from) {
  if (is_comparison(op) || op == Scalar::is_finite) return DType::boolean;
  if ((op == Scalar::real || op == Scalar::imag || op == Scalar::abs) && is_complex(from)) return real_type(from);
  if (op == Scalar::complex) return complex_type(from);
  return from;
}

// Functions that are inline: within 1.5 last places, and the library within 1 (docs/math.md).
double tolerance(Scalar op) {
  switch (op) {
    case Scalar::exp:
    case Scalar::expm1:
    case Scalar::log:
    case Scalar::log2:
    case Scalar::log10:
    case Scalar::exp2:
    case Scalar::hypot:
    case Scalar::log1p:
    case Scalar::tanh:
    case Scalar::logistic:
    case Scalar::erf:
    case Scalar::erfc:
    case Scalar::sin:
    case Scalar::cos:
    case Scalar::tan:
    case Scalar::sinh:
    case Scalar::cosh:
    case Scalar::asin:
    case Scalar::acos:
    case Scalar::atan:
    case Scalar::atan2:
    case Scalar::asinh:
    case Scalar::acosh:
    case Scalar::atanh:
    case Scalar::cbrt:
    case Scalar::power:
      return 2;
    case Scalar::erf_inv:
      return 4;
    default:
      return 0;
  }
}

// All cases of one element type in one program: a kernel each.
void run_cases(const std::vector<Case>& cases, const Target& target) {
  std::vector<Kernel> kernels;
  std::vector<std::vector<std::vector<std::byte>>> memory;
  Dim i = counter_of(".i");
  for (const Case& c : cases) {
    Kernel kernel;
    kernel.name = cat("k", kernels.size(), "_", name(c.op));
    std::vector<std::vector<std::byte>> buffers;
    for (size_t o = 0; o < c.operands.size(); ++o) {
      kernel.memories.push_back({cat("x", o), c.operands[o], false, 0});
      buffers.emplace_back(static_cast<size_t>(count * size_of(c.operands[o])));
      for (int64_t e = 0; e < count; ++e)
        store(buffers.back().data() + e * size_of(c.operands[o]), sample(c.operands[o], e, static_cast<int>(o)));
    }
    kernel.memories.push_back({"y", c.to, true, 0});
    buffers.emplace_back(static_cast<size_t>(count * size_of(c.to)));
    std::vector<ExprId> args;
    for (size_t o = 0; o < c.operands.size(); ++o) args.push_back(load_expr(kernel, static_cast<int32_t>(o), i));
    ExprId y = scalar_expr(kernel, c.op, c.to, args);
    kernel.body.push_back(
        loop_stmt(LoopKind::vector, ".i", count, {store_stmt(static_cast<int32_t>(c.operands.size()), i, y)}));
    kernels.push_back(std::move(kernel));
    memory.push_back(std::move(buffers));
  }
  RunnableProgram program(program_of(kernels), target);
  std::vector<void*> pointers;
  for (auto& buffers : memory)
    for (auto& buffer : buffers) pointers.push_back(buffer.data());
  program.run(pointers);
  for (size_t k = 0; k < cases.size(); ++k) {
    const Case& c = cases[k];
    int wrong = 0;
    for (int64_t e = 0; e < count; ++e) {
      Element operands[3];
      for (size_t o = 0; o < c.operands.size(); ++o)
        operands[o] = load(memory[k][o].data() + e * size_of(c.operands[o]), c.operands[o]);
      Element wanted = apply(c.op, c.to, operands), got = load(memory[k].back().data() + e * size_of(c.to), c.to);
      if (is_close(got, wanted, tolerance(c.op)) || wrong++ > 2) continue;
      FAIL_CHECK(target.name << " " << name(c.op) << " " << name(c.from) << " -> " << name(c.to) << " of "
                             << operands[0].c.real() << "+" << operands[0].c.imag() << "i/" << operands[0].i << ", "
                             << operands[1].c.real() << "+" << operands[1].c.imag() << "i/" << operands[1].i << ": got "
                             << got.c.real() << "+" << got.c.imag() << "i/" << got.i << ", wanted " << wanted.c.real()
                             << "+" << wanted.c.imag() << "i/" << wanted.i);
    }
  }
}

// All types on the first target, those that differ between targets on the others.
bool is_tested(DType dtype, const Target& target) {
  if (target.name == test_targets()[0].name) return true;
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::i8 ||
         dtype == DType::u64 || dtype == DType::boolean;
}

// Whether the interpreter gives the operation a meaning for the type.
bool has_meaning(const Case& c) {
  Element operands[3];
  for (size_t o = 0; o < c.operands.size(); ++o) operands[o] = sample(c.operands[o], 2, static_cast<int>(o));
  try {
    apply(c.op, c.to, operands);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("every scalar operation means the same in machine code") {
  for (const Target& target : test_targets())
    for (int d = 0; d < dtype_count; ++d) {
      if (!is_tested(dtype_at(d), target)) continue;
      std::vector<Case> cases;
      for (int s = static_cast<int>(Scalar::abs); s < static_cast<int>(Scalar::convert); ++s) {
        auto op = static_cast<Scalar>(s);
        DType dtype = dtype_at(d);
        Case c{op, dtype, result_of(op, dtype), {}};
        for (int o = 0; o < arity(op); ++o)
          c.operands.push_back(op == Scalar::select && o == 0 ? DType::boolean : dtype);
        if (op == Scalar::complex && dtype != DType::f32 && dtype != DType::f64) continue;
        if (op == Scalar::clamp && (is_complex(dtype) || is_bool(dtype))) continue;
        bool is_order = op == Scalar::lt || op == Scalar::le || op == Scalar::gt || op == Scalar::ge;
        if (is_complex(dtype) && (is_order || op == Scalar::fma || op == Scalar::round_even)) continue;
        if (is_bool(dtype) &&
            !(is_comparison(op) || op == Scalar::select || op == Scalar::bit_and || op == Scalar::bit_or ||
              op == Scalar::bit_xor || op == Scalar::bit_not || op == Scalar::maximum || op == Scalar::minimum ||
              op == Scalar::add || op == Scalar::multiply))
          continue;
        if (op == Scalar::fma && !is_float(dtype)) continue;
        if (has_meaning(c)) cases.push_back(c);
      }
      run_cases(cases, target);
    }
}

TEST_CASE("every conversion means the same in machine code") {
  for (const Target& target : test_targets())
    for (int a = 0; a < dtype_count; ++a) {
      if (!is_tested(dtype_at(a), target)) continue;
      std::vector<Case> cases;
      for (int b = 0; b < dtype_count; ++b) {
        cases.push_back({Scalar::convert, dtype_at(a), dtype_at(b), {dtype_at(a)}});
        bool same_width =
            bit_width(dtype_at(a)) == bit_width(dtype_at(b)) && is_complex(dtype_at(a)) == is_complex(dtype_at(b));
        if (same_width) cases.push_back({Scalar::bitcast, dtype_at(a), dtype_at(b), {dtype_at(a)}});
      }
      run_cases(cases, target);
    }
}
