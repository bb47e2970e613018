// Operations whose shape is an operand: read as static ones where that operand is a constant.
func.func @dynamic_reshape(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<6xf32>) {
  %shape = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %flat = stablehlo.constant dense<6> : tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  %1 = "stablehlo.dynamic_reshape"(%x, %flat) : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<6xf32>
  return %0, %1 : tensor<3x2xf32>, tensor<6xf32>
}
func.func @dynamic_broadcast_in_dim(%x: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  %c = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %d = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %c, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = "stablehlo.dynamic_broadcast_in_dim"(%x, %d) {broadcast_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<3x2xf32>
}
func.func @dynamic_iota() -> (tensor<4xi32>, tensor<2x3xf32>) {
  %c = stablehlo.constant dense<[4]> : tensor<1xi64>
  %d = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.dynamic_iota %c, dim = 0 : (tensor<1xi64>) -> tensor<4xi32>
  %1 = "stablehlo.dynamic_iota"(%d) {iota_dimension = 1 : i64} : (tensor<2xi64>) -> tensor<2x3xf32>
  return %0, %1 : tensor<4xi32>, tensor<2x3xf32>
}
func.func @dynamic_pad(%x: tensor<2xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %low = stablehlo.constant dense<[1]> : tensor<1xi64>
  %high = stablehlo.constant dense<[2]> : tensor<1xi64>
  %interior = stablehlo.constant dense<[1]> : tensor<1xi64>
  %0 = stablehlo.dynamic_pad %x, %v, %low, %high, %interior : (tensor<2xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
func.func @real_dynamic_slice(%x: tensor<6xf32>) -> tensor<2xf32> {
  %start = stablehlo.constant dense<[1]> : tensor<1xi64>
  %limit = stablehlo.constant dense<[5]> : tensor<1xi64>
  %stride = stablehlo.constant dense<[2]> : tensor<1xi64>
  %0 = stablehlo.real_dynamic_slice %x, %start, %limit, %stride : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @dynamic_gather(%x: tensor<4x3xf32>, %i: tensor<2xi32>) -> tensor<2x3xf32> {
  %sizes = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false} : (tensor<4x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @dynamic_conv(%x: tensor<1x1x6xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x6xf32> {
  %p = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi64>
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) {dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x1x6xf32>, tensor<1x1x3xf32>, tensor<1x2xi64>) -> tensor<1x1x6xf32>
  return %0 : tensor<1x1x6xf32>
}
