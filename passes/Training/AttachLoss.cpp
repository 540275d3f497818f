//===- AttachLoss.cpp - A loss behind the results of a model --------------===//
#include "dialects/Amp/IR/Formula.h"
#include "passes/Training/Passes.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGATTACHLOSSPASS
#include "passes/Training/Passes.h.inc"

namespace {
using P = amp::ComparePredicate;

/// The weighted sum of a loss, and the sum of the weights.
struct LossSum {
  Value loss, weight;
};

class LossBuilder : amp::Formula {
public:
  using Formula::Formula;

  Value sumAll(Value value) {
    return amp::ReduceSumOp::create(b, loc, value, amp::axesFrom(value, 0),
                                    /*keepdims=*/false);
  }

  /// -log softmax(logits)[label], smoothed towards the mean over the classes.
  LossSum crossEntropy(Value logits, Value labels, int64_t axis,
                       double smoothing, int64_t ignoreIndex) {
    Type element = typeOf(logits).getElementType();
    Type index = typeOf(labels).getElementType();
    Value isIgnored = amp::CompareOp::create(b, loc, labels,
                                             number(index, ignoreIndex), P::EQ);
    // What is ignored need not be a class.
    Value classes =
        amp::SelectOp::create(b, loc, isIgnored, number(index, 0), labels);
    Value logs = amp::LogSoftmaxOp::create(b, loc, logits, axis);
    SmallVector<int64_t> shape(typeOf(labels).getShape()), column(shape);
    column.insert(column.begin() + axis, 1);
    Value picked = amp::GatherElementsOp::create(
        b, loc, logs, reshape(classes, column), axis);
    Value loss = amp::NegOp::create(b, loc, reshape(picked, shape));
    if (smoothing != 0) {
      Value all = amp::NegOp::create(
          b, loc,
          amp::ReduceMeanOp::create(b, loc, logs, axis, /*keepdims=*/false));
      loss = amp::AddOp::create(
          b, loc,
          amp::MulOp::create(b, loc, loss, number(element, 1 - smoothing)),
          amp::MulOp::create(b, loc, all, number(element, smoothing)));
    }
    Value weight = amp::SelectOp::create(b, loc, isIgnored, number(element, 0),
                                         number(element, 1));
    loss = amp::SelectOp::create(b, loc, isIgnored, number(element, 0), loss);
    return {sumAll(loss), sumAll(weight)};
  }

  /// A loss of each element, averaged over a sample.
  LossSum elementwise(Loss kind, Value x, Value labels) {
    Type element = typeOf(x).getElementType();
    Value loss;
    if (kind == Loss::BceWithLogits) {
      // max(x, 0) - x y + log(1 + exp(-|x|)), as softplus(x) - x y.
      loss = amp::SubOp::create(b, loc, amp::SoftplusOp::create(b, loc, x),
                                amp::MulOp::create(b, loc, x, labels));
    } else {
      Value difference = amp::SubOp::create(b, loc, x, labels);
      Value distance = amp::AbsOp::create(b, loc, difference);
      Value square = amp::MulOp::create(b, loc, difference, difference);
      loss = kind == Loss::Mse ? square : distance;
      if (kind == Loss::Huber) {
        Value half = number(element, 0.5);
        Value isNear =
            amp::CompareOp::create(b, loc, distance, number(element, 1), P::LT);
        loss = amp::SelectOp::create(
            b, loc, isNear, amp::MulOp::create(b, loc, square, half),
            amp::SubOp::create(b, loc, distance, half));
      }
    }
    RankedTensorType type = typeOf(x);
    int64_t batch = type.getRank() == 0 ? 1 : type.getDimSize(0);
    double share = batch == 0 ? 1
                              : static_cast<double>(batch) /
                                    static_cast<double>(type.getNumElements());
    Value sum =
        amp::MulOp::create(b, loc, sumAll(loss), number(element, share));
    return {sum, number(element, static_cast<double>(batch))};
  }
};

struct TrainingAttachLossPass final
    : impl::TrainingAttachLossPassBase<TrainingAttachLossPass> {
  using Base::Base;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isDeclaration()) {
      getOperation().emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    if (failed(attach(main))) {
      signalPassFailure();
    }
  }

private:
  FailureOr<unsigned> findResult(func::FuncOp main) {
    if (input.empty()) {
      if (main.getNumResults() != 1) {
        return main.emitError("expected the name of the result that the loss "
                              "is of, one of ")
               << main.getNumResults();
      }
      return 0;
    }
    for (unsigned i = 0; i < main.getNumResults(); ++i) {
      auto name = main.getResultAttrOfType<StringAttr>(i, "amp.name");
      if (name && name.getValue() == input) {
        return i;
      }
    }
    return main.emitError("there is no result '") << input << "'";
  }

  LogicalResult attach(func::FuncOp main) {
    FailureOr<unsigned> position = findResult(main);
    if (failed(position)) {
      return failure();
    }
    Operation *terminator = main.getBody().front().getTerminator();
    Value x = terminator->getOperand(*position);
    auto type = cast<RankedTensorType>(x.getType());
    if (!isa<FloatType>(type.getElementType())) {
      return main.emitError("expected a loss of floats, got ") << type;
    }
    int64_t along = axis;
    RankedTensorType labelType = type;
    if (loss == Loss::SoftmaxCrossEntropy) {
      along = along >= 0 ? along : type.getRank() == 3 ? 2 : 1;
      if (along >= type.getRank()) {
        return main.emitError("expected logits with classes along dimension ")
               << along << ", got " << type;
      }
      SmallVector<int64_t> shape(type.getShape());
      shape.erase(shape.begin() + along);
      labelType =
          RankedTensorType::get(shape, IntegerType::get(&getContext(), 64));
    }
    OpBuilder b(terminator);
    auto named = [&](StringRef name) {
      return b.getDictionaryAttr(
          b.getNamedAttr("amp.name", b.getStringAttr(name)));
    };
    unsigned at = main.getNumArguments();
    if (failed(
            main.insertArgument(at, labelType, named(label), main.getLoc()))) {
      return failure();
    }
    Value labels = main.getArgument(at);
    LossBuilder builder(b,
                        NameLoc::get(b.getStringAttr("loss"), main.getLoc()));
    LossSum sum =
        loss == Loss::SoftmaxCrossEntropy
            ? builder.crossEntropy(x, labels, along, smoothing, ignoreIndex)
            : builder.elementwise(loss, x, labels);
    for (auto [value, name] :
         {std::pair(sum.loss, "loss"), std::pair(sum.weight, "loss_weight")}) {
      unsigned result = main.getNumResults();
      if (failed(main.insertResult(result, value.getType(), named(name)))) {
        return failure();
      }
      terminator->insertOperands(result, value);
    }
    int64_t count = loss == Loss::SoftmaxCrossEntropy
                        ? labelType.getNumElements()
                        : (type.getRank() == 0 ? 1 : type.getDimSize(0));
    main.setResultAttr(main.getNumResults() - 2, lossName, b.getUnitAttr());
    main.setResultAttr(main.getNumResults() - 1, nominalWeightName,
                       b.getF64FloatAttr(static_cast<double>(count)));
    return success();
  }
};

} // namespace
} // namespace ampc::training
