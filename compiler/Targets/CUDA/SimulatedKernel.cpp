//===- SimulatedKernel.cpp - One kernel as an object for the simulator ----===//
#include "compiler/Targets/CUDA/SimulatedKernel.h"

#include "compiler/Targets/CUDA/Simulate/Simulate.h"
#include "compiler/Targets/Codegen/Lowering.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

FailureOr<std::string> cuda::compileForSimulator(
    amp::KernelOp kernel, const CudaArchitecture &architecture,
    const CodegenOptions &options, StringRef moduleSymbol) {
  KernelModule::loadDialects(kernel.getContext());
  auto module =
      KernelModule::create(ArrayRef(kernel), architecture, options.optLevel,
                           options.contractionRules);
  if (failed(module)) {
    return failure();
  }
  std::string error;
  auto host = codegen::createHostMachine("x86-64", "", 3, error);
  if (!host) {
    return kernel.emitError("cannot set up LLVM: ") << error;
  }
  SimulateOptions simulate;
  simulate.arch = architecture.major * 10 + architecture.minor;
  simulate.moduleSymbol = moduleSymbol;
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream os(object);
  llvm::Error problem = lowerForSimulator(*module->module, *host, simulate);
  if (!problem) {
    problem = emitSimulatorObject(*module->module, *host, os);
  }
  if (problem) {
    return kernel.emitError("cannot simulate the kernel: ")
           << llvm::toString(std::move(problem));
  }
  return os.str().str();
}
