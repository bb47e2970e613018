// What starts and waits, tokens through loops and calls, transfers to and from a host, sizes set by operations.
func.func @started(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %1 = "stablehlo.all_reduce"(%a) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %2 = stablehlo.add %x, %x : tensor<4xf32>
  %3 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %4 = stablehlo.multiply %3, %2 : tensor<4xf32>
  return %4 : tensor<4xf32>
}
func.func @carried_token(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = stablehlo.create_token : !stablehlo.token
  %n = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %n, %u = %t, %y = %x) : tensor<i32>, !stablehlo.token, tensor<4xf32>
  cond {
    %m = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %v = stablehlo.after_all %u, %t : !stablehlo.token
    %z = stablehlo.add %y, %y : tensor<4xf32>
    stablehlo.return %j, %v, %z : tensor<i32>, !stablehlo.token, tensor<4xf32>
  }
  %1:2 = stablehlo.optimization_barrier %0#2, %0#1 : tensor<4xf32>, !stablehlo.token
  %2:2 = call @with_token(%1#1, %1#0) : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
  return %2#1 : tensor<4xf32>
}
func.func private @with_token(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %t, %0 : !stablehlo.token, tensor<4xf32>
}
func.func @sized(%x: tensor<4x3xf32>) -> (tensor<2x3xf32>, tensor<i32>) {
  %n = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %1 = stablehlo.add %0, %0 : tensor<?x3xf32, #stablehlo.bounds<4, ?>>
  %2 = stablehlo.get_dimension_size %1, dim = 0 : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<i32>
  %3 = stablehlo.slice %1 [0:2, 0:3] : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<2x3xf32>
  return %3, %2 : tensor<2x3xf32>, tensor<i32>
}
