// Element-wise calls of the usual types by loops of their own: the interpreter without a look at each element's type.
#pragma once

#include <optional>
#include <span>

#include "weft/core/scalar.h"
#include "weft/ir/literal.h"

namespace weft {

// The operation on operands that broadcast to the dims of `type`, as apply() does it to each element; nothing for what
// is less usual.
std::optional<Literal> evaluate_directly(Scalar op, const Type& type, std::span<const Literal> operands);

// How far apart the elements of an operand of dims `from` are along each dimension of dims `to`, NumPy's broadcasting.
Ints broadcast_strides(const Ints& from, const Ints& to);

// A literal of `type` whose elements lie in the operand from element `first` on, so far apart along each dimension.
Literal strided(const Type& type, const Literal& operand, int64_t first, const Ints& strides);

}  // namespace weft
