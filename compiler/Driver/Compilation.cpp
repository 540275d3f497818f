//===- Compilation.cpp - One model on its way through the phases ----------===//
#include "compiler/Driver/Compilation.h"

#include "compiler/Driver/Limits.h"
#include "compiler/Driver/MemoryReport.h"
#include "compiler/Driver/ModuleWriter.h"
#include "compiler/Driver/OutputFile.h"
#include "compiler/Driver/RemarkForwarder.h"
#include "compiler/Driver/TensorData.h"
#include "compiler/Driver/TrainingFacts.h"
#include "compiler/Driver/Version.h"
#include "compiler/Driver/WeightSection.h"
#include "compiler/Import/Import.h"
#include "compiler/Import/ModelFile.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "compiler/Import/WeightReferences.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Registration/Registration.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "passes/Precision/Report.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mlir;

namespace ampc::driver {

static const DialectRegistry &getRegistry() {
  static const DialectRegistry registry = [] {
    DialectRegistry made;
    registerDialects(made);
    return made;
  }();
  return registry;
}

Compilation::Compilation(const Options &options, DiagnosticSink &sink)
    : options(options), sink(sink),
      context(getRegistry(), MLIRContext::Threading::DISABLED),
      training(options.training), optimizer(options.optimizer) {
  unsigned jobs = options.jobs ? options.jobs
                               : hardware_concurrency().compute_thread_count();
  // The printer takes one thread, and so do remarks.
  if (jobs > 1 && !options.printIr && options.remarks.empty()) {
    threads = std::make_unique<DefaultThreadPool>(hardware_concurrency(jobs));
    context.setThreadPool(*threads);
  }
  context.printOpOnDiagnostic(options.verbose);
  context.loadDialect<amp::AmpDialect, rt::RtDialect, train::TrainDialect,
                      func::FuncDialect>();
  forwarder = std::make_unique<MlirDiagnosticForwarder>(&context, sink);
  if (options.mlirTiming) {
    timing = std::make_unique<DefaultTimingManager>();
    timing->setEnabled(true);
  }
}

Compilation::~Compilation() {
  // The constants of modules point into the model.
  module = nullptr;
  keptModule = nullptr;
  beforeTraining = nullptr;
}

void warmUp() {
  getRegistry();
  std::string error;
  createCpuTarget("native", error);
}

static bool isMlirFile(StringRef path) {
  StringRef extension = sys::path::extension(path);
  return extension == ".mlir" || extension == ".mlirbc";
}

LogicalResult Compilation::open() {
  timer.enter("open");
  sink.setFile(options.model);
  if (!options.remarks.empty() &&
      failed(forwardRemarks(context, options.remarks, sink))) {
    return failure();
  }
  std::string error;
  if (options.target == "cuda") {
    target = createCudaTarget(getCudaNames(), error);
  } else {
    target = createCpuTarget(options.march, error);
  }
  if (!target) {
    return sink.error(ExitCode::Usage, error);
  }
  if (isMlirFile(options.model)) {
    return success();
  }
  importer::ImportDiagnostics found(options.model);
  model = importer::ModelFile::open(options.model, found);
  reportImport(found, sink);
  return success(model != nullptr);
}

LogicalResult Compilation::run(Phase last) {
  assert(last <= Phase::Memory && "code is emitted by emitCode");
  if (!reached) {
    timer.enter("import");
    if (failed(importModel())) {
      return failure();
    }
    reached = options.compileFrom.value_or(Phase::Import);
    if (failed(dump(*reached))) {
      return failure();
    }
  }
  for (Phase phase : getPhases(options.train)) {
    if (phase <= *reached || phase > last) {
      continue;
    }
    timer.enter(stringifyPhase(phase));
    bool isEntry = options.train && phase == Phase::Graph;
    if (phase == Phase::Training && maySaveMemory()) {
      beforeTraining = module->clone();
    }
    if ((isEntry && failed(enterTraining())) || failed(runPhase(phase))) {
      return failure();
    }
    if (phase == Phase::Memory && saveMemory()) {
      return run(last);
    }
    if (failed(dump(phase)) || failed(writeReports(phase))) {
      return failure();
    }
    reached = phase;
  }
  return success();
}

void Compilation::checkpoint() {
  keptModule = module->clone();
  keptPhase = reached;
}

void Compilation::restore() {
  module = keptModule->clone();
  reached = keptPhase;
  report.reset();
}

void Compilation::setExposedResults(ArrayRef<int64_t> positions,
                                    StringRef rounding) {
  exposedResults.assign(positions.begin(), positions.end());
  exposedRounding = rounding.str();
}

LogicalResult Compilation::importModel() {
  size_t errorsBefore = sink.getNumErrors();
  LogicalResult imported = model ? importOnnxModel() : parseMlirModel();
  if (failed(imported) || !module) {
    if (sink.getNumErrors() == errorsBefore) {
      (void)sink.error(ExitCode::Internal, "import failed without a reason");
    }
    return failure();
  }
  if (failed(verify(*module))) {
    return failure(); // reported as internal
  }
  (*module)->setAttr("amp.target", target->getTargetAttr(&context));
  weightLimit = options.weightLimit.value_or(getDefaultWeightLimit(*module));
  forwarder->setCategory(ExitCode::Limit);
  LogicalResult checked = checkTensorSizes(*module);
  forwarder->setCategory(ExitCode::Internal);
  return checked;
}

LogicalResult Compilation::importOnnxModel() {
  if (options.train && failed(readTrainingForm())) {
    return failure();
  }
  importer::ImportOptions importOptions;
  for (const auto &[name, dims] : options.shapes) {
    importOptions.shapes[name] = dims;
  }
  for (const auto &[name, size] : options.dimParams) {
    importOptions.dimParams[name] = size;
  }
  importOptions.isTraining = options.train;
  if (options.maxNodes) {
    importOptions.maxNodes = *options.maxNodes;
  }
  std::vector<std::string> inputs = getGraphInputs();
  for (const InputBinding &binding : options.bindings) {
    importer::BoundInput bound;
    auto position = llvm::find(inputs, binding.name);
    if (position == inputs.end()) {
      return sink.error(ExitCode::Usage,
                        "--bind-input: the model has no input '" +
                            binding.name + "'");
    }
    std::optional<std::string> file = binding.file;
    if (file->empty()) {
      file = findDataFile(options.data, "input", position - inputs.begin());
    }
    if (!file) {
      return sink.error(ExitCode::InputOutput,
                        "--bind-input: '" + options.data +
                            "' holds no value for '" + binding.name + "'");
    }
    if (failed(readBoundInput(*file, bound, sink))) {
      return failure();
    }
    importOptions.boundInputs[binding.name] = std::move(bound);
  }
  importer::ImportDiagnostics found(options.model);
  module = importer::importOnnx(&context, model, importOptions, found);
  reportImport(found, sink);
  return success(module && !found.hasErrors());
}

LogicalResult Compilation::parseMlirModel() {
  if (options.train && !options.hasLoss &&
      options.compileFrom.value_or(Phase::Import) == Phase::Import) {
    return sink.error(ExitCode::Usage, "--train: expected --loss=NAME");
  }
  forwarder->setCategory(ExitCode::Invalid);
  importer::ImportDiagnostics found(options.model);
  mlirFiles = std::make_shared<importer::ExternalData>(
      sys::path::parent_path(options.model));
  module = importer::parseModuleFile(&context, options.model, mlirFiles, found);
  reportImport(found, sink);
  forwarder->setCategory(ExitCode::Internal);
  return success(static_cast<bool>(module));
}

std::vector<std::string> Compilation::getGraphInputs() const {
  std::vector<std::string> names;
  if (!model) {
    return names;
  }
  const onnx::GraphProto &graph = model->getProto().graph();
  llvm::StringSet<> initializers;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    initializers.insert(tensor.name());
  }
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (!initializers.contains(input.name())) {
      names.push_back(input.name());
    }
  }
  return names;
}

