// Trains a small network with lazy tensors: weights from a file if one is given, gradients by hand, one compiled step.
#include <weft/weft.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <vector>

using weft::Tensor;

constexpr int64_t inputs = 2, hidden = 32;

struct Network {
  Tensor w1, b1, w2, b2;
};

// The weights one after the other as floats, or numbers that look random.
Network load(const char* path) {
  constexpr size_t sizes[] = {inputs * hidden, hidden, hidden, 1};
  std::vector<std::vector<float>> parts;
  std::ifstream file;
  if (path) {
    file.exceptions(std::ios::failbit | std::ios::badbit);
    file.open(path, std::ios::binary);
  }
  unsigned state = 1;
  for (size_t size : sizes) {
    std::vector<float>& part = parts.emplace_back(size);
    if (path)
      file.read(reinterpret_cast<char*>(part.data()), static_cast<std::streamsize>(size * sizeof(float)));
    else
      for (float& x : part)
        x = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / static_cast<float>(1 << 24) - 0.5f;
  }
  auto tensor = [&](size_t i, weft::Ints dims) {
    return Tensor::copy_of(std::span<const float>(parts[i]), std::move(dims));
  };
  return {tensor(0, {inputs, hidden}), tensor(1, {hidden}), tensor(2, {hidden, 1}), tensor(3, {1})};
}

// One step of gradient descent on the mean squared error; the loss comes last.
std::array<Tensor, 5> step(Tensor x, Tensor y, Tensor w1, Tensor b1, Tensor w2, Tensor b2) {
  constexpr double rate = 0.1;
  Tensor h = weft::tanh(weft::matmul(x, w1) + b1);
  Tensor error = weft::matmul(h, w2) + b2 - y;
  Tensor loss = weft::mean(error * error);
  Tensor d = error * 2.0 / weft::cast(weft::extent(x.dims()[0]), weft::DType::f32);
  Tensor dh = weft::matmul(d, weft::transpose(w2)) * (1 - h * h);
  return {w1 - rate * weft::matmul(weft::transpose(x), dh), b1 - rate * weft::sum(dh, 0),
          w2 - rate * weft::matmul(weft::transpose(h), d), b2 - rate * weft::sum(d, 0), loss};
}

int main(int argc, char** argv) try {
  Network net = load(argc > 1 ? argv[1] : nullptr);
  Tensor place = weft::cast(weft::reshape(weft::arange(256), {256, 1}), weft::DType::f32);
  Tensor x = weft::concatenate({weft::sin(place * 0.37), weft::cos(place * 0.73)}, 1);
  Tensor y = weft::slice(x, 1, {0, 1}) * weft::slice(x, 1, {1, 2});
  auto train = weft::jit(step);
  for (int i = 0; i <= 2000; ++i) {
    auto [w1, b1, w2, b2, loss] = train(x, y, net.w1, net.b1, net.w2, net.b2);
    net = {w1, b1, w2, b2};
    if (i % 500 == 0) std::printf("step %4d: loss %.5f\n", i, loss.item<double>());
  }
} catch (const std::exception& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
