/*===- toy_program.c - A compiled program, written by hand ----------------===*\
|*
|* What the compiler would emit for
|*   y = bias + sum over `trips` iterations of x + iteration (in f32, [4, 8])
|*   z = negative ? -y : y, chosen by a bool input; w = x again, as a copy
|* with each kind of node and each region; or, with TOY_BATCH, for y = -x alone.
|* TOY_EXTERNAL keeps the weights in a file, TOY_SHARED makes a library of it.
|*
\*===----------------------------------------------------------------------===*/
#include "ampc/abi.h"

enum { rows = 4, columns = 8, bytes = rows * columns * 4 };

/* accumulator += x + iteration; items are rows */
static void accumulate(void *const *buffers, void *scratch, int64_t begin,
                       int64_t end) {
  const float *x = buffers[0];
  const int64_t *iteration = buffers[1];
  float *sum = buffers[2];
  float *row = scratch;
  for (int64_t i = begin; i < end; ++i) {
    for (int j = 0; j < columns; ++j) {
      row[j] = x[i * columns + j] + (float)*iteration;
    }
    for (int j = 0; j < columns; ++j) {
      sum[i * columns + j] += row[j];
    }
  }
}

/* out = bias broadcast over rows; items are rows */
static void broadcast(void *const *buffers, void *scratch, int64_t begin,
                      int64_t end) {
  const float *bias = buffers[0];
  float *out = buffers[1];
  (void)scratch;
  for (int64_t i = begin; i < end; ++i) {
    for (int j = 0; j < columns; ++j) {
      out[i * columns + j] = bias[j];
    }
  }
}

static void negate(void *const *buffers, void *scratch, int64_t begin,
                   int64_t end) {
  const float *in = buffers[0];
  float *out = buffers[1];
  (void)scratch;
  for (int64_t i = begin; i < end; ++i) {
    out[i] = -in[i];
  }
}

/* continue while the iteration just done was below 98 */
static void condition(void *const *buffers, void *scratch, int64_t begin,
                      int64_t end) {
  const int64_t *iteration = buffers[0];
  uint8_t *proceed = buffers[1];
  (void)scratch;
  (void)begin;
  (void)end;
  *proceed = *iteration < 98;
}

static void setTrue(void *const *buffers, void *scratch, int64_t begin,
                    int64_t end) {
  (void)scratch;
  (void)begin;
  (void)end;
  *(uint8_t *)buffers[0] = 1;
}

static const ampc_kernel_desc kernels[] = {
    {"f32-accumulate-4x8", accumulate, rows, 1, columns * 4},
    {"f32-broadcast-4x8", broadcast, rows, 1, 0},
    {"f32-negate-32", negate, rows * columns, 8, 0},
    {"i64-condition", condition, 1, 1, 0},
    {"bool-true", setTrue, 1, 1, 0},
};

static const int64_t shape[] = {rows, columns};
static const ampc_tensor_desc inputs[] = {
    {"x", AMPC_DTYPE_F32, 2, shape, bytes},
    {"trips", AMPC_DTYPE_I64, 0, 0, 8},
    {"negative", AMPC_DTYPE_BOOL, 0, 0, 1},
};
static const ampc_tensor_desc outputs[] = {
    {"y", AMPC_DTYPE_F32, 2, shape, bytes},
    {"z", AMPC_DTYPE_F32, 2, shape, bytes},
    {"w", AMPC_DTYPE_F32, 2, shape, bytes},
};

const _Alignas(64) float weights[16 + 16] = {1, 2, 3, 4, 5, 6, 7, 8};

#define ARENA(at) {AMPC_REGION_ARENA, 0, {at, 0}}
#define INPUT(i) {AMPC_REGION_INPUT, i, {0, 0}}
#define OUTPUT(i) {AMPC_REGION_OUTPUT, i, {0, 0}}
enum { atIteration = 0, atProceed = 64 };

static const ampc_buffer_ref biasBuffers[] = {{AMPC_REGION_WEIGHTS, 0, {0, 0}},
                                              OUTPUT(0)};
static const ampc_buffer_ref trueBuffers[] = {ARENA(atProceed)};
static const ampc_buffer_ref loopBuffers[] = {ARENA(atIteration),
                                              ARENA(atProceed), INPUT(1)};
static const ampc_buffer_ref sumBuffers[] = {INPUT(0), ARENA(atIteration),
                                             OUTPUT(0)};
static const ampc_buffer_ref proceedBuffers[] = {ARENA(atIteration),
                                                 ARENA(atProceed)};
static const ampc_buffer_ref ifBuffers[] = {INPUT(2)};
static const ampc_buffer_ref zBuffers[] = {OUTPUT(0), OUTPUT(1)};
static const ampc_buffer_ref wBuffers[] = {INPUT(0), OUTPUT(2)};

#define LAUNCH(k, refs, label)                                                 \
  {AMPC_NODE_LAUNCH, k, sizeof refs / sizeof *refs, 0, refs, {0, 0}, label, 0}
#define COPY(refs, label) {AMPC_NODE_COPY, 0, 2, 0, refs, {bytes, 0}, label, 0}

static const ampc_node loopNodes[] = {LAUNCH(0, sumBuffers, "/loop/Add"),
                                      LAUNCH(3, proceedBuffers, "/loop/Less")};
static const ampc_node_list loopBody[] = {{2, loopNodes}};
static const ampc_node thenNodes[] = {LAUNCH(2, zBuffers, "/if/Neg")};
static const ampc_node elseNodes[] = {COPY(zBuffers, "/if/Identity")};
static const ampc_node_list branches[] = {{1, thenNodes}, {1, elseNodes}};

const ampc_node nodes[] = {
    LAUNCH(1, biasBuffers, "/Expand"),
    LAUNCH(4, trueBuffers, "/Constant"),
    {AMPC_NODE_LOOP, 0, 3, 0, loopBuffers, {0, 0}, "/Loop", loopBody},
    {AMPC_NODE_IF, 0, 1, 0, ifBuffers, {0, 0}, "/If", branches},
    COPY(wBuffers, "/Identity"),
};

#ifndef TOY_CPU_FEATURES
#define TOY_CPU_FEATURES 0
#endif

#ifdef TOY_BATCH
enum { numTensors = 1 };
static const ampc_buffer_ref batchBuffers[] = {INPUT(0), OUTPUT(0)};
static const ampc_node batchNodes[] = {LAUNCH(2, batchBuffers, "/Neg")};
#define MAIN {1, batchNodes}
#else
enum { numTensors = 3 };
#define MAIN {sizeof nodes / sizeof *nodes, nodes}
#endif

#ifdef TOY_EXTERNAL
#define WEIGHTS 0
#define WEIGHTS_FILE "toy.weights"
#else
#define WEIGHTS weights
#define WEIGHTS_FILE 0
#endif

const ampc_program ampc_program_entry = {
    AMPC_ABI_VERSION,
    sizeof(ampc_program),
    "toy",
    "by hand",
    "{\"amp\": \"off\"}",
    numTensors,
    numTensors,
    inputs,
    outputs,
    {128, 0},
    WEIGHTS,
    64,
    WEIGHTS_FILE,
    64,
    sizeof kernels / sizeof *kernels,
    0,
    kernels,
    MAIN,
    TOY_CPU_FEATURES,
    0,
};

#ifdef TOY_SHARED
#include "ampc/runtime.h"

__attribute__((visibility("default"))) int toyMain(int argc, char **argv) {
  return ampc_program_main(argc, argv, &ampc_program_entry);
}
#endif
