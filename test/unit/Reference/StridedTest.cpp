//===- StridedTest.cpp - Copies and casts of tensors in any layout --------===//
#include "dialects/Amp/Reference/Strided.h"
#include "dialects/Amp/Reference/Convert.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace llvm;
using namespace ampc::ref;

namespace {

/// Element by element, the definition of copyStrided.
void copySlowly(unsigned width, ArrayRef<int64_t> shape, char *to,
                ArrayRef<int64_t> toStrides, const char *from,
                ArrayRef<int64_t> fromStrides) {
  if (shape.empty()) {
    std::memcpy(to, from, width);
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i) {
    copySlowly(width, shape.drop_front(), to + i * toStrides[0] * width,
               toStrides.drop_front(), from + i * fromStrides[0] * width,
               fromStrides.drop_front());
  }
}

// Permutations with reversed dimensions, sizes around those of a block.
TEST(Strided, CopiesAnyOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    unsigned width = 1u << (random() % 4);
    size_t rank = random() % 5;
    Dims shape, permuted;
    int64_t count = 1;
    for (size_t i = 0; i < rank; ++i) {
      shape.push_back(random() % (rank < 3 ? 90 : 12));
      count *= shape.back();
    }
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (size_t dim : order) {
      permuted.push_back(shape[dim]);
    }
    Dims layout = getStrides(permuted), strides(rank);
    int64_t base = 0;
    for (size_t i = 0; i < rank; ++i) {
      int64_t stride = layout[i];
      if (random() % 3 == 0 && count) {
        base += stride * (permuted[i] - 1);
        stride = -stride;
      }
      strides[order[i]] = stride;
    }
    std::vector<char> from(count * width), fast(count * width, 1), slow = fast;
    for (char &byte : from) {
      byte = static_cast<char>(random());
    }
    Dims to = getStrides(shape);
    copyStrided(width, shape, fast.data(), to, from.data() + base * width,
                strides);
    copySlowly(width, shape, slow.data(), to, from.data() + base * width,
               strides);
    ASSERT_EQ(fast, slow) << "round " << round;
  }
}

TEST(Strided, WalksBroadcastRows) {
  // [2, 1, 3] and [4, 1] broadcast to [2, 4, 3].
  int64_t visited = 0;
  walkRows({2, 4, 3}, {Dims{12, 3, 1}, Dims{3, 0, 1}, Dims{0, 1, 0}},
           [&](ArrayRef<int64_t> at, int64_t length, ArrayRef<int64_t> step) {
             for (int64_t i = 0; i < length; ++i, ++visited) {
               int64_t linear = at[0] + i * step[0];
               EXPECT_EQ(linear, visited);
               EXPECT_EQ(at[1] + i * step[1], linear / 12 * 3 + linear % 3);
               EXPECT_EQ(at[2] + i * step[2], linear / 3 % 4);
             }
           });
  EXPECT_EQ(visited, 24);
}

// Bytes of a mapped file begin anywhere.
TEST(Tensor, BorrowsUnalignedBytes) {
  mlir::MLIRContext context;
  mlir::Builder b(&context);
  double values[3] = {1.5, -2.25, 3.0};
  std::vector<char> file(1 + sizeof values);
  std::memcpy(file.data() + 1, values, sizeof values);
  auto tensor = Tensor::borrow(mlir::RankedTensorType::get({3}, b.getF64Type()),
                               file.data() + 1);
  EXPECT_EQ(tensor.getDouble(1), -2.25);
  auto narrow = convert(tensor, b.getF32Type());
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->getDouble(2), 3.0);
  EXPECT_EQ(tensor.getBytes().data(), file.data() + 1);
}

TEST(Tensor, KnowsItsLimits) {
  mlir::MLIRContext context;
  mlir::Builder b(&context);
  auto size = [&](ArrayRef<int64_t> shape, mlir::Type element) {
    return getByteSize(mlir::RankedTensorType::get(shape, element));
  };
  EXPECT_EQ(size({1 << 30, 1 << 30}, b.getF32Type()), int64_t(1) << 62);
  EXPECT_EQ(size({1 << 30, 1 << 30, 2}, b.getF32Type()), std::nullopt);
  EXPECT_EQ(size({INT64_MAX, INT64_MAX, 0}, b.getF32Type()), 0);
  EXPECT_EQ(size({2}, b.getI4Type()), std::nullopt);
  EXPECT_FALSE(Tensor::allocate(
      mlir::RankedTensorType::get({1 << 30, 1 << 30}, b.getF32Type())));
}

} // namespace
