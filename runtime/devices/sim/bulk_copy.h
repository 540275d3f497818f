//===- bulk_copy.h - cp.async.bulk, with and without tensor maps ----------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_BULK_COPY_H
#define AMPC_RUNTIME_DEVICES_SIM_BULK_COPY_H

#include "ampc/sim_abi.h"

namespace ampc::runtime::sim {

struct Block;

/// Does one of the copies in flight, by the seed; false if there is none.
bool runBulkCopy(Block &block);

/// At the end of a thread: its bulk stores have been waited for.
void checkBulkStores(Block &block);

/// At the end of a block: nothing may be in flight any more.
void finishBulkCopies(Block &block);

} // namespace ampc::runtime::sim

extern "C" {
/// {shared, mbarrier, map, i32 coordinate...}; imm: coordinates.
void ampc_sim_tensor_load(const ampc_sim_site *, const void *, void *);
/// {shared, map, i32 coordinate...}; imm: coordinates.
void ampc_sim_tensor_store(const ampc_sim_site *, const void *, void *);
/// {map}.
void ampc_sim_tensor_prefetch(const ampc_sim_site *, const void *, void *);
/// {shared, mbarrier, global, i32 bytes}.
void ampc_sim_bulk_load(const ampc_sim_site *, const void *, void *);
/// {global, shared, i32 bytes}.
void ampc_sim_bulk_store(const ampc_sim_site *, const void *, void *);
void ampc_sim_bulk_commit(const ampc_sim_site *, const void *, void *);
/// {i32 groups that may be left}.
void ampc_sim_bulk_wait(const ampc_sim_site *, const void *, void *);
}

#endif // AMPC_RUNTIME_DEVICES_SIM_BULK_COPY_H
