//===- Epilogue.cpp - From a root's elements to the kernel's results ------===//
#include "compiler/Targets/Codegen/KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

namespace {
using Index = SmallVector<LaneIndex>;

/// Where the element of a view's input at `index` lies in its result; nullopt
/// when a vector of lanes would not stay together.
std::optional<Index> pushThroughView(KernelEmitter &emitter, Operation *view,
                                     ArrayRef<LaneIndex> index, int64_t lanes) {
  if (auto transpose = dyn_cast<amp::TransposeOp>(view)) {
    Index result;
    for (int64_t dim : transpose.getPermutation()) {
      result.push_back(index[dim]);
    }
    return result;
  }
  auto reshape = dyn_cast<amp::ReshapeOp>(view);
  if (!reshape) {
    return std::nullopt;
  }
  ArrayRef<int64_t> from = reshape.getInput().getType().getShape();
  ArrayRef<int64_t> to = reshape.getType().getShape();
  int64_t stepSum = 0;
  SmallVector<Value> bases;
  for (auto [i, lane] : llvm::enumerate(index)) {
    bases.push_back(lane.base);
    stepSum += lane.step != 0;
    // Lanes may run along the last dimension only.
    if (lane.step != 0 && (i + 1 != index.size() || lane.step != 1)) {
      return std::nullopt;
    }
  }
  bool vector = stepSum != 0;
  if (vector) {
    // Chunks start at multiples of `lanes`: they stay within a row of the
    // result when its length is such a multiple too.
    bool together =
        !to.empty() && to.back() % lanes == 0 && from.back() % lanes == 0;
    if (!together && !(to.size() == from.size() && to.back() == from.back())) {
      return std::nullopt;
    }
  }
  Value linear = emitter.linearize(bases, from);
  SmallVector<Value> split = emitter.delinearize(linear, to);
  Index result;
  for (auto [i, base] : llvm::enumerate(split)) {
    result.push_back({base, vector && i + 1 == split.size() ? 1 : 0});
  }
  return result;
}

bool isView(Operation *op) {
  auto fusable = dyn_cast<FusableOpInterface>(op);
  return fusable && fusable.getFusionKind() == FusionKind::View;
}

/// From a number to the numbers that follow from it, of which any may be a
/// result.
LogicalResult finishScalars(KernelEmitter &e, ElementPuller &puller, Value root,
                            Value value) {
  puller.bind(root, e.round(value, getElementTypeOrSelf(root.getType())));
  SmallVector<Value> results;
  for (Value result : e.kernel.getYield().getValues()) {
    SmallVector<LaneIndex> zero(shapeOf(result).size(), {e.index(0), 0});
    FailureOr<Value> number = puller.get(result, zero);
    if (failed(number)) {
      return failure();
    }
    results.push_back(*number);
  }
  for (auto [i, number] : llvm::enumerate(results)) {
    Value result = e.kernel.getYield().getValues()[i];
    e.store(number, e.resultPointer(i), getElementTypeOrSelf(result.getType()),
            e.index(0));
  }
  return success();
}
} // namespace

FailureOr<Value> codegen::addBias(KernelEmitter &e, Value bias, Value result,
                                  Value acc, ArrayRef<LaneIndex> index,
                                  int64_t lanes) {
  if (!bias) {
    return acc;
  }
  ElementPuller puller(e, lanes);
  FailureOr<Value> value =
      puller.get(bias, broadcastIndex(e, index, shapeOf(bias)));
  if (failed(value)) {
    return failure();
  }
  Value wide = puller.splat(*value);
  return isa<FloatType>(getElementTypeOrSelf(wide.getType()))
             ? arith::AddFOp::create(e.b, e.loc, acc, wide).getResult()
             : arith::AddIOp::create(e.b, e.loc, acc, wide).getResult();
}

LogicalResult codegen::emitEpilogue(KernelEmitter &emitter, Value root,
                                    Value value, ArrayRef<LaneIndex> index,
                                    int64_t lanes, Value mask,
                                    ResultTaker take) {
  auto yield = emitter.kernel.getYield();
  ElementPuller puller(emitter, lanes);
  if (mask) {
    puller.loader = [&](BlockArgument argument, Value offset,
                        int64_t step) -> Value {
      if (step != 1) {
        return {};
      }
      return emitter.loadMasked(
          emitter.argumentPointer(argument.getArgNumber()),
          getElementTypeOrSelf(argument.getType()), offset, mask);
    };
  }
  if (shapeOf(root).empty() && lanes == 1 && !take) {
    return finishScalars(emitter, puller, root, value);
  }
  Index at(index);
  Value tensor = root;
  // Follow the chain of single consumers; everything else an op reads is
  // pulled.
  while (true) {
    for (auto [number, result] : llvm::enumerate(yield.getValues())) {
      if (result != tensor) {
        continue;
      }
      SmallVector<Value> bases;
      int64_t step = 0, stride = 1;
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(tensor.getType()).getShape();
      for (size_t i = shape.size(); i-- > 0;) {
        step += at[i].step * stride;
        stride *= shape[i];
      }
      for (const LaneIndex &lane : at) {
        bases.push_back(lane.base);
      }
      if (lanes != 1 && step != 1) {
        return failure();
      }
      Type element = getElementTypeOrSelf(tensor.getType());
      Value offset = emitter.linearize(bases, shape);
      Value rounded = tensor == root ? emitter.round(value, element) : value;
      if (take) {
        take(rounded, element);
      } else if (mask) {
        emitter.storeMasked(rounded, emitter.resultPointer(number), element,
                            offset, mask);
      } else {
        emitter.store(rounded, emitter.resultPointer(number), element, offset);
      }
    }
    Operation *next = nullptr;
    for (Operation *user : tensor.getUsers()) {
      if (user != yield.getOperation()) {
        next = next && next != user && user->isBeforeInBlock(next) ? user
               : next                                              ? next
                                                                   : user;
      }
    }
    if (!next) {
      return success();
    }
    if (isView(next)) {
      auto moved = pushThroughView(emitter, next, at, lanes);
      if (!moved) {
        return failure();
      }
      at = std::move(*moved);
    } else {
      puller.bind(tensor, tensor == root
                              ? emitter.round(value, getElementTypeOrSelf(
                                                         tensor.getType()))
                              : value);
      FailureOr<Value> computed = puller.get(next->getResult(0), at);
      if (failed(computed)) {
        return failure();
      }
      value = puller.splat(*computed);
    }
    if (next->getNumResults() != 1) {
      return failure();
    }
    tensor = next->getResult(0);
  }
}
