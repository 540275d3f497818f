//===- TrainingFacts.h - What a trainer's metadata says ---------*- C++ -*-===//
#ifndef AMPC_COMPILER_DRIVER_TRAININGFACTS_H
#define AMPC_COMPILER_DRIVER_TRAININGFACTS_H

#include "compiler/Driver/Compilation.h"

namespace ampc::driver {

/// Notes the parameters and statistics, which are states of the module after
/// its parameters became state, in the module's description of its training.
void recordStates(mlir::ModuleOp module);

/// Notes the optimizer with the defaults of its numbers, and whether gradients
/// are computed in f16, after the training phase.
void recordStep(mlir::ModuleOp module, llvm::StringRef optimizer,
                llvm::ArrayRef<std::pair<std::string, double>> numbers);

/// Adds to a program's metadata what its training loop and its export ask:
/// `training`, and of a model that is given as ONNX its file, size and hash and
/// where its initializers lie.
void addTrainingFacts(Compilation &compilation, llvm::json::Object &metadata);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_TRAININGFACTS_H
