//===- Passes.td - From a graph to a training step ------------------------===//
#ifndef AMPC_PASSES_TRAINING_PASSES_TD
#define AMPC_PASSES_TRAINING_PASSES_TD

include "mlir/Pass/PassBase.td"

def TrainingDifferentiatePass : Pass<"training-differentiate", "mlir::func::FuncOp"> {
  let summary = "Append the gradients of marked results with respect to marked arguments";
  let description = [{
    *Requires* composites inlined. Arguments with `amp.trainable` are what is
    differentiated by, results with `amp.loss` what is differentiated.

    *Does*: for each marked result an argument is added that takes its cotangent
    (1 for a loss, the scale for a scaled one), and for each marked argument a
    result with its gradient: reverse mode, through DifferentiableOpInterface. A
    backward operation runs in the type of its forward operation; contributions
    to one value are summed in f32 and rounded once. What is a 16-bit copy of a
    marked argument hands its gradient on in f32. A value that the backward
    operations read is kept simply by being used.

    *Guarantees*: no marks are left but those of the arguments; an argument that
    no marked result depends on gets zeros.

    ```mlir
    func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {amp.trainable}) -> (tensor<4xf32> {amp.loss}) {
      %0 = amp.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // becomes
    func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {amp.trainable}, %g: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = amp.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = amp.mul %g, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %0, %1 : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def TrainingExpandUpdatesPass : Pass<"training-expand-updates", "mlir::func::FuncOp"> {
  let summary = "Write loss scaling and optimizers as operations of amp";
  let description = [{
    *Does*: each operation of `train` becomes the arithmetic that its definition
    states, on f32. What a skipped step keeps is selected element by element, so
    that nothing waits for the host.

    *Guarantees*: no operation of `train` is left.

    ```mlir
    %c = train.clip %norm, %max : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // becomes
    %0 = amp.add %norm, %epsilon : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %1 = amp.div %max, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = amp.min %1, %one : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %3 = amp.compare %max, %zero {predicate = #amp.predicate<gt>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %c = amp.select %3, %2, %one : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

#endif // AMPC_PASSES_TRAINING_PASSES_TD
