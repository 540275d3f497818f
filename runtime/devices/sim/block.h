//===- block.h - One block of threads, as it runs on a host thread --------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_BLOCK_H
#define AMPC_RUNTIME_DEVICES_SIM_BLOCK_H

#include "runtime/devices/sim/clocks.h"
#include "runtime/devices/sim/fiber.h"
#include "runtime/devices/sim/global_memory.h"
#include "runtime/devices/sim/matrix_ops.h"
#include "runtime/devices/sim/mbarrier.h"
#include "runtime/devices/sim/shared_memory.h"
#include "runtime/devices/sim/simulator.h"
#include "runtime/devices/sim/traffic.h"

#include <atomic>

namespace ampc::runtime::sim {

struct Block;
struct Thread;

/// One copy of a cp.async, done when its group is waited for.
struct AsyncCopy {
  uint8_t *to;
  const uint8_t *from;
  uint32_t bytes, read; // the rest becomes zero
};

/// A committed group of copies: where it ends in Thread::copies, its clock.
struct CopyGroup {
  uint32_t end, clock;
};

/// A bulk copy that has been issued and not yet done.
struct BulkCopy {
  enum Kind : uint8_t { tensorLoad, tensorStore, load, store } kind;
  uint8_t *shared;
  const void *map; // a tensor map, or the global address
  int32_t coordinates[5];
  uint32_t bytes;
  uint32_t mbarrier; // loads: index into Block::mbarriers
  uint32_t thread;
  uint32_t group; // stores: the number of the thread's bulk group
  const ampc_sim_site *site;
};

enum class Wait : uint8_t { none, barrier, lanes, warpgroup, mbarrier };

struct Thread {
  void *stackPointer = nullptr;
  uint32_t id = 0, lane = 0;
  Dim3 index;
  bool done = false;
  Wait wait = Wait::none;
  uint32_t waitObject = 0;             // the barrier's number
  const ampc_sim_site *site = nullptr; // of the instruction it waits in
  const void *operands = nullptr;
  void *result = nullptr;

  // cp.async: copies not waited for, their groups, and the clock of the last
  // group in the thread's stream of copies.
  Vec<AsyncCopy> copies;
  Vec<CopyGroup> copyGroups;
  uint32_t copyClock = 0;
  // Bulk stores.
  uint32_t bulkStream = 0;                 // in Clocks; 0 before the first
  uint32_t bulkGroups = 0, bulkDone = 0;   // committed, waited for
  uint32_t bulkLast = 0;                   // the group of the last one issued
  const ampc_sim_site *bulkSite = nullptr; // of the last

  // wgmma: whether its registers are fenced, groups committed and waited for.
  bool fencedRegisters = false;
  uint32_t groupsCommitted = 0, groupsDone = 0;
  // Generic writes of clocks up to this one are visible to the async proxy.
  uint32_t proxyClock = 0;
  uint32_t proxyCopies = 0; // the same of its cp.async, which are generic, too
  bool fencedAll = false;   // all that it knows, since its last acquire

  GlobalView global;
};

enum class LaneOp : uint8_t {
  sync,
  shuffle,
  vote,
  match,
  reduce,
  elect,
  mma,
  load,
  store,
  registers
};

struct LaneMeeting;
/// Does an instruction for all lanes of a meeting; `lanes` are the warp's.
using LaneRun = void (*)(Block &block, Thread *lanes, const LaneMeeting &);

/// Lanes that have arrived at a warp's instruction; free while `mask` is 0.
struct LaneMeeting {
  uint32_t mask = 0, arrived = 0;
  LaneOp op = LaneOp::sync;
  bool aligned = false;
  const ampc_sim_site *site = nullptr;
  LaneRun run = nullptr;
};

struct Warp {
  LaneMeeting meetings[32]; // as many as there are lanes to begin one
  uint32_t used = 0;        // which of them are
  uint32_t alive = 0;
};

/// Four warps, as they meet for a wgmma.
struct Warpgroup {
  uint32_t arrived = 0; // threads, at `site`
  const ampc_sim_site *site = nullptr;
  /// The group of the last wgmma at a site.
  struct Issue {
    uint32_t site, group;
  };
  Vec<Issue> issues;
};

struct NamedBarrier {
  uint32_t expected = 0; // threads; 0 while nobody has arrived
  uint32_t arrived = 0;
  const ampc_sim_site *site = nullptr;
  const ampc_sim_site *warpSites[32] = {};
  Vec<uint32_t> waiting;
  Vec<uint32_t> clocks; // of those who only arrive
  bool anyArrived = false;

