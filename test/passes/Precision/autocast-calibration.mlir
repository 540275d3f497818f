// RUN: ampc-opt %s --precision-autocast='type=f16 calibrated=main/0,main/3 layer-precisions=asked:f16 report=%t.json' | FileCheck %s
// RUN: ampc-opt %s --precision-pure='type=f16 calibrated=main/0,main/3' | FileCheck %s --check-prefix=PURE
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json

/// An operation in one of the named places runs in f32, what follows its
/// result too.
// CHECK-LABEL: func.func @calibrated
// PURE-LABEL: func.func @calibrated
func.func @calibrated(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf32>
  // PURE: amp.matmul {{.*}} -> tensor<2x2xf32>
  // REPORT: "reason": "its values leave the range of f16 on the calibration data"
  // REPORT-NEXT: "result": "f32"
  // REPORT-NEXT: "rule": "calibration"
  // REPORT-NEXT: "type": "f32"
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("first"("main/0"("MatMul")))
  // CHECK: amp.relu {{.*}} -> tensor<2x2xf32>
  // PURE: amp.relu {{.*}} -> tensor<2x2xf16>
  %b = amp.relu %a : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("second"("main/1"("Relu")))
  return %b : tensor<2x2xf32>
}

/// Other places, what is f32 anyway, and what a rule asks for stay as they are.
// CHECK-LABEL: func.func @no_calibration
func.func @no_calibration(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf16>
  // REPORT: "rule": "lower"
  %a = amp.matmul %x, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("main/0"("main/2"("MatMul")))
  // CHECK: amp.exp {{.*}} -> tensor<2x2xf32>
  // REPORT: "rule": "fp32"
  %b = amp.exp %a : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("fourth"("main/3"("Exp")))
  // CHECK: amp.matmul {{.*}} -> tensor<2x2xf16>
  // REPORT: "rule": "override"
  %c = amp.matmul %b, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("asked"("main/3"("MatMul")))
  return %c : tensor<2x2xf32>
}
