//===- access.h - Loads, stores, atomics, fences, registers ---------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_ACCESS_H
#define AMPC_RUNTIME_DEVICES_SIM_ACCESS_H

#include "ampc/sim_abi.h"

extern "C" {
/// Before a load, store or atomic. Does not return if the host must not do it.
void ampc_sim_access(const ampc_sim_site *site, uint64_t address);
/// The same of a run of bytes: memory copies and fills.
void ampc_sim_range(const ampc_sim_site *site, uint64_t address,
                    uint64_t bytes);
/// After an atomic access.
void ampc_sim_after_atomic(const ampc_sim_site *site, uint64_t address);
/// imm: kind of fence.
void ampc_sim_fence(const ampc_sim_site *, const void *, void *);

uint64_t ampc_sim_shared_base(void);
uint32_t ampc_sim_register(uint32_t which);
/// Grows with every call.
uint64_t ampc_sim_clock(void);
/// Gives the other threads a turn.
void ampc_sim_pause(const ampc_sim_site *, const void *, void *);
/// Ends the thread.
void ampc_sim_exit(void);
/// Reached if the program is wrong: trap, a failed assertion.
void ampc_sim_trap(const ampc_sim_site *, const void *, void *);
uint8_t ampc_sim_is_shared(uint64_t address);
}

#endif // AMPC_RUNTIME_DEVICES_SIM_ACCESS_H
