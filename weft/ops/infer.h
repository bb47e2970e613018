// Inference that families share.
#pragma once

#include <algorithm>

#include "weft/ir/builder.h"
#include "weft/ir/op.h"

namespace weft {

using Types = std::vector<Type>;

inline bool any_type(DType) { return true; }
inline bool is_number(DType dtype) { return !is_bool(dtype); }
inline bool is_float_or_complex(DType dtype) { return is_float(dtype) || is_complex(dtype); }
inline bool is_signed_number(DType dtype) { return is_signed(dtype) || is_float(dtype) || is_complex(dtype); }
inline bool is_signed_real(DType dtype) { return is_signed(dtype) || is_float(dtype); }
inline bool is_bits(DType dtype) { return is_bool(dtype) || is_integer(dtype); }
inline bool is_real_number(DType dtype) { return is_integer(dtype) || is_float(dtype); }
inline bool is_ordered(DType dtype) { return !is_complex(dtype); }

// All operands of one type, which is the result's; (C1) of most element-wise ops.
template <bool (*Accepts)(DType)>
Types same_type(const Call& call) {
  const Type& x = call.operand(0);
  call.require(Accepts(x.dtype), "dtype", "does not take elements of type ", name(x.dtype));
  for (const Type& other : call.operands)
    call.require(other == x, "c1", "operands must agree, got ", x, " and ", other);
  return {x};
}

// The same with boolean results.
template <bool (*Accepts)(DType)>
Types same_type_to_bool(const Call& call) {
  return {{DType::boolean, same_type<Accepts>(call)[0].dims}};
}

// Complex operands give their real type (abs, real, imag).
template <bool (*Accepts)(DType)>
Types to_real(const Call& call) {
  Type x = same_type<Accepts>(call)[0];
  return {{real_type(x.dtype), x.dims}};
}

// Whether a body takes two scalars of each operand's element type, first those of one side.
inline bool takes_scalars(const Graph& body, std::span<const Type> operands) {
  if (body.parameters().size() != 2 * operands.size()) return false;
  for (size_t i = 0; i < body.parameters().size(); ++i)
    if (body.node(body.parameters()[i]).type() != Type{operands[i % operands.size()].dtype, {}}) return false;
  return true;
}

// The same, and gives one of each.
inline bool combines_scalars(const Graph& body, std::span<const Type> operands) {
  if (!takes_scalars(body, operands) || body.outputs().size() != operands.size()) return false;
  for (size_t i = 0; i < operands.size(); ++i)
    if (body.outputs()[i].value.type() != Type{operands[i].dtype, {}}) return false;
  return true;
}

// Every number once and inside [0, rank).
inline bool are_axes(const Ints& axes, int64_t rank) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= rank) return false;
    for (size_t j = 0; j < i; ++j)
      if (axes[j] == axes[i]) return false;
  }
  return true;
}

inline bool contains(const Ints& values, int64_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// 0, 1, … n - 1.
inline Ints iota_ints(int64_t n) {
  Ints result;
  for (int64_t i = 0; i < n; ++i) result.push_back(i);
  return result;
}

// The least (or greatest) value of a type as a 0-d constant.
Value extreme_value(Builder& build, DType dtype, bool least);

}  // namespace weft
