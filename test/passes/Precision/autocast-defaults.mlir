// RUN: ampc-opt %s --precision-autocast='default=keep layer-precisions=named:bf16' | FileCheck %s --check-prefixes=CHECK,KEEP
// RUN: ampc-opt %s --precision-autocast='default=fp32 layer-precisions=named:bf16' | FileCheck %s --check-prefixes=CHECK,FP32
// RUN: ampc-opt %s --precision-autocast='layer-precisions=named:tf32,sum:tf32' | FileCheck %s --check-prefix=TF32

/// What no rule matches keeps the types of the model, or runs in f32.
// CHECK-LABEL: func.func @defaults
// TF32-LABEL: func.func @defaults
func.func @defaults(%x: tensor<2x2xf32>, %h: tensor<2x2xf16>) -> (tensor<2x2xf32>, tensor<2x2xf16>) {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xbf16>
  // CHECK: amp.add {{.*}} -> tensor<2x2xf32>
  // KEEP: amp.exp {{.*}} -> tensor<2x2xf16>
  // FP32: amp.exp {{.*}} -> tensor<2x2xf32>
  /// TF32 concerns contractions only, which stay f32.
  // TF32: amp.matmul {{.*}} -> tensor<2x2xbf16>
  // TF32: amp.matmul {{.*}}amp.fp32_contractions = "tf32"{{.*}} -> tensor<2x2xf32>
  // TF32: amp.add
  // TF32-NOT: fp32_contractions
  // TF32-SAME: -> tensor<2x2xf32>
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("first")
  %b = amp.matmul %a, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("named")
  %c = amp.add %b, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("sum")
  %e = amp.exp %h : (tensor<2x2xf16>) -> tensor<2x2xf16>
  return %c, %e : tensor<2x2xf32>, tensor<2x2xf16>
}
