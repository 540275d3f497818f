//===- toy_kernels.h - GPU kernels as the compiler lowers them, by hand ---===//
//
// Host functions that call the simulator before each access, over 256 floats.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_TEST_RUNTIME_SIM_TOY_KERNELS_H
#define AMPC_TEST_RUNTIME_SIM_TOY_KERNELS_H

#include "runtime/devices/sim/access.h"

namespace toy {

constexpr uint32_t count = 256, bytes = count * 4;

inline const ampc_sim_site sites[] = {
    {"double_each", "load f32", "toy.cu:1", 0, AMPC_SIM_READ, {4, 4}},
    {"double_each", "store f32", "toy.cu:2", 1, AMPC_SIM_WRITE, {4, 4}},
    {"add", "load f32", "toy.cu:3", 2, AMPC_SIM_READ, {4, 4}},
    {"add", "load f32", "toy.cu:4", 3, AMPC_SIM_READ, {4, 4}},
    {"add", "store f32", "toy.cu:5", 4, AMPC_SIM_WRITE, {4, 4}},
    {"shift", "load f32", "toy.cu:6", 5, AMPC_SIM_READ, {4, 4}},
    {"shift", "store f32", "toy.cu:7", 6, AMPC_SIM_WRITE, {4, 4}},
    {"less", "load i64", "toy.cu:8", 7, AMPC_SIM_READ, {8, 8}},
    {"less", "store i8", "toy.cu:9", 8, AMPC_SIM_WRITE, {1, 1}},
};

inline float load(int site, const float *from) {
  ampc_sim_access(&sites[site], reinterpret_cast<uint64_t>(from));
  return *from;
}
inline void store(int site, float *to, float value) {
  ampc_sim_access(&sites[site], reinterpret_cast<uint64_t>(to));
  *to = value;
}
inline uint32_t index() {
  return ampc_sim_register(AMPC_SIM_REGISTER_BLOCK_X) *
             ampc_sim_register(AMPC_SIM_REGISTER_BLOCK_SIZE_X) +
         ampc_sim_register(AMPC_SIM_REGISTER_THREAD_X);
}
template <typename T>
T *buffer(void **params, int i) {
  return *static_cast<T **>(params[i]);
}

/// out[i] = 2 * in[i]
inline void doubleEach(void **params) {
  uint32_t i = index();
  store(1, buffer<float>(params, 1) + i,
        2 * load(0, buffer<float>(params, 0) + i));
}

/// out[i] = a[i] + b[i]
inline void add(void **params) {
  uint32_t i = index();
  float a = load(2, buffer<float>(params, 0) + i);
  float b = load(3, buffer<float>(params, 1) + i);
  store(4, buffer<float>(params, 2) + i, a + b);
}

/// out[i] = in[i + 1], wrong for the last
inline void shift(void **params) {
  uint32_t i = index();
  store(6, buffer<float>(params, 1) + i,
        load(5, buffer<float>(params, 0) + i + 1));
}

/// go = iteration < 2, by one thread
inline void less(void **params) {
  auto *iteration = buffer<int64_t>(params, 0);
  auto *go = buffer<uint8_t>(params, 1);
  ampc_sim_access(&sites[7], reinterpret_cast<uint64_t>(iteration));
  ampc_sim_access(&sites[8], reinterpret_cast<uint64_t>(go));
  *go = *iteration < 2;
}

inline void nothing(void **) {}

inline const ampc_sim_param params[] = {{8, 8}, {8, 8}, {8, 8}};
inline const ampc_sim_variable variables[] = {{"dynamic", 0, 0}};
inline const ampc_sim_kernel kernels[] = {
    {"double_each", doubleEach, params, variables, 2, 1, 0, 0, {}, 0},
    {"add", add, params, variables, 3, 1, 0, 0, {}, 0},
    {"shift", shift, params, variables, 2, 1, 0, 0, {}, 0},
    {"less", less, params, variables, 2, 1, 0, 0, {}, 0},
    {"nothing", nothing, params, variables, 0, 1, 0, 0, {}, 0},
};
inline const ampc_sim_module module = {
    AMPC_SIM_MAGIC, AMPC_SIM_ABI_VERSION, 5, 0, 9, 80, kernels, nullptr, sites};

/// The kernels in the order of the module.
enum Kernel : uint32_t { DoubleEach, Add, Shift, Less };

} // namespace toy

#endif // AMPC_TEST_RUNTIME_SIM_TOY_KERNELS_H
