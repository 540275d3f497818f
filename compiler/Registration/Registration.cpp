//===- Registration.cpp - Everything ampc registers, in one place ---------===//
#include "compiler/Registration/Registration.h"

#include "compiler/Pipelines/Pipelines.h"
#include "dialects/Amp/Gradient/Models.h"
#include "dialects/Amp/IR/AmpDialect.h"
#include "dialects/Amp/Impl/ChannelsLast.h"
#include "dialects/Amp/Reference/Models.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "dialects/Train/Gradient/Models.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "dialects/Train/Reference/Models.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "passes/Fusion/Passes.h"
#include "passes/Graph/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Precision/Passes.h"
#include "passes/Training/Passes.h"

using namespace mlir;

void ampc::registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  registry.insert<amp::AmpDialect, rt::RtDialect, train::TrainDialect>();
  amp::registerChannelsLastModels(registry);
  ref::registerReferenceModels(registry);
  grad::registerGradientModels(registry);
  train::registerTrainReferenceModels(registry);
  train::registerTrainGradientModels(registry);
}

void ampc::registerPasses() {
  registerAllPasses();
  graph::registerGraphPasses();
  precision::registerPrecisionPasses();
  training::registerTrainingPasses();
  fusion::registerFusionPasses();
  memory::registerMemoryPasses();
  registerPipelines();
}
