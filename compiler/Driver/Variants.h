//===- Variants.h - One model compiled in several precisions ----*- C++ -*-===//
#ifndef AMPC_COMPILER_DRIVER_VARIANTS_H
#define AMPC_COMPILER_DRIVER_VARIANTS_H

#include "compiler/Driver/Compilation.h"
#include "compiler/Driver/ProgramRun.h"

namespace ampc::driver {

/// What one program of a model has of its own.
struct Variant {
  /// Types as the model has them, whatever the command line says.
  bool isReference = false;
  /// PATTERN:TYPE, besides the rules of the command line.
  std::vector<std::string> layerPrecisions;
  /// Intermediate values that it returns too, by position; each with what its
  /// op makes of rounded operands if there is a type (f16, bf16) to round to.
  llvm::SmallVector<int64_t> exposedResults;
  std::string exposedRounding;
  /// Round every op to its type, whatever the command line says.
  bool strictRounding = false;
};

/// Compiles programs of one model. The model is imported, and taken through the
/// graph phase, once.
class Variants {
public:
  Variants(const Options &options, DiagnosticSink &sink);

  llvm::LogicalResult open();
  /// Gives the compilation the options of a variant.
  void select(const Variant &variant);
  /// Brings the module of a variant to the end of the precision phase, which
  /// leaves its decisions in the report, except for the reference.
  llvm::LogicalResult type(const Variant &variant);
  /// Goes on to a program; null after reporting.
  std::unique_ptr<ProgramRun> load();
  /// Both.
  std::unique_ptr<ProgramRun> build(const Variant &variant);
  /// The program with the types of the model.
  std::unique_ptr<ProgramRun> buildReference();

  const Options &getOptions() const { return original; }
  DiagnosticSink &getSink() { return compilation.getSink(); }
  /// What the compilation is like after `open`, and after the last `type` or
  /// `build`.
  Compilation &getCompilation() { return compilation; }
  /// The graph that all variants start from, untyped.
  mlir::ModuleOp getGraph() { return compilation.getCheckpoint(); }
  /// What the command line asks for, resolved for the target.
  AmpPolicy getPolicy() const { return policy; }
  /// An error unless that is mixed precision.
  llvm::LogicalResult checkIsMixed();

private:
  const Options &original;
  Options current;
  Compilation compilation;
  AmpPolicy policy = AmpPolicy::Off;
};

/// How far an output of one program is from that of another.
struct OutputDivergence {
  std::string name;
  bool isFloat = true;
  tune::Divergence divergence;
  uint64_t elements = 0, changed = 0; ///< of an output that is no float

  /// The metric's number; of integers, the share that changed.
  double getError(tune::Metric metric) const {
    return isFloat    ? divergence.getError(metric)
           : elements ? static_cast<double>(changed) / elements
                      : 0;
  }
};

/// Runs both programs, of equal outputs, on `set` and adds what they return
/// from output `first` on to `outputs`, which is empty or made by the same
/// call.
llvm::LogicalResult compareRuns(ProgramRun &got, ProgramRun &expected,
                                const DataSet &set, uint32_t first,
                                std::vector<OutputDivergence> &outputs);

/// The largest error of an output on one of the sets; infinite if a value is
/// finite in one program only.
llvm::LogicalResult measureError(ProgramRun &got, ProgramRun &expected,
                                 llvm::ArrayRef<DataSet> sets,
                                 tune::Metric metric, double &error);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_VARIANTS_H
