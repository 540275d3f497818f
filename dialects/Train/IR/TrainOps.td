//===- TrainOps.td - Loss scaling and optimizers --------------------------===//
#ifndef AMPC_DIALECTS_TRAIN_IR_TRAINOPS_TD
#define AMPC_DIALECTS_TRAIN_IR_TRAINOPS_TD

include "dialects/Interfaces/FusionInterfaces.td"
include "dialects/Interfaces/KernelInterfaces.td"
include "dialects/Interfaces/LayoutInterfaces.td"
include "dialects/Interfaces/PrecisionInterfaces.td"
include "dialects/Train/IR/TrainEnums.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Train_Dialect : Dialect {
  let name = "train";
  let cppNamespace = "::ampc::train";
  let summary = "what a training step does beside its gradients";
  let description = [{
    Loss scaling and parameter updates as pure functions of tensors, with exact
    semantics: those of PyTorch's GradScaler and optimizers, but for a floor
    under the scale. Nothing here asks the host: whether a step is skipped is a
    tensor. `training-expand-updates` writes the operations as ones of `amp`,
    which form kernels as all others do.

    Numbers of an update (learning rate, decay ..) are operands of rank 0, so
    that a program can change them from step to step.
  }];
}

def Train_F32 : TensorOf<[F32]>;
def Train_Scalar : 0DTensorOf<[F32]>;
def Train_Flag : TensorOf<[I1]>;
def Train_Count : TensorOf<[I32]>;

class Train_Op<string mnemonic, list<Trait> traits = []> : Op<Train_Dialect, mnemonic, [Pure] # traits> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Loss scaling
//===----------------------------------------------------------------------===//

def Train_CheckOp : Train_Op<"check"> {
  let summary = "whether gradients are finite, and their norm";
  let description = [{
    `found_inf` tells whether any element of gradients * multiplier is an
    infinity or NaN, rounded to f32: below a scale of 1 a finite gradient may
    overflow when it is unscaled. `norm` is the Euclidean norm of that product,
    summed in f32; it is NaN where `found_inf` holds. The norm of finite gradients
    may be infinite, which is no reason to skip a step.

    ```mlir
    %found, %norm = train.check %g, %m : (tensor<1024xf32>, tensor<f32>) -> (tensor<i1>, tensor<f32>)
    ```
  }];
  let arguments = (ins Train_F32:$gradients, Train_Scalar:$multiplier);
  let results = (outs 0DTensorOf<[I1]>:$found_inf, Train_Scalar:$norm);
}

def Train_UpdateScaleOp : Train_Op<"update_scale", [
    AllTypesMatch<["scale", "new_scale"]>, AllTypesMatch<["tracker", "new_tracker"]>,
    AllShapesMatch<["scale", "tracker", "found_inf"]>]> {
  let summary = "the loss scale after a step";
  let description = [{
    GradScaler's update. Where `found_inf` holds the scale is multiplied by
    `backoff_factor`, but not below `floor`, and the tracker of steps without an
    overflow starts anew. Elsewhere the tracker counts, and when it reaches
    `growth_interval` the scale is multiplied by `growth_factor`, unless that is
    no longer finite, and the tracker starts anew. Element by element.

    See aten/src/ATen/native/cuda/AmpKernels.cu of PyTorch. The floor is ours:
    without one a long run of overflows ends in a scale whose inverse is
    infinite.

    ```mlir
    %s1, %t1 = train.update_scale %s, %t, %found, %growth, %backoff, %interval, %floor
      : (tensor<f32>, tensor<i32>, tensor<i1>, tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>)
      -> (tensor<f32>, tensor<i32>)
    ```
  }];
  let arguments = (ins Train_F32:$scale, Train_Count:$tracker, Train_Flag:$found_inf,
                       Train_Scalar:$growth_factor, Train_Scalar:$backoff_factor,
                       0DTensorOf<[I32]>:$growth_interval, Train_Scalar:$floor);
  let results = (outs Train_F32:$new_scale, Train_Count:$new_tracker);
}

