// RUN: ampc-opt %s --fusion-outline-weights --split-input-file | FileCheck %s

/// A constant with all that is computed on it is one weight; of a chain only
/// what a launch, a view of the host or the return reads.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: tensor<4xbf16>)
// CHECK-NEXT: %[[W:.*]] = amp.get_weight @w0 : tensor<4xbf16>
// CHECK-NEXT: %[[Y:.*]] = amp.launch @k(%[[X]], %[[W]])
// CHECK-NEXT: return %[[Y]]
// CHECK: amp.weight @w0 : tensor<4xbf16> {
// CHECK-NEXT: %[[C:.*]] = amp.constant dense_resource<w> : tensor<2x2xf32>
// CHECK-NEXT: %[[R:.*]] = amp.reshape %[[C]]
// CHECK-NEXT: %[[N:.*]] = amp.cast %[[R]]
// CHECK-NEXT: amp.yield %[[N]] : tensor<4xbf16>
// CHECK-NOT: amp.weight
func.func @chain(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %w = amp.constant dense_resource<w> : tensor<2x2xf32>
  %0 = amp.reshape %w : (tensor<2x2xf32>) -> tensor<4xf32>
  %1 = amp.cast %0 : (tensor<4xf32>) -> tensor<4xbf16>
  %y = amp.launch @k(%x, %1) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}
amp.kernel private @k(%a: tensor<4xbf16>, %b: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = amp.add %a, %b : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  amp.yield %0 : tensor<4xbf16>
}

// -----

/// Equal chains are one weight, whatever they are called in the model.
// CHECK-LABEL: func.func @equal(
// CHECK-NEXT: %[[W:.*]] = amp.get_weight @w0
// CHECK-NEXT: %[[Y:.*]] = amp.launch @k(%{{.*}}, %[[W]])
// CHECK-NEXT: %[[Z:.*]] = amp.launch @k(%[[Y]], %[[W]])
// CHECK-NOT: amp.weight @w1
func.func @equal(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = amp.constant dense<[1.0, 2.0]> : tensor<2xf32> loc("a")
  %1 = amp.neg %0 : (tensor<2xf32>) -> tensor<2xf32> loc("a")
  %y = amp.launch @k(%x, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = amp.constant dense<[1.0, 2.0]> : tensor<2xf32> loc("b")
  %3 = amp.neg %2 : (tensor<2xf32>) -> tensor<2xf32> loc("b")
  %z = amp.launch @k(%y, %3) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %z : tensor<2xf32>
}
amp.kernel private @k(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = amp.add %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  amp.yield %0 : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @no_equal(
// CHECK-DAG: amp.get_weight @w0 : tensor<2xf32>
// CHECK-DAG: amp.get_weight @w1 : tensor<2xi32>
// CHECK-DAG: amp.get_weight @w2 : tensor<2xf32>
// CHECK: return
func.func @no_equal() -> (tensor<2xf32>, tensor<2xi32>, tensor<2xf32>) {
  %0 = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = amp.constant dense<[1, 2]> : tensor<2xi32>
  %2 = amp.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xi32>, tensor<2xf32>
}

// -----

/// Several results of one op, read each.
// CHECK-LABEL: func.func @results(
// CHECK-DAG: %[[V:.*]] = amp.get_weight @w0 : tensor<1xf32>
// CHECK-DAG: %[[I:.*]] = amp.get_weight @w1 : tensor<1xi64>
// CHECK: return %[[V]], %[[I]]
// CHECK: amp.weight @w1 : tensor<1xi64> {
// CHECK: %{{.*}}, %[[INDEX:.*]] = amp.top_k
// CHECK-NEXT: amp.yield %[[INDEX]]
func.func @results() -> (tensor<1xf32>, tensor<1xi64>) {
  %0 = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %v, %i = amp.top_k %0 {k = 1 : i64, axis = 0 : i64, largest = true} : (tensor<2xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return %v, %i : tensor<1xf32>, tensor<1xi64>
}

// -----

/// What needs an argument is no weight, what nobody reads neither.
// CHECK-LABEL: func.func @no_weight(
// CHECK-NEXT: amp.reshape
// CHECK-NEXT: return
// CHECK-NOT: amp.weight
func.func @no_weight(%x: tensor<2x2xf32>) -> tensor<4xf32> {
  %0 = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = amp.reshape %x : (tensor<2x2xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @no_body(tensor<4xf32>)
