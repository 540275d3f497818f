//===- BernoulliTest.cpp - Random bits, their values and statistics -------===//
#include "dialects/Train/IR/Philox.h"
#include "test/unit/Amp/OpRunner.h"
#include <cmath>

using namespace ampc;
using namespace ampc::test;

namespace {
using Words = std::array<uint32_t, 4>;

/// What one micro-step draws for one dropout.
struct Draw {
  int64_t seed = 0;
  int32_t update = 0, micro = 0;
  int64_t stream = 0;
};

std::vector<uint8_t> draw(const Draw &d, double probability,
                          llvm::StringRef shape, bool &vectorized) {
  std::string attributes = "{probability = " + std::to_string(probability) +
                           " : f64, stream = " + std::to_string(d.stream) +
                           " : i64}";
  std::string type =
      ("(tensor<i64>, tensor<i32>, tensor<i32>) -> tensor<" + shape + "xi1>")
          .str();
  auto result = evaluateIndexed<uint8_t>(
      "train.bernoulli", attributes, type, std::vector<int64_t>{d.seed},
      std::vector<int32_t>{d.update}, std::vector<int32_t>{d.micro});
  vectorized = result.vectorized;
  return result.values;
}

std::vector<uint8_t> drawMany(const Draw &d, double probability) {
  bool vectorized;
  return draw(d, probability, "64x1024", vectorized);
}

/// Whether a share of `count` trials is within five standard deviations.
void expectShare(double share, double probability, size_t count) {
  double deviation =
      std::sqrt(probability * (1 - probability) / static_cast<double>(count));
  EXPECT_NEAR(share, probability, 5 * deviation);
}

double shareOf(const std::vector<uint8_t> &bits) {
  double sum = 0;
  for (uint8_t bit : bits) {
    sum += bit;
  }
  return sum / static_cast<double>(bits.size());
}
} // namespace

/// The vectors that Random123 has for philox4x32 of 10 rounds (kat_vectors).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(train::philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(train::philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(train::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                          {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// What is compiled, by element and by vectors, is what is defined, with each
/// number in its place.
TEST(Bernoulli, CompiledAsDefined) {
  for (const Draw &d :
       {Draw{},
        Draw{int64_t(0x299f31d0a4093822), 0x03707344, 0x13198a2e, 0x85a308d3},
        Draw{-1, -1, -1, 0xffffffff}, Draw{1, 2, 3, 4}}) {
    for (double probability : {0.25, 0.9, 0.0}) {
      for (llvm::StringRef shape : {"3x4x8", "5x3", "1"}) {
        bool vectorized = false;
        std::vector<uint8_t> bits = draw(d, probability, shape, vectorized);
        EXPECT_EQ(vectorized, shape == "3x4x8");
        for (size_t i = 0; i < bits.size(); ++i) {
          uint32_t word = train::philox(
              {static_cast<uint32_t>(i), static_cast<uint32_t>(d.stream),
               static_cast<uint32_t>(d.micro), static_cast<uint32_t>(d.update)},
              {static_cast<uint32_t>(d.seed),
               static_cast<uint32_t>(static_cast<uint64_t>(d.seed) >> 32)})[0];
          ASSERT_EQ(bits[i], word < std::round(std::ldexp(probability, 32)))
              << shape.str() << ", element " << i;
        }
      }
    }
  }
}

TEST(Bernoulli, MeanAndVariance) {
  for (double probability : {0.001, 0.1, 0.5, 0.8, 0.999}) {
    std::vector<uint8_t> bits = drawMany({7, 1, 0, 2}, probability);
    expectShare(shareOf(bits), probability, bits.size());
    // Sums of 64 neighbours scatter as those of independent bits do.
    double squares = 0;
    size_t sums = bits.size() / 64;
    for (size_t i = 0; i < sums; ++i) {
      double sum = 0;
      for (size_t j = 0; j < 64; ++j) {
        sum += bits[64 * i + j];
      }
      squares += std::pow(sum - 64 * probability, 2);
    }
    double variance = 64 * probability * (1 - probability);
    // The fourth moment of a binomial bounds how the estimate scatters.
    double excess = (1 - 6 * probability * (1 - probability)) / variance;
    double deviation =
        variance * std::sqrt((2 + excess) / static_cast<double>(sums));
    EXPECT_NEAR(squares / static_cast<double>(sums), variance, 5 * deviation);
  }
}

/// Two draws that differ in one number agree as often as chance has it.
TEST(Bernoulli, IndependentOfOneAnother) {
  constexpr double probability = 0.8;
  constexpr double agreement =
      probability * probability + (1 - probability) * (1 - probability);
  Draw base{42, 10, 1, 3};
  std::vector<uint8_t> first = drawMany(base, probability);
  Draw others[] = {base, base, base, base, base, base};
  others[0].seed ^= 1;
  others[1].seed ^= int64_t(1) << 40;
  others[2].update += 1;
  others[3].micro += 1;
  others[4].stream += 1;
  std::swap(others[5].update, others[5].micro);
  for (const Draw &other : others) {
    std::vector<uint8_t> second = drawMany(other, probability);
    double equal = 0;
    for (size_t i = 0; i < first.size(); ++i) {
      equal += first[i] == second[i];
    }
    expectShare(equal / static_cast<double>(first.size()), agreement,
                first.size());
  }
  EXPECT_EQ(first, drawMany(base, probability));
}
