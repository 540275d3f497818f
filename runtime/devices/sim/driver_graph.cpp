//===- driver_graph.cpp - Graphs of the look-alike ------------------------===//
#include "runtime/devices/sim/driver_state.h"
#include "runtime/devices/sim/work_log.h"

namespace ampc::runtime::cuda {

struct GraphNodeState {
  sim::Work work;
  Vec<uint32_t> after; // nodes of the same graph, all before this one
  GraphState *graph;
  uint32_t index;
};

struct GraphState {
  Vec<GraphNodeState *> nodes; // in the order made: dependencies come first
  uint32_t users = 1;          // itself, and what was instantiated from it
};

/// A graph can be changed after cuGraphInstantiate; what has been instantiated
/// then keeps the nodes that there were.
struct GraphExecState {
  GraphState *graph;
  size_t count;
};

} // namespace ampc::runtime::cuda

namespace ampc::runtime::sim::entry {

static void dropGraph(Graph graph) {
  if (--graph->users == 0) {
    for (GraphNodeState *node : graph->nodes) {
      destroy(node);
    }
    destroy(graph);
  }
}

static Result addNode(GraphNode *out, Graph graph, const GraphNode *after,
                      size_t count, Work &work) {
  if (!out || !graph || (count && !after)) {
    return invalidValue;
  }
  auto *node = make<GraphNodeState>();
  for (size_t i = 0; i < count; ++i) {
    if (!after[i] || after[i]->graph != graph) {
      destroy(node);
      return invalidValue;
    }
    node->after.push(after[i]->index);
  }
  node->work = std::move(work);
  node->graph = graph;
  node->index = static_cast<uint32_t>(graph->nodes.size());
  graph->nodes.push(node);
  *out = node;
  return success;
}

Result graphCreate(Graph *out, unsigned flags) {
  DriverLock driver;
  if (Result error = driver.check()) {
    return error;
  }
  if (!out || flags != 0) {
    return invalidValue;
  }
  *out = make<GraphState>();
  return success;
}

Result graphDestroy(Graph graph) {
  DriverLock driver;
  if (!graph) {
    return invalidValue;
  }
  dropGraph(graph);
  return success;
}

Result graphAddKernelNode(GraphNode *out, Graph graph, const GraphNode *after,
                          size_t count, const KernelNodeParams *params) {
  DriverLock driver;
  if (!params) {
    return invalidValue;
  }
  Work work;
  Result error = driver->makeKernel(
      &work, params->func,
      {params->gridDimX, params->gridDimY, params->gridDimZ},
      {params->blockDimX, params->blockDimY, params->blockDimZ},
      params->sharedMemBytes, params->kernelParams, params->extra);
  return error ? error : addNode(out, graph, after, count, work);
}

Result graphAddMemcpyNode(GraphNode *out, Graph graph, const GraphNode *after,
                          size_t count, const Memcpy3D *copy, Context) {
  DriverLock driver;
  if (!copy) {
    return invalidValue;
  }
  Work work;
  work.kind = Work::copy;
  work.memcpy3D = *copy;
  return addNode(out, graph, after, count, work);
}

Result graphAddMemsetNode(GraphNode *out, Graph graph, const GraphNode *after,
                          size_t count, const MemsetNodeParams *fill, Context) {
  DriverLock driver;
  if (!fill) {
    return invalidValue;
  }
  Work work;
  work.kind = Work::fill;
  work.memset = *fill;
  return addNode(out, graph, after, count, work);
}

Result graphAddEmptyNode(GraphNode *out, Graph graph, const GraphNode *after,
                         size_t count) {
  DriverLock driver;
  Work work;
  return addNode(out, graph, after, count, work);
}

Result graphGetNodes(Graph graph, GraphNode *nodes, size_t *count) {
  DriverLock driver;
  if (!graph || !count) {
    return invalidValue;
  }
  if (nodes) {
    for (size_t i = 0; i < *count; ++i) {
      nodes[i] = i < graph->nodes.size() ? graph->nodes[i] : nullptr;
    }
  }
  if (!nodes || *count > graph->nodes.size()) {
    *count = graph->nodes.size();
  }
  return success;
}

Result graphInstantiate(GraphExec *out, Graph graph, unsigned long long flags) {
  DriverLock driver;
  if (!out || !graph) {
    return invalidValue;
  }
  if (flags != 0) {
    return notSupported;
  }
  auto *exec = make<GraphExecState>();
  exec->graph = graph;
  exec->count = graph->nodes.size();
  ++graph->users;
  *out = exec;
  return success;
}

Result graphExecDestroy(GraphExec exec) {
  DriverLock driver;
  if (!exec) {
    return invalidValue;
  }
  dropGraph(exec->graph);
  destroy(exec);
  return success;
}

namespace {
/// The time that work belongs to a graph.
struct GraphInLog {
  explicit GraphInLog(WorkLog *log) : log(log) {
    if (log) {
      log->beginGraph();
    }
  }
  ~GraphInLog() {
    if (log) {
      log->endGraph();
    }
  }
  WorkLog *log;
};
} // namespace

/// Runs the nodes in an order that their edges allow, drawn by the seed.
Result graphLaunch(GraphExec exec, Stream handle) {
  DriverLock driver;
  if (Result error = driver.check()) {
    return error;
  }
  StreamState *stream = exec ? driver->find(handle) : nullptr;
  if (!stream) {
    return exec ? invalidHandle : invalidValue;
  }
  LaunchSet after = driver->before(*stream);
  stream->done.add(after);
  GraphInLog inLog(driver->options.log);
  Vec<LaunchSet> done; // of each node: all that has happened once it is done
  Vec<uint8_t> finished;
  done.resize(exec->count);
  finished.resize(exec->count);
  for (size_t round = 0; round < exec->count; ++round) {
    Vec<uint32_t> ready;
    for (uint32_t i = 0; i < exec->count; ++i) {
      bool free = !finished[i];
      for (uint32_t other : exec->graph->nodes[i]->after) {
        free = free && finished[other];
      }
      if (free) {
        ready.push(i);
      }
    }
    size_t pick = 0;
    if (driver->options.seed) {
      driver->random =
          driver->random * 6364136223846793005ull + driver->options.seed;
      pick = (driver->random >> 33) % ready.size();
    }
    uint32_t index = ready[pick];
    const GraphNodeState &node = *exec->graph->nodes[index];
    LaunchSet before;
    before.add(after);
    for (uint32_t other : node.after) {
      before.add(done[other]);
    }
    done[index].add(before);
    if (Result error = driver->run(node.work, before, &done[index])) {
      return error;
    }
    finished[index] = 1;
    stream->done.add(done[index]);
  }
  return success;
}

} // namespace ampc::runtime::sim::entry

namespace ampc::runtime::sim {

void labelNode(cuda::GraphNode node, const char *label) {
  DriverLock driver;
  node->work.label = label;
}

} // namespace ampc::runtime::sim
