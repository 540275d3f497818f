// RUN: ampc-opt %s --training-expose-parameters=frozen=frozen.* | FileCheck %s
// RUN: ampc-opt %s --training-expose-parameters=trained=w | FileCheck %s --check-prefix=ONLY
// RUN: ampc-opt %s --training-expose-parameters=frozen=*,nothing 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: train.state parameter @w : tensor<3xf32> initial dense<2.000000e+00> : tensor<3xf32>
// CHECK: train.state statistic @mean : tensor<3xf32>
// CHECK: train.state statistic @var : tensor<3xf32>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3xf32> {amp.name = "w", amp.trainable, train.state = @w}
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<3xf32> {amp.name = "mean", train.state = @mean}
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<3xf32> {amp.name = "var", train.state = @var}
// What is frozen, counts or has no name stays a constant.
// CHECK: amp.constant {amp.initializer = "frozen.b"}
// CHECK: amp.constant {amp.initializer = "count"}
// CHECK: amp.constant dense<3.000000e+00>
// CHECK: amp.batch_norm %[[X]], %[[W]], %{{.*}}, %[[M]], %[[V]]
// NONE: warning: 'nothing' matches no initializer of floats
// NONE-NOT: train.state
// ONLY: train.state parameter @w
// ONLY: amp.constant {amp.initializer = "frozen.b"}
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xi64>) {
  %w = amp.constant {amp.initializer = "w"} dense<2.0> : tensor<3xf32>
  %b = amp.constant {amp.initializer = "frozen.b"} dense<1.0> : tensor<3xf32>
  %m = amp.constant {amp.initializer = "mean"} dense<0.0> : tensor<3xf32>
  %v = amp.constant {amp.initializer = "var"} dense<1.0> : tensor<3xf32>
  %i = amp.constant {amp.initializer = "count"} dense<4> : tensor<3xi64>
  %c = amp.constant dense<3.0> : tensor<3xf32>
  %0 = amp.batch_norm %x, %w, %b, %m, %v {epsilon = 1.0e-5 : f64}
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = amp.mul %0, %c : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %1, %i : tensor<2x3xf32>, tensor<3xi64>
}

// CHECK-LABEL: func.func @negative_other_function()
// CHECK-NEXT: amp.constant {amp.initializer = "other"}
func.func @negative_other_function() -> tensor<f32> {
  %0 = amp.constant {amp.initializer = "other"} dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}
