//===- LaneIndices.cpp - Arithmetic on the indices of lanes ---------------===//
#include "dialects/Amp/Impl/LaneIndices.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;

static bool isMultipleOf(Value value, int64_t divisor, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    return constant.getSExtValue() % divisor == 0;
  }
  if (depth == 0) {
    return false;
  }
  auto both = [&](Value lhs, Value rhs) {
    return isMultipleOf(lhs, divisor, depth - 1) &&
           isMultipleOf(rhs, divisor, depth - 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && value == loop.getInductionVar() &&
           both(loop.getLowerBound(), loop.getStep());
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulIOp>(op)) {
    return isMultipleOf(op->getOperand(0), divisor, depth - 1) ||
           isMultipleOf(op->getOperand(1), divisor, depth - 1);
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::RemUIOp, arith::MinUIOp>(op)) {
    return both(op->getOperand(0), op->getOperand(1));
  }
  return false;
}

bool amp::isMultipleOf(Value value, int64_t divisor) {
  return divisor == 1 || ::isMultipleOf(value, divisor, /*depth=*/16);
}

bool amp::staysWithin(const ElementBuilder &eb, const LaneIndex &index,
                      int64_t size) {
  if (index.step == 0) {
    return true;
  }
  return index.step == 1 && size % eb.lanes == 0 &&
         isMultipleOf(index.base, eb.lanes);
}

Value amp::linearize(ElementBuilder &eb, ArrayRef<Value> index,
                     ArrayRef<int64_t> shape) {
  Value linear = eb.index(0);
  for (auto [i, size] : llvm::zip_equal(index, shape)) {
    linear = eb.add(eb.mul(linear, size), i);
  }
  return linear;
}

SmallVector<Value> amp::delinearize(ElementBuilder &eb, Value linear,
                                    ArrayRef<int64_t> shape) {
  SmallVector<Value> result(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    bool outermost = llvm::all_of(shape.take_front(i),
                                  [](int64_t size) { return size == 1; });
    if (shape[i] == 1) {
      result[i] = eb.index(0);
    } else if (outermost) {
      result[i] = linear;
    } else {
      Value size = eb.index(shape[i]);
      result[i] = arith::RemUIOp::create(eb.b, eb.loc, linear, size);
      linear = arith::DivUIOp::create(eb.b, eb.loc, linear, size);
    }
  }
  return result;
}

SmallVector<Value> amp::basesOf(ArrayRef<LaneIndex> index) {
  return llvm::map_to_vector(index, [](const LaneIndex &i) { return i.base; });
}

Value amp::isWithin(ElementBuilder &eb, Value value, int64_t size) {
  // A negative index is a huge unsigned one.
  return arith::CmpIOp::create(eb.b, eb.loc, arith::CmpIPredicate::ult, value,
                               eb.index(size));
}

Value amp::clampIndex(ElementBuilder &eb, Value value, int64_t size) {
  Value low = arith::MaxSIOp::create(eb.b, eb.loc, value, eb.index(0));
  return arith::MinSIOp::create(eb.b, eb.loc, low, eb.index(size - 1));
}

FailureOr<Value> amp::buildIf(ElementBuilder &eb, Value condition, Type element,
                              function_ref<FailureOr<Value>()> yes,
                              function_ref<FailureOr<Value>()> no) {
  auto branch =
      scf::IfOp::create(eb.b, eb.loc, eb.laneType(getComputeType(element)),
                        condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(eb.b);
  auto fill = [&](Block *block, function_ref<FailureOr<Value>()> build) {
    eb.b.setInsertionPointToStart(block);
    FailureOr<Value> value = build();
    if (succeeded(value)) {
      scf::YieldOp::create(eb.b, eb.loc, eb.splat(*value));
    }
    return succeeded(value);
  };
  if (!fill(branch.thenBlock(), yes) || !fill(branch.elseBlock(), no)) {
    branch.erase();
    return failure();
  }
  return branch.getResult(0);
}
