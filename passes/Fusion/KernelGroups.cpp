//===- KernelGroups.cpp - Which ops form a kernel together ----------------===//
#include "passes/Fusion/KernelGroups.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::fusion;

namespace {
/// Most ops in a kernel. Longer chains gain nothing, and the time that a kernel
/// takes to compile grows faster than its length.
constexpr size_t maxOps = 64;

FusionKind kindOf(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable ? fusable.getFusionKind() : FusionKind::Never;
}

bool isMapKind(FusionKind kind) {
  return kind == FusionKind::Elementwise || kind == FusionKind::View;
}

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// A cast to fewer bytes: it may share its operand's kernel although others
/// read the operand too, and saves a pass over memory there.
bool isNarrowingCast(Operation *op) {
  auto cast = dyn_cast<amp::CastOp>(op);
  return cast &&
         getElementTypeOrSelf(cast.getInput()).getIntOrFloatBitWidth() >
             getElementTypeOrSelf(cast.getType()).getIntOrFloatBitWidth();
}

/// Whether the elements of a vector along the last dimension of the view's
/// input stay together along the last dimension of its result.
bool keepsVectors(Operation *view, int64_t lanes) {
  if (auto transpose = dyn_cast<amp::TransposeOp>(view)) {
    auto permutation = transpose.getPermutation();
    return !permutation.empty() &&
           permutation.back() == static_cast<int64_t>(permutation.size()) - 1;
  }
  if (auto reshape = dyn_cast<amp::ReshapeOp>(view)) {
    auto from = shapeOf(reshape.getInput()), to = shapeOf(reshape.getResult());
    if (from.empty() || to.empty()) {
      return false;
    }
    return from.back() % lanes == 0 && to.back() % lanes == 0;
  }
  return false;
}
} // namespace

KernelGroups::KernelGroups(Block &block, int64_t lanes)
    : lanes(lanes), constants(block.getParentOp()) {
  for (Operation &op : block.without_terminator()) {
    FusionKind kind = kindOf(&op);
    if (kind != FusionKind::Never && !constants.isComputable(&op)) {
      place(&op, kind);
    }
  }
  for (auto &group : groups) {
    stripReshapes(*group);
  }
}

KernelGroup *KernelGroups::groupOf(Value value) const {
  Operation *op = value.getDefiningOp();
  return op ? membership.lookup(op) : nullptr;
}

bool KernelGroups::canJoinEpilogue(Operation *op, FusionKind kind,
                                   Value operand) const {
  KernelGroup *group = groupOf(operand);
  if (!group || group->closed || operand.getDefiningOp() != group->tail ||
      group->tail->getNumResults() != 1 || group->ops.size() >= maxOps) {
    return false;
  }
  bool onlyUser = llvm::all_of(operand.getUsers(),
                               [&](Operation *user) { return user == op; });
  if (!onlyUser && !isNarrowingCast(op)) {
    return false;
  }
  if (kind == FusionKind::View) {
    // Views of a map kernel are pulled through; those of a root move its
    // stores.
    return onlyUser &&
           (isMapKind(group->kind) ||
            (group->kind != FusionKind::Serial &&
             group->kind != FusionKind::Indexed && keepsVectors(op, lanes)));
  }
  // The root's elements must be used one for one.
  return group->kind != FusionKind::Serial &&
         shapeOf(operand) == shapeOf(op->getResult(0));
}

