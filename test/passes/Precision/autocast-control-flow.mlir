// RUN: ampc-opt %s --precision-autocast=type=bf16 | FileCheck %s

/// Casts for a branch stand in the branch, captures too; the branches yield the
/// widest type.
// CHECK-LABEL: func.func @branch
// CHECK-SAME: (%[[C:.*]]: i1, %[[X:.*]]: tensor<2x2xf32>, %[[W:.*]]: tensor<2x2xf32>)
func.func @branch(%c: i1, %x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK-NEXT: %[[E:.*]] = amp.exp %[[X]]
  // CHECK-NEXT: %[[R:.*]] = scf.if %[[C]] -> (tensor<2x2xf32>) {
  // CHECK-NEXT: %[[EL:.*]] = amp.cast %[[E]] : (tensor<2x2xf32>) -> tensor<2x2xbf16>
  // CHECK-NEXT: %[[WL:.*]] = amp.cast %[[W]] : (tensor<2x2xf32>) -> tensor<2x2xbf16>
  // CHECK-NEXT: %[[M:.*]] = amp.matmul %[[EL]], %[[WL]] : {{.*}} -> tensor<2x2xbf16>
  // CHECK-NEXT: %[[Y:.*]] = amp.cast %[[M]] : (tensor<2x2xbf16>) -> tensor<2x2xf32>
  // CHECK-NEXT: scf.yield %[[Y]]
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[E]]
  // CHECK: return %[[R]]
  %e = amp.exp %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = scf.if %c -> tensor<2x2xf32> {
    %m = amp.matmul %e, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %m : tensor<2x2xf32>
  } else {
    scf.yield %e : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}

/// Branches that agree on the low type hand it on.
// CHECK-LABEL: func.func @low_branches
func.func @low_branches(%c: i1, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[R:.*]] = scf.if %{{.*}} -> (tensor<2x2xbf16>) {
  // CHECK: scf.yield %{{.*}} : tensor<2x2xbf16>
  // CHECK: scf.yield %{{.*}} : tensor<2x2xbf16>
  // CHECK: amp.relu %[[R]] : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  %r = scf.if %c -> tensor<2x2xf32> {
    %m = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %m : tensor<2x2xf32>
  } else {
    %m = amp.matmul %x, %x {transpose_lhs} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %m : tensor<2x2xf32>
  }
  %s = amp.relu %r : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}

/// A value captured by nested branches has the type it has outside.
// CHECK-LABEL: func.func @nested_capture
func.func @nested_capture(%c: i1, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[Y:.*]] = amp.relu %{{.*}} : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  // CHECK: scf.if
  // CHECK: scf.if
  // CHECK: amp.add %[[Y]], %[[Y]] : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
  // CHECK: amp.exp %{{.*}} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = amp.relu %m : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = scf.if %c -> tensor<2x2xf32> {
    %i = scf.if %c -> tensor<2x2xf32> {
      %a = amp.add %y, %y : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      scf.yield %a : tensor<2x2xf32>
    } else {
      %e = amp.exp %y : (tensor<2x2xf32>) -> tensor<2x2xf32>
      scf.yield %e : tensor<2x2xf32>
    }
    scf.yield %i : tensor<2x2xf32>
  } else {
    scf.yield %y : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}

/// A loop carries the type that the program declares, whatever its body and its
/// initial value compute in; what it captures is narrowed before it.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: (%[[X:.*]]: tensor<2x2xf32>, %[[W:.*]]: tensor<2x2xf32>, %[[V:.*]]: tensor<2x2xf32>)
func.func @loop(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>, %v: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[I:.*]] = amp.matmul {{.*}} -> tensor<2x2xbf16>
  // CHECK: %[[IW:.*]] = amp.cast %[[I]] : (tensor<2x2xbf16>) -> tensor<2x2xf32>
  // CHECK: %[[VL:.*]] = amp.cast %[[V]] : (tensor<2x2xf32>) -> tensor<2x2xbf16>
  // CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[IW]]) -> (tensor<2x2xf32>) {
  // CHECK-NEXT: %[[SL:.*]] = amp.cast %[[S]] : (tensor<2x2xf32>) -> tensor<2x2xbf16>
  // CHECK-NEXT: %[[M:.*]] = amp.matmul %[[SL]], %[[VL]] : {{.*}} -> tensor<2x2xbf16>
  // CHECK-NEXT: %[[Y:.*]] = amp.cast %[[M]] : (tensor<2x2xbf16>) -> tensor<2x2xf32>
  // CHECK-NEXT: scf.yield %[[Y]] : tensor<2x2xf32>
  // CHECK: return %[[R]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %i = amp.matmul %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%s = %i) -> tensor<2x2xf32> {
    %m = amp.matmul %s, %v : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %m : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}

/// The same for a loop whose condition is computed.
// CHECK-LABEL: func.func @while
func.func @while(%x: tensor<2x2xf32>, %n: i1) -> tensor<2x2xf32> {
  // CHECK: scf.while (%{{.*}} = %{{.*}}) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xbf16>
  // CHECK: scf.condition(%{{.*}}) %{{.*}} : tensor<2x2xf32>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xbf16>
  // CHECK: scf.yield %{{.*}} : tensor<2x2xf32>
  %r = scf.while (%s = %x) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
    %m = amp.matmul %s, %s : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.condition(%n) %m : tensor<2x2xf32>
  } do {
  ^bb0(%t: tensor<2x2xf32>):
    %m = amp.matmul %t, %t : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %m : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}

/// The cast of a constant is executed when the program is written, so it stands
/// beside the constant even when only a branch reads it.
// CHECK-LABEL: func.func @constant_in_branch
func.func @constant_in_branch(%c: i1, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[K:.*]] = amp.constant
  // CHECK-NEXT: %[[L:.*]] = amp.cast %[[K]]
  // CHECK-NEXT: scf.if
  // CHECK: amp.matmul %{{.*}}, %[[L]]
  %k = amp.constant dense<1.0> : tensor<2x2xf32>
  %r = scf.if %c -> tensor<2x2xf32> {
    %m = amp.matmul %x, %k : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %m : tensor<2x2xf32>
  } else {
    scf.yield %x : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}
