//===- Harness.cpp - Kernels from text to a run in the simulator ----------===//
#include "test/unit/Simulate/Harness.h"

#include "ampc/numerics.h"
#include "compiler/Targets/CUDA/Simulate/Simulate.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Pipelines/Passes.h"
#include "mlir/Dialect/Transform/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <random>

using namespace ampc::test;

namespace {

std::string chipName(unsigned arch) {
  return "sm_" + std::to_string(arch) + (arch == 90 ? "a" : "");
}

std::unique_ptr<llvm::TargetMachine> makeMachine(const std::string &triple,
                                                 const std::string &cpu,
                                                 const std::string &features) {
  std::string error;
  llvm::Triple parsed(triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(parsed, error);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      parsed, cpu, features, llvm::TargetOptions(), llvm::Reloc::PIC_));
}

std::unique_ptr<llvm::TargetMachine> hostMachine() {
  std::string features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
    features += (features.empty() ? "" : ",") +
                std::string(feature.second ? "+" : "-") + feature.first().str();
  }
  return makeMachine(llvm::sys::getDefaultTargetTriple(),
                     llvm::sys::getHostCPUName().str(), features);
}

std::unique_ptr<llvm::TargetMachine> gpuMachine(unsigned arch) {
  return makeMachine("nvptx64-nvidia-cuda", chipName(arch), "+ptx86");
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

void initialize() {
  static bool once = [] {
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)once;
}

/// The bitcode that upstream's pipeline hands to NVPTX; "" with an error told.
std::string lowerMlir(const std::string &text, unsigned arch) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllGPUToLLVMIRTranslations(registry);
  mlir::NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module) {
    return "";
  }
  // A test may bring a transform script along.
  if (text.find("transform.named_sequence") != std::string::npos) {
    mlir::PassManager scripts(&context);
    scripts.addPass(mlir::transform::createInterpreterPass());
    if (failed(scripts.run(*module))) {
      return "";
    }
    for (mlir::Operation &op : llvm::make_early_inc_range(*module->getBody())) {
      if (op.hasAttr("transform.with_named_sequence")) {
        op.erase();
      }
    }
  }
  mlir::PassManager passes(&context);
  mlir::gpu::GPUToNVVMPipelineOptions options;
  options.cubinChip = chipName(arch);
  options.cubinFeatures = "+ptx80";
  options.cubinFormat = "llvm";
  options.optLevel = 3;
  mlir::gpu::buildLowerToNVVMPassPipeline(passes, options);
  if (failed(passes.run(*module))) {
    return "";
  }
  std::string bitcode;
  module->walk([&](mlir::gpu::BinaryOp binary) {
    auto object = mlir::cast<mlir::gpu::ObjectAttr>(binary.getObjects()[0]);
    bitcode = object.getObject().getValue().str();
  });
  return bitcode;
}

} // namespace

struct Program::Impl {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> source;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  unsigned arch;

  std::string load(const ampc_sim_module **out);
};

/// Lowers a copy of the source, links it with the simulator.
std::string Program::Impl::load(const ampc_sim_module **out) {
  auto machine = hostMachine();
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*source);
  ampc::cuda::SimulateOptions options;
  options.arch = arch;
  if (auto error = ampc::cuda::lowerForSimulator(*copy, *machine, options)) {
    return llvm::toString(std::move(error));
  }
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  if (auto error = ampc::cuda::emitSimulatorObject(*copy, *machine, stream)) {
    return llvm::toString(std::move(error));
  }
  jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::orc::SymbolMap symbols;
  for (const sim::Symbol *symbol = sim::symbols(); symbol->name; ++symbol) {
    symbols[jit->mangleAndIntern(symbol->name)] = {
        llvm::orc::ExecutorAddr::fromPtr(symbol->address),
        llvm::JITSymbolFlags::Exported};
  }
  llvm::cantFail(jit->getMainJITDylib().define(
      llvm::orc::absoluteSymbols(std::move(symbols))));
  llvm::cantFail(jit->addObjectFile(
      std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object))));
  auto address = jit->lookup("ampc_sim_module");
  if (!address) {
    return llvm::toString(address.takeError());
  }
  *out = address->toPtr<const ampc_sim_module *>();
  return "";
}

Program::Program() : impl(std::make_unique<Impl>()) { initialize(); }
Program::~Program() = default;

/// With an error told if the text does not parse.
std::unique_ptr<Program> Program::parse(const std::string &text,
                                        unsigned arch) {
  auto program = std::unique_ptr<Program>(new Program());
  llvm::SMDiagnostic diagnostic;
  program->impl->arch = arch;
  program->impl->source = llvm::parseIR(llvm::MemoryBufferRef(text, "kernels"),
                                        diagnostic, program->impl->context);
  if (!program->impl->source) {
    llvm::raw_string_ostream out(program->problem);
    diagnostic.print("kernels", out);
  }
  return program;
}

void Program::load() {
  if (impl->source) {
    problem = impl->load(&description);
  }
}

std::unique_ptr<Program> Program::fromLlvm(const std::string &text,
                                           unsigned arch) {
  auto program = parse(text, arch);
  if (program->impl->source) {
    optimize(*program->impl->source, *gpuMachine(arch));
  }
  program->load();
  return program;
}

std::unique_ptr<Program> Program::fromOptimized(const std::string &text,
                                                unsigned arch) {
  auto program = parse(text, arch);
  program->load();
  return program;
}

