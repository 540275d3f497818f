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
  std::vector<size_t> producers; ///< entries that the op reads in its type
  /// Of the mixed program's value from that of fp32.
  tune::Divergence divergence;
  /// Of what the op makes in the 16-bit type, of operands as in fp32.
  tune::Divergence alone;

  /// The relative error that the op makes alone; 0 if it was not measured.
  double getOwnError() const { return alone.getError(tune::Metric::Relative); }
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

/// The 16-bit type that the policy lowers to: f16 or bf16.
llvm::StringRef getLowType(AmpPolicy policy);

/// Runs the fp32 program on all sets and fills in `alone` of the entries
/// `chosen`.
llvm::LogicalResult traceAlone(Variants &variants, llvm::ArrayRef<DataSet> sets,
                               llvm::ArrayRef<size_t> chosen,
                               std::vector<NodeTrace> &traces);

/// Indices of what the mixed program computes in the 16-bit type.
llvm::SmallVector<size_t> findLow(const Variants &variants,
                                  llvm::ArrayRef<NodeTrace> traces);

/// Indices of `traces`, the largest errors of ops alone first, then in order.
std::vector<size_t> rankByOwnError(llvm::ArrayRef<NodeTrace> traces);

/// A line for each entry of `order`.
void printTraces(llvm::ArrayRef<NodeTrace> traces, llvm::ArrayRef<size_t> order,
                 llvm::raw_ostream &os);
llvm::json::Value toJson(const NodeTrace &trace);
/// A finite number, or one of the strings "inf" and "nan", which JSON lacks.
llvm::json::Value toJson(double number);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_TRACE_H
