// Types as text, and broadcasting.
#include "weft/core/type.h"

#include <algorithm>

#include "weft/core/error.h"

namespace weft {

bool Type::is_static() const {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_static(); });
}

bool Type::is_possible() const {
  return std::all_of(dims.begin(), dims.end(), [](const Dim& dim) { return !dim.is_static() || dim.value() >= 0; });
}

Dim Type::count() const {
  Dim product = 1;
  for (const Dim& dim : dims) product = product * dim;
  return product;
}

double Type::usual_count() const {
  double product = 1;
  for (const Dim& dim : dims) product *= static_cast<double>(dim.opt());
  return product;
}

Ints Type::static_dims() const {
  Ints result;
  for (const Dim& dim : dims) result.push_back(dim.value());
  return result;
}

std::string Type::text() const {
  std::string out = "tensor<", symbolic;
  for (const Dim& dim : dims) {
    if (dim.is_static()) {
      append(out, dim.value(), "x");
      continue;
    }
    out += "?x";
    append(symbolic, symbolic.empty() ? "" : ", ", dim);
  }
  out += quantized ? quantized->text(dtype) : std::string(name(dtype));
  if (!symbolic.empty()) append(out, ", \"", symbolic, "\"");
  return out + ">";
}

std::string Type::short_text() const { return cat(numpy_name(dtype), dims); }

Ints inverse(const Ints& permutation) {
  Ints places(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) places[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return places;
}

Ints row_major_strides(const Ints& dims) {
  Ints strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride = checked_multiply(stride, dims[i]);
  }
  return strides;
}

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size());
  Dim stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride = stride * dims[i];
  }
  return strides;
}

Dims broadcast(const Dims& lhs, const Dims& rhs) {
  const Dims& longer = lhs.size() >= rhs.size() ? lhs : rhs;
  const Dims& shorter = lhs.size() >= rhs.size() ? rhs : lhs;
  Dims result = longer;
  size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    const Dim &a = longer[offset + i], &b = shorter[i];
    if (a == b || b.is(1)) continue;
    if (!a.is(1))
      fail(ErrorKind::value, "broadcast", "operands could not be broadcast together with shapes ", lhs, " and ", rhs);
    result[offset + i] = b;
  }
  return result;
}

}  // namespace weft
