// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-raise))' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @softmax(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = amp.softmax %[[X]] {axis = 0 : i64}
  // CHECK-NEXT: %[[B:.*]] = amp.softmax %[[X]] {axis = 0 : i64}
  // CHECK-NEXT: return %[[A]], %[[B]]
  %max = amp.reduce_max %x {axes = array<i64: 0>, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %d = amp.sub %x, %max : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %e = amp.exp %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sum = amp.reduce_sum %e {axes = array<i64: 0>, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %a = amp.div %e, %sum : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %inverse = amp.reciprocal %sum : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %b = amp.mul %inverse, %e : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @log_softmax
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @log_softmax(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NEXT: %[[A:.*]] = amp.log_softmax %[[X]] {axis = 1 : i64}
  // CHECK-NEXT: %[[B:.*]] = amp.log_softmax %[[X]] {axis = 1 : i64}
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = amp.softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %a = amp.log %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %max = amp.reduce_max %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = amp.sub %x, %max : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %e = amp.exp %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sum = amp.reduce_sum %e {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %l = amp.log %sum : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %b = amp.sub %d, %l : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

/// Without the maximum, or along another axis, or over two axes.
// CHECK-LABEL: func.func @negative_softmax
func.func @negative_softmax(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-NOT: softmax
  // CHECK: return
  %e0 = amp.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s0 = amp.reduce_sum %e0 {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %a = amp.div %e0, %s0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %max = amp.reduce_max %x {axes = array<i64: 0>, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %d = amp.sub %x, %max : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  %e1 = amp.exp %d : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s1 = amp.reduce_sum %e1 {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %b = amp.div %e1, %s1 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %s2 = amp.reduce_sum %e1 {axes = array<i64: 0, 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x1xf32>
  %c = amp.div %e1, %s2 : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  return %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
