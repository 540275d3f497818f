//===- global_access.cpp - Checks of accesses to global memory ------------===//
#include "runtime/devices/sim/block.h"

namespace ampc::runtime::sim {
namespace {

/// launch << 44 | site << 30 | atomic << 29 | event.
struct GlobalStamp {
  static constexpr uint32_t siteLimit = (1u << 14) - 1;
  static constexpr uint32_t eventLimit = 1u << 29;
  static constexpr uint32_t eventsPerChunk = 4096;

  uint64_t bits;

  static uint64_t make(uint32_t launch, uint32_t site, bool atomic,
                       uint32_t event) {
    uint64_t index = site < siteLimit ? site : siteLimit;
    return static_cast<uint64_t>(launch) << 44 | index << 30 |
           static_cast<uint64_t>(atomic) << 29 | event;
  }
  uint32_t launch() const { return static_cast<uint32_t>(bits >> 44); }
  uint32_t site() const { return bits >> 30 & siteLimit; }
  bool atomic() const { return bits >> 29 & 1; }
  uint32_t event() const { return bits & (eventLimit - 1); }
};

uint64_t load(const std::atomic<uint64_t> &stamp) {
  return stamp.load(std::memory_order_acquire);
}
void store(std::atomic<uint64_t> &stamp, uint64_t value) {
  stamp.store(value, std::memory_order_release);
}

const ampc_sim_site *siteIn(const ampc_sim_module *module, uint32_t index) {
  bool known = index < GlobalStamp::siteLimit; // else it did not fit
  return module && known && index < module->num_sites ? &module->sites[index]
                                                      : nullptr;
}

} // namespace

uint32_t GlobalMemory::eventOf(Block &block, Thread &thread) {
  uint32_t clock = block.clocks.now(thread.id);
  if (thread.global.eventClock == clock) {
    return thread.global.event;
  }
  GlobalEvents &events = block.events;
  if (events.next == events.end) {
    uint32_t chunk = usedChunks.fetch_add(1);
    if (chunk >= GlobalStamp::eventLimit / GlobalStamp::eventsPerChunk) {
      abort(); // 2^29 thread clocks in one launch
    }
    chunks[chunk] = static_cast<AccessEvent *>(
        allocateSmall(GlobalStamp::eventsPerChunk * sizeof(AccessEvent)));
    events.next = chunk * GlobalStamp::eventsPerChunk;
    events.end = events.next + GlobalStamp::eventsPerChunk;
  }
  uint32_t event = events.next++;
  chunks[event / GlobalStamp::eventsPerChunk]
        [event % GlobalStamp::eventsPerChunk] = {block.number, thread.id,
                                                 clock};
  thread.global.eventClock = clock;
  thread.global.event = event;
  return event;
}

bool GlobalMemory::isConflict(Block &block, Thread &thread, uint64_t bits,
                              uint32_t use) const {
  GlobalStamp stamp{bits};
  uint32_t id = block.launch->config.launchId;
  if (bits == 0 || (stamp.atomic() && (use & AMPC_SIM_ATOMIC))) {
    return false;
  }
  if (stamp.launch() != id) {
    return !ordered(stamp.launch(), launches[id - 1].after);
  }
  const AccessEvent &event =
      chunks[stamp.event() / GlobalStamp::eventsPerChunk]
            [stamp.event() % GlobalStamp::eventsPerChunk];
  if (event.block == block.number) {
    return !block.clocks.knows(thread.id, event.thread, event.clock);
  }
  const uint32_t *known =
      thread.global.known ? thread.global.known->find(event.block) : nullptr;
  return !known || known[event.thread] < event.clock;
}

void GlobalMemory::reportRace(Block &block, uint64_t bits, uint64_t address,
                              bool earlierWrites, uint32_t use,
                              const ampc_sim_site *site) const {
  GlobalStamp stamp{bits};
  const Launch &launch = launches[stamp.launch() - 1];
  const ampc_sim_site *other = siteIn(launch.module, stamp.site());
  const char *verb = use & AMPC_SIM_WRITE ? "write" : "read";
  const char *otherVerb = earlierWrites ? "write" : "read";
  Str where = describe(address);
  if (stamp.launch() != block.launch->config.launchId) {
    AMPC_SIM_FAULT(block, Fault::globalRace, site, other,
                   "%s of %s races with a %s by the launch of %s, which "
                   "nothing orders before this one",
                   verb, where.c_str(), otherVerb, launch.name.c_str());
    return;
  }
  const AccessEvent &event =
      chunks[stamp.event() / GlobalStamp::eventsPerChunk]
            [stamp.event() % GlobalStamp::eventsPerChunk];
  if (event.block == block.number) {
    AMPC_SIM_FAULT(block, Fault::globalRace, site, other,
                   "%s of %s races with a %s by thread %u of the same block: "
                   "no barrier between",
                   verb, where.c_str(), otherVerb, event.thread);
    return;
  }
  AMPC_SIM_FAULT(block, Fault::globalRace, site, other,
                 "%s of %s races with a %s by thread %u of block number %llu: "
                 "no release and acquire between the blocks",
                 verb, where.c_str(), otherVerb, event.thread,
                 static_cast<unsigned long long>(event.block));
}

bool GlobalMemory::checkByte(Block &block, Thread &thread,
                             Allocation &allocation, uint64_t at, uint32_t use,
                             const ampc_sim_site *site) {
  uint64_t address = allocation.begin + at;
  bool reads = !(use & AMPC_SIM_WRITE) || (use & AMPC_SIM_UPDATE);
  if (reads && !allocation.written[at]) {
    AMPC_SIM_FAULT(block, Fault::uninitialized, site, nullptr,
                   "read of %s, which nothing has written",
                   describe(address).c_str());
    return false;
  }
  for (int i = 0; i < (use & AMPC_SIM_WRITE ? 3 : 1); ++i) {
    uint64_t earlier = load(allocation.stamps[i][at]);
    if (isConflict(block, thread, earlier, use)) {
      reportRace(block, earlier, address, i == 0, use, site);
      return false;
    }
  }
  return true;
}

bool GlobalMemory::access(Block &block, Thread &thread, uint64_t address,
                          uint32_t bytes, uint32_t use,
                          const ampc_sim_site *site) {
  Allocation *allocation = find(address);
  const char *verb = use & AMPC_SIM_WRITE ? "write" : "read";
  if (!allocation || allocation->freed || address >= allocation->end ||
      bytes > allocation->end - address) {
    if (block.stacks.contains(thread.id, address)) {
      return true; // local memory
    }
    uint64_t bad = address;
    if (allocation && address < allocation->end) {
      bad = allocation->end;
    }
    AMPC_SIM_FAULT(block, Fault::outOfBounds, site, nullptr,
                   "%s of %u bytes reaches %s", verb, bytes,
                   describe(bad).c_str());
    return false;
  }
  if ((use & AMPC_SIM_WRITE) && !allocation->writable) {
    AMPC_SIM_FAULT(block, Fault::outOfBounds, site, nullptr,
                   "write of %u bytes to the constant %s", bytes,
                   describe(address).c_str());
    return false;
  }
  if (!block.checks() || !allocation->written) {
    return true;
  }
  uint64_t at = address - allocation->begin;
  std::atomic<uint64_t> *stamps[3];
  uint64_t first[3], differ = 0;
  for (int i = 0; i < 3; ++i) {
    stamps[i] = allocation->stamps[i] + at;
    first[i] = load(stamps[i][0]);
    for (uint32_t j = 1; j < bytes; ++j) {
      differ |= first[i] ^ stamps[i][j].load(std::memory_order_relaxed);
    }
  }
  uint8_t *written = allocation->written + at;
  for (uint32_t j = 1; j < bytes; ++j) {
    differ |= written[j] ^ written[0];
  }
  uint32_t distinct = differ ? bytes : 1;
  bool good = true;
  for (uint32_t i = 0; i < distinct && good; ++i) {
    good = checkByte(block, thread, *allocation, at + i, use, site);
  }
  uint64_t mine =
      GlobalStamp::make(block.launch->config.launchId, site->index,
                        use & AMPC_SIM_ATOMIC, eventOf(block, thread));
  for (uint32_t j = 0; j < bytes; ++j) {
    if (use & AMPC_SIM_WRITE) {
      store(stamps[0][j], mine);
      store(stamps[1][j], 0);
      store(stamps[2][j], 0);
      written[j] = 0xff;
      continue;
    }
    // The first read that this thread knows of makes room; else the second.
    bool known = !isConflict(block, thread, load(stamps[1][j]), AMPC_SIM_READ);
    store(stamps[known ? 1 : 2][j], mine);
  }
  return true;
}

void GlobalMemory::transfer(const void *memory, uint64_t bytes, bool writes,
                            uint32_t id, bool isSettled, Report &report) {
  auto address = reinterpret_cast<uint64_t>(memory);
  Allocation *allocation = find(address);
  if (!allocation || !allocation->written) {
    return;
  }
  uint64_t at = address - allocation->begin;
  const Launch &self = launches[id - 1];
  // Zero needs no memory where nothing was stamped yet.
  uint64_t mine =
      isSettled ? 0 : GlobalStamp::make(id, GlobalStamp::siteLimit, false, 0);
  auto mark = [](std::atomic<uint64_t> &stamp, uint64_t value) {
    if (load(stamp) != value) {
      store(stamp, value);
    }
  };
  bool told = false;
  for (uint64_t i = at; i < at + bytes; ++i) {
    for (int j = 0; j < (writes ? 3 : 1) && !told; ++j) {
      GlobalStamp stamp{load(allocation->stamps[j][i])};
      if (stamp.bits && !ordered(stamp.launch(), self.after)) {
        const Launch &other = launches[stamp.launch() - 1];
        Place place;
        place.kernel = self.name.c_str();
        report.add(Fault::globalRace, place, nullptr,
                   siteIn(other.module, stamp.site()),
                   "%s of %s races with a %s by %s, which nothing orders "
                   "before it",
                   writes ? "write" : "read",
                   describe(allocation->begin + i).c_str(),
                   j == 0 ? "write" : "read", other.name.c_str());
        told = true;
      }
    }
    if (writes) {
      mark(allocation->stamps[0][i], mine);
      mark(allocation->stamps[1][i], 0);
      mark(allocation->stamps[2][i], 0);
    } else if (!isSettled) {
      store(allocation->stamps[1][i], mine);
    }
  }
  if (writes) {
    memset(allocation->written + at, 0xff, bytes);
  }
}

} // namespace ampc::runtime::sim
