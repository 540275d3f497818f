//===- fiber.h - Stacks and switches of simulated threads -----------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_FIBER_H
#define AMPC_RUNTIME_DEVICES_SIM_FIBER_H

#include "runtime/core/support.h"

namespace ampc::runtime::sim {

/// Saves the caller's registers on its stack and the stack pointer in `*from`,
/// and goes on where `to` was saved. Floating-point state is not switched.
extern "C" void ampc_sim_switch(void **from, void *to);

/// Stacks for the threads of one block, reused from block to block. Below each
/// lies a page that faults.
class FiberStacks {
public:
  static constexpr size_t bytesEach = 128 * 1024;

  FiberStacks() = default;
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;
  ~FiberStacks();

  Status allocate(uint32_t count);
  /// Prepares stack `index` so that switching to the result calls `start`,
  /// which must not return.
  void *prepare(uint32_t index, void (*start)());
  bool contains(uint32_t index, uint64_t address) const {
    uint64_t low = reinterpret_cast<uint64_t>(memory) + index * bytesEach;
    return address - low < bytesEach;
  }

private:
  uint8_t *memory = nullptr;
  uint32_t stacks = 0;
};

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_FIBER_H
