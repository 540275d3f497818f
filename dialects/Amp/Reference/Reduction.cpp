//===- Reduction.cpp - Evaluation of reductions ---------------------------===//
#include "dialects/Amp/Reference/Models.h"
#include "dialects/Amp/Reference/Rows.h"
#include "dialects/Amp/Reference/ScalarMath.h"

#include <limits>

using namespace mlir;
using namespace ampc;
using namespace ampc::amp;
using namespace ampc::ref;

namespace {

/// The smallest (or largest) value of an integer kind, as it is computed with.
int64_t getBound(Kind kind, bool smallest) {
  unsigned width = kind == Kind::Bool ? 1 : 8 * getByteWidth(kind);
  if (isUnsigned(kind)) {
    return smallest ? 0 : static_cast<int64_t>(~uint64_t(0) >> (64 - width));
  }
  int64_t largest = std::numeric_limits<int64_t>::max() >> (64 - width);
  return smallest ? -largest - 1 : largest;
}

struct Sum {
  static double initial(Kind) { return 0; }
  static int64_t initialInt(Kind) { return 0; }
  static double step(double x, double y) { return x + y; }
  static int64_t step(int64_t x, int64_t y, bool u) {
    return math::add(x, y, u);
  }
  static double finish(double x, int64_t) { return x; }
  static int64_t finish(int64_t x, int64_t, bool) { return x; }
};
struct Mean : Sum {
  static double finish(double x, int64_t n) {
    return x / static_cast<double>(n);
  }
  static int64_t finish(int64_t x, int64_t n, bool isUnsigned) {
    return math::div(x, n, isUnsigned);
  }
};
struct Product : Sum {
  static double initial(Kind) { return 1; }
  static int64_t initialInt(Kind) { return 1; }
  static double step(double x, double y) { return x * y; }
  static int64_t step(int64_t x, int64_t y, bool u) {
    return math::mul(x, y, u);
  }
};
struct Max : Sum {
  static double initial(Kind) { return -HUGE_VAL; }
  static int64_t initialInt(Kind kind) { return getBound(kind, true); }
  static double step(double x, double y) { return math::max(x, y); }
  static int64_t step(int64_t x, int64_t y, bool u) {
    return math::max(x, y, u);
  }
};
struct Min : Sum {
  static double initial(Kind) { return HUGE_VAL; }
  static int64_t initialInt(Kind kind) { return getBound(kind, false); }
  static double step(double x, double y) { return math::min(x, y); }
  static int64_t step(int64_t x, int64_t y, bool u) {
    return math::min(x, y, u);
  }
};

template <typename Op, typename Fold>
std::optional<Tensor> reduce(Op op, ArrayRef<Tensor> operands) {
  auto result = Tensor::allocate(getResultType(op));
  if (!result) {
    return std::nullopt;
  }
  Kind kind = result->getKind();
  char *to = result->mutableBytes();
  int64_t width = result->getByteWidth();
  Rows rows(operands[0], op.getAxes());
  if (isFloat(kind)) {
    rows.forEach([&](int64_t row, int64_t base) {
      double value = Fold::initial(kind);
      rows.stream(base, [&](ArrayRef<double> part) {
        for (double x : part) {
          value = Fold::step(value, x);
        }
      });
      value = Fold::finish(value, rows.getLength());
      storeDoubles(kind, &value, 1, to + row * width);
    });
    return result;
  }
  bool isUnsignedKind = isUnsigned(kind);
  rows.forEach([&](int64_t row, int64_t base) {
    int64_t value = Fold::initialInt(kind);
    rows.stream(base, [&](ArrayRef<int64_t> part) {
      for (int64_t x : part) {
        value = Fold::step(value, x, isUnsignedKind);
      }
    });
    value = Fold::finish(value, rows.getLength(), isUnsignedKind);
    storeInts(kind, &value, 1, to + row * width);
  });
  return result;
}
} // namespace

void ref::attachReduction(MLIRContext *context) {
  attach<reduce<ReduceSumOp, Sum>>(context);
  attach<reduce<ReduceMeanOp, Mean>>(context);
  attach<reduce<ReduceProdOp, Product>>(context);
  attach<reduce<ReduceMaxOp, Max>>(context);
  attach<reduce<ReduceMinOp, Min>>(context);
}
