// RUN: ampc-opt %s --training-attach-loss="loss=none output=loss" --split-input-file | FileCheck %s

// A mean is taken apart, so that what it divides by is known.
// CHECK: amp.training = {accuracy = true, classes = 3 : i64, ignore_index = 1 : i64, label = "y", loss = "none", partial_batches = true}
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-SAME: %[[Y:[a-z0-9]+]]: tensor<2xi32>
// CHECK-SAME: %[[N:[a-z0-9]+]]: tensor<i64> {amp.name = "samples", amp.samples}
// CHECK-SAME: -> (tensor<2x3xf32> {amp.name = "logits"}, tensor<f32> {amp.name = "loss", amp.own_loss},
// CHECK-SAME: tensor<f32> {amp.loss, amp.name = "loss"}, tensor<f32> {amp.name = "loss_weight"
// CHECK-SAME: {amp.name = "count", amp.summed = "count"})
// CHECK: %[[W:.*]] = amp.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK: amp.composite "Loss" fp32(%[[X]], %[[Y]], %[[W]], %[[N]]) {pinned = array<i64: 0, 1, 2, 3>}
// CHECK: amp.log_softmax
func.func @main(%x: tensor<2x3xf32> {amp.name = "x"}, %y: tensor<2xi32> {amp.name = "y"})
    -> (tensor<2x3xf32> {amp.name = "logits"}, tensor<f32> {amp.name = "loss"}) {
  %w = amp.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = amp.composite "SoftmaxCrossEntropyLoss" fp32(%x, %y, %w) {amp.ignore_index = 1 : i64, amp.reduction = "mean"}
    : (tensor<2x3xf32>, tensor<2xi32>, tensor<3xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<2x3xf32>, %b: tensor<2xi32>, %c: tensor<3xf32>):
    %1 = amp.reduce_sum %a {axes = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
    amp.yield %1 : tensor<f32>
  }
  return %x, %0 : tensor<2x3xf32>, tensor<f32>
}

// -----

// Any number can be a loss; part of a batch then counts not at all.
// CHECK: amp.training = {accuracy = false, loss = "none", partial_batches = false}
// CHECK: amp.composite "Loss" fp32(%{{.*}}, %{{.*}}) {pinned = array<i64: 0, 1>} : (tensor<f32>, tensor<i64>) -> (tensor<f32>, tensor<f32>)
// CHECK-DAG: %[[B:.*]] = amp.constant dense<2> : tensor<i64>
// CHECK: amp.compare %{{.*}}, %[[B]] {predicate = #amp.predicate<ge>}
func.func @main(%x: tensor<2x3xf32>) -> (tensor<f32> {amp.name = "loss"}) {
  %0 = amp.reduce_sum %x {axes = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