void KernelGroups::merge(KernelGroup &into, KernelGroup &from) {
  for (Operation *op : from.ops) {
    membership[op] = &into;
  }
  into.ops.append(from.ops.begin(), from.ops.end());
  llvm::sort(into.ops, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  from.ops.clear();
}

void KernelGroups::absorbPrologues(KernelGroup &group, Operation *op) {
  for (Value operand : op->getOperands()) {
    KernelGroup *producer = groupOf(operand);
    if (!producer || producer == &group || producer->closed ||
        !isMapKind(producer->kind) ||
        operand.getDefiningOp() != producer->tail ||
        group.ops.size() + producer->ops.size() > maxOps) {
      continue;
    }
    bool onlyUser = llvm::all_of(operand.getUsers(),
                                 [&](Operation *user) { return user == op; });
    bool cheap = llvm::all_of(producer->ops, [](Operation *member) {
      return kindOf(member) == FusionKind::View || isa<amp::CastOp>(member);
    });
    // What an epilogue adds to each element is pulled once as well.
    bool inEpilogue =
        op != group.root && shapeOf(operand) == shapeOf(op->getResult(0));
    bool pulledOnce = isMapKind(group.kind) || inEpilogue ||
                      group.kind == FusionKind::RowReduction ||
                      isa<amp::ConcatOp, amp::PadOp>(op);
    bool allowed =
        group.kind != FusionKind::Serial && onlyUser && (pulledOnce || cheap);
    if (allowed) {
      merge(group, *producer);
    }
  }
}

void KernelGroups::place(Operation *op, FusionKind kind) {
  KernelGroup *best = nullptr;
  if (isMapKind(kind)) {
    // Join the heaviest root that is ready last: what it computes need not
    // travel through memory.
    auto weight = [](const KernelGroup &group) {
      return group.kind == FusionKind::Contraction ||
                     group.kind == FusionKind::Attention
                 ? 2
             : isMapKind(group.kind) ? 0
                                     : 1;
    };
    for (Value operand : op->getOperands()) {
      KernelGroup *group = groupOf(operand);
      if (!canJoinEpilogue(op, kind, operand)) {
        continue;
      }
      bool better = !best || weight(*group) > weight(*best) ||
                    (weight(*group) == weight(*best) &&
                     best->position->isBeforeInBlock(group->position));
      best = better ? group : best;
    }
  }
  if (best) {
    bool shared = !best->tail->hasOneUse() &&
                  !llvm::all_of(best->tail->getUsers(),
                                [&](Operation *user) { return user == op; });
    best->ops.push_back(op);
    membership[op] = best;
    best->tail = op;
    if (shared) {
      // The operand is a result too, and its readers may stand before `op`.
      best->closed = true;
      return;
    }
    best->position = op;
    absorbPrologues(*best, op);
    return;
  }
  groups.push_back(std::make_unique<KernelGroup>());
  KernelGroup &group = *groups.back();
  group.ops.push_back(op);
  group.root = isMapKind(kind) ? nullptr : op;
  group.kind = kind;
  group.tail = group.position = op;
  membership[op] = &group;
  absorbPrologues(group, op);
}

void KernelGroups::stripReshapes(KernelGroup &group) {
  auto drop = [&](Operation *op) {
    membership.erase(op);
    llvm::erase(group.ops, op);
  };
  bool changed = true;
  while (changed && !group.ops.empty()) {
    changed = false;
    for (Operation *op : group.ops) {
      auto reshape = dyn_cast<amp::ReshapeOp>(op);
      if (!reshape) {
        continue;
      }
      bool inputOutside = groupOf(reshape.getInput()) != &group;
      bool resultOutside = llvm::none_of(op->getUsers(), [&](Operation *user) {
        return membership.lookup(user) == &group;
      });
      if (inputOutside || (resultOutside && op == group.tail)) {
        if (op == group.tail && !inputOutside) {
          group.tail = reshape.getInput().getDefiningOp();
        }
        drop(op);
        if (op == group.position && !group.ops.empty()) {
          // A narrowing cast that shared a reshape stands behind it.
          group.position = group.ops.back();
        }
        changed = true;
        break;
      }
    }
  }
}

SmallVector<KernelGroup *> KernelGroups::ordered() const {
  SmallVector<KernelGroup *> result;
  for (const auto &group : groups) {
    if (!group->ops.empty()) {
      result.push_back(group.get());
    }
  }
  llvm::sort(result, [](KernelGroup *lhs, KernelGroup *rhs) {
    return lhs->position->isBeforeInBlock(rhs->position);
  });
  return result;
}
