//===- CompilationPolicy.cpp - What the phases are asked to do ------------===//
#include "compiler/Driver/Compilation.h"

#include "passes/Precision/Report.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir;

namespace ampc::driver {

/// fp16 has three more bits than bf16, and inference rarely needs the range;
/// gradients do, and in bf16 train without a scale.
AmpPolicy chooseAutoPolicy(const Target &target, bool isTraining) {
  Target::FastTypes fast = target.getFastTypes();
  if (isTraining && fast.bf16) {
    return AmpPolicy::Bf16;
  }
  return fast.fp16   ? AmpPolicy::Fp16
         : fast.bf16 ? AmpPolicy::Bf16
                     : AmpPolicy::Off;
}

AmpPolicy Compilation::getAmpPolicy() {
  if (options.amp == "auto") {
    return chooseAutoPolicy(*target, options.train);
  }
  return llvm::StringSwitch<AmpPolicy>(options.amp)
      .Case("tf32", AmpPolicy::Tf32)
      .Case("fp16", AmpPolicy::Fp16)
      .Case("bf16", AmpPolicy::Bf16)
      .Case("pure-fp16", AmpPolicy::PureFp16)
      .Case("pure-bf16", AmpPolicy::PureBf16)
      .Default(AmpPolicy::Off);
}

precision::PolicyFacts Compilation::getPolicyFacts() {
  precision::PolicyFacts facts;
  facts.requested = options.amp;
  facts.amp = stringifyAmpPolicy(getAmpPolicy());
  facts.reason = options.amp == "auto"
                     ? "auto: " + describeAutoPolicy(*target, options.train)
                     : "as asked for";
  facts.defaults = options.policyDefault;
  facts.file = options.precisionPolicy;
  facts.constants = options.constants;
  facts.normOutput = options.normOutput;
  bool isTf32 =
      options.fp32Contractions == "tf32" || getAmpPolicy() == AmpPolicy::Tf32;
  facts.contractions = isTf32 ? "tf32" : "ieee";
  if (isTf32 && !target->getFastTypes().tf32) {
    facts.contractionsNote =
        ("computed in fp32: the " + target->getName() + " target has no TF32")
            .str();
  }
  facts.strictRounding = options.strictRounding;
  return facts;
}

std::string describeAutoPolicy(const Target &target, bool isTraining) {
  AmpPolicy policy = chooseAutoPolicy(target, isTraining);
  return policy == AmpPolicy::Off
             ? "kernels for the CPU compute in fp32"
             : (stringifyAmpPolicy(policy) +
                " products are several times faster than fp32 here")
                   .str();
}

PhaseOptions Compilation::getPhaseOptions() {
  PhaseOptions phases;
  phases.amp = getAmpPolicy();
  phases.layerPrecisions.assign(options.layerPrecisions.begin(),
                                options.layerPrecisions.end());
  phases.opPrecisions.assign(options.opPrecisions.begin(),
                             options.opPrecisions.end());
  phases.baseLayerPrecisions.assign(options.policyLayers.begin(),
                                    options.policyLayers.end());
  phases.baseOpPrecisions.assign(options.policyOps.begin(),
                                 options.policyOps.end());
  phases.calibrated.assign(options.calibratedPaths.begin(),
                           options.calibratedPaths.end());
  phases.defaultFp32 = options.policyDefault == "fp32";
  phases.saturateConstants = options.constants == "saturate";
  phases.tf32Contractions = options.fp32Contractions == "tf32";
  phases.normOutputFp32 = options.normOutput == "fp32";
  phases.strictRounding = options.strictRounding;
  phases.forOriginalGraph = options.emit == EmitKind::Onnx;
  if ((wantsReport || !options.precisionReport.empty() ||
       options.command == Command::Explain || phases.forOriginalGraph) &&
      !report) {
    report = std::make_unique<precision::Report>();
    report->policy = getPolicyFacts();
  }
  phases.report = report.get();
  phases.isTraining = options.train;
  phases.training = training;
  phases.exposedResults = exposedResults;
  phases.exposedRounding = exposedRounding;
  return phases;
}

} // namespace ampc::driver
