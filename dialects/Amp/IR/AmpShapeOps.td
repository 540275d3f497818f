//===- AmpShapeOps.td - Views, padding, concatenation, generators ---------===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPSHAPEOPS_TD
#define AMPC_DIALECTS_AMP_IR_AMPSHAPEOPS_TD

include "dialects/Amp/IR/AmpBase.td"

class Amp_ViewOp<string mnemonic, list<Trait> traits = []>
    : Amp_ComputeOp<mnemonic, AutocastFollow, "View",
        [DeclareOpInterfaceMethods<IndexedOpInterface>, AllElementTypesMatch<["input", "result"]>] # traits> {
  let results = (outs Amp_AnyTensor:$result);
}

class Amp_IndexedOp<string mnemonic, I32EnumAttrCase cls, list<Trait> traits = []>
    : Amp_ComputeOp<mnemonic, cls, "Indexed",
        [DeclareOpInterfaceMethods<IndexedOpInterface>] # traits>;

def Amp_ReshapeOp : Amp_ViewOp<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let description = [{
    ```mlir
    %y = amp.reshape %x : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input);
  let extraClassDeclaration = declared # [{
    ::mlir::LogicalResult updateResultTypes();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Amp_TransposeOp : Amp_ViewOp<"transpose", [InferTypeOpAdaptor]> {
  let summary = "permutation of dimensions";
  let description = [{
    Result dimension i is input dimension `permutation[i]`.

    ```mlir
    %y = amp.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, DenseI64ArrayAttr:$permutation);
  let hasFolder = 1;
}

def Amp_SliceOp : Amp_ViewOp<"slice", [InferTypeOpAdaptor]> {
  let summary = "every `strides`-th element from `starts`, `sizes` of them";
  let description = [{
    Result index i reads input index `starts + strides * i` in each dimension;
    a stride may be negative. All lie inside the input.

    ```mlir
    %y = amp.slice %x {starts = array<i64: 0, 7>, sizes = array<i64: 4, 8>, strides = array<i64: 1, -1>}
       : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes,
                       DenseI64ArrayAttr:$strides);
  let hasFolder = 1;
}

def Amp_BroadcastOp : Amp_ViewOp<"broadcast"> {
  let summary = "NumPy's broadcast to the result's shape";
  let description = [{
    ```mlir
    %y = amp.broadcast %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input);
  let extraClassDeclaration = declared # [{
    ::mlir::LogicalResult updateResultTypes();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Amp_ConcatOp : Amp_IndexedOp<"concat", AutocastPromote, [InferTypeOpAdaptor]> {
  let summary = "operands joined along an axis";
  let description = [{
    ```mlir
    %y = amp.concat %a, %b {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    ```
  }];
  let arguments = (ins Variadic<Amp_AnyTensor>:$inputs, I64Attr:$axis);
  let results = (outs Amp_AnyTensor:$result);
  let hasFolder = 1;
}

def Amp_PadOp : Amp_IndexedOp<"pad", AutocastFollow, [InferTypeOpAdaptor,
    AllElementTypesMatch<["input", "result"]>]> {
  let summary = "padding; negative amounts crop";
  let description = [{
    `low` and `high` elements are added before and after each dimension.
    `value` (rank 0, mode constant only; zero when absent) fills them; the other
    modes repeat input elements as NumPy's pad does.

    ```mlir
    %y = amp.pad %x {low = array<i64: 1>, high = array<i64: 2>, mode = #amp.pad_mode<edge>}
       : (tensor<4xf32>) -> tensor<7xf32>
    ```
  }];
  let arguments = (ins Amp_AnyTensor:$input, Optional<Amp_AnyTensor>:$value, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, Amp_PadModeAttr:$mode);
  let results = (outs Amp_AnyTensor:$result);
}

def Amp_IotaOp : Amp_IndexedOp<"iota", AutocastFollow> {
  let summary = "the index along a dimension";
  let description = [{
    ```mlir
    %y = amp.iota {dimension = 1 : i64} : () -> tensor<2x8xi64>
    ```
  }];
  let arguments = (ins I64Attr:$dimension);
  let results = (outs Amp_NumberTensor:$result);
  let hasVerifier = 1;
}

#endif // AMPC_DIALECTS_AMP_IR_AMPSHAPEOPS_TD
