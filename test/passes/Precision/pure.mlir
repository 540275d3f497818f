// RUN: ampc-opt %s --precision-pure='type=f16 calibrated=main/9 report=%t.json layer-precisions=/keep:fp32 op-precisions=log:fp32 base-layer-precisions=/last:bf16 base-op-precisions=sqrt:fp32' | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json

/// Everything runs in the 16-bit type, whatever its class; the function keeps
/// its signature.
// CHECK-LABEL: func.func @all
// CHECK-SAME: -> tensor<2x2xf32>
func.func @all(%x: tensor<2x2xf32>, %b: tensor<2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.exp {{.*}} -> tensor<2x2xf16>
  // CHECK: amp.add {{.*}} : (tensor<2x2xf16>, tensor<2xf16>) -> tensor<2x2xf16>
  // CHECK: amp.softmax {{.*}} -> tensor<2x2xf16>
  // CHECK: amp.reduce_sum {{.*}} -> tensor<2x1xf16>
  // CHECK: amp.div {{.*}} -> tensor<2x2xf16>
  // CHECK: %[[R:.*]] = amp.cast %{{.*}} : (tensor<2x2xf16>) -> tensor<2x2xf32>
  // CHECK: return %[[R]]
  // REPORT: "rule": "pure"
  %e = amp.exp %x : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %a = amp.add %e, %b : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %s = amp.softmax %a {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %m = amp.reduce_sum %s {axes = array<i64: 1>, keepdims = true} : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %d = amp.div %s, %m : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  return %d : tensor<2x2xf32>
}

/// Constants saturate instead of widening.
// CHECK-LABEL: func.func @constants
func.func @constants(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[C:.*]] = amp.constant dense<1.000000e+06>
  // CHECK: %[[S:.*]] = amp.cast %[[C]] {saturate} : (tensor<f32>) -> tensor<f16>
  // CHECK: amp.min %{{.*}}, %[[S]] : (tensor<2x2xf16>, tensor<f16>) -> tensor<2x2xf16>
  %c = amp.constant dense<1.0e6> : tensor<f32>
  %m = amp.min %x, %c : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %m : tensor<2x2xf32>
}

/// Positions stay f32, and so does the sine that reads one; what is made of the
/// sine does not.
// CHECK-LABEL: func.func @positions
func.func @positions(%inv: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: amp.iota {{.*}} -> tensor<8x4xf32>
  // CHECK: amp.mul {{.*}} -> tensor<8x4xf32>
  // CHECK: amp.sin {{.*}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: amp.relu {{.*}} -> tensor<8x4xf16>
  %p = amp.iota {dimension = 0 : i64} : () -> tensor<8x4xf32>
  %a = amp.mul %p, %inv : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %s = amp.sin %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %r = amp.relu %s : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

/// What is asked for by name or operator, and what is no 32- or 16-bit float.
// CHECK-LABEL: func.func @no_overridden
func.func @no_overridden(%x: tensor<2xf32>, %d: tensor<2xf64>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf64>, tensor<2xi32>) {
  // CHECK-NOT: f16
  // CHECK: return
  %l = amp.log %x : (tensor<2xf32>) -> tensor<2xf32>
  %r = amp.relu %l : (tensor<2xf32>) -> tensor<2xf32> loc("/keep")
  %e = amp.exp %d : (tensor<2xf64>) -> tensor<2xf64>
  %j = amp.add %i, %i : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %r, %e, %j : tensor<2xf32>, tensor<2xf64>, tensor<2xi32>
}

/// Rules of the base lists hold where no other rule does.
// CHECK-LABEL: func.func @base
func.func @base(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: amp.exp {{.*}} -> tensor<2xbf16>
  // CHECK: amp.sqrt {{.*}} -> tensor<2xf32>
  %a = amp.exp %x : (tensor<2xf32>) -> tensor<2xf32> loc("/last")
  %b = amp.sqrt %a : (tensor<2xf32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}
