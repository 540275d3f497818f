//===- CudaTarget.cpp - NVIDIA GPUs as a target ---------------------------===//
#include "compiler/Targets/CUDA/KernelCompiler.h"
#include "compiler/Targets/CUDA/Simulate/Simulate.h"
#include "compiler/Targets/Codegen/Lowering.h"
#include "compiler/Targets/Target.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

namespace {

/// The host that the tables of a program are written for.
std::unique_ptr<llvm::TargetMachine> createTableMachine(std::string &error) {
  return codegen::createHostMachine("x86-64", "", 3, error);
}

class CudaTarget final : public ampc::Target {
public:
  explicit CudaTarget(std::vector<const CudaArchitecture *> architectures)
      : architectures(std::move(architectures)) {}

  StringRef getName() const override { return "cuda"; }

  amp::TargetAttr getTargetAttr(MLIRContext *context) const override {
    // Weights are read as they are: no panels.
    return amp::TargetAttr::get(context, /*vector_bytes=*/16, /*panel=*/0,
                                /*native_16bit=*/true);
  }

  FastTypes getFastTypes() const override {
    FastTypes types{true, true, true};
    for (const CudaArchitecture *architecture : architectures) {
      types.fp16 = types.fp16 && architecture->hasFp16;
      types.bf16 = types.bf16 && architecture->hasBf16;
      types.tf32 = types.tf32 && architecture->hasTf32;
    }
    return types;
  }

  LogicalResult emitCode(ModuleOp module, CodeForm form,
                         const CodegenOptions &options,
                         llvm::raw_pwrite_stream &os) const override;

private:
  /// The program with its kernels lowered to the host's code.
  LogicalResult emitSimulated(ModuleOp module, const CodegenOptions &options,
                              llvm::raw_pwrite_stream &os) const;
  /// All kernels as one module of the oldest architecture, in `form`.
  LogicalResult emitListing(ModuleOp module, CodeForm form,
                            const CodegenOptions &options,
                            llvm::raw_pwrite_stream &os) const;
  /// The images of the named architectures, and PTX for later ones.
  LogicalResult addImages(ModuleOp module, const CodegenOptions &options,
                          codegen::ProgramParts &parts,
                          llvm::StringMap<codegen::KernelLaunch> &items) const;

