//===- CompilationPolicy.cpp - What the phases are asked to do ------------===//
#include "compiler/Driver/Compilation.h"

#include "passes/Precision/Report.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir;

namespace ampc::driver {

AmpPolicy chooseAutoPolicy(const Target &target, MLIRContext &context) {
  return target.getTargetAttr(&context).getNative_16bit() ? AmpPolicy::Bf16
                                                          : AmpPolicy::Off;
}

AmpPolicy Compilation::getAmpPolicy() {
  if (options.amp == "auto") {
    return chooseAutoPolicy(*target, context);
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
                     ? "auto: " + describeAutoPolicy(*target, context)
                     : "as asked for";
  facts.defaults = options.policyDefault;
  facts.file = options.precisionPolicy;
  facts.constants = options.constants;
  facts.normOutput = options.normOutput;
  bool isTf32 =
      options.fp32Contractions == "tf32" || getAmpPolicy() == AmpPolicy::Tf32;
  facts.contractions = isTf32 ? "tf32" : "ieee";
  if (isTf32) {
    facts.contractionsNote =
        ("computed in fp32: the " + target->getName() + " target has no TF32")
            .str();
  }
  facts.strictRounding = options.strictRounding;
  return facts;
}

std::string describeAutoPolicy(const Target &target, MLIRContext &context) {
  return target.getTargetAttr(&context).getNative_16bit()
             ? "bf16 arithmetic is faster than fp32 here"
             : "kernels for the CPU compute in fp32";
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
  phases.exposedResults = exposedResults;
  phases.exposedRounding = exposedRounding;
  return phases;
}

} // namespace ampc::driver
