//===- ElementPuller.cpp - Elements pulled through a kernel's body --------===//
#include "compiler/Targets/Codegen/KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

SmallVector<LaneIndex> codegen::broadcastIndex(KernelEmitter &e,
                                               ArrayRef<LaneIndex> index,
                                               ArrayRef<int64_t> shape) {
  SmallVector<LaneIndex> result;
  ArrayRef<LaneIndex> aligned = index.take_back(shape.size());
  for (auto [i, size] : llvm::zip_equal(aligned, shape)) {
    result.push_back(size == 1 ? LaneIndex{e.index(0), 0} : i);
  }
  return result;
}

ArrayRef<int64_t> ElementPuller::shapeOf(Value tensor) const {
  if (mergedShapes) {
    return mergedShapes->find(tensor)->second;
  }
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

FailureOr<Value> ElementPuller::get(Value tensor, ArrayRef<LaneIndex> index) {
  if (auto it = bound.find(tensor); it != bound.end()) {
    return it->second;
  }
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    return loadArgument(argument, index);
  }
  Key key{{b.getInsertionBlock(), tensor}, {}};
  for (const LaneIndex &i : index) {
    key.second.push_back({i.base, i.step});
  }
  for (auto &[known, value] : computed) {
    if (known == key) {
      return value;
    }
  }
  FailureOr<Value> value = compute(cast<OpResult>(tensor), index);
  if (succeeded(value)) {
    computed.push_back({std::move(key), *value});
  }
  return value;
}

FailureOr<Value> ElementPuller::getScalarOperand(OpOperand &operand,
                                                 ArrayRef<Value> index) {
  int64_t saved = std::exchange(lanes, 1);
  SmallVector<LaneIndex> scalar;
  for (Value i : index) {
    scalar.push_back({i, 0});
  }
  // Values of other lane counts must not be mixed up.
  auto cache = std::exchange(computed, {});
  FailureOr<Value> value = get(operand.get(), scalar);
  computed = std::move(cache);
  lanes = saved;
  return value;
}

FailureOr<Value> ElementPuller::loadArgument(BlockArgument argument,
                                             ArrayRef<LaneIndex> index) {
  auto type = cast<RankedTensorType>(argument.getType());
  Value offset = this->index(0);
  int64_t step = 0, stride = 1;
  ArrayRef<int64_t> shape = shapeOf(argument);
  for (size_t i = shape.size(); i-- > 0;) {
    offset = add(offset, mul(index[i].base, stride));
    step += index[i].step * stride;
    stride *= shape[i];
  }
  if (loader) {
    if (Value value = loader(argument, offset, step)) {
      return value;
    }
  }
  Value pointer = emitter.argumentPointer(argument.getArgNumber());
  Type element = type.getElementType();
  if (lanes == 1 || step == 0) {
    return splat(emitter.load(pointer, element, offset, 1));
  }
  if (step == 1) {
    return emitter.load(pointer, element, offset, lanes);
  }
  Value result = constant(getComputeType(element), 0);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value one = emitter.load(pointer, element, add(offset, lane * step), 1);
    result = vector::InsertOp::create(b, loc, one, result, lane);
  }
  return result;
}

FailureOr<Value> ElementPuller::compute(OpResult result,
                                        ArrayRef<LaneIndex> index) {
  Operation *op = result.getOwner();
  if (auto constantOp = dyn_cast<amp::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constantOp.getValue());
    if (!dense || !dense.isSplat()) {
      return op->emitOpError("expected only splat constants in a kernel");
    }
    Type compute = getComputeType(dense.getElementType());
    TypedAttr attr;
    if (auto floats = dyn_cast<FloatType>(dense.getElementType())) {
      APFloat value = dense.getSplatValue<APFloat>();
      bool lost = false;
      value.convert(cast<FloatType>(compute).getFloatSemantics(),
                    APFloat::rmNearestTiesToEven, &lost);
      attr = FloatAttr::get(compute, value);
    } else {
      attr = IntegerAttr::get(compute, dense.getSplatValue<APInt>());
    }
    return splat(arith::ConstantOp::create(b, loc, attr));
  }
  if (auto body = dyn_cast<ScalarBodyOpInterface>(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto inner = broadcastIndex(emitter, index, shapeOf(operand));
      FailureOr<Value> value = get(operand, inner);
      if (failed(value)) {
        return failure();
      }
      operands.push_back(splat(*value));
    }
    Value value = body.buildScalarBody(b, loc, operands);
    // A cast rounds by itself; any other op computes wide and rounds here.
    return isa<amp::CastOp>(op)
               ? value
               : emitter.round(value, getElementTypeOrSelf(result.getType()));
  }
  if (auto indexed = dyn_cast<IndexedOpInterface>(op)) {
    return indexed.buildElement(*this, index, result.getResultNumber());
  }
  return op->emitOpError("cannot be emitted inside this kernel");
}
