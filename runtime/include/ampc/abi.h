/*===- abi.h - The contract between compiled programs and the runtime -----===*\
|*
|* A compiled model is constant data plus kernel functions. The compiler emits
|* one `ampc_program` object; the runtime walks it. This header is standalone,
|* plain C, and versioned as a schema: a field is only ever added at the end of
|* a struct, and AMPC_ABI_VERSION grows when the meaning of one changes.
|*
\*===----------------------------------------------------------------------===*/
#ifndef AMPC_ABI_H
#define AMPC_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AMPC_ABI_VERSION 3u

/** Alignment in bytes of the arena, of the weight section and of every slice
 *  of either. Caller buffers need only the alignment of their element type. */
#define AMPC_ALIGNMENT 64u

/** Bytes that a kernel may read (never write) past the end of an arena slice
 *  or weight, so that a vector load needs no tail. The arena and the weight
 *  section are padded by as much. Caller buffers are never over-read. */
#define AMPC_OVERREAD 64u

/** Element types, numbered as ONNX numbers TensorProto.DataType. */
typedef enum ampc_dtype {
  AMPC_DTYPE_F32 = 1,
  AMPC_DTYPE_U8 = 2,
  AMPC_DTYPE_I8 = 3,
  AMPC_DTYPE_U16 = 4,
  AMPC_DTYPE_I16 = 5,
  AMPC_DTYPE_I32 = 6,
  AMPC_DTYPE_I64 = 7,
  AMPC_DTYPE_BOOL = 9, /* one byte, 0 or 1 */
  AMPC_DTYPE_F16 = 10,
  AMPC_DTYPE_F64 = 11,
  AMPC_DTYPE_U32 = 12,
  AMPC_DTYPE_U64 = 13,
  AMPC_DTYPE_BF16 = 16
} ampc_dtype;

/** A size or offset in bytes: fixed + per_sample * N, where N is the free
 *  batch dimension. `per_sample` is 0 in every program so far. */
typedef struct ampc_size {
  uint64_t fixed;
  uint64_t per_sample;
} ampc_size;

/** A graph input or output: dense, row-major, last dimension contiguous. */
typedef struct ampc_tensor_desc {
  const char *name;    /* ONNX name, UTF-8 */
  uint32_t dtype;      /* ampc_dtype */
  uint32_t rank;       /* 0 for a scalar */
  const int64_t *dims; /* rank entries, each >= 0 */
  uint64_t bytes;      /* product of dims times the element size */
} ampc_tensor_desc;

/** Where a buffer lives. */
typedef enum ampc_region {
  AMPC_REGION_ARENA = 0,   /* the one activation arena; offset from its base */
  AMPC_REGION_WEIGHTS = 1, /* the constant section; offset from its base */
  AMPC_REGION_INPUT = 2,   /* caller's buffer of graph input `index` */
  AMPC_REGION_OUTPUT = 3,  /* caller's buffer of graph output `index` */
  AMPC_REGION_STATE = 4    /* what outlives a run; offset from its base */
} ampc_region;

typedef struct ampc_buffer_ref {
  uint32_t region; /* ampc_region */
  uint32_t index;  /* of the input or output in its table; 0 elsewhere */
  ampc_size offset;
  uint64_t bytes; /* of the tensor that lies there */
  uint32_t dtype; /* ampc_dtype of its elements */
  uint32_t reserved;
} ampc_buffer_ref;

/** Runs work items [begin, end) of a kernel. Items are independent: any split
 *  over any number of threads gives the same bytes.
 *  `buffers`: the node's buffers in order, inputs first, then outputs.
 *  `scratch`: this thread's workspace of `scratch_bytes`, AMPC_ALIGNMENT
 *  aligned, contents undefined on entry; NULL when scratch_bytes is 0. */
typedef void (*ampc_kernel_fn)(void *const *buffers, void *scratch,
                               int64_t begin, int64_t end);

typedef struct ampc_kernel_desc {
  const char *name; /* op, shape and types: `softmax_64x4096_f32_f32_...` */
  ampc_kernel_fn fn;
  int64_t items;          /* the launch covers [0, items) */
  int64_t grain;          /* fewest items worth handing to another thread */
  uint64_t scratch_bytes; /* per thread */
} ampc_kernel_desc;

typedef enum ampc_node_kind {
  /* one launch = one parallel_for over the kernel's items */
  AMPC_NODE_LAUNCH = 0,
  /* copies `bytes` from buffers[0] to buffers[1]; they do not overlap. A
   * launch, too, overlaps no output with another buffer, but for an output that
   * is the same bytes as one input of it: that one is changed in place. */
  AMPC_NODE_COPY = 1,
  /* buffers[0] is a bool: runs bodies[0] if it is not 0, else bodies[1] */
  AMPC_NODE_IF = 2,
  /* buffers[0]: i64, written by the runtime with the iteration number before
   * each iteration; buffers[1]: bool, continue while not 0 (tested before each
   * iteration); buffers[2]: i64, the largest trip count. Runs bodies[0]. */
  AMPC_NODE_LOOP = 3
} ampc_node_kind;

