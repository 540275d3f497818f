//===- CastInserter.h - One cast per value, type and region ---------------===//
#ifndef AMPC_PASSES_PRECISION_CASTINSERTER_H
#define AMPC_PASSES_PRECISION_CASTINSERTER_H

#include "dialects/Amp/IR/AmpOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace ampc::precision {

/// Inserts `amp.cast` and reuses what it inserted. A cast stands behind the
/// value it reads; a cast of a value captured by a branch stands in the branch,
/// where it costs nothing if the branch is not taken; a cast of a value
/// captured by a loop stands before the loop. Users must be visited in an order
/// in which a definition comes before its uses.
class CastInserter {
public:
  CastInserter() = default;
  /// `computed` holds values that are made of constants alone. It must outlive
  /// the inserter.
  explicit CastInserter(const llvm::DenseSet<mlir::Value> &computed)
      : computed(&computed) {}

  /// `value` as a tensor of `element`, for `user`. Returns `value` itself if it
  /// has that element type. `inserted` tells whether a new cast was needed.
  mlir::Value cast(mlir::Value value, mlir::Type element, mlir::Operation *user,
                   bool *inserted = nullptr);

private:
  bool isKnown(mlir::Value value) const;

  const llvm::DenseSet<mlir::Value> *computed = nullptr;
  llvm::DenseMap<std::pair<std::pair<mlir::Value, mlir::Type>, mlir::Block *>,
                 mlir::Value>
      casts;
};

} // namespace ampc::precision

#endif // AMPC_PASSES_PRECISION_CASTINSERTER_H
