// RUN: ampc-opt %s --precision-inline-composites | FileCheck %s

/// Operands are cast to what the body computes in, results to what the
/// composite returns.
// CHECK-LABEL: func.func @follow
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16>)
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[X]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[E:.*]] = amp.exp %[[W]] : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = amp.cast %[[E]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: return %[[R]]
func.func @follow(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %y = amp.composite "Elu" follow(%x) : (tensor<4xbf16>) -> tensor<4xbf16> {
  ^bb0(%a: tensor<4xf32>):
    %e = amp.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    amp.yield %e : tensor<4xf32>
  }
  return %y : tensor<4xbf16>
}

/// Contractions of a lower composite read the 16-bit type and hand on their
/// accumulators; everything else of its body stays f32.
// CHECK-LABEL: func.func @lower
func.func @lower(%x: tensor<2x2xbf16>, %w: tensor<2x2xbf16>) -> tensor<2x2xbf16> {
  // CHECK: amp.matmul {{.*}} : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xf32>
  // CHECK: amp.tanh {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.matmul {{.*}} : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xf32>
  // CHECK: amp.cast {{.*}} -> tensor<2x2xbf16>
  // CHECK-NEXT: return
  %y = amp.composite "RNN" lower(%x, %w) : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16> {
  ^bb0(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>):
    %m = amp.matmul %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %t = amp.tanh %m : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %n = amp.matmul %t, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    amp.yield %n : tensor<2x2xf32>
  }
  return %y : tensor<2x2xbf16>
}

/// A weight read by each step of a loop is narrowed before the loop.
// CHECK-LABEL: func.func @lower_loop
func.func @lower_loop(%x: tensor<2x2xf16>, %w: tensor<2x2xf16>) -> tensor<2x2xf16> {
  // CHECK: %[[N:.*]] = amp.cast %{{.*}} : (tensor<2x2xf32>) -> tensor<2x2xf16>
  // CHECK: scf.for {{.*}} -> (tensor<2x2xf32>) {
  // CHECK-NEXT: %[[S:.*]] = amp.cast %{{.*}} : (tensor<2x2xf32>) -> tensor<2x2xf16>
  // CHECK-NEXT: amp.matmul %[[S]], %[[N]] : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf32>
  %y = amp.composite "RNN" lower(%x, %w) : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16> {
  ^bb0(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>):
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%s = %a) -> tensor<2x2xf32> {
      %m = amp.matmul %s, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      scf.yield %m : tensor<2x2xf32>
    }
    amp.yield %r : tensor<2x2xf32>
  }
  return %y : tensor<2x2xf16>
}

/// Composites in composites, and results that are no floats.
// CHECK-LABEL: func.func @nested
// CHECK-NOT: amp.composite
// CHECK: amp.sigmoid {{.*}} -> tensor<4xf32>
// CHECK: return %{{.*}}, %{{.*}} : tensor<4xf16>, tensor<4xi64>
func.func @nested(%x: tensor<4xf16>, %i: tensor<4xi64>) -> (tensor<4xf16>, tensor<4xi64>) {
  %y:2 = amp.composite "Outer" follow(%x, %i) : (tensor<4xf16>, tensor<4xi64>) -> (tensor<4xf16>, tensor<4xi64>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xi64>):
    %z = amp.composite "Inner" follow(%a) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%c: tensor<4xf32>):
      %s = amp.sigmoid %c : (tensor<4xf32>) -> tensor<4xf32>
      amp.yield %s : tensor<4xf32>
    }
    amp.yield %z, %b : tensor<4xf32>, tensor<4xi64>
  }
  return %y#0, %y#1 : tensor<4xf16>, tensor<4xi64>
}

/// In f32 nothing is cast.
// CHECK-LABEL: func.func @no_cast_in_f32
// CHECK-NOT: amp.cast
// CHECK: return
func.func @no_cast_in_f32(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = amp.composite "Einsum" lower(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%a: tensor<2x2xf32>):
    %m = amp.matmul %a, %a : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    amp.yield %m : tensor<2x2xf32>
  }
  return %y : tensor<2x2xf32>
}
