// RUN: ampc-opt %s | FileCheck %s
// RUN: ampc-opt %s > %t.once && ampc-opt %t.once | diff %t.once -
// RUN: ampc-opt %s --mlir-print-op-generic | ampc-opt | diff %t.once -
// RUN: ampc-opt %s --emit-bytecode | ampc-opt | diff %t.once -

/// Views, padding, concatenation, generators.

// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<2x12xf32>, %y: tensor<2x3x4xf32>, %z: tensor<4x8xi64>) {
  // CHECK: %{{.*}} = amp.reshape %{{.*}} : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
  %0 = amp.reshape %x : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = amp.transpose %{{.*}} {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = amp.transpose %y {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  // CHECK: %{{.*}} = amp.slice %{{.*}} {sizes = array<i64: 4, 8>, starts = array<i64: 0, 7>, strides = array<i64: 1, -1>} : (tensor<4x8xi64>) -> tensor<4x8xi64>
  %2 = amp.slice %z {sizes = array<i64: 4, 8>, starts = array<i64: 0, 7>, strides = array<i64: 1, -1>} : (tensor<4x8xi64>) -> tensor<4x8xi64>
  // CHECK: %{{.*}} = amp.slice %{{.*}} {sizes = array<i64: 2, 0>, starts = array<i64: 1, 8>, strides = array<i64: 2, 1>} : (tensor<4x8xi64>) -> tensor<2x0xi64>
  %3 = amp.slice %z {sizes = array<i64: 2, 0>, starts = array<i64: 1, 8>, strides = array<i64: 2, 1>} : (tensor<4x8xi64>) -> tensor<2x0xi64>
  return
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<3x1xf32>, %s: tensor<i1>) {
  // CHECK: %{{.*}} = amp.broadcast %{{.*}} : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %0 = amp.broadcast %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
  // CHECK: %{{.*}} = amp.broadcast %{{.*}} : (tensor<i1>) -> tensor<5xi1>
  %1 = amp.broadcast %s : (tensor<i1>) -> tensor<5xi1>
  return
}

// CHECK-LABEL: func.func @concat
func.func @concat(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) {
  // CHECK: %{{.*}} = amp.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<7x4xf32>
  %0 = amp.concat %a, %b, %a {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<7x4xf32>
  // CHECK: %{{.*}} = amp.concat %{{.*}} {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = amp.concat %a {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<4xf32>, %v: tensor<f32>) {
  // CHECK: %{{.*}} = amp.pad %{{.*}} {high = array<i64: 2>, low = array<i64: 1>, mode = #amp.pad_mode<edge>} : (tensor<4xf32>) -> tensor<7xf32>
  %0 = amp.pad %x {high = array<i64: 2>, low = array<i64: 1>, mode = #amp.pad_mode<edge>} : (tensor<4xf32>) -> tensor<7xf32>
  // CHECK: %{{.*}} = amp.pad %{{.*}}, %{{.*}} {high = array<i64: -1>, low = array<i64: 1>, mode = #amp.pad_mode<constant>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = amp.pad %x, %v {high = array<i64: -1>, low = array<i64: 1>, mode = #amp.pad_mode<constant>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: %{{.*}} = amp.pad %{{.*}} {high = array<i64: 3>, low = array<i64: 3>, mode = #amp.pad_mode<reflect>} : (tensor<4xf32>) -> tensor<10xf32>
  %2 = amp.pad %x {high = array<i64: 3>, low = array<i64: 3>, mode = #amp.pad_mode<reflect>} : (tensor<4xf32>) -> tensor<10xf32>
  // CHECK: %{{.*}} = amp.pad %{{.*}} {high = array<i64: 9>, low = array<i64: 0>, mode = #amp.pad_mode<wrap>} : (tensor<4xf32>) -> tensor<13xf32>
  %3 = amp.pad %x {high = array<i64: 9>, low = array<i64: 0>, mode = #amp.pad_mode<wrap>} : (tensor<4xf32>) -> tensor<13xf32>
  return
}

// CHECK-LABEL: func.func @iota
func.func @iota() {
  // CHECK: %{{.*}} = amp.iota {dimension = 1 : i64} : () -> tensor<2x8xi64>
  %0 = amp.iota {dimension = 1 : i64} : () -> tensor<2x8xi64>
  // CHECK: %{{.*}} = amp.iota {dimension = 0 : i64} : () -> tensor<3xf32>
  %1 = amp.iota {dimension = 0 : i64} : () -> tensor<3xf32>
  return
}
