//===- Trace.h - Two precisions compared op by op ---------------*- C++ -*-===//
#ifndef AMPC_COMPILER_DRIVER_TRACE_H
#define AMPC_COMPILER_DRIVER_TRACE_H

#include "compiler/Driver/Variants.h"
#include "llvm/Support/JSON.h"

namespace ampc::driver {

/// One float value that the graph computes, in both programs.
struct NodeTrace {
  std::vector<std::string> names; ///< of the ONNX nodes it comes from
  std::vector<std::string> paths; ///< their places, unique
  std::string op;
  std::string type;              ///< that the mixed program computes the op in
  bool isOverridden = false;     ///< by a rule of the user
  int64_t position = 0;          ///< as graph-expose-results counts
  uint64_t bytes = 0;            ///< in the graph
  std::vector<size_t> producers; ///< entries that the op reads
  tune::Divergence divergence;

  /// The names, or the places where there are none; of many, the first and the
  /// last.
  std::string print() const;
};

/// The values of the graph that can be traced, without measurements.
std::vector<NodeTrace> findTraces(Variants &variants);

/// Runs the mixed program beside the fp32 one on all sets and fills in `type`
/// and `divergence`. Intermediate values are returned in as many runs as
/// --trace-memory asks for.
llvm::LogicalResult traceNodes(Variants &variants, const Variant &mixed,
                               llvm::ArrayRef<DataSet> sets,
                               std::vector<NodeTrace> &traces);

/// Fills in `type` and `isOverridden` from the decisions for the program.
void readDecisions(const precision::Report &report,
                   std::vector<NodeTrace> &traces);

/// Runs the fp32 program on all sets and compares each of `chosen` with what
/// its op alone makes in the 16-bit type `low` (f16, bf16) of the same
/// operands.
llvm::LogicalResult traceAlone(Variants &variants, llvm::StringRef low,
                               llvm::ArrayRef<DataSet> sets,
                               llvm::ArrayRef<size_t> chosen,
                               std::vector<NodeTrace> &traces);

/// The part of a value's relative error that its op does not read: its error
/// less the largest one among its operands; infinite where a value that should
/// be finite is not, but all operands are.
double getIntroducedError(llvm::ArrayRef<NodeTrace> traces, size_t index);

/// Indices of `traces`, the largest introduced errors first, then in order.
std::vector<size_t> rankByIntroducedError(llvm::ArrayRef<NodeTrace> traces);

/// A line for each entry of `order`.
void printTraces(llvm::ArrayRef<NodeTrace> traces, llvm::ArrayRef<size_t> order,
                 llvm::raw_ostream &os);
llvm::json::Value toJson(llvm::ArrayRef<NodeTrace> traces, size_t index);
/// A finite number, or one of the strings "inf" and "nan", which JSON lacks.
llvm::json::Value toJson(double number);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_TRACE_H
