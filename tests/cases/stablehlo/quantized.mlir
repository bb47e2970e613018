// Quantised types.
func.func @quantize(%x: tensor<12xf32>) -> tensor<12x!quant.uniform<i8:f32, 0.34:3>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<12xf32>) -> tensor<12x!quant.uniform<i8:f32, 0.34:3>>
  return %0 : tensor<12x!quant.uniform<i8:f32, 0.34:3>>
}
func.func @narrow(%x: tensor<3x4xf32>) -> tensor<3x4x!quant.uniform<i8<-7:7>:f32:1, {0.1:-2, 0.2, 0.3:1, 4.0e-2}>> {
  %0 = "stablehlo.uniform_quantize"(%x) : (tensor<3x4xf32>) -> tensor<3x4x!quant.uniform<i8<-7:7>:f32:1, {0.1:-2, 0.2, 0.3:1, 4.0e-2}>>
  return %0 : tensor<3x4x!quant.uniform<i8<-7:7>:f32:1, {0.1:-2, 0.2, 0.3:1, 4.0e-2}>>
}
func.func @storages(%a: tensor<4x!quant.uniform<u8:f32, 0.5:7>>, %b: tensor<4x!quant.uniform<i16:f32, 2.5e-3:-100>>, %c: tensor<4x!quant.uniform<i4:f32, 1.0>>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.uniform_dequantize %a : (tensor<4x!quant.uniform<u8:f32, 0.5:7>>) -> tensor<4xf32>
  %1 = stablehlo.uniform_dequantize %b : (tensor<4x!quant.uniform<i16:f32, 2.5e-3:-100>>) -> tensor<4xf32>
  %2 = stablehlo.uniform_dequantize %c : (tensor<4x!quant.uniform<i4:f32, 1.0>>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @others(%x: tensor<4xf64>, %y: tensor<4x!quant.uniform<i32:f64, 0.125:5>>, %z: tensor<4x!quant.uniform<i8:bf16, 0.25>>, %w: tensor<4xf32>) -> (tensor<4x!quant.uniform<i32:f64, 0.125:5>>, tensor<4xf64>, tensor<4xbf16>, tensor<4x!quant.uniform<u8:f32, 0.01:200>>) {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf64>) -> tensor<4x!quant.uniform<i32:f64, 0.125:5>>
  %1 = stablehlo.uniform_dequantize %y : (tensor<4x!quant.uniform<i32:f64, 0.125:5>>) -> tensor<4xf64>
  %2 = stablehlo.uniform_dequantize %z : (tensor<4x!quant.uniform<i8:bf16, 0.25>>) -> tensor<4xbf16>
  %3 = stablehlo.uniform_quantize %w : (tensor<4xf32>) -> tensor<4x!quant.uniform<u8:f32, 0.01:200>>
  return %0, %1, %2, %3 : tensor<4x!quant.uniform<i32:f64, 0.125:5>>, tensor<4xf64>, tensor<4xbf16>, tensor<4x!quant.uniform<u8:f32, 0.01:200>>
}
func.func @elementwise(%x: tensor<6x!quant.uniform<i8:f32, 0.5:1>>, %y: tensor<6x!quant.uniform<i8:f32, 0.25:-2>>) -> (tensor<6x!quant.uniform<i8:f32, 0.75>>, tensor<6x!quant.uniform<i8:f32, 0.5:1>>, tensor<6xi1>, tensor<6x!quant.uniform<i8:f32, 7.8125e-3:-128>>) {
  %0 = stablehlo.add %x, %y : (tensor<6x!quant.uniform<i8:f32, 0.5:1>>, tensor<6x!quant.uniform<i8:f32, 0.25:-2>>) -> tensor<6x!quant.uniform<i8:f32, 0.75>>
  %1 = stablehlo.multiply %x, %x : tensor<6x!quant.uniform<i8:f32, 0.5:1>>
  %2 = stablehlo.compare LT, %x, %y : (tensor<6x!quant.uniform<i8:f32, 0.5:1>>, tensor<6x!quant.uniform<i8:f32, 0.25:-2>>) -> tensor<6xi1>
  %3 = stablehlo.logistic %x : (tensor<6x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<6x!quant.uniform<i8:f32, 7.8125e-3:-128>>
  return %0, %1, %2, %3 : tensor<6x!quant.uniform<i8:f32, 0.75>>, tensor<6x!quant.uniform<i8:f32, 0.5:1>>, tensor<6xi1>, tensor<6x!quant.uniform<i8:f32, 7.8125e-3:-128>>
}
func.func @moved(%x: tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>, %p: tensor<3x2xi1>) -> (tensor<3x2x!quant.uniform<i8:f32, 0.5:1>>, tensor<6x!quant.uniform<i8:f32, 0.5:1>>, tensor<2x!quant.uniform<i8:f32, 0.5:1>>, tensor<3x2x!quant.uniform<i8:f32, 0.5:1>>, tensor<4x3x!quant.uniform<i8:f32, 0.5:1>>) {
  %c = stablehlo.constant() <{value = dense<[[1, -2], [3, -4], [5, -128]]> : tensor<3x2xi8>}> : () -> tensor<3x2x!quant.uniform<i8:f32, 0.5:1>>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.5:1>>
  %1 = stablehlo.reshape %x : (tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<6x!quant.uniform<i8:f32, 0.5:1>>
  %2 = stablehlo.slice %1 [1:5:2] : (tensor<6x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:1>>
  %3 = stablehlo.select %p, %0, %c : tensor<3x2xi1>, tensor<3x2x!quant.uniform<i8:f32, 0.5:1>>
  %4 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>, tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<4x3x!quant.uniform<i8:f32, 0.5:1>>
  return %0, %1, %2, %3, %4 : tensor<3x2x!quant.uniform<i8:f32, 0.5:1>>, tensor<6x!quant.uniform<i8:f32, 0.5:1>>, tensor<2x!quant.uniform<i8:f32, 0.5:1>>, tensor<3x2x!quant.uniform<i8:f32, 0.5:1>>, tensor<4x3x!quant.uniform<i8:f32, 0.5:1>>
}
func.func @product(%x: tensor<3x4x!quant.uniform<i8:f32, 0.5:1>>, %w: tensor<4x2x!quant.uniform<i8<-127:127>:f32, 0.03125>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.125:-5>> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x4x!quant.uniform<i8:f32, 0.5:1>>, tensor<4x2x!quant.uniform<i8<-127:127>:f32, 0.03125>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.125:-5>>
  return %0 : tensor<3x2x!quant.uniform<i8:f32, 0.125:-5>>
}
func.func @hybrid_product(%x: tensor<3x4xf32>, %w: tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {0.03125, 0.25}>>) -> tensor<3x2xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {0.03125, 0.25}>>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
func.func @requantize(%x: tensor<5x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<5x!quant.uniform<i8:f32, 0.34:9>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<5x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<5x!quant.uniform<i8:f32, 0.34:9>>
  return %0 : tensor<5x!quant.uniform<i8:f32, 0.34:9>>
}
func.func @reduced(%x: tensor<4x3x!quant.uniform<i8:f32, 0.5:1>>) -> (tensor<4x!quant.uniform<i8:f32, 0.5:1>>, tensor<3x!quant.uniform<i8:f32, 0.5:1>>) {
  %c = stablehlo.constant() <{value = dense<1> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 0.5:1>>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x3x!quant.uniform<i8:f32, 0.5:1>>, tensor<!quant.uniform<i8:f32, 0.5:1>>) -> tensor<4x!quant.uniform<i8:f32, 0.5:1>>
  %1 = "stablehlo.reduce"(%x, %c) ({
  ^bb0(%a: tensor<!quant.uniform<i8:f32, 0.5:1>>, %b: tensor<!quant.uniform<i8:f32, 0.5:1>>):
    %2 = stablehlo.maximum %a, %b : tensor<!quant.uniform<i8:f32, 0.5:1>>
    stablehlo.return %2 : tensor<!quant.uniform<i8:f32, 0.5:1>>
  }) {dimensions = array<i64: 0>} : (tensor<4x3x!quant.uniform<i8:f32, 0.5:1>>, tensor<!quant.uniform<i8:f32, 0.5:1>>) -> tensor<3x!quant.uniform<i8:f32, 0.5:1>>
  return %0, %1 : tensor<4x!quant.uniform<i8:f32, 0.5:1>>, tensor<3x!quant.uniform<i8:f32, 0.5:1>>
}
func.func @loop(%x: tensor<4x!quant.uniform<i8:f32, 0.5:1>>, %p: tensor<i1>) -> (tensor<4x!quant.uniform<i8:f32, 0.5:1>>, tensor<4x!quant.uniform<i8:f32, 0.5:1>>) {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1:2 = stablehlo.while(%i = %0, %v = %x) : tensor<i32>, tensor<4x!quant.uniform<i8:f32, 0.5:1>>
  cond {
    %3 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.compare LT, %i, %3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %3 = stablehlo.constant dense<1> : tensor<i32>
    %4 = stablehlo.add %i, %3 : tensor<i32>
    %5 = stablehlo.add %v, %v : tensor<4x!quant.uniform<i8:f32, 0.5:1>>
    stablehlo.return %4, %5 : tensor<i32>, tensor<4x!quant.uniform<i8:f32, 0.5:1>>
  }
  %2 = "stablehlo.if"(%p) ({
    %3 = stablehlo.negate %x : tensor<4x!quant.uniform<i8:f32, 0.5:1>>
    stablehlo.return %3 : tensor<4x!quant.uniform<i8:f32, 0.5:1>>
  }, {
    stablehlo.return %1#1 : tensor<4x!quant.uniform<i8:f32, 0.5:1>>
  }) : (tensor<i1>) -> tensor<4x!quant.uniform<i8:f32, 0.5:1>>
  return %1#1, %2 : tensor<4x!quant.uniform<i8:f32, 0.5:1>>, tensor<4x!quant.uniform<i8:f32, 0.5:1>>
}
