//===- AmpContractionOps.td - Matrix products, convolutions, attention ----===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPCONTRACTIONOPS_TD
#define AMPC_DIALECTS_AMP_IR_AMPCONTRACTIONOPS_TD

include "dialects/Amp/IR/AmpBase.td"

// The accumulator of every contraction is f32 for f16, bf16 and f32 operands,
// f64 for f64 and the operand type for integers. The result has the operands'
// type, rounded once, or the accumulator's: then no rounding takes place here.

def Amp_MatmulOp : Amp_WideResultOp<"matmul", AutocastLower, "Contraction"> {
  let summary = "matrix product with batch broadcasting and optional addend";
  let description = [{
    `lhs` is [..., M, K] ([..., K, M] with `transpose_lhs`), `rhs` is
    [..., K, N] ([..., N, K] with `transpose_rhs`); leading dimensions
    broadcast; the result is [..., M, N]. `bias` broadcasts to the result and is
    added to the accumulator before any rounding.

    ```mlir
    %y = amp.matmul %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins Amp_NumberTensor:$lhs, Amp_NumberTensor:$rhs, Optional<Amp_NumberTensor>:$bias,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs Amp_NumberTensor:$result);
  let hasVerifier = 1;
}

def Amp_ConvOp : Amp_WideResultOp<"conv", AutocastLower, "Contraction"> {
  let summary = "convolution with 1 to 3 spatial dimensions";
  let description = [{
    `input` is [N, C, spatial...] or, in layout channels_last, [N, spatial..., C].
    `weight` is [O, C / group, spatial...] in either layout. `bias` is [O]. The
    result has the input's layout. `pads` holds all begins, then all ends.

    ```mlir
    %y = amp.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>,
      group = 1 : i64}
      : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
    ```
  }];
  let arguments = (ins Amp_NumberTensor:$input, Amp_NumberTensor:$weight, Optional<Amp_NumberTensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       I64Attr:$group,
                       DefaultValuedAttr<Amp_LayoutAttr, "::ampc::amp::Layout::ChannelsFirst">:$layout);
  let results = (outs Amp_NumberTensor:$result);
  let hasVerifier = 1;
}

def Amp_ConvTransposeOp : Amp_WideResultOp<"conv_transpose", AutocastLower, "Contraction"> {
  let summary = "transposed convolution";
  let description = [{
    `weight` is [C, O / group, spatial...]. The spatial size of the result is
    stride * (in - 1) + output_padding + (kernel - 1) * dilation + 1 - pads.

    ```mlir
    %y = amp.conv_transpose %x, %w {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>,
      output_padding = array<i64: 0>, group = 1 : i64}
      : (tensor<1x3x8xf32>, tensor<3x5x2xf32>) -> tensor<1x5x16xf32>
    ```
  }];
  let arguments = (ins Amp_FloatTensor:$input, Amp_FloatTensor:$weight, Optional<Amp_FloatTensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$output_padding, I64Attr:$group,
                       DefaultValuedAttr<Amp_LayoutAttr, "::ampc::amp::Layout::ChannelsFirst">:$layout);
  let results = (outs Amp_FloatTensor:$result);
  let hasVerifier = 1;
}

def Amp_AttentionOp : Amp_WideResultOp<"attention", AutocastLower, "Attention"> {
  let summary = "softmax(scale * Q K^T + mask) V";
  let description = [{
    `query` is [B, H, S, D], `key` [B, Hk, T, D], `value` [B, Hk, T, E], H a
    multiple of Hk (query head h reads head h / (H / Hk)); the result is
    [B, H, S, E]. `mask` broadcasts to [B, H, S, T]: a float mask is added to
    the scores, a boolean one excludes where false; it keeps its own type.
    `causal` excludes key positions j > i + T - S when `causal_align_end`, else
    j > i. `softcap` c > 0 bounds scores to c * tanh(score / c) before the mask.
    Scores and softmax are f32; the probabilities are rounded to the operands'
    type before the second product. A row with nothing left gives zeros.

    ```mlir
    %y = amp.attention %q, %k, %v {scale = 0.125 : f64, causal = false}
       : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>) -> tensor<1x12x128x64xf32>
    ```
  }];
  let arguments = (ins Amp_FloatTensor:$query, Amp_FloatTensor:$key, Amp_FloatTensor:$value,
                       Optional<Amp_AnyTensor>:$mask, F64Attr:$scale, BoolAttr:$causal,
                       DefaultValuedAttr<BoolAttr, "false">:$causal_align_end,
                       DefaultValuedAttr<F64Attr, "0.0">:$softcap);
  let results = (outs Amp_FloatTensor:$result);
  let extraClassDeclaration = declared # [{
    bool isPinnedOperand(unsigned operand) { return operand == 3; }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Packed weights
//===----------------------------------------------------------------------===//

def Amp_PackOp : Amp_ComputeOp<"pack", AutocastFollow, "Indexed", [InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<IndexedOpInterface>, AllElementTypesMatch<["input", "result"]>]> {
  let summary = "a right-hand matrix in panels of neighbouring output columns";
  let description = [{
    Splits dimension `dimension` of the input into panels of `panel` elements,
    the last one padded with zeros, and orders the result as
    [outer dimensions..., panels, inner dimensions..., panel]. `outer` and
    `inner` name the other input dimensions, each once. Of a weight, executed at
    compile time.

    ```mlir
    %p = amp.pack %w {dimension = 1 : i64, panel = 16 : i64, outer = array<i64>, inner = array<i64: 0>}
       : (tensor<64x40xf32>) -> tensor<3x64x16xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, I64Attr:$dimension, I64Attr:$panel,
                       DenseI64ArrayAttr:$outer, DenseI64ArrayAttr:$inner);
  let results = (outs Amp_AnyTensor:$result);
}

def Amp_UnpackOp : Amp_ComputeOp<"unpack", AutocastFollow, "View", [
    DeclareOpInterfaceMethods<IndexedOpInterface>, AllElementTypesMatch<["input", "result"]>]> {
  let summary = "the logical weight behind packed panels";
  let description = [{
    Inverse of `amp.pack` with the same attributes; drops the padding. Inside a
    kernel it tells that an operand is stored in panels.

    ```mlir
    %w = amp.unpack %p {dimension = 1 : i64, panel = 16 : i64, outer = array<i64>, inner = array<i64: 0>}
       : (tensor<3x64x16xf32>) -> tensor<64x40xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, I64Attr:$dimension, I64Attr:$panel,
                       DenseI64ArrayAttr:$outer, DenseI64ArrayAttr:$inner);
  let results = (outs Amp_AnyTensor:$result);
  let extraClassDeclaration = declared # [{
    ::mlir::LogicalResult updateResultTypes();
  }];
  let hasVerifier = 1;
}

#endif // AMPC_DIALECTS_AMP_IR_AMPCONTRACTIONOPS_TD
