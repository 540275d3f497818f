//===- Passes.h - The precision phase -------------------------------------===//
//
// Decides the element type of every operation by inserting `amp.cast`. The
// phase runs `precision-autocast` (or `precision-pure`, or neither), then
// `precision-inline-composites`, then `precision-clean-casts`.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_PASSES_PRECISION_PASSES_H
#define AMPC_PASSES_PRECISION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace ampc::precision {
class Report;

/// A 16-bit float type that a precision pass may lower to.
enum class LowType { F16, BF16 };

/// What a normalization returns: its input's type, or f32 as PyTorch does.
enum class NormOutput { Follow, Fp32 };

/// What happens to an operation when a constant operand does not fit the 16-bit
/// type: it runs in f32, or the constant becomes the largest finite value.
enum class ConstantPolicy { Fp32, Saturate };

/// What operations compute on that no rule of the user matches: what their
/// class says, the types of the model, or f32.
enum class DefaultTypes { Autocast, Keep, Fp32 };

/// What contractions of f32 operands may use on a target that has both.
enum class ContractionMode { Ieee, Tf32 };

#define GEN_PASS_DECL
#include "passes/Precision/Passes.h.inc"

/// The same passes, which also record each decision in `report`. It must
/// outlive the pass.
std::unique_ptr<mlir::Pass>
createPrecisionAutocastPass(PrecisionAutocastPassOptions options,
                            Report *report);
std::unique_ptr<mlir::Pass>
createPrecisionPurePass(PrecisionPurePassOptions options, Report *report);

#define GEN_PASS_REGISTRATION
#include "passes/Precision/Passes.h.inc"
} // namespace ampc::precision

#endif // AMPC_PASSES_PRECISION_PASSES_H
