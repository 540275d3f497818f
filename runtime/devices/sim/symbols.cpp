//===- symbols.cpp - The functions that generated code calls --------------===//
#include "runtime/devices/sim/access.h"
#include "runtime/devices/sim/approximate.h"
#include "runtime/devices/sim/async_copy.h"
#include "runtime/devices/sim/barrier.h"
#include "runtime/devices/sim/bulk_copy.h"
#include "runtime/devices/sim/convert.h"
#include "runtime/devices/sim/matrix_ops.h"
#include "runtime/devices/sim/mbarrier.h"
#include "runtime/devices/sim/simulator.h"
#include "runtime/devices/sim/warp_ops.h"

namespace ampc::runtime::sim {

#define SYMBOL(name) {#name, reinterpret_cast<void *>(&name)}

const Symbol *symbols() {
  static const Symbol table[] = {SYMBOL(ampc_sim_access),
                                 SYMBOL(ampc_sim_range),
                                 SYMBOL(ampc_sim_after_atomic),
                                 SYMBOL(ampc_sim_fence),
                                 SYMBOL(ampc_sim_shared_base),
                                 SYMBOL(ampc_sim_register),
                                 SYMBOL(ampc_sim_clock),
                                 SYMBOL(ampc_sim_pause),
                                 SYMBOL(ampc_sim_exit),
                                 SYMBOL(ampc_sim_trap),
                                 SYMBOL(ampc_sim_is_shared),
                                 SYMBOL(ampc_sim_barrier),
                                 SYMBOL(ampc_sim_warp_sync),
                                 SYMBOL(ampc_sim_shuffle),
                                 SYMBOL(ampc_sim_vote),
                                 SYMBOL(ampc_sim_match),
                                 SYMBOL(ampc_sim_reduce),
                                 SYMBOL(ampc_sim_elect),
                                 SYMBOL(ampc_sim_active_mask),
                                 SYMBOL(ampc_sim_set_max_registers),
                                 SYMBOL(ampc_sim_cp_async),
                                 SYMBOL(ampc_sim_cp_async_commit),
                                 SYMBOL(ampc_sim_cp_async_wait),
                                 SYMBOL(ampc_sim_cp_async_arrive),
                                 SYMBOL(ampc_sim_mbarrier_init),
                                 SYMBOL(ampc_sim_mbarrier_inval),
                                 SYMBOL(ampc_sim_mbarrier_arrive),
                                 SYMBOL(ampc_sim_mbarrier_bytes),
                                 SYMBOL(ampc_sim_mbarrier_wait),
                                 SYMBOL(ampc_sim_mbarrier_pending),
                                 SYMBOL(ampc_sim_tensor_load),
                                 SYMBOL(ampc_sim_tensor_store),
                                 SYMBOL(ampc_sim_tensor_prefetch),
                                 SYMBOL(ampc_sim_bulk_load),
                                 SYMBOL(ampc_sim_bulk_store),
                                 SYMBOL(ampc_sim_bulk_commit),
                                 SYMBOL(ampc_sim_bulk_wait),
                                 SYMBOL(ampc_sim_mma),
                                 SYMBOL(ampc_sim_ldmatrix),
                                 SYMBOL(ampc_sim_stmatrix),
                                 SYMBOL(ampc_sim_wgmma),
                                 SYMBOL(ampc_sim_wgmma_fence),
                                 SYMBOL(ampc_sim_wgmma_commit),
                                 SYMBOL(ampc_sim_wgmma_wait),
                                 SYMBOL(ampc_sim_wgmma_use),
                                 SYMBOL(ampc_sim_ex2),
                                 SYMBOL(ampc_sim_ex2_ftz),
                                 SYMBOL(ampc_sim_lg2),
                                 SYMBOL(ampc_sim_lg2_ftz),
                                 SYMBOL(ampc_sim_rcp_ftz),
                                 SYMBOL(ampc_sim_rsqrt),
                                 SYMBOL(ampc_sim_rsqrt_ftz),
                                 SYMBOL(ampc_sim_sqrt),
                                 SYMBOL(ampc_sim_sqrt_ftz),
                                 SYMBOL(ampc_sim_sin),
                                 SYMBOL(ampc_sim_cos),
                                 SYMBOL(ampc_sim_tanh),
                                 SYMBOL(ampc_sim_to_bf16),
                                 SYMBOL(ampc_sim_to_f16),
                                 SYMBOL(ampc_sim_to_tf32_away),
                                 SYMBOL(ampc_sim_to_tf32_even),
                                 SYMBOL(ampc_sim_fma_f16),
                                 SYMBOL(ampc_sim_fma_bf16),
                                 SYMBOL(ampc_sim_permute),
                                 {nullptr, nullptr}};
  return table;
}

#undef SYMBOL

} // namespace ampc::runtime::sim
