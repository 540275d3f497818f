//===- ExposeParameters.cpp - Trained initializers as arguments -----------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Amp/Reference/Convert.h"
#include "dialects/Train/IR/TrainDialect.h"
#include "passes/Training/Passes.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
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

/// Whether all uses are weights of classes, the third operand of a loss.
bool isClassWeight(Value value) {
  return !value.use_empty() &&
         llvm::all_of(value.getUses(), [](OpOperand &use) {
           return isa<amp::CompositeOp>(use.getOwner()) &&
                  use.getOwner()->hasAttr(reductionName) &&
                  use.getOperandNumber() == 2;
         });
}

/// A pattern of the command line.
struct Glob {
  StringRef text;
  llvm::GlobPattern pattern;
  bool isUsed = false; ///< it matched something
};

/// Whether one of them matches, all that do so noted.
bool matches(MutableArrayRef<Glob> globs, StringRef name) {
  bool found = false;
  for (Glob &glob : globs) {
    if (glob.pattern.match(name)) {
      glob.isUsed = found = true;
    }
  }
  return found;
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
    SmallVector<Glob> frozenGlobs, trainedGlobs;
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
      // Both lists are asked, so that each pattern is known to match.
      bool isFrozen = matches(frozenGlobs, name.getValue());
      bool isNamed = matches(trainedGlobs, name.getValue());
      bool isStatisticState = isStatistic(constant.getResult());
      bool isTrained = !isStatisticState && (trainedGlobs.empty() || isNamed) &&
                       !isClassWeight(constant.getResult());
      if (isFrozen || (!isTrained && !isStatisticState)) {
        continue;
      }
      if (failed(expose(main, constant, name, isTrained))) {
        return signalPassFailure();
      }
    }
    for (const auto &globs : {frozenGlobs, trainedGlobs}) {
      for (const Glob &glob : globs) {
        if (!glob.isUsed) {
          module.emitWarning("'")
              << glob.text << "' matches no initializer of floats";
        }
      }
    }
  }

private:
  LogicalResult compile(ArrayRef<std::string> texts,
                        SmallVectorImpl<Glob> &globs) {
    for (const std::string &text : texts) {
      auto glob = llvm::GlobPattern::create(text);
      if (!glob) {
        return getOperation().emitError("'")
               << text << "': " << llvm::toString(glob.takeError());
      }
      globs.push_back({text, std::move(*glob)});
    }
    return success();
  }

  /// The value in f32, in which states of floats are kept.
  static FailureOr<ElementsAttr> widen(amp::ConstantOp constant,
                                       RankedTensorType type) {
    if (constant.getType() == type) {
      return constant.getValue();
    }
    auto tensor = ref::Tensor::fromAttribute(constant.getValue());
    auto wide =
        tensor ? ref::convert(*tensor, type.getElementType()) : std::nullopt;
    if (!wide) {
      return failure();
    }
    // As the importer does: long ones are no attributes of the text.
    constexpr int64_t maxInlineElements = 1024;
    if (wide->isSplat() || wide->size() <= maxInlineElements) {
      return wide->toAttribute();
    }
    return ElementsAttr(DenseResourceElementsAttr::get(
        type, "parameter",
        HeapAsmResourceBlob::allocateAndCopyWithAlign(
            wide->getBytes(), alignof(float), /*dataIsMutable=*/false)));
  }

  LogicalResult expose(func::FuncOp main, amp::ConstantOp constant,
                       StringAttr name, bool isTrained) {
    OpBuilder b(main);
    if (getOperation().lookupSymbol(name)) {
      return constant.emitError("the name '")
             << name.getValue() << "' is taken";
    }
    auto own = cast<RankedTensorType>(constant.getType());
    if (own.getElementType().isF64()) {
      return constant.emitError("unsupported parameter of f64; parameters are "
                                "kept in f32");
    }
    RankedTensorType type = own.clone(b.getF32Type());
    if (isTrained && type.getRank() == 0) {
      constant.emitWarning("a number, '")
          << name.getValue() << "', is trained; it stays as it is if frozen";
    }
    FailureOr<ElementsAttr> initial = widen(constant, type);
    if (failed(initial)) {
      return constant.emitError("cannot read the value of '")
             << name.getValue() << "'";
    }
    auto state = train::StateOp::create(
        b, constant.getLoc(), name, TypeAttr::get(type), FlatSymbolRefAttr(),
        IntegerAttr(), *initial,
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
    if (failed(main.insertArgument(at, type, attrs.getDictionary(&getContext()),
                                   constant.getLoc()))) {
      return failure();
    }
    Value value = main.getArgument(at);
    if (type != own) {
      b.setInsertionPoint(constant);
      value = amp::CastOp::create(b, constant.getLoc(), own, value);
    }
    constant.getResult().replaceAllUsesWith(value);
    constant.erase();
    return success();
  }
};

} // namespace
} // namespace ampc::training
