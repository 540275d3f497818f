// RUN: ampc-opt %s --training-differentiate --split-input-file --verify-diagnostics

func.func @no_gradient(%x: tensor<4xf32> {amp.trainable}, %i: tensor<2xi64>, %u: tensor<2xf32>) -> (tensor<4xf32> {amp.loss}) {
  // expected-error @+1 {{no gradient of a scatter with reduction 'max'}}
  %0 = amp.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #amp.scatter_reduction<max>}
    : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @composite(%x: tensor<4xf32> {amp.trainable}) -> (tensor<4xf32> {amp.loss}) {
  // expected-error @+1 {{has no gradient}}
  %0 = amp.composite "Elu" follow(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    amp.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected one block, got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}
