//===- global_memory_test.cpp - Allocations and the order of launches -----===//
#include "runtime/devices/sim/global_memory.h"

#include <gtest/gtest.h>

using namespace ampc::runtime::sim;

namespace {

class GlobalMemoryTest : public testing::Test {
protected:
  GlobalMemoryTest() { EXPECT_TRUE(memory.allocate(1000, "x", &x).ok()); }
  uint32_t transfer(const char *name, bool writes, const LaunchSet &after) {
    uint32_t id = memory.beginLaunch(name, nullptr, after);
    memory.transfer(x, 1000, writes, id, false, report);
    memory.endLaunch();
    return id;
  }
  GlobalMemory memory;
  Report report;
  void *x = nullptr;
};

TEST_F(GlobalMemoryTest, AllocationsAreAlignedAndNoMore) {
  auto address = reinterpret_cast<uint64_t>(x);
  EXPECT_EQ(address % GlobalMemory::alignment, 0u);
  EXPECT_NE(address % (2 * GlobalMemory::alignment), 0u);
  EXPECT_EQ(memory.sizeOf(x), 1000u);
  EXPECT_TRUE(memory.contains(x, 1000));
  EXPECT_FALSE(memory.contains(x, 1001));
  EXPECT_EQ(memory.bytesInUse(), 1000u);
}

TEST_F(GlobalMemoryTest, WhatTheHostWroteIsWritten) {
  EXPECT_EQ(memory.unwritten(x, 1000), 1000u);
  memory.hostWrite(static_cast<char *>(x) + 10, 90);
  EXPECT_EQ(memory.unwritten(x, 1000), 910u);
}

TEST_F(GlobalMemoryTest, ReleaseChecks) {
  EXPECT_FALSE(memory.release(static_cast<char *>(x) + 4).ok());
  static_cast<char *>(x)[1000] = 1;
  ampc::runtime::Status status = memory.release(x);
  EXPECT_STREQ(status.message(), "the host wrote beyond x");
  EXPECT_FALSE(memory.release(x).ok());
  EXPECT_STREQ(memory.describe(reinterpret_cast<uint64_t>(x)).c_str(),
               "x + 0 (it has been freed)");
}

TEST_F(GlobalMemoryTest, ZeroAndHugeSizes) {
  void *other;
  EXPECT_FALSE(memory.allocate(0, "none", &other).ok());
  EXPECT_FALSE(memory.allocate(~0ull - 5, "huge", &other).ok());
}

TEST_F(GlobalMemoryTest, LaunchSets) {
  LaunchSet a, b;
  for (uint32_t i = 1; i <= 1000; ++i) {
    a.add(i);
  }
  b.add(700);
  b.add(2000);
  EXPECT_TRUE(a.has(1) && a.has(64) && a.has(1000));
  EXPECT_FALSE(a.has(1001) || a.has(5000));
  EXPECT_TRUE(b.has(700) && b.has(2000));
  EXPECT_FALSE(b.has(699) || b.has(1) || b.has(1999));
  LaunchSet both;
  both.add(b);
  both.add(a);
  b.add(a);
  for (const LaunchSet *set : {&both, &b}) {
    EXPECT_TRUE(set->has(5) && set->has(1000) && set->has(2000));
    EXPECT_FALSE(set->has(1001) || set->has(1999) || set->has(2001));
  }
  a.clear();
  EXPECT_FALSE(a.has(1));
}

TEST_F(GlobalMemoryTest, LaunchesBeginAnew) {
  LaunchSet none;
  transfer("first", true, none);
  for (uint32_t i = 1; i < GlobalMemory::maxLaunches; ++i) {
    memory.beginLaunch("", nullptr, none);
  }
  transfer("second", true, none);
  EXPECT_TRUE(report.clean());
  transfer("third", true, none);
  EXPECT_FALSE(report.clean());
}

TEST_F(GlobalMemoryTest, OrderedLaunchesDoNotRace) {
  LaunchSet after;
  after.add(transfer("first", true, after));
  transfer("second", true, after);
  EXPECT_TRUE(report.clean()) << report.text().c_str();
}

TEST_F(GlobalMemoryTest, UnorderedLaunchesRace) {
  LaunchSet none;
  transfer("first", true, none);
  transfer("second", false, none);
  ASSERT_TRUE(report.has(Fault::globalRace));
  EXPECT_NE(strstr(report.text().c_str(),
                   "read of x + 0 races with a write by first"),
            nullptr)
      << report.text().c_str();
}

TEST_F(GlobalMemoryTest, ReadsDoNotRace) {
  LaunchSet none, after;
  memory.hostWrite(x, 1000);
  transfer("first", false, none);
  transfer("second", false, none);
  EXPECT_TRUE(report.clean());
  transfer("third", true, none);
  EXPECT_FALSE(report.clean());
}

TEST_F(GlobalMemoryTest, SynchronizeOrdersEverything) {
  LaunchSet none;
  transfer("first", true, none);
  memory.synchronize();
  transfer("second", true, none);
  EXPECT_TRUE(report.clean());
}

} // namespace
