// RUN: ampc-opt %s --fusion-transpose-weights --split-input-file | FileCheck %s

/// Input channels last: what a sum runs along lies side by side.
module attributes {amp.target = #amp.target<vector_bytes = 16, panel = 0, native_16bit = true>} {
// CHECK-LABEL: func.func @conv(
// CHECK: %[[W:.*]] = amp.constant
// CHECK-NEXT: %[[T:.*]] = amp.transpose %[[W]] {permutation = array<i64: 0, 2, 3, 1>} : (tensor<8x4x3x2xf16>) -> tensor<8x3x2x4xf16>
// CHECK-NEXT: amp.launch @k(%{{.*}}, %[[T]]) : (tensor<1x6x6x4xf16>, tensor<8x3x2x4xf16>) -> tensor<1x4x5x8xf16>
func.func @conv(%x: tensor<1x6x6x4xf16>) -> tensor<1x4x5x8xf16> {
  %w = amp.constant dense_resource<w> : tensor<8x4x3x2xf16>
  %y = amp.launch @k(%x, %w) : (tensor<1x6x6x4xf16>, tensor<8x4x3x2xf16>) -> tensor<1x4x5x8xf16>
  return %y : tensor<1x4x5x8xf16>
}
// CHECK-LABEL: amp.kernel private @k(
// CHECK-SAME: %[[X:.*]]: tensor<1x6x6x4xf16>, %[[W:.*]]: tensor<8x3x2x4xf16>)
// CHECK-NEXT: %[[B:.*]] = amp.transpose %[[W]] {permutation = array<i64: 0, 3, 1, 2>} : (tensor<8x3x2x4xf16>) -> tensor<8x4x3x2xf16>
// CHECK-NEXT: amp.conv %[[X]], %[[B]]
amp.kernel private @k(%x: tensor<1x6x6x4xf16>, %w: tensor<8x4x3x2xf16>) -> tensor<1x4x5x8xf16> {
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>}
     : (tensor<1x6x6x4xf16>, tensor<8x4x3x2xf16>) -> tensor<1x4x5x8xf16>
  amp.yield %0 : tensor<1x4x5x8xf16>
}
}

// -----

/// A transposed convolution's weight has its input channels first.
module attributes {amp.target = #amp.target<vector_bytes = 16, panel = 0, native_16bit = true>} {
// CHECK-LABEL: func.func @conv_transpose(
// CHECK: amp.transpose %{{.*}} {permutation = array<i64: 1, 2, 3, 0>} : (tensor<4x8x2x2xf16>) -> tensor<8x2x2x4xf16>
func.func @conv_transpose(%x: tensor<1x3x3x4xf16>) -> tensor<1x6x6x8xf16> {
  %w = amp.constant dense_resource<w> : tensor<4x8x2x2xf16>
  %y = amp.launch @k(%x, %w) : (tensor<1x3x3x4xf16>, tensor<4x8x2x2xf16>) -> tensor<1x6x6x8xf16>
  return %y : tensor<1x6x6x8xf16>
}
// CHECK-LABEL: amp.kernel private @k(
// CHECK: amp.transpose %{{.*}} {permutation = array<i64: 3, 0, 1, 2>} : (tensor<8x2x2x4xf16>) -> tensor<4x8x2x2xf16>
amp.kernel private @k(%x: tensor<1x3x3x4xf16>, %w: tensor<4x8x2x2xf16>) -> tensor<1x6x6x8xf16> {
  %0 = amp.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, output_padding = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>}
     : (tensor<1x3x3x4xf16>, tensor<4x8x2x2xf16>) -> tensor<1x6x6x8xf16>
  amp.yield %0 : tensor<1x6x6x8xf16>
}
}

// -----

