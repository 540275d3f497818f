//===- meeting.cpp - Where the lanes of a warp meet -----------------------===//
#include "runtime/devices/sim/meeting.h"

#include "runtime/devices/sim/async_copy.h"
#include "runtime/devices/sim/barrier.h"
#include "runtime/devices/sim/bulk_copy.h"

namespace ampc::runtime::sim {

static void complete(Block &block, uint32_t warp, LaneMeeting &meeting) {
  // Lanes that go on may come back to this slot before the others have left.
  LaneMeeting done = meeting;
  meeting = LaneMeeting();
  Warp &where = block.warps[warp];
  where.used &= ~(1u << (&meeting - where.meetings));
  ++block.counters.collectives;
  block.progress();
  Thread *lanes = &block.threads[warp * 32];
  Thread *self = block.current;
  done.run(block, lanes, done);
  block.current = self;
  for (uint32_t i = 0; i < 32; ++i) {
    if ((done.arrived >> i & 1) && &lanes[i] != self) {
      block.wake(lanes[i]);
    }
  }
}

/// Ends the block where a lane that this meeting needs waits for this one.
static void checkDivergence(Block &block, const Call &call, uint32_t mask,
                            bool aligned) {
  Thread &self = *block.current;
  uint32_t warp = self.id / 32;
  for (const LaneMeeting &other : block.warps[warp].meetings) {
    if (other.mask && (other.arrived & mask) && (other.mask >> self.lane & 1)) {
      AMPC_SIM_FATAL(block, Fault::divergence, call.site, other.site,
                     "lanes %#x of the warp are in another instruction, which "
                     "waits for this lane",
                     other.arrived);
    }
  }
  for (uint32_t i = 0; aligned && i < 32 && warp * 32 + i < block.numThreads;
       ++i) {
    const Thread &other = block.threads[warp * 32 + i];
    if (!other.done && other.wait == Wait::barrier &&
        (other.site->imm[0] & AMPC_SIM_BARRIER_ALIGNED)) {
      AMPC_SIM_FATAL(block, Fault::divergence, call.site, other.site,
                     "lane %u of the warp waits at a barrier, which has to be "
                     "executed by all lanes",
                     i);
    }
  }
}

void meetLanes(const Call &call, LaneOp op, uint32_t mask, bool aligned,
               LaneRun run) {
  Block &block = *currentBlock;
  Thread &self = *block.current;
  Warp &warp = block.warps[self.id / 32];
  if (!(mask >> self.lane & 1)) {
    AMPC_SIM_FATAL(block, Fault::invalidOperand, call.site, nullptr,
                   "the lane is not in its own member mask %#x", mask);
  }
  if (aligned && warp.alive != ~0u) {
    AMPC_SIM_FATAL(block, Fault::divergence, call.site, nullptr,
                   "needs all 32 lanes, but only %#x are there", warp.alive);
  }
  self.operands = call.operands;
  self.result = call.result;
  LaneMeeting *meeting = nullptr;
  for (uint32_t rest = warp.used; rest && !meeting; rest &= rest - 1) {
    LaneMeeting &slot = warp.meetings[__builtin_ctz(rest)];
    if (slot.mask == mask && slot.op == op &&
        (!aligned || slot.site == call.site)) {
      meeting = &slot;
    }
  }
  if (!meeting) {
    checkDivergence(block, call, mask, aligned);
    uint32_t free = static_cast<uint32_t>(__builtin_ctz(~warp.used));
    warp.used |= 1u << free;
    meeting = &warp.meetings[free];
    *meeting = {mask, 0, op, aligned, call.site, run};
  }
  meeting->arrived |= 1u << self.lane;
  if ((mask & warp.alive & ~meeting->arrived) == 0) {
    complete(block, self.id / 32, *meeting);
    return;
  }
  block.suspend(Wait::lanes, call.site);
}

/// Ends the block where lanes of the same warp wait at a barrier of a kind that
/// all lanes have to execute (PTX ISA, barrier{.cta}: .aligned).
static void checkBarrierAtExit(Block &block) {
  const Thread &self = *block.current;
  uint32_t first = self.id / 32 * 32, waiting = 0;
  const ampc_sim_site *site = nullptr;
  for (uint32_t i = first; i < first + 32 && i < block.numThreads; ++i) {
    const Thread &other = block.threads[i];
    if (!other.done && other.wait == Wait::barrier &&
        (other.site->imm[0] & AMPC_SIM_BARRIER_ALIGNED)) {
      waiting |= 1u << other.lane;
      site = other.site;
    }
  }
  if (waiting) {
    AMPC_SIM_FATAL(block, Fault::divergence, site, nullptr,
                   "a lane ends while lanes %#x of its warp wait at a barrier, "
                   "which has to be executed by all lanes",
                   waiting);
  }
}

void threadExits(Block &block) {
  Thread &self = *block.current;
  finishCopies(block, self);
  checkBulkStores(block);
  Warp &warp = block.warps[self.id / 32];
  warp.alive &= ~(1u << self.lane);
  for (LaneMeeting &meeting : warp.meetings) {
    if (!(meeting.mask >> self.lane & 1)) {
      continue;
    }
    if (meeting.aligned) {
      AMPC_SIM_FATAL(block, Fault::divergence, meeting.site, nullptr,
                     "a lane ends while lanes %#x are in an instruction that "
                     "all lanes have to execute",
                     meeting.arrived);
    }
    if ((meeting.mask & warp.alive & ~meeting.arrived) == 0) {
      complete(block, self.id / 32, meeting);
    }
  }
  checkBarrierAtExit(block);
  barrierAfterExit(block);
}

} // namespace ampc::runtime::sim
