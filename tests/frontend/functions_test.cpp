// Functions of tensors give what NumPy gives: dtype, shape and elements.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "tests/label_of.h"
#include "weft/frontend/functions.h"
#include "weft/frontend/jit.h"
#include "weft/frontend/linalg.h"
#include "weft/frontend/random.h"
#include "weft/frontend/record.h"
#include "weft/ir/interpret.h"

using namespace weft;

namespace {

struct Expected {
  const char* name;
  const char* dtype;
  Ints dims;
  std::vector<double> elements;
};
const std::vector<Expected> expected = {
#include "numpy_values.inc"
};

Tensor tensor(DType dtype, Ints dims, std::initializer_list<double> values) {
  Literal wide(Type{DType::f64, Dims(dims.begin(), dims.end())});
  std::copy(values.begin(), values.end(), wide.mutable_data<double>().begin());
  return cast(constant(wide), dtype);
}

// By the reference interpreter, and by the machine code of what was computed.
Literal value_of(const Tensor& tensor) {
  if (tensor.is_computed()) return Literal(tensor.type(), tensor.eval().data(), nullptr);
  NamedTensor output{tensor, "y"};
  return interpret(*record_graph("main", {}, {&output, 1}), {}).front();
}

// Functions that round in their own way are within a few ULP of f32, or of f16.
bool is_close(double ours, double numpy, DType dtype) {
  if (std::isnan(numpy)) return std::isnan(ours);
  if (std::isinf(numpy) || !is_float(real_type(dtype))) return ours == numpy;
  double relative = real_type(dtype) == DType::f64 ? 1e-12 : dtype == DType::f16 ? 2e-3 : 2e-6;
  return std::abs(ours - numpy) <= relative * std::max(1.0, std::abs(numpy));
}

void check_case(std::string name, const Tensor& tensor) {
  INFO(name);
  auto known = std::find_if(expected.begin(), expected.end(), [&](const Expected& e) { return e.name == name; });
  REQUIRE(known != expected.end());
  CHECK(numpy_name(tensor.dtype()) == known->dtype);
  Literal value = value_of(tensor);
  CHECK(value.type().static_dims() == known->dims);
  size_t parts = is_complex(value.dtype()) ? 2 : 1;
  REQUIRE(static_cast<size_t>(value.count()) * parts == known->elements.size());
  for (size_t i = 0; i < known->elements.size(); ++i) {
    std::complex<double> element = value.as_complex(static_cast<int64_t>(i / parts));
    double ours = i % parts ? element.imag() : element.real();
    CHECK_MESSAGE(is_close(ours, known->elements[i], value.dtype()), name, "[", i, "]: ", ours, " and ",
                  known->elements[i]);
  }
}

}  // namespace

TEST_CASE("functions give what NumPy gives") {
  Tensor a = tensor(DType::f32, {2, 3}, {0.5, -1.25, 2.75, 3.5, -0.75, 1.0});
  Tensor b = tensor(DType::f32, {2, 3}, {1.5, 0.5, -2.0, 0.25, 3.0, -1.5});
  Tensor v = tensor(DType::f32, {3}, {0.5, 2.0, -1.0});
  Tensor d = tensor(DType::f64, {2, 3}, {1.1, -2.2, 3.3, 0.4, -0.5, 6.6});
  Tensor i = tensor(DType::i32, {2, 3}, {1, -2, 3, 0, 5, -6});
  Tensor j = tensor(DType::i64, {2, 3}, {2, 3, -4, 7, -2, 4});
  Tensor u = tensor(DType::u8, {2, 3}, {0, 1, 7, 100, 200, 255});
  Tensor w = tensor(DType::u64, {2, 3}, {1, 3, 5, 0, 1, 0}) +
             update(zeros({2, 3}, DType::u64), {1, 0}, left_shift(ones({}, DType::u64), 63) + 9);
  Tensor h = tensor(DType::f16, {2, 3}, {0.5, 1.5, -2.5, 0.1, 3.0, 8.0});
  Tensor t = tensor(DType::boolean, {2, 3}, {1, 0, 1, 0, 0, 1});
  Tensor c = complex(tensor(DType::f32, {3}, {1, -0.5, 2}), tensor(DType::f32, {3}, {2, 1, -1}));
  Tensor m = cast(reshape(arange(12) % 5, {3, 4}) - 1.5, DType::f32);
  Tensor s = cast(reshape(arange(24) % 7, {2, 3, 4}) - 3.25, DType::f32);
  Tensor k = tensor(DType::i64, {4}, {0, 2, -1, -3});
  std::vector<std::pair<const char*, Tensor>> cases;
#define CASE(name, numpy, ...) cases.emplace_back(#name, __VA_ARGS__);
#include "cases.def"
  for (const auto& [name, result] : cases) check_case(name, result);
  std::vector<Tensor> results;
  for (const auto& [name, result] : cases) results.push_back(result);
  eval(results);
  for (const auto& [name, result] : cases) check_case(name, result);
}

