//===- WeightSection.cpp - The constant data of a program -----------------===//
#include "compiler/Driver/WeightSection.h"

#include "dialects/Amp/Reference/Evaluate.h"
#include "dialects/Rt/IR/RtDialect.h"

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

LogicalResult WeightSection::write(raw_ostream &os, DiagnosticSink &sink) {
  uint64_t position = 0;
  for (const Entry &entry : entries) {
    amp::WeightOp op = entry.op;
    std::optional<ref::Tensor> value = evaluateWeight(op);
    if (value) {
      value = value->expanded();
    }
    if (!value) {
      if (sink.getNumErrors() == 0) {
        op.emitError("cannot compute this weight");
      }
      return failure();
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
