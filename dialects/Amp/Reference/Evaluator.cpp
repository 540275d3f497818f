//===- Evaluator.cpp - Interprets amp programs ----------------------------===//
#include "dialects/Amp/Reference/Evaluator.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Reference/Convert.h"
#include "dialects/Amp/Reference/Models.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

/// Composites nest no deeper in any real model.
static constexpr unsigned maxDepth = 64;

static uint64_t getBytesOf(Type type) {
  return static_cast<uint64_t>(getByteSize(type).value_or(0));
}

static uint64_t getElementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto count = tensor ? getNumElements(tensor.getShape()) : std::nullopt;
  return count ? static_cast<uint64_t>(*count)
               : std::numeric_limits<uint64_t>::max();
}

uint64_t ref::estimateWork(Operation *op) {
  uint64_t work = 0, largest = 0;
  for (Type type : op->getOperandTypes()) {
    uint64_t count = getElementsOf(type);
    work = llvm::SaturatingAdd(work, count);
    largest = std::max(largest, count);
  }
  // Ops that may read a whole operand for each element of the result.
  auto fusable = dyn_cast<FusableOpInterface>(op);
  bool multiplies = fusable && llvm::is_contained({FusionKind::Contraction,
                                                   FusionKind::Attention,
                                                   FusionKind::Indexed},
                                                  fusable.getFusionKind());
  for (Type type : op->getResultTypes()) {
    uint64_t count = getElementsOf(type);
    work = llvm::SaturatingAdd(
        work, multiplies ? llvm::SaturatingMultiply(count, largest) : count);
  }
  return work;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Accounts for the results of `op`, which are about to be made.
LogicalResult Evaluator::charge(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto size = getByteSize(type);
    if (!size) {
      return op->emitOpError("cannot evaluate a result of type ") << type;
    }
    liveBytes = llvm::SaturatingAdd(liveBytes, static_cast<uint64_t>(*size));
  }
  if (liveBytes > options.byteBudget) {
    return op->emitOpError("evaluation needs more than ")
           << options.byteBudget << " bytes";
  }
  return success();
}

FailureOr<Evaluator::Results>
Evaluator::evaluateRegion(Region &region, ArrayRef<Tensor> arguments) {
  Operation *parent = region.getParentOp();
  if (!region.hasOneBlock() || region.getNumArguments() != arguments.size()) {
    return parent->emitOpError("cannot evaluate: expected one block and ")
           << region.getNumArguments() << " arguments, got "
           << arguments.size();
  }
  if (depth == maxDepth) {
    return parent->emitOpError("cannot evaluate: nested too deeply");
  }
  ++depth;
  uint64_t entryBytes = liveBytes;
  llvm::scope_exit leave([&] {
    --depth;
    liveBytes = entryBytes;
  });
  Block &block = region.front();
  llvm::DenseMap<Value, Operation *> lastUse;
  for (Operation &op : block) {
    for (Value operand : op.getOperands()) {
      lastUse[operand] = &op;
    }
  }
  llvm::DenseMap<Value, Tensor> values;
  for (auto [argument, tensor] :
       llvm::zip_equal(block.getArguments(), arguments)) {
    values[argument] = tensor;
  }
  for (Operation &op : block) {
    SmallVector<Tensor> operands;
    for (Value operand : op.getOperands()) {
      operands.push_back(values.lookup(operand));
      assert(operands.back() && "regions see values of their own block only");
    }
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      return operands;
    }
    bool borrows = isa<ConstantOp, GetWeightOp>(op);
    Results results;
    if ((!borrows && failed(charge(&op))) ||
        failed(evaluateOp(&op, operands, results))) {
      return failure();
    }
    operands.clear();
    for (auto [result, tensor] : llvm::zip_equal(op.getResults(), results)) {
      assert(tensor.getType() == result.getType() && "evaluated another type");
      if (!result.use_empty()) {
        values[result] = std::move(tensor);
      } else if (!borrows) {
        liveBytes -= getBytesOf(result.getType());
      }
    }
    for (Value operand : op.getOperands()) {
      if (lastUse.lookup(operand) == &op && values.erase(operand)) {
        Operation *maker = operand.getDefiningOp();
        bool counted = maker && !isa<ConstantOp, GetWeightOp>(maker);
        liveBytes -= counted ? getBytesOf(operand.getType()) : 0;
      }
    }
  }
  return parent->emitOpError("cannot evaluate: the block has no terminator");
}

FailureOr<Evaluator::Results>
Evaluator::evaluateFunction(FunctionOpInterface function,
                            ArrayRef<Tensor> arguments) {
  if (function.isExternal() ||
      function.getArgumentTypes().size() != arguments.size()) {
    return function.emitOpError("cannot evaluate: expected a body and ")
           << function.getArgumentTypes().size() << " arguments, got "
           << arguments.size();
  }
  for (auto [type, argument] :
       llvm::zip_equal(function.getArgumentTypes(), arguments)) {
    if (argument.getType() != type) {
      return function.emitOpError("cannot evaluate: expected an argument of ")
             << type << ", got " << argument.getType();
    }
  }
  return evaluateRegion(function.getFunctionBody(), arguments);
}

