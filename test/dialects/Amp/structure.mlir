// RUN: ampc-opt %s | FileCheck %s
// RUN: ampc-opt %s > %t.once && ampc-opt %t.once | diff %t.once -
// RUN: ampc-opt %s --mlir-print-op-generic | ampc-opt | diff %t.once -
// RUN: ampc-opt %s --emit-bytecode | ampc-opt | diff %t.once -

/// Constants, composites, kernels and launches, weights, the target attribute.

// CHECK: module attributes {amp.target = #amp.target<vector_bytes = 32, panel = 16, native_16bit = false>}
module attributes {amp.target = #amp.target<vector_bytes = 32, panel = 16, native_16bit = false>} {

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: amp.constant dense<1.000000e+00> : tensor<4xf32>
  %0 = amp.constant dense<1.0> : tensor<4xf32>
  // CHECK: amp.constant dense<[1, -2]> : tensor<2xi64>
  %1 = amp.constant dense<[1, -2]> : tensor<2xi64>
  // CHECK: amp.constant dense<> : tensor<0x3xf16>
  %2 = amp.constant dense<> : tensor<0x3xf16>
  // CHECK: amp.constant dense_resource<w> : tensor<2x2xf32>
  %3 = amp.constant dense_resource<w> : tensor<2x2xf32>
  return
}

// CHECK-LABEL: func.func @composite
func.func @composite(%x: tensor<4xf32>, %h: tensor<4xf16>) {
  // CHECK: amp.composite "Elu" follow(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4xf32>):
  // CHECK-NEXT: %[[E:.*]] = amp.exp %[[A]]
  // CHECK-NEXT: amp.yield %[[E]] : tensor<4xf32>
  %0 = amp.composite "Elu" follow(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = amp.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    amp.yield %e : tensor<4xf32>
  }
  // CHECK: amp.composite "Pair" lower(%{{.*}}, %{{.*}}) {pinned = array<i64: 1>} : (tensor<4xf16>, tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf32>) {
  %1:2 = amp.composite "Pair" lower(%h, %x) {pinned = array<i64: 1>} : (tensor<4xf16>, tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    amp.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// CHECK-LABEL: amp.kernel @add_relu(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
amp.kernel @add_relu(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: amp.yield %{{.*}} : tensor<4xf32>
  amp.yield %1 : tensor<4xf32>
}

// CHECK-LABEL: amp.weight @w0 : tensor<2x2xbf16> {
amp.weight @w0 : tensor<2x2xbf16> {
  %0 = amp.constant dense_resource<w> : tensor<2x2xf32>
  %1 = amp.cast %0 : (tensor<2x2xf32>) -> tensor<2x2xbf16>
  // CHECK: amp.yield %{{.*}} : tensor<2x2xbf16>
  amp.yield %1 : tensor<2x2xbf16>
}

// CHECK-LABEL: func.func @host
func.func @host(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: amp.get_weight @w0 : tensor<2x2xbf16>
  %w = amp.get_weight @w0 : tensor<2x2xbf16>
  // CHECK: amp.launch @add_relu(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = amp.launch @add_relu(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
