// RUN: example-opt %s --example-narrow-islands | FileCheck %s
// RUN: example-opt %s --example-narrow-islands=min-elements=5 | FileCheck %s --check-prefix=LARGE
// RUN: example-opt %s --example-narrow-islands --remarks-filter=example-.* 2>&1 | FileCheck %s --check-prefix=REMARK

/// The island of autocast: an op of class fp32 between 16-bit ops.
// CHECK-LABEL: func.func @exp
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16>)
// LARGE-LABEL: func.func @exp
// REMARK: narrow-islands.mlir:{{.*}}: remark: [Passed] narrowed | Category:example-narrow-islands | Remark=amp.exp
func.func @exp(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK-NEXT: %[[E:.*]] = amp.exp %[[X]] : (tensor<4xbf16>) -> tensor<4xbf16>
  // CHECK-NEXT: return %[[E]]
  // LARGE: amp.exp {{.*}} -> tensor<4xf32>
  %0 = amp.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = amp.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.cast %1 : (tensor<4xf32>) -> tensor<4xbf16>
  return %2 : tensor<4xbf16>
}

/// Operands that are no floats stay; a result that is none needs no cast.
// CHECK-LABEL: func.func @mixed_operands
// CHECK-SAME: (%[[C:.*]]: tensor<4xi1>, %[[X:.*]]: tensor<4xf16>, %[[Y:.*]]: tensor<4xf16>)
func.func @mixed_operands(%c: tensor<4xi1>, %x: tensor<4xf16>, %y: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xi1>) {
  // CHECK-DAG: amp.select %[[C]], %[[X]], %[[Y]] : (tensor<4xi1>, tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  // CHECK-DAG: amp.compare %[[X]], %[[Y]] {{.*}} : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xi1>
  %0 = amp.cast %x : (tensor<4xf16>) -> tensor<4xf32>
  %1 = amp.cast %y : (tensor<4xf16>) -> tensor<4xf32>
  %2 = amp.select %c, %0, %1 : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = amp.cast %2 : (tensor<4xf32>) -> tensor<4xf16>
  %4 = amp.compare %0, %1 {predicate = #amp.predicate<lt>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %3, %4 : tensor<4xf16>, tensor<4xi1>
}

/// Two ops in a row would round between them: only whole islands of one op.
// CHECK-LABEL: func.func @negative_two_ops
func.func @negative_two_ops(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK: amp.exp {{.*}} -> tensor<4xf32>
  // CHECK: amp.log {{.*}} -> tensor<4xf32>
  %0 = amp.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = amp.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.log %1 : (tensor<4xf32>) -> tensor<4xf32>
  %3 = amp.cast %2 : (tensor<4xf32>) -> tensor<4xbf16>
  return %3 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @negative_result_needed_in_f32
func.func @negative_result_needed_in_f32(%x: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xf32>) {
  // CHECK: amp.exp {{.*}} -> tensor<4xf32>
  %0 = amp.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = amp.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.cast %1 : (tensor<4xf32>) -> tensor<4xbf16>
  return %2, %1 : tensor<4xbf16>, tensor<4xf32>
}

// CHECK-LABEL: func.func @negative_two_types
func.func @negative_two_types(%x: tensor<4xbf16>, %y: tensor<4xf16>) -> tensor<4xbf16> {
  // CHECK: amp.add {{.*}} -> tensor<4xf32>
  %0 = amp.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = amp.cast %y : (tensor<4xf16>) -> tensor<4xf32>
  %2 = amp.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = amp.cast %2 : (tensor<4xf32>) -> tensor<4xbf16>
  return %3 : tensor<4xbf16>
}

/// A Cast of the model is a barrier, and saturation is not what exp does.
// CHECK-LABEL: func.func @negative_barriers
func.func @negative_barriers(%x: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  // CHECK-COUNT-2: amp.exp {{.*}} -> tensor<4xf32>
  %0 = amp.cast %x {from_model} : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = amp.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = amp.cast %1 : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = amp.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
  %4 = amp.exp %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = amp.cast %4 {saturate} : (tensor<4xf32>) -> tensor<4xbf16>
  return %2, %5 : tensor<4xbf16>, tensor<4xbf16>
}

// CHECK-LABEL: func.func @negative_not_elementwise
func.func @negative_not_elementwise(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  // CHECK: amp.softmax {{.*}} -> tensor<4x8xf32>
  %0 = amp.cast %x : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %1 = amp.softmax %0 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = amp.cast %1 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %2 : tensor<4x8xbf16>
}
