// RUN: ampc-opt %s --training-expose-parameters --verify-diagnostics

// An epsilon among the initializers is seldom meant to be trained.
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-warning @+1 {{a number, 'eps', is trained; it stays as it is if frozen}}
  %e = amp.constant {amp.initializer = "eps"} dense<1.0e-5> : tensor<f32>
  %0 = amp.add %x, %e : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
