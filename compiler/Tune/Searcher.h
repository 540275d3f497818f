//===- Searcher.h - Which nodes have to stay in fp32 ------------*- C++ -*-===//
#ifndef AMPC_COMPILER_TUNE_SEARCHER_H
#define AMPC_COMPILER_TUNE_SEARCHER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace ampc::tune {

/// A part of the model that can stay in fp32.
struct Candidate {
  /// The measured benefit, the error that the part makes on exact operands;
  /// infinite if its values leave the range of the 16-bit type.
  double score = 0;
  /// Candidates whose results it reads.
  std::vector<size_t> producers;
};

/// What a search found.
struct Outcome {
  bool isMet = false;       ///< the bound holds with `kept`
  bool isMinimal = false;   ///< but not without any one of them
  std::vector<size_t> kept; ///< indices of candidates, ascending
  double error = 0;         ///< with `kept`
};

/// Finds a small set of candidates that brings an error below a bound. It knows
/// nothing of what a trial does.
///
/// The set begins with all candidates of infinite score and is doubled by score
/// until the bound holds; candidates between two that are kept join them, since
/// a narrow part between wide ones rounds what both pass on. Then it shrinks:
/// halves, quarters and at last single candidates are taken out, the least
/// score first, where the bound holds without them. Trials are numbered: none
/// is made twice, in repeated searches neither.
class Searcher {
public:
  /// The error of a program that keeps these candidates, ascending; nothing if
  /// it could not be measured, which ends the search.
  using Trial =
      llvm::function_ref<std::optional<double>(llvm::ArrayRef<size_t> kept)>;

  Searcher(std::vector<Candidate> candidates, unsigned maxTrials)
      : candidates(std::move(candidates)), maxTrials(maxTrials) {}

  /// Nothing if a trial failed. Without a set that meets the bound, `kept` is
  /// the one with the least error.
  std::optional<Outcome> search(double bound, Trial trial);

  unsigned getNumTrials() const { return numTrials; }
  bool isExhausted() const { return numTrials >= maxTrials; }

private:
  enum class Verdict { Met, NotMet, Unknown, Failed };
  using Set = std::vector<size_t>; ///< ascending

  Verdict test(const Set &kept, double bound, Trial trial);
  Set takeFirst(llvm::ArrayRef<size_t> ranked, size_t count) const;
  std::optional<Outcome> shrink(Set kept, double bound, Trial trial);
  Outcome finish(Set kept, double bound) const;

  std::vector<Candidate> candidates;
  unsigned maxTrials, numTrials = 0;
  std::map<Set, double> errors;
};

} // namespace ampc::tune

#endif // AMPC_COMPILER_TUNE_SEARCHER_H