  /// For the next use; what was allocated stays.
  void reset() {
    expected = arrived = 0;
    site = nullptr;
    memset(warpSites, 0, sizeof warpSites);
    waiting.clear();
    clocks.clear();
    anyArrived = false;
  }
};

struct Block {
  static constexpr uint32_t windowBytes = 256 * 1024;

  LaunchState *launch = nullptr;
  Dim3 id;
  uint64_t number = 0;
  uint32_t numThreads = 0, alive = 0;
  uint8_t *window = nullptr; // shared memory; aligned to windowBytes
  uint32_t sharedBytes = 0;

  Vec<Thread> threads;
  Vec<Warp> warps;
  Vec<Warpgroup> warpgroups;
  NamedBarrier barriers[16];
  Vec<Mbarrier> mbarriers;
  Vec<BulkCopy> bulk;
  Clocks clocks;
  SharedShadow shadow;
  GlobalEvents events;
  Traffic traffic;
  FiberStacks stacks;
  MatrixScratch *matrices = nullptr;
  Counters counters;

  Thread *current = nullptr;
  void *scheduler = nullptr;
  bool abandoned = false;
  uint64_t spins = 0;
  uint64_t random = 0;
  uint64_t cycles = 0; // what clock registers return

  bool checks() const { return launch->options->checks; }
  const Options &options() const { return *launch->options; }
  bool inShared(uint64_t address) const {
    return address - reinterpret_cast<uint64_t>(window) < windowBytes;
  }
  uint32_t offsetOf(const void *address) const {
    return static_cast<uint32_t>(static_cast<const uint8_t *>(address) -
                                 window);
  }
  uint32_t nextRandom() {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>(random >> 33);
  }

  /// Prepares memory for blocks of this launch.
  Status allocate(LaunchState *state);
  void release();
  /// Runs one block to its end, or until it is given up.
  void run(uint64_t blockNumber);

  // Scheduling; all of these are called on a thread of the block.
  void wake(Thread &thread);
  /// Lets others run until someone wakes the current thread.
  void suspend(Wait wait, const ampc_sim_site *site, uint32_t object = 0);
  /// Lets others run. Ends in a livelock fault if nothing else happens.
  void yield(const ampc_sim_site *site);
  /// Something happened that a spinning thread may have waited for.
  void progress() { spins = 0; }
  /// Gives the block up: the host must not touch what a faulty access names.
  [[noreturn]] void abandon();
  /// The current thread ends.
  [[noreturn]] void exitThread();

  Place place() const;
  /// What lies at an address: a variable or an allocation, and the offset.
  Str describe(uint64_t address) const;
  Str describe(const void *address) const {
    return describe(reinterpret_cast<uint64_t>(address));
  }
  const ampc_sim_site *siteAt(uint32_t index) const;

private:
  static void threadMain();
  Thread *next();
  void leave(Thread *from);
  void reportDeadlock();

  Vec<uint32_t> ring; // ready threads
  uint32_t head = 0, ready = 0;
  void *windowMapping = nullptr;
};

/// The block that this host thread runs.
extern thread_local Block *currentBlock;

/// Reports a fault of the current thread.
#define AMPC_SIM_FAULT(block, fault, site, other, ...)                         \
  (block).launch->report->add(fault, (block).place(), site, other, __VA_ARGS__)

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_BLOCK_H
