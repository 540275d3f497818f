//===- Order.cpp - Evaluation of running sums, orders and extremes --------===//
#include "dialects/Amp/Reference/Models.h"
#include "dialects/Amp/Reference/Rows.h"
#include "dialects/Amp/Reference/ScalarMath.h"

#include <numeric>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {

template <typename T>
std::optional<Tensor> cumSumAs(CumSumOp op, const Tensor &input) {
  auto result = Tensor::allocate(getResultType(op));
  if (!result || result->size() == 0) {
    return result;
  }
  Rows rows(input, {static_cast<int64_t>(op.getAxis())});
  std::vector<T> values(rows.getLength());
  char *to = result->mutableBytes();
  auto add = [](T x, T y) {
    if constexpr (std::is_same_v<T, double>) {
      return x + y;
    } else {
      return math::add(x, y, false);
    }
  };
  rows.forEach([&](int64_t, int64_t base) {
    rows.load(base, MutableArrayRef<T>(values));
    if (op.getReverse()) {
      std::reverse(values.begin(), values.end());
    }
    T sum = 0;
    for (T &value : values) {
      T next = add(sum, value);
      value = op.getExclusive() ? sum : next;
      sum = next;
    }
    if (op.getReverse()) {
      std::reverse(values.begin(), values.end());
    }
    rows.store(to, base, ArrayRef<T>(values));
  });
  return result;
}

std::optional<Tensor> cumSum(CumSumOp op, ArrayRef<Tensor> operands) {
  return isFloat(operands[0].getKind()) ? cumSumAs<double>(op, operands[0])
                                        : cumSumAs<int64_t>(op, operands[0]);
}

/// Whether x is larger than y; NaN is larger than all numbers.
bool isLarger(double x, double y, bool) {
  return x > y || (std::isnan(x) && !std::isnan(y));
}
bool isLarger(int64_t x, int64_t y, bool isUnsignedKind) {
  return isUnsignedKind ? static_cast<uint64_t>(x) > static_cast<uint64_t>(y)
                        : x > y;
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

template <typename T, bool Max, typename Op>
std::optional<Tensor> argExtremeAs(Op op, const Tensor &input) {
  auto result = Tensor::allocate(getResultType(op));
  if (!result || result->size() == 0) {
    return result;
  }
  Rows rows(input, {static_cast<int64_t>(op.getAxis())});
  if (rows.getLength() == 0) {
    return std::nullopt;
  }
  std::vector<T> values(rows.getLength());
  bool isUnsignedKind = isUnsigned(input.getKind());
  char *to = result->mutableBytes();
  // NaN is the extreme of a row that has one, for maximum and minimum.
  auto wins = [&](T x, T y) {
    if constexpr (std::is_same_v<T, double>) {
      if (std::isnan(x) || std::isnan(y)) {
        return std::isnan(x) && !std::isnan(y);
      }
    }
    return Max ? isLarger(x, y, isUnsignedKind)
               : isLarger(y, x, isUnsignedKind);
  };
  rows.forEach([&](int64_t row, int64_t base) {
    rows.load(base, MutableArrayRef<T>(values));
    int64_t best = 0;
    for (int64_t i = 1; i < rows.getLength(); ++i) {
      bool better = op.getSelectLast() ? !wins(values[best], values[i])
                                       : wins(values[i], values[best]);
      best = better ? i : best;
    }
    storeInts(Kind::I64, &best, 1, to + row * 8);
  });
  return result;
}

template <typename Op, bool Max>
std::optional<Tensor> argExtreme(Op op, ArrayRef<Tensor> operands) {
  return isFloat(operands[0].getKind())
             ? argExtremeAs<double, Max>(op, operands[0])
             : argExtremeAs<int64_t, Max>(op, operands[0]);
}

//===----------------------------------------------------------------------===//
// The k largest
//===----------------------------------------------------------------------===//

template <typename T>
void topKAs(TopKOp op, const Tensor &input, Tensor &top, Tensor &indices) {
  Dims axis{static_cast<int64_t>(op.getAxis())};
  char *topBytes = top.mutableBytes(), *indexBytes = indices.mutableBytes();
  Rows rows(input, axis), topRows(top, axis), indexRows(indices, axis);
  int64_t k = op.getK();
  std::vector<T> values(rows.getLength()), picked(k);
  std::vector<int64_t> order(rows.getLength());
  bool isUnsignedKind = isUnsigned(input.getKind());
  bool largest = op.getLargest();
  // Rows of input and results start at different places; those of the results
  // are visited in the same order.
  SmallVector<int64_t> starts;
  topRows.forEach([&](int64_t, int64_t base) { starts.push_back(base); });
  rows.forEach([&](int64_t row, int64_t base) {
    rows.load(base, MutableArrayRef<T>(values));
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](int64_t x, int64_t y) {
                        T a = largest ? values[x] : values[y];
                        T b = largest ? values[y] : values[x];
                        if (isLarger(a, b, isUnsignedKind)) {
                          return true;
                        }
                        return !isLarger(b, a, isUnsignedKind) && x < y;
                      });
    for (int64_t i = 0; i < k; ++i) {
      picked[i] = values[order[i]];
    }
    topRows.store(topBytes, starts[row], ArrayRef<T>(picked));
    indexRows.store(indexBytes, starts[row],
                    ArrayRef<int64_t>(order).take_front(k));
  });
}

/// The one op of two results.
struct TopKModel : ReferenceOpInterface::ExternalModel<TopKModel, TopKOp> {
  LogicalResult evaluate(Operation *op, ArrayRef<Tensor> operands,
                         SmallVectorImpl<Tensor> &results) const {
    auto topK = mlir::cast<TopKOp>(op);
    auto top = Tensor::allocate(topK.getValues().getType());
    auto indices = Tensor::allocate(topK.getIndices().getType());
    if (!top || !indices) {
      return failure();
    }
    if (top->size() != 0) {
      isFloat(operands[0].getKind())
          ? topKAs<double>(topK, operands[0], *top, *indices)
          : topKAs<int64_t>(topK, operands[0], *top, *indices);
    }
    results.push_back(std::move(*top));
    results.push_back(std::move(*indices));
    return success();
  }
};
} // namespace

void ref::attachOrder(MLIRContext *context) {
  attach<cumSum>(context);
  attach<argExtreme<ArgMaxOp, true>>(context);
  attach<argExtreme<ArgMinOp, false>>(context);
  TopKOp::attachInterface<TopKModel>(*context);
}
