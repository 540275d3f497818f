// RUN: ampc-opt %s --precision-autocast=type=bf16 | FileCheck %s

/// A composite is one operation: its class types operands and results, and its
/// body is left alone.
// CHECK-LABEL: func.func @lower
// CHECK-SAME: (%[[X:.*]]: tensor<2x2xf32>, %[[H:.*]]: tensor<2x2xf32>)
func.func @lower(%x: tensor<2x2xf32>, %h: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[L:.*]] = amp.cast %[[X]] : (tensor<2x2xf32>) -> tensor<2x2xbf16>
  // CHECK: %[[Y:.*]] = amp.composite "Gated" lower(%[[L]], %[[H]]) {pinned = array<i64: 1>} : (tensor<2x2xbf16>, tensor<2x2xf32>) -> tensor<2x2xbf16> {
  // CHECK: ^{{.*}}(%{{.*}}: tensor<2x2xf32>, %{{.*}}: tensor<2x2xf32>):
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.yield %{{.*}} : tensor<2x2xf32>
  // CHECK: amp.cast %[[Y]] : (tensor<2x2xbf16>) -> tensor<2x2xf32>
  %y = amp.composite "Gated" lower(%x, %h) {pinned = array<i64: 1>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>):
    %m = amp.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %s = amp.mul %m, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    amp.yield %s : tensor<2x2xf32>
  }
  return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @follow_fp32_promote
// CHECK-SAME: (%[[X:.*]]: tensor<2x2xf32>)
func.func @follow_fp32_promote(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[M:.*]] = amp.matmul
  // CHECK: %[[MW:.*]] = amp.cast %[[M]] : (tensor<2x2xbf16>) -> tensor<2x2xf32>
  // CHECK: amp.composite "Elu" follow(%[[M]]) : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  // CHECK: amp.composite "LRN" fp32(%{{.*}}) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: amp.composite "SwiGLU" promote(%[[MW]], %[[X]]) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = amp.composite "Elu" follow(%m) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>):
    amp.yield %a : tensor<2x2xf32>
  }
  %l = amp.composite "LRN" fp32(%e) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>):
    amp.yield %a : tensor<2x2xf32>
  }
  %p = amp.composite "SwiGLU" promote(%m, %x) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>):
    amp.yield %b : tensor<2x2xf32>
  }
  %s = amp.add %l, %p : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}

/// Operands and results that are no floats keep their types.
// CHECK-LABEL: func.func @no_integers
func.func @no_integers(%x: tensor<2x2xf32>, %i: tensor<2xi64>) -> (tensor<2x2xf32>, tensor<2xi64>) {
  // CHECK: amp.composite "Sorted" lower(%{{.*}}, %{{.*}}) : (tensor<2x2xbf16>, tensor<2xi64>) -> (tensor<2x2xbf16>, tensor<2xi64>)
  %y:2 = amp.composite "Sorted" lower(%x, %i) : (tensor<2x2xf32>, tensor<2xi64>) -> (tensor<2x2xf32>, tensor<2xi64>) {
  ^bb0(%a: tensor<2x2xf32>, %b: tensor<2xi64>):
    amp.yield %a, %b : tensor<2x2xf32>, tensor<2xi64>
  }
  return %y#0, %y#1 : tensor<2x2xf32>, tensor<2xi64>
}
