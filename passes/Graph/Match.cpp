//===- Match.cpp - What graph rewrites ask of values ----------------------===//
#include "passes/Graph/Match.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

/// Steps of a constant expression that are followed before giving up.
static constexpr unsigned constantDepth = 64;

std::optional<double> graph::getScalarConstant(Value value) {
  for (unsigned step = 0; step < constantDepth; ++step) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_nonnull<ReshapeOp, BroadcastOp>(op)) {
      break;
    }
    value = op->getOperand(0);
  }
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!dense || dense.empty() || !dense.isSplat()) {
    return std::nullopt;
  }
  if (isa<FloatType>(dense.getElementType())) {
    APFloat number = dense.getSplatValue<APFloat>();
    bool loses;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    return number.convertToDouble();
  }
  auto integer = dyn_cast<IntegerType>(dense.getElementType());
  if (!integer || integer.getWidth() > 64) {
    return std::nullopt;
  }
  APInt number = dense.getSplatValue<APInt>();
  return number.roundToDouble(!integer.isUnsigned() && !integer.isInteger(1));
}

bool graph::isClose(double value, double expected, Type elementType) {
  double tolerance = 1e-6;
  if (auto type = dyn_cast<FloatType>(elementType)) {
    tolerance =
        std::max(tolerance, std::ldexp(1.0, -int(type.getFPMantissaWidth())));
  }
  return std::abs(value - expected) <=
         tolerance * std::max(std::abs(expected), 1e-30);
}

bool graph::isScalarConstant(Value value, double expected) {
  auto number = getScalarConstant(value);
  return number &&
         isClose(*number, expected, tensorType(value).getElementType());
}

bool graph::isConstantExpression(Value value) {
  SetVector<Operation *> seen;
  Operation *start = value.getDefiningOp();
  if (!start) {
    return false;
  }
  seen.insert(start);
  for (size_t i = 0; i < seen.size(); ++i) {
    Operation *op = seen[i];
    if (isa<ConstantOp>(op)) {
      continue;
    }
    if (i >= constantDepth || op->getNumOperands() == 0 ||
        op->getNumRegions() != 0 || !isPure(op)) {
      return false;
    }
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def) {
        return false;
      }
      seen.insert(def);
    }
  }
  return true;
}

bool graph::isSameValue(Value lhs, Value rhs) {
  if (lhs == rhs) {
    return true;
  }
  Operation *lhsOp = lhs.getDefiningOp(), *rhsOp = rhs.getDefiningOp();
  return lhsOp && rhsOp && lhs.getType() == rhs.getType() && isPure(lhsOp) &&
         lhsOp->getNumResults() == 1 && lhsOp->getNumRegions() == 0 &&
         OperationEquivalence::isEquivalentTo(
             lhsOp, rhsOp, OperationEquivalence::IgnoreLocations);
}

std::optional<graph::WithScalar> graph::matchScale(Value result) {
  if (auto match = matchWithScalar<MulOp>(result)) {
    return match;
  }
  auto match = matchWithScalar<DivOp>(result);
  if (!match || match->scalar == 0.0) {
    return std::nullopt;
  }
  match->scalar = 1.0 / match->scalar;
  return match;
}

Value graph::matchSquare(Value result) {
  if (auto mul = result.getDefiningOp<MulOp>()) {
    return isSameValue(mul.getLhs(), mul.getRhs()) ? mul.getLhs() : Value();
  }
  auto power = matchWithScalar<PowOp>(result);
  return power && power->scalar == 2.0 ? power->value : Value();
}

namespace {
/// A reduction with its ones kept, or with a reshape that puts them back.
template <typename ReduceOp>
std::optional<graph::Mean> matchReduction(Value result) {
  Value reduced = result;
  if (auto reshape = result.getDefiningOp<ReshapeOp>()) {
    reduced = reshape.getInput();
  }
  auto op = reduced.getDefiningOp<ReduceOp>();
  if (!op) {
    return std::nullopt;
  }
  SmallVector<int64_t> shape(graph::tensorType(op.getInput()).getShape());
  for (int64_t axis : op.getAxes()) {
    shape[axis] = 1;
  }
  if (graph::tensorType(result).getShape() != ArrayRef<int64_t>(shape)) {
    return std::nullopt;
  }
  return graph::Mean{op.getInput(), SmallVector<int64_t>(op.getAxes())};
}
} // namespace

std::optional<graph::Mean> graph::matchMean(Value result) {
  if (auto mean = matchReduction<ReduceMeanOp>(result)) {
    return mean;
  }
  auto scaled = matchScale(result);
  auto sum = scaled ? matchReduction<ReduceSumOp>(scaled->value) : std::nullopt;
  if (!sum) {
    return std::nullopt;
  }
  auto input = tensorType(sum->input);
  double count = 1;
  for (int64_t axis : sum->axes) {
    count *= static_cast<double>(input.getDimSize(axis));
  }
  if (count == 0 ||
      !isClose(scaled->scalar * count, 1.0, input.getElementType())) {
    return std::nullopt;
  }
  return sum;
}

Location graph::fuseLocations(Operation *root, ValueRange leaves) {
  SetVector<Operation *> path;
  path.insert(root);
  for (size_t i = 0; i < path.size(); ++i) {
    for (Value operand : path[i]->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == root->getBlock() &&
          !llvm::is_contained(leaves, operand) && !isa<ConstantOp>(def)) {
        path.insert(def);
      }
    }
  }
  auto ordered = path.takeVector();
  llvm::sort(ordered, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  SmallVector<Location> locations;
  for (Operation *op : ordered) {
    locations.push_back(op->getLoc());
  }
  return FusedLoc::get(root->getContext(), locations);
}
