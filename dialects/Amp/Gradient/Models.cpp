//===- Models.cpp - Attaches gradients to the operations of amp -----------===//
#include "dialects/Amp/Gradient/Models.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace ampc;

void grad::registerGradientModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, amp::AmpDialect *) {
    attachUnary(context);
    attachBinary(context);
    attachShape(context);
    attachReduction(context);
    attachNorm(context);
    attachContraction(context);
    attachAttention(context);
    attachWindow(context);
    attachIndexing(context);
  });
}
