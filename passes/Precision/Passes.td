//===- Passes.td - The passes of the precision phase ----------------------===//
#ifndef AMPC_PASSES_PRECISION_PASSES_TD
#define AMPC_PASSES_PRECISION_PASSES_TD

include "mlir/Pass/PassBase.td"

/// Options that the passes which decide types share.
class PrecisionDecisionPass<string flag> : Pass<flag, "::mlir::ModuleOp"> {
  let dependentDialects = ["::ampc::amp::AmpDialect"];
  list<Option> decisionOptions = [
    Option<"type", "type", "LowType", "LowType::BF16", "The 16-bit type to lower to.",
           [{::llvm::cl::values(clEnumValN(LowType::F16, "f16", "IEEE half precision"),
                                clEnumValN(LowType::BF16, "bf16", "bfloat16"))}]>,
    ListOption<"layerPrecisions", "layer-precisions", "std::string",
               "Types by node name or path, PATTERN:TYPE, where the pattern is a glob and the "
               "type one of fp32, tf32, fp16 and bf16. A name that is written out goes before a glob.">,
    ListOption<"opPrecisions", "op-precisions", "std::string",
               "Types by operator or function, OP:TYPE; a rule by node name goes before it.">,
    ListOption<"baseLayerPrecisions", "base-layer-precisions", "std::string",
               "As layer-precisions, for operations that no rule of the first two lists matches.">,
    ListOption<"baseOpPrecisions", "base-op-precisions", "std::string",
               "As op-precisions, for operations that no rule of the first two lists matches.">,
    ListOption<"calibrated", "calibrated", "std::string",
               "Graph paths of operations whose measured values leave the range of the 16-bit type; they run in f32.">,
    Option<"reportFile", "report", "std::string", "",
           "Write the decisions as JSON to this file, or as a table to standard output when it is '-'.">
  ];
}

def PrecisionAutocastPass : PrecisionDecisionPass<"precision-autocast"> {
  let summary = "Type every operation by autocast's rules";
  let description = [{
    *Does*: visits operations in order and types each by its class, which it
    asks for through `PrecisionOpInterface`: `lower` operands become the 16-bit
    type; `fp32` operands become f32; `promote` operands become the widest of
    them, where rank-0 constants do not count; `follow` operands take the type
    of one of them. Result types follow. An operation without the interface gets
    the operand types that the program declares for it, so functions keep their
    signature, loops their carried types, and each cast stands in the region
    that uses it. f64, integers and casts of the model are not touched.

    Positions stay f32: an operation that would be lowered, has nothing lowered
    above it, and ends in an angle or an index is exempt. A constant that does
    not fit the 16-bit type keeps its operation in f32, or saturates.

    Rules of the user go before all this. A model's function that a rule names
    is one unit: the rule holds for all its nodes. A contraction for which a rule
    says `tf32` stays f32 and gets `amp.fp32_contractions = "tf32"`. Rules that
    match nothing, or contradict each other, are errors.

    *Guarantees*: a value has one cast per type and region; no cast reads another
    inserted cast; a second run changes nothing.

    ```mlir
    %0 = amp.matmul %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    // becomes
    %a = amp.cast %x : (tensor<4x8xf32>) -> tensor<4x8xbf16>
    %b = amp.cast %w : (tensor<8x2xf32>) -> tensor<8x2xbf16>
    %0 = amp.matmul %a, %b : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
    ```
  }];
  let options = decisionOptions # [
    Option<"normOutput", "norm-output", "NormOutput", "NormOutput::Follow",
           "What a normalization returns.",
           [{::llvm::cl::values(clEnumValN(NormOutput::Follow, "follow", "the type of its input"),
                                clEnumValN(NormOutput::Fp32, "fp32", "f32, as PyTorch's autocast"))}]>,
    Option<"defaults", "default", "DefaultTypes", "DefaultTypes::Autocast",
           "What operations compute on that no rule matches.",
           [{::llvm::cl::values(clEnumValN(DefaultTypes::Autocast, "autocast", "what their class says"),
                                clEnumValN(DefaultTypes::Keep, "keep", "the types of the model"),
                                clEnumValN(DefaultTypes::Fp32, "fp32", "f32"))}]>,
    Option<"constants", "constants", "ConstantPolicy", "ConstantPolicy::Fp32",
           "What happens to an operation when a constant does not fit the 16-bit type.",
           [{::llvm::cl::values(clEnumValN(ConstantPolicy::Fp32, "fp32", "the operation runs in f32"),
                                clEnumValN(ConstantPolicy::Saturate, "saturate", "the constant becomes the largest finite value"))}]>
  ];
}