/// Reports what passes refuse as of `category`, and what the verifier then
/// finds as a defect.
LogicalResult
Compilation::runPasses(StringRef what, ExitCode category,
                       llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(&context);
  // The verifier runs by itself, so that the two can be told apart.
  manager.enableVerifier(options.verifyEach);
  TimingScope scope;
  if (timing) {
    scope = timing->getRootScope();
    manager.enableTiming(scope);
  }
  if (options.printIr) {
    manager.enableIRPrinting(
        [](Pass *, Operation *) { return false; },
        [](Pass *, Operation *) { return true; }, /*printModuleScope=*/true,
        /*printAfterOnlyOnChange=*/true, /*printAfterOnlyOnFailure=*/false,
        llvm::errs(), getPrintingFlags(options.elideAbove));
  }
  build(manager);
  size_t errorsBefore = sink.getNumErrors();
  forwarder->setCategory(category);
  LogicalResult ran = manager.run(*module);
  forwarder->setCategory(ExitCode::Internal);
  if (failed(ran)) {
    if (sink.getNumErrors() == errorsBefore) {
      (void)sink.error(ExitCode::Internal, what + " failed without a reason");
    }
    return failure();
  }
  return verify(*module);
}

LogicalResult Compilation::enterTraining() {
  // A loss that does not fit the model is one that the command line asks for.
  if (failed(runPasses("the training entry", ExitCode::Unsupported,
                       [&](OpPassManager &passes) {
                         buildTrainingParameters(passes, training);
                       })) ||
      failed(runPasses("the training entry", ExitCode::Usage,
                       [&](OpPassManager &passes) {
                         buildTrainingLoss(passes, training);
                       }))) {
    return failure();
  }
  recordStates(*module);
  return success();
}

