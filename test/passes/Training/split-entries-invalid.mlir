// RUN: ampc-opt %s --training-split-entries --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a function @main of one block}}
module {
}

// -----

// expected-error @+1 {{expected a loss}}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// An initializer may have the name.
train.state @eval : tensor<f32>
// expected-error @+1 {{the name 'eval' is taken}}
func.func @main(%x: tensor<f32>) -> (tensor<f32> {amp.loss}) {
  return %x : tensor<f32>
}
