//===- TrainingState.h - What the functions of a trainer share ------------===//
#ifndef AMPC_PASSES_TRAINING_TRAININGSTATE_H
#define AMPC_PASSES_TRAINING_TRAININGSTATE_H

#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/Passes.h"

namespace ampc::training {

/// A trained parameter and its place in the arenas.
struct TrainedParameter {
  unsigned argument; ///< of the step
  train::StateOp state, gradient;
};

/// The states of a trainer.
struct TrainingState {
  explicit TrainingState(mlir::ModuleOp module)
      : module(module), b(module.getContext()) {}

  mlir::ModuleOp module;
  mlir::OpBuilder b; ///< where states are added
  llvm::SmallVector<TrainedParameter> trained;
  mlir::RankedTensorType flat; ///< the type of the arenas
  double nominalWeight = 1;
  mlir::FlatSymbolRefAttr parameters, gradients, scale, micro;
  /// Sums over the micro-batches of a window, by the name of what is summed.
  llvm::SmallVector<std::pair<std::string, mlir::FlatSymbolRefAttr>> sums;

  mlir::RankedTensorType scalarType() {
    return mlir::RankedTensorType::get({}, b.getF32Type());
  }
  mlir::RankedTensorType countType() {
    return mlir::RankedTensorType::get({}, b.getI32Type());
  }

  /// A new state that begins with `initial`, or zeros.
  mlir::FlatSymbolRefAttr addState(llvm::StringRef name,
                                   mlir::RankedTensorType type,
                                   train::Role role,
                                   mlir::ElementsAttr initial = nullptr);
  /// A new arena of the type of all.
  mlir::FlatSymbolRefAttr addArena(llvm::StringRef name);
  /// A state for each parameter, in `arena` at the parameter's place:
  /// "w.mean" for "w" and the suffix "mean".
  llvm::SmallVector<train::StateOp> addStates(mlir::FlatSymbolRefAttr arena,
                                              llvm::StringRef suffix,
                                              train::Role role);

  mlir::FlatSymbolRefAttr findSum(llvm::StringRef name) const;
};

/// The attributes of an argument or result that is a state, or that is called
/// `name`.
mlir::DictionaryAttr stateAttrs(mlir::Attribute state);
mlir::DictionaryAttr nameAttrs(mlir::MLIRContext *context,
                               llvm::StringRef name);

/// Adds a function behind `after` to which arguments and results are appended
/// one by one.
class FunctionBuilder {
public:
  FunctionBuilder(mlir::func::FuncOp after, llvm::StringRef name);

  mlir::Value addArgument(mlir::Type type, mlir::DictionaryAttr attrs);
  void addResult(mlir::Value value, mlir::DictionaryAttr attrs);
  /// Ends the function.
  mlir::func::FuncOp finish();

  mlir::OpBuilder at; ///< in its body

private:
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> values;
};

/// Adds @apply behind `step`: one update of all parameters. The first one finds
/// `firstCount` updates counted, where the optimizer is one of ONNX's.
void buildApply(TrainingState &state, mlir::func::FuncOp step,
                Optimizer optimizer, int64_t firstCount);

/// Adds @grad_stats behind `step`: numbers about the gradients of a window.
void buildGradStats(TrainingState &state, mlir::func::FuncOp step);

} // namespace ampc::training

#endif // AMPC_PASSES_TRAINING_TRAININGSTATE_H
