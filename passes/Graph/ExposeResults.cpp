//===- ExposeResults.cpp - Return intermediate values ---------------------===//
#include "passes/Graph/ExposeResults.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Analysis/ConstantSlice.h"
#include "passes/Graph/Passes.h"

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
      terminator.getOperandsMutable().append(value);
      types.push_back(value.getType());
      std::string name = getPlace(value.getLoc()) + ":" +
                         std::to_string(value.getResultNumber());
      attrs.push_back(builder.getDictionaryAttr(
          builder.getNamedAttr("amp.name", builder.getStringAttr(name))));
    }
    main.setType(builder.getFunctionType(main.getArgumentTypes(), types));
    main.setAllResultAttrs(attrs);
  }
};
} // namespace
} // namespace ampc::graph
