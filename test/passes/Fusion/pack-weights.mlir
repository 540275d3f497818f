// RUN: ampc-opt %s --fusion-pack-weights --split-input-file | FileCheck %s

/// The columns of a matrix product's right side, 16 to a panel.
module attributes {amp.target = #amp.target<vector_bytes = 32, panel = 16, native_16bit = false>} {
// CHECK-LABEL: func.func @matmul(
// CHECK: %[[W:.*]] = amp.constant
// CHECK-NEXT: %[[P:.*]] = amp.pack %[[W]] {dimension = 1 : i64, inner = array<i64: 0>, outer = array<i64>, panel = 16 : i64} : (tensor<8x40xf32>) -> tensor<3x8x16xf32>
// CHECK-NEXT: amp.launch @k(%{{.*}}, %[[P]]) : (tensor<4x8xf32>, tensor<3x8x16xf32>) -> tensor<4x40xf32>
func.func @matmul(%x: tensor<4x8xf32>) -> tensor<4x40xf32> {
  %w = amp.constant dense_resource<w> : tensor<8x40xf32>
  %y = amp.launch @k(%x, %w) : (tensor<4x8xf32>, tensor<8x40xf32>) -> tensor<4x40xf32>
  return %y : tensor<4x40xf32>
}
// CHECK-LABEL: amp.kernel private @k(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<3x8x16xf32>)
// CHECK-NEXT: %[[U:.*]] = amp.unpack %[[B]] {{.*}} : (tensor<3x8x16xf32>) -> tensor<8x40xf32>
// CHECK-NEXT: amp.matmul %[[A]], %[[U]]
amp.kernel private @k(%a: tensor<4x8xf32>, %b: tensor<8x40xf32>) -> tensor<4x40xf32> {
  %0 = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x40xf32>) -> tensor<4x40xf32>
  amp.yield %0 : tensor<4x40xf32>
}
}

// -----

/// A transposed right side: its rows are the columns; batches stay outside. The
/// constant may be computed.
module attributes {amp.target = #amp.target<vector_bytes = 64, panel = 32, native_16bit = false>} {
// CHECK-LABEL: func.func @transposed(
// CHECK: %[[C:.*]] = amp.cast
// CHECK-NEXT: amp.pack %[[C]] {dimension = 1 : i64, inner = array<i64: 2>, outer = array<i64: 0>, panel = 32 : i64} : (tensor<2x40x8xbf16>) -> tensor<2x2x8x32xbf16>
func.func @transposed(%x: tensor<2x4x8xbf16>) -> tensor<2x4x40xbf16> {
  %w = amp.constant dense_resource<w> : tensor<2x40x8xf32>
  %c = amp.cast %w : (tensor<2x40x8xf32>) -> tensor<2x40x8xbf16>
  %y = amp.launch @k(%x, %c) : (tensor<2x4x8xbf16>, tensor<2x40x8xbf16>) -> tensor<2x4x40xbf16>
  return %y : tensor<2x4x40xbf16>
}
amp.kernel private @k(%a: tensor<2x4x8xbf16>, %b: tensor<2x40x8xbf16>) -> tensor<2x4x40xbf16> {
  %0 = amp.matmul %a, %b {transpose_rhs} : (tensor<2x4x8xbf16>, tensor<2x40x8xbf16>) -> tensor<2x4x40xbf16>
  amp.yield %0 : tensor<2x4x40xbf16>
}
}

// -----

