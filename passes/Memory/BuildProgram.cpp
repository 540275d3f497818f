//===- BuildProgram.cpp - The host functions as an rt.program -------------===//
#include "passes/Memory/FunctionPlan.h"
#include "passes/Memory/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace ampc::memory {
#define GEN_PASS_DEF_MEMORYBUILDPROGRAMPASS
#include "passes/Memory/Passes.h.inc"

namespace {

/// The names of the ONNX nodes in a location, in order, each once.
void collectNames(Location loc, SetVector<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    names.insert(name.getName().getValue());
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location inner : fused.getLocations()) {
      collectNames(inner, names);
    }
  }
}

std::string labelOf(Operation *op) {
  SetVector<StringRef> names;
  collectNames(op->getLoc(), names);
  return llvm::join(names, " + ");
}

/// Whether a state begins as zeros: no bit of its value is set.
bool isZero(ElementsAttr value) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
  return !value ||
         (dense && dense.isSplat() &&
          llvm::all_of(dense.getRawData(), [](char c) { return c == 0; }));
}

class ProgramBuilder {
public:
  ProgramBuilder(ModuleOp module, func::FuncOp main)
      : module(module), b(module.getContext()), shared(states) {
    functions.push_back(main);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function != main && !function.isDeclaration()) {
        functions.push_back(function);
      }
    }
  }

  LogicalResult run() {
    if (failed(states.place(module, alignment))) {
      return failure();
    }
    addFirstValues();
    if (failed(placeWeights())) {
      return failure();
    }
    unsigned numInputs = 0, numOutputs = 0;
    for (func::FuncOp function : functions) {
      FunctionPlan &plan =
          plans.emplace_back(function, shared, numInputs, numOutputs);
      if (failed(plan.check()) || failed(plan.place())) {
        return failure();
      }
      numInputs += plan.getInputs().size();
      numOutputs += plan.getOutputs().size();
    }
    emit();
    dropUnusedKernels();
    return success();
  }

