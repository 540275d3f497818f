// RUN: ampc-opt %s --training-attach-loss --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a function @main with a body}}
module {
}

// -----

// expected-error @+1 {{expected the name of the result that the loss is of, one of 2}}
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  return %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// expected-error @+1 {{expected a loss of floats, got 'tensor<2x3xi64>'}}
func.func @main(%x: tensor<2x3xi64>) -> tensor<2x3xi64> {
  return %x : tensor<2x3xi64>
}

// -----

// expected-error @+1 {{expected logits with classes along dimension 1, got 'tensor<2xf32>'}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @+1 {{the model has an input 'labels', which a trainer needs for its own}}
func.func @main(%x: tensor<2x3xf32>, %y: tensor<f32> {amp.name = "labels"}) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}

// -----

// expected-error @+1 {{expected a loss of a multiple of 2 rows, one or more for each sample, got 'tensor<3x4xf32>'}}
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<3x4xf32> {
  return %y : tensor<3x4xf32>
}
