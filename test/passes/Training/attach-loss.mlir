// RUN: ampc-opt %s --training-attach-loss --split-input-file | FileCheck %s
// RUN: ampc-opt %s --training-attach-loss="loss=softmax-cross-entropy axis=1 smoothing=0.1 ignore-index=7 label=y input=logits class-weights=1,2,3" \
// RUN:   --split-input-file | FileCheck %s --check-prefix=SMOOTH
// RUN: ampc-opt %s --training-attach-loss="probabilities=true" --split-input-file | FileCheck %s --check-prefix=SOFT
// RUN: ampc-opt %s --training-attach-loss="loss=huber" --split-input-file | FileCheck %s --check-prefix=HUBER
// RUN: ampc-opt %s --training-attach-loss="loss=bce-with-logits" --split-input-file | FileCheck %s --check-prefix=BCE
// RUN: ampc-opt %s --training-attach-loss="loss=none" --split-input-file | FileCheck %s --check-prefix=NONE

// CHECK: module attributes {amp.training = {accuracy = true, classes = 3 : i64, ignore_index = -100 : i64, label = "labels", loss = "softmax-cross-entropy", partial_batches = true}}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>, %[[L:.*]]: tensor<2xi64> {amp.label, amp.name = "labels"}, %[[N:.*]]: tensor<i64> {amp.name = "samples", amp.samples}
// CHECK-SAME: -> (tensor<2x3xf32> {amp.name = "logits"}, tensor<f32> {amp.loss, amp.name = "loss"},
// CHECK-SAME: tensor<f32> {amp.name = "loss_weight", amp.nominal_weight = 2.000000e+00 : f64}, tensor<f32> {amp.name = "correct", amp.summed = "correct"}, tensor<f32> {amp.name = "count", amp.summed = "count"})
// The operands keep their types whatever the policy.
// CHECK: amp.composite "Loss" fp32(%[[X]], %[[L]], %[[N]]) {pinned = array<i64: 0, 1, 2>}
// CHECK: ^bb0(%[[IX:.*]]: tensor<2x3xf32>, %[[IL:.*]]: tensor<2xi64>, %[[IN:.*]]: tensor<i64>)
// CHECK-DAG: %[[S:.*]] = amp.log_softmax %[[IX]] {axis = 1 : i64}
// CHECK-DAG: amp.compare %{{.*}}, %[[IN]] {predicate = #amp.predicate<lt>}
// Not a gather, whose gradient would be a scatter.
// CHECK-NOT: amp.gather
// CHECK: amp.arg_max %[[S]]
// SMOOTH: %{{.*}}: tensor<2xi64> {amp.label, amp.name = "y"}
// A scale of gradients that does not depend on that of the weights.
// SMOOTH: {amp.name = "loss_weight", amp.nominal_weight = 4.000000e+00 : f64}, tensor<f32> {amp.name = "correct", amp.summed = "correct"}, tensor<f32> {amp.name = "count", amp.summed = "count"}
// SMOOTH-DAG: amp.constant dense<7> : tensor<i64>
// SMOOTH-DAG: amp.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// SMOOTH: amp.reduce_sum %{{.*}} {axes = array<i64: 1>, keepdims = false}
// SMOOTH: amp.reduce_sum %{{.*}} {axes = array<i64: 1>, keepdims = false}
// SOFT: %{{.*}}: tensor<2x3xf32> {amp.label, amp.name = "labels"}
// SOFT: amp.log_softmax
// HUBER: partial_batches = true
// HUBER: %{{.*}}: tensor<2x3xf32> {amp.label, amp.name = "labels"}
// HUBER-SAME: -> (tensor<2x3xf32> {amp.name = "logits"}, tensor<f32> {amp.loss, amp.name = "loss"}, tensor<f32> {amp.name = "loss_weight", amp.nominal_weight = 2.000000e+00 : f64})
// HUBER: amp.abs
// HUBER: amp.select
// BCE: amp.softplus
// NONE: amp.training = {accuracy = false, loss = "none", partial_batches = true}
// NONE: -> (tensor<2x3xf32> {amp.name = "logits", amp.own_loss}, tensor<f32> {amp.loss
func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {amp.name = "logits"}) {
  return %x : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @negative_other_function(%{{.*}}: tensor<2xf32>) -> tensor<2xf32>
func.func @negative_other_function(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