LogicalResult Compilation::runPhase(Phase phase) {
  PhaseOptions phaseOptions = getPhaseOptions();
  if (phase == Phase::Precision && options.verbose) {
    precision::PolicyFacts facts = getPolicyFacts();
    sink.note("precision policy " + facts.amp + ": " + facts.reason);
    if (!facts.contractionsNote.empty()) {
      sink.note("contractions of f32: tf32, " + facts.contractionsNote);
    }
  }
  // What a pass refuses is the model's fault or a missing feature; the
  // precision phase refuses nothing but rules of the command line.
  ExitCode category =
      phase == Phase::Precision ? ExitCode::Usage : ExitCode::Unsupported;
  if (failed(runPasses(("the " + stringifyPhase(phase) + " phase").str(),
                       category, [&](OpPassManager &passes) {
                         buildPhase(phase, passes, phaseOptions);
                       }))) {
    return failure();
  }
  if (phase == Phase::Training) {
    recordStep(*module, optimizer, optimizerNumbers);
  }
  return success();
}

LogicalResult Compilation::writeReports(Phase phase) {
  if (phase == Phase::Precision && report) {
    report->countFinal(*module);
    if (!options.precisionReport.empty()) {
      return writeFile(options.precisionReport, sink, [&](raw_ostream &os) {
        if (options.precisionReport == "-") {
          report->print(os);
        } else {
          os << llvm::formatv("{0:2}\n", report->toJson());
        }
      });
    }
  }
  if (phase == Phase::Memory) {
    if (!options.memoryReport.empty() &&
        failed(writeFile(options.memoryReport, sink, [&](raw_ostream &os) {
          printMemoryReport(*module, os, options.memoryReport != "-");
        }))) {
      return failure();
    }
    return checkMemory();
  }
  return success();
}

