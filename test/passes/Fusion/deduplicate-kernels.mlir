// RUN: ampc-opt %s --fusion-deduplicate-kernels --split-input-file | FileCheck %s
// A kernel's name does not depend on where it stands.
// RUN: ampc-opt %s --fusion-deduplicate-kernels --fusion-deduplicate-kernels --split-input-file | FileCheck %s

/// Names of values and locations do not count.
// CHECK-LABEL: func.func @equal(
// CHECK-NEXT: %[[Y:.*]] = amp.launch @[[K:relu_4_f32_f32_[0-9a-f]+]](%{{.*}})
// CHECK-NEXT: amp.launch @[[K]](%[[Y]])
// CHECK: amp.kernel private @[[K]](
// CHECK-NOT: amp.kernel
func.func @equal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = amp.launch @k0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = amp.launch @k1(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
amp.kernel private @k0(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.relu %a : (tensor<4xf32>) -> tensor<4xf32> loc("first")
  amp.yield %0 : tensor<4xf32>
}
amp.kernel private @k1(%b: tensor<4xf32>) -> tensor<4xf32> {
  %r = amp.relu %b : (tensor<4xf32>) -> tensor<4xf32> loc("second")
  amp.yield %r : tensor<4xf32>
}

// -----

/// Shapes, attributes, constants and the order of operands do.
// CHECK-LABEL: func.func @no_merge(
// CHECK: amp.launch @[[A:sub_4_f32_f32_[0-9a-f]+]]
// CHECK: amp.launch @[[B:sub_4_f32_f32_f32_[0-9a-f]+]]
// CHECK: amp.launch @[[C:sub_4_f32_f32_f32_[0-9a-f]+]]
// CHECK: amp.launch @[[D:sub_4_f32_f32_[0-9a-f]+]]
// CHECK: amp.launch @[[E:sub_2x2_f32_f32_[0-9a-f]+]]
// CHECK-COUNT-5: amp.kernel
func.func @no_merge(%x: tensor<4xf32>, %s: tensor<2x2xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>) {
  %0 = amp.launch @k0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.launch @k1(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.launch @k2(%0, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = amp.launch @k3(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = amp.launch @k4(%s) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
}
amp.kernel private @k0(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = amp.constant dense<1.0> : tensor<f32>
  %0 = amp.sub %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}
amp.kernel private @k1(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.sub %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}
amp.kernel private @k2(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.sub %b, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}
amp.kernel private @k3(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = amp.constant dense<2.0> : tensor<f32>
  %0 = amp.sub %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}
amp.kernel private @k4(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %c = amp.constant dense<1.0> : tensor<f32>
  %0 = amp.sub %a, %c : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  amp.yield %0 : tensor<2x2xf32>
}

// -----

/// The name: the root, else the last op that is no rounding; its shapes; types of
/// operands and results.
// CHECK-LABEL: func.func @names(
// CHECK: amp.launch @matmul_4x4_4x4_bf16_bf16_f32_bf16_{{[0-9a-f]+}}
// CHECK: amp.launch @exp_4x4_bf16_f32_{{[0-9a-f]+}}
func.func @names(%x: tensor<4x4xbf16>, %b: tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = amp.launch @k0(%x, %x, %b) : (tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4xf32>) -> tensor<4x4xbf16>
  %1 = amp.launch @k1(%0) : (tensor<4x4xbf16>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
amp.kernel private @k0(%x: tensor<4x4xbf16>, %w: tensor<4x4xbf16>, %b: tensor<4xf32>) -> tensor<4x4xbf16> {
  %0 = amp.matmul %x, %w : (tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<4x4xf32>
  %1 = amp.add %0, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = amp.cast %1 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
  amp.yield %2 : tensor<4x4xbf16>
}
amp.kernel private @k1(%x: tensor<4x4xbf16>) -> tensor<4x4xf32> {
  %0 = amp.cast %x : (tensor<4x4xbf16>) -> tensor<4x4xf32>
  %1 = amp.exp %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  amp.yield %1 : tensor<4x4xf32>
}
