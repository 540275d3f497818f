// RUN: ampc-opt %s --precision-autocast=type=bf16 | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: ampc-opt %s --precision-autocast=type=f16 | FileCheck %s --check-prefixes=CHECK,F16

/// Class lower: every float operand is narrowed, the result with it, and the
/// function keeps its signature.
// CHECK-LABEL: func.func @lower
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x2xf32>, %[[B:.*]]: tensor<2xf32>) -> tensor<4x2xf32>
func.func @lower(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %b: tensor<2xf32>) -> tensor<4x2xf32> {
  // BF16-DAG: %[[XL:.*]] = amp.cast %[[X]] : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  // BF16-DAG: %[[WL:.*]] = amp.cast %[[W]] : (tensor<8x2xf32>) -> tensor<8x2xbf16>
  // BF16-DAG: %[[BL:.*]] = amp.cast %[[B]] : (tensor<2xf32>) -> tensor<2xbf16>
  // BF16: %[[Y:.*]] = amp.matmul %[[XL]], %[[WL]], %[[BL]] : (tensor<4x8xbf16>, tensor<8x2xbf16>, tensor<2xbf16>) -> tensor<4x2xbf16>
  // BF16: %[[R:.*]] = amp.cast %[[Y]] : (tensor<4x2xbf16>) -> tensor<4x2xf32>
  // F16-DAG: %[[XL:.*]] = amp.cast %[[X]] : (tensor<4x8xf32>) -> tensor<4x8xf16>
  // F16-DAG: %[[WL:.*]] = amp.cast %[[W]] : (tensor<8x2xf32>) -> tensor<8x2xf16>
  // F16-DAG: %[[BL:.*]] = amp.cast %[[B]] : (tensor<2xf32>) -> tensor<2xf16>
  // F16: %[[Y:.*]] = amp.matmul %[[XL]], %[[WL]], %[[BL]] : (tensor<4x8xf16>, tensor<8x2xf16>, tensor<2xf16>) -> tensor<4x2xf16>
  // F16: %[[R:.*]] = amp.cast %[[Y]] : (tensor<4x2xf16>) -> tensor<4x2xf32>
  // CHECK: return %[[R]]
  %y = amp.matmul %x, %w, %b : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

/// Class fp32: a low operand is widened and the result is f32.
// CHECK-LABEL: func.func @fp32
func.func @fp32(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[Y:.*]] = amp.matmul
  // CHECK: %[[W:.*]] = amp.cast %[[Y]] : {{.*}} -> tensor<2x2xf32>
  // CHECK: %[[E:.*]] = amp.exp %[[W]] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: return %[[E]]
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = amp.exp %y : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %e : tensor<2x2xf32>
}

/// Class promote: two low operands stay low; a low one beside f32 is widened.
// CHECK-LABEL: func.func @promote
// CHECK-SAME: (%[[X:.*]]: tensor<2x2xf32>)
func.func @promote(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[Y:.*]] = amp.matmul
  // BF16: %[[A:.*]] = amp.add %[[Y]], %[[Y]] : (tensor<2x2xbf16>, tensor<2x2xbf16>) -> tensor<2x2xbf16>
  // F16: %[[A:.*]] = amp.add %[[Y]], %[[Y]] : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  // CHECK: %[[W:.*]] = amp.cast %[[A]] : {{.*}} -> tensor<2x2xf32>
  // CHECK: %[[S:.*]] = amp.add %[[W]], %[[X]] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: return %[[S]]
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %a = amp.add %y, %y : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = amp.add %a, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}

