// CHLO: what JAX and PyTorch write beside StableHLO.
func.func @unary(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0 = chlo.acos %x : tensor<5xf32> -> tensor<5xf32>
  %1 = chlo.acosh %x : tensor<5xf32> -> tensor<5xf32>
  %2 = chlo.asin %x : tensor<5xf32> -> tensor<5xf32>
  %3 = chlo.asinh %x : tensor<5xf32> -> tensor<5xf32>
  %4 = chlo.atan %x : tensor<5xf32> -> tensor<5xf32>
  %5 = chlo.atanh %x : tensor<5xf32> -> tensor<5xf32>
  %6 = chlo.bessel_i1e %x : tensor<5xf32> -> tensor<5xf32>
  %7 = chlo.cosh %x : tensor<5xf32> -> tensor<5xf32>
  %8 = chlo.digamma %x : tensor<5xf32> -> tensor<5xf32>
  %9 = chlo.erf %x : tensor<5xf32> -> tensor<5xf32>
  %10 = chlo.erf_inv %x : tensor<5xf32> -> tensor<5xf32>
  %11 = chlo.erfc %x : tensor<5xf32> -> tensor<5xf32>
  %12 = chlo.lgamma %x : tensor<5xf32> -> tensor<5xf32>
  %13 = chlo.sinh %x : tensor<5xf32> -> tensor<5xf32>
  %14 = chlo.square %x : tensor<5xf32> -> tensor<5xf32>
  %15 = chlo.tan %x : tensor<5xf32> -> tensor<5xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}
func.func @unary_f64(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) {
  %0 = "chlo.acos"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %1 = "chlo.acosh"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %2 = "chlo.asin"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %3 = "chlo.asinh"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %4 = "chlo.atan"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %5 = "chlo.atanh"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %6 = "chlo.bessel_i1e"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %7 = "chlo.cosh"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %8 = "chlo.digamma"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %9 = "chlo.erf"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %10 = "chlo.erf_inv"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %11 = "chlo.erfc"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %12 = "chlo.lgamma"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %13 = "chlo.sinh"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %14 = "chlo.square"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  %15 = "chlo.tan"(%x) : (tensor<4xf64>) -> tensor<4xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>
}
func.func @kernel(%x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %0 = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  %1 = "chlo.is_pos_inf"(%x) : (tensor<4xf32>) -> tensor<4xi1>
  %2 = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}
