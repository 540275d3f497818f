//===- simulator.h - Runs GPU kernels lowered for the host ----------------===//
//
// Each GPU thread is a fiber, each block runs on one host thread, one at a
// time. Barriers and warp instructions are where fibers meet. What goes wrong
// is told in a Report; a launch returns an error only for what a GPU's driver
// would refuse.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_SIMULATOR_H
#define AMPC_RUNTIME_DEVICES_SIM_SIMULATOR_H

#include "runtime/devices/sim/report.h"

#include <atomic>

namespace ampc::runtime::sim {

class GlobalMemory;
class Recording;
class WorkLog;

struct Options {
  uint32_t arch = 80; // 10 x major + minor: numerics and limits
  uint64_t seed = 0;  // other than 0: threads and copies run in seeded order
  bool shuffleBlocks = false; // by the seed; else in ascending order
  uint32_t hostThreads = 1;
  bool checks = true;   // races, reads of unwritten memory, missing waits
  bool traffic = false; // count bank conflicts and sectors of plain accesses
  Recording *recording = nullptr; // where launches are written, if anywhere
  WorkLog *log = nullptr;         // where all work is listed, if anywhere
  uint64_t spinLimit = 1 << 20;   // turns of a thread that waits in a loop
};

struct LaunchConfig {
  const ampc_sim_module *module = nullptr;
  const ampc_sim_kernel *kernel = nullptr;
  Dim3 grid, block;
  uint32_t dynamicShared = 0;
  void **params = nullptr;
  uint32_t launchId = 0; // of GlobalMemory::beginLaunch
};

/// A launch while it runs; shared by the host threads.
struct LaunchState {
  LaunchConfig config;
  const Options *options;
  GlobalMemory *memory;
  Report *report;
  std::atomic<uint64_t> nextBlock{0};
  std::atomic<bool> stopped{false};
};

/// Runs all blocks. AMPC_USAGE for a configuration that no GPU accepts.
Status runKernel(const LaunchConfig &config, const Options &options,
                 GlobalMemory &memory, Report &report);

/// A module's variables become accessible to kernels, or no longer are.
void registerGlobals(const ampc_sim_module &module, GlobalMemory &memory);
void unregisterGlobals(const ampc_sim_module &module, GlobalMemory &memory);

/// Most shared memory that a block may have on `arch`, in bytes.
uint32_t maxSharedBytes(uint32_t arch);

/// The functions that generated code calls, by name; ended by a null name.
struct Symbol {
  const char *name;
  void *address;
};
const Symbol *symbols();

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_SIMULATOR_H
