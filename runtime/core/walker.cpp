//===- walker.cpp - Runs the nodes of a plan one by one -------------------===//
#include "runtime/core/nvtx.h"
#include "runtime/core/session.h"

#include <time.h>

namespace ampc::runtime {

static uint64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

Status Walker::list(const PlanList &nodes) {
  for (size_t i = 0; i < nodes.count; ++i) {
    AMPC_TRY(node(session.plan.nodes[nodes.first + i]));
  }
  return Status();
}

Status Walker::node(const PlanNode &node) {
  void *const *buffers = session.plan.slots.data() + node.firstSlot;
  switch (node.source->kind) {
  case AMPC_NODE_IF:
    return branch(node, buffers);
  case AMPC_NODE_LOOP:
    return loop(node, buffers);
  default:
    return session.profiling ? timedWork(node, buffers) : work(node, buffers);
  }
}

Status Walker::work(const PlanNode &node, void *const *buffers) {
  ProfilerRange range(node.source->label);
  if (node.source->kind == AMPC_NODE_COPY) {
    return session.api->copy(session.device, buffers[1], buffers[0],
                             node.source->bytes.fixed);
  }
  ++session.launches;
  return session.api->launch(session.device, *node.kernel, buffers);
}

Status Walker::timedWork(const PlanNode &node, void *const *buffers) {
  const OwnMemoryApi *own = session.api->ownMemory;
  uint64_t time = nanoseconds();
  if (own) {
    AMPC_TRY(own->startTimer(session.device));
  }
  AMPC_TRY(work(node, buffers));
  if (own) {
    AMPC_TRY(own->stopTimer(session.device, &time));
  } else {
    time = nanoseconds() - time;
  }
  ampc_profile_entry &entry = session.profile[node.profileIndex];
  entry.nanoseconds += time;
  ++entry.launches;
  return Status();
}

Status Walker::branch(const PlanNode &node, void *const *buffers) {
  uint8_t condition;
  AMPC_TRY(read(&condition, buffers[0], sizeof condition));
  return list(node.bodies[condition ? 0 : 1]);
}

Status Walker::loop(const PlanNode &node, void *const *buffers) {
  int64_t most;
  AMPC_TRY(read(&most, buffers[2], sizeof most));
  for (int64_t i = 0; i < most; ++i) {
    uint8_t condition;
    AMPC_TRY(read(&condition, buffers[1], sizeof condition));
    if (!condition) {
      break;
    }
    AMPC_TRY(session.api->write(session.device, buffers[0], &i, sizeof i));
    AMPC_TRY(list(node.bodies[0]));
  }
  return Status();
}

Status Walker::read(void *to, const void *from, uint64_t bytes) {
  return session.api->read(session.device, to, from, bytes);
}

} // namespace ampc::runtime
