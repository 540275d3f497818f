// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-raise))' --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-raise{attention=false}))' | FileCheck %s --check-prefix=APART

/// The location of a raised op names every node that it replaces, in program
/// order, and neither its operand's nor its user's.

// CHECK-LABEL: func.func @locations
func.func @locations(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = amp.constant dense<1.0> : tensor<f32>
  %half = amp.constant dense<0.5> : tensor<f32>
  %factor = amp.constant dense<0.707106769> : tensor<f32>
  %x0 = amp.abs %x : (tensor<4xf32>) -> tensor<4xf32> loc("before")
  %0 = amp.mul %x0, %factor : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("scale")
  %1 = amp.erf %0 : (tensor<4xf32>) -> tensor<4xf32> loc("erf")
  %2 = amp.add %1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("one")
  %3 = amp.mul %x0, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("product")
  %4 = amp.mul %3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> loc("half")
  // CHECK: amp.gelu {{.*}} loc(fused["scale", "erf", "one", "product", "half"])
  %5 = amp.neg %4 : (tensor<4xf32>) -> tensor<4xf32> loc("after")
  return %5 : tensor<4xf32>
}

/// Any function-like op will do; a value that is returned as well keeps its ops.
// CHECK-LABEL: func.func @negative_partial_stays
func.func @negative_partial_stays(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: amp.sigmoid
  // CHECK: amp.silu
  %0 = amp.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.mul %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

/// Attention is raised unless each of its ops is to round by itself.
// CHECK-LABEL: func.func @attention
// APART-LABEL: func.func @attention
func.func @attention(%q: tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32> {
  // CHECK: amp.attention
  // APART: amp.matmul
  // APART: amp.softmax
  // APART: amp.matmul
  %0 = amp.matmul %q, %q {transpose_rhs} : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x8xf32>
  %1 = amp.softmax %0 {axis = 3 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %2 = amp.matmul %1, %q : (tensor<1x4x8x8xf32>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return %2 : tensor<1x4x8x16xf32>
}
