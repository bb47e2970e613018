// Programs that JAX writes for its primitives, one for each: the smallest of its test harnesses.
// -----
// abs_shape_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.abs %arg0 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// acos_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.acos %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// acosh_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.acosh %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// add_dtypes_lhs_int8_20_20_rhs_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>, %arg1: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// add_any_dtypes_lhs_int8_2_rhs_int8_2_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xi8>, %arg1: tensor<2xi8>) -> (tensor<2xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2xi8>
    return %0 : tensor<2xi8>
  }
}
// -----
// and_dtypes_lhs_int8_20_20_rhs_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>, %arg1: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.and %arg0, %arg1 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// approx_top_k_large_False_max_True_op_float16_32_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @top_k_gt_f16_comparator(%arg0: tensor<f16>, %arg1: tensor<f16>, %arg2: tensor<i32>, %arg3: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %arg0, %arg1 : (tensor<f16>, tensor<f16>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func public @main(%arg0: tensor<32xf16>) -> (tensor<4xf16> {jax.result_info = "result[0]"}, tensor<4xi32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<32xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %cst = stablehlo.constant dense<0xFC00> : tensor<f16>
    %1:2 = stablehlo.custom_call @ApproxTopK(%arg0, %0, %cst, %c) {backend_config = "", called_computations = [@top_k_gt_f16_comparator], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.949999988 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 4 : i64}} : (tensor<32xf16>, tensor<32xi32>, tensor<f16>, tensor<i32>) -> (tensor<4xf16>, tensor<4xi32>)
    return %1#0, %1#1 : tensor<4xf16>, tensor<4xi32>
  }
}
// -----
// argmax_dtypes_shape_int8_15_axes_0_indexdtype_int32_enable_xla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<15xi8>) -> (tensor<i32> {jax.result_info = "result"}) {
    %0 = call @argmax(%arg0) : (tensor<15xi8>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @argmax(%arg0: tensor<15xi8>) -> tensor<i32> {
    %0 = stablehlo.iota dim = 0 : tensor<15xi32>
    %c = stablehlo.constant dense<-128> : tensor<i8>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [0] : (tensor<15xi8>, tensor<15xi32>, tensor<i8>, tensor<i32>) -> (tensor<i8>, tensor<i32>)
     reducer(%arg1: tensor<i8>, %arg3: tensor<i8>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i8>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<i8>, tensor<i32>
    }
    return %1#1 : tensor<i32>
  }
}
// -----
// argmin_dtypes_shape_int8_15_axes_0_indexdtype_int32_enable_xla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<15xi8>) -> (tensor<i32> {jax.result_info = "result"}) {
    %0 = call @argmin(%arg0) : (tensor<15xi8>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @argmin(%arg0: tensor<15xi8>) -> tensor<i32> {
    %0 = stablehlo.iota dim = 0 : tensor<15xi32>
    %c = stablehlo.constant dense<127> : tensor<i8>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %c), (%0 init: %c_0) across dimensions = [0] : (tensor<15xi8>, tensor<15xi32>, tensor<i8>, tensor<i32>) -> (tensor<i8>, tensor<i32>)
     reducer(%arg1: tensor<i8>, %arg3: tensor<i8>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare LT, %arg1, %arg3, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<i8>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<i8>, tensor<i32>
    }
    return %1#1 : tensor<i32>
  }
}
// -----
// asin_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.asin %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// asinh_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.asinh %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// atan_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.atan %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// atan2_dtypes_lhs_float16_20_20_rhs_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>, %arg1: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.atan2 %arg0, %arg1 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// atanh_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.atanh %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// bessel_i1e_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.bessel_i1e %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// bitcast_convert_type_dtypes_to_new_dtypes_shape_int8_2_3_newdtype_int8
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi8>) -> (tensor<2x3xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<2x3xi8>) -> tensor<2x3xi8>
    return %0 : tensor<2x3xi8>
  }
}
// -----
// broadcast_in_dim_dtypes_shape_int8_2_outshape_2_broadcastdimensions_0_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xi8>) -> (tensor<2xi8> {jax.result_info = "result"}) {
    return %arg0 : tensor<2xi8>
  }
}
// -----
// cbrt_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.cbrt %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// ceil_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.ceil %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// cholesky_shape_bfloat16_1_1_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x1xf32>) -> (tensor<1x1xf32> {jax.result_info = "result"}) {
    %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=1, j=1, k=1, l=1}, custom>} : (tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#1, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %5 = stablehlo.select %3, %0#0, %4 : tensor<1x1xi1>, tensor<1x1xf32>
    return %5 : tensor<1x1xf32>
  }
}
// -----
// clamp_broadcasting_min_float32_2_3_operand_float32_2_3_max_float32_2_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.clamp %arg0, %arg1, %arg2 : tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
// -----
// complex_dtypes_lhs_float32_3_4_rhs_float32_3_4_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32>, %arg1: tensor<3x4xf32>) -> (tensor<3x4xcomplex<f32>> {jax.result_info = "result"}) {
    %0 = stablehlo.complex %arg0, %arg1 : tensor<3x4xcomplex<f32>>
    return %0 : tensor<3x4xcomplex<f32>>
  }
}
// -----
// concatenate_dtypes_shapes_int8_2_3_int8_2_3_dimension_0
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi8>, %arg1: tensor<2x3xi8>) -> (tensor<4x3xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.concatenate %arg0, %arg1, dim = 0 : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<4x3xi8>
    return %0 : tensor<4x3xi8>
  }
}
// -----
// conj_dtypes_operand_float32_3_4_kwargs_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32>) -> (tensor<3x4xcomplex<f32>> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %1 = stablehlo.complex %arg0, %0 : tensor<3x4xcomplex<f32>>
    return %1 : tensor<3x4xcomplex<f32>>
  }
}
// -----
// conv_general_dilated_conv1d_lhs_float32_2_3_10_rhs_float32_3_3_5_windowstrides_1_padding_0_0_lhsdilation_1_rhsdilation_1_dimensionnumbers_NCH_OIH_NCH_featuregroupcount_1_batchgroupcount_1_precision_None_preferred_float64_enablexla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x10xf32>, %arg1: tensor<3x3x5xf32>) -> (tensor<2x3x6xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [1], pad = [[0, 0]], lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x3x10xf32>, tensor<3x3x5xf32>) -> tensor<2x3x6xf32>
    return %0 : tensor<2x3x6xf32>
  }
}
// -----
// convert_element_type_dtypes_to_dtypes_shape_int8_100_100_olddtype_int8_newdtype_int8
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<100x100xi8>) -> (tensor<100x100xi8> {jax.result_info = "result"}) {
    return %arg0 : tensor<100x100xi8>
  }
}
// -----
// cos_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.cosine %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// cosh_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.cosh %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// cumlogsumexp_dtype_by_fun_shape_float16_8_9_axis_0_reverse_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x9xf16>) -> (tensor<8x9xf16> {jax.result_info = "result"}) {
    %0 = call @cumlogsumexp(%arg0) : (tensor<8x9xf16>) -> tensor<8x9xf16>
    return %0 : tensor<8x9xf16>
  }
  func.func private @cumlogsumexp(%arg0: tensor<8x9xf16>) -> tensor<8x9xf16> {
    %cst = stablehlo.constant dense<0xFC00> : tensor<f16>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 8, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f16>, %arg2: tensor<f16>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<f16>
      %2 = stablehlo.subtract %arg1, %arg2 : tensor<f16>
      %3 = stablehlo.compare NE, %2, %2, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %4 = stablehlo.add %arg1, %arg2 : tensor<f16>
      %5 = stablehlo.abs %2 : tensor<f16>
      %6 = stablehlo.negate %5 : tensor<f16>
      %7 = stablehlo.exponential %6 : tensor<f16>
      %8 = stablehlo.log_plus_one %7 : tensor<f16>
      %9 = stablehlo.add %1, %8 : tensor<f16>
      %10 = stablehlo.select %3, %4, %9 : tensor<i1>, tensor<f16>
      stablehlo.return %10 : tensor<f16>
    }) : (tensor<8x9xf16>, tensor<f16>) -> tensor<8x9xf16>
    return %0 : tensor<8x9xf16>
  }
}
// -----
// cummax_dtype_by_fun_shape_int8_8_9_axis_0_reverse_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x9xi8>) -> (tensor<8x9xi8> {jax.result_info = "result"}) {
    %0 = call @cummax(%arg0) : (tensor<8x9xi8>) -> tensor<8x9xi8>
    return %0 : tensor<8x9xi8>
  }
  func.func private @cummax(%arg0: tensor<8x9xi8>) -> tensor<8x9xi8> {
    %c = stablehlo.constant dense<-128> : tensor<i8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<i8>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 8, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<i8>
      stablehlo.return %2 : tensor<i8>
    }) : (tensor<8x9xi8>, tensor<i8>) -> tensor<8x9xi8>
    return %1 : tensor<8x9xi8>
  }
}
// -----
// cummin_dtype_by_fun_shape_int8_8_9_axis_0_reverse_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x9xi8>) -> (tensor<8x9xi8> {jax.result_info = "result"}) {
    %0 = call @cummin(%arg0) : (tensor<8x9xi8>) -> tensor<8x9xi8>
    return %0 : tensor<8x9xi8>
  }
  func.func private @cummin(%arg0: tensor<8x9xi8>) -> tensor<8x9xi8> {
    %c = stablehlo.constant dense<127> : tensor<i8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<i8>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 8, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %2 = stablehlo.minimum %arg1, %arg2 : tensor<i8>
      stablehlo.return %2 : tensor<i8>
    }) : (tensor<8x9xi8>, tensor<i8>) -> tensor<8x9xi8>
    return %1 : tensor<8x9xi8>
  }
}
// -----
// cumprod_dtype_by_fun_shape_int8_8_9_axis_0_reverse_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x9xi8>) -> (tensor<8x9xi8> {jax.result_info = "result"}) {
    %0 = call @cumprod(%arg0) : (tensor<8x9xi8>) -> tensor<8x9xi8>
    return %0 : tensor<8x9xi8>
  }
  func.func private @cumprod(%arg0: tensor<8x9xi8>) -> tensor<8x9xi8> {
    %c = stablehlo.constant dense<1> : tensor<i8>
    %0 = "stablehlo.reduce_window"(%arg0, %c) <{base_dilations = array<i64: 1, 1>, padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 8, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %1 = stablehlo.multiply %arg1, %arg2 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<8x9xi8>, tensor<i8>) -> tensor<8x9xi8>
    return %0 : tensor<8x9xi8>
  }
}
// -----
// cumsum_dtype_by_fun_shape_int8_8_9_axis_0_reverse_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x9xi8>) -> (tensor<8x9xi8> {jax.result_info = "result"}) {
    %0 = call @cumsum(%arg0) : (tensor<8x9xi8>) -> tensor<8x9xi8>
    return %0 : tensor<8x9xi8>
  }
  func.func private @cumsum(%arg0: tensor<8x9xi8>) -> tensor<8x9xi8> {
    %c = stablehlo.constant dense<0> : tensor<i8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<i8>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[7, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 8, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<i8>
      stablehlo.return %2 : tensor<i8>
    }) : (tensor<8x9xi8>, tensor<i8>) -> tensor<8x9xi8>
    return %1 : tensor<8x9xi8>
  }
}
// -----
// device_put_dtypes_shape_int8_3_4_device_None
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xi8>) -> (tensor<3x4xi8> {jax.result_info = "result"}) {
    return %arg0 : tensor<3x4xi8>
  }
}
// -----
// digamma_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.digamma %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// div_dtypes_lhs_int8_2_rhs_int8_2_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xi8>, %arg1: tensor<2xi8>) -> (tensor<2xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<2xi8>
    return %0 : tensor<2xi8>
  }
}
// -----
// dot_general_squeeze_lhs_float32_4_rhs_float32_4_dimensionnumbers_0_0_enable_xla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
// -----
// dynamic_slice_shapes_a_float32_3_start_indices_array_1_dtype_uint8_limit_indices_array_2_dtype_uint8_enablexla_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<1xui8>) -> (tensor<1xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg1 [0:1] : (tensor<1xui8>) -> tensor<1xui8>
    %1 = stablehlo.reshape %0 : (tensor<1xui8>) -> tensor<ui8>
    %2 = stablehlo.dynamic_slice %arg0, %1, sizes = [1] : (tensor<3xf32>, tensor<ui8>) -> tensor<1xf32>
    return %2 : tensor<1xf32>
  }
}
// -----
// dynamic_update_slice_shapes_operand_float32_3_update_float32_1_start_indices_array_1_dtype_uint8_enable_xla_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<1xf32>, %arg2: tensor<1xui8>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg2 [0:1] : (tensor<1xui8>) -> tensor<1xui8>
    %1 = stablehlo.reshape %0 : (tensor<1xui8>) -> tensor<ui8>
    %2 = stablehlo.dynamic_update_slice %arg0, %arg1, %1 : (tensor<3xf32>, tensor<1xf32>, tensor<ui8>) -> tensor<3xf32>
    return %2 : tensor<3xf32>
  }
}
// -----
// eig_shape_complex64_0_0_computelefteigenvectors_False_computerighteigenvectors_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<0x0xcomplex<f32>>) -> (tensor<0xcomplex<f32>> {jax.result_info = "result[0]"}) {
    %0:4 = stablehlo.custom_call @lapack_cgeev_ffi(%arg0) {backend_config = "", mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k], [l, m], [n, o], []) {i=0, j=0, k=0, l=0, m=0, n=0, o=0}, custom>} : (tensor<0x0xcomplex<f32>>) -> (tensor<0xcomplex<f32>>, tensor<0x0xcomplex<f32>>, tensor<0x0xcomplex<f32>>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#3, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<(0x7FC00000,0x7FC00000)> : tensor<complex<f32>>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<complex<f32>>) -> tensor<0xcomplex<f32>>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<0xi1>
    %6 = stablehlo.select %5, %0#0, %4 : tensor<0xi1>, tensor<0xcomplex<f32>>
    return %6 : tensor<0xcomplex<f32>>
  }
}
// -----
// eigh_shape_float32_0_0_lower_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<0x0xf32>) -> (tensor<0x0xf32> {jax.result_info = "result[0]"}, tensor<0xf32> {jax.result_info = "result[1]"}) {
    %0 = call @tril(%arg0) : (tensor<0x0xf32>) -> tensor<0x0xf32>
    %1:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%0) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=0, j=0, k=0, l=0, m=0}, custom>} : (tensor<0x0xf32>) -> (tensor<0x0xf32>, tensor<0xf32>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %3 = stablehlo.compare EQ, %1#2, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<0x0xf32>
    %6 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<0x0xi1>
    %7 = stablehlo.select %6, %1#0, %5 : tensor<0x0xi1>, tensor<0x0xf32>
    %8 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<0xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<1xi1>) -> tensor<0xi1>
    %11 = stablehlo.select %10, %1#1, %9 : tensor<0xi1>, tensor<0xf32>
    return %7, %11 : tensor<0x0xf32>, tensor<0xf32>
  }
  func.func private @tril(%arg0: tensor<0x0xf32>) -> tensor<0x0xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<0x0xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<0x0xi64>
    %2 = stablehlo.add %0, %1 : tensor<0x0xi64>
    %3 = stablehlo.iota dim = 1 : tensor<0x0xi64>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<0x0xi64>, tensor<0x0xi64>) -> tensor<0x0xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<0x0xf32>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<0x0xi1>, tensor<0x0xf32>
    return %6 : tensor<0x0xf32>
  }
}
// -----
// eq_dtypes_lhs_int8_rhs_int8_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i8>, %arg1: tensor<i8>) -> (tensor<i1> {jax.result_info = "result"}) {
    %0 = stablehlo.compare EQ, %arg0, %arg1, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    return %0 : tensor<i1>
  }
}
// -----
// erf_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.erf %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// erf_inv_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.erf_inv %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// erfc_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.erfc %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// exp_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// expm1_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential_minus_one %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// fft_dtypes_zero_shape_complex64_14_15_0_17_ffttype_3_fftlengths_32_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<14x15x0x17xcomplex<f32>>) -> (tensor<14x15x0x32xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [32] : (tensor<14x15x0x17xcomplex<f32>>) -> tensor<14x15x0x32xf32>
    return %0 : tensor<14x15x0x32xf32>
  }
}
// -----
// floor_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.floor %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// gather_from_slicing_name_0_1_enable_xla_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10x10x10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 1:2, 0:10] : (tensor<10x10x10xf32>) -> tensor<1x1x10xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1x10xf32>) -> tensor<10xf32>
    return %1 : tensor<10xf32>
  }
}
// -----
// ge_dtypes_lhs_int8_rhs_int8_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i8>, %arg1: tensor<i8>) -> (tensor<i1> {jax.result_info = "result"}) {
    %0 = stablehlo.compare GE, %arg0, %arg1, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    return %0 : tensor<i1>
  }
}
// -----
// gt_dtypes_lhs_int8_rhs_int8_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i8>, %arg1: tensor<i8>) -> (tensor<i1> {jax.result_info = "result"}) {
    %0 = stablehlo.compare GT, %arg0, %arg1, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    return %0 : tensor<i1>
  }
}
// -----
// imag_dtypes_shape_complex64_2_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.imag %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
// -----
// integer_pow_dtypes_shape_int8_20_30_y_1
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x30xi8>) -> (tensor<20x30xi8> {jax.result_info = "result"}) {
    return %arg0 : tensor<20x30xi8>
  }
}
// -----
// iota_dtypes_shape_int8_2_3_dimension_0
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<2x3xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<2x3xi8>
    return %0 : tensor<2x3xi8>
  }
}
// -----
// iota_2x32_shape_shape_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<3xui32> {jax.result_info = "result[0]"}, tensor<3xui32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.iota dim = 0 : tensor<3xui64>
    %c = stablehlo.constant dense<1> : tensor<ui64>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<3xui64>
    %2 = stablehlo.multiply %1, %0 : tensor<3xui64>
    %c_0 = stablehlo.constant dense<32> : tensor<ui64>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<3xui64>
    %4 = stablehlo.shift_right_logical %2, %3 : tensor<3xui64>
    %5 = stablehlo.convert %2 : (tensor<3xui64>) -> tensor<3xui32>
    %6 = stablehlo.convert %4 : (tensor<3xui64>) -> tensor<3xui32>
    return %6, %5 : tensor<3xui32>, tensor<3xui32>
  }
}
// -----
// is_finite_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xi1> {jax.result_info = "result"}) {
    %0 = stablehlo.is_finite %arg0 : (tensor<20x20xf16>) -> tensor<20x20xi1>
    return %0 : tensor<20x20xi1>
  }
}
// -----
// le_dtypes_lhs_int8_rhs_int8_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i8>, %arg1: tensor<i8>) -> (tensor<i1> {jax.result_info = "result"}) {
    %0 = stablehlo.compare LE, %arg0, %arg1, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    return %0 : tensor<i1>
  }
}
// -----
// lgamma_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.lgamma %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// log_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.log %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// log1p_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.log_plus_one %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// logistic_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<20x20xf16>
    %1 = stablehlo.exponential %0 : tensor<20x20xf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<20x20xf16>
    %3 = stablehlo.add %2, %1 : tensor<20x20xf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f16>) -> tensor<20x20xf16>
    %5 = stablehlo.divide %4, %3 : tensor<20x20xf16>
    return %5 : tensor<20x20xf16>
  }
}
// -----
// lt_dtypes_lhs_int8_rhs_int8_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i8>, %arg1: tensor<i8>) -> (tensor<i1> {jax.result_info = "result"}) {
    %0 = stablehlo.compare LT, %arg0, %arg1, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    return %0 : tensor<i1>
  }
}
// -----
// max_inf_nan_float16
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf16>, %arg1: tensor<3x3xf16>) -> (tensor<3x3xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<3x3xf16>
    return %0 : tensor<3x3xf16>
  }
}
// -----
// min_inf_nan_float16
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf16>, %arg1: tensor<3x3xf16>) -> (tensor<3x3xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.minimum %arg0, %arg1 : tensor<3x3xf16>
    return %0 : tensor<3x3xf16>
  }
}
// -----
// mul_dtypes_lhs_int8_20_20_rhs_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>, %arg1: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// ne_dtypes_lhs_int8_rhs_int8_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i8>, %arg1: tensor<i8>) -> (tensor<i1> {jax.result_info = "result"}) {
    %0 = stablehlo.compare NE, %arg0, %arg1, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    return %0 : tensor<i1>
  }
}
// -----
// neg_shape_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// nextafter_dtypes_lhs_float16_20_20_rhs_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>, %arg1: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.next_after %arg0, %arg1 : tensor<20x20xf16>, tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// or_dtypes_lhs_int8_20_20_rhs_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>, %arg1: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.or %arg0, %arg1 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// pad_inshape_int8_2_3_pads_0_0_0_0_0_0_enable_xla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi8>, %arg1: tensor<i8>) -> (tensor<2x3xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.pad %arg0, %arg1, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xi8>, tensor<i8>) -> tensor<2x3xi8>
    return %0 : tensor<2x3xi8>
  }
}
// -----
// population_count_int8
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xi8>) -> (tensor<4xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.popcnt %arg0 : tensor<4xi8>
    return %0 : tensor<4xi8>
  }
}
// -----
// pow_dtypes_lhs_float16_20_30_rhs_float16_20_30_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x30xf16>, %arg1: tensor<20x30xf16>) -> (tensor<20x30xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.power %arg0, %arg1 : tensor<20x30xf16>
    return %0 : tensor<20x30xf16>
  }
}
// -----
// qr_multi_array_shape_float32_1_1_fullmatrices_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x1xf32>) -> (tensor<1x1xf32> {jax.result_info = "result[0]"}, tensor<1x1xf32> {jax.result_info = "result[1]"}) {
    %0:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=1, j=1, k=1, l=1, m=1}, custom>} : (tensor<1x1xf32>) -> (tensor<1x1xf32>, tensor<1xf32>)
    %1 = stablehlo.custom_call @lapack_sorgqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=1, j=1, k=1, l=1, m=1}, custom>} : (tensor<1x1xf32>, tensor<1xf32>) -> tensor<1x1xf32>
    %2 = stablehlo.iota dim = 0 : tensor<1x1xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<1x1xi64>
    %4 = stablehlo.add %2, %3 : tensor<1x1xi64>
    %5 = stablehlo.iota dim = 1 : tensor<1x1xi64>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<1x1xi64>, tensor<1x1xi64>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %8 = stablehlo.select %6, %7, %0#0 : tensor<1x1xi1>, tensor<1x1xf32>
    return %1, %8 : tensor<1x1xf32>, tensor<1x1xf32>
  }
}
// -----
// real_dtypes_shape_complex64_2_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xcomplex<f32>>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.real %arg0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
// -----
// reduce_gen_add_scalar_shape_int8_4_6_initvalue_3_nr_operands_1_dimensions_0_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xi8>) -> (tensor<6xi8> {jax.result_info = "result[0]"}) {
    %c = stablehlo.constant dense<3> : tensor<i8>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4x6xi8>, tensor<i8>) -> tensor<6xi8>
    return %0 : tensor<6xi8>
  }
}
// -----
// reduce_and_dtypes_shape_bool_2_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi1>) -> (tensor<3xi1> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.and across dimensions = [0] : (tensor<2x3xi1>, tensor<i1>) -> tensor<3xi1>
    return %0 : tensor<3xi1>
  }
}
// -----
// reduce_max_dtypes_shape_int8_2_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi8>) -> (tensor<3xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<-128> : tensor<i8>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xi8>, tensor<i8>) -> tensor<3xi8>
    return %0 : tensor<3xi8>
  }
}
// -----
// reduce_min_dtypes_shape_int8_2_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi8>) -> (tensor<3xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<127> : tensor<i8>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.minimum across dimensions = [0] : (tensor<2x3xi8>, tensor<i8>) -> tensor<3xi8>
    return %0 : tensor<3xi8>
  }
}
// -----
// reduce_or_dtypes_shape_bool_2_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi1>) -> (tensor<3xi1> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<false> : tensor<i1>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.or across dimensions = [0] : (tensor<2x3xi1>, tensor<i1>) -> tensor<3xi1>
    return %0 : tensor<3xi1>
  }
}
// -----
// reduce_precision_in_float16_out_bfloat16_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f16>) -> (tensor<f16> {jax.result_info = "result"}) {
    %0 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<f16>
    return %0 : tensor<f16>
  }
}
// -----
// reduce_prod_dtypes_shape_int8_2_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi8>) -> (tensor<3xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i8>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.multiply across dimensions = [0] : (tensor<2x3xi8>, tensor<i8>) -> tensor<3xi8>
    return %0 : tensor<3xi8>
  }
}
// -----
// reduce_sum_dtypes_shape_int8_2_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi8>) -> (tensor<3xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i8>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2x3xi8>, tensor<i8>) -> tensor<3xi8>
    return %0 : tensor<3xi8>
  }
}
// -----
// reduce_window_add_dtypes_shape_int8_4_6_initvalue_1_windowdimensions_2_2_windowstrides_1_1_padding_0_0_0_0_basedilation_1_1_windowdilation_1_1_enablexla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xi8>) -> (tensor<3x5xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i8>
    %0 = "stablehlo.reduce_window"(%arg0, %c) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %1 = stablehlo.add %arg1, %arg2 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<4x6xi8>, tensor<i8>) -> tensor<3x5xi8>
    return %0 : tensor<3x5xi8>
  }
}
// -----
// reduce_window_max_dtypes_shape_int8_4_6_initvalue_1_windowdimensions_2_2_windowstrides_1_1_padding_0_0_0_0_basedilation_1_1_windowdilation_1_1_enablexla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xi8>) -> (tensor<3x5xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i8>
    %0 = "stablehlo.reduce_window"(%arg0, %c) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<4x6xi8>, tensor<i8>) -> tensor<3x5xi8>
    return %0 : tensor<3x5xi8>
  }
}
// -----
// reduce_window_min_init_value_1d_shape_float32_1_1600_initvalue_1_0_windowdimensions_1_401_windowstrides_1_160_padding_VALID_basedilation_1_1_windowdilation_1_1_enablexla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x1600xf32>) -> (tensor<1x8xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 401>, window_strides = array<i64: 1, 160>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.minimum %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<1x1600xf32>, tensor<f32>) -> tensor<1x8xf32>
    return %0 : tensor<1x8xf32>
  }
}
// -----
// reduce_window_mul_dtypes_shape_int8_4_6_initvalue_0_windowdimensions_2_2_windowstrides_1_1_padding_0_0_0_0_basedilation_1_1_windowdilation_1_1_enablexla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xi8>) -> (tensor<3x5xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i8>
    %0 = "stablehlo.reduce_window"(%arg0, %c) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %1 = stablehlo.multiply %arg1, %arg2 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<4x6xi8>, tensor<i8>) -> tensor<3x5xi8>
    return %0 : tensor<3x5xi8>
  }
}
// -----
// rem_dtypes_lhs_int8_2_rhs_int8_2_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xi8>, %arg1: tensor<2xi8>) -> (tensor<2xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.remainder %arg0, %arg1 : tensor<2xi8>
    return %0 : tensor<2xi8>
  }
}
// -----
// reshape_dtypes_shape_int8_2_3_newsizes_3_2_dimensions_0_1_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi8>) -> (tensor<3x2xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3xi8>) -> tensor<3x2xi8>
    return %0 : tensor<3x2xi8>
  }
}
// -----
// rev_dtypes_shape_int8_4_5_dimensions_0_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x5xi8>) -> (tensor<4x5xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<4x5xi8>
    return %0 : tensor<4x5xi8>
  }
}
// -----
// rng_bit_generator_key_dtype_class_numpy_uint64_shape_uint32_algorithm_RandomAlgorithm_RNG_PHILOX:_2_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xui64>) -> (tensor<2xui64> {jax.result_info = "result[0]"}, tensor<ui32> {jax.result_info = "result[1]"}) {
    %output_state, %output = stablehlo.rng_bit_generator %arg0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    return %output_state, %output : tensor<2xui64>, tensor<ui32>
  }
}
// -----
// round_rounding_methods_shape_float32_2_5_roundingmethod_0
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x5xf32>) -> (tensor<2x5xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.round_nearest_afz %arg0 : tensor<2x5xf32>
    return %0 : tensor<2x5xf32>
  }
}
// -----
// rsqrt_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.rsqrt %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// scatter_no_xla_unique_indices_shape_int8_1_scatterindices_0_updateshape_dimension_numbers_ScatterDimensionNumbers_update_window_dims_inserted_window_dims_0_scatter_dims_to_operand_dims_0_operand_batching_dims_scatter_indices_batching_dims_indicesaresorted_False_uniqueindices_True_mode_GatherScatterMode_PROMISE_IN_BOUNDS_enablexla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1xi8>, %arg1: tensor<i8>) -> (tensor<1xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<1xi64>
    %0 = "stablehlo.scatter"(%arg0, %c, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<i8>, %arg3: tensor<i8>):
      stablehlo.return %arg3 : tensor<i8>
    }) : (tensor<1xi8>, tensor<1xi64>, tensor<i8>) -> tensor<1xi8>
    return %0 : tensor<1xi8>
  }
}
// -----
// scatter_add_no_xla_unique_indices_shape_int8_1_scatterindices_0_updateshape_dimension_numbers_ScatterDimensionNumbers_update_window_dims_inserted_window_dims_0_scatter_dims_to_operand_dims_0_operand_batching_dims_scatter_indices_batching_dims_indicesaresorted_False_uniqueindices_True_mode_GatherScatterMode_PROMISE_IN_BOUNDS_enablexla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1xi8>, %arg1: tensor<i8>) -> (tensor<1xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<1xi64>
    %0 = "stablehlo.scatter"(%arg0, %c, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<i8>, %arg3: tensor<i8>):
      %1 = stablehlo.add %arg2, %arg3 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<1xi8>, tensor<1xi64>, tensor<i8>) -> tensor<1xi8>
    return %0 : tensor<1xi8>
  }
}
// -----
// scatter_max_no_xla_unique_indices_shape_int8_1_scatterindices_0_updateshape_dimension_numbers_ScatterDimensionNumbers_update_window_dims_inserted_window_dims_0_scatter_dims_to_operand_dims_0_operand_batching_dims_scatter_indices_batching_dims_indicesaresorted_False_uniqueindices_True_mode_GatherScatterMode_PROMISE_IN_BOUNDS_enablexla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1xi8>, %arg1: tensor<i8>) -> (tensor<1xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<1xi64>
    %0 = "stablehlo.scatter"(%arg0, %c, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<i8>, %arg3: tensor<i8>):
      %1 = stablehlo.maximum %arg2, %arg3 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<1xi8>, tensor<1xi64>, tensor<i8>) -> tensor<1xi8>
    return %0 : tensor<1xi8>
  }
}
// -----
// scatter_min_no_xla_unique_indices_shape_int8_1_scatterindices_0_updateshape_dimension_numbers_ScatterDimensionNumbers_update_window_dims_inserted_window_dims_0_scatter_dims_to_operand_dims_0_operand_batching_dims_scatter_indices_batching_dims_indicesaresorted_False_uniqueindices_True_mode_GatherScatterMode_PROMISE_IN_BOUNDS_enablexla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1xi8>, %arg1: tensor<i8>) -> (tensor<1xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<1xi64>
    %0 = "stablehlo.scatter"(%arg0, %c, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<i8>, %arg3: tensor<i8>):
      %1 = stablehlo.minimum %arg2, %arg3 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<1xi8>, tensor<1xi64>, tensor<i8>) -> tensor<1xi8>
    return %0 : tensor<1xi8>
  }
}
// -----
// scatter_mul_no_xla_unique_indices_shape_int8_1_scatterindices_0_updateshape_dimension_numbers_ScatterDimensionNumbers_update_window_dims_inserted_window_dims_0_scatter_dims_to_operand_dims_0_operand_batching_dims_scatter_indices_batching_dims_indicesaresorted_False_uniqueindices_True_mode_GatherScatterMode_PROMISE_IN_BOUNDS_enablexla_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1xi8>, %arg1: tensor<i8>) -> (tensor<1xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<1xi64>
    %0 = "stablehlo.scatter"(%arg0, %c, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg2: tensor<i8>, %arg3: tensor<i8>):
      %1 = stablehlo.multiply %arg2, %arg3 : tensor<i8>
      stablehlo.return %1 : tensor<i8>
    }) : (tensor<1xi8>, tensor<1xi64>, tensor<i8>) -> tensor<1xi8>
    return %0 : tensor<1xi8>
  }
}
// -----
// select_and_gather_add_dtypes_shape_float16_4_6_selectprim_ge_windowdimensions_2_2_windowstrides_1_1_padding_0_0_0_0_basedilation_1_1_windowdilation_1_1_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf16>, %arg1: tensor<4x6xf16>) -> (tensor<3x5xf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFC00> : tensor<f16>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %0:2 = "stablehlo.reduce_window"(%arg1, %arg0, %cst, %cst_0) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg2: tensor<f16>, %arg3: tensor<f16>, %arg4: tensor<f16>, %arg5: tensor<f16>):
      %1 = stablehlo.compare GE, %arg2, %arg4, FLOAT : (tensor<f16>, tensor<f16>) -> tensor<i1>
      %2 = stablehlo.select %1, %arg2, %arg4 : tensor<i1>, tensor<f16>
      %3 = stablehlo.select %1, %arg3, %arg5 : tensor<i1>, tensor<f16>
      stablehlo.return %2, %3 : tensor<f16>, tensor<f16>
    }) : (tensor<4x6xf16>, tensor<4x6xf16>, tensor<f16>, tensor<f16>) -> (tensor<3x5xf16>, tensor<3x5xf16>)
    return %0#1 : tensor<3x5xf16>
  }
}
// -----
// select_and_scatter_add_dtypes_shape_int8_2_4_6_selectprim_ge_windowdimensions_2_2_2_windowstrides_1_1_1_padding_0_0_0_0_0_0_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x3x5xi8>, %arg1: tensor<2x4x6xi8>) -> (tensor<2x4x6xi8> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<-128> : tensor<i8>
    %0 = stablehlo.pad %arg1, %c, low = [0, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x4x6xi8>, tensor<i8>) -> tensor<2x4x6xi8>
    %c_0 = stablehlo.constant dense<0> : tensor<i8>
    %1 = "stablehlo.select_and_scatter"(%0, %arg0, %c_0) <{padding = dense<0> : tensor<3x2xi64>, window_dimensions = array<i64: 2, 2, 2>, window_strides = array<i64: 1, 1, 1>}> ({
    ^bb0(%arg2: tensor<i8>, %arg3: tensor<i8>):
      %3 = stablehlo.compare GE, %arg2, %arg3, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }, {
    ^bb0(%arg2: tensor<i8>, %arg3: tensor<i8>):
      %3 = stablehlo.add %arg2, %arg3 : tensor<i8>
      stablehlo.return %3 : tensor<i8>
    }) : (tensor<2x4x6xi8>, tensor<1x3x5xi8>, tensor<i8>) -> tensor<2x4x6xi8>
    %2 = stablehlo.slice %1 [0:2, 0:4, 0:6] : (tensor<2x4x6xi8>) -> tensor<2x4x6xi8>
    return %2 : tensor<2x4x6xi8>
  }
}
// -----
// select_n_shapes_shapepred_bool_shapeargs_float32_18_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i1>, %arg1: tensor<18xf32>, %arg2: tensor<18xf32>) -> (tensor<18xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.select %arg0, %arg2, %arg1 : tensor<i1>, tensor<18xf32>
    return %0 : tensor<18xf32>
  }
}
// -----
// shift_left_dtypes_lhs_int8_20_20_rhs_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>, %arg1: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.shift_left %arg0, %arg1 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// shift_right_arithmetic_dtypes_lhs_int8_20_20_rhs_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>, %arg1: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.shift_right_arithmetic %arg0, %arg1 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// shift_right_logical_dtypes_lhs_int8_20_20_rhs_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>, %arg1: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.shift_right_logical %arg0, %arg1 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// sign_shape_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.sign %arg0 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// sin_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.sine %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// sinh_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = chlo.sinh %arg0 : tensor<20x20xf16> -> tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// slice_dtypes_a_int8_3_start_indices_1_limit_indices_2_strides_None
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xi8>) -> (tensor<1xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [1:2] : (tensor<3xi8>) -> tensor<1xi8>
    return %0 : tensor<1xi8>
  }
}
// -----
// sort_dtypes_num_arrays_1_shape_int8_5_7_axis_0_isstable_False_num_keys_1
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x7xi8>) -> (tensor<5x7xi8> {jax.result_info = "result[0]"}) {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = false}> ({
    ^bb0(%arg1: tensor<i8>, %arg2: tensor<i8>):
      %1 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<5x7xi8>) -> tensor<5x7xi8>
    return %0 : tensor<5x7xi8>
  }
}
// -----
// sqrt_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.sqrt %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// squeeze_shapes_inshape_float32_1_dimensions_0_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<1xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
// -----
// stop_gradient_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    return %arg0 : tensor<20x20xi8>
  }
}
// -----
// sub_dtypes_lhs_int8_20_20_rhs_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>, %arg1: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.subtract %arg0, %arg1 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
// -----
// svd_shape_float32_2_2_fullmatrices_False_computeuv_False
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x2xf32>) -> (tensor<2xf32> {jax.result_info = "result[0]"}) {
    %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=2, j=2, k=2, l=2, m=2, n=2, o=2, p=2, q=2}, custom>} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<2xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<2xi1>, tensor<2xf32>
    return %6 : tensor<2xf32>
  }
}
// -----
// tan_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.tan %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// tanh_shape_float16_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xf16>) -> (tensor<20x20xf16> {jax.result_info = "result"}) {
    %0 = stablehlo.tanh %arg0 : tensor<20x20xf16>
    return %0 : tensor<20x20xf16>
  }
}
// -----
// top_k_stability_inshape_int32_6_k_3
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xi32>) -> (tensor<3xi32> {jax.result_info = "result[0]"}, tensor<3xi32> {jax.result_info = "result[1]"}) {
    %values, %indices = chlo.top_k(%arg0, k = 3) : tensor<6xi32> -> (tensor<3xi32>, tensor<3xi32>)
    return %values, %indices : tensor<3xi32>, tensor<3xi32>
  }
}
// -----
// transpose_dtypes_shape_int8_2_3_permutation_1_0_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xi8>) -> (tensor<3x2xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xi8>) -> tensor<3x2xi8>
    return %0 : tensor<3x2xi8>
  }
}
// -----
// triangular_solve_dtypes_a_float16_4_4_b_float16_4_1_leftside_True_lower_False_transposea_False_conjugatea_False_unitdiagonal_True
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x4xf16>, %arg1: tensor<4x1xf16>) -> (tensor<4x1xf16> {jax.result_info = "result"}) {
    %0 = "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<4x4xf16>, tensor<4x1xf16>) -> tensor<4x1xf16>
    return %0 : tensor<4x1xf16>
  }
}
// -----
// tridiagonal_solve_shape_float32_3_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<3xf32>, %arg3: tensor<3x1xf32>) -> (tensor<3x1xf32> {jax.result_info = "result"}) {
    %0:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%arg0, %arg1, %arg2, %arg3) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 1, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [2], operand_index = 2, operand_tuple_indices = []>, #stablehlo.output_operand_alias<output_tuple_indices = [3], operand_index = 3, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i], [j], [k], [l, m])->([n], [o], [p], [q, r], []) {i=3, j=3, k=3, l=3, m=1, n=3, o=3, p=3, q=3, r=1}, custom>} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x1xi1>
    %6 = stablehlo.select %5, %0#3, %4 : tensor<3x1xi1>, tensor<3x1xf32>
    return %6 : tensor<3x1xf32>
  }
}
// -----
// xor_dtypes_lhs_int8_20_20_rhs_int8_20_20_
module @jit_dyn_fun attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<20x20xi8>, %arg1: tensor<20x20xi8>) -> (tensor<20x20xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.xor %arg0, %arg1 : tensor<20x20xi8>
    return %0 : tensor<20x20xi8>
  }
}
