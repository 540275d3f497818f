//===- block.cpp - One block of threads, as it runs on a host thread ------===//
#include "runtime/devices/sim/block.h"

#include "runtime/devices/sim/bulk_copy.h"
#include "runtime/devices/sim/meeting.h"

#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>

namespace ampc::runtime::sim {

thread_local Block *currentBlock = nullptr;

/// The window lies below 2 GiB, so that a shared address survives a cast to 32
/// bits, and is aligned to its size, so that 18 bits of it are an offset, as in
/// the descriptors of wgmma.
Status Block::allocate(LaunchState *state) {
  launch = state;
  numThreads = static_cast<uint32_t>(state->config.block.count());
  const ampc_sim_kernel &kernel = *state->config.kernel;
  sharedBytes = kernel.static_shared;
  if (state->config.dynamicShared) {
    sharedBytes = kernel.dynamic_shared_offset + state->config.dynamicShared;
  }
  windowMapping = mmap(nullptr, 2 * windowBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (windowMapping == MAP_FAILED) {
    windowMapping = nullptr;
    return Status::error(AMPC_LIMIT, "cannot allocate shared memory");
  }
  auto address = reinterpret_cast<uint64_t>(windowMapping);
  uint64_t aligned = (address + windowBytes - 1) & ~(windowBytes - 1ull);
  window = static_cast<uint8_t *>(windowMapping) + (aligned - address);
  matrices = new (allocateSmall(sizeof(MatrixScratch))) MatrixScratch();
  AMPC_TRY(shadow.allocate());
  AMPC_TRY(stacks.allocate(numThreads));
  threads.resize(numThreads);
  warps.resize((numThreads + 31) / 32);
  warpgroups.resize((numThreads + 127) / 128);
  ring.resize(numThreads);
  clocks.allocate(numThreads);
  if (options().traffic) {
    traffic.reset(static_cast<uint32_t>(warps.size()),
                  state->config.module->num_sites);
  }
  return Status();
}

void Block::release() {
  if (windowMapping) {
    munmap(windowMapping, 2 * windowBytes);
  }
  free(matrices);
  if (options().traffic) {
    traffic.finish(*launch->report);
  }
  launch->report->addCounters(counters);
}

void Block::run(uint64_t blockNumber) {
  currentBlock = this;
  const Dim3 &grid = launch->config.grid;
  const Dim3 &size = launch->config.block;
  number = blockNumber;
  id = {static_cast<uint32_t>(number % grid.x),
        static_cast<uint32_t>(number / grid.x % grid.y),
        static_cast<uint32_t>(number / grid.x / grid.y)};
  random = launch->options->seed * 0x9e3779b97f4a7c15ull + number;
  nextRandom();
  alive = numThreads;
  abandoned = false;
  spins = 0;
  head = ready = 0;
  mbarriers.clear();
  bulk.clear();
  clocks.reset();
  if (checks()) {
    shadow.reset(*this);
  }
  // Not-a-number in every floating-point format.
  memset(window, 0xff, sharedBytes);
  for (NamedBarrier &barrier : barriers) {
    barrier.reset();
  }
  for (Warp &warp : warps) {
    warp = Warp();
  }
  for (Warpgroup &group : warpgroups) {
    group = Warpgroup();
  }
  for (uint32_t i = 0; i < numThreads; ++i) {
    Thread &thread = threads[i];
    thread = Thread();
    thread.id = i;
    thread.lane = i % 32;
    thread.index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
    thread.stackPointer = stacks.prepare(i, threadMain);
    warps[i / 32].alive |= 1u << thread.lane;
    wake(thread);
  }
  current = next();
  ampc_sim_switch(&scheduler, current->stackPointer);
  if (!abandoned && alive > 0) {
    current = nullptr;
    reportDeadlock();
    abandoned = true;
  }
  if (!abandoned) {
    finishBulkCopies(*this);
  }
  current = nullptr;
  ++counters.blocks;
  currentBlock = nullptr;
}

void Block::wake(Thread &thread) {
  thread.wait = Wait::none;
  uint32_t tail = head + ready++;
  ring[tail < numThreads ? tail : tail - numThreads] = thread.id;
}

Thread *Block::next() {
  if (ready == 0) {
    return nullptr;
  }
  if (options().seed) {
    uint32_t other = head + nextRandom() % ready;
    std::swap(ring[head],
              ring[other < numThreads ? other : other - numThreads]);
  }
  Thread *thread = &threads[ring[head]];
  head = head + 1 < numThreads ? head + 1 : 0;
  --ready;
  return thread;
}

/// Switches from the current thread to the next that can run; to the host if
/// none can.
void Block::leave(Thread *from) {
  if (options().seed && !bulk.empty() && nextRandom() % 8 == 0) {
    runBulkCopy(*this);
  }
  Thread *to = next();
  while (!to && alive > 0 && runBulkCopy(*this)) {
    to = next();
  }
  ++counters.switches;
  if (to == from) {
    return;
  }
  current = to;
  ampc_sim_switch(&from->stackPointer, to ? to->stackPointer : scheduler);
}

void Block::suspend(Wait wait, const ampc_sim_site *site, uint32_t object) {
  current->wait = wait;
  current->site = site;
  current->waitObject = object;
  leave(current);
}

void Block::yield(const ampc_sim_site *site) {
  if (++spins > options().spinLimit) {
    AMPC_SIM_FAULT(*this, Fault::livelock, site, nullptr,
                   "waits in a loop for something that nobody does");
    abandon();
  }
  if (ready == 0 && !runBulkCopy(*this)) {
    sched_yield(); // a block on another host thread may be what it waits for
    return;
  }
  wake(*current);
  leave(current);
}

void Block::abandon() {
  abandoned = true;
  launch->stopped.store(true);
  void *unused;
  ampc_sim_switch(&unused, scheduler);
  __builtin_unreachable();
}

void Block::threadMain() {
  Block &block = *currentBlock;
  block.launch->config.kernel->entry(block.launch->config.params);
  block.exitThread();
}

void Block::exitThread() {
  threadExits(*this);
  current->done = true;
  --alive;
  leave(current);
  __builtin_unreachable();
}

Place Block::place() const {
  Place place;
  place.kernel = launch->config.kernel->name;
  place.block = id;
  place.thread = current ? static_cast<int64_t>(current->id) : -1;
  return place;
}

Str Block::describe(uint64_t address) const {
  if (inShared(address)) {
    return describeShared(
        *this,
        static_cast<uint32_t>(address - reinterpret_cast<uint64_t>(window)));
  }
  if (current && stacks.contains(current->id, address)) {
    return Str("local memory");
  }
  return launch->memory->describe(address);
}

const ampc_sim_site *Block::siteAt(uint32_t index) const {
  const ampc_sim_module &module = *launch->config.module;
  return index < module.num_sites ? &module.sites[index] : nullptr;
}

/// Names up to two places where threads wait, and what they wait for.
void Block::reportDeadlock() {
  Str text;
  const ampc_sim_site *sites[2] = {};
  uint32_t found = 0;
  for (uint32_t i = 0; i < numThreads; ++i) {
    const Thread &thread = threads[i];
    if (thread.done || thread.site == sites[0] || thread.site == sites[1]) {
      continue;
    }
    uint32_t same = 0;
    for (const Thread &other : threads) {
      same += !other.done && other.site == thread.site;
    }
    if (found < 2) {
      sites[found] = thread.site;
    }
    ++found;
    text.appendf("; %u %s from thread %u on, wait ", same,
                 same == 1 ? "thread," : "threads,", i);
    switch (thread.wait) {
    case Wait::barrier:
      text.appendf("at barrier %u, where %u of %u have arrived",
                   thread.waitObject, barriers[thread.waitObject].arrived,
                   barriers[thread.waitObject].expected);
      break;
    case Wait::mbarrier: {
      const Mbarrier &barrier = mbarriers[thread.waitObject];
      text.appendf("on the mbarrier %s, which lacks %u arrivals and %lld bytes",
                   describeShared(*this, barrier.offset).c_str(),
                   barrier.pending, static_cast<long long>(barrier.bytes));
      break;
    }
    case Wait::warpgroup:
      text.append("for the rest of their warpgroup");
      break;
    default:
      text.append("for the rest of their warp");
    }
    if (found == 4) {
      break;
    }
  }
  AMPC_SIM_FAULT(*this, Fault::deadlock, sites[0], sites[1],
                 "%u of %u threads wait, the others have ended%s", alive,
                 numThreads, text.c_str());
}

} // namespace ampc::runtime::sim
