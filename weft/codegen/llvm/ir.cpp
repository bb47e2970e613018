// The text of instructions.
#include "weft/codegen/llvm/ir.h"

#include <bit>
#include <cmath>

#include "weft/core/error.h"

namespace weft {

int bits_of(Elem elem) {
  switch (elem) {
    case Elem::i1:
      return 1;
    case Elem::i32:
    case Elem::f32:
      return 32;
    case Elem::i64:
    case Elem::f64:
      return 64;
  }
  return 0;
}

std::string_view name_of(Elem elem) {
  switch (elem) {
    case Elem::i1:
      return "i1";
    case Elem::i32:
      return "i32";
    case Elem::i64:
      return "i64";
    case Elem::f32:
      return "float";
    case Elem::f64:
      return "double";
  }
  return {};
}

std::string Writer::type(Elem elem) const {
  if (lanes_ == 1) return std::string(name_of(elem));
  return cat('<', lanes_, " x ", name_of(elem), '>');
}

std::string Writer::suffix(Elem elem) const {
  std::string element = cat(is_float(elem) ? 'f' : 'i', bits_of(elem));
  return lanes_ == 1 ? element : cat('v', lanes_, element);
}

void Writer::open(const std::string& label) {
  append(block_->text, label, ":\n");
  block_->label = label;
}

void Writer::branch(const std::string& label) { line("br label %", label); }

std::string real_text(Elem elem, double value) {
  if (elem == Elem::f32) value = static_cast<double>(static_cast<float>(value));
  static const char digits[] = "0123456789ABCDEF";
  char text[19] = "0x";
  auto pattern = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 16; ++i) text[2 + i] = digits[(pattern >> (60 - 4 * i)) & 15];
  text[18] = 0;
  return text;
}

V Writer::real(Elem elem, double value) {
  if (!is_float(elem)) return integer(elem, static_cast<int64_t>(value));
  std::string text = real_text(elem, value);
  return {this, lanes_ == 1 ? text : cat("splat (", name_of(elem), ' ', text, ')'), elem};
}

V Writer::integer(Elem elem, int64_t value) {
  if (elem == Elem::i1)
    return {this, lanes_ == 1 ? cat((value & 1) != 0) : cat("splat (i1 ", (value & 1) != 0, ")"), elem};
  int unused = 64 - bits_of(elem);
  value = static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
  return {this, lanes_ == 1 ? cat(value) : cat("splat (", name_of(elem), ' ', value, ')'), elem};
}

V Writer::zero(Elem elem) { return is_float(elem) ? real(elem, 0) : integer(elem, 0); }

V Writer::binary(std::string_view op, const V& a, const V& b) {
  check(a.elem == b.elem, op, " of ", name_of(a.elem), " and ", name_of(b.elem));
  return def(a.elem, op, ' ', type(a.elem), ' ', a.name, ", ", b.name);
}

V Writer::compare(std::string_view op, const V& a, const V& b) {
  check(a.elem == b.elem, op, " of ", name_of(a.elem), " and ", name_of(b.elem));
  return def(Elem::i1, op, ' ', type(a.elem), ' ', a.name, ", ", b.name);
}

V Writer::cast(std::string_view op, const V& a, Elem to) {
  return def(to, op, ' ', type(a.elem), ' ', a.name, " to ", type(to));
}

V Writer::select(const V& condition, const V& a, const V& b) {
  check(a.elem == b.elem, "select of ", name_of(a.elem), " and ", name_of(b.elem));
  return def(a.elem, "select ", type(Elem::i1), ' ', condition.name, ", ", type(a.elem), ' ', a.name, ", ",
             type(a.elem), ' ', b.name);
}

V Writer::intrinsic(std::string_view name, std::initializer_list<V> operands, std::string_view extra) {
  Elem elem = operands.begin()->elem;
  std::string of = type(elem), function = cat('@', name, '.', suffix(elem));
  std::string arguments, types;
  for (const V& v : operands) {
    append(arguments, arguments.empty() ? "" : ", ", of, ' ', v.name);
    append(types, types.empty() ? "" : ", ", of);
  }
  if (!extra.empty()) {
    append(arguments, ", ", extra);
    append(types, ", ", extra.substr(0, extra.find(' ')));
  }
  module_->declare(cat("declare ", of, ' ', function, '(', types, ")"));
  return def(elem, "call ", of, ' ', function, '(', arguments, ')');
}

V Writer::mad(const V& a, const V& b, const V& c) {
  if (target().fma) return intrinsic("llvm.fma", {a, b, c});
  return binary("fadd", binary("fmul", a, b), c);
}

