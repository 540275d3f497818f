//===- matrix_ops.h - mma.sync, ldmatrix, stmatrix, wgmma -----------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_MATRIX_OPS_H
#define AMPC_RUNTIME_DEVICES_SIM_MATRIX_OPS_H

#include "ampc/sim_abi.h"
#include "runtime/devices/sim/matrix_numerics.h"

namespace ampc::runtime::sim {

/// Operands of one instruction at a time, of a block.
struct MatrixScratch {
  MatrixOperand a, b;
  uint32_t aBits[64 * 16], bBits[16 * 256], cd[64 * 256];
  uint32_t recorded[64 * 256]; // cd before, where products are recorded
};

struct Block;

/// Computes `problem` as the units of the block's architecture do.
void multiply(Block &block, const MatrixProblem &problem);

} // namespace ampc::runtime::sim

extern "C" {
/// The registers of A, B and C; imm: n << 16 | k, MatrixType of A and B, of C
/// and D.
void ampc_sim_mma(const ampc_sim_site *, const void *, void *);
/// {address} giving registers; imm: matrices, whether they are transposed.
void ampc_sim_ldmatrix(const ampc_sim_site *, const void *, void *);
/// {address, registers}; imm as for ldmatrix.
void ampc_sim_stmatrix(const ampc_sim_site *, const void *, void *);

/// The registers of C, those of A or its descriptor, B's descriptor, i32
/// scale-d; imm: n << 16 | k, MatrixType of A and B, of C and D, flags: 1 A in
/// registers, 2 A negated, 4 B negated, 8 A transposed, 16 B transposed.
void ampc_sim_wgmma(const ampc_sim_site *, const void *, void *);
void ampc_sim_wgmma_fence(const ampc_sim_site *, const void *, void *);
void ampc_sim_wgmma_commit(const ampc_sim_site *, const void *, void *);
/// {i64 groups that may be left}.
void ampc_sim_wgmma_wait(const ampc_sim_site *, const void *, void *);
/// Before results of wgmma are used; imm: the index of the wgmma's site.
void ampc_sim_wgmma_use(const ampc_sim_site *, const void *, void *);
}

#endif // AMPC_RUNTIME_DEVICES_SIM_MATRIX_OPS_H
