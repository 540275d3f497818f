// RUN: ampc-opt %s --training-attach-loss --split-input-file --verify-diagnostics
// RUN: ampc-opt %s --training-attach-loss --split-input-file 2>/dev/null | FileCheck %s

// The result stays, the loss is of what it is made of; a row for each position.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf16>, %{{.*}}: tensor<4x3xf16>
// CHECK: %[[P:.*]] = amp.softmax
// CHECK: amp.composite "Loss" fp32(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}} : (tensor<4x3xf16>, tensor<4xi64>, tensor<i64>)
// CHECK: amp.cast %{{.*}} : (tensor<4x3xf16>) -> tensor<4x3xf32>
// CHECK: amp.log_softmax
// CHECK: return %[[P]]
func.func @main(%x: tensor<2x3xf16>, %logits: tensor<4x3xf16>) -> tensor<4x3xf16> {
  // expected-remark @+1 {{the loss is taken at the logits, before softmax}}
  %0 = amp.softmax %logits {axis = 1 : i64} : (tensor<4x3xf16>) -> tensor<4x3xf16>
  return %0 : tensor<4x3xf16>
}

// -----

// Along another dimension than that of the classes it is no such end.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = amp.softmax
// CHECK: amp.composite "Loss" fp32(%[[P]],
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = amp.softmax %x {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
