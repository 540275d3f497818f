// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-raise))' | FileCheck %s

/// As PyTorch's exporter writes it below opset 17.
// CHECK-LABEL: func.func @layer_norm_pytorch
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x8xf32>)
func.func @layer_norm_pytorch(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK-DAG: %[[SCALE:.*]] = amp.constant dense<3.000000e+00> : tensor<8xf32>
  // CHECK-DAG: %[[BIAS:.*]] = amp.constant dense<4.000000e+00> : tensor<8xf32>
  // CHECK: %[[Y:.*]] = amp.layer_norm %[[X]] scale %[[SCALE]] bias %[[BIAS]] {axis = 2 : i64, epsilon = 9.9999997{{.*}}E-6 : f64}
  // CHECK-NEXT: return %[[Y]]
  %two = amp.constant dense<2.0> : tensor<f32>
  %eps = amp.constant dense<1.0e-5> : tensor<f32>
  %scale = amp.constant dense<3.0> : tensor<8xf32>
  %bias = amp.constant dense<4.0> : tensor<8xf32>
  %mean = amp.reduce_mean %x {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %d = amp.sub %x, %mean : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %square = amp.pow %d, %two : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
  %variance = amp.reduce_mean %square {axes = array<i64: 2>, keepdims = true} : (tensor<2x4x8xf32>) -> tensor<2x4x1xf32>
  %sum = amp.add %variance, %eps : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %root = amp.sqrt %sum : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %n = amp.div %d, %root : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %scaled = amp.mul %n, %scale : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %y = amp.add %scaled, %bias : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

/// Two differences, a mean as a sum over two axes, a reciprocal square root on
/// the left, and no epsilon.
// CHECK-LABEL: func.func @layer_norm_by_hand
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x8xf32>, %[[SCALE:.*]]: tensor<1x4x8xf32>)
func.func @layer_norm_by_hand(%x: tensor<2x4x8xf32>, %scale: tensor<1x4x8xf32>) -> tensor<2x4x8xf32> {
  // CHECK: %[[S:.*]] = amp.reshape %[[SCALE]] : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
  // CHECK: amp.layer_norm %[[X]] scale %[[S]] {axis = 1 : i64, epsilon = 0.000000e+00 : f64}
  // CHECK-NOT: amp.mul
  %count = amp.constant dense<32.0> : tensor<f32>
  %inverse = amp.constant dense<3.125e-2> : tensor<f32>
  %total = amp.reduce_sum %x {axes = array<i64: 1, 2>, keepdims = true} : (tensor<2x4x8xf32>) -> tensor<2x1x1xf32>
  %mean = amp.div %total, %count : (tensor<2x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %d0 = amp.sub %x, %mean : (tensor<2x4x8xf32>, tensor<2x1x1xf32>) -> tensor<2x4x8xf32>
  %d1 = amp.sub %x, %mean : (tensor<2x4x8xf32>, tensor<2x1x1xf32>) -> tensor<2x4x8xf32>
  %square = amp.mul %d0, %d0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %squares = amp.reduce_sum %square {axes = array<i64: 1, 2>, keepdims = false} : (tensor<2x4x8xf32>) -> tensor<2xf32>
  %shaped = amp.reshape %squares : (tensor<2xf32>) -> tensor<2x1x1xf32>
  %variance = amp.mul %inverse, %shaped : (tensor<f32>, tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %root = amp.rsqrt %variance : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %n = amp.mul %root, %d1 : (tensor<2x1x1xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %y = amp.mul %scale, %n : (tensor<1x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

/// 16-bit in and out, f32 between: one op that computes in f32 anyway. The
/// scale after the cast goes with it.
// CHECK-LABEL: func.func @rms_norm_llama
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf16>)
func.func @rms_norm_llama(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // CHECK: %[[W:.*]] = amp.constant dense<3.000000e+00> : tensor<8xf16>
  // CHECK: %[[Y:.*]] = amp.rms_norm %[[X]], %[[W]] {axis = 1 : i64, epsilon = {{.*}}E-7 : f64} : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  // CHECK-NEXT: return %[[Y]]
  %one = amp.constant dense<1.0> : tensor<f32>
  %two = amp.constant dense<2.0> : tensor<f32>
  %eps = amp.constant dense<1.0e-6> : tensor<f32>
  %w = amp.constant dense<3.0> : tensor<8xf16>
  %wide = amp.cast %x {from_model} : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %square = amp.pow %wide, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %mean = amp.reduce_mean %square {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %sum = amp.add %eps, %mean : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %root = amp.sqrt %sum : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %inverse = amp.div %one, %root : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %n = amp.mul %wide, %inverse : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %narrow = amp.cast %n {from_model} : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %y = amp.mul %w, %narrow : (tensor<8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @rms_norm_reciprocal
func.func @rms_norm_reciprocal(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-COUNT-2: amp.rms_norm %{{.*}} {axis = 1 : i64, epsilon = 0.000000e+00 : f64}
  // CHECK-NEXT: return
  %minus_half = amp.constant dense<-0.5> : tensor<f32>
  %square = amp.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %mean = amp.reduce_mean %square {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %root = amp.sqrt %mean : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %inverse = amp.reciprocal %root : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = amp.mul %x, %inverse : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %power = amp.pow %mean, %minus_half : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %z = amp.mul %power, %x : (tensor<4x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

/// An epsilon added to the deviation is another function.
// CHECK-LABEL: func.func @negative_epsilon_outside
func.func @negative_epsilon_outside(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: _norm
  // CHECK: return
  %eps = amp.constant dense<1.0e-6> : tensor<f32>
  %square = amp.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %mean = amp.reduce_mean %square {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %root = amp.sqrt %mean : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %sum = amp.add %root, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %y = amp.div %x, %sum : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

/// The variance of a sample divides by one less.
// CHECK-LABEL: func.func @negative_sample_variance
func.func @negative_sample_variance(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: _norm
  // CHECK: return
  %count = amp.constant dense<7.0> : tensor<f32>
  %square = amp.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %total = amp.reduce_sum %square {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %mean = amp.div %total, %count : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %root = amp.rsqrt %mean : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = amp.mul %x, %root : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

/// The mean is that of something else.
// CHECK-LABEL: func.func @negative_other_mean
func.func @negative_other_mean(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: _norm
  // CHECK: return
  %square = amp.mul %z, %z : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %mean = amp.reduce_mean %square {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %root = amp.rsqrt %mean : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = amp.mul %x, %root : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

/// Over a dimension that is not the last.
// CHECK-LABEL: func.func @negative_leading_axis
func.func @negative_leading_axis(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-NOT: _norm
  // CHECK: return
  %square = amp.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %mean = amp.reduce_mean %square {axes = array<i64: 0>, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x8xf32>
  %root = amp.rsqrt %mean : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %y = amp.mul %x, %root : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

/// A factor per row is no scale of a normalization; nor is one that another
/// reader must not see.
// CHECK-LABEL: func.func @negative_scale
func.func @negative_scale(%x: tensor<4x8xf32>, %rows: tensor<4x1xf32>, %scale: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-COUNT-2: amp.rms_norm %{{.*}} {axis
  // CHECK-COUNT-2: amp.mul
  %0 = amp.rms_norm %x {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = amp.rms_norm %x {axis = 1 : i64, epsilon = 1.0e-6 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = amp.mul %0, %rows : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %3 = amp.mul %1, %scale : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

/// From f32 to f32 the casts of the model are barriers that stay.
// CHECK-LABEL: func.func @negative_casts_of_f32
func.func @negative_casts_of_f32(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-COUNT-2: amp.cast
  %0 = amp.cast %x {from_model} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = amp.rms_norm %0 {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = amp.cast %1 {from_model} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
