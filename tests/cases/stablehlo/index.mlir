// Indexing, sorting, gathering and scattering.
func.func @dynamic_slice(%x: tensor<4x5xf32>, %i: tensor<i32>, %j: tensor<i32>, %u: tensor<1x2xf32>) -> (tensor<2x3xf32>, tensor<4x5xf32>, tensor<1x5xf32>) {
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 3] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %1 = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<4x5xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
  %2 = "stablehlo.dynamic_slice"(%x, %j, %i) {slice_sizes = array<i64: 1, 5>} : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x5xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<4x5xf32>, tensor<1x5xf32>
}
func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>) -> tensor<3x5xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
func.func @gather_batched(%x: tensor<2x5xf32>, %i: tensor<2x3x1xi32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>} : (tensor<2x5xf32>, tensor<2x3x1xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @scatter(%x: tensor<4x5xf32>, %i: tensor<3x1xi32>, %u: tensor<3x5xf32>) -> tensor<4x5xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<3x1xi32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}
func.func @scatter_two(%x: tensor<6xi32>, %y: tensor<6xf32>, %u: tensor<2xi32>, %v: tensor<2xf32>) -> (tensor<6xi32>, tensor<6xf32>) {
  %i = stablehlo.constant dense<[[4], [1]]> : tensor<2x1xi64>
  %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) ({
  ^bb0(%a: tensor<i32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<i32>
    stablehlo.return %1, %d : tensor<i32>, tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true} : (tensor<6xi32>, tensor<6xf32>, tensor<2x1xi64>, tensor<2xi32>, tensor<2xf32>) -> (tensor<6xi32>, tensor<6xf32>)
  return %0#0, %0#1 : tensor<6xi32>, tensor<6xf32>
}
func.func @sort(%x: tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<3x6xi32>
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<3x6xf32>, tensor<3x6xi32>) -> (tensor<3x6xf32>, tensor<3x6xi32>)
  return %0#0, %0#1 : tensor<3x6xf32>, tensor<3x6xi32>
}
func.func @sort_first(%x: tensor<4x2xi8>) -> tensor<4x2xi8> {
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %1 = "stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i8>, tensor<i8>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }) {dimension = 0 : i64} : (tensor<4x2xi8>) -> tensor<4x2xi8>
  return %0 : tensor<4x2xi8>
}
func.func @torch_index_select(%x: tensor<5x3xf32>, %y: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x2xf32>) {
  %i = stablehlo.constant dense<[4, 1]> : tensor<2xi32>
  %j = stablehlo.constant dense<[[3, 0], [1, 1]]> : tensor<2x2xi32>
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<5x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %1 = "stablehlo.torch_index_select"(%y, %j) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x4xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x2xf32>
}
