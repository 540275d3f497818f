//===- CompilationKernels.cpp - The GPU kernels of a compilation ----------===//
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/KernelReport.h"
#include "compiler/Targets/CUDA/KernelCompiler.h"

using namespace llvm;

namespace ampc::driver {

std::vector<std::string> Compilation::getCudaNames() const {
  return options.cudaArchs.empty() ? std::vector<std::string>{"sm_80", "sm_90a"}
                                   : options.cudaArchs;
}

std::vector<const CudaArchitecture *>
Compilation::getCudaArchitectures() const {
  // Their names have been checked with the command line.
  return cantFail(findCudaArchitectures(getCudaNames()));
}

FailureOr<std::vector<cuda::CompiledKernels>>
Compilation::compileKernels(ArrayRef<cuda::KernelVariant> variants) {
  timer.enter("codegen");
  forwarder->setCategory(ExitCode::Unsupported);
  auto compiled = cuda::compileKernels(*module, variants, getCodegenOptions());
  forwarder->setCategory(ExitCode::Internal);
  return compiled;
}

json::Object Compilation::countWorkOfKernels() {
  json::Object work;
  for (const KernelFacts &kernel : collectKernels(*module).kernels) {
    work[kernel.name] = json::Array{kernel.flops, kernel.bytes};
  }
  return work;
}

} // namespace ampc::driver
