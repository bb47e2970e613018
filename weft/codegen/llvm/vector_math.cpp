// Which functions are inline, and what they share.
#include "weft/codegen/llvm/vector_math.h"

#include "weft/codegen/llvm/math.h"

namespace weft {

const Format& format_of(Elem elem) {
  static const Format single{Elem::i32, 23, 127, 12582912.0, 0x4B400000};
  static const Format wide{Elem::i64, 52, 1023, 6755399441055744.0, 0x4338000000000000};
  return elem == Elem::f64 ? wide : single;
}

V pick(const V& like, double wide, double single) {
  return like.w->real(like.elem, like.elem == Elem::f64 ? wide : single);
}

V polynomial(const V& x, Coefficients coefficients) {
  const double* c = coefficients.begin();
  auto horner = [&](const V& at, size_t first, size_t step) {
    V sum = x.w->real(x.elem, c[first]);
    for (size_t i = first + step; i < coefficients.size(); i += step) sum = mad(sum, at, c[i]);
    return sum;
  };
  if (coefficients.size() < 8) return horner(x, 0, 1);
  // Even and odd powers by themselves: half the latency for one more product.
  size_t odd = coefficients.size() % 2;  // where the odd powers begin: the last coefficient is even
  V square = x * x;
  return mad(horner(square, odd, 2), x, horner(square, 1 - odd, 2));
}
V polynomial(const V& x, Coefficients wide, Coefficients single) {
  return polynomial(x, x.elem == Elem::f64 ? wide : single);
}

V clamped(const V& x, double low, double high) {
  Writer& w = *x.w;
  V top = w.real(x.elem, high), bottom = w.real(x.elem, low);
  V a = w.select(w.compare("fcmp ogt", x, top), top, x);
  return w.select(w.compare("fcmp olt", a, bottom), bottom, a);
}

Rounded rounded(const V& x, const V& factor) {
  const Format& format = format_of(x.elem);
  V sum = mad(x, factor, format.magic);
  return {sum - format.magic, bits(sum, format.whole) - x.w->integer(format.whole, format.magic_bits)};
}

V power_of_two(const V& n) {
  Elem elem = n.elem == Elem::i64 ? Elem::f64 : Elem::f32;
  const Format& format = format_of(elem);
  return bits(shl(n + n.w->integer(n.elem, format.bias), format.mantissa), elem);
}

namespace {

std::string lane_range(int from, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) append(text, i ? ", i32 " : "i32 ", from + i);
  return cat("<", count, " x i32> <", text, ">");
}

}  // namespace

std::vector<std::string> split(const V& v, int lanes) {
  Writer& w = *v.w;
  if (lanes == w.lanes()) return {v.name};
  std::vector<std::string> parts;
  for (int i = 0; i < w.lanes(); i += lanes)
    parts.push_back(w.def(v.elem, "shufflevector ", w.type(v.elem), " ", v.name, ", ", w.type(v.elem), " poison, ",
                          lane_range(i, lanes))
                        .name);
  return parts;
}

V join(Writer& w, Elem elem, std::vector<std::string> parts, int lanes) {
  for (int width = lanes; parts.size() > 1; width *= 2) {
    std::vector<std::string> joined;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      std::string half = cat("<", width, " x ", name_of(elem), "> ");
      joined.push_back(
          w.def(elem, "shufflevector ", half, parts[i], ", ", half, parts[i + 1], ", ", lane_range(0, 2 * width)).name);
    }
    parts = std::move(joined);
  }
  return {&w, parts[0], elem};
}

namespace {

// AVX-512's own instruction, for each register of the value.
V scaled_by_machine(const V& p, const V& number, int lanes) {
  Writer& w = *p.w;
  bool is_wide = p.elem == Elem::f64;
  std::string type = cat("<", lanes, " x ", name_of(p.elem), ">"), mask = is_wide ? "i8" : "i16";
  std::string name = cat("@llvm.x86.avx512.mask.scalef.p", is_wide ? "d" : "s", ".512");
  w.module().declare(cat("declare ", type, " ", name, "(", type, ", ", type, ", ", type, ", ", mask, ", i32)"));
  std::vector<std::string> parts = split(p, lanes), numbers = split(number, lanes);
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = w.def(p.elem, "call ", type, " ", name, "(", type, " ", parts[i], ", ", type, " ", numbers[i], ", ",
                     type, " zeroinitializer, ", mask, " -1, i32 4)")
                   .name;
  return join(w, p.elem, std::move(parts), lanes);
}

}  // namespace

