// RUN: ampc-opt %s --split-input-file --verify-diagnostics

/// What composites, kernels, launches and weights reject.

func.func @composite_arguments(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.composite' op expected one body argument per operand}}
  %0 = amp.composite "C" follow(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0:
    %c = amp.constant dense<1.0> : tensor<4xf32>
    amp.yield %c : tensor<4xf32>
  }
  return
}

// -----

func.func @composite_argument_shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.composite' op expected a body argument of the shape of 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = amp.composite "C" follow(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<5xf32>):
    %c = amp.constant dense<1.0> : tensor<4xf32>
    amp.yield %c : tensor<4xf32>
  }
  return
}

// -----

func.func @composite_results(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.composite' op expected the body to yield one value per result}}
  %0 = amp.composite "C" follow(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    amp.yield %a, %a : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @composite_result_shape(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.composite' op expected the body to yield the shape of 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %0 = amp.composite "C" follow(%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<4xf32>):
    amp.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @composite_class(%x: tensor<4xf32>) {
  // expected-error@+1 {{custom op 'amp.composite' expected an autocast class, got maybe}}
  %0 = amp.composite "C" maybe(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  }
  return
}

// -----

// expected-error@+1 {{'amp.kernel' op expected the body to yield the kernel's results}}
amp.kernel @k(%a: tensor<4xf32>) -> tensor<5xf32> {
  amp.yield %a : tensor<4xf32>
}

// -----

func.func @launch_missing(%x: tensor<4xf32>) {
  // expected-error@+1 {{'amp.launch' op there is no kernel @nowhere}}
  %0 = amp.launch @nowhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

amp.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> {
  amp.yield %a : tensor<4xf32>
}
func.func @launch_types(%x: tensor<5xf32>) {
  // expected-error@+1 {{'amp.launch' op expected the types of @k: '(tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = amp.launch @k(%x) : (tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{'amp.weight' op expected the body to yield one 'tensor<4xf16>'}}
amp.weight @w : tensor<4xf16> {
  %0 = amp.constant dense<1.0> : tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{'amp.weight' op expected the body to yield one 'tensor<4xf16>'}}
amp.weight @w : tensor<4xf16> {
}

// -----

func.func @get_weight_missing() {
  // expected-error@+1 {{'amp.get_weight' op there is no weight @nowhere}}
  %0 = amp.get_weight @nowhere : tensor<4xf32>
  return
}

// -----

amp.weight @w : tensor<4xf32> {
  %0 = amp.constant dense<1.0> : tensor<4xf32>
  amp.yield %0 : tensor<4xf32>
}
func.func @get_weight_type() {
  // expected-error@+1 {{'amp.get_weight' op expected the weight's type 'tensor<4xf32>'}}
  %0 = amp.get_weight @w : tensor<5xf32>
  return
}
