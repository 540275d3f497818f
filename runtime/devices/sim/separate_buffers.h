//===- separate_buffers.h - An allocation for each buffer of a program ----===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_SEPARATE_BUFFERS_H
#define AMPC_RUNTIME_DEVICES_SIM_SEPARATE_BUFFERS_H

#include "runtime/devices/cuda/placement.h"

namespace ampc::runtime::sim {

/// Gives each value that the arena holds at some time memory of its own, and
/// each weight, so that red zones lie between them and nothing of a value that
/// was there before can be read. What an output parameter gets is a new value;
/// values that a later buffer reads together are one, and so are those that it
/// may read depending on the way taken through If and Loop.
void separateBuffers(const ampc_program &program, const ampc_gpu_image &image,
                     const Plan &plan, cuda::Placement *out);

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_SEPARATE_BUFFERS_H
