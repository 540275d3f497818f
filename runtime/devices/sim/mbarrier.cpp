//===- mbarrier.cpp - Barrier objects in shared memory --------------------===//
#include "runtime/devices/sim/mbarrier.h"

#include "runtime/devices/sim/meeting.h"

namespace ampc::runtime::sim {
namespace {

struct Operands {
  uint64_t address;
  uint32_t value;
};
struct TokenOperands {
  uint64_t address;
  uint64_t token;
};

/// A token is the phase it was given in, and the arrivals pending then.
constexpr uint32_t pendingBits = 20;

uint64_t token(const Mbarrier &barrier) {
  return barrier.phase << pendingBits | barrier.pending;
}

/// `address` as an offset into shared memory, after the checks of every use.
uint32_t checkedOffset(Block &block, uint64_t address,
                       const ampc_sim_site *site) {
  if (!block.inShared(address) ||
      block.offsetOf(reinterpret_cast<void *>(address)) + 8 >
          block.sharedBytes) {
    AMPC_SIM_FATAL(block, Fault::outOfBounds, site, nullptr,
                   "the mbarrier, %s, is not in shared memory",
                   block.describe(address).c_str());
  }
  if (address % 8 != 0) {
    AMPC_SIM_FATAL(block, Fault::misaligned, site, nullptr,
                   "the mbarrier, %s, is not 8-byte aligned",
                   block.describe(address).c_str());
  }
  return block.offsetOf(reinterpret_cast<void *>(address));
}

Mbarrier *lookUp(Block &block, uint32_t offset) {
  for (Mbarrier &barrier : block.mbarriers) {
    if (barrier.offset == offset) {
      return &barrier;
    }
  }
  return nullptr;
}

/// Completes the phase if nothing is outstanding.
void checkPhase(Block &block, Mbarrier &barrier, const ampc_sim_site *site) {
  if (barrier.pending == 0 && barrier.bytes < 0) {
    AMPC_SIM_FAULT(
        block, Fault::barrierMisuse, site, barrier.initSite,
        "%lld bytes more than expected have come to mbarrier %s, all "
        "arrivals of whose phase are there: fewer bytes are expected "
        "than copied",
        -static_cast<long long>(barrier.bytes),
        describeShared(block, barrier.offset).c_str());
    return;
  }
  if (barrier.pending > 0 || barrier.bytes != 0) {
    return;
  }
  auto index = static_cast<uint32_t>(&barrier - block.mbarriers.data());
  for (const BulkCopy &copy : block.bulk) {
    bool loads =
        copy.kind == BulkCopy::load || copy.kind == BulkCopy::tensorLoad;
    if (loads && copy.mbarrier == index) {
      AMPC_SIM_FAULT(block, Fault::barrierMisuse, site, copy.site,
                     "the phase of mbarrier %s completes while a copy of %u "
                     "bytes is in flight: fewer bytes are expected than copied",
                     describeShared(block, barrier.offset).c_str(), copy.bytes);
      break;
    }
  }
  ++barrier.phase;
  barrier.pending = barrier.count;
  block.progress();
  if (block.checks()) {
    barrier.arriving[barrier.stream] = static_cast<uint32_t>(barrier.phase);
    memcpy(barrier.completed.data(), barrier.arriving.data(),
           barrier.arriving.size() * sizeof(uint32_t));
  }
  for (uint32_t thread : barrier.waiting) {
    block.wake(block.threads[thread]);
  }
  barrier.waiting.clear();
}

bool phaseDone(const Mbarrier &barrier, bool byParity, uint64_t value) {
  return byParity ? (barrier.phase & 1) != (value & 1)
                  : barrier.phase > value >> pendingBits;
}

} // namespace

Mbarrier &findMbarrier(Block &block, uint64_t address,
                       const ampc_sim_site *site) {
  uint32_t offset = checkedOffset(block, address, site);
  Mbarrier *barrier = lookUp(block, offset);
  if (!barrier || !barrier->valid) {
    AMPC_SIM_FATAL(block, Fault::barrierMisuse, site, nullptr,
                   "%s is no initialised mbarrier",
                   describeShared(block, offset).c_str());
  }
  // Its initialisation has to be ordered before its use like any write.
  Thread &self = *block.current;
  if (block.checks() &&
      !block.clocks.knows(self.id, barrier->initThread, barrier->initClock)) {
    AMPC_SIM_FAULT(block, Fault::sharedRace, site, barrier->initSite,
                   "use of the mbarrier %s races with its initialisation by "
                   "thread %u: no barrier between",
                   describeShared(block, offset).c_str(), barrier->initThread);
  }
  return *barrier;
}

void arrive(Block &block, Mbarrier &barrier, uint32_t count,
            const ampc_sim_site *site) {
  if (count > barrier.pending) {
    AMPC_SIM_FATAL(block, Fault::barrierMisuse, site, barrier.initSite,
                   "%u arrivals at mbarrier %s, which waits for %u more in "
                   "this phase",
                   count, describeShared(block, barrier.offset).c_str(),
                   barrier.pending);
  }
  barrier.pending -= count;
  if (block.checks()) {
    block.clocks.release(block.current->id, barrier.arriving.data());
    barrier.known =
        block.launch->memory->join(barrier.known, block.current->global.known);
  }
  checkPhase(block, barrier, site);
}

void completeBytes(Block &block, Mbarrier &barrier, uint32_t bytes,
                   const ampc_sim_site *site) {
  barrier.bytes -= bytes;
  checkPhase(block, barrier, site);
}

} // namespace ampc::runtime::sim

