// Tuples and tokens: names for several values and for none.
func.func @pairs(%x: tensor<2xf32>, %y: tensor<3xi32>) -> (tensor<3xi32>, tensor<2xf32>) {
  %0 = stablehlo.tuple %x, %y : tuple<tensor<2xf32>, tensor<3xi32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<3xi32>
  %2 = "stablehlo.tuple"(%0, %1) : (tuple<tensor<2xf32>, tensor<3xi32>>, tensor<3xi32>) -> tuple<tuple<tensor<2xf32>, tensor<3xi32>>, tensor<3xi32>>
  %3 = "stablehlo.get_tuple_element"(%2) <{index = 0 : i32}> : (tuple<tuple<tensor<2xf32>, tensor<3xi32>>, tensor<3xi32>>) -> tuple<tensor<2xf32>, tensor<3xi32>>
  %4 = "stablehlo.get_tuple_element"(%3) {index = 0 : i32} : (tuple<tensor<2xf32>, tensor<3xi32>>) -> tensor<2xf32>
  return %1, %4 : tensor<3xi32>, tensor<2xf32>
}
func.func @tokens(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.create_token : !stablehlo.token
  %1 = "stablehlo.create_token"() : () -> !stablehlo.token
  %2 = stablehlo.after_all %0, %1 : !stablehlo.token
  %3 = "stablehlo.after_all"(%2) : (!stablehlo.token) -> !stablehlo.token
  %4 = stablehlo.tanh %x : tensor<2xf32>
  return %4 : tensor<2xf32>
}
