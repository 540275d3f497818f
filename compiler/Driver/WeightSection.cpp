//===- WeightSection.cpp - The constant data of a program -----------------===//
#include "compiler/Driver/WeightSection.h"

#include "dialects/Amp/Reference/Evaluator.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir;

namespace ampc::driver {

WeightSection::WeightSection(ModuleOp module) {
  for (auto program : module.getOps<rt::ProgramOp>()) {
    size = program.getWeights().getFixed();
  }
  for (auto op : module.getOps<amp::WeightOp>()) {
    if (auto offset = op->getAttrOfType<IntegerAttr>("offset")) {
      entries.push_back({offset.getValue().getZExtValue(), op});
    }
  }
  llvm::stable_sort(entries, [](const Entry &lhs, const Entry &rhs) {
    return lhs.offset < rhs.offset;
  });
}

LogicalResult WeightSection::write(raw_ostream &os, uint64_t byteLimit) {
  ref::EvaluatorOptions evaluatorOptions;
  evaluatorOptions.byteBudget = SaturatingMultiply<uint64_t>(byteLimit, 4);
  uint64_t position = 0;
  for (const Entry &entry : entries) {
    amp::WeightOp op = entry.op;
    // An evaluator remembers what it made; each weight gets its own.
    FailureOr<ref::Tensor> made =
        ref::Evaluator(evaluatorOptions).evaluateWeight(op);
    if (failed(made)) {
      return failure();
    }
    std::optional<ref::Tensor> value = made->expanded();
    if (!value) {
      return op.emitError("no memory for this weight");
    }
    ArrayRef<char> bytes = value->getBytes();
    if (entry.offset < position || entry.offset > size ||
        bytes.size() > size - entry.offset) {
      return op.emitError("expected a place inside the weights, behind the one "
                          "before; got offset ")
             << entry.offset;
    }
    os.write_zeros(entry.offset - position);
    os.write(bytes.data(), bytes.size());
    position = entry.offset + bytes.size();
  }
  os.write_zeros(size - position);
  return success();
}

} // namespace ampc::driver