V scaled(const V& p, const Rounded& n) {
  Writer& w = *p.w;
  int lanes = 512 / bits_of(p.elem);
  if (w.target().avx512 && w.lanes() >= lanes) return scaled_by_machine(p, n.number, lanes);
  // Two factors. An arithmetic shift of 64 bits is slow before AVX-512: half of n + 2048 is half of n, plus 1024.
  V half = lshr(n.integer + w.integer(n.integer.elem, 2048), 1) - w.integer(n.integer.elem, 1024);
  return p * power_of_two(half) * power_of_two(n.integer - half);
}

V infinity_like(const V& x) { return x.w->real(x.elem, __builtin_inf()); }
V nan_like(const V& x) { return x.w->real(x.elem, __builtin_nan("")); }
V wide(const V& x) { return x.w->cast("fpext", x, Elem::f64); }
V narrow(const V& x) { return x.w->cast("fptrunc", x, Elem::f32); }

Pair fast_sum(const V& a, const V& b) {
  V sum = a + b;
  return {sum, b - (sum - a)};
}

Pair exact_product(const V& a, const V& b) {
  V product = a * b;
  return {product, mad(a, b, -product)};
}

Pair operator+(const Pair& a, const V& b) {
  Pair sum = fast_sum(a.hi, b);
  return {sum.hi, sum.lo + a.lo};
}

Pair quotient_pair(const Pair& a, const Pair& b) {
  V inverse = a.hi.w->real(a.hi.elem, 1) / b.hi, q = a.hi * inverse;
  V rest = mad(-q, b.hi, a.hi) + mad(-q, b.lo, a.lo);
  return {q, rest * inverse};
}

V quotient(const Pair& a, const Pair& b) {
  Pair q = quotient_pair(a, b);
  return q.hi + q.lo;
}

