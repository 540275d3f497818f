//===- AmpGradientOps.td - Gradients that other ops do not express --------===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPGRADIENTOPS_TD
#define AMPC_DIALECTS_AMP_IR_AMPGRADIENTOPS_TD

include "dialects/Amp/IR/AmpBase.td"

def Amp_ConvWeightGradientOp : Amp_WideResultOp<"conv_weight_gradient", AutocastLower, "Contraction"> {
  let summary = "gradient of a convolution with respect to its weight";
  let description = [{
    `input` is the input of an `amp.conv` with these attributes, `gradient` that
    of its result; `kernel` holds the weight's spatial sizes. The result is
    [O, C / group, spatial...] and sums over samples and output positions:

        result[o, c, t] = sum over n, p of
                          gradient[n, o, p] * input[n, c, p * stride + t * dilation - pad]

    ```mlir
    %dw = amp.conv_weight_gradient %x, %dy {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>,
      pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : (tensor<2x3x8x8xbf16>, tensor<2x16x8x8xbf16>) -> tensor<16x3x3x3xf32>
    ```
  }];
  let arguments = (ins Amp_FloatTensor:$input, Amp_FloatTensor:$gradient, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       I64Attr:$group,
                       DefaultValuedAttr<Amp_LayoutAttr, "::ampc::amp::Layout::ChannelsFirst">:$layout);
  let results = (outs Amp_FloatTensor:$result);
  let hasVerifier = 1;
}

def Amp_MaxPoolGradientOp : Amp_ComputeOp<"max_pool_gradient", AutocastFollow, "Indexed", [
    DeclareOpInterfaceMethods<IndexedOpInterface>, AllShapesMatch<["input", "result"]>,
    AllElementTypesMatch<["input", "gradient", "result"]>]> {
  let summary = "gradient of `amp.max_pool` with respect to its input";
  let description = [{
    Each window hands its gradient to its largest element: of equal ones to the
    first in row-major order. A NaN is larger than all that comes before it. An
    element that wins several windows gets the sum, taken in f32 in the order of
    its positions in them.

    ```mlir
    %dx = amp.max_pool_gradient %x, %dy {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>,
      dilations = array<i64: 1>} : (tensor<1x3x8xf32>, tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
    ```
  }];
  let arguments = (ins Amp_FloatTensor:$input, Amp_FloatTensor:$gradient, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<Amp_LayoutAttr, "::ampc::amp::Layout::ChannelsFirst">:$layout);
  let results = (outs Amp_FloatTensor:$result);
  let hasVerifier = 1;
}

def Amp_AvgPoolGradientOp : Amp_ComputeOp<"avg_pool_gradient", AutocastFollow, "Indexed", [
    DeclareOpInterfaceMethods<IndexedOpInterface>, AllElementTypesMatch<["gradient", "result"]>]> {
  let summary = "gradient of `amp.avg_pool` with respect to its input";
  let description = [{
    Each window hands an equal share of its gradient to each of its elements; the
    divisor is the one of the pool.

    ```mlir
    %dx = amp.avg_pool_gradient %dy {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>,
      dilations = array<i64: 1>} : (tensor<1x3x4xf32>) -> tensor<1x3x8xf32>
    ```
  }];
  let arguments = (ins Amp_FloatTensor:$gradient, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<Amp_LayoutAttr, "::ampc::amp::Layout::ChannelsFirst">:$layout,
                       DefaultValuedAttr<BoolAttr, "false">:$count_include_pad);
  let results = (outs Amp_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // AMPC_DIALECTS_AMP_IR_AMPGRADIENTOPS_TD
