// A function of tensors as a compiled program: called, for any batch, and saved for a process without a compiler.
#include <weft/weft.h>

#include <cstdio>

using weft::Tensor;

int main() try {
  Tensor w = weft::tensor({0.5f, -1.f, 0.25f, 2.f, 0.f, 1.f}, {2, 3});
  auto layer = [&](Tensor x) { return weft::tanh(weft::matmul(x, w)); };

  // Compiled at the first call of each shape, found again afterwards.
  auto f = weft::jit(layer);
  weft::print(f(weft::tensor({1.f, 2.f}, {1, 2})));
  weft::print(f(weft::tensor({1.f, 2.f, 3.f, 4.f}, {2, 2})));

  // One program for batches of 1 to 4096 rows, as a file.
  weft::Dim n(weft::Symbol{"n", 1, 64, 4096});
  weft::CompiledFunction compiled = weft::compile(layer, {{.dims = {n, 2}, .name = "x"}}, "layer");
  compiled.save("layer.weft");
  weft::Executable loaded = weft::Executable::load("layer.weft");
  weft::Buffer y = loaded.run({weft::ones({3, 2}, weft::DType::f32).eval()})[0];
  std::printf("%s gives %d rows, the first begins with %.4f\n", loaded.name().c_str(), static_cast<int>(y.dims()[0]),
              y.elements<float>()[0]);
} catch (const weft::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
