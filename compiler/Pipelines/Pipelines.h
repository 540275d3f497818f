//===- Pipelines.h - The passes of each phase -----------------------------===//
#ifndef AMPC_COMPILER_PIPELINES_PIPELINES_H
#define AMPC_COMPILER_PIPELINES_PIPELINES_H

#include "compiler/Pipelines/Phases.h"
#include "compiler/Pipelines/TrainingOptions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace ampc {

namespace precision {
class Report;
} // namespace precision

/// Which types the precision phase may choose.
enum class AmpPolicy { Off, Tf32, Fp16, Bf16, PureFp16, PureBf16 };

/// Spelling of a policy on the command line.
llvm::StringRef stringifyAmpPolicy(AmpPolicy policy);

/// What the command line says about the phases.
struct PhaseOptions {
  AmpPolicy amp = AmpPolicy::Off;
  llvm::SmallVector<std::string> layerPrecisions; ///< PATTERN:TYPE
  llvm::SmallVector<std::string> opPrecisions;    ///< OP:TYPE
  /// The same for operations that no rule of these matches.
  llvm::SmallVector<std::string> baseLayerPrecisions, baseOpPrecisions;
  /// Operations that no rule matches run in f32.
  bool defaultFp32 = false;
  llvm::SmallVector<std::string> calibrated; ///< graph paths
  bool normOutputFp32 = false;
  /// A constant beyond the 16-bit range saturates; else its operation runs in
  /// f32.
  bool saturateConstants = false;
  /// Contractions of f32 may use TF32, as they do with AmpPolicy::Tf32.
  bool tf32Contractions = false;
  bool strictRounding = false;
  /// The decisions are written back into the original graph, so operations
  /// that this graph cannot spell are not raised.
  bool forOriginalGraph = false;
  precision::Report *report = nullptr; ///< filled when not null
  /// Positions of intermediate values that the program returns beside its
  /// results; see graph-expose-results.
  llvm::SmallVector<int64_t> exposedResults;
  std::string exposedRounding; ///< f16, bf16 or nothing
  /// Batch norms keep their form until they are differentiated.
  bool isTraining = false;
  TrainingOptions training;
};

/// The phases between import and code emission of a program for inference, or
/// of one that trains, in order.
llvm::ArrayRef<Phase> getPhases(bool isTraining);

/// Adds the passes of one of these phases.
void buildPhase(Phase phase, mlir::OpPassManager &passes,
                const PhaseOptions &options);

/// Adds what a model to be trained goes through before the graph phase: its
/// parameters become state, and its loss a result.
void buildTrainingParameters(mlir::OpPassManager &passes,
                             const TrainingOptions &options);
void buildTrainingLoss(mlir::OpPassManager &passes,
                       const TrainingOptions &options);

/// Registers `ampc-<phase>-pipeline` for each of them, for ampc-opt.
void registerPipelines();

} // namespace ampc

#endif // AMPC_COMPILER_PIPELINES_PIPELINES_H
