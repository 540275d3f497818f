//===- Activation.cpp - Activations, softmax, dropout ---------------------===//
#include "compiler/Import/Importer.h"
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "dialects/Train/IR/TrainDialect.h"

using namespace mlir;

namespace ampc::importer {

using P = amp::ComparePredicate;

template <typename OpTy>
static LogicalResult convertUnary(Node &n) {
  n.set(0, n.unary<OpTy>(n.in(0)));
  return success();
}

static LogicalResult convertLeakyRelu(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 0.01f);
  n.set(0, n.unary<amp::LeakyReluOp>(n.in(0), llvm::APFloat(alpha)));
  return success();
}

static LogicalResult convertHardSigmoid(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 0.2f);
  double beta = n.attrs.getFloat("beta", 0.5f);
  n.set(0, n.unary<amp::HardSigmoidOp>(n.in(0), llvm::APFloat(alpha),
                                       llvm::APFloat(beta)));
  return success();
}

static LogicalResult convertGelu(Node &n) {
  std::string form = n.attrs.getString("approximate", "none");
  if (form != "none" && form != "tanh") {
    return n.invalid("expected approximate to be none or tanh, got '" +
                     printableName(form) + "'");
  }
  n.set(0, n.unary<amp::GeluOp>(n.in(0), form == "none" ? amp::GeluForm::Erf
                                                        : amp::GeluForm::Tanh));
  return success();
}

//===----------------------------------------------------------------------===//
// Composites of one operand
//===----------------------------------------------------------------------===//

/// alpha * (exp(x) - 1)
static Value buildExpMinusOne(Node &n, Value x, double alpha) {
  Type element = n.element(x);
  Value shifted =
      n.build<amp::SubOp>(n.unary<amp::ExpOp>(x), n.scalar(element, 1));
  return n.build<amp::MulOp>(n.scalar(element, alpha), shifted);
}

/// x where x > bound, else `otherwise`.
static Value buildWhereAbove(Node &n, Value x, double bound, Value otherwise) {
  Value isAbove =
      n.build<amp::CompareOp>(x, n.scalar(n.element(x), bound), P::GT);
  return n.build<amp::SelectOp>(isAbove, x, otherwise);
}

static LogicalResult convertElu(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 1);
  n.set(0, n.composite1({n.in(0)}, [&](ArrayRef<Value> in) {
    return buildWhereAbove(n, in[0], 0, buildExpMinusOne(n, in[0], alpha));
  }));
  return success();
}

static LogicalResult convertSelu(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 1.67326319217681884765625f);
  double gamma = n.attrs.getFloat("gamma", 1.05070102214813232421875f);
  n.set(0, n.composite1({n.in(0)}, [&](ArrayRef<Value> in) {
    Value elu = buildWhereAbove(n, in[0], 0, buildExpMinusOne(n, in[0], alpha));
    return n.build<amp::MulOp>(n.scalar(n.element(in[0]), gamma), elu);
  }));
  return success();
}

static LogicalResult convertCelu(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 1);
  n.set(0, n.composite1({n.in(0)}, [&](ArrayRef<Value> in) {
    Value scaled =
        n.build<amp::DivOp>(in[0], n.scalar(n.element(in[0]), alpha));
    return buildWhereAbove(n, in[0], 0, buildExpMinusOne(n, scaled, alpha));
  }));
  return success();
}

static LogicalResult convertMish(Node &n) {
  n.set(0, n.composite1({n.in(0)}, [&](ArrayRef<Value> in) {
    Value gate = n.unary<amp::TanhOp>(n.unary<amp::SoftplusOp>(in[0]));
    return n.build<amp::MulOp>(in[0], gate);
  }));
  return success();
}

static LogicalResult convertSoftsign(Node &n) {
  n.set(0, n.composite1({n.in(0)}, [&](ArrayRef<Value> in) {
    Value below = n.build<amp::AddOp>(n.unary<amp::AbsOp>(in[0]),
                                      n.scalar(n.element(in[0]), 1));
    return n.build<amp::DivOp>(in[0], below);
  }));
  return success();
}

static LogicalResult convertThresholdedRelu(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 1);
  n.set(0, n.composite1({n.in(0)}, [&](ArrayRef<Value> in) {
    return buildWhereAbove(n, in[0], alpha, n.scalar(n.element(in[0]), 0));
  }));
  return success();
}

