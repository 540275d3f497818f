//===- Constants.cpp - What a narrower type does to a constant ------------===//
#include "passes/Precision/Constants.h"

#include "dialects/Amp/Reference/Evaluator.h"
#include "dialects/Interfaces/ReferenceInterfaces.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpDefinition.h"

#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

/// Elements that evaluating one computed constant may touch.
static constexpr uint64_t maxWork = uint64_t(1) << 28;

namespace {
/// The magnitudes between which rounding to a float type is harmless. Ties at
/// each bound go to the even neighbour, which lies beyond it.
struct Bounds {
  explicit Bounds(FloatType type) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    int maxExponent = llvm::APFloat::semanticsMaxExponent(semantics);
    int minExponent = llvm::APFloat::semanticsMinExponent(semantics);
    int precision = llvm::APFloat::semanticsPrecision(semantics);
    double step = std::ldexp(1.0, minExponent - precision + 1);
    overflow = std::ldexp(2.0 - std::ldexp(1.0, -precision), maxExponent);
    subnormal = std::ldexp(1.0, minExponent) - step / 2;
    flush = step / 2;
  }

  void count(double value, int64_t times, NarrowingLoss &loss) const {
    double magnitude = std::fabs(value);
    if (magnitude == 0 || !std::isfinite(magnitude)) {
      return;
    }
    if (magnitude >= overflow) {
      loss.overflow += times;
    } else if (magnitude <= flush) {
      loss.flushed += times;
    } else if (magnitude < subnormal) {
      loss.subnormal += times;
    }
  }

  double overflow, subnormal, flush;
};
} // namespace

std::optional<NarrowingLoss> precision::measureNarrowing(ElementsAttr value,
                                                         FloatType target) {
  auto element = dyn_cast<FloatType>(value.getElementType());
  if (!element) {
    return std::nullopt;
  }
  NarrowingLoss loss;
  loss.elements = value.getNumElements();
  Bounds bounds(target);
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (dense.isSplat()) {
      bounds.count(dense.getSplatValue<APFloat>().convertToDouble(),
                   loss.elements, loss);
      return loss;
    }
    for (const APFloat &number : dense.getValues<APFloat>()) {
      bounds.count(number.convertToDouble(), 1, loss);
    }
    return loss;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource || !element.isF32()) {
    return std::nullopt;
  }
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob || blob->getData().size() !=
                   static_cast<size_t>(loss.elements) * sizeof(float)) {
    return std::nullopt;
  }
  // The data may be mapped from a file at any offset.
  const char *data = blob->getData().data();
  for (int64_t i = 0; i < loss.elements; ++i) {
    float number;
    std::memcpy(&number, data + i * sizeof(float), sizeof(float));
    bounds.count(number, 1, loss);
  }
  return loss;
}

/// The tensor that ops make of constants alone, evaluated in order.
static ref::Tensor evaluate(Value value) {
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  if (failed(getBackwardSlice(value, &slice, options))) {
    return {};
  }
  uint64_t work = 0;
  for (Operation *op : slice) {
    uint64_t added = ref::estimateWork(op);
    if (added > maxWork || (work += added) > maxWork) {
      return {};
    }
  }
  llvm::DenseMap<Value, ref::Tensor> known;
  for (Operation *op : slice) {
    SmallVector<ref::Tensor> operands, results;
    ElementsAttr attr;
    if (matchPattern(op, m_Constant(&attr))) {
      auto tensor = ref::Tensor::fromAttribute(attr);
      results.push_back(tensor ? *tensor : ref::Tensor());
    } else {
      auto evaluable = dyn_cast<ReferenceOpInterface>(op);
      for (Value operand : op->getOperands()) {
        operands.push_back(known.lookup(operand));
      }
      if (!evaluable ||
          !llvm::all_of(operands, [](const auto &t) { return bool(t); }) ||
          failed(evaluable.evaluate(operands, results))) {
        return {};
      }
    }
    for (auto [result, tensor] : llvm::zip(op->getResults(), results)) {
      known[result] = tensor;
    }
  }
  return known.lookup(value);
}

std::optional<NarrowingLoss> precision::measureNarrowing(Value computed,
                                                         FloatType target) {
  ref::Tensor tensor = evaluate(computed);
  if (!tensor || !ref::isFloat(tensor.getKind())) {
    return std::nullopt;
  }
  NarrowingLoss loss;
  loss.elements = tensor.size();
  Bounds bounds(target);
  if (tensor.isSplat()) {
    bounds.count(tensor.getDouble(0), loss.elements, loss);
    return loss;
  }
  for (int64_t i = 0; i < loss.elements; ++i) {
    bounds.count(tensor.getDouble(i), 1, loss);
  }
  return loss;
}

DenseElementsAttr precision::getInlineConstant(Value value) {
  DenseElementsAttr attr;
  return matchPattern(value, m_Constant(&attr)) ? attr : DenseElementsAttr();
}

bool precision::isConstantValue(Value value) {
  Operation *def = value.getDefiningOp();
  return def && def->hasTrait<OpTrait::ConstantLike>();
}

bool precision::isWeakConstant(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank() == 0 &&
         isConstantValue(value);
}
