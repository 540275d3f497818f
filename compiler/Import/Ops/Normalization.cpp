//===- Normalization.cpp - Normalizations ---------------------------------===//
#include "compiler/Import/ElementTypes.h"
#include "compiler/Import/Importer.h"
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ampc::importer {

static Value buildMean(Node &n, Value x, ArrayRef<int64_t> axes,
                       bool keepdims = true) {
  return x ? n.build<amp::ReduceMeanOp>(x, axes, keepdims) : Value();
}

/// Mean of squared differences from the mean.
static Value buildVariance(Node &n, Value centered, ArrayRef<int64_t> axes,
                           bool keepdims = true) {
  return buildMean(n, n.build<amp::MulOp>(centered, centered), axes, keepdims);
}

//===----------------------------------------------------------------------===//
// Over trailing dimensions
//===----------------------------------------------------------------------===//

/// The statistics that LayerNormalization may hand out, always of stash type.
static void buildStatistics(Node &n, Value x, int64_t axis, double epsilon,
                            Type stash) {
  SmallVector<int64_t> axes = countUp(axis, n.rank(x));
  Value wide = n.cast(x, stash);
  SmallVector<Value> outputs =
      n.composite(AutocastClass::Fp32, {wide}, [&](ArrayRef<Value> in) {
        Value mean = buildMean(n, in[0], axes);
        Value centered = n.build<amp::SubOp>(in[0], mean);
        Value variance = buildVariance(n, centered, axes);
        Value shifted = n.build<amp::AddOp>(
            variance, n.scalar(n.element(variance), epsilon));
        Value inverse =
            n.unary<amp::ReciprocalOp>(n.unary<amp::SqrtOp>(shifted));
        return SmallVector<Value>{mean, inverse};
      });
  if (outputs.size() == 2) {
    n.set(1, outputs[0]);
    n.set(2, outputs[1]);
  }
}

static LogicalResult convertLayerNorm(Node &n) {
  Value x = n.in(0);
  auto axis = n.axis(n.attrs.getInt("axis", -1), n.rank(x));
  double epsilon = n.attrs.getFloat("epsilon", 1e-5f);
  auto stashType = static_cast<int32_t>(n.attrs.getInt("stash_type", 1));
  auto stash =
      dyn_cast_or_null<FloatType>(getElementType(n.b.getContext(), stashType));
  if (!axis) {
    return failure();
  }
  if (!stash || stash.getWidth() < 32) {
    return n.unsupported("stash_type " + Twine(stashType));
  }
  n.set(0, n.build<amp::LayerNormOp>(x, n.in(1), n.has(2) ? n.in(2) : Value(),
                                     *axis, llvm::APFloat(epsilon)));
  if (n.wants(1) || n.wants(2)) {
    buildStatistics(n, x, *axis, epsilon, stash);
  }
  return success();
}

static LogicalResult convertRmsNorm(Node &n) {
  Value x = n.in(0), scale = n.in(1);
  auto axis = n.axis(n.attrs.getInt("axis", -1), n.rank(x));
  double epsilon = n.attrs.getFloat("epsilon", 1e-5f);
  int64_t stashType = n.attrs.getInt("stash_type", 1);
  if (!axis) {
    return failure();
  }
  if (stashType != 1) {
    return n.unsupported("stash_type " + Twine(stashType));
  }
  Value y = n.build<amp::RmsNormOp>(x, scale, *axis, llvm::APFloat(epsilon));
  n.set(0, n.cast(y, n.element(scale))); // the result has the scale's type
  return success();
}

//===----------------------------------------------------------------------===//
// Over channels
//===----------------------------------------------------------------------===//

static LogicalResult buildGroupNorm(Node &n, Value scale, Value bias,
                                    int64_t groups) {
  double epsilon = n.attrs.getFloat("epsilon", 1e-5f);
  n.set(0, n.build<amp::GroupNormOp>(n.in(0), scale, bias, groups,
                                     llvm::APFloat(epsilon),
                                     amp::Layout::ChannelsFirst));
  return success();
}

static LogicalResult convertInstanceNorm(Node &n) {
  Value x = n.in(0);
  if (n.rank(x) < 2) {
    return n.invalid("expected a rank of 2 or more");
  }
  return buildGroupNorm(n, n.in(1), n.in(2), n.shape(x)[1]);
}

/// Opset 18 had one scale and bias per group; since 21 there is one per
/// channel.
static LogicalResult convertGroupNorm(Node &n) {
  Value x = n.in(0), scale = n.in(1), bias = n.in(2);
  int64_t groups = n.attrs.requireInt("num_groups");
  n.attrs.ignore("stash_type");
  if (n.rank(x) < 2 || groups < 1 || n.shape(x)[1] % groups != 0) {
    return n.invalid("its channels do not divide into num_groups");
  }
  int64_t channels = n.shape(x)[1];
  if (n.opset < 21) {
    auto spread = [&](Value parameter) {
      Value column = n.reshape(parameter, {groups, 1});
      return n.reshape(n.broadcast(column, {groups, channels / groups}),
                       {channels});
    };
    scale = spread(scale);
    bias = spread(bias);
  }
  return buildGroupNorm(n, scale, bias, groups);
}

/// Normalizes with the batch's own statistics and returns running ones.
static LogicalResult buildTrainingBatchNorm(Node &n, double epsilon,
                                            double momentum) {
  Value x = n.in(0);
  int64_t rank = n.rank(x);
  SmallVector<int64_t> axes = countUp(2, rank);
  axes.insert(axes.begin(), 0);
  SmallVector<int64_t> row(rank, 1);
  row[1] = n.shape(x)[1];
  SmallVector<Value> outputs = n.composite(
      n.allInputs(),
      [&](ArrayRef<Value> in) {
        Type element = n.element(in[0]);
        Value mean = buildMean(n, in[0], axes);
        Value centered = n.build<amp::SubOp>(in[0], mean);
        Value variance = buildVariance(n, centered, axes);
        Value deviation = n.unary<amp::SqrtOp>(
            n.build<amp::AddOp>(variance, n.scalar(element, epsilon)));
        Value unit = n.build<amp::DivOp>(centered, deviation);
        Value scaled = n.build<amp::MulOp>(unit, n.reshape(in[1], row));
        Value y = n.build<amp::AddOp>(scaled, n.reshape(in[2], row));
        auto run = [&](Value old, Value current) {
          Type type = n.element(old);
          Value kept = n.build<amp::MulOp>(old, n.scalar(type, momentum));
          Value added = n.build<amp::MulOp>(
              n.cast(n.reshape(current, n.shape(old)), type),
              n.scalar(type, 1 - momentum));
          return n.build<amp::AddOp>(kept, added);
        };
        return SmallVector<Value>{y, run(in[3], mean), run(in[4], variance)};
      },
      {1, 2, 3, 4});
  for (auto [i, output] : llvm::enumerate(outputs)) {
    n.set(i, output);
  }
  return success();
}

static LogicalResult convertBatchNorm(Node &n) {
  double epsilon = n.attrs.getFloat("epsilon", 1e-5f);
  double momentum = n.attrs.getFloat("momentum", 0.9f);
  bool isTraining = n.attrs.getFlag("training_mode");
  if (n.rank(n.in(0)) < 2) {
    return n.invalid("expected a rank of 2 or more");
  }
  if (n.opset < 7 && !n.attrs.getFlag("is_test") && !n.importer.isTraining()) {
    return n.unsupported("training (is_test = 0)");
  }
  if (n.opset < 9 && !n.attrs.getFlag("spatial", true)) {
    return n.unsupported("statistics per activation (spatial = 0)");
  }
  bool isTrained = n.importer.isTraining();
  if (isTraining && !isTrained) {
    return buildTrainingBatchNorm(n, epsilon, momentum);
  }
  for (unsigned i = 1; i < n.numOutputs(); ++i) {
    if (isTrained) {
      n.setAbsent(i); // a trainer's states
    } else if (n.wants(i)) {
      return n.unsupported("running statistics outside training_mode");
    }
  }
  n.set(0, n.build<amp::BatchNormOp>(n.in(0), n.in(1), n.in(2), n.in(3),
                                     n.in(4), llvm::APFloat(epsilon),
                                     llvm::APFloat(momentum),
                                     amp::Layout::ChannelsFirst));
  return success();
}

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

/// x / (bias + alpha / size * (sum of squares over `size` channels))^beta
static LogicalResult convertLrn(Node &n) {
  double alpha = n.attrs.getFloat("alpha", 1e-4f);
  double beta = n.attrs.getFloat("beta", 0.75f);
  double bias = n.attrs.getFloat("bias", 1);
  int64_t size = n.attrs.requireInt("size");
  Value x = n.in(0);
  constexpr int64_t maxSize = 256;
  if (n.rank(x) < 2 || size < 1) {
    return n.invalid("expected a rank of 2 or more and a positive size");
  }
  if (size > maxSize) {
    return n.unsupported("size above " + Twine(maxSize));
  }
  int64_t channels = n.shape(x)[1];
  n.set(0, n.composite1({x}, [&](ArrayRef<Value> in) {
    SmallVector<int64_t> low(n.rank(x), 0), high(n.rank(x), 0);
    low[1] = (size - 1) / 2;
    high[1] = size - 1 - low[1];
    Value squares =
        n.build<amp::PadOp>(n.build<amp::MulOp>(in[0], in[0]), Value(), low,
                            high, amp::PadMode::Constant);
    Value sum = n.sliceDim(squares, 1, 0, channels);
    for (int64_t i = 1; i < size; ++i) {
      sum = n.build<amp::AddOp>(sum, n.sliceDim(squares, 1, i, channels));
    }
    Type element = n.element(in[0]);
    Value scaled = n.build<amp::MulOp>(sum, n.scalar(element, alpha / size));
    Value base = n.build<amp::AddOp>(scaled, n.scalar(element, bias));
    return n.build<amp::DivOp>(
        in[0], n.build<amp::PowOp>(base, n.scalar(element, beta)));
  }));
  return success();
}

static LogicalResult convertMvn(Node &n) {
  Value x = n.in(0);
  auto given = n.attrs.findInts("axes");
  auto axes =
      n.axes(given ? ArrayRef<int64_t>(*given) : ArrayRef<int64_t>({0, 2, 3}),
             n.rank(x));
  if (!axes) {
    return failure();
  }
  n.set(0, n.composite1({x}, [&](ArrayRef<Value> in) {
    Value centered = n.build<amp::SubOp>(in[0], buildMean(n, in[0], *axes));
    Value deviation = n.unary<amp::SqrtOp>(buildVariance(n, centered, *axes));
    // The operator adds its epsilon outside of the root.
    Value bounded =
        n.build<amp::AddOp>(deviation, n.scalar(n.element(in[0]), 1e-9));
    return n.build<amp::DivOp>(centered, bounded);
  }));
  return success();
}

/// A row whose norm is zero stays zero.
static LogicalResult convertLpNorm(Node &n) {
  Value x = n.in(0);
  int64_t p = n.attrs.getInt("p", 2);
  auto axis = n.axis(n.attrs.getInt("axis", -1), n.rank(x));
  if (!axis) {
    return failure();
  }
  if (p != 1 && p != 2) {
    return n.invalid("expected p to be 1 or 2, got " + Twine(p));
  }
  n.set(0, n.composite1({x}, [&](ArrayRef<Value> in) {
    Value powers =
        p == 1 ? n.unary<amp::AbsOp>(in[0]) : n.build<amp::MulOp>(in[0], in[0]);
    Value norm = n.reduceSum(powers, {*axis}, /*keepdims=*/true);
    norm = p == 1 ? norm : n.unary<amp::SqrtOp>(norm);
    Type element = n.element(in[0]);
    Value isZero = n.build<amp::CompareOp>(norm, n.scalar(element, 0),
                                           amp::ComparePredicate::EQ);
    Value divisor = n.build<amp::SelectOp>(isZero, n.scalar(element, 1), norm);
    return n.build<amp::DivOp>(in[0], divisor);
  }));
  return success();
}

void addNormalizationOps(OpTable &table) {
  table.add({
      {"BatchNormalization", convertBatchNorm, AutocastClass::Follow, 5, 5, 5},
      {"GroupNormalization", convertGroupNorm, OpClass::of<amp::GroupNormOp>(),
       3, 3},
      {"InstanceNormalization", convertInstanceNorm,
       OpClass::of<amp::GroupNormOp>(), 3, 3},
      {"LRN", convertLrn, AutocastClass::Fp32, 1, 1},
      {"LayerNormalization", convertLayerNorm, OpClass::of<amp::LayerNormOp>(),
       2, 3, 3},
      {"LpNormalization", convertLpNorm, AutocastClass::Fp32, 1, 1},
      {"MeanVarianceNormalization", convertMvn, AutocastClass::Fp32, 1, 1},
      {"RMSNormalization", convertRmsNorm, OpClass::of<amp::RmsNormOp>(), 2, 2},
  });
}

} // namespace ampc::importer
