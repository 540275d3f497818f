//===- Options.h - The command line as values -----------------------------===//
#ifndef AMPC_COMPILER_DRIVER_OPTIONS_H
#define AMPC_COMPILER_DRIVER_OPTIONS_H

#include "compiler/Pipelines/Phases.h"
#include "compiler/Pipelines/TrainingOptions.h"
#include "compiler/Targets/ContractionRule.h"
#include "compiler/Tune/Divergence.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ampc::driver {

class DiagnosticSink;

enum class Command {
  Compile, ///< the default
  Run,
  Verify,
  Bench,
  Explain,
  Inspect,
  Ops,
  Devices,
  Compare,
  Tune
};

/// What `ampc MODEL -o OUT` writes.
enum class EmitKind {
  Exe,
  Lib,
  Obj,
  Kernels, ///< a folder of GPU kernels for other programs
  Onnx,
  Mlir,
  Llvm,
  Asm,
  Ptx,
  Cubin
};

/// Whether it is text that may go to standard output.
inline bool isTextKind(EmitKind kind) {
  return kind == EmitKind::Mlir || kind == EmitKind::Llvm ||
         kind == EmitKind::Asm || kind == EmitKind::Ptx;
}

enum class DiagnosticForm { Text, Json };

/// Bounds of a comparison of outputs.
struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
  /// Bound of a float output as a whole (--max-error); replaces rtol and atol
  /// there.
  std::optional<tune::ErrorBound> bound;
};

/// A graph input that becomes a constant; without a file its value comes from
/// the data set of `verify`.
struct InputBinding {
  std::string name;
  std::string file;
};

/// Everything a command line says. Values are checked for form, not yet
/// against the model.
struct Options {
  Command command = Command::Compile;
  std::string model; ///< MODEL or FILE; empty where the command needs none
  /// Second positional argument of `explain` and `compare`.
  std::string node;

  // Output.
  std::string output;
  EmitKind emit = EmitKind::Exe;
  std::optional<Phase> compileTo;
  std::optional<Phase> compileFrom; ///< of a model given as MLIR
  std::string dumpPhasesTo;
  std::string saveTemps;
  uint64_t elideAbove = 64 << 10;

  // Target.
  std::string target = "cpu";
  std::string march = "native";
  bool simulate = false;              ///< GPU kernels run in the simulator
  std::vector<std::string> cudaArchs; ///< as written
  /// Where compiled GPU kernels are kept; empty: nowhere.
  std::vector<ContractionRule> contractionRules; ///< of the tuning file
  std::string cacheFolder;
  uint64_t cacheLimit = 1ull << 30;
  unsigned optLevel = 3;
  unsigned jobs = 0; ///< 0: one per available core

  // Precision.
  std::string amp = "auto";
  /// PATTERN:TYPE and OP:TYPE.
  std::vector<std::string> layerPrecisions, opPrecisions;
  /// The policy file and what it says: rules, which yield to those above, the
  /// type of what no rule matches (empty: as `amp` says), and its certificate
  /// as JSON text.
  std::string precisionPolicy;
  std::vector<std::string> policyLayers, policyOps;
  std::string policyDefault;
  std::string precisionCertificate;
  /// Whether --data decides what stays in fp32, and what it decided: places in
  /// the graph.
  bool calibrate = false;
  std::vector<std::string> calibratedPaths;
  bool keepsIoTypes = true; ///< of a model that is written
  bool strictRounding = false;
  std::string normOutput = "follow";
  std::string constants = "fp32";
  std::string fp32Contractions = "ieee";
  std::string precisionReport;

  // Training.
  bool train = false;
  bool hasLoss = false; ///< else the model says how it is trained
  TrainingOptions training;
  std::string optimizer; ///< as written
  /// Steps after which `bench` compares losses, if they are given.
  std::optional<unsigned> benchSteps;

  // Model.
  std::vector<std::pair<std::string, llvm::SmallVector<int64_t>>> shapes;
  std::vector<std::pair<std::string, int64_t>> dimParams;
  std::vector<InputBinding> bindings;
  std::optional<uint64_t> maxNodes;

  // Memory and weights.
  std::optional<uint64_t> memoryLimit;
  std::optional<uint64_t> weightLimit;
  std::string memoryReport;
  std::string externalWeights = "auto";

  // Running.
  std::string data;
  std::string suite;
  unsigned suiteTimeout = 20;
  Tolerance tolerance;
  unsigned threads = 0;
  /// Data sets that `tune` only checks its result on.
  std::string heldOut;
  unsigned tuneTrials = 64;
  /// Of made-up inputs.
  unsigned seed = 0;
  /// Most bytes of intermediate values that one run returns.
  uint64_t traceMemory = 256ull << 20;
  bool worstFirst = false;
  /// Options that the compiled program parses itself.
  std::vector<std::string> programArgs;

  // Reports and diagnostics.
  bool unsupportedOnly = false;
  bool json = false;
  bool inspectKernels = false;
  std::string gpu; ///< of `inspect --kernels`; empty: one of each image
  DiagnosticForm diagnostics = DiagnosticForm::Text;
  std::string remarks; ///< pattern of remark categories; empty: none
  bool timeReport = false;
  bool mlirTiming = false;
  bool verifyEach = false;
  bool printIr = false;
  bool quiet = false;
  bool verbose = false;

  // Commands that end at once.
  bool help = false;
  bool helpAll = false;
  bool version = false;
  std::string generate;
};

/// The spelling of a command; "ampc" alone compiles.
llvm::StringRef getCommandName(Command command);

/// Parses the arguments after the program's name. Every mistake is reported to
/// `sink` as a usage error; the returned options are usable only without one.
Options parseOptions(llvm::ArrayRef<const char *> args, DiagnosticSink &sink);

/// Looks only for `--diagnostics=json`, so that mistakes in the command line
/// itself are reported in the form asked for.
DiagnosticForm findDiagnosticForm(llvm::ArrayRef<const char *> args);

/// Help of --help (`all` false) or --help-all.
void printHelp(llvm::raw_ostream &os, Command command, bool all);
void printVersion(llvm::raw_ostream &os);

/// A count of bytes: digits with an optional K, M, G, KiB, MiB or GiB.
std::optional<uint64_t> parseSize(llvm::StringRef text);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_OPTIONS_H
