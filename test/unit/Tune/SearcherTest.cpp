//===- SearcherTest.cpp - Searches on made-up costs -----------------------===//
#include "compiler/Tune/Searcher.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <set>

using namespace ampc::tune;
using llvm::ArrayRef;

using Set = std::vector<size_t>;

static std::vector<Candidate> makeCandidates(ArrayRef<double> scores) {
  std::vector<Candidate> candidates;
  for (double score : scores) {
    candidates.push_back({score, {}});
  }
  return candidates;
}

/// An error that is infinite unless all of `needed` are kept, and else 0.
static auto needs(const Set &needed) {
  return [needed](ArrayRef<size_t> kept) -> std::optional<double> {
    bool hasAll = llvm::all_of(
        needed, [&](size_t one) { return llvm::is_contained(kept, one); });
    return hasAll ? 0.0 : HUGE_VAL;
  };
}

TEST(Searcher, NothingToDo) {
  Searcher searcher(makeCandidates({1, 2, 3}), 10);
  auto outcome = searcher.search(0.5, needs({}));
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->isMet);
  EXPECT_TRUE(outcome->isMinimal);
  EXPECT_TRUE(outcome->kept.empty());
  EXPECT_EQ(searcher.getNumTrials(), 1u);
}

TEST(Searcher, SuspectsComeFirst) {
  std::vector<double> scores(100, 1e-3);
  scores[17] = scores[60] = scores[61] = HUGE_VAL;
  Searcher searcher(makeCandidates(scores), 64);
  auto outcome = searcher.search(1e-3, needs({17, 60}));
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->isMet);
  EXPECT_TRUE(outcome->isMinimal);
  EXPECT_EQ(outcome->kept, (Set{17, 60}));
  EXPECT_LE(searcher.getNumTrials(), 8u);
}

TEST(Searcher, FindsWhatTheScoresHide) {
  // The needed one has the least score: doubling reaches it, shrinking drops
  // the rest.
  std::vector<double> scores;
  for (size_t i = 0; i < 40; ++i) {
    scores.push_back(40.0 - i);
  }
  Searcher searcher(makeCandidates(scores), 200);
  auto outcome = searcher.search(0, needs({39}));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kept, (Set{39}));
  EXPECT_TRUE(outcome->isMinimal);
}

TEST(Searcher, SumsOfErrors) {
  // Each candidate that is not kept adds its score; the smallest set is that of
  // the largest scores.
  std::vector<double> scores;
  for (size_t i = 0; i < 30; ++i) {
    scores.push_back(i < 25 ? 0.01 : 1.0 + i);
  }
  auto sum = [&](ArrayRef<size_t> kept) -> std::optional<double> {
    double error = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      error += llvm::is_contained(kept, i) ? 0 : scores[i];
    }
    return error;
  };
  Searcher searcher(makeCandidates(scores), 64);
  auto outcome = searcher.search(0.5, sum);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kept, (Set{25, 26, 27, 28, 29}));
  EXPECT_NEAR(outcome->error, 0.25, 1e-12);
}

TEST(Searcher, GapsAreClosed) {
  // 0 -> 1 -> 2: both ends are suspects, the middle joins them in the first
  // set.
  std::vector<Candidate> chain(6);
  chain[0].score = chain[2].score = HUGE_VAL;
  for (size_t i = 1; i < chain.size(); ++i) {
    chain[i].producers = {i - 1};
  }
  std::vector<Set> seen;
  auto record = [&](ArrayRef<size_t> kept) -> std::optional<double> {
    seen.emplace_back(kept.begin(), kept.end());
    return *needs({0, 1, 2})(kept);
  };
  Searcher searcher(chain, 64);
  auto outcome = searcher.search(0, record);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->kept, (Set{0, 1, 2}));
  ASSERT_GE(seen.size(), 2u);
  EXPECT_EQ(seen[1], (Set{0, 1, 2}));
}