private:
  rt::SizeAttr size(int64_t bytes) {
    return rt::SizeAttr::get(b.getContext(), bytes, 0);
  }

  /// First values of states are weights that no launch reads; they come last.
  void addFirstValues() {
    b.setInsertionPointToEnd(module.getBody());
    for (train::StateOp state : states.getStates()) {
      ElementsAttr value = state.getInitialAttr();
      if (isZero(value)) {
        continue;
      }
      std::string name = (state.getSymName() + ".initial").str();
      while (module.lookupSymbol(name)) {
        name += "_";
      }
      OpBuilder::InsertionGuard guard(b);
      auto weight = amp::WeightOp::create(
          b, state.getLoc(), b.getStringAttr(name), state.getTypeAttr());
      b.setInsertionPointToStart(&weight.getBody().emplaceBlock());
      Value constant = amp::ConstantOp::create(b, state.getLoc(), value);
      amp::YieldOp::create(b, state.getLoc(), constant);
      firstValues[state] = weight.getSymNameAttr();
    }
  }

  LogicalResult placeWeights() {
    llvm::DenseSet<StringAttr> ofStates;
    for (auto &[state, name] : firstValues) {
      ofStates.insert(name);
    }
    for (auto weight : module.getOps<amp::WeightOp>()) {
      StringAttr name = weight.getSymNameAttr();
      weight->setAttr("offset", b.getI64IntegerAttr(weightBytes));
      shared.weights[name] = weightBytes;
      auto end = checkedByteSize(weight.getType());
      end = end ? llvm::checkedAdd(*end, weightBytes) : end;
      end = end ? llvm::checkedAdd(*end, alignment - 1) : end;
      if (!end) {
        return weight.emitOpError("expected weights that 64 bits can address");
      }
      weightBytes = llvm::alignDown(*end, alignment);
      constantBytes = ofStates.contains(name) ? constantBytes : weightBytes;
    }
    return success();
  }

  void emit() {
    int64_t arenaBytes = 0;
    for (const FunctionPlan &plan : plans) {
      arenaBytes = std::max(arenaBytes, plan.getArenaBytes());
    }
    func::FuncOp main = functions.front();
    Signature signature = describe(main, plans.front());
    b.setInsertionPoint(main);
    auto bytes = [&](int64_t count) {
      return count == 0 ? IntegerAttr() : b.getI64IntegerAttr(count);
    };
    bool hasState = states.getBytes() != 0;
    auto program = rt::ProgramOp::create(
        b, main.getLoc(), b.getStringAttr("main"), signature.inputNames,
        signature.inputTypes, signature.outputNames, signature.outputTypes,
        size(arenaBytes), size(weightBytes),
        hasState ? b.getI64IntegerAttr(constantBytes) : IntegerAttr(),
        bytes(states.getBytes()), bytes(states.getControlBytes()));
    b.setInsertionPointToStart(&program.getBody().emplaceBlock());
    emitNodes(main, plans.front());
    emitStates();
    for (auto [function, plan] :
         llvm::drop_begin(llvm::zip_equal(functions, plans))) {
      OpBuilder::InsertionGuard guard(b);
      Signature signature = describe(function, plan);
      auto entry = rt::EntryOp::create(
          b, function.getLoc(), function.getSymNameAttr(), signature.inputNames,
          signature.inputTypes, signature.outputNames, signature.outputTypes);
      b.setInsertionPointToStart(&entry.getBody().emplaceBlock());
      emitNodes(function, plan);
    }
    for (func::FuncOp function : functions) {
      function.erase();
    }
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      if (isa<train::StateOp, train::ArenaOp>(op)) {
        op.erase();
      }
    }
  }

  /// What callers see of a function.
  struct Signature {
    ArrayAttr inputNames, inputTypes, outputNames, outputTypes;
  };

  Signature describe(func::FuncOp function, const FunctionPlan &plan) {
    auto names = [&](ArrayRef<unsigned> indices, StringRef fallback,
                     auto attrsOf) {
      SmallVector<Attribute> all;
      for (auto [number, i] : llvm::enumerate(indices)) {
        DictionaryAttr attrs = attrsOf(i);
        auto name = attrs ? attrs.getAs<StringAttr>("amp.name") : StringAttr();
        all.push_back(name ? name : b.getStringAttr(fallback + Twine(number)));
      }
      return b.getArrayAttr(all);
    };
    auto types = [&](ArrayRef<unsigned> indices, ArrayRef<Type> of) {
      SmallVector<Attribute> all;
      for (unsigned i : indices) {
        all.push_back(TypeAttr::get(of[i]));
      }
      return b.getArrayAttr(all);
    };
    return {names(plan.getInputs(), "input",
                  [&](unsigned i) { return function.getArgAttrDict(i); }),
            types(plan.getInputs(), function.getArgumentTypes()),
            names(plan.getOutputs(), "output",
                  [&](unsigned i) { return function.getResultAttrDict(i); }),
            types(plan.getOutputs(), function.getResultTypes())};
  }

  void emitStates() {
    for (train::StateOp state : states.getStates()) {
      StringAttr first = firstValues.lookup(state);
      rt::StateOp::create(
          b, state.getLoc(), state.getSymNameAttr(), state.getRoleAttr(),
          state.getTypeAttr(),
          b.getI64IntegerAttr(
              states.getOffset(FlatSymbolRefAttr::get(state.getSymNameAttr()))),
          first ? b.getI64IntegerAttr(shared.weights.lookup(first))
                : IntegerAttr());
    }
  }

  void emitNodes(func::FuncOp function, const FunctionPlan &plan) {
    for (auto launch : function.getOps<amp::LaunchOp>()) {
      if (llvm::all_of(launch.getResultTypes(),
                       [](Type type) { return byteSize(type) == 0; })) {
        continue;
      }
      SmallVector<Attribute> buffers;
      for (Value value : llvm::concat<const Value>(
               llvm::to_vector_of<Value>(launch.getInputs()),
               llvm::to_vector_of<Value>(launch.getOutputs()))) {
        buffers.push_back(plan.placeOf(value));
      }
      rt::LaunchOp::create(b, launch.getLoc(), launch.getKernelAttr(),
                           b.getArrayAttr(buffers),
                           b.getStringAttr(labelOf(launch)));
    }
    for (const FunctionPlan::Copy &copy : plan.getCopies()) {
      int64_t bytes = byteSize(copy.from.getType());
      if (bytes != 0) {
        rt::CopyOp::create(b, function.getLoc(), plan.placeOf(copy.from),
                           copy.to, size(bytes),
                           b.getStringAttr(copy.isState ? "state" : "output"));
      }
    }
  }

  /// Kernels that only empty results were for: nothing is launched there.
  void dropUnusedKernels() {
    llvm::DenseSet<StringAttr> launched;
    module.walk([&](rt::LaunchOp launch) {
      launched.insert(launch.getKernelAttr().getAttr());
    });
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<amp::KernelOp>())) {
      if (!launched.contains(kernel.getSymNameAttr())) {
        kernel.erase();
      }
    }
  }

  ModuleOp module;
  OpBuilder b;
  SmallVector<func::FuncOp> functions; ///< the main one first
  StateLayout states;
  SharedPlaces shared;
  std::vector<FunctionPlan> plans;
  DenseMap<Operation *, StringAttr> firstValues;
  int64_t weightBytes = 0, constantBytes = 0;
};

struct MemoryBuildProgramPass final
    : impl::MemoryBuildProgramPassBase<MemoryBuildProgramPass> {
  using Base::Base;

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main) {
      main = getOperation().lookupSymbol<func::FuncOp>("predict");
    }
    if (!main || main.isDeclaration()) {
      getOperation().emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    if (failed(ProgramBuilder(getOperation(), main).run())) {
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace ampc::memory
