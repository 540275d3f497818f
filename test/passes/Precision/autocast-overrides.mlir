// RUN: ampc-opt %s --precision-autocast='layer-precisions=/encoder/*:fp32,/encoder/exp:bf16 op-precisions=Elu:fp32,softmax:f16,LayerNormalization:fp32,Gemm:fp32' | FileCheck %s

/// A rule by name goes before one by operator, a later rule before an earlier
/// one, and any of the names of a fused operation counts.
// CHECK-LABEL: func.func @overrides
func.func @overrides(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.exp {{.*}} -> tensor<2x2xbf16>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xbf16>
  // CHECK: amp.composite "Elu" {{.*}} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: amp.softmax {{.*}} -> tensor<2x2xf16>
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("/encoder/MatMul")
  %b = amp.exp %a : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/encoder/exp")
  %c = amp.matmul %b, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc(fused["/head/a", "/encoder/b"])
  %d = amp.matmul %c, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("/head/onnx::MatMul_12")
  %e = amp.composite "Elu" follow(%d) : (tensor<2x2xf32>) -> tensor<2x2xf32> {
  ^bb0(%i: tensor<2x2xf32>):
    amp.yield %i : tensor<2x2xf32>
  } loc("/head/elu")
  %f = amp.softmax %e {axis = 1 : i64} : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("/head/softmax")
  return %f : tensor<2x2xf32>
}

/// An operator goes by the name that ONNX or this compiler gives it, and by
/// that of its node.
// CHECK-LABEL: func.func @operators
func.func @operators(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xbf16>
  // CHECK: amp.layer_norm {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("a"("/0"("MatMul")))
  %b = amp.layer_norm %a {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c = amp.matmul %b, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("c"("/2"("Gemm")))
  return %c : tensor<2x2xf32>
}

/// With every operation in f32, 91000 between two of them stays finite.
// CHECK-LABEL: func.func @no_cast_where_all_is_fp32
// CHECK-NOT: amp.cast
// CHECK: return
func.func @no_cast_where_all_is_fp32(%x: tensor<1x6xf32>, %c: tensor<6x2xf32>) -> tensor<2xf32> {
  %h = amp.constant dense<100.0> : tensor<f32>
  %m = amp.matmul %x, %c : (tensor<1x6xf32>, tensor<6x2xf32>) -> tensor<1x2xf32> loc("/encoder/MatMul_2")
  %a = amp.mul %m, %h : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %r = amp.reshape %a : (tensor<1x2xf32>) -> tensor<2xf32>
  %d = amp.div %r, %h : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}
