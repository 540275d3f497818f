//===- KernelGroups.h - Which ops form a kernel together ------------------===//
#ifndef AMPC_PASSES_FUSION_KERNELGROUPS_H
#define AMPC_PASSES_FUSION_KERNELGROUPS_H

#include "dialects/Interfaces/FusionInterfaces.h"
#include "mlir/IR/Block.h"
#include "passes/Analysis/ConstantSlice.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>

namespace ampc::fusion {

/// Ops that will be one kernel.
struct KernelGroup {
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  mlir::Operation *root = nullptr;          ///< null for elementwise and views
  FusionKind kind = FusionKind::Elementwise;
  /// The op whose result the next epilogue op would read.
  mlir::Operation *tail = nullptr;
  /// The launch takes this op's place in the program.
  mlir::Operation *position = nullptr;
  /// No further op may join: the group has several results.
  bool closed = false;
  /// All results have rank 0; there may be several.
  bool isScalar = false;
  /// A map whose results, of one shape, may be several: see findFinal.
  bool isShared = false;
};

/// Partition of a block's ops into kernels, in an order in which the kernels
/// can run.
class KernelGroups {
public:
  /// `lanes`: elements of a vector register, for views that must not tear one.
  KernelGroups(mlir::Block &block, int64_t lanes);

  /// Groups in program order of their positions.
  llvm::SmallVector<KernelGroup *> ordered() const;

  /// Whether an op computes a constant: it has no kernel.
  bool isConstant(mlir::Operation *op) const {
    return constants.isComputable(op);
  }

private:
  void place(mlir::Operation *op, FusionKind kind);
  bool placeScalar(mlir::Operation *op);
  bool placeFinal(mlir::Operation *op);
  void findFinal(mlir::Block &block);
  bool canMoveTo(mlir::Operation *op,
                 llvm::ArrayRef<KernelGroup *> merged) const;
  void append(KernelGroup &group, mlir::Operation *op);
  bool canJoinEpilogue(mlir::Operation *op, FusionKind kind,
                       mlir::Value operand) const;
  void absorbPrologues(KernelGroup &group, mlir::Operation *op);
  void merge(KernelGroup &into, KernelGroup &from);
  void mergeDiamonds();
  void stripReshapes(KernelGroup &group);
  KernelGroup *groupOf(mlir::Value value) const;

  int64_t lanes;
  std::vector<std::unique_ptr<KernelGroup>> groups;
  llvm::DenseMap<mlir::Operation *, KernelGroup *> membership;
  ConstantSlice constants;
  llvm::DenseSet<mlir::Operation *> final;
};

} // namespace ampc::fusion

#endif // AMPC_PASSES_FUSION_KERNELGROUPS_H
