//===- Compilation.h - One model on its way through the phases ------------===//
#ifndef AMPC_COMPILER_DRIVER_COMPILATION_H
#define AMPC_COMPILER_DRIVER_COMPILATION_H

#include "compiler/Driver/DiagnosticSink.h"
#include "compiler/Driver/PhaseTimer.h"
#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Targets/Target.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ThreadPool.h"

#include <memory>

namespace mlir {
class DefaultTimingManager;
} // namespace mlir

namespace ampc {
struct CudaArchitecture;
namespace cuda {
struct CompiledKernel;
struct KernelVariant;
using CompiledKernels = std::vector<CompiledKernel>;
} // namespace cuda
namespace importer {
class ExternalData;
class ImportDiagnostics;
class ModelFile;
} // namespace importer
namespace precision {
class Report;
struct PolicyFacts;
} // namespace precision

namespace driver {
class ModuleWriter;
class WeightSection;

/// Owns the context, the model and its module, and moves the module from phase
/// to phase. Every failure has been reported to the sink.
class Compilation {
public:
  Compilation(const Options &options, DiagnosticSink &sink);
  ~Compilation();
  Compilation(const Compilation &) = delete;
  Compilation &operator=(const Compilation &) = delete;

  /// Opens the model; reads nothing of it but its graph.
  llvm::LogicalResult open();

  /// Runs the phases that have not run yet, up to `last` (Memory at most).
  llvm::LogicalResult run(Phase last);

  /// Remembers the module as it is; `restore` goes back to it, so that one
  /// import serves several programs. What the options say is read anew by each
  /// phase.
  void checkpoint();
  void restore();
  /// What `restore` goes back to.
  mlir::ModuleOp getCheckpoint() { return keptModule.get(); }
  /// Intermediate values that the program returns too, by position, each with
  /// its op's result in the type `rounding` if that is not empty; see
  /// graph-expose-results.
  void setExposedResults(llvm::ArrayRef<int64_t> positions,
                         llvm::StringRef rounding);
  /// Whether the decisions of the precision phase are wanted.
  void recordDecisions(bool wanted) { wantsReport = wanted; }
  /// The policy that the options choose for the target.
  AmpPolicy getAmpPolicy();
  /// JSON that the program carries as `certificate` of its metadata.
  void setCertificate(llvm::json::Object json) {
    certificate = std::move(json);
  }

  /// Writes the constant section of the module, which must have reached Memory.
  llvm::LogicalResult writeWeights(WeightSection &section,
                                   llvm::raw_ostream &os);

  /// Machine code of the module, which must have reached Memory.
  llvm::LogicalResult emitCode(CodeForm form, const CodegenOptions &codegen,
                               llvm::raw_pwrite_stream &os);

  /// The architectures that are named, or those of the default; oldest first.
  std::vector<const CudaArchitecture *> getCudaArchitectures() const;

  /// The kernels of the module, which must have reached Memory, as GPU code.
  llvm::FailureOr<std::vector<cuda::CompiledKernels>>
  compileKernels(llvm::ArrayRef<cuda::KernelVariant> variants);

  const Options &getOptions() const { return options; }
  DiagnosticSink &getSink() { return sink; }
  PhaseTimer &getTimer() { return timer; }
  mlir::MLIRContext &getContext() { return context; }
  mlir::ModuleOp getModule() { return module.get(); }
  /// Null for a model given as MLIR.
  importer::ModelFile *getModel() const { return model.get(); }
  const Target &getTarget() const { return *target; }
  /// Decisions of the precision phase; recorded only if they are asked for.
  const precision::Report *getPrecisionReport() const { return report.get(); }

  /// Names of the graph inputs that a caller feeds, in order: initializers are
  /// none, bound inputs are.
  std::vector<std::string> getGraphInputs() const;

  /// Options of code emission as the command line asks for them.
  CodegenOptions getCodegenOptions();

  /// Writes the module as MLIR that refers to files for large constants;
  /// without them to standard output, for "-".
  llvm::LogicalResult writeModule(llvm::StringRef path);

private:
  std::vector<std::string> getCudaNames() const;
  /// [FLOPs, bytes] of each kernel by its name.
  llvm::json::Object countWorkOfKernels();
  precision::PolicyFacts getPolicyFacts();
  PhaseOptions getPhaseOptions();
  llvm::LogicalResult importModel();
  llvm::LogicalResult importOnnxModel();
  llvm::LogicalResult parseMlirModel();
  llvm::LogicalResult runPhase(Phase phase);
  llvm::LogicalResult
  runPasses(llvm::StringRef what, ExitCode category,
            llvm::function_ref<void(mlir::OpPassManager &)>);
  /// Takes the training step that the model has itself, if it is wanted.
  llvm::LogicalResult readTrainingForm();
  /// Turns a model into one with parameters and a loss.
  llvm::LogicalResult enterTraining();
  llvm::LogicalResult checkMemory();
  /// Whether the training phase may have to run again with a backward pass that
  /// keeps less.
  bool maySaveMemory() const;
  /// Goes back to before that phase if the program is too large.
  bool saveMemory();
  std::string describeFittingBatch() const;
  llvm::LogicalResult writeReports(Phase phase);
  llvm::LogicalResult dump(Phase phase);

  const Options &options;
  DiagnosticSink &sink;
  PhaseTimer timer;
  mlir::MLIRContext context;
  std::unique_ptr<llvm::DefaultThreadPool> threads;
  std::unique_ptr<MlirDiagnosticForwarder> forwarder;
  std::unique_ptr<mlir::DefaultTimingManager> timing;
  std::unique_ptr<Target> target;
  std::shared_ptr<importer::ModelFile> model;
  /// The files that a model given as MLIR refers to.
  std::shared_ptr<importer::ExternalData> mlirFiles;
  std::unique_ptr<ModuleWriter> writer;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<precision::Report> report;
  std::optional<Phase> reached;
  mlir::OwningOpRef<mlir::ModuleOp> keptModule;
  mlir::OwningOpRef<mlir::ModuleOp> beforeTraining; ///< to come back to
  std::optional<Phase> keptPhase;
  llvm::SmallVector<int64_t> exposedResults;
  std::string exposedRounding;
  /// How the model is trained: what the options say, or the model.
  TrainingOptions training;
  std::string optimizer;
  std::vector<std::pair<std::string, double>> optimizerNumbers;
  bool wantsReport = false;
  llvm::json::Object certificate;
  uint64_t weightLimit = 0;
};

/// Creates what compilations share. In a process that forks, each child then
/// finds it made.
void warmUp();

/// What --amp=auto means for `target`, and why.
AmpPolicy chooseAutoPolicy(const Target &target, bool isTraining = false);
std::string describeAutoPolicy(const Target &target, bool isTraining = false);

/// Hands the findings of the importer to the sink.
void reportImport(const importer::ImportDiagnostics &found,
                  DiagnosticSink &sink);

} // namespace driver
} // namespace ampc

#endif // AMPC_COMPILER_DRIVER_COMPILATION_H
