// RUN: ampc-opt %s --graph-expose-results --mlir-print-debuginfo=false | FileCheck %s
// RUN: ampc-opt %s --graph-expose-results=positions=1 | FileCheck %s --check-prefix=ONE
// RUN: ampc-opt %s --graph-expose-results=positions=0,1 --precision-autocast=type=f16 | FileCheck %s --check-prefix=TYPED

// RUN: ampc-opt %s --graph-expose-results='positions=0 rounding=bf16' | FileCheck %s --check-prefix=ROUNDED

/// Results keep their places; what ops compute at run time follows.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32> {amp.name = "x"}) -> (tensor<2x2xf32> {amp.name = "y"}, tensor<2x2xf32> {amp.name = "main/0:0"}, tensor<2x2xf32> {amp.name = "main/1:0"})
// CHECK: %[[PRODUCT:.*]] = amp.matmul
// CHECK: %[[POSITIVE:.*]] = amp.relu %[[PRODUCT]]
// CHECK: return %[[POSITIVE]], %[[PRODUCT]], %[[POSITIVE]]

// ONE-LABEL: func.func @main(
// ONE-SAME: -> (tensor<2x2xf32> {amp.name = "y"}, tensor<2x2xf32> {amp.name = "main/1:0"})
// ONE: %[[POSITIVE:.*]] = amp.relu
// ONE: return %[[POSITIVE]], %[[POSITIVE]]

/// Autocast rounds the op and returns what the program declares.
// TYPED-LABEL: func.func @main(
// TYPED: %[[PRODUCT:.*]] = amp.matmul {{.*}} -> tensor<2x2xf16>
// TYPED: %[[TAP:.*]] = amp.cast %[[PRODUCT]] : (tensor<2x2xf16>) -> tensor<2x2xf32>
// TYPED: return %{{.*}}, %[[TAP]], %{{.*}} : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>

/// The op once more, alone in the narrow type; its weights saturate.
// ROUNDED-LABEL: func.func @main(
// ROUNDED-SAME: %[[X:.*]]: tensor<2x4xf32> {amp.name = "x"}) -> (tensor<2x2xf32> {amp.name = "y"}, tensor<2x2xf32> {amp.name = "main/0:0"}, tensor<2x2xf32> {amp.name = "main/0:0@bf16"})
// ROUNDED: %[[W:.*]] = amp.constant
// ROUNDED: %[[PRODUCT:.*]] = amp.matmul %[[X]], %[[W]]
// ROUNDED: %[[XL:.*]] = amp.cast %[[X]] : (tensor<2x4xf32>) -> tensor<2x4xbf16>
// ROUNDED: %[[XR:.*]] = amp.cast %[[XL]] : (tensor<2x4xbf16>) -> tensor<2x4xf32>
// ROUNDED: %[[WL:.*]] = amp.cast %[[W]] {saturate} : (tensor<4x2xf32>) -> tensor<4x2xbf16>
// ROUNDED: %[[WR:.*]] = amp.cast %[[WL]] : (tensor<4x2xbf16>) -> tensor<4x2xf32>
// ROUNDED: %[[ALONE:.*]] = amp.matmul %[[XR]], %[[WR]]
// ROUNDED: %[[LOW:.*]] = amp.cast %[[ALONE]] : (tensor<2x2xf32>) -> tensor<2x2xbf16>
// ROUNDED: %[[BACK:.*]] = amp.cast %[[LOW]] : (tensor<2x2xbf16>) -> tensor<2x2xf32>
// ROUNDED: %[[POSITIVE:.*]] = amp.relu %[[PRODUCT]]
// ROUNDED: return %[[POSITIVE]], %[[PRODUCT]], %[[BACK]]
func.func @main(%x: tensor<2x4xf32> {amp.name = "x"}) -> (tensor<2x2xf32> {amp.name = "y"}) {
  %w = amp.constant dense<1.5> : tensor<4x2xf32>
  %0 = amp.matmul %x, %w : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32> loc("project"("main/0"("MatMul")))
  %1 = amp.relu %0 : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("positive"("main/1"("Relu")))
  return %1 : tensor<2x2xf32>
}

/// Other functions, and results that are computed from constants, are left.
// CHECK-LABEL: func.func @negative_other(
// CHECK-SAME: -> tensor<4xf32> {
func.func @negative_other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
