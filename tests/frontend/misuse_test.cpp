// Everything that a C++ program can ask for wrongly is an Error with a label: never a crash, nor an error of ours.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "weft/runtime.h"
#include "weft/weft.h"

using namespace weft;

namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();

struct Misuse {
  const char* what;
  std::function<void()> call;
};

// What the call ends in: its label, or what it is that is no Error with a label.
std::string outcome(const Misuse& misuse) {
  try {
    misuse.call();
    return "(nothing is wrong)";
  } catch (const Error& error) {
    if (error.label().empty()) return std::string("(no label) ") + error.what();
    if (error.message().find(".cpp:") != std::string::npos ||
        error.message().find(WEFT_SOURCE_DIR) != std::string::npos)
      return "(a path of ours) " + error.message();
    return "";
  } catch (const std::exception& error) {
    return std::string("(no weft::Error) ") + error.what();
  }
}

void require_errors(const std::vector<Misuse>& table) {
  for (const Misuse& misuse : table) {
    std::string what = misuse.what;
    INFO(what);
    CHECK(outcome(misuse) == "");
  }
}

Tensor f32(Ints dims) { return ones(Dims(dims.begin(), dims.end()), DType::f32); }
Dim symbol(const char* name, int64_t low = 1, int64_t opt = 8, int64_t high = 64) {
  return Dim(Symbol{name, low, opt, high});
}
Tensor twice(Tensor x) { return x * 2; }

Executable doubling() {
  static const Executable program = compile(twice, {{.dims = {symbol("n"), 4}, .name = "x"}}, "twice").executable();
  return program;
}
Executable adding() {
  static const Executable program =
      compile([](Tensor x, Tensor y) { return x + y; }, {{.dims = {3}}, {.dims = {3}}}, "add").executable();
  return program;
}

}  // namespace

TEST_CASE("misuse of buffers and devices") {
  Buffer buffer(DType::f32, {4, 3}), none, moved = std::move(none);
  static std::vector<float> host(12);
  const Buffer fixed = Buffer::adopt(static_cast<const void*>(host.data()), DType::f32, {12});
  require_errors({
      {"extents below 0", [] { Buffer(DType::f32, {-1}); }},
      {"the least extent", [] { Buffer(DType::f32, {least, 0}); }},
      {"more elements than 64 bits count", [] { Buffer(DType::f32, {most, most}); }},
      {"more bytes than 64 bits count", [] { Buffer(DType::f64, {most}); }},
      {"more bytes than there are", [] { Buffer(DType::u8, {most}); }},
      {"a little less", [] { Buffer(DType::u8, {most - 4096}); }},
      {"zeros of a negative extent", [] { Buffer::zeros(DType::f32, {-3}); }},
      {"zeros past all memory", [] { Buffer::zeros(DType::u8, {int64_t{1} << 60}); }},
      {"a copy of nothing", [] { Buffer::copy_of(nullptr, DType::f32, {2}); }},
      {"nothing adopted", [] { Buffer::adopt(static_cast<void*>(nullptr), DType::f32, {2}); }},
      {"nothing adopted, to be read", [] { Buffer::adopt(static_cast<const void*>(nullptr), DType::f32, {2}); }},
      {"elements adopted between places for them",
       [] { Buffer::adopt(reinterpret_cast<char*>(host.data()) + 1, DType::f32, {2}); }},
      {"a dtype that is none", [] { Buffer(static_cast<DType>(200), {2}); }},
      {"dtype of none", [&] { none.dtype(); }},
      {"dims of none", [&] { none.dims(); }},
      {"count of none", [&] { none.count(); }},
      {"bytes of none", [&] { none.bytes(); }},
      {"device of none", [&] { none.device(); }},
      {"data of none", [&] { none.data(); }},
      {"writable data of none", [&] { none.writable_data(); }},
      {"is none writable", [&] { none.is_writable(); }},
      {"elements of none", [&] { none.elements<float>(); }},
      {"part of none", [&] { none.slice(0, 0); }},
      {"none as another shape", [&] { none.reshape({}); }},
      {"none elsewhere", [&] { none.to(Device::cpu(1)); }},
      {"into none", [&] { none.copy_from(buffer); }},
      {"from none", [&] { buffer.copy_from(none); }},
      {"a part that begins before", [&] { buffer.slice(-1, 2); }},
      {"a part that ends behind", [&] { buffer.slice(0, 5); }},
      {"a part that ends before it begins", [&] { buffer.slice(3, 2); }},
      {"a part from the least to the greatest", [&] { buffer.slice(least, most); }},
      {"a part of a scalar", [] { Buffer(DType::f32, {}).slice(0, 1); }},
      {"another number of elements", [&] { buffer.reshape({5}); }},
      {"negative extents of the same product", [&] { buffer.reshape({-4, -3}); }},
      {"extents without end", [&] { buffer.reshape({most, most}); }},
      {"elements of another size", [&] { buffer.elements<double>(); }},
      {"written elements of another size", [&] { buffer.writable_elements<char>(); }},
      {"what must not be written", [&] { fixed.writable_data(); }},
      {"a copy to where nobody writes", [&] { fixed.copy_from(Buffer(DType::f32, {12})); }},
      {"a copy of other elements", [&] { buffer.copy_from(Buffer(DType::i32, {4, 3})); }},
      {"a copy of more", [&] { buffer.copy_from(Buffer(DType::f32, {4, 4})); }},
      {"a CPU before the first", [] { Device::cpu(-1); }},
      {"a CPU past the last", [] { Device::cpu(1 << 20); }},
      {"a device without a name", [] { Device::named(""); }},
      {"a device of no kind", [] { Device::named(":0"); }},
      {"a device of no number", [] { Device::named("cpu:"); }},
      {"a device of a number too large", [] { Device::named("cpu:99999999999999999999"); }},
      {"a device nobody added", [] { Device::named("abacus"); }},
      {"a limit below none", [] { Device::cpu(3).set_memory_limit(-1); }},
      {"a device without memory", [] { add_device("abacus", 0, nullptr); }},
  });
}

