//===- PtxWriter.cpp - From kernels to PTX --------------------------------===//
#include "compiler/Targets/CUDA/PtxWriter.h"

#include "compiler/Targets/CUDA/CudaEmitter.h"
#include "compiler/Targets/Codegen/Lowering.h"
#include "compiler/Targets/Target.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Memory/UpdateInPlace.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

#include <limits>

using namespace mlir;
using namespace ampc;
using namespace ampc::cuda;

/// The first version of PTX that knows the architecture.
static StringRef ptxVersion(const CudaArchitecture &architecture) {
  return architecture.major >= 10 ? "+ptx88" : "+ptx80";
}

static std::unique_ptr<llvm::TargetMachine>
createMachine(const CudaArchitecture &architecture, unsigned level,
              std::string &error) {
  static bool once = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)once;
  return codegen::createMachine("nvptx64-nvidia-cuda", architecture.name,
                                ptxVersion(architecture), level, error);
}

namespace {
Block *bodyOf(amp::KernelOp kernel) { return &kernel.getBody().front(); }

/// Whether offsets into every tensor of the kernel fit 32 bits.
bool fitsNarrowIndex(amp::KernelOp kernel) {
  auto fits = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.getNumElements() < int64_t(1) << 30;
  };
  bool all = llvm::all_of(bodyOf(kernel)->getArgumentTypes(), fits);
  for (Operation &op : *bodyOf(kernel)) {
    all = all && llvm::all_of(op.getResultTypes(), fits);
  }
  return all;
}

/// Elements that a thread handles at once: 16 bytes of the narrowest float.
codegen::KernelTraits traitsFor(amp::KernelOp kernel) {
  codegen::KernelTraits traits;
  traits.mapChunk = 0;
  traits.rowScratchBytes = 32 << 10;
  int64_t narrowest = 4;
  for (Type type : bodyOf(kernel)->getArgumentTypes()) {
    Type element = getElementTypeOrSelf(type);
    if (isa<FloatType>(element)) {
      narrowest =
          std::min<int64_t>(narrowest, element.getIntOrFloatBitWidth() / 8);
    }
  }
  traits.lanes = 16 / narrowest;
  return traits;
}

/// The name of a kernel with the characters that PTX allows.
std::string symbolOf(amp::KernelOp kernel, llvm::StringSet<> &taken) {
  std::string base = "k_" + kernel.getName().str();
  for (char &c : base) {
    c = llvm::isAlnum(c) ? c : '_';
  }
  std::string symbol = base;
  for (unsigned i = 1; !taken.insert(symbol).second; ++i) {
    symbol = base + "_" + std::to_string(i);
  }
  return symbol;
}

codegen::GpuImage::Launch launchOf(StringRef symbol,
                                   const CudaEmitter &emitter) {
  const codegen::KernelLaunch &launch = emitter.launch;
  codegen::GpuImage::Launch result;
  result.symbol = symbol.str();
  result.tensorMaps.assign(emitter.tensorMaps.begin(),
                           emitter.tensorMaps.end());
  int64_t threads = launch.group ? launch.group : CudaEmitter::blockThreads;
  int64_t blocks =
      launch.group ? launch.items : llvm::divideCeil(launch.items, threads);
  result.grid = {static_cast<uint32_t>(blocks), 1, 1};
  result.block = {static_cast<uint32_t>(threads), 1, 1};
  result.sharedBytes = static_cast<uint32_t>(launch.scratchBytes);
  result.workspaceBytes = launch.workspaceBytes;
  return result;
}
} // namespace

