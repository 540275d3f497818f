//===- AmpReductionOps.td - Reductions, softmax and normalizations --------===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPREDUCTIONOPS_TD
#define AMPC_DIALECTS_AMP_IR_AMPREDUCTIONOPS_TD

include "dialects/Amp/IR/AmpBase.td"

class Amp_RowOp<string mnemonic, I32EnumAttrCase cls, list<Trait> traits = []>
    : Amp_ComputeOp<mnemonic, cls, "RowReduction", traits>;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

class Amp_ReduceOp<string mnemonic, I32EnumAttrCase cls, string what, Type type = Amp_NumberTensor>
    : Amp_RowOp<mnemonic, cls, [InferTypeOpAdaptor, AllElementTypesMatch<["input", "result"]>]> {
  let summary = what # " over axes";
  let description = "Reduces `axes` (sorted, non-negative, possibly none) to their " # what # ". 16-bit "
    "floats accumulate in f32 and are rounded once.\n\n```mlir\n"
    "%y = amp." # mnemonic # " %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>\n```";
  let arguments = (ins type:$input, DenseI64ArrayAttr:$axes, BoolAttr:$keepdims);
  let results = (outs type:$result);
}
def Amp_ReduceSumOp : Amp_ReduceOp<"reduce_sum", AutocastFp32, "sum">;
def Amp_ReduceMeanOp : Amp_ReduceOp<"reduce_mean", AutocastFollow, "mean">;
def Amp_ReduceProdOp : Amp_ReduceOp<"reduce_prod", AutocastFp32, "product">;
def Amp_ReduceMaxOp : Amp_ReduceOp<"reduce_max", AutocastFollow, "maximum (NaN if any is NaN)", Amp_AnyTensor>;
def Amp_ReduceMinOp : Amp_ReduceOp<"reduce_min", AutocastFollow, "minimum (NaN if any is NaN)", Amp_AnyTensor>;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

class Amp_SoftmaxLikeOp<string mnemonic, string formula>
    : Amp_RowOp<mnemonic, AutocastFp32, [SameOperandsAndResultType]> {
  let summary = formula # " along an axis";
  let description = "The maximum of the row is subtracted first. Computed in f32 for 16-bit floats.\n\n```mlir\n"
    "%y = amp." # mnemonic # " %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>\n```";
  let arguments = (ins Amp_FloatTensor:$input, I64Attr:$axis);
  let results = (outs Amp_FloatTensor:$result);
  let hasVerifier = 1;
}
def Amp_SoftmaxOp : Amp_SoftmaxLikeOp<"softmax", "exp(x) / sum(exp(x))">;
def Amp_LogSoftmaxOp : Amp_SoftmaxLikeOp<"log_softmax", "x - log(sum(exp(x)))">;

//===----------------------------------------------------------------------===//
// Normalizations: statistics and arithmetic in f32, the input's type out
//===----------------------------------------------------------------------===//

class Amp_NormOp<string mnemonic, list<Trait> traits = []>
    : Amp_RowOp<mnemonic, AutocastFollow, [AllTypesMatch<["input", "result"]>] # traits> {
  let results = (outs Amp_FloatTensor:$result);
  code pinParameters = declared # [{
    bool isPinnedOperand(unsigned operand) { return operand != 0; }
  }];
  let extraClassDeclaration = pinParameters # [{
    static ::ampc::AutocastClass getEagerAutocastClass() { return ::ampc::AutocastClass::Fp32; }
  }];
  // Which of two optional operands are there must be readable.
  string scaleAndBias = "$input (`scale` $scale^)? (`bias` $bias^)? attr-dict "
                        "`:` functional-type(operands, results)";
}

