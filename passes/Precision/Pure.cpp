//===- Pure.cpp - Type every operation in the 16-bit type -----------------===//
#include "passes/Precision/Passes.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "passes/Precision/TypeModule.h"

using namespace mlir;

namespace ampc::precision {
#define GEN_PASS_DEF_PUREPASS
#include "passes/Precision/Passes.h.inc"

namespace {
struct PurePass final : impl::PurePassBase<PurePass> {
  using Base::Base;
  PurePass(PurePassOptions options, Report *report)
      : Base(std::move(options)), report(report) {}

  void runOnOperation() override {
    auto overrides =
        Overrides::parse(getOperation(), llvm::to_vector(layerPrecisions),
                         llvm::to_vector(opPrecisions));
    if (failed(overrides)) {
      return signalPassFailure();
    }
    Policy policy{toFloatType(&getContext(), type), /*pure=*/true,
                  NormOutput::Follow, ConstantPolicy::Saturate,
                  std::move(*overrides)};
    if (failed(typeModule(getOperation(), policy, report, reportFile,
                          getArgument()))) {
      signalPassFailure();
    }
  }

  Report *report = nullptr;
};
} // namespace

std::unique_ptr<Pass> createPurePass(PurePassOptions options, Report *report) {
  return std::make_unique<PurePass>(std::move(options), report);
}
} // namespace ampc::precision
