// NumPy's rules for dtypes of operands, and operands as tensors of one.
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "weft/core/error.h"
#include "weft/frontend/operand.h"
#include "weft/frontend/record.h"

namespace weft {

// np.result_type: tensors promote, numbers take part by their kind. Error(type, "promotion") naming both.
DType result_type(std::span<const Operand* const> operands);
inline DType result_type(std::initializer_list<const Operand*> operands) {
  return result_type(std::span(operands.begin(), operands.size()));
}
DType result_type(const std::vector<Tensor>& tensors);
// The float that NumPy computes functions of integers and booleans in; floats and complex types themselves.
DType inexact_type(DType dtype);
bool is_whole(DType dtype);  // integers and booleans
// Whether the integer, which is no tensor, is a value of that integer type or of bool.
bool fits(const Operand& integer, DType dtype);

// The operand as a tensor of that dtype. Error(value, "number_range") for an integer that does not fit.
Tensor as_tensor(const Operand& operand, DType dtype);
// The same, but an integer that does not fit comes around.
Tensor wrapped_tensor(const Operand& operand, DType dtype);
Tensor number(double value, DType dtype);
// As ndarray.astype has it; small constants stay constants.
Tensor cast_to(const Tensor& x, DType dtype);
// Its place among `rank` axes, counted from the first. Error(value, "axis").
int64_t one_axis(int64_t axis, int64_t rank);
// All of them, each once, ascending. Error(value, "axis" or "axis_duplicate").
Ints axes_of(const Axes& axes, int64_t rank);
// The same; a tensor of no dimensions may be told its axis 0.
Ints reduced_axes(const Axes& axes, int64_t rank);

// Indices of an axis as i64 from its beginning, and whether none of them has to be looked at when the program runs.
struct IndexPlaces {
  Tensor from_start;
  bool are_inside = false;
};
// Of indices of which negative ones count from the end. Error(index, "index_dtype"), or "index_bounds" where one that
// is known lies outside.
IndexPlaces places_of(const Tensor& indices, const Dim& extent, int64_t axis);
// Error(index, "index_bounds") for such an index.
void require_inside(int64_t place, const Dim& extent, int64_t axis);

// A shape, or axes, as NumPy spells them: "(2, 3)", "(3,)".
template <class List>
std::string tuple_text(const List& items) {
  std::string text = "(";
  for (const auto& item : items) append(text, text.size() == 1 ? "" : ", ", item);
  return text + (items.size() == 1 ? ",)" : ")");
}

inline Tensor compared(std::string_view direction, const Tensor& lhs, const Tensor& rhs) {
  return apply(Op::compare, {lhs, rhs}, {{Attr::comparison_direction, std::string(direction)}});
}

}  // namespace weft
