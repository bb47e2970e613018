// How the elements of several ranks become one, in an order that is fixed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "weft/core/api.h"
#include "weft/core/dtype.h"

namespace weft WEFT_API {

enum class ReduceOp : uint8_t { sum, prod, max, min, mean };

std::string_view name(ReduceOp op);
std::optional<ReduceOp> reduction_named(std::string_view name);
// Error(type), label "mean_dtype": integers and booleans have no mean of their own type.
void require_reducible(ReduceOp op, DType dtype);

// result[i] = ((inputs[0][i] op inputs[1][i]) op inputs[2][i]) …: from left to right, whoever calls it. Floats narrower
// than f32 are added up in f32 and rounded once; integers wrap; the sum of booleans is `or`, the product `and`; maxima
// and minima give NaN where an input has one, and order complex numbers as NumPy does. All `results` get the same; one
// may be an input, else they overlap none. `past_caches`: as for copy_elements.
void reduce_in_order(ReduceOp op, DType dtype, std::span<const std::byte* const> inputs,
                     std::span<std::byte* const> results, int64_t count, bool past_caches = false);

// A copy, of nothing where both are the same. `past_caches`: what is part of more than caches hold is written around
// them, which saves reading what it replaces.
void copy_elements(const std::byte* from, std::byte* to, int64_t bytes, bool past_caches = false);

}  // namespace weft
