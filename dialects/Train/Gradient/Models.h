//===- Models.h - Attaches gradients to the operations of train -----------===//
#ifndef AMPC_DIALECTS_TRAIN_GRADIENT_MODELS_H
#define AMPC_DIALECTS_TRAIN_GRADIENT_MODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace ampc::train {

/// Adds DifferentiableOpInterface to the ops of train that stand in models,
/// once train is loaded.
void registerTrainGradientModels(mlir::DialectRegistry &registry);

} // namespace ampc::train

#endif // AMPC_DIALECTS_TRAIN_GRADIENT_MODELS_H
