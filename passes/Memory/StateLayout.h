//===- StateLayout.h - Where states lie in their region -------------------===//
#ifndef AMPC_PASSES_MEMORY_STATELAYOUT_H
#define AMPC_PASSES_MEMORY_STATELAYOUT_H

#include "dialects/Train/IR/TrainDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace ampc::memory {

/// Places all arenas and states of a module, numbers first.
class StateLayout {
public:
  /// Offsets of the states are multiples of `alignment` bytes, but for those
  /// inside of an arena. Fails if 64 bits cannot address them.
  mlir::LogicalResult place(mlir::ModuleOp module, int64_t alignment);

  /// Where the arena or state of that name begins.
  int64_t getOffset(mlir::SymbolRefAttr name) const {
    return offsets.lookup(name.getRootReference());
  }
  int64_t getBytes() const { return bytes; }
  int64_t getControlBytes() const { return controlBytes; }
  /// In the order of the module.
  llvm::ArrayRef<train::StateOp> getStates() const { return states; }

private:
  llvm::DenseMap<mlir::StringAttr, int64_t> offsets;
  llvm::SmallVector<train::StateOp> states;
  int64_t bytes = 0, controlBytes = 0;
};

/// Bytes of a tensor; nullopt where they do not fit 64 bits.
std::optional<int64_t> checkedByteSize(mlir::Type type);

} // namespace ampc::memory

#endif // AMPC_PASSES_MEMORY_STATELAYOUT_H
