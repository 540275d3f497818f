//===- Overrides.h - Types that the user asks for -------------------------===//
#ifndef AMPC_PASSES_PRECISION_OVERRIDES_H
#define AMPC_PASSES_PRECISION_OVERRIDES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"

#include <memory>
#include <string>
#include <vector>

namespace ampc::precision {

/// The ONNX nodes whose work an operation does, in order, each list without
/// repetition. The importer writes a location as "name"("path"("operator")).
struct NodeNames {
  llvm::SmallVector<llvm::StringRef> names; ///< for people; not unique
  llvm::SmallVector<llvm::StringRef> paths; ///< graph path and index: unique
  llvm::SmallVector<llvm::StringRef> operators; ///< ONNX operators
};
NodeNames getNodeNames(mlir::Location loc);

/// The operator that `op` is: the ONNX operator of a composite, else the name
/// of the op without its dialect.
llvm::StringRef getOperatorName(mlir::Operation *op);

/// Whether `op` is the operator that a user calls `name`: its own name, written
/// as ONNX or this compiler does, or the ONNX operator of all its nodes.
bool isOperator(mlir::Operation *op, llvm::StringRef name);

/// Rules PATTERN:TYPE by node name and OP:TYPE by operator.
class Overrides {
public:
  /// Reads the rules and checks that each matches something in `module`; the
  /// error names what comes near.
  static mlir::FailureOr<Overrides> parse(mlir::ModuleOp module,
                                          llvm::ArrayRef<std::string> layers,
                                          llvm::ArrayRef<std::string> ops);

  /// The element type that `op` is to compute on; null where no rule matches.
  /// `rule` is set to the text of the rule.
  mlir::FloatType find(mlir::Operation *op, llvm::StringRef &rule) const;

private:
  struct Rule {
    std::string text;          ///< as written
    std::string subject;       ///< the pattern or the operator
    llvm::GlobPattern pattern; ///< refers to the characters of `subject`
    mlir::FloatType type;
  };
  /// Rules do not move, since their patterns refer to them.
  using Rules = std::vector<std::unique_ptr<Rule>>;

  static mlir::LogicalResult parseRules(mlir::ModuleOp module,
                                        llvm::StringRef option,
                                        llvm::ArrayRef<std::string> texts,
                                        Rules &rules);

  Rules layers, ops;
  /// The last of `layers` for each name that has no wildcard, and the others: a
  /// policy may name thousands of nodes.
  llvm::StringMap<size_t> exactLayers;
  std::vector<size_t> globLayers;
};

} // namespace ampc::precision

#endif // AMPC_PASSES_PRECISION_OVERRIDES_H
