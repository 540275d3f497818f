//===- tensor_map_test.cpp - What cuTensorMapEncodeTiled would refuse -----===//
#include "runtime/devices/sim/tensor_map.h"

#include <gtest/gtest.h>
#include <set>

using namespace ampc::runtime;
using namespace ampc::runtime::sim;

namespace {

class TensorMapTest : public testing::Test {
protected:
  const char *refusal() {
    status = encodeTensorMap(arguments, &map);
    return status.message();
  }
  alignas(16) char memory[16];
  uint64_t sizes[2] = {64, 32}, strides[1] = {128};
  uint32_t box[2] = {64, 8}, elementStrides[2] = {1, 1};
  TensorMapArguments arguments{
      6, 2, memory, sizes, strides, box, elementStrides, 0, 3, 0, 0};
  TensorMap map;
  Status status;
};

TEST_F(TensorMapTest, Valid) {
  EXPECT_TRUE(encodeTensorMap(arguments, &map).ok());
  EXPECT_EQ(map.boxBytes(), 64u * 8 * 2);
}

TEST_F(TensorMapTest, Refused) {
  sizes[1] = 0;
  EXPECT_STREQ(refusal(), "tensor map: expected sizes from 1 to 2^32, got 0");
  sizes[1] = 32;
  box[1] = 257;
  EXPECT_STREQ(refusal(),
               "tensor map: expected a box of 1 to 256 elements, got 257");
  box[1] = 8;
  box[0] = 128;
  EXPECT_STREQ(refusal(),
               "tensor map: expected a box no wider than its swizzle, got 256");
  box[0] = 4;
  EXPECT_STREQ(refusal(), "tensor map: expected a multiple of 16 bytes along "
                          "the box's first dimension, got 8");
  box[0] = 64;
  strides[0] = 120;
  EXPECT_STREQ(refusal(), "tensor map: expected strides that are multiples of "
                          "16 below 2^40, got 120");
  strides[0] = 128;
  arguments.rank = 6;
  EXPECT_STREQ(refusal(), "tensor map: expected a rank from 1 to 5, got 6");
  arguments.rank = 2;
  arguments.dataType = 0;
  arguments.oobFill = 1;
  EXPECT_FALSE(encodeTensorMap(arguments, &map).ok());
}

/// A swizzle moves the 16-byte chunks of a row, by its position among eight.
TEST(Swizzle, PermutesChunks) {
  EXPECT_EQ(swizzled(0, Swizzle::bytes128), 0u);
  EXPECT_EQ(swizzled(128, Swizzle::bytes128), 128u + 16);
  EXPECT_EQ(swizzled(7 * 128 + 7 * 16, Swizzle::bytes128), 7u * 128);
  EXPECT_EQ(swizzled(1024 + 5, Swizzle::bytes128), 1024u + 5);
  EXPECT_EQ(swizzled(128, Swizzle::bytes64), 128u + 16);
  EXPECT_EQ(swizzled(4 * 128, Swizzle::bytes64), 4u * 128);
  EXPECT_EQ(swizzled(128, Swizzle::bytes32), 128u + 16);
  EXPECT_EQ(swizzled(256, Swizzle::bytes32), 256u);
  for (Swizzle mode :
       {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128}) {
    std::set<uint64_t> seen;
    for (uint64_t i = 0; i < 1024; ++i) {
      seen.insert(swizzled(i, mode));
    }
    EXPECT_EQ(seen.size(), 1024u);
    EXPECT_EQ(*seen.rbegin(), 1023u);
  }
}

} // namespace
