// RUN: ampc-opt %s --training-expose-parameters | FileCheck %s

// Masters are f32 and hold the exact value; what reads them reads a copy.
// CHECK: train.state parameter @w : tensor<2xf32> initial dense<[1.00097656, 5.96046448E-8]> : tensor<2xf32>
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<2xf32> {amp.name = "w", amp.trainable, train.state = @w}
// CHECK-DAG: %[[C:.*]] = amp.cast %[[W]] : (tensor<2xf32>) -> tensor<2xf16>
// Weights of classes are no parameters.
// CHECK-DAG: amp.constant {amp.initializer = "classes"}
// CHECK: amp.mul %{{.*}}, %[[C]]
func.func @main(%x: tensor<2xf16>, %y: tensor<2xi64>) -> (tensor<2xf16>, tensor<f32>) {
  %w = amp.constant {amp.initializer = "w"} dense<[0x3C01, 0x0001]> : tensor<2xf16>
  %c = amp.constant {amp.initializer = "classes"} dense<1.0> : tensor<3xf32>
  %0 = amp.mul %x, %w : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %1 = amp.composite "NegativeLogLikelihoodLoss" fp32(%0, %y, %c) {amp.reduction = "mean"}
    : (tensor<2xf16>, tensor<2xi64>, tensor<3xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xi64>, %d: tensor<3xf32>):
    %2 = amp.reduce_sum %a {axes = array<i64: 0>, keepdims = false} : (tensor<2xf32>) -> tensor<f32>
    amp.yield %2 : tensor<f32>
  }
  return %0, %1 : tensor<2xf16>, tensor<f32>
}