TEST_CASE("misuse of executables") {
  Executable none, twice = doubling(), add = adding();
  Buffer rows = Buffer::zeros(DType::f32, {3, 4}), three = Buffer::zeros(DType::f32, {3}),
         out = Buffer::zeros(DType::f32, {3});
  const float fixed[3] = {};
  Buffer constant = Buffer::adopt(static_cast<const void*>(fixed), DType::f32, {3});
  std::vector<int64_t> symbols(1);
  const Ints dims[] = {{3, 4}};
  const Extents extents[] = {dims[0]};
  const void* read[] = {rows.data()};
  void* written[] = {rows.writable_data()};
  const void* nothing[] = {nullptr};
  require_errors({
      {"name of none", [&] { none.name(); }},
      {"inputs of none", [&] { none.inputs(); }},
      {"device of none", [&] { none.device(); }},
      {"code of none", [&] { none.code_bytes(); }},
      {"a run of none", [&] { none.run({rows}); }},
      {"a later run of none", [&] { none.run_async({rows}); }},
      {"none measured", [&] { none.benchmark({}, 1, 1); }},
      {"none finished", [&] { none.finish(); }},
      {"a moved one",
       [&] {
         Executable other = twice, taken = std::move(other);
         other.run({rows});
       }},
      {"no file", [] { Executable::load("/nowhere/at/all.weft"); }},
      {"a folder", [] { Executable::load("/"); }},
      {"a file without a name", [] { Executable::load(""); }},
      {"no inputs", [&] { twice.run({}); }},
      {"too many inputs", [&] { twice.run({rows, rows}); }},
      {"an input that is none", [&] { twice.run({Buffer()}); }},
      {"another dtype", [&] { twice.run({Buffer(DType::f64, {3, 4})}); }},
      {"another rank", [&] { twice.run({three}); }},
      {"another extent", [&] { twice.run({Buffer(DType::f32, {3, 5})}); }},
      {"an extent below its range", [&] { twice.run({Buffer(DType::f32, {0, 4})}); }},
      {"an extent above its range", [&] { twice.run({Buffer(DType::f32, {65, 4})}); }},
      {"another device", [&] { twice.run({Buffer(DType::f32, {3, 4}, Device::cpu(1))}); }},
      {"another device later", [&] { twice.run_async({Buffer(DType::f32, {3, 4}, Device::cpu(1))}); }},
      {"no outputs", [&] { twice.run(std::vector{rows}, std::vector<Buffer>()); }},
      {"an output that is none", [&] { twice.run(std::vector{rows}, std::vector{Buffer()}); }},
      {"an output of another shape", [&] { twice.run(std::vector{rows}, std::vector{Buffer(DType::f32, {4, 4})}); }},
      {"an output of another dtype", [&] { twice.run(std::vector{rows}, std::vector{Buffer(DType::f64, {3, 4})}); }},
      {"an output that must not be written", [&] { add.run(std::vector{three, three}, std::vector{constant}); }},
      {"an output that is an input", [&] { add.run(std::vector{three, out}, std::vector{out}); }},
      {"outputs for no inputs", [&] { twice.new_outputs({}); }},
      {"no measurement", [&] { add.benchmark(std::vector{three, three}, 0, 0); }},
      {"a warm-up below none", [&] { add.benchmark(std::vector{three, three}, -1, 1); }},
      {"no profile", [&] { add.profile(std::vector{three, three}, 0, -5); }},
      {"a symbolic extent as a number", [&] { twice.inputs()[0].type.static_dims(); }},
      {"a symbolic extent's value", [&] { twice.inputs()[0].type.dims[0].value(); }},
      {"a buffer of a type with symbols", [&] { Buffer(DType::f32, twice.outputs()[0].type.static_dims()); }},
      {"symbols bound from nothing", [&] { twice.bind({}, symbols); }},
      {"symbols bound to no place", [&] { twice.bind(extents, {}); }},
      {"dims of an output past the last", [&] { twice.output_dims(1, symbols); }},
      {"dims of an output without symbols", [&] { twice.output_dims(0, {}); }},
      {"memory for no inputs", [&] { twice.run(symbols, {}, written); }},
      {"memory for no outputs", [&] { twice.run(symbols, read, {}); }},
      {"memory and no symbols", [&] { twice.run({}, read, written); }},
      {"an input at no memory",
       [&] {
         symbols[0] = 3;
         twice.run(symbols, nothing, written);
       }},
      {"symbols out of their range",
       [&] {
         symbols[0] = 65;
         twice.run(symbols, read, written);
       }},
      {"no manifest's machine code", [] { Executable::load(Manifest(), std::vector<std::string>{"junk"}); }},
      {"no machine code", [] { Executable::load(Manifest(), std::vector<std::string>()); }},
  });
}

