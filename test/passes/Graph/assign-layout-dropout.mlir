// RUN: ampc-opt %s --pass-pipeline="builtin.module(func.func(graph-assign-layout))" | FileCheck %s

// A dropout between convolutions moves its channels with them.
// CHECK-LABEL: func.func @between_convolutions
// CHECK: amp.conv
// CHECK-NOT: amp.transpose
// CHECK: train.dropout %{{.*}} : (tensor<2x6x6x4xf32>) -> tensor<2x6x6x4xf32>
// CHECK-NOT: amp.transpose
// CHECK: amp.conv
func.func @between_convolutions(%x: tensor<2x3x8x8xf32>, %v: tensor<4x3x3x3xf32>, %w: tensor<5x4x3x3xf32>) -> tensor<2x5x4x4xf32> {
  %0 = amp.conv %x, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
    : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32>
  %1 = train.dropout %0 {ratio = 0.5 : f64, stream = 0 : i64} : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %2 = amp.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
    : (tensor<2x4x6x6xf32>, tensor<5x4x3x3xf32>) -> tensor<2x5x4x4xf32>
  return %2 : tensor<2x5x4x4xf32>
}
