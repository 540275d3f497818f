// RUN: ampc-opt %s --memory-build-program --split-input-file --verify-diagnostics

// expected-error @below {{expected a function @main with a body}}
module {
  func.func @other() {
    return
  }
}

// -----

// expected-error @below {{expected a function @main with a body}}
module {
  func.func private @main()
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'amp.relu' op expected launches, reshapes and weights only}}
  %0 = amp.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{'func.func' op expected one block, got 2}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}

// -----

/// One that 64 bits cannot count, and two that they cannot count together.
// expected-error @below {{'func.func' op expected buffers that 64 bits can address together}}
func.func @main(%x: tensor<4294967296x4294967296xf32>) {
  return
}

// -----

// expected-error @below {{'func.func' op expected buffers that 64 bits can address together}}
func.func @main(%x: tensor<5000000000000000000xi8>, %y: tensor<5000000000000000000xi8>) {
  return
}

// -----

/// Each would have to be copied before the other.
train.state moment @s : tensor<4xf32>
train.state moment @t : tensor<4xf32>
// expected-error @below {{'func.func' op cannot exchange states without a launch}}
func.func @main(%s: tensor<4xf32> {train.state = @s}, %t: tensor<4xf32> {train.state = @t})
    -> (tensor<4xf32> {train.state = @t}, tensor<4xf32> {train.state = @s}) {
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}
