//===- AutocastRules.h - The type of one operation ------------------------===//
#ifndef AMPC_PASSES_PRECISION_AUTOCASTRULES_H
#define AMPC_PASSES_PRECISION_AUTOCASTRULES_H

#include "dialects/Interfaces/PrecisionInterfaces.h"
#include "passes/Precision/Overrides.h"
#include "passes/Precision/Passes.h"
#include "passes/Precision/Report.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

namespace ampc::precision {

/// How a program is typed.
struct Policy {
  mlir::FloatType low;
  /// Every class is read as `lower`.
  bool pure = false;
  NormOutput normOutput = NormOutput::Follow;
  ConstantPolicy constants = ConstantPolicy::Fp32;
  /// Of operations that no rule matches.
  DefaultTypes defaults = DefaultTypes::Autocast;
  Overrides overrides;
  /// Places of operations whose values leave the range of `low`.
  llvm::StringSet<> calibrated;
};

/// The type of one operation.
struct Decision {
  /// The element type of its castable operands; null leaves the op alone.
  mlir::FloatType element;
  Rule rule = Rule::None;
  std::string reason;
  /// The user allows TF32 in a contraction of f32.
  bool isTf32 = false;
};

/// Whether the policy may cast the operand.
bool isCastable(PrecisionOpInterface op, mlir::OpOperand &operand);

/// The one type of `types`, f32 if they differ; null if there are none.
mlir::FloatType widest(llvm::ArrayRef<mlir::FloatType> types);

/// Decides from the types that the operands of `op` have now. `exact` holds the
/// operations that compute positions.
Decision decide(PrecisionOpInterface op, const Policy &policy,
                const llvm::DenseSet<mlir::Operation *> &exact);

} // namespace ampc::precision

#endif // AMPC_PASSES_PRECISION_AUTOCASTRULES_H
