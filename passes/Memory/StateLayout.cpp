//===- StateLayout.cpp - Where states lie in their region -----------------===//
#include "passes/Memory/StateLayout.h"

#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ampc::memory {

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

LogicalResult StateLayout::place(ModuleOp module, int64_t alignment) {
  auto append = [&](Operation *op, StringAttr name,
                    Type type) -> LogicalResult {
    offsets[name] = bytes;
    auto end = checkedByteSize(type);
    end = end ? llvm::checkedAdd(*end, bytes) : end;
    end = end ? llvm::checkedAdd(*end, alignment - 1) : end;
    if (!end) {
      return op->emitOpError("expected states that 64 bits can address");
    }
    bytes = llvm::alignDown(*end, alignment);
    return success();
  };
  auto isNumber = [](train::StateOp state) {
    return cast<RankedTensorType>(state.getType()).getRank() == 0;
  };
  for (bool numbers : {true, false}) {
    for (Operation &op : module.getOps()) {
      if (auto state = dyn_cast<train::StateOp>(op)) {
        if (!state.getArena() && isNumber(state) == numbers &&
            failed(append(state, state.getSymNameAttr(), state.getType()))) {
          return failure();
        }
      } else if (auto arena = dyn_cast<train::ArenaOp>(op);
                 arena && !numbers &&
                 failed(
                     append(arena, arena.getSymNameAttr(), arena.getType()))) {
        return failure();
      }
    }
    controlBytes = numbers ? bytes : controlBytes;
  }
  for (auto state : module.getOps<train::StateOp>()) {
    states.push_back(state);
    if (auto arena = state.getArenaAttr()) {
      Type element = cast<RankedTensorType>(state.getType()).getElementType();
      offsets[state.getSymNameAttr()] =
          getOffset(arena) +
          *state.getOffset() * static_cast<int64_t>(llvm::divideCeil(
                                   element.getIntOrFloatBitWidth(), 8));
    }
  }
  return success();
}

} // namespace ampc::memory
