// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-fold-constants))' | FileCheck %s
// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-fold-constants{tensor-bytes=16}))' | FileCheck %s --check-prefix=SMALL
// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-fold-constants{total-bytes=40}))' | FileCheck %s --check-prefix=TOTAL

/// Shape arithmetic as exporters write it. Only what is read becomes a constant.
// CHECK-LABEL: func.func @shape
// CHECK-NEXT: %[[SHAPE:.*]] = amp.constant dense<[2, 12, -1]> : tensor<3xi64>
// CHECK-NEXT: return %[[SHAPE]]
func.func @shape() -> tensor<3xi64> {
  %shape = amp.constant dense<[2, 3, 4, 5]> : tensor<4xi64>
  %first = amp.constant dense<0> : tensor<1xi64>
  %last = amp.constant dense<-1> : tensor<1xi64>
  %batch = amp.gather %shape, %first {axis = 0 : i64} : (tensor<4xi64>, tensor<1xi64>) -> tensor<1xi64>
  %middle = amp.slice %shape {starts = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xi64>) -> tensor<2xi64>
  %product = amp.reduce_prod %middle {axes = array<i64: 0>, keepdims = true} : (tensor<2xi64>) -> tensor<1xi64>
  %0 = amp.concat %batch, %product, %last {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

/// A value that is read by folded and other ops; one rounding to f16.
// CHECK-LABEL: func.func @shared
// CHECK-SAME: (%[[X:.*]]: tensor<2xf16>)
// CHECK-DAG: %[[A:.*]] = amp.constant dense<2.048000e+03> : tensor<2xf16>
// CHECK-DAG: %[[B:.*]] = amp.constant dense<[2.048000e+03, 2.050000e+03]> : tensor<2xf16>
// CHECK: amp.add %[[X]], %[[A]]
// CHECK: amp.add %{{.*}}, %[[B]]
func.func @shared(%x: tensor<2xf16>) -> tensor<2xf16> {
  %half = amp.constant dense<1024.0> : tensor<2xf16>
  %more = amp.constant dense<[1.0, 2.0]> : tensor<2xf16>
  %a = amp.add %half, %half : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %b = amp.add %a, %more : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %0 = amp.add %x, %a : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %1 = amp.add %0, %b : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  return %1 : tensor<2xf16>
}

// CHECK-LABEL: func.func @two_results
// CHECK-DAG: %[[VALUES:.*]] = amp.constant dense<[9, 7]> : tensor<2xi32>
// CHECK-DAG: %[[INDICES:.*]] = amp.constant dense<[1, 2]> : tensor<2xi64>
// CHECK: return %[[VALUES]], %[[INDICES]]
func.func @two_results() -> (tensor<2xi32>, tensor<2xi64>) {
  %0 = amp.constant dense<[5, 9, 7]> : tensor<3xi32>
  %1, %2 = amp.top_k %0 {k = 2 : i64, axis = 0 : i64, largest = true} : (tensor<3xi32>) -> (tensor<2xi32>, tensor<2xi64>)
  return %1, %2 : tensor<2xi32>, tensor<2xi64>
}

/// Booleans, which attributes pack, and a tensor without elements.
// CHECK-LABEL: func.func @storage
// CHECK-DAG: %[[FLAGS:.*]] = amp.constant dense<[false, true, false, true, false, true, false, true, false]> : tensor<9xi1>
// CHECK-DAG: %[[EMPTY:.*]] = amp.constant dense<> : tensor<0xf32>
// CHECK: return %[[FLAGS]], %[[EMPTY]]
func.func @storage() -> (tensor<9xi1>, tensor<0xf32>) {
  %0 = amp.constant dense<[true, false, true, false, true, false, true, false, true]> : tensor<9xi1>
  %1 = amp.logical_not %0 : (tensor<9xi1>) -> tensor<9xi1>
  %2 = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %3 = amp.slice %2 {starts = array<i64: 0>, sizes = array<i64: 0>, strides = array<i64: 1>} : (tensor<2xf32>) -> tensor<0xf32>
  return %1, %3 : tensor<9xi1>, tensor<0xf32>
}

/// A splat is stored once, so its size is no matter.
// CHECK-LABEL: func.func @large_splat
// CHECK-NEXT: amp.constant dense<2.000000e+00> : tensor<1000x1000x1000xf32>
// CHECK-NEXT: return
func.func @large_splat() -> tensor<1000x1000x1000xf32> {
  %0 = amp.constant dense<0.5> : tensor<f32>
  %1 = amp.reciprocal %0 : (tensor<f32>) -> tensor<f32>
  %2 = amp.broadcast %1 : (tensor<f32>) -> tensor<1000x1000x1000xf32>
  return %2 : tensor<1000x1000x1000xf32>
}

// CHECK-LABEL: func.func @composite_body
// CHECK: ^bb0(%[[X:.*]]: tensor<4xf32>):
// CHECK-NEXT: %[[C:.*]] = amp.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT: amp.add %[[X]], %[[C]]
func.func @composite_body(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.composite "Elu" follow(%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    %1 = amp.constant dense<1.0> : tensor<f32>
    %2 = amp.constant dense<2.0> : tensor<f32>
    %3 = amp.add %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %4 = amp.add %x, %3 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    amp.yield %4 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

/// Ops on a weight wait for the program to be written.
// CHECK-LABEL: func.func @negative_resource
// CHECK: amp.constant dense_resource<w>
// CHECK: amp.cast
// CHECK: amp.slice
func.func @negative_resource() -> tensor<1xbf16> {
  %0 = amp.constant dense_resource<w> : tensor<4xf32>
  %1 = amp.cast %0 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = amp.slice %1 {starts = array<i64: 0>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<4xbf16>) -> tensor<1xbf16>
  return %2 : tensor<1xbf16>
}

// CHECK-LABEL: func.func @negative_argument
// CHECK: amp.add %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<2xf32>)
func.func @negative_argument(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = amp.constant dense<1.0> : tensor<2xf32>
  %1 = amp.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

/// 80000 bytes are more than one constant may take; 20 and 24 bytes are where
/// the options say so.
// CHECK-LABEL: func.func @negative_too_large
// CHECK: amp.iota {dimension = 0 : i64} : () -> tensor<20000xi32>
// CHECK: amp.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
// CHECK: amp.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>
// SMALL-LABEL: func.func @negative_too_large
// SMALL: amp.iota {dimension = 0 : i64} : () -> tensor<20000xi32>
// SMALL: amp.iota {dimension = 0 : i64} : () -> tensor<5xi32>
// SMALL: amp.iota {dimension = 0 : i64} : () -> tensor<6xi32>
// TOTAL-LABEL: func.func @negative_too_large
// TOTAL: amp.iota {dimension = 0 : i64} : () -> tensor<20000xi32>
// TOTAL: amp.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
// TOTAL: amp.iota {dimension = 0 : i64} : () -> tensor<6xi32>
func.func @negative_too_large() -> (tensor<20000xi32>, tensor<5xi32>, tensor<6xi32>) {
  %0 = amp.iota {dimension = 0 : i64} : () -> tensor<20000xi32>
  %1 = amp.iota {dimension = 0 : i64} : () -> tensor<5xi32>
  %2 = amp.iota {dimension = 0 : i64} : () -> tensor<6xi32>
  return %0, %1, %2 : tensor<20000xi32>, tensor<5xi32>, tensor<6xi32>
}

/// A small result of 10^15 elements: it would take weeks.
// CHECK-LABEL: func.func @negative_too_much_work
// CHECK: amp.reduce_sum
func.func @negative_too_much_work() -> tensor<f32> {
  %0 = amp.constant dense<0.5> : tensor<1000000x1000000x1000xf32>
  %1 = amp.reduce_sum %0 {axes = array<i64: 0, 1, 2>, keepdims = false} : (tensor<1000000x1000000x1000xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