LogicalResult Compilation::writeWeights(WeightSection &section,
                                        raw_ostream &os) {
  timer.enter("weights");
  // Every op of the dialect can be evaluated; what fails is memory.
  forwarder->setCategory(ExitCode::Limit);
  LogicalResult written = section.write(os, weightLimit);
  forwarder->setCategory(ExitCode::Internal);
  return written;
}

LogicalResult Compilation::emitCode(CodeForm form,
                                    const CodegenOptions &codegen,
                                    raw_pwrite_stream &os) {
  timer.enter("codegen");
  size_t errorsBefore = sink.getNumErrors();
  forwarder->setCategory(ExitCode::Unsupported);
  LogicalResult emitted = target->emitCode(*module, form, codegen, os);
  forwarder->setCategory(ExitCode::Internal);
  if (failed(emitted) && sink.getNumErrors() == errorsBefore) {
    (void)sink.error(ExitCode::Internal,
                     "code emission failed without a reason");
  }
  return emitted;
}

CodegenOptions Compilation::getCodegenOptions() {
  CodegenOptions codegen;
  codegen.march = options.march;
  codegen.optLevel = options.optLevel;
  codegen.simulate = options.simulate;
  codegen.threads = threads ? threads->getMaxConcurrency() : 1;
  codegen.producer = std::string("ampc ") + versionText;
  codegen.contractionRules = options.contractionRules;
  codegen.cacheFolder = options.cacheFolder;
  codegen.cacheLimit = options.cacheLimit;
  codegen.cacheReport = [this](unsigned hits, unsigned misses,
                               const std::string &problem) {
    if (options.verbose && hits + misses != 0) {
      sink.note("kernel cache '" + Twine(options.cacheFolder) +
                "': " + Twine(hits) + " found, " + Twine(misses) + " compiled");
    }
    if (!problem.empty()) {
      sink.warning(problem);
    }
  };
  llvm::json::Object metadata{{"amp", stringifyAmpPolicy(getAmpPolicy())},
                              {"march", options.march},
                              {"strict_rounding", options.strictRounding}};
  if (auto given = (*module)->getAttrOfType<DictionaryAttr>("amp.metadata")) {
    llvm::json::Object source;
    for (NamedAttribute entry : given) {
      auto text = dyn_cast<StringAttr>(entry.getValue());
      if (text && llvm::json::isUTF8(entry.getName()) &&
          llvm::json::isUTF8(text)) {
        source[entry.getName().getValue()] = text.getValue();
      }
    }
    if (!source.empty()) {
      metadata["model"] = std::move(source);
    }
  }
  if (options.target == "cuda") {
    metadata["kernel_work"] = countWorkOfKernels();
  }
  addTrainingFacts(*this, metadata);
  if (!certificate.empty()) {
    metadata["certificate"] = llvm::json::Object(certificate);
  }
  codegen.metadata =
      llvm::formatv("{0}", llvm::json::Value(std::move(metadata)));
  return codegen;
}

LogicalResult Compilation::writeModule(StringRef path) {
  if (!writer) {
    auto locate = [this](ArrayRef<uint8_t> bytes) {
      return model ? model->locate(bytes) : mlirFiles->locate(bytes);
    };
    writer = std::make_unique<ModuleWriter>(options.elideAbove, locate, sink);
  }
  return writer->write(*module, path);
}

LogicalResult Compilation::dump(Phase phase) {
  if (options.dumpPhasesTo.empty()) {
    return success();
  }
  if (std::error_code error =
          sys::fs::create_directories(options.dumpPhasesTo)) {
    return sink.error(ExitCode::InputOutput, "cannot make the folder '" +
                                                 options.dumpPhasesTo +
                                                 "': " + error.message());
  }
  SmallString<128> path(options.dumpPhasesTo);
  sys::path::append(path, Twine(static_cast<unsigned>(phase)) + "-" +
                              stringifyPhase(phase) + ".mlir");
  return writeModule(path);
}

} // namespace ampc::driver
