//===- BuildProgram.cpp - The host function as an rt.program --------------===//
#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Memory/ArenaPlanner.h"
#include "passes/Memory/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace ampc::memory {
#define GEN_PASS_DEF_MEMORYBUILDPROGRAMPASS
#include "passes/Memory/Passes.h.inc"

namespace {

// As AMPC_ALIGNMENT and AMPC_OVERREAD in the ABI.
constexpr int64_t alignment = 64;
constexpr int64_t overread = 64;

/// Bytes of a tensor; nullopt where they do not fit 64 bits.
std::optional<int64_t> checkedByteSize(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (llvm::is_contained(tensor.getShape(), 0)) {
    return 0;
  }
  std::optional<int64_t> bytes = static_cast<int64_t>(
      llvm::divideCeil(tensor.getElementType().getIntOrFloatBitWidth(), 8));
  for (int64_t size : tensor.getShape()) {
    bytes = bytes ? llvm::checkedMul(*bytes, size) : bytes;
  }
  return bytes;
}

/// Bytes of a tensor whose size has been checked.
int64_t byteSize(Type type) { return *checkedByteSize(type); }

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

class ProgramBuilder {
public:
  ProgramBuilder(ModuleOp module, func::FuncOp function)
      : module(module), function(function), b(module.getContext()) {}

  LogicalResult run() {
    if (failed(check())) {
      return failure();
    }
    placeWeights();
    assignOutputs();
    planIntermediates();
    emit();
    dropUnusedKernels();
    return success();
  }

private:
  rt::SizeAttr size(int64_t bytes) {
    return rt::SizeAttr::get(b.getContext(), bytes, 0);
  }
  rt::BufferAttr buffer(rt::BufferRegion region, int64_t index,
                        int64_t offset) {
    return rt::BufferAttr::get(b.getContext(), region, index, size(offset));
  }

  /// The value whose bytes `value` are: views of the host share them.
  static Value storageOf(Value value) {
    while (auto reshape = value.getDefiningOp<amp::ReshapeOp>()) {
      value = reshape.getInput();
    }
    return value;
  }

  /// Whether the function holds what a program can, and all offsets fit.
  LogicalResult check() {
    if (!function.getBody().hasOneBlock()) {
      return function.emitOpError("expected one block, got ")
             << function.getBody().getBlocks().size();
    }
    int64_t total = 0;
    auto count = [&](Type type) {
      auto bytes = checkedByteSize(type);
      bytes = bytes ? llvm::checkedAdd(*bytes, 2 * alignment) : bytes;
      bytes = bytes ? llvm::checkedAdd(*bytes, total) : bytes;
      total = bytes.value_or(0);
      return bytes.has_value();
    };
    bool fits = llvm::all_of(function.getArgumentTypes(), count);
    for (auto weight : module.getOps<amp::WeightOp>()) {
      fits = fits && count(weight.getType());
    }
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (!isa<amp::LaunchOp, amp::ReshapeOp, amp::GetWeightOp>(op)) {
        return op.emitOpError("expected launches, reshapes and weights only");
      }
      fits = fits && llvm::all_of(op.getResultTypes(), count);
    }
    if (!fits) {
      return function.emitOpError(
          "expected buffers that 64 bits can address together");
    }
    return success();
  }

  void placeWeights() {
    int64_t offset = 0;
    for (auto weight : module.getOps<amp::WeightOp>()) {
      weight->setAttr("offset", b.getI64IntegerAttr(offset));
      weightOffsets[weight.getSymNameAttr()] = offset;
      offset = llvm::alignTo(offset + byteSize(weight.getType()), alignment);
    }
    weightBytes = offset;
    function.walk([&](amp::GetWeightOp get) {
      places[get.getResult()] =
          buffer(rt::BufferRegion::Weights, 0,
                 weightOffsets.lookup(get.getWeightAttr().getAttr()));
    });
    for (BlockArgument argument : function.getArguments()) {
      places[argument] =
          buffer(rt::BufferRegion::Input, argument.getArgNumber(), 0);
    }
  }

  /// A launch's result that is returned lives in the caller's buffer; what
  /// cannot is copied at the end.
  void assignOutputs() {
    Operation *ret = function.getBody().front().getTerminator();
    for (OpOperand &operand : ret->getOpOperands()) {
      Value storage = storageOf(operand.get());
      auto target =
          buffer(rt::BufferRegion::Output, operand.getOperandNumber(), 0);
      if (places.try_emplace(storage, target).second) {
        continue;
      }
      copies.push_back({storage, operand.getOperandNumber()});
    }
  }

