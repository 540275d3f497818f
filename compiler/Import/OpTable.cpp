//===- OpTable.cpp - Which converter imports which operator ---------------===//
#include "compiler/Import/OpTable.h"

#include "compiler/Import/GraphCheck.h"
#include "compiler/Import/Import.h"
#include "dialects/Interfaces/PrecisionInterfaces.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ampc::importer {

static std::string makeKey(StringRef domain, StringRef name) {
  domain = normalizeDomain(domain);
  return domain.empty() ? name.str() : (domain + "." + name).str();
}

std::optional<AutocastClass> OpClass::get(mlir::MLIRContext *context) const {
  if (cls || !name) {
    return cls;
  }
  // A class does not depend on operands or attributes.
  mlir::OperationState state(mlir::UnknownLoc::get(context), name());
  mlir::Operation *op = mlir::Operation::create(state);
  std::optional<AutocastClass> result;
  if (auto typed = mlir::dyn_cast<PrecisionOpInterface>(op)) {
    result = typed.getAutocastClass();
  }
  op->destroy();
  return result;
}

const OpTable &OpTable::get() {
  static const OpTable table = [] {
    OpTable table;
    addActivationOps(table);
    addAttentionOps(table);
    addClassicalOps(table);
    addConstantOps(table);
    addContractionOps(table);
    addControlFlowOps(table);
    addDeformableOps(table);
    addEinsumOps(table);
    addElementwiseOps(table);
    addFlexAttentionOps(table);
    addIndexingOps(table);
    addLinearAttentionOps(table);
    addLossOps(table);
    addNormalizationOps(table);
    addOptimizerOps(table);
    addPoolingOps(table);
    addQuantizationOps(table);
    addRecentOps(table);
    addRecurrentOps(table);
    addReductionOps(table);
    addSamplingOps(table);
    addSequenceOps(table);
    addShapeOps(table);
    addSignalOps(table);
    addSlicingOps(table);
    addUnpoolingOps(table);
    return table;
  }();
  return table;
}

void OpTable::add(ArrayRef<OpEntry> list) {
  for (const OpEntry &entry : list) {
    entries[entry.name].push_back(entry);
  }
}

const OpEntry *OpTable::find(StringRef domain, StringRef name,
                             int64_t opset) const {
  auto it = entries.find(makeKey(domain, name));
  if (it == entries.end()) {
    return nullptr;
  }
  for (const OpEntry &entry : it->second) {
    if (entry.sinceOpset <= opset && opset <= entry.lastOpset) {
      return &entry;
    }
  }
  return nullptr;
}

bool OpTable::knows(StringRef domain, StringRef name) const {
  return entries.contains(makeKey(domain, name));
}

std::vector<SupportedOp> listSupportedOps(mlir::MLIRContext *context) {
  std::vector<SupportedOp> ops;
  for (const auto &named : OpTable::get().getAll()) {
    SupportedOp op;
    op.name = named.first().str();
    op.firstOpset = named.second.front().sinceOpset;
    for (const OpEntry &entry : named.second) {
      op.firstOpset = std::min(op.firstOpset, entry.sinceOpset);
      op.lastOpset = std::max(op.lastOpset, entry.lastOpset);
      // Versions of one operator differ in form, not in class.
      op.autocastClass = entry.cls.get(context);
    }
    ops.push_back(std::move(op));
  }
  llvm::sort(ops, [](const SupportedOp &lhs, const SupportedOp &rhs) {
    return lhs.name < rhs.name;
  });
  return ops;
}

} // namespace ampc::importer
