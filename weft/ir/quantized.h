// Programs on quantised types as programs on the integers that are stored.
#pragma once

#include "weft/ir/builder.h"

namespace weft {

// The stored integers of real numbers: x / scale + zero_point, held to the range, rounded to nearest even. `wanted`:
// the quantised type.
Value quantize(Builder& build, Value x, const Type& wanted);
// The real numbers that stored integers stand for: (x - zero_point) * scale.
Value dequantize(Builder& build, Value x, const Quantization& quantized);

// Whether any value of the graph or of its regions is quantised.
bool is_quantized(const Graph& graph);
// The program with integers in the place of quantised values and arithmetic in that of uniform_quantize and
// uniform_dequantize.
GraphPtr with_stored_types(const Graph& graph);

}  // namespace weft
