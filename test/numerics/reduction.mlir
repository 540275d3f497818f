// RUN: ampc-eval %s | FileCheck %s --match-full-lines --strict-whitespace

// Reductions over some, all, no and empty axes.

// CHECK{LITERAL}:@sums#0: tensor<2x1xf32> = [[6], [15]]
// CHECK:@sums#1: tensor<3xf32> = [5, 7, 9]
// CHECK:@sums#2: tensor<f32> = 21
// CHECK{LITERAL}:@sums#3: tensor<2x3xf32> = [[1, 2, 3], [4, 5, 6]]
func.func @sums() -> (tensor<2x1xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3xf32>) {
  %a = amp.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = amp.reduce_sum %a {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %1 = amp.reduce_sum %a {axes = array<i64: 0>, keepdims = false} : (tensor<2x3xf32>) -> tensor<3xf32>
  %2 = amp.reduce_sum %a {axes = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  %3 = amp.reduce_sum %a {axes = array<i64>, keepdims = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3 : tensor<2x1xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3xf32>
}

// A running f16 sum would stop at 2048.
// CHECK:@f16_rounds_once#0: tensor<f16> = 5000
func.func @f16_rounds_once() -> tensor<f16> {
  %a = amp.constant dense<1.0> : tensor<5000xf16>
  %y = amp.reduce_sum %a {axes = array<i64: 0>, keepdims = false} : (tensor<5000xf16>) -> tensor<f16>
  return %y : tensor<f16>
}

// CHECK:@empty_rows#0: tensor<2xf32> = [0, 0]
// CHECK:@empty_rows#1: tensor<2xf32> = [1, 1]
// CHECK:@empty_rows#2: tensor<2xf32> = [-inf, -inf]
// CHECK:@empty_rows#3: tensor<2xf32> = [nan, nan]
// CHECK:@empty_rows#4: tensor<2xi8> = [127, 127]
func.func @empty_rows() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi8>) {
  %a = amp.constant dense<> : tensor<2x0xf32>
  %0 = amp.reduce_sum %a {axes = array<i64: 1>, keepdims = false} : (tensor<2x0xf32>) -> tensor<2xf32>
  %1 = amp.reduce_prod %a {axes = array<i64: 1>, keepdims = false} : (tensor<2x0xf32>) -> tensor<2xf32>
  %2 = amp.reduce_max %a {axes = array<i64: 1>, keepdims = false} : (tensor<2x0xf32>) -> tensor<2xf32>
  %3 = amp.reduce_mean %a {axes = array<i64: 1>, keepdims = false} : (tensor<2x0xf32>) -> tensor<2xf32>
  %b = amp.constant dense<> : tensor<2x0xi8>
  %4 = amp.reduce_min %b {axes = array<i64: 1>, keepdims = false} : (tensor<2x0xi8>) -> tensor<2xi8>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi8>
}

// CHECK:@extremes#0: tensor<2xf32> = [nan, 5]
// CHECK:@extremes#1: tensor<2xf32> = [nan, -inf]
// CHECK:@extremes#2: tensor<ui8> = 200
// CHECK:@extremes#3: tensor<i1> = true
// CHECK:@extremes#4: tensor<i1> = false
func.func @extremes() -> (tensor<2xf32>, tensor<2xf32>, tensor<ui8>, tensor<i1>, tensor<i1>) {
  %a = amp.constant dense<[[1.0, 0x7fc00000, 3.0], [-4.0, 5.0, 0xff800000]]> : tensor<2x3xf32>
  %0 = amp.reduce_max %a {axes = array<i64: 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  %1 = amp.reduce_min %a {axes = array<i64: 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<2xf32>
  %b = amp.constant dense<[3, 200, 100]> : tensor<3xui8>
  %2 = amp.reduce_max %b {axes = array<i64: 0>, keepdims = false} : (tensor<3xui8>) -> tensor<ui8>
  %c = amp.constant dense<[true, false, true]> : tensor<3xi1>
  %3 = amp.reduce_max %c {axes = array<i64: 0>, keepdims = false} : (tensor<3xi1>) -> tensor<i1>
  %4 = amp.reduce_min %c {axes = array<i64: 0>, keepdims = false} : (tensor<3xi1>) -> tensor<i1>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<ui8>, tensor<i1>, tensor<i1>
}

// CHECK:@integers#0: tensor<i8> = 44
// CHECK:@integers#1: tensor<i32> = -2
// CHECK:@integers#2: tensor<i64> = 60
func.func @integers() -> (tensor<i8>, tensor<i32>, tensor<i64>) {
  %a = amp.constant dense<100> : tensor<3xi8>
  %0 = amp.reduce_sum %a {axes = array<i64: 0>, keepdims = false} : (tensor<3xi8>) -> tensor<i8>
  %b = amp.constant dense<[-7, 2]> : tensor<2xi32>
  %1 = amp.reduce_mean %b {axes = array<i64: 0>, keepdims = false} : (tensor<2xi32>) -> tensor<i32>
  %c = amp.constant dense<[3, 4, 5]> : tensor<3xi64>
  %2 = amp.reduce_prod %c {axes = array<i64: 0>, keepdims = false} : (tensor<3xi64>) -> tensor<i64>
  return %0, %1, %2 : tensor<i8>, tensor<i32>, tensor<i64>
}

// CHECK:@cumsum#0: tensor<4xf32> = [1, 3, 6, 10]
// CHECK:@cumsum#1: tensor<4xf32> = [0, 1, 3, 6]
// CHECK:@cumsum#2: tensor<4xf32> = [9, 7, 4, 0]
// CHECK{LITERAL}:@cumsum#3: tensor<2x2xi8> = [[100, 1], [-56, 3]]
func.func @cumsum() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xi8>) {
  %a = amp.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = amp.cumsum %a {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.cumsum %a {axis = 0 : i64, exclusive = true, reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.cumsum %a {axis = 0 : i64, exclusive = true, reverse = true} : (tensor<4xf32>) -> tensor<4xf32>
  %b = amp.constant dense<[[100, 1], [100, 2]]> : tensor<2x2xi8>
  %3 = amp.cumsum %b {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<2x2xi8>) -> tensor<2x2xi8>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xi8>
}

// CHECK{LITERAL}:@arg_extremes#0: tensor<2x1xi64> = [[0], [1]]
// CHECK:@arg_extremes#1: tensor<2xi64> = [2, 1]
// CHECK:@arg_extremes#2: tensor<2xi64> = [1, 1]
// CHECK:@arg_extremes#3: tensor<i64> = 1
func.func @arg_extremes() -> (tensor<2x1xi64>, tensor<2xi64>, tensor<2xi64>, tensor<i64>) {
  %a = amp.constant dense<[[3.0, 1.0, 3.0], [2.0, 0x7fc00000, 9.0]]> : tensor<2x3xf32>
  %0 = amp.arg_max %a {axis = 1 : i64, keepdims = true, select_last = false} : (tensor<2x3xf32>) -> tensor<2x1xi64>
  %1 = amp.arg_max %a {axis = 1 : i64, keepdims = false, select_last = true} : (tensor<2x3xf32>) -> tensor<2xi64>
  %2 = amp.arg_min %a {axis = 1 : i64, keepdims = false, select_last = false} : (tensor<2x3xf32>) -> tensor<2xi64>
  %b = amp.constant dense<[18446744073709551615, 1]> : tensor<2xui64>
  %3 = amp.arg_min %b {axis = 0 : i64, keepdims = false, select_last = false} : (tensor<2xui64>) -> tensor<i64>
  return %0, %1, %2, %3 : tensor<2x1xi64>, tensor<2xi64>, tensor<2xi64>, tensor<i64>
}

// Equal elements keep their order.
// CHECK:@top_k#0: tensor<3xf32> = [nan, 5, 5]
// CHECK:@top_k#1: tensor<3xi64> = [3, 0, 2]
// CHECK:@top_k#2: tensor<3xf32> = [1, 1, 5]
// CHECK:@top_k#3: tensor<3xi64> = [1, 4, 0]
// CHECK{LITERAL}:@top_k#4: tensor<2x2xi32> = [[3, 6], [2, 5]]
// CHECK{LITERAL}:@top_k#5: tensor<2x2xi64> = [[1, 0], [2, 1]]
func.func @top_k() -> (tensor<3xf32>, tensor<3xi64>, tensor<3xf32>, tensor<3xi64>, tensor<2x2xi32>, tensor<2x2xi64>) {
  %a = amp.constant dense<[5.0, 1.0, 5.0, 0x7fc00000, 1.0]> : tensor<5xf32>
  %0, %1 = amp.top_k %a {k = 3 : i64, axis = 0 : i64, largest = true} : (tensor<5xf32>) -> (tensor<3xf32>, tensor<3xi64>)
  %2, %3 = amp.top_k %a {k = 3 : i64, axis = 0 : i64, largest = false} : (tensor<5xf32>) -> (tensor<3xf32>, tensor<3xi64>)
  %b = amp.constant dense<[[1, 6], [3, 5], [2, 4]]> : tensor<3x2xi32>
  %4, %5 = amp.top_k %b {k = 2 : i64, axis = 0 : i64, largest = true} : (tensor<3x2xi32>) -> (tensor<2x2xi32>, tensor<2x2xi64>)
  return %0, %1, %2, %3, %4, %5 : tensor<3xf32>, tensor<3xi64>, tensor<3xf32>, tensor<3xi64>, tensor<2x2xi32>, tensor<2x2xi64>
}
