// The table of added operations and calls of them, machine code's included.
#include "weft/library/custom.h"

#include <doctest/doctest.h>

#include "weft/core/error.h"

using namespace weft;

namespace {

void negate(const int64_t* numbers, void* const* buffers) {
  REQUIRE(numbers[0] == 1);
  for (int64_t i = 0; i < numbers[4]; ++i) static_cast<double*>(buffers[1])[i] = -static_cast<double*>(buffers[0])[i];
}

const int64_t numbers[] = {1, 1, static_cast<int64_t>(DType::f64), 1, 3, static_cast<int64_t>(DType::f64), 1, 3};

struct Run {
  double x[3] = {1, 2, 3}, y[3] = {};
  std::vector<std::string> texts;
  const char* pointers[3] = {};
  void* buffers[2] = {x, y};

  explicit Run(std::string name)
      : texts(custom_texts(std::move(name), "{k = 1 : i64}", Location("model.py", 14, "f", {}))) {
    for (size_t i = 0; i < 3; ++i) pointers[i] = texts[i].c_str();
  }
  // As machine code does it.
  static void call(void* data) {
    auto* run = static_cast<Run*>(data);
    void* texts = run->pointers;
    custom_routine(numbers, run->buffers, static_cast<const RoutineBody*>(texts));
    run->y[2] = 100;
  }
};

CustomOp op_named(std::string name) {
  CustomOp op;
  op.name = std::move(name);
  op.infer = [](std::span<const Type> operands, const std::string&) {
    return std::vector<Type>(operands.begin(), operands.end());
  };
  return op;
}

}  // namespace

TEST_CASE("an added operation runs by its C function or by its evaluation") {
  CustomOp op = op_named("library.negate");
  op.native = negate;
  op.evaluate = [](std::span<const Type> operands, std::span<const Type> results, const std::string& config,
                   void* const* buffers) {
    CHECK(operands[0] == Type{DType::f64, {3}});
    CHECK(results[0] == operands[0]);
    CHECK(config == "{k = 1 : i64}");
    static_cast<double*>(buffers[1])[0] = 7;
  };
  add_custom_op(std::move(op));
  CHECK(find_custom_op("library.negate") != nullptr);
  CHECK(find_custom_op("library.other") == nullptr);
  Run run("library.negate");
  run_custom_op(run.pointers, numbers, run.buffers, true);
  CHECK(run.y[1] == -2);
  run_custom_op(run.pointers, numbers, run.buffers, false);
  CHECK(run.y[0] == 7);
  catch_custom_errors(Run::call, &run);
  CHECK(run.y[0] == -1);
  CHECK(run.y[2] == 100);
}

TEST_CASE("a name is taken once") {
  add_custom_op(op_named("library.once"));
  CHECK_THROWS_WITH_AS(add_custom_op(op_named("library.once")), doctest::Contains("'library.once' exists already"),
                       Error);
}

TEST_CASE("an error ends the innermost run, at the user's line") {
  CustomOp op = op_named("library.fail");
  op.evaluate = [](std::span<const Type>, std::span<const Type>, const std::string&, void* const*) {
    Run inner("library.missing");
    CHECK_THROWS_WITH_AS(catch_custom_errors(Run::call, &inner), doctest::Contains("custom_call_target"), Error);
    fail(ErrorKind::runtime, "refused", "no");
  };
  add_custom_op(std::move(op));
  Run run("library.fail");
  for (int i = 0; i < 2; ++i) {
    try {
      catch_custom_errors(Run::call, &run);
      FAIL("nothing was thrown");
    } catch (const Error& error) {
      CHECK(error.label() == "refused");
      CHECK(error.loc().text() == "model.py:14");
    }
    CHECK(run.y[2] == 0);
  }
}
