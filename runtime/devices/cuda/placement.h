//===- placement.h - Which memory of a GPU a program's buffers get --------===//
#ifndef AMPC_RUNTIME_DEVICES_CUDA_PLACEMENT_H
#define AMPC_RUNTIME_DEVICES_CUDA_PLACEMENT_H

#include "runtime/core/plan.h"

namespace ampc::runtime::cuda {

/// Bytes [begin, end) of a region that are one allocation.
struct Slice {
  uint32_t region;
  uint64_t begin, end;
  uint8_t *memory = nullptr;

  uint64_t size() const { return end - begin; }
};

/// The slices of a program, and the one that each slot of its plan lies in.
struct Placement {
  /// The arena, the weights, the state, then each input and each output of all
  /// entries; a device may add more. An empty slice gets no memory unless it is
  /// an input or output.
  Vec<Slice> slices;
  Vec<uint32_t> ofSlot;

  static constexpr uint32_t arena = 0, weights = 1, state = 2, firstInput = 3;
};

/// Whether each node of the plan runs once, in the order of the list: there is
/// no If and no Loop.
bool isStraight(const Plan &plan);

/// Places each region as a whole.
void placeRegions(const ampc_program &program, const Plan &plan,
                  Placement *out);

} // namespace ampc::runtime::cuda

#endif // AMPC_RUNTIME_DEVICES_CUDA_PLACEMENT_H