  void planIntermediates() {
    DenseMap<Operation *, int64_t> step;
    int64_t steps = 0;
    Block &block = function.getBody().front();
    for (Operation &op : block) {
      step[&op] = steps++;
    }
    llvm::MapVector<Value, LiveBuffer> live;
    for (Operation &op : block) {
      if (isa<amp::LaunchOp>(op)) {
        for (Value result : op.getResults()) {
          if (!places.count(result)) {
            live[result] = {byteSize(result.getType()), step[&op], step[&op],
                            0};
          }
        }
      }
      for (Value operand : op.getOperands()) {
        auto it = live.find(storageOf(operand));
        if (it != live.end()) {
          it->second.last = step[&op];
        }
      }
    }
    SmallVector<LiveBuffer> buffers;
    for (auto &[value, interval] : live) {
      buffers.push_back(interval);
    }
    arenaBytes = planArena(buffers, alignment, overread);
    for (auto [entry, placed] : llvm::zip_equal(live, buffers)) {
      places[entry.first] = buffer(rt::BufferRegion::Arena, 0, placed.offset);
    }
  }

  void emit() {
    SmallVector<Attribute> inputNames, outputNames, inputTypes, outputTypes;
    auto nameOf = [&](DictionaryAttr attrs, StringRef fallback, unsigned i) {
      auto name = attrs ? attrs.getAs<StringAttr>("amp.name") : StringAttr();
      return name ? name : b.getStringAttr(fallback + Twine(i));
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      inputNames.push_back(nameOf(function.getArgAttrDict(i), "input", i));
      inputTypes.push_back(TypeAttr::get(function.getArgumentTypes()[i]));
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      outputNames.push_back(nameOf(function.getResultAttrDict(i), "output", i));
      outputTypes.push_back(TypeAttr::get(function.getResultTypes()[i]));
    }
    b.setInsertionPoint(function);
    auto program = rt::ProgramOp::create(
        b, function.getLoc(), function.getSymNameAttr(),
        b.getArrayAttr(inputNames), b.getArrayAttr(inputTypes),
        b.getArrayAttr(outputNames), b.getArrayAttr(outputTypes),
        size(arenaBytes), size(weightBytes));
    Block &body = program.getBody().emplaceBlock();
    b.setInsertionPointToStart(&body);
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (isa<amp::ReshapeOp, amp::GetWeightOp>(op)) {
        continue;
      }
      auto launch = cast<amp::LaunchOp>(op);
      if (llvm::all_of(launch.getResultTypes(),
                       [](Type type) { return byteSize(type) == 0; })) {
        continue;
      }
      SmallVector<Attribute> buffers;
      for (Value operand : launch.getInputs()) {
        buffers.push_back(places.lookup(storageOf(operand)));
      }
      for (Value result : launch.getOutputs()) {
        buffers.push_back(places.lookup(result));
      }
      rt::LaunchOp::create(b, op.getLoc(), launch.getKernelAttr(),
                           b.getArrayAttr(buffers),
                           b.getStringAttr(labelOf(&op)));
    }
    for (auto [storage, output] : copies) {
      int64_t bytes = byteSize(storage.getType());
      if (bytes != 0) {
        rt::CopyOp::create(b, function.getLoc(), places.lookup(storage),
                           buffer(rt::BufferRegion::Output, output, 0),
                           size(bytes), b.getStringAttr("output"));
      }
    }
    function.erase();
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
  func::FuncOp function;
  OpBuilder b;
  DenseMap<Value, rt::BufferAttr> places;
  DenseMap<StringAttr, int64_t> weightOffsets;
  SmallVector<std::pair<Value, unsigned>> copies;
  int64_t weightBytes = 0, arenaBytes = 0;
};

struct MemoryBuildProgramPass final
    : impl::MemoryBuildProgramPassBase<MemoryBuildProgramPass> {
  using Base::Base;

  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!function || function.isDeclaration()) {
      getOperation().emitError("expected a function @main with a body");
      return signalPassFailure();
    }
    if (failed(ProgramBuilder(getOperation(), function).run())) {
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace ampc::memory
