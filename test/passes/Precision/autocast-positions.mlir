// RUN: ampc-opt %s --precision-autocast=type=bf16 | FileCheck %s

/// Frequency times position: at 65536 a step of bf16 is 512, so 65536 to 65792
/// would all have one angle.
// CHECK-LABEL: func.func @angle
func.func @angle(%inv: tensor<32x1xf32>, %pos: tensor<1x257xi64>) -> (tensor<32x257xf32>, tensor<32x257xf32>) {
  // CHECK: %[[P:.*]] = amp.cast %{{.*}} {from_model} : (tensor<1x257xi64>) -> tensor<1x257xf32>
  // CHECK-NEXT: %[[A:.*]] = amp.matmul %{{.*}}, %[[P]] : (tensor<32x1xf32>, tensor<1x257xf32>) -> tensor<32x257xf32>
  // CHECK-NEXT: amp.cos %[[A]] : (tensor<32x257xf32>) -> tensor<32x257xf32>
  // CHECK-NEXT: amp.sin %[[A]] : (tensor<32x257xf32>) -> tensor<32x257xf32>
  %p = amp.cast %pos {from_model} : (tensor<1x257xi64>) -> tensor<1x257xf32>
  %a = amp.matmul %inv, %p : (tensor<32x1xf32>, tensor<1x257xf32>) -> tensor<32x257xf32>
  %c = amp.cos %a : (tensor<32x257xf32>) -> tensor<32x257xf32>
  %s = amp.sin %a : (tensor<32x257xf32>) -> tensor<32x257xf32>
  return %c, %s : tensor<32x257xf32>, tensor<32x257xf32>
}

/// Through views, concatenation and a scale, as rotary embeddings are written.
// CHECK-LABEL: func.func @angle_through_views
func.func @angle_through_views(%pos: tensor<1x16xf32>) -> tensor<16x8xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<4x16xf32>
  // CHECK-NOT: amp.cast
  // CHECK: amp.cos {{.*}} -> tensor<16x8xf32>
  %inv = amp.constant dense<[[1.0], [0.1], [0.01], [0.001]]> : tensor<4x1xf32>
  %a = amp.matmul %inv, %pos : (tensor<4x1xf32>, tensor<1x16xf32>) -> tensor<4x16xf32>
  %t = amp.transpose %a {permutation = array<i64: 1, 0>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %d = amp.concat %t, %t {axis = 1 : i64} : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x8xf32>
  %h = amp.constant dense<2.0> : tensor<f32>
  %m = amp.mul %d, %h : (tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
  %c = amp.cos %m : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %c : tensor<16x8xf32>
}

/// The tables of a rotary embedding are f32 and meet the low activations in f32.
// CHECK-LABEL: func.func @angle_used_by_activations
func.func @angle_used_by_activations(%inv: tensor<4x1xf32>, %pos: tensor<1x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<4x4xf32>
  // CHECK: amp.matmul {{.*}} -> tensor<4x4xbf16>
  // CHECK: amp.mul %{{.*}}, %{{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = amp.matmul %inv, %pos : (tensor<4x1xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %c = amp.cos %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = amp.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = amp.mul %q, %c : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %m : tensor<4x4xf32>
}

/// A sine of activations is no position: only what has nothing lowered above it
/// is exempt.
// CHECK-LABEL: func.func @no_position_below_lowered
func.func @no_position_below_lowered(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<4x4xbf16>
  // CHECK: amp.relu {{.*}} -> tensor<4x4xbf16>
  // CHECK: amp.matmul {{.*}} -> tensor<4x4xbf16>
  // CHECK: amp.sin {{.*}} -> tensor<4x4xbf16>
  %a = amp.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = amp.relu %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = amp.matmul %r, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = amp.sin %b : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %s : tensor<4x4xf32>
}

/// Floats that become sizes or indices: 0.4 must not become 0.39990.
// CHECK-LABEL: func.func @shape_arithmetic
// CHECK-NOT: bf16
// CHECK: return
func.func @shape_arithmetic(%s: tensor<4xi64>, %m: tensor<4x4xf32>) -> (tensor<4xi64>, tensor<1x4xi64>) {
  %f = amp.cast %s {from_model} : (tensor<4xi64>) -> tensor<4xf32>
  %k = amp.constant dense<0.4> : tensor<f32>
  %p = amp.mul %f, %k : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = amp.floor %p : (tensor<4xf32>) -> tensor<4xf32>
  %i = amp.cast %r {from_model} : (tensor<4xf32>) -> tensor<4xi64>
  %v = amp.reshape %f : (tensor<4xf32>) -> tensor<1x4xf32>
  %x = amp.matmul %v, %m : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
  %j = amp.cast %x {from_model} : (tensor<1x4xf32>) -> tensor<1x4xi64>
  return %i, %j : tensor<4xi64>, tensor<1x4xi64>
}
