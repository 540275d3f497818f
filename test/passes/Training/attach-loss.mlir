// RUN: ampc-opt %s --training-attach-loss --split-input-file | FileCheck %s
// RUN: ampc-opt %s --training-attach-loss="loss=softmax-cross-entropy axis=1 smoothing=0.1 ignore-index=7 label=y input=logits" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=SMOOTH
// RUN: ampc-opt %s --training-attach-loss="loss=huber" --split-input-file | FileCheck %s --check-prefix=HUBER
// RUN: ampc-opt %s --training-attach-loss="loss=bce-with-logits" --split-input-file | FileCheck %s --check-prefix=BCE

// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[L:.*]]: tensor<2xi64> {amp.name = "labels"}
// CHECK-SAME: -> (tensor<2x3xf32> {amp.name = "logits"}, tensor<f32> {amp.loss, amp.name = "loss"}, tensor<f32> {amp.name = "loss_weight", amp.nominal_weight = 2.000000e+00 : f64})
// CHECK: amp.compare %[[L]], %{{.*}} {predicate = #amp.predicate<eq>}
// CHECK: %[[S:.*]] = amp.log_softmax %[[X]] {axis = 1 : i64}
// CHECK: amp.gather_elements %[[S]], %{{.*}} {axis = 1 : i64}
// SMOOTH: %{{.*}}: tensor<2xi64> {amp.name = "y"}
// SMOOTH: amp.constant dense<7> : tensor<i64>
// SMOOTH: amp.reduce_mean %{{.*}} {axes = array<i64: 1>, keepdims = false}
// HUBER: %{{.*}}: tensor<2x3xf32> {amp.name = "labels"}
// HUBER: amp.abs
// HUBER: amp.select
// BCE: amp.softplus
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {amp.name = "logits"}) {
  return %x : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @negative_other_function(%{{.*}}: tensor<2xf32>) -> tensor<2xf32>
func.func @negative_other_function(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
