// RUN: ampc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected a tensor of rank 1, got 'tensor<4x2xf32>'}}
train.arena @a : tensor<4x2xf32>

// -----

// expected-error @+1 {{expected an initial value of type 'tensor<4xf32>', got 'tensor<3xf32>'}}
train.state @w : tensor<4xf32> initial dense<1.0> : tensor<3xf32>

// -----

// expected-error @+1 {{there is no arena @a}}
train.state @w : tensor<4xf32> in @a at 0

// -----

train.arena @a : tensor<4xf32>
// expected-error @+1 {{does not fit @a, a 'tensor<4xf32>'}}
train.state @w : tensor<4xf32> in @a at 1

// -----

train.arena @a : tensor<4xf32>
// expected-error @+1 {{does not fit @a, a 'tensor<4xf32>'}}
train.state @w : tensor<2xbf16> in @a at 1
