// RUN: ampc-opt %s --precision-clean-casts | FileCheck %s

/// Narrowing goes before a view, which then moves half the bytes.
// CHECK-LABEL: func.func @narrow_before_view
// CHECK-NEXT: %[[N:.*]] = amp.cast %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK-NEXT: %[[T:.*]] = amp.transpose %[[N]] {{.*}} -> tensor<8x4xbf16>
// CHECK-NEXT: %[[R:.*]] = amp.reshape %[[T]] : {{.*}} -> tensor<32xbf16>
// CHECK-NEXT: return %[[R]]
func.func @narrow_before_view(%x: tensor<4x8xf32>) -> tensor<32xbf16> {
  %t = amp.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %r = amp.reshape %t : (tensor<8x4xf32>) -> tensor<32xf32>
  %c = amp.cast %r : (tensor<32xf32>) -> tensor<32xbf16>
  return %c : tensor<32xbf16>
}

/// Widening goes behind it.
// CHECK-LABEL: func.func @widen_behind_view
// CHECK-NEXT: %[[T:.*]] = amp.transpose %{{.*}} -> tensor<8x4xbf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[T]] : (tensor<8x4xbf16>) -> tensor<8x4xf32>
// CHECK-NEXT: return %[[W]]
func.func @widen_behind_view(%x: tensor<4x8xbf16>) -> tensor<8x4xf32> {
  %c = amp.cast %x : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %t = amp.transpose %c {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %t : tensor<8x4xf32>
}

/// A result is widened where it is computed, since a reshape moves nothing and a
/// kernel that only widens would read it once more.
// CHECK-LABEL: func.func @result
// CHECK-NEXT: %[[S:.*]] = amp.sigmoid %{{.*}} -> tensor<4x8xbf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[S]] : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[R:.*]] = amp.reshape %[[W]] : (tensor<4x8xf32>) -> tensor<32xf32>
// CHECK-NEXT: return %[[R]]
func.func @result(%x: tensor<4x8xbf16>) -> tensor<32xf32> {
  %s = amp.sigmoid %x : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %r = amp.reshape %s : (tensor<4x8xbf16>) -> tensor<32xbf16>
  %c = amp.cast %r : (tensor<32xbf16>) -> tensor<32xf32>
  return %c : tensor<32xf32>
}

/// What others read as well is not a result alone.
// CHECK-LABEL: func.func @no_result
// CHECK: amp.reshape {{.*}} -> tensor<32xbf16>
// CHECK-NEXT: %[[C:.*]] = amp.cast {{.*}} -> tensor<32xf32>
// CHECK-NEXT: amp.exp %[[C]]
func.func @no_result(%x: tensor<4x8xbf16>) -> (tensor<32xf32>, tensor<32xf32>) {
  %r = amp.reshape %x : (tensor<4x8xbf16>) -> tensor<32xbf16>
  %c = amp.cast %r : (tensor<32xbf16>) -> tensor<32xf32>
  %e = amp.exp %c : (tensor<32xf32>) -> tensor<32xf32>
  return %c, %e : tensor<32xf32>, tensor<32xf32>
}

/// A slice of a quarter is narrowed after it is taken, and widened too.
// CHECK-LABEL: func.func @slice
// CHECK: amp.slice {{.*}} (tensor<16xf32>) -> tensor<4xf32>
// CHECK: amp.slice {{.*}} (tensor<16xbf16>) -> tensor<4xbf16>
func.func @slice(%x: tensor<16xf32>, %y: tensor<16xbf16>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %s = amp.slice %x {starts = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<16xf32>) -> tensor<4xf32>
  %c = amp.cast %s : (tensor<4xf32>) -> tensor<4xbf16>
  %w = amp.cast %y : (tensor<16xbf16>) -> tensor<16xf32>
  %t = amp.slice %w {starts = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<16xf32>) -> tensor<4xf32>
  return %c, %t : tensor<4xbf16>, tensor<4xf32>
}

/// A view that others read in its own type stays where it is.
// CHECK-LABEL: func.func @no_move_of_shared_view
// CHECK: amp.transpose {{.*}} -> tensor<8x4xf32>
func.func @no_move_of_shared_view(%x: tensor<4x8xf32>) -> (tensor<8x4xbf16>, tensor<8x4xf32>) {
  %t = amp.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %c = amp.cast %t : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  return %c, %t : tensor<8x4xbf16>, tensor<8x4xf32>
}

/// Up and down again is exact; down and up again is a rounding and stays, also
/// where two f32 operations stand around it.
// CHECK-LABEL: func.func @pairs
// CHECK-SAME: (%[[L:.*]]: tensor<4xbf16>, %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[N:.*]] = amp.cast %[[X]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[N]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT: return %[[L]], %[[W]]
func.func @pairs(%l: tensor<4xbf16>, %x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %u = amp.cast %l : (tensor<4xbf16>) -> tensor<4xf32>
  %d = amp.cast %u : (tensor<4xf32>) -> tensor<4xbf16>
  %n = amp.cast %x : (tensor<4xf32>) -> tensor<4xf16>
  %w = amp.cast %n : (tensor<4xf16>) -> tensor<4xf32>
  return %d, %w : tensor<4xbf16>, tensor<4xf32>
}

/// Neither 16-bit type holds the other.
// CHECK-LABEL: func.func @no_fold_across_formats
// CHECK-COUNT-2: amp.cast
func.func @no_fold_across_formats(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %h = amp.cast %x : (tensor<4xbf16>) -> tensor<4xf16>
  %b = amp.cast %h : (tensor<4xf16>) -> tensor<4xbf16>
  return %b : tensor<4xbf16>
}

/// Equal casts are one, dead casts none, one that saturates another.
// CHECK-LABEL: func.func @duplicates
// CHECK-NEXT: %[[A:.*]] = amp.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT: %[[S:.*]] = amp.cast %{{.*}} {saturate} : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT: return %[[A]], %[[A]], %[[S]]
func.func @duplicates(%x: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4xf16>) {
  %a = amp.cast %x : (tensor<4xf32>) -> tensor<4xf16>
  %b = amp.cast %x : (tensor<4xf32>) -> tensor<4xf16>
  %s = amp.cast %x {saturate} : (tensor<4xf32>) -> tensor<4xf16>
  %dead = amp.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
  return %a, %b, %s : tensor<4xf16>, tensor<4xf16>, tensor<4xf16>
}

/// A cast in a branch is merged with one that stands before the branch, not
/// with one in the other branch.
// CHECK-LABEL: func.func @branches
// CHECK: scf.if
// CHECK: amp.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xf16>
// CHECK: } else {
// CHECK: amp.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xf16>
// CHECK: %[[C:.*]] = amp.cast
// CHECK-NEXT: %[[R:.*]] = scf.if
// CHECK-NEXT: scf.yield %[[C]]
func.func @branches(%c: i1, %x: tensor<4xf32>, %z: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>, tensor<4xf16>) {
  %p = scf.if %c -> tensor<4xf16> {
    %a = amp.cast %x : (tensor<4xf32>) -> tensor<4xf16>
    scf.yield %a : tensor<4xf16>
  } else {
    %b = amp.cast %x : (tensor<4xf32>) -> tensor<4xf16>
    scf.yield %b : tensor<4xf16>
  }
  %d = amp.cast %x : (tensor<4xf32>) -> tensor<4xf16>
  %q = scf.if %c -> tensor<4xf16> {
    %a = amp.cast %x : (tensor<4xf32>) -> tensor<4xf16>
    scf.yield %a : tensor<4xf16>
  } else {
    scf.yield %z : tensor<4xf16>
  }
  return %p, %d, %q : tensor<4xf16>, tensor<4xf16>, tensor<4xf16>
}

/// The mark of a cast of the model has done its work: a cast that turned out
/// to change nothing goes, a rounding stays.
// CHECK-LABEL: func.func @marks
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[N:.*]] = amp.cast %[[X]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT: return %[[X]], %[[N]]
func.func @marks(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf16>) {
  %c = amp.cast %x {from_model} : (tensor<4xf32>) -> tensor<4xf32>
  %n = amp.cast %x {from_model} : (tensor<4xf32>) -> tensor<4xf16>
  return %c, %n : tensor<4xf32>, tensor<4xf16>
}
