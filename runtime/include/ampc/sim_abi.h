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
