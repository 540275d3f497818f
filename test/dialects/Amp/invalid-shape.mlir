// RUN: ampc-opt %s --split-input-file --verify-diagnostics

/// What elementwise and shape ops reject.

func.func @elementwise_shapes(%a: tensor<4xf32>, %b: tensor<3xf32>) {
  // expected-error@+2 {{operands do not broadcast: 'tensor<4xf32>' and 'tensor<3xf32>'}}
  // expected-error@+1 {{'amp.add' op failed to infer returned types}}
  %0 = amp.add %a, %b : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @elementwise_result(%a: tensor<4xf32>) {
  // expected-error@+2 {{'amp.add' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<1x4xf32>'}}
  // expected-error@+1 {{'amp.add' op failed to infer returned types}}
  %0 = amp.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @elementwise_types(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error@+1 {{'amp.mul' op failed to verify that all of {lhs, rhs, result} have same element type}}
  %0 = amp.mul %a, %b : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @elementwise_boolean(%a: tensor<4xi1>) {
  // expected-error@+1 {{'amp.add' op operand #0 must be statically shaped tensor of number values, but got 'tensor<4xi1>'}}
  %0 = amp.add %a, %a : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @unary_result(%a: tensor<4xf32>) {
  // expected-error@+1 {{'amp.exp' op requires the same type for all operands and results}}
  %0 = amp.exp %a : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @unary_dynamic(%a: tensor<?xf32>) {
  // expected-error@+1 {{'amp.exp' op operand #0 must be statically shaped tensor of 16, 32 or 64-bit float values, but got 'tensor<?xf32>'}}
  %0 = amp.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @unary_float8(%a: tensor<4xf8E4M3FN>) {
  // expected-error@+1 {{'amp.exp' op operand #0 must be statically shaped tensor of 16, 32 or 64-bit float values, but got 'tensor<4xf8E4M3FN>'}}
  %0 = amp.exp %a : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @compare_result(%a: tensor<4xf32>) {
  // expected-error@+2 {{'amp.compare' op inferred type(s) 'tensor<4xi1>' are incompatible with return type(s) of operation 'tensor<1xi1>'}}
  // expected-error@+1 {{'amp.compare' op failed to infer returned types}}
  %0 = amp.compare %a, %a {predicate = #amp.predicate<lt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<1xi1>
  return
}

// -----

func.func @select_shapes(%c: tensor<2xi1>, %a: tensor<3xf32>) {
  // expected-error@+2 {{operands do not broadcast: 'tensor<2xi1>' and 'tensor<3xf32>'}}
  // expected-error@+1 {{'amp.select' op failed to infer returned types}}
  %0 = amp.select %c, %a, %a : (tensor<2xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @cast_shape(%a: tensor<4xf32>) {
  // expected-error@+1 {{'amp.cast' op requires the same shape for all operands and results}}
  %0 = amp.cast %a : (tensor<4xf32>) -> tensor<2x2xf16>
  return
}

// -----

func.func @reshape_count(%a: tensor<4xf32>) {
  // expected-error@+1 {{'amp.reshape' op expected as many elements in the result as in the input, got 'tensor<5xf32>' from 'tensor<4xf32>'}}
  %0 = amp.reshape %a : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reshape_type(%a: tensor<4xf32>) {
  // expected-error@+1 {{'amp.reshape' op failed to verify that all of {input, result} have same element type}}
  %0 = amp.reshape %a : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

func.func @transpose_twice(%a: tensor<4x5xf32>) {
  // expected-error@+2 {{expected a permutation of 2 dimensions}}
  // expected-error@+1 {{'amp.transpose' op failed to infer returned types}}
  %0 = amp.transpose %a {permutation = array<i64: 0, 0>} : (tensor<4x5xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @transpose_short(%a: tensor<4x5xf32>) {
  // expected-error@+2 {{expected a permutation of 2 dimensions}}
  // expected-error@+1 {{'amp.transpose' op failed to infer returned types}}
  %0 = amp.transpose %a {permutation = array<i64: 0>} : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_rank(%a: tensor<4xf32>) {
  // expected-error@+2 {{expected 1 starts, sizes and strides}}
  // expected-error@+1 {{'amp.slice' op failed to infer returned types}}
  %0 = amp.slice %a {starts = array<i64: 0, 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_outside(%a: tensor<4xf32>) {
  // expected-error@+2 {{slice of dimension 0 reaches outside 'tensor<4xf32>'}}
  // expected-error@+1 {{'amp.slice' op failed to infer returned types}}
  %0 = amp.slice %a {starts = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 3>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_overflow(%a: tensor<4xf32>) {
  // expected-error@+2 {{slice of dimension 0 reaches outside 'tensor<4xf32>'}}
  // expected-error@+1 {{'amp.slice' op failed to infer returned types}}
  %0 = amp.slice %a {starts = array<i64: 1>, sizes = array<i64: 3>, strides = array<i64: 9223372036854775807>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @broadcast(%a: tensor<4xf32>) {
  // expected-error@+1 {{'amp.broadcast' op cannot broadcast 'tensor<4xf32>' to 'tensor<4x3xf32>'}}
  %0 = amp.broadcast %a : (tensor<4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @broadcast_narrower(%a: tensor<4x1xf32>) {
  // expected-error@+1 {{'amp.broadcast' op cannot broadcast 'tensor<4x1xf32>' to 'tensor<1xf32>'}}
  %0 = amp.broadcast %a : (tensor<4x1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error@+2 {{expected at least one operand}}
  // expected-error@+1 {{'amp.concat' op failed to infer returned types}}
  %0 = amp.concat {axis = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_axis(%a: tensor<4xf32>) {
  // expected-error@+2 {{axis 1 is not a dimension of 'tensor<4xf32>'}}
  // expected-error@+1 {{'amp.concat' op failed to infer returned types}}
  %0 = amp.concat %a {axis = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concat_shapes(%a: tensor<4x2xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+2 {{cannot join 'tensor<4x3xf32>' to 'tensor<4x2xf32>' along axis 0}}
  // expected-error@+1 {{'amp.concat' op failed to infer returned types}}
  %0 = amp.concat %a, %b {axis = 0 : i64} : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @pad_rank(%a: tensor<4xf32>) {
  // expected-error@+2 {{expected 1 low and high paddings}}
  // expected-error@+1 {{'amp.pad' op failed to infer returned types}}
  %0 = amp.pad %a {low = array<i64>, high = array<i64: 0>, mode = #amp.pad_mode<constant>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_value(%a: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error@+2 {{expected a padding value of rank 0 and the input's element type, got 'tensor<1xf32>'}}
  // expected-error@+1 {{'amp.pad' op failed to infer returned types}}
  %0 = amp.pad %a, %v {low = array<i64: 1>, high = array<i64: 0>, mode = #amp.pad_mode<constant>} : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @pad_value_type(%a: tensor<4xf32>, %v: tensor<i64>) {
  // expected-error@+2 {{expected a padding value of rank 0 and the input's element type, got 'tensor<i64>'}}
  // expected-error@+1 {{'amp.pad' op failed to infer returned types}}
  %0 = amp.pad %a, %v {low = array<i64: 1>, high = array<i64: 0>, mode = #amp.pad_mode<constant>} : (tensor<4xf32>, tensor<i64>) -> tensor<5xf32>
  return
}

// -----

func.func @pad_crop(%a: tensor<4xf32>) {
  // expected-error@+2 {{padding -3 and -2 of dimension 0 of 'tensor<4xf32>' is out of range}}
  // expected-error@+1 {{'amp.pad' op failed to infer returned types}}
  %0 = amp.pad %a {low = array<i64: -3>, high = array<i64: -2>, mode = #amp.pad_mode<constant>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_reflect(%a: tensor<4xf32>) {
  // expected-error@+2 {{cannot pad dimension 0 of 'tensor<4xf32>' by 4 and 0 with elements of the input}}
  // expected-error@+1 {{'amp.pad' op failed to infer returned types}}
  %0 = amp.pad %a {low = array<i64: 4>, high = array<i64: 0>, mode = #amp.pad_mode<reflect>} : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @iota() {
  // expected-error@+1 {{'amp.iota' op dimension 1 is not one of 'tensor<4xi64>'}}
  %0 = amp.iota {dimension = 1 : i64} : () -> tensor<4xi64>
  return
}