TEST_CASE("misuse of extents") {
  Dim n = symbol("n");
  require_errors({
      {"the value of a symbol", [&] { n.value(); }},
      {"a symbol without its value", [&] { (n + 1).evaluate({}); }},
      {"division by zero", [&] { floordiv(Dim(4), Dim(0)); }},
      {"a symbol divided by zero", [&] { floordiv(n, 0); }},
      {"the remainder of zero", [&] { mod(n, 0); }},
      {"rounded up by zero", [&] { ceildiv(n, 0); }},
      {"a sum past 64 bits", [] { Dim(most) + Dim(1); }},
      {"a product past 64 bits", [] { Dim(most) * Dim(2); }},
      {"the least divided by minus one", [] { floordiv(Dim(least), Dim(-1)); }},
      {"text that is no extent", [] { parse_dim("n +", {}); }},
      {"no text", [] { parse_dim("", {}); }},
      {"a symbol without a name", [] { trace(twice, {{.dims = {symbol("")}}}); }},
      {"a symbol with blanks", [] { trace(twice, {{.dims = {symbol("a b")}}}); }},
      {"a symbol whose range is empty", [] { trace(twice, {{.dims = {symbol("n", 5, 5, 4)}}}); }},
      {"a symbol that may be negative", [] { trace(twice, {{.dims = {symbol("n", -5, 1, 4)}}}); }},
      {"a symbol tuned for what it cannot be", [] { trace(twice, {{.dims = {symbol("n", 1, 9, 4)}}}); }},
      {"one symbol of two ranges",
       [] {
         trace([](Tensor x, Tensor y) { return x + y; },
               {{.dims = {symbol("n", 1, 2, 4)}}, {.dims = {symbol("n", 1, 2, 8)}}});
       }},
  });
}

