// RUN: ampc-opt %s --training-recompute-blocks | FileCheck %s
// RUN: ampc-opt %s --training-recompute-blocks=mode=all | FileCheck %s --check-prefix=ALL

/// Four residual blocks. What crosses from one to the next is kept, the rest is
/// computed again where the gradients of its block begin; those of the last come
/// first, so nothing of it is.
// CHECK-LABEL: func.func @step
// CHECK: %[[A0:.*]] = amp.tanh %arg0
// CHECK-NEXT: %[[B0:.*]] = amp.tanh %[[A0]]
// CHECK-NEXT: %[[X1:.*]] = amp.add %arg0, %[[B0]]
// CHECK: %[[X2:.*]] = amp.add %[[X1]]
// CHECK: %[[X3:.*]] = amp.add %[[X2]]
// CHECK: %[[A3:.*]] = amp.tanh %[[X3]]
// CHECK-NEXT: %[[B3:.*]] = amp.tanh %[[A3]]
// CHECK: amp.mul %{{.*}}, %[[B3]]
// CHECK-NEXT: amp.mul %{{.*}}, %[[A3]]
// CHECK-NEXT: %[[A2:.*]] = amp.tanh %[[X2]]
// CHECK-NEXT: %[[B2:.*]] = amp.tanh %[[A2]]
// CHECK-NEXT: amp.mul %{{.*}}, %[[B2]]
// CHECK-NEXT: amp.mul %{{.*}}, %[[A2]]
// CHECK-NEXT: %[[A1:.*]] = amp.tanh %[[X1]]
// CHECK-NEXT: %[[B1:.*]] = amp.tanh %[[A1]]
// CHECK-NEXT: amp.mul %{{.*}}, %[[B1]]
// CHECK-NEXT: amp.mul %{{.*}}, %[[A1]]
// CHECK-NEXT: %[[C0:.*]] = amp.tanh %arg0
// CHECK-NEXT: %[[D0:.*]] = amp.tanh %[[C0]]
// CHECK-NEXT: amp.mul %{{.*}}, %[[D0]]
// CHECK-NEXT: amp.mul %{{.*}}, %[[C0]]
// CHECK-NEXT: return

/// One cut in the middle: half as much is kept, and two blocks at once are
/// computed again.
// ALL-LABEL: func.func @step
// ALL: %[[X1:.*]] = amp.add %arg0
// ALL: %[[X2:.*]] = amp.add %[[X1]]
// ALL: %[[X3:.*]] = amp.add %[[X2]]
// ALL: return
train.state @train.scale : tensor<f32>
func.func @step(%x0: tensor<64xf32>, %scale: tensor<f32> {train.state = @train.scale}) -> tensor<64xf32> {
  %a0 = amp.tanh %x0 : (tensor<64xf32>) -> tensor<64xf32>
  %b0 = amp.tanh %a0 : (tensor<64xf32>) -> tensor<64xf32>
  %x1 = amp.add %x0, %b0 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %a1 = amp.tanh %x1 : (tensor<64xf32>) -> tensor<64xf32>
  %b1 = amp.tanh %a1 : (tensor<64xf32>) -> tensor<64xf32>
  %x2 = amp.add %x1, %b1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %a2 = amp.tanh %x2 : (tensor<64xf32>) -> tensor<64xf32>
  %b2 = amp.tanh %a2 : (tensor<64xf32>) -> tensor<64xf32>
  %x3 = amp.add %x2, %b2 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %a3 = amp.tanh %x3 : (tensor<64xf32>) -> tensor<64xf32>
  %b3 = amp.tanh %a3 : (tensor<64xf32>) -> tensor<64xf32>
  %x4 = amp.add %x3, %b3 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g0 = amp.mul %scale, %b3 : (tensor<f32>, tensor<64xf32>) -> tensor<64xf32>
  %g1 = amp.mul %g0, %a3 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g2 = amp.mul %g1, %b2 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g3 = amp.mul %g2, %a2 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g4 = amp.mul %g3, %b1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g5 = amp.mul %g4, %a1 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g6 = amp.mul %g5, %b0 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g7 = amp.mul %g6, %a0 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %g7 : tensor<64xf32>
}

/// A block that saves no more than its input is not worth a cut.
// CHECK-LABEL: func.func @negative_small_blocks
// CHECK: amp.tanh
// CHECK: amp.tanh
// CHECK-NOT: amp.tanh
// CHECK: return
func.func @negative_small_blocks(%x: tensor<64xf32>, %scale: tensor<f32> {train.state = @train.scale}) -> tensor<64xf32> {
  %a = amp.tanh %x : (tensor<64xf32>) -> tensor<64xf32>
  %b = amp.tanh %a : (tensor<64xf32>) -> tensor<64xf32>
  %0 = amp.mul %scale, %b : (tensor<f32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = amp.mul %0, %a : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}
