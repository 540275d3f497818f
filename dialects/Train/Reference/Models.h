//===- Models.h - Attaches evaluation to the operations of train ----------===//
#ifndef AMPC_DIALECTS_TRAIN_REFERENCE_MODELS_H
#define AMPC_DIALECTS_TRAIN_REFERENCE_MODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace ampc::train {

/// Adds ReferenceOpInterface to the ops of train that kernels can hold, once
/// train is loaded.
void registerTrainReferenceModels(mlir::DialectRegistry &registry);

} // namespace ampc::train

#endif // AMPC_DIALECTS_TRAIN_REFERENCE_MODELS_H
