// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-simplify))' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @neutral
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<4xi64>)
func.func @neutral(%x: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  // CHECK-NEXT: return %[[X]], %[[I]]
  %one = amp.constant dense<1.0> : tensor<f32>
  %zero = amp.constant dense<0.0> : tensor<1xf32>
  %minus_zero = amp.constant dense<-0.0> : tensor<4xf32>
  %izero = amp.constant dense<0> : tensor<i64>
  %0 = amp.mul %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.div %0, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = amp.sub %1, %zero : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %3 = amp.add %2, %minus_zero : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = amp.pow %3, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = amp.neg %4 : (tensor<4xf32>) -> tensor<4xf32>
  %6 = amp.neg %5 : (tensor<4xf32>) -> tensor<4xf32>
  %7 = amp.add %i, %izero : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  return %6, %7 : tensor<4xf32>, tensor<4xi64>
}

// -----

/// -0 + 0 is 0, 1 / x is not x, and a constant that broadcasts makes the result
/// larger.
// CHECK-LABEL: func.func @negative_neutral
func.func @negative_neutral(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>) {
  // CHECK: amp.add
  // CHECK: amp.sub
  // CHECK: amp.div
  // CHECK: amp.mul
  %one = amp.constant dense<1.0> : tensor<f32>
  %wide = amp.constant dense<1.0> : tensor<2x1xf32>
  %zero = amp.constant dense<0.0> : tensor<f32>
  %0 = amp.add %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = amp.sub %zero, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.div %one, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = amp.mul %x, %wide : (tensor<4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @repetition
// CHECK-SAME: (%[[X:.*]]: tensor<1x4xf32>)
func.func @repetition(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[R:.*]] = amp.relu %[[X]]
  // CHECK-NEXT: %[[M:.*]] = amp.reshape %[[X]] : (tensor<1x4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: return %[[R]], %[[M]]
  %0 = amp.relu %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = amp.relu %0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = amp.reduce_mean %x {axes = array<i64: 0>, keepdims = false} : (tensor<1x4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<1x4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @select
// CHECK-SAME: (%[[A:.*]]: tensor<2x4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @select(%a: tensor<2x4xf32>, %b: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK-NEXT: %[[W:.*]] = amp.broadcast %[[B]] : (tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: return %[[A]], %[[W]]
  %true = amp.constant dense<true> : tensor<2x1xi1>
  %false = amp.constant dense<false> : tensor<i1>
  %0 = amp.select %true, %a, %b : (tensor<2x1xi1>, tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = amp.select %false, %a, %b : (tensor<i1>, tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

/// The sum broadcasts itself; the second broadcast gives the result its shape.
// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[A:.*]]: tensor<2x4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @broadcast(%a: tensor<2x4xf32>, %b: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<3x4xf32>) {
  // CHECK: %[[W:.*]] = amp.broadcast %[[B]] : (tensor<4xf32>) -> tensor<3x4xf32>
  // CHECK: amp.add %[[A]], %[[B]]
  // CHECK: amp.add %[[W]], %[[B]]
  %0 = amp.broadcast %b : (tensor<4xf32>) -> tensor<2x4xf32>
  %1 = amp.broadcast %b : (tensor<4xf32>) -> tensor<3x4xf32>
  %2 = amp.add %a, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = amp.add %1, %b : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %2, %3 : tensor<2x4xf32>, tensor<3x4xf32>
}

// -----

/// As a vision transformer's patches come out of a convolution.
// CHECK-LABEL: func.func @sink_transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x7x5x8xf32>)
func.func @sink_transpose(%x: tensor<2x7x5x8xf32>) -> (tensor<2x35x8xf32>, tensor<35x8x2xf32>) {
  // CHECK-NEXT: %[[R0:.*]] = amp.reshape %[[X]] : (tensor<2x7x5x8xf32>) -> tensor<2x35x8xf32>
  // CHECK-NEXT: %[[R1:.*]] = amp.reshape %[[X]] : (tensor<2x7x5x8xf32>) -> tensor<2x35x8xf32>
  // CHECK-NEXT: %[[T:.*]] = amp.transpose %[[R1]] {permutation = array<i64: 1, 2, 0>} : (tensor<2x35x8xf32>) -> tensor<35x8x2xf32>
  // CHECK-NEXT: return %[[R0]], %[[T]]
  %0 = amp.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x7x5x8xf32>) -> tensor<2x8x7x5xf32>
  %1 = amp.reshape %0 : (tensor<2x8x7x5xf32>) -> tensor<2x8x35xf32>
  %2 = amp.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<2x8x35xf32>) -> tensor<2x35x8xf32>
  %3 = amp.reshape %0 : (tensor<2x8x7x5xf32>) -> tensor<2x8x35xf32>
  %4 = amp.transpose %3 {permutation = array<i64: 2, 1, 0>} : (tensor<2x8x35xf32>) -> tensor<35x8x2xf32>
  return %2, %4 : tensor<2x35x8xf32>, tensor<35x8x2xf32>
}

// -----

/// As a channel shuffle ends with channels last: one transposition.
// CHECK-LABEL: func.func @hoist_transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x7x5x8xf32>)
func.func @hoist_transpose(%x: tensor<2x7x5x8xf32>) -> tensor<2x7x5x8xf32> {
  // CHECK-NEXT: %[[S:.*]] = amp.reshape %[[X]] : (tensor<2x7x5x8xf32>) -> tensor<2x7x5x2x4xf32>
  // CHECK-NEXT: %[[T:.*]] = amp.transpose %[[S]] {permutation = array<i64: 0, 1, 2, 4, 3>} : (tensor<2x7x5x2x4xf32>) -> tensor<2x7x5x4x2xf32>
  // CHECK-NEXT: %[[J:.*]] = amp.reshape %[[T]] : (tensor<2x7x5x4x2xf32>) -> tensor<2x7x5x8xf32>
  // CHECK-NEXT: return %[[J]]
  %0 = amp.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x7x5x8xf32>) -> tensor<2x8x7x5xf32>
  %1 = amp.reshape %0 : (tensor<2x8x7x5xf32>) -> tensor<2x2x4x7x5xf32>
  %2 = amp.transpose %1 {permutation = array<i64: 0, 2, 1, 3, 4>} : (tensor<2x2x4x7x5xf32>) -> tensor<2x4x2x7x5xf32>
  %3 = amp.reshape %2 : (tensor<2x4x2x7x5xf32>) -> tensor<2x8x7x5xf32>
  %4 = amp.transpose %3 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x8x7x5xf32>) -> tensor<2x7x5x8xf32>
  return %4 : tensor<2x7x5x8xf32>
}

