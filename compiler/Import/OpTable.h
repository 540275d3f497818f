//===- OpTable.h - Which converter imports which operator -----------------===//
#ifndef AMPC_COMPILER_IMPORT_OPTABLE_H
#define AMPC_COMPILER_IMPORT_OPTABLE_H

#include "dialects/Interfaces/AutocastClass.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/LogicalResult.h"

#include <climits>
#include <cstdint>
#include <optional>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace ampc::importer {

class Node;

/// Converts one node; failure after reporting.
using Converter = llvm::LogicalResult (*)(Node &);

/// The autocast class of an operator, taken from where it is defined.
class OpClass {
public:
  /// Of an operator that becomes a composite: this is its class.
  constexpr OpClass(AutocastClass cls) : cls(cls) {}
  /// Of an operator whose work an op of the dialect does.
  template <typename OpTy>
  static constexpr OpClass of() {
    return OpClass(&OpTy::getOperationName);
  }
  /// Of an operator that leaves nothing with a class: it moves values that are
  /// known, or holds graphs whose nodes have classes of their own.
  static constexpr OpClass none() { return OpClass(nullptr); }

  /// Nothing for `none`, and for an op that knows no floats. The dialect must
  /// be loaded.
  std::optional<AutocastClass> get(mlir::MLIRContext *context) const;

private:
  using NameFn = llvm::StringLiteral (*)();
  constexpr explicit OpClass(NameFn name) : name(name) {}

  std::optional<AutocastClass> cls;
  NameFn name = nullptr;
};

/// A converter for the versions of one operator.
struct OpEntry {
  const char *name; ///< `Op`, or `domain.Op` outside the default domain
  Converter convert;
  OpClass cls;
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
