//===- session.h - A program made ready to run ----------------------------===//
#ifndef AMPC_RUNTIME_CORE_SESSION_H
#define AMPC_RUNTIME_CORE_SESSION_H

#include "ampc/runtime.h"
#include "runtime/core/plan.h"
#include "runtime/core/weights.h"
#include "runtime/devices/device.h"

struct ampc_session_s {
  const ampc_program *program = nullptr;
  const ampc::runtime::DeviceApi *api = nullptr;
  ampc::runtime::Device *device = nullptr;
  void *arena = nullptr; // where the device has no memory of its own
  void *state = nullptr; // likewise
  ampc::runtime::Weights weights;
  ampc::runtime::Plan plan;
  bool poison = false;
  bool profiling = false;
  ampc::runtime::Vec<ampc_profile_entry> profile;
  uint64_t launches = 0;
  int64_t refresh = -1; // the entry that copies parameters, if there is one
  bool stale = false;   // it has to run before anything else
  uint64_t fetches = 0; // of the control states
  ampc::runtime::Bytes controls[2]; // what the last two of them gave
};

namespace ampc::runtime {

/// Walks lists of a session's plan. Nesting is bounded when the plan is built.
class Walker {
public:
  explicit Walker(ampc_session_s &session) : session(session) {}

  Status list(const PlanList &nodes);
  Status node(const PlanNode &node);

private:
  Status work(const PlanNode &node, void *const *buffers);
  Status timedWork(const PlanNode &node, void *const *buffers);
  Status branch(const PlanNode &node, void *const *buffers);
  Status loop(const PlanNode &node, void *const *buffers);
  Status read(void *to, const void *from, uint64_t bytes);

  ampc_session_s &session;
};

/// Brackets work on a session's device.
template <typename Work>
Status withDevice(ampc_session_s &session, Work work) {
  session.api->beginRun(session.device);
  Status status = work();
  Status ended = session.api->endRun(session.device);
  return status.ok() ? std::move(ended) : std::move(status);
}

/// AMPC_USAGE if a buffer of an entry, `index` of the plan, is missing.
Status checkBuffers(const ampc_session_s &session, uint32_t index,
                    const void *const *inputs, void *const *outputs);

/// Puts the buffers of an entry in their places, poisons the arena if that is
/// wanted: what comes before its nodes.
Status loadEntry(ampc_session_s &session, uint32_t index,
                 const void *const *inputs, void *const *outputs);

/// Copies parameters that have come from outside to where entries read them.
Status refreshCopies(ampc_session_s &session);

/// Gives the state its first values.
Status initializeState(ampc_session_s &session);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_CORE_SESSION_H
