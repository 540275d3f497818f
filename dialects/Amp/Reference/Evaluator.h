//===- Evaluator.h - Interprets amp programs ------------------------------===//
// The reference for every phase up to fusion: float64 arithmetic, rounding only
// where a type or an `amp.cast` says so.
#ifndef AMPC_DIALECTS_AMP_REFERENCE_EVALUATOR_H
#define AMPC_DIALECTS_AMP_REFERENCE_EVALUATOR_H

#include "dialects/Amp/Reference/Tensor.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir {
class FunctionOpInterface;
} // namespace mlir

namespace ampc::amp {
class CompositeOp;
class WeightOp;
} // namespace ampc::amp

namespace ampc {
class PrecisionOpInterface;
} // namespace ampc

namespace ampc::ref {

struct EvaluatorOptions {
  /// The most bytes that computed tensors may take at one time. Constants that
  /// are borrowed count nothing.
  uint64_t byteBudget = std::numeric_limits<uint64_t>::max();
};

/// An upper estimate of the elements that evaluating `op` reads and writes,
/// saturating; it knows nothing of regions.
uint64_t estimateWork(mlir::Operation *op);

/// Evaluates ops in order and frees a tensor after its last use. Emits an error
/// at the op that cannot be evaluated. The tensors it returns may borrow bytes
/// of constants, so the module must outlive them.
///
/// Needs registerReferenceModels on the context's registry.
class Evaluator {
public:
  using Results = llvm::SmallVector<Tensor>;

  explicit Evaluator(EvaluatorOptions options = {}) : options(options) {}

  /// What a region of one block yields or returns for its arguments.
  mlir::FailureOr<Results> evaluateRegion(mlir::Region &region,
                                          llvm::ArrayRef<Tensor> arguments);
  /// The same for a function or kernel, whose argument types are checked.
  mlir::FailureOr<Results> evaluateFunction(mlir::FunctionOpInterface function,
                                            llvm::ArrayRef<Tensor> arguments);
  /// The data of a weight, made once.
  mlir::FailureOr<Tensor> evaluateWeight(amp::WeightOp weight);

private:
  mlir::LogicalResult evaluateOp(mlir::Operation *op,
                                 llvm::ArrayRef<Tensor> operands,
                                 Results &results);
  mlir::FailureOr<Results> evaluateComposite(amp::CompositeOp op,
                                             llvm::ArrayRef<Tensor> operands);
  mlir::LogicalResult evaluateNarrow(PrecisionOpInterface op,
                                     llvm::ArrayRef<Tensor> operands,
                                     Results &results);
  mlir::LogicalResult charge(mlir::Operation *op);

  EvaluatorOptions options;
  mlir::SymbolTableCollection symbols;
  llvm::DenseMap<mlir::Operation *, Tensor> weights;
  uint64_t liveBytes = 0;
  unsigned depth = 0;
  /// The 16-bit type on which ops of class `lower` compute in the body of a
  /// `lower` composite.
  mlir::Type lowType;
};

} // namespace ampc::ref

#endif // AMPC_DIALECTS_AMP_REFERENCE_EVALUATOR_H
