// RUN: ampc-opt %s --training-batch-statistics | FileCheck %s
// RUN: ampc-opt %s --training-batch-statistics=momentum=0.5 | FileCheck %s --check-prefix=HALF

// Statistics are computed in f32 over all but the channels, and what is stored
// has the input's type.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<8x4x2xbf16>
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<4xf32> {train.state = @m}, %[[V:[a-z0-9]+]]: tensor<4xf32> {train.state = @v}
// CHECK-SAME: -> (tensor<8x4x2xbf16>, tensor<4xf32> {train.state = @m}, tensor<4xf32> {train.state = @v})
// CHECK: %[[W:.*]] = amp.cast %[[X]] : (tensor<8x4x2xbf16>) -> tensor<8x4x2xf32>
// CHECK: amp.reduce_mean %[[W]] {axes = array<i64: 0, 2>, keepdims = true} : (tensor<8x4x2xf32>) -> tensor<1x4x1xf32>
// CHECK: amp.reduce_mean
// CHECK: amp.rsqrt
// CHECK-DAG: amp.constant dense<0.899999976>
// CHECK-DAG: amp.mul %[[M]],
// CHECK-DAG: amp.mul %[[V]],
// CHECK: amp.cast %{{.*}} : (tensor<8x4x2xf32>) -> tensor<8x4x2xbf16>
// CHECK-NOT: amp.batch_norm
// HALF: amp.constant dense<5.000000e-01>
train.state @m : tensor<4xf32>
train.state @v : tensor<4xf32>
func.func @main(%x: tensor<8x4x2xbf16>, %g: tensor<4xf32>, %b: tensor<4xf32>, %m: tensor<4xf32> {train.state = @m},
                %v: tensor<4xf32> {train.state = @v}) -> tensor<8x4x2xbf16> {
  %0 = amp.batch_norm %x, %g, %b, %m, %v {epsilon = 1.0e-5 : f64}
    : (tensor<8x4x2xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4x2xbf16>
  return %0 : tensor<8x4x2xbf16>
}

// Statistics that are no state are what they are.
// CHECK-LABEL: func.func @negative_frozen
// CHECK: amp.batch_norm
func.func @negative_frozen(%x: tensor<8x4xf32>, %c: tensor<4xf32>) -> tensor<8x4xf32> {
  %0 = amp.batch_norm %x, %c, %c, %c, %c {epsilon = 1.0e-5 : f64}
    : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
