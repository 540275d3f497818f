//===- ConstantMask.cpp - Attention masks that are known ------------------===//
#include "passes/Graph/ConstantMask.h"

#include "dialects/Amp/Reference/ConstantValue.h"
#include "passes/Graph/Match.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::graph;

/// Bytes of evaluated masks: 4096 x 4096 floats.
static constexpr uint64_t maskBudget = uint64_t(1) << 26;

static std::optional<ref::Tensor> evaluate(Value value) {
  if (!isConstantExpression(value) || tensorType(value).getRank() == 0) {
    return std::nullopt;
  }
  auto tensor = ref::evaluateConstant(value, maskBudget);
  return succeeded(tensor) ? std::optional(*tensor) : std::nullopt;
}

/// Whether each row of `tensor` has an element that `keeps` accepts.
template <typename Keeps>
static bool eachRowHas(const ref::Tensor &tensor, Keeps keeps) {
  int64_t columns = tensor.getShape().back();
  if (columns == 0) {
    return false;
  }
  bool found = true;
  for (int64_t i = 0; found && i < tensor.size(); i += columns) {
    found = llvm::any_of(llvm::seq(i, i + columns), keeps);
  }
  return found;
}

bool graph::keepsScoreInEachRow(Value condition, bool inverted) {
  auto tensor = evaluate(condition);
  return tensor && eachRowHas(*tensor, [&](int64_t i) {
           return (tensor->getInt(i) != 0) != inverted;
         });
}

bool graph::isFactorMask(Value factor, Value offset) {
  if (factor.getType() != offset.getType()) {
    return false;
  }
  auto factors = evaluate(factor), offsets = evaluate(offset);
  if (!factors || !offsets) {
    return false;
  }
  for (int64_t i = 0; i < factors->size(); ++i) {
    bool keeps = factors->getDouble(i) == 1.0 && offsets->getDouble(i) == 0.0;
    bool excludes =
        factors->getDouble(i) == 0.0 && -offsets->getDouble(i) <= excludingFill;
    if (!keeps && !excludes) {
      return false;
    }
  }
  return eachRowHas(*factors,
                    [&](int64_t i) { return factors->getDouble(i) == 1.0; });
}

std::optional<int64_t> graph::matchCausalMask(Value mask, int64_t queries,
                                              int64_t keys) {
  ArrayRef<int64_t> shape = tensorType(mask).getShape();
  if (shape.size() < 2 || shape.take_back(2) != ArrayRef({queries, keys}) ||
      tensorType(mask).getNumElements() != queries * keys) {
    return std::nullopt;
  }
  auto tensor = evaluate(mask);
  if (!tensor || queries == 0) {
    return std::nullopt;
  }
  bool isCondition = tensorType(mask).getElementType().isInteger(1);
  auto keeps = [&](int64_t i) {
    return isCondition ? tensor->getInt(i) != 0 : tensor->getDouble(i) == 0.0;
  };
  auto excludes = [&](int64_t i) {
    return isCondition ? tensor->getInt(i) == 0
                       : tensor->getDouble(i) <= excludingFill;
  };
  int64_t diagonal = 0;
  while (diagonal < keys && keeps(diagonal)) {
    ++diagonal;
  }
  --diagonal;
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = 0; j < keys; ++j) {
      int64_t at = i * keys + j;
      if (j <= i + diagonal ? !keeps(at) : !excludes(at)) {
        return std::nullopt;
      }
    }
  }
  return diagonal >= 0 ? std::optional(diagonal) : std::nullopt;
}
