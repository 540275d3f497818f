//===- Constants.cpp - What a narrower type does to a constant ------------===//
#include "passes/Precision/Constants.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpDefinition.h"

#include <cmath>

using namespace mlir;
using namespace ampc;
using namespace ampc::precision;

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