struct ampc_node;

typedef struct ampc_node_list {
  uint32_t num_nodes;
  const struct ampc_node *nodes;
} ampc_node_list;

/** One step of the host program. Nodes run in order; each sees the effects of
 *  all before it. */
typedef struct ampc_node {
  uint32_t kind;   /* ampc_node_kind */
  uint32_t kernel; /* LAUNCH: index into ampc_program.kernels */
  uint32_t num_buffers;
  uint32_t num_outputs; /* LAUNCH: the last of its buffers */
  const ampc_buffer_ref *buffers;
  ampc_size bytes;              /* COPY */
  const char *label;            /* the ONNX nodes it computes, for profiles */
  const ampc_node_list *bodies; /* IF: 2, LOOP: 1, else NULL */
} ampc_node;

/** One parameter of a GPU kernel: a pointer to a buffer of the node. */
typedef struct ampc_gpu_param {
  uint64_t bytes; /* that the kernel may access from there on */
  uint32_t is_output;
  uint32_t reserved;
} ampc_gpu_param;

/** Tensor maps that a launch has at most. */
#define AMPC_GPU_MAX_TENSOR_MAPS 4u

/** A buffer as Hopper's copy engine sees it (cuTensorMapEncodeTiled): boxes of
 *  it are copied to shared memory, elements outside of it are zeros there. The
 *  innermost dimension comes first. */
typedef struct ampc_gpu_tensor_map {
  uint32_t param;      /* of the launch: the buffer */
  uint32_t dtype;      /* ampc_dtype, a float of 16 or 32 bits */
  uint32_t rank;       /* 1 to 5 */
  uint32_t swizzle;    /* bytes of the pattern: 0, 32, 64 or 128 */
  uint64_t sizes[5];   /* elements along each dimension */
  uint64_t strides[5]; /* bytes from one to the next; [0] is an element's size,
                        * the others multiples of 16 */
  uint32_t box[5];     /* elements that one copy has along each dimension */
  uint32_t reserved;
} ampc_gpu_tensor_map;

/** How a kernel is launched on a GPU. Its parameters are pointers to the node's
 *  buffers, in order, nothing being read past their end; then tensor maps, by
 *  value; then, unless workspace_bytes is 0, a pointer to the workspace, one
 *  for all launches of a program. It is zeros before the first of them, and
 *  each kernel finds what the one before has left; of flags in it, zeros. */
typedef struct ampc_gpu_launch {
  const char *symbol;    /* of the kernel in the image */
  uint32_t grid[3];      /* blocks; 0 where there is nothing to do */
  uint32_t block[3];     /* threads of a block */
  uint32_t shared_bytes; /* dynamic shared memory of a block */
  uint32_t num_params;
  const ampc_gpu_param *params;
  uint32_t num_tensor_maps;
  uint32_t module; /* of the image, that holds the kernel */
  const ampc_gpu_tensor_map *tensor_maps;
  uint64_t workspace_bytes; /* that the kernel may access */
} ampc_gpu_launch;

typedef enum ampc_gpu_image_kind {
  /* runs on devices of compute capability `architecture` (80 is 8.0) and of the
   * same major version with a higher minor one */
  AMPC_GPU_IMAGE_CUBIN = 0,
  /* text, of which the driver makes code for `architecture` or any later one;
   * each ends in a zero byte behind its `bytes` */
  AMPC_GPU_IMAGE_PTX = 1,
  /* the ampc_sim_module of kernels lowered for the simulator, which then is a
   * device of `architecture`; `bytes` is 0 */
  AMPC_GPU_IMAGE_SIMULATOR = 2,
  /* a cubin of architecture-specific code, "sm_90a" where `architecture` is 90:
   * it runs on devices of exactly this compute capability */
  AMPC_GPU_IMAGE_EXACT_CUBIN = 3
} ampc_gpu_image_kind;

/** What the driver loads at once: one kernel, or several. */
typedef struct ampc_gpu_module {
  const void *data;
  uint64_t bytes;
} ampc_gpu_module;

/** Code for one GPU architecture. */
typedef struct ampc_gpu_image {
  uint32_t architecture;
  uint32_t kind; /* ampc_gpu_image_kind */
  uint32_t num_modules;
  uint32_t reserved;
  const ampc_gpu_module *modules;
  const ampc_gpu_launch *launches; /* one for each kernel of the program */
} ampc_gpu_image;

/** A device of the runtime. A program refers to the one that runs its images,
 *  so that no other program is linked with it. */