TEST_CASE("misuse of tensors") {
  Tensor none, x = f32({3, 4}), v = f32({3}), i = arange(3);
  Tensor empty = f32({0, 3});
  require_errors({
      {"dtype of none", [&] { none.dtype(); }},
      {"dims of none", [&] { none.dims(); }},
      {"value of none", [&] { none.eval(); }},
      {"elements of none", [&] { none.data<float>(); }},
      {"item of none", [&] { none.item<float>(); }},
      {"text of none", [&] { none.text(); }},
      {"none as a condition", [&] { (void)bool(none); }},
      {"part of none", [&] { none[0]; }},
      {"none printed", [&] { print(none); }},
      {"none among others", [&] { eval({x, none}); }},
      {"a moved one",
       [&] {
         Tensor other = v, taken = std::move(other);
         other.eval();
       }},
      {"a sum with none", [&] { x + none; }},
      {"a function of none", [&] { tanh(none); }},
      {"the sum of none", [&] { sum(none); }},
      {"none in a product", [&] { matmul(x, none); }},
      {"no buffer", [] { Tensor{Buffer()}; }},
      {"fewer elements than the shape", [] { tensor({1.f, 2.f}, {3}); }},
      {"negative extents of the right product", [] { tensor({1.f, 2.f, 3.f, 4.f}, {-2, -2}); }},
      {"elements of another type", [&] { x.data<double>(); }},
      {"the item of several", [&] { x.item<float>(); }},
      {"the item of none at all", [&] { empty.item<float>(); }},
      {"several as a condition", [&] { (void)bool(x); }},
      {"shapes that do not fit", [&] { x + v; }},
      {"a number that does not fit", [] { ones({2}, DType::u8) + 300; }},
      {"shifts of floats", [&] { left_shift(x, 1); }},
      {"bits of floats", [&] { x & x; }},
      {"negative zeros", [] { zeros({-3}); }},
      {"ones past 64 bits", [] { ones({most, most}).eval(); }},
      {"full of negative extents", [] { full({2, least}, 1); }},
      {"a range without steps", [] { arange(0, 4, 0); }},
      {"a range past all memory", [] { arange(most).eval(); }},
      {"a range to below zero",
       [] {
         arange(-4, DType::f32).eval();
         arange(Dim(4), Dim(most), 1).eval();
       }},
      {"a negative number of numbers", [] { linspace(0, 1, -1); }},
      {"ones on a negative diagonal", [] { eye(-2); }},
      {"a symbol outside of a program", [] { extent(symbol("n")).eval(); }},
      {"zeros of a symbolic extent, computed", [] { zeros({symbol("n")}).eval(); }},
      {"two extents that are left", [&] { reshape(x, {-1, -1}); }},
      {"another number of elements", [&] { reshape(x, {5}); }},
      {"an extent that is left of nothing", [&] { reshape(x, {0, -1}); }},
      {"a shape past 64 bits", [&] { reshape(x, {most, most}); }},
      {"a permutation of other axes", [&] { transpose(x, {0, 2}); }},
      {"a permutation of one axis twice", [&] { transpose(x, {1, 1}); }},
      {"a permutation of too few", [&] { transpose(x, Ints{0}); }},
      {"an axis outside", [&] { swapaxes(x, 0, 2); }},
      {"the least axis", [&] { sum(x, least); }},
      {"the greatest axis", [&] { sum(x, most); }},
      {"an axis twice", [&] { sum(x, {0, 0}); }},
      {"an axis moved outside", [&] { moveaxis(x, 0, 5); }},
      {"broadcast to less", [&] { broadcast_to(x, {4}); }},
      {"broadcast to negative extents", [&] { broadcast_to(v, {-1, 3}); }},
      {"a new axis outside", [&] { expand_dims(x, 7); }},
      {"an axis squeezed that is long", [&] { squeeze(x, 0); }},
      {"none concatenated", [] { concatenate({}); }},
      {"none stacked", [] { stack({}); }},
      {"no tensor among those concatenated", [&] { concatenate({x, none}); }},
      {"scalars concatenated", [] { concatenate({ones({}), ones({})}); }},
      {"other shapes stacked", [&] { stack({x, v}); }},
      {"no parts", [&] { split(x, 0); }},
      {"negative parts", [&] { split(x, -2); }},
      {"parts that are not equal", [&] { split(x, 2); }},
      {"repeated less than never", [&] { repeat(x, -1, 0); }},
      {"repeated without end", [&] { repeat(x, most, 0).eval(); }},
      {"tiled less than never", [&] { tile(x, {-1}); }},
      {"rolled along no axis", [&] { roll(x, 1, 2); }},
      {"padded on too few axes", [&] { pad(x, {{1, 1}}); }},
      {"padded by less than the extent", [&] { pad(x, {{-2, -2}, {0, 0}}); }},
      {"a place outside", [&] { x[3]; }},
      {"the least place", [&] { x[least]; }},
      {"too many places", [&] { x[{0, 0, 0}]; }},
      {"two ellipses", [&] { x[{ellipsis, ellipsis}]; }},
      {"steps of zero", [&] { x[Slice{{}, {}, 0}]; }},
      {"an axis without slices", [&] { slice(x, 2, {0, 1}); }},
      {"an update of another shape", [&] { update(x, {0}, f32({5})); }},
      {"an update outside", [&] { update(x, {7}, 1); }},
      {"taken at floats", [&] { take(x, v); }},
      {"taken of nothing", [&] { take(empty, i); }},
      {"taken along other shapes", [&] { take_along_axis(x, i); }},
      {"the greatest of none", [&] { max(empty, 0); }},
      {"the place of the greatest of none", [&] { argmax(empty, 0); }},
      {"softmax along no axis", [&] { softmax(x, 2); }},
      {"layer norm by another scale", [&] { layer_norm(x, v, v); }},
      {"a running total along no axis", [&] { cumsum(x, 2); }},
      {"sorted along no axis", [&] { sort(x, 2); }},
      {"more than there are", [&] { top_k(x, 5); }},
      {"less than none", [&] { top_k(x, -1); }},
      {"a product that does not fit", [&] { matmul(x, x); }},
      {"a product of scalars", [] { matmul(ones({}), ones({})); }},
      {"axes that do not fit", [&] { tensordot(x, x, {0}, {1}); }},
      {"axes of another number", [&] { tensordot(x, x, {0}, {}); }},
      {"subscripts that are none", [&] { einsum("i->->", {v}); }},
      {"subscripts of more tensors", [&] { einsum("ij,jk->ik", {x}); }},
      {"subscripts of no tensors", [] { einsum("", {}); }},
      {"a convolution of matrices", [&] { conv2d(x, x); }},
      {"a convolution by no stride", [] { conv2d(ones({1, 1, 4, 4}), ones({1, 1, 2, 2}), {.stride = {0, 0}}); }},
      {"a convolution of no groups", [] { conv2d(ones({1, 1, 4, 4}), ones({1, 1, 2, 2}), {.groups = 0}); }},
      {"a convolution of too few strides", [] { conv2d(ones({1, 1, 4, 4}), ones({1, 1, 2, 2}), {.stride = {1}}); }},
  });
}

