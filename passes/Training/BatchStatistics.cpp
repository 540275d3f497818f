//===- BatchStatistics.cpp - Batch norms in training ----------------------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Interfaces/KernelInterfaces.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/Passes.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGBATCHSTATISTICSPASS
#include "passes/Training/Passes.h.inc"

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

class BatchNormInTraining {
public:
  BatchNormInTraining(amp::BatchNormOp op, double momentum)
      : op(op), b(op), loc(op.getLoc()), momentum(momentum),
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

  void build(SmallVectorImpl<std::pair<Value, Value>> &updates) {
    Type compute = getComputeType(type.getElementType());
    Value x = cast(op.getInput(), compute);
    Value mean = average(x);
    Value centred = amp::SubOp::create(b, loc, x, mean);
    Value variance = average(amp::MulOp::create(b, loc, centred, centred));
    Value inverse = amp::RsqrtOp::create(
        b, loc,
        amp::AddOp::create(b, loc, variance,
                           number(compute, op.getEpsilon().convertToDouble())));
    Value y = amp::MulOp::create(b, loc, centred, inverse);
    y = amp::MulOp::create(b, loc, y, spread(op.getScale(), compute));
    y = amp::AddOp::create(b, loc, y, spread(op.getBias(), compute));
    updates.push_back({op.getMean(), blend(op.getMean(), mean)});
    updates.push_back({op.getVariance(), blend(op.getVariance(), variance)});
    op.replaceAllUsesWith(cast(y, type.getElementType()));
    op.erase();
  }

private:
  Value cast(Value value, Type element) {
    return typeOf(value).getElementType() == element
               ? value
               : amp::CastOp::create(b, loc, typeOf(value).clone(element),
                                     value)
                     .getResult();
  }
  Value number(Type element, double value) {
    return amp::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(RankedTensorType::get({}, element),
                               Attribute(b.getFloatAttr(element, value))));
  }
  Value average(Value value) {
    return amp::ReduceMeanOp::create(b, loc, value, axes, /*keepdims=*/true);
  }
  Value spread(Value parameter, Type element) {
    return amp::ReshapeOp::create(b, loc,
                                  RankedTensorType::get(perChannel, element),
                                  cast(parameter, element));
  }
  /// running * momentum + batch * (1 - momentum), in the running type.
  Value blend(Value running, Value batch) {
    Type element = typeOf(running).getElementType();
    Value now =
        amp::ReshapeOp::create(b, loc, running.getType(), cast(batch, element));
    return amp::AddOp::create(
        b, loc, amp::MulOp::create(b, loc, running, number(element, momentum)),
        amp::MulOp::create(b, loc, now, number(element, 1 - momentum)));
  }

  amp::BatchNormOp op;
  OpBuilder b;
  Location loc;
  double momentum;
  RankedTensorType type;
  SmallVector<int64_t> axes, perChannel;
};

struct TrainingBatchStatisticsPass final
    : impl::TrainingBatchStatisticsPassBase<TrainingBatchStatisticsPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration()) {
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
      if (stateOf(norm.getMean()) && stateOf(norm.getVariance())) {
        BatchNormInTraining(norm, momentum).build(updates);
      }
    }
    for (auto [statistic, updated] : updates) {
      unsigned at = function.getNumResults();
      NamedAttrList attrs;
      attrs.set(train::stateName, stateOf(statistic));
      if (llvm::any_of(llvm::seq(at), [&](unsigned i) {
            return function.getResultAttr(i, train::stateName) ==
                   stateOf(statistic);
          })) {
        function.emitError("two batch norms share the statistics ")
            << stateOf(statistic);
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
