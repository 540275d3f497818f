//===- gpu_graph.cpp - A program as one graph of the driver ---------------===//
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

  Status build(const Plan &plan);

private:
  Status inputs();
  Status outputs();
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

Status GraphBuilder::inputs() {
  for (uint32_t i = 0; i < self.program->num_inputs; ++i) {
    const Slice &slice = self.inputSlice(i);
    AMPC_TRY(copy(deviceMemory, slice.memory, hostMemory, self.stagingOf(i),
                  slice.size(), self.program->inputs[i].name));
  }
  return Status();
}

Status GraphBuilder::outputs() {
  for (uint32_t i = 0; i < self.program->num_outputs; ++i) {
    const Slice &slice = self.outputSlice(i);
    AMPC_TRY(copy(hostMemory, self.stagingOf(self.program->num_inputs + i),
                  deviceMemory, slice.memory, slice.size(),
                  self.program->outputs[i].name));
  }
  return Status();
}

Status GraphBuilder::build(const Plan &plan) {
  AMPC_TRY(AMPC_CUDA(self, graphCreate, &graph, 0));
  AMPC_TRY(inputs());
  for (const Slice &slice : self.placement.slices) {
    if (self.poison && slice.region == AMPC_REGION_ARENA && slice.size()) {
      AMPC_TRY(fill(slice));
    }
  }
  for (size_t i = 0; i < plan.main.count; ++i) {
    AMPC_TRY(node(plan, plan.nodes[plan.main.first + i]));
  }
  AMPC_TRY(outputs());
  return AMPC_CUDA(self, graphInstantiate, &self.graph, graph, 0);
}

} // namespace

Status buildGraph(GpuDevice &self, const Plan &plan) {
  return GraphBuilder(self).build(plan);
}

} // namespace ampc::runtime::cuda
