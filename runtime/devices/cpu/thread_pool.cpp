//===- thread_pool.cpp - parallelFor with sub-microsecond launches --------===//
#include "runtime/devices/cpu/thread_pool.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ampc::runtime {
namespace {

void pauseBriefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t),
              "a futex is a plain 32-bit word");

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

void futexWake(std::atomic<uint32_t> &word, uint32_t threads) {
  uint32_t count = threads < INT_MAX ? threads : INT_MAX;
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

/// The pool whose task this thread runs, and its index there.
thread_local const ThreadPool *currentPool = nullptr;
thread_local uint32_t currentThread = 0;

/// Whole CPUs that a cgroup (version 2) allows, or UINT32_MAX.
uint32_t cgroupCpus() {
  FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
  if (!file) {
    return UINT32_MAX;
  }
  unsigned long long quota = 0, period = 0;
  int fields = fscanf(file, "%llu %llu", &quota, &period);
  fclose(file);
  if (fields != 2 || period == 0 || quota == 0) {
    return UINT32_MAX;
  }
  unsigned long long cpus = (quota + period - 1) / period;
  return cpus < UINT32_MAX ? static_cast<uint32_t>(cpus) : UINT32_MAX;
}

} // namespace

uint32_t availableCpus() {
  uint32_t cpus = 0;
  // Machines with more CPUs than cpu_set_t holds need a larger set.
  for (int capacity = CPU_SETSIZE; capacity <= 65536; capacity *= 4) {
    cpu_set_t *set = CPU_ALLOC(capacity);
    size_t bytes = CPU_ALLOC_SIZE(capacity);
    int failed = set ? sched_getaffinity(0, bytes, set) : -1;
    cpus = failed ? 0 : static_cast<uint32_t>(CPU_COUNT_S(bytes, set));
    CPU_FREE(set);
    if (!failed || errno != EINVAL) {
      break;
    }
  }
  uint32_t allowed = cgroupCpus();
  cpus = cpus < allowed ? cpus : allowed;
  return cpus == 0 ? 1 : cpus;
}

