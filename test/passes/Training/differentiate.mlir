// RUN: ampc-opt %s --training-differentiate --split-input-file | FileCheck %s
// RUN: ampc-opt %s --training-differentiate=gradient-type=bf16 --split-input-file | FileCheck %s --check-prefix=NARROW

// What two operations read gets two contributions. The mean hands its share to
// every element.
// Rounded once, at the end.
// NARROW-LABEL: func.func @two_uses
// NARROW: %[[N:.*]] = amp.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
// NARROW-NEXT: %[[F:.*]] = amp.cast %[[N]] : (tensor<4xbf16>) -> tensor<4xf32>
// NARROW-NEXT: return %{{.*}}, %[[F]]
// CHECK-LABEL: func.func @two_uses
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32> {amp.name = "w", amp.trainable}, %[[G:.*]]: tensor<f32>)
// CHECK-SAME: -> (tensor<f32>, tensor<4xf32> {amp.name = "w.gradient"})
func.func @two_uses(%x: tensor<4xf32>, %w: tensor<4xf32> {amp.name = "w", amp.trainable}) -> (tensor<f32> {amp.loss}) {
  %0 = amp.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.add %0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.reduce_sum %1 {axes = array<i64: 0>, keepdims = false} : (tensor<4xf32>) -> tensor<f32>
  // CHECK: %[[L:.*]] = amp.reduce_sum
  // CHECK: %[[R:.*]] = amp.reshape %[[G]]
  // CHECK: %[[B:.*]] = amp.broadcast %[[R]]
  // CHECK: %[[P:.*]] = amp.mul %[[B]], %[[X]]
  // CHECK: %[[S:.*]] = amp.add %[[B]], %[[P]]
  // CHECK: return %[[L]], %[[S]]
  return %2 : tensor<f32>
}

// -----

// A 16-bit copy of a weight hands its gradient on in f32, from the accumulators
// of the product; that of an activation is rounded to its type.
// CHECK-LABEL: func.func @copies
func.func @copies(%x: tensor<8x4xbf16>, %w: tensor<4x2xf32> {amp.trainable}, %v: tensor<2x2xf32> {amp.trainable})
    -> (tensor<8x2xbf16> {amp.loss}) {
  %0 = amp.cast %w : (tensor<4x2xf32>) -> tensor<4x2xbf16>
  %1 = amp.matmul %x, %0 : (tensor<8x4xbf16>, tensor<4x2xbf16>) -> tensor<8x2xbf16>
  %2 = amp.cast %v : (tensor<2x2xf32>) -> tensor<2x2xbf16>
  %3 = amp.matmul %1, %2 : (tensor<8x2xbf16>, tensor<2x2xbf16>) -> tensor<8x2xbf16>
  // CHECK: amp.matmul {{.*}} {transpose_rhs} : (tensor<8x2xbf16>, tensor<2x2xbf16>) -> tensor<8x2xbf16>
  // CHECK: amp.matmul {{.*}} {transpose_lhs} : (tensor<8x2xbf16>, tensor<8x2xbf16>) -> tensor<2x2xf32>
  // CHECK-NOT: tensor<8x4xbf16>) -> tensor<8x4
  // CHECK: amp.matmul {{.*}} {transpose_lhs} : (tensor<8x4xbf16>, tensor<8x2xbf16>) -> tensor<4x2xf32>
  // CHECK-NOT: amp.cast
  // CHECK: return
  return %3 : tensor<8x2xbf16>
}

// -----

// An argument that the loss does not depend on gets zeros.
// CHECK-LABEL: func.func @unused
func.func @unused(%x: tensor<2xf32> {amp.trainable}, %w: tensor<3xf32> {amp.trainable}) -> (tensor<2xf32> {amp.loss}) {
  // CHECK: %[[E:.*]] = amp.exp
  // CHECK: %[[Z:.*]] = amp.constant dense<0.000000e+00> : tensor<3xf32>
  // CHECK: return %[[E]], %{{.*}}, %[[Z]]
  // Zeros are what they are.
  // NARROW-LABEL: func.func @unused
  // NARROW: %[[Z:.*]] = amp.constant dense<0.000000e+00> : tensor<3xf32>
  // NARROW: return %{{.*}}, %{{.*}}, %[[Z]]
  %0 = amp.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Nothing is marked.
// CHECK-LABEL: func.func @negative_unmarked(%{{.*}}: tensor<2xf32>) -> tensor<2xf32>
func.func @negative_unmarked(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: amp.exp
  // CHECK-NEXT: return
  %0 = amp.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
