// RUN: ampc-eval %s | FileCheck %s --match-full-lines --strict-whitespace

// Negative indices count from the end; those outside are clamped.

// CHECK{LITERAL}:@gather#0: tensor<2x4xi32> = [[3, 3, 3, 1], [6, 6, 6, 4]]
// CHECK:@gather#1: tensor<i32> = 9
func.func @gather() -> (tensor<2x4xi32>, tensor<i32>) {
  %a = amp.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = amp.constant dense<[2, -1, 7, -9]> : tensor<4xi64>
  %0 = amp.gather %a, %i {axis = 1 : i64} : (tensor<2x3xi32>, tensor<4xi64>) -> tensor<2x4xi32>
  // Rank 0: one dimension of a shape, as models compute it.
  %b = amp.constant dense<[8, 9]> : tensor<2xi32>
  %j = amp.constant dense<1> : tensor<i32>
  %1 = amp.gather %b, %j {axis = 0 : i64} : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  return %0, %1 : tensor<2x4xi32>, tensor<i32>
}

// CHECK{LITERAL}:@gather_elements#0: tensor<3x2xi32> = [[1, 5], [4, 2], [4, 2]]
func.func @gather_elements() -> tensor<3x2xi32> {
  %a = amp.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = amp.constant dense<[[0, 1], [1, 0], [-1, -2]]> : tensor<3x2xi64>
  %y = amp.gather_elements %a, %i {axis = 0 : i64} : (tensor<2x3xi32>, tensor<3x2xi64>) -> tensor<3x2xi32>
  return %y : tensor<3x2xi32>
}

// CHECK:@gather_nd#0: tensor<2xi32> = [3, 4]
// CHECK{LITERAL}:@gather_nd#1: tensor<2x3xi32> = [[4, 5, 6], [1, 2, 3]]
// CHECK{LITERAL}:@gather_nd#2: tensor<2x2xi32> = [[3, 1], [5, 5]]
func.func @gather_nd() -> (tensor<2xi32>, tensor<2x3xi32>, tensor<2x2xi32>) {
  %a = amp.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = amp.constant dense<[[0, 2], [-1, -3]]> : tensor<2x2xi64>
  %0 = amp.gather_nd %a, %i {batch_dims = 0 : i64} : (tensor<2x3xi32>, tensor<2x2xi64>) -> tensor<2xi32>
  %j = amp.constant dense<[[1], [0]]> : tensor<2x1xi64>
  %1 = amp.gather_nd %a, %j {batch_dims = 0 : i64} : (tensor<2x3xi32>, tensor<2x1xi64>) -> tensor<2x3xi32>
  %k = amp.constant dense<[[[2], [0]], [[1], [1]]]> : tensor<2x2x1xi64>
  %2 = amp.gather_nd %a, %k {batch_dims = 1 : i64} : (tensor<2x3xi32>, tensor<2x2x1xi64>) -> tensor<2x2xi32>
  return %0, %1, %2 : tensor<2xi32>, tensor<2x3xi32>, tensor<2x2xi32>
}

// Later updates of one place win; sums take all.
// CHECK:@scatter_elements#0: tensor<4xf32> = [1, 30, 3, 20]
// CHECK:@scatter_elements#1: tensor<4xf32> = [1, 42, 3, 24]
// CHECK:@scatter_elements#2: tensor<4xf32> = [1, 30, 3, 20]
func.func @scatter_elements() -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = amp.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %i = amp.constant dense<[1, -1, 1]> : tensor<3xi64>
  %u = amp.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %0 = amp.scatter_elements %a, %i, %u {axis = 0 : i64, reduction = #amp.scatter_reduction<none>}
    : (tensor<4xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<4xf32>
  %1 = amp.scatter_elements %a, %i, %u {axis = 0 : i64, reduction = #amp.scatter_reduction<add>}
    : (tensor<4xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<4xf32>
  %2 = amp.scatter_elements %a, %i, %u {axis = 0 : i64, reduction = #amp.scatter_reduction<max>}
    : (tensor<4xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK{LITERAL}:@scatter_nd#0: tensor<3x2xi32> = [[7, 8], [1, 1], [5, 6]]
// CHECK{LITERAL}:@scatter_nd#1: tensor<3x2xi32> = [[7, 8], [1, 1], [5, 6]]
func.func @scatter_nd() -> (tensor<3x2xi32>, tensor<3x2xi32>) {
  %a = amp.constant dense<1> : tensor<3x2xi32>
  %i = amp.constant dense<[[2], [0]]> : tensor<2x1xi64>
  %u = amp.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %0 = amp.scatter_nd %a, %i, %u {reduction = #amp.scatter_reduction<none>}
    : (tensor<3x2xi32>, tensor<2x1xi64>, tensor<2x2xi32>) -> tensor<3x2xi32>
  %1 = amp.scatter_nd %a, %i, %u {reduction = #amp.scatter_reduction<mul>}
    : (tensor<3x2xi32>, tensor<2x1xi64>, tensor<2x2xi32>) -> tensor<3x2xi32>
  return %0, %1 : tensor<3x2xi32>, tensor<3x2xi32>
}