TEST(Searcher, NoTrialIsMadeTwice) {
  std::set<Set> seen;
  auto once = [&](ArrayRef<size_t> kept) -> std::optional<double> {
    EXPECT_TRUE(seen.insert(Set(kept.begin(), kept.end())).second);
    return 1.0 / (1 + kept.size());
  };
  Searcher searcher(makeCandidates(std::vector<double>(16, 1)), 1000);
  ASSERT_TRUE(searcher.search(0.2, once));
  unsigned first = searcher.getNumTrials();
  auto tighter = searcher.search(0.1, once);
  ASSERT_TRUE(tighter);
  EXPECT_EQ(tighter->kept.size(), 9u);
  EXPECT_EQ(searcher.getNumTrials(), seen.size());
  EXPECT_GT(searcher.getNumTrials(), first);
}

TEST(Searcher, BudgetEnds) {
  Set all(64);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  // The first two sets fail and the third trial is not to be had.
  Searcher few(makeCandidates(std::vector<double>(64, 1)), 2);
  auto nothing = few.search(0, needs(all));
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(nothing->isMet);
  EXPECT_EQ(few.getNumTrials(), 2u);
  // Enough to grow, not to shrink: the bound holds, smallness is not known.
  Searcher some(makeCandidates(std::vector<double>(64, 1)), 9);
  auto grown = some.search(0, needs({0, 33}));
  ASSERT_TRUE(grown);
  EXPECT_TRUE(grown->isMet);
  EXPECT_FALSE(grown->isMinimal);
  EXPECT_LE(some.getNumTrials(), 9u);
  EXPECT_EQ(*needs({0, 33})(grown->kept), 0);
}

TEST(Searcher, ImpossibleBound) {
  auto never = [](ArrayRef<size_t> kept) -> std::optional<double> {
    return 1.0 + 1.0 / (1 + kept.size());
  };
  Searcher searcher(makeCandidates({3, 2, 1}), 64);
  auto outcome = searcher.search(0.5, never);
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->isMet);
  EXPECT_EQ(outcome->kept, (Set{0, 1, 2})); // the least error
  Searcher empty({}, 64);
  EXPECT_FALSE(empty.search(0.5, never)->isMet);
}

TEST(Searcher, FailureEndsTheSearch) {
  unsigned calls = 0;
  auto fails = [&](ArrayRef<size_t>) -> std::optional<double> {
    return ++calls == 2 ? std::nullopt : std::optional(1.0);
  };
  Searcher searcher(makeCandidates({3, 2, 1}), 64);
  EXPECT_FALSE(searcher.search(0.5, fails));
  EXPECT_EQ(calls, 2u);
}

/// Whatever the costs, a set that is called minimal is so.
TEST(Searcher, RandomCosts) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    size_t count = 1 + random() % 40;
    std::vector<double> weights(count), scores(count);
    for (size_t i = 0; i < count; ++i) {
      weights[i] = (random() % 1000) * (random() % 4 == 0 ? 10 : 0.01);
      scores[i] = random() % 3 ? weights[i] : random() % 1000;
    }
    auto cost = [&](ArrayRef<size_t> kept) -> std::optional<double> {
      double error = 0;
      for (size_t i = 0; i < count; ++i) {
        error += llvm::is_contained(kept, i) ? 0 : weights[i];
      }
      return error;
    };
    double bound = random() % 500;
    Searcher searcher(makeCandidates(scores), 5000);
    auto outcome = searcher.search(bound, cost);
    ASSERT_TRUE(outcome);
    ASSERT_TRUE(outcome->isMet);
    ASSERT_TRUE(outcome->isMinimal);
    EXPECT_LE(*cost(outcome->kept), bound);
    for (size_t i = 0; i < outcome->kept.size(); ++i) {
      Set fewer = outcome->kept;
      fewer.erase(fewer.begin() + i);
      EXPECT_GT(*cost(fewer), bound) << "seed " << seed;
    }
  }
}
