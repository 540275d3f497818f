//===- plan.h - A program with its buffers resolved to pointers -----------===//
#ifndef AMPC_RUNTIME_CORE_PLAN_H
#define AMPC_RUNTIME_CORE_PLAN_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// A run of nodes in Plan::nodes.
struct PlanList {
  size_t first = 0;
  size_t count = 0;
};

struct PlanNode {
  const ampc_node *source = nullptr;
  const ampc_kernel_desc *kernel = nullptr; // LAUNCH
  size_t firstSlot = 0;                     // of its buffers in Plan::slots
  size_t profileIndex = 0;                  // LAUNCH and COPY
  PlanList bodies[2];                       // IF: 2, LOOP: 1
};

/// Where a caller's pointer goes before each run.
struct PlanPatch {
  size_t slot;
  uint32_t index; // of the graph input or output
  uint64_t offset;
};

/// A run of patches.
struct PlanPatches {
  size_t first = 0;
  size_t count = 0;
};

/// What runs by itself: the main list of a program, or one of its entries.
struct PlanEntry {
  PlanList nodes;
  uint32_t firstInput = 0, numInputs = 0;   // in the program's table
  uint32_t firstOutput = 0, numOutputs = 0; // likewise
  PlanPatches inputs, outputs;              // of its nodes
  uint64_t launches = 0; // of the list; those in bodies are not counted
};

/// A program's node trees, flattened, every buffer reference a pointer. Only
/// the slots that depend on the caller's buffers are written again at a run.
struct Plan {
  Vec<PlanNode> nodes;
  Vec<void *> slots;
  Vec<PlanPatch> inputs;
  Vec<PlanPatch> outputs;
  Vec<PlanEntry> entries; // `main`, then those of the program in order
  size_t profileSize = 0;
};

/// Everything that the nodes' references are relative to. Null bases give a
/// plan to look at, not to run.
struct PlanBases {
  void *arena;
  const void *weights;
  void *state;
};

/// The part of the weights that kernels read.
uint64_t constantBytes(const ampc_program &program);

/// How many inputs and outputs the tables of `program` hold, those of all
/// entries together.
uint32_t countInputs(const ampc_program &program);
uint32_t countOutputs(const ampc_program &program);

/// Checks the tables of `program` before anything of it is used: version,
/// descriptors, kernels.
Status checkProgram(const ampc_program &program);

/// Flattens a program that checkProgram accepted; AMPC_INVALID names what is
/// malformed.
Status buildPlan(const ampc_program &program, const PlanBases &bases,
                 Plan *outPlan);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_CORE_PLAN_H
