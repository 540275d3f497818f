// RUN: ampc-opt %s --fusion-form-kernels --split-input-file --verify-diagnostics

func.func @batch_norm(%x: tensor<1x8x4x4xf32>, %c: tensor<8xf32>) -> tensor<1x8x4x4xf32> {
  // expected-error @below {{'amp.batch_norm' op expected an operation that kernels can hold}}
  %y = amp.batch_norm %x, %c, %c, %c, %c {epsilon = 1.0e-5 : f64}
     : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
  return %y : tensor<1x8x4x4xf32>
}

// -----

// expected-error @below {{'func.func' op expected one block, got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}
