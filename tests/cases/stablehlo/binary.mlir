// Operations of two operands.
func.func @floats_f32(%x: tensor<6xf32>, %y: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) {
  %0 = stablehlo.add %x, %y : tensor<6xf32>
  %1 = stablehlo.subtract %x, %y : tensor<6xf32>
  %2 = stablehlo.multiply %x, %y : tensor<6xf32>
  %3 = stablehlo.divide %x, %y : tensor<6xf32>
  %4 = stablehlo.maximum %x, %y : tensor<6xf32>
  %5 = stablehlo.minimum %x, %y : tensor<6xf32>
  %6 = stablehlo.power %x, %y : tensor<6xf32>
  %7 = stablehlo.remainder %x, %y : tensor<6xf32>
  %8 = stablehlo.atan2 %x, %y : tensor<6xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
}

func.func @floats_f64(%x: tensor<6xf64>, %y: tensor<6xf64>) -> (tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  %1 = "stablehlo.subtract"(%x, %y) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  %2 = "stablehlo.multiply"(%x, %y) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  %3 = "stablehlo.divide"(%x, %y) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  %4 = "stablehlo.maximum"(%x, %y) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  %5 = "stablehlo.minimum"(%x, %y) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  %6 = "stablehlo.power"(%x, %y) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  %7 = "stablehlo.remainder"(%x, %y) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  %8 = "stablehlo.atan2"(%x, %y) : (tensor<6xf64>, tensor<6xf64>) -> tensor<6xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>
}

func.func @floats_f16(%x: tensor<6xf16>, %y: tensor<6xf16>) -> (tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>) {
  %0 = stablehlo.add %x, %y : tensor<6xf16>
  %1 = stablehlo.subtract %x, %y : tensor<6xf16>
  %2 = stablehlo.multiply %x, %y : tensor<6xf16>
  %3 = stablehlo.divide %x, %y : tensor<6xf16>
  %4 = stablehlo.maximum %x, %y : tensor<6xf16>
  %5 = stablehlo.minimum %x, %y : tensor<6xf16>
  %6 = stablehlo.power %x, %y : tensor<6xf16>
  %7 = stablehlo.remainder %x, %y : tensor<6xf16>
  %8 = stablehlo.atan2 %x, %y : tensor<6xf16>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>, tensor<6xf16>
}

func.func @floats_bf16(%x: tensor<6xbf16>, %y: tensor<6xbf16>) -> (tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<6xbf16>, tensor<6xbf16>) -> tensor<6xbf16>
  %1 = "stablehlo.subtract"(%x, %y) : (tensor<6xbf16>, tensor<6xbf16>) -> tensor<6xbf16>
  %2 = "stablehlo.multiply"(%x, %y) : (tensor<6xbf16>, tensor<6xbf16>) -> tensor<6xbf16>
  %3 = "stablehlo.divide"(%x, %y) : (tensor<6xbf16>, tensor<6xbf16>) -> tensor<6xbf16>
  %4 = "stablehlo.maximum"(%x, %y) : (tensor<6xbf16>, tensor<6xbf16>) -> tensor<6xbf16>
  %5 = "stablehlo.minimum"(%x, %y) : (tensor<6xbf16>, tensor<6xbf16>) -> tensor<6xbf16>
  %6 = "stablehlo.power"(%x, %y) : (tensor<6xbf16>, tensor<6xbf16>) -> tensor<6xbf16>
  %7 = "stablehlo.remainder"(%x, %y) : (tensor<6xbf16>, tensor<6xbf16>) -> tensor<6xbf16>
  %8 = "stablehlo.atan2"(%x, %y) : (tensor<6xbf16>, tensor<6xbf16>) -> tensor<6xbf16>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>, tensor<6xbf16>
}

