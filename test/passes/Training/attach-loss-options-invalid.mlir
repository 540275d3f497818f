// RUN: ampc-opt %s --training-attach-loss="class-weights=1,2 input=y" --split-input-file --verify-diagnostics

// expected-error @+1 {{expected 3 class weights, got 2}}
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {amp.name = "y"}) {
  return %x : tensor<2x3xf32>
}

// -----

// expected-error @+1 {{there is no result 'y'}}
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}
