// RUN: ampc-opt %s --training-keep-copies --split-input-file --verify-diagnostics

// expected-error @below {{expected a trainer: @apply and @parameters}}
module {
  func.func @apply() {
    return
  }
}

// -----

train.arena @parameters : tensor<64xf32>
train.state parameter @w : tensor<4xf32> in @parameters at 0
func.func @step(%w: tensor<4xf32> {train.state = @w}) -> tensor<4xf16> {
  %0 = amp.cast %w : (tensor<4xf32>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
// expected-error @below {{expected a result that replaces the parameters}}
func.func @apply() {
  return
}
