//===- Models.cpp - Attaches evaluation to the operations of amp ----------===//
#include "dialects/Amp/Reference/Models.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace ampc;

void ref::registerReferenceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, amp::AmpDialect *) {
    attachElementwise(context);
    attachShape(context);
    attachIndexing(context);
    attachReduction(context);
    attachOrder(context);
    attachWindow(context);
    attachPoolGradient(context);
    attachResize(context);
    attachNorm(context);
    attachContraction(context);
    attachAttention(context);
  });
}
