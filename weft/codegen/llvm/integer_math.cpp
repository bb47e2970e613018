// Functions of integers whose steps depend on the values: loops over lanes that end when every lane has.
#include "weft/codegen/llvm/math.h"

namespace weft {
namespace {

// The text of a function of two values of a type, with what it names by these letters filled in: $T the type, $M that
// of truths, and $0, $1, $- splats of 0, 1 and -1.
class LaneLoop {
 public:
  LaneLoop(ModuleText& module, const std::string& element, int lanes)
      : module_(module),
        element_(element),
        type_(lanes_type(element, lanes)),
        suffix_(lanes == 1 ? element : cat("v", lanes, element)),
        lanes_(lanes) {}

  std::string splat(int64_t value) const {
    return lanes_ == 1 ? cat(value) : cat("splat (", element_, " ", value, ")");
  }

  void lines(std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
      const char letter = text[i] == '$' ? text[++i] : '\0';
      append(text_, letter == 'T'   ? type_
                    : letter == 'M' ? lanes_type("i1", lanes_)
                    : letter == '0' ? splat(0)
                    : letter == '1' ? splat(1)
                    : letter == '-' ? splat(-1)
                                    : std::string(1, text[i]));
    }
  }
  // name = how many zero bits end the value; none where it is zero.
  void trailing_zeros(std::string_view name, std::string_view value, int bits) {
    const std::string function = cat("@llvm.cttz.", suffix_);
    module_.declare(cat("declare ", type_, " ", function, "(", type_, ", i1)"));
    append(text_, "  ", name, ".all = call ", type_, " ", function, "(", type_, " ", value, ", i1 false)\n  ", name,
           " = and ", type_, " ", name, ".all, ", splat(bits - 1), "\n");
  }
  // Ends the block: once more while a lane of `value` is not zero.
  void again_while(std::string_view value) {
    std::string any(value);
    if (lanes_ > 1) {
      const std::string function = cat("@llvm.vector.reduce.or.", suffix_);
      module_.declare(cat("declare ", element_, " ", function, "(", type_, ")"));
      append(text_, "  %any = call ", element_, " ", function, "(", type_, " ", value, ")\n");
      any = "%any";
    }
    append(text_, "  %on = icmp ne ", element_, " ", any, ", 0\n  br i1 %on, label %loop, label %done\ndone:\n");
  }

  std::string function(const std::string& name) const {
    return cat("define internal ", type_, " @", name, "(", type_, " %a, ", type_, " %b) #1 {\nentry:\n", text_,
               "}\n\n");
  }

 private:
  ModuleText& module_;
  std::string element_, type_, suffix_, text_;
  int lanes_;
};

// By squares. Of negative exponents only 1 and -1 have integers as powers; the others give 0.
std::string power(LaneLoop loop, const std::string& name, bool is_signed) {
  loop.lines(R"(  br label %loop
loop:
  %product = phi $T [$1, %entry], [%more, %loop]
  %square = phi $T [%a, %entry], [%next, %loop]
  %left = phi $T [%b, %entry], [%rest, %loop]
  %odd = trunc $T %left to $M
  %times = mul $T %product, %square
  %more = select $M %odd, $T %times, $T %product
  %next = mul $T %square, %square
  %rest = lshr $T %left, $1
)");
  loop.again_while("%rest");
  if (!is_signed) {
    loop.lines("  ret $T %more\n");
    return loop.function(name);
  }
  loop.lines(R"(  %is.odd = trunc $T %b to $M
  %sign = select $M %is.odd, $T $-, $T $1
  %is.one = icmp eq $T %a, $1
  %is.minus = icmp eq $T %a, $-
  %of.minus = select $M %is.minus, $T %sign, $T $0
  %inverse = select $M %is.one, $T $1, $T %of.minus
  %is.negative = icmp slt $T %b, $0
  %result = select $M %is.negative, $T %inverse, $T %more
  ret $T %result
)");
  return loop.function(name);
}

// Of unsigned integers, by subtraction and shifts (Stein 1967, "Computational problems associated with Racah algebra").
std::string greatest_divisor(LaneLoop loop, const std::string& name, int bits) {
  loop.lines(R"(  %no.a = icmp eq $T %a, $0
  %no.b = icmp eq $T %b, $0
  %x = select $M %no.a, $T %b, $T %a
  %y = select $M %no.b, $T %a, $T %b
  %both = or $T %x, %y
)");
  loop.trailing_zeros("%twos", "%both", bits);
  loop.trailing_zeros("%twos.x", "%x", bits);
  loop.lines(R"(  %odd.x = lshr $T %x, %twos.x
  br label %loop
loop:
  %u = phi $T [%odd.x, %entry], [%next, %loop]
  %v = phi $T [%y, %entry], [%rest, %loop]
)");
  loop.trailing_zeros("%twos.v", "%v", bits);
  loop.lines(R"(  %odd = lshr $T %v, %twos.v
  %less = icmp ult $T %u, %odd
  %small = select $M %less, $T %u, $T %odd
  %large = select $M %less, $T %odd, $T %u
  %is.done = icmp eq $T %v, $0
  %next = select $M %is.done, $T %u, $T %small
  %difference = sub $T %large, %small
  %rest = select $M %is.done, $T $0, $T %difference
)");
  loop.again_while("%rest");
  loop.lines("  %result = shl $T %next, %twos\n  ret $T %result\n");
  return loop.function(name);
}

}  // namespace

std::string integer_math(ModuleText& module, std::string_view function, const std::string& element,
                         const std::string& name, int lanes) {
  const LaneLoop loop(module, element, lanes);
  if (function == "gcd") return greatest_divisor(loop, name, std::stoi(element.substr(1)));
  return power(loop, name, function == "power.signed");
}

}  // namespace weft
