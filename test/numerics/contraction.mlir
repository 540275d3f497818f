// RUN: ampc-eval %s | FileCheck %s --match-full-lines --strict-whitespace

// Products and convolutions accumulate without rounding.

// CHECK{LITERAL}:@matmul#0: tensor<2x2xf32> = [[7, 8], [16, 17]]
// CHECK{LITERAL}:@matmul#1: tensor<2x2xf32> = [[17, 28], [26, 37]]
// CHECK{LITERAL}:@matmul#2: tensor<2x2xf32> = [[7, 16], [8, 17]]
func.func @matmul() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %a = amp.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = amp.constant dense<[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]]> : tensor<3x2xf32>
  %0 = amp.matmul %a, %b : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %c = amp.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %1 = amp.matmul %a, %b, %c : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %2 = amp.matmul %b, %a {transpose_lhs, transpose_rhs} : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK{LITERAL}:@matmul_batches#0: tensor<2x2x1x1xi32> = [[[[21]], [[2100]]], [[[43]], [[4300]]]]
func.func @matmul_batches() -> tensor<2x2x1x1xi32> {
  %a = amp.constant dense<[[[[1, 2]]], [[[3, 4]]]]> : tensor<2x1x1x2xi32>
  %b = amp.constant dense<[[[1], [10]], [[100], [1000]]]> : tensor<2x2x1xi32>
  %y = amp.matmul %a, %b : (tensor<2x1x1x2xi32>, tensor<2x2x1xi32>) -> tensor<2x2x1x1xi32>
  return %y : tensor<2x2x1x1xi32>
}

// 65504 + 65504 - 65504: an f16 accumulator would overflow. The wide result
// keeps what the narrow one rounds away.
// CHECK{LITERAL}:@matmul_wide#0: tensor<1x1xf16> = [[65504]]
// CHECK{LITERAL}:@matmul_wide#1: tensor<1x1xf32> = [[65505]]
func.func @matmul_wide() -> (tensor<1x1xf16>, tensor<1x1xf32>) {
  %a = amp.constant dense<[[65504.0, 65504.0, -65504.0, 1.0]]> : tensor<1x4xf16>
  %b = amp.constant dense<1.0> : tensor<4x1xf16>
  %0 = amp.matmul %a, %b : (tensor<1x4xf16>, tensor<4x1xf16>) -> tensor<1x1xf16>
  %1 = amp.matmul %a, %b : (tensor<1x4xf16>, tensor<4x1xf16>) -> tensor<1x1xf32>
  return %0, %1 : tensor<1x1xf16>, tensor<1x1xf32>
}

// CHECK{LITERAL}:@matmul_empty#0: tensor<2x2xf32> = [[0, 0], [0, 0]]
func.func @matmul_empty() -> tensor<2x2xf32> {
  %a = amp.constant dense<> : tensor<2x0xf32>
  %y = amp.matmul %a, %a {transpose_rhs} : (tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// CHECK{LITERAL}:@matmul_integers_wrap#0: tensor<1x1xi8> = [[44]]
func.func @matmul_integers_wrap() -> tensor<1x1xi8> {
  %a = amp.constant dense<100> : tensor<1x3xi8>
  %b = amp.constant dense<1> : tensor<3x1xi8>
  %y = amp.matmul %a, %b : (tensor<1x3xi8>, tensor<3x1xi8>) -> tensor<1x1xi8>
  return %y : tensor<1x1xi8>
}

// CHECK{LITERAL}:@conv_1d#0: tensor<1x1x3xf32> = [[[210.5, 432.5, 54.5]]]
// CHECK{LITERAL}:@conv_1d#1: tensor<1x1x3xf32> = [[[42, 53, 4]]]
func.func @conv_1d() -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>) {
  %a = amp.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0]]]> : tensor<1x1x5xf32>
  %w = amp.constant dense<[[[1.0, 10.0, 100.0]]]> : tensor<1x1x3xf32>
  %b = amp.constant dense<[0.5]> : tensor<1xf32>
  %0 = amp.conv %a, %w, %b {strides = array<i64: 2>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, group = 1 : i64}
    : (tensor<1x1x5xf32>, tensor<1x1x3xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  // A negative pad crops.
  %1 = amp.conv %a, %w {strides = array<i64: 1>, pads = array<i64: -1, 3>, dilations = array<i64: 2>, group = 1 : i64}
    : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  return %0, %1 : tensor<1x1x3xf32>, tensor<1x1x3xf32>
}

