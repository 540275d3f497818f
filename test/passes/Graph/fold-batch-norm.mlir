// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-fold-batch-norm,canonicalize))' --split-input-file | FileCheck %s
// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-fold-batch-norm))' --split-input-file --remarks-filter='graph-fold-batch-norm' -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: [Passed] folded
// REMARK-SAME: amp.batch_norm into amp.conv

// CHECK-LABEL: func.func @conv
// CHECK-SAME: (%[[X:.*]]: tensor<1x3x8x8xf32>)
func.func @conv(%x: tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK-DAG: %[[EPS:.*]] = amp.constant dense<1.000000e-03> : tensor<f32>
  // CHECK-DAG: %[[W:.*]] = amp.constant dense<2.000000e+00> : tensor<4x3x3x3xf32>
  // CHECK-DAG: %[[B:.*]] = amp.constant dense<3.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[GAMMA:.*]] = amp.constant dense<4.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[BETA:.*]] = amp.constant dense<5.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[MEAN:.*]] = amp.constant dense<6.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[VAR:.*]] = amp.constant dense<7.000000e+00> : tensor<4xf32>
  // CHECK: %[[SUM:.*]] = amp.add %[[VAR]], %[[EPS]]
  // CHECK: %[[DEV:.*]] = amp.sqrt %[[SUM]]
  // CHECK: %[[SCALE:.*]] = amp.div %[[GAMMA]], %[[DEV]]
  // CHECK: %[[OFFSET:.*]] = amp.mul %[[SCALE]], %[[MEAN]]
  // CHECK: %[[SHIFT:.*]] = amp.sub %[[BETA]], %[[OFFSET]]
  // CHECK: %[[S4:.*]] = amp.reshape %[[SCALE]] : (tensor<4xf32>) -> tensor<4x1x1x1xf32>
  // CHECK: %[[WS:.*]] = amp.mul %[[S4]], %[[W]]
  // CHECK: %[[BS:.*]] = amp.mul %[[SCALE]], %[[B]]
  // CHECK: %[[BT:.*]] = amp.add %[[BS]], %[[SHIFT]]
  // CHECK: %[[Y:.*]] = amp.conv %[[X]], %[[WS]], %[[BT]] {dilations
  // CHECK-NEXT: return %[[Y]]
  %w = amp.constant dense<2.0> : tensor<4x3x3x3xf32>
  %b = amp.constant dense<3.0> : tensor<4xf32>
  %gamma = amp.constant dense<4.0> : tensor<4xf32>
  %beta = amp.constant dense<5.0> : tensor<4xf32>
  %mean = amp.constant dense<6.0> : tensor<4xf32>
  %var = amp.constant dense<7.0> : tensor<4xf32>
  %0 = amp.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %1 = amp.batch_norm %0, %gamma, %beta, %mean, %var {epsilon = 1.0e-3 : f64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  return %1 : tensor<1x4x8x8xf32>
}

// -----

/// 16-bit weights are scaled in f32 and rounded once; the weight's data is in a
/// resource that nobody looks into.
// CHECK-LABEL: func.func @conv_f16
func.func @conv_f16(%x: tensor<1x2x4xf16>) -> tensor<1x2x4xf16> {
  // CHECK: %[[W:.*]] = amp.constant dense_resource<w>
  // CHECK: %[[WIDE:.*]] = amp.cast %[[W]] : (tensor<2x2x1xf16>) -> tensor<2x2x1xf32>
  // CHECK: %[[WS:.*]] = amp.mul %[[WIDE]], %{{.*}} : (tensor<2x2x1xf32>, tensor<2x1x1xf32>)
  // CHECK: %[[NARROW:.*]] = amp.cast %[[WS]] : (tensor<2x2x1xf32>) -> tensor<2x2x1xf16>
  // CHECK: %[[BIAS:.*]] = amp.cast %{{.*}} : (tensor<2xf32>) -> tensor<2xf16>
  // CHECK: amp.conv %{{.*}}, %[[NARROW]], %[[BIAS]]
  %w = amp.constant dense_resource<w> : tensor<2x2x1xf16>
  %p = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x2x4xf16>, tensor<2x2x1xf16>) -> tensor<1x2x4xf16>
  %1 = amp.batch_norm %0, %p, %p, %p, %p {epsilon = 1.0e-3 : f64} : (tensor<1x2x4xf16>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf16>
  return %1 : tensor<1x2x4xf16>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x02000000003C00400042003C"
    }
  }
