//===- KernelGroups.cpp - Which ops form a kernel together ----------------===//
#include "passes/Fusion/KernelGroups.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Fusion/ScalarOrder.h"

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

/// Whether kernels read the operand as they have it stored: a weight, which is
/// small beside what it is multiplied with.
bool isStoredOperand(Operation *op, Value operand) {
  if (auto conv = dyn_cast<amp::ConvOp>(op)) {
    return operand == conv.getWeight();
  }
  auto conv = dyn_cast<amp::ConvTransposeOp>(op);
  return conv && operand == conv.getWeight();
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
  findFinal(block);
  for (Operation &op : block.without_terminator()) {
    FusionKind kind = kindOf(&op);
    if (kind != FusionKind::Never && !constants.isComputable(&op)) {
      place(&op, kind);
    }
  }
  mergeDiamonds();
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
  if (!group || group->closed || group->isScalar ||
      operand.getDefiningOp() != group->tail ||
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
        isStoredOperand(op, operand) || !isMapKind(producer->kind) ||
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
    bool oneResult = llvm::all_of(producer->ops, [&](Operation *member) {
      return llvm::all_of(member->getUsers(), [&](Operation *user) {
        return user == op || membership.lookup(user) == producer;
      });
    });
    bool allowed = group.kind != FusionKind::Serial && onlyUser && oneResult &&
                   (pulledOnce || cheap);
    if (allowed) {
      merge(group, *producer);
    }
  }
}

/// Whether these groups can be one at `op`: no op before it reads a result of
/// theirs, but for their own.
/// A map whose result several operations read, all of them in the prologue of
/// one row reduction: placed one by one, none of them was its only reader.
void KernelGroups::mergeDiamonds() {
  for (auto &producer : groups) {
    if (producer->ops.empty() || producer->closed || producer->isScalar ||
        producer->isShared || !isMapKind(producer->kind) ||
        producer->tail->getNumResults() != 1) {
      continue;
    }
    Value result = producer->tail->getResult(0);
    KernelGroup *reader = nullptr;
    bool isPrologue = !result.use_empty() && !shapeOf(result).empty();
    for (Operation *user : result.getUsers()) {
      KernelGroup *group = membership.lookup(user);
      isPrologue = isPrologue && group && (!reader || group == reader) &&
                   group->kind == FusionKind::RowReduction &&
                   kindOf(user) == FusionKind::Elementwise &&
                   user->isBeforeInBlock(group->root) &&
                   shapeOf(user->getResult(0)) == shapeOf(result);
      reader = group;
    }
    if (isPrologue && reader != producer.get() &&
        reader->ops.size() + producer->ops.size() <= maxOps) {
      merge(*reader, *producer);
    }
  }
}

bool KernelGroups::canMoveTo(Operation *op,
                             ArrayRef<KernelGroup *> merged) const {
  return llvm::all_of(merged, [&](KernelGroup *group) {
    return llvm::all_of(group->ops, [&](Operation *member) {
      return llvm::all_of(member->getUsers(), [&](Operation *user) {
        return user == op || op->isBeforeInBlock(user) ||
               llvm::is_contained(merged, membership.lookup(user));
      });
    });
  });
}

void KernelGroups::append(KernelGroup &group, Operation *op) {
  group.ops.push_back(op);
  membership[op] = &group;
  group.tail = group.position = op;
}

/// A scalar op joins the last group of scalars.
bool KernelGroups::placeScalar(Operation *op) {
  if (!isScalarOp(op)) {
    return false;
  }
  for (auto &group : llvm::reverse(groups)) {
    if (group->isScalar && !group->ops.empty()) {
      bool joins = group->ops.size() < maxOps && canMoveTo(op, {group.get()});
      if (joins) {
        append(*group, op);
      }
      return joins;
    }
  }
  return false;
}

/// Elementwise ops whose results nothing but such ops of the same shape reads,
/// and the program's caller: they may share kernels however often they read
/// each other, for none of them is wanted in another one's.
void KernelGroups::findFinal(Block &block) {
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    bool isMap = kindOf(&op) == FusionKind::Elementwise &&
                 !constants.isComputable(&op) && !isScalarOp(&op);
    bool isFinal =
        isMap && llvm::all_of(op.getUsers(), [&](Operation *user) {
          return user == block.getTerminator() ||
                 (final.contains(user) &&
                  shapeOf(user->getResult(0)) == shapeOf(op.getResult(0)));
        });
    if (isFinal) {
      final.insert(&op);
    }
  }
}

/// Such an op joins the groups of all its operands, as far as these can.
bool KernelGroups::placeFinal(Operation *op) {
  if (!final.contains(op)) {
    return false;
  }
  SmallVector<KernelGroup *> merged;
  size_t size = 1;
  for (Value operand : op->getOperands()) {
    KernelGroup *group = groupOf(operand);
    if (!group || !group->isShared || group->closed ||
        llvm::is_contained(merged, group) ||
        shapeOf(group->tail->getResult(0)) != shapeOf(op->getResult(0)) ||
        size + group->ops.size() > maxOps) {
      continue;
    }
    merged.push_back(group);
    if (canMoveTo(op, merged)) {
      size += group->ops.size();
    } else {
      merged.pop_back();
    }
  }
  if (merged.empty()) {
    return false;
  }
  for (KernelGroup *other : ArrayRef(merged).drop_front()) {
    merge(*merged.front(), *other);
  }
  append(*merged.front(), op);
  absorbPrologues(*merged.front(), op);
  return true;
}

void KernelGroups::place(Operation *op, FusionKind kind) {
  if (placeScalar(op)) {
    return;
  }
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
  if ((!best || isMapKind(best->kind)) && placeFinal(op)) {
    return;
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
  group.isScalar = isScalarOp(op) || isScalarRoot(op);
  group.isShared = final.contains(op);
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