TEST_CASE("misuse of random numbers and linear algebra") {
  Tensor key = random::key(1), x = f32({3, 4}), none;
  require_errors({
      {"no key", [&] { random::split(none); }},
      {"a key of floats", [&] { random::uniform(x, {2}); }},
      {"less than no keys", [&] { random::split(key, -1); }},
      {"bits of negative extents", [&] { random::bits(key, {-1}); }},
      {"bits of floats", [&] { random::bits(key, {2}, DType::f32); }},
      {"uniform integers", [&] { random::uniform(key, {2}, DType::i32); }},
      {"normal numbers past 64 bits", [&] { random::normal(key, {most, most}); }},
      {"parameters of another shape", [&] { random::uniform(key, {2}, DType::f64, x); }},
      {"integers from nowhere", [&] { random::randint(key, {2}, 5, 5); }},
      {"integers past their dtype", [&] { random::randint(key, {2}, 0, 1000, DType::u8); }},
      {"a permutation along no axis", [&] { random::permutation(key, x, 2); }},
      {"the inverse of what is not square", [&] { linalg::inv(x); }},
      {"the inverse of a vector", [] { linalg::inv(ones({3})); }},
      {"the inverse of halves", [] { linalg::inv(ones({3, 3}, DType::f16)); }},
      {"a solution of another size", [&] { linalg::solve(ones({3, 3}), ones({4})); }},
      {"factors of a vector", [] { linalg::qr(ones({3})); }},
      {"singular values of a scalar", [] { linalg::svd(ones({})); }},
      {"factors of none", [&] { linalg::cholesky(none); }},
  });
}

