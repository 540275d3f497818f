//===- thread_pool_test.cpp - Every item once, and nothing early ----------===//
#include "runtime/devices/cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <vector>

using namespace ampc::runtime;

namespace {

struct PoolHolder {
  explicit PoolHolder(uint32_t threads) {
    Status status = ThreadPool::create(threads, &pool);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  ~PoolHolder() { ThreadPool::destroy(pool); }
  ThreadPool *operator->() { return pool; }
  ThreadPool *pool = nullptr;
};

struct Counting {
  std::vector<std::atomic<int>> hits;
  std::vector<std::atomic<int>> active; // by thread
  std::atomic<bool> clash{false};

  Counting(int64_t items, uint32_t threads)
      : hits(static_cast<size_t>(items)), active(threads) {}
  static void task(void *context, int64_t item, uint32_t thread) {
    auto &self = *static_cast<Counting *>(context);
    if (self.active.at(thread).fetch_add(1) != 0) {
      self.clash = true;
    }
    self.hits.at(static_cast<size_t>(item)).fetch_add(1);
    self.active.at(thread).fetch_sub(1);
  }
};

TEST(ThreadPool, everyItemOnce) {
  for (uint32_t threads : {1u, 2u, 3u, 8u, 33u}) {
    PoolHolder pool(threads);
    EXPECT_EQ(pool->numThreads(), threads);
    for (int64_t items : {0, 1, 2, 3, 7, 64, 1000}) {
      Counting counting(items, threads);
      pool->parallelFor(Counting::task, &counting, items);
      for (auto &hit : counting.hits) {
        ASSERT_EQ(hit.load(), 1) << threads << " threads, " << items;
      }
      EXPECT_FALSE(counting.clash) << "two tasks with one thread number";
    }
  }
}

TEST(ThreadPool, moreItemsThanOneTicketHolds) {
  constexpr int64_t items = (1 << 24) + 100;
  struct Sums {
    std::atomic<int64_t> sum[2] = {};
    std::atomic<int64_t> last{0};
  } sums;
  PoolHolder pool(2);
  pool->parallelFor(
      [](void *context, int64_t item, uint32_t thread) {
        auto &out = *static_cast<Sums *>(context);
        out.sum[thread].fetch_add(item, std::memory_order_relaxed);
        if (item == items - 1) {
          out.last.fetch_add(1);
        }
      },
      &sums, items);
  EXPECT_EQ(sums.sum[0] + sums.sum[1], items * (items - 1) / 2);
  EXPECT_EQ(sums.last, 1);
}

/// Launches back to back: an item that leaked from one launch into the next, or
/// a return before the last item, breaks the sum at once.
TEST(ThreadPool, launchesDoNotMix) {
  struct Launch {
    std::atomic<int64_t> done{0};
    int64_t tag = 0;
    std::atomic<bool> stale{false};
  };
  for (uint32_t threads : {2u, 4u, 16u}) {
    PoolHolder pool(threads);
    Launch launches[2];
    for (int64_t i = 0; i < 20000; ++i) {
      Launch &launch = launches[i & 1];
      launch.tag = i;
      launch.done = 0;
      int64_t items = 2 + i % 7;
      struct Context {
        Launch *launch;
        int64_t tag;
      } context = {&launch, i};
      pool->parallelFor(
          [](void *argument, int64_t, uint32_t) {
            auto &self = *static_cast<Context *>(argument);
            if (self.launch->tag != self.tag) {
              self.launch->stale = true;
            }
            self.launch->done.fetch_add(1, std::memory_order_relaxed);
          },
          &context, items);
      ASSERT_EQ(launch.done.load(), items);
    }
    EXPECT_FALSE(launches[0].stale || launches[1].stale);
  }
}

TEST(ThreadPool, nestedRunsOnTheSameThread) {
  struct Outer {
    ThreadPool *pool;
    std::atomic<int> inner{0};
    std::atomic<bool> moved{false};
  };
  for (uint32_t threads : {1u, 4u}) {
    PoolHolder pool(threads);
    Outer outer{pool.pool};
    pool->parallelFor(
        [](void *context, int64_t, uint32_t thread) {
          struct Inner {
            Outer *outer;
            uint32_t thread;
          } inner = {static_cast<Outer *>(context), thread};
          inner.outer->pool->parallelFor(
              [](void *argument, int64_t, uint32_t innerThread) {
                auto &self = *static_cast<Inner *>(argument);
                self.outer->inner.fetch_add(1);
                if (innerThread != self.thread) {
                  self.outer->moved = true;
                }
              },
              &inner, 10);
        },
        &outer, 20);
    EXPECT_EQ(outer.inner, 200);
    EXPECT_FALSE(outer.moved);
  }
}

TEST(ThreadPool, wakesAfterSleep) {
  PoolHolder pool(4);
  for (int round = 0; round < 5; ++round) {
    usleep(20000); // long enough that every thread has gone to sleep
    Counting counting(100, 4);
    pool->parallelFor(Counting::task, &counting, 100);
    for (auto &hit : counting.hits) {
      ASSERT_EQ(hit.load(), 1);
    }
  }
}

TEST(ThreadPool, createAndDestroyRepeatedly) {
  for (int i = 0; i < 200; ++i) {
    PoolHolder pool(1 + static_cast<uint32_t>(i) % 5);
    if (i % 2) {
      Counting counting(10, pool->numThreads());
      pool->parallelFor(Counting::task, &counting, 10);
    }
  }
}

TEST(ThreadPool, availableCpusIsPositive) {
  EXPECT_GE(availableCpus(), 1u);
  EXPECT_LE(availableCpus(),
            static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_CONF)));
}

} // namespace