Status ThreadPool::create(uint32_t numThreads, ThreadPool **outPool) {
  void *memory = nullptr;
  if (posix_memalign(&memory, alignof(ThreadPool), sizeof(ThreadPool)) != 0) {
    return Status::error(AMPC_LIMIT, "out of memory");
  }
  auto *pool = new (memory) ThreadPool();
  // Spinning pays only where the thread waited for can run at the same time.
  pool->spins = numThreads <= availableCpus() ? 20000 : 200;
  pool->threadCount = numThreads;
  pool->workers.reserve(numThreads);

  // Signals are the business of the program's own threads.
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int error = 0;
  for (uint32_t i = 1; i < numThreads && !error; ++i) {
    Worker &worker = pool->workers.push({pool, i, {}});
    error = pthread_create(&worker.handle, nullptr, workerMain, &worker);
    if (error) {
      pool->workers.resize(i - 1);
    }
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (error) {
    destroy(pool);
    return Status::error(AMPC_DEVICE, "cannot start %u threads: %s", numThreads,
                         strerror(error));
  }
  *outPool = pool;
  return Status();
}

void ThreadPool::destroy(ThreadPool *pool) {
  if (!pool) {
    return;
  }
  pool->stopping.store(true);
  uint64_t epoch = (pool->ticket.load() >> remainingBits) + 1;
  pool->ticket.store(epoch << remainingBits);
  pool->wakeWord.store(static_cast<uint32_t>(epoch));
  futexWake(pool->wakeWord, INT_MAX);
  for (Worker &worker : pool->workers) {
    pthread_join(worker.handle, nullptr);
  }
  pool->~ThreadPool();
  free(pool);
}

void ThreadPool::parallelFor(Task task, void *context, int64_t items) {
  if (currentPool == this || threadCount == 1 || items == 1) {
    uint32_t thread = currentPool == this ? currentThread : 0;
    for (int64_t item = 0; item < items; ++item) {
      task(context, item, thread);
    }
    return;
  }
  const ThreadPool *outerPool = std::exchange(currentPool, this);
  uint32_t outerThread = std::exchange(currentThread, 0u);
  for (int64_t base = 0; base < items;) {
    int64_t rest = items - base;
    int64_t most = static_cast<int64_t>(remainingMask);
    int64_t round = rest < most ? rest : most;
    runRound(task, context, base, static_cast<uint32_t>(round));
    base += round;
  }
  currentPool = outerPool;
  currentThread = outerThread;
}

void ThreadPool::runRound(Task task, void *context, int64_t base,
                          uint32_t items) {
  uint64_t epoch =
      (ticket.load(std::memory_order_relaxed) >> remainingBits) + 1;
  epoch &= ~0ull >> remainingBits;
  jobTask.store(task, std::memory_order_relaxed);
  jobContext.store(context, std::memory_order_relaxed);
  jobBase.store(base, std::memory_order_relaxed);
  jobItems.store(items, std::memory_order_relaxed);
  done.store(0, std::memory_order_relaxed);
  // A thread about to sleep counts itself in `sleepers`, then looks at the
  // ticket; here the ticket changes first, then `sleepers` is read. In the
  // single order of these four, one side sees the other.
  ticket.store(epoch << remainingBits | items);
  wakeWord.store(static_cast<uint32_t>(epoch));
  if (sleepers.load() > 0) {
    futexWake(wakeWord, items - 1);
  }
  completed(drain(epoch, 0));
  awaitCompletion(items);
}

/// Claims and runs items of launch `epoch` until none is left unclaimed;
/// returns how many it ran.
uint32_t ThreadPool::drain(uint64_t epoch, uint32_t thread) {
  uint32_t count = 0;
  uint64_t seen = ticket.load(std::memory_order_acquire);
  while (seen >> remainingBits == epoch && (seen & remainingMask) != 0) {
    Task task = jobTask.load(std::memory_order_relaxed);
    void *context = jobContext.load(std::memory_order_relaxed);
    int64_t base = jobBase.load(std::memory_order_relaxed);
    uint32_t items = jobItems.load(std::memory_order_relaxed);
    if (ticket.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      task(context, base + (items - (seen & remainingMask)), thread);
      ++count;
      seen = ticket.load(std::memory_order_acquire);
    } else {
      pauseBriefly();
    }
  }
  return count;
}

/// Reports finished items of the current launch. A thread that reports some
/// keeps the launch open until then, so `jobItems` is still its own.
void ThreadPool::completed(uint32_t items) {
  if (items == 0) {
    return;
  }
  uint32_t all = jobItems.load(std::memory_order_relaxed);
  if (done.fetch_add(items) + items == all && callerSleeps.load()) {
    futexWake(done, 1);
  }
}

void ThreadPool::awaitCompletion(uint32_t items) {
  for (uint32_t i = 0; i < spins; ++i) {
    if (done.load(std::memory_order_acquire) == items) {
      return;
    }
    pauseBriefly();
  }
  callerSleeps.store(1);
  for (uint32_t now = done.load(); now != items; now = done.load()) {
    futexWait(done, now);
  }
  callerSleeps.store(0, std::memory_order_relaxed);
}

/// Waits until a launch other than `seen` is current and returns its epoch.
uint64_t ThreadPool::awaitEpochAfter(uint64_t seen) {
  for (uint32_t i = 0; i < spins; ++i) {
    uint64_t epoch = ticket.load(std::memory_order_acquire) >> remainingBits;
    if (epoch != seen) {
      return epoch;
    }
    pauseBriefly();
  }
  sleepers.fetch_add(1);
  uint64_t epoch = ticket.load() >> remainingBits;
  while (epoch == seen) {
    futexWait(wakeWord, static_cast<uint32_t>(seen));
    epoch = ticket.load() >> remainingBits;
  }
  sleepers.fetch_sub(1);
  return epoch;
}

void *ThreadPool::workerMain(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  ThreadPool &pool = *worker->pool;
  currentPool = &pool;
  currentThread = worker->index;
  for (uint64_t epoch = 0;;) {
    epoch = pool.awaitEpochAfter(epoch);
    if (pool.stopping.load(std::memory_order_relaxed)) {
      return nullptr;
    }
    pool.completed(pool.drain(epoch, worker->index));
  }
}

} // namespace ampc::runtime
