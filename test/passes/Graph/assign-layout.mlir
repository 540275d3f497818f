// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-assign-layout,canonicalize))' --split-input-file | FileCheck %s
// RUN: ampc-opt %s --pass-pipeline='builtin.module(func.func(graph-assign-layout))' --split-input-file --remarks-filter='graph-assign-layout' -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK

/// A residual block: one transposition in, one out, none between. The second
/// reader of a value shares its transposition.

// REMARK: [Passed] channels-last | Category:graph-assign-layout | ops=5, transposes=2

// CHECK-LABEL: func.func @residual
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x8x8xf32>
func.func @residual(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK-NEXT: %[[T:.*]] = amp.transpose %[[X]] {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  // CHECK-NEXT: %[[C0:.*]] = amp.conv %[[T]], %{{.*}} layout = #amp.layout<channels_last>{{.*}} -> tensor<1x8x8x4xf32>
  // CHECK-NEXT: %[[R0:.*]] = amp.relu %[[C0]] : (tensor<1x8x8x4xf32>)
  // CHECK-NEXT: %[[C1:.*]] = amp.conv %[[R0]], {{.*}} -> tensor<1x8x8x4xf32>
  // CHECK-NEXT: %[[S:.*]] = amp.add %[[C1]], %[[T]] : (tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>)
  // CHECK-NEXT: %[[R1:.*]] = amp.relu %[[S]]
  // CHECK-NEXT: %[[Y:.*]] = amp.transpose %[[R1]] {permutation = array<i64: 0, 3, 1, 2>}
  // CHECK-NEXT: return %[[Y]]
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = amp.relu %0 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %2 = amp.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %3 = amp.add %2, %x : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %4 = amp.relu %3 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %4 : tensor<1x4x8x8xf32>
}

// -----

/// As in a U-Net: pooling, resizing, a transposed convolution, concatenation
/// along channels, padding, a crop.
// CHECK-LABEL: func.func @u_net
func.func @u_net(%x: tensor<1x2x8x8xf32>, %w: tensor<2x2x1x1xf32>, %u: tensor<2x2x2x2xf32>, %c: tensor<2x6x1x1xf32>) -> tensor<1x2x8x8xf32> {
  // CHECK: amp.transpose
  // CHECK-NOT: amp.transpose
  // CHECK: amp.max_pool {{.*}}layout = #amp.layout<channels_last>{{.*}} -> tensor<1x4x4x2xf32>
  // CHECK: amp.resize {{.*}}scales = array<f64: 1.000000e+00, 2.000000e+00, 2.000000e+00, 1.000000e+00>{{.*}} -> tensor<1x8x8x2xf32>
  // CHECK: amp.conv_transpose {{.*}}layout = #amp.layout<channels_last>{{.*}} -> tensor<1x8x8x2xf32>
  // CHECK: amp.concat {{.*}} {axis = 3 : i64} {{.*}} -> tensor<1x8x8x6xf32>
  // CHECK: amp.pad {{.*}} {high = array<i64: 0, 1, 2, 0>, low = array<i64: 0, 1, 2, 0>, {{.*}} -> tensor<1x10x12x6xf32>
  // CHECK: amp.slice {{.*}} {sizes = array<i64: 1, 8, 8, 6>, starts = array<i64: 0, 1, 2, 0>, strides = array<i64: 1, 1, 1, 1>}
  // CHECK: amp.conv {{.*}} -> tensor<1x8x8x2xf32>
  // CHECK-NEXT: %[[Y:.*]] = amp.transpose
  // CHECK-NEXT: return %[[Y]]
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x8x8xf32>
  %1 = amp.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  %2 = amp.resize %1 {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #amp.resize_mode<nearest>, coordinate_mode = #amp.coordinate_mode<asymmetric>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x8x8xf32>
  %3 = amp.conv_transpose %1, %u {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x2x2xf32>) -> tensor<1x2x8x8xf32>
  %4 = amp.concat %0, %2, %3 {axis = 1 : i64} : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<1x6x8x8xf32>
  %5 = amp.pad %4 {low = array<i64: 0, 0, 1, 2>, high = array<i64: 0, 0, 1, 2>, mode = #amp.pad_mode<reflect>} : (tensor<1x6x8x8xf32>) -> tensor<1x6x10x12xf32>
  %6 = amp.slice %5 {starts = array<i64: 0, 0, 1, 2>, sizes = array<i64: 1, 6, 8, 8>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x6x10x12xf32>) -> tensor<1x6x8x8xf32>
  %7 = amp.conv %6, %c {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x6x8x8xf32>, tensor<2x6x1x1xf32>) -> tensor<1x2x8x8xf32>
  return %7 : tensor<1x2x8x8xf32>
}

// -----

/// Squeeze and excitation on a depthwise convolution, then a classifier: the
/// squeezed tensors move no data, and nothing is transposed after the image.
// CHECK-LABEL: func.func @squeeze_and_excitation
func.func @squeeze_and_excitation(%x: tensor<1x4x8x8xf32>, %d: tensor<4x1x3x3xf32>, %s: tensor<4x4x1x1xf32>, %l: tensor<4x10xf32>) -> tensor<1x10xf32> {
  // CHECK: amp.transpose
  // CHECK-NOT: amp.transpose
  // CHECK: amp.conv {{.*}}group = 4 : i64, layout = #amp.layout<channels_last>
  // CHECK: %[[H:.*]] = amp.hard_swish
  // CHECK: %[[M:.*]] = amp.reduce_mean %[[H]] {axes = array<i64: 1, 2>, keepdims = true} : (tensor<1x8x8x4xf32>) -> tensor<1x1x1x4xf32>
  // CHECK: %[[C:.*]] = amp.conv %[[M]], {{.*}} -> tensor<1x1x1x4xf32>
  // CHECK: %[[S:.*]] = amp.hard_sigmoid %[[C]]
  // CHECK: %[[P:.*]] = amp.mul %[[H]], %[[S]] : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x8x4xf32>
  // CHECK: %[[G:.*]] = amp.reduce_mean %[[P]] {axes = array<i64: 1, 2>, keepdims = false} : (tensor<1x8x8x4xf32>) -> tensor<1x4xf32>
  // CHECK: amp.matmul %[[G]]
  %0 = amp.conv %x, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 4 : i64} : (tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = amp.hard_swish %0 : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %2 = amp.reduce_mean %1 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1xf32>
  %3 = amp.conv %2, %s {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x1x1xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %4 = amp.hard_sigmoid %3 {alpha = 0.2 : f64, beta = 0.5 : f64} : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
  %5 = amp.mul %1, %4 : (tensor<1x4x8x8xf32>, tensor<1x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %6 = amp.reduce_mean %5 {axes = array<i64: 2, 3>, keepdims = false} : (tensor<1x4x8x8xf32>) -> tensor<1x4xf32>
  %7 = amp.matmul %6, %l : (tensor<1x4xf32>, tensor<4x10xf32>) -> tensor<1x10xf32>
  return %7 : tensor<1x10xf32>
}

// -----

/// Flattening after a pool to one element a channel is free; a parameter of
/// lower rank gets the result's rank, a splat needs no transposition.
// CHECK-LABEL: func.func @classifier
// CHECK-SAME: (%{{.*}}: tensor<1x4x8x8xf32>, %{{.*}}: tensor<4x4x3x3xf32>, %[[P:.*]]: tensor<4x1x1xf32>)
func.func @classifier(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>, %p: tensor<4x1x1xf32>) -> tensor<1x4xf32> {
  // CHECK-DAG: %[[SPLAT:.*]] = amp.constant dense<2.000000e+00> : tensor<1x8x8x4xf32>
  // CHECK-DAG: %[[PR:.*]] = amp.reshape %[[P]] : (tensor<4x1x1xf32>) -> tensor<1x1x1x4xf32>
  // CHECK: amp.mul %{{.*}}, %[[PR]] : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>)
  // CHECK: amp.max %{{.*}}, %[[SPLAT]]
  // CHECK: %[[A:.*]] = amp.avg_pool {{.*}} -> tensor<1x1x1x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = amp.reshape %[[A]] : (tensor<1x1x1x4xf32>) -> tensor<1x4xf32>
  // CHECK-NEXT: return %[[Y]]
  %c = amp.constant dense<2.0> : tensor<1x4x8x8xf32>
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = amp.mul %0, %p : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %2 = amp.max %1, %c : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %3 = amp.avg_pool %2 {kernel = array<i64: 8, 8>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x1x1xf32>
  %4 = amp.reshape %3 : (tensor<1x4x1x1xf32>) -> tensor<1x4xf32>
  return %4 : tensor<1x4xf32>
}

// -----

/// Normalizations, softmax over channels, the argument of their maximum.
// CHECK-LABEL: func.func @axes
func.func @axes(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>, %p: tensor<4xf32>) -> tensor<1x8x8xi64> {
  // CHECK: amp.group_norm {{.*}}layout = #amp.layout<channels_last>
  // CHECK: amp.batch_norm {{.*}}layout = #amp.layout<channels_last>
  // CHECK: amp.softmax %{{.*}} {axis = 3 : i64}
  // CHECK: %[[Y:.*]] = amp.arg_max %{{.*}} {axis = 3 : i64, keepdims = false, select_last = false} : (tensor<1x8x8x4xf32>) -> tensor<1x8x8xi64>
  // CHECK-NEXT: return %[[Y]]
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = amp.group_norm %0 scale %p bias %p {groups = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %2 = amp.batch_norm %1, %p, %p, %p, %p {epsilon = 1.0e-5 : f64} : (tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8x8xf32>
  %3 = amp.softmax %2 {axis = 1 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %4 = amp.arg_max %3 {axis = 1 : i64, keepdims = false, select_last = false} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8xi64>
  return %4 : tensor<1x8x8xi64>
}

// -----

/// The model's own transposition to channels last is the one that was needed.
// CHECK-LABEL: func.func @transposed_by_model
func.func @transposed_by_model(%x: tensor<1x3x16xf32>, %w: tensor<8x3x3xf32>, %l: tensor<8x8xf32>) -> tensor<1x16x8xf32> {
  // CHECK: amp.transpose
  // CHECK: %[[G:.*]] = amp.gelu
  // CHECK-NEXT: %[[Y:.*]] = amp.matmul %[[G]]
  // CHECK-NEXT: return %[[Y]]
  %0 = amp.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 1, 1>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x3x16xf32>, tensor<8x3x3xf32>) -> tensor<1x8x16xf32>
  %1 = amp.gelu %0 {form = #amp.gelu_form<erf>} : (tensor<1x8x16xf32>) -> tensor<1x8x16xf32>
  %2 = amp.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<1x8x16xf32>) -> tensor<1x16x8xf32>
  %3 = amp.matmul %2, %l : (tensor<1x16x8xf32>, tensor<8x8xf32>) -> tensor<1x16x8xf32>
  return %3 : tensor<1x16x8xf32>
}

// -----

/// The cut is where the tensors are smallest: behind the pool.
// CHECK-LABEL: func.func @smallest_cut
func.func @smallest_cut(%x: tensor<1x2x16x16xf32>, %w: tensor<2x2x1x1xf32>, %m: tensor<4x4xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: amp.max_pool {{.*}}channels_last
  // CHECK: amp.relu %{{.*}} : (tensor<1x4x4x2xf32>)
  // CHECK: %[[T:.*]] = amp.transpose %{{.*}} {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x2xf32>)
  // CHECK: amp.matmul %[[T]]
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x16x16xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x16x16xf32>
  %1 = amp.max_pool %0 {kernel = array<i64: 4, 4>, strides = array<i64: 4, 4>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x16x16xf32>) -> tensor<1x2x4x4xf32>
  %2 = amp.relu %1 : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = amp.matmul %2, %m : (tensor<1x2x4x4xf32>, tensor<4x4xf32>) -> tensor<1x2x4x4xf32>
  return %3 : tensor<1x2x4x4xf32>
}

// -----

/// A value used inside a region, and a convolution in it.
// CHECK-LABEL: func.func @regions
func.func @regions(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>, %c: i1) -> tensor<1x2x4x4xf32> {
  // CHECK: %[[C:.*]] = amp.conv
  // CHECK: %[[T:.*]] = amp.transpose %[[C]] {permutation = array<i64: 0, 3, 1, 2>}
  // CHECK: scf.if
  // CHECK: amp.matmul %[[T]], %[[T]]
  // CHECK: } else {
  // CHECK: amp.conv {{.*}}channels_last
  // CHECK: scf.yield %{{.*}} : tensor<1x2x4x4xf32>
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = scf.if %c -> (tensor<1x2x4x4xf32>) {
    %2 = amp.matmul %0, %0 : (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    scf.yield %2 : tensor<1x2x4x4xf32>
  } else {
    %3 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
    scf.yield %3 : tensor<1x2x4x4xf32>
  }
  return %1 : tensor<1x2x4x4xf32>
}

// -----

/// No convolution, no change, whatever else could move.
// CHECK-LABEL: func.func @negative_no_convolution
func.func @negative_no_convolution(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> {
  // CHECK-NEXT: %[[P:.*]] = amp.max_pool %{{.*}} {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads
  // CHECK-NEXT: amp.relu %[[P]]
  // CHECK-NEXT: return
  %0 = amp.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  %1 = amp.relu %0 : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %1 : tensor<1x4x4x4xf32>
}

// -----

/// A composite moves with all of its body: as PRelu with a slope per channel,
/// and as a normalization over neighbouring channels.
// CHECK-LABEL: func.func @composites
func.func @composites(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>, %slope: tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[S:.*]] = amp.reshape %{{.*}} : (tensor<4x1x1xf32>) -> tensor<1x1x1x4xf32>
  // CHECK: %[[C:.*]] = amp.conv
  // CHECK: %[[P:.*]] = amp.composite "PRelu" follow(%[[C]], %[[S]]) : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x8x4xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<1x8x8x4xf32>, %[[B:.*]]: tensor<1x1x1x4xf32>):
  // CHECK: %[[Z:.*]] = amp.constant dense<0.000000e+00> : tensor<1x8x8x4xf32>
  // CHECK: amp.mul %[[A]], %[[B]] : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x8x4xf32>
  // CHECK: amp.composite "LRN" fp32(%[[P]])
  // CHECK: amp.slice %{{.*}} {sizes = array<i64: 1, 8, 8, 4>, starts = array<i64: 0, 0, 0, 2>,
  // CHECK: amp.transpose %{{.*}} {permutation = array<i64: 0, 3, 1, 2>}
  // CHECK-NEXT: return
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = amp.composite "PRelu" follow(%0, %slope) : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>, %b: tensor<4x1x1xf32>):
    %zero = amp.constant dense<0.0> : tensor<1x4x8x8xf32>
    %scaled = amp.mul %a, %b : (tensor<1x4x8x8xf32>, tensor<4x1x1xf32>) -> tensor<1x4x8x8xf32>
    %below = amp.compare %a, %zero {predicate = #amp.predicate<lt>} : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xi1>
    %chosen = amp.select %below, %scaled, %a : (tensor<1x4x8x8xi1>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    amp.yield %chosen : tensor<1x4x8x8xf32>
  }
  %2 = amp.composite "LRN" fp32(%1) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %c = amp.constant dense<0.5> : tensor<f32>
    %square = amp.mul %a, %a : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %padded = amp.pad %square {low = array<i64: 0, 1, 0, 0>, high = array<i64: 0, 1, 0, 0>, mode = #amp.pad_mode<constant>} : (tensor<1x4x8x8xf32>) -> tensor<1x6x8x8xf32>
    %left = amp.slice %padded {starts = array<i64: 0, 0, 0, 0>, sizes = array<i64: 1, 4, 8, 8>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x6x8x8xf32>) -> tensor<1x4x8x8xf32>
    %right = amp.slice %padded {starts = array<i64: 0, 2, 0, 0>, sizes = array<i64: 1, 4, 8, 8>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x6x8x8xf32>) -> tensor<1x4x8x8xf32>
    %sum = amp.add %left, %right : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    %power = amp.pow %sum, %c : (tensor<1x4x8x8xf32>, tensor<f32>) -> tensor<1x4x8x8xf32>
    %result = amp.div %a, %power : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
    amp.yield %result : tensor<1x4x8x8xf32>
  }
  return %2 : tensor<1x4x8x8xf32>
}

// -----

/// A body that reshapes cannot move.
// CHECK-LABEL: func.func @negative_composite
func.func @negative_composite(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: amp.conv
  // CHECK: %[[T:.*]] = amp.transpose
  // CHECK: amp.composite "Flat" follow(%[[T]]) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  %1 = amp.composite "Flat" follow(%0) : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  ^bb0(%a: tensor<1x4x8x8xf32>):
    %flat = amp.reshape %a : (tensor<1x4x8x8xf32>) -> tensor<1x256xf32>
    %softmax = amp.softmax %flat {axis = 1 : i64} : (tensor<1x256xf32>) -> tensor<1x256xf32>
    %shaped = amp.reshape %softmax : (tensor<1x256xf32>) -> tensor<1x4x8x8xf32>
    amp.yield %shaped : tensor<1x4x8x8xf32>
  }
  return %1 : tensor<1x4x8x8xf32>
}

// -----

/// A weight that is computed keeps its order.
// CHECK-LABEL: func.func @negative_weights
func.func @negative_weights(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  // CHECK: amp.mul %{{.*}} : (tensor<2x2x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<2x2x3x3xf32>
  %w = amp.constant dense_resource<w> : tensor<2x2x3x3xf32>
  %s = amp.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %0 = amp.mul %w, %s : (tensor<2x2x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<2x2x3x3xf32>
  %1 = amp.conv %x, %0 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}

// -----

/// What is left of a mean over rows would have the wrong order.
// CHECK-LABEL: func.func @negative_reduction_order
func.func @negative_reduction_order(%x: tensor<1x2x4x4xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<2x4xf32> {
  // CHECK: %[[T:.*]] = amp.transpose %{{.*}} {permutation = array<i64: 0, 3, 1, 2>}
  // CHECK: amp.reduce_mean %[[T]] {axes = array<i64: 0, 2>, keepdims = false}
  %0 = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = amp.reduce_mean %0 {axes = array<i64: 0, 2>, keepdims = false} : (tensor<1x2x4x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
