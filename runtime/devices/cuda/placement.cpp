//===- placement.cpp - Which memory of a GPU a program's buffers get ------===//
#include "runtime/devices/cuda/placement.h"

namespace ampc::runtime::cuda {

static uint32_t sliceOf(const ampc_program &program,
                        const ampc_buffer_ref &ref) {
  switch (ref.region) {
  case AMPC_REGION_ARENA:
    return Placement::arena;
  case AMPC_REGION_WEIGHTS:
    return Placement::weights;
  case AMPC_REGION_STATE:
    return Placement::state;
  case AMPC_REGION_INPUT:
    return Placement::firstInput + ref.index;
  default:
    return Placement::firstInput + countInputs(program) + ref.index;
  }
}

bool isStraight(const Plan &plan) {
  for (const PlanNode &node : plan.nodes) {
    if (node.source->kind != AMPC_NODE_LAUNCH &&
        node.source->kind != AMPC_NODE_COPY) {
      return false;
    }
  }
  return true;
}

void placeRegions(const ampc_program &program, const Plan &plan,
                  Placement *out) {
  out->slices.push({AMPC_REGION_ARENA, 0, program.arena_bytes.fixed});
  out->slices.push({AMPC_REGION_WEIGHTS, 0, constantBytes(program)});
  out->slices.push({AMPC_REGION_STATE, 0, program.state_bytes});
  for (uint32_t i = 0; i < countInputs(program); ++i) {
    out->slices.push({AMPC_REGION_INPUT, 0, program.inputs[i].bytes});
  }
  for (uint32_t i = 0; i < countOutputs(program); ++i) {
    out->slices.push({AMPC_REGION_OUTPUT, 0, program.outputs[i].bytes});
  }
  out->ofSlot.resize(plan.slots.size());
  for (const PlanNode &node : plan.nodes) {
    for (uint32_t i = 0; i < node.source->num_buffers; ++i) {
      out->ofSlot[node.firstSlot + i] =
          sliceOf(program, node.source->buffers[i]);
    }
  }
}

} // namespace ampc::runtime::cuda
