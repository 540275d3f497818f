// RUN: ampc-eval %s | FileCheck %s --match-full-lines --strict-whitespace

// Windows that overlap padding, dilated windows, both layouts.

// Padding never wins, even over negative numbers.
// CHECK{LITERAL}:@max_pool#0: tensor<1x1x3xf32> = [[[-1, -2, -4]]]
// CHECK{LITERAL}:@max_pool#1: tensor<1x1x2xi8> = [[[5, -1]]]
func.func @max_pool() -> (tensor<1x1x3xf32>, tensor<1x1x2xi8>) {
  %a = amp.constant dense<[[[-1.0, -2.0, -3.0, -4.0, -5.0]]]> : tensor<1x1x5xf32>
  %0 = amp.max_pool %a {kernel = array<i64: 3>, strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>}
    : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32>
  %b = amp.constant dense<[[[-7, -6, -128, 5, -1]]]> : tensor<1x1x5xi8>
  %1 = amp.max_pool %b {kernel = array<i64: 2>, strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 3>}
    : (tensor<1x1x5xi8>) -> tensor<1x1x2xi8>
  return %0, %1 : tensor<1x1x3xf32>, tensor<1x1x2xi8>
}

// CHECK{LITERAL}:@avg_pool#0: tensor<1x1x3xf32> = [[[1.5, 3, 4.5]]]
// CHECK{LITERAL}:@avg_pool#1: tensor<1x1x3xf32> = [[[1, 3, 3]]]
// CHECK{LITERAL}:@avg_pool#2: tensor<1x1x3xf32> = [[[2, 4, 2.5]]]
func.func @avg_pool() -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>) {
  %a = amp.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]]]> : tensor<1x1x5xf32>
  %0 = amp.avg_pool %a {kernel = array<i64: 3>, strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>}
    : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32>
  %1 = amp.avg_pool %a {kernel = array<i64: 3>, strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>,
    count_include_pad = true} : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32>
  // The last window reaches beyond the padding, which counts for nothing.
  %2 = amp.avg_pool %a {kernel = array<i64: 3>, strides = array<i64: 2>, pads = array<i64: 0, 1>, dilations = array<i64: 1>,
    count_include_pad = true, ceil_mode = true} : (tensor<1x1x5xf32>) -> tensor<1x1x3xf32>
  return %0, %1, %2 : tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x3xf32>
}

// CHECK{LITERAL}:@channels_last#0: tensor<1x1x2x2xf32> = [[[[5, 50], [6, 60]]]]
// CHECK{LITERAL}:@channels_last#1: tensor<1x1x2x2xf32> = [[[[3, 30], [4, 40]]]]
func.func @channels_last() -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) {
  %a = amp.constant dense<[[[[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]], [[4.0, 40.0], [5.0, 50.0], [6.0, 60.0]]]]> : tensor<1x2x3x2xf32>
  %0 = amp.max_pool %a {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
    dilations = array<i64: 1, 1>, layout = #amp.layout<channels_last>} : (tensor<1x2x3x2xf32>) -> tensor<1x1x2x2xf32>
  %1 = amp.avg_pool %a {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>,
    dilations = array<i64: 1, 1>, layout = #amp.layout<channels_last>} : (tensor<1x2x3x2xf32>) -> tensor<1x1x2x2xf32>
  return %0, %1 : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
}

// CHECK{LITERAL}:@resize_nearest#0: tensor<1x1x4x2xf32> = [[[[1, 2], [1, 2], [3, 4], [3, 4]]]]
// CHECK:@resize_nearest#1: tensor<5xf32> = [1, 1, 1, 2, 2]
// CHECK:@resize_nearest#2: tensor<5xf32> = [1, 1, 2, 2, 2]
func.func @resize_nearest() -> (tensor<1x1x4x2xf32>, tensor<5xf32>, tensor<5xf32>) {
  %a = amp.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %0 = amp.resize %a {scales = array<f64: 1.0, 1.0, 2.0, 1.0>, mode = #amp.resize_mode<nearest>,
    coordinate_mode = #amp.coordinate_mode<asymmetric>, nearest_mode = #amp.nearest_mode<floor>}
    : (tensor<1x1x2x2xf32>) -> tensor<1x1x4x2xf32>
  %b = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = amp.resize %b {scales = array<f64: 2.5>, mode = #amp.resize_mode<nearest>,
    coordinate_mode = #amp.coordinate_mode<half_pixel>, nearest_mode = #amp.nearest_mode<round_prefer_floor>}
    : (tensor<2xf32>) -> tensor<5xf32>
  %2 = amp.resize %b {scales = array<f64: 2.5>, mode = #amp.resize_mode<nearest>,
    coordinate_mode = #amp.coordinate_mode<half_pixel>, nearest_mode = #amp.nearest_mode<round_prefer_ceil>}
    : (tensor<2xf32>) -> tensor<5xf32>
  return %0, %1, %2 : tensor<1x1x4x2xf32>, tensor<5xf32>, tensor<5xf32>
}

// CHECK:@resize_linear#0: tensor<4xf32> = [1, 1.75, 3.25, 4]
// CHECK:@resize_linear#1: tensor<4xf32> = [1, 2, 3, 4]
// CHECK:@resize_linear#2: tensor<2xf32> = [1.5, 6]
// CHECK:@resize_linear#3: tensor<2xf32> = [1.75, 5.75]
func.func @resize_linear() -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = amp.constant dense<[1.0, 4.0]> : tensor<2xf32>
  %0 = amp.resize %a {scales = array<f64: 2.0>, mode = #amp.resize_mode<linear>,
    coordinate_mode = #amp.coordinate_mode<half_pixel>} : (tensor<2xf32>) -> tensor<4xf32>
  %1 = amp.resize %a {scales = array<f64: 2.0>, mode = #amp.resize_mode<linear>,
    coordinate_mode = #amp.coordinate_mode<align_corners>} : (tensor<2xf32>) -> tensor<4xf32>
  // Halving without and with antialiasing: two, and four weighted, elements.
  %b = amp.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %2 = amp.resize %b {scales = array<f64: 0.5>, mode = #amp.resize_mode<linear>,
    coordinate_mode = #amp.coordinate_mode<half_pixel>} : (tensor<4xf32>) -> tensor<2xf32>
  %3 = amp.resize %b {scales = array<f64: 0.5>, mode = #amp.resize_mode<linear>, antialias = true,
    coordinate_mode = #amp.coordinate_mode<half_pixel>} : (tensor<4xf32>) -> tensor<2xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK:@resize_crop#0: tensor<3xf32> = [2, 3, -1]
func.func @resize_crop() -> tensor<3xf32> {
  %a = amp.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = amp.resize %a {scales = array<f64: 1.0>, mode = #amp.resize_mode<linear>,
    coordinate_mode = #amp.coordinate_mode<tf_crop_and_resize>, roi = array<f64: 0.5, 1.5>, extrapolation_value = -1.0 : f64}
    : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
