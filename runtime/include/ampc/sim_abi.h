/*===- sim_abi.h - Contract of simulated kernels and the simulator --------===*\
|*
|* A GPU kernel lowered for the simulator is host code in which every memory
|* access, barrier and GPU instruction calls the simulator. An object of such
|* kernels exports one ampc_sim_module; the symbols that it needs are those of
|* runtime/devices/sim/symbols.cpp.
|*
|* Each call passes its site, a constant of the object. Operands travel packed,
|* in the order of the instruction, each at its natural alignment:
|*   void ampc_sim_op(const ampc_sim_site *, const void *operands, void *result)
|*
\*===----------------------------------------------------------------------===*/
#ifndef AMPC_SIM_ABI_H
#define AMPC_SIM_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AMPC_SIM_ABI_VERSION 1u
#define AMPC_SIM_MAGIC 0x4d495341u /* "ASIM" */

/** How a memory access uses its bytes. */
enum {
  AMPC_SIM_READ = 0,
  AMPC_SIM_WRITE = 1,
  AMPC_SIM_ATOMIC = 2, /* or'ed to the above: volatile and atomic accesses */
  AMPC_SIM_ACQUIRE = 4,
  AMPC_SIM_RELEASE = 8,
  AMPC_SIM_UPDATE = 16 /* or'ed to a write that reads, too */
};

/** Element types of the matrix units. */
enum { AMPC_SIM_F16, AMPC_SIM_BF16, AMPC_SIM_TF32, AMPC_SIM_F32 };

/** imm[0] of ampc_sim_barrier; or'ed. */
enum {
  AMPC_SIM_BARRIER_ALIGNED = 1,
  AMPC_SIM_BARRIER_COUNTED = 2,
  AMPC_SIM_BARRIER_ARRIVE = 4
};

/** imm[0] of ampc_sim_shuffle. */
enum {
  AMPC_SIM_SHUFFLE_UP,
  AMPC_SIM_SHUFFLE_DOWN,
  AMPC_SIM_SHUFFLE_BUTTERFLY,
  AMPC_SIM_SHUFFLE_INDEX
};

/** imm[0] of ampc_sim_vote. */
enum {
  AMPC_SIM_VOTE_ALL,
  AMPC_SIM_VOTE_ANY,
  AMPC_SIM_VOTE_UNIFORM,
  AMPC_SIM_VOTE_BALLOT
};

/** imm[0] of ampc_sim_reduce. */
enum {
  AMPC_SIM_REDUCE_ADD,
  AMPC_SIM_REDUCE_MIN,
  AMPC_SIM_REDUCE_MAX,
  AMPC_SIM_REDUCE_UNSIGNED_MIN,
  AMPC_SIM_REDUCE_UNSIGNED_MAX,
  AMPC_SIM_REDUCE_AND,
  AMPC_SIM_REDUCE_OR,
  AMPC_SIM_REDUCE_XOR
};

/** What ampc_sim_register returns. ZERO and ONE are what a cluster of one
 *  block reads. */
enum {
  AMPC_SIM_REGISTER_THREAD_X,
  AMPC_SIM_REGISTER_THREAD_Y,
  AMPC_SIM_REGISTER_THREAD_Z,
  AMPC_SIM_REGISTER_BLOCK_X,
  AMPC_SIM_REGISTER_BLOCK_Y,
  AMPC_SIM_REGISTER_BLOCK_Z,
  AMPC_SIM_REGISTER_BLOCK_SIZE_X,
  AMPC_SIM_REGISTER_BLOCK_SIZE_Y,
  AMPC_SIM_REGISTER_BLOCK_SIZE_Z,
  AMPC_SIM_REGISTER_GRID_SIZE_X,
  AMPC_SIM_REGISTER_GRID_SIZE_Y,
  AMPC_SIM_REGISTER_GRID_SIZE_Z,
  AMPC_SIM_REGISTER_LANE,
  AMPC_SIM_REGISTER_WARP,
  AMPC_SIM_REGISTER_WARPS,
  AMPC_SIM_REGISTER_WARP_SIZE,
  AMPC_SIM_REGISTER_LANES_EQUAL,
  AMPC_SIM_REGISTER_LANES_LESS,
  AMPC_SIM_REGISTER_LANES_LESS_EQUAL,
  AMPC_SIM_REGISTER_LANES_GREATER,
  AMPC_SIM_REGISTER_LANES_GREATER_EQUAL,
  AMPC_SIM_REGISTER_DYNAMIC_SHARED,
  AMPC_SIM_REGISTER_TOTAL_SHARED,
  AMPC_SIM_REGISTER_ZERO,
  AMPC_SIM_REGISTER_ONE
};

/** imm[0] of ampc_sim_fence. */
enum { AMPC_SIM_FENCE_MEMORY, AMPC_SIM_FENCE_PROXY, AMPC_SIM_FENCE_OTHER };

/** imm[0] of ampc_sim_mbarrier_arrive: what its second operand means. */
enum { AMPC_SIM_ARRIVE_ONCE, AMPC_SIM_ARRIVE_COUNT, AMPC_SIM_ARRIVE_BYTES };

/** imm[3] of ampc_sim_wgmma; or'ed. */
enum {
  AMPC_SIM_WGMMA_A_IN_REGISTERS = 1,
  AMPC_SIM_WGMMA_NEGATE_A = 2,
  AMPC_SIM_WGMMA_NEGATE_B = 4,
  AMPC_SIM_WGMMA_TRANSPOSE_A = 8,
  AMPC_SIM_WGMMA_TRANSPOSE_B = 16
};

/** An instruction of a kernel. */
typedef struct {
  const char *function;
  const char *op;       /* the instruction, as text */
  const char *location; /* "file:line:column", or "" */
  uint32_t index;       /* of this site in its module */
  uint32_t use;         /* of an access: AMPC_SIM_* */
  /** An access: bytes and alignment. Else what the called function says. */
  uint32_t imm[5];
} ampc_sim_site;

/** A variable in shared memory. */
typedef struct {
  const char *name;
  uint32_t offset;
  uint32_t bytes; /* 0: all of the dynamic shared memory */
} ampc_sim_variable;

/** A variable in global or constant memory. */
typedef struct {
  const char *name;
  void *address;
  uint64_t bytes;
  uint64_t writable;
} ampc_sim_global;

typedef struct {
  uint32_t bytes;
  uint32_t alignment;
} ampc_sim_param;

typedef struct {
  const char *name;
  /** Runs one thread; `params` as in cuLaunchKernel. */
  void (*entry)(void **params);
  const ampc_sim_param *params;
  const ampc_sim_variable *variables;
  uint32_t num_params;
  uint32_t num_variables;
  uint32_t static_shared;         /* bytes, with gaps between variables */
  uint32_t dynamic_shared_offset; /* where dynamic shared memory begins */
  uint32_t required_block[3];     /* 0: any */
  uint32_t max_threads;           /* 0: any */
} ampc_sim_kernel;

typedef struct {
  uint32_t magic;
  uint32_t version;
  uint32_t num_kernels;
  uint32_t num_globals;
  uint32_t num_sites;
  uint32_t arch; /* 10 x major + minor */
  const ampc_sim_kernel *kernels;
  const ampc_sim_global *globals;
  const ampc_sim_site *sites;
} ampc_sim_module;

#ifdef __cplusplus
}
#endif

#endif /* AMPC_SIM_ABI_H */