/// Reports functions that LLVM has no PTX for: it would end the process.
static LogicalResult
checkCalls(const llvm::Module &module,
           const std::vector<codegen::GpuImage::Launch> &launches,
           ArrayRef<amp::KernelOp> kernels) {
  static constexpr llvm::Intrinsic::ID missing[] = {
      llvm::Intrinsic::exp,   llvm::Intrinsic::exp2, llvm::Intrinsic::exp10,
      llvm::Intrinsic::log,   llvm::Intrinsic::log2, llvm::Intrinsic::log10,
      llvm::Intrinsic::pow,   llvm::Intrinsic::powi, llvm::Intrinsic::sin,
      llvm::Intrinsic::cos,   llvm::Intrinsic::tan,  llvm::Intrinsic::asin,
      llvm::Intrinsic::acos,  llvm::Intrinsic::atan, llvm::Intrinsic::atan2,
      llvm::Intrinsic::sinh,  llvm::Intrinsic::cosh, llvm::Intrinsic::tanh,
      llvm::Intrinsic::sincos};
  LogicalResult result = success();
  for (const llvm::Function &function : module) {
    bool isKnown = !function.isDeclaration() ||
                   (function.isIntrinsic() &&
                    !llvm::is_contained(missing, function.getIntrinsicID()));
    if (isKnown || function.use_empty()) {
      continue;
    }
    StringRef name = function.getName();
    name.consume_front("llvm.");
    for (auto [op, launch] : llvm::zip_equal(kernels, launches)) {
      const llvm::Function *kernel = module.getFunction(launch.symbol);
      bool calls = llvm::any_of(function.users(), [&](const llvm::User *user) {
        auto *call = dyn_cast<llvm::Instruction>(user);
        return call && call->getFunction() == kernel;
      });
      if (calls) {
        result = amp::KernelOp(op).emitError("unsupported function '")
                 << name << "' on the cuda target";
      }
    }
  }
  return result;
}

/// Tensor maps are parameters that the copy engine reads where the launch has
/// put them (PTX ISA, "Tensor-map"); the workspace comes behind them.
static void passTensorMaps(LLVM::LLVMFuncOp function,
                           const codegen::GpuImage::Launch &launch) {
  OpBuilder b(function);
  unsigned end = function.getNumArguments() - (launch.workspaceBytes ? 1 : 0);
  Type bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 128);
  for (auto i = end - static_cast<unsigned>(launch.tensorMaps.size()); i < end;
       ++i) {
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(bytes));
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(64));
    function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                        b.getUnitAttr());
  }
}

/// Lowers the ops that have no intrinsic.
static LogicalResult lowerInlinePtx(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(createConvertNVVMToLLVMPass());
  return passes.run(module);
}

void KernelModule::loadDialects(MLIRContext *context) {
  context->loadDialect<func::FuncDialect, LLVM::LLVMDialect, NVVM::NVVMDialect,
                       arith::ArithDialect, scf::SCFDialect,
                       vector::VectorDialect, math::MathDialect>();
  codegen::loadLoweringDialects(context, {/*hasLibm=*/false});
}

FailureOr<KernelModule>
KernelModule::create(ModuleOp module, const CudaArchitecture &architecture,
                     unsigned optLevel,
                     ArrayRef<ContractionRule> contractionRules) {
  loadDialects(module.getContext());
  return create(llvm::to_vector(module.getOps<amp::KernelOp>()), architecture,
                optLevel, contractionRules);
}

