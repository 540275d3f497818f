//===- TrainDialect.h - Loss scaling and optimizers -----------------------===//
#ifndef AMPC_DIALECTS_TRAIN_IR_TRAINDIALECT_H
#define AMPC_DIALECTS_TRAIN_IR_TRAINDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Train/IR/TrainDialect.h.inc"
#define GET_OP_CLASSES
#include "dialects/Train/IR/TrainOps.h.inc"

#endif // AMPC_DIALECTS_TRAIN_IR_TRAINDIALECT_H
