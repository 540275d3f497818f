//===- Overrides.h - Types that the user asks for -------------------------===//
#ifndef AMPC_PASSES_PRECISION_OVERRIDES_H
#define AMPC_PASSES_PRECISION_OVERRIDES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <string>
#include <vector>

namespace ampc::precision {

/// Rules of one source, such as the command line or a policy file.
struct RuleTexts {
  llvm::SmallVector<std::string> layers; ///< PATTERN:TYPE, by node
  llvm::SmallVector<std::string> ops;    ///< OP:TYPE, by operator or function
};

/// What a rule says.
struct Override {
  std::string text;     ///< as written
  mlir::FloatType type; ///< computed on
  bool isTf32 = false;  ///< products of a contraction may use TF32
};

/// The rules that hold for the operations of a module. Of several that match an
/// operation holds, in this order:
///
/// 1. a rule of an earlier source,
/// 2. a rule by node: its name or path written out; a call around it, written
///    out, the innermost first; a glob that matches one of these,
/// 3. a rule by operator: a function around it, the outermost first; the ONNX
///    operator of its node; the operator of this compiler.
///
/// Rules of equal standing that match one operation must agree.
class Overrides {
public:
  struct Rule;

  Overrides();
  Overrides(Overrides &&);
  Overrides &operator=(Overrides &&);
  ~Overrides();

  /// Reads the rules, and finds those that hold in `module`. It is an error if
  /// a rule matches nothing, or two contradict each other.
  static mlir::FailureOr<Overrides> resolve(mlir::ModuleOp module,
                                            llvm::ArrayRef<RuleTexts> sources);

  /// The rule that holds for `op`; null where none matches.
  const Override *find(mlir::Operation *op) const;

private:
  std::vector<std::unique_ptr<Rule>> rules;
  /// Looked up only.
  llvm::DenseMap<mlir::Operation *, const Rule *> held;
};

} // namespace ampc::precision

#endif // AMPC_PASSES_PRECISION_OVERRIDES_H
