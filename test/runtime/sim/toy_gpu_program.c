/*===- toy_gpu_program.c - A program for a GPU, written by hand -----------===*\
|*
|* What the compiler would emit for y = 2 * (2 * x) of 256 floats, as PTX; with
|* TOY_SIM, as code for the simulator.
|*
\*===----------------------------------------------------------------------===*/
#include "ampc/abi.h"
#include "ampc/sim_abi.h"

enum { count = 256, bytes = count * 4 };

#ifdef TOY_SIM
extern uint32_t ampc_sim_register(uint32_t which);
extern void ampc_sim_access(const ampc_sim_site *site, uint64_t address);

static const ampc_sim_site sites[] = {
    {"double_each", "load f32", "toy.cu:1", 0, AMPC_SIM_READ, {4, 4}},
    {"double_each", "store f32", "toy.cu:2", 1, AMPC_SIM_WRITE, {4, 4}},
};

static void doubleEach(void **params) {
  const float *in = *(const float **)params[0];
  float *out = *(float **)params[1];
  uint32_t i = ampc_sim_register(AMPC_SIM_REGISTER_BLOCK_X) *
                   ampc_sim_register(AMPC_SIM_REGISTER_BLOCK_SIZE_X) +
               ampc_sim_register(AMPC_SIM_REGISTER_THREAD_X);
  ampc_sim_access(&sites[0], (uint64_t)(in + i));
  float value = 2 * in[i];
  ampc_sim_access(&sites[1], (uint64_t)(out + i));
  out[i] = value;
}

static const ampc_sim_param simParams[] = {{8, 8}, {8, 8}};
static const ampc_sim_kernel simKernels[] = {
    {"double_each", doubleEach, simParams, 0, 2, 0, 0, 0, {0, 0, 0}, 0}};
static const ampc_sim_module simModule = {
    AMPC_SIM_MAGIC, AMPC_SIM_ABI_VERSION, 1, 0, 2, 80, simKernels, 0, sites};
static const ampc_gpu_module code[] = {{&simModule, 0}};
#define ARCH 80
#define KIND AMPC_GPU_IMAGE_SIMULATOR
#define DEVICE &ampc_sim_device
#elif defined TOY_EXACT
/* What fake_cuda.cpp takes for a cubin. */
static const char cubin[] = "cubin 100";
static const ampc_gpu_module code[] = {{cubin, sizeof cubin - 1}};
#define ARCH 100
#define KIND AMPC_GPU_IMAGE_EXACT_CUBIN
#define DEVICE &ampc_cuda_device
#else
static const char ptx[] =
    ".version 7.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry double_each(.param .u64 in, .param .u64 out) {\n"
    "  .reg .b32 %r<5>;\n"
    "  .reg .f32 %f<3>;\n"
    "  .reg .b64 %d<6>;\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3;\n"
    "  mul.wide.s32 %d1, %r4, 4;\n"
    "  ld.param.u64 %d2, [in];\n"
    "  ld.param.u64 %d3, [out];\n"
    "  add.s64 %d4, %d2, %d1;\n"
    "  add.s64 %d5, %d3, %d1;\n"
    "  ld.global.f32 %f1, [%d4];\n"
    "  add.rn.f32 %f2, %f1, %f1;\n"
    "  st.global.f32 [%d5], %f2;\n"
    "  ret;\n"
    "}\n";
static const ampc_gpu_module code[] = {{ptx, sizeof ptx - 1}};
#define ARCH 80
#define KIND AMPC_GPU_IMAGE_PTX
#define DEVICE &ampc_cuda_device
#endif

static const ampc_gpu_param params[] = {{bytes, 0, 0}, {bytes, 1, 0}};
static const ampc_gpu_launch launches[] = {
    {"double_each", {2, 1, 1}, {128, 1, 1}, 0, 2, params, 0, 0, 0, 0}};
static const ampc_gpu_image images[] = {{ARCH, KIND, 1, 0, code, launches}};
static const ampc_gpu_code gpu = {1, 0, images, DEVICE};

static const int64_t shape[] = {count};
static const ampc_tensor_desc inputs[] = {
    {"x", AMPC_DTYPE_F32, 1, shape, bytes}};
static const ampc_tensor_desc outputs[] = {
    {"y", AMPC_DTYPE_F32, 1, shape, bytes}};
static const ampc_kernel_desc kernels[] = {{"f32-double-256", 0, count, 1, 0}};
static const ampc_buffer_ref first[] = {{AMPC_REGION_INPUT, 0, {0, 0}},
                                        {AMPC_REGION_ARENA, 0, {64, 0}}};
static const ampc_buffer_ref second[] = {{AMPC_REGION_ARENA, 0, {64, 0}},
                                         {AMPC_REGION_OUTPUT, 0, {0, 0}}};
static const ampc_node nodes[] = {
    {AMPC_NODE_LAUNCH, 0, 2, 0, first, {0, 0}, "/Mul", 0},
    {AMPC_NODE_LAUNCH, 0, 2, 0, second, {0, 0}, "/Mul_1", 0}};

const ampc_program ampc_program_entry = {
    AMPC_ABI_VERSION,
    sizeof(ampc_program),
    "toy",
    "by hand",
    "{}",
    1,
    1,
    inputs,
    outputs,
    {64 + bytes, 0},
    0,
    0,
    0,
    0,
    1,
    0,
    kernels,
    {2, nodes},
    0,
    &gpu,
};
