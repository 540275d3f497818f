//===- barrier.cpp - The sixteen barriers of a block ----------------------===//
#include "runtime/devices/sim/barrier.h"

#include "runtime/devices/sim/meeting.h"

namespace ampc::runtime::sim {
namespace {

struct BarrierOperands {
  int32_t id;
  int32_t threads;
};

/// Lanes of the same warp that wait in a warp's instruction can never come.
void checkLanes(Block &block, const ampc_sim_site *site) {
  const Thread &self = *block.current;
  for (const LaneMeeting &meeting : block.warps[self.id / 32].meetings) {
    if (meeting.mask >> self.lane & 1) {
      AMPC_SIM_FATAL(block, Fault::divergence, site, meeting.site,
                     "barrier reached by one part of the warp, while lanes %#x "
                     "are in an instruction that waits for this lane",
                     meeting.arrived);
    }
  }
}

void complete(Block &block, NamedBarrier &barrier) {
  ++block.counters.barriers;
  block.progress();
  if (block.checks()) {
    if (barrier.anyArrived) {
      for (uint32_t thread : barrier.waiting) {
        block.clocks.acquire(thread, barrier.clocks.data());
      }
    }
    synchronizeThreads(block, barrier.waiting.data(),
                       static_cast<uint32_t>(barrier.waiting.size()));
  }
  for (uint32_t thread : barrier.waiting) {
    if (&block.threads[thread] != block.current) {
      block.wake(block.threads[thread]);
    }
  }
  barrier.reset();
}

} // namespace

void synchronizeThreads(Block &block, const uint32_t *members, uint32_t count) {
  if (count == block.numThreads) {
    block.clocks.meetAll();
  } else {
    block.clocks.meet(members, count);
  }
  const Knowledge *known = nullptr;
  bool differ = false;
  for (uint32_t i = 0; i < count; ++i) {
    const Knowledge *own = block.threads[members[i]].global.known;
    differ |= own != block.threads[members[0]].global.known;
    known = differ || !known ? block.launch->memory->join(known, own) : known;
  }
  for (uint32_t i = 0; i < count; ++i) {
    block.threads[members[i]].global.known = known;
    block.threads[members[i]].fencedAll = false;
  }
}

void barrierAfterExit(Block &block) {
  for (NamedBarrier &barrier : block.barriers) {
    if (barrier.site && !(barrier.site->imm[0] & AMPC_SIM_BARRIER_COUNTED)) {
      barrier.expected = block.alive - 1;
      if (barrier.arrived == barrier.expected) {
        complete(block, barrier);
      }
    }
  }
}

} // namespace ampc::runtime::sim

using namespace ampc::runtime::sim;

void ampc_sim_barrier(const ampc_sim_site *site, const void *operands, void *) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  const auto &given = *static_cast<const BarrierOperands *>(operands);
  uint32_t flags = site->imm[0];
  if (given.id < 0 || given.id > 15) {
    AMPC_SIM_FATAL(block, Fault::invalidOperand, site, nullptr,
                   "expected a barrier from 0 to 15, got %d", given.id);
  }
  uint32_t expected = block.alive;
  if (flags & AMPC_SIM_BARRIER_COUNTED) {
    expected = static_cast<uint32_t>(given.threads);
    if (given.threads <= 0 || given.threads % 32 != 0 ||
        expected > (block.numThreads + 31) / 32 * 32) {
      AMPC_SIM_FATAL(block, Fault::invalidOperand, site, nullptr,
                     "expected a multiple of 32 threads up to the block's %u, "
                     "got %d",
                     block.numThreads, given.threads);
    }
  }
  NamedBarrier &barrier = block.barriers[given.id];
  if (barrier.site && barrier.expected != expected) {
    AMPC_SIM_FATAL(block, Fault::barrierMisuse, site, barrier.site,
                   "barrier %d waits for %u threads here, elsewhere for %u",
                   given.id, expected, barrier.expected);
  }
  if (flags & AMPC_SIM_BARRIER_ALIGNED) {
    checkLanes(block, site);
    const ampc_sim_site *&warpSite = barrier.warpSites[self.id / 32];
    if (warpSite && warpSite != site) {
      AMPC_SIM_FATAL(block, Fault::divergence, site, warpSite,
                     "another lane of the warp reached barrier %d elsewhere",
                     given.id);
    }
    warpSite = site;
  }
  barrier.site = site;
  barrier.expected = expected;
  ++barrier.arrived;
  if (flags & AMPC_SIM_BARRIER_ARRIVE) {
    if (block.checks()) {
      barrier.clocks.resize(block.clocks.agents());
      block.clocks.release(self.id, barrier.clocks.data());
      barrier.anyArrived = true;
    }
  } else {
    barrier.waiting.push(self.id);
  }
  if (barrier.arrived == expected) {
    complete(block, barrier);
  } else if (!(flags & AMPC_SIM_BARRIER_ARRIVE)) {
    block.suspend(Wait::barrier, site, static_cast<uint32_t>(given.id));
  }
}

void ampc_sim_warp_sync(const ampc_sim_site *site, const void *operands,
                        void *result) {
  uint32_t mask = *static_cast<const uint32_t *>(operands);
  meetLanes({site, operands, result}, LaneOp::sync, mask, false,
            [](Block &block, Thread *lanes, const LaneMeeting &meeting) {
              uint32_t members[32], count = 0;
              for (uint32_t i = 0; i < 32; ++i) {
                if (meeting.arrived >> i & 1) {
                  members[count++] = lanes[i].id;
                }
              }
              if (block.checks()) {
                synchronizeThreads(block, members, count);
              }
            });
}