TEST_CASE("misuse of jit, loops and branches") {
  Tensor none, x = f32({3, 4}), v = f32({3});
  auto fixed = jit(twice, {{.dims = {3}}});
  require_errors({
      {"no graph compiled", [] { compile(GraphPtr()); }},
      {"no graph's text", [] { stablehlo(GraphPtr()); }},
      {"no graph's text for people", [] { graph_text(GraphPtr()); }},
      {"no function called", [&] { CompiledFunction()({x}); }},
      {"no function saved", [] { CompiledFunction().save("/tmp/none.weft"); }},
      {"saved nowhere", [] { compile(twice, {{.dims = {3}}}).save("/nowhere/at/all.weft"); }},
      {"another number of arguments", [&] { compile(twice, {{.dims = {3}}})({v, v}); }},
      {"another shape", [&] { compile(twice, {{.dims = {3}}})({x}); }},
      {"no tensor", [&] { compile(twice, {{.dims = {3}}})({none}); }},
      {"negative extents", [] { compile(twice, {{.dims = {-3}}}); }},
      {"a dtype that is none", [] { compile(twice, {{.dims = {3}, .dtype = static_cast<DType>(200)}}); }},
      {"a jitted function of none", [&] { jit(twice)(none); }},
      {"a jitted function of another shape", [&] { fixed(x); }},
      {"a jitted function that asks for a value", [&] { jit([](Tensor a) { return a * a.item<double>(); })(v); }},
      {"a jitted function that gives none", [&] { jit([](Tensor) { return Tensor(); })(v); }},
      {"another number than there are specs",
       [&] { jit([](Tensor a, Tensor b) { return a + b; }, {{.dims = {3}}})(v, v); }},
      {"a placeholder that was kept",
       [&] {
         Tensor kept;
         jit([&](Tensor a) { return kept = a; })(v);
         kept.eval();
       }},
      {"a loop whose state changes its shape",
       [&] { while_loop([](Tensor s) { return sum(s) < 9; }, [](Tensor s) { return concatenate({s, s}); }, v); }},
      {"a loop whose state changes its dtype",
       [&] { while_loop([](Tensor s) { return sum(s) < 9; }, [](Tensor s) { return cast(s, DType::f64); }, v); }},
      {"a loop whose condition is several",
       [&] { while_loop([](Tensor s) { return s < 9; }, [](Tensor s) { return s * 2; }, v); }},
      {"a loop of none", [&] { while_loop([](Tensor s) { return sum(s) < 9; }, [](Tensor s) { return s; }, none); }},
      {"a counted loop whose state changes", [&] { for_loop(3, [](const Dim&, Tensor s) { return sum(s); }, v); }},
      {"a counted loop of none", [&] { for_loop(3, [](const Dim&, Tensor s) { return s; }, none); }},
      {"branches that differ", [&] { cond(sum(v) > 0, [&] { return v; }, [&] { return x; }); }},
      {"a branch by several", [&] { cond(v > 0, [&] { return v; }, [&] { return v; }); }},
      {"a branch by none", [&] { cond(none, [&] { return v; }, [&] { return v; }); }},
      {"branches that give none", [&] { cond(sum(v) > 0, [] { return Tensor(); }, [] { return Tensor(); }); }},
  });
}
