// Complex numbers over lanes: each operation as operations of their parts.
#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/codegen/llvm/math.h"
#include "weft/core/error.h"

namespace weft {

// x op y, of xr, xi, yr and yi.
Ssa KernelEmitter::complex_binary(Scalar op, DType real, const std::array<std::string, 4>& parts, int lanes) {
  bool vector = lanes > 1;
  const auto& [xr, xi, yr, yi] = parts;
  if (op == Scalar::eq || op == Scalar::ne) {
    std::string a = compare(op, real, xr, yr, lanes);
    std::string b = compare(op, real, xi, yi, lanes);
    return {assign(cat(op == Scalar::eq ? "and " : "or ", lanes_type("i1", lanes), " ", a, ", ", b)), {}, vector};
  }
  if (op == Scalar::multiply || op == Scalar::divide) {
    auto [re, im] = op == Scalar::multiply ? complex_multiply(real, parts, lanes) : complex_divide(real, parts, lanes);
    return {re, im, vector};
  }
  std::string re[2] = {xr, yr}, im[2] = {xi, yi};
  return {real_scalar(op, real, re, lanes), real_scalar(op, real, im, lanes), vector};
}

Ssa KernelEmitter::complex_scalar(const Expr& e, const std::vector<Ssa>& args, int lanes) {
  DType from = e.args.empty() ? e.dtype : kernel_.exprs[static_cast<size_t>(e.args[0])].dtype;
  bool vector = lanes > 1;
  auto part = [&](size_t i, bool imaginary) {
    DType dtype = e.args.empty() ? e.dtype : kernel_.exprs[static_cast<size_t>(e.args[i])].dtype;
    return vector ? as_vector(args[i], real_type(dtype), imaginary) : imaginary ? args[i].im : args[i].re;
  };
  DType real = real_type(is_complex(from) ? from : e.dtype);
  switch (e.op) {
    case Scalar::bitcast:
      check(from == e.dtype, "bitcast of ", weft::name(from), " to ", weft::name(e.dtype));
      return {part(0, false), part(0, true), vector};
    case Scalar::real:
      return {part(0, false), {}, vector};
    case Scalar::imag:
      return {part(0, true), {}, vector};
    case Scalar::complex:
      return {part(0, false), part(1, false), vector};
    case Scalar::convert:
      return complex_convert(e.dtype, from, part(0, false), is_complex(from) ? part(0, true) : std::string(), lanes);
    case Scalar::select: {
      std::string condition = vector ? as_vector(args[0], DType::boolean) : args[0].re;
      return {select(real, condition, part(1, false), part(2, false), lanes),
              select(real, condition, part(1, true), part(2, true), lanes), vector};
    }
    case Scalar::add:
    case Scalar::subtract:
    case Scalar::multiply:
    case Scalar::divide:
    case Scalar::eq:
    case Scalar::ne:
      return complex_binary(e.op, real, {part(0, false), part(0, true), part(1, false), part(1, true)}, lanes);
    case Scalar::negate: {
      std::string a = part(0, false), b = part(0, true);
      return {real_scalar(Scalar::negate, real, &a, lanes), real_scalar(Scalar::negate, real, &b, lanes), vector};
    }
    case Scalar::abs: {
      std::string pair[2] = {part(0, false), part(0, true)};
      return {call_math(module_.target.fma ? "magnitude" : "hypot", real, pair, 2, lanes), {}, vector};
    }
    case Scalar::is_finite:
      return {complex_is_finite(real, part(0, false), part(0, true), lanes), {}, vector};
    default:
      break;
  }
  std::vector<std::string> parts;
  for (size_t i = 0; i < args.size(); ++i) {
    parts.push_back(part(i, false));
    parts.push_back(part(i, true));
  }
  return complex_library(e.op, real, parts, lanes);
}

std::string KernelEmitter::complex_is_finite(DType real, const std::string& re, const std::string& im, int lanes) {
  std::string type = lanes_type(register_type(real), lanes),
              infinity = splat(register_type(real), "0x7FF0000000000000", lanes);
  auto is_below = [&](const std::string& value) {
    return assign(cat("fcmp olt ", type, " ", real_scalar(Scalar::abs, real, &value, lanes), ", ", infinity));
  };
  std::string x = is_below(re), y = is_below(im);
  return assign(cat("and ", lanes_type("i1", lanes), " ", x, ", ", y));
}

// As NumPy multiplies: with fused multiply-add where the machine has it.
std::array<std::string, 2> KernelEmitter::complex_multiply(DType real, const std::array<std::string, 4>& parts,
                                                           int lanes) {
  auto apply = [&](Scalar op, const std::string& a, const std::string& b) {
    std::string pair[2] = {a, b};
    return real_scalar(op, real, pair, lanes);
  };
  auto joined = [&](Scalar op, const std::string& a, const std::string& b, std::string other) {
    if (!module_.target.fma) return apply(op, apply(Scalar::multiply, a, b), other);
    if (op == Scalar::subtract) other = real_scalar(Scalar::negate, real, &other, lanes);
    std::string three[3] = {a, b, other};
    return real_scalar(Scalar::fma, real, three, lanes);
  };
  const auto& [xr, xi, yr, yi] = parts;
  return {joined(Scalar::subtract, xr, yr, apply(Scalar::multiply, xi, yi)),
          joined(Scalar::add, xr, yi, apply(Scalar::multiply, xi, yr))};
}

// As NumPy divides, by the larger part of the divisor: Smith 1962, "Algorithm 116: complex division".
std::array<std::string, 2> KernelEmitter::complex_divide(DType real, const std::array<std::string, 4>& parts,
                                                         int lanes) {
  std::string type = lanes_type(register_type(real), lanes), mask = lanes_type("i1", lanes);
  auto apply = [&](Scalar op, const std::string& a, const std::string& b) {
    std::string pair[2] = {a, b};
    return real_scalar(op, real, pair, lanes);
  };
  auto pick = [&](const std::string& condition, const std::string& a, const std::string& b) {
    return assign(cat("select ", mask, " ", condition, ", ", type, " ", a, ", ", type, " ", b));
  };
  auto times = [&](const std::string& a, const std::string& b) { return apply(Scalar::multiply, a, b); };
  auto plus = [&](const std::string& a, const std::string& b) { return apply(Scalar::add, a, b); };
  auto minus = [&](const std::string& a, const std::string& b) { return apply(Scalar::subtract, a, b); };
  const auto& [xr, xi, yr, yi] = parts;
  std::string re = real_scalar(Scalar::abs, real, &yr, lanes), im = real_scalar(Scalar::abs, real, &yi, lanes);
  std::string wide = assign(cat("fcmp oge ", type, " ", re, ", ", im));
  std::string larger = pick(wide, yr, yi), smaller = pick(wide, yi, yr);
  std::string ratio = apply(Scalar::divide, smaller, larger);
  std::string scale =
      apply(Scalar::divide, splat(register_type(real), float_text(1), lanes), plus(larger, times(smaller, ratio)));
  std::string xr_ratio = times(xr, ratio), xi_ratio = times(xi, ratio);
  std::string a = times(pick(wide, plus(xr, xi_ratio), plus(xr_ratio, xi)), scale);
  std::string b = times(pick(wide, minus(xi, xr_ratio), minus(xi_ratio, xr)), scale);
  // Zero: infinities, and NaN for zero over zero.
  std::string nothing = assign(cat("fcmp oeq ", type, " ", plus(re, im), ", zeroinitializer"));
  return {pick(nothing, apply(Scalar::divide, xr, re), a), pick(nothing, apply(Scalar::divide, xi, re), b)};
}

// Everything else: inline both parts at once, by the library lane by lane each part of the result.
Ssa KernelEmitter::complex_library(Scalar op, DType real, const std::vector<std::string>& parts, int lanes) {
  std::string base = cat("complex_", weft::name(op)), type = lanes_type(register_type(real), lanes);
  if (is_inline_function(base, module_.target)) {
    std::string both = call_math(base, real, parts.data(), parts.size(), lanes);
    auto part = [&](int i) { return assign(cat("extractvalue { ", type, ", ", type, " } ", both, ", ", i)); };
    std::string re = part(0);
    return {re, part(1), lanes > 1};
  }
  std::string re = call_math(base + ".re", real, parts.data(), parts.size(), lanes);
  return {re, call_math(base + ".im", real, parts.data(), parts.size(), lanes), lanes > 1};
}

Ssa KernelEmitter::complex_convert(DType to, DType from, const std::string& re, const std::string& im, int lanes) {
  bool vector = lanes > 1;
  if (is_bool(to)) {
    std::string type = lanes_type(register_type(from), lanes);
    std::string a = assign(cat("fcmp une ", type, " ", re, ", zeroinitializer")),
                b = assign(cat("fcmp une ", type, " ", im, ", zeroinitializer"));
    return {assign(cat("or ", lanes_type("i1", lanes), " ", a, ", ", b)), {}, vector};
  }
  Ssa value{convert(real_type(from), real_type(to), re, lanes), {}, vector};
  if (!is_complex(to)) return value;
  value.im = is_complex(from) ? convert(real_type(from), real_type(to), im, lanes)
                              : splat(register_type(to), float_text(0), lanes);
  return value;
}

}  // namespace weft
