// RUN: ampc-opt %s --training-build-step=optimizer=adamw | FileCheck %s
// RUN: ampc-opt %s --training-build-step=optimizer=nesterov | FileCheck %s --check-prefix=NESTEROV
// RUN: ampc-opt %s --training-build-step=optimizer=sgd | FileCheck %s --check-prefix=SGD
// RUN: ampc-opt %s --training-build-step="optimizer=adam-epsilon-hat first-count=3" | FileCheck %s --check-prefix=ONNX

// Without momentum there is no state for it, and no number.
// SGD-NOT: @momentum_buffer
// SGD-NOT: amp.name = "momentum"
// SGD: train.sgd
// SGD-NOT: @momentum_buffer

// ONNX counts the updates before, and may begin with some.
// ONNX: %[[FIRST:.*]] = amp.constant dense<3> : tensor<i32>
// ONNX: %[[STEP:.*]] = amp.add %{{.*}}, %[[FIRST]]
// ONNX: train.adam {{.*}}%[[STEP]]{{.*}} {epsilon_hat}

// Parameters lie in one arena, gradients and moments in others of the same index.
// CHECK: train.arena @parameters : tensor<64xf32>
// CHECK: train.arena @gradients : tensor<64xf32>
// CHECK: train.state parameter @w : tensor<4xf32> in @parameters at 0 initial dense<1.000000e+00> : tensor<4xf32>
// CHECK: train.state parameter @b : tensor<f32> in @parameters at 32
// CHECK: train.state control @train.scale : tensor<f32> initial dense<6.553600e+04> : tensor<f32>
// CHECK-DAG: train.state @train.micro : tensor<i32>
// CHECK-DAG: train.state @w.gradient : tensor<4xf32> in @gradients at 0
// CHECK-DAG: train.state @b.gradient : tensor<f32> in @gradients at 32
// CHECK-DAG: train.state control @train.taken : tensor<i32>
// CHECK-DAG: train.state moment @w.mean : tensor<4xf32> in @mean at 0
// CHECK-DAG: train.state moment @b.square : tensor<f32> in @square at 32
// CHECK-DAG: train.state @metrics.norm : tensor<f32>
// CHECK-DAG: train.state @metrics.correct : tensor<f32>

// What is no state, as the first result, is dropped.
// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<f32> {train.state = @train.scale}
// CHECK-SAME: %[[MICRO:[a-z0-9]+]]: tensor<i32> {train.state = @train.micro}
// CHECK-SAME: tensor<f32> {train.state = @train.loss}
// CHECK-SAME: %[[OLD:[a-z0-9]+]]: tensor<4xf32> {train.state = @w.gradient}
// CHECK-SAME: -> (tensor<f32> {train.state = @train.loss}, tensor<f32> {train.state = @train.weight},
// CHECK-SAME: tensor<f32> {train.state = @train.correct}, tensor<f32> {train.state = @train.count},
// CHECK-SAME: tensor<4xf32> {train.state = @w.gradient}, tensor<f32> {train.state = @b.gradient}, tensor<i32> {train.state = @train.micro})
// The first micro-batch of a window forgets what an earlier one left.
// CHECK: %[[LATER:.*]] = amp.compare %[[MICRO]]
// The scale, for the mean over a batch of 8.
// CHECK: %[[N:.*]] = amp.constant dense<1.250000e-01>
// CHECK: amp.mul %{{.*}}, %[[N]]
// CHECK: %[[SUM:.*]] = amp.select %[[LATER]], %[[OLD]], %{{.*}}
// CHECK: amp.add %[[SUM]], %{{.*}} : (tensor<4xf32>

// CHECK-LABEL: func.func @apply
// CHECK-SAME: tensor<i32> {amp.name = "scaler"}
// CHECK-SAME: {amp.name = "learning_rate"}
// CHECK-SAME: tensor<64xf32> {train.state = @parameters}
// CHECK-SAME: {amp.name = "beta1"}
// CHECK: %[[F:.*]], %{{.*}} = train.check
// CHECK: %[[FOUND:.*]] = amp.and %[[F]], %{{.*}}
// CHECK: %[[SKIP:.*]] = amp.and %[[FOUND]], %{{.*}}
// CHECK: train.clip
// CHECK: %[[STAY:.*]] = amp.or %[[SKIP]], %{{.*}}
// CHECK: train.update_scale
// CHECK: train.adam {{.*}}%[[STAY]]{{.*}} {decoupled}
// NESTEROV: train.sgd {{.*}} {nesterov}

// CHECK-LABEL: func.func @grad_stats
// CHECK-SAME: tensor<4xf32> {train.state = @w.gradient}
// CHECK-SAME: -> (tensor<2xf32> {amp.name = "mean_abs"}, tensor<2xf32> {amp.name = "zero_share"}, tensor<2xf32> {amp.name = "norm"})
module {
  train.state parameter @w : tensor<4xf32> initial dense<1.0> : tensor<4xf32>
  train.state parameter @b : tensor<f32>
  func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {amp.trainable, train.state = @w},
                  %b: tensor<f32> {amp.trainable, train.state = @b}, %g: tensor<f32>)
      -> (tensor<4xf32>, tensor<f32>, tensor<f32> {amp.nominal_weight = 8.0 : f64}, tensor<f32> {amp.summed = "correct"},
          tensor<f32> {amp.summed = "count"}, tensor<4xf32>, tensor<f32>) {
    %0 = amp.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = amp.reduce_sum %0 {axes = array<i64: 0>, keepdims = false} : (tensor<4xf32>) -> tensor<f32>
    %2 = amp.add %1, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %3 = amp.constant dense<8.0> : tensor<f32>
    %4 = amp.mul %g, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    return %0, %2, %3, %1, %3, %4, %g : tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<f32>
  }

  // CHECK-LABEL: func.func @negative_other_function
  // CHECK-NEXT: return
  func.func @negative_other_function() {
    return
  }
}
