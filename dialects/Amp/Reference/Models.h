//===- Models.h - Attaches evaluation to the operations of amp ------------===//
#ifndef AMPC_DIALECTS_AMP_REFERENCE_MODELS_H
#define AMPC_DIALECTS_AMP_REFERENCE_MODELS_H

#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Reference/Tensor.h"
#include "dialects/Interfaces/ReferenceInterfaces.h"

namespace ampc::ref {

/// Adds ReferenceOpInterface to the ops of amp, once amp is loaded.
void registerReferenceModels(mlir::DialectRegistry &registry);

// One function per family of ops.
void attachElementwise(mlir::MLIRContext *context);
void attachShape(mlir::MLIRContext *context);
void attachIndexing(mlir::MLIRContext *context);
void attachReduction(mlir::MLIRContext *context);
void attachOrder(mlir::MLIRContext *context);
void attachWindow(mlir::MLIRContext *context);
void attachPoolGradient(mlir::MLIRContext *context);
void attachResize(mlir::MLIRContext *context);
void attachNorm(mlir::MLIRContext *context);
void attachContraction(mlir::MLIRContext *context);
void attachAttention(mlir::MLIRContext *context);

/// The type of the op's one result.
template <typename Op>
mlir::RankedTensorType getResultType(Op op) {
  return mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
}

/// The interface by a function `optional<Tensor> (Op, ArrayRef<Tensor>)`.
template <auto Function>
struct Model;
template <typename Op,
          std::optional<Tensor> (*Function)(Op, llvm::ArrayRef<Tensor>)>
struct Model<Function>
    : ReferenceOpInterface::ExternalModel<Model<Function>, Op> {
  using OpType = Op;
  llvm::LogicalResult evaluate(mlir::Operation *op,
                               llvm::ArrayRef<Tensor> operands,
                               llvm::SmallVectorImpl<Tensor> &results) const {
    auto result = Function(mlir::cast<Op>(op), operands);
    if (!result) {
      return mlir::failure();
    }
    results.push_back(std::move(*result));
    return mlir::success();
  }
};

template <auto Function>
void attach(mlir::MLIRContext *context) {
  Model<Function>::OpType::template attachInterface<Model<Function>>(*context);
}

} // namespace ampc::ref

#endif // AMPC_DIALECTS_AMP_REFERENCE_MODELS_H
