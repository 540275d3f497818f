//===- DivergenceTest.cpp - Error metrics ---------------------------------===//
#include "compiler/Tune/Divergence.h"
#include "gtest/gtest.h"

#include <cmath>
#include <vector>

using namespace ampc::tune;

static constexpr double infinite = std::numeric_limits<double>::infinity();
static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

static Divergence compare(const std::vector<double> &got,
                          const std::vector<double> &expected,
                          uint64_t rowLength = 1) {
  Divergence divergence(rowLength);
  for (size_t i = 0; i < got.size(); ++i) {
    divergence.add(got[i], expected[i]);
  }
  return divergence;
}

TEST(Divergence, Metrics) {
  Divergence d = compare({3, 4.5}, {3, 4});
  EXPECT_DOUBLE_EQ(d.getError(Metric::Relative), 0.1);
  EXPECT_DOUBLE_EQ(d.getError(Metric::Maximum), 0.5);
  double cosine = (9 + 18) / (5 * std::sqrt(9 + 20.25));
  EXPECT_NEAR(d.getError(Metric::Cosine), 1 - cosine, 1e-15);
  EXPECT_DOUBLE_EQ(d.getFiniteMaximumRelative(), 0.125);
}

TEST(Divergence, NothingExpected) {
  // A reference of norm 0 leaves the absolute error.
  EXPECT_DOUBLE_EQ(compare({3, 4}, {0, 0}).getError(Metric::Relative), 5);
  EXPECT_DOUBLE_EQ(compare({3, 4}, {0, 0}).getError(Metric::Cosine), 1);
  EXPECT_DOUBLE_EQ(compare({0}, {0}).getError(Metric::Cosine), 0);
  for (Metric metric :
       {Metric::Relative, Metric::Maximum, Metric::Cosine, Metric::TopOne}) {
    EXPECT_EQ(compare({}, {}).getError(metric), 0);
  }
}

TEST(Divergence, CosineIgnoresScale) {
  Divergence d = compare({2, 4, 6}, {1, 2, 3});
  EXPECT_NEAR(d.getError(Metric::Cosine), 0, 1e-15);
  EXPECT_DOUBLE_EQ(d.getError(Metric::Relative), 1);
}

TEST(Divergence, KindsMustAgree) {
  for (auto [got, expected] : {std::pair(infinite, 1.0),
                               {1.0, infinite},
                               {notANumber, 1.0},
                               {infinite, -infinite},
                               {infinite, notANumber}}) {
    Divergence d = compare({got, 1}, {expected, 1});
    EXPECT_EQ(d.getNumMismatched(), 1u);
    EXPECT_EQ(d.getError(Metric::Relative), infinite);
    EXPECT_EQ(d.getError(Metric::Maximum), infinite);
    EXPECT_EQ(d.getError(Metric::Cosine), infinite);
    EXPECT_EQ(d.getFiniteRelative(), 0);
  }
  Divergence same = compare({infinite, -infinite, notANumber, 2},
                            {infinite, -infinite, notANumber, 1});
  EXPECT_EQ(same.getNumMismatched(), 0u);
  EXPECT_EQ(same.getError(Metric::Relative), 1);
}

TEST(Divergence, TopOne) {
  // The second of three rows changes its top element; one has it infinite.
  Divergence d = compare({1, 2, 5, 4, 7, infinite}, {1, 3, 4, 5, 7, 8}, 2);
  EXPECT_DOUBLE_EQ(d.getError(Metric::TopOne), 2.0 / 3);
  // The first of equal elements counts, in both.
  EXPECT_EQ(compare({1, 1}, {1, 1}, 2).getError(Metric::TopOne), 0);
}

TEST(Divergence, Ranges) {
  Divergence d = compare({-70000, 0, infinite}, {-80000, 1e-9, notANumber});
  EXPECT_EQ(d.getGotRange().largest, 70000);
  EXPECT_EQ(d.getGotRange().smallest, 70000);
  EXPECT_EQ(d.getGotRange().infinities, 1u);
  EXPECT_EQ(d.getExpectedRange().smallest, 1e-9);
  EXPECT_EQ(d.getExpectedRange().nans, 1u);
  EXPECT_FALSE(d.getExpectedRange().isFinite());
}

TEST(Divergence, NamesOfMetrics) {
  for (Metric metric :
       {Metric::Relative, Metric::Maximum, Metric::Cosine, Metric::TopOne}) {
    EXPECT_EQ(symbolizeMetric(stringifyMetric(metric)), metric);
  }
  EXPECT_EQ(symbolizeMetric("frobenius"), Metric::Relative);
  EXPECT_EQ(symbolizeMetric("worst"), std::nullopt);
  EXPECT_EQ((ErrorBound{Metric::Relative, 5e-3}.print()), "rel:0.005");
}
