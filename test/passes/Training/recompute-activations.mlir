// RUN: ampc-opt %s --training-recompute-activations | FileCheck %s

train.state @w : tensor<4x4xf32>
train.state @train.scale : tensor<f32>

/// Half of the bytes: what follows from the 16-bit tensor is computed again, up
/// to the reduction, which is not.
// CHECK-LABEL: func.func @narrow_is_kept
// CHECK: %[[X:.*]] = amp.matmul
// CHECK: %[[M:.*]] = amp.reduce_mean
// CHECK: amp.sub
// CHECK: %[[G:.*]] = amp.broadcast
// CHECK: %[[C:.*]] = amp.cast %[[X]]
// CHECK: %[[D:.*]] = amp.sub %[[C]], %[[M]]
// CHECK: amp.mul %[[G]], %[[D]]
func.func @narrow_is_kept(%a: tensor<8x4xf16>, %w: tensor<4x4xf16> {train.state = @w},
                          %scale: tensor<f32> {train.state = @train.scale}) -> (tensor<f32>, tensor<8x4xf32>) {
  %x = amp.matmul %a, %w : (tensor<8x4xf16>, tensor<4x4xf16>) -> tensor<8x4xf16>
  %c = amp.cast %x : (tensor<8x4xf16>) -> tensor<8x4xf32>
  %m = amp.reduce_mean %c {axes = array<i64: 0>, keepdims = true} : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %d = amp.sub %c, %m : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %loss = amp.reduce_sum %d {axes = array<i64: 0, 1>, keepdims = false} : (tensor<8x4xf32>) -> tensor<f32>
  %g = amp.broadcast %scale : (tensor<f32>) -> tensor<8x4xf32>
  %r = amp.mul %g, %d : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %loss, %r : tensor<f32>, tensor<8x4xf32>
}

/// A mask follows from a value that is kept for another reason, in each of its
/// readers.
// CHECK-LABEL: func.func @each_reader
// CHECK: %[[X:.*]] = amp.matmul
// CHECK-NOT: amp.compare
// CHECK: %[[G:.*]] = amp.broadcast
// CHECK: %[[P:.*]] = amp.mul %[[G]], %[[X]]
// CHECK: %[[M1:.*]] = amp.compare %[[X]]
// CHECK: %[[R1:.*]] = amp.select %[[M1]], %[[P]]
// CHECK: %[[M2:.*]] = amp.compare %[[X]]
// CHECK: amp.select %[[M2]], %[[R1]]
func.func @each_reader(%a: tensor<8x4xf32>, %w: tensor<4x4xf32> {train.state = @w},
                       %scale: tensor<f32> {train.state = @train.scale}) -> tensor<8x4xf32> {
  %zero = amp.constant dense<0.0> : tensor<f32>
  %x = amp.matmul %a, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %m = amp.compare %x, %zero {predicate = #amp.predicate<gt>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xi1>
  %g = amp.broadcast %scale : (tensor<f32>) -> tensor<8x4xf32>
  %p = amp.mul %g, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %0 = amp.select %m, %p, %zero : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %1 = amp.select %m, %0, %zero : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

/// The mask alone is smaller than what it is made of.
// CHECK-LABEL: func.func @mask_is_kept
// CHECK: %[[M:.*]] = amp.compare
// CHECK: amp.broadcast
// CHECK-NOT: amp.compare
// CHECK: amp.select %[[M]]
func.func @mask_is_kept(%a: tensor<8x4xf32>, %w: tensor<4x4xf32> {train.state = @w},
                        %scale: tensor<f32> {train.state = @train.scale}) -> tensor<8x4xf32> {
  %zero = amp.constant dense<0.0> : tensor<f32>
  %x = amp.matmul %a, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %m = amp.compare %x, %zero {predicate = #amp.predicate<gt>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xi1>
  %g = amp.broadcast %scale : (tensor<f32>) -> tensor<8x4xf32>
  %0 = amp.select %m, %g, %zero : (tensor<8x4xi1>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

/// A contraction reads its operands many times: what it reads is kept, before a
/// view of it.
// CHECK-LABEL: func.func @no_recomputation_for_contractions
// CHECK: %[[R:.*]] = amp.relu
// CHECK: %[[G:.*]] = amp.broadcast
// CHECK-NOT: amp.relu
// CHECK: %[[T:.*]] = amp.transpose %[[R]]
// CHECK: amp.matmul %[[T]], %[[G]]
func.func @no_recomputation_for_contractions(%a: tensor<8x4xf32>, %w: tensor<4x4xf32> {train.state = @w},
                                             %scale: tensor<f32> {train.state = @train.scale})
    -> (tensor<8x4xf32>, tensor<4x4xf32>) {
  %x = amp.matmul %a, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %r = amp.relu %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %y = amp.matmul %r, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %b = amp.broadcast %scale : (tensor<f32>) -> tensor<8x4xf32>
  %g = amp.mul %b, %y : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %t = amp.transpose %r {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %0 = amp.matmul %t, %b : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %g, %0 : tensor<8x4xf32>, tensor<4x4xf32>
}

/// A function without a loss scale has no backward pass.
// CHECK-LABEL: func.func @negative_forward
// CHECK-NEXT: %[[C:.*]] = amp.cast
// CHECK-NEXT: amp.exp %[[C]]
// CHECK-NEXT: amp.neg %[[C]]
// CHECK-NEXT: return
func.func @negative_forward(%x: tensor<8xf16>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = amp.cast %x : (tensor<8xf16>) -> tensor<8xf32>
  %1 = amp.exp %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = amp.neg %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
