// RUN: ampc-eval %s | FileCheck %s --match-full-lines --strict-whitespace

// Views, padding, concatenation and packing move elements and change none.

// CHECK{LITERAL}:@transpose#0: tensor<4x3x2xi64> = [[[0, 0], [10, 10], [20, 20]], [[1, 1], [11, 11], [21, 21]], [[2, 2], [12, 12], [22, 22]], [[3, 3], [13, 13], [23, 23]]]
func.func @transpose() -> tensor<4x3x2xi64> {
  %a = amp.iota {dimension = 2 : i64} : () -> tensor<2x3x4xi64>
  %b = amp.iota {dimension = 1 : i64} : () -> tensor<2x3x4xi64>
  %ten = amp.constant dense<10> : tensor<i64>
  %0 = amp.mul %b, %ten : (tensor<2x3x4xi64>, tensor<i64>) -> tensor<2x3x4xi64>
  %1 = amp.add %a, %0 : (tensor<2x3x4xi64>, tensor<2x3x4xi64>) -> tensor<2x3x4xi64>
  %y = amp.transpose %1 {permutation = array<i64: 2, 1, 0>} : (tensor<2x3x4xi64>) -> tensor<4x3x2xi64>
  return %y : tensor<4x3x2xi64>
}

// Larger than a block of the copy in both dimensions: element (i, j) of the
// transpose is 100 j + i, so each row's maximum is its last element.
// CHECK:@transpose_blocks#0: tensor<70xi16> = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69]
// CHECK:@transpose_blocks#1: tensor<70xi16> = [8900, 8901, 8902, 8903, 8904, 8905, 8906, 8907, 8908, 8909, 8910, 8911, 8912, 8913, 8914, 8915, 8916, 8917, 8918, 8919, 8920, 8921, 8922, 8923, 8924, 8925, 8926, 8927, 8928, 8929, 8930, 8931, 8932, 8933, 8934, 8935, 8936, 8937, 8938, 8939, 8940, 8941, 8942, 8943, 8944, 8945, 8946, 8947, 8948, 8949, 8950, 8951, 8952, 8953, 8954, 8955, 8956, 8957, 8958, 8959, 8960, 8961, 8962, 8963, 8964, 8965, 8966, 8967, 8968, 8969]
// CHECK:@transpose_blocks#2: tensor<90xi64> = [69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69, 69]
func.func @transpose_blocks() -> (tensor<70xi16>, tensor<70xi16>, tensor<90xi64>) {
  %a = amp.iota {dimension = 0 : i64} : () -> tensor<90x70xi16>
  %b = amp.iota {dimension = 1 : i64} : () -> tensor<90x70xi16>
  %hundred = amp.constant dense<100> : tensor<i16>
  %0 = amp.mul %a, %hundred : (tensor<90x70xi16>, tensor<i16>) -> tensor<90x70xi16>
  %1 = amp.add %0, %b : (tensor<90x70xi16>, tensor<90x70xi16>) -> tensor<90x70xi16>
  %t = amp.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<90x70xi16>) -> tensor<70x90xi16>
  %first = amp.reduce_min %t {axes = array<i64: 1>, keepdims = false} : (tensor<70x90xi16>) -> tensor<70xi16>
  %last = amp.reduce_max %t {axes = array<i64: 1>, keepdims = false} : (tensor<70x90xi16>) -> tensor<70xi16>
  %row = amp.arg_max %t {axis = 0 : i64, keepdims = false, select_last = false} : (tensor<70x90xi16>) -> tensor<90xi64>
  return %first, %last, %row : tensor<70xi16>, tensor<70xi16>, tensor<90xi64>
}

