//===- warp_ops.h - Shuffles, votes, reductions over a warp ---------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_WARP_OPS_H
#define AMPC_RUNTIME_DEVICES_SIM_WARP_OPS_H

#include "ampc/sim_abi.h"

extern "C" {
/// {mask, value, b, c} of shfl.sync; imm: mode, whether the result has a
/// predicate.
void ampc_sim_shuffle(const ampc_sim_site *, const void *, void *);
/// {mask, i1}; imm: mode.
void ampc_sim_vote(const ampc_sim_site *, const void *, void *);
/// {mask, value}; imm: 1 for match.all, bits of the value.
void ampc_sim_match(const ampc_sim_site *, const void *, void *);
/// {value, mask} of redux.sync; imm: operation.
void ampc_sim_reduce(const ampc_sim_site *, const void *, void *);
/// {mask}.
void ampc_sim_elect(const ampc_sim_site *, const void *, void *);
/// All lanes of the warp that have not ended: what a convergent warp sees.
void ampc_sim_active_mask(const ampc_sim_site *, const void *, void *);
/// {count} of setmaxnreg.
void ampc_sim_set_max_registers(const ampc_sim_site *, const void *, void *);
}

#endif // AMPC_RUNTIME_DEVICES_SIM_WARP_OPS_H
