//===- TuneNodes.h - The parts of a model that tuning chooses from -*- C++
//-*-===//
#ifndef AMPC_COMPILER_DRIVER_TUNENODES_H
#define AMPC_COMPILER_DRIVER_TUNENODES_H

#include "compiler/Driver/Trace.h"
#include "compiler/Tune/Searcher.h"

namespace ampc::driver {

/// The operations that run in the 16-bit type unless a rule says otherwise,
/// what each of them loses there, and the rules that keep them in fp32.
class TuneNodes {
public:
  explicit TuneNodes(Variants &variants) : variants(variants) {}

  /// Finds the operations and measures each alone on the data.
  llvm::LogicalResult measure(llvm::ArrayRef<DataSet> sets);

  std::vector<tune::Candidate> makeCandidates() const;
  size_t getNumCandidates() const { return parts.size(); }
  /// Values of the graph that are computed in floats.
  size_t getNumNodes() const { return traces.size(); }
  /// Those that the program typed last computes in 16 bits.
  size_t countLow();
  llvm::StringRef getLowType() const { return low; }

  /// PATTERN:fp32 for each candidate.
  std::vector<std::string> getRules(llvm::ArrayRef<size_t> candidates) const;
  /// Places in the graph of the candidates that leave the range of the type.
  std::vector<std::string> findPathsOutOfRange() const;
  /// An operation that runs in 16 bits in the program typed last although its
  /// result, or an operand, comes within `headroom` of the end of that type's
  /// range on the data; null if there is none.
  const NodeTrace *findUnsafe();

  /// Pattern, operator and what speaks for fp32.
  std::string describe(size_t candidate) const;
  llvm::json::Value toJson(size_t candidate) const;

  /// Data that was not seen may hold values larger by this factor.
  static constexpr double headroom = 2;

private:
  /// The operations that one rule matches.
  struct Part {
    std::string pattern;
    std::vector<size_t> traces;
    double score = 0;
  };

  std::string makePattern(const NodeTrace &trace) const;
  double getReach(const NodeTrace &trace) const;
  double getReach(const Part &part) const;
  bool leavesRange(const NodeTrace &trace) const;
  bool isLow(const NodeTrace &trace) const { return trace.type == low; }

  Variants &variants;
  llvm::StringRef low; ///< f16 or bf16
  double largest = 0;
  std::vector<NodeTrace> traces;
  llvm::StringMap<unsigned> uses; ///< of names and paths, by operations
  std::vector<Part> parts;
};

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_TUNENODES_H
