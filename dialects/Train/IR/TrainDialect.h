//===- TrainDialect.h - Loss scaling and optimizers -----------------------===//
#ifndef AMPC_DIALECTS_TRAIN_IR_TRAINDIALECT_H
#define AMPC_DIALECTS_TRAIN_IR_TRAINDIALECT_H

#include "dialects/Interfaces/FusionInterfaces.h"
#include "dialects/Interfaces/KernelInterfaces.h"
#include "dialects/Interfaces/LayoutInterfaces.h"
#include "dialects/Interfaces/PrecisionInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Train/IR/TrainDialect.h.inc"
#include "dialects/Train/IR/TrainEnums.h.inc"
#define GET_OP_CLASSES
#include "dialects/Train/IR/TrainOps.h.inc"

namespace ampc::train {
/// The attribute by which an argument or result of a function is a state.
inline constexpr llvm::StringLiteral stateName = "train.state";
} // namespace ampc::train

#endif // AMPC_DIALECTS_TRAIN_IR_TRAINDIALECT_H
