// RUN: ampc-opt %s --training-build-step --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a function @main with a body}}
module {
}

// -----

// expected-error @+1 {{nothing is trained}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected trained argument 0 to be a state of f32}}
func.func @main(%x: tensor<4xf32> {amp.trainable}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

train.state @w : tensor<4xf32>
// expected-error @+1 {{expected a loss, its weight, its cotangent and a gradient of each trained argument}}
func.func @main(%x: tensor<4xf32> {amp.trainable, train.state = @w}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