def Train_ClipOp : Train_Op<"clip"> {
  let summary = "the factor that keeps a gradient norm below a bound";
  let description = [{
    min(1, max_norm / (norm + 1e-6)), as PyTorch's clip_grad_norm_ has it; 1
    where `max_norm` is not positive.

    ```mlir
    %c = train.clip %norm, %max : (tensor<f32>, tensor<f32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins Train_Scalar:$norm, Train_Scalar:$max_norm);
  let results = (outs Train_Scalar:$factor);
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

def Train_SgdOp : Train_Op<"sgd", [
    AllTypesMatch<["parameter", "momentum_buffer", "gradient", "new_parameter", "new_momentum_buffer"]>]> {
  let summary = "a step of stochastic gradient descent";
  let description = [{
    With g = gradient * multiplier + weight_decay * parameter and
    b = momentum * momentum_buffer + g, the parameter moves by
    -learning_rate * b, or with `nesterov` by
    -learning_rate * (g + momentum * b). Nothing changes where `skip` holds.

    ```mlir
    %w1, %b1 = train.sgd %w, %b, %g, %m, %skip, %lr, %momentum, %decay {nesterov}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<f32>, tensor<f32>, tensor<f32>)
      -> (tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Train_F32:$parameter, Train_F32:$momentum_buffer, Train_F32:$gradient,
                       Train_Scalar:$multiplier, 0DTensorOf<[I1]>:$skip, Train_Scalar:$learning_rate,
                       Train_Scalar:$momentum, Train_Scalar:$weight_decay, UnitAttr:$nesterov);
  let results = (outs Train_F32:$new_parameter, Train_F32:$new_momentum_buffer);
}

def Train_AdamOp : Train_Op<"adam", [
    AllTypesMatch<["parameter", "mean", "square", "gradient", "new_parameter", "new_mean", "new_square"]>]> {
  let summary = "a step of Adam or AdamW";
  let description = [{
    With g = gradient * multiplier: mean' = beta1 * mean + (1 - beta1) * g,
    square' = beta2 * square + (1 - beta2) * g^2, and the parameter moves by
    -learning_rate / (1 - beta1^step) * mean' / (sqrt(square' / (1 - beta2^step)) + epsilon).
    `step` counts the steps taken, this one included. Weight decay is added to g
    (Adam), or with `decoupled` multiplies the parameter by
    1 - learning_rate * weight_decay first (AdamW). With `epsilon_hat` the epsilon
    is added to sqrt(square') before the bias of that is corrected (Kingma and
    Ba: Adam, end of section 2), and nothing is corrected where `step` is 0, as
    ONNX has it. Nothing changes where `skip` holds.

    ```mlir
    %w1, %a1, %s1 = train.adam %w, %a, %s, %g, %m, %skip, %step, %lr, %b1, %b2, %eps, %decay {decoupled}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i32>,
         tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
      -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Train_F32:$parameter, Train_F32:$mean, Train_F32:$square, Train_F32:$gradient,
                       Train_Scalar:$multiplier, 0DTensorOf<[I1]>:$skip, 0DTensorOf<[I32]>:$step,
                       Train_Scalar:$learning_rate, Train_Scalar:$beta1, Train_Scalar:$beta2,
                       Train_Scalar:$epsilon, Train_Scalar:$weight_decay, UnitAttr:$decoupled,
                       UnitAttr:$epsilon_hat);
  let results = (outs Train_F32:$new_parameter, Train_F32:$new_mean, Train_F32:$new_square);
}

def Train_AdagradOp : Train_Op<"adagrad", [
    AllTypesMatch<["parameter", "square_sum", "gradient", "new_parameter", "new_square_sum"]>]> {
  let summary = "a step of Adagrad";
  let description = [{
    With g = gradient * multiplier + weight_decay * parameter:
    square_sum' = square_sum + g^2, and the parameter moves by
    -learning_rate / (1 + (step - 1) * rate_decay) * g / (sqrt(square_sum') + epsilon).
    `step` counts the steps taken, this one included. Nothing changes where
    `skip` holds. The same as torch.optim.Adagrad, and as ONNX's Adagrad, whose
    count begins with 0.

    ```mlir
    %w1, %s1 = train.adagrad %w, %s, %g, %m, %skip, %step, %lr, %rate_decay, %eps, %decay
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i1>, tensor<i32>,
         tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
    ```
  }];
  let arguments = (ins Train_F32:$parameter, Train_F32:$square_sum, Train_F32:$gradient,
                       Train_Scalar:$multiplier, 0DTensorOf<[I1]>:$skip, 0DTensorOf<[I32]>:$step,
                       Train_Scalar:$learning_rate, Train_Scalar:$rate_decay, Train_Scalar:$epsilon,
                       Train_Scalar:$weight_decay);
  let results = (outs Train_F32:$new_parameter, Train_F32:$new_square_sum);
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

def Train_BernoulliOp : Op<Train_Dialect, "bernoulli", [
    Pure, FusableOpInterface, DeclareOpInterfaceMethods<IndexedOpInterface>]> {
  let summary = "true with a given probability";
  let description = [{
    Element i is true where the first word of Philox4x32-10 (Salmon, Moraes,
    Dror and Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011) is below
    probability * 2^32. The counter is (i, `stream`, `micro`, `update`), with the
    row-major index i, the key the two halves of `seed`, lower one first: every
    element is a function of these, whoever computes it, and as often as he
    likes. `backward` changes nothing; it tells two readers of the same bits
    apart, each of which draws them itself.

    ```mlir
    %m = train.bernoulli %seed, %update, %micro {probability = 0.9 : f64, stream = 3 : i64}
      : (tensor<i64>, tensor<i32>, tensor<i32>) -> tensor<4x8xi1>
    ```
  }];
  let arguments = (ins 0DTensorOf<[I64]>:$seed, 0DTensorOf<[I32]>:$update, 0DTensorOf<[I32]>:$micro,
                       F64Attr:$probability, I64Attr:$stream, UnitAttr:$backward);
  let results = (outs Train_Flag:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    /// Its elements are made where they are read, as those of a view are.
    static ::ampc::FusionKind getDeclaredFusionKind() { return ::ampc::FusionKind::View; }
    /// Words below it are true.
    uint32_t getThreshold();
  }];
  let hasVerifier = 1;
}

def Train_DropoutOp : Train_Op<"dropout", [
    PrecisionOpInterface, DeclareOpInterfaceMethods<LayoutOpInterface>, SameOperandsAndResultType]> {
  let summary = "zeros instead of a random share of the elements while training";
  let description = [{
    In a micro-step each element is 0 with the probability `ratio`, else divided
    by 1 - ratio; elsewhere the result is the input. What becomes of an element
    is a function of its index, of `stream`, which no two dropouts of a model
    share, of the count of micro-steps and of the state `train.seed` alone. So
    `backward`, which marks the dropout of a gradient, draws the same elements
    again, and nothing of the forward pass is kept.

    ```mlir
    %y = train.dropout %x {ratio = 0.1 : f64, stream = 3 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F16, BF16, F32, F64]>:$input, F64Attr:$ratio, I64Attr:$stream,
                       UnitAttr:$backward);
  let results = (outs RankedTensorOf<[F16, BF16, F32, F64]>:$result);
  let extraClassDeclaration = [{
    static ::ampc::AutocastClass getDeclaredAutocastClass() { return ::ampc::AutocastClass::Follow; }
    ::mlir::LogicalResult updateResultTypes() {
      getResult().setType(getInput().getType());
      return ::mlir::success();
    }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

def Train_ArenaOp : Op<Train_Dialect, "arena", [Symbol]> {
  let summary = "memory that outlives a step, as one flat tensor";
  let description = [{
    Holds the states that are placed in it. Arenas of parameters, gradients and
    moments share one index: what stands at an element of one belongs to the
    same element of the others. All elements that no state covers are zero and
    stay zero.

    ```mlir
    train.arena @parameters : tensor<1024xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type);
  let assemblyFormat = "$sym_name `:` $type attr-dict";
  let hasVerifier = 1;
}

def Train_StateOp : Op<Train_Dialect, "state", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, Symbol]> {
  let summary = "a tensor that outlives a step";
  let description = [{
    A function reads it through an argument with `train.state = @name` and
    replaces it by a result with that attribute. `initial` is its value before
    the first step, zeros when absent. Once placed, it lies in `arena` from
    element `offset` on. Its role tells whether a checkpoint holds it; what has
    none is of one update only.

    ```mlir
    train.state parameter @w : tensor<4x2xf32> in @parameters at 32 initial dense<1.0> : tensor<4x2xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type,
                       OptionalAttr<FlatSymbolRefAttr>:$arena, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<ElementsAttr>:$initial,
                       DefaultValuedAttr<Train_Role, "::ampc::train::Role::Transient">:$role);
  let assemblyFormat = [{
    ($role^)? $sym_name `:` $type (`in` $arena^ `at` $offset)? (`initial` $initial^)? attr-dict
  }];
}

#endif // AMPC_DIALECTS_TRAIN_IR_TRAINOPS_TD