/// A sum in f32 and a product in the low type meet in a concatenation.
// CHECK-LABEL: func.func @promote_concat
func.func @promote_concat(%x: tensor<2x2xf32>) -> tensor<2x3xf32> {
  // CHECK: %[[Y:.*]] = amp.matmul
  // CHECK: %[[W:.*]] = amp.cast %[[Y]] : {{.*}} -> tensor<2x2xf32>
  // CHECK: %[[S:.*]] = amp.reduce_sum %[[W]] {{.*}} -> tensor<2x1xf32>
  // CHECK: amp.concat %[[S]], %[[W]] {{.*}} -> tensor<2x3xf32>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = amp.reduce_sum %y {axes = array<i64: 1>, keepdims = true} : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %c = amp.concat %s, %y {axis = 1 : i64} : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}

/// A comparison promotes its operands and returns booleans; a choice promotes
/// its values and leaves the condition.
// CHECK-LABEL: func.func @promote_compare_select
// CHECK-SAME: (%[[X:.*]]: tensor<2x2xf32>)
func.func @promote_compare_select(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[W:.*]] = amp.cast {{.*}} -> tensor<2x2xf32>
  // CHECK: %[[C:.*]] = amp.compare %[[W]], %[[X]] {{.*}} (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  // CHECK: amp.select %[[C]], %[[W]], %[[X]] : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = amp.compare %y, %x {predicate = #amp.predicate<lt>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  %s = amp.select %c, %y, %x : (tensor<2x2xi1>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}

/// Class follow: low stays low, f32 stays f32; views and means follow.
// CHECK-LABEL: func.func @follow
// CHECK-SAME: (%[[X:.*]]: tensor<2x2xf32>)
func.func @follow(%x: tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2x2xf32>) {
  // CHECK: %[[Y:.*]] = amp.matmul
  // BF16: %[[T:.*]] = amp.transpose %[[Y]] {{.*}} -> tensor<2x2xbf16>
  // BF16: %[[R:.*]] = amp.relu %[[T]] : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  // BF16: amp.reduce_mean %[[R]] {{.*}} -> tensor<2xbf16>
  // F16: %[[T:.*]] = amp.transpose %[[Y]] {{.*}} -> tensor<2x2xf16>
  // F16: %[[R:.*]] = amp.relu %[[T]] : (tensor<2x2xf16>) -> tensor<2x2xf16>
  // F16: amp.reduce_mean %[[R]] {{.*}} -> tensor<2xf16>
  // CHECK: amp.tanh %[[X]] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %t = amp.transpose %y {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = amp.relu %t : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = amp.reduce_mean %r {axes = array<i64: 1>, keepdims = false} : (tensor<2x2xf32>) -> tensor<2xf32>
  %h = amp.tanh %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %m, %h : tensor<2xf32>, tensor<2x2xf32>
}

/// A gather follows what it gathers from, and leaves the indices.
// CHECK-LABEL: func.func @follow_indices
func.func @follow_indices(%x: tensor<2x2xf32>, %i: tensor<3xi64>) -> tensor<3x2xf32> {
  // BF16: amp.gather %{{.*}}, %{{.*}} {{.*}} (tensor<2x2xbf16>, tensor<3xi64>) -> tensor<3x2xbf16>
  // F16: amp.gather %{{.*}}, %{{.*}} {{.*}} (tensor<2x2xf16>, tensor<3xi64>) -> tensor<3x2xf16>
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %g = amp.gather %y, %i {axis = 0 : i64} : (tensor<2x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  return %g : tensor<3x2xf32>
}

/// The indices beside the values of a top-k stay integers.
// CHECK-LABEL: func.func @follow_two_results
func.func @follow_two_results(%x: tensor<2x2xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>) {
  // BF16: %[[V:.*]], %[[I:.*]] = amp.top_k {{.*}} -> (tensor<2x1xbf16>, tensor<2x1xi64>)
  // F16: %[[V:.*]], %[[I:.*]] = amp.top_k {{.*}} -> (tensor<2x1xf16>, tensor<2x1xi64>)
  // CHECK: %[[W:.*]] = amp.cast %[[V]] : {{.*}} -> tensor<2x1xf32>
  // CHECK: return %[[W]], %[[I]]
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %v, %i = amp.top_k %y {k = 1 : i64, axis = 1 : i64, largest = true} : (tensor<2x2xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  return %v, %i : tensor<2x1xf32>, tensor<2x1xi64>
}

/// Integers and f64 are never touched, whatever the class.
// CHECK-LABEL: func.func @no_integers
// CHECK-NOT: amp.cast
// CHECK: return
func.func @no_integers(%i: tensor<2x2xi32>, %d: tensor<2x2xf64>) -> (tensor<2x2xi32>, tensor<2x2xf64>) {
  %m = amp.matmul %i, %i : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %n = amp.matmul %d, %d : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %e = amp.exp %n : (tensor<2x2xf64>) -> tensor<2x2xf64>
  return %m, %e : tensor<2x2xi32>, tensor<2x2xf64>
}

/// A generator has no operand to follow: large integers stay exact in f32.
// CHECK-LABEL: func.func @no_narrow_range
func.func @no_narrow_range() -> tensor<f32> {
  // CHECK: amp.iota {{.*}} -> tensor<5000xf32>
  // CHECK: amp.reduce_sum {{.*}} -> tensor<f32>
  %r = amp.iota {dimension = 0 : i64} : () -> tensor<5000xf32>
  %s = amp.reduce_sum %r {axes = array<i64: 0>, keepdims = false} : (tensor<5000xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

/// A resize runs in f32, where coordinates are exact, and its scales are not
/// operands of the network.
// CHECK-LABEL: func.func @resize
func.func @resize(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1x1x8x8xf32> {
  // CHECK: %[[C:.*]] = amp.conv
  // CHECK: %[[W:.*]] = amp.cast %[[C]] : {{.*}} -> tensor<1x1x4x4xf32>
  // CHECK: amp.resize %[[W]] {{.*}}scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>{{.*}} -> tensor<1x1x8x8xf32>
  %y = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
    : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %r = amp.resize %y {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #amp.resize_mode<cubic>, coordinate_mode = #amp.coordinate_mode<asymmetric>}
    : (tensor<1x1x4x4xf32>) -> tensor<1x1x8x8xf32>
  return %r : tensor<1x1x8x8xf32>
}

/// A value has one cast per type, however many operations read it.
// CHECK-LABEL: func.func @one_cast_per_type
// CHECK-COUNT-1: amp.cast %{{.*}} : (tensor<2x2xf32>)
// CHECK-NOT: amp.cast %{{.*}} : (tensor<2x2xf32>)
// CHECK: return
func.func @one_cast_per_type(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %b = amp.matmul %x, %x {transpose_rhs} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
}

/// Between two operations in f32 nothing is narrowed: 112000 stays finite.
// CHECK-LABEL: func.func @no_narrowing_between_fp32
// CHECK-NOT: amp.cast
// CHECK: return
func.func @no_narrowing_between_fp32(%x: tensor<4xf32>) -> tensor<f32> {
  %p = amp.pow %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = amp.reshape %p : (tensor<4xf32>) -> tensor<2x2xf32>
  %s = amp.reduce_sum %t {axes = array<i64: 0, 1>, keepdims = false} : (tensor<2x2xf32>) -> tensor<f32>
  %q = amp.sqrt %s : (tensor<f32>) -> tensor<f32>
  return %q : tensor<f32>
}

/// What is stated here only, has no body to type.
// CHECK-LABEL: func.func private @declaration(tensor<2xf32>) -> tensor<2xf32>
func.func private @declaration(tensor<2xf32>) -> tensor<2xf32>

/// A call reads and returns the types that the callee declares.
// CHECK-LABEL: func.func @call
func.func @call(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[W:.*]] = amp.cast {{.*}} -> tensor<2x2xf32>
  // CHECK: %[[R:.*]] = call @fp32(%[[W]]) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: return %[[R]]
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = call @fp32(%y) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}

/// A kernel has its types already.
// CHECK-LABEL: amp.kernel @no_kernel
// CHECK-NEXT: amp.matmul {{.*}} -> tensor<2x2xf32>
amp.kernel @no_kernel(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  amp.yield %y : tensor<2x2xf32>
}
