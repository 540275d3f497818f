// RUN: ampc-opt %s --training-split-entries --split-input-file | FileCheck %s

// Prediction has neither the loss nor what only the loss reads.
// CHECK-LABEL: func.func @predict
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<2x3xf32> {amp.name = "x"}, %[[U:[a-z0-9]+]]: tensor<f32> {amp.name = "unused"}, %[[W:[a-z0-9]+]]: tensor<3xf32> {train.state = @w})
// CHECK-SAME: -> (tensor<2x3xf32> {amp.name = "y"}) attributes {amp.inference}
// CHECK-NEXT: %[[Y:.*]] = amp.mul %[[X]], %[[W]]
// CHECK-NEXT: return %[[Y]]
// CHECK-LABEL: func.func @eval
// CHECK-SAME: {amp.name = "x"}
// CHECK-SAME: tensor<f32> {amp.name = "unused"}
// CHECK-SAME: tensor<3xf32> {train.state = @w}
// CHECK-SAME: {amp.label, amp.name = "labels"}
// CHECK-SAME: {amp.name = "samples", amp.samples})
// CHECK-SAME: -> (tensor<f32> {amp.name = "loss"}, tensor<f32> {amp.name = "loss_weight"}) attributes {amp.inference}
// CHECK-LABEL: func.func @main
// CHECK-SAME: {amp.trainable, train.state = @w}
// CHECK-SAME: -> (tensor<f32> {amp.loss, amp.name = "loss"}, tensor<f32> {amp.name = "loss_weight", amp.nominal_weight = 2.000000e+00 : f64}) {
// CHECK-NOT: amp.neg
train.state @w : tensor<3xf32>
train.state @v : tensor<3xf32>
func.func @main(%x: tensor<2x3xf32> {amp.name = "x"}, %u: tensor<f32> {amp.name = "unused"},
                %w: tensor<3xf32> {amp.trainable, train.state = @w}, %v: tensor<3xf32> {train.state = @v},
                %l: tensor<2x3xf32> {amp.name = "labels", amp.label}, %n: tensor<i64> {amp.name = "samples", amp.samples})
    -> (tensor<2x3xf32> {amp.name = "y"}, tensor<3xf32> {amp.own_loss},
        tensor<f32> {amp.name = "loss", amp.loss}, tensor<f32> {amp.name = "loss_weight", amp.nominal_weight = 2.0 : f64}) {
  %0 = amp.mul %x, %w : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = amp.sub %0, %l : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = amp.reduce_sum %1 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<2x3xf32>) -> tensor<f32>
  %3 = amp.cast %n : (tensor<i64>) -> tensor<f32>
  %4 = amp.neg %w : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %4, %2, %3 : tensor<2x3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>
}

// -----

// A model that returns its loss alone predicts it.
// CHECK-LABEL: func.func @predict
// CHECK-SAME: -> (tensor<f32> {amp.name = "loss"}) attributes {amp.inference}
// CHECK-NEXT: amp.reduce_sum
func.func @main(%x: tensor<2xf32>, %n: tensor<i64> {amp.samples})
    -> (tensor<f32> {amp.own_loss, amp.name = "loss"}, tensor<f32> {amp.loss}, tensor<f32> {amp.nominal_weight = 1.0 : f64}) {
  %0 = amp.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<2xf32>) -> tensor<f32>
  %1 = amp.cast %n : (tensor<i64>) -> tensor<f32>
  return %0, %0, %1 : tensor<f32>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func.func @negative_other_function
// CHECK-NEXT: return
func.func @negative_other_function() {
  return
}
