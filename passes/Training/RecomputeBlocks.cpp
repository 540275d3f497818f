//===- RecomputeBlocks.cpp - Compute blocks again in the backward pass ----===//
#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Training/BackwardPass.h"
#include "passes/Training/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGRECOMPUTEBLOCKSPASS
#include "passes/Training/Passes.h.inc"

namespace {

/// A value that crosses beside the one of a cut may have this share of the
/// largest one's bytes: a mask that all layers read.
constexpr int64_t smallShare = 64;

/// Bytes that a block needs while it is computed again, for each that it saves:
/// gradients live beside the values that they are computed from, and those are
/// not narrowed to what is cheapest to keep.
constexpr int64_t blockWeight = 2;

/// A place before an operation of the forward pass, and what lives there.
struct Cut {
  size_t position = 0;
  int64_t bytes = 0; ///< of all values that are read behind it
};

/// Cuts a forward pass into blocks and lets the backward pass compute them
/// again, but for the last, whose gradients come first.
class BlockRecomputation {
public:
  explicit BlockRecomputation(func::FuncOp step) : halves(step) {
    for (auto [i, op] : llvm::enumerate(halves.forward)) {
      position[op] = i;
    }
    findLifetimes();
  }

  void run(RecomputeMode mode) {
    SmallVector<Cut> cuts = findCuts();
    if (mode == RecomputeMode::All) {
      cuts = thinOut(cuts);
    }
    // Later blocks first: each is computed where its gradients begin.
    for (size_t i = cuts.size(); i-- > 0;) {
      size_t begin = i == 0 ? 0 : cuts[i - 1].position;
      recompute(begin, cuts[i].position);
    }
  }

private:
  void findLifetimes();
  SmallVector<Cut> findCuts() const;
  SmallVector<Cut> thinOut(ArrayRef<Cut> cuts) const;
  int64_t countSaved(size_t begin, size_t end) const {
    return savedBefore[end] - savedBefore[begin];
  }
  void recompute(size_t begin, size_t end);

