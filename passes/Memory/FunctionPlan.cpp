//===- FunctionPlan.cpp - Where the buffers of a function lie -------------===//
#include "passes/Memory/FunctionPlan.h"

#include "passes/Memory/ArenaPlanner.h"
#include "passes/Memory/UpdateInPlace.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

namespace ampc::memory {

Value storageOf(Value value) {
  while (auto reshape = value.getDefiningOp<amp::ReshapeOp>()) {
    value = reshape.getInput();
  }
  return value;
}

rt::BufferAttr FunctionPlan::buffer(rt::BufferRegion region, int64_t index,
                                    int64_t offset) {
  MLIRContext *context = function.getContext();
  return rt::BufferAttr::get(context, region, index,
                             rt::SizeAttr::get(context, offset, 0));
}

rt::BufferAttr FunctionPlan::stateBuffer(Attribute state) {
  return buffer(rt::BufferRegion::State, 0,
                shared.states.getOffset(cast<SymbolRefAttr>(state)));
}

LogicalResult FunctionPlan::check() {
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

LogicalResult FunctionPlan::place() {
  placeArguments();
  placeResults();
  if (failed(orderCopies())) {
    return failure();
  }
  planIntermediates();
  return success();
}

void FunctionPlan::placeArguments() {
  function.walk([&](amp::GetWeightOp get) {
    places[get.getResult()] =
        buffer(rt::BufferRegion::Weights, 0,
               shared.weights.lookup(get.getWeightAttr().getAttr()));
  });
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (Attribute state = function.getArgAttr(i, train::stateName)) {
      places[argument] = stateBuffer(state);
    } else {
      places[argument] =
          buffer(rt::BufferRegion::Input, firstInput + inputs.size(), 0);
      inputs.push_back(i);
    }
  }
}

/// A launch's result that is returned lives in the caller's buffer, or in that
/// of the state that it replaces; what cannot is copied at the end.
void FunctionPlan::placeResults() {
  Operation *ret = function.getBody().front().getTerminator();
  for (OpOperand &operand : ret->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    Value storage = storageOf(operand.get());
    Attribute state = function.getResultAttr(i, train::stateName);
    rt::BufferAttr target;
    if (state) {
      target = stateBuffer(state);
    } else {
      target =
          buffer(rt::BufferRegion::Output, firstOutput + outputs.size(), 0);
      outputs.push_back(i);
    }
    if (places.lookup(storage) == target) {
      continue; // it stays as it is
    }
    auto result = dyn_cast<OpResult>(storage);
    if (result && !places.contains(storage) &&
        (!state || mayWriteState(result, target))) {
      places[storage] = target;
    } else {
      copies.push_back({storage, target, state != nullptr});
    }
  }
}

/// Whether nobody reads the old value of the state at `target` once the launch
/// of `result` writes the new one.
bool FunctionPlan::mayWriteState(OpResult result, rt::BufferAttr target) {
  auto launch = cast<amp::LaunchOp>(result.getOwner());
  int64_t begin = target.getOffset().getFixed();
  int64_t end = begin + byteSize(result.getType());
  for (BlockArgument argument : function.getArguments()) {
    rt::BufferAttr place = places.lookup(argument);
    int64_t from = place.getOffset().getFixed();
    if (place.getRegion() != rt::BufferRegion::State || from >= end ||
        begin >= from + byteSize(argument.getType())) {
      continue;
    }
    SmallVector<Value> views{argument};
    for (size_t i = 0; i < views.size(); ++i) {
      for (OpOperand &use : views[i].getUses()) {
        Operation *user = use.getOwner();
        if (isa<amp::ReshapeOp>(user)) {
          views.push_back(user->getResult(0));
        } else if (user == launch) {
          auto kernel = SymbolTable::lookupNearestSymbolFrom<amp::KernelOp>(
              launch, launch.getKernelAttr());
          if (place != target || byteSize(argument.getType()) != end - begin ||
              !canUpdateInPlace(kernel, use.getOperandNumber(),
                                result.getResultNumber())) {
            return false;
          }
        } else if (!user->isBeforeInBlock(launch)) {
          return false;
        }
      }
    }
  }
  for (auto [i, operand] : llvm::enumerate(launch.getInputs())) {
    if (places.lookup(storageOf(operand)) == target) {
      auto kernel = SymbolTable::lookupNearestSymbolFrom<amp::KernelOp>(
          launch, launch.getKernelAttr());
      kernel.setArgAttr(i, updatedName, UnitAttr::get(function.getContext()));
    }
  }
  return true;
}

/// Copies come after all launches; one that reads a state comes before the one
/// that replaces it.
LogicalResult FunctionPlan::orderCopies() {
  auto reads = [&](const Copy &copy, const Copy &writer) {
    rt::BufferAttr from = places.lookup(copy.from);
    if (!from || from.getRegion() != rt::BufferRegion::State ||
        !writer.isState) {
      return false;
    }
    int64_t begin = from.getOffset().getFixed();
    int64_t written = writer.to.getOffset().getFixed();
    return written < begin + byteSize(copy.from.getType()) &&
           begin < written + byteSize(writer.from.getType());
  };
  SmallVector<Copy> ordered;
  while (!copies.empty()) {
    auto *next = llvm::find_if(copies, [&](const Copy &writer) {
      return llvm::none_of(copies, [&](const Copy &copy) {
        return &copy != &writer && reads(copy, writer);
      });
    });
    if (next == copies.end()) {
      return function.emitOpError("cannot exchange states without a launch");
    }
    ordered.push_back(*next);
    copies.erase(next);
  }
  copies = std::move(ordered);
  return success();
}

void FunctionPlan::planIntermediates() {
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
          live[result] = {byteSize(result.getType()), step[&op], step[&op], 0};
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

} // namespace ampc::memory
