//===- barrier.h - The sixteen barriers of a block ------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_BARRIER_H
#define AMPC_RUNTIME_DEVICES_SIM_BARRIER_H

#include "runtime/devices/sim/block.h"

namespace ampc::runtime::sim {

/// A thread ended: barriers of the whole block may be complete now.
void barrierAfterExit(Block &block);

/// The calling threads share all that they know; `members` are woken.
void synchronizeThreads(Block &block, const uint32_t *members, uint32_t count);

} // namespace ampc::runtime::sim

extern "C" {
/// {i32 barrier[, i32 threads]}; imm: flags.
void ampc_sim_barrier(const ampc_sim_site *, const void *, void *);
/// {i32 mask}.
void ampc_sim_warp_sync(const ampc_sim_site *, const void *, void *);
}

#endif // AMPC_RUNTIME_DEVICES_SIM_BARRIER_H