FailureOr<Tensor> Evaluator::evaluateWeight(WeightOp weight) {
  Tensor &data = weights[weight];
  if (data) {
    return data;
  }
  FailureOr<Results> results = evaluateRegion(weight.getBody(), {});
  if (failed(results)) {
    return failure();
  }
  // The map may have grown meanwhile.
  return weights[weight] = results->front();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Evaluator::evaluateOp(Operation *op, ArrayRef<Tensor> operands,
                                    Results &results) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto tensor = Tensor::fromAttribute(constant.getValue());
    if (!tensor) {
      return op->emitOpError("has no data: the resource is missing, or its "
                             "size does not fit its type");
    }
    results.push_back(std::move(*tensor));
    return success();
  }
  if (auto get = dyn_cast<GetWeightOp>(op)) {
    auto weight =
        symbols.lookupNearestSymbolFrom<WeightOp>(op, get.getWeightAttr());
    FailureOr<Tensor> data = evaluateWeight(weight);
    if (succeeded(data)) {
      results.push_back(std::move(*data));
    }
    return data;
  }
  if (auto launch = dyn_cast<LaunchOp>(op)) {
    auto kernel =
        symbols.lookupNearestSymbolFrom<KernelOp>(op, launch.getKernelAttr());
    FailureOr<Results> outputs = evaluateFunction(kernel, operands);
    if (succeeded(outputs)) {
      results = std::move(*outputs);
    }
    return outputs;
  }
  if (auto composite = dyn_cast<CompositeOp>(op)) {
    FailureOr<Results> outputs = evaluateComposite(composite, operands);
    if (succeeded(outputs)) {
      results = std::move(*outputs);
    }
    return outputs;
  }
  auto evaluable = dyn_cast<ReferenceOpInterface>(op);
  if (!evaluable) {
    return op->emitOpError("cannot be evaluated: it has no reference");
  }
  auto precision = dyn_cast<PrecisionOpInterface>(op);
  if (lowType && precision &&
      precision.getAutocastClass() == AutocastClass::Lower) {
    return evaluateNarrow(precision, operands, results);
  }
  if (failed(evaluable.evaluate(operands, results))) {
    return op->emitOpError("cannot be evaluated: memory is exhausted");
  }
  return success();
}

/// Rounds `tensor` to `element` and back.
static std::optional<Tensor> roundThrough(const Tensor &tensor, Type element) {
  auto rounded = convert(tensor, element);
  return rounded ? convert(*rounded, tensor.getType().getElementType())
                 : std::nullopt;
}

/// An op of class `lower` in a composite of that class: computes on values of
/// the 16-bit type and hands on its accumulators.
LogicalResult Evaluator::evaluateNarrow(PrecisionOpInterface op,
                                        ArrayRef<Tensor> operands,
                                        Results &results) {
  SmallVector<Tensor> narrow;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    bool changes =
        isAutocastEligible(operand.getType()) && !op.isPinnedOperand(i);
    auto value = changes ? roundThrough(operand, lowType)
                         : std::optional<Tensor>(operand);
    if (!value) {
      return op->emitOpError("cannot be evaluated: memory is exhausted");
    }
    narrow.push_back(std::move(*value));
  }
  if (failed(cast<ReferenceOpInterface>(*op).evaluate(narrow, results))) {
    return op->emitOpError("cannot be evaluated: memory is exhausted");
  }
  return success();
}

FailureOr<Evaluator::Results>
Evaluator::evaluateComposite(CompositeOp op, ArrayRef<Tensor> operands) {
  auto convertAll = [&](ArrayRef<Tensor> tensors,
                        TypeRange types) -> FailureOr<Results> {
    Results converted;
    for (auto [tensor, type] : llvm::zip_equal(tensors, types)) {
      auto value = convert(tensor, getElementTypeOrSelf(type));
      if (!value) {
        return op.emitOpError("cannot be evaluated: memory is exhausted");
      }
      converted.push_back(std::move(*value));
    }
    return converted;
  };
  // A composite inside of a lowered one is lowered with it.
  Type outer = lowType;
  llvm::scope_exit leave([&] { lowType = outer; });
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Type element = operand.getType().getElementType();
    if (op.getAutocast() == AutocastClass::Lower && !op.isPinnedOperand(i) &&
        (element.isF16() || element.isBF16())) {
      lowType = element;
      break;
    }
  }
  FailureOr<Results> inputs =
      convertAll(operands, op.getBody().getArgumentTypes());
  if (failed(inputs)) {
    return failure();
  }
  FailureOr<Results> outputs = evaluateRegion(op.getBody(), *inputs);
  if (failed(outputs)) {
    return failure();
  }
  return convertAll(*outputs, op.getResultTypes());
}
