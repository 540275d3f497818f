// RUN: ampc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @cast_same
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @cast_same(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: return %[[X]]
  %0 = amp.cast %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @cast_exact_round_trip
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16>, %[[I:.*]]: tensor<4xui8>)
func.func @cast_exact_round_trip(%x: tensor<4xbf16>, %i: tensor<4xui8>) -> (tensor<4xbf16>, tensor<4xui8>) {
  // CHECK: return %[[X]], %[[I]]
  %0 = amp.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = amp.cast %0 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = amp.cast %i : (tensor<4xui8>) -> tensor<4xui32>
  %3 = amp.cast %2 : (tensor<4xui32>) -> tensor<4xui8>
  return %1, %3 : tensor<4xbf16>, tensor<4xui8>
}

/// Narrowing loses bits; f16 does not hold every bf16 nor the reverse.
// CHECK-LABEL: func.func @negative_cast_narrow
func.func @negative_cast_narrow(%x: tensor<4xf32>, %b: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xbf16>) {
  // CHECK-COUNT-4: amp.cast
  %0 = amp.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = amp.cast %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = amp.cast %b : (tensor<4xbf16>) -> tensor<4xf16>
  %3 = amp.cast %2 : (tensor<4xf16>) -> tensor<4xbf16>
  return %1, %3 : tensor<4xf32>, tensor<4xbf16>
}

/// A cast of the model says which type the precision phase must keep.
// CHECK-LABEL: func.func @negative_cast_from_model
func.func @negative_cast_from_model(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  // CHECK-COUNT-3: amp.cast
  %0 = amp.cast %x {from_model} : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = amp.cast %0 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = amp.cast %y {from_model} : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xbf16>, tensor<4xf32>
}

// CHECK-LABEL: func.func @reshape_chain
// CHECK-SAME: (%[[X:.*]]: tensor<2x6xf32>)
func.func @reshape_chain(%x: tensor<2x6xf32>) -> (tensor<3x4xf32>, tensor<2x6xf32>) {
  // CHECK: %[[R:.*]] = amp.reshape %[[X]] : (tensor<2x6xf32>) -> tensor<3x4xf32>
  // CHECK-NEXT: return %[[R]], %[[X]]
  %0 = amp.reshape %x : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = amp.reshape %0 : (tensor<12xf32>) -> tensor<3x4xf32>
  %2 = amp.reshape %1 : (tensor<3x4xf32>) -> tensor<2x6xf32>
  return %1, %2 : tensor<3x4xf32>, tensor<2x6xf32>
}

/// Dimension i of the result is dimension first[second[i]] of the input.
// CHECK-LABEL: func.func @transpose_chain
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
func.func @transpose_chain(%x: tensor<2x3x4xf32>) -> (tensor<4x3x2xf32>, tensor<2x3x4xf32>) {
  // CHECK: %[[T:.*]] = amp.transpose %[[X]] {permutation = array<i64: 2, 1, 0>}
  // CHECK-NEXT: return %[[T]], %[[X]]
  %0 = amp.transpose %x {permutation = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = amp.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<3x4x2xf32>) -> tensor<4x3x2xf32>
  %2 = amp.transpose %0 {permutation = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %1, %2 : tensor<4x3x2xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @identities(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: return %[[X]], %[[X]], %[[X]], %[[X]]
  %0 = amp.transpose %x {permutation = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = amp.slice %x {starts = array<i64: 0, 0>, sizes = array<i64: 2, 3>, strides = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = amp.broadcast %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = amp.concat %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

/// A reversal has the input's type but not its elements.
// CHECK-LABEL: func.func @negative_slice_reversal
func.func @negative_slice_reversal(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: amp.slice
  %0 = amp.slice %x {starts = array<i64: 3>, sizes = array<i64: 4>, strides = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

/// Equal constants become one; unused pure ops go.
// CHECK-LABEL: func.func @constants_and_dead_code
func.func @constants_and_dead_code(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[C:.*]] = amp.constant
  // CHECK-NEXT: return %[[C]], %[[C]]
  %0 = amp.constant dense<1.0> : tensor<4xf32>
  %1 = amp.constant dense<1.0> : tensor<4xf32>
  %2 = amp.softmax %x {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
