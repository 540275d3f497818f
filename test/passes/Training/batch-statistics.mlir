// RUN: ampc-opt %s --training-batch-statistics | FileCheck %s

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

// Each batch norm keeps its own share. Of 16-bit copies the state is updated.
// CHECK-LABEL: func.func @own_momentum
// CHECK-SAME: -> (tensor<8x4xf16>, tensor<4xf32> {train.state = @m}, tensor<4xf32> {train.state = @v})
// CHECK-DAG: amp.constant dense<9.900000e-01>
// CHECK-DAG: amp.constant dense<0.00999999977>
func.func @own_momentum(%x: tensor<8x4xf16>, %g: tensor<4xf16>, %b: tensor<4xf16>, %m: tensor<4xf32> {train.state = @m},
                        %v: tensor<4xf32> {train.state = @v}) -> tensor<8x4xf16> {
  %0 = amp.cast %m : (tensor<4xf32>) -> tensor<4xf16>
  %1 = amp.cast %v : (tensor<4xf32>) -> tensor<4xf16>
  %2 = amp.batch_norm %x, %g, %b, %0, %1 {epsilon = 1.0e-5 : f64, momentum = 0.99 : f64}
    : (tensor<8x4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>) -> tensor<8x4xf16>
  return %2 : tensor<8x4xf16>
}

// Evaluation normalizes by what was learnt.
// CHECK-LABEL: func.func @negative_inference
// CHECK: amp.batch_norm
func.func @negative_inference(%x: tensor<8x4xf32>, %c: tensor<4xf32>, %m: tensor<4xf32> {train.state = @m},
                              %v: tensor<4xf32> {train.state = @v}) -> tensor<8x4xf32> attributes {amp.inference} {
  %0 = amp.batch_norm %x, %c, %c, %m, %v {epsilon = 1.0e-5 : f64}
    : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
