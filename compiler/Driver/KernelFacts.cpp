//===- KernelFacts.cpp - The GPU kernels of a module ----------------------===//
#include "ampc/abi.h"
#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/KernelReport.h"
#include "compiler/Driver/ModelFacts.h"
#include "compiler/Targets/CUDA/KernelCompiler.h"
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace ampc::driver {

DeviceMemory computeDeviceMemory(uint64_t weights, uint64_t activations,
                                 ArrayRef<uint64_t> inputs,
                                 ArrayRef<uint64_t> outputs) {
  DeviceMemory memory;
  memory.weights = weights;
  memory.activations = activations;
  // Each is an allocation, which has an address even if it is empty; its part
  // of the staging memory is aligned.
  for (auto [sizes, sum] : {std::pair(inputs, &memory.inputs),
                            std::pair(outputs, &memory.outputs)}) {
    for (uint64_t bytes : sizes) {
      *sum += std::max<uint64_t>(bytes, 1);
      memory.staging = llvm::alignTo(memory.staging + bytes, AMPC_ALIGNMENT);
    }
  }
  return memory;
}

static SmallVector<uint64_t> sizesOf(ArrayAttr types) {
  SmallVector<uint64_t> sizes;
  for (Attribute type : types) {
    sizes.push_back(countBytes(cast<TypeAttr>(type).getValue()));
  }
  return sizes;
}

static KernelParam describeParam(Type type, bool isOutput) {
  auto tensor = cast<RankedTensorType>(type);
  KernelParam param;
  llvm::raw_string_ostream os(param.elementType);
  os << tensor.getElementType();
  llvm::append_range(param.shape, tensor.getShape());
  param.bytes = countBytes(type);
  param.isOutput = isOutput;
  return param;
}

KernelReport collectKernels(ModuleOp module) {
  KernelReport report;
  llvm::StringMap<size_t> index;
  for (auto kernel : module.getOps<amp::KernelOp>()) {
    index[kernel.getName()] = report.kernels.size();
    KernelFacts &facts = report.kernels.emplace_back();
    facts.name = kernel.getName().str();
    for (Type type : kernel.getArgumentTypes()) {
      facts.params.push_back(describeParam(type, false));
    }
    for (Type type : kernel.getResultTypes()) {
      facts.params.push_back(describeParam(type, true));
    }
    for (auto [i, param] : llvm::enumerate(facts.params)) {
      facts.bytes += param.isOutput ? param.bytes : countBytesRead(kernel, i);
    }
    facts.flops = countKernelFlops(kernel);
  }
  for (auto program : module.getOps<rt::ProgramOp>()) {
    report.memory = computeDeviceMemory(
        program.getWeights().getFixed(), program.getArena().getFixed(),
        sizesOf(program.getInputTypes()), sizesOf(program.getOutputTypes()));
    program.walk([&](rt::LaunchOp launch) {
      report.kernels[index.lookup(launch.getKernel())].nodes.push_back(
          launch.getLabel().str());
    });
  }
  return report;
}

/// The mix of SASS where nvdisasm is at hand, else of PTX.
static void readMix(StringRef ptx, StringRef cubin, KernelVariantFacts &facts) {
  facts.products = cuda::findProductRate(ptx, facts.symbol);
  facts.mix = cuda::readPtxMix(ptx, facts.symbol);
  auto sass = cuda::disassemble(cubin);
  if (!sass) {
    return;
  }
  cuda::InstructionMix mix = cuda::readSassMix(*sass, facts.symbol);
  if (mix.total != 0) {
    facts.mix = std::move(mix);
    facts.isMixOfSass = true;
  }
}

static FailureOr<KernelVariantFacts>
describeVariant(const cuda::CompiledKernel &compiled,
                const CudaArchitecture &architecture, DiagnosticSink &sink) {
  KernelVariantFacts facts;
  facts.architecture = &architecture;
  facts.symbol = compiled.launch.symbol;
  facts.grid = compiled.launch.grid;
  facts.block = compiled.launch.block;
  facts.dynamicSharedBytes = compiled.launch.sharedBytes;
  facts.workspaceBytes = compiled.launch.workspaceBytes;
  const cuda::Assembly &assembly = compiled.assembly;
  if (!assembly.cubin.empty()) {
    auto kernels = cuda::readCubin(assembly.cubin);
    if (!kernels) {
      return sink.error(ExitCode::Toolchain,
                        "cannot read what ptxas wrote: " +
                            llvm::toString(kernels.takeError()));
    }
    for (const cuda::KernelResources &resources : *kernels) {
      if (resources.symbol == facts.symbol) {
        facts.resources = resources;
      }
    }
    facts.spillStoreBytes = assembly.spillStoreBytes;
    facts.spillLoadBytes = assembly.spillLoadBytes;
  }
  readMix(compiled.ptx, assembly.cubin, facts);
  return facts;
}

FailureOr<KernelReport> reportModel(Compilation &compilation) {
  KernelReport report = collectKernels(compilation.getModule());
  report.source = compilation.getOptions().model;
  std::vector<cuda::KernelVariant> variants;
  for (const CudaArchitecture *architecture :
       compilation.getCudaArchitectures()) {
    variants.push_back({architecture, cuda::canAssemble()});
  }
  auto compiled = compilation.compileKernels(variants);
  if (failed(compiled)) {
    return failure();
  }
  for (auto [variant, kernels] : llvm::zip_equal(variants, *compiled)) {
    for (auto [kernel, facts] : llvm::zip_equal(kernels, report.kernels)) {
      auto described =
          describeVariant(kernel, *variant.architecture, compilation.getSink());
      if (failed(described)) {
        return failure();
      }
      facts.variants.push_back(std::move(*described));
    }
  }
  return report;
}

} // namespace ampc::driver
