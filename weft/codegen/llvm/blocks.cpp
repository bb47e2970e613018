// Blocks of lines in registers: transposed, dealt out to lanes, interleaved.
#include <algorithm>

#include "weft/codegen/llvm/kernel_emitter.h"

namespace weft {

std::vector<std::string> KernelEmitter::transposed(std::vector<std::string> vectors, const std::string& element,
                                                   int lanes) {
  // Parts of 128 bits change places whole; inside of them vectors interleave, which is one cheap instruction on any
  // CPU.
  size_t bits = std::stoul(element.substr(1)), side = vectors.size(), part = std::min<size_t>(side, 128 / bits);
  std::string type = lanes_type(element, lanes);
  // No instruction, but LLVM does not see through it: it would try for six milliseconds to make fewer of these
  // shuffles.
  auto opaque = [&](const std::string& vector) {
    bool is_register = bits * static_cast<size_t>(lanes) >= 128;
    return is_register ? assign(cat("call ", type, " asm \"\", \"=v,0\"(", type, " ", vector, ")")) : vector;
  };
  for (std::string& vector : vectors) vector = opaque(vector);
  auto second = static_cast<size_t>(lanes);
  auto turned = [&](const std::string& a, const std::string& b, const auto& from) {
    return opaque(shuffled(type, a, b, lanes, [&](int i) { return from(static_cast<size_t>(i)); }));
  };
  for (size_t digit = side / 2; digit >= part; digit /= 2)
    for (size_t k = 0; k < side; ++k) {
      if (k & digit) continue;
      std::string low =
          turned(vectors[k], vectors[k + digit], [&](size_t i) { return i & digit ? second + i - digit : i; });
      vectors[k + digit] =
          turned(vectors[k], vectors[k + digit], [&](size_t i) { return i & digit ? second + i : i + digit; });
      vectors[k] = low;
    }
  // Each step rotates the digits of (vector, element) by one.
  for (size_t step = 1; step < part; step *= 2) {
    std::vector<std::string> next;
    for (size_t group = 0; group < side; group += part)
      for (size_t k = group; k < group + part / 2; ++k)
        for (size_t first : {size_t{0}, part / 2})
          next.push_back(turned(vectors[k], vectors[k + part / 2], [&](size_t i) {
            return i / part * part + first + i % part / 2 + (i % 2 ? second : 0);
          }));
    vectors = std::move(next);
  }
  return vectors;
}

template <class Where>
std::vector<std::string> KernelEmitter::rearranged(const std::vector<std::string>& vectors, const std::string& element,
                                                   int lanes, const Where& where) {
  std::vector<std::string> result;
  int side = static_cast<int>(vectors.size());
  for (int number = 0; number < side; ++number) {
    std::string found = vectors[0];
    for (int k = 1; k < side; ++k)
      found = shuffled(lanes_type(element, lanes), found, vectors[static_cast<size_t>(k)], lanes, [&](int i) {
        auto [vector, at] = where(number, i);
        // What earlier steps have found is in its place.
        return vector > k ? -1 : vector == k ? lanes + at : k == 1 ? at : i;
      });
    result.push_back(found);
  }
  return result;
}

std::vector<std::string> KernelEmitter::dealt_out(const std::vector<std::string>& vectors, const std::string& element,
                                                  int lanes) {
  int side = static_cast<int>(vectors.size());
  return rearranged(vectors, element, lanes, [&](int number, int i) {
    return std::pair{(i * side + number) / lanes, (i * side + number) % lanes};
  });
}

std::vector<std::string> KernelEmitter::interleaved(const std::vector<std::string>& vectors, const std::string& element,
                                                    int lanes) {
  int side = static_cast<int>(vectors.size());
  return rearranged(vectors, element, lanes, [&](int number, int i) {
    return std::pair{(number * lanes + i) % side, (number * lanes + i) / side};
  });
}

}  // namespace weft
