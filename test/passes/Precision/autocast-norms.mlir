// RUN: ampc-opt %s --precision-autocast=type=bf16 | FileCheck %s --check-prefixes=CHECK,FOLLOW
// RUN: ampc-opt %s --precision-autocast='type=bf16 norm-output=fp32' | FileCheck %s --check-prefixes=CHECK,FP32

/// Statistics are f32 in either case; parameters keep their type; what the
/// result is, the option says.
// CHECK-LABEL: func.func @layer_norm
// CHECK-SAME: %[[G:[^:]*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
func.func @layer_norm(%x: tensor<8x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8x8xf32> {
  // CHECK: %[[Y:.*]] = amp.matmul {{.*}} -> tensor<8x8xbf16>
  // FOLLOW: amp.layer_norm %[[Y]] scale %[[G]] bias %[[B]] {{.*}} : (tensor<8x8xbf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x8xbf16>
  // FP32: %[[W:.*]] = amp.cast %[[Y]] : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  // FP32: amp.layer_norm %[[W]] scale %[[G]] bias %[[B]] {{.*}} : (tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %y = amp.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = amp.layer_norm %y scale %g bias %b {axis = 1 : i64, epsilon = 1.0e-12 : f64} : (tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %n : tensor<8x8xf32>
}

/// Between two products a norm needs no cast of its own.
// CHECK-LABEL: func.func @rms_norm_between_products
func.func @rms_norm_between_products(%x: tensor<8x8xf32>, %g: tensor<8xf32>) -> tensor<8x8xf32> {
  // FOLLOW: %[[Y:.*]] = amp.matmul
  // FOLLOW-NEXT: %[[N:.*]] = amp.rms_norm %[[Y]]
  // FOLLOW-NEXT: amp.matmul %[[N]], %[[N]]
  // FP32: amp.rms_norm {{.*}} -> tensor<8x8xf32>
  %y = amp.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = amp.rms_norm %y, %g {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %z = amp.matmul %n, %n : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}

/// Group normalization is in PyTorch's list, instance normalization is not.
// CHECK-LABEL: func.func @group_and_instance_norm
func.func @group_and_instance_norm(%x: tensor<1x4x4x4xf32>, %w: tensor<4x4x1x1xf32>, %g: tensor<4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>) {
  // FOLLOW: amp.group_norm {{.*}} -> tensor<1x4x4x4xbf16>
  // FP32: amp.group_norm {{.*}} -> tensor<1x4x4x4xf32>
  // CHECK: amp.group_norm {{.*}} -> tensor<1x4x4x4xbf16>
  %y = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
    : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %n = amp.group_norm %y scale %g bias %g {groups = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  %i = amp.group_norm %y scale %g bias %g {groups = 4 : i64, epsilon = 1.0e-5 : f64} : (tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  return %n, %i : tensor<1x4x4x4xf32>, tensor<1x4x4x4xf32>
}

/// The statistics of a batch normalization keep their type.
// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: tensor<1x4x4x4xf32>, %w: tensor<4x4x1x1xf32>, %g: tensor<4xf32>) -> tensor<1x4x4x4xf32> {
  // CHECK: amp.batch_norm {{.*}} : (tensor<1x4x4x4xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xbf16>
  %y = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
    : (tensor<1x4x4x4xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %n = amp.batch_norm %y, %g, %g, %g, %g {epsilon = 1.0e-5 : f64} : (tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  return %n : tensor<1x4x4x4xf32>
}

/// A norm written out: the square runs in f32 and takes what follows with it,
/// so a deviation of 3000 does not overflow.
// CHECK-LABEL: func.func @decomposed_norm
func.func @decomposed_norm(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: amp.sub {{.*}} -> tensor<8x8xbf16>
  // CHECK: amp.pow {{.*}} -> tensor<8x8xf32>
  // CHECK: amp.reduce_mean {{.*}} -> tensor<8x1xf32>
  // CHECK: amp.add {{.*}} -> tensor<8x1xf32>
  // CHECK: amp.sqrt {{.*}} -> tensor<8x1xf32>
  // CHECK: amp.div {{.*}} -> tensor<8x8xf32>
  %y = amp.matmul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = amp.reduce_mean %y {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %d = amp.sub %y, %m : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %two = amp.constant dense<2.0> : tensor<f32>
  %s = amp.pow %d, %two : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  %v = amp.reduce_mean %s {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %e = amp.constant dense<1.0e-5> : tensor<f32>
  %a = amp.add %v, %e : (tensor<8x1xf32>, tensor<f32>) -> tensor<8x1xf32>
  %q = amp.sqrt %a : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %n = amp.div %d, %q : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %n : tensor<8x8xf32>
}