func.func @conj(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = chlo.conj %x : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
func.func @binary(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = chlo.next_after %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %a = stablehlo.abs %x : tensor<4xf32>
  %b = stablehlo.add %a, %two : tensor<4xf32>
  %1 = "chlo.polygamma"(%two, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = chlo.zeta %b, %b : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @mulhi(%x: tensor<4xui32>, %y: tensor<4xui32>) -> tensor<4xui32> {
  %0 = chlo.mulhi %x, %y : tensor<4xui32>, tensor<4xui32> -> tensor<4xui32>
  return %0 : tensor<4xui32>
}
func.func @constants(%x: tensor<2x3xf32>) -> (tensor<2xi32>, tensor<2x3xf32>) {
  %0 = "chlo.constant"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %1 = "chlo.constant_like"(%x) {value = 2.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2xi32>, tensor<2x3xf32>
}
func.func @top_k(%x: tensor<3x8xf32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  %0:2 = chlo.top_k(%x, k = 2) : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
}
func.func @broadcasting(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = chlo.broadcast_add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = chlo.broadcast_subtract %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = chlo.broadcast_multiply %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = chlo.broadcast_divide %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %4 = chlo.broadcast_maximum %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = chlo.broadcast_minimum %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %6 = chlo.broadcast_power %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %7 = chlo.broadcast_remainder %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %8 = chlo.broadcast_atan2 %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %9 = chlo.broadcast_next_after %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
func.func @broadcasting_integers(%x: tensor<2x1xi32>, %y: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>) {
  %0 = "chlo.broadcast_and"(%x, %y) : (tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = "chlo.broadcast_or"(%x, %y) : (tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %2 = "chlo.broadcast_xor"(%x, %y) : (tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %3 = "chlo.broadcast_shift_left"(%x, %y) : (tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %4 = "chlo.broadcast_shift_right_arithmetic"(%x, %y) : (tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %5 = "chlo.broadcast_shift_right_logical"(%x, %y) : (tensor<2x1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>
}
func.func @broadcasting_others(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %p: tensor<3xi1>) -> (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %1 = chlo.broadcast_select %p, %x, %y : (tensor<3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = chlo.broadcast_complex %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %a = chlo.broadcast_add %x, %two : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %b = chlo.broadcast_maximum %a, %two : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %3 = chlo.broadcast_polygamma %two, %b : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = chlo.broadcast_zeta %b, %two : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>
}
func.func @ragged_dot(%x: tensor<9x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<9x2xf32> {
  %sizes = stablehlo.constant dense<[4, 0, 3]> : tensor<3xi32>
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>, precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]}> : (tensor<9x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) -> tensor<9x2xf32>
  return %0 : tensor<9x2xf32>
}
func.func @asin_acos_kernel(%x: tensor<5xcomplex<f32>>, %y: tensor<5xcomplex<f64>>) -> (tensor<5xcomplex<f32>>, tensor<5xcomplex<f64>>) {
  %0 = "chlo._asin_acos_kernel"(%x) : (tensor<5xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  %1 = "chlo._asin_acos_kernel"(%y) : (tensor<5xcomplex<f64>>) -> tensor<5xcomplex<f64>>
  return %0, %1 : tensor<5xcomplex<f32>>, tensor<5xcomplex<f64>>
}
func.func @scan(%x: tensor<4x3xf32>, %k: tensor<4xi32>, %c: tensor<3xf32>) -> (tensor<3x4xf32>, tensor<4xi32>, tensor<3xf32>) {
  %0:3 = chlo.scan(%x, %k) inits (%c) dimension=0 attributes {is_reverse = true} {
  ^bb0(%a: tensor<3xf32>, %n: tensor<i32>, %carry: tensor<3xf32>):
    %1 = stablehlo.add %a, %carry : tensor<3xf32>
    %2 = stablehlo.add %n, %n : tensor<i32>
    stablehlo.return %1, %2, %1 : tensor<3xf32>, tensor<i32>, tensor<3xf32>
  } : (tensor<4x3xf32>, tensor<4xi32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<4xi32>, tensor<3xf32>)
  %3 = stablehlo.transpose %0#0, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  return %3, %0#1, %0#2 : tensor<3x4xf32>, tensor<4xi32>, tensor<3xf32>
}
func.func @scan_inner(%x: tensor<2x3x2xf32>, %c: tensor<f32>) -> (tensor<2x3x2xf32>, tensor<f32>) {
  %0:2 = "chlo.scan"(%x, %c) ({
  ^bb0(%a: tensor<2x2xf32>, %carry: tensor<f32>):
    %1 = stablehlo.broadcast_in_dim %carry, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %2 = stablehlo.add %a, %1 : tensor<2x2xf32>
    %3 = stablehlo.constant dense<1.0> : tensor<f32>
    %4 = stablehlo.add %carry, %3 : tensor<f32>
    stablehlo.return %2, %4 : tensor<2x2xf32>, tensor<f32>
  }) {dimension = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>} : (tensor<2x3x2xf32>, tensor<f32>) -> (tensor<2x3x2xf32>, tensor<f32>)
  return %0#0, %0#1 : tensor<2x3x2xf32>, tensor<f32>
}
func.func @scan_of_nothing(%c: tensor<2xf64>) -> (tensor<2x5xf64>, tensor<2xf64>) {
  %0:2 = chlo.scan() inits (%c) dimension=1 attributes {scan_dim_size = 5 : i64} {
  ^bb0(%carry: tensor<2xf64>):
    %1 = stablehlo.add %carry, %carry : tensor<2xf64>
    stablehlo.return %carry, %1 : tensor<2xf64>, tensor<2xf64>
  } : (tensor<2xf64>) -> (tensor<2x5xf64>, tensor<2xf64>)
  return %0#0, %0#1 : tensor<2x5xf64>, tensor<2xf64>
}
