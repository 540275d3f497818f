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

// -----

func.func @dropout(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a ratio from 0 to less than 1, got 1.000000e+00}}
  %0 = train.dropout %x {ratio = 1.0 : f64, stream = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @bernoulli(%s: tensor<i64>, %n: tensor<i32>) {
  // expected-error @+1 {{expected a probability from 0 to less than 1, got 1.000000e+00}}
  %0 = train.bernoulli %s, %n, %n {probability = 1.0 : f64, stream = 0 : i64} : (tensor<i64>, tensor<i32>, tensor<i32>) -> tensor<4xi1>
  return
}

// -----

func.func @bernoulli_large(%s: tensor<i64>, %n: tensor<i32>) {
  // expected-error @+1 {{expected less than 2^32 elements, got 'tensor<4294967296xi1>'}}
  %0 = train.bernoulli %s, %n, %n {probability = 0.5 : f64, stream = 0 : i64} : (tensor<i64>, tensor<i32>, tensor<i32>) -> tensor<4294967296xi1>
  return
}
