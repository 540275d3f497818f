//===- Limits.cpp - What a small file may ask for -------------------------===//
#include "compiler/Driver/Limits.h"

#include "dialects/Amp/IR/AmpOps.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir;

namespace ampc::driver {

/// Bytes of a static tensor, saturating; 0 for other types.
static uint64_t countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape()) {
    return 0;
  }
  uint64_t bytes = divideCeil(tensor.getElementTypeBitWidth(), 8);
  for (int64_t dim : tensor.getShape()) {
    bytes = SaturatingMultiply<uint64_t>(bytes, dim);
  }
  return bytes;
}

LogicalResult checkTensorSizes(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (isa<amp::ConstantOp>(op)) {
      return WalkResult::advance(); // a splat takes no memory
    }
    for (Type type : op->getResultTypes()) {
      if (uint64_t bytes = countBytes(type); bytes > maxTensorBytes) {
        emitError(op->getLoc())
            << "expected a tensor of at most " << maxTensorBytes
            << " bytes, got " << type << " of " << bytes;
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

uint64_t getDefaultWeightLimit(ModuleOp imported) {
  uint64_t bytes = 0;
  imported.walk([&](amp::ConstantOp constant) {
    if (!isa<SplatElementsAttr>(constant.getValue())) {
      bytes = SaturatingAdd(bytes, countBytes(constant.getType()));
    }
  });
  return SaturatingMultiplyAdd<uint64_t>(bytes, 4, 1ull << 30);
}

LogicalResult checkWeightSize(ModuleOp module, uint64_t limit) {
  uint64_t bytes = 0, largest = 0;
  amp::WeightOp blamed;
  for (auto weight : module.getOps<amp::WeightOp>()) {
    uint64_t size = countBytes(weight.getType());
    bytes = SaturatingAdd(bytes, size);
    if (!blamed || size > largest) {
      blamed = weight;
      largest = size;
    }
  }
  if (bytes <= limit) {
    return success();
  }
  // The location of what it is made of names the node.
  Location loc = blamed.getLoc();
  if (amp::YieldOp yield =
          cast<amp::YieldOp>(blamed.getBody().front().getTerminator());
      yield.getNumOperands() != 0) {
    loc = yield.getOperand(0).getLoc();
  }
  return emitError(loc) << "the program's constants need " << bytes
                        << " bytes, more than the limit of " << limit
                        << " (--weight-limit); this one needs " << largest;
}

} // namespace ampc::driver
