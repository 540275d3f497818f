//===- ExposeParameters.cpp - Trained initializers as arguments -----------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/Passes.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace ampc::training {
#define GEN_PASS_DEF_TRAININGEXPOSEPARAMETERSPASS
#include "passes/Training/Passes.h.inc"

namespace {

/// Whether all uses are running statistics of batch norms.
bool isStatistic(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUses(), [](OpOperand &use) {
           auto norm = dyn_cast<amp::BatchNormOp>(use.getOwner());
           return norm &&
                  (use.get() == norm.getMean() ||
                   use.get() == norm.getVariance()) &&
                  use.get() != norm.getScale() && use.get() != norm.getBias() &&
                  use.get() != norm.getInput();
         });
}

struct TrainingExposeParametersPass final
    : impl::TrainingExposeParametersPassBase<TrainingExposeParametersPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isDeclaration()) {
      module.emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    SmallVector<llvm::GlobPattern> frozenGlobs, trainedGlobs;
    if (failed(compile(frozen, frozenGlobs)) ||
        failed(compile(trained, trainedGlobs))) {
      return signalPassFailure();
    }
    SmallVector<amp::ConstantOp> initializers(
        main.getBody().front().getOps<amp::ConstantOp>());
    for (amp::ConstantOp constant : initializers) {
      auto name = constant->getAttrOfType<StringAttr>(initializerName);
      auto type = cast<RankedTensorType>(constant.getType());
      if (!name || !isa<FloatType>(type.getElementType())) {
        continue;
      }
      bool isTrained =
          trainedGlobs.empty() || matches(trainedGlobs, name.getValue());
      isTrained = isTrained && !matches(frozenGlobs, name.getValue());
      bool isStatisticState = isStatistic(constant.getResult());
      if (!isTrained && !isStatisticState) {
        continue;
      }
      if (failed(
              expose(main, constant, name, isTrained && !isStatisticState))) {
        return signalPassFailure();
      }
    }
  }

private:
  LogicalResult compile(ArrayRef<std::string> texts,
                        SmallVectorImpl<llvm::GlobPattern> &globs) {
    for (const std::string &text : texts) {
      auto glob = llvm::GlobPattern::create(text);
      if (!glob) {
        return getOperation().emitError("'")
               << text << "': " << llvm::toString(glob.takeError());
      }
      globs.push_back(std::move(*glob));
    }
    return success();
  }

  static bool matches(ArrayRef<llvm::GlobPattern> globs, StringRef name) {
    return llvm::any_of(
        globs, [&](const llvm::GlobPattern &glob) { return glob.match(name); });
  }

  LogicalResult expose(func::FuncOp main, amp::ConstantOp constant,
                       StringAttr name, bool isTrained) {
    OpBuilder b(main);
    if (getOperation().lookupSymbol(name)) {
      return constant.emitError("the name '")
             << name.getValue() << "' is taken";
    }
    auto state = train::StateOp::create(
        b, constant.getLoc(), name, TypeAttr::get(constant.getType()),
        FlatSymbolRefAttr(), IntegerAttr(), constant.getValue(),
        train::RoleAttr::get(&getContext(), isTrained
                                                ? train::Role::Parameter
                                                : train::Role::Statistic));
    NamedAttrList attrs;
    attrs.set("amp.name", name);
    attrs.set(train::stateName, FlatSymbolRefAttr::get(state.getSymNameAttr()));
    if (isTrained) {
      attrs.set(trainableName, b.getUnitAttr());
    }
    unsigned at = main.getNumArguments();
    if (failed(main.insertArgument(at, constant.getType(),
                                   attrs.getDictionary(&getContext()),
                                   constant.getLoc()))) {
      return failure();
    }
    constant.getResult().replaceAllUsesWith(main.getArgument(at));
    constant.erase();
    return success();
  }
};

} // namespace
} // namespace ampc::training
