//===- BuildGradStats.cpp - Numbers about the gradients of a window -------===//
#include "dialects/Amp/IR/Formula.h"
#include "passes/Training/TrainingState.h"

using namespace mlir;

namespace ampc::training {

namespace {
using P = amp::ComparePredicate;

class StatisticsOf : amp::Formula {
public:
  using Formula::Formula;

  /// The mean of |g|, the share of elements that 16 bits hold as zero although
  /// they are not, and the Euclidean norm; g is unscaled by `inverse`.
  struct Statistics {
    Value meanAbs, zeroShare, norm;
  };

  Statistics of(Value gradient, Value inverse) {
    auto elements = static_cast<double>(typeOf(gradient).getNumElements());
    double share = elements == 0 ? 0 : 1 / elements;
    Value unscaled = mul(gradient, inverse);
    Value narrow = cast(cast(gradient, b.getF16Type()), b.getF32Type());
    Value isLost = both(compare(narrow, P::EQ, 0), compare(gradient, P::NE, 0));
    return {scale(total(apply<amp::AbsOp>(unscaled)), share),
            scale(total(cast(isLost, b.getF32Type())), share),
            apply<amp::SqrtOp>(total(square(unscaled)))};
  }

  Value join(ArrayRef<Value> numbers) {
    return amp::ConcatOp::create(b, loc, numbers, 0);
  }

  /// scale / nominal * weight is what a gradient was multiplied by.
  Value inverseOf(Value scale, Value weight, double nominalWeight) {
    return div(constant(scale, nominalWeight), mul(scale, weight));
  }

private:
  Value total(Value value) {
    Value flat = reshape(value, {typeOf(value).getNumElements()});
    return reshape(sum(flat, {0}), {1});
  }
};

} // namespace

void buildGradStats(TrainingState &state, func::FuncOp step) {
  FunctionBuilder function(step, "grad_stats");
  RankedTensorType scalar = state.scalarType();
  MLIRContext *context = step.getContext();
  Value scale = function.addArgument(scalar, stateAttrs(state.scale));
  Value weight =
      function.addArgument(scalar, stateAttrs(state.findSum("weight")));
  StatisticsOf statistics(function.at, step.getLoc());
  Value inverse = statistics.inverseOf(scale, weight, state.nominalWeight);
  SmallVector<Value> meanAbs, zeroShare, norm;
  for (TrainedParameter &parameter : state.trained) {
    train::StateOp gradient = parameter.gradient;
    Value value = function.addArgument(
        gradient.getType(),
        stateAttrs(FlatSymbolRefAttr::get(gradient.getSymNameAttr())));
    auto of = statistics.of(value, inverse);
    meanAbs.push_back(of.meanAbs);
    zeroShare.push_back(of.zeroShare);
    norm.push_back(of.norm);
  }
  function.addResult(statistics.join(meanAbs), nameAttrs(context, "mean_abs"));
  function.addResult(statistics.join(zeroShare),
                     nameAttrs(context, "zero_share"));
  function.addResult(statistics.join(norm), nameAttrs(context, "norm"));
  function.finish();
}

} // namespace ampc::training
