//===- Registration.cpp - Everything ampc registers, in one place ---------===//
#include "compiler/Registration/Registration.h"

#include "dialects/Amp/IR/AmpDialect.h"
#include "dialects/Amp/Impl/ChannelsLast.h"
#include "dialects/Amp/Reference/Models.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "passes/Graph/Passes.h"
#include "passes/Precision/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "passes/Fusion/Passes.h"
#include "passes/Memory/Passes.h"

using namespace mlir;

void ampc::registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<amp::AmpDialect, rt::RtDialect>();
  amp::registerChannelsLastModels(registry);
  ref::registerReferenceModels(registry);
}

void ampc::registerPasses() {
  registerAllPasses();
  graph::registerGraphPasses();
  precision::registerPrecisionPasses();
  fusion::registerFusionPasses();
  memory::registerMemoryPasses();
}