/// A convolution's output channels, for each tap all input channels in a row;
/// every launch of the kernel gets its own.
module attributes {amp.target = #amp.target<vector_bytes = 32, panel = 16, native_16bit = false>} {
// CHECK-LABEL: func.func @conv(
// CHECK-COUNT-2: amp.pack %{{.*}} {dimension = 0 : i64, inner = array<i64: 2, 3, 1>, outer = array<i64>, panel = 16 : i64} : (tensor<8x4x3x3xf32>) -> tensor<1x3x3x4x16xf32>
func.func @conv(%x: tensor<1x6x6x4xf32>) -> (tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>) {
  %v = amp.constant dense_resource<v> : tensor<8x4x3x3xf32>
  %w = amp.constant dense_resource<w> : tensor<8x4x3x3xf32>
  %y = amp.launch @k(%x, %v) : (tensor<1x6x6x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32>
  %z = amp.launch @k(%x, %w) : (tensor<1x6x6x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32>
  return %y, %z : tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>
}
amp.kernel private @k(%x: tensor<1x6x6x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32> {
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>}
     : (tensor<1x6x6x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32>
  amp.yield %0 : tensor<1x4x4x8xf32>
}
}

// -----

/// Depthwise: a panel of channels.
module attributes {amp.target = #amp.target<vector_bytes = 32, panel = 16, native_16bit = false>} {
// CHECK-LABEL: func.func @depthwise(
// CHECK: amp.pack %{{.*}} : (tensor<8x1x3x3xf32>) -> tensor<1x3x3x1x16xf32>
func.func @depthwise(%x: tensor<1x6x6x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = amp.constant dense_resource<w> : tensor<8x1x3x3xf32>
  %y = amp.launch @k(%x, %w) : (tensor<1x6x6x8xf32>, tensor<8x1x3x3xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}
amp.kernel private @k(%x: tensor<1x6x6x8xf32>, %w: tensor<8x1x3x3xf32>) -> tensor<1x4x4x8xf32> {
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 8 : i64, layout = #amp.layout<channels_last>}
     : (tensor<1x6x6x8xf32>, tensor<8x1x3x3xf32>) -> tensor<1x4x4x8xf32>
  amp.yield %0 : tensor<1x4x4x8xf32>
}
}

// -----

/// Other groups read their weight as it is.
module attributes {amp.target = #amp.target<vector_bytes = 32, panel = 16, native_16bit = false>} {
// CHECK-LABEL: func.func @no_groups(
// CHECK-NOT: amp.pack
func.func @no_groups(%x: tensor<1x6x6x8xf32>) -> tensor<1x4x4x8xf32> {
  %w = amp.constant dense_resource<w> : tensor<8x4x3x3xf32>
  %y = amp.launch @k(%x, %w) : (tensor<1x6x6x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}
amp.kernel private @k(%x: tensor<1x6x6x8xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32> {
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64, layout = #amp.layout<channels_last>}
     : (tensor<1x6x6x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32>
  amp.yield %0 : tensor<1x4x4x8xf32>
}
}

// -----

/// One launch of several passes a value of the model: the kernel stays plain.
module attributes {amp.target = #amp.target<vector_bytes = 32, panel = 16, native_16bit = false>} {
// CHECK-LABEL: func.func @no_variable_weight(
// CHECK-NOT: amp.pack
// CHECK-NOT: amp.unpack
func.func @no_variable_weight(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %w = amp.constant dense_resource<w> : tensor<8x8xf32>
  %0 = amp.launch @k(%x, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = amp.launch @k(%0, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
amp.kernel private @k(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = amp.matmul %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  amp.yield %0 : tensor<8x8xf32>
}
}

// -----

/// Nor does one that reads its weight elsewhere too, or computes on integers.
module attributes {amp.target = #amp.target<vector_bytes = 32, panel = 16, native_16bit = false>} {
// CHECK-LABEL: func.func @no_second_use(
// CHECK-NOT: amp.pack
// CHECK-NOT: amp.unpack
func.func @no_second_use(%x: tensor<8x8xf32>, %i: tensor<8x8xi32>) -> (tensor<8x8xf32>, tensor<8x8xi32>) {
  %w = amp.constant dense_resource<w> : tensor<8x8xf32>
  %v = amp.constant dense_resource<v> : tensor<8x8xi32>
  %0 = amp.launch @k(%x, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = amp.launch @i(%i, %v) : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xi32>
}
amp.kernel private @k(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = amp.matmul %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = amp.add %0, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  amp.yield %1 : tensor<8x8xf32>
}
amp.kernel private @i(%a: tensor<8x8xi32>, %b: tensor<8x8xi32>) -> tensor<8x8xi32> {
  %0 = amp.matmul %a, %b : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
  amp.yield %0 : tensor<8x8xi32>
}
}

// -----

/// Without a target there is no panel.
// CHECK-LABEL: func.func @no_target(
// CHECK-NOT: amp.pack
func.func @no_target(%x: tensor<4x8xf32>) -> tensor<4x40xf32> {
  %w = amp.constant dense_resource<w> : tensor<8x40xf32>
  %y = amp.launch @k(%x, %w) : (tensor<4x8xf32>, tensor<8x40xf32>) -> tensor<4x40xf32>
  return %y : tensor<4x40xf32>
}
amp.kernel private @k(%a: tensor<4x8xf32>, %b: tensor<8x40xf32>) -> tensor<4x40xf32> {
  %0 = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x40xf32>) -> tensor<4x40xf32>
  amp.yield %0 : tensor<4x40xf32>
}

// -----

/// A convolution's weight that is no constant is packed by a launch.
module attributes {amp.target = #amp.target<vector_bytes = 32, panel = 16, native_16bit = false>} {
// CHECK-LABEL: func.func @trained(
// CHECK-SAME: %[[X:.*]]: tensor<1x6x6x4xf32>, %[[W:.*]]: tensor<8x4x3x3xf32>)
// CHECK-NEXT: %[[P:.*]] = amp.launch @pack0(%[[W]]) : (tensor<8x4x3x3xf32>) -> tensor<1x3x3x4x16xf32>
// CHECK-NEXT: amp.launch @k(%[[X]], %[[P]])
func.func @trained(%x: tensor<1x6x6x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32> {
  %y = amp.launch @k(%x, %w) : (tensor<1x6x6x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}
amp.kernel private @k(%x: tensor<1x6x6x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32> {
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #amp.layout<channels_last>}
     : (tensor<1x6x6x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32>
  amp.yield %0 : tensor<1x4x4x8xf32>
}
}
