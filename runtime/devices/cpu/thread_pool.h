//===- thread_pool.h - parallelFor with sub-microsecond launches ----------===//
//
// One 64-bit ticket holds the epoch of the current launch and how many of its
// items nobody has claimed yet. Claiming is a compare-and-swap on the whole
// ticket, so a thread that was descheduled during an old launch can never take
// an item of a newer one. A launch is over when all its *items* are completed:
// it never waits for a thread that claimed nothing. Idle threads spin for about
// a millisecond and then sleep on a futex.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_CPU_THREAD_POOL_H
#define AMPC_RUNTIME_DEVICES_CPU_THREAD_POOL_H

#include "runtime/core/support.h"

#include <atomic>
#include <pthread.h>

namespace ampc::runtime {

/// CPUs that this process may use: its affinity mask and its cgroup's quota.
uint32_t availableCpus();

class ThreadPool {
public:
  /// Does `item`; `thread` is below numThreads() and unique among the threads
  /// that run at the same time.
  using Task = void (*)(void *context, int64_t item, uint32_t thread);

  static constexpr uint32_t maxThreads = 1024;

  /// Starts `numThreads - 1` threads (the caller of parallelFor is the other
  /// one). `numThreads` is 1 to maxThreads. AMPC_DEVICE if a thread cannot be
  /// started.
  static Status create(uint32_t numThreads, ThreadPool **outPool);
  /// Joins the threads. Not during parallelFor; null is allowed.
  static void destroy(ThreadPool *pool);

  /// Runs `task` for each item in [0, items) and returns when all are done,
  /// with their effects visible. One caller at a time. Called from within a
  /// task of this pool, it runs all items on the calling thread.
  void parallelFor(Task task, void *context, int64_t items);

  uint32_t numThreads() const { return threadCount; }

private:
  // 40 bits of epoch do not repeat within days, even at a launch per 0.1 us.
  static constexpr unsigned remainingBits = 24;
  static constexpr uint64_t remainingMask = (1ull << remainingBits) - 1;

  struct Worker {
    ThreadPool *pool;
    uint32_t index;
    pthread_t handle;
  };

  ThreadPool() = default;
  static void *workerMain(void *worker);
  void runRound(Task task, void *context, int64_t base, uint32_t items);
  uint32_t drain(uint64_t epoch, uint32_t thread);
  void completed(uint32_t items);
  uint64_t awaitEpochAfter(uint64_t seen);
  void awaitCompletion(uint32_t items);

  alignas(64) std::atomic<uint64_t> ticket{0}; // epoch << 24 | unclaimed
  // The launch; written while no item is unclaimed. A thread may read these
  // during a write, but then its claim fails.
  alignas(64) std::atomic<Task> jobTask{nullptr};
  std::atomic<void *> jobContext{nullptr};
  std::atomic<int64_t> jobBase{0};
  std::atomic<uint32_t> jobItems{0};
  std::atomic<bool> stopping{false};
  alignas(64) std::atomic<uint32_t> done{0};
  std::atomic<uint32_t> callerSleeps{0};
  alignas(64) std::atomic<uint32_t> wakeWord{0}; // low bits of the epoch
  std::atomic<uint32_t> sleepers{0};

  uint32_t threadCount = 1;
  uint32_t spins = 0;
  Vec<Worker> workers; // of threads 1 and up; does not move
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_DEVICES_CPU_THREAD_POOL_H
