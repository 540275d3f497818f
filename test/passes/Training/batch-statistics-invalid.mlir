// RUN: ampc-opt %s --training-batch-statistics --verify-diagnostics

train.state @m : tensor<4xf32>
train.state @v : tensor<4xf32>
// expected-error @+1 {{two batch norms share the statistics @m}}
func.func @main(%x: tensor<8x4xf32>, %g: tensor<4xf32>, %m: tensor<4xf32> {train.state = @m},
                %v: tensor<4xf32> {train.state = @v}) -> tensor<8x4xf32> {
  %0 = amp.batch_norm %x, %g, %g, %m, %v {epsilon = 1.0e-5 : f64}
    : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %1 = amp.batch_norm %0, %g, %g, %m, %v {epsilon = 1.0e-5 : f64}
    : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
