//===- OutlineWeights.cpp - Constants and the ops on them into weights ----===//
#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Analysis/ConstantSlice.h"
#include "passes/Fusion/Passes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace ampc::fusion {
#define GEN_PASS_DEF_FUSIONOUTLINEWEIGHTSPASS
#include "passes/Fusion/Passes.h.inc"

namespace {

/// Merges constant ops that are equal: same operation on the same operands.
class ConstantMerger : public DenseMapInfo<Operation *> {
public:
  static unsigned getHashValue(const Operation *op) {
    return OperationEquivalence::computeHash(
        const_cast<Operation *>(op), OperationEquivalence::directHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(const Operation *lhs, const Operation *rhs) {
    if (lhs == rhs) {
      return true;
    }
    bool special =
        llvm::is_contained({getEmptyKey(), getTombstoneKey()}, lhs) ||
        llvm::is_contained({getEmptyKey(), getTombstoneKey()}, rhs);
    return !special &&
           OperationEquivalence::isEquivalentTo(
               const_cast<Operation *>(lhs), const_cast<Operation *>(rhs),
               OperationEquivalence::IgnoreLocations);
  }
};

struct FusionOutlineWeightsPass final
    : impl::FusionOutlineWeightsPassBase<FusionOutlineWeightsPass> {
  using Base::Base;

  void runOnOperation() override {
    outlined.clear();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isDeclaration()) {
        visit(function);
      }
    }
  }

private:
  void visit(func::FuncOp function) {
    ConstantSlice constants(function);
    SmallVector<Operation *> kept;
    llvm::DenseSet<Operation *, ConstantMerger> known;
    for (Operation &op : function.getBody().front()) {
      if (!constants.isComputable(&op)) {
        continue;
      }
      auto [equal, isNew] = known.insert(&op);
      if (!isNew) {
        op.replaceAllUsesWith(*equal);
      } else if (!isa<amp::GetWeightOp>(op)) {
        kept.push_back(&op);
      }
    }
    for (Operation *op : kept) {
      for (Value result : op->getResults()) {
        bool read = llvm::any_of(result.getUsers(), [&](Operation *user) {
          return !constants.isComputable(user);
        });
        if (read) {
          outline(result, constants);
        }
      }
    }
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(function.getBody().front()))) {
      if (constants.isComputable(&op) && op.use_empty()) {
        op.erase();
      }
    }
  }

  void outline(Value value, const ConstantSlice &constants) {
    Operation *op = value.getDefiningOp();
    auto type = cast<RankedTensorType>(value.getType());
    Block *end = getOperation().getBody();
    OpBuilder b(end, end->end());
    auto weight = amp::WeightOp::create(
        b, op->getLoc(), b.getStringAttr(freshName()), TypeAttr::get(type));
    Block &body = weight.getBody().emplaceBlock();
    b.setInsertionPointToStart(&body);
    IRMapping mapping;
    for (Operation *member : constants.getSlice(value)) {
      b.clone(*member, mapping);
    }
    amp::YieldOp::create(b, op->getLoc(), mapping.lookup(value));
    weight = findEqual(weight);
    b.setInsertionPointAfter(op);
    auto get = amp::GetWeightOp::create(
        b, op->getLoc(), type, FlatSymbolRefAttr::get(weight.getSymNameAttr()));
    value.replaceUsesWithIf(get, [&](OpOperand &use) {
      return !constants.isComputable(use.getOwner());
    });
  }

  /// A weight of another function that is computed likewise, in place of
  /// `weight`.
  amp::WeightOp findEqual(amp::WeightOp weight) {
    SmallVector<amp::WeightOp> &candidates = outlined[weight.getType()];
    for (amp::WeightOp other : candidates) {
      if (OperationEquivalence::isRegionEquivalentTo(
              &weight.getBody(), &other.getBody(),
              OperationEquivalence::IgnoreLocations)) {
        weight.erase();
        return other;
      }
    }
    candidates.push_back(weight);
    return weight;
  }

  std::string freshName() {
    std::string name;
    do {
      name = "w" + std::to_string(number++);
    } while (getOperation().lookupSymbol(name));
    return name;
  }

  DenseMap<Type, SmallVector<amp::WeightOp>> outlined;
  unsigned number = 0;
};

} // namespace
} // namespace ampc::fusion
