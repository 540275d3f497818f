// RUN: ampc-opt %s --training-keep-copies | FileCheck %s

train.arena @parameters : tensor<64xf32>
train.state parameter @b : tensor<4xf32> in @parameters at 0
train.state parameter @w : tensor<4x2xf32> in @parameters at 32

/// A cast of a view is the view of a copy; the parameter itself may be read on.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x2xf32> {train.state = @w}
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<4x2xf16> {train.state = @w.f16}
// CHECK-NOT: amp.cast
// CHECK: %[[T:.*]] = amp.transpose %[[C]] {permutation = array<i64: 1, 0>} : (tensor<4x2xf16>) -> tensor<2x4xf16>
// CHECK: amp.matmul %{{.*}}, %[[T]]
// CHECK: amp.matmul %{{.*}}, %[[C]]
// CHECK: amp.relu %[[W]]
func.func @step(%x: tensor<2x2xf16>, %w: tensor<4x2xf32> {train.state = @w}, %y: tensor<3x4xf16>)
    -> (tensor<2x4xf16>, tensor<3x2xf16>, tensor<4x2xf32>) {
  %0 = amp.transpose %w {permutation = array<i64: 1, 0>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %1 = amp.cast %0 : (tensor<2x4xf32>) -> tensor<2x4xf16>
  %2 = amp.matmul %x, %1 : (tensor<2x2xf16>, tensor<2x4xf16>) -> tensor<2x4xf16>
  %3 = amp.cast %w : (tensor<4x2xf32>) -> tensor<4x2xf16>
  %4 = amp.matmul %y, %3 : (tensor<3x4xf16>, tensor<4x2xf16>) -> tensor<3x2xf16>
  %5 = amp.relu %w : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %2, %4, %5 : tensor<2x4xf16>, tensor<3x2xf16>, tensor<4x2xf32>
}

// An arena of copies has the index of the parameters. The update writes both.
// CHECK: train.arena @parameters.f16 : tensor<64xf16>
// CHECK: train.state @w.f16 : tensor<4x2xf16> in @parameters.f16 at 32
// CHECK-LABEL: func.func @apply
// CHECK-SAME: -> (tensor<64xf32> {train.state = @parameters}, tensor<64xf16> {train.state = @parameters.f16})
// CHECK: %[[P:.*]] = amp.add
// CHECK: %[[N:.*]] = amp.cast %[[P]] : (tensor<64xf32>) -> tensor<64xf16>
// CHECK: return %[[P]], %[[N]]
func.func @apply(%p: tensor<64xf32> {train.state = @parameters}) -> (tensor<64xf32> {train.state = @parameters}) {
  %0 = amp.add %p, %p : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// CHECK-LABEL: func.func @refresh
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<64xf32> {train.state = @parameters}) -> (tensor<64xf16> {train.state = @parameters.f16})
// CHECK: %[[N:.*]] = amp.cast %[[P]]
// CHECK: return %[[N]]

/// What is computed from a parameter is no copy of it, nor is what is no
/// parameter.
// CHECK-LABEL: func.func @negative_computed
// CHECK-COUNT-2: amp.cast
func.func @negative_computed(%b: tensor<4xf32> {train.state = @b}, %x: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf16>) {
  %0 = amp.relu %b : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.cast %0 : (tensor<4xf32>) -> tensor<4xf16>
  %2 = amp.cast %x : (tensor<4xf32>) -> tensor<4xf16>
  return %1, %2 : tensor<4xf16>, tensor<4xf16>
}
