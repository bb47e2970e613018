// Machine code as text.
#include "weft/codegen/llvm/disassemble.h"

#include <doctest/doctest.h>

#include "weft/codegen/llvm/object.h"
#include "weft/core/error.h"

using namespace weft;

namespace {

std::string object() {
  const char* ir = R"(
    define double @half(double %x) { %y = fmul double %x, 0.5
      ret double %y }
    define double @outer(double %x, i64 %n) {
    entry: br label %loop
    loop: %i = phi i64 [ 0, %entry ], [ %j, %loop ]
      %s = phi double [ %x, %entry ], [ %t, %loop ]
      %a = call double @half(double %s)
      %t = call double @sin(double %a)
      %j = add i64 %i, 1
      %go = icmp ult i64 %j, %n
      br i1 %go, label %loop, label %done
    done: ret double %t }
    declare double @sin(double))";
  return compile_to_object(ir, target_named("x86-64")).bytes;
}

const std::string& text_of(const std::vector<Assembly>& functions, std::string_view name) {
  for (const Assembly& each : functions)
    if (each.function == name) return each.text;
  FAIL("no function of that name");
  return functions[0].text;
}

}  // namespace

TEST_CASE("calls, constants and jumps have names") {
  std::vector<Assembly> functions = disassemble(object());
  CHECK(functions.size() == 2);
  std::string text = text_of(functions, "outer");
  CHECK(text.find("half") != std::string::npos);
  CHECK(text.find("sin") != std::string::npos);
  CHECK(text.find(".L") != std::string::npos);
  CHECK(text_of(functions, "half").find("mulsd\t.LCPI0_0(%rip), %xmm0") != std::string::npos);
  CHECK(text_of(functions, "half").find("retq") != std::string::npos);
}

TEST_CASE("damaged objects are errors or other text, never a crash") {
  std::string whole = object();
  CHECK_THROWS_AS(disassemble(""), Error);
  auto survives = [](const std::string& bytes) {
    try {
      disassemble(bytes);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::io);
    }
  };
  for (size_t size = 0; size < whole.size(); size += 7) survives(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at)
    for (int change : {1, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      survives(damaged);
    }
}