  BackwardPass halves;
  DenseMap<Operation *, size_t> position; ///< in the forward pass
  /// The last operation of the forward pass that reads a result of another;
  /// its own position if none does.
  SmallVector<size_t> lastReader;
  /// Bytes of what the operations before one give the backward pass.
  SmallVector<int64_t> savedBefore;
};

void BlockRecomputation::findLifetimes() {
  savedBefore.push_back(0);
  for (auto [i, op] : llvm::enumerate(halves.forward)) {
    size_t last = i;
    bool isSaved = false;
    for (Operation *user : op->getUsers()) {
      auto it = position.find(user);
      last = it == position.end() ? last : std::max(last, it->second);
      isSaved = isSaved || halves.isBackward(user);
    }
    lastReader.push_back(last);
    int64_t bytes = 0;
    for (Value result : op->getResults()) {
      bytes += isSaved ? countBytes(result) : 0;
    }
    savedBefore.push_back(savedBefore.back() + bytes);
  }
}

/// Places where one value of size lives, each between blocks that save at least
/// twice its bytes: the input of a layer or of a residual block.
SmallVector<Cut> BlockRecomputation::findCuts() const {
  size_t count = halves.forward.size();
  SmallVector<Cut> cuts;
  // Of neighbouring places the last one of the fewest bytes is taken.
  std::optional<Cut> candidate;
  size_t begin = 0;
  auto take = [&] {
    if (candidate) {
      cuts.push_back(*candidate);
      begin = candidate->position;
      candidate.reset();
    }
  };
  llvm::SetVector<size_t> live; // operations whose results are read later
  for (size_t i = 1; i < count; ++i) {
    if (lastReader[i - 1] > i - 1) {
      live.insert(i - 1);
    }
    live.remove_if([&](size_t op) { return lastReader[op] < i; });
    int64_t sum = 0, largest = 0;
    for (size_t op : live) {
      for (Value result : halves.forward[op]->getResults()) {
        int64_t bytes = countBytes(result);
        sum += bytes;
        largest = std::max(largest, bytes);
      }
    }
    bool isNarrow = (sum - largest) * smallShare <= largest;
    if (!isNarrow || (candidate && countSaved(candidate->position, i) >=
                                       2 * candidate->bytes)) {
      take();
    }
    bool isBetter = isNarrow && countSaved(begin, i) >= 2 * sum &&
                    (!candidate || sum <= candidate->bytes);
    if (isBetter) {
      candidate = {i, sum};
    }
  }
  take();
  return cuts;
}

/// The cuts with the least peak: what is kept before a block, and what the
/// block needs while it is computed again, for the block where that is most.
/// For each bound on it the cheapest cuts follow from those of shorter forward
/// passes.
SmallVector<Cut> BlockRecomputation::thinOut(ArrayRef<Cut> cuts) const {
  constexpr int64_t never = std::numeric_limits<int64_t>::max();
  SmallVector<size_t> places{0};
  for (const Cut &cut : cuts) {
    places.push_back(cut.position);
  }
  places.push_back(halves.forward.size());
  size_t count = places.size();
  SmallVector<Cut> chosen(cuts);
  for (int64_t bound = blockWeight * savedBefore.back(); bound > 0;
       bound -= bound / 16 + 1) {
    // kept[k]: bytes of the cuts up to place k, where a block ends.
    SmallVector<int64_t> kept(count, never);
    SmallVector<size_t> from(count, 0);
    kept[0] = 0;
    for (size_t k = 1; k < count; ++k) {
      int64_t own = k + 1 < count ? cuts[k - 1].bytes : 0;
      for (size_t j = 0; j < k; ++j) {
        if (kept[j] != never &&
            kept[j] + blockWeight * countSaved(places[j], places[k]) <= bound &&
            kept[j] + own < kept[k]) {
          kept[k] = kept[j] + own;
          from[k] = j;
        }
      }
    }
    if (kept[count - 1] == never) {
      break;
    }
    chosen.clear();
    for (size_t k = from[count - 1]; k != 0; k = from[k]) {
      chosen.insert(chosen.begin(), cuts[k - 1]);
    }
  }
  return chosen;
}

/// Where operations of the backward pass read what [begin, end) writes and the
/// forward pass does not need any more, they read it from copies, which stand
/// before the first of them.
void BlockRecomputation::recompute(size_t begin, size_t end) {
  llvm::SetVector<Value> wanted;
  Operation *first = nullptr;
  for (size_t i = begin; i < end; ++i) {
    if (lastReader[i] >= end) {
      continue; // it crosses the cut, which keeps it
    }
    for (Value result : halves.forward[i]->getResults()) {
      for (Operation *user : result.getUsers()) {
        if (halves.isBackward(user)) {
          wanted.insert(result);
          first = !first || user->isBeforeInBlock(first) ? user : first;
        }
      }
    }
  }
  if (!first) {
    return;
  }
  llvm::SetVector<Operation *> needed;
  SmallVector<Value> pending(wanted.begin(), wanted.end());
  while (!pending.empty()) {
    Operation *by = pending.pop_back_val().getDefiningOp();
    auto it = position.find(by);
    if (it != position.end() && it->second >= begin && it->second < end &&
        lastReader[it->second] < end && needed.insert(by)) {
      llvm::append_range(pending, by->getOperands());
    }
  }
  SmallVector<Operation *> order(needed.begin(), needed.end());
  llvm::sort(order,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  OpBuilder b(first);
  IRMapping copies;
  for (Operation *op : order) {
    b.clone(*op, copies);
  }
  for (Value value : wanted) {
    value.replaceUsesWithIf(copies.lookup(value), [&](OpOperand &use) {
      return halves.isBackward(use.getOwner());
    });
  }
}

struct TrainingRecomputeBlocksPass final
    : impl::TrainingRecomputeBlocksPassBase<TrainingRecomputeBlocksPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!getOperation().isDeclaration()) {
      BlockRecomputation(getOperation()).run(mode);
    }
  }
};

} // namespace
} // namespace ampc::training
