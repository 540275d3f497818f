// RUN: ampc-opt %s | FileCheck %s
// RUN: ampc-opt %s > %t.once && ampc-opt %t.once | diff %t.once -
// RUN: ampc-opt %s --mlir-print-op-generic | ampc-opt | diff %t.once -
// RUN: ampc-opt %s --emit-bytecode | ampc-opt | diff %t.once -

/// Reductions, softmax, normalizations.

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<4x8xf32>, %p: tensor<4x8xi1>, %i: tensor<4x8xi32>) {
  // CHECK: %{{.*}} = amp.reduce_sum %{{.*}} {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %0 = amp.reduce_sum %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  // CHECK: %{{.*}} = amp.reduce_mean %{{.*}} {axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<f32>
  %1 = amp.reduce_mean %x {axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x8xf32>) -> tensor<f32>
  // CHECK: %{{.*}} = amp.reduce_prod %{{.*}} {axes = array<i64: 0>, keepdims = false} : (tensor<4x8xi32>) -> tensor<8xi32>
  %2 = amp.reduce_prod %i {axes = array<i64: 0>, keepdims = false} : (tensor<4x8xi32>) -> tensor<8xi32>
  // CHECK: %{{.*}} = amp.reduce_max %{{.*}} {axes = array<i64: 0>, keepdims = true} : (tensor<4x8xi1>) -> tensor<1x8xi1>
  %3 = amp.reduce_max %p {axes = array<i64: 0>, keepdims = true} : (tensor<4x8xi1>) -> tensor<1x8xi1>
  // CHECK: %{{.*}} = amp.reduce_min %{{.*}} {axes = array<i64>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = amp.reduce_min %x {axes = array<i64>, keepdims = false} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<4x8xf32>, %h: tensor<4x8xf16>) {
  // CHECK: %{{.*}} = amp.softmax %{{.*}} {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = amp.softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.log_softmax %{{.*}} {axis = 0 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %1 = amp.log_softmax %h {axis = 0 : i64} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  return
}

// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: tensor<2x4x8xbf16>, %g: tensor<8xf32>, %m: tensor<4x8xf32>) {
  // CHECK: %{{.*}} = amp.layer_norm %{{.*}} scale %{{.*}} bias %{{.*}} {axis = 2 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x4x8xbf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xbf16>
  %0 = amp.layer_norm %x scale %g bias %g {axis = 2 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x4x8xbf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x4x8xbf16>
  // CHECK: %{{.*}} = amp.layer_norm %{{.*}} bias %{{.*}} {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x4x8xbf16>, tensor<4x8xf32>) -> tensor<2x4x8xbf16>
  %1 = amp.layer_norm %x bias %m {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x4x8xbf16>, tensor<4x8xf32>) -> tensor<2x4x8xbf16>
  // CHECK: %{{.*}} = amp.layer_norm %{{.*}} {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16>
  %2 = amp.layer_norm %x {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : (tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16>
  return
}

// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<4x8xf16>, %g: tensor<8xf32>) {
  // CHECK: %{{.*}} = amp.rms_norm %{{.*}}, %{{.*}} {axis = 1 : i64, epsilon = 9.9999999999999995E-7 : f64} : (tensor<4x8xf16>, tensor<8xf32>) -> tensor<4x8xf16>
  %0 = amp.rms_norm %x, %g {axis = 1 : i64, epsilon = 9.9999999999999995E-7 : f64} : (tensor<4x8xf16>, tensor<8xf32>) -> tensor<4x8xf16>
  // CHECK: %{{.*}} = amp.rms_norm %{{.*}} {axis = 0 : i64, epsilon = 9.9999999999999995E-7 : f64} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  %1 = amp.rms_norm %x {axis = 0 : i64, epsilon = 9.9999999999999995E-7 : f64} : (tensor<4x8xf16>) -> tensor<4x8xf16>
  return
}

// CHECK-LABEL: func.func @group_norm
func.func @group_norm(%x: tensor<1x8x4x4xf32>, %y: tensor<1x4x4x8xf32>, %g: tensor<8xf32>) {
  // CHECK: %{{.*}} = amp.group_norm %{{.*}} scale %{{.*}} bias %{{.*}} {epsilon = 1.000000e-05 : f64, groups = 2 : i64} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  %0 = amp.group_norm %x scale %g bias %g {epsilon = 1.000000e-05 : f64, groups = 2 : i64} : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  // CHECK: %{{.*}} = amp.group_norm %{{.*}} {epsilon = 1.000000e-05 : f64, groups = 8 : i64, layout = #amp.layout<channels_last>} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %1 = amp.group_norm %y {epsilon = 1.000000e-05 : f64, groups = 8 : i64, layout = #amp.layout<channels_last>} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return
}

// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: tensor<1x8x4x4xf16>, %y: tensor<1x4x4x8xf16>, %g: tensor<8xf32>) {
  // CHECK: %{{.*}} = amp.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64} : (tensor<1x8x4x4xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf16>
  %0 = amp.batch_norm %x, %g, %g, %g, %g {epsilon = 1.000000e-05 : f64} : (tensor<1x8x4x4xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf16>
  // CHECK: %{{.*}} = amp.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 1.000000e-05 : f64, layout = #amp.layout<channels_last>} : (tensor<1x4x4x8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf16>
  %1 = amp.batch_norm %y, %g, %g, %g, %g {epsilon = 1.000000e-05 : f64, layout = #amp.layout<channels_last>} : (tensor<1x4x4x8xf16>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x4x4x8xf16>
  return
}
