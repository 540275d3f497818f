// RUN: ampc-opt %s --training-expand-dropout --split-input-file --verify-diagnostics

// expected-error @+1 {{'train.state' op expected the state 'train.seed' of type 'tensor<i64>'}}
train.state @train.seed : tensor<i32>
func.func @step(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = train.dropout %x {ratio = 0.25 : f64, stream = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
