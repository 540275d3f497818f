//===- CpuTarget.cpp - The CPU as a target --------------------------------===//
#include "compiler/Targets/Target.h"

#include "ampc/abi.h"
#include "compiler/Targets/CPU/CpuEmitter.h"
#include "compiler/Targets/Codegen/Lowering.h"
#include "compiler/Targets/Codegen/ProgramTable.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;
using namespace ampc::cpu;

namespace {

/// The LLVM name and features behind a -march name.
struct MachineName {
  std::string cpu, features;
};

MachineName resolveMarch(StringRef march) {
  if (march != "native") {
    return {march.str(), ""};
  }
  llvm::SubtargetFeatures features;
  for (const auto &[name, on] : llvm::sys::getHostCPUFeatures()) {
    features.AddFeature(name, on);
  }
  return {llvm::sys::getHostCPUName().str(), features.getString()};
}

class CpuTarget final : public ampc::Target {
public:
  CpuTarget(MachineName name, bool avx512)
      : name(std::move(name)), avx512(avx512) {
    traits.lanes = avx512 ? 16 : 8;
    traits.registers = avx512 ? 32 : 16;
    traits.l2Bytes = avx512 ? 1 << 20 : 1 << 19;
  }

  StringRef getName() const override { return "cpu"; }

  amp::TargetAttr getTargetAttr(MLIRContext *context) const override {
    return amp::TargetAttr::get(context, traits.lanes * 4, 2 * traits.lanes,
                                /*native_16bit=*/false);
  }

  LogicalResult emitCode(ModuleOp module, CodeForm form,
                         const CodegenOptions &options,
                         llvm::raw_pwrite_stream &os) const override;

private:
  LogicalResult emitKernels(ModuleOp module, ModuleOp functions,
                            llvm::StringMap<KernelLaunch> &launches) const;

  MachineName name;
  bool avx512;
  CpuTraits traits;
};

LogicalResult
CpuTarget::emitKernels(ModuleOp module, ModuleOp functions,
                       llvm::StringMap<KernelLaunch> &launches) const {
  MLIRContext *context = module.getContext();
  OpBuilder b(functions.getBodyRegion());
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = b.getI64Type();
  auto type = b.getFunctionType({pointer, pointer, i64, i64}, {});
  LogicalResult result = success();
  for (auto kernel : module.getOps<amp::KernelOp>()) {
    auto function =
        func::FuncOp::create(b, kernel.getLoc(), kernel.getName(), type);
    CpuEmitter emitter(kernel, function, traits);
    if (failed(emitKernel(emitter))) {
      kernel.emitError("cannot emit this kernel for the cpu target");
      result = failure();
      function.erase();
      continue;
    }
    launches[kernel.getName()] = emitter.launch;
  }
  return result;
}

LogicalResult CpuTarget::emitCode(ModuleOp module, CodeForm form,
                                  const CodegenOptions &options,
                                  llvm::raw_pwrite_stream &os) const {
  std::string error;
  auto machine =
      createHostMachine(name.cpu, name.features, options.optLevel, error);
  if (!machine) {
    return module.emitError("cannot set up LLVM: ") << error;
  }
  module.getContext()
      ->loadDialect<func::FuncDialect, LLVM::LLVMDialect, arith::ArithDialect,
                    scf::SCFDialect, vector::VectorDialect,
                    math::MathDialect>();
  OwningOpRef<ModuleOp> functions(ModuleOp::create(module.getLoc()));
  llvm::StringMap<KernelLaunch> launches;
  if (failed(emitKernels(module, *functions, launches)) ||
      failed(lowerToLlvmDialect(*functions))) {
    return failure();
  }
  llvm::LLVMContext context;
  auto llvmModule = translate(*functions, context, *machine);
  if (!llvmModule) {
    return module.emitError("cannot translate the kernels to LLVM IR");
  }
  functions = nullptr;
  codegen::ProgramParts parts;
  parts.cpuFeatures =
      AMPC_CPU_AVX2 | (avx512 ? uint64_t(AMPC_CPU_AVX512) : uint64_t(0));
  if (failed(addProgramTable(module, launches, options, parts, *llvmModule))) {
    return failure();
  }
  optimize(*llvmModule, *machine, options.optLevel);
  if (form == CodeForm::LlvmIr) {
    llvmModule->print(os, nullptr);
    return success();
  }
  llvm::legacy::PassManager passes;
  auto type = form == CodeForm::Assembly ? llvm::CodeGenFileType::AssemblyFile
                                         : llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(passes, os, nullptr, type)) {
    return module.emitError("LLVM cannot write this form for the cpu target");
  }
  passes.run(*llvmModule);
  return success();
}

} // namespace

std::unique_ptr<ampc::Target> ampc::createCpuTarget(StringRef march,
                                                    std::string &error) {
  MachineName name = resolveMarch(march);
  auto machine = createHostMachine(name.cpu, name.features, 3, error);
  if (!machine) {
    return nullptr;
  }
  const llvm::MCSubtargetInfo *info = machine->getMCSubtargetInfo();
  if (!info->isCPUStringValid(name.cpu)) {
    error = "unknown -march '" + march.str() + "'";
    return nullptr;
  }
  if (!info->checkFeatures("+avx2") || !info->checkFeatures("+fma") ||
      !info->checkFeatures("+f16c")) {
    error = "-march '" + march.str() +
            "' lacks AVX2, FMA or F16C: x86-64-v3 is the least supported";
    return nullptr;
  }
  bool avx512 =
      info->checkFeatures("+avx512f") && info->checkFeatures("+avx512bw") &&
      info->checkFeatures("+avx512vl") && info->checkFeatures("+avx512dq");
  if (avx512) {
    name.features += name.features.empty() ? "" : ",";
    name.features += "-prefer-256-bit";
  }
  return std::make_unique<CpuTarget>(std::move(name), avx512);
}