TEST_CASE("errors name the function, both types and the caller's line") {
  Tensor x = zeros({2, 3}), y = zeros({4});
  try {
    x + y;
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.message() == "add: operands could not be broadcast together with shapes [2, 3] and [4]");
    CHECK(error.loc().line() == __LINE__ - 4);
    CHECK(error.loc().file() == __FILE__);
  }
  auto label = [](auto call) {
    try {
      call();
    } catch (const Error& error) {
      return error.label();
    }
    return std::string("none");
  };
  CHECK(label([&] { return add(cast(x, DType::f8e5m2), x); }) == "promotion");
  CHECK(label([&] { return sum(x, 2); }) == "axis");
  CHECK(label([&] { return sum(x, {0, -2}); }) == "axis_duplicate");
  CHECK(label([&] { return cast(x, DType::u8) + 256; }) == "number_range");
  CHECK(label([&] { return x[{0, 3}]; }) == "index_bounds");
  CHECK(label([&] { return x[{0, 0, 0}]; }) == "too_many_indices");
  CHECK(label([&] { return reshape(x, {4, -1}); }) == "reshape");
  CHECK(label([&] { return matmul(x, y); }) == "core_dims");
  CHECK(label([&] { return max(zeros({0, 2}), 0); }) == "empty_reduction");
  CHECK(label([&] { return einsum("ij,jk->il", {x, x}); }) == "einsum_output");
  CHECK(label([&] { return split(x, 2, 1); }) == "split");
  CHECK(label([&] { return cast(x, DType::boolean) - cast(x, DType::boolean); }) == "no_loop");
  CHECK(label([&] { return power(cast(x, DType::i32), -1); }) == "negative_power");
  CHECK(label([&] { return transpose(x, {1, 1}); }) == "transpose_axes");
  CHECK(label([&] { return einsum("......->...", {zeros({1, 1, 1, 1, 1, 1, 1, 1})}); }) == "einsum_text");
  CHECK(label([&] { return einsum("...i->i", {x}); }) == "einsum_output");
  for (int64_t negative : {-1, -2}) {
    CHECK(label([&] { return zeros({negative}); }) == "extent");
    CHECK(label([&] { return tile(x, {negative, 1}); }) == "extent");
    CHECK(label([&] { return repeat(x, negative, 0); }) == "extent");
    CHECK(label([&] { return eye(negative); }) == "extent");
  }
}

TEST_CASE("linear algebra and random numbers refuse what they do not take") {
  Tensor x = zeros({2, 3}), k = random::key(1);
  Dim n(Symbol{"n", 1, 4, 8});
  CHECK(label_of([&] { linalg::inv(x); }) == "linalg_square");
  CHECK(label_of([&] { linalg::qr(x[0]); }) == "linalg_rank");
  CHECK(label_of([&] { linalg::solve(zeros({2, 2}), zeros({3})); }) == "linalg_shapes");
  CHECK(label_of([&] { linalg::solve(zeros({2, 2}), zeros({})); }) == "linalg_shapes");
  CHECK(label_of([&] { linalg::det(zeros({2, 2}, DType::f16)); }) == "linalg_dtype");
  CHECK(label_of([&] { linalg::eigh(parameter({DType::f32, {n, n}}, "x")); }) == "symbolic_extent");
  CHECK(linalg::inv(parameter({DType::f32, {n, 3, 3}}, "x")).type() == Type{DType::f32, {n, 3, 3}});
  CHECK(value_of(linalg::det(zeros({2, 0, 0}))).as_double(1) == 1);
  CHECK(label_of([&] { random::bits(x, {2}); }) == "random_key");
  CHECK(label_of([&] { random::bits(k, {2}, DType::i32); }) == "random_dtype");
  CHECK(label_of([&] { random::normal(k, {2}, DType::i32); }) == "random_dtype");
  CHECK(label_of([&] { random::fold_in(k, 1.5); }) == "random_number");
  CHECK(label_of([&] { random::randint(k, {2}, 3, 3); }) == "random_bounds");
  CHECK(label_of([&] { random::randint(k, {2}, 0, 257, DType::u8); }) == "number_range");
  CHECK(label_of([&] { random::uniform(k, {-1}); }) == "extent");
}

