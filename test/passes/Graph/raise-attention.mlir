// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-raise))' --split-input-file | FileCheck %s

/// The scale on the scores, the key transposed by an op that splits heads too,
/// a mask of the model.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x8x16xf32>, %[[K:.*]]: tensor<2x6x4x16xf32>, %[[V:.*]]: tensor<2x4x6x32xf32>, %[[M:.*]]: tensor<2x1x1x6xf32>)
func.func @attention(%q: tensor<2x4x8x16xf32>, %k: tensor<2x6x4x16xf32>, %v: tensor<2x4x6x32xf32>, %m: tensor<2x1x1x6xf32>) -> tensor<2x4x8x32xf32> {
  // CHECK: %[[KH:.*]] = amp.transpose %[[K]] {permutation = array<i64: 0, 2, 1, 3>}
  // CHECK: %[[Y:.*]] = amp.attention %[[Q]], %[[KH]], %[[V]], %[[M]] {causal = false, scale = 2.500000e-01 : f64} : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>, tensor<2x4x6x32xf32>, tensor<2x1x1x6xf32>) -> tensor<2x4x8x32xf32>
  // CHECK-NEXT: return %[[Y]]
  %four = amp.constant dense<4.0> : tensor<f32>
  %kt = amp.transpose %k {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x6x4x16xf32>) -> tensor<2x4x16x6xf32>
  %0 = amp.matmul %q, %kt : (tensor<2x4x8x16xf32>, tensor<2x4x16x6xf32>) -> tensor<2x4x8x6xf32>
  %1 = amp.div %0, %four : (tensor<2x4x8x6xf32>, tensor<f32>) -> tensor<2x4x8x6xf32>
  %2 = amp.add %1, %m : (tensor<2x4x8x6xf32>, tensor<2x1x1x6xf32>) -> tensor<2x4x8x6xf32>
  %3 = amp.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x6xf32>) -> tensor<2x4x8x6xf32>
  %4 = amp.matmul %3, %v : (tensor<2x4x8x6xf32>, tensor<2x4x6x32xf32>) -> tensor<2x4x8x32xf32>
  return %4 : tensor<2x4x8x32xf32>
}

// -----

