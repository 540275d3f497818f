//===- global_order.cpp - Release and acquire between blocks --------------===//
#include "runtime/devices/sim/block.h"

namespace ampc::runtime::sim {

const uint32_t *Knowledge::find(uint64_t block) const {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (entries[middle].block < block) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && entries[low].block == block ? entries[low].clocks
                                                    : nullptr;
}

/// Called with the lock held.
void *GlobalMemory::keep(uint64_t bytes) {
  return kept.push(allocateSmall(bytes));
}

namespace {

class Guard {
public:
  explicit Guard(pthread_mutex_t &mutex) : mutex(mutex) {
    pthread_mutex_lock(&mutex);
  }
  ~Guard() { pthread_mutex_unlock(&mutex); }

private:
  pthread_mutex_t &mutex;
};

} // namespace

const Knowledge *GlobalMemory::join(const Knowledge *a, const Knowledge *b) {
  if (!a || !b || a == b) {
    return a ? a : b;
  }
  Guard guard(lock);
  auto *entries = static_cast<ForeignClocks *>(
      keep((a->count + b->count) * sizeof(ForeignClocks)));
  size_t count = 0, i = 0, j = 0;
  while (i < a->count || j < b->count) {
    bool fromA = j == b->count ||
                 (i < a->count && a->entries[i].block <= b->entries[j].block);
    bool both = i < a->count && j < b->count &&
                a->entries[i].block == b->entries[j].block;
    ForeignClocks entry = fromA ? a->entries[i] : b->entries[j];
    if (both && a->entries[i].clocks != b->entries[j].clocks) {
      // The number of threads stands before the clocks.
      const uint32_t *x = a->entries[i].clocks, *y = b->entries[j].clocks;
      uint32_t threads = x[-1];
      auto *merged =
          static_cast<uint32_t *>(keep((threads + 1) * sizeof(uint32_t))) + 1;
      merged[-1] = threads;
      for (uint32_t t = 0; t < threads; ++t) {
        merged[t] = x[t] > y[t] ? x[t] : y[t];
      }
      entry.clocks = merged;
    }
    entries[count++] = entry;
    i += fromA || both;
    j += !fromA || both;
  }
  auto *result = static_cast<Knowledge *>(keep(sizeof(Knowledge)));
  *result = {entries, count};
  return result;
}

/// All that `thread` knows now: its block's clocks, and what it has acquired.
const Knowledge *GlobalMemory::snapshot(Block &block, Thread &thread) {
  Vec<uint32_t> all;
  all.resize(block.clocks.agents());
  block.clocks.release(thread.id, all.data());
  Knowledge *own;
  {
    Guard guard(lock);
    uint32_t threads = block.numThreads;
    auto *clocks =
        static_cast<uint32_t *>(keep((threads + 1) * sizeof(uint32_t))) + 1;
    clocks[-1] = threads;
    memcpy(clocks, all.data(), threads * sizeof(uint32_t));
    auto *entry = static_cast<ForeignClocks *>(keep(sizeof(ForeignClocks)));
    *entry = {block.number, clocks};
    own = static_cast<Knowledge *>(keep(sizeof(Knowledge)));
    *own = {entry, 1};
  }
  return join(own, thread.global.known);
}

void GlobalMemory::acquire(Block &block, Thread &thread,
                           const Knowledge *what) {
  if (!what) {
    return;
  }
  thread.global.known = join(thread.global.known, what);
  if (const uint32_t *own = what->find(block.number)) {
    Vec<uint32_t> all;
    all.resize(block.clocks.agents());
    memcpy(all.data(), own, block.numThreads * sizeof(uint32_t));
    block.clocks.acquire(thread.id, all.data());
  }
}

// An update of several release sequences at once is told as if all of them went
// on; this errs on the side of fewer reports.
void GlobalMemory::orderBefore(Block &block, Thread &thread, uint64_t address,
                               uint32_t use) {
  if (!(use & AMPC_SIM_WRITE)) {
    return;
  }
  const Knowledge *given =
      use & AMPC_SIM_RELEASE ? snapshot(block, thread) : thread.global.fenced;
  if (!given) {
    return;
  }
  Guard guard(lock);
  for (Released &entry : released) {
    if (entry.address == address) {
      entry.knowledge = join(entry.knowledge, given);
      return;
    }
  }
  released.push({address, given});
}

void GlobalMemory::orderAfter(Block &block, Thread &thread, uint64_t address,
                              uint32_t use) {
  if ((use & AMPC_SIM_WRITE) && !(use & AMPC_SIM_UPDATE)) {
    return;
  }
  const Knowledge *seen = nullptr;
  {
    Guard guard(lock);
    for (const Released &entry : released) {
      seen = entry.address == address ? entry.knowledge : seen;
    }
  }
  if (use & AMPC_SIM_ACQUIRE) {
    acquire(block, thread, seen);
  } else {
    thread.global.offered = join(thread.global.offered, seen);
  }
}

void GlobalMemory::fence(Block &block, Thread &thread) {
  acquire(block, thread, thread.global.offered);
  thread.global.offered = nullptr;
  thread.global.fenced = snapshot(block, thread);
}

} // namespace ampc::runtime::sim
