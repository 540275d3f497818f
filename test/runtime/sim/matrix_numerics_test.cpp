//===- matrix_numerics_test.cpp - Against vectors of the rule -------------===//
//
// test/data/mma_vectors.tsv holds dot products computed in exact integer
// arithmetic by another program: architecture, types, C, A, B, D as bits.
//
//===----------------------------------------------------------------------===//
#include "runtime/devices/sim/matrix_numerics.h"

#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace ampc::runtime::sim;

namespace {

struct Vector {
  uint32_t arch;
  MatrixType type, out;
  uint32_t c, d;
  std::vector<uint32_t> a, b;
};

std::vector<uint32_t> parseList(const std::string &text) {
  std::vector<uint32_t> values;
  std::istringstream in(text);
  std::string item;
  while (std::getline(in, item, ',')) {
    values.push_back(static_cast<uint32_t>(std::stoul(item, nullptr, 16)));
  }
  return values;
}

MatrixType parseType(const std::string &name) {
  return name == "f16"    ? MatrixType::f16
         : name == "bf16" ? MatrixType::bf16
         : name == "tf32" ? MatrixType::tf32
                          : MatrixType::f32;
}

std::vector<Vector> readVectors() {
  std::ifstream in(AMPC_MMA_VECTORS);
  std::vector<Vector> vectors;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream row(line);
    std::string arch, type, out, c, a, b, d;
    row >> arch >> type >> out >> c >> a >> b >> d;
    Vector vector;
    vector.arch = arch == "turing"   ? 75
                  : arch == "ampere" ? 80
                  : arch == "ada"    ? 89
                                     : 90;
    vector.type = parseType(type);
    vector.out = parseType(out);
    vector.c = parseList(c)[0];
    vector.d = parseList(d)[0];
    vector.a = parseList(a);
    vector.b = parseList(b);
    vectors.push_back(vector);
  }
  return vectors;
}

/// Multiplies with the vector's operands in row and column `at`, and others
/// around them.
uint32_t multiplyAt(const Vector &vector, uint32_t at, bool specialNeighbour) {
  uint32_t k = static_cast<uint32_t>(vector.a.size());
  auto a = std::make_unique<MatrixOperand>();
  auto b = std::make_unique<MatrixOperand>();
  std::vector<uint32_t> aBits(8 * k), bBits(k * 8), cd(64, vector.c);
  std::mt19937 random(at);
  uint32_t one = vector.type == MatrixType::f16    ? 0x3c00
                 : vector.type == MatrixType::bf16 ? 0x3f80
                                                   : 0x3f800000;
  for (uint32_t i = 0; i < 8; ++i) {
    for (uint32_t j = 0; j < k; ++j) {
      aBits[i * k + j] = i == at ? vector.a[j] : one;
      bBits[j * 8 + i] = i == at ? vector.b[j] : one;
    }
  }
  if (specialNeighbour) {
    uint32_t nan = vector.type == MatrixType::tf32 ? 0x7fc00000 : 0x7fff;
    aBits[(at ^ 1) * k] = nan;
  }
  for (uint32_t i = 0; i < 8 * k; ++i) {
    a->decode(i, vector.type, aBits[i]);
    b->decode(i, vector.type, bBits[i]);
  }
  matrixMultiply(matrixUnit(vector.arch),
                 {8, 8, k, vector.type, vector.out, a.get(), b.get(),
                  aBits.data(), bBits.data(), cd.data()});
  return cd[at * 8 + at];
}

TEST(MatrixNumerics, DotEqualsTheVectors) {
  std::vector<Vector> vectors = readVectors();
  ASSERT_EQ(vectors.size(), 2000u);
  for (size_t i = 0; i < vectors.size(); ++i) {
    const Vector &vector = vectors[i];
    EXPECT_EQ(matrixDot(matrixUnit(vector.arch), vector.type, vector.out,
                        vector.c, vector.a.data(), vector.b.data(),
                        static_cast<uint32_t>(vector.a.size())),
              vector.d)
        << "vector " << i;
  }
}

TEST(MatrixNumerics, FastPathEqualsTheVectors) {
  std::vector<Vector> vectors = readVectors();
  for (size_t i = 0; i < vectors.size(); ++i) {
    uint32_t at = static_cast<uint32_t>(i % 8);
    EXPECT_EQ(multiplyAt(vectors[i], at, false), vectors[i].d)
        << "vector " << i;
    EXPECT_EQ(multiplyAt(vectors[i], at, true), vectors[i].d) << "vector " << i;
  }
}

/// Random finite operands of every exponent: the fast path is the rule.
TEST(MatrixNumerics, FastPathEqualsTheRule) {
  std::mt19937 random(7);
  const MatrixType types[] = {MatrixType::f16, MatrixType::bf16,
                              MatrixType::tf32};
  for (uint32_t arch : {70u, 75u, 80u, 89u, 90u, 100u}) {
    for (int round = 0; round < 300; ++round) {
      MatrixType type = types[random() % 3];
      MatrixType out = type == MatrixType::f16 && random() % 2
                           ? MatrixType::f16
                           : MatrixType::f32;
      uint32_t k = type == MatrixType::tf32 ? 8 : 16;
      uint32_t spread = round % 3 == 0 ? 3 : 31;
      auto bits = [&](MatrixType of) {
        uint32_t sign = random() & 1, fraction = random();
        uint32_t exponent = random() % spread;
        switch (of) {
        case MatrixType::f16:
          return sign << 15 | (exponent % 31) << 10 | (fraction & 0x3ff);
        case MatrixType::bf16:
          return sign << 15 | (exponent * 8) << 7 | (fraction & 0x7f);
        default:
          return sign << 31 | (exponent * 8) << 23 | (fraction & 0x7fffff);
        }
      };
      auto a = std::make_unique<MatrixOperand>();
      auto b = std::make_unique<MatrixOperand>();
      std::vector<uint32_t> aBits(8 * k), bBits(8 * k), cd(64), expected(64);
      for (uint32_t i = 0; i < 8 * k; ++i) {
        a->decode(i, type, aBits[i] = bits(type));
        b->decode(i, type, bBits[i] = bits(type));
      }
      for (uint32_t i = 0; i < 64; ++i) {
        cd[i] = bits(out);
        std::vector<uint32_t> column;
        for (uint32_t j = 0; j < k; ++j) {
          column.push_back(bBits[j * 8 + i % 8]);
        }
        expected[i] = matrixDot(matrixUnit(arch), type, out, cd[i],
                                &aBits[i / 8 * k], column.data(), k);
      }
      matrixMultiply(matrixUnit(arch), {8, 8, k, type, out, a.get(), b.get(),
                                        aBits.data(), bBits.data(), cd.data()});
      EXPECT_EQ(cd, expected) << "arch " << arch << " round " << round;
    }
  }
}

} // namespace
