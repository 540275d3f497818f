// RUN: ampc-opt %s --split-input-file --fusion-split-reductions | FileCheck %s

module attributes {amp.target = #amp.target<vector_bytes = 64, panel = 32, native_16bit = false>} {

/// One row is cut at a divisor of its length, and what computes its elements
/// with it; what is broadcast is not.
// CHECK-LABEL: @all
// CHECK-SAME: %[[X:.*]]: tensor<1048576xf32>, %[[A:.*]]: tensor<f32>
// CHECK-DAG: %[[R:.*]] = amp.reshape %[[X]] : (tensor<1048576xf32>) -> tensor<32x32768xf32>
// CHECK: %[[M:.*]] = amp.mul %[[R]], %[[A]] : (tensor<32x32768xf32>, tensor<f32>) -> tensor<32x32768xf32>
// CHECK: %[[P:.*]] = amp.reduce_sum %[[M]] {axes = array<i64: 1>, keepdims = true}
// CHECK: %[[Q:.*]] = amp.reshape %[[P]] : (tensor<32x1xf32>) -> tensor<32xf32>
// CHECK: amp.reduce_sum %[[Q]] {axes = array<i64: 0>, keepdims = false} : (tensor<32xf32>) -> tensor<f32>
func.func @all(%x: tensor<1048576xf32>, %a: tensor<f32>) -> tensor<f32> {
  %0 = amp.mul %x, %a : (tensor<1048576xf32>, tensor<f32>) -> tensor<1048576xf32>
  %1 = amp.reduce_sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<1048576xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

/// Samples are reduced one by one: nothing is reshaped.
// CHECK-LABEL: @between_axes
// CHECK: %[[P:.*]] = amp.reduce_max %{{.*}} {axes = array<i64: 1, 2>, keepdims = true} : (tensor<32x56x56x16xf32>) -> tensor<32x1x1x16xf32>
// CHECK: amp.reduce_max %[[P]] {axes = array<i64: 0, 1, 2>, keepdims = false} : (tensor<32x1x1x16xf32>) -> tensor<16xf32>
func.func @between_axes(%x: tensor<32x56x56x16xf32>) -> tensor<16xf32> {
  %0 = amp.reduce_max %x {axes = array<i64: 0, 1, 2>, keepdims = false} : (tensor<32x56x56x16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

/// Parts of a sum of 16-bit floats are f32, and divided at the end.
// CHECK-LABEL: @mean_bf16
// CHECK: amp.cast %{{.*}} : (tensor<8x4x32768xbf16>) -> tensor<8x4x32768xf32>
// CHECK: amp.reduce_sum %{{.*}} {axes = array<i64: 2>, keepdims = true}
// CHECK: amp.reduce_sum %{{.*}} {axes = array<i64: 1>, keepdims = true} : (tensor<8x4xf32>) -> tensor<8x1xf32>
// CHECK: amp.div
// CHECK: amp.cast %{{.*}} : (tensor<8x1xf32>) -> tensor<8x1xbf16>
func.func @mean_bf16(%x: tensor<8x131072xbf16>) -> tensor<8x1xbf16> {
  %0 = amp.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<8x131072xbf16>) -> tensor<8x1xbf16>
  return %0 : tensor<8x1xbf16>
}

/// What is broadcast along the axis that is cut keeps its size 1.
// CHECK-LABEL: @broadcast_prologue
// CHECK: amp.reshape %{{.*}} : (tensor<1x64xf32>) -> tensor<1x1x64xf32>
// CHECK: amp.add %{{.*}} -> tensor<32x256x64xf32>
// CHECK: amp.reduce_sum %{{.*}} {axes = array<i64: 1>, keepdims = true}
// CHECK: amp.reduce_sum %{{.*}} {axes = array<i64: 0>, keepdims = false} : (tensor<32x64xf32>) -> tensor<64xf32>
func.func @broadcast_prologue(%x: tensor<8192x64xf32>, %y: tensor<1x64xf32>) -> tensor<64xf32> {
  %0 = amp.add %x, %y : (tensor<8192x64xf32>, tensor<1x64xf32>) -> tensor<8192x64xf32>
  %1 = amp.reduce_sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<8192x64xf32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

/// Enough rows, too few elements, a size without divisors, a mean of integers.
// CHECK-LABEL: @negative_rows
// CHECK-COUNT-3: amp.reduce_sum
// CHECK: amp.reduce_mean
// CHECK-NOT: amp.reduce
// CHECK: return
func.func @negative_rows(%x: tensor<4096x1024xf32>, %y: tensor<4096xf32>, %z: tensor<1000003xf32>, %i: tensor<1048576xi32>) -> (tensor<4096xf32>, tensor<f32>, tensor<f32>, tensor<i32>) {
  %0 = amp.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<4096x1024xf32>) -> tensor<4096xf32>
  %1 = amp.reduce_sum %y {axes = array<i64: 0>, keepdims = false} : (tensor<4096xf32>) -> tensor<f32>
  %2 = amp.reduce_sum %z {axes = array<i64: 0>, keepdims = false} : (tensor<1000003xf32>) -> tensor<f32>
  %3 = amp.reduce_mean %i {axes = array<i64: 0>, keepdims = false} : (tensor<1048576xi32>) -> tensor<i32>
  return %0, %1, %2, %3 : tensor<4096xf32>, tensor<f32>, tensor<f32>, tensor<i32>
}
}
