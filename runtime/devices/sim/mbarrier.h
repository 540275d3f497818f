//===- mbarrier.h - Barrier objects in shared memory ----------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_MBARRIER_H
#define AMPC_RUNTIME_DEVICES_SIM_MBARRIER_H

#include "ampc/sim_abi.h"
#include "runtime/core/support.h"

namespace ampc::runtime::sim {

struct Block;
struct Knowledge;

struct Mbarrier {
  static constexpr uint32_t maxCount = (1u << 20) - 1;

  bool valid = false;
  uint32_t offset = 0; // in shared memory
  uint32_t count = 0;  // arrivals that a phase expects
  uint32_t pending = 0;
  int64_t bytes = 0;   // announced and not yet copied
  uint64_t phase = 0;  // phases completed
  uint32_t stream = 0; // in Clocks: bulk copies that complete on it
  const ampc_sim_site *initSite = nullptr;
  uint32_t initThread = 0, initClock = 0;
  Vec<uint32_t> waiting;             // threads
  Vec<uint32_t> arriving, completed; // clocks
  const Knowledge *known = nullptr;
};

/// The barrier at `address`, which `site` uses. Does not return where there is
/// none.
Mbarrier &findMbarrier(Block &block, uint64_t address,
                       const ampc_sim_site *site);

/// One or more arrivals of the current thread.
void arrive(Block &block, Mbarrier &barrier, uint32_t count,
            const ampc_sim_site *site);

/// `bytes` of a bulk copy have arrived.
void completeBytes(Block &block, Mbarrier &barrier, uint32_t bytes,
                   const ampc_sim_site *site);

} // namespace ampc::runtime::sim

extern "C" {
/// {address, i32 count}.
void ampc_sim_mbarrier_init(const ampc_sim_site *, const void *, void *);
/// {address}.
void ampc_sim_mbarrier_inval(const ampc_sim_site *, const void *, void *);
/// {address[, i32]} giving a token; imm: what the i32 means, a
/// kind of arrival below; 1 to expect one arrival less from now on.
void ampc_sim_mbarrier_arrive(const ampc_sim_site *, const void *, void *);
/// {address, i32 bytes}; imm: 1 completes bytes instead of expecting them.
void ampc_sim_mbarrier_bytes(const ampc_sim_site *, const void *, void *);
/// {address, i64 token or i32 parity} giving i1; imm: 1 for a parity, 1 for
/// try_wait.
void ampc_sim_mbarrier_wait(const ampc_sim_site *, const void *, void *);
/// {token} giving the arrivals that were pending.
void ampc_sim_mbarrier_pending(const ampc_sim_site *, const void *, void *);
/// {address}: arrives when the thread's copies so far are done; imm: 1 if that
/// arrival is among those of the barrier's count.
void ampc_sim_cp_async_arrive(const ampc_sim_site *, const void *, void *);
}

#endif // AMPC_RUNTIME_DEVICES_SIM_MBARRIER_H