static LogicalResult convertSwish(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 1);
  if (alpha == 1) {
    return convertUnary<amp::SiluOp>(n);
  }
  n.set(0, n.composite1({n.in(0)}, [&](ArrayRef<Value> in) {
    Value scaled =
        n.build<amp::MulOp>(n.scalar(n.element(in[0]), alpha), in[0]);
    return n.build<amp::MulOp>(in[0], n.unary<amp::SigmoidOp>(scaled));
  }));
  return success();
}

/// Bounds are fractions even where the operand is an integer.
static LogicalResult convertShrink(Node &n) {
  double bias = n.attrs.getFloat("bias", 0);
  double lambda = n.attrs.getFloat("lambd", 0.5f);
  Type element = n.element(n.in(0));
  n.set(0, n.composite1({n.in(0)}, [&](ArrayRef<Value> in) {
    Value x = n.isFloat(in[0]) ? in[0] : n.cast(in[0], n.b.getF64Type());
    Type inner = n.element(x);
    Value zero = n.scalar(inner, 0);
    Value shift = n.scalar(inner, bias);
    Value isBelow = n.build<amp::CompareOp>(x, n.scalar(inner, -lambda), P::LT);
    Value isAbove = n.build<amp::CompareOp>(x, n.scalar(inner, lambda), P::GT);
    Value upper =
        n.build<amp::SelectOp>(isAbove, n.build<amp::SubOp>(x, shift), zero);
    Value all =
        n.build<amp::SelectOp>(isBelow, n.build<amp::AddOp>(x, shift), upper);
    return isa<FloatType>(element) ? all : n.cast(all, element);
  }));
  return success();
}

