//===- AmpStructureOps.td - Constants, composites, kernels, launches ------===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPSTRUCTUREOPS_TD
#define AMPC_DIALECTS_AMP_IR_AMPSTRUCTUREOPS_TD

include "dialects/Amp/IR/AmpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def Amp_ConstantOp : Op<Amp_Dialect, "constant", [Pure, ConstantLike,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "a tensor known at compile time";
  let description = [{
    `value` is a `dense<>` attribute for small tensors and splats, and a
    `dense_resource<>` for weights: its bytes stay where the importer found them
    (usually the mapped model file) and are never copied into the context.
    Passes do not look into a resource; ops on such a constant stay in the IR
    until the program is written, when they are executed once.

    ```mlir
    %c = amp.constant dense<1.0> : tensor<4xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Amp_AnyTensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Amp_YieldOp : Op<Amp_Dialect, "yield", [Pure, Terminator,
    ParentOneOf<["CompositeOp", "KernelOp", "WeightOp"]>]> {
  let summary = "results of the enclosing region";
  let arguments = (ins Variadic<Amp_AnyTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
}

def Amp_CompositeOp : Op<Amp_Dialect, "composite", [Pure, IsolatedFromAbove, PrecisionOpInterface,
    SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "an ONNX operator that is one operation to the precision phase";
  let description = [{
    Wraps the decomposition of an operator whose autocast class its parts would
    not reproduce. `name` is the ONNX operator, `autocast` its class. The body
    computes in f32 where the operator's float operands are f32 (as imported).
    The precision phase types the operands and results as the class says; when
    the op is inlined after that phase, operands are cast to the body's argument
    types on entry and results to the op's result types on exit. In a `lower`
    composite, contractions of the body compute on the 16-bit type.
    `pinned` lists operands that keep their type.

    ```mlir
    %y = amp.composite "Elu" follow(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      amp.yield %a : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, Amp_Autocast:$autocast, Variadic<Amp_AnyTensor>:$inputs,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$pinned);
  let results = (outs Variadic<Amp_AnyTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name custom<AutocastWord>($autocast) `(` $inputs `)` attr-dict `:`
    functional-type($inputs, $outputs) $body
  }];
  let extraClassDeclaration = [{
    ::ampc::AutocastClass getAutocastClass() { return getAutocast(); }
    static ::ampc::AutocastClass getDeclaredAutocastClass() { return ::ampc::AutocastClass::Follow; }
    bool isPinnedOperand(unsigned operand) { return ::llvm::is_contained(getPinned(), static_cast<int64_t>(operand)); }
    /// Results with an eligible float type take the element type of the op's
    /// castable operands.
    ::mlir::LogicalResult updateResultTypes();
  }];
  let hasVerifier = 1;
}

def Amp_KernelOp : Op<Amp_Dialect, "kernel", [FunctionOpInterface, IsolatedFromAbove, Symbol,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a unit of work that is launched as a whole";
  let description = [{
    One launch of a kernel runs over all its results. Its body is a tensor
    program of one root op with prologue and epilogue ops; views in it are
    access maps and move nothing. After the fusion phase each value has the type
    it is computed in and each rounding is an `amp.cast`. Kernels with equal
    bodies are one kernel.

    ```mlir
    amp.kernel @add_relu(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
      %0 = amp.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = amp.relu %0 : (tensor<4xf32>) -> tensor<4xf32>
      amp.yield %1 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    YieldOp getYield();
  }];
  let hasVerifier = 1;
}

def Amp_LaunchOp : Op<Amp_Dialect, "launch", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one run of a kernel";
  let description = [{
    The location names the ONNX nodes whose work it does.

    ```mlir
    %y = amp.launch @add_relu(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Amp_AnyTensor>:$inputs);
  let results = (outs Variadic<Amp_AnyTensor>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

def Amp_WeightOp : Op<Amp_Dialect, "weight", [IsolatedFromAbove, Symbol,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "constant data of the program and how it is made";
  let description = [{
    The body computes one tensor from constants only: a model's weight and the
    recorded chain of casts, transposes, packing and folded scales. It is
    executed once, when the program is written.

    ```mlir
    amp.weight @w0 : tensor<4xbf16> {
      %0 = amp.constant dense_resource<w> : tensor<4xf32>
      %1 = amp.cast %0 : (tensor<4xf32>) -> tensor<4xbf16>
      amp.yield %1 : tensor<4xbf16>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Amp_AnyTensor>:$type);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `:` $type attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Amp_GetWeightOp : Op<Amp_Dialect, "get_weight", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the data of an `amp.weight`";
  let description = [{
    ```mlir
    %w = amp.get_weight @w0 : tensor<4xbf16>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs Amp_AnyTensor:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

#endif // AMPC_DIALECTS_AMP_IR_AMPSTRUCTUREOPS_TD