// A loop over the lanes: small, and as slow as what it calls.
std::string Writer::masked_function(std::string_view function, Elem elem) {
  std::string name = cat("weft.rare.", function, '.', suffix(elem));
  module_->declare(cat("declare double @", function, "(double)"));
  std::string& out = module_->functions[name];
  if (!out.empty()) return name;
  std::string vector = type(elem), mask = type(Elem::i1), element(name_of(elem));
  bool is_double = elem == Elem::f64;
  append(out, "define internal ", vector, " @", name, "(", vector, " %x, ", mask, " %mask, ", vector,
         " %otherwise) #1 {\n",
         "entry:\n  br label %loop\nloop:\n  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]\n  %r = phi ", vector,
         " [ %otherwise, %entry ], [ %r.next, %next ]\n  %m = extractelement ", mask,
         " %mask, i64 %i\n  br i1 %m, label %call, label %next\ncall:\n  %e = extractelement ", vector,
         " %x, i64 %i\n");
  if (!is_double) out += "  %d = fpext float %e to double\n";
  append(out, "  %y = call double @", function, "(double ", is_double ? "%e" : "%d", ")\n");
  if (!is_double) out += "  %z = fptrunc double %y to float\n";
  append(out, "  %r.new = insertelement ", vector, " %r, ", element, is_double ? " %y" : " %z",
         ", i64 %i\n  br label %next\nnext:\n  %r.next = phi ", vector,
         " [ %r, %loop ], [ %r.new, %call ]\n  %i.next = add i64 %i, 1\n  %more = icmp ult i64 %i.next, ", lanes_,
         "\n  br i1 %more, label %loop, label %done\ndone:\n  ret ", vector, " %r.next\n}\n\n");
  return name;
}

V Writer::rare(const V& mask, std::string_view function, const V& operand, const V& otherwise) {
  std::string taken = fresh_label(), joined = fresh_label(), any = mask.name, of = type(operand.elem);
  if (lanes_ > 1) {
    V packed = def(Elem::i64, "bitcast ", type(Elem::i1), ' ', mask.name, " to i", lanes_);
    any = def(Elem::i1, "icmp ne i", lanes_, ' ', packed.name, ", 0").name;
  }
  std::string before = block_->label;
  line("br i1 ", any, ", label %", taken, ", label %", joined);
  open(taken);
  V slow = operand;
  if (lanes_ == 1) {
    bool is_double = operand.elem == Elem::f64;
    module_->declare(cat("declare double @", function, "(double)"));
    V wide = is_double ? operand : cast("fpext", operand, Elem::f64);
    slow = def(Elem::f64, "call double @", function, "(double ", wide.name, ")");
    if (!is_double) slow = cast("fptrunc", slow, operand.elem);
  } else {
    std::string name = masked_function(function, operand.elem);
    slow = def(operand.elem, "call ", of, " @", name, '(', of, ' ', operand.name, ", ", type(Elem::i1), ' ', mask.name,
               ", ", of, ' ', otherwise.name, ')');
  }
  branch(joined);
  open(joined);
  return def(operand.elem, "phi ", of, " [ ", otherwise.name, ", %", before, " ], [ ", slow.name, ", %", taken, " ]");
}

V operator+(const V& a, const V& b) { return a.w->binary(is_float(a.elem) ? "fadd" : "add", a, b); }
V operator-(const V& a, const V& b) { return a.w->binary(is_float(a.elem) ? "fsub" : "sub", a, b); }
V operator*(const V& a, const V& b) { return a.w->binary(is_float(a.elem) ? "fmul" : "mul", a, b); }
V operator/(const V& a, const V& b) { return a.w->binary(is_float(a.elem) ? "fdiv" : "sdiv", a, b); }
V operator&(const V& a, const V& b) { return a.w->binary("and", a, b); }
V operator|(const V& a, const V& b) { return a.w->binary("or", a, b); }
V operator^(const V& a, const V& b) { return a.w->binary("xor", a, b); }
V operator-(const V& a) {
  if (!is_float(a.elem)) return a.w->binary("sub", a.w->zero(a.elem), a);
  return a.w->def(a.elem, "fneg ", a.w->type(a.elem), ' ', a.name);
}
V operator~(const V& a) { return a.w->binary("xor", a, a.w->integer(a.elem, -1)); }
V operator+(const V& a, double b) { return a + a.w->real(a.elem, b); }
V operator-(const V& a, double b) { return a - a.w->real(a.elem, b); }
V operator*(const V& a, double b) { return a * a.w->real(a.elem, b); }
V shl(const V& a, int64_t bits) { return a.w->binary("shl", a, a.w->integer(a.elem, bits)); }
V lshr(const V& a, int64_t bits) { return a.w->binary("lshr", a, a.w->integer(a.elem, bits)); }
V ashr(const V& a, int64_t bits) { return a.w->binary("ashr", a, a.w->integer(a.elem, bits)); }
V bits(const V& a, Elem to) { return a.elem == to ? a : a.w->cast("bitcast", a, to); }
V abs_of(const V& a) { return a.w->intrinsic("llvm.fabs", {a}); }
V sqrt_of(const V& a) { return a.w->intrinsic("llvm.sqrt", {a}); }
V copysign_of(const V& magnitude, const V& sign) { return magnitude.w->intrinsic("llvm.copysign", {magnitude, sign}); }

}  // namespace weft
