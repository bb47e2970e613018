// Scalar operations over lanes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "weft/codegen/llvm/kernel_emitter.h"
#include "weft/codegen/llvm/math.h"
#include "weft/core/error.h"

namespace weft {
namespace {

// Whether the operand is a constant, neither zero nor NaN.
bool is_nonzero_number(const std::string& operand) {
  size_t at = operand.find("0x");
  if (at == std::string::npos) return false;
  double value = std::bit_cast<double>(std::stoull(operand.substr(at, 18), nullptr, 16));
  return value != 0 && !std::isnan(value);
}

bool is_small(DType dtype) { return is_float(dtype) && size_of(dtype) < 4; }

// 1, 2, 4, … and their negatives.
bool is_whole_power_of_two(const Expr& e) { return is_power_of_two(e) && std::abs(e.value.as_double(0)) >= 1; }

}  // namespace

Ssa KernelEmitter::scalar(const Expr& e, const std::vector<Ssa>& args, bool vector) {
  int lanes = vector ? lanes_.count : 1;
  DType from = kernel_.exprs[static_cast<size_t>(e.args[0])].dtype;
  if (is_complex(from) || is_complex(e.dtype)) {
    Ssa value = complex_scalar(e, args, lanes);
    value.vector = vector;
    return value;
  }
  auto wide = [&](size_t i) {
    return vector ? as_vector(args[i], kernel_.exprs[static_cast<size_t>(e.args[i])].dtype) : args[i].re;
  };
  if (e.op == Scalar::convert) return {convert(from, e.dtype, wide(0), lanes), {}, vector};
  if (e.op == Scalar::select) return {select(e.dtype, wide(0), wide(1), wide(2), lanes), {}, vector};
  if (e.op == Scalar::bitcast) return {bitcast(from, e.dtype, wide(0), lanes), {}, vector};
  if (is_comparison(e.op)) return {comparison(e, wide(0), wide(1), lanes), {}, vector};
  std::string operands[3];
  for (size_t i = 0; i < args.size(); ++i) operands[i] = wide(i);
  if (vector && divides_by_column(e)) return {quotient_by_column(e.dtype, operands[0], operands[1], lanes), {}, true};
  if (short_ && vector)
    if (Rounding rounding = short_->rounding[static_cast<size_t>(&e - kernel_.exprs.data())];
        rounding != Rounding::always)
      return {short_scalar(e, rounding, args, operands, lanes), {}, true};
  if (e.op == Scalar::is_finite) {
    if (!is_float(from)) return {splat("i1", "true", lanes), {}, vector};
    std::string magnitude = real_scalar(Scalar::abs, from, operands, lanes);
    std::string inf = splat(register_type(from), "0x7FF0000000000000", lanes);
    return {assign(cat("fcmp olt ", lanes_type(register_type(from), lanes), " ", magnitude, ", ", inf)), {}, vector};
  }
  if (e.op == Scalar::clamp) return {clamp(from, operands, lanes), {}, vector};
  if (e.op == Scalar::power && module_.target.fma && (e.dtype == DType::f32 || e.dtype == DType::f64)) {
    const Expr& exponent = kernel_.exprs[static_cast<size_t>(e.args[1])];
    std::string_view function =
        exponent.kind == ExprKind::constant ? root_power(exponent.value.as_double(0)) : std::string_view();
    if (!function.empty()) return {call_math(std::string(function), from, operands, 1, lanes), {}, vector};
  }
  if (e.op == Scalar::power && is_integer(from)) {
    const Expr& exponent = kernel_.exprs[static_cast<size_t>(e.args[1])];
    const bool is_known = exponent.kind == ExprKind::constant && !exponent.value.is_live();
    if (is_known && (is_unsigned(from) || exponent.value.as_int(0) >= 0))
      return {known_power(from, operands[0], static_cast<uint64_t>(exponent.value.as_int(0)), lanes), {}, vector};
  }
  if (e.op == Scalar::exp && e.dtype == DType::f32 && module_.target.fma && largest(e.args[0]) <= 0x1p17)
    return {call_math("exp.near", from, operands, 1, lanes), {}, vector};
  if (computes_halves(e.op, from)) return {half_scalar(e.op, operands, lanes), {}, vector};
  // bf16 overflows where f32 does.
  auto doubles = [&](size_t i) { return is_whole_power_of_two(kernel_.exprs[static_cast<size_t>(e.args[i])]); };
  bool exact = e.dtype == DType::bf16 && e.op == Scalar::multiply && (doubles(0) || doubles(1));
  if (is_float(from))
    return {exact ? real_scalar(e.op, from, operands, lanes) : small_scalar(e.op, from, operands, lanes), {}, vector};
  return {integer_scalar(e.op, from, operands, lanes), {}, vector};
}

std::string KernelEmitter::bitcast(DType from, DType to, const std::string& value, int lanes) {
  auto stored = [&](DType dtype) {
    return lanes_type(dtype == DType::f16   ? "half"
                      : dtype == DType::f32 ? "float"
                      : dtype == DType::f64 ? "double"
                                            : cat("i", size_of(dtype) * 8),
                      lanes);
  };
  int keep = std::exchange(lanes_.count, lanes);
  bool vector = lanes > 1;
  std::string moved = to_memory(from, value, vector);
  if (stored(from) != stored(to)) moved = assign(cat("bitcast ", stored(from), " ", moved, " to ", stored(to)));
  std::string result = from_memory(to, moved, vector);
  lanes_.count = keep;
  return result;
}

// args: the value, and what it is no less and no greater than.
std::string KernelEmitter::clamp(DType dtype, const std::string* args, int lanes) {
  auto extreme = [&](Scalar op, const std::string& a, const std::string& b) {
    std::string both[2] = {a, b};
    if (computes_halves(op, dtype)) return half_scalar(op, both, lanes);
    return is_float(dtype) ? real_scalar(op, dtype, both, lanes) : integer_scalar(op, dtype, both, lanes);
  };
  std::string raised = extreme(Scalar::maximum, args[1], args[0]);
  return extreme(Scalar::minimum, raised, args[2]);
}

std::string KernelEmitter::select(DType dtype, const std::string& condition, std::string a, std::string b, int lanes) {
  bool is_half = computes_halves(Scalar::select, dtype);
  if (is_half) {
    a = to_half(a, lanes);
    b = to_half(b, lanes);
  }
  std::string type = lanes_type(is_half ? "half" : register_type(dtype), lanes);
  std::string value =
      assign(cat("select ", lanes_type("i1", lanes), " ", condition, ", ", type, " ", a, ", ", type, " ", b));
  return is_half ? from_half(value, lanes) : value;
}

// Whether this is a place, or places and numbers added up, that 32 bits hold: more of them are compared at once.
bool KernelEmitter::has_short_values(ExprId id) const {
  auto bounds = [&](const auto& self, ExprId at, int depth) -> std::pair<double, double> {
    const Expr& e = kernel_.exprs[static_cast<size_t>(at)];
    if (e.dtype == DType::i64 && e.kind == ExprKind::index) return {e.index.min(), e.index.max()};
    if (e.dtype == DType::i64 && e.kind == ExprKind::constant) return {e.value.as_double(0), e.value.as_double(0)};
    if (e.dtype != DType::i64 || e.kind != ExprKind::scalar || e.op != Scalar::add || depth == 0)
      return {-0x1p63, 0x1p63};
    auto [low, high] = self(self, e.args[0], depth - 1);
    auto [low_more, high_more] = self(self, e.args[1], depth - 1);
    return {low + low_more, high + high_more};
  };
  constexpr int deepest = 4;
  auto [low, high] = bounds(bounds, id, deepest);
  return low > -0x1p31 && high < 0x1p31;
}

std::string KernelEmitter::comparison(const Expr& e, std::string a, std::string b, int lanes) {
  bool is_short = lanes > 1 && has_short_values(e.args[0]) && has_short_values(e.args[1]);
  for (std::string* side : {&a, &b})
    if (is_short) *side = assign(cat("trunc ", lanes_type("i64", lanes), " ", *side, " to ", lanes_type("i32", lanes)));
  return compare(e.op, is_short ? DType::i32 : kernel_.exprs[static_cast<size_t>(e.args[0])].dtype, a, b, lanes);
}

std::string KernelEmitter::compare(Scalar op, DType dtype, std::string a, std::string b, int lanes) {
  bool is_half = computes_halves(op, dtype);
  if (is_half) {
    a = to_half(a, lanes);
    b = to_half(b, lanes);
  }
  std::string type = lanes_type(is_half ? "half" : register_type(dtype), lanes);
  const char* relation = nullptr;
  if (is_float(dtype)) {
    switch (op) {
      case Scalar::eq:
        relation = "fcmp oeq";
        break;
      case Scalar::ne:
        relation = "fcmp une";
        break;
      case Scalar::lt:
        relation = "fcmp olt";
        break;
      case Scalar::le:
        relation = "fcmp ole";
        break;
      case Scalar::gt:
        relation = "fcmp ogt";
        break;
      default:
        relation = "fcmp oge";
        break;
    }
  } else {
    bool is_signed_type = is_signed(dtype);
    switch (op) {
      case Scalar::eq:
        relation = "icmp eq";
        break;
      case Scalar::ne:
        relation = "icmp ne";
        break;
      case Scalar::lt:
        relation = is_signed_type ? "icmp slt" : "icmp ult";
        break;
      case Scalar::le:
        relation = is_signed_type ? "icmp sle" : "icmp ule";
        break;
      case Scalar::gt:
        relation = is_signed_type ? "icmp sgt" : "icmp ugt";
        break;
      default:
        relation = is_signed_type ? "icmp sge" : "icmp uge";
        break;
    }
  }
  return assign(cat(relation, " ", type, " ", a, ", ", b));
}

// ~((x & 1) | 0x7ffe). With AVX-512 as the instruction that LLVM would find as well, but not before it had looked, at
// every step of a chain, for the bits that matter.
std::string KernelEmitter::complement_of_bias(const std::string& x, int lanes) {
  std::string whole = lanes_type("i32", lanes), type = "<16 x i32>", name = "@llvm.x86.avx512.pternlog.d.512";
  if (!module_.target.avx512 || lanes % 16 != 0) {
    std::string odd = assign(cat("and ", whole, " ", x, ", ", splat("i32", "1", lanes)));
    std::string bias = assign(cat("or ", whole, " ", odd, ", ", splat("i32", "32766", lanes)));
    return assign(cat("xor ", whole, " ", bias, ", ", splat("i32", "-1", lanes)));
  }
  module_.declare(cat("declare ", type, " ", name, "(", type, ", ", type, ", ", type, ", i32)"));
  std::vector<std::string> parts;
  for (int at = 0; at < lanes; at += 16) {
    std::string part = lanes == 16 ? x : part_of(x, "i32", lanes, at, 16);
    parts.push_back(assign(cat("call ", type, " ", name, "(", type, " ", part, ", ", type, " splat (i32 1), ", type,
                               " splat (i32 32766), i32 21)")));
  }
  return joined(std::move(parts), "i32", 16);
}

std::string KernelEmitter::rounded(DType dtype, const std::string& value, int lanes, bool is_nan_short) {
  if (!is_small(dtype)) return value;
  std::string type = lanes_type("float", lanes);
  if (dtype == DType::f16 && module_.target.f16c) {
    std::string half = assign(cat("fptrunc ", type, " ", value, " to ", lanes_type("half", lanes)));
    return assign(cat("fpext ", lanes_type("half", lanes), " ", half, " to ", type));
  }
  if (dtype == DType::bf16) {
    std::string whole = lanes_type("i32", lanes);
    std::string bits = assign(cat("bitcast ", type, " ", value, " to ", whole));
    std::string shifted = assign(cat("lshr ", whole, " ", bits, ", ", splat("i32", "16", lanes)));
    // bits + 0x7fff + odd, with one operation of three operands: less the complement of 0x7ffe + odd.
    std::string inverse = complement_of_bias(shifted, lanes);
    std::string sum = assign(cat("sub ", whole, " ", bits, ", ", inverse));
    std::string cut = assign(cat("and ", whole, " ", sum, ", ", splat("i32", "-65536", lanes)));
    std::string number = assign(cat("bitcast ", whole, " ", cut, " to ", type));
    if (is_nan_short) return number;
    std::string nan = assign(cat("fcmp uno ", type, " ", value, ", ", value));
    std::string quiet = splat("float", "0x7FF8000000000000", lanes);
    return assign(cat("select ", lanes_type("i1", lanes), " ", nan, ", ", type, " ", quiet, ", ", type, " ", number));
  }
  std::string bits = call_math(cat("float_to_small.", static_cast<int>(dtype)), dtype, &value, 1, lanes);
  return call_math(cat("small_to_float.", static_cast<int>(dtype)), dtype, &bits, 1, lanes);
}

// The nearest integer of the type towards zero, its ends for what is beyond them, and 0 for NaN. LLVM's own instruction
// for that goes lane by lane, each with branches.
std::string KernelEmitter::saturated(DType from, DType to, const std::string& value, int lanes) {
  const std::string element = register_type(from), source = lanes_type(element, lanes), whole = register_type(to),
                    target = lanes_type(whole, lanes), mask = lanes_type("i1", lanes);
  const int bits = bit_width(to) - (is_signed(to) ? 1 : 0);
  const uint64_t most = ~uint64_t{0} >> (64 - bits);
  const std::string beyond = bits == 64 ? "18446744073709551616" : cat(most + 1);
  std::string number = assign(cat(is_signed(to) ? "fptosi " : "fptoui ", source, " ", value, " to ", target));
  auto replace = [&](const std::string& compares, const std::string& by) {
    const std::string is = assign(cat("fcmp ", compares));
    number =
        assign(cat("select ", mask, " ", is, ", ", target, " ", splat(whole, by, lanes), ", ", target, " ", number));
  };
  const std::string least = is_signed(to) ? cat("-", beyond) : "0";
  replace(cat("oge ", source, " ", value, ", ", splat(element, cat(beyond, ".0"), lanes)), cat(most));
  replace(cat("olt ", source, " ", value, ", ", splat(element, cat(least, ".0"), lanes)), least);
  replace(cat("uno ", source, " ", value, ", ", value), "0");
  return number;
}

std::string KernelEmitter::convert(DType from, DType to, const std::string& value, int lanes) {
  if (from == to) return value;
  std::string source = lanes_type(register_type(from), lanes), target = lanes_type(register_type(to), lanes);
  if (is_bool(to)) {
    if (is_float(from)) return assign(cat("fcmp une ", source, " ", value, ", zeroinitializer"));
    return assign(cat("icmp ne ", source, " ", value, ", zeroinitializer"));
  }
  if (is_float(from) && is_float(to)) {
    std::string moved = value;
    if (source != target)
      moved = assign(cat(bit_width(to) == 64 ? "fpext " : "fptrunc ", source, " ", value, " to ", target));
    if (!is_small(to)) return moved;
    // From f64 a small float is rounded once, by the exact helper.
    if (from == DType::f64) {
      std::string bits = call_math(cat("double_to_small.", static_cast<int>(to)), DType::f64, &value, 1, lanes);
      return call_math(cat("small_to_float.", static_cast<int>(to)), to, &bits, 1, lanes);
    }
    return rounded(to, moved, lanes);
  }
  if (is_float(from)) {
    if (lanes > 1 && bit_width(to) >= 8) return saturated(from, to, value, lanes);
    const char* name = is_unsigned(to) ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
    std::string element = register_type(from) == "double" ? "f64" : "f32", whole = register_type(to);
    auto mangle = [&](const std::string& t) { return lanes == 1 ? t : cat("v", lanes, t); };
    std::string full = cat("@", name, ".", mangle(whole), ".", mangle(element));
    module_.declare(cat("declare ", target, " ", full, "(", source, ")"));
    return assign(cat("call ", target, " ", full, "(", source, " ", value, ")"));
  }
  bool has_sign = is_signed(from);
  if (is_float(to)) {
    if (is_small(to)) {
      std::string wide =
          assign(cat(has_sign ? "sitofp " : "uitofp ", source, " ", value, " to ", lanes_type("double", lanes)));
      return convert(DType::f64, to, wide, lanes);
    }
    return assign(cat(has_sign ? "sitofp " : "uitofp ", source, " ", value, " to ", target));
  }
  int a = is_bool(from) ? 1 : bit_width(from), b = bit_width(to);
  if (a == b) return value;
  return assign(cat(a > b ? "trunc " : has_sign ? "sext " : "zext ", source, " ", value, " to ", target));
}

// By squares.
std::string KernelEmitter::known_power(DType dtype, const std::string& base, uint64_t exponent, int lanes) {
  std::string product, square = base;
  auto times = [&](const std::string& a, const std::string& b) {
    const std::string factors[] = {a, b};
    return integer_scalar(Scalar::multiply, dtype, factors, lanes);
  };
  for (; exponent; exponent >>= 1) {
    if (exponent & 1) product = product.empty() ? square : times(product, square);
    if (exponent > 1) square = times(square, square);
  }
  return product.empty() ? splat(register_type(dtype), "1", lanes) : product;
}

std::string KernelEmitter::integer_scalar(Scalar op, DType dtype, const std::string* args, int lanes) {
  std::string element = register_type(dtype), type = lanes_type(element, lanes), mask = lanes_type("i1", lanes);
  bool has_sign = is_signed(dtype);
  int bits = is_bool(dtype) ? 1 : bit_width(dtype);
  auto constant = [&](int64_t value) { return splat(element, cat(value), lanes); };
  auto two = [&](const char* instruction) { return assign(cat(instruction, " ", type, " ", args[0], ", ", args[1])); };
  auto choose = [&](const std::string& condition, const std::string& a, const std::string& b) {
    return assign(cat("select ", mask, " ", condition, ", ", type, " ", a, ", ", type, " ", b));
  };
  auto intrinsic = [&](const char* name, const char* extra) {
    std::string full = cat("@llvm.", name, ".", lanes == 1 ? element : cat("v", lanes, element));
    module_.declare(cat("declare ", type, " ", full, "(", type, *extra ? ", i1" : "", ")"));
    return assign(cat("call ", type, " ", full, "(", type, " ", args[0], extra, ")"));
  };
  std::string zero = constant(0);
  switch (op) {
    case Scalar::add:
      return is_bool(dtype) ? two("or") : two("add");
    case Scalar::subtract:
      return two("sub");
    case Scalar::multiply:
      return is_bool(dtype) ? two("and") : two("mul");
    case Scalar::bit_and:
      return two("and");
    case Scalar::bit_or:
      return two("or");
    case Scalar::bit_xor:
      return two("xor");
    case Scalar::bit_not:
      return assign(cat("xor ", type, " ", args[0], ", ", is_bool(dtype) ? splat("i1", "true", lanes) : constant(-1)));
    case Scalar::negate:
      return assign(cat("sub ", type, " ", zero, ", ", args[0]));
    case Scalar::popcount:
      return intrinsic("ctpop", "");
    case Scalar::count_leading_zeros:
      return intrinsic("ctlz", ", i1 false");
    case Scalar::real:
      return args[0];
    case Scalar::imag:
      return zero;
    case Scalar::abs: {
      if (!has_sign) return args[0];
      std::string negative = compare(Scalar::lt, dtype, args[0], zero, lanes);
      return choose(negative, assign(cat("sub ", type, " ", zero, ", ", args[0])), args[0]);
    }
    case Scalar::sign: {
      std::string some = choose(compare(Scalar::ne, dtype, args[0], zero, lanes), constant(1), zero);
      return has_sign ? choose(compare(Scalar::lt, dtype, args[0], zero, lanes), constant(-1), some) : some;
    }
    case Scalar::maximum:
    case Scalar::minimum:
      return choose(compare(op == Scalar::maximum ? Scalar::gt : Scalar::lt, dtype, args[0], args[1], lanes), args[0],
                    args[1]);
    case Scalar::divide:
    case Scalar::remainder: {
      // The divisor is made harmless first: zero, and -1 where the quotient would not fit.
      std::string by_zero = compare(Scalar::eq, dtype, args[1], zero, lanes);
      std::string divisor = choose(by_zero, constant(1), args[1]);
      std::string by_minus = has_sign ? compare(Scalar::eq, dtype, args[1], constant(-1), lanes) : std::string();
      if (has_sign) divisor = choose(by_minus, constant(1), divisor);
      bool divides = op == Scalar::divide;
      std::string name = cat(has_sign ? "s" : "u", divides ? "div " : "rem ");
      std::string result = assign(cat(name, type, " ", args[0], ", ", divisor));
      if (has_sign && divides) result = choose(by_minus, assign(cat("sub ", type, " ", zero, ", ", args[0])), result);
      return choose(by_zero, divides ? constant(-1) : args[0], result);
    }
    case Scalar::shift_left:
    case Scalar::shift_right_logical:
    case Scalar::shift_right_arithmetic: {
      std::string past = assign(cat("icmp uge ", type, " ", args[1], ", ", constant(bits)));
      bool arithmetic = op == Scalar::shift_right_arithmetic;
      std::string amount = choose(past, constant(arithmetic ? bits - 1 : 0), args[1]);
      std::string name = op == Scalar::shift_left ? "shl " : arithmetic ? "ashr " : "lshr ";
      std::string result = assign(cat(name, type, " ", args[0], ", ", amount));
      return arithmetic ? result : choose(past, zero, result);
    }
    case Scalar::power:
      return call_math(has_sign ? "power.signed" : "power", dtype, args, 2, lanes);
    case Scalar::gcd: {
      const std::string magnitudes[] = {integer_scalar(Scalar::abs, dtype, &args[0], lanes),
                                        integer_scalar(Scalar::abs, dtype, &args[1], lanes)};
      return call_math("gcd", dtype, magnitudes, 2, lanes);
    }
    default:
      raise({ErrorKind::unsupported, cat(weft::name(op), " of ", weft::name(dtype), " cannot be compiled"),
             "unsupported_scalar", kernel_.loc});
  }
}

std::string KernelEmitter::real_scalar(Scalar op, DType dtype, const std::string* args, int lanes) {
  return float_scalar(op, register_type(dtype), args, lanes);
}

std::string KernelEmitter::float_intrinsic(const char* name, const std::string& element, const std::string* args,
                                           int count, int lanes, const char* flags) {
  const char* suffix = element == "half" ? "f16" : element == "double" ? "f64" : "f32";
  std::string type = lanes_type(element, lanes);
  std::string full = cat("@llvm.", name, ".", lanes == 1 ? suffix : cat("v", lanes, suffix));
  std::string list, given;
  for (int i = 0; i < count; ++i) {
    append(list, i ? ", " : "", type);
    append(given, i ? ", " : "", type, " ", args[i]);
  }
  module_.declare(cat("declare ", type, " ", full, "(", list, ")"));
  return assign(cat("call ", flags, type, " ", full, "(", given, ")"));
}

// The first when it is NaN or wins, else the second: a NaN there loses no comparison. A number but zero in the second
// place may stand first, where no NaN needs a test.
std::string KernelEmitter::float_extreme(bool is_maximum, const std::string& element, const std::string* args,
                                         int lanes) {
  if (!is_nonzero_number(args[1]))
    return float_intrinsic(is_maximum ? "maximum" : "minimum", element, args, 2, lanes, "nsz ");
  std::string type = lanes_type(element, lanes);
  std::string wins = assign(cat(is_maximum ? "fcmp ogt " : "fcmp olt ", type, " ", args[1], ", ", args[0]));
  return assign(cat("select ", lanes_type("i1", lanes), " ", wins, ", ", type, " ", args[1], ", ", type, " ", args[0]));
}

std::string KernelEmitter::float_scalar(Scalar op, const std::string& element, const std::string* args, int lanes) {
  bool is_double = element == "double";
  std::string type = lanes_type(element, lanes), mask = lanes_type("i1", lanes);
  auto constant = [&](double value) { return splat(element, float_text(value), lanes); };
  auto two = [&](const char* instruction) { return assign(cat(instruction, " ", type, " ", args[0], ", ", args[1])); };
  auto choose = [&](const std::string& condition, const std::string& a, const std::string& b) {
    return assign(cat("select ", mask, " ", condition, ", ", type, " ", a, ", ", type, " ", b));
  };
  auto intrinsic = [&](const char* name, int count) { return float_intrinsic(name, element, args, count, lanes); };
  switch (op) {
    case Scalar::add:
      return two("fadd");
    case Scalar::subtract:
      return two("fsub");
    case Scalar::multiply:
      return two("fmul");
    case Scalar::divide: {
      const bool is_minus = args[0] == constant(-0.0);
      if (!is_minus && args[0] != constant(0)) return two("fdiv");
      // LLVM 23 takes a zero by an integer that became a float for a signed zero where it is multiplied, whatever the
      // integer is: its own way of it, with NaN where it is a zero or NaN.
      const std::string nothing = constant(-std::numeric_limits<double>::quiet_NaN());
      const std::string operands[] = {constant(0), is_minus ? assign(cat("fneg ", type, " ", args[1])) : args[1]};
      const std::string zero = float_intrinsic("copysign", element, operands, 2, lanes);
      return choose(assign(cat("fcmp one ", type, " ", args[1], ", ", constant(0))), zero, nothing);
    }
    case Scalar::negate:
      return assign(cat("fneg ", type, " ", args[0]));
    case Scalar::abs:
      return intrinsic("fabs", 1);
    case Scalar::sqrt:
      return intrinsic("sqrt", 1);
    case Scalar::floor:
      return intrinsic("floor", 1);
    case Scalar::ceil:
      return intrinsic("ceil", 1);
    case Scalar::round_even:
      return intrinsic("rint", 1);
    case Scalar::round_away:
      return intrinsic("round", 1);
    case Scalar::fma:
      return intrinsic("fma", 3);
    case Scalar::real:
      return args[0];
    case Scalar::imag:
      return splat(element, float_text(0), lanes);
    case Scalar::rsqrt: {
      std::string root = intrinsic("sqrt", 1);
      return assign(cat("fdiv ", type, " ", constant(1), ", ", root));
    }
    case Scalar::sign: {
      std::string above = assign(cat("fcmp ogt ", type, " ", args[0], ", zeroinitializer"));
      std::string below = assign(cat("fcmp olt ", type, " ", args[0], ", zeroinitializer"));
      return choose(above, constant(1), choose(below, constant(-1), args[0]));
    }
    case Scalar::maximum:
    case Scalar::minimum:
      return float_extreme(op == Scalar::maximum, element, args, lanes);
    default:
      break;
  }
  // f16 and smaller compute in f32: the same functions.
  DType computed = is_double ? DType::f64 : DType::f32;
  return call_math(std::string(weft::name(op)), computed, args, static_cast<size_t>(arity(op)), lanes);
}

std::string KernelEmitter::call_math(const std::string& function, DType dtype, const std::string* args, size_t count,
                                     int lanes) {
  MathFunction math = math_function(module_, function, dtype, lanes);
  std::string given;
  for (size_t i = 0; i < count; ++i) append(given, i ? ", " : "", math.argument_type, " ", args[i]);
  ++calls_[math.name];
  return assign(cat("call ", math.result_type, " @", math.name, "(", given, ")"));
}

// What a kernel calls again and again stays a function of its own there: LLVM's work grows with what is inlined.
void KernelEmitter::keep_calls_apart() {
  constexpr int most_inlined = 4;  // calls of one function
  if (std::ranges::all_of(calls_, [](const auto& call) { return call.second <= most_inlined; })) return;
  std::string text;
  size_t copied = 0;
  for (size_t at = own_text_.find(" = call "); at != own_text_.npos; at = own_text_.find(" = call ", at)) {
    size_t end = own_text_.find('\n', at), name = own_text_.find(" @", at) + 2, open = own_text_.find('(', name);
    auto found = open < end ? calls_.find(std::string_view(own_text_).substr(name, open - name)) : calls_.end();
    at = end;
    if (found == calls_.end() || found->second <= most_inlined) continue;
    append(text, std::string_view(own_text_).substr(copied, end - copied), " noinline");
    copied = end;
  }
  own_text_ = text + own_text_.substr(copied);
}

}  // namespace weft
