//===- async_copy.h - cp.async --------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_ASYNC_COPY_H
#define AMPC_RUNTIME_DEVICES_SIM_ASYNC_COPY_H

#include "ampc/sim_abi.h"

namespace ampc::runtime::sim {

struct Block;
struct Thread;

/// Does all copies of a thread that ends.
void finishCopies(Block &block, Thread &thread);

} // namespace ampc::runtime::sim

extern "C" {
/// {shared, global[, i32 bytes to read]}; imm: bytes, whether the third is
/// there.
void ampc_sim_cp_async(const ampc_sim_site *, const void *, void *);
void ampc_sim_cp_async_commit(const ampc_sim_site *, const void *, void *);
/// {i32 groups that may be left}; imm: 1 to wait for all, committed or not.
void ampc_sim_cp_async_wait(const ampc_sim_site *, const void *, void *);
}

#endif // AMPC_RUNTIME_DEVICES_SIM_ASYNC_COPY_H
