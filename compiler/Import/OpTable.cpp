//===- OpTable.cpp - Which converter imports which operator ---------------===//
#include "compiler/Import/OpTable.h"

#include "compiler/Import/GraphCheck.h"
#include "compiler/Import/Import.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace ampc::importer {

static std::string makeKey(StringRef domain, StringRef name) {
  domain = normalizeDomain(domain);
  return domain.empty() ? name.str() : (domain + "." + name).str();
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

std::vector<std::string> listSupportedOps() {
  std::vector<std::string> names;
  for (StringRef name : OpTable::get().getAll().keys()) {
    names.push_back(name.str());
  }
  llvm::sort(names);
  return names;
}

} // namespace ampc::importer