namespace {

struct Inline {
  std::string_view function;
  V (*unary)(const V&) = nullptr;
  V (*binary)(const V&, const V&) = nullptr;
  bool fused = false;  // only where the machine has fused multiply-add
};

const Inline inlines[] = {
    {.function = "exp", .unary = inlined::exp},
    {.function = "exp.near", .unary = inlined::exp_near, .fused = true},
    {.function = "exp2", .unary = inlined::exp2},
    {.function = "expm1", .unary = inlined::expm1},
    {.function = "sinh", .unary = inlined::sinh},
    {.function = "cosh", .unary = inlined::cosh},
    {.function = "tanh", .unary = inlined::tanh},
    {.function = "logistic", .unary = inlined::logistic},
    {.function = "log", .unary = inlined::log},
    {.function = "log2", .unary = inlined::log2, .fused = true},
    {.function = "log10", .unary = inlined::log10, .fused = true},
    {.function = "log1p", .unary = inlined::log1p},
    {.function = "asinh", .unary = inlined::asinh},
    {.function = "acosh", .unary = inlined::acosh},
    {.function = "atanh", .unary = inlined::atanh},
    {.function = "sin", .unary = inlined::sin, .fused = true},
    {.function = "cos", .unary = inlined::cos, .fused = true},
    {.function = "tan", .unary = inlined::tan, .fused = true},
    {.function = "asin", .unary = inlined::asin},
    {.function = "acos", .unary = inlined::acos},
    {.function = "atan", .unary = inlined::atan},
    {.function = "atan2", .binary = inlined::atan2},
    {.function = "erf", .unary = inlined::erf},
    {.function = "erfc", .unary = inlined::erfc, .fused = true},
    {.function = "erf_inv", .unary = inlined::erf_inv, .fused = true},
    {.function = "cbrt", .unary = inlined::cbrt, .fused = true},
    {.function = "hypot", .binary = inlined::hypot},
    {.function = "magnitude", .binary = inlined::magnitude},
    {.function = "next_after", .binary = inlined::next_after},
    {.function = "power", .binary = inlined::power, .fused = true},
    {.function = "three_halves_power", .unary = inlined::three_halves_power, .fused = true},
    {.function = "minus_half_power", .unary = inlined::minus_half_power, .fused = true},
    {.function = "minus_three_halves_power", .unary = inlined::minus_three_halves_power, .fused = true},
};

// The body of a function as text.
template <class Body>
std::string definition(ModuleText& module, const std::string& name, int lanes, Elem from, const Body& body,
                       bool is_binary = false) {
  Block block{{}, "entry"};
  Writer w(module, block, lanes);
  V result = body(V{&w, "%x", from});
  return cat("define internal ", w.type(result.elem), " @", name, "(", w.type(from), " %x",
             is_binary ? cat(", ", w.type(from), " %y") : std::string(), ") #2 {\nentry:\n", block.text, "  ret ",
             w.type(result.elem), " ", result.name, "\n}\n\n");
}

// "small_to_float.D" and its kin, D the number of the small type.
std::string conversion(ModuleText& module, const std::string& function, const std::string& name, int lanes) {
  size_t dot = function.find('.');
  if (dot == std::string::npos) return {};
  std::string_view stem = std::string_view(function).substr(0, dot);
  bool widens = stem == "small_to_float", narrows = stem == "float_to_small", from_double = stem == "double_to_small";
  if (!widens && !narrows && !from_double) return {};
  auto dtype = static_cast<DType>(std::stoi(function.substr(dot + 1)));
  Elem from = widens ? Elem::i32 : narrows ? Elem::f32 : Elem::f64;
  return definition(module, name, lanes, from, [&](const V& x) {
    return widens ? small_to_float(x, dtype) : narrows ? float_to_small(x, dtype) : double_to_small(x, dtype);
  });
}

// Both parts of a function of a complex number, computed in f64.
std::string complex_definition(ModuleText& module, ComplexFunction function, const std::string& name, int lanes,
                               Elem elem) {
  Block block{{}, "entry"};
  Writer w(module, block, lanes);
  V re{&w, "%x", elem}, im{&w, "%y", elem};
  bool is_single = elem == Elem::f32;
  Complex z = function(is_single ? Complex{wide(re), wide(im)} : Complex{re, im});
  if (is_single) z = {narrow(z.re), narrow(z.im)};
  std::string type = w.type(elem), both = cat("{ ", type, ", ", type, " }");
  w.line("%first = insertvalue ", both, " poison, ", type, " ", z.re.name, ", 0");
  w.line("%both = insertvalue ", both, " %first, ", type, " ", z.im.name, ", 1");
  return cat("define internal ", both, " @", name, "(", type, " %x, ", type, " %y) #2 {\nentry:\n", block.text,
             "  ret ", both, " %both\n}\n\n");
}

// The function of "complex_NAME", where the target has it inline.
ComplexFunction inline_complex(std::string_view name, const Target& target) {
  constexpr std::string_view of_complex = "complex_";
  return target.fma && name.starts_with(of_complex) ? complex_function(name.substr(of_complex.size())) : nullptr;
}

}  // namespace

std::string_view root_power(double exponent) {
  return exponent == 1.5    ? "three_halves_power"
         : exponent == -0.5 ? "minus_half_power"
         : exponent == -1.5 ? "minus_three_halves_power"
                            : "";
}

bool is_inline_function(std::string_view name, const Target& target) {
  for (const Inline& known : inlines)
    if (known.function == name) return !known.fused || target.fma;
  return inline_complex(name, target) != nullptr;
}

std::string vector_math(ModuleText& module, const std::string& function, DType dtype, const std::string& name,
                        int lanes) {
  Elem elem = dtype == DType::f64 ? Elem::f64 : Elem::f32;
  for (const Inline& known : inlines) {
    if (known.function != function) continue;
    if (known.fused && !module.target.fma) return {};
    if (known.unary) return definition(module, name, lanes, elem, known.unary);
    auto body = [&](const V& x) { return known.binary(x, V{x.w, "%y", x.elem}); };
    return definition(module, name, lanes, elem, body, true);
  }
  if (ComplexFunction body = inline_complex(function, module.target))
    return complex_definition(module, body, name, lanes, elem);
  return conversion(module, function, name, lanes);
}

}  // namespace weft
