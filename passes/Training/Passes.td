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

def TrainingExposeParametersPass : Pass<"training-expose-parameters", "mlir::ModuleOp"> {
  let summary = "Turn trained initializers into arguments that are state";
  let description = [{
    *Requires* constants that the importer marked with `amp.initializer`, before
    any pass that folds or narrows constants.

    *Does*: each float initializer that `frozen` does not match (or, if
    `trained` is given, that it matches) becomes a `train.state` and an argument
    of `@main`, marked as trainable. A batch norm's statistics are no
    parameters: they become states that are not trained. The others stay
    constants, which later passes fold as they like.

    *Guarantees*: whatever a trained value is used for, the use remains.

    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %w = amp.constant {amp.initializer = "w"} dense<2.0> : tensor<4xf32>
      %y = amp.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    // becomes
    train.state @w : tensor<4xf32> initial dense<2.0> : tensor<4xf32>
    func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {amp.name = "w", amp.trainable, train.state = @w}) -> tensor<4xf32> {
      %y = amp.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    ```
  }];
  let options = [
    ListOption<"frozen", "frozen", "std::string",
               "Globs of initializers that are not trained.">,
    ListOption<"trained", "trained", "std::string",
               "Globs of the only initializers that are.">
  ];
  let dependentDialects = ["::ampc::amp::AmpDialect", "::ampc::train::TrainDialect"];
}

def TrainingAttachLossPass : Pass<"training-attach-loss", "mlir::ModuleOp"> {
  let summary = "Append a loss and its weight to the results of the main function";
  let description = [{
    *Does*: adds an argument for the labels and two f32 results, the weighted sum of
    the loss over the batch (marked `amp.loss`) and the sum of weights by which it
    is to be divided. The loss is of the result that `input` names, the
    only one by default: `softmax-cross-entropy` takes integer labels of classes
    along `axis` (1, but the last one for rank 3), with `smoothing` and without
    those that equal `ignore-index`; the others take labels of the result's
    shape, and average over all its elements but the batch.

    *Guarantees*: the operations are such as an exporter would write, so that
    precision is decided for them as for the rest.

    ```mlir
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32>
    // becomes
    func.func @main(%x: tensor<2x3xf32>, %labels: tensor<2xi64>)
        -> (tensor<2x3xf32>, tensor<f32> {amp.loss}, tensor<f32>)
    ```
  }];
  let options = [
    Option<"loss", "loss", "Loss", "Loss::SoftmaxCrossEntropy", "What is minimized.",
           [{::llvm::cl::values(
             clEnumValN(Loss::SoftmaxCrossEntropy, "softmax-cross-entropy", "of logits, with integer labels"),
             clEnumValN(Loss::Mse, "mse", "mean of squared differences"),
             clEnumValN(Loss::L1, "l1", "mean of absolute differences"),
             clEnumValN(Loss::Huber, "huber", "squared below 1, linear beyond"),
             clEnumValN(Loss::BceWithLogits, "bce-with-logits", "binary cross-entropy of logits"))}]>,
    Option<"input", "input", "std::string", "\"\"", "The result that the loss is of.">,
    Option<"label", "label", "std::string", "\"labels\"", "The name of the labels.">,
    Option<"axis", "axis", "int64_t", "-1", "The dimension of classes; chosen by rank if negative.">,
    Option<"smoothing", "smoothing", "double", "0.0", "The share of the loss that all classes have.">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100", "The label of what does not count.">
  ];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def TrainingBatchStatisticsPass : Pass<"training-batch-statistics", "mlir::func::FuncOp"> {
  let summary = "Normalize by the statistics of the batch and update the running ones";
  let description = [{
    *Requires* batch norms whose statistics are states of the function.

    *Does*: such a batch norm subtracts the mean of the batch and divides by its
    standard deviation, both computed in f32 over all but the channels, and its
    gradient flows through them. For each statistic a result is added, running *
    momentum + batch * (1 - momentum) with the variance of the population, as
    ONNX's training mode has it.

    *Guarantees*: the function reads each running statistic only for its update.

    ```mlir
    func.func @main(%x: tensor<8x4xf32>, .., %m: tensor<4xf32> {train.state = @m}, ..) -> tensor<8x4xf32> {
      %y = amp.batch_norm %x, %g, %b, %m, %v {epsilon = 1.0e-5 : f64} : ...
    // becomes
    func.func @main(..) -> (tensor<8x4xf32>, tensor<4xf32> {train.state = @m}, tensor<4xf32> {train.state = @v}) {
      %mean = amp.reduce_mean %x {axes = array<i64: 0>, keepdims = true} : (tensor<8x4xf32>) -> tensor<1x4xf32>
      ...
    ```
  }];
  let options = [
    Option<"momentum", "momentum", "double", "0.9", "The share of a running statistic that a step keeps.">
  ];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def TrainingBuildStepPass : Pass<"training-build-step", "mlir::ModuleOp"> {
  let summary = "Make a step that adds up gradients and one that applies them";
  let description = [{
    *Requires* `@main` differentiated: its last argument is the cotangent of the
    loss, its last results are the gradients of the trained arguments.

    *Does*: places the parameters in one flat arena, and gradients and moments in
    arenas of the same index. `@main` becomes `@step`, which runs the model on one
    micro-batch with the loss scaled by the state `train.scale` and adds
    gradients, loss, its weight, and results with `amp.summed`, to what earlier
    micro-batches of the window gave; all other results go. `@apply` makes one
    update of all parameters at once: it checks the gradients, clips them, skips
    the update where one is not finite, adjusts the scale, and ends the window.
    Its arguments are numbers by name (learning_rate ..; `scaler` is 2 for a scale
    that moves, 1 for a fixed one, 0 for none: no update is skipped); what it
    found is in the states `metrics.*`. `@grad_stats` gives numbers about the
    gradients of a window, one of each parameter.

    *Guarantees*: no function asks the host anything in between. The gradients
    are divided by the scale and by the weight that the micro-batches really
    held, before they are clipped. A skipped update leaves no trace in the next
    window.

    ```mlir
    func.func @apply(%learning_rate: tensor<f32>, .., %parameters: tensor<1024xf32> {train.state = @parameters}, ..)
        -> (.., tensor<1024xf32> {train.state = @parameters}, ..)
    ```
  }];
  let options = [
    Option<"optimizer", "optimizer", "Optimizer", "Optimizer::Sgd", "How parameters move.",
           [{::llvm::cl::values(
             clEnumValN(Optimizer::Sgd, "sgd", "with momentum, which may be 0"),
             clEnumValN(Optimizer::Nesterov, "nesterov", "with Nesterov's momentum"),
             clEnumValN(Optimizer::Adam, "adam", "Adam, with decay in the gradient"),
             clEnumValN(Optimizer::AdamW, "adamw", "Adam with decoupled decay"))}]>
  ];
  let dependentDialects = ["::ampc::amp::AmpDialect", "::ampc::train::TrainDialect",
                           "::mlir::func::FuncDialect"];
}

#endif // AMPC_PASSES_TRAINING_PASSES_TD
