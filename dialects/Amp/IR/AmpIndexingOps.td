//===- AmpIndexingOps.td - Gathers, scatters, windows, order --------------===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPINDEXINGOPS_TD
#define AMPC_DIALECTS_AMP_IR_AMPINDEXINGOPS_TD

include "dialects/Amp/IR/AmpShapeOps.td"

class Amp_SerialOp<string mnemonic, I32EnumAttrCase cls, list<Trait> traits = []>
    : Amp_ComputeOp<mnemonic, cls, "Serial", traits>;

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

def Amp_GatherOp : Amp_IndexedOp<"gather", AutocastFollow, [InferTypeOpAdaptor]> {
  let summary = "slices along an axis picked by indices";
  let description = [{
    NumPy's take: the result's shape is input[:axis] + indices + input[axis+1:].
    A negative index counts from the end; one that lies outside is clamped to
    the nearest valid index, so that no memory outside the input is read.

    ```mlir
    %y = amp.gather %x, %i {axis = 0 : i64} : (tensor<100x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, Amp_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Amp_AnyTensor:$result);
}

def Amp_GatherElementsOp : Amp_IndexedOp<"gather_elements", AutocastFollow, [InferTypeOpAdaptor]> {
  let summary = "elements picked along an axis by an index tensor";
  let description = [{
    result[i, j, ...] = input[indices[i, j, ...], j, ...] for axis 0. Indices as
    in `amp.gather`.

    ```mlir
    %y = amp.gather_elements %x, %i {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, Amp_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Amp_AnyTensor:$result);
}

def Amp_GatherNdOp : Amp_IndexedOp<"gather_nd", AutocastFollow, [InferTypeOpAdaptor]> {
  let summary = "slices picked by index tuples";
  let description = [{
    The last dimension of `indices` holds tuples into the dimensions of `input`
    after the `batch_dims` leading ones, which both share.

    ```mlir
    %y = amp.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<4x5x6xf32>, tensor<7x2xi64>) -> tensor<7x6xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, Amp_IndexTensor:$indices, I64Attr:$batch_dims);
  let results = (outs Amp_AnyTensor:$result);
}

//===----------------------------------------------------------------------===//
// Pooling and resizing
//===----------------------------------------------------------------------===//

class Amp_PoolOp<string mnemonic, string what, Type type>
    : Amp_IndexedOp<mnemonic, AutocastFollow, [InferTypeOpAdaptor]> {
  let summary = what # " over a sliding window";
  let results = (outs type:$result);
  dag window = (ins type:$input, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                    DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                    DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                    DefaultValuedAttr<Amp_LayoutAttr, "::ampc::amp::Layout::ChannelsFirst">:$layout);
}

def Amp_MaxPoolOp : Amp_PoolOp<"max_pool", "maximum", Amp_NumberTensor> {
  let description = [{
    One entry per spatial dimension in `kernel`, `strides`, `dilations`; `pads`
    holds all begins, then all ends, as ONNX does. Padding never wins; NaN does.

    ```mlir
    %y = amp.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>,
      dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
    ```
  }];
  let arguments = window;
}

def Amp_AvgPoolOp : Amp_PoolOp<"avg_pool", "mean", Amp_FloatTensor> {
  let description = [{
    The sum is taken in f32 in row-major order of the window and divided by the
    number of elements: those inside the input, or with `count_include_pad`
    those inside the input and its padding.

    ```mlir
    %y = amp.avg_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>,
      dilations = array<i64: 1>} : (tensor<1x3x8xf32>) -> tensor<1x3x4xf32>
    ```
  }];
  let arguments = !con(window, (ins DefaultValuedAttr<BoolAttr, "false">:$count_include_pad));
}

def Amp_ResizeOp : Amp_IndexedOp<"resize", AutocastFp32> {
  let summary = "interpolation to another size";
  let description = [{
    ONNX's Resize over all dimensions. `scales` has one entry per dimension
    (result = floor(input * scale) unless sizes were given), in float64: it is
    never narrowed. `roi` (starts, then ends) serves `tf_crop_and_resize` only.
    Coordinates and weights are float64; sums are taken in f32 (f64 for f64 and
    for integers of 32 and 64 bits), and integer results truncated.

    ```mlir
    %y = amp.resize %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, mode = #amp.resize_mode<nearest>,
      coordinate_mode = #amp.coordinate_mode<asymmetric>, nearest_mode = #amp.nearest_mode<floor>}
      : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>
    ```
  }];
  let arguments = (ins Amp_NumberTensor:$input, DenseF64ArrayAttr:$scales,
      Amp_ResizeModeAttr:$mode, Amp_CoordinateModeAttr:$coordinate_mode,
      DefaultValuedAttr<Amp_NearestModeAttr, "::ampc::amp::NearestMode::RoundPreferFloor">:$nearest_mode,
      DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coeff,
      DefaultValuedAttr<BoolAttr, "false">:$exclude_outside,
      DefaultValuedAttr<BoolAttr, "false">:$antialias,
      DefaultValuedAttr<F64Attr, "0.0">:$extrapolation_value,
      OptionalAttr<DenseF64ArrayAttr>:$roi);
  let results = (outs Amp_NumberTensor:$result);
  let extraClassDeclaration = declared # [{
    ::mlir::LogicalResult updateResultTypes();
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Serial
//===----------------------------------------------------------------------===//

def Amp_ScatterElementsOp : Amp_SerialOp<"scatter_elements", AutocastPromote, [InferTypeOpAdaptor]> {
  let summary = "a copy of the input with elements replaced or combined along an axis";
  let description = [{
    result[indices[i, j, ...], j, ...] = updates[i, j, ...] for axis 0, in
    row-major order of `updates`. Indices as in `amp.gather`.

    ```mlir
    %y = amp.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #amp.scatter_reduction<none>}
       : (tensor<4x8xf32>, tensor<2x8xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, Amp_IndexTensor:$indices, Amp_AnyTensor:$updates,
                       I64Attr:$axis, Amp_ScatterReductionAttr:$reduction);
  let results = (outs Amp_AnyTensor:$result);
}

def Amp_ScatterNdOp : Amp_SerialOp<"scatter_nd", AutocastPromote, [InferTypeOpAdaptor]> {
  let summary = "a copy of the input with slices replaced or combined at index tuples";
  let description = [{
    ```mlir
    %y = amp.scatter_nd %x, %i, %u {reduction = #amp.scatter_reduction<add>}
       : (tensor<4x8xf32>, tensor<2x1xi64>, tensor<2x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, Amp_IndexTensor:$indices, Amp_AnyTensor:$updates,
                       Amp_ScatterReductionAttr:$reduction);
  let results = (outs Amp_AnyTensor:$result);
}

def Amp_CumSumOp : Amp_SerialOp<"cumsum", AutocastFp32, [SameOperandsAndResultType]> {
  let summary = "running sum along an axis";
  let description = [{
    16-bit floats are summed in f32, each result rounded once.

    ```mlir
    %y = amp.cumsum %x {axis = 0 : i64, exclusive = false, reverse = false} : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Amp_NumberTensor:$input, I64Attr:$axis, BoolAttr:$exclusive, BoolAttr:$reverse);
  let results = (outs Amp_NumberTensor:$result);
  let hasVerifier = 1;
}

def Amp_TopKOp : Amp_SerialOp<"top_k", AutocastFollow, [InferTypeOpAdaptor]> {
  let summary = "the k largest (or smallest) elements along an axis and their indices";
  let description = [{
    Sorted; of equal elements the one with the lower index comes first.

    ```mlir
    %v, %i = amp.top_k %x {k = 3 : i64, axis = 1 : i64, largest = true} : (tensor<4x8xf32>) -> (tensor<4x3xf32>, tensor<4x3xi64>)
    ```
  }];
  let arguments = (ins Amp_NumberTensor:$input, I64Attr:$k, I64Attr:$axis, BoolAttr:$largest);
  let results = (outs Amp_NumberTensor:$values, Amp_TensorOf<[I64]>:$indices);
}

class Amp_ArgReduceOp<string mnemonic, string what>
    : Amp_SerialOp<mnemonic, AutocastFollow, [InferTypeOpAdaptor]> {
  let summary = "index of the " # what # " along an axis";
  let description = "With `select_last`, the last of equal elements, else the first.\n\n```mlir\n"
    "%y = amp." # mnemonic # " %x {axis = 1 : i64, keepdims = true, select_last = false} : (tensor<4x8xf32>) -> tensor<4x1xi64>\n```";
  let arguments = (ins Amp_NumberTensor:$input, I64Attr:$axis, BoolAttr:$keepdims, BoolAttr:$select_last);
  let results = (outs Amp_TensorOf<[I64]>:$result);
}
def Amp_ArgMaxOp : Amp_ArgReduceOp<"arg_max", "maximum">;
def Amp_ArgMinOp : Amp_ArgReduceOp<"arg_min", "minimum">;

#endif // AMPC_DIALECTS_AMP_IR_AMPINDEXINGOPS_TD