  std::vector<const CudaArchitecture *> architectures; ///< oldest first
};

static codegen::GpuImage makeImage(const KernelVariant &variant,
                                   ampc_gpu_image_kind kind,
                                   const CompiledKernels &kernels) {
  codegen::GpuImage image;
  image.architecture =
      variant.architecture->major * 10 + variant.architecture->minor;
  image.kind = kind;
  for (const CompiledKernel &kernel : kernels) {
    image.launches.push_back(kernel.launch);
    image.launches.back().module = image.modules.size();
    image.modules.push_back(kind == AMPC_GPU_IMAGE_PTX ? kernel.ptx
                                                       : kernel.assembly.cubin);
  }
  return image;
}

LogicalResult
CudaTarget::addImages(ModuleOp module, const CodegenOptions &options,
                      codegen::ProgramParts &parts,
                      llvm::StringMap<codegen::KernelLaunch> &items) const {
  auto [variants, ptxVariant] = chooseVariants(architectures);
  auto compiled = compileKernels(module, variants, options);
  if (failed(compiled)) {
    return failure();
  }
  for (auto [variant, kernels] : llvm::zip_equal(variants, *compiled)) {
    if (variant.isAssembled) {
      bool isExact = variant.architecture->name.ends_with("a");
      parts.images.push_back(makeImage(
          variant, isExact ? AMPC_GPU_IMAGE_EXACT_CUBIN : AMPC_GPU_IMAGE_CUBIN,
          kernels));
    }
  }
  parts.images.push_back(makeImage(variants[ptxVariant], AMPC_GPU_IMAGE_PTX,
                                   (*compiled)[ptxVariant]));
  for (auto [kernel, result] :
       llvm::zip_equal(module.getOps<amp::KernelOp>(), compiled->front())) {
    items[kernel.getName()] = result.items;
  }
  return success();
}

LogicalResult CudaTarget::emitSimulated(ModuleOp module,
                                        const CodegenOptions &options,
                                        llvm::raw_pwrite_stream &os) const {
  const CudaArchitecture &architecture = *architectures.front();
  auto kernels = KernelModule::create(module, architecture, options.optLevel,
                                      options.contractionRules);
  if (failed(kernels)) {
    return failure();
  }
  std::string error;
  auto host = createTableMachine(error);
  if (!host) {
    return module.emitError("cannot set up LLVM: ") << error;
  }
  SimulateOptions simulate;
  simulate.arch = architecture.major * 10 + architecture.minor;
  if (llvm::Error problem =
          lowerForSimulator(*kernels->module, *host, simulate)) {
    return module.emitError("cannot simulate the kernels: ")
           << llvm::toString(std::move(problem));
  }
  codegen::GpuImage image;
  image.architecture = simulate.arch;
  image.kind = AMPC_GPU_IMAGE_SIMULATOR;
  image.modules = {simulate.moduleSymbol.str()};
  image.launches = kernels->launches;
  codegen::ProgramParts parts;
  parts.images.push_back(std::move(image));
  if (failed(codegen::addProgramTable(module, kernels->items, options, parts,
                                      *kernels->module))) {
    return failure();
  }
  if (llvm::Error problem = emitSimulatorObject(*kernels->module, *host, os)) {
    return module.emitError("cannot write the simulator's object: ")
           << llvm::toString(std::move(problem));
  }
  return success();
}

LogicalResult CudaTarget::emitListing(ModuleOp module, CodeForm form,
                                      const CodegenOptions &options,
                                      llvm::raw_pwrite_stream &os) const {
  const CudaArchitecture &architecture = *architectures.front();
  auto kernels = KernelModule::create(module, architecture, options.optLevel,
                                      options.contractionRules);
  if (failed(kernels)) {
    return failure();
  }
  if (form == CodeForm::LlvmIr) {
    kernels->module->print(os, nullptr);
    return success();
  }
  std::string ptx = kernels->writePtx();
  if (form == CodeForm::Assembly) {
    os << ptx;
    return success();
  }
  std::string error;
  auto assembly = assemble(ptx, architecture, error);
  if (failed(assembly)) {
    return reportPtxas(module, architecture, error);
  }
  os << assembly->cubin;
  return success();
}

LogicalResult CudaTarget::emitCode(ModuleOp module, CodeForm form,
                                   const CodegenOptions &options,
                                   llvm::raw_pwrite_stream &os) const {
  if (form != CodeForm::Object) {
    return emitListing(module, form, options, os);
  }
  if (options.simulate) {
    return emitSimulated(module, options, os);
  }
  codegen::ProgramParts parts;
  llvm::StringMap<codegen::KernelLaunch> items;
  if (failed(addImages(module, options, parts, items))) {
    return failure();
  }
  std::string error;
  auto host = createTableMachine(error);
  if (!host) {
    return module.emitError("cannot set up LLVM: ") << error;
  }
  llvm::LLVMContext context;
  llvm::Module table("program", context);
  table.setTargetTriple(host->getTargetTriple());
  table.setDataLayout(host->createDataLayout());
  if (failed(codegen::addProgramTable(module, items, options, parts, table))) {
    return failure();
  }
  llvm::legacy::PassManager passes;
  if (host->addPassesToEmitFile(passes, os, nullptr,
                                llvm::CodeGenFileType::ObjectFile)) {
    return module.emitError("LLVM cannot write an object for the host");
  }
  passes.run(table);
  return success();
}

} // namespace

std::unique_ptr<ampc::Target>
ampc::createCudaTarget(ArrayRef<std::string> names, std::string &error) {
  auto chosen = findCudaArchitectures(names);
  if (!chosen) {
    error = llvm::toString(chosen.takeError());
    return nullptr;
  }
  return std::make_unique<CudaTarget>(std::move(*chosen));
}
