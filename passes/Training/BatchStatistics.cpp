//===- BatchStatistics.cpp - Batch norms in training ----------------------===//
#include "dialects/Amp/IR/Formula.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/Passes.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGBATCHSTATISTICSPASS
#include "passes/Training/Passes.h.inc"

namespace {

class BatchNormInTraining : amp::Formula {
public:
  BatchNormInTraining(OpBuilder &b, amp::BatchNormOp op)
      : Formula(b, op.getLoc()), op(op),
        momentum(op.getMomentum().convertToDouble()),
        type(op.getInput().getType()) {
    bool last = op.getLayout() == amp::Layout::ChannelsLast;
    int64_t channel = last ? type.getRank() - 1 : 1;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (i != channel) {
        axes.push_back(i);
      }
    }
    perChannel.assign(type.getRank(), 1);
    perChannel[channel] = type.getDimSize(channel);
  }

  /// Adds each running statistic, which is a state, with its new value.
  void build(Value runningMean, Value runningVariance,
             SmallVectorImpl<std::pair<Value, Value>> &updates) {
    Value x = wide(op.getInput());
    Value batchMean = mean(x, axes), centred = sub(x, batchMean);
    Value variance = mean(square(centred), axes);
    Value inverse =
        apply<amp::RsqrtOp>(plus(variance, op.getEpsilon().convertToDouble()));
    Value y = mul(mul(centred, inverse), spread(op.getScale(), x));
    y = add(y, spread(op.getBias(), x));
    updates.push_back({runningMean, blend(runningMean, batchMean)});
    updates.push_back({runningVariance, blend(runningVariance, variance)});
    op.replaceAllUsesWith(cast(y, type.getElementType()));
    op.erase();
  }

private:
  Value spread(Value parameter, Value like) {
    return reshape(cast(parameter, elementOf(like)), perChannel);
  }
  /// running * momentum + batch * (1 - momentum), in the running type.
  Value blend(Value running, Value batch) {
    Value now = reshape(cast(batch, elementOf(running)), shapeOf(running));
    return add(scale(running, momentum), scale(now, 1 - momentum));
  }

  amp::BatchNormOp op;
  double momentum;
  RankedTensorType type;
  SmallVector<int64_t> axes, perChannel;
};

/// What a 16-bit copy was made of.
Value withoutCasts(Value value) {
  while (auto cast = value.getDefiningOp<amp::CastOp>()) {
    value = cast.getInput();
  }
  return value;
}

struct TrainingBatchStatisticsPass final
    : impl::TrainingBatchStatisticsPassBase<TrainingBatchStatisticsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration() || function->hasAttr(inferenceName)) {
      return;
    }
    Block &block = function.getBody().front();
    auto stateOf = [&](Value value) -> Attribute {
      auto argument = dyn_cast<BlockArgument>(value);
      return argument && argument.getOwner() == &block
                 ? function.getArgAttr(argument.getArgNumber(),
                                       train::stateName)
                 : Attribute();
    };
    SmallVector<std::pair<Value, Value>> updates;
    for (amp::BatchNormOp norm :
         llvm::make_early_inc_range(block.getOps<amp::BatchNormOp>())) {
      Value mean = withoutCasts(norm.getMean());
      Value variance = withoutCasts(norm.getVariance());
      if (stateOf(mean) && stateOf(variance)) {
        OpBuilder b(norm);
        BatchNormInTraining(b, norm).build(mean, variance, updates);
      }
    }
    for (auto &[statistic, updated] : updates) {
      Attribute state = stateOf(statistic);
      unsigned at = function.getNumResults();
      NamedAttrList attrs;
      attrs.set(train::stateName, state);
      if (llvm::any_of(llvm::seq(at), [&](unsigned i) {
            return function.getResultAttr(i, train::stateName) == state;
          })) {
        function.emitError("two batch norms share the statistics ") << state;
        return signalPassFailure();
      }
      if (failed(function.insertResult(at, updated.getType(),
                                       attrs.getDictionary(&getContext())))) {
        return signalPassFailure();
      }
      block.getTerminator()->insertOperands(at, updated);
    }
  }
};

} // namespace
} // namespace ampc::training
