// RUN: ampc-opt %s --fusion-form-kernels --split-input-file | FileCheck %s

/// A contraction takes along what is computed on its results: one launch.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x16xf32>, %[[BIAS:.*]]: tensor<16xf32>
// CHECK-NEXT: %[[Y:.*]] = amp.launch @[[K:.*]](%[[A]], %[[B]], %[[BIAS]])
// CHECK-NEXT: return %[[Y]]
// CHECK: amp.kernel private @[[K]](
// CHECK-SAME: %[[KA:.*]]: tensor<4x8xf32>, %[[KB:.*]]: tensor<8x16xf32>, %[[KBIAS:.*]]: tensor<16xf32>)
// CHECK-NEXT: %[[M:.*]] = amp.matmul %[[KA]], %[[KB]]
// CHECK-NEXT: %[[S:.*]] = amp.add %[[M]], %[[KBIAS]]
// CHECK-NEXT: %[[R:.*]] = amp.relu %[[S]]
// CHECK-NEXT: amp.yield %[[R]] : tensor<4x16xf32>
// CHECK-NOT: amp.kernel
func.func @main(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %bias: tensor<16xf32>) -> tensor<4x16xf32> {
  %0 = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = amp.add %0, %bias : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %2 = amp.relu %1 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// -----

/// Rows pull what they read through the ops before them, and hand on.
// CHECK-LABEL: func.func @rows(
// CHECK-NEXT: amp.launch
// CHECK-NEXT: return
// CHECK: amp.kernel
// CHECK-NEXT: amp.mul
// CHECK-NEXT: amp.softmax
// CHECK-NEXT: amp.cast
// CHECK-NEXT: amp.yield
func.func @rows(%x: tensor<4x8xf32>, %m: tensor<8xf32>) -> tensor<4x8xbf16> {
  %0 = amp.mul %x, %m : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = amp.softmax %0 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = amp.cast %1 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %2 : tensor<4x8xbf16>
}

// -----

/// A contraction reads each element many times: it computes none of them.
// CHECK-LABEL: func.func @no_computed_prologue(
// CHECK-COUNT-2: amp.launch
// CHECK-NOT: amp.launch
// CHECK: amp.kernel
// CHECK-NEXT: amp.exp
// CHECK-NEXT: amp.yield
// CHECK: amp.kernel
// CHECK-NEXT: amp.matmul
// CHECK-NEXT: amp.yield
func.func @no_computed_prologue(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = amp.exp %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = amp.matmul %0, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

/// Casts and views it does read through.
// CHECK-LABEL: func.func @cheap_prologue(
// CHECK-NEXT: amp.launch
// CHECK-NEXT: return
// CHECK: amp.kernel
// CHECK-NEXT: amp.cast
// CHECK-NEXT: amp.transpose
// CHECK-NEXT: amp.matmul
// CHECK-NEXT: amp.yield
func.func @cheap_prologue(%a: tensor<8x4xf32>, %b: tensor<8x16xbf16>) -> tensor<4x16xbf16> {
  %0 = amp.cast %a : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %1 = amp.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<8x4xbf16>) -> tensor<4x8xbf16>
  %2 = amp.matmul %1, %b : (tensor<4x8xbf16>, tensor<8x16xbf16>) -> tensor<4x16xbf16>
  return %2 : tensor<4x16xbf16>
}

// -----

/// A value with two readers is computed once and stored.
// CHECK-LABEL: func.func @no_value_twice(
// CHECK-NEXT: %[[R:.*]] = amp.launch
// CHECK-NEXT: %[[S:.*]] = amp.launch @{{.*}}(%[[R]])
// CHECK-NEXT: %[[E:.*]] = amp.launch @{{.*}}(%[[R]])
// CHECK-NEXT: return %[[S]], %[[E]]
func.func @no_value_twice(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = amp.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = amp.softmax %0 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = amp.neg %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

/// The return is a reader too.
// CHECK-LABEL: func.func @no_returned_value(
// CHECK-NEXT: %[[M:.*]] = amp.launch
// CHECK-NEXT: %[[R:.*]] = amp.launch @{{.*}}(%[[M]])
// CHECK-NEXT: return %[[M]], %[[R]]
func.func @no_returned_value(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %0 = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = amp.relu %0 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

/// But a cast to fewer bytes saves a pass over memory: a second result. Readers
/// of the first stand before it.
// CHECK-LABEL: func.func @narrow_copy(
// CHECK-NEXT: %[[K:.*]]:2 = amp.launch @{{.*}} -> (tensor<4x8xf32>, tensor<4x8xbf16>)
// CHECK-NEXT: %[[S:.*]] = amp.launch @{{.*}}(%[[K]]#0)
// CHECK-NEXT: return %[[S]], %[[K]]#1
// CHECK: amp.kernel
// CHECK-NEXT: %[[E:.*]] = amp.exp
// CHECK-NEXT: %[[C:.*]] = amp.cast %[[E]]
// CHECK-NEXT: amp.yield %[[E]], %[[C]]
func.func @narrow_copy(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xbf16>) {
  %0 = amp.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = amp.softmax %0 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = amp.cast %0 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xbf16>
}

// -----

/// Nothing joins a kernel of two results.
// CHECK-LABEL: func.func @no_third_result(
// CHECK-NEXT: %[[K:.*]]:2 = amp.launch
// CHECK-NEXT: %[[N:.*]] = amp.launch @{{.*}}(%[[K]]#1)
// CHECK-NEXT: return %[[K]]#0, %[[N]]
func.func @no_third_result(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xbf16>) {
  %0 = amp.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = amp.cast %0 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %2 = amp.neg %1 : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %3 = amp.softmax %2 {axis = 1 : i64} : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %0, %3 : tensor<4x8xf32>, tensor<4x8xbf16>
}

// -----

/// A reshape at the edge of that kernel stays before its launch.
// CHECK-LABEL: func.func @narrow_copy_of_view(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[V:.*]] = amp.reshape %[[X]]
// CHECK-NEXT: %[[C:.*]] = amp.launch @{{.*}}(%[[V]])
// CHECK-NEXT: return %[[V]], %[[C]]
func.func @narrow_copy_of_view(%x: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<32xbf16>) {
  %0 = amp.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = amp.cast %0 : (tensor<32xf32>) -> tensor<32xbf16>
  return %0, %1 : tensor<32xf32>, tensor<32xbf16>
}

// -----

/// Reshapes at both ends stay, the one between is an access map.
// CHECK-LABEL: func.func @reshapes(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: %[[V:.*]] = amp.reshape %[[X]] : (tensor<4x8xf32>) -> tensor<2x16xf32>
// CHECK-NEXT: %[[K:.*]] = amp.launch @{{.*}}(%[[V]]) : (tensor<2x16xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[Y:.*]] = amp.reshape %[[K]] : (tensor<8x4xf32>) -> tensor<32xf32>
// CHECK-NEXT: return %[[Y]]
// CHECK: amp.kernel
// CHECK-NEXT: amp.exp
// CHECK-NEXT: amp.reshape
// CHECK-NEXT: amp.neg
// CHECK-NEXT: amp.yield
func.func @reshapes(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = amp.reshape %x : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %1 = amp.exp %0 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  %2 = amp.reshape %1 : (tensor<2x16xf32>) -> tensor<8x4xf32>
  %3 = amp.neg %2 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = amp.reshape %3 : (tensor<8x4xf32>) -> tensor<32xf32>
  return %4 : tensor<32xf32>
}

// -----

/// A transpose moves a contraction's stores as long as vectors stay whole.
// CHECK-LABEL: func.func @moved_stores(
// CHECK-NEXT: amp.launch
// CHECK-NEXT: return
func.func @moved_stores(%a: tensor<2x4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x2x16xf32> {
  %0 = amp.matmul %a, %b : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %1 = amp.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<2x4x16xf32>) -> tensor<4x2x16xf32>
  return %1 : tensor<4x2x16xf32>
}

// -----

// CHECK-LABEL: func.func @no_torn_vectors(
// CHECK-COUNT-2: amp.launch
// CHECK: return
func.func @no_torn_vectors(%a: tensor<2x4x8xf32>, %b: tensor<8x16xf32>) -> tensor<2x16x4xf32> {
  %0 = amp.matmul %a, %b : (tensor<2x4x8xf32>, tensor<8x16xf32>) -> tensor<2x4x16xf32>
  %1 = amp.transpose %0 {permutation = array<i64: 0, 2, 1>} : (tensor<2x4x16xf32>) -> tensor<2x16x4xf32>
  return %1 : tensor<2x16x4xf32>
}

// -----

/// One root a kernel.
// CHECK-LABEL: func.func @no_second_root(
// CHECK-COUNT-2: amp.launch
// CHECK: return
func.func @no_second_root(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = amp.softmax %0 {axis = 1 : i64} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

/// What broadcasts is no element of a root's result.
// CHECK-LABEL: func.func @no_broadcast_epilogue(
// CHECK-COUNT-2: amp.launch
// CHECK: return
func.func @no_broadcast_epilogue(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = amp.reduce_max %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = amp.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

/// Between two roots the sum joins the one that costs more, behind both.
// CHECK-LABEL: func.func @heavier_root(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x8xf32>)
// CHECK-NEXT: %[[S:.*]] = amp.launch @[[ROW:.*]](%[[A]])
// CHECK-NEXT: %[[Y:.*]] = amp.launch @[[PRODUCT:.*]](%[[A]], %[[B]], %[[S]])
// CHECK-NEXT: return %[[Y]]
func.func @heavier_root(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = amp.softmax %a {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = amp.add %1, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

/// Of two equal ones, the later.
// CHECK-LABEL: func.func @later_root(
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x8xf32>, %[[C:.*]]: tensor<8x8xf32>)
// CHECK-NEXT: %[[FIRST:.*]] = amp.launch @{{.*}}(%[[A]], %[[B]])
// CHECK-NEXT: %[[Y:.*]] = amp.launch @{{.*}}(%[[A]], %[[C]], %[[FIRST]])
// CHECK-NEXT: return %[[Y]]
func.func @later_root(%a: tensor<4x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = amp.matmul %a, %c : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = amp.add %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

/// A serial op is alone, and of its results a kernel gives those that are read.
// CHECK-LABEL: func.func @serial(
// CHECK-COUNT-3: amp.launch
// CHECK-NOT: amp.launch
// CHECK: amp.kernel private @{{.*}}(%{{.*}}: tensor<4x8xf32>) -> tensor<4x2xf32> {
// CHECK-NEXT: %[[V:.*]], %{{.*}} = amp.top_k
// CHECK-NEXT: amp.yield %[[V]] : tensor<4x2xf32>
func.func @serial(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  %0 = amp.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v, %i = amp.top_k %0 {k = 2 : i64, axis = 1 : i64, largest = true} : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
  %1 = amp.neg %v : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// -----

/// A concatenation computes each element once: it takes its operands' ops, and
/// an epilogue.
// CHECK-LABEL: func.func @joined(
// CHECK-NEXT: amp.launch
// CHECK-NEXT: return
func.func @joined(%x: tensor<4x8xf32>, %y: tensor<2x8xf32>) -> tensor<6x8xf32> {
  %0 = amp.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = amp.concat %0, %y {axis = 0 : i64} : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>
  %2 = amp.neg %1 : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %2 : tensor<6x8xf32>
}

// -----

/// A gather may read an element many times: views only.
// CHECK-LABEL: func.func @no_gather_prologue(
// CHECK-COUNT-2: amp.launch
// CHECK: return
func.func @no_gather_prologue(%x: tensor<4x8xf32>, %i: tensor<100xi64>) -> tensor<100x8xf32> {
  %0 = amp.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = amp.gather %0, %i {axis = 0 : i64} : (tensor<4x8xf32>, tensor<100xi64>) -> tensor<100x8xf32>
  return %1 : tensor<100x8xf32>
}

// -----

/// Ops on constants stay behind; a splat goes along as what it is.
// CHECK-LABEL: func.func @constants(
// CHECK-NEXT: %[[W:.*]] = amp.constant
// CHECK-NEXT: %[[C:.*]] = amp.cast %[[W]]
// CHECK: %[[Y:.*]] = amp.launch @{{.*}}(%{{.*}}, %[[C]])
// CHECK: amp.kernel
// CHECK-NEXT: %[[HALF:.*]] = amp.constant dense<5.000000e-01> : tensor<bf16>
// CHECK-NEXT: %[[S:.*]] = amp.add
// CHECK-NEXT: amp.mul %[[S]], %[[HALF]]
func.func @constants(%x: tensor<2xbf16>) -> tensor<2xbf16> {
  %0 = amp.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = amp.cast %0 : (tensor<2xf32>) -> tensor<2xbf16>
  %2 = amp.constant dense<0.5> : tensor<bf16>
  %3 = amp.add %x, %1 : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  %4 = amp.mul %3, %2 : (tensor<2xbf16>, tensor<bf16>) -> tensor<2xbf16>
  return %4 : tensor<2xbf16>
}

// -----

/// No kernel for what nobody reads.
// CHECK-LABEL: func.func @no_dead_kernel(
// CHECK-NEXT: return
// CHECK-NOT: amp.kernel
func.func @no_dead_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = amp.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = amp.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
func.func private @no_body(tensor<4xf32>) -> tensor<4xf32>

// -----

/// A square reads its operand twice, and is still its only reader.
// CHECK-LABEL: func.func @square(
// CHECK-NEXT: amp.launch
// CHECK-NEXT: return
func.func @square(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = amp.mul %0, %0 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

/// Numbers that follow from a sum are computed in its kernel, whatever stands
/// between them; so are those that follow from arguments, but for what is read
/// before, which is computed there.
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[X:.*]]: tensor<64xf32>, %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>)
// CHECK-NEXT: %[[S:.*]]:3 = amp.launch @[[SUM:.*]](%[[A]], %[[X]], %[[B]])
// CHECK-NEXT: %[[Y:.*]] = amp.launch @{{.*}}(%[[X]], %[[S]]#
// CHECK-NEXT: return %[[Y]], %[[S]]#{{.*}}, %[[S]]#
// CHECK: amp.kernel private @[[SUM]](
// CHECK: amp.mul
// CHECK: amp.mul
// CHECK: %[[R:.*]] = amp.reduce_sum
// CHECK: amp.sqrt %[[R]]
// CHECK: amp.yield %{{.*}}, %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>, tensor<f32>
func.func @scalars(%x: tensor<64xf32>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<64xf32>, tensor<f32>, tensor<f32>) {
  %0 = amp.mul %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = amp.mul %x, %0 : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %2 = amp.reduce_sum %1 {axes = array<i64: 0>, keepdims = false} : (tensor<64xf32>) -> tensor<f32>
  %3 = amp.sqrt %2 : (tensor<f32>) -> tensor<f32>
  %4 = amp.div %3, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %5 = amp.add %x, %4 : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %6 = amp.add %3, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %5, %3, %6 : tensor<64xf32>, tensor<f32>, tensor<f32>
}

// -----

/// What only the caller reads besides each other is one kernel.
// CHECK-LABEL: func.func @results(
// CHECK-NEXT: %[[R:.*]]:2 = amp.launch
// CHECK-NEXT: return %[[R]]#{{.}}, %[[R]]#{{.}}
func.func @results(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = amp.mul %x, %y : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %1 = amp.add %0, %y : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = amp.exp %0 : (tensor<64xf32>) -> tensor<64xf32>
  %3 = amp.add %1, %2 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %1, %3 : tensor<64xf32>, tensor<64xf32>
}

// -----

/// Not so what a product wants in its own kernel, or between whose readers it
/// stands.
// CHECK-LABEL: func.func @negative_results(
// CHECK-COUNT-4: amp.launch
// CHECK-NOT: amp.launch
// CHECK: return
func.func @negative_results(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = amp.exp %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = amp.matmul %0, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = amp.softmax %1 {axis = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = amp.add %2, %0 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %3, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
