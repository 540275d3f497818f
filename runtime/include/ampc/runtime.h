/*===- runtime.h - Running compiled programs from C -----------------------===*\
|*
|* Plain C, opaque handles, no global state, no printing, no exit. A session
|* runs one program; it is used by one thread at a time, and different sessions
|* are independent. Sizes in bytes are size_t or uint64_t, shapes are int64_t.
|* Out-parameters come last and are written only on success.
|*
\*===----------------------------------------------------------------------===*/
#ifndef AMPC_RUNTIME_H
#define AMPC_RUNTIME_H

#include "ampc/abi.h"

#include <stddef.h>
#include <stdint.h>

/* The archive is built with hidden visibility, so that a shared library that
 * contains it exports nothing of it. */
#ifndef AMPC_EXPORT
#define AMPC_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Why a call failed. The values are also the exit codes of every program. */
typedef enum ampc_code {
  AMPC_OK = 0,
  AMPC_COMPARISON_FAILED = 1,
  AMPC_USAGE = 2,       /* a wrong option or argument */
  AMPC_INVALID = 3,     /* an invalid or hostile model or data file */
  AMPC_UNSUPPORTED = 4, /* valid, but not supported */
  AMPC_IO = 5,          /* the operating system refused to read or write */
  AMPC_LIMIT = 6,       /* a stated limit, or memory, is exceeded */
  AMPC_TOOLCHAIN = 7,
  AMPC_DEVICE = 8, /* this machine cannot run the program */
  AMPC_PEER_LOST = 9,
  AMPC_CHECKPOINT = 10,
  AMPC_INTERNAL = 70 /* a defect of ampc */
} ampc_code;

/** Outcome of a call: NULL is success. Another status is owned by the caller,
 *  who frees it. */
typedef const struct ampc_status_s *ampc_status;

/** AMPC_OK for NULL. */
AMPC_EXPORT ampc_code ampc_status_code(ampc_status status);
/** One line of text without a final period; lives as long as `status`. */
AMPC_EXPORT const char *ampc_status_message(ampc_status status);
/** Frees `status`; NULL is allowed. */
AMPC_EXPORT void ampc_status_free(ampc_status status);

/** Bytes of one element, or 0 if `dtype` is no ampc_dtype. */
AMPC_EXPORT size_t ampc_dtype_size(uint32_t dtype);
/** "f32", "bf16", "i64", "bool" ...; "invalid" if `dtype` is no ampc_dtype. */
AMPC_EXPORT const char *ampc_dtype_name(uint32_t dtype);

typedef struct ampc_session_options {
  size_t struct_size; /* set by _init; lets the struct grow */
  /** Threads that compute, the caller's included; 0: as many as the process
   *  may use. The bytes of the results do not depend on it. */
  uint32_t num_threads;
  /** Not 0: activations and workspace are filled with NaN bytes before each
   *  run, so that a read of something unwritten shows in the results. */
  uint32_t debug_arena;
  /** "cpu", "cuda", "cuda:N" (the GPU of that number) or "sim"; NULL, the
   *  default: the one that the program is made for. */
  const char *device;
  /** Folder of the program's weight file; NULL: where the program lies. */
  const char *weights_dir;
} ampc_session_options;

/** Fills in the defaults. */
AMPC_EXPORT void ampc_session_options_init(ampc_session_options *out_options);

typedef struct ampc_session_s *ampc_session;

/** Prepares `program`, which must outlive the session: checks it against this
 *  machine, maps its weights, allocates its arena, starts its threads. After
 *  this, running allocates nothing. `options` may be NULL.
 *  Errors: AMPC_DEVICE (ABI version, CPU features, threads, no GPU that runs
 *  it or none with enough memory), AMPC_IO and AMPC_INVALID (weight file,
 *  malformed program), AMPC_LIMIT (memory of the host). */
AMPC_EXPORT ampc_status ampc_session_create(const ampc_program *program,
                                            const ampc_session_options *options,
                                            ampc_session *out_session);
/** Stops the threads and frees everything; NULL is allowed. */
AMPC_EXPORT void ampc_session_destroy(ampc_session session);

AMPC_EXPORT const ampc_program *ampc_session_program(ampc_session session);
AMPC_EXPORT uint32_t ampc_session_num_threads(ampc_session session);

AMPC_EXPORT uint32_t ampc_session_num_inputs(ampc_session session);
AMPC_EXPORT uint32_t ampc_session_num_outputs(ampc_session session);
/** Description of an input or output, or NULL if there is none of `index`. */
AMPC_EXPORT const ampc_tensor_desc *ampc_session_input(ampc_session session,
                                                       uint32_t index);
AMPC_EXPORT const ampc_tensor_desc *ampc_session_output(ampc_session session,
                                                        uint32_t index);