def Amp_LayerNormOp : Amp_NormOp<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "(x - mean) / sqrt(variance + eps) * scale + bias over trailing dimensions";
  let description = [{
    Over dimensions `axis` to the last. `scale` and `bias` (absent: 1 and 0)
    broadcast to the normalized dimensions; their float type is their own.
    Mean first, then the mean of squared differences; both in f32.

    ```mlir
    %y = amp.layer_norm %x scale %g bias %b {axis = 1 : i64, epsilon = 1.0e-5 : f64}
       : (tensor<4x8xbf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xbf16>
    ```
  }];
  let arguments = (ins Amp_FloatTensor:$input, Optional<Amp_FloatTensor>:$scale,
                       Optional<Amp_FloatTensor>:$bias, I64Attr:$axis, F64Attr:$epsilon);
  let assemblyFormat = scaleAndBias;
  let hasVerifier = 1;
}

def Amp_RmsNormOp : Amp_NormOp<"rms_norm"> {
  let summary = "x / sqrt(mean(x^2) + eps) * scale over trailing dimensions";
  let description = [{
    ```mlir
    %y = amp.rms_norm %x, %g {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Amp_FloatTensor:$input, Optional<Amp_FloatTensor>:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let hasVerifier = 1;
}

def Amp_GroupNormOp : Amp_NormOp<"group_norm", [AttrSizedOperandSegments]> {
  let summary = "normalization over groups of channels and all spatial dimensions";
  let description = [{
    `input` is N, C, spatial... in the given layout; `scale` and `bias` have C
    elements (absent: 1 and 0). `groups` = C is instance normalization.

    ```mlir
    %y = amp.group_norm %x scale %g bias %b {groups = 2 : i64, epsilon = 1.0e-5 : f64}
       : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Amp_FloatTensor:$input, Optional<Amp_FloatTensor>:$scale, Optional<Amp_FloatTensor>:$bias,
                       I64Attr:$groups, F64Attr:$epsilon,
                       DefaultValuedAttr<Amp_LayoutAttr, "::ampc::amp::Layout::ChannelsFirst">:$layout);
  let assemblyFormat = scaleAndBias;
  let extraClassDeclaration = pinParameters # [{
    /// Instance normalization is in none of PyTorch's lists.
    ::ampc::AutocastClass getEagerAutocastClass() {
      auto type = getInput().getType();
      int64_t channel = getLayout() == Layout::ChannelsFirst ? 1 : type.getRank() - 1;
      bool instance = static_cast<int64_t>(getGroups()) == type.getDimSize(channel);
      return instance ? ::ampc::AutocastClass::Follow : ::ampc::AutocastClass::Fp32;
    }
  }];
  let hasVerifier = 1;
}

def Amp_BatchNormOp : Amp_ComputeOp<"batch_norm", AutocastFollow, "Never", [
    AllTypesMatch<["input", "result"]>]> {
  let summary = "(x - mean) / sqrt(variance + eps) * scale + bias with given statistics";
  let description = [{
    Per channel (dimension 1). Folded into a neighbouring contraction or
    rewritten to elementwise ops in f32 before kernels are formed.
    `momentum` is the share of a running statistic that a step of training keeps.

    ```mlir
    %y = amp.batch_norm %x, %g, %b, %m, %v {epsilon = 1.0e-5 : f64}
       : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Amp_FloatTensor:$input, Amp_FloatTensor:$scale, Amp_FloatTensor:$bias,
                       Amp_FloatTensor:$mean, Amp_FloatTensor:$variance, F64Attr:$epsilon,
                       DefaultValuedAttr<F64Attr, "0.9">:$momentum,
                       DefaultValuedAttr<Amp_LayoutAttr, "::ampc::amp::Layout::ChannelsFirst">:$layout);
  let results = (outs Amp_FloatTensor:$result);
  let extraClassDeclaration = declared # [{
    bool isPinnedOperand(unsigned operand) { return operand != 0; }
  }];
  let hasVerifier = 1;
}

#endif // AMPC_DIALECTS_AMP_IR_AMPREDUCTIONOPS_TD