// -----

/// The reshape joins dimensions that are apart in the input and splits what is
/// apart in the result.
// CHECK-LABEL: func.func @negative_transposes
func.func @negative_transposes(%x: tensor<2x7x8xf32>) -> tensor<4x7x4xf32> {
  // CHECK-COUNT-2: amp.transpose
  %0 = amp.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x7x8xf32>) -> tensor<8x2x7xf32>
  %1 = amp.reshape %0 : (tensor<8x2x7xf32>) -> tensor<4x4x7xf32>
  %2 = amp.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<4x4x7xf32>) -> tensor<4x7x4xf32>
  return %2 : tensor<4x7x4xf32>
}

// -----

// CHECK-LABEL: func.func @free_transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x1x3x1xf32>)
func.func @free_transpose(%x: tensor<2x1x3x1xf32>) -> tensor<1x2x1x3xf32> {
  // CHECK-NEXT: amp.reshape %[[X]]
  %0 = amp.transpose %x {permutation = array<i64: 1, 0, 3, 2>} : (tensor<2x1x3x1xf32>) -> tensor<1x2x1x3xf32>
  return %0 : tensor<1x2x1x3xf32>
}

// -----

/// Elements 9, 6, 3 of the input are 4, 3, 2 of every third from 0, backwards
/// from 4: with stride -3 from 9.
// CHECK-LABEL: func.func @slices
// CHECK-SAME: (%[[X:.*]]: tensor<12xf32>, %[[A:.*]]: tensor<3xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @slices(%x: tensor<12xf32>, %a: tensor<3xf32>, %b: tensor<4xf32>) -> (tensor<3xf32>, tensor<2xf32>, tensor<3xf32>) {
  // CHECK: amp.slice %[[X]] {sizes = array<i64: 3>, starts = array<i64: 9>, strides = array<i64: -3>}
  // CHECK: %[[C:.*]] = amp.concat %[[A]], %[[B]]
  // CHECK: amp.slice %[[B]] {sizes = array<i64: 2>, starts = array<i64: 3>, strides = array<i64: -2>}
  // CHECK: amp.slice %[[C]]
  %0 = amp.slice %x {starts = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 3>} : (tensor<12xf32>) -> tensor<4xf32>
  %1 = amp.slice %0 {starts = array<i64: 3>, sizes = array<i64: 3>, strides = array<i64: -1>} : (tensor<4xf32>) -> tensor<3xf32>
  %2 = amp.concat %a, %b {axis = 0 : i64} : (tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
  %3 = amp.slice %2 {starts = array<i64: 6>, sizes = array<i64: 2>, strides = array<i64: -2>} : (tensor<7xf32>) -> tensor<2xf32>
  %4 = amp.slice %2 {starts = array<i64: 2>, sizes = array<i64: 3>, strides = array<i64: 1>} : (tensor<7xf32>) -> tensor<3xf32>
  return %1, %3, %4 : tensor<3xf32>, tensor<2xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @concats
// CHECK-SAME: (%[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<2x4xf32>)
func.func @concats(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> (tensor<2x10xf32>, tensor<4x7xf32>) {
  // CHECK-NEXT: amp.concat %[[A]], %[[B]], %[[A]] {axis = 1 : i64}
  // CHECK-NEXT: %[[C:.*]] = amp.concat %[[A]], %[[B]] {axis = 1 : i64}
  // CHECK-NEXT: amp.concat %[[C]], %[[C]] {axis = 0 : i64}
  %0 = amp.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %1 = amp.concat %0, %a {axis = 1 : i64} : (tensor<2x7xf32>, tensor<2x3xf32>) -> tensor<2x10xf32>
  %2 = amp.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %3 = amp.concat %2, %2 {axis = 0 : i64} : (tensor<2x7xf32>, tensor<2x7xf32>) -> tensor<4x7xf32>
  return %1, %3 : tensor<2x10xf32>, tensor<4x7xf32>
}

// -----

/// The first token, the last one; a computed index stays.
// CHECK-LABEL: func.func @gather
// CHECK-SAME: (%[[X:.*]]: tensor<2x5x3xf32>
func.func @gather(%x: tensor<2x5x3xf32>, %i: tensor<i64>) -> (tensor<2x3xf32>, tensor<2x1x3xf32>, tensor<2x3xf32>) {
  // CHECK: %[[S:.*]] = amp.slice %[[X]] {sizes = array<i64: 2, 1, 3>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}
  // CHECK: amp.reshape %[[S]] : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
  // CHECK: amp.slice %[[X]] {sizes = array<i64: 2, 1, 3>, starts = array<i64: 0, 4, 0>
  // CHECK: amp.gather
  %zero = amp.constant dense<0> : tensor<i64>
  %last = amp.constant dense<-1> : tensor<1xi64>
  %0 = amp.gather %x, %zero {axis = 1 : i64} : (tensor<2x5x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  %1 = amp.gather %x, %last {axis = 1 : i64} : (tensor<2x5x3xf32>, tensor<1xi64>) -> tensor<2x1x3xf32>
  %2 = amp.gather %x, %i {axis = 1 : i64} : (tensor<2x5x3xf32>, tensor<i64>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x1x3xf32>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @matmul_transpose
// CHECK-SAME: (%[[A:.*]]: tensor<2x8x4xf32>, %[[B:.*]]: tensor<2x6x8xf32>)
func.func @matmul_transpose(%a: tensor<2x8x4xf32>, %b: tensor<2x6x8xf32>) -> (tensor<2x4x6xf32>, tensor<2x8x8xf32>) {
  // CHECK: amp.matmul %[[A]], %[[B]] {transpose_lhs, transpose_rhs}
  // CHECK: amp.matmul %[[A]], %[[A]] {transpose_rhs}
  %0 = amp.transpose %a {permutation = array<i64: 0, 2, 1>} : (tensor<2x8x4xf32>) -> tensor<2x4x8xf32>
  %1 = amp.transpose %b {permutation = array<i64: 0, 2, 1>} : (tensor<2x6x8xf32>) -> tensor<2x8x6xf32>
  %2 = amp.matmul %0, %1 : (tensor<2x4x8xf32>, tensor<2x8x6xf32>) -> tensor<2x4x6xf32>
  %3 = amp.matmul %0, %0 {transpose_lhs} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
  return %2, %3 : tensor<2x4x6xf32>, tensor<2x8x8xf32>
}

// -----

/// Another permutation than the exchange of rows and columns stays.
// CHECK-LABEL: func.func @negative_matmul_transpose
func.func @negative_matmul_transpose(%a: tensor<8x2x4xf32>) -> tensor<2x4x4xf32> {
  // CHECK: amp.transpose
  // CHECK: amp.transpose
  %0 = amp.transpose %a {permutation = array<i64: 1, 2, 0>} : (tensor<8x2x4xf32>) -> tensor<2x4x8xf32>
  %1 = amp.transpose %a {permutation = array<i64: 1, 0, 2>} : (tensor<8x2x4xf32>) -> tensor<2x8x4xf32>
  %2 = amp.matmul %0, %1 : (tensor<2x4x8xf32>, tensor<2x8x4xf32>) -> tensor<2x4x4xf32>
  return %2 : tensor<2x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @bias
// CHECK-SAME: (%[[X:.*]]: tensor<2x4x8xf32>, %[[W:.*]]: tensor<8x6xf32>, %[[B:.*]]: tensor<6xf32>, %[[Y:.*]]: tensor<1x3x5xf32>, %[[V:.*]]: tensor<6x3x1xf32>, %[[C:.*]]: tensor<6x1xf32>)
func.func @bias(%x: tensor<2x4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>, %y: tensor<1x3x5xf32>, %v: tensor<6x3x1xf32>, %c: tensor<6x1xf32>) -> (tensor<2x4x6xf32>, tensor<1x6x5xf32>) {
  // CHECK-NEXT: %[[M:.*]] = amp.matmul %[[X]], %[[W]], %[[B]] :
  // CHECK-NEXT: %[[D:.*]] = amp.reshape %[[C]] : (tensor<6x1xf32>) -> tensor<6xf32>
  // CHECK-NEXT: %[[O:.*]] = amp.conv %[[Y]], %[[V]], %[[D]] {
  // CHECK-NEXT: return %[[M]], %[[O]]
  %0 = amp.matmul %x, %w : (tensor<2x4x8xf32>, tensor<8x6xf32>) -> tensor<2x4x6xf32>
  %1 = amp.add %b, %0 : (tensor<6xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  %2 = amp.conv %y, %v {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x3x5xf32>, tensor<6x3x1xf32>) -> tensor<1x6x5xf32>
  %3 = amp.add %2, %c : (tensor<1x6x5xf32>, tensor<6x1xf32>) -> tensor<1x6x5xf32>
  return %1, %3 : tensor<2x4x6xf32>, tensor<1x6x5xf32>
}

// -----

/// A mask of scores is none: `linear` multiplies by a parameter and adds a
/// vector, and the sum of a score and -65504 needs f32.
// CHECK-LABEL: func.func @negative_bias_mask
// CHECK-COUNT-2: amp.add
func.func @negative_bias_mask(%q: tensor<4x8xf32>, %x: tensor<1x1x4x8xf32>, %w: tensor<1x1x8x4xf32>, %v: tensor<4xf32>, %r: tensor<1x1x1x4xf32>) -> (tensor<4x4xf32>, tensor<1x1x4x4xf32>) {
  %k = amp.tanh %q : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = amp.matmul %q, %k {transpose_rhs} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %1 = amp.add %0, %v : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = amp.matmul %x, %w : (tensor<1x1x4x8xf32>, tensor<1x1x8x4xf32>) -> tensor<1x1x4x4xf32>
  %3 = amp.add %2, %r : (tensor<1x1x4x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x4x4xf32>
  return %1, %3 : tensor<4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

/// A residual is no bias, nor is one element per row, nor a second bias.
// CHECK-LABEL: func.func @negative_bias
func.func @negative_bias(%x: tensor<6x8xf32>, %w: tensor<8x6xf32>, %r: tensor<6x6xf32>, %c: tensor<6x1xf32>, %b: tensor<6xf32>) -> (tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>) {
  // CHECK-COUNT-3: amp.add
  %0 = amp.matmul %x, %w : (tensor<6x8xf32>, tensor<8x6xf32>) -> tensor<6x6xf32>
  %1 = amp.add %0, %r : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xf32>
  %2 = amp.matmul %x, %w : (tensor<6x8xf32>, tensor<8x6xf32>) -> tensor<6x6xf32>
  %3 = amp.add %2, %c : (tensor<6x6xf32>, tensor<6x1xf32>) -> tensor<6x6xf32>
  %4 = amp.matmul %x, %w, %b : (tensor<6x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  %5 = amp.add %4, %b : (tensor<6x6xf32>, tensor<6xf32>) -> tensor<6x6xf32>
  return %1, %3, %5 : tensor<6x6xf32>, tensor<6x6xf32>, tensor<6x6xf32>
}

// -----

/// pow is another autocast class than mul; casts are the precision phase's.
// CHECK-LABEL: func.func @negative_classes
func.func @negative_classes(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: amp.pow
  // CHECK-COUNT-2: amp.cast
  %two = amp.constant dense<2.0> : tensor<f32>
  %0 = amp.pow %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = amp.cast %x {from_model} : (tensor<4xf32>) -> tensor<4xf16>
  %2 = amp.cast %1 {from_model} : (tensor<4xf16>) -> tensor<4xf32>
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @pad
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @pad(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = amp.pad %x {low = array<i64: 0>, high = array<i64: 0>, mode = #amp.pad_mode<constant>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
