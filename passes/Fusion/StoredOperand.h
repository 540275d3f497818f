//===- StoredOperand.h - Operands stored as kernels read them ---*- C++ -*-===//
#ifndef AMPC_PASSES_FUSION_STOREDOPERAND_H
#define AMPC_PASSES_FUSION_STOREDOPERAND_H

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Analysis/ConstantSlice.h"
#include "llvm/ADT/MapVector.h"

namespace ampc::fusion {

/// The launches of a module by the name of their kernel.
using LaunchMap =
    llvm::MapVector<mlir::StringAttr, llvm::SmallVector<amp::LaunchOp>>;
LaunchMap collectLaunches(mlir::ModuleOp module);

/// Whether every launch passes a constant as `argument` of its kernel.
bool isAlwaysConstant(const ConstantSlice &constants,
                      llvm::ArrayRef<amp::LaunchOp> launches,
                      mlir::BlockArgument argument);

/// Lets an argument of `kernel` be passed another way: its launches pass
/// `store` of what they passed, and the kernel reads `read` of that, which must
/// be a value of the argument's type.
void storeOperand(
    amp::KernelOp kernel, mlir::BlockArgument argument,
    llvm::ArrayRef<amp::LaunchOp> launches,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value)> store,
    llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Type)> read);

/// Makes `op` of a function a launch of a new kernel.
void outlineStore(mlir::Operation *op, llvm::StringRef name,
                  mlir::ModuleOp module);

/// The same for all `OpT` of functions on what is no constant.
template <typename OpT>
void outlineStores(mlir::ModuleOp module, const ConstantSlice &constants,
                   llvm::StringRef prefix) {
  unsigned number = 0;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    for (auto op : llvm::make_early_inc_range(function.getOps<OpT>())) {
      if (!constants.isComputable(op->getOperand(0))) {
        outlineStore(op, (prefix + llvm::Twine(number++)).str(), module);
      }
    }
  }
}

} // namespace ampc::fusion

#endif // AMPC_PASSES_FUSION_STOREDOPERAND_H
