// Constants of every element type in every way of writing them, and iota.
// Every way of writing one.
func.func @ways() -> (tensor<2x3xf32>, tensor<2x2xf32>, tensor<3xf32>, tensor<4xf32>, tensor<2xi32>, tensor<0xf32>, tensor<3x0xi64>, tensor<f64>) {
  %0 = stablehlo.constant dense<[[1.0, -2.5, 3.0e+00], [0.0, -0.0, 1.5E-3]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<7.0> : tensor<2x2xf32>
  %2 = "stablehlo.constant"() <{value = dense<[0x7FC00000, 0xFF800000, 0x7F800000]> : tensor<3xf32>}> : () -> tensor<3xf32>
  %3 = "stablehlo.constant"() {value = dense<"0x0000803F000000400000404000008040"> : tensor<4xf32>} : () -> tensor<4xf32>
  %4 = stablehlo.constant dense<"0x0100000002000000"> : tensor<2xi32>
  %5 = stablehlo.constant dense<> : tensor<0xf32>
  %6 = stablehlo.constant dense<> : tensor<3x0xi64>
  %7 = stablehlo.constant {note = "kept by nobody"} dense<0x7FF0000000000000> : tensor<f64>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x3xf32>, tensor<2x2xf32>, tensor<3xf32>, tensor<4xf32>, tensor<2xi32>, tensor<0xf32>, tensor<3x0xi64>, tensor<f64>
}

func.func @of_i1() -> (tensor<2xi1>, tensor<3xi1>) {
  %0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %1 = stablehlo.constant dense<true> : tensor<3xi1>
  return %0, %1 : tensor<2xi1>, tensor<3xi1>
}

func.func @of_cf32() -> (tensor<2xcomplex<f32>>, tensor<3xcomplex<f32>>) {
  %0 = stablehlo.constant dense<[(1.0, -2.0), (0x7F800000, 0.5)]> : tensor<2xcomplex<f32>>
  %1 = stablehlo.constant dense<(1.0, -2.0)> : tensor<3xcomplex<f32>>
  return %0, %1 : tensor<2xcomplex<f32>>, tensor<3xcomplex<f32>>
}

func.func @of_cf64() -> (tensor<2xcomplex<f64>>, tensor<3xcomplex<f64>>) {
  %0 = stablehlo.constant dense<[(1.0, -2.0), (0.0, 3.25)]> : tensor<2xcomplex<f64>>
  %1 = stablehlo.constant dense<(1.0, -2.0)> : tensor<3xcomplex<f64>>
  return %0, %1 : tensor<2xcomplex<f64>>, tensor<3xcomplex<f64>>
}

func.func @of_i2() -> (tensor<2xi2>, tensor<3xi2>) {
  %0 = stablehlo.constant dense<[-1, 1]> : tensor<2xi2>
  %1 = stablehlo.constant dense<-1> : tensor<3xi2>
  return %0, %1 : tensor<2xi2>, tensor<3xi2>
}

func.func @of_i4() -> (tensor<2xi4>, tensor<3xi4>) {
  %0 = stablehlo.constant dense<[-1, 1]> : tensor<2xi4>
  %1 = stablehlo.constant dense<-1> : tensor<3xi4>
  return %0, %1 : tensor<2xi4>, tensor<3xi4>
}

func.func @of_i8() -> (tensor<2xi8>, tensor<3xi8>) {
  %0 = stablehlo.constant dense<[-1, 1]> : tensor<2xi8>
  %1 = stablehlo.constant dense<-1> : tensor<3xi8>
  return %0, %1 : tensor<2xi8>, tensor<3xi8>
}

func.func @of_i16() -> (tensor<2xi16>, tensor<3xi16>) {
  %0 = stablehlo.constant dense<[-1, 1]> : tensor<2xi16>
  %1 = stablehlo.constant dense<-1> : tensor<3xi16>
  return %0, %1 : tensor<2xi16>, tensor<3xi16>
}

func.func @of_i32() -> (tensor<2xi32>, tensor<3xi32>) {
  %0 = stablehlo.constant dense<[-1, 1]> : tensor<2xi32>
  %1 = stablehlo.constant dense<-1> : tensor<3xi32>
  return %0, %1 : tensor<2xi32>, tensor<3xi32>
}

func.func @of_i64() -> (tensor<2xi64>, tensor<3xi64>) {
  %0 = stablehlo.constant dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>
  %1 = stablehlo.constant dense<-9223372036854775808> : tensor<3xi64>
  return %0, %1 : tensor<2xi64>, tensor<3xi64>
}

func.func @of_ui2() -> (tensor<2xui2>, tensor<3xui2>) {
  %0 = stablehlo.constant dense<[1, 3]> : tensor<2xui2>
  %1 = stablehlo.constant dense<1> : tensor<3xui2>
  return %0, %1 : tensor<2xui2>, tensor<3xui2>
}

func.func @of_ui4() -> (tensor<2xui4>, tensor<3xui4>) {
  %0 = stablehlo.constant dense<[1, 3]> : tensor<2xui4>
  %1 = stablehlo.constant dense<1> : tensor<3xui4>
  return %0, %1 : tensor<2xui4>, tensor<3xui4>
}

func.func @of_ui8() -> (tensor<2xui8>, tensor<3xui8>) {
  %0 = stablehlo.constant dense<[1, 3]> : tensor<2xui8>
  %1 = stablehlo.constant dense<1> : tensor<3xui8>
  return %0, %1 : tensor<2xui8>, tensor<3xui8>
}

func.func @of_ui16() -> (tensor<2xui16>, tensor<3xui16>) {
  %0 = stablehlo.constant dense<[1, 3]> : tensor<2xui16>
  %1 = stablehlo.constant dense<1> : tensor<3xui16>
  return %0, %1 : tensor<2xui16>, tensor<3xui16>
}

func.func @of_ui32() -> (tensor<2xui32>, tensor<3xui32>) {
  %0 = stablehlo.constant dense<[1, 3]> : tensor<2xui32>
  %1 = stablehlo.constant dense<1> : tensor<3xui32>
  return %0, %1 : tensor<2xui32>, tensor<3xui32>
}

func.func @of_ui64() -> (tensor<2xui64>, tensor<3xui64>) {
  %0 = stablehlo.constant dense<[18446744073709551615, 3]> : tensor<2xui64>
  %1 = stablehlo.constant dense<18446744073709551615> : tensor<3xui64>
  return %0, %1 : tensor<2xui64>, tensor<3xui64>
}

func.func @of_f8E3M4() -> (tensor<2xf8E3M4>, tensor<3xf8E3M4>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf8E3M4>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf8E3M4>
  return %0, %1 : tensor<2xf8E3M4>, tensor<3xf8E3M4>
}

func.func @of_f8E4M3() -> (tensor<2xf8E4M3>, tensor<3xf8E4M3>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf8E4M3>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf8E4M3>
  return %0, %1 : tensor<2xf8E4M3>, tensor<3xf8E4M3>
}

func.func @of_f8E4M3FN() -> (tensor<2xf8E4M3FN>, tensor<3xf8E4M3FN>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf8E4M3FN>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf8E4M3FN>
  return %0, %1 : tensor<2xf8E4M3FN>, tensor<3xf8E4M3FN>
}

func.func @of_f8E5M2() -> (tensor<2xf8E5M2>, tensor<3xf8E5M2>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf8E5M2>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf8E5M2>
  return %0, %1 : tensor<2xf8E5M2>, tensor<3xf8E5M2>
}

func.func @of_f8E4M3B11FNUZ() -> (tensor<2xf8E4M3B11FNUZ>, tensor<3xf8E4M3B11FNUZ>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf8E4M3B11FNUZ>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf8E4M3B11FNUZ>
  return %0, %1 : tensor<2xf8E4M3B11FNUZ>, tensor<3xf8E4M3B11FNUZ>
}

func.func @of_f8E4M3FNUZ() -> (tensor<2xf8E4M3FNUZ>, tensor<3xf8E4M3FNUZ>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf8E4M3FNUZ>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf8E4M3FNUZ>
  return %0, %1 : tensor<2xf8E4M3FNUZ>, tensor<3xf8E4M3FNUZ>
}

func.func @of_f8E5M2FNUZ() -> (tensor<2xf8E5M2FNUZ>, tensor<3xf8E5M2FNUZ>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf8E5M2FNUZ>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf8E5M2FNUZ>
  return %0, %1 : tensor<2xf8E5M2FNUZ>, tensor<3xf8E5M2FNUZ>
}

func.func @of_bf16() -> (tensor<2xbf16>, tensor<3xbf16>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xbf16>
  %1 = stablehlo.constant dense<1.5> : tensor<3xbf16>
  return %0, %1 : tensor<2xbf16>, tensor<3xbf16>
}

func.func @of_f16() -> (tensor<2xf16>, tensor<3xf16>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf16>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf16>
  return %0, %1 : tensor<2xf16>, tensor<3xf16>
}

func.func @of_f32() -> (tensor<2xf32>, tensor<3xf32>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf32>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf32>
  return %0, %1 : tensor<2xf32>, tensor<3xf32>
}

func.func @of_f64() -> (tensor<2xf64>, tensor<3xf64>) {
  %0 = stablehlo.constant dense<[1.5, -0.25]> : tensor<2xf64>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf64>
  return %0, %1 : tensor<2xf64>, tensor<3xf64>
}

func.func @of_f4E2M1FN() -> (tensor<2xf4E2M1FN>, tensor<3xf4E2M1FN>) {
  %0 = stablehlo.constant dense<[1.5, -0.5]> : tensor<2xf4E2M1FN>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf4E2M1FN>
  return %0, %1 : tensor<2xf4E2M1FN>, tensor<3xf4E2M1FN>
}

func.func @of_f6E2M3FN() -> (tensor<2xf6E2M3FN>, tensor<3xf6E2M3FN>) {
  %0 = stablehlo.constant dense<[1.5, -0.5]> : tensor<2xf6E2M3FN>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf6E2M3FN>
  return %0, %1 : tensor<2xf6E2M3FN>, tensor<3xf6E2M3FN>
}

func.func @of_f6E3M2FN() -> (tensor<2xf6E3M2FN>, tensor<3xf6E3M2FN>) {
  %0 = stablehlo.constant dense<[1.5, -0.5]> : tensor<2xf6E3M2FN>
  %1 = stablehlo.constant dense<1.5> : tensor<3xf6E3M2FN>
  return %0, %1 : tensor<2xf6E3M2FN>, tensor<3xf6E3M2FN>
}

func.func @of_f8E8M0FNU() -> (tensor<2xf8E8M0FNU>, tensor<3xf8E8M0FNU>) {
  %0 = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf8E8M0FNU>
  %1 = stablehlo.constant dense<2.0> : tensor<3xf8E8M0FNU>
  return %0, %1 : tensor<2xf8E8M0FNU>, tensor<3xf8E8M0FNU>
}

// A large constant of one value is read as a broadcast.
func.func @large_splat() -> tensor<512x512xf32> {
  %0 = stablehlo.constant dense<0.5> : tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
func.func @iota() -> (tensor<2x3xi32>, tensor<4xf32>, tensor<2x2xcomplex<f32>>, tensor<3xbf16>, tensor<3xui8>) {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %1 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<4xf32>
  %2 = stablehlo.iota dim = 0 : tensor<2x2xcomplex<f32>>
  %3 = stablehlo.iota dim = 0 : tensor<3xbf16>
  %4 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xui8>
  return %0, %1, %2, %3, %4 : tensor<2x3xi32>, tensor<4xf32>, tensor<2x2xcomplex<f32>>, tensor<3xbf16>, tensor<3xui8>
}
