//===- Loss.cpp - Losses --------------------------------------------------===//
#include "compiler/Import/Node.h"
#include "compiler/Import/OpTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ampc::importer {
namespace {
struct LossOptions {
  std::string reduction;
  std::optional<int64_t> ignoreIndex;
};
} // namespace

/// -weight[target] * logProbability[target], reduced. `weights` may be null.
static Value buildNegativeLogLikelihood(Node &n, Value logProbability,
                                        Value target, Value weights,
                                        const LossOptions &options) {
  Type element = n.element(logProbability), index = n.b.getI64Type();
  SmallVector<int64_t> shape(n.shape(target));
  Value position = n.cast(target, index), isIgnored;
  if (options.ignoreIndex) {
    isIgnored =
        n.build<amp::CompareOp>(position, n.scalar(index, *options.ignoreIndex),
                                amp::ComparePredicate::EQ);
    // The ignored index may be no class at all.
    position = n.build<amp::SelectOp>(isIgnored, n.scalar(index, 0), position);
  }
  SmallVector<int64_t> expanded(shape);
  expanded.insert(expanded.begin() + 1, 1);
  Value picked = n.build<amp::GatherElementsOp>(
      logProbability, n.reshape(position, expanded), /*axis=*/1);
  Value loss = n.unary<amp::NegOp>(n.reshape(picked, shape));
  Value weight;
  if (weights) {
    weight = n.build<amp::GatherOp>(weights, position, /*axis=*/0);
  }
  if (isIgnored) {
    Value one =
        weight ? weight : n.splat(RankedTensorType::get(shape, element), 1);
    weight = n.build<amp::SelectOp>(isIgnored, n.scalar(element, 0), one);
  }
  if (weight) {
    loss = n.build<amp::MulOp>(loss, weight);
  }
  SmallVector<int64_t> axes = countUp(0, shape.size());
  if (options.reduction == "none") {
    return loss;
  }
  Value sum = n.reduceSum(loss, axes, /*keepdims=*/false);
  if (options.reduction == "sum") {
    return sum;
  }
  Value total = weight ? n.reduceSum(weight, axes, /*keepdims=*/false)
                       : n.scalar(element, *countElements(shape));
  return n.build<amp::DivOp>(sum, total);
}

static LogicalResult convertLoss(Node &n, bool startsWithLogits) {
  Value x = n.in(0), target = n.in(1);
  LossOptions options;
  options.reduction = n.attrs.getString("reduction", "mean");
  options.ignoreIndex = n.attrs.findInt("ignore_index");
  if (options.reduction != "none" && options.reduction != "sum" &&
      options.reduction != "mean") {
    return n.invalid("unknown reduction '" + printableName(options.reduction) +
                     "'");
  }
  if (n.rank(x) < 2 || n.rank(target) + 1 != n.rank(x)) {
    return n.invalid("its target does not fit its scores");
  }
  SmallVector<Value> operands{x, target};
  if (n.has(2)) {
    operands.push_back(n.in(2));
  }
  SmallVector<Value> outputs = n.composite(operands, [&](ArrayRef<Value> in) {
    Value logProbability = startsWithLogits
                               ? n.unary<amp::LogSoftmaxOp>(in[0], /*axis=*/1)
                               : in[0];
    Value weights = in.size() == 3 ? in[2] : Value();
    SmallVector<Value> results{
        buildNegativeLogLikelihood(n, logProbability, in[1], weights, options)};
    if (n.wants(1)) {
      results.push_back(logProbability);
    }
    return results;
  });
  for (auto [i, output] : llvm::enumerate(outputs)) {
    n.set(i, output);
  }
  // Training takes the loss apart by these.
  if (Operation *op = outputs[0] ? outputs[0].getDefiningOp() : nullptr) {
    op->setAttr("amp.reduction", n.b.getStringAttr(options.reduction));
    if (options.ignoreIndex) {
      op->setAttr("amp.ignore_index",
                  n.b.getI64IntegerAttr(*options.ignoreIndex));
    }
  }
  return success();
}

static LogicalResult convertCrossEntropy(Node &n) {
  return convertLoss(n, /*startsWithLogits=*/true);
}
static LogicalResult convertNll(Node &n) {
  return convertLoss(n, /*startsWithLogits=*/false);
}

void addLossOps(OpTable &table) {
  table.add({
      {"NegativeLogLikelihoodLoss", convertNll, AutocastClass::Fp32, 2, 3},
      {"SoftmaxCrossEntropyLoss", convertCrossEntropy, AutocastClass::Fp32, 2,
       3, 2},
  });
}

} // namespace ampc::importer
