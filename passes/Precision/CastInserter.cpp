//===- CastInserter.cpp - One cast per value, type and region -------------===//
#include "passes/Precision/CastInserter.h"

#include "passes/Precision/Constants.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

bool CastInserter::isKnown(Value value) const {
  return isConstantValue(value) || (computed && computed->contains(value));
}

/// Whether a cast of `value`, which is known at compile time, must be kept from
/// making infinities of finite numbers. The data of a weight is not looked at,
/// nor what is computed of it: their casts always saturate.
static bool mustSaturate(Value value, FloatType to) {
  if (to.getWidth() > 16) {
    return false;
  }
  DenseElementsAttr attr = getInlineConstant(value);
  if (!attr) {
    return true;
  }
  std::optional<NarrowingLoss> loss = measureNarrowing(attr, to);
  return loss && loss->overflow > 0;
}

Value CastInserter::cast(Value value, Type element, Operation *user,
                         bool *inserted) {
  if (inserted) {
    *inserted = false;
  }
  auto type = mlir::cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element) {
    return value;
  }
  // A constant's cast is executed when the program is written, so it need not
  // stand in a branch.
  Block *home = value.getParentBlock();
  Operation *before = user;
  while (before->getParentRegion() != home->getParent() &&
         (isKnown(value) || isa<LoopLikeOpInterface>(before->getParentOp()))) {
    before = before->getParentOp();
  }
  Value &known = casts[{{value, element}, before->getBlock()}];
  if (known) {
    return known;
  }
  OpBuilder builder(before);
  Operation *def = value.getDefiningOp();
  if (def && before->getBlock() == home) {
    builder.setInsertionPointAfter(def);
  }
  bool saturates =
      isKnown(value) && mustSaturate(value, mlir::cast<FloatType>(element));
  auto op = amp::CastOp::create(builder, value.getLoc(), type.clone(element),
                                value, saturates);
  if (inserted) {
    *inserted = true;
  }
  return known = op;
}
