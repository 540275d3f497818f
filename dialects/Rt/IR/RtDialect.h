//===- RtDialect.h - What the host program does ---------------------------===//
#ifndef AMPC_DIALECTS_RT_IR_RTDIALECT_H
#define AMPC_DIALECTS_RT_IR_RTDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "dialects/Train/IR/TrainDialect.h"

#include "dialects/Rt/IR/RtDialect.h.inc"
#include "dialects/Rt/IR/RtEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Rt/IR/RtAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Rt/IR/RtOps.h.inc"

#endif // AMPC_DIALECTS_RT_IR_RTDIALECT_H
