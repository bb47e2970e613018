// Types and literals as messages of xla_data.proto.
#pragma once

#include <vector>

#include "weft/interop/wire.h"
#include "weft/ir/literal.h"

namespace weft {

// The order of a matrix in memory; dimensions before the last two are the outermost in either.
enum class Order : uint8_t { row_major, column_major };

// xla.ShapeProto of a dense array. Error for symbolic extents and for element types that XLA lacks.
Message shape_message(const Type& type, Order order = Order::row_major);
// The shape of a tuple of arrays of these shapes.
Message tuple_shape_message(const std::vector<Message>& shapes);
// The shape of a tuple of row-major arrays.
Message tuple_shape_message(const std::vector<Type>& types);
// xla.LiteralProto; the bytes of a large literal are read when the whole is serialized.
Message literal_message(const Literal& literal);
// The extents as integers; Error where one is symbolic.
Ints static_extents(const Dims& dims);

}  // namespace weft
