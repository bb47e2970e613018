// exp, log, tanh, erf and logistic of f32 over lanes, as IR.
//
// Polynomials after the Cephes mathematical library (S. Moshier); exp by its Taylor series on [-ln 2/2, ln 2/2].
#include "weft/codegen/llvm/math.h"

namespace weft {
namespace {

// Writes straight-line IR over lanes of float.
class Lines {
 public:
  Lines(ModuleText& module, int lanes) : module_(module), lanes_(lanes), type_(lanes_type("float", lanes)) {}

  std::string text;

  std::string constant(double value) {
    auto literal = Literal::scalar(DType::f64, static_cast<float>(value));
    std::string number = constant_text(DType::f64, literal);
    return lanes_ == 1 ? number : cat("splat (float ", number, ")");
  }
  std::string integer(int64_t value) { return lanes_ == 1 ? cat(value) : cat("splat (i32 ", value, ")"); }

  std::string add(const std::string& a, const std::string& b) { return assign(cat("fadd ", type_, " ", a, ", ", b)); }
  std::string sub(const std::string& a, const std::string& b) { return assign(cat("fsub ", type_, " ", a, ", ", b)); }
  std::string mul(const std::string& a, const std::string& b) { return assign(cat("fmul ", type_, " ", a, ", ", b)); }
  std::string div(const std::string& a, const std::string& b) { return assign(cat("fdiv ", type_, " ", a, ", ", b)); }
  std::string neg(const std::string& a) { return assign(cat("fneg ", type_, " ", a)); }
  std::string fma(const std::string& a, const std::string& b, const std::string& c) {
    if (!module_.target.fma) return add(mul(a, b), c);
    return intrinsic("fma", {a, b, c});
  }
  std::string abs(const std::string& a) { return intrinsic("fabs", {a}); }
  std::string rint(const std::string& a) { return intrinsic("rint", {a}); }
  std::string copysign(const std::string& a, const std::string& b) { return intrinsic("copysign", {a, b}); }
  std::string compare(const char* relation, const std::string& a, const std::string& b) {
    return assign(cat("fcmp ", relation, " ", type_, " ", a, ", ", b));
  }
  std::string select(const std::string& condition, const std::string& a, const std::string& b) {
    return assign(cat("select ", lanes_type("i1", lanes_), " ", condition, ", ", type_, " ", a, ", ", type_, " ", b));
  }
  std::string whole(const char* instruction, const std::string& a, const std::string& b) {
    return assign(cat(instruction, " ", lanes_type("i32", lanes_), " ", a, ", ", b));
  }
  std::string bits(const std::string& a) { return assign(cat("bitcast ", type_, " ", a, " to ", lanes_type("i32", lanes_))); }
  std::string number(const std::string& a) { return assign(cat("bitcast ", lanes_type("i32", lanes_), " ", a, " to ", type_)); }
  std::string to_whole(const std::string& a) { return assign(cat("fptosi ", type_, " ", a, " to ", lanes_type("i32", lanes_))); }
  std::string to_number(const std::string& a) { return assign(cat("sitofp ", lanes_type("i32", lanes_), " ", a, " to ", type_)); }

  std::string polynomial(const std::string& x, std::initializer_list<double> highest_first) {
    auto at = highest_first.begin();
    std::string sum = constant(*at);
    for (++at; at != highest_first.end(); ++at) sum = fma(sum, x, constant(*at));
    return sum;
  }

  std::string exp(const std::string& x) {
    // Clamped to where results leave the range of f32; NaN passes.
    std::string low = select(compare("olt", x, constant(-104)), constant(-104), x);
    std::string v = select(compare("ogt", low, constant(89)), constant(89), low);
    std::string n = rint(mul(v, constant(1.4426950408889634)));
    std::string r = fma(n, constant(-0.693359375), v);
    r = fma(n, constant(2.12194440e-4), r);
    std::string p = polynomial(r, {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, 1});
    // 2**n in two factors, so that results below the normal range are rounded once and those above overflow.
    std::string is_number = compare("ord", x, x);
    std::string k = to_whole(select(is_number, n, constant(0)));
    std::string half = whole("ashr", k, integer(1)), rest = whole("sub", k, half);
    std::string a = number(whole("shl", whole("add", half, integer(127)), integer(23)));
    std::string b = number(whole("shl", whole("add", rest, integer(127)), integer(23)));
    return mul(mul(p, a), b);
  }

