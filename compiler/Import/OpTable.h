//===- OpTable.h - Which converter imports which operator -----------------===//
#ifndef AMPC_COMPILER_IMPORT_OPTABLE_H
#define AMPC_COMPILER_IMPORT_OPTABLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LogicalResult.h"

#include <climits>
#include <cstdint>

namespace ampc::importer {

class Node;

/// Converts one node; failure after reporting.
using Converter = llvm::LogicalResult (*)(Node &);

/// A converter for the versions of one operator.
struct OpEntry {
  const char *name; ///< `Op`, or `domain.Op` outside the default domain
  Converter convert;
  unsigned minInputs, maxInputs;
  unsigned maxOutputs = 1;
  int64_t sinceOpset = 1; ///< first opset version it is right for
  int64_t lastOpset = INT64_MAX;
};

constexpr unsigned anyNumber = UINT_MAX;

/// All converters. Built once; read-only afterwards.
class OpTable {
public:
  static const OpTable &get();

  /// The entry for `name` in version `opset` of its domain, or null.
  const OpEntry *find(llvm::StringRef domain, llvm::StringRef name,
                      int64_t opset) const;
  /// Whether there is an entry for any version.
  bool knows(llvm::StringRef domain, llvm::StringRef name) const;

  void add(llvm::ArrayRef<OpEntry> entries);
  const llvm::StringMap<llvm::SmallVector<OpEntry, 1>> &getAll() const {
    return entries;
  }

private:
  llvm::StringMap<llvm::SmallVector<OpEntry, 1>> entries;
};

// One function per file of compiler/Import/Ops.
void addActivationOps(OpTable &table);
void addAttentionOps(OpTable &table);
void addClassicalOps(OpTable &table);
void addConstantOps(OpTable &table);
void addContractionOps(OpTable &table);
void addControlFlowOps(OpTable &table);
void addDeformableOps(OpTable &table);
void addEinsumOps(OpTable &table);
void addElementwiseOps(OpTable &table);
void addFlexAttentionOps(OpTable &table);
void addIndexingOps(OpTable &table);
void addLinearAttentionOps(OpTable &table);
void addLossOps(OpTable &table);
void addNormalizationOps(OpTable &table);
void addOptimizerOps(OpTable &table);
void addPoolingOps(OpTable &table);
void addQuantizationOps(OpTable &table);
void addRecentOps(OpTable &table);
void addRecurrentOps(OpTable &table);
void addReductionOps(OpTable &table);
void addSamplingOps(OpTable &table);
void addSequenceOps(OpTable &table);
void addShapeOps(OpTable &table);
void addSignalOps(OpTable &table);
void addSlicingOps(OpTable &table);
void addUnpoolingOps(OpTable &table);

} // namespace ampc::importer

#endif // AMPC_COMPILER_IMPORT_OPTABLE_H
