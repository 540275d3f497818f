// RUN: ampc-opt %s | FileCheck %s
// RUN: ampc-opt %s > %t.once && ampc-opt %t.once | diff %t.once -
// RUN: ampc-opt %s --mlir-print-op-generic | ampc-opt | diff %t.once -
// RUN: ampc-opt %s --emit-bytecode | ampc-opt | diff %t.once -

/// Gathers, windows, resizing, scatters, order.

// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<3x5x6xf32>, %i: tensor<4x2xi64>, %e: tensor<3x2x6xi32>, %n: tensor<3x7x1xi64>) {
  // CHECK: %{{.*}} = amp.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<3x5x6xf32>, tensor<4x2xi64>) -> tensor<3x4x2x6xf32>
  %0 = amp.gather %x, %i {axis = 1 : i64} : (tensor<3x5x6xf32>, tensor<4x2xi64>) -> tensor<3x4x2x6xf32>
  // CHECK: %{{.*}} = amp.gather_elements %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<3x5x6xf32>, tensor<3x2x6xi32>) -> tensor<3x2x6xf32>
  %1 = amp.gather_elements %x, %e {axis = 1 : i64} : (tensor<3x5x6xf32>, tensor<3x2x6xi32>) -> tensor<3x2x6xf32>
  // CHECK: %{{.*}} = amp.gather_nd %{{.*}}, %{{.*}} {batch_dims = 0 : i64} : (tensor<3x5x6xf32>, tensor<4x2xi64>) -> tensor<4x6xf32>
  %2 = amp.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<3x5x6xf32>, tensor<4x2xi64>) -> tensor<4x6xf32>
  // CHECK: %{{.*}} = amp.gather_nd %{{.*}}, %{{.*}} {batch_dims = 1 : i64} : (tensor<3x5x6xf32>, tensor<3x7x1xi64>) -> tensor<3x7x6xf32>
  %3 = amp.gather_nd %x, %n {batch_dims = 1 : i64} : (tensor<3x5x6xf32>, tensor<3x7x1xi64>) -> tensor<3x7x6xf32>
  return
}

