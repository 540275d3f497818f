//===- gpu_program.h - Programs of the toy kernels ------------------------===//
#ifndef AMPC_TEST_RUNTIME_SIM_GPU_PROGRAM_H
#define AMPC_TEST_RUNTIME_SIM_GPU_PROGRAM_H

#include "runtime/core/status.h"
#include "test/runtime/sim/toy_kernels.h"

#include <deque>
#include <numeric>
#include <string>
#include <vector>

namespace toy {

using ampc::runtime::Status;

inline ampc_buffer_ref arena(uint64_t offset) {
  return {AMPC_REGION_ARENA, 0, {offset, 0}};
}
inline ampc_buffer_ref weight(uint64_t offset) {
  return {AMPC_REGION_WEIGHTS, 0, {offset, 0}};
}
inline ampc_buffer_ref input(uint32_t index = 0) {
  return {AMPC_REGION_INPUT, index, {0, 0}};
}
inline ampc_buffer_ref output(uint32_t index = 0) {
  return {AMPC_REGION_OUTPUT, index, {0, 0}};
}

inline const int64_t shape[] = {count};
inline const ampc_tensor_desc x = {"x", AMPC_DTYPE_F32, 1, shape, bytes};
inline const ampc_tensor_desc y = {"y", AMPC_DTYPE_F32, 1, shape, bytes};

/// A program from x to y with 256 floats of weights that count from 0. Its
/// parts may be changed until `finish`.
struct GpuProgram {
  ampc_program program = {};
  ampc_gpu_code gpu = {};
  std::vector<ampc_gpu_module> modules = {{&module, 0}};
  std::vector<ampc_gpu_image> images;
  std::vector<ampc_gpu_launch> launches;
  std::vector<ampc_gpu_param> unary = {{bytes, 0, 0}, {bytes, 1, 0}};
  std::vector<ampc_gpu_param> binary = {
      {bytes, 0, 0}, {bytes, 0, 0}, {bytes, 1, 0}};
  std::vector<ampc_gpu_param> test = {{8, 0, 0}, {1, 1, 0}};
  std::vector<ampc_kernel_desc> kernels = {{"kernel-double", nullptr, 1, 1, 0},
                                           {"kernel-add", nullptr, 1, 1, 0},
                                           {"kernel-shift", nullptr, 1, 1, 0},
                                           {"kernel-less", nullptr, 1, 1, 0}};
  std::vector<ampc_tensor_desc> inputs = {x}, outputs = {y};
  std::vector<ampc_node> nodes;
  std::deque<std::vector<ampc_buffer_ref>> buffers;
  alignas(64) float weights[count];

  GpuProgram() {
    std::iota(weights, weights + count, 0.0f);
    auto launch = [&](const char *symbol, std::vector<ampc_gpu_param> &params,
                      uint32_t blocks, uint32_t threads) {
      launches.push_back({symbol,
                          {blocks, 1, 1},
                          {threads, 1, 1},
                          0,
                          static_cast<uint32_t>(params.size()),
                          params.data(),
                          0,
                          0,
                          nullptr,
                          0});
    };
    launch("double_each", unary, 2, 128);
    launch("add", binary, 2, 128);
    launch("shift", unary, 2, 128);
    launch("less", test, 1, 1);
    program.abi_version = AMPC_ABI_VERSION;
    program.struct_size = sizeof program;
    program.name = "toy";
    program.arena_bytes.fixed = 4 * bytes;
    program.weights = weights;
    program.weights_bytes = sizeof weights;
    images = {{80, AMPC_GPU_IMAGE_SIMULATOR, 1, 0, nullptr, nullptr}};
    gpu.device = &ampc_sim_device;
  }

  ampc_node node(ampc_node_kind kind, std::vector<ampc_buffer_ref> refs,
                 const char *label) {
    buffers.push_back(std::move(refs));
    ampc_node out = {};
    out.kind = kind;
    out.num_buffers = static_cast<uint32_t>(buffers.back().size());
    out.buffers = buffers.back().data();
    out.label = label;
    return out;
  }
  ampc_node launch(Kernel kernel, std::vector<ampc_buffer_ref> refs,
                   const char *label) {
    ampc_node out = node(AMPC_NODE_LAUNCH, std::move(refs), label);
    out.kernel = kernel;
    return out;
  }
  ampc_node copy(ampc_buffer_ref from, ampc_buffer_ref to, uint64_t size) {
    ampc_node out = node(AMPC_NODE_COPY, {from, to}, "/Identity");
    out.bytes.fixed = size;
    return out;
  }
  /// y = 2 * (2 * x + weights), with a copy, its first arena slice used twice.
  void addNodes() {
    nodes = {launch(DoubleEach, {input(), arena(0)}, "/Mul"),
             launch(Add, {arena(0), weight(0), arena(bytes)}, "/Add"),
             launch(DoubleEach, {arena(bytes), arena(0)}, "/Mul_1"),
             copy(arena(0), output(), bytes)};
  }
  const ampc_program *finish() {
    for (ampc_gpu_image &image : images) {
      image.num_modules = static_cast<uint32_t>(modules.size());
      image.modules = modules.data();
      image.launches = launches.data();
    }
    gpu.num_images = static_cast<uint32_t>(images.size());
    gpu.images = images.data();
    program.gpu = &gpu;
    program.num_inputs = static_cast<uint32_t>(inputs.size());
    program.inputs = inputs.data();
    program.num_outputs = static_cast<uint32_t>(outputs.size());
    program.outputs = outputs.data();
    program.num_kernels = static_cast<uint32_t>(kernels.size());
    program.kernels = kernels.data();
    program.main = {static_cast<uint32_t>(nodes.size()), nodes.data()};
    return &program;
  }
};

struct Session {
  explicit Session(const ampc_program *program, const char *device = nullptr,
                   bool poison = false) {
    ampc_session_options options;
    ampc_session_options_init(&options);
    options.device = device;
    options.debug_arena = poison;
    status = Status(ampc_session_create(program, &options, &session));
  }
  ~Session() { ampc_session_destroy(session); }

  /// Runs with x[i] = first + i; y of the result.
  std::vector<float> run(float first) {
    std::vector<float> in(count), out(count, -1);
    std::iota(in.begin(), in.end(), first);
    const void *inputs[] = {in.data()};
    void *outputs[] = {out.data()};
    status = Status(ampc_session_run(session, inputs, outputs));
    return out;
  }

  ampc_session session = nullptr;
  Status status;
};

/// What addNodes computes.
inline std::vector<float> expected(float first) {
  std::vector<float> values(count);
  for (uint32_t i = 0; i < count; ++i) {
    values[i] =
        2 * (2 * (first + static_cast<float>(i)) + static_cast<float>(i));
  }
  return values;
}

} // namespace toy

#endif // AMPC_TEST_RUNTIME_SIM_GPU_PROGRAM_H
