// Types and literals as messages of xla_data.proto.
#pragma once

#include <vector>

#include "weft/interop/wire.h"
#include "weft/ir/literal.h"

namespace weft {

// xla.ShapeProto of a dense row-major array. Error for symbolic extents and for element types that XLA lacks.
Message shape_message(const Type& type);
// The shape of a tuple of arrays.
Message tuple_shape_message(const std::vector<Type>& types);
// xla.LiteralProto; the bytes of a large literal are read when the whole is serialized.
Message literal_message(const Literal& literal);
// The extents as integers; Error where one is symbolic.
Ints static_extents(const Dims& dims);

}  // namespace weft
