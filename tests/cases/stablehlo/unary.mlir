// Operations of one operand.
// Floats: pretty.
func.func @floats(%x: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = stablehlo.cbrt %x : tensor<3x4xf32>
  %1 = stablehlo.ceil %x : tensor<3x4xf32>
  %2 = stablehlo.cosine %x : tensor<3x4xf32>
  %3 = stablehlo.exponential %x : tensor<3x4xf32>
  %4 = stablehlo.exponential_minus_one %x : tensor<3x4xf32>
  %5 = stablehlo.floor %x : tensor<3x4xf32>
  %6 = stablehlo.log %x : tensor<3x4xf32>
  %7 = stablehlo.log_plus_one %x : tensor<3x4xf32>
  %8 = stablehlo.logistic %x : tensor<3x4xf32>
  %9 = stablehlo.round_nearest_afz %x : tensor<3x4xf32>
  %10 = stablehlo.round_nearest_even %x : tensor<3x4xf32>
  %11 = stablehlo.rsqrt %x : tensor<3x4xf32>
  %12 = stablehlo.sine %x : tensor<3x4xf32>
  %13 = stablehlo.sqrt %x : tensor<3x4xf32>
  %14 = stablehlo.tan %x : tensor<3x4xf32>
  %15 = stablehlo.tanh %x : tensor<3x4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

func.func @floats_f64(%x: tensor<5xf64>) -> (tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>) {
  %0 = "stablehlo.exponential"(%x) : (tensor<5xf64>) -> tensor<5xf64>
  %1 = "stablehlo.log"(%x) : (tensor<5xf64>) -> tensor<5xf64>
  %2 = "stablehlo.tanh"(%x) : (tensor<5xf64>) -> tensor<5xf64>
  %3 = "stablehlo.sqrt"(%x) : (tensor<5xf64>) -> tensor<5xf64>
  %4 = "stablehlo.negate"(%x) : (tensor<5xf64>) -> tensor<5xf64>
  %5 = "stablehlo.abs"(%x) : (tensor<5xf64>) -> tensor<5xf64>
  %6 = "stablehlo.sign"(%x) : (tensor<5xf64>) -> tensor<5xf64>
  %7 = "stablehlo.floor"(%x) : (tensor<5xf64>) -> tensor<5xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>
}

func.func @floats_f16(%x: tensor<5xf16>) -> (tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>) {
  %0 = "stablehlo.exponential"(%x) : (tensor<5xf16>) -> tensor<5xf16>
  %1 = "stablehlo.log"(%x) : (tensor<5xf16>) -> tensor<5xf16>
  %2 = "stablehlo.tanh"(%x) : (tensor<5xf16>) -> tensor<5xf16>
  %3 = "stablehlo.sqrt"(%x) : (tensor<5xf16>) -> tensor<5xf16>
  %4 = "stablehlo.negate"(%x) : (tensor<5xf16>) -> tensor<5xf16>
  %5 = "stablehlo.abs"(%x) : (tensor<5xf16>) -> tensor<5xf16>
  %6 = "stablehlo.sign"(%x) : (tensor<5xf16>) -> tensor<5xf16>
  %7 = "stablehlo.floor"(%x) : (tensor<5xf16>) -> tensor<5xf16>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>, tensor<5xf16>
}

func.func @floats_bf16(%x: tensor<5xbf16>) -> (tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>) {
  %0 = "stablehlo.exponential"(%x) : (tensor<5xbf16>) -> tensor<5xbf16>
  %1 = "stablehlo.log"(%x) : (tensor<5xbf16>) -> tensor<5xbf16>
  %2 = "stablehlo.tanh"(%x) : (tensor<5xbf16>) -> tensor<5xbf16>
  %3 = "stablehlo.sqrt"(%x) : (tensor<5xbf16>) -> tensor<5xbf16>
  %4 = "stablehlo.negate"(%x) : (tensor<5xbf16>) -> tensor<5xbf16>
  %5 = "stablehlo.abs"(%x) : (tensor<5xbf16>) -> tensor<5xbf16>
  %6 = "stablehlo.sign"(%x) : (tensor<5xbf16>) -> tensor<5xbf16>
  %7 = "stablehlo.floor"(%x) : (tensor<5xbf16>) -> tensor<5xbf16>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>
}

// The accuracy that a result should have may be asked for; ours is stated in the documentation.
func.func @accuracy(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.exponential"(%x) {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @integers_i8(%x: tensor<6xi8>) -> (tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>) {
  %0 = stablehlo.abs %x : tensor<6xi8>
  %1 = stablehlo.negate %x : tensor<6xi8>
  %2 = stablehlo.sign %x : tensor<6xi8>
  %3 = stablehlo.not %x : tensor<6xi8>
  %4 = stablehlo.popcnt %x : tensor<6xi8>
  %5 = stablehlo.count_leading_zeros %x : tensor<6xi8>
  return %0, %1, %2, %3, %4, %5 : tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>
}

func.func @integers_i16(%x: tensor<6xi16>) -> (tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>) {
  %0 = stablehlo.abs %x : tensor<6xi16>
  %1 = stablehlo.negate %x : tensor<6xi16>
  %2 = stablehlo.sign %x : tensor<6xi16>
  %3 = stablehlo.not %x : tensor<6xi16>
  %4 = stablehlo.popcnt %x : tensor<6xi16>
  %5 = stablehlo.count_leading_zeros %x : tensor<6xi16>
  return %0, %1, %2, %3, %4, %5 : tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>
}

func.func @integers_i32(%x: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) {
  %0 = stablehlo.abs %x : tensor<6xi32>
  %1 = stablehlo.negate %x : tensor<6xi32>
  %2 = stablehlo.sign %x : tensor<6xi32>
  %3 = stablehlo.not %x : tensor<6xi32>
  %4 = stablehlo.popcnt %x : tensor<6xi32>
  %5 = stablehlo.count_leading_zeros %x : tensor<6xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
}

func.func @integers_i64(%x: tensor<6xi64>) -> (tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>) {
  %0 = stablehlo.abs %x : tensor<6xi64>
  %1 = stablehlo.negate %x : tensor<6xi64>
  %2 = stablehlo.sign %x : tensor<6xi64>
  %3 = stablehlo.not %x : tensor<6xi64>
  %4 = stablehlo.popcnt %x : tensor<6xi64>
  %5 = stablehlo.count_leading_zeros %x : tensor<6xi64>
  return %0, %1, %2, %3, %4, %5 : tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>
}

func.func @integers_ui8(%x: tensor<6xui8>) -> (tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>) {
  %0 = stablehlo.not %x : tensor<6xui8>
  %1 = stablehlo.popcnt %x : tensor<6xui8>
  %2 = stablehlo.count_leading_zeros %x : tensor<6xui8>
  %3 = stablehlo.negate %x : tensor<6xui8>
  return %0, %1, %2, %3 : tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>
}

func.func @integers_ui16(%x: tensor<6xui16>) -> (tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>) {
  %0 = stablehlo.not %x : tensor<6xui16>
  %1 = stablehlo.popcnt %x : tensor<6xui16>
  %2 = stablehlo.count_leading_zeros %x : tensor<6xui16>
  %3 = stablehlo.negate %x : tensor<6xui16>
  return %0, %1, %2, %3 : tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>
}

func.func @integers_ui32(%x: tensor<6xui32>) -> (tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>) {
  %0 = stablehlo.not %x : tensor<6xui32>
  %1 = stablehlo.popcnt %x : tensor<6xui32>
  %2 = stablehlo.count_leading_zeros %x : tensor<6xui32>
  %3 = stablehlo.negate %x : tensor<6xui32>
  return %0, %1, %2, %3 : tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>
}

func.func @integers_ui64(%x: tensor<6xui64>) -> (tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>) {
  %0 = stablehlo.not %x : tensor<6xui64>
  %1 = stablehlo.popcnt %x : tensor<6xui64>
  %2 = stablehlo.count_leading_zeros %x : tensor<6xui64>
  %3 = stablehlo.negate %x : tensor<6xui64>
  return %0, %1, %2, %3 : tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>
}

func.func @booleans(%x: tensor<4xi1>) -> tensor<4xi1> {
  %0 = "stablehlo.not"(%x) : (tensor<4xi1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
func.func @is_finite(%x: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
func.func @complex_parts(%x: tensor<3xcomplex<f32>>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xcomplex<f32>>) {
  %0 = stablehlo.real %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %1 = stablehlo.imag %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %2 = stablehlo.abs %x : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %3 = stablehlo.complex %1, %0 : tensor<3xcomplex<f32>>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xcomplex<f32>>
}
func.func @complex_functions(%x: tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) {
  %0 = stablehlo.exponential %x : tensor<3xcomplex<f64>>
  %1 = stablehlo.log %x : tensor<3xcomplex<f64>>
  %2 = stablehlo.tanh %x : tensor<3xcomplex<f64>>
  %3 = "stablehlo.sqrt"(%x) : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
  return %0, %1, %2, %3 : tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>
}
func.func @reduce_precision(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %0 = stablehlo.reduce_precision %x, format = e5m10 : tensor<6xf32>
  %1 = "stablehlo.reduce_precision"(%x) {exponent_bits = 8 : i32, mantissa_bits = 7 : i32} : (tensor<6xf32>) -> tensor<6xf32>
  return %0, %1 : tensor<6xf32>, tensor<6xf32>
}
