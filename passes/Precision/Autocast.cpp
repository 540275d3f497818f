//===- Autocast.cpp - Type every operation by autocast's rules ------------===//
#include "passes/Precision/Passes.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Precision/TypeModule.h"

using namespace mlir;

namespace ampc::precision {
#define GEN_PASS_DEF_PRECISIONAUTOCASTPASS
#include "passes/Precision/Passes.h.inc"

namespace {
struct PrecisionAutocastPass final
    : impl::PrecisionAutocastPassBase<PrecisionAutocastPass> {
  using Base::Base;
  PrecisionAutocastPass(PrecisionAutocastPassOptions options, Report *report)
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
                  /*pure=*/false,
                  normOutput,
                  constants,
                  defaults,
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

std::unique_ptr<Pass>
createPrecisionAutocastPass(PrecisionAutocastPassOptions options,
                            Report *report) {
  return std::make_unique<PrecisionAutocastPass>(std::move(options), report);
}
} // namespace ampc::precision