static LogicalResult convertPRelu(Node &n) {
  Value x = n.in(0), slope = n.in(1);
  if (n.opset < 7 && n.rank(slope) == 1 && n.rank(x) > 2) {
    // One slope a channel; since then it broadcasts as everything does.
    SmallVector<int64_t> shape(n.rank(x) - 1, 1);
    shape[0] = n.shape(slope)[0];
    slope = n.reshape(slope, shape);
  }
  n.set(0, n.composite1({x, slope}, [&](ArrayRef<Value> in) {
    Value zero = n.scalar(n.element(in[0]), 0);
    Value isNegative = n.build<amp::CompareOp>(in[0], zero, P::LT);
    Value scaled = n.build<amp::MulOp>(in[1], in[0]);
    return n.build<amp::SelectOp>(isNegative, scaled, in[0]);
  }));
  if (n.shape(n.results()[0].tensor) != n.shape(x)) {
    return n.invalid("the slope does not broadcast to the input");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Before opset 13, the dimensions from `axis` on were taken together.
template <typename Build>
static LogicalResult convertAlongAxis(Node &n, Build build) {
  Value x = n.in(0);
  bool isOld = n.opset < 13;
  auto axis = n.axis(n.attrs.getInt("axis", isOld ? 1 : -1), n.rank(x));
  if (!axis) {
    return failure();
  }
  if (!isOld || *axis + 1 == n.rank(x)) {
    n.set(0, build(x, *axis));
    return success();
  }
  SmallVector<int64_t> shape(n.shape(x));
  int64_t outer = 1, inner = 1;
  for (auto [i, dim] : llvm::enumerate(shape)) {
    (static_cast<int64_t>(i) < *axis ? outer : inner) *= dim;
  }
  n.set(0, n.reshape(build(n.reshape(x, {outer, inner}), 1), shape));
  return success();
}

template <typename OpTy>
static LogicalResult convertSoftmax(Node &n) {
  return convertAlongAxis(
      n, [&](Value x, int64_t axis) { return n.unary<OpTy>(x, axis); });
}

static LogicalResult convertHardmax(Node &n) {
  return convertAlongAxis(n, [&](Value x, int64_t axis) {
    return n.composite1({x}, [&](ArrayRef<Value> in) {
      Value first = n.build<amp::ArgMaxOp>(in[0], axis, /*keepdims=*/true,
                                           /*select_last=*/false);
      SmallVector<int64_t> row(n.rank(in[0]), 1);
      row[axis] = n.shape(in[0])[axis];
      Value index = n.iota(n.b.getI64Type(), row, axis);
      return n.cast(n.build<amp::CompareOp>(index, first, P::EQ),
                    n.element(in[0]));
    });
  });
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// The share of elements that become zeros.
static std::optional<double> readRatio(Node &n) {
  double ratio = n.attrs.getFloat("ratio", 0.5f);
  if (n.has(1)) {
    auto given = n.constantFloat(1, "ratio");
    if (!given) {
      return std::nullopt;
    }
    ratio = *given;
  }
  if (!(ratio >= 0 && ratio < 1)) {
    (void)n.invalid("expected a ratio from 0 to less than 1");
    return std::nullopt;
  }
  return ratio;
}

/// In a model to be trained, an operation that drops elements while it trains,
/// whatever its `training_mode`: that is what a dropout in such a model is for.
static LogicalResult convertTrainedDropout(Node &n) {
  std::optional<double> ratio = readRatio(n);
  if (!ratio) {
    return failure();
  }
  Value x = n.in(0);
  if (*ratio != 0 && x) {
    x = train::DropoutOp::create(
        n.b, n.loc, x.getType(), x, n.b.getF64FloatAttr(*ratio),
        n.b.getI64IntegerAttr(n.importer.nextStream()), UnitAttr());
  }
  n.set(0, x);
  // There is no mask that others could read.
  n.setAbsent(1);
  return success();
}

static LogicalResult convertDropout(Node &n) {
  n.attrs.ignore("seed");
  if (n.importer.isTraining()) {
    n.attrs.ignore("is_test");
    return convertTrainedDropout(n);
  }
  n.attrs.ignore("ratio");
  Value x = n.in(0);
  if (n.opset < 7 && !n.attrs.getFlag("is_test")) {
    return n.unsupported("training (is_test = 0)");
  }
  if (n.has(2)) {
    auto isTraining = n.constantInt(2, "training_mode");
    if (!isTraining) {
      return failure();
    }
    const HostTensor *ratio = n.has(1) ? n.known(n.in(1)) : nullptr;
    bool dropsNone =
        ratio && ratio->floats.size() == 1 && ratio->floats[0] == 0;
    if (*isTraining != 0 && !dropsNone) {
      return n.unsupported("training_mode outside a trainer",
                           "--train drops elements while it trains");
    }
  }
  n.set(0, x);
  if (n.wants(1)) {
    n.set(1, n.splat(RankedTensorType::get(n.shape(x), n.b.getI1Type()), 1));
  }
  return success();
}

void addActivationOps(OpTable &table) {
  table.add({
      {"Celu", convertCelu, AutocastClass::Follow, 1, 1},
      {"Dropout", convertDropout, OpClass::none(), 1, 3, 2},
      {"Elu", convertElu, AutocastClass::Follow, 1, 1},
      {"Gelu", convertGelu, OpClass::of<amp::GeluOp>(), 1, 1},
      {"HardSigmoid", convertHardSigmoid, OpClass::of<amp::HardSigmoidOp>(), 1,
       1},
      {"HardSwish", convertUnary<amp::HardSwishOp>,
       OpClass::of<amp::HardSwishOp>(), 1, 1},
      {"Hardmax", convertHardmax, AutocastClass::Follow, 1, 1},
      {"LeakyRelu", convertLeakyRelu, OpClass::of<amp::LeakyReluOp>(), 1, 1},
      {"LogSoftmax", convertSoftmax<amp::LogSoftmaxOp>,
       OpClass::of<amp::LogSoftmaxOp>(), 1, 1},
      {"Mish", convertMish, AutocastClass::Follow, 1, 1},
      {"PRelu", convertPRelu, AutocastClass::Lower, 2, 2},
      {"Relu", convertUnary<amp::ReluOp>, OpClass::of<amp::ReluOp>(), 1, 1},
      {"Selu", convertSelu, AutocastClass::Follow, 1, 1, 1, 6},
      {"Shrink", convertShrink, AutocastClass::Follow, 1, 1},
      {"Sigmoid", convertUnary<amp::SigmoidOp>, OpClass::of<amp::SigmoidOp>(),
       1, 1},
      {"Softmax", convertSoftmax<amp::SoftmaxOp>, OpClass::of<amp::SoftmaxOp>(),
       1, 1},
      {"Softplus", convertUnary<amp::SoftplusOp>,
       OpClass::of<amp::SoftplusOp>(), 1, 1},
      {"Softsign", convertSoftsign, AutocastClass::Follow, 1, 1},
      {"Swish", convertSwish, AutocastClass::Follow, 1, 1},
      {"ThresholdedRelu", convertThresholdedRelu, AutocastClass::Follow, 1, 1},
  });
}

} // namespace ampc::importer