func.func @integers_i8(%x: tensor<6xi8>, %y: tensor<6xi8>) -> (tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>) {
  %0 = stablehlo.add %x, %y : tensor<6xi8>
  %1 = stablehlo.subtract %x, %y : tensor<6xi8>
  %2 = stablehlo.multiply %x, %y : tensor<6xi8>
  %3 = stablehlo.divide %x, %y : tensor<6xi8>
  %4 = stablehlo.maximum %x, %y : tensor<6xi8>
  %5 = stablehlo.minimum %x, %y : tensor<6xi8>
  %6 = stablehlo.remainder %x, %y : tensor<6xi8>
  %7 = stablehlo.and %x, %y : tensor<6xi8>
  %8 = stablehlo.or %x, %y : tensor<6xi8>
  %9 = stablehlo.xor %x, %y : tensor<6xi8>
  %10 = stablehlo.shift_left %x, %y : tensor<6xi8>
  %11 = stablehlo.shift_right_arithmetic %x, %y : tensor<6xi8>
  %12 = stablehlo.shift_right_logical %x, %y : tensor<6xi8>
  %13 = stablehlo.power %x, %y : tensor<6xi8>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>, tensor<6xi8>
}

func.func @integers_i16(%x: tensor<6xi16>, %y: tensor<6xi16>) -> (tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %1 = "stablehlo.subtract"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %2 = "stablehlo.multiply"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %3 = "stablehlo.divide"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %4 = "stablehlo.maximum"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %5 = "stablehlo.minimum"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %6 = "stablehlo.remainder"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %7 = "stablehlo.and"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %8 = "stablehlo.or"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %9 = "stablehlo.xor"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %10 = "stablehlo.shift_left"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %11 = "stablehlo.shift_right_arithmetic"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %12 = "stablehlo.shift_right_logical"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  %13 = "stablehlo.power"(%x, %y) : (tensor<6xi16>, tensor<6xi16>) -> tensor<6xi16>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>, tensor<6xi16>
}

func.func @integers_i32(%x: tensor<6xi32>, %y: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>) {
  %0 = stablehlo.add %x, %y : tensor<6xi32>
  %1 = stablehlo.subtract %x, %y : tensor<6xi32>
  %2 = stablehlo.multiply %x, %y : tensor<6xi32>
  %3 = stablehlo.divide %x, %y : tensor<6xi32>
  %4 = stablehlo.maximum %x, %y : tensor<6xi32>
  %5 = stablehlo.minimum %x, %y : tensor<6xi32>
  %6 = stablehlo.remainder %x, %y : tensor<6xi32>
  %7 = stablehlo.and %x, %y : tensor<6xi32>
  %8 = stablehlo.or %x, %y : tensor<6xi32>
  %9 = stablehlo.xor %x, %y : tensor<6xi32>
  %10 = stablehlo.shift_left %x, %y : tensor<6xi32>
  %11 = stablehlo.shift_right_arithmetic %x, %y : tensor<6xi32>
  %12 = stablehlo.shift_right_logical %x, %y : tensor<6xi32>
  %13 = stablehlo.power %x, %y : tensor<6xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>
}

func.func @integers_i64(%x: tensor<6xi64>, %y: tensor<6xi64>) -> (tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %1 = "stablehlo.subtract"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %2 = "stablehlo.multiply"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %3 = "stablehlo.divide"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %4 = "stablehlo.maximum"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %5 = "stablehlo.minimum"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %6 = "stablehlo.remainder"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %7 = "stablehlo.and"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %8 = "stablehlo.or"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %9 = "stablehlo.xor"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %10 = "stablehlo.shift_left"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %11 = "stablehlo.shift_right_arithmetic"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %12 = "stablehlo.shift_right_logical"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %13 = "stablehlo.power"(%x, %y) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>
}

func.func @integers_ui8(%x: tensor<6xui8>, %y: tensor<6xui8>) -> (tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>) {
  %0 = stablehlo.add %x, %y : tensor<6xui8>
  %1 = stablehlo.subtract %x, %y : tensor<6xui8>
  %2 = stablehlo.multiply %x, %y : tensor<6xui8>
  %3 = stablehlo.divide %x, %y : tensor<6xui8>
  %4 = stablehlo.maximum %x, %y : tensor<6xui8>
  %5 = stablehlo.minimum %x, %y : tensor<6xui8>
  %6 = stablehlo.remainder %x, %y : tensor<6xui8>
  %7 = stablehlo.and %x, %y : tensor<6xui8>
  %8 = stablehlo.or %x, %y : tensor<6xui8>
  %9 = stablehlo.xor %x, %y : tensor<6xui8>
  %10 = stablehlo.shift_left %x, %y : tensor<6xui8>
  %11 = stablehlo.shift_right_arithmetic %x, %y : tensor<6xui8>
  %12 = stablehlo.shift_right_logical %x, %y : tensor<6xui8>
  %13 = stablehlo.power %x, %y : tensor<6xui8>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>, tensor<6xui8>
}

