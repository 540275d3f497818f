//===- Models.cpp - Attaches gradients to the operations of train ---------===//
#include "dialects/Train/Gradient/Models.h"

#include "dialects/Amp/Gradient/Calculus.h"
#include "dialects/Train/IR/TrainDialect.h"

using namespace mlir;
using namespace ampc;

namespace {
/// What was dropped has no part in the result; the rest is scaled alike.
struct DropoutModel
    : DifferentiableOpInterface::ExternalModel<DropoutModel, train::DropoutOp> {
  LogicalResult buildGradient(Operation *op, GradientBuilder &gradients) const {
    auto dropout = cast<train::DropoutOp>(op);
    grad::Calculus c(gradients);
    if (c.wants(dropout.getInput())) {
      Value g = c.stored(dropout.getResult());
      c.give(dropout.getInput(),
             train::DropoutOp::create(
                 c.b, c.loc, g.getType(), g, dropout.getRatioAttr(),
                 dropout.getStreamAttr(), c.b.getUnitAttr()));
    }
    return success();
  }
};
} // namespace

void train::registerTrainGradientModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TrainDialect *) {
    DropoutOp::attachInterface<DropoutModel>(*context);
  });
}