std::unique_ptr<Program> Program::fromMlir(const std::string &text,
                                           unsigned arch) {
  auto program = std::unique_ptr<Program>(new Program());
  program->impl->arch = arch;
  std::string bitcode = lowerMlir(text, arch);
  auto module = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(bitcode, "kernels"), program->impl->context);
  if (!module) {
    program->problem = llvm::toString(module.takeError());
    return program;
  }
  program->impl->source = std::move(*module);
  program->load();
  return program;
}

const ampc_sim_kernel &Program::kernel(const std::string &name) const {
  for (uint32_t i = 0; i < description->num_kernels; ++i) {
    if (name == description->kernels[i].name) {
      return description->kernels[i];
    }
  }
  ADD_FAILURE() << "no kernel " << name;
  return description->kernels[0];
}

std::string ampc::test::assemble(const llvm::Module &module,
                                 llvm::TargetMachine &machine) {
  auto ptxas = llvm::sys::findProgramByName(
      "ptxas", {"/usr/local/cuda/bin", "/usr/bin", "/usr/local/bin"});
  if (!ptxas) {
    return "";
  }
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::SmallString<128> ptx, log;
  int file;
  llvm::sys::fs::createTemporaryFile("kernels", "ptx", file, ptx);
  llvm::sys::fs::createTemporaryFile("kernels", "log", log);
  {
    llvm::raw_fd_ostream out(file, true);
    llvm::legacy::PassManager passes;
    machine.addPassesToEmitFile(passes, out, nullptr,
                                llvm::CodeGenFileType::AssemblyFile);
    passes.run(*copy);
  }
  std::string arch = "-arch=" + machine.getTargetCPU().str();
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, log.str(),
                                                log.str()};
  int status =
      llvm::sys::ExecuteAndWait(*ptxas,
                                {*ptxas, arch, "--warn-on-spills",
                                 "--warning-as-error", ptx, "-o", "/dev/null"},
                                std::nullopt, redirects);
  std::string said;
  if (auto text = llvm::MemoryBuffer::getFile(log)) {
    said = (*text)->getBuffer().str();
  }
  llvm::sys::fs::remove(ptx);
  llvm::sys::fs::remove(log);
  return status == 0 ? "" : said.empty() ? "ptxas failed" : said;
}

std::string Program::assemble() const {
  return test::assemble(*impl->source, *gpuMachine(impl->arch));
}

Device::Device(const Program &program) : report(64), program(program) {
  options.arch = program.module().arch;
  sim::registerGlobals(program.module(), memory);
}

Device::~Device() { sim::unregisterGlobals(program.module(), memory); }

void *Device::allocate(size_t bytes, const char *name) {
  void *result = nullptr;
  EXPECT_TRUE(memory.allocate(bytes, name, &result).ok());
  return result;
}

Device &Device::matrix(void *data, int64_t rows, int64_t columns) {
  return param(data)
      .param(data)
      .param<int64_t>(0)
      .param(rows)
      .param(columns)
      .param(columns)
      .param<int64_t>(1);
}

Device &Device::vector(void *data, int64_t size) {
  return param(data).param(data).param<int64_t>(0).param(size).param<int64_t>(
      1);
}

void Device::launch(const std::string &kernel, sim::Dim3 grid, sim::Dim3 block,
                    uint32_t dynamicShared) {
  sim::LaunchConfig config;
  config.module = &program.module();
  config.kernel = &program.kernel(kernel);
  config.grid = grid;
  config.block = block;
  config.dynamicShared = dynamicShared;
  std::vector<void *> pointers;
  for (std::string &param : params) {
    pointers.push_back(param.data());
  }
  ASSERT_EQ(pointers.size(), config.kernel->num_params);
  config.params = pointers.data();
  config.launchId = memory.beginLaunch(kernel.c_str(), config.module, after);
  auto status = sim::runKernel(config, options, memory, report);
  EXPECT_TRUE(status.ok()) << status.message();
  after.add(config.launchId);
  params.clear();
}

testing::AssertionResult ampc::test::found(const sim::Report &report,
                                           sim::Fault fault,
                                           const std::string &site,
                                           const std::string &words) {
  for (const sim::Finding &finding : report.findings()) {
    std::string sites =
        std::string(finding.site.c_str()) + "\n" + finding.otherSite.c_str();
    std::string message = finding.message.c_str();
    if (finding.fault == fault && sites.find(site) != std::string::npos &&
        message.find(words) != std::string::npos) {
      return testing::AssertionSuccess();
    }
  }
  return testing::AssertionFailure()
         << "no " << sim::faultName(fault) << " at '" << site << "' saying '"
         << words << "' in:\n"
         << report.text().c_str();
}

static std::vector<float> randomFloats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> draw(-1, 1);
  std::vector<float> values(count);
  for (float &value : values) {
    value = draw(random);
  }
  return values;
}

std::vector<uint16_t> ampc::test::randomF16(size_t count, unsigned seed) {
  std::vector<uint16_t> bits(count);
  std::vector<float> values = randomFloats(count, seed);
  ampc_f32_to_f16_n(values.data(), bits.data(), count);
  return bits;
}

std::vector<uint16_t> ampc::test::randomBf16(size_t count, unsigned seed) {
  std::vector<uint16_t> bits(count);
  std::vector<float> values = randomFloats(count, seed);
  ampc_f32_to_bf16_n(values.data(), bits.data(), count);
  return bits;
}
