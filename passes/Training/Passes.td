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

    With a 16-bit `gradient-type`, each gradient of an f32 argument is rounded to
    that type at the end; what is added up is f32 again.

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
  let options = [
    Option<"gradientType", "gradient-type", "GradientType", "GradientType::F32",
           "To what the gradients of marked arguments are rounded.",
           [{::llvm::cl::values(
             clEnumValN(GradientType::F32, "f32", "not at all"),
             clEnumValN(GradientType::F16, "f16", "to f16"),
             clEnumValN(GradientType::BF16, "bf16", "to bf16"))}]>
  ];
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

    *Does*: each float initializer that `frozen` does not match (and, if
    `trained` is given, that it matches) becomes a `train.state` and an argument
    of `@main`, marked as trainable. A batch norm's statistics are no
    parameters: they become states that are not trained, unless `frozen` matches
    them. The others stay constants, which later passes fold as they like. A
    state is f32: one of a 16-bit initializer holds its value, and what reads it
    reads a cast. A pattern that matches nothing is warned of, and a
    parameter that is a single number: it may be an epsilon.

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
    *Does*: adds an argument for the labels, one (`samples`) for how many of the
    batch's samples count, and f32 results: the weighted sum of the loss over
    the batch (marked `amp.loss`), the sum of weights by which it is to be
    divided, and, for classes, how much was predicted right and of how much. The loss is of the
    result that `input` names, the only one by default.
    `softmax-cross-entropy` takes integer labels of classes along `axis` (1, but
    the last one for rank 3), with `smoothing`, `class-weights` and without
    those that equal `ignore-index`, or with `probabilities` labels of the
    logits' shape. The others take labels of the result's shape, and average
    over all its elements but the batch. `none` takes the result that `output`
    names as the loss; one of ONNX's losses keeps its reduction and weights.

    A result that is a softmax, or a sigmoid for `bce-with-logits`, is taken
    before it, with a remark. A label that is neither a class nor ignored makes
    the loss NaN, and its sample has no gradient.

    *Guarantees*: the loss is one composite whose operands keep their types and
    which computes in f32, whatever is decided for the rest.

    ```mlir
    func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32>
    // becomes
    func.func @main(%x: tensor<2x3xf32>, %labels: tensor<2xi64> {amp.label}, %samples: tensor<i64> {amp.samples})
        -> (tensor<2x3xf32>, tensor<f32> {amp.loss}, tensor<f32> {amp.nominal_weight = 2.0},
            tensor<f32> {amp.summed = "correct"}, tensor<f32> {amp.summed = "count"})
    ```
  }];
  let options = [
    Option<"loss", "loss", "Loss", "Loss::SoftmaxCrossEntropy", "What is minimized.",
           [{::llvm::cl::values(
             clEnumValN(Loss::SoftmaxCrossEntropy, "softmax-cross-entropy", "of logits, with integer labels"),
             clEnumValN(Loss::Mse, "mse", "mean of squared differences"),
             clEnumValN(Loss::L1, "l1", "mean of absolute differences"),
             clEnumValN(Loss::Huber, "huber", "squared below 1, linear beyond"),
             clEnumValN(Loss::BceWithLogits, "bce-with-logits", "binary cross-entropy of logits"),
             clEnumValN(Loss::None, "none", "a result of the model"))}]>,
    Option<"input", "input", "std::string", "\"\"", "The result that the loss is of.">,
    Option<"output", "output", "std::string", "\"\"", "The result that is the loss, for none.">,
    Option<"label", "label", "std::string", "\"labels\"", "The name of the labels.">,
    Option<"axis", "axis", "int64_t", "-1", "The dimension of classes; chosen by rank if negative.">,
    Option<"smoothing", "smoothing", "double", "0.0", "The share of the loss that all classes have.">,
    Option<"ignoreIndex", "ignore-index", "int64_t", "-100", "The label of what does not count.">,
    Option<"probabilities", "probabilities", "bool", "false", "The labels are a probability for each class.">,
    ListOption<"classWeights", "class-weights", "double", "How much each class counts.">
  ];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def TrainingSplitEntriesPass : Pass<"training-split-entries", "mlir::ModuleOp"> {
  let summary = "Make functions for prediction and evaluation beside the one that trains";
  let description = [{
    *Requires* `@main` with a loss, after types are chosen, so that all functions
    round alike.

    *Does*: `@predict` returns what the model returns and takes neither labels
    nor what only a loss of the model read; `@eval` returns the loss, its weight
    and what was predicted right. Both are marked `amp.inference`. `@main` keeps
    the loss alone.

    *Guarantees*: all functions take the inputs of the model that they read, and
    those that nothing reads, in the same order; only `@main` has marks of
    training.

    ```mlir
    func.func @main(%x: .., %labels: .. {amp.label}, %samples: ..) -> (tensor<2x3xf32>, tensor<f32> {amp.loss}, ..)
    // becomes
    func.func @predict(%x: ..) -> tensor<2x3xf32> attributes {amp.inference}
    func.func @eval(%x: .., %labels: .., %samples: ..) -> (tensor<f32>, ..) attributes {amp.inference}
    func.func @main(%x: .., %labels: .. {amp.label}, %samples: ..) -> (tensor<f32> {amp.loss}, ..)
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def TrainingBatchStatisticsPass : Pass<"training-batch-statistics", "mlir::func::FuncOp"> {
  let summary = "Normalize by the statistics of the batch and update the running ones";
  let description = [{
    *Requires* batch norms whose statistics are states of the function.

    *Does*: such a batch norm subtracts the mean of the batch and divides by its
    standard deviation, both computed in f32 over all but the channels, and its
    gradient flows through them. For each statistic a result is added, running *
    momentum + batch * (1 - momentum) with the batch norm's momentum and the
    variance of the population, as ONNX's training mode has it. Functions marked
    `amp.inference` stay as they are.

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
             clEnumValN(Optimizer::Sgd, "sgd", "gradient descent"),
             clEnumValN(Optimizer::Momentum, "momentum", "with momentum"),
             clEnumValN(Optimizer::Nesterov, "nesterov", "with Nesterov's momentum"),
             clEnumValN(Optimizer::Adam, "adam", "Adam, with decay in the gradient"),
             clEnumValN(Optimizer::AdamW, "adamw", "Adam with decoupled decay"),
             clEnumValN(Optimizer::AdamEpsilonHat, "adam-epsilon-hat", "Adam as ONNX has it"),
             clEnumValN(Optimizer::Adagrad, "adagrad", "Adagrad"))}]>,
    Option<"firstCount", "first-count", "int64_t", "0",
           "The count of updates that the first one finds, for ONNX's optimizers.">
  ];
  let dependentDialects = ["::ampc::amp::AmpDialect", "::ampc::train::TrainDialect",
                           "::mlir::func::FuncDialect"];
}

def TrainingExpandDropoutPass : Pass<"training-expand-dropout", "mlir::ModuleOp"> {
  let summary = "Drop elements in the step, and none elsewhere";
  let description = [{
    *Requires* gradients built.

    *Does*: in a function marked `amp.inference` a dropout is its input. In others
    it selects by `train.bernoulli`, keyed by the state `train.seed` and counted
    by the micro-steps of the window (`train.micro`) and the updates before it
    (`train.taken` and `train.skipped`), which are added where they are missing.
    So a step that is run again on the same states drops the same elements.

    *Guarantees*: no `train.dropout` is left.

    ```mlir
    %y = train.dropout %x {ratio = 0.5 : f64, stream = 0 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    // becomes
    %n = amp.add %taken, %skipped : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %m = train.bernoulli %seed, %n, %micro {probability = 0.5 : f64, stream = 0 : i64} : .. -> tensor<8xi1>
    %0 = amp.mul %x, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    %y = amp.select %m, %0, %zero : (tensor<8xi1>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect", "::ampc::train::TrainDialect"];
}

def TrainingKeepCopiesPass : Pass<"training-keep-copies", "mlir::ModuleOp"> {
  let summary = "Keep 16-bit copies of parameters, which the update writes";
  let description = [{
    *Requires* a trainer with its parameters in the arena `@parameters`.

    *Does*: where a function casts a parameter, or a view of it, to a 16-bit type,
    it reads a state of that type instead, in an arena with the index of the
    parameters. `@apply` writes these arenas together with the parameters, and a
    new function `@refresh` writes them after parameters have come from outside.
    They have no first value: a session begins with `refresh`.

    *Guarantees*: no function but these two casts a parameter to 16 bits.

    ```mlir
    func.func @step(%w: tensor<4xf32> {train.state = @w}) {
      %0 = amp.cast %w : (tensor<4xf32>) -> tensor<4xf16>
    // becomes
    func.func @step(%w: tensor<4xf32> {train.state = @w}, %0: tensor<4xf16> {train.state = @w.f16}) {
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect", "::ampc::train::TrainDialect",
                           "::mlir::func::FuncDialect"];
}

def TrainingRecomputeActivationsPass : Pass<"training-recompute-activations", "mlir::func::FuncOp"> {
  let summary = "Compute again what is cheaper to compute than to keep";
  let description = [{
    *Requires* a step as training-build-step makes it. Its backward pass begins
    with the first operation that reads the state `train.scale`, or what follows
    from it, and an activation.

    *Does*: decides which activations the backward pass finds in memory: those of
    the fewest bytes from which all it reads follows by elementwise operations
    and views, a cheapest cut of the graph. The rest is computed again, for each
    reader by itself, so that it fuses into the reader's kernel. What a
    contraction or another operation reads that does not fuse with what computes
    its operands is kept.

    *Guarantees*: no reduction, contraction or random number is computed twice.
    Values are those of the forward pass, but for roundings that a kernel skips.

    ```mlir
    %c = amp.cast %x : (tensor<8x4xf16>) -> tensor<8x4xf32>
    %m = amp.reduce_mean %c {axes = array<i64: 0>, keepdims = true} : (tensor<8x4xf32>) -> tensor<1x4xf32>
    %d = amp.sub %c, %m : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
    ...
    %g = amp.mul %s, %d : (tensor<f32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    // ends in
    %c1 = amp.cast %x : (tensor<8x4xf16>) -> tensor<8x4xf32>
    %d1 = amp.sub %c1, %m : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
    %g = amp.mul %s, %d1 : (tensor<f32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def TrainingRecomputeBlocksPass : Pass<"training-recompute-blocks", "mlir::func::FuncOp"> {
  let summary = "Keep the inputs of blocks and compute blocks again for their gradients";
  let description = [{
    *Requires* a step as training-build-step makes it. No later pass may merge
    common subexpressions.

    *Does*: cuts the forward pass where one large value lives, as between layers
    and residual blocks, and keeps what crosses the cuts. Each block but the last
    is computed again where its gradients begin. With `all` only those cuts are
    made with which the values that are kept and the largest block are least
    together: fewer and larger blocks, as in T. Chen et al., Training Deep Nets
    with Sublinear Memory Cost (2016).

    *Guarantees*: states are written by the forward pass alone. Random numbers
    follow from the state, so a block draws the same ones again.

    ```mlir
    %a = amp.tanh %x ...     // a block: %b is kept, %a is not
    %b = amp.tanh %a ...
    %c = amp.tanh %b ...
    ... gradient of %c
    // followed by
    %a1 = amp.tanh %x ...
    ... gradients that read %a1 and %b
    ```
  }];
  let options = [
    Option<"mode", "mode", "RecomputeMode", "RecomputeMode::Blocks", "Which blocks there are.",
           [{::llvm::cl::values(
             clEnumValN(RecomputeMode::Blocks, "blocks", "as small as there are"),
             clEnumValN(RecomputeMode::All, "all", "those that take the least memory"))}]>
  ];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

#endif // AMPC_PASSES_TRAINING_PASSES_TD