  std::string log(const std::string& x) {
    // Denormals are scaled up first.
    std::string tiny = compare("olt", x, constant(1.17549435e-38));
    std::string scaled = select(tiny, mul(x, constant(8388608)), x);
    std::string pattern = bits(scaled);
    std::string exponent = whole("sub", whole("lshr", pattern, integer(23)), integer(126));
    std::string mantissa = number(whole("or", whole("and", pattern, integer(0x7fffff)), integer(0x3f000000)));
    std::string small = compare("olt", mantissa, constant(0.70710678));
    std::string e = to_number(exponent);
    e = select(tiny, sub(e, constant(23)), e);
    e = select(small, sub(e, constant(1)), e);
    std::string m = sub(select(small, add(mantissa, mantissa), mantissa), constant(1));
    std::string z = mul(m, m);
    std::string y = polynomial(m, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
                                   -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
    y = mul(mul(y, m), z);
    y = fma(e, constant(-2.12194440e-4), y);
    y = fma(z, constant(-0.5), y);
    std::string result = fma(e, constant(0.693359375), add(m, y));
    std::string inf = constant(1.0 / 0.0);
    result = select(compare("oeq", x, inf), inf, result);
    result = select(compare("oeq", x, constant(0)), constant(-1.0 / 0.0), result);
    return select(compare("uge", x, constant(0)), select(compare("uno", x, x), x, result), constant(0.0 / 0.0));
  }

  std::string tanh(const std::string& x) {
    std::string a = abs(x), z = mul(x, x);
    std::string near = polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
    near = fma(mul(near, z), x, x);
    std::string e = exp(add(a, a));
    std::string far = sub(constant(1), div(constant(2), add(e, constant(1))));
    return select(compare("olt", a, constant(0.625)), near, copysign(far, x));
  }

  std::string erf(const std::string& x) {
    std::string a = abs(x), z = mul(x, x);
    std::string near = mul(x, polynomial(z, {7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3, -2.685381193529856e-2,
                                             1.128358514861418e-1, -3.761262582423300e-1, 1.128379165726710}));
    std::string q = div(constant(1), a), y = mul(q, q);
    std::string large = polynomial(y, {2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1, -5.824733027278666e-1,
                                       6.210004621745983e-1, -4.944515323274145e-1, 3.404879937665872e-1, -2.741127028184656e-1,
                                       5.638259427386472e-1});
    std::string middle = polynomial(y, {-1.047766399936249e+1, 1.297719955372516e+1, -7.495518717768503, 2.921019019210786,
                                        -1.015265279202700, 4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1});
    std::string tail = mul(mul(exp(neg(z)), q), select(compare("olt", a, constant(2)), middle, large));
    // Past 4 the function is 1 in f32; there the tail may be 0 * inf.
    tail = select(compare("ogt", a, constant(4)), constant(0), tail);
    std::string far = copysign(sub(constant(1), tail), x);
    return select(compare("uno", x, x), x, select(compare("olt", a, constant(1)), near, far));
  }

  std::string logistic(const std::string& x) { return div(constant(1), add(constant(1), exp(neg(x)))); }

 private:
  std::string assign(const std::string& what) {
    std::string name = cat("%t", next_++);
    append(text, "  ", name, " = ", what, "\n");
    return name;
  }

  std::string intrinsic(const char* stem, const std::vector<std::string>& args) {
    std::string name = cat("@llvm.", stem, ".", lanes_ == 1 ? std::string("f32") : cat("v", lanes_, "f32")), types, given;
    for (size_t i = 0; i < args.size(); ++i) append(types, i ? ", " : "", type_), append(given, i ? ", " : "", type_, " ", args[i]);
    module_.declare(cat("declare ", type_, " ", name, "(", types, ")"));
    return assign(cat("call ", type_, " ", name, "(", given, ")"));
  }

  ModuleText& module_;
  int lanes_;
  std::string type_;
  int next_ = 0;
};

}  // namespace

std::string vector_math(ModuleText& module, const std::string& function, const std::string& name, int lanes) {
  Lines lines(module, lanes);
  std::string result;
  if (function == "exp") result = lines.exp("%x");
  else if (function == "log") result = lines.log("%x");
  else if (function == "tanh") result = lines.tanh("%x");
  else if (function == "erf") result = lines.erf("%x");
  else if (function == "logistic") result = lines.logistic("%x");
  else return {};
  std::string type = lanes_type("float", lanes);
  return cat("define internal ", type, " @", name, "(", type, " %x) #2 {\n", lines.text, "  ret ", type, " ", result, "\n}\n\n");
}

}  // namespace weft
