// Modules in parts: each function once, found across objects.
#include <doctest/doctest.h>

#include "run_kernel.h"
#include "weft/codegen/llvm/split.h"
#include "weft/runtime/object.h"

namespace weft {
namespace {

// A function that adds 1 and a number of the table to *%p, long enough to be worth a part.
std::string adder(const std::string& name, int index) {
  return cat("define internal void @", name, "(ptr %p) #0 {\nentry:\n  ; ", std::string(50000, '-'),
             "\n  %x = load i64, ptr %p\n",
             "  %y = call i64 @one_more(i64 %x)\n  %at = getelementptr i64, ptr @table, i64 ", index,
             "\n  %n = load i64, ptr %at\n  %z = add i64 %y, %n\n  store i64 %z, ptr %p\n  ret void\n}\n");
}

std::string module_of(const Target& target) {
  return cat("target triple = \"", target.triple,
             "\"\n\n@table = private constant [3 x i64] [i64 10, i64 200, i64 3000]\n", adder("first", 0),
             adder("second", 1), adder("third", 2),
             "define internal i64 @one_more(i64 %x) #2 {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n",
             "define void @weft_run(ptr %p) noinline optnone #0 {\nentry:\n  call void @first(ptr %p)\n  call void "
             "@second(ptr %p)\n",
             "  %third = alloca ptr\n  store ptr @third, ptr %third\n  %f = load ptr, ptr %third\n  call void %f(ptr "
             "%p)\n  ret void\n}\n",
             "attributes #0 = { nounwind }\nattributes #2 = { nounwind alwaysinline }\n");
}

int64_t result_of(const std::vector<std::string>& modules, const Target& target) {
  std::vector<std::string> objects;
  for (const std::string& module : modules) objects.push_back(compile_to_object(module, target).bytes);
  CodeObject code(objects);
  int64_t value = 0;
  reinterpret_cast<void (*)(int64_t*)>(code.find("weft_run"))(&value);
  return value;
}

}  // namespace

TEST_CASE("a module in parts computes what the whole computes") {
  Target target = target_named("native");
  std::string module = module_of(target);
  for (int most : {1, 2, 3, 8}) {
    std::vector<std::string> parts = split_module(module, most);
    CHECK(parts.size() == static_cast<size_t>(std::min(most, 3)));
    CHECK(result_of(parts, target) == 3213);
    for (const char* name : {"@first(", "@second(", "@third(", "@weft_run("}) {
      int definitions = 0;
      for (const std::string& part : parts)
        for (const char* how : {"define internal void ", "define hidden void ", "define void "})
          definitions += part.find(cat(how, name)) != part.npos;
      CHECK(definitions == 1);
    }
  }
}

TEST_CASE("a small module stays whole") {
  std::string small = "define void @weft_run(ptr %p) {\nentry:\n  ret void\n}\n";
  CHECK(split_module(small, 8) == std::vector<std::string>{small});
}

TEST_CASE("a long function with short ones beside it stays whole") {
  std::string module =
      adder("long", 0) + adder("more", 1) + "define void @weft_run(ptr %p) noinline optnone {\nentry:\n  ret void\n}\n";
  CHECK(split_module(module, 8).size() == 2);
  module.replace(module.find("---"), 3, std::string(100000, '-'));
  CHECK(split_module(module, 8).size() == 1);
}

TEST_CASE("parts that are longer than is asked for are parted further") {
  Target target = target_named("native");
  std::string module = module_of(target);
  std::vector<std::string> parts = split_module(module, 1, module.size() / 3);
  CHECK(parts.size() > 1);
  CHECK(result_of(parts, target) == 3213);
}

TEST_CASE("objects that miss a function, or have one twice, are refused") {
  Target target = target_named("native");
  std::vector<std::string> parts = split_module(module_of(target), 3), objects;
  for (const std::string& part : parts) objects.push_back(compile_to_object(part, target).bytes);
  CHECK_THROWS_AS(CodeObject(std::span(objects).first(2)), Error);
  objects.push_back(objects[0]);
  CHECK_THROWS_AS(CodeObject{objects}, Error);
}

}  // namespace weft
