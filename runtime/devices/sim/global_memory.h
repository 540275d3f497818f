//===- global_memory.h - Allocations of a simulated device ----------------===//
//
// Every allocation is memory of its own between red zones. With checks on, each
// byte knows whether it was written, and has the stamp of its last write and of
// two reads since: the launch, the site, and within the running launch the
// block, thread and clock. Blocks order their accesses through atomics and
// fences; launches through what beginLaunch is told.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_GLOBAL_MEMORY_H
#define AMPC_RUNTIME_DEVICES_SIM_GLOBAL_MEMORY_H

#include "runtime/devices/sim/report.h"

#include <atomic>

namespace ampc::runtime::sim {

struct Block;
struct Thread;

/// A set of launches. It takes little where launches follow one another: all
/// below `base` are members, `words` has those from there on.
class LaunchSet {
public:
  void add(uint32_t launch);
  void add(const LaunchSet &other);
  bool has(uint32_t launch) const;
  void clear();

private:
  void raiseBase(uint32_t to);
  void normalize();

  uint32_t base = 0; // a multiple of 64
  Vec<uint64_t> words;
};

/// What a thread of another block is known to have done: its block's clocks as
/// they were at a release.
struct ForeignClocks {
  uint64_t block;
  const uint32_t *clocks; // of the block's threads
};

/// All that has been acquired through global memory; immutable, lives as long
/// as the launch.
struct Knowledge {
  const ForeignClocks *entries; // by ascending block
  size_t count;

  const uint32_t *find(uint64_t block) const;
};

/// A thread's view of global memory.
struct GlobalView {
  uint32_t eventClock = 0, event = 0;
  const Knowledge *known = nullptr;
  const Knowledge *fenced = nullptr;  // what a later relaxed atomic releases
  const Knowledge *offered = nullptr; // what a later fence acquires
};

/// Numbers for the (block, thread, clock) of a launch's accesses.
struct AccessEvent {
  uint64_t block;
  uint32_t thread, clock;
};
struct GlobalEvents {
  uint32_t next = 0, end = 0;
};

class GlobalMemory {
public:
  static constexpr uint64_t alignment = 256;
  static constexpr uint64_t redZone = 256;
  /// So many launches have numbers of their own; then they begin anew, and
  /// races with earlier ones are no longer seen.
  static constexpr uint32_t maxLaunches = (1u << 20) - 1;

  GlobalMemory() = default;
  GlobalMemory(const GlobalMemory &) = delete;
  GlobalMemory &operator=(const GlobalMemory &) = delete;
  ~GlobalMemory();

  /// Memory of `bytes` bytes, filled with a pattern and counted as unwritten.
  /// It is aligned to `alignment` and not more.
  Status allocate(uint64_t bytes, const char *name, void **outMemory);
  /// AMPC_USAGE for anything that `allocate` did not return, AMPC_DEVICE if a
  /// red zone was written by the host.
  Status release(void *memory);
  /// Memory of someone else's, all written: a module's variables.
  void adopt(void *memory, uint64_t bytes, const char *name, bool writable);
  void disown(void *memory);

  /// Whether [address, address + bytes) lies in one allocation.
  bool contains(const void *address, uint64_t bytes) const;
  /// From `address` to the end of its allocation; 0 if it lies in none.
  uint64_t bytesFrom(const void *address) const;
  /// "name + offset", or what lies nearest.
  Str describe(uint64_t address) const;
  /// The bytes of the allocation that begins at `memory`, or 0.
  uint64_t sizeOf(const void *memory) const;
  uint64_t bytesInUse() const { return inUse; }

  /// Bytes of the range that nothing has written; the host's view.
  uint64_t unwritten(const void *address, uint64_t bytes) const;
  /// The host wrote a range while no launch could run.
  void hostWrite(void *address, uint64_t bytes);
  /// `to` counts as written where `from` does: after a copy.
  void copyWritten(void *to, const void *from, uint64_t bytes);
  /// A copy or fill, as launch `id`, reads or writes a range. With `settled`,
  /// all that begins later comes after it.
  void transfer(const void *address, uint64_t bytes, bool writes, uint32_t id,
                bool settled, Report &report);

  /// Begins a launch, or a transfer, that comes after all of `after`.
  uint32_t beginLaunch(const char *name, const ampc_sim_module *module,
                       const LaunchSet &after);
  void endLaunch();
  /// Launches from `module` no longer know their sites: it is unloaded.
  void forgetModule(const ampc_sim_module *module);
  /// Everything so far is done.
  void synchronize() { settled = launches.size() + 1; }

  /// Checks and records an access of the current thread of `block`. False if it
  /// must not be done.
  bool access(Block &block, Thread &thread, uint64_t address, uint32_t bytes,
              uint32_t use, const ampc_sim_site *site);
  /// The ordering that an atomic access, or a fence, establishes: what it
  /// releases before it is done, what it acquires after.
  void orderBefore(Block &block, Thread &thread, uint64_t address,
                   uint32_t use);
  void orderAfter(Block &block, Thread &thread, uint64_t address, uint32_t use);
  void fence(Block &block, Thread &thread);
  /// Threads that synchronise share what they have acquired.
  const Knowledge *join(const Knowledge *a, const Knowledge *b);

private:
  struct Allocation {
    uint64_t begin, end; // without red zones
    void *mapping;       // null: adopted
    uint64_t mapped;
    bool writable, freed;
    Str name;
    uint8_t *written;                 // per byte, 0 or 0xff; null: all written
    std::atomic<uint64_t> *stamps[3]; // write, read, read
  };
  struct Launch {
    Str name;
    const ampc_sim_module *module;
    LaunchSet after;
  };
  struct Released {
    uint64_t address;
    const Knowledge *knowledge;
  };

  const Allocation *find(uint64_t address) const;
  Allocation *find(uint64_t address) {
    return const_cast<Allocation *>(
        static_cast<const GlobalMemory *>(this)->find(address));
  }
  void insert(Allocation allocation);
  bool ordered(uint32_t launch, const LaunchSet &after) const {
    return launch < settled || after.has(launch);
  }
  uint32_t eventOf(Block &block, Thread &thread);
  bool isConflict(Block &block, Thread &thread, uint64_t stamp,
                  uint32_t use) const;
  void reportRace(Block &block, uint64_t stamp, uint64_t address,
                  bool earlierWrites, uint32_t use,
                  const ampc_sim_site *site) const;
  bool checkByte(Block &block, Thread &thread, Allocation &allocation,
                 uint64_t at, uint32_t use, const ampc_sim_site *site);
  const Knowledge *snapshot(Block &block, Thread &thread);
  void acquire(Block &block, Thread &thread, const Knowledge *what);
  void *keep(uint64_t bytes); // until the launch ends
  void forgetLaunches();

  Vec<Allocation *> allocations; // by ascending address
  uint64_t inUse = 0, serial = 0;
  Vec<Launch> launches; // launch i has id i + 1
  uint32_t settled = 1; // launches below this id are done
  AccessEvent *chunks[1 << 17] = {};
  std::atomic<uint32_t> usedChunks{0};
  pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  // Under the lock:
  Vec<Released> released;
  Vec<void *> kept;
};

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_GLOBAL_MEMORY_H