/// Each channel by itself: neighbouring channels of one tap.
module attributes {amp.target = #amp.target<vector_bytes = 16, panel = 0, native_16bit = true>} {
// CHECK-LABEL: func.func @depthwise(
// CHECK: amp.transpose %{{.*}} {permutation = array<i64: 2, 3, 0, 1>} : (tensor<8x1x3x3xf16>) -> tensor<3x3x8x1xf16>
func.func @depthwise(%x: tensor<1x6x6x8xf16>) -> tensor<1x4x4x8xf16> {
  %w = amp.constant dense_resource<w> : tensor<8x1x3x3xf16>
  %y = amp.launch @k(%x, %w) : (tensor<1x6x6x8xf16>, tensor<8x1x3x3xf16>) -> tensor<1x4x4x8xf16>
  return %y : tensor<1x4x4x8xf16>
}
amp.kernel private @k(%x: tensor<1x6x6x8xf16>, %w: tensor<8x1x3x3xf16>) -> tensor<1x4x4x8xf16> {
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 8 : i64, layout = #amp.layout<channels_last>}
     : (tensor<1x6x6x8xf16>, tensor<8x1x3x3xf16>) -> tensor<1x4x4x8xf16>
  amp.yield %0 : tensor<1x4x4x8xf16>
}
}

// -----

/// One tap: the channels lie side by side as they are.
module attributes {amp.target = #amp.target<vector_bytes = 16, panel = 0, native_16bit = true>} {
// CHECK-LABEL: func.func @negative_one_tap(
// CHECK-NOT: amp.transpose
func.func @negative_one_tap(%x: tensor<1x6x6x4xf16>) -> tensor<1x6x6x8xf16> {
  %w = amp.constant dense_resource<w> : tensor<8x4x1x1xf16>
  %y = amp.launch @k(%x, %w) : (tensor<1x6x6x4xf16>, tensor<8x4x1x1xf16>) -> tensor<1x6x6x8xf16>
  return %y : tensor<1x6x6x8xf16>
}
amp.kernel private @k(%x: tensor<1x6x6x4xf16>, %w: tensor<8x4x1x1xf16>) -> tensor<1x6x6x8xf16> {
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>}
     : (tensor<1x6x6x4xf16>, tensor<8x4x1x1xf16>) -> tensor<1x6x6x8xf16>
  amp.yield %0 : tensor<1x6x6x8xf16>
}
}

// -----

/// A weight that is computed, or trained, is transposed by a launch.
module attributes {amp.target = #amp.target<vector_bytes = 16, panel = 0, native_16bit = true>} {
// CHECK-LABEL: func.func @computed(
// CHECK-SAME: %[[X:.*]]: tensor<1x6x6x4xf16>, %[[W:.*]]: tensor<8x4x3x3xf16>)
// CHECK-NEXT: %[[T:.*]] = amp.launch @transpose0(%[[W]]) : (tensor<8x4x3x3xf16>) -> tensor<8x3x3x4xf16>
// CHECK-NEXT: amp.launch @k(%[[X]], %[[T]])
func.func @computed(%x: tensor<1x6x6x4xf16>, %w: tensor<8x4x3x3xf16>) -> tensor<1x4x4x8xf16> {
  %y = amp.launch @k(%x, %w) : (tensor<1x6x6x4xf16>, tensor<8x4x3x3xf16>) -> tensor<1x4x4x8xf16>
  return %y : tensor<1x4x4x8xf16>
}
amp.kernel private @k(%x: tensor<1x6x6x4xf16>, %w: tensor<8x4x3x3xf16>) -> tensor<1x4x4x8xf16> {
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>}
     : (tensor<1x6x6x4xf16>, tensor<8x4x3x3xf16>) -> tensor<1x4x4x8xf16>
  amp.yield %0 : tensor<1x4x4x8xf16>
}
}

// -----

/// With panels it is not transposed.
module attributes {amp.target = #amp.target<vector_bytes = 32, panel = 16, native_16bit = false>} {
// CHECK-LABEL: func.func @negative_panels(
// CHECK-NOT: amp.transpose
func.func @negative_panels(%x: tensor<1x6x6x4xf16>) -> tensor<1x4x4x8xf16> {
  %w = amp.constant dense_resource<w> : tensor<8x4x3x3xf16>
  %y = amp.launch @k(%x, %w) : (tensor<1x6x6x4xf16>, tensor<8x4x3x3xf16>) -> tensor<1x4x4x8xf16>
  return %y : tensor<1x4x4x8xf16>
}
amp.kernel private @k(%x: tensor<1x6x6x4xf16>, %w: tensor<8x4x3x3xf16>) -> tensor<1x4x4x8xf16> {
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>}
     : (tensor<1x6x6x4xf16>, tensor<8x4x3x3xf16>) -> tensor<1x4x4x8xf16>
  amp.yield %0 : tensor<1x4x4x8xf16>
}
}
