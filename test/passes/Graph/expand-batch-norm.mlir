// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-expand-batch-norm))' | FileCheck %s

// CHECK-LABEL: func.func @channels_first
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x4x4xf32>, %[[GAMMA:.*]]: tensor<2xf32>, %[[BETA:.*]]: tensor<2xf32>, %[[MEAN:.*]]: tensor<2xf32>, %[[VAR:.*]]: tensor<2xf32>)
func.func @channels_first(%x: tensor<1x2x4x4xf32>, %gamma: tensor<2xf32>, %beta: tensor<2xf32>, %mean: tensor<2xf32>, %var: tensor<2xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: %[[EPS:.*]] = amp.constant dense<1.000000e-03> : tensor<f32>
  // CHECK: %[[SUM:.*]] = amp.add %[[VAR]], %[[EPS]]
  // CHECK: %[[DEV:.*]] = amp.sqrt %[[SUM]]
  // CHECK: %[[SCALE:.*]] = amp.div %[[GAMMA]], %[[DEV]]
  // CHECK: %[[OFFSET:.*]] = amp.mul %[[SCALE]], %[[MEAN]]
  // CHECK: %[[SHIFT:.*]] = amp.sub %[[BETA]], %[[OFFSET]]
  // CHECK: %[[S:.*]] = amp.reshape %[[SCALE]] : (tensor<2xf32>) -> tensor<2x1x1xf32>
  // CHECK: %[[P:.*]] = amp.mul %[[X]], %[[S]]
  // CHECK: %[[T:.*]] = amp.reshape %[[SHIFT]] : (tensor<2xf32>) -> tensor<2x1x1xf32>
  // CHECK: %[[Y:.*]] = amp.add %[[P]], %[[T]]
  // CHECK: return %[[Y]]
  %0 = amp.batch_norm %x, %gamma, %beta, %mean, %var {epsilon = 1.0e-3 : f64} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

/// Computed in f32, rounded once; the last dimension needs no reshape.
// CHECK-LABEL: func.func @channels_last_f16
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x2xf16>
func.func @channels_last_f16(%x: tensor<1x4x2xf16>, %p: tensor<2xf16>) -> tensor<1x4x2xf16> {
  // CHECK: amp.div %{{.*}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %[[WIDE:.*]] = amp.cast %[[X]] : (tensor<1x4x2xf16>) -> tensor<1x4x2xf32>
  // CHECK: %[[P:.*]] = amp.mul %[[WIDE]], %{{.*}} : (tensor<1x4x2xf32>, tensor<2xf32>)
  // CHECK: %[[S:.*]] = amp.add %[[P]], %{{.*}} : (tensor<1x4x2xf32>, tensor<2xf32>)
  // CHECK: amp.cast %[[S]] : (tensor<1x4x2xf32>) -> tensor<1x4x2xf16>
  %0 = amp.batch_norm %x, %p, %p, %p, %p {epsilon = 1.0e-3 : f64, layout = #amp.layout<channels_last>} : (tensor<1x4x2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<1x4x2xf16>
  return %0 : tensor<1x4x2xf16>
}

/// Other normalizations are kernels of their own.
// CHECK-LABEL: func.func @negative_group_norm
func.func @negative_group_norm(%x: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  // CHECK-NEXT: amp.group_norm
  %0 = amp.group_norm %x {groups = 1 : i64, epsilon = 1.0e-3 : f64} : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}
