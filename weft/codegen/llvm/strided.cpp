// Lanes that are two to four elements of memory apart.
#include <algorithm>

#include "weft/codegen/llvm/kernel_emitter.h"

namespace weft {

// The lanes' mask for elements from the `first` on, of which lanes have every `step`th.
std::string KernelEmitter::spread_mask(const std::string& mask, int first, int count, int step) {
  return shuffled(lanes_type("i1", lanes_.count), mask, "zeroinitializer", count, [&](int i) {
    int at = first + i;
    return at % step ? lanes_.count : at / step;
  });
}

// Zero where the mask is false.
std::string KernelEmitter::masked_load(const std::string& place, const std::string& element, int lanes, int64_t align,
                                       const std::string& mask) {
  std::string type = lanes_type(element, lanes), mask_type = lanes_type("i1", lanes),
              name = cat("@llvm.masked.load.", mangled(element, lanes), ".p0");
  module_.declare(cat("declare ", type, " ", name, "(ptr, ", mask_type, ", ", type, ")"));
  return assign(cat("call ", type, " ", name, "(ptr align ", align, " ", place, ", ", mask_type, " ", mask, ", ", type,
                    " zeroinitializer)"));
}

void KernelEmitter::masked_store(const std::string& place, const std::string& element, int lanes, int64_t align,
                                 const std::string& mask, const std::string& value) {
  std::string type = lanes_type(element, lanes), mask_type = lanes_type("i1", lanes),
              name = cat("@llvm.masked.store.", mangled(element, lanes), ".p0");
  module_.declare(cat("declare void ", name, "(", type, ", ptr, ", mask_type, ")"));
  line(cat("call void ", name, "(", type, " ", value, ", ptr align ", align, " ", place, ", ", mask_type, " ", mask,
           ")"));
}

// Every second, third or fourth element: whole registers, of which shuffles keep what is wanted. Nothing is read past
// the last lane's element.
std::string KernelEmitter::load_strided(const std::string& base, const std::string& element, const Address& at,
                                        int64_t bytes, const std::string& mask) {
  int unit = std::min(lanes_.count, static_cast<int>(module_.target.vector_bytes / bytes)),
      step = static_cast<int>(at.step);
  std::string type = lanes_type(element, unit);
  std::vector<std::string> parts;
  for (int first = 0; first < lanes_.count; first += unit) {
    std::string found;
    for (int k = 0; k < step; ++k) {
      int start = std::min(k * unit, (unit - 1) * step + 1 - unit);
      std::string place =
          assign(cat("getelementptr ", element, ", ptr ", base, ", i64 ", add(at.base, cat(first * step + start))));
      std::string loaded =
          mask.empty() ? assign(cat("load ", type, ", ptr ", place, ", align ", bytes))
                       : masked_load(place, element, unit, bytes, spread_mask(mask, first * step + start, unit, step));
      // Lanes up to the end of this register's elements come from it, unless an earlier one had them.
      auto pick = [&](int i) {
        return i * step >= k * unit && i * step < (k + 1) * unit ? unit + i * step - start : i;
      };
      found = k ? shuffled(type, found, loaded, unit, pick)
                : shuffled(type, loaded, "poison", unit, [&](int i) { return i * step < unit ? i * step : 0; });
    }
    parts.push_back(found);
  }
  return joined(std::move(parts), element, unit);
}

// Lanes a few elements apart are put there in registers and stored between what is left as it is: CPUs scatter them one
// by one.
void KernelEmitter::store_strided(const std::string& base, const std::string& element, const Address& at, int64_t bytes,
                                  const std::string& mask, const std::string& value) {
  int lanes = lanes_.count, unit = std::min(lanes, static_cast<int>(module_.target.vector_bytes / bytes)),
      step = static_cast<int>(at.step);
  for (int first = 0; first < lanes * step; first += unit) {
    std::string spread = shuffled(lanes_type(element, lanes), value, "poison", unit, [&](int i) {
      int at = first + i;
      return at % step ? -1 : at / step;
    });
    std::string place = assign(cat("getelementptr ", element, ", ptr ", base, ", i64 ", add(at.base, cat(first))));
    masked_store(place, element, unit, bytes, spread_mask(mask.empty() ? "splat (i1 true)" : mask, first, unit, step),
                 spread);
  }
}

}  // namespace weft
