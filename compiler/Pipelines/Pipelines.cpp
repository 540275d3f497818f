//===- Pipelines.cpp - The passes of each phase ---------------------------===//
#include "compiler/Pipelines/Pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Fusion/Passes.h"
#include "passes/Graph/Passes.h"
#include "passes/Memory/Passes.h"
#include "passes/Precision/Passes.h"
#include "passes/Training/Passes.h"

using namespace mlir;

namespace ampc {

llvm::StringRef stringifyAmpPolicy(AmpPolicy policy) {
  switch (policy) {
  case AmpPolicy::Off:
    return "off";
  case AmpPolicy::Tf32:
    return "tf32";
  case AmpPolicy::Fp16:
    return "fp16";
  case AmpPolicy::Bf16:
    return "bf16";
  case AmpPolicy::PureFp16:
    return "pure-fp16";
  case AmpPolicy::PureBf16:
    return "pure-bf16";
  }
  llvm_unreachable("not a policy");
}

llvm::ArrayRef<Phase> getPhases(bool isTraining) {
  static constexpr Phase inference[] = {Phase::Graph, Phase::Precision,
                                        Phase::Fusion, Phase::Memory};
  static constexpr Phase training[] = {Phase::Graph, Phase::Precision,
                                       Phase::Training, Phase::Fusion,
                                       Phase::Memory};
  return isTraining ? llvm::ArrayRef(training) : llvm::ArrayRef(inference);
}

static void buildPrecisionPhase(OpPassManager &passes,
                                const PhaseOptions &options) {
  using precision::LowType;
  bool isHalf =
      options.amp == AmpPolicy::Fp16 || options.amp == AmpPolicy::PureFp16;
  auto decide = [&](auto &decision) {
    decision.type = isHalf ? LowType::F16 : LowType::BF16;
    decision.layerPrecisions.assign(options.layerPrecisions.begin(),
                                    options.layerPrecisions.end());
    decision.opPrecisions.assign(options.opPrecisions.begin(),
                                 options.opPrecisions.end());
    decision.baseLayerPrecisions.assign(options.baseLayerPrecisions.begin(),
                                        options.baseLayerPrecisions.end());
    decision.baseOpPrecisions.assign(options.baseOpPrecisions.begin(),
                                     options.baseOpPrecisions.end());
    decision.calibrated.assign(options.calibrated.begin(),
                               options.calibrated.end());
  };
  bool hasRules =
      !options.layerPrecisions.empty() || !options.opPrecisions.empty() ||
      !options.baseLayerPrecisions.empty() || !options.baseOpPrecisions.empty();
  if (!options.exposedResults.empty()) {
    graph::GraphExposeResultsPassOptions expose;
    expose.positions.assign(options.exposedResults.begin(),
                            options.exposedResults.end());
    expose.rounding = options.exposedRounding;
    passes.addPass(graph::createGraphExposeResultsPass(expose));
  }
  switch (options.amp) {
  case AmpPolicy::Off:
  case AmpPolicy::Tf32:
    if (!hasRules && !options.defaultFp32 && !options.report) {
      break;
    }
    [[fallthrough]];
  case AmpPolicy::Fp16:
  case AmpPolicy::Bf16: {
    precision::PrecisionAutocastPassOptions autocast;
    decide(autocast);
    bool isOff =
        options.amp == AmpPolicy::Off || options.amp == AmpPolicy::Tf32;
    autocast.defaults = options.defaultFp32 ? precision::DefaultTypes::Fp32
                        : isOff             ? precision::DefaultTypes::Keep
                                            : precision::DefaultTypes::Autocast;
    autocast.constants = options.saturateConstants
                             ? precision::ConstantPolicy::Saturate
                             : precision::ConstantPolicy::Fp32;
    autocast.normOutput = options.normOutputFp32
                              ? precision::NormOutput::Fp32
                              : precision::NormOutput::Follow;
    passes.addPass(
        precision::createPrecisionAutocastPass(autocast, options.report));
    break;
  }
  case AmpPolicy::PureFp16:
  case AmpPolicy::PureBf16: {
    precision::PrecisionPurePassOptions pure;
    decide(pure);
    passes.addPass(precision::createPrecisionPurePass(pure, options.report));
    break;
  }
  }
  if (options.tf32Contractions || options.amp == AmpPolicy::Tf32) {
    precision::PrecisionSetContractionsPassOptions contractions;
    contractions.mode = precision::ContractionMode::Tf32;
    passes.addPass(precision::createPrecisionSetContractionsPass(contractions));
  }
  passes.addPass(precision::createPrecisionInlineCompositesPass());
  passes.addPass(precision::createPrecisionCleanCastsPass());
  // The ops of an expanded normalization have classes of their own. In training
  // it needs the statistics of the batch first.
  if (!options.isTraining) {
    passes.addNestedPass<func::FuncOp>(graph::createGraphExpandBatchNormPass());
  }
}

/// A program that rounds as it is written, and the original graph with casts,
/// have no operation for attention.
static void buildGraphPhase(OpPassManager &passes,
                            const PhaseOptions &options) {
  graph::GraphOptions graphOptions;
  graphOptions.raiseAttention =
      !options.strictRounding && !options.forOriginalGraph;
  graphOptions.assignLayout = !options.forOriginalGraph;
  graph::buildGraphPipeline(passes, graphOptions);
}

static void buildTrainingPhase(OpPassManager &passes,
                               const PhaseOptions &options) {
  passes.addPass(training::createTrainingSplitEntriesPass());
  passes.addNestedPass<func::FuncOp>(
      training::createTrainingBatchStatisticsPass());
  passes.addNestedPass<func::FuncOp>(graph::createGraphExpandBatchNormPass());
  training::TrainingDifferentiatePassOptions differentiate;
  differentiate.gradientType = options.training.gradientType;
  passes.addNestedPass<func::FuncOp>(
      training::createTrainingDifferentiatePass(differentiate));
  training::TrainingBuildStepPassOptions step;
  step.optimizer = options.training.optimizer;
  step.firstCount = options.training.firstCount;
  passes.addPass(training::createTrainingBuildStepPass(step));
  passes.addPass(training::createTrainingExpandDropoutPass());
  passes.addNestedPass<func::FuncOp>(
      training::createTrainingExpandUpdatesPass());
  passes.addPass(createCSEPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(training::createTrainingKeepCopiesPass());
  // Last: the elimination of common subexpressions would undo these.
  if (options.training.recompute != training::RecomputeMode::None) {
    training::TrainingRecomputeBlocksPassOptions blocks;
    blocks.mode = options.training.recompute;
    passes.addNestedPass<func::FuncOp>(
        training::createTrainingRecomputeBlocksPass(blocks));
  }
  passes.addNestedPass<func::FuncOp>(
      training::createTrainingRecomputeActivationsPass());
}

/// Before any pass looks into constants.
void buildTrainingParameters(OpPassManager &passes,
                             const TrainingOptions &options) {
  training::TrainingExposeParametersPassOptions expose;
  expose.frozen.assign(options.frozen.begin(), options.frozen.end());
  expose.trained.assign(options.trained.begin(), options.trained.end());
  passes.addPass(training::createTrainingExposeParametersPass(expose));
}

void buildTrainingLoss(OpPassManager &passes, const TrainingOptions &options) {
  training::TrainingAttachLossPassOptions loss;
  loss.loss = options.loss;
  loss.input = options.lossInput;
  loss.output = options.lossOutput;
  loss.label = options.label;
  loss.probabilities = options.probabilities;
  loss.smoothing = options.smoothing;
  loss.ignoreIndex = options.ignoreIndex;
  loss.classWeights.assign(options.classWeights.begin(),
                           options.classWeights.end());
  passes.addPass(training::createTrainingAttachLossPass(loss));
}

void buildPhase(Phase phase, OpPassManager &passes,
                const PhaseOptions &options) {
  switch (phase) {
  case Phase::Graph:
    buildGraphPhase(passes, options);
    return;
  case Phase::Precision:
    buildPrecisionPhase(passes, options);
    return;
  case Phase::Fusion: {
    fusion::FusionOptions fusionOptions;
    fusionOptions.strictRounding = options.strictRounding;
    fusion::buildFusionPipeline(passes, fusionOptions);
    return;
  }
  case Phase::Memory:
    passes.addPass(memory::createMemoryBuildProgramPass());
    return;
  case Phase::Training:
    buildTrainingPhase(passes, options);
    return;
  case Phase::Import:
  case Phase::Codegen:
    llvm_unreachable("a phase without passes");
  }
}

namespace {

/// The options of PhaseOptions in the syntax of ampc-opt.
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<AmpPolicy> amp{
      *this, "amp", llvm::cl::desc("Mixed precision."),
      llvm::cl::init(AmpPolicy::Off),
      llvm::cl::values(
          clEnumValN(AmpPolicy::Off, "off", "types as imported"),
          clEnumValN(AmpPolicy::Tf32, "tf32", "TF32 in contractions of f32"),
          clEnumValN(AmpPolicy::Fp16, "fp16", "autocast to f16"),
          clEnumValN(AmpPolicy::Bf16, "bf16", "autocast to bf16"),
          clEnumValN(AmpPolicy::PureFp16, "pure-fp16", "all f16"),
          clEnumValN(AmpPolicy::PureBf16, "pure-bf16", "all bf16"))};
  ListOption<std::string> layerPrecisions{
      *this, "layer-precisions",
      llvm::cl::desc("Types by node, PATTERN:TYPE.")};
  ListOption<std::string> opPrecisions{
      *this, "op-precisions", llvm::cl::desc("Types by operator, OP:TYPE.")};
  ListOption<std::string> baseLayerPrecisions{
      *this, "base-layer-precisions",
      llvm::cl::desc("The same, where no rule of these lists matches.")};
  ListOption<std::string> baseOpPrecisions{
      *this, "base-op-precisions",
      llvm::cl::desc("The same, where no rule of these lists matches.")};
  Option<bool> defaultFp32{
      *this, "default-fp32",
      llvm::cl::desc("Operations that no rule matches run in f32."),
      llvm::cl::init(false)};
  Option<bool> saturateConstants{
      *this, "saturate-constants",
      llvm::cl::desc("Constants beyond the 16-bit range saturate."),
      llvm::cl::init(false)};
  Option<bool> tf32Contractions{
      *this, "tf32-contractions",
      llvm::cl::desc("Contractions of f32 may use TF32."),
      llvm::cl::init(false)};
  Option<bool> normOutputFp32{*this, "norm-output-fp32",
                              llvm::cl::desc("Norms return f32."),
                              llvm::cl::init(false)};
  Option<bool> strictRounding{*this, "strict-rounding",
                              llvm::cl::desc("Round after every operator."),
                              llvm::cl::init(false)};
  Option<bool> isTraining{*this, "training",
                          llvm::cl::desc("The program will be trained."),
                          llvm::cl::init(false)};
  Option<training::Optimizer> optimizer{
      *this, "optimizer", llvm::cl::desc("How parameters move."),
      llvm::cl::init(training::Optimizer::Sgd),
      llvm::cl::values(
          clEnumValN(training::Optimizer::Sgd, "sgd", "gradient descent"),
          clEnumValN(training::Optimizer::Momentum, "momentum",
                     "with momentum"),
          clEnumValN(training::Optimizer::Nesterov, "nesterov",
                     "with Nesterov's momentum"),
          clEnumValN(training::Optimizer::Adam, "adam", "Adam"),
          clEnumValN(training::Optimizer::AdamW, "adamw",
                     "Adam with decoupled decay"),
          clEnumValN(training::Optimizer::AdamEpsilonHat, "adam-epsilon-hat",
                     "Adam as ONNX has it"),
          clEnumValN(training::Optimizer::Adagrad, "adagrad", "Adagrad"))};

  PhaseOptions get() const {
    PhaseOptions options;
    options.amp = amp;
    options.layerPrecisions.assign(layerPrecisions.begin(),
                                   layerPrecisions.end());
    options.opPrecisions.assign(opPrecisions.begin(), opPrecisions.end());
    options.baseLayerPrecisions.assign(baseLayerPrecisions.begin(),
                                       baseLayerPrecisions.end());
    options.baseOpPrecisions.assign(baseOpPrecisions.begin(),
                                    baseOpPrecisions.end());
    options.defaultFp32 = defaultFp32;
    options.saturateConstants = saturateConstants;
    options.tf32Contractions = tf32Contractions;
    options.normOutputFp32 = normOutputFp32;
    options.strictRounding = strictRounding;
    options.isTraining = isTraining;
    options.training.optimizer = optimizer;
    return options;
  }
};

} // namespace

void registerPipelines() {
  for (Phase phase : {Phase::Graph, Phase::Precision, Phase::Training,
                      Phase::Fusion, Phase::Memory}) {
    std::string name = ("ampc-" + stringifyPhase(phase) + "-pipeline").str();
    std::string text = ("The " + stringifyPhase(phase) + " phase.").str();
    PassPipelineRegistration<PipelineOptions> registered(
        name, text,
        [phase](OpPassManager &passes, const PipelineOptions &options) {
          buildPhase(phase, passes, options.get());
        });
  }
  PassPipelineRegistration<> entry(
      "ampc-training-entry-pipeline",
      "What a model to be trained goes through before the graph phase.",
      [](OpPassManager &passes) {
        buildTrainingParameters(passes, TrainingOptions());
        buildTrainingLoss(passes, TrainingOptions());
      });
}

} // namespace ampc
