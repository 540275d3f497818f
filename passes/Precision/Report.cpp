//===- Report.cpp - What the precision phase decided, and why -------------===//
#include "passes/Precision/Report.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Precision/Constants.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

StringRef precision::stringifyRule(Rule rule) {
  switch (rule) {
  case Rule::None:
    return "none";
  case Rule::Pinned:
    return "pinned";
  case Rule::Lower:
    return "lower";
  case Rule::Fp32:
    return "fp32";
  case Rule::Promote:
    return "promote";
  case Rule::Follow:
    return "follow";
  case Rule::Pure:
    return "pure";
  case Rule::Override:
    return "override";
  case Rule::Position:
    return "position";
  case Rule::Constant:
    return "constant";
  case Rule::Kept:
    return "kept";
  case Rule::Default:
    return "default";
  case Rule::Calibration:
    return "calibration";
  }
  llvm_unreachable("unknown rule");
}

void Report::countFinal(ModuleOp module) {
  totals = {};
  counted = true;
  llvm::DenseSet<Value> constants;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool constant =
        op->getNumOperands() > 0 &&
        llvm::all_of(op->getOperands(), [&](Value operand) {
          return isConstantValue(operand) || constants.contains(operand);
        });
    if (constant && isa<PrecisionOpInterface>(op)) {
      constants.insert_range(op->getResults());
    }
    auto cast = dyn_cast<amp::CastOp>(op);
    for (Value result : op->getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (!type || !isAutocastEligible(type) ||
          !isa<PrecisionOpInterface>(op)) {
        continue;
      }
      int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
      int64_t saved = 4 * type.getNumElements() - bytes;
      if (constant) {
        totals.savedConstantBytes += cast ? saved : 0;
      } else if (cast) {
        totals.castBytes += bytes;
      } else {
        totals.activationBytes += bytes;
        totals.savedBytes += saved;
      }
    }
    if (cast) {
      ++(constant ? totals.constantCasts : totals.casts);
    }
    return isa<amp::CompositeOp>(op) ? WalkResult::skip()
                                     : WalkResult::advance();
  });
}
