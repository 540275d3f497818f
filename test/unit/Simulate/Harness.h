//===- Harness.h - Kernels from text to a run in the simulator ------------===//
#ifndef AMPC_TEST_UNIT_SIMULATE_HARNESS_H
#define AMPC_TEST_UNIT_SIMULATE_HARNESS_H

#include "runtime/devices/sim/global_memory.h"
#include "runtime/devices/sim/simulator.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace ampc::test {

namespace sim = ampc::runtime::sim;

/// A module of kernels, lowered for the simulator and loaded.
class Program {
public:
  /// From LLVM IR made for NVPTX, or from MLIR with a gpu.module, which goes
  /// through upstream's pipeline to NVVM. Both are optimised as for the GPU.
  static std::unique_ptr<Program> fromLlvm(const std::string &text,
                                           unsigned arch);
  /// From LLVM IR that has been optimised for NVPTX, as it is.
  static std::unique_ptr<Program> fromOptimized(const std::string &text,
                                                unsigned arch);
  static std::unique_ptr<Program> fromMlir(const std::string &text,
                                           unsigned arch);
  ~Program();

  /// Why there is no module; "" if there is.
  const std::string &error() const { return problem; }
  const ampc_sim_module &module() const { return *description; }
  const ampc_sim_kernel &kernel(const std::string &name) const;
  /// As test::assemble, of the module.
  std::string assemble() const;

private:
  struct Impl;
  Program();
  static std::unique_ptr<Program> parse(const std::string &text, unsigned arch);
  void load();
  std::unique_ptr<Impl> impl;
  std::string problem;
  const ampc_sim_module *description = nullptr;
};

/// What ptxas says to the PTX that `machine` makes of a module; "" if it is
/// content, and has put no register in memory, or absent.
std::string assemble(const llvm::Module &module, llvm::TargetMachine &machine);

/// Device memory and the launches in it.
class Device {
public:
  explicit Device(const Program &program);
  ~Device();

  /// Memory that no one has written.
  void *allocate(size_t bytes, const char *name);
  template <typename T>
  T *upload(const std::vector<T> &values, const char *name) {
    size_t bytes = values.size() * sizeof(T);
    auto *memory = static_cast<T *>(allocate(bytes, name));
    memcpy(memory, values.data(), bytes);
    this->memory.hostWrite(memory, bytes);
    return memory;
  }

  /// Parameters of the next launch.
  template <typename T>
  Device &param(T value) {
    params.emplace_back(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  /// The seven parameters of a row-major memref<?x?>.
  Device &matrix(void *memory, int64_t rows, int64_t columns);
  Device &vector(void *memory, int64_t size);

  /// Runs the kernel with the parameters given since the last launch. What it
  /// found is `report`.
  void launch(const std::string &kernel, sim::Dim3 grid, sim::Dim3 block,
              uint32_t dynamicShared = 0);

  sim::Options options;
  sim::Report report;
  sim::GlobalMemory memory;
  sim::LaunchSet after; // what the next launch comes after

private:
  const Program &program;
  std::vector<std::string> params;
};

/// Whether a finding of `fault` names `site` and has `words` in its message.
testing::AssertionResult found(const sim::Report &report, sim::Fault fault,
                               const std::string &site,
                               const std::string &words = "");

/// Numbers from -1 to 1 that f16, or bf16, holds.
std::vector<uint16_t> randomF16(size_t count, unsigned seed);
std::vector<uint16_t> randomBf16(size_t count, unsigned seed);

} // namespace ampc::test

#endif // AMPC_TEST_UNIT_SIMULATE_HARNESS_H
