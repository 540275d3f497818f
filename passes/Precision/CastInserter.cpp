//===- CastInserter.cpp - One cast per value, type and region -------------===//
#include "passes/Precision/CastInserter.h"

#include "passes/Precision/Constants.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

/// Whether a cast of `value` must be kept from making infinities of finite
/// numbers. The data of a weight is not looked at: its casts always saturate.
static bool mustSaturate(Value value, FloatType to) {
  if (!isConstantValue(value) || to.getWidth() > 16) {
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
         (isConstantValue(value) ||
          isa<LoopLikeOpInterface>(before->getParentOp()))) {
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
  auto op =
      amp::CastOp::create(builder, value.getLoc(), type.clone(element), value,
                          mustSaturate(value, mlir::cast<FloatType>(element)));
  if (inserted) {
    *inserted = true;
  }
  return known = op;
}
