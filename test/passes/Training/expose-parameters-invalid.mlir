// RUN: ampc-opt %s --training-expose-parameters --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a function @main with a body}}
module {
}

// -----

train.state @w : tensor<2xf32>
func.func @main() -> tensor<3xf32> {
  // expected-error @+1 {{the name 'w' is taken}}
  %w = amp.constant {amp.initializer = "w"} dense<2.0> : tensor<3xf32>
  return %w : tensor<3xf32>
}

// -----

func.func @main() -> tensor<3xf64> {
  // expected-error @+1 {{unsupported parameter of f64; parameters are kept in f32}}
  %w = amp.constant {amp.initializer = "w"} dense<2.0> : tensor<3xf64>
  return %w : tensor<3xf64>
}