/** Runs the program once and returns when the outputs are written.
 *  `inputs` and `outputs` hold one pointer per graph input and output, to
 *  dense row-major data of the described size, aligned for its element type;
 *  a pointer may be NULL only for a tensor of 0 bytes. An output overlaps no
 *  other buffer. The buffers are used during the call only. AMPC_DEVICE: the
 *  GPU failed, or its simulator found a fault; the session is of no more use.
 */
AMPC_EXPORT ampc_status ampc_session_run(ampc_session session,
                                         const void *const *inputs,
                                         void *const *outputs);

/** The entry of that name, "step" for one, or -1. */
AMPC_EXPORT int64_t ampc_session_find_entry(ampc_session session,
                                            const char *name);

/** As ampc_session_run, for entry `index`, with its own inputs and outputs. */
AMPC_EXPORT ampc_status ampc_session_run_entry(ampc_session session,
                                               uint32_t index,
                                               const void *const *inputs,
                                               void *const *outputs);

/** Starts `count` entries that have no outputs, one after the other, as one
 *  unit: on a GPU it is one graph. `inputs`: those of all of them. Returns when
 *  the buffers may be used again, which on a GPU is before the work is done. An
 *  error of the work may be told by a later call. */
AMPC_EXPORT ampc_status ampc_session_submit(ampc_session session,
                                            const uint32_t *entries,
                                            uint32_t count,
                                            const void *const *inputs);

/** The states of a trainer: its parameters, moments, loss scale. */
AMPC_EXPORT uint32_t ampc_session_num_states(ampc_session session);
/** Description of a state, or NULL if there is none of `index`. */
AMPC_EXPORT const ampc_state_desc *ampc_session_state(ampc_session session,
                                                      uint32_t index);
/** Copies a state, after all submitted work, to or from dense data. */
AMPC_EXPORT ampc_status ampc_session_read_state(ampc_session session,
                                                uint32_t index, void *out_data);
AMPC_EXPORT ampc_status ampc_session_write_state(ampc_session session,
                                                 uint32_t index,
                                                 const void *data);

/** Starts a copy of the first `control_bytes` of the state, behind all work
 *  submitted so far, and returns a ticket to wait for it with. At most two
 *  copies may be under way. */
AMPC_EXPORT ampc_status ampc_session_fetch_control(ampc_session session,
                                                   uint64_t *out_ticket);
/** Waits for a copy; `out_control` points to the bytes, which stay until the
 *  second fetch after. */
AMPC_EXPORT ampc_status ampc_session_wait_control(ampc_session session,
                                                  uint64_t ticket,
                                                  const void **out_control);

/** What a search for values that are not finite found. */
typedef struct ampc_nonfinite {
  const char *label;  /* the ONNX nodes of the first node that wrote one, or
                       * NULL: there is none */
  const char *kernel; /* its kernel */
  uint32_t dtype;     /* of the tensor */
  uint32_t is_nan;    /* NaN, else an infinity */
  double least;       /* the range of finite values that it read; 0, 0 if it */
  double largest;     /* read no floats */
} ampc_nonfinite;

/** Runs entry `index` node by node and looks for the first that writes a value
 *  which is not finite, states included. For diagnosis: slow, and the state
 *  changes as in a run. */
AMPC_EXPORT ampc_status ampc_session_find_nonfinite(ampc_session session,
                                                    uint32_t index,
                                                    const void *const *inputs,
                                                    void *const *outputs,
                                                    ampc_nonfinite *out_found);

/** One launch or copy of the program, summed over the profiled runs. */
typedef struct ampc_profile_entry {
  const char *label;  /* the ONNX nodes it computes */
  const char *kernel; /* the kernel's name, or "copy" */
  uint64_t launches;
  uint64_t nanoseconds;
} ampc_profile_entry;

/** Turns timing of each node on or off (off at first; it costs two clock reads
 *  a node) and sets its sums to zero. */
AMPC_EXPORT void ampc_session_set_profiling(ampc_session session, int enabled);
/** Entries in program order; the count does not change. */
AMPC_EXPORT size_t ampc_session_profile_size(ampc_session session);
/** Writes entry `index`, below the size. */
AMPC_EXPORT void ampc_session_profile_entry(ampc_session session, size_t index,
                                            ampc_profile_entry *out_entry);
/** Kernels launched since the session was created, profiled or not. */
AMPC_EXPORT uint64_t ampc_session_total_launches(ampc_session session);

/** The command line of a compiled program (run, bench, inspect); returns the
 *  exit code. This one function prints. */
AMPC_EXPORT int ampc_program_main(int argc, char **argv,
                                  const ampc_program *program);

#ifdef __cplusplus
}
#endif

#endif /* AMPC_RUNTIME_H */
