// Quantisations as text, and each of them once.
#include "weft/core/quantization.h"

#include <algorithm>
#include <list>
#include <mutex>

#include "weft/core/error.h"

namespace weft {

int64_t least_integer(DType dtype) { return is_signed(dtype) ? -(int64_t{1} << (bit_width(dtype) - 2)) * 2 : 0; }

int64_t greatest_integer(DType dtype) {
  int bits = bit_width(dtype) - (is_signed(dtype) || bit_width(dtype) == 64 ? 1 : 0);
  return static_cast<int64_t>((uint64_t{1} << bits) - 1);
}

namespace {

// MLIR's floats have a point: 3 is 3.0, 1e-05 is 1.0e-05.
std::string decimal(double value) {
  std::string text = cat(value);
  if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

}  // namespace

std::string Quantization::text(DType storage) const {
  std::string stored(name(storage));
  // The dialect says u8 where StableHLO says ui8.
  if (stored.starts_with("ui")) stored.erase(1, 1);
  std::string out = cat("!quant.uniform<", stored);
  if (storage_min != least_integer(storage) || storage_max != greatest_integer(storage))
    append(out, "<", storage_min, ":", storage_max, ">");
  append(out, ":", name(expressed));
  if (dimension >= 0) append(out, ":", dimension);
  out += dimension >= 0 ? ", {" : ", ";
  for (size_t i = 0; i < scales.size(); ++i) {
    append(out, i ? ", " : "", decimal(scales[i]));
    if (zero_points[i] != 0) append(out, ":", zero_points[i]);
  }
  return out + (dimension >= 0 ? "}>" : ">");
}

const Quantization* interned(Quantization quantization) {
  static std::mutex mutex;
  static std::list<Quantization> all;
  std::lock_guard lock(mutex);
  for (const Quantization& known : all)
    if (known == quantization) return &known;
  return &all.emplace_back(std::move(quantization));
}

}  // namespace weft
