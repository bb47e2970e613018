// Products, factorisations and transforms.
func.func @dot_general(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>, %m: tensor<3x4xi8>, %n: tensor<4x2xi8>) -> (tensor<2x3x5xf32>, tensor<3x2xi32>, tensor<2x3x2x5xf32>) {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %1 = "stablehlo.dot_general"(%m, %n) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x4xi8>, tensor<4x2xi8>) -> tensor<3x2xi32>
  %2 = stablehlo.dot_general %x, %y, contracting_dims = [2] x [1], algorithm = <lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x2x5xf32>
  return %0, %1, %2 : tensor<2x3x5xf32>, tensor<3x2xi32>, tensor<2x3x2x5xf32>
}
func.func @dot(%x: tensor<3x4xf32>, %y: tensor<4x2xf32>, %v: tensor<4xf32>) -> (tensor<3x2xf32>, tensor<3xf32>, tensor<f32>) {
  %0 = stablehlo.dot %x, %y, precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %1 = "stablehlo.dot"(%x, %v) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3xf32>
  %2 = stablehlo.dot %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %0, %1, %2 : tensor<3x2xf32>, tensor<3xf32>, tensor<f32>
}
func.func @einsum(%x: tensor<3x4xf32>, %y: tensor<4x5xf32>) -> (tensor<3x5xf32>, tensor<5x3xf32>) {
  %0 = stablehlo.einsum %x, %y, config = "ij,jk->ik" : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %1 = "stablehlo.einsum"(%x, %y) {einsum_config = "ij,jk->ki"} : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<5x3xf32>
  return %0, %1 : tensor<3x5xf32>, tensor<5x3xf32>
}
func.func @unary_einsum(%x: tensor<3x4xf32>) -> (tensor<3xf32>, tensor<4x3xf32>) {
  %0 = stablehlo.unary_einsum %x, config = "ij->i" : (tensor<3x4xf32>) -> tensor<3xf32>
  %1 = "stablehlo.unary_einsum"(%x) {einsum_config = "ab->ba"} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %0, %1 : tensor<3xf32>, tensor<4x3xf32>
}
func.func @cholesky() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %x = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf32>
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf32>
  %1 = "stablehlo.cholesky"(%x) {lower = false} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %mask = stablehlo.constant dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>
  %2 = stablehlo.multiply %0, %mask : tensor<2x2xf32>
  %other = stablehlo.transpose %mask, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.multiply %1, %other : tensor<2x2xf32>
  return %2, %3 : tensor<2x2xf32>, tensor<2x2xf32>
}
func.func @triangular_solve(%b: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf64>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  %1 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true} : (tensor<2x2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  return %0, %1 : tensor<2x3xf64>, tensor<2x3xf64>
}
func.func @fft(%x: tensor<2x8xf32>, %z: tensor<2x8xcomplex<f32>>) -> (tensor<2x5xcomplex<f32>>, tensor<2x8xcomplex<f32>>, tensor<2x8xcomplex<f32>>, tensor<2x8xf32>) {
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<2x8xf32>) -> tensor<2x5xcomplex<f32>>
  %1 = stablehlo.fft %z, type = FFT, length = [8] : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
  %2 = "stablehlo.fft"(%z) {fft_type = #stablehlo<fft_type IFFT>, fft_length = array<i64: 8>} : (tensor<2x8xcomplex<f32>>) -> tensor<2x8xcomplex<f32>>
  %3 = "stablehlo.fft"(%0) {fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 8>} : (tensor<2x5xcomplex<f32>>) -> tensor<2x8xf32>
  return %0, %1, %2, %3 : tensor<2x5xcomplex<f32>>, tensor<2x8xcomplex<f32>>, tensor<2x8xcomplex<f32>>, tensor<2x8xf32>
}
