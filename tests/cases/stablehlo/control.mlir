// Branches, loops, calls; locations and attributes of other dialects.
#loc = loc(unknown)
#loc1 = loc("a.py":12:3)
module @control attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=1]>
  func.func @if(%p: tensor<i1>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>) {
    %0:2 = "stablehlo.if"(%p) ({
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %x, %x : tensor<3xf32>
      stablehlo.return %1, %one : tensor<3xf32>, tensor<i32>
    }, {
      %two = stablehlo.constant dense<2> : tensor<i32>
      "stablehlo.return"(%x, %two) : (tensor<3xf32>, tensor<i32>) -> ()
    }) : (tensor<i1>) -> (tensor<3xf32>, tensor<i32>)
    return %0#0, %0#1 : tensor<3xf32>, tensor<i32>
  }
  func.func @case(%i: tensor<i32>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
    %0 = "stablehlo.case"(%i) ({
      stablehlo.return %x : tensor<3xf32>
    }, {
      %1 = stablehlo.multiply %x, %y : tensor<3xf32>
      stablehlo.return %1 : tensor<3xf32>
    }, {
      %1 = stablehlo.negate %y : tensor<3xf32>
      stablehlo.return %1 : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func @while(%x: tensor<3xf32>, %step: tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %zero, %acc = %x) : tensor<i32>, tensor<3xf32> attributes {mhlo.frontend_attributes = {a = "b"}}
    cond {
      %limit = stablehlo.constant dense<5> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = stablehlo.add %acc, %step : tensor<3xf32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<3xf32>
    }
    return %0#0, %0#1 : tensor<i32>, tensor<3xf32>
  }
  func.func @while_generic(%n: tensor<i32>) -> tensor<i32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %limit = stablehlo.constant dense<20> : tensor<i32>
    %n1 = stablehlo.minimum %n, %limit : tensor<i32>
    %0 = "stablehlo.while"(%zero) ({
    ^bb0(%i: tensor<i32>):
      %1 = "stablehlo.compare"(%i, %n1) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%1) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>):
      %three = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.add %i, %three : tensor<i32>
      "stablehlo.return"(%1) : (tensor<i32>) -> ()
    }) : (tensor<i32>) -> tensor<i32>
    return %0 : tensor<i32>
  }
  func.func @calls(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = call @twice(%x) : (tensor<3xf32>) -> tensor<3xf32>
    %1:2 = func.call @both(%0) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
    %2 = "func.call"(%1#1) <{callee = @twice}> : (tensor<3xf32>) -> tensor<3xf32>
    return %1#0, %2 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %x, %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
  func.func private @both(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = call @twice(%x) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = stablehlo.negate %x : tensor<3xf32>
    return %0, %1 : tensor<3xf32>, tensor<3xf32>
  }
  func.func @composite(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.composite "my.twice" %x {composite_attributes = {factor = 2 : i64, name = "n"}, decomposition = @twice, version = 1 : i32} : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "stablehlo.composite"(%x) {name = "my.twice", decomposition = @twice} : (tensor<3xf32>) -> tensor<3xf32>
    return %0, %1 : tensor<3xf32>, tensor<3xf32>
  }
  func.func @barrier(%x: tensor<3xf32>, %y: tensor<2xi32>) -> (tensor<3xf32>, tensor<2xi32>) {
    %0:2 = stablehlo.optimization_barrier %x, %y : tensor<3xf32>, tensor<2xi32>
    return %0#0, %0#1 : tensor<3xf32>, tensor<2xi32>
  }
  func.func @sharded(%x: tensor<2x2xf32> {mhlo.sharding = "{replicated}", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<2x2xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = stablehlo.custom_call @Sharding(%x) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<2x2xf32>
    %2 = stablehlo.tanh %1 {mhlo.sharding = "{replicated}", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<2x2xf32>
    return %2 : tensor<2x2xf32>
  }
  func.func @locations(%x: tensor<2xf32> loc("x")) -> tensor<2xf32> {
    %0 = stablehlo.tanh %x : tensor<2xf32> loc(#loc3)
    %1 = stablehlo.negate %0 : tensor<2xf32> loc(fused<"meta">[#loc1, "b.py":3:4])
    %2 = stablehlo.negate %1 : tensor<2xf32> loc("jit(f)/neg"(callsite("f"("a.py":3:4) at callsite("g"("a.py":7:1) at "main.py":9:2))))
    return %2 : tensor<2xf32> loc(#loc)
  } loc(#loc2)
} loc(#loc)
#loc2 = loc("z.py":1:3)
#loc3 = loc(callsite(#loc1 at "h"(#loc2)))