// CHECK{LITERAL}:@reshape#0: tensor<3x2xi32> = [[1, 2], [3, 4], [5, 6]]
func.func @reshape() -> tensor<3x2xi32> {
  %a = amp.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %y = amp.reshape %a : (tensor<2x3xi32>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// CHECK{LITERAL}:@slice#0: tensor<2x2xi32> = [[10, 12], [2, 4]]
// CHECK:@slice#1: tensor<0x3xi32> = []
// CHECK:@slice#2: tensor<1xi32> = [3]
func.func @slice() -> (tensor<2x2xi32>, tensor<0x3xi32>, tensor<1xi32>) {
  %a = amp.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi32>
  %0 = amp.slice %a {starts = array<i64: 2, 1>, sizes = array<i64: 2, 2>, strides = array<i64: -2, 2>}
    : (tensor<3x4xi32>) -> tensor<2x2xi32>
  %1 = amp.slice %a {starts = array<i64: 0, 0>, sizes = array<i64: 0, 3>, strides = array<i64: 1, 1>}
    : (tensor<3x4xi32>) -> tensor<0x3xi32>
  // With one element picked, any stride is legal.
  %b = amp.constant dense<[1, 2, 3]> : tensor<3xi32>
  %2 = amp.slice %b {starts = array<i64: 2>, sizes = array<i64: 1>, strides = array<i64: 9223372036854775807>}
    : (tensor<3xi32>) -> tensor<1xi32>
  return %0, %1, %2 : tensor<2x2xi32>, tensor<0x3xi32>, tensor<1xi32>
}

// CHECK{LITERAL}:@broadcast#0: tensor<2x3x2xf32> = [[[1, 1], [2, 2], [3, 3]], [[1, 1], [2, 2], [3, 3]]]
func.func @broadcast() -> tensor<2x3x2xf32> {
  %a = amp.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %y = amp.broadcast %a : (tensor<3x1xf32>) -> tensor<2x3x2xf32>
  return %y : tensor<2x3x2xf32>
}

// CHECK{LITERAL}:@concat#0: tensor<2x4xi8> = [[1, 2, 9, 9], [3, 4, 9, 9]]
func.func @concat() -> tensor<2x4xi8> {
  %a = amp.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>
  %b = amp.constant dense<9> : tensor<2x1xi8>
  %c = amp.constant dense<> : tensor<2x0xi8>
  %y = amp.concat %a, %b, %c, %b {axis = 1 : i64}
    : (tensor<2x2xi8>, tensor<2x1xi8>, tensor<2x0xi8>, tensor<2x1xi8>) -> tensor<2x4xi8>
  return %y : tensor<2x4xi8>
}

// CHECK{LITERAL}:@pad_constant#0: tensor<3x4xi32> = [[7, 7, 7, 7], [2, 3, 7, 7], [5, 6, 7, 7]]
// CHECK:@pad_constant#1: tensor<2xi32> = [0, 0]
func.func @pad_constant() -> (tensor<3x4xi32>, tensor<2xi32>) {
  %a = amp.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %v = amp.constant dense<7> : tensor<i32>
  // A negative amount crops.
  %0 = amp.pad %a, %v {low = array<i64: 1, -1>, high = array<i64: 0, 2>, mode = #amp.pad_mode<constant>}
    : (tensor<2x3xi32>, tensor<i32>) -> tensor<3x4xi32>
  %b = amp.constant dense<> : tensor<0xi32>
  %1 = amp.pad %b {low = array<i64: 2>, high = array<i64: 0>, mode = #amp.pad_mode<constant>}
    : (tensor<0xi32>) -> tensor<2xi32>
  return %0, %1 : tensor<3x4xi32>, tensor<2xi32>
}

// CHECK:@pad_modes#0: tensor<9xi32> = [4, 3, 2, 1, 2, 3, 4, 3, 2]
// CHECK:@pad_modes#1: tensor<9xi32> = [1, 1, 1, 1, 2, 3, 4, 4, 4]
// CHECK:@pad_modes#2: tensor<9xi32> = [2, 3, 4, 1, 2, 3, 4, 1, 2]
func.func @pad_modes() -> (tensor<9xi32>, tensor<9xi32>, tensor<9xi32>) {
  %a = amp.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = amp.pad %a {low = array<i64: 3>, high = array<i64: 2>, mode = #amp.pad_mode<reflect>} : (tensor<4xi32>) -> tensor<9xi32>
  %1 = amp.pad %a {low = array<i64: 3>, high = array<i64: 2>, mode = #amp.pad_mode<edge>} : (tensor<4xi32>) -> tensor<9xi32>
  %2 = amp.pad %a {low = array<i64: 3>, high = array<i64: 2>, mode = #amp.pad_mode<wrap>} : (tensor<4xi32>) -> tensor<9xi32>
  return %0, %1, %2 : tensor<9xi32>, tensor<9xi32>, tensor<9xi32>
}

// CHECK{LITERAL}:@iota#0: tensor<2x3xf16> = [[0, 1, 2], [0, 1, 2]]
// CHECK{LITERAL}:@iota#1: tensor<2x3xui8> = [[0, 0, 0], [1, 1, 1]]
func.func @iota() -> (tensor<2x3xf16>, tensor<2x3xui8>) {
  %0 = amp.iota {dimension = 1 : i64} : () -> tensor<2x3xf16>
  %1 = amp.iota {dimension = 0 : i64} : () -> tensor<2x3xui8>
  return %0, %1 : tensor<2x3xf16>, tensor<2x3xui8>
}

// Five columns in panels of two: [panels, rows, panel], the last one padded.
// CHECK{LITERAL}:@pack#0: tensor<3x2x2xi32> = [[[1, 2], [6, 7]], [[3, 4], [8, 9]], [[5, 0], [10, 0]]]
// CHECK{LITERAL}:@pack#1: tensor<2x5xi32> = [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]
func.func @pack() -> (tensor<3x2x2xi32>, tensor<2x5xi32>) {
  %a = amp.constant dense<[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]> : tensor<2x5xi32>
  %p = amp.pack %a {dimension = 1 : i64, panel = 2 : i64, outer = array<i64>, inner = array<i64: 0>}
    : (tensor<2x5xi32>) -> tensor<3x2x2xi32>
  %u = amp.unpack %p {dimension = 1 : i64, panel = 2 : i64, outer = array<i64>, inner = array<i64: 0>}
    : (tensor<3x2x2xi32>) -> tensor<2x5xi32>
  return %p, %u : tensor<3x2x2xi32>, tensor<2x5xi32>
}

// Output channels (dimension 0) in panels, the group's dimension outside, the
// last dimension before the others.
// CHECK{LITERAL}:@pack_outer#0: tensor<2x2x2x1x2xi32> = [[[[[1, 5]], [[2, 6]]], [[[9, 0]], [[10, 0]]]], [[[[3, 7]], [[4, 8]]], [[[11, 0]], [[12, 0]]]]]
// CHECK{LITERAL}:@pack_outer#1: tensor<3x2x1x2xi32> = [[[[1, 2]], [[3, 4]]], [[[5, 6]], [[7, 8]]], [[[9, 10]], [[11, 12]]]]
func.func @pack_outer() -> (tensor<2x2x2x1x2xi32>, tensor<3x2x1x2xi32>) {
  %a = amp.constant dense<[[[[1, 2]], [[3, 4]]], [[[5, 6]], [[7, 8]]], [[[9, 10]], [[11, 12]]]]> : tensor<3x2x1x2xi32>
  %p = amp.pack %a {dimension = 0 : i64, panel = 2 : i64, outer = array<i64: 1>, inner = array<i64: 3, 2>}
    : (tensor<3x2x1x2xi32>) -> tensor<2x2x2x1x2xi32>
  %u = amp.unpack %p {dimension = 0 : i64, panel = 2 : i64, outer = array<i64: 1>, inner = array<i64: 3, 2>}
    : (tensor<2x2x2x1x2xi32>) -> tensor<3x2x1x2xi32>
  return %p, %u : tensor<2x2x2x1x2xi32>, tensor<3x2x1x2xi32>
}

// CHECK{LITERAL}:@splat_views#0: tensor<2x1xf32> = [[12], [6]]
func.func @splat_views() -> tensor<2x1xf32> {
  %a = amp.constant dense<1.5> : tensor<3x4xf32>
  %t = amp.transpose %a {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %p = amp.pack %t {dimension = 1 : i64, panel = 2 : i64, outer = array<i64>, inner = array<i64: 0>}
    : (tensor<4x3xf32>) -> tensor<2x4x2xf32>
  %s = amp.reduce_sum %p {axes = array<i64: 1, 2>, keepdims = false} : (tensor<2x4x2xf32>) -> tensor<2xf32>
  %y = amp.reshape %s : (tensor<2xf32>) -> tensor<2x1xf32>
  return %y : tensor<2x1xf32>
}
