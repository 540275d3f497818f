//===- Searcher.cpp - Which nodes have to stay in fp32 --------------------===//
#include "compiler/Tune/Searcher.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

using namespace llvm;

namespace ampc::tune {

Searcher::Verdict Searcher::test(const Set &kept, double bound, Trial trial) {
  auto known = errors.find(kept);
  if (known == errors.end()) {
    if (isExhausted()) {
      return Verdict::Unknown;
    }
    ++numTrials;
    std::optional<double> error = trial(kept);
    if (!error) {
      return Verdict::Failed;
    }
    known = errors.emplace(kept, *error).first;
  }
  return known->second <= bound ? Verdict::Met : Verdict::NotMet;
}

Searcher::Set Searcher::takeFirst(ArrayRef<size_t> ranked, size_t count) const {
  std::vector<bool> isKept(candidates.size());
  for (size_t candidate : ranked.take_front(count)) {
    isKept[candidate] = true;
  }
  std::vector<bool> feedsKept(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (size_t producer : candidates[i].producers) {
      feedsKept[producer] = feedsKept[producer] || isKept[i];
    }
  }
  Set kept;
  for (size_t i = 0; i < candidates.size(); ++i) {
    bool isBetween = feedsKept[i] &&
                     any_of(candidates[i].producers,
                            [&](size_t producer) { return isKept[producer]; });
    if (isKept[i] || isBetween) {
      kept.push_back(i);
    }
  }
  return kept;
}

Outcome Searcher::finish(Set kept, double bound) const {
  Outcome outcome;
  auto known = errors.find(kept);
  outcome.error = known == errors.end() ? HUGE_VAL : known->second;
  outcome.isMet = outcome.error <= bound;
  outcome.kept = std::move(kept);
  return outcome;
}

std::optional<Outcome> Searcher::search(double bound, Trial trial) {
  // Largest score first, then in the order of the graph.
  std::vector<size_t> ranked(candidates.size());
  std::iota(ranked.begin(), ranked.end(), 0);
  llvm::sort(ranked, [&](size_t lhs, size_t rhs) {
    double left = candidates[lhs].score, right = candidates[rhs].score;
    return left != right ? left > right : lhs < rhs;
  });
  size_t count = 0;
  while (true) {
    Set kept = takeFirst(ranked, count);
    switch (test(kept, bound, trial)) {
    case Verdict::Failed:
      return std::nullopt;
    case Verdict::Met:
      return shrink(std::move(kept), bound, trial);
    case Verdict::Unknown:
    case Verdict::NotMet:
      break;
    }
    if (count == ranked.size() || isExhausted()) {
      break;
    }
    size_t suspects = llvm::count_if(
        candidates, [](const Candidate &one) { return std::isinf(one.score); });
    count = count == 0 ? std::max<size_t>(suspects, 1) : 2 * count;
    count = std::min(count, ranked.size());
  }
  auto best = llvm::min_element(errors, [](const auto &lhs, const auto &rhs) {
    return lhs.second < rhs.second;
  });
  return finish(best == errors.end() ? Set() : best->first, bound);
}

/// `set` without the members of `removed`.
static std::vector<size_t> without(ArrayRef<size_t> set,
                                   ArrayRef<size_t> removed) {
  std::vector<size_t> left;
  llvm::copy_if(set, std::back_inserter(left), [&](size_t candidate) {
    return !llvm::is_contained(removed, candidate);
  });
  return left;
}

std::optional<Outcome> Searcher::shrink(Set kept, double bound, Trial trial) {
  bool isMinimal = kept.empty();
  size_t chunk = std::max<size_t>(kept.size() / 2, 1);
  while (!kept.empty()) {
    // The least score first: what helps least is likely not needed.
    std::vector<size_t> order = kept;
    llvm::sort(order, [&](size_t lhs, size_t rhs) {
      double left = candidates[lhs].score, right = candidates[rhs].score;
      return left != right ? left < right : lhs > rhs;
    });
    bool hasShrunk = false, isSure = true;
    for (size_t first = 0; first < order.size(); first += chunk) {
      auto removed =
          ArrayRef(order).slice(first, std::min(chunk, order.size() - first));
      Set fewer = without(kept, removed);
      Verdict verdict = test(fewer, bound, trial);
      if (verdict == Verdict::Failed) {
        return std::nullopt;
      }
      isSure &= verdict != Verdict::Unknown;
      if (verdict == Verdict::Met) {
        kept = std::move(fewer);
        hasShrunk = true;
      }
    }
    if (chunk == 1 && !hasShrunk) {
      isMinimal = isSure;
      break;
    }
    chunk = hasShrunk && chunk == 1 ? 1 : std::max<size_t>(chunk / 2, 1);
  }
  Outcome outcome = finish(std::move(kept), bound);
  outcome.isMinimal = isMinimal || outcome.kept.empty();
  return outcome;
}

} // namespace ampc::tune
