//===- ConstantValue.cpp - The value of an SSA value that is constant -----===//
#include "dialects/Amp/Reference/ConstantValue.h"

#include "dialects/Amp/Reference/Evaluator.h"
#include "dialects/Amp/Reference/Models.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::ref;

namespace {
/// Orders the ops behind `root` so that operands come first; fails when one is
/// not evaluable, or there are too many.
LogicalResult sortSlice(Operation *root, unsigned maxOps,
                        SmallVectorImpl<Operation *> &order) {
  // An op is pushed once with its operands to visit and popped when they are.
  SmallVector<std::pair<Operation *, unsigned>> stack;
  llvm::SmallPtrSet<Operation *, 16> seen;
  auto enter = [&](Operation *op) {
    if (!seen.insert(op).second) {
      return success();
    }
    bool evaluable = isa<amp::ConstantOp, ReferenceOpInterface>(op);
    if (!evaluable || seen.size() > maxOps) {
      return failure();
    }
    stack.emplace_back(op, 0);
    return success();
  };
  if (failed(enter(root))) {
    return failure();
  }
  while (!stack.empty()) {
    auto &[op, next] = stack.back();
    if (next == op->getNumOperands()) {
      order.push_back(op);
      stack.pop_back();
      continue;
    }
    Operation *operand = op->getOperand(next++).getDefiningOp();
    if (!operand || failed(enter(operand))) {
      return failure();
    }
  }
  return success();
}
} // namespace

FailureOr<Tensor> ref::evaluateConstant(Value value, uint64_t byteBudget,
                                        unsigned maxOps) {
  Operation *root = value.getDefiningOp();
  SmallVector<Operation *> order;
  if (!root || failed(sortSlice(root, maxOps, order))) {
    return failure();
  }
  constexpr uint64_t maxWork = uint64_t(1) << 28;
  uint64_t bytes = 0, work = 0;
  for (Operation *op : order) {
    bool constant = isa<amp::ConstantOp>(op);
    work = llvm::SaturatingAdd(work, constant ? 0 : estimateWork(op));
    if (work > maxWork) {
      return failure();
    }
    for (Type type : op->getResultTypes()) {
      auto size = getByteSize(type);
      if (!size) {
        return failure();
      }
      bytes += constant ? 0 : *size;
      if (bytes > byteBudget) {
        return failure();
      }
    }
  }
  llvm::DenseMap<Value, Tensor> values;
  for (Operation *op : order) {
    if (auto constant = dyn_cast<amp::ConstantOp>(op)) {
      auto tensor = Tensor::fromAttribute(constant.getValue());
      if (!tensor) {
        return failure();
      }
      values[constant.getResult()] = std::move(*tensor);
      continue;
    }
    SmallVector<Tensor> operands, results;
    for (Value operand : op->getOperands()) {
      operands.push_back(values[operand]);
    }
    if (failed(cast<ReferenceOpInterface>(op).evaluate(operands, results))) {
      return failure();
    }
    for (auto [result, tensor] : llvm::zip_equal(op->getResults(), results)) {
      values[result] = std::move(tensor);
    }
  }
  return values[value];
}

FailureOr<SmallVector<int64_t>> ref::evaluateConstantInts(Value value,
                                                          uint64_t byteBudget) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<IntegerType>(type.getElementType())) {
    return failure();
  }
  // The elements are copied out, so a splat of many is an expense too.
  auto count = getNumElements(type.getShape());
  if (!count || static_cast<uint64_t>(*count) > byteBudget / sizeof(int64_t)) {
    return failure();
  }
  FailureOr<Tensor> tensor = evaluateConstant(value, byteBudget);
  if (failed(tensor)) {
    return failure();
  }
  return tensor->getInts();
}
