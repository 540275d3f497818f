// RUN: ampc-opt %s --training-expand-updates | FileCheck %s

// One sum over the gradients tells whether they are finite, and their norm.
// What is checked is unscaled: that may overflow where gradients do not.
// CHECK-LABEL: func.func @check
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<4x8xf32>, %[[M:[a-z0-9]+]]: tensor<f32>
func.func @check(%g: tensor<4x8xf32>, %m: tensor<f32>) -> (tensor<i1>, tensor<f32>) {
  // CHECK: %[[U:.*]] = amp.mul %[[G]], %[[M]]
  // CHECK: %[[A:.*]] = amp.abs %[[U]]
  // CHECK: amp.compare %[[A]]
  // CHECK: %[[S:.*]] = amp.select %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>)
  // CHECK: %[[R:.*]] = amp.reduce_sum %[[S]] {axes = array<i64: 0, 1>, keepdims = false}
  // CHECK-NOT: reduce
  // CHECK-DAG: %[[F:.*]] = amp.is_nan %[[R]]
  // CHECK-DAG: %[[N:.*]] = amp.sqrt %[[R]]
  // CHECK: return %[[F]], %[[N]]
  %found, %norm = train.check %g, %m : (tensor<4x8xf32>, tensor<f32>) -> (tensor<i1>, tensor<f32>)
  return %found, %norm : tensor<i1>, tensor<f32>
}

// A skipped step keeps everything.
// CHECK-LABEL: func.func @skipped
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>
func.func @skipped(%w: tensor<8xf32>, %b: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<f32>, %skip: tensor<i1>,
                   %lr: tensor<f32>, %mu: tensor<f32>, %decay: tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-DAG: amp.select %[[SKIP:.*]], %[[W]], %{{.*}} : (tensor<i1>
  // CHECK-DAG: amp.select %[[SKIP]], %[[B]], %{{.*}} : (tensor<i1>
  // CHECK-NOT: train.
  %w1, %b1 = train.sgd %w, %b, %g, %m, %skip, %lr, %mu, %decay
    : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>)
    -> (tensor<8xf32>, tensor<8xf32>)
  return %w1, %b1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @negative_other_ops
func.func @negative_other_ops(%x: tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: amp.exp
  // CHECK-NEXT: return
  %0 = amp.exp %x : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
