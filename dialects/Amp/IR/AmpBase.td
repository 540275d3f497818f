//===- AmpBase.td - The amp dialect, its types, enums and base classes ----===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPBASE_TD
#define AMPC_DIALECTS_AMP_IR_AMPBASE_TD

include "dialects/Amp/IR/AmpEnums.td"
include "dialects/Interfaces/FusionInterfaces.td"
include "dialects/Interfaces/KernelInterfaces.td"
include "dialects/Interfaces/PrecisionInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Amp_Dialect : Dialect {
  let name = "amp";
  let cppNamespace = "::ampc::amp";
  let summary = "tensor programs with explicit element types";
  let description = [{
    Tensor-level operations of a neural network in which every value has the
    element type it is stored in and every rounding is an `amp.cast`. All
    shapes are static. See `dialects/Amp/README.md` for the rationale.
  }];
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Amp_Float : AnyTypeOf<[F16, BF16, F32, F64], "16, 32 or 64-bit float">;
def Amp_Int : AnyTypeOf<[I8, I16, I32, I64, UI8, UI16, UI32, UI64],
                        "signless (signed) or unsigned integer of 8 to 64 bits">;
def Amp_Number : AnyTypeOf<[Amp_Float, Amp_Int], "number">;
def Amp_Element : AnyTypeOf<[Amp_Float, Amp_Int, I1], "number or boolean">;

class Amp_TensorOf<list<Type> types> : StaticShapeTensorOf<types>;
def Amp_FloatTensor : Amp_TensorOf<[Amp_Float]>;
def Amp_IntTensor : Amp_TensorOf<[Amp_Int]>;
def Amp_NumberTensor : Amp_TensorOf<[Amp_Number]>;
def Amp_BoolTensor : Amp_TensorOf<[I1]>;
def Amp_BitsTensor : Amp_TensorOf<[Amp_Int, I1]>;
def Amp_AnyTensor : Amp_TensorOf<[Amp_Element]>;
def Amp_IndexTensor : Amp_TensorOf<[I32, I64]>;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Amp_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<Amp_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Amp_Autocast : EnumAttr<Amp_Dialect, AutocastClassEnum, "autocast"> {
  let storageType = "::ampc::amp::AutocastClassAttr";
  let constBuilderCall = "::ampc::amp::AutocastClassAttr::get($_builder.getContext(), $0)";
  let assemblyFormat = "`<` $value `>`";
}

def Amp_ComparePredicateAttr : Amp_EnumAttr<Amp_ComparePredicate, "predicate">;
def Amp_GeluFormAttr : Amp_EnumAttr<Amp_GeluForm, "gelu_form">;
def Amp_PadModeAttr : Amp_EnumAttr<Amp_PadMode, "pad_mode">;
def Amp_ScatterReductionAttr : Amp_EnumAttr<Amp_ScatterReduction, "scatter_reduction">;
def Amp_LayoutAttr : Amp_EnumAttr<Amp_Layout, "layout">;
def Amp_ResizeModeAttr : Amp_EnumAttr<Amp_ResizeMode, "resize_mode">;
def Amp_CoordinateModeAttr : Amp_EnumAttr<Amp_CoordinateMode, "coordinate_mode">;
def Amp_NearestModeAttr : Amp_EnumAttr<Amp_NearestMode, "nearest_mode">;

def Amp_TargetAttr : AttrDef<Amp_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "facts about the target that passes may ask";
  let description = [{
    Set on the module as `amp.target` by the driver; the only way in which a
    fact about the machine reaches a pass.

    * `vector_bytes`: width of the widest vector register used.
    * `panel`: columns of one packed weight panel of a contraction; 0 where
      weights are not packed.
    * `native_16bit`: whether arithmetic on 16-bit floats is faster than on f32.
  }];
  let parameters = (ins "int64_t":$vector_bytes, "int64_t":$panel, "bool":$native_16bit);
  let assemblyFormat = "`<` struct(params) `>`";
}

//===----------------------------------------------------------------------===//
// Base classes
//===----------------------------------------------------------------------===//

/// Every computing op names, where it is defined, its autocast class and the
/// part it plays in a kernel.
class Amp_ComputeOp<string mnemonic, I32EnumAttrCase cls, string kind, list<Trait> traits = []>
    : Op<Amp_Dialect, mnemonic, [Pure, PrecisionOpInterface, FusableOpInterface] # traits> {
  code declared =
    "static ::ampc::AutocastClass getDeclaredAutocastClass() { return ::ampc::AutocastClass::" # cls.symbol # "; }\n"
    "static ::ampc::FusionKind getDeclaredFusionKind() { return ::ampc::FusionKind::" # kind # "; }\n";
  let extraClassDeclaration = declared;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// An op whose one result element may be wider than the inferred one: a
/// contraction that hands on its f32 accumulators.
class Amp_WideResultOp<string mnemonic, I32EnumAttrCase cls, string kind, list<Trait> traits = []>
    : Amp_ComputeOp<mnemonic, cls, kind, [InferTypeOpAdaptorWithIsCompatible] # traits>;

#endif // AMPC_DIALECTS_AMP_IR_AMPBASE_TD