#-}

// -----

/// Output channel o of group g is weight [g * inputs.., o].
// CHECK-LABEL: func.func @conv_transpose_groups
func.func @conv_transpose_groups(%x: tensor<1x4x8xf32>) -> tensor<1x6x16xf32> {
  // CHECK: %[[W3:.*]] = amp.reshape %{{.*}} : (tensor<4x3x2xf32>) -> tensor<2x2x3x2xf32>
  // CHECK: %[[S3:.*]] = amp.reshape %{{.*}} : (tensor<6xf32>) -> tensor<2x1x3x1xf32>
  // CHECK: %[[WS:.*]] = amp.mul %[[W3]], %[[S3]]
  // CHECK: %[[W:.*]] = amp.reshape %[[WS]] : (tensor<2x2x3x2xf32>) -> tensor<4x3x2xf32>
  // CHECK: amp.conv_transpose %{{.*}}, %[[W]], %{{.*}} {
  // CHECK-NOT: amp.batch_norm
  %w = amp.constant dense<2.0> : tensor<4x3x2xf32>
  %p = amp.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
  %0 = amp.conv_transpose %x, %w {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>, group = 2 : i64} : (tensor<1x4x8xf32>, tensor<4x3x2xf32>) -> tensor<1x6x16xf32>
  %1 = amp.batch_norm %0, %p, %p, %p, %p {epsilon = 1.0e-3 : f64} : (tensor<1x6x16xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x16xf32>
  return %1 : tensor<1x6x16xf32>
}

// -----

// CHECK-LABEL: func.func @matmul
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @matmul(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  // CHECK: %[[S:.*]] = amp.reshape %{{.*}} : (tensor<2xf32>) -> tensor<2x1xf32>
  // CHECK: %[[WS:.*]] = amp.mul %[[S]], %{{.*}} : (tensor<2x1xf32>, tensor<2x8xf32>)
  // CHECK: amp.matmul %[[X]], %[[WS]], %{{.*}} {transpose_rhs} : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>)
  // CHECK-NOT: amp.batch_norm
  %w = amp.constant dense<2.0> : tensor<2x8xf32>
  %p = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = amp.matmul %x, %w {transpose_rhs} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  %1 = amp.batch_norm %0, %p, %p, %p, %p {epsilon = 1.0e-3 : f64} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// -----

/// A normalization that is written as a product and a sum, and scalars.
// CHECK-LABEL: func.func @constants
func.func @constants(%x: tensor<1x3x4x4xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: %[[Y:.*]] = amp.conv %{{.*}}, %{{.*}}, %[[B:.*]] {
  // CHECK-NEXT: return %[[Y]]
  %w = amp.constant dense<2.0> : tensor<2x3x1x1xf32>
  %s = amp.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %t = amp.constant dense<[[[[3.0]], [[4.0]]]]> : tensor<1x2x1x1xf32>
  %c = amp.constant dense<5.0> : tensor<f32>
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = amp.mul %s, %0 : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %2 = amp.add %1, %t : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = amp.div %2, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %4 = amp.sub %3, %c : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %4 : tensor<1x2x4x4xf32>
}

// -----

/// A scalar shift without a bias becomes one element per channel.
// CHECK-LABEL: func.func @scalar_shift
func.func @scalar_shift(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  // CHECK: %[[B:.*]] = amp.broadcast %{{.*}} : (tensor<1xf32>) -> tensor<2xf32>
  // CHECK: amp.matmul %{{.*}}, %{{.*}}, %[[B]] :
  %w = amp.constant dense<2.0> : tensor<8x2xf32>
  %c = amp.constant dense<5.0> : tensor<f32>
  %0 = amp.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = amp.add %0, %c : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// -----

/// The convolution has another reader.
// CHECK-LABEL: func.func @negative_two_readers
func.func @negative_two_readers(%x: tensor<1x2x4xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  // CHECK: amp.batch_norm
  %w = amp.constant dense<2.0> : tensor<2x2x1xf32>
  %p = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  %1 = amp.batch_norm %0, %p, %p, %p, %p {epsilon = 1.0e-3 : f64} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  return %0, %1 : tensor<1x2x4xf32>, tensor<1x2x4xf32>
}

// -----

/// A parameter that comes from outside may change.
// CHECK-LABEL: func.func @negative_parameters
func.func @negative_parameters(%x: tensor<1x2x4xf32>, %w: tensor<2x2x1xf32>, %p: tensor<2xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>) {
  // CHECK-COUNT-2: amp.batch_norm
  %c = amp.constant dense<2.0> : tensor<2x2x1xf32>
  %q = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  %1 = amp.batch_norm %0, %q, %q, %q, %q {epsilon = 1.0e-3 : f64} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  %2 = amp.conv %x, %c {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x2x4xf32>
  %3 = amp.batch_norm %2, %p, %q, %q, %q {epsilon = 1.0e-3 : f64} : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  return %1, %3 : tensor<1x2x4xf32>, tensor<1x2x4xf32>
}

// -----

/// A constant along a spatial dimension, one that makes the result larger, one
/// that is divided by the convolution, a scale of a weight that others read, and
/// a normalization of a product's rows.
// CHECK-LABEL: func.func @negative_constants
func.func @negative_constants(%x: tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<3x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  // CHECK: amp.mul %{{.*}}, %{{.*}} : (tensor<1x2x2xf32>, tensor<2xf32>)
  // CHECK: amp.add %{{.*}}, %{{.*}} : (tensor<1x2x2xf32>, tensor<3x1x1xf32>)
  // CHECK: amp.div %{{.*}}, %{{.*}} : (tensor<f32>, tensor<1x2x2xf32>)
  // CHECK: amp.mul %{{.*}}, %{{.*}} : (tensor<1x2x2xf32>, tensor<f32>)
  // CHECK: amp.batch_norm
  %w = amp.constant dense<2.0> : tensor<2x2x1xf32>
  %m = amp.constant dense<3.0> : tensor<2x2xf32>
  %p = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %wide = amp.constant dense<1.0> : tensor<3x1x1xf32>
  %c = amp.constant dense<5.0> : tensor<f32>
  %a0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x2x2xf32>, tensor<2x2x1xf32>) -> tensor<1x2x2xf32>
  %a = amp.mul %a0, %p : (tensor<1x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32>
  %b0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x2x2xf32>, tensor<2x2x1xf32>) -> tensor<1x2x2xf32>
  %b = amp.add %b0, %wide : (tensor<1x2x2xf32>, tensor<3x1x1xf32>) -> tensor<3x2x2xf32>
  %d0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x2x2xf32>, tensor<2x2x1xf32>) -> tensor<1x2x2xf32>
  %d = amp.div %c, %d0 : (tensor<f32>, tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %e0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x2x2xf32>, tensor<2x2x1xf32>) -> tensor<1x2x2xf32>
  %e = amp.mul %e0, %c : (tensor<1x2x2xf32>, tensor<f32>) -> tensor<1x2x2xf32>
  %f0 = amp.matmul %x, %m : (tensor<1x2x2xf32>, tensor<2x2xf32>) -> tensor<1x2x2xf32>
  %f = amp.batch_norm %f0, %p, %p, %p, %p {epsilon = 1.0e-3 : f64} : (tensor<1x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2xf32>
  return %a, %b, %d, %e, %f, %a : tensor<1x2x2xf32>, tensor<3x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>
}
