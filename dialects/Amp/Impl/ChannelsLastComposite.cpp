//===- ChannelsLastComposite.cpp - Composites with channels last ----------===//
// A composite works with channels last when all of its body does: every tensor
// of several elements in it is then permuted, so nothing in it is transposed.
#include "dialects/Amp/Impl/ChannelsLastComposite.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Interfaces/LayoutInterfaces.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

namespace {

RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// A tensor of one element that is no tensor of the composite's rank is read in
/// any layout.
bool isScalar(Value value, int64_t rank) {
  return tensorType(value).getNumElements() == 1 &&
         tensorType(value).getRank() < rank;
}

/// Whether `op` of a body works on tensors of `rank` alone and permutes them
/// all. Constants have to be splats, so that their elements stay.
bool canPermute(Operation &op, int64_t rank) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    return isScalar(constant, rank) ||
           (constant.getType().getRank() == rank &&
            isa<SplatElementsAttr>(constant.getValue()));
  }
  auto rule = getChannelsLastRule(&op);
  auto hasRank = [&](Value value) {
    return tensorType(value).getRank() == rank;
  };
  if (!rule || !rule->results || !llvm::all_of(op.getResults(), hasRank)) {
    return false;
  }
  for (OpOperand &operand : op.getOpOperands()) {
    bool moves = llvm::is_contained(rule->operands, operand.getOperandNumber());
    bool isFine = moves ? isScalar(operand.get(), rank) ||
                              hasRank(operand.get()) ||
                              isa<BlockArgument>(operand.get())
                        : isScalar(operand.get(), rank);
    if (!isFine) {
      return false;
    }
  }
  return true;
}

void permuteType(Value value, int64_t rank) {
  if (!isScalar(value, rank)) {
    value.setType(getChannelsLastType(tensorType(value), rank));
  }
}

struct CompositeModel
    : LayoutOpInterface::ExternalModel<CompositeModel, CompositeOp> {
  std::optional<LayoutRule> getChannelsLastRule(Operation *op) const {
    auto composite = cast<CompositeOp>(op);
    if (op->getNumResults() == 0) {
      return std::nullopt;
    }
    int64_t rank = tensorType(op->getResult(0)).getRank();
    auto hasRank = [&](Value value) {
      return tensorType(value).getRank() == rank;
    };
    Block &body = composite.getBody().front();
    bool fits = rank >= 3 && llvm::all_of(op->getResults(), hasRank) &&
                llvm::all_of(body.getTerminator()->getOperands(), hasRank);
    LayoutRule rule;
    for (auto [i, input] : llvm::enumerate(composite.getInputs())) {
      fits = fits && tensorType(input).getRank() <= rank;
      rule.operands.push_back(i);
    }
    for (Operation &inner : body.without_terminator()) {
      fits = fits && canPermute(inner, rank);
    }
    return fits ? std::optional(rule) : std::nullopt;
  }

  void setChannelsLast(Operation *op) const {
    Block &body = cast<CompositeOp>(op).getBody().front();
    int64_t rank = tensorType(op->getResult(0)).getRank();
    for (Operation &inner : body.without_terminator()) {
      // Attributes speak of the shapes before.
      if (!isa<ConstantOp>(inner)) {
        ampc::setChannelsLast(&inner);
      }
    }
    for (BlockArgument argument : body.getArguments()) {
      permuteType(argument, rank);
    }
    for (Operation &inner : body.without_terminator()) {
      for (Value result : inner.getResults()) {
        permuteType(result, rank);
      }
      if (auto constant = dyn_cast<ConstantOp>(inner)) {
        if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue())) {
          constant.setValueAttr(splat.resizeSplat(constant.getType()));
        }
      }
    }
  }
};
} // namespace

void amp::attachCompositeModel(MLIRContext &context) {
  CompositeOp::attachInterface<CompositeModel>(context);
}
