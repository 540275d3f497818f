// RUN: ampc-opt %s --training-build-step=optimizer=adamw | FileCheck %s
// RUN: ampc-opt %s --training-build-step=optimizer=nesterov | FileCheck %s --check-prefix=NESTEROV

// Parameters lie in one arena, gradients in another of the same index.
// CHECK: train.arena @parameters : tensor<64xf32>
// CHECK: train.arena @gradients : tensor<64xf32>
// CHECK: train.state @train.scale : tensor<f32> initial dense<6.553600e+04> : tensor<f32>
// CHECK: train.state @w : tensor<4xf32> in @parameters at 0 initial dense<1.000000e+00> : tensor<4xf32>
// CHECK: train.state @b : tensor<f32> in @parameters at 32
// CHECK-DAG: train.state @w.gradient : tensor<4xf32> in @gradients at 0
// CHECK-DAG: train.state @b.gradient : tensor<f32> in @gradients at 32

// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<f32> {train.state = @train.scale}
// CHECK-SAME: tensor<f32> {train.state = @train.loss}
// CHECK-SAME: %[[OLD:[a-z0-9]+]]: tensor<4xf32> {train.state = @w.gradient}
// CHECK-SAME: -> (tensor<f32> {train.state = @train.loss}, tensor<f32> {train.state = @train.weight},
// CHECK-SAME: tensor<4xf32> {train.state = @w.gradient}, tensor<f32> {train.state = @b.gradient})
// The scale, for the mean over a batch of 8.
// CHECK: %[[N:.*]] = amp.constant dense<1.250000e-01>
// CHECK: amp.mul %{{.*}}, %[[N]]
// CHECK: amp.add %[[OLD]], %{{.*}}

// CHECK-LABEL: func.func @apply
// CHECK-SAME: {amp.name = "learning_rate"}
// CHECK-SAME: {amp.name = "beta1"}
// CHECK-SAME: tensor<64xf32> {train.state = @parameters}
// CHECK: %[[F:.*]], %{{.*}} = train.check
// CHECK: train.clip
// CHECK: train.update_scale
// CHECK: train.adam {{.*}}%[[F]]{{.*}} {decoupled}
// NESTEROV: train.sgd {{.*}} {nesterov}
module {
  train.state @w : tensor<4xf32> initial dense<1.0> : tensor<4xf32>
  train.state @b : tensor<f32>
  func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {amp.trainable, train.state = @w},
                  %b: tensor<f32> {amp.trainable, train.state = @b}, %g: tensor<f32>)
      -> (tensor<f32>, tensor<f32> {amp.nominal_weight = 8.0 : f64}, tensor<4xf32>, tensor<f32>) {
    %0 = amp.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = amp.reduce_sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<4xf32>) -> tensor<f32>
    %2 = amp.add %1, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %3 = amp.constant dense<8.0> : tensor<f32>
    %4 = amp.mul %g, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    return %2, %3, %4, %g : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<f32>
  }

  // CHECK-LABEL: func.func @negative_other_function
  // CHECK-NEXT: return
  func.func @negative_other_function() {
    return
  }
}
