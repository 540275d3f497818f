//===- clocks_test.cpp - Who knows what has happened ----------------------===//
#include "runtime/devices/sim/clocks.h"

#include <gtest/gtest.h>
#include <vector>

using namespace ampc::runtime::sim;

namespace {

class ClocksTest : public testing::Test {
protected:
  ClocksTest() {
    clocks.allocate(64);
    clocks.reset();
  }
  Clocks clocks;
};

TEST_F(ClocksTest, NobodyKnowsOthersAtFirst) {
  EXPECT_TRUE(clocks.knows(3, 3, 1));
  EXPECT_FALSE(clocks.knows(3, 4, 1));
}

TEST_F(ClocksTest, AfterABarrierAllIsKnown) {
  uint32_t before = clocks.now(4);
  clocks.meetAll();
  EXPECT_TRUE(clocks.knows(3, 4, before));
  EXPECT_FALSE(clocks.knows(3, 4, clocks.now(4)));
}

TEST_F(ClocksTest, SomeMeet) {
  uint32_t members[] = {1, 2};
  uint32_t before = clocks.now(1);
  clocks.meet(members, 2);
  EXPECT_TRUE(clocks.knows(2, 1, before));
  EXPECT_FALSE(clocks.knows(3, 1, before));
  // It goes on to those who meet one of them, and to all with a barrier.
  uint32_t others[] = {2, 3};
  clocks.meet(others, 2);
  EXPECT_TRUE(clocks.knows(3, 1, before));
  EXPECT_FALSE(clocks.knows(5, 1, before));
  clocks.meetAll();
  EXPECT_TRUE(clocks.knows(5, 1, before));
}

TEST_F(ClocksTest, ReleaseAndAcquire) {
  std::vector<uint32_t> through(clocks.agents());
  uint32_t before = clocks.now(7);
  clocks.release(7, through.data());
  EXPECT_FALSE(clocks.knows(8, 7, before));
  clocks.acquire(8, through.data());
  EXPECT_TRUE(clocks.knows(8, 7, before));
  EXPECT_FALSE(clocks.knows(8, 7, clocks.now(7)));
}

TEST_F(ClocksTest, CopiesAreKnownToWhoeverWaitsAndThenMeets) {
  uint32_t copies = clocks.copiesOf(5);
  EXPECT_FALSE(clocks.knows(5, copies, 1));
  clocks.learn(5, copies, 1);
  EXPECT_TRUE(clocks.knows(5, copies, 1));
  EXPECT_FALSE(clocks.knows(5, copies, 2));
  EXPECT_FALSE(clocks.knows(6, copies, 1));
  clocks.meetAll();
  EXPECT_TRUE(clocks.knows(6, copies, 1));
}

TEST_F(ClocksTest, StreamsAreUnknownWhenMade) {
  uint32_t members[] = {1, 2};
  clocks.meet(members, 2);
  uint32_t stream = clocks.addStream();
  ASSERT_NE(stream, 0u);
  EXPECT_FALSE(clocks.knows(1, stream, 1));
  clocks.learn(1, stream, 1);
  EXPECT_TRUE(clocks.knows(1, stream, 1));
  for (uint32_t i = 1; i < Clocks::maxStreams; ++i) {
    EXPECT_NE(clocks.addStream(), 0u);
  }
  EXPECT_EQ(clocks.addStream(), 0u);
}

} // namespace
