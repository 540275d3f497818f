//===- SetContractions.cpp - IEEE or TF32 for contractions left in f32 ----===//
#include "passes/Precision/Passes.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace ampc::precision {
#define GEN_PASS_DEF_PRECISIONSETCONTRACTIONSPASS
#include "passes/Precision/Passes.h.inc"

namespace {
struct PrecisionSetContractionsPass final
    : impl::PrecisionSetContractionsPassBase<PrecisionSetContractionsPass> {
  using Base::Base;

  void runOnOperation() override {
    StringRef word = mode == ContractionMode::Tf32 ? "tf32" : "ieee";
    getOperation()->setAttr("amp.fp32_contractions",
                            StringAttr::get(&getContext(), word));
  }
};
} // namespace
} // namespace ampc::precision