struct ampc_device;
extern const struct ampc_device ampc_cuda_device; /* libampc_runtime.a */
extern const struct ampc_device ampc_sim_device;  /* libampc_sim.a */

typedef struct ampc_gpu_code {
  uint32_t num_images;
  uint32_t reserved;
  const ampc_gpu_image *images; /* by architecture, cubins before PTX */
  const struct ampc_device *device;
} ampc_gpu_code;

/** The command line of trainers, in libampc_runtime.a. A trainer refers to it,
 *  so that no other program is linked with it. */
struct ampc_training_commands;
extern const struct ampc_training_commands ampc_training;

/** What a state is for. */
typedef enum ampc_state_role {
  AMPC_STATE_PARAMETER = 0, /* trained; named as the model's initializer */
  AMPC_STATE_STATISTIC = 1, /* running statistics; named as the initializer */
  AMPC_STATE_MOMENT = 2,    /* of the optimizer: "w.mean" for the parameter w */
  AMPC_STATE_CONTROL = 3,   /* loss scale and counters */
  AMPC_STATE_TRANSIENT = 4  /* of one update only; not in a checkpoint */
} ampc_state_role;

/** `ampc_state_desc.initial` of a state that begins with zeros. */
#define AMPC_NO_INITIAL UINT64_MAX

/** A tensor that outlives a run. */
typedef struct ampc_state_desc {
  ampc_tensor_desc tensor;
  uint64_t offset;  /* in the state region */
  uint64_t initial; /* where its first value lies in the weight section */
  uint32_t role;    /* ampc_state_role */
  uint32_t reserved;
} ampc_state_desc;

/** A list of nodes that runs by itself, on inputs and outputs of its own. They
 *  lie behind those of `main` in the tables of the program, to which `index` of
 *  buffers refers. All entries share kernels, weights, state and arena; nothing
 *  in the arena outlives a run. */
typedef struct ampc_entry {
  const char *name;
  uint32_t first_input;
  uint32_t num_inputs;
  uint32_t first_output;
  uint32_t num_outputs;
  ampc_node_list nodes;
} ampc_entry;

/** A compiled model. */
typedef struct ampc_program {
  uint32_t abi_version; /* AMPC_ABI_VERSION of the compiler */
  uint32_t struct_size; /* sizeof(ampc_program) there */
  const char *name;     /* the ONNX graph's name */
  const char *producer; /* "ampc 0.1.0" */
  const char *metadata; /* JSON: options, precision summary, model metadata */
  uint32_t num_inputs;
  uint32_t num_outputs;
  const ampc_tensor_desc *inputs;
  const ampc_tensor_desc *outputs;
  ampc_size arena_bytes; /* the static peak of activations and workspace */
  /* Weights: `weights` points to `weights_bytes` of constant data inside the
   * program; or it is NULL and `weights_file` names a file that lies beside
   * the program, whose bytes from `weights_file_offset` on are mapped. */
  const void *weights;
  uint64_t weights_bytes;
  const char *weights_file;
  uint64_t weights_file_offset;
  uint32_t num_kernels;
  uint32_t reserved;
  const ampc_kernel_desc *kernels;
  ampc_node_list main;
  uint64_t cpu_features; /* AMPC_CPU_* bits the kernels need */
  /* Kernels of a GPU, whose `fn` is NULL above; NULL in a program of the CPU.
   * Present when struct_size covers it. */
  const ampc_gpu_code *gpu;
  /* The first part of the weights: what kernels read. First values of states
   * follow, which only a new session needs. */
  uint64_t constant_bytes;
  /* A trainer has the entries "eval", "step" and "apply" beside `main`, and
   * "refresh", which a session runs after parameters have been written, if
   * there are copies of them. */
  uint32_t num_entries;
  uint32_t num_states;
  const ampc_entry *entries;
  const ampc_state_desc *states;
  uint64_t state_bytes;
  /* All states of rank 0 lie in the first part of the region, to be read at
   * once. */
  uint64_t control_bytes;
  /* The commands of a trainer; NULL in another program. */
  const struct ampc_training_commands *training;
} ampc_program;

/** CPU features a program may require, checked before anything runs. */
#define AMPC_CPU_AVX2 (1ull << 0)   /* AVX2, FMA, F16C, BMI2: x86-64-v3 */
#define AMPC_CPU_AVX512 (1ull << 1) /* AVX-512 F, BW, DQ, VL, CD: x86-64-v4 */
#define AMPC_CPU_AVX512_BF16 (1ull << 2)
#define AMPC_CPU_AVX512_FP16 (1ull << 3)
#define AMPC_CPU_AMX_BF16 (1ull << 4)

#ifdef __cplusplus
}
#endif

#endif /* AMPC_ABI_H */