func.func @integers_ui16(%x: tensor<6xui16>, %y: tensor<6xui16>) -> (tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %1 = "stablehlo.subtract"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %2 = "stablehlo.multiply"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %3 = "stablehlo.divide"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %4 = "stablehlo.maximum"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %5 = "stablehlo.minimum"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %6 = "stablehlo.remainder"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %7 = "stablehlo.and"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %8 = "stablehlo.or"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %9 = "stablehlo.xor"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %10 = "stablehlo.shift_left"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %11 = "stablehlo.shift_right_arithmetic"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %12 = "stablehlo.shift_right_logical"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  %13 = "stablehlo.power"(%x, %y) : (tensor<6xui16>, tensor<6xui16>) -> tensor<6xui16>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>, tensor<6xui16>
}

func.func @integers_ui32(%x: tensor<6xui32>, %y: tensor<6xui32>) -> (tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>) {
  %0 = stablehlo.add %x, %y : tensor<6xui32>
  %1 = stablehlo.subtract %x, %y : tensor<6xui32>
  %2 = stablehlo.multiply %x, %y : tensor<6xui32>
  %3 = stablehlo.divide %x, %y : tensor<6xui32>
  %4 = stablehlo.maximum %x, %y : tensor<6xui32>
  %5 = stablehlo.minimum %x, %y : tensor<6xui32>
  %6 = stablehlo.remainder %x, %y : tensor<6xui32>
  %7 = stablehlo.and %x, %y : tensor<6xui32>
  %8 = stablehlo.or %x, %y : tensor<6xui32>
  %9 = stablehlo.xor %x, %y : tensor<6xui32>
  %10 = stablehlo.shift_left %x, %y : tensor<6xui32>
  %11 = stablehlo.shift_right_arithmetic %x, %y : tensor<6xui32>
  %12 = stablehlo.shift_right_logical %x, %y : tensor<6xui32>
  %13 = stablehlo.power %x, %y : tensor<6xui32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>, tensor<6xui32>
}

func.func @integers_ui64(%x: tensor<6xui64>, %y: tensor<6xui64>) -> (tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>) {
  %0 = "stablehlo.add"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %1 = "stablehlo.subtract"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %2 = "stablehlo.multiply"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %3 = "stablehlo.divide"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %4 = "stablehlo.maximum"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %5 = "stablehlo.minimum"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %6 = "stablehlo.remainder"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %7 = "stablehlo.and"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %8 = "stablehlo.or"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %9 = "stablehlo.xor"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %10 = "stablehlo.shift_left"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %11 = "stablehlo.shift_right_arithmetic"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %12 = "stablehlo.shift_right_logical"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  %13 = "stablehlo.power"(%x, %y) : (tensor<6xui64>, tensor<6xui64>) -> tensor<6xui64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13 : tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>, tensor<6xui64>
}

func.func @booleans(%x: tensor<6xi1>, %y: tensor<6xi1>) -> (tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>) {
  %0 = stablehlo.and %x, %y : tensor<6xi1>
  %1 = stablehlo.or %x, %y : tensor<6xi1>
  %2 = stablehlo.xor %x, %y : tensor<6xi1>
  %3 = stablehlo.add %x, %y : tensor<6xi1>
  %4 = stablehlo.multiply %x, %y : tensor<6xi1>
  %5 = stablehlo.maximum %x, %y : tensor<6xi1>
  %6 = stablehlo.minimum %x, %y : tensor<6xi1>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>
}

func.func @complex64(%x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) {
  %0 = stablehlo.add %x, %y : tensor<4xcomplex<f32>>
  %1 = stablehlo.subtract %x, %y : tensor<4xcomplex<f32>>
  %2 = stablehlo.multiply %x, %y : tensor<4xcomplex<f32>>
  %3 = stablehlo.divide %x, %y : tensor<4xcomplex<f32>>
  %4 = stablehlo.power %x, %y : tensor<4xcomplex<f32>>
  return %0, %1, %2, %3, %4 : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>
}

func.func @complex(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xcomplex<f64>> {
  %0 = "stablehlo.complex"(%x, %y) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}
