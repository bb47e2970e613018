// Bits and numbers by chance. The bits are defined; the numbers of rng are not, so only their bounds are.
func.func @bits(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui32>) {
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui32>)
  return %0#0, %0#1 : tensor<2xui64>, tensor<6xui32>
}
func.func @bits_philox(%s: tensor<3xui64>) -> (tensor<3xui64>, tensor<6xui32>, tensor<5xui64>) {
  %0:2 = "stablehlo.rng_bit_generator"(%s) {rng_algorithm = #stablehlo<rng_algorithm PHILOX>} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<6xui32>)
  %1:2 = "stablehlo.rng_bit_generator"(%0#0) {rng_algorithm = #stablehlo<rng_algorithm PHILOX>} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui64>)
  return %1#0, %0#1, %1#1 : tensor<3xui64>, tensor<6xui32>, tensor<5xui64>
}
func.func @uniform() -> (tensor<i1>, tensor<i1>) {
  %low = stablehlo.constant dense<-2.0> : tensor<f32>
  %high = stablehlo.constant dense<3.0> : tensor<f32>
  %shape = stablehlo.constant dense<[100]> : tensor<1xi64>
  %0 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<100xf32>
  %1 = "stablehlo.rng"(%low, %high, %shape) {rng_distribution = #stablehlo<rng_distribution NORMAL>} : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<100xf32>
  %least = stablehlo.reduce(%0 init: %high) applies stablehlo.minimum across dimensions = [0] : (tensor<100xf32>, tensor<f32>) -> tensor<f32>
  %inside = stablehlo.compare GE, %least, %low : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %finite = stablehlo.is_finite %1 : (tensor<100xf32>) -> tensor<100xi1>
  %all = stablehlo.reduce(%finite init: %true) applies stablehlo.and across dimensions = [0] : (tensor<100xi1>, tensor<i1>) -> tensor<i1>
  return %inside, %all : tensor<i1>, tensor<i1>
}