TEST_CASE("a tensor that was never set is an error, not a crash or a number") {
  Tensor x = zeros({2}), none;
  for (auto call : std::initializer_list<std::function<Tensor()>>{
           [&] { return x + none; }, [&] { return none + x; }, [&] { return where(none, x, x); },
           [&] { return full({2}, none, DType::f32); }, [&] { return exp(none); }, [&] { return sum(none); },
           [&] { return none[0]; }, [&] { return -Operand(3.0); }, [&] { return concatenate({x, none}); },
           [&] { return jit([](Tensor y) { return y; })(none); }, [&] { return none == 0; }})
    CHECK(label_of(call) == "no_tensor");
}

TEST_CASE("what there is nothing of is rolled") {
  CHECK(value_of(roll(zeros({0, 3}), 2, 0)).type().static_dims() == Ints{0, 3});
  auto rolled = compile([](Tensor x) { return roll(x, -1, 0); }, {{.dims = {Dim(Symbol{"n", 0, 4, 8}), 2}}});
  CHECK(rolled({zeros({0, 2}, DType::f32)})[0].dims() == Dims{0, 2});
  CHECK(rolled.executable().outputs()[0].type.dims == rolled.executable().inputs()[0].type.dims);
  CHECK(rolled({cast(reshape(arange(6), {3, 2}), DType::f32)})[0].data<float>()[5] == 1);
}

TEST_CASE("of what there is nothing of nothing can be taken, but nothing") {
  Tensor none = zeros({2, 0, 3}, DType::f32), place = tensor<int64_t>({0}), places = zeros({4, 0}, DType::i64);
  CHECK(label_of([&] { take(none, place, 1); }) == "index_bounds");
  CHECK_THROWS_AS(take(none, place, 1), OutOfBoundsError);
  CHECK(value_of(take(none, places, 1)).type() == Type{DType::f32, {2, 4, 0, 3}});
  CHECK(value_of(take(none, place, 0)).type().static_dims() == Ints{1, 0, 3});
  CHECK(label_of([&] { take_along_axis(none, zeros({2, 1, 3}, DType::i64), 1); }) == "index_bounds");
  CHECK(value_of(take_along_axis(none, zeros({2, 0, 3}, DType::i64), 1)).type().static_dims() == Ints{2, 0, 3});
  Tensor maybe = parameter({DType::f32, {Dim(Symbol{"n", 0, 4, 8})}}, "x"),
         some = parameter({DType::f32, {Dim(Symbol{"m", 1, 4, 8})}}, "y");
  CHECK(take(maybe, place).dims() == Dims{1});  // a run ends in an error where there is nothing
  CHECK(take(some, place).dims() == Dims{1});
}

TEST_CASE("symbolic extents stay symbolic, and those that are not known to be equal are an error with both") {
  Dim n(Symbol{"n", 1, 64, 4096}), m(Symbol{"m", 1, 64, 4096});
  Tensor x = parameter({DType::f32, {n, 8}}, "x"), y = parameter({DType::f32, {m, 8}}, "y");
  CHECK(matmul(x, zeros({8, 4})).dims() == Dims{n, 4});
  CHECK(concatenate({x, y}).dims() == Dims{n + m, 8});
  CHECK(x[Slice{1, {}}].dims() == Dims{n - 1, 8});
  CHECK(reshape(x, {-1}).dims() == Dims{n * 8});
  CHECK(arange(n).dims() == Dims{n});
  CHECK_THROWS_WITH_AS(x + y, doctest::Contains("[n, 8] and [m, 8]"), Error);
}