/// Half of the scale on each side, as PyTorch's scaled_dot_product_attention is
/// exported; the key transposed by the product; no mask.
// CHECK-LABEL: func.func @scales_on_operands
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x8x16xf32>, %[[K:.*]]: tensor<2x4x6x16xf32>)
func.func @scales_on_operands(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x6x16xf32>) -> tensor<2x4x8x16xf32> {
  // CHECK: amp.attention %[[Q]], %[[K]], %[[K]] {causal = false, scale = 2.500000e-01 : f64}
  // CHECK-NOT: amp.mul
  %c = amp.constant dense<0.5> : tensor<f32>
  %sq = amp.mul %q, %c : (tensor<2x4x8x16xf32>, tensor<f32>) -> tensor<2x4x8x16xf32>
  %sk = amp.mul %c, %k : (tensor<f32>, tensor<2x4x6x16xf32>) -> tensor<2x4x6x16xf32>
  %0 = amp.matmul %sq, %sk {transpose_rhs} : (tensor<2x4x8x16xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x8x6xf32>
  %1 = amp.softmax %0 {axis = 3 : i64} : (tensor<2x4x8x6xf32>) -> tensor<2x4x8x6xf32>
  %2 = amp.matmul %1, %k : (tensor<2x4x8x6xf32>, tensor<2x4x6x16xf32>) -> tensor<2x4x8x16xf32>
  return %2 : tensor<2x4x8x16xf32>
}

// -----

/// A mask that selects minus infinity is a condition; rows with nothing left
/// are zero either way.
// CHECK-LABEL: func.func @condition
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x8x16xf32>, %[[C:.*]]: tensor<8x8xi1>)
func.func @condition(%q: tensor<2x4x8x16xf32>, %c: tensor<8x8xi1>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) {
  // CHECK: amp.attention %[[Q]], %[[Q]], %[[Q]], %[[C]] {{.*}}tensor<8x8xi1>)
  // CHECK: %[[N:.*]] = amp.logical_not %[[C]]
  // CHECK: amp.attention %[[Q]], %[[Q]], %[[Q]], %[[N]] {{.*}}tensor<8x8xi1>)
  // CHECK-NEXT: return
  %inf = amp.constant dense<0xFF800000> : tensor<f32>
  %zero = amp.constant dense<0.0> : tensor<f32>
  %0 = amp.matmul %q, %q {transpose_rhs} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = amp.select %c, %0, %inf : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %2 = amp.softmax %1 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %3 = amp.is_nan %2 : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xi1>
  %4 = amp.select %3, %zero, %2 : (tensor<2x4x8x8xi1>, tensor<f32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = amp.matmul %4, %q : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  %6 = amp.matmul %q, %q {transpose_rhs} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %7 = amp.select %c, %inf, %6 : (tensor<8x8xi1>, tensor<f32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %8 = amp.softmax %7 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %9 = amp.matmul %8, %q : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %5, %9 : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>
}

// -----

/// A finite fill is added, so that rows with nothing left stay uniform; a bias
/// inside of it is added as well.
// CHECK-LABEL: func.func @fill_and_bias
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x8x16xf32>, %[[C:.*]]: tensor<8x8xi1>, %[[B:.*]]: tensor<4x8x8xf32>)
func.func @fill_and_bias(%q: tensor<2x4x8x16xf32>, %c: tensor<8x8xi1>, %b: tensor<4x8x8xf32>) -> tensor<2x4x8x16xf32> {
  // CHECK-DAG: %[[ZERO:.*]] = amp.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[FILL:.*]] = amp.constant dense<-3.40282347E+38> : tensor<f32>
  // CHECK: %[[S:.*]] = amp.select %[[C]], %[[ZERO]], %[[FILL]]
  // CHECK: %[[M:.*]] = amp.add %[[B]], %[[S]] : (tensor<4x8x8xf32>, tensor<8x8xf32>) -> tensor<4x8x8xf32>
  // CHECK: amp.attention %[[Q]], %[[Q]], %[[Q]], %[[M]]
  %fill = amp.constant dense<-3.40282347E+38> : tensor<f32>
  %0 = amp.matmul %q, %q {transpose_rhs} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x8xf32>
  %1 = amp.add %0, %b : (tensor<2x4x8x8xf32>, tensor<4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = amp.select %c, %1, %fill : (tensor<8x8xi1>, tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = amp.softmax %2 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = amp.matmul %3, %q : (tensor<2x4x8x8xf32>, tensor<2x4x8x16xf32>) -> tensor<2x4x8x16xf32>
  return %4 : tensor<2x4x8x16xf32>
}

// -----

/// A batch of rank 3 is a batch of single heads; 16-bit products with a softmax
/// in f32 between.
// CHECK-LABEL: func.func @batch_of_heads
// CHECK-SAME: (%[[Q:.*]]: tensor<6x8x16xf16>, %[[M:.*]]: tensor<6x8x8xf16>)
func.func @batch_of_heads(%q: tensor<6x8x16xf16>, %m: tensor<6x8x8xf16>) -> tensor<6x8x16xf16> {
  // CHECK-DAG: %[[Q4:.*]] = amp.reshape %[[Q]] : (tensor<6x8x16xf16>) -> tensor<6x1x8x16xf16>
  // CHECK-DAG: %[[M4:.*]] = amp.reshape %[[M]] : (tensor<6x8x8xf16>) -> tensor<6x1x8x8xf16>
  // CHECK: %[[Y:.*]] = amp.attention %{{.*}}, %{{.*}}, %{{.*}}, %[[M4]] {{.*}} -> tensor<6x1x8x16xf16>
  // CHECK: amp.reshape %[[Y]] : (tensor<6x1x8x16xf16>) -> tensor<6x8x16xf16>
  // CHECK-NOT: amp.cast
  %0 = amp.matmul %q, %q {transpose_rhs} : (tensor<6x8x16xf16>, tensor<6x8x16xf16>) -> tensor<6x8x8xf16>
  %1 = amp.add %m, %0 : (tensor<6x8x8xf16>, tensor<6x8x8xf16>) -> tensor<6x8x8xf16>
  %2 = amp.cast %1 {from_model} : (tensor<6x8x8xf16>) -> tensor<6x8x8xf32>
  %3 = amp.softmax %2 {axis = 2 : i64} : (tensor<6x8x8xf32>) -> tensor<6x8x8xf32>
  %4 = amp.cast %3 {from_model} : (tensor<6x8x8xf32>) -> tensor<6x8x8xf16>
  %5 = amp.matmul %4, %q : (tensor<6x8x8xf16>, tensor<6x8x16xf16>) -> tensor<6x8x16xf16>
  return %5 : tensor<6x8x16xf16>
}

// -----

/// Scores bounded to 50 tanh(s / 50), heads repeated for grouped queries.
// CHECK-LABEL: func.func @softcap_and_groups
// CHECK-SAME: (%[[Q:.*]]: tensor<1x4x8x16xf32>, %[[K:.*]]: tensor<1x2x8x16xf32>)
func.func @softcap_and_groups(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x8x16xf32>) -> tensor<1x4x8x16xf32> {
  // CHECK: amp.attention %[[Q]], %[[K]], %[[K]] {causal = false, scale = 2.500000e-01 : f64, softcap = 5.000000e+01 : f64} : (tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) -> tensor<1x4x8x16xf32>
  %quarter = amp.constant dense<0.25> : tensor<f32>
  %cap = amp.constant dense<50.0> : tensor<f32>
  %k5 = amp.reshape %k : (tensor<1x2x8x16xf32>) -> tensor<1x2x1x8x16xf32>
  %kr = amp.broadcast %k5 : (tensor<1x2x1x8x16xf32>) -> tensor<1x2x2x8x16xf32>
  %kh = amp.reshape %kr : (tensor<1x2x2x8x16xf32>) -> tensor<1x4x8x16xf32>
  %kt = amp.transpose %kh {permutation = array<i64: 0, 1, 3, 2>} : (tensor<1x4x8x16xf32>) -> tensor<1x4x16x8xf32>
  %0 = amp.matmul %q, %kt : (tensor<1x4x8x16xf32>, tensor<1x4x16x8xf32>) -> tensor<1x4x8x8xf32>
  %1 = amp.mul %0, %quarter : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  %2 = amp.div %1, %cap : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  %3 = amp.tanh %2 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %4 = amp.mul %3, %cap : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  %5 = amp.softmax %4 {axis = 3 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %6 = amp.matmul %5, %kh : (tensor<1x4x8x8xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return %6 : tensor<1x4x8x16xf32>
}

// -----

/// Casts around the softmax say what the op does, wherever the mask is added.
// CHECK-LABEL: func.func @widened_scores
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x8x16xbf16>, %[[M:.*]]: tensor<8x8xf32>)
func.func @widened_scores(%q: tensor<2x4x8x16xbf16>, %m: tensor<8x8xf32>) -> tensor<2x4x8x16xbf16> {
  // CHECK-NEXT: %[[Y:.*]] = amp.attention %[[Q]], %[[Q]], %[[Q]], %[[M]] {causal = false, scale = 2.500000e-01 : f64}
  // CHECK-NEXT: return %[[Y]]
  %quarter = amp.constant dense<0.25> : tensor<f32>
  %0 = amp.matmul %q, %q {transpose_rhs} : (tensor<2x4x8x16xbf16>, tensor<2x4x8x16xbf16>) -> tensor<2x4x8x8xbf16>
  %1 = amp.cast %0 {from_model} : (tensor<2x4x8x8xbf16>) -> tensor<2x4x8x8xf32>
  %2 = amp.mul %1, %quarter : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = amp.add %2, %m : (tensor<2x4x8x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8x8xf32>
  %4 = amp.softmax %3 {axis = 3 : i64} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %5 = amp.cast %4 {from_model} : (tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xbf16>
  %6 = amp.matmul %5, %q : (tensor<2x4x8x8xbf16>, tensor<2x4x8x16xbf16>) -> tensor<2x4x8x16xbf16>
  return %6 : tensor<2x4x8x16xbf16>
}

// -----

/// A constant mask that keeps what comes before is an attribute: as a selection
/// of a fill that a row without a key could notice, as the first GPT-2 was
/// written, and aligned with the last key.
// CHECK-LABEL: func.func @causal
// CHECK-SAME: (%[[Q:.*]]: tensor<1x2x3x4xf32>, %[[K:.*]]: tensor<1x2x5x4xf32>)
func.func @causal(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = amp.attention %[[Q]], %[[Q]], %[[Q]] {causal = true, scale
  // CHECK-NEXT: %[[B:.*]] = amp.attention %[[Q]], %[[Q]], %[[Q]] {causal = true, scale
  // CHECK-NEXT: %[[C:.*]] = amp.attention %[[Q]], %[[K]], %[[K]] {causal = true, causal_align_end = true, scale
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
  %keep = amp.constant dense<[[[true, false, false], [true, true, false], [true, true, true]]]> : tensor<1x3x3xi1>
  %fill = amp.constant dense<-10000.0> : tensor<f32>
  %factor = amp.constant dense<[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]> : tensor<3x3xf32>
  %offset = amp.constant dense<[[0.0, 10000.0, 10000.0], [0.0, 0.0, 10000.0], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %added = amp.constant dense<[[0.0, 0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<3x5xf32>
  %a0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %a1 = amp.select %keep, %a0, %fill : (tensor<1x3x3xi1>, tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %a2 = amp.softmax %a1 {axis = 3 : i64} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %a = amp.matmul %a2, %q : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %b0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %b1 = amp.mul %b0, %factor : (tensor<1x2x3x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3x3xf32>
  %b2 = amp.sub %b1, %offset : (tensor<1x2x3x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3x3xf32>
  %b3 = amp.softmax %b2 {axis = 3 : i64} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %b = amp.matmul %b3, %q : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %c0 = amp.matmul %q, %k {transpose_rhs} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x5xf32>
  %c1 = amp.add %c0, %added : (tensor<1x2x3x5xf32>, tensor<3x5xf32>) -> tensor<1x2x3x5xf32>
  %c2 = amp.softmax %c1 {axis = 3 : i64} : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %c = amp.matmul %c2, %k : (tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32>
  return %a, %b, %c : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
}

// -----

/// A window, a row that keeps nothing, a mask between the two alignments, a
/// factor that is no mask.
// CHECK-LABEL: func.func @negative_causal
func.func @negative_causal(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x5x4xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) {
  // CHECK: amp.attention {{.*}} {causal = false
  // CHECK: amp.softmax
  // CHECK: amp.attention {{.*}} {causal = false
  // CHECK: amp.softmax
  %window = amp.constant dense<[[true, false, false], [true, true, false], [false, true, true]]> : tensor<3x3xi1>
  %empty = amp.constant dense<[[false, false, false], [true, false, false], [true, true, false]]> : tensor<3x3xi1>
  %inf = amp.constant dense<0xFF800000> : tensor<f32>
  %fill = amp.constant dense<-10000.0> : tensor<f32>
  %between = amp.constant dense<[[0.0, 0.0, -1.0e9, -1.0e9, -1.0e9], [0.0, 0.0, 0.0, -1.0e9, -1.0e9], [0.0, 0.0, 0.0, 0.0, -1.0e9]]> : tensor<3x5xf32>
  %factor = amp.constant dense<[[2.0, 0.0, 0.0], [2.0, 2.0, 0.0], [2.0, 2.0, 2.0]]> : tensor<3x3xf32>
  %offset = amp.constant dense<[[0.0, 10000.0, 10000.0], [0.0, 0.0, 10000.0], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %a0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %a1 = amp.select %window, %a0, %inf : (tensor<3x3xi1>, tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %a2 = amp.softmax %a1 {axis = 3 : i64} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %a = amp.matmul %a2, %q : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %b0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %b1 = amp.select %empty, %b0, %fill : (tensor<3x3xi1>, tensor<1x2x3x3xf32>, tensor<f32>) -> tensor<1x2x3x3xf32>
  %b2 = amp.softmax %b1 {axis = 3 : i64} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %b = amp.matmul %b2, %q : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  %c0 = amp.matmul %q, %k {transpose_rhs} : (tensor<1x2x3x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x5xf32>
  %c1 = amp.add %c0, %between : (tensor<1x2x3x5xf32>, tensor<3x5xf32>) -> tensor<1x2x3x5xf32>
  %c2 = amp.softmax %c1 {axis = 3 : i64} : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xf32>
  %c = amp.matmul %c2, %k : (tensor<1x2x3x5xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x3x4xf32>
  %d0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x3xf32>
  %d1 = amp.mul %d0, %factor : (tensor<1x2x3x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3x3xf32>
  %d2 = amp.sub %d1, %offset : (tensor<1x2x3x3xf32>, tensor<3x3xf32>) -> tensor<1x2x3x3xf32>
  %d3 = amp.softmax %d2 {axis = 3 : i64} : (tensor<1x2x3x3xf32>) -> tensor<1x2x3x3xf32>
  %d = amp.matmul %d3, %q : (tensor<1x2x3x3xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
  return %a, %b, %c, %d : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
}

// -----

/// Probabilities that the model returns are computed anyway.
// CHECK-LABEL: func.func @negative_probabilities_returned
func.func @negative_probabilities_returned(%q: tensor<1x4x8x16xf32>) -> (tensor<1x4x8x16xf32>, tensor<1x4x8x8xf32>) {
  // CHECK-NOT: amp.attention
  // CHECK: return
  %0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x8xf32>
  %1 = amp.softmax %0 {axis = 3 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %2 = amp.matmul %1, %q : (tensor<1x4x8x8xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return %2, %1 : tensor<1x4x8x16xf32>, tensor<1x4x8x8xf32>
}

// -----

/// Softmax along the queries, a scale after the mask, a fill that scores can
/// reach, a scale that is no scalar, a bias of the second product.
// CHECK-LABEL: func.func @negative_not_attention
func.func @negative_not_attention(%q: tensor<1x4x8x16xf32>, %m: tensor<8x8xf32>, %c: tensor<8x8xi1>, %b: tensor<16xf32>) -> (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) {
  // CHECK-NOT: amp.attention
  // CHECK: return
  %half = amp.constant dense<0.5> : tensor<f32>
  %fill = amp.constant dense<-100.0> : tensor<f32>
  %a0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x8xf32>
  %a1 = amp.softmax %a0 {axis = 2 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %a = amp.matmul %a1, %q : (tensor<1x4x8x8xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  %b0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x8xf32>
  %b1 = amp.add %b0, %m : (tensor<1x4x8x8xf32>, tensor<8x8xf32>) -> tensor<1x4x8x8xf32>
  %b2 = amp.mul %b1, %half : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  %b3 = amp.softmax %b2 {axis = 3 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b4 = amp.matmul %b3, %q : (tensor<1x4x8x8xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  %c0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x8xf32>
  %c1 = amp.select %c, %c0, %fill : (tensor<8x8xi1>, tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
  %c2 = amp.softmax %c1 {axis = 3 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %c3 = amp.matmul %c2, %q : (tensor<1x4x8x8xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  %d0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x8xf32>
  %d1 = amp.mul %d0, %m : (tensor<1x4x8x8xf32>, tensor<8x8xf32>) -> tensor<1x4x8x8xf32>
  %d2 = amp.softmax %d1 {axis = 3 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %d = amp.matmul %d2, %q : (tensor<1x4x8x8xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  %e0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x8xf32>
  %e1 = amp.softmax %e0 {axis = 3 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %e = amp.matmul %e1, %q, %b : (tensor<1x4x8x8xf32>, tensor<1x4x8x16xf32>, tensor<16xf32>) -> tensor<1x4x8x16xf32>
  return %a, %b4, %c3, %d, %e : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>
}
