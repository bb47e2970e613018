// What element-wise functions record that are no single op: operands have one dtype, in which NumPy computes the
// function.
#pragma once

#include "weft/frontend/ufuncs.h"

namespace weft {

Tensor unchanged(const Ufunc& ufunc, const Tensor& x);
Tensor magnitude(const Ufunc& ufunc, const Tensor& x);
Tensor rounded(const Ufunc& ufunc, const Tensor& x);
Tensor conjugate(const Ufunc& ufunc, const Tensor& x);
Tensor sign_of(const Ufunc& ufunc, const Tensor& x);
Tensor squared(const Ufunc& ufunc, const Tensor& x);
Tensor reciprocal(const Ufunc& ufunc, const Tensor& x);
Tensor to_radians(const Ufunc& ufunc, const Tensor& x);
Tensor to_degrees(const Ufunc& ufunc, const Tensor& x);
Tensor power_of_two(const Ufunc& ufunc, const Tensor& x);
Tensor log_of_two(const Ufunc& ufunc, const Tensor& x);
Tensor log_of_ten(const Ufunc& ufunc, const Tensor& x);
Tensor differs_from_itself(const Ufunc& ufunc, const Tensor& x);
Tensor both_finite(const Ufunc& ufunc, const Tensor& x);
Tensor one_infinite(const Ufunc& ufunc, const Tensor& x);
Tensor of_truth(const Ufunc& ufunc, const Tensor& x);
Tensor bits_set(const Ufunc& ufunc, const Tensor& x);
Tensor distance_to_next(const Ufunc& ufunc, const Tensor& x);

Tensor sum_of_two(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor product_of_two(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor comparison(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor extreme(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor number_extreme(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor c_remainder(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor power_of(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor right_shifted(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor of_truths(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor common_multiple(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor scaled_by_power(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor next_number(const Ufunc& ufunc, const Tensor& x, const Tensor& y);
Tensor log_of_sum(const Ufunc& ufunc, const Tensor& x, const Tensor& y);

// The operation of the table's entry.
std::vector<Tensor> single_op(const Ufunc& ufunc, std::span<const Tensor> x);
std::vector<Tensor> divided_with_rest(const Ufunc& ufunc, std::span<const Tensor> x);
std::vector<Tensor> fraction_and_whole(const Ufunc& ufunc, std::span<const Tensor> x);
std::vector<Tensor> mantissa_and_exponent(const Ufunc& ufunc, std::span<const Tensor> x);

// i64 with u64, in either order.
Tensor compare_signs(std::string_view direction, const Tensor& lhs, const Tensor& rhs);

}  // namespace weft
