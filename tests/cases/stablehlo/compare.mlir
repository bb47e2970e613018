// Comparisons, choices and conversions.
func.func @compare_f32(%x: tensor<5xf32>, %y: tensor<5xf32>) -> (tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>) {
  %0 = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %1 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %2 = stablehlo.compare LT, %x, %y, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %3 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %4 = stablehlo.compare GT, %x, %y, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %5 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>
}

func.func @compare_i32(%x: tensor<5xi32>, %y: tensor<5xi32>) -> (tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>) {
  %0 = stablehlo.compare EQ, %x, %y, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %1 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %2 = stablehlo.compare LT, %x, %y, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %3 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %4 = stablehlo.compare GT, %x, %y, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  %5 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>
}

func.func @compare_ui16(%x: tensor<5xui16>, %y: tensor<5xui16>) -> (tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>) {
  %0 = stablehlo.compare EQ, %x, %y, UNSIGNED : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xi1>
  %1 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xi1>
  %2 = stablehlo.compare LT, %x, %y, UNSIGNED : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xi1>
  %3 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xi1>
  %4 = stablehlo.compare GT, %x, %y, UNSIGNED : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xi1>
  %5 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>
}

func.func @compare_i1(%x: tensor<5xi1>, %y: tensor<5xi1>) -> (tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>) {
  %0 = stablehlo.compare EQ, %x, %y, UNSIGNED : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
  %1 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
  %2 = stablehlo.compare LT, %x, %y, UNSIGNED : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
  %3 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
  %4 = stablehlo.compare GT, %x, %y, UNSIGNED : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
  %5 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type UNSIGNED>}> : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>
}

func.func @compare_f64(%x: tensor<5xf64>, %y: tensor<5xf64>) -> (tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>) {
  %0 = stablehlo.compare EQ, %x, %y, TOTALORDER : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %1 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction NE>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %2 = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %3 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LE>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %4 = stablehlo.compare GT, %x, %y, TOTALORDER : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  %5 = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction GE>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<5xf64>, tensor<5xf64>) -> tensor<5xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>, tensor<5xi1>
}

func.func @compare_complex(%x: tensor<3xcomplex<f32>>, %y: tensor<3xcomplex<f32>>) -> (tensor<3xi1>, tensor<3xi1>) {
  %0 = stablehlo.compare EQ, %x, %x : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xi1>
  %1 = stablehlo.compare NE, %x, %y, FLOAT : (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<3xi1>
  return %0, %1 : tensor<3xi1>, tensor<3xi1>
}
func.func @select(%p: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %q: tensor<i1>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  %1 = stablehlo.select %q, %x, %y : tensor<i1>, tensor<2x3xf32>
  %2 = "stablehlo.select"(%p, %y, %x) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
func.func @clamp(%x: tensor<6xf32>, %low: tensor<f32>, %high: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %l = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<6xf32>
  %0 = stablehlo.clamp %l, %x, %high : tensor<6xf32>
  %1 = stablehlo.clamp %low, %x, %low : (tensor<f32>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
  return %0, %1 : tensor<6xf32>, tensor<6xf32>
}

func.func @convert_f32(%x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi4>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>, tensor<4xui4>, tensor<4xui8>, tensor<4xui16>, tensor<4xui32>, tensor<4xui64>, tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf8E4M3B11FNUZ>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E5M2FNUZ>, tensor<4xbf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf64>) {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi4>
  %2 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi8>
  %3 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi16>
  %4 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  %5 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi64>
  %6 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xui4>
  %7 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xui8>
  %8 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xui16>
  %9 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xui32>
  %10 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xui64>
  %11 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %12 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %13 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3B11FNUZ>
  %14 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FNUZ>
  %15 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2FNUZ>
  %16 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
  %17 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf16>
  %18 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf32>
  %19 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19 : tensor<4xi1>, tensor<4xi4>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>, tensor<4xui4>, tensor<4xui8>, tensor<4xui16>, tensor<4xui32>, tensor<4xui64>, tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf8E4M3B11FNUZ>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E5M2FNUZ>, tensor<4xbf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf64>
}

func.func @convert_i32(%x: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi4>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>, tensor<4xui4>, tensor<4xui8>, tensor<4xui16>, tensor<4xui32>, tensor<4xui64>, tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf8E4M3B11FNUZ>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E5M2FNUZ>, tensor<4xbf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf64>) {
  %0 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xi1>
  %1 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xi4>
  %2 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xi8>
  %3 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xi16>
  %4 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xi32>
  %5 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xi64>
  %6 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xui4>
  %7 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xui8>
  %8 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xui16>
  %9 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xui32>
  %10 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xui64>
  %11 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf8E4M3FN>
  %12 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf8E5M2>
  %13 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf8E4M3B11FNUZ>
  %14 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf8E4M3FNUZ>
  %15 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf8E5M2FNUZ>
  %16 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xbf16>
  %17 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf16>
  %18 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf32>
  %19 = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19 : tensor<4xi1>, tensor<4xi4>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>, tensor<4xui4>, tensor<4xui8>, tensor<4xui16>, tensor<4xui32>, tensor<4xui64>, tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf8E4M3B11FNUZ>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E5M2FNUZ>, tensor<4xbf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf64>
}

func.func @convert_i1(%x: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi4>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>, tensor<4xui4>, tensor<4xui8>, tensor<4xui16>, tensor<4xui32>, tensor<4xui64>, tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf8E4M3B11FNUZ>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E5M2FNUZ>, tensor<4xbf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf64>) {
  %0 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xi1>
  %1 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xi4>
  %2 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xi8>
  %3 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xi16>
  %4 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xi32>
  %5 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xi64>
  %6 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xui4>
  %7 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xui8>
  %8 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xui16>
  %9 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xui32>
  %10 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xui64>
  %11 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xf8E4M3FN>
  %12 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xf8E5M2>
  %13 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xf8E4M3B11FNUZ>
  %14 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xf8E4M3FNUZ>
  %15 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xf8E5M2FNUZ>
  %16 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xbf16>
  %17 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xf16>
  %18 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xf32>
  %19 = stablehlo.convert %x : (tensor<4xi1>) -> tensor<4xf64>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19 : tensor<4xi1>, tensor<4xi4>, tensor<4xi8>, tensor<4xi16>, tensor<4xi32>, tensor<4xi64>, tensor<4xui4>, tensor<4xui8>, tensor<4xui16>, tensor<4xui32>, tensor<4xui64>, tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf8E4M3B11FNUZ>, tensor<4xf8E4M3FNUZ>, tensor<4xf8E5M2FNUZ>, tensor<4xbf16>, tensor<4xf16>, tensor<4xf32>, tensor<4xf64>
}

func.func @convert_complex(%x: tensor<4xf32>, %z: tensor<4xcomplex<f64>>) -> (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  %1 = "stablehlo.convert"(%z) : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f32>>
  return %0, %1 : tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>
}
func.func @bitcast_convert(%x: tensor<4xf32>, %y: tensor<4x4xi8>) -> (tensor<4xi32>, tensor<4x2xui16>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xi32>
  %1 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x2xui16>
  %2 = "stablehlo.bitcast_convert"(%y) : (tensor<4x4xi8>) -> tensor<4xf32>
  %3 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xi32>, tensor<4x2xui16>, tensor<4xf32>, tensor<4xf32>
}
