// Views and arrangements of elements.
func.func @broadcast_in_dim(%x: tensor<3xf32>, %y: tensor<1x3xi32>, %z: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2xf32>, tensor<4x5x3xf32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "stablehlo.broadcast_in_dim"(%y) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x3xi32>) -> tensor<2x3xi32>
  %2 = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %3 = stablehlo.broadcast %x, sizes = [4, 5] : (tensor<3xf32>) -> tensor<4x5x3xf32>
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<2x3xi32>, tensor<2xf32>, tensor<4x5x3xf32>
}
func.func @reshape(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<3x1x2xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = "stablehlo.reshape"(%x) : (tensor<2x3xf32>) -> tensor<3x1x2xf32>
  return %0, %1 : tensor<6xf32>, tensor<3x1x2xf32>
}
func.func @transpose(%x: tensor<2x3x4xi16>) -> (tensor<4x2x3xi16>, tensor<2x4x3xi16>) {
  %0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xi16>) -> tensor<4x2x3xi16>
  %1 = "stablehlo.transpose"(%x) {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xi16>) -> tensor<2x4x3xi16>
  return %0, %1 : tensor<4x2x3xi16>, tensor<2x4x3xi16>
}
func.func @slice(%x: tensor<5x6xf32>) -> (tensor<2x3xf32>, tensor<2x6xf32>, tensor<0x6xf32>) {
  %0 = stablehlo.slice %x [1:3, 0:6:2] : (tensor<5x6xf32>) -> tensor<2x3xf32>
  %1 = "stablehlo.slice"(%x) {start_indices = array<i64: 3, 0>, limit_indices = array<i64: 5, 6>, strides = array<i64: 1, 1>} : (tensor<5x6xf32>) -> tensor<2x6xf32>
  %2 = stablehlo.slice %x [2:2, 0:6] : (tensor<5x6xf32>) -> tensor<0x6xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x6xf32>, tensor<0x6xf32>
}
func.func @pad(%x: tensor<2x3xf32>, %v: tensor<f32>) -> (tensor<5x8xf32>, tensor<1x5xf32>) {
  %0 = stablehlo.pad %x, %v, low = [1, 0], high = [2, 1], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<5x8xf32>
  %1 = "stablehlo.pad"(%x, %v) {edge_padding_low = array<i64: -1, 0>, edge_padding_high = array<i64: 0, 2>, interior_padding = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<1x5xf32>
  return %0, %1 : tensor<5x8xf32>, tensor<1x5xf32>
}
func.func @concatenate(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> (tensor<2x7xf32>, tensor<4x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.concatenate %x, %y, %x, dim = 1 : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
  %1 = "stablehlo.concatenate"(%x, %x) {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %2 = stablehlo.concatenate %x, dim = 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<2x7xf32>, tensor<4x3xf32>, tensor<2x3xf32>
}
func.func @reverse(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  %0 = stablehlo.reverse %x, dims = [0, 1] : tensor<2x3xi32>
  %1 = "stablehlo.reverse"(%x) {dimensions = array<i64: 1>} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %0, %1 : tensor<2x3xi32>, tensor<2x3xi32>
}
func.func @get_dimension_size(%x: tensor<2x3xi32>) -> (tensor<i32>, tensor<i32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xi32>) -> tensor<i32>
  %1 = "stablehlo.get_dimension_size"(%x) {dimension = 0 : i64} : (tensor<2x3xi32>) -> tensor<i32>
  return %0, %1 : tensor<i32>, tensor<i32>
}
