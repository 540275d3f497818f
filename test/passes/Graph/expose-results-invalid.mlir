// RUN: ampc-opt %s --graph-expose-results=positions=1 --split-input-file --verify-diagnostics
// RUN: %exit_code 1 ampc-opt %S/expose-results.mlir --graph-expose-results=rounding=f8 2>&1 | FileCheck %s

// CHECK: 'func.func' op expected rounding to f16 or bf16, got 'f8'

// expected-error @+1 {{'func.func' op expected positions below 1, got 1}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected a function @main with a body}}
module {}
