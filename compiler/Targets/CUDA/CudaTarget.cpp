//===- CudaTarget.cpp - NVIDIA GPUs as a target ---------------------------===//
#include "compiler/Targets/CUDA/PtxWriter.h"
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

  LogicalResult emitCode(ModuleOp module, CodeForm form,
                         const CodegenOptions &options,
                         llvm::raw_pwrite_stream &os) const override;

private:
  /// The program with its kernels lowered to the host's code.
  LogicalResult emitSimulated(ModuleOp module, const CodegenOptions &options,
                              llvm::raw_pwrite_stream &os) const;
  LogicalResult addImages(ModuleOp module, const CudaArchitecture &architecture,
                          bool isOldest, unsigned optLevel,
                          codegen::ProgramParts &parts,
                          llvm::StringMap<codegen::KernelLaunch> &items) const;

  std::vector<const CudaArchitecture *> architectures; ///< oldest first
};

LogicalResult
CudaTarget::addImages(ModuleOp module, const CudaArchitecture &architecture,
                      bool isOldest, unsigned optLevel,
                      codegen::ProgramParts &parts,
                      llvm::StringMap<codegen::KernelLaunch> &items) const {
  auto kernels = KernelModule::create(module, architecture, optLevel);
  if (failed(kernels)) {
    return failure();
  }
  std::string ptx = kernels->writePtx();
  items = std::move(kernels->items);
  codegen::GpuImage image;
  image.architecture = architecture.major * 10 + architecture.minor;
  image.launches = kernels->launches;
  if (canAssemble()) {
    std::string error;
    auto cubin = assemble(ptx, architecture, error);
    if (failed(cubin)) {
      return module.emitError("ptxas failed for ")
             << architecture.name << ": " << error;
    }
    image.data = std::move(*cubin);
    if (architecture.name.ends_with("a")) {
      image.kind = AMPC_GPU_IMAGE_EXACT_CUBIN;
    }
    parts.images.push_back(image);
  }
  // The oldest architecture's text runs on every later device.
  if (isOldest) {
    image.kind = AMPC_GPU_IMAGE_PTX;
    image.data = std::move(ptx);
    parts.images.push_back(std::move(image));
  }
  return success();
}

LogicalResult CudaTarget::emitSimulated(ModuleOp module,
                                        const CodegenOptions &options,
                                        llvm::raw_pwrite_stream &os) const {
  const CudaArchitecture &architecture = *architectures.front();
  auto kernels = KernelModule::create(module, architecture, options.optLevel);
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
  image.data = simulate.moduleSymbol.str();
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

LogicalResult CudaTarget::emitCode(ModuleOp module, CodeForm form,
                                   const CodegenOptions &options,
                                   llvm::raw_pwrite_stream &os) const {
  if (form != CodeForm::Object) {
    auto kernels =
        KernelModule::create(module, *architectures.front(), options.optLevel);
    if (failed(kernels)) {
      return failure();
    }
    if (form == CodeForm::LlvmIr) {
      kernels->module->print(os, nullptr);
    } else {
      os << kernels->writePtx();
    }
    return success();
  }
  if (options.simulate) {
    return emitSimulated(module, options, os);
  }
  codegen::ProgramParts parts;
  llvm::StringMap<codegen::KernelLaunch> items;
  for (const CudaArchitecture *architecture : architectures) {
    if (failed(addImages(module, *architecture,
                         architecture == architectures.front(),
                         options.optLevel, parts, items))) {
      return failure();
    }
  }
  // The driver makes code of the PTX only where no cubin fits.
  auto ptx = llvm::find_if(parts.images, [](const auto &image) {
    return image.kind == AMPC_GPU_IMAGE_PTX;
  });
  std::rotate(ptx, ptx + 1, parts.images.end());
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
  std::vector<const CudaArchitecture *> chosen;
  for (StringRef name : names) {
    auto architecture = findCudaArchitecture(name);
    if (!architecture) {
      error = llvm::toString(architecture.takeError());
      return nullptr;
    }
    if (!llvm::is_contained(chosen, *architecture)) {
      chosen.push_back(*architecture);
    }
  }
  llvm::sort(chosen,
             [](const CudaArchitecture *lhs, const CudaArchitecture *rhs) {
               return std::pair(lhs->major, lhs->minor) <
                      std::pair(rhs->major, rhs->minor);
             });
  return std::make_unique<CudaTarget>(std::move(chosen));
}
