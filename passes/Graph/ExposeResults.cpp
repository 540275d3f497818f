//===- ExposeResults.cpp - Return intermediate values ---------------------===//
#include "passes/Graph/ExposeResults.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Interfaces/PrecisionInterfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Analysis/ConstantSlice.h"
#include "passes/Graph/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ampc::graph {
#define GEN_PASS_DEF_GRAPHEXPOSERESULTSPASS
#include "passes/Graph/Passes.h.inc"

SmallVector<OpResult> findExposableResults(FunctionOpInterface function) {
  SmallVector<OpResult> found;
  ConstantSlice constants(function);
  for (Operation &op :
       function.getFunctionBody().front().without_terminator()) {
    if (constants.isComputable(&op)) {
      continue;
    }
    for (OpResult result : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(result.getType());
      if (type && isa<FloatType>(type.getElementType()) &&
          type.getNumElements() != 0) {
        found.push_back(result);
      }
    }
  }
  return found;
}

namespace {
/// The place of the op in the ONNX graph, `main/12`; empty if unknown.
std::string getPlace(Location loc) {
  std::string place;
  loc->walk([&](Location inner) {
    auto name = dyn_cast<NameLoc>(inner);
    auto path = name ? dyn_cast<NameLoc>(name.getChildLoc()) : NameLoc();
    if (!path) {
      return WalkResult::advance();
    }
    place = path.getName().str();
    return WalkResult::interrupt();
  });
  return place;
}

/// Rounds values to a 16-bit type and back.
class Rounder {
public:
  Rounder(FunctionOpInterface function, FloatType narrow)
      : constants(function), narrow(narrow) {}

  /// What the op of `value` makes of rounded operands, rounded itself.
  Value getRounded(OpResult value) {
    auto op = dyn_cast<PrecisionOpInterface>(value.getOwner());
    if (!op) {
      return value;
    }
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    Operation *&copy = copies[op];
    if (!copy) {
      copy = op->clone();
      for (OpOperand &operand : copy->getOpOperands()) {
        if (!op.isPinnedOperand(operand.getOperandNumber())) {
          operand.set(round(b, operand.get()));
        }
      }
      b.insert(copy);
    }
    b.setInsertionPointAfter(copy);
    return round(b, copy->getResult(value.getResultNumber()));
  }

private:
  Value round(OpBuilder &b, Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.getElementType().isF32()) {
      return value;
    }
    // Weights saturate, as they do when a program is typed.
    Value rounded =
        amp::CastOp::create(b, value.getLoc(), type.clone(narrow), value,
                            /*saturate=*/constants.isComputable(value));
    return amp::CastOp::create(b, value.getLoc(), type, rounded);
  }

  ConstantSlice constants;
  FloatType narrow;
  llvm::DenseMap<Operation *, Operation *> copies;
};

struct GraphExposeResultsPass final
    : impl::GraphExposeResultsPassBase<GraphExposeResultsPass> {
  using Base::Base;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isDeclaration()) {
      getOperation().emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    SmallVector<OpResult> values = findExposableResults(main);
    SmallVector<int64_t> chosen(positions.begin(), positions.end());
    if (chosen.empty()) {
      llvm::append_range(chosen, llvm::seq<int64_t>(0, values.size()));
    }
    FloatType narrow = llvm::StringSwitch<FloatType>(rounding)
                           .Case("f16", Float16Type::get(&getContext()))
                           .Case("bf16", BFloat16Type::get(&getContext()))
                           .Default({});
    if (!narrow && !rounding.empty()) {
      main.emitOpError("expected rounding to f16 or bf16, got '")
          << rounding << "'";
      return signalPassFailure();
    }
    Rounder rounder(main, narrow);
    auto terminator =
        cast<func::ReturnOp>(main.getBody().front().getTerminator());
    SmallVector<Type> types(main.getResultTypes());
    SmallVector<DictionaryAttr> attrs;
    main.getAllResultAttrs(attrs);
    attrs.resize(types.size(), DictionaryAttr::get(&getContext()));
    Builder builder(&getContext());
    for (int64_t position : chosen) {
      if (position < 0 || position >= static_cast<int64_t>(values.size())) {
        main.emitOpError("expected positions below ")
            << values.size() << ", got " << position;
        return signalPassFailure();
      }
      OpResult value = values[position];
      std::string name = getPlace(value.getLoc()) + ":" +
                         std::to_string(value.getResultNumber());
      auto append = [&](Value result, const llvm::Twine &name) {
        terminator.getOperandsMutable().append(result);
        types.push_back(result.getType());
        attrs.push_back(builder.getDictionaryAttr(
            builder.getNamedAttr("amp.name", builder.getStringAttr(name))));
      };
      append(value, name);
      if (narrow) {
        append(rounder.getRounded(value), name + "@" + rounding);
      }
    }
    main.setType(builder.getFunctionType(main.getArgumentTypes(), types));
    main.setAllResultAttrs(attrs);
  }
};
} // namespace
} // namespace ampc::graph
