//===- AmpOps.h - The operations of the amp dialect -----------------------===//
#ifndef AMPC_DIALECTS_AMP_IR_AMPOPS_H
#define AMPC_DIALECTS_AMP_IR_AMPOPS_H

#include "dialects/Amp/IR/AmpDialect.h"
#include "dialects/Interfaces/FusionInterfaces.h"
#include "dialects/Interfaces/KernelInterfaces.h"
#include "dialects/Interfaces/PrecisionInterfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialects/Amp/IR/AmpOps.h.inc"

namespace ampc::amp {
/// The type a contraction of `element` accumulates in: f32 for 16- and 32-bit
/// floats, else `element`.
mlir::Type getAccumulatorType(mlir::Type element);

/// NumPy's broadcast of two shapes; nullopt when they do not agree.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> lhs, llvm::ArrayRef<int64_t> rhs);
} // namespace ampc::amp

#endif // AMPC_DIALECTS_AMP_IR_AMPOPS_H
