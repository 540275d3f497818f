//===- gpu_graph.cpp - Entries as one graph of the driver -----------------===//
#include "runtime/devices/cuda/gpu_device.h"

namespace ampc::runtime::cuda {
namespace {

/// Appends nodes, each of which depends on the one before it.
class GraphBuilder {
public:
  explicit GraphBuilder(GpuDevice &self) : self(self) {}
  ~GraphBuilder() {
    if (graph) {
      self.api.graphDestroy(graph);
    }
  }

  Status build(const GraphUnit &unit, GraphExec *out);

private:
  Status inputs(const PlanEntry &entry);
  Status outputs(const PlanEntry &entry);
  Status node(const Plan &plan, const PlanNode &node);
  Status kernel(const Plan &plan, const PlanNode &node);
  Status copy(MemoryType toType, void *to, MemoryType fromType,
              const void *from, uint64_t bytes, const char *label);
  Status fill(const Slice &slice);

  const GraphNode *before() const { return last ? &last : nullptr; }
  size_t countBefore() const { return last ? 1 : 0; }
  void add(GraphNode node, const char *label) {
    last = node;
    if (label && self.platform->label) {
      self.platform->label(node, label);
    }
  }

  GpuDevice &self;
  Graph graph = nullptr;
  GraphNode last = nullptr;
};

Status GraphBuilder::copy(MemoryType toType, void *to, MemoryType fromType,
                          const void *from, uint64_t bytes, const char *label) {
  if (bytes == 0) {
    return Status();
  }
  Memcpy3D copy{};
  copy.srcMemoryType = fromType;
  copy.dstMemoryType = toType;
  if (fromType == hostMemory) {
    copy.srcHost = from;
  } else {
    copy.srcDevice = addressOf(from);
  }
  if (toType == hostMemory) {
    copy.dstHost = to;
  } else {
    copy.dstDevice = addressOf(to);
  }
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  GraphNode node = nullptr;
  AMPC_TRY(AMPC_CUDA(self, graphAddMemcpyNode, &node, graph, before(),
                     countBefore(), &copy, self.context));
  add(node, label);
  return Status();
}

Status GraphBuilder::fill(const Slice &slice) {
  MemsetNodeParams fill{};
  fill.dst = addressOf(slice.memory);
  fill.value = 0xff;
  fill.elementSize = 1;
  fill.width = slice.size();
  fill.height = 1;
  GraphNode node = nullptr;
  AMPC_TRY(AMPC_CUDA(self, graphAddMemsetNode, &node, graph, before(),
                     countBefore(), &fill, self.context));
  add(node, nullptr);
  return Status();
}

Status GraphBuilder::kernel(const Plan &plan, const PlanNode &node) {
  uint32_t index = node.source->kernel;
  const ampc_gpu_launch &launch = self.image->launches[index];
  KernelNodeParams params{};
  params.func = self.functions[index];
  params.gridDimX = launch.grid[0];
  params.gridDimY = launch.grid[1];
  params.gridDimZ = launch.grid[2];
  params.blockDimX = launch.block[0];
  params.blockDimY = launch.block[1];
  params.blockDimZ = launch.block[2];
  params.sharedMemBytes = launch.shared_bytes;
  // The driver copies what the parameters point to.
  TensorMapBytes maps[AMPC_GPU_MAX_TENSOR_MAPS];
  AMPC_TRY(fillArguments(self, launch, plan.slots.data() + node.firstSlot, maps)
               .withPrefix(node.source->label ? node.source->label : "node"));
  params.kernelParams = self.arguments.data();
  GraphNode added = nullptr;
  AMPC_TRY(AMPC_CUDA(self, graphAddKernelNode, &added, graph, before(),
                     countBefore(), &params)
               .withPrefix(node.source->label ? node.source->label : "node"));
  add(added, node.source->label);
  return Status();
}

Status GraphBuilder::node(const Plan &plan, const PlanNode &node) {
  if (node.source->kind == AMPC_NODE_COPY) {
    void *const *buffers = plan.slots.data() + node.firstSlot;
    return copy(deviceMemory, buffers[1], deviceMemory, buffers[0],
                node.source->bytes.fixed, node.source->label);
  }
  const uint32_t *grid = self.image->launches[node.source->kernel].grid;
  return grid[0] && grid[1] && grid[2] ? kernel(plan, node) : Status();
}

Status GraphBuilder::inputs(const PlanEntry &entry) {
  for (uint32_t k = 0; k < entry.numInputs; ++k) {
    uint32_t i = entry.firstInput + k;
    const Slice &slice = self.inputSlice(i);
    AMPC_TRY(copy(deviceMemory, slice.memory, hostMemory, self.stagingOf(i),
                  slice.size(), self.program->inputs[i].name));
  }
  return Status();
}

Status GraphBuilder::outputs(const PlanEntry &entry) {
  for (uint32_t k = 0; k < entry.numOutputs; ++k) {
    uint32_t i = entry.firstOutput + k;
    const Slice &slice = self.outputSlice(i);
    AMPC_TRY(copy(hostMemory, self.stagingOfOutput(i), deviceMemory,
                  slice.memory, slice.size(), self.program->outputs[i].name));
  }
  return Status();
}

Status GraphBuilder::build(const GraphUnit &unit, GraphExec *out) {
  const Plan &plan = *self.plan;
  AMPC_TRY(AMPC_CUDA(self, graphCreate, &graph, 0));
  for (uint32_t index : unit.entries) {
    const PlanEntry &entry = plan.entries[index];
    if (unit.copies) {
      AMPC_TRY(inputs(entry));
    }
    for (const Slice &slice : self.placement.slices) {
      if (self.poison && slice.region == AMPC_REGION_ARENA && slice.size()) {
        AMPC_TRY(fill(slice));
      }
    }
    for (size_t i = 0; i < entry.nodes.count; ++i) {
      AMPC_TRY(node(plan, plan.nodes[entry.nodes.first + i]));
    }
    if (unit.copies) {
      AMPC_TRY(outputs(entry));
    }
  }
  return AMPC_CUDA(self, graphInstantiate, out, graph, 0);
}

bool isUnit(const GraphUnit &unit, const uint32_t *entries, uint32_t count,
            bool copies) {
  return unit.copies == copies && unit.entries.size() == count &&
         memcmp(unit.entries.data(), entries, count * sizeof *entries) == 0;
}

} // namespace

Status findUnit(GpuDevice &self, const uint32_t *entries, uint32_t count,
                bool copies, GraphExec *out) {
  for (const GraphUnit &unit : self.units) {
    if (isUnit(unit, entries, count, copies)) {
      *out = unit.graph;
      return Status();
    }
  }
  GraphUnit unit;
  for (uint32_t i = 0; i < count; ++i) {
    unit.entries.push(entries[i]);
  }
  unit.copies = copies;
  AMPC_TRY(GraphBuilder(self).build(unit, &unit.graph));
  *out = unit.graph;
  self.units.push(std::move(unit));
  return Status();
}

} // namespace ampc::runtime::cuda
