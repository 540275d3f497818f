// RUN: ampc-opt %s --precision-autocast=type=f16 | FileCheck %s
// RUN: ampc-opt %s --precision-autocast=type=bf16 | FileCheck %s

/// A finite mask of -3.4e38 is made of numbers alone and stays f32, so the sum
/// with the scores is f32 and a fully masked row is uniform, not NaN.
// CHECK-LABEL: func.func @lowest_mask
func.func @lowest_mask(%q: tensor<4x4xf32>, %c: tensor<4x4xi1>) -> tensor<4x4xf32> {
  // CHECK: %[[M:.*]] = amp.select {{.*}} -> tensor<4x4xf32>
  // CHECK: %[[S:.*]] = amp.add %{{.*}}, %[[M]] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: amp.softmax %[[S]] {{.*}} -> tensor<4x4xf32>
  %s = amp.matmul %q, %q {transpose_rhs} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = amp.constant dense<0.0> : tensor<f32>
  %l = amp.constant dense<-3.4028235e38> : tensor<f32>
  %m = amp.select %c, %z, %l : (tensor<4x4xi1>, tensor<f32>, tensor<f32>) -> tensor<4x4xf32>
  %a = amp.add %s, %m : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = amp.softmax %a {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}

/// (1 - mask) * -1e5: zero times an infinity would be NaN.
// CHECK-LABEL: func.func @scaled_mask
func.func @scaled_mask(%q: tensor<4x4xf32>, %m: tensor<1x4xf32>) -> tensor<4x4xf32> {
  // CHECK: %[[N:.*]] = amp.constant dense<-1.000000e+05> : tensor<f32>
  // CHECK: amp.mul %{{.*}}, %[[N]] : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  // CHECK: amp.add {{.*}} (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %s = amp.matmul %q, %q {transpose_rhs} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %o = amp.constant dense<1.0> : tensor<f32>
  %n = amp.constant dense<-1.0e5> : tensor<f32>
  %i = amp.sub %o, %m : (tensor<f32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %k = amp.mul %i, %n : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  %a = amp.add %s, %k : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %p = amp.softmax %a {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}

/// -65504 plus a score of -16 must not leave the range.
// CHECK-LABEL: func.func @mask_at_the_edge
func.func @mask_at_the_edge(%q: tensor<4x4xf32>, %m: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: amp.add {{.*}} (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = amp.matmul %q, %q {transpose_rhs} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = amp.add %s, %m : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = amp.softmax %a {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}

/// The mask of a fused attention keeps its type beside low operands.
// CHECK-LABEL: func.func @attention_mask
// CHECK-SAME: %[[M:[^:]*]]: tensor<4x4xf32>)
func.func @attention_mask(%q: tensor<1x2x4x8xf32>, %m: tensor<4x4xf32>) -> tensor<1x2x4x8xf32> {
  // CHECK: amp.attention %[[L:[^,]*]], %[[L]], %[[L]], %[[M]] {{.*}}, tensor<4x4xf32>) -> tensor<1x2x4x8x{{b?}}f16>
  %y = amp.attention %q, %q, %q, %m {scale = 0.125 : f64, causal = false}
    : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<4x4xf32>) -> tensor<1x2x4x8xf32>
  return %y : tensor<1x2x4x8xf32>
}
