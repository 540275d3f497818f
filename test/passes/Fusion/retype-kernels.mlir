// RUN: ampc-opt %s --fusion-retype-kernels | FileCheck %s

/// The accumulator goes on in f32, and is rounded where it is stored.
// CHECK-LABEL: amp.kernel @accumulator(
// CHECK-NEXT: %[[M:.*]] = amp.matmul %{{.*}}, %{{.*}} : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[R:.*]] = amp.relu %[[M]] : (tensor<4x4xf32>)
// CHECK-NEXT: %[[Y:.*]] = amp.cast %[[R]] : (tensor<4x4xf32>) -> tensor<4x4xbf16>
// CHECK-NEXT: amp.yield %[[Y]]
amp.kernel @accumulator(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x4xbf16> {
  %0 = amp.matmul %a, %b : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
  %1 = amp.relu %0 : (tensor<4x4xbf16>) -> tensor<4x4xbf16>
  amp.yield %1 : tensor<4x4xbf16>
}

/// Operands are widened once, however often they are read.
// CHECK-LABEL: amp.kernel @chain(
// CHECK-SAME: %[[X:.*]]: tensor<4xf16>, %[[Y:.*]]: tensor<4xf16>)
// CHECK-DAG: %[[WX:.*]] = amp.cast %[[X]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-DAG: %[[WY:.*]] = amp.cast %[[Y]] : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NOT: amp.cast
// CHECK: %[[A:.*]] = amp.add %[[WX]], %[[WY]]
// CHECK-NEXT: %[[B:.*]] = amp.mul %[[A]], %[[WX]]
// CHECK-NEXT: %[[C:.*]] = amp.tanh %[[B]]
// CHECK-NEXT: %[[R:.*]] = amp.cast %[[C]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT: amp.yield %[[R]]
amp.kernel @chain(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %0 = amp.add %x, %y : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %1 = amp.mul %0, %x : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  %2 = amp.tanh %1 : (tensor<4xf16>) -> tensor<4xf16>
  amp.yield %2 : tensor<4xf16>
}

/// A widening cast of what is computed here drops the rounding before it.
// CHECK-LABEL: amp.kernel @widened(
// CHECK-NEXT: %[[X:.*]] = amp.cast
// CHECK-NEXT: %[[A:.*]] = amp.relu %[[X]] : (tensor<4xf32>)
// CHECK-NEXT: %[[B:.*]] = amp.exp %[[A]]
// CHECK-NEXT: amp.yield %[[B]] : tensor<4xf32>
amp.kernel @widened(%x: tensor<4xbf16>) -> tensor<4xf32> {
  %0 = amp.relu %x : (tensor<4xbf16>) -> tensor<4xbf16>
  %1 = amp.cast %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = amp.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  amp.yield %2 : tensor<4xf32>
}

/// A rounding that a cast states stays.
// CHECK-LABEL: amp.kernel @no_dropped_rounding(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[E:.*]] = amp.exp %[[X]]
// CHECK-NEXT: %[[N:.*]] = amp.cast %[[E]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: %[[W:.*]] = amp.cast %[[N]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = amp.neg %[[W]]
// CHECK-NEXT: amp.yield %[[Y]]
amp.kernel @no_dropped_rounding(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.cast %0 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = amp.cast %1 : (tensor<4xbf16>) -> tensor<4xf32>
  %3 = amp.neg %2 : (tensor<4xf32>) -> tensor<4xf32>
  amp.yield %3 : tensor<4xf32>
}

/// A contraction reads rounded operands.
// CHECK-LABEL: amp.kernel @rounded_operand(
// CHECK: %[[R:.*]] = amp.relu %{{.*}} : (tensor<4x8xf32>)
// CHECK-NEXT: %[[N:.*]] = amp.cast %[[R]] : (tensor<4x8xf32>) -> tensor<4x8xbf16>
// CHECK-NEXT: %[[M:.*]] = amp.matmul %[[N]], %{{.*}} -> tensor<4x4xf32>
// CHECK-NEXT: amp.yield %[[M]] : tensor<4x4xf32>
amp.kernel @rounded_operand(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x4xf32> {
  %0 = amp.relu %a : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %1 = amp.matmul %0, %b : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
  %2 = amp.cast %1 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
  amp.yield %2 : tensor<4x4xf32>
}

/// Views of what is computed are f32 too; those of what is stored are not.
// CHECK-LABEL: amp.kernel @views(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xbf16>)
// CHECK: %[[T:.*]] = amp.transpose %[[X]] {{.*}} : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
// CHECK: %[[R:.*]] = amp.relu %{{.*}} : (tensor<8x4xf32>)
// CHECK-NEXT: %[[V:.*]] = amp.reshape %[[R]] : (tensor<8x4xf32>) -> tensor<32xf32>
// CHECK-NEXT: %[[N:.*]] = amp.neg %[[V]] : (tensor<32xf32>)
// CHECK-NEXT: %[[Y:.*]] = amp.cast %[[N]]
// CHECK-NEXT: amp.yield %[[Y]]
amp.kernel @views(%x: tensor<4x8xbf16>) -> tensor<32xbf16> {
  %0 = amp.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
  %1 = amp.relu %0 : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
  %2 = amp.reshape %1 : (tensor<8x4xbf16>) -> tensor<32xbf16>
  %3 = amp.neg %2 : (tensor<32xbf16>) -> tensor<32xbf16>
  amp.yield %3 : tensor<32xbf16>
}

/// What only moves elements moves them in the type they are stored in.
// CHECK-LABEL: amp.kernel @moved(
// CHECK: %[[C:.*]] = amp.cast %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: amp.concat %[[C]], %{{.*}} : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<8xbf16>
amp.kernel @moved(%x: tensor<4xbf16>, %y: tensor<4xbf16>) -> tensor<8xbf16> {
  %0 = amp.exp %x : (tensor<4xbf16>) -> tensor<4xbf16>
  %1 = amp.concat %0, %y {axis = 0 : i64} : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<8xbf16>
  amp.yield %1 : tensor<8xbf16>
}

/// Rows compute in f32 as well, on parameters of any type; integers and
/// booleans are what they are.
// CHECK-LABEL: amp.kernel @rows(
// CHECK: %[[N:.*]] = amp.layer_norm %{{.*}} scale %{{.*}} {axis = 1 : i64, epsilon = {{.*}}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[S:.*]] = amp.select %{{.*}}, %[[N]], %{{.*}} : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT: amp.cast %[[S]] : (tensor<4x8xf32>) -> tensor<4x8xf16>
amp.kernel @rows(%x: tensor<4x8xf16>, %g: tensor<8xf32>, %c: tensor<4x8xi1>) -> tensor<4x8xf16> {
  %0 = amp.layer_norm %x scale %g {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf16>, tensor<8xf32>) -> tensor<4x8xf16>
  %1 = amp.select %c, %0, %x : (tensor<4x8xi1>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
  amp.yield %1 : tensor<4x8xf16>
}

/// A result that is stored and used on is stored rounded and used as computed.
// CHECK-LABEL: amp.kernel @two_results(
// CHECK: %[[E:.*]] = amp.exp %{{.*}} : (tensor<4xf32>)
// CHECK-NEXT: %[[N:.*]] = amp.cast %[[E]] : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: %[[C:.*]] = amp.compare %[[E]]
// CHECK-NEXT: amp.yield %[[N]], %[[C]]
amp.kernel @two_results(%x: tensor<4xbf16>, %y: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xi1>) {
  %0 = amp.exp %x : (tensor<4xbf16>) -> tensor<4xbf16>
  %1 = amp.compare %0, %y {predicate = #amp.predicate<lt>} : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xi1>
  amp.yield %0, %1 : tensor<4xbf16>, tensor<4xi1>
}

// CHECK-LABEL: amp.kernel @no_change(
// CHECK-NEXT: amp.matmul
// CHECK-NEXT: amp.relu
// CHECK-NEXT: amp.yield
amp.kernel @no_change(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %1 = amp.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  amp.yield %1 : tensor<4x4xf32>
}