def PrecisionPurePass : PrecisionDecisionPass<"precision-pure"> {
  let summary = "Type every operation in the 16-bit type";
  let description = [{
    *Does*: as `precision-autocast`, with every class read as `lower`: what a
    model converted as a whole to half precision computes. Functions keep their
    signature; positions that end in an angle or an index stay f32; constants
    saturate. Operands that an operation pins (parameters of a normalization, an
    attention mask) keep their type.

    *Guarantees*: those of `precision-autocast`.

    ```mlir
    %0 = amp.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %a = amp.cast %x : (tensor<4xf32>) -> tensor<4xbf16>
    %0 = amp.exp %a : (tensor<4xbf16>) -> tensor<4xbf16>
    ```
  }];
  let options = decisionOptions;
}

def PrecisionInlineCompositesPass : Pass<"precision-inline-composites", "::mlir::ModuleOp"> {
  let summary = "Replace each composite by its body";
  let description = [{
    *Does*: casts the operands to the body's argument types and the results to
    the composite's result types. In a `lower` composite, operations of the body
    whose class is `lower` read the composite's 16-bit type and return what they
    returned before, so a contraction hands on its f32 accumulators.

    *Guarantees*: no composite is left.

    ```mlir
    %y = amp.composite "Elu" follow(%x) : (tensor<4xbf16>) -> tensor<4xbf16> {
    ^bb0(%a: tensor<4xf32>):
      %e = amp.exp %a : (tensor<4xf32>) -> tensor<4xf32>
      amp.yield %e : tensor<4xf32>
    }
    // becomes
    %a = amp.cast %x : (tensor<4xbf16>) -> tensor<4xf32>
    %e = amp.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %y = amp.cast %e : (tensor<4xf32>) -> tensor<4xbf16>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def PrecisionCleanCastsPass : Pass<"precision-clean-casts", "::mlir::ModuleOp"> {
  let summary = "Remove and move casts without changing a value";
  let description = [{
    *Does*: removes the mark `from_model`; replaces a cast of a cast that was
    exact; merges equal casts; moves a cast across a view to the side where
    fewer bytes are written, and the cast of a reshaped result to what computes
    it; removes dead casts.

    *Guarantees*: every value left has the bits it had; a second run changes
    nothing.

    ```mlir
    %0 = amp.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %1 = amp.cast %0 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
    // becomes
    %0 = amp.cast %x : (tensor<4x8xf32>) -> tensor<4x8xbf16>
    %1 = amp.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
    ```
  }];
  let dependentDialects = ["::ampc::amp::AmpDialect"];
}

def PrecisionSetContractionsPass : Pass<"precision-set-contractions", "::mlir::ModuleOp"> {
  let summary = "Say what contractions of f32 operands may use";
  let description = [{
    *Does*: sets the module attribute `amp.fp32_contractions` to `ieee` or
    `tf32`, which is how a target multiplies f32 operands.

    An operation's own attribute of this name goes before the module's.

    *Guarantees*: no type changes; a target without TF32 ignores the attribute.

    ```mlir
    module attributes {amp.fp32_contractions = "tf32"} {}
    ```
  }];
  let options = [
    Option<"mode", "mode", "ContractionMode", "ContractionMode::Ieee", "The arithmetic of f32 contractions.",
           [{::llvm::cl::values(clEnumValN(ContractionMode::Ieee, "ieee", "f32 products"),
                                clEnumValN(ContractionMode::Tf32, "tf32", "products of operands cut to TF32"))}]>
  ];
}

#endif // AMPC_PASSES_PRECISION_PASSES_TD