using namespace ampc::runtime::sim;

void ampc_sim_mbarrier_init(const ampc_sim_site *site, const void *operands,
                            void *) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  const auto &given = *static_cast<const Operands *>(operands);
  uint32_t offset = checkedOffset(block, given.address, site);
  if (given.value == 0 || given.value > Mbarrier::maxCount) {
    AMPC_SIM_FATAL(block, Fault::invalidOperand, site, nullptr,
                   "expected a count from 1 to %u, got %u", Mbarrier::maxCount,
                   given.value);
  }
  Mbarrier *barrier = lookUp(block, offset);
  if (barrier && barrier->valid) {
    AMPC_SIM_FATAL(block, Fault::barrierMisuse, site, barrier->initSite,
                   "the mbarrier %s is initialised again without "
                   "mbarrier.inval",
                   describeShared(block, offset).c_str());
  }
  Accessor who{self.id, self.id, block.clocks.now(self.id)};
  if (!block.shadow.access(block, who, offset, 8, AMPC_SIM_WRITE, site)) {
    block.abandon();
  }
  if (!barrier) {
    barrier = &block.mbarriers.push(Mbarrier());
    barrier->stream = block.clocks.addStream();
    if (!barrier->stream) {
      AMPC_SIM_FATAL(block, Fault::unsupported, site, nullptr,
                     "more than %u mbarriers and bulk-storing threads in a "
                     "block",
                     Clocks::maxStreams);
    }
  }
  barrier->valid = true;
  barrier->offset = offset;
  barrier->count = barrier->pending = given.value;
  barrier->bytes = 0;
  barrier->initSite = site;
  barrier->initThread = self.id;
  barrier->initClock = block.clocks.now(self.id);
  barrier->arriving.resize(block.clocks.agents());
  barrier->completed.resize(block.clocks.agents());
  if (block.checks()) {
    block.shadow.setBarrier(offset, true);
  }
}

void ampc_sim_mbarrier_inval(const ampc_sim_site *site, const void *operands,
                             void *) {
  Block &block = *currentBlock;
  uint64_t address = *static_cast<const uint64_t *>(operands);
  Mbarrier &barrier = findMbarrier(block, address, site);
  if (!barrier.waiting.empty()) {
    AMPC_SIM_FATAL(block, Fault::barrierMisuse, site, barrier.initSite,
                   "threads wait on the mbarrier");
  }
  barrier.valid = false;
  if (block.checks()) {
    block.shadow.setBarrier(barrier.offset, false);
  }
}

void ampc_sim_mbarrier_arrive(const ampc_sim_site *site, const void *operands,
                              void *result) {
  Block &block = *currentBlock;
  const auto &given = *static_cast<const Operands *>(operands);
  Mbarrier &barrier = findMbarrier(block, given.address, site);
  uint32_t count = site->imm[0] == AMPC_SIM_ARRIVE_COUNT ? given.value : 1;
  if (site->imm[0] == AMPC_SIM_ARRIVE_BYTES) {
    barrier.bytes += given.value;
  }
  if (site->imm[1]) {
    if (barrier.count < count) {
      AMPC_SIM_FATAL(block, Fault::barrierMisuse, site, barrier.initSite,
                     "more arrivals are dropped than the barrier has");
    }
    barrier.count -= count;
  }
  if (result) {
    *static_cast<uint64_t *>(result) = token(barrier);
  }
  arrive(block, barrier, count, site);
}

void ampc_sim_mbarrier_bytes(const ampc_sim_site *site, const void *operands,
                             void *) {
  Block &block = *currentBlock;
  const auto &given = *static_cast<const Operands *>(operands);
  Mbarrier &barrier = findMbarrier(block, given.address, site);
  if (site->imm[0]) {
    completeBytes(block, barrier, given.value, site);
  } else {
    barrier.bytes += given.value;
  }
}

void ampc_sim_mbarrier_wait(const ampc_sim_site *site, const void *operands,
                            void *result) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  const auto &given = *static_cast<const TokenOperands *>(operands);
  Mbarrier *barrier = &findMbarrier(block, given.address, site);
  bool byParity = site->imm[0];
  uint64_t value = byParity ? static_cast<uint32_t>(given.token) : given.token;
  if (!phaseDone(*barrier, byParity, value) && !site->imm[1]) {
    block.yield(site);
    barrier = &findMbarrier(block, given.address, site);
  }
  while (site->imm[1] && !phaseDone(*barrier, byParity, value)) {
    barrier->waiting.push(self.id);
    block.suspend(Wait::mbarrier, site,
                  static_cast<uint32_t>(barrier - block.mbarriers.data()));
    barrier = &findMbarrier(block, given.address, site);
  }
  bool done = phaseDone(*barrier, byParity, value);
  *static_cast<uint8_t *>(result) = done;
  if (done && block.checks()) {
    block.clocks.acquire(self.id, barrier->completed.data());
    self.global.known =
        block.launch->memory->join(self.global.known, barrier->known);
    self.fencedAll = false;
  }
}

void ampc_sim_mbarrier_pending(const ampc_sim_site *, const void *operands,
                               void *result) {
  uint64_t given = *static_cast<const uint64_t *>(operands);
  *static_cast<uint32_t *>(result) =
      static_cast<uint32_t>(given & ((1u << pendingBits) - 1));
}
