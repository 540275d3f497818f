//===- meeting.h - Where the lanes of a warp meet -------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_MEETING_H
#define AMPC_RUNTIME_DEVICES_SIM_MEETING_H

#include "runtime/devices/sim/block.h"

namespace ampc::runtime::sim {

/// The call of one lane: what it brings and where its result goes.
struct Call {
  const ampc_sim_site *site;
  const void *operands;
  void *result;
};

template <typename T>
const T &operandsOf(const Thread &thread) {
  return *static_cast<const T *>(thread.operands);
}

/// The current thread meets the lanes of `mask` of its warp, all of which
/// execute `op`; the last to come does `run` for all of them. With `aligned`,
/// they have to be all lanes, in the same instruction.
void meetLanes(const Call &call, LaneOp op, uint32_t mask, bool aligned,
               LaneRun run);

/// A thread of the block ends: whoever waits for it only, goes on.
void threadExits(Block &block);

/// Reports a fault, after which the block cannot go on.
#define AMPC_SIM_FATAL(block, ...)                                             \
  do {                                                                         \
    AMPC_SIM_FAULT(block, __VA_ARGS__);                                        \
    (block).abandon();                                                         \
  } while (false)

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_MEETING_H
