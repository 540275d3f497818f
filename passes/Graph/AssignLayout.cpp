//===- AssignLayout.cpp - Channels last where convolutions are ------------===//
#include "dialects/Amp/IR/AmpDialect.h"
#include "passes/Graph/LayoutChoice.h"
#include "passes/Graph/Match.h"
#include "passes/Graph/Passes.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace ampc::amp;

namespace ampc::graph {
#define GEN_PASS_DEF_GRAPHASSIGNLAYOUTPASS
#include "passes/Graph/Passes.h.inc"

namespace {

/// Carries out a choice in one block: permutes tensors in place and puts
/// transpositions where permuted and natural ones meet.
class LayoutAssigner {
public:
  LayoutAssigner(Block &block, const LayoutChoice &choice)
      : block(block), choice(choice), builder(block.getParentOp()) {}

  /// Returns the number of transpositions that move data at run time.
  unsigned run() {
    SmallVector<Operation *> operations;
    for (Operation &op : block) {
      operations.push_back(&op);
    }
    for (Operation *op : operations) {
      if (choice.contains(op)) {
        permuteOp(op);
      }
    }
    for (Value value : permuted) {
      restoreNaturalUses(value);
    }
    return transposes;
  }

private:
  /// `value`, which is natural, with channels last.
  Value toChannelsLast(Value value) {
    Value &moved = movedLast[value];
    if (!moved) {
      moved = createPermuted(
          value, getChannelsLastPermutation(tensorType(value).getRank()));
    }
    return moved;
  }

  /// `value`, which has channels last, in its natural order.
  Value toNatural(Value value) {
    Value &moved = movedBack[value];
    if (!moved) {
      moved = createPermuted(
          value, getChannelsFirstPermutation(tensorType(value).getRank()));
    }
    return moved;
  }

  Value createPermuted(Value value, ArrayRef<int64_t> permutation) {
    builder.setInsertionPointAfterValue(value);
    SmallVector<int64_t> shape;
    for (int64_t dim : permutation) {
      shape.push_back(tensorType(value).getDimSize(dim));
    }
    auto type = tensorType(value).clone(shape);
    auto constant = value.getDefiningOp<ConstantOp>();
    if (auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                              : nullptr) {
      return ConstantOp::create(builder, value.getLoc(),
                                splat.resizeSplat(type));
    }
    if (isFreeTranspose(tensorType(value).getShape(), permutation)) {
      return ReshapeOp::create(builder, value.getLoc(), type, value);
    }
    transposes += !isConstantExpression(value);
    return TransposeOp::create(builder, value.getLoc(), value, permutation);
  }

  /// An operand that broadcasts gets the leading ones of the result's rank
  /// before its dimensions move.
  Value raiseRank(Value value, int64_t rank) {
    auto type = tensorType(value);
    SmallVector<int64_t> shape(rank - type.getRank(), 1);
    llvm::append_range(shape, type.getShape());
    builder.setInsertionPointAfterValue(value);
    return ReshapeOp::create(builder, value.getLoc(), type.clone(shape), value);
  }

  void permuteOp(Operation *op) {
    auto rule = *getChannelsLastRule(op);
    int64_t rank = 0;
    for (unsigned i : rule.operands) {
      rank = std::max(rank, tensorType(op->getOperand(i)).getRank());
    }
    if (rule.results) {
      rank = std::max(rank, tensorType(op->getResult(0)).getRank());
    }
    SmallVector<std::pair<unsigned, Value>> operands;
    for (unsigned i : rule.operands) {
      Value operand = op->getOperand(i);
      auto type = tensorType(operand);
      if (type.getRank() < rank) {
        // One element is the same wherever it stands.
        if (type.getNumElements() == 1) {
          continue;
        }
        operand = permuted.contains(operand) ? toNatural(operand) : operand;
        operand = raiseRank(operand, rank);
      }
      if (!permuted.contains(operand)) {
        operand = toChannelsLast(operand);
      }
      operands.emplace_back(i, operand);
    }
    // The op's attributes speak of the shapes that it has now.
    setChannelsLast(op);
    for (auto [i, operand] : operands) {
      op->setOperand(i, operand);
      permutedUses.insert(&op->getOpOperand(i));
    }
    if (!rule.results) {
      return;
    }
    for (Value result : op->getResults()) {
      auto type = tensorType(result);
      result.setType(getChannelsLastType(type, type.getRank()));
      permuted.insert(result);
    }
  }

  bool isMovedBackBy(Operation *op, Value value) const {
    Value moved = movedBack.lookup(value);
    return moved && moved.getDefiningOp() == op;
  }

  /// What stays as it is reads a permuted value in its natural order.
  void restoreNaturalUses(Value value) {
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : value.getUses()) {
      bool isOurs =
          permutedUses.contains(&use) || isMovedBackBy(use.getOwner(), value);
      if (!isOurs) {
        uses.push_back(&use);
      }
    }
    for (OpOperand *use : uses) {
      use->set(toNatural(value));
    }
  }

  Block &block;
  const LayoutChoice &choice;
  OpBuilder builder;
  SetVector<Value> permuted;
  DenseSet<OpOperand *> permutedUses;
  DenseMap<Value, Value> movedLast, movedBack;
  unsigned transposes = 0;
};

struct GraphAssignLayoutPass final
    : impl::GraphAssignLayoutPassBase<GraphAssignLayoutPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != getOperation() &&
          op->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
        return WalkResult::skip();
      }
      for (Region &region : op->getRegions()) {
        for (Block &block : region) {
          blocks.push_back(&block);
        }
      }
      return WalkResult::advance();
    });
    for (Block *block : blocks) {
      LayoutChoice choice = chooseLayouts(*block);
      if (choice.empty()) {
        continue;
      }
      remark::passed(block->getParentOp()->getLoc(),
                     remark::RemarkOpts::name("channels-last")
                         .category("graph-assign-layout"))
          << remark::metric("ops", choice.size())
          << remark::metric("transposes", LayoutAssigner(*block, choice).run());
    }
  }
};
} // namespace
} // namespace ampc::graph