FailureOr<KernelModule>
KernelModule::create(ArrayRef<amp::KernelOp> kernels,
                     const CudaArchitecture &architecture, unsigned optLevel,
                     ArrayRef<ContractionRule> contractionRules) {
  KernelModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  std::string error;
  result.machine = createMachine(architecture, optLevel, error);
  if (!result.machine) {
    return kernels.empty() ? failure()
                           : amp::KernelOp(kernels.front())
                                     .emitError("cannot set up LLVM: ")
                                 << error;
  }
  if (kernels.empty()) {
    result.module = std::make_unique<llvm::Module>("kernels", *result.context);
    result.module->setTargetTriple(result.machine->getTargetTriple());
    result.module->setDataLayout(result.machine->createDataLayout());
    return result;
  }
  MLIRContext *mlirContext = amp::KernelOp(kernels.front()).getContext();
  Location loc = amp::KernelOp(kernels.front())->getParentOp()->getLoc();
  OwningOpRef<ModuleOp> functions(ModuleOp::create(loc));
  OpBuilder b(functions->getBodyRegion());
  Type pointer = LLVM::LLVMPointerType::get(mlirContext);
  llvm::StringSet<> symbols;
  llvm::StringMap<int64_t> resident; // blocks of a multiprocessor
  bool narrow = true, ok = true;
  for (amp::KernelOp kernel : kernels) {
    narrow = narrow && fitsNarrowIndex(kernel);
    SmallVector<Type> buffers(kernel.getNumArguments() + kernel.getNumResults(),
                              pointer);
    std::string symbol = symbolOf(kernel, symbols);
    auto function = func::FuncOp::create(b, kernel.getLoc(), symbol,
                                         b.getFunctionType(buffers, {}));
    codegen::KernelTraits traits = traitsFor(kernel);
    CudaEmitter emitter(kernel, function, traits, architecture,
                        contractionRules);
    if (failed(emitKernel(emitter))) {
      kernel.emitError("cannot emit this kernel for the cuda target");
      ok = false;
      function.erase();
      continue;
    }
    result.items[kernel.getName()] = emitter.launch;
    result.launches.push_back(launchOf(symbol, emitter));
    if (emitter.blocksPerMultiprocessor) {
      resident[symbol] = emitter.blocksPerMultiprocessor;
    }
    int64_t blocks =
        emitter.launch.group
            ? emitter.launch.items
            : llvm::divideCeil(emitter.launch.items, CudaEmitter::blockThreads);
    if (blocks > std::numeric_limits<int32_t>::max() ||
        emitter.launch.scratchBytes > architecture.getSharedBytes()) {
      kernel.emitError("needs ")
          << blocks << " blocks with " << emitter.launch.scratchBytes
          << " bytes of shared memory, more than " << architecture.name
          << " has";
      ok = false;
    }
    // Where an argument is overwritten, any result may be what does it.
    bool updates =
        llvm::any_of(llvm::seq(kernel.getNumArguments()), [&](unsigned i) {
          return kernel.getArgAttr(i, memory::updatedName);
        });
    for (unsigned i = 0; i < buffers.size(); ++i) {
      bool isArgument = i < kernel.getNumArguments();
      function.setArgAttr(i, "llvm.align", b.getI64IntegerAttr(16));
      if (isArgument ? kernel.getArgAttr(i, memory::updatedName) != nullptr
                     : updates) {
        continue;
      }
      function.setArgAttr(i, "llvm.noalias", b.getUnitAttr());
      if (isArgument) {
        function.setArgAttr(i, "llvm.readonly", b.getUnitAttr());
      }
    }
  }
  codegen::LoweringOptions lowering;
  lowering.hasLibm = false;
  lowering.indexBits = narrow ? 32 : 64;
  if (!ok || failed(codegen::lowerToLlvmDialect(*functions, lowering)) ||
      failed(lowerInlinePtx(*functions))) {
    return failure();
  }
  for (const auto &launch : result.launches) {
    auto function = functions->lookupSymbol<LLVM::LLVMFuncOp>(launch.symbol);
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                      b.getUnitAttr());
    function->setAttr(
        NVVM::NVVMDialect::getReqntidAttrName(),
        b.getDenseI32ArrayAttr({static_cast<int32_t>(launch.block[0]), 1, 1}));
    if (auto it = resident.find(launch.symbol); it != resident.end()) {
      function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                        b.getI32IntegerAttr(static_cast<int32_t>(it->second)));
    }
    passTensorMaps(function, launch);
  }
  result.module =
      codegen::translate(*functions, *result.context, *result.machine);
  if (!result.module) {
    return emitError(loc, "cannot translate the kernels to LLVM IR");
  }
  codegen::optimize(*result.module, *result.machine, optLevel);
  if (failed(checkCalls(*result.module, result.launches, kernels))) {
    return failure();
  }
  return result;
}

std::string KernelModule::writePtx() {
  SmallString<0> text;
  llvm::raw_svector_ostream os(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile)) {
    return "";
  }
  passes.run(*module);
  return std::string(text);
}

LogicalResult cuda::reportPtxas(Operation *op,
                                const CudaArchitecture &architecture,
                                StringRef error) {
  InFlightDiagnostic diagnostic = op->emitError("ptxas failed for ")
                                  << architecture.name << ": " << error;
  diagnostic.getUnderlyingDiagnostic()->getMetadata().emplace_back(
      StringRef(toolchainFailure));
  return diagnostic;
}