// CHECK-LABEL: func.func @pool
func.func @pool(%x: tensor<1x3x8x8xf32>, %y: tensor<1x8x8x3xi8>) {
  // CHECK: %{{.*}} = amp.max_pool %{{.*}} {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %0 = amp.max_pool %x {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  // CHECK: %{{.*}} = amp.max_pool %{{.*}} {ceil_mode = true, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, layout = #amp.layout<channels_last>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x8x8x3xi8>) -> tensor<1x4x4x3xi8>
  %1 = amp.max_pool %y {ceil_mode = true, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 3>, layout = #amp.layout<channels_last>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 2, 2>} : (tensor<1x8x8x3xi8>) -> tensor<1x4x4x3xi8>
  // CHECK: %{{.*}} = amp.avg_pool %{{.*}} {count_include_pad = true, dilations = array<i64: 1, 2>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x6xf32>
  %2 = amp.avg_pool %x {count_include_pad = true, dilations = array<i64: 1, 2>, kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x6xf32>
  return
}

/// The last window would start in the padding after the input, so it is dropped.
// CHECK-LABEL: func.func @pool_ceil_drops
func.func @pool_ceil_drops(%x: tensor<1x1x4xf32>) {
  // CHECK: %{{.*}} = amp.max_pool %{{.*}} {ceil_mode = true, dilations = array<i64: 1>, kernel = array<i64: 1>, pads = array<i64: 0, 1>, strides = array<i64: 2>} : (tensor<1x1x4xf32>) -> tensor<1x1x2xf32>
  %0 = amp.max_pool %x {ceil_mode = true, dilations = array<i64: 1>, kernel = array<i64: 1>, pads = array<i64: 0, 1>, strides = array<i64: 2>} : (tensor<1x1x4xf32>) -> tensor<1x1x2xf32>
  return
}

// CHECK-LABEL: func.func @resize
func.func @resize(%x: tensor<1x3x4x4xf32>) {
  // CHECK: %{{.*}} = amp.resize %{{.*}} {coordinate_mode = #amp.coordinate_mode<asymmetric>, mode = #amp.resize_mode<nearest>, nearest_mode = #amp.nearest_mode<floor>, scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>
  %0 = amp.resize %x {coordinate_mode = #amp.coordinate_mode<asymmetric>, mode = #amp.resize_mode<nearest>, nearest_mode = #amp.nearest_mode<floor>, scales = array<f64: 1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>
  // CHECK: %{{.*}} = amp.resize %{{.*}} {antialias = true, coordinate_mode = #amp.coordinate_mode<half_pixel>, cubic_coeff = -5.000000e-01 : f64, exclude_outside = true, mode = #amp.resize_mode<cubic>, scales = array<f64: 1.000000e+00, 1.000000e+00, 5.000000e-01, 5.000000e-01>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32>
  %1 = amp.resize %x {antialias = true, coordinate_mode = #amp.coordinate_mode<half_pixel>, cubic_coeff = -5.000000e-01 : f64, exclude_outside = true, mode = #amp.resize_mode<cubic>, scales = array<f64: 1.000000e+00, 1.000000e+00, 5.000000e-01, 5.000000e-01>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32>
  // CHECK: %{{.*}} = amp.resize %{{.*}} {coordinate_mode = #amp.coordinate_mode<tf_crop_and_resize>, extrapolation_value = 1.000000e+00 : f64, mode = #amp.resize_mode<linear>, roi = array<f64: 0.000000e+00, 0.000000e+00, 2.500000e-01, 2.500000e-01, 1.000000e+00, 1.000000e+00, 7.500000e-01, 7.500000e-01>, scales = array<f64: 1.000000e+00, 1.000000e+00, 1.250000e+00, 1.250000e+00>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x5x5xf32>
  %2 = amp.resize %x {coordinate_mode = #amp.coordinate_mode<tf_crop_and_resize>, extrapolation_value = 1.000000e+00 : f64, mode = #amp.resize_mode<linear>, roi = array<f64: 0.000000e+00, 0.000000e+00, 2.500000e-01, 2.500000e-01, 1.000000e+00, 1.000000e+00, 7.500000e-01, 7.500000e-01>, scales = array<f64: 1.000000e+00, 1.000000e+00, 1.250000e+00, 1.250000e+00>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x5x5xf32>
  return
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<4x8xf32>, %i: tensor<2x8xi64>, %u: tensor<2x8xf32>, %n: tensor<2x1xi64>) {
  // CHECK: %{{.*}} = amp.scatter_elements %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64, reduction = #amp.scatter_reduction<none>} : (tensor<4x8xf32>, tensor<2x8xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %0 = amp.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #amp.scatter_reduction<none>} : (tensor<4x8xf32>, tensor<2x8xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.scatter_elements %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64, reduction = #amp.scatter_reduction<max>} : (tensor<4x8xf32>, tensor<2x8xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %1 = amp.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #amp.scatter_reduction<max>} : (tensor<4x8xf32>, tensor<2x8xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.scatter_nd %{{.*}}, %{{.*}}, %{{.*}} {reduction = #amp.scatter_reduction<add>} : (tensor<4x8xf32>, tensor<2x1xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %2 = amp.scatter_nd %x, %n, %u {reduction = #amp.scatter_reduction<add>} : (tensor<4x8xf32>, tensor<2x1xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @order
func.func @order(%x: tensor<4x8xf32>) {
  // CHECK: %{{.*}} = amp.cumsum %{{.*}} {axis = 0 : i64, exclusive = false, reverse = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = amp.cumsum %x {axis = 0 : i64, exclusive = false, reverse = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %{{.*}} = amp.top_k %{{.*}} {axis = 1 : i64, k = 3 : i64, largest = true} : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  %1:2 = amp.top_k %x {axis = 1 : i64, k = 3 : i64, largest = true} : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
  // CHECK: %{{.*}} = amp.arg_max %{{.*}} {axis = 1 : i64, keepdims = true, select_last = false} : (tensor<4x8xf32>) -> tensor<4x1xi64>
  %2 = amp.arg_max %x {axis = 1 : i64, keepdims = true, select_last = false} : (tensor<4x8xf32>) -> tensor<4x1xi64>
  // CHECK: %{{.*}} = amp.arg_min %{{.*}} {axis = 0 : i64, keepdims = false, select_last = true} : (tensor<4x8xf32>) -> tensor<8xi64>
  %3 = amp.arg_min %x {axis = 0 : i64, keepdims = false, select_last = true} : (tensor<4x8xf32>) -> tensor<8xi64>
  return
}
