// Which functions are inline, and what they share.
#include "weft/codegen/llvm/vector_math.h"

#include "weft/codegen/llvm/math.h"

namespace weft {

V polynomial(const V& x, std::initializer_list<double> coefficients) {
  auto c = coefficients.begin();
  V sum = x.w->real(x.elem, *c);
  while (++c != coefficients.end()) sum = mad(sum, x, *c);
  return sum;
}

V clamped(const V& x, double low, double high) {
  Writer& w = *x.w;
  V top = w.real(x.elem, high), bottom = w.real(x.elem, low);
  V a = w.select(w.compare("fcmp ogt", x, top), top, x);
  return w.select(w.compare("fcmp olt", a, bottom), bottom, a);
}

namespace {

using Unary = V (*)(const V&);

struct Inline {
  std::string_view function;
  Unary single, wide;  // null: by the library
  bool fused = false;  // only where the machine has fused multiply-add
};

const Inline inlines[] = {
    {"exp", f32::exp, f64::exp},       {"log", f32::log, f64::log},
    {"tanh", f32::tanh, f64::tanh},    {"logistic", f32::logistic, f64::logistic},
    {"expm1", f32::expm1, f64::expm1}, {"log1p", f32::log1p, nullptr},
    {"erf", f32::erf, nullptr},        {"sin", f32::sin, nullptr, true},
    {"cos", f32::cos, nullptr, true},  {"tan", f32::tan, nullptr, true},
    {"sinh", f32::sinh, nullptr},      {"cosh", f32::cosh, nullptr},
    {"cbrt", f32::cbrt, nullptr},
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

}  // namespace

std::string vector_math(ModuleText& module, const std::string& function, DType dtype, const std::string& name,
                        int lanes) {
  Elem elem = dtype == DType::f64 ? Elem::f64 : Elem::f32;
  if (function == "power" && elem == Elem::f32)
    return definition(
        module, name, lanes, elem,
        [](const V& x) {
          return f32::pow(x, V{x.w, "%y", Elem::f32});
        },
        true);
  for (const Inline& known : inlines) {
    if (known.function != function) continue;
    Unary body = elem == Elem::f64 ? known.wide : known.single;
    if (!body || (known.fused && !module.target.fma)) return {};
    return definition(module, name, lanes, elem, body);
  }
  return conversion(module, function, name, lanes);
}

}  // namespace weft