// CHECK{LITERAL}:@conv_groups#0: tensor<1x4x1xf32> = [[[1], [2], [6], [8]]]
func.func @conv_groups() -> tensor<1x4x1xf32> {
  %a = amp.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
  %w = amp.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %y = amp.conv %a, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 2 : i64}
    : (tensor<1x2x1xf32>, tensor<4x1x1xf32>) -> tensor<1x4x1xf32>
  return %y : tensor<1x4x1xf32>
}

// The same convolution in both layouts.
// CHECK{LITERAL}:@conv_layouts#0: tensor<1x2x1x2xf32> = [[[[7.19999981, 9.60000038]], [[6, 8]]]]
// CHECK{LITERAL}:@conv_layouts#1: tensor<1x1x2x2xf32> = [[[[7.19999981, 6], [9.60000038, 8]]]]
func.func @conv_layouts() -> (tensor<1x2x1x2xf32>, tensor<1x1x2x2xf32>) {
  %a = amp.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]]]> : tensor<1x2x2x3xf32>
  %w = amp.constant dense<[[[[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]], [[[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]]>
    : tensor<2x2x2x2xf32>
  %0 = amp.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
    : (tensor<1x2x2x3xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x1x2xf32>
  %l = amp.transpose %a {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x2x3xf32>) -> tensor<1x2x3x2xf32>
  %1 = amp.conv %l, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64,
    layout = #amp.layout<channels_last>} : (tensor<1x2x3x2xf32>, tensor<2x2x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %0, %1 : tensor<1x2x1x2xf32>, tensor<1x1x2x2xf32>
}

// CHECK{LITERAL}:@conv_3d#0: tensor<1x1x1x1x1xf32> = [[[[[8]]]]]
func.func @conv_3d() -> tensor<1x1x1x1x1xf32> {
  %a = amp.constant dense<2.0> : tensor<1x1x2x2x2xf32>
  %w = amp.constant dense<0.5> : tensor<1x1x2x2x2xf32>
  %y = amp.conv %a, %w {strides = array<i64: 1, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, dilations = array<i64: 1, 1, 1>, group = 1 : i64}
    : (tensor<1x1x2x2x2xf32>, tensor<1x1x2x2x2xf32>) -> tensor<1x1x1x1x1xf32>
  return %y : tensor<1x1x1x1x1xf32>
}

// CHECK{LITERAL}:@conv_transpose#0: tensor<1x1x7xf32> = [[[1, 10, 102, 20, 203, 30, 300]]]
// CHECK{LITERAL}:@conv_transpose#1: tensor<1x1x4xf32> = [[[12, 123, 230, 300]]]
func.func @conv_transpose() -> (tensor<1x1x7xf32>, tensor<1x1x4xf32>) {
  %a = amp.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %w = amp.constant dense<[[[1.0, 10.0, 100.0]]]> : tensor<1x1x3xf32>
  %0 = amp.conv_transpose %a, %w {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>,
    output_padding = array<i64: 0>, group = 1 : i64} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x7xf32>
  %1 = amp.conv_transpose %a, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>,
    output_padding = array<i64: 1>, group = 1 : i64} : (tensor<1x1x3xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  return %0, %1 : tensor<1x1x7xf32>, tensor<1x1x4xf32>
}

// One channel to two outputs in each of two groups.
// CHECK{LITERAL}:@conv_transpose_groups#0: tensor<1x4x1xf32> = [[[1], [2], [6], [8]]]
func.func @conv_transpose_groups() -> tensor<1x4x1xf32> {
  %a = amp.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
  %w = amp.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>
  %y = amp.conv_transpose %a, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>,
    output_padding = array<i64: 0>, group = 2 : i64} : (tensor<1x2x1xf32>, tensor<2x2x1xf32>) -> tensor<1x4x1xf32>
  return %y : tensor<1x4x1xf32>
}
