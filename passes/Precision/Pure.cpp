//===- Pure.cpp - Type every operation in the 16-bit type -----------------===//
#include "passes/Precision/Passes.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Precision/TypeModule.h"

using namespace mlir;

namespace ampc::precision {
#define GEN_PASS_DEF_PRECISIONPUREPASS
#include "passes/Precision/Passes.h.inc"

namespace {
struct PrecisionPurePass final
    : impl::PrecisionPurePassBase<PrecisionPurePass> {
  using Base::Base;
  PrecisionPurePass(PrecisionPurePassOptions options, Report *report)
      : Base(std::move(options)), report(report) {}

  void runOnOperation() override {
    RuleTexts rules{llvm::to_vector(layerPrecisions),
                    llvm::to_vector(opPrecisions)};
    RuleTexts base{llvm::to_vector(baseLayerPrecisions),
                   llvm::to_vector(baseOpPrecisions)};
    auto overrides = Overrides::resolve(getOperation(), {rules, base});
    if (failed(overrides)) {
      return signalPassFailure();
    }
    Policy policy{toFloatType(&getContext(), type),
                  /*pure=*/true,
                  NormOutput::Follow,
                  ConstantPolicy::Saturate,
                  DefaultTypes::Autocast,
                  std::move(*overrides),
                  /*calibrated=*/{}};
    policy.calibrated.insert_range(calibrated);
    if (failed(typeModule(getOperation(), policy, report, reportFile,
                          getArgument()))) {
      signalPassFailure();
    }
  }

  Report *report = nullptr;
};
} // namespace

std::unique_ptr<Pass> createPrecisionPurePass(PrecisionPurePassOptions options,
                                              Report *report) {
  return std::make_unique<PrecisionPurePass>(std::move(options), report);
}
} // namespace ampc::precision
