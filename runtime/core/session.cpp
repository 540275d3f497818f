//===- session.cpp - Runs a program ---------------------------------------===//
#include "runtime/core/nvtx.h"
#include "runtime/core/plan.h"
#include "runtime/core/weights.h"
#include "runtime/devices/device.h"

#include <time.h>

using namespace ampc::runtime;

struct ampc_session_s {
  const ampc_program *program = nullptr;
  const DeviceApi *api = nullptr;
  Device *device = nullptr;
  void *arena = nullptr;
  Weights weights;
  Plan plan;
  bool poison = false;
  bool profiling = false;
  uint64_t listLaunches = 0; // of the list, where it runs as a whole
  Vec<ampc_profile_entry> profile;
  uint64_t launches = 0;
};

namespace {

uint64_t nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

/// Walks the plan of a session. Nesting is bounded when the plan is built.
class Walker {
public:
  explicit Walker(ampc_session_s &session) : session(session) {}

  Status list(const PlanList &nodes) {
    for (size_t i = 0; i < nodes.count; ++i) {
      AMPC_TRY(node(session.plan.nodes[nodes.first + i]));
    }
    return Status();
  }

private:
  Status node(const PlanNode &node) {
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

  Status work(const PlanNode &node, void *const *buffers) {
    ProfilerRange range(node.source->label);
    if (node.source->kind == AMPC_NODE_COPY) {
      return session.api->copy(session.device, buffers[1], buffers[0],
                               node.source->bytes.fixed);
    }
    ++session.launches;
    return session.api->launch(session.device, *node.kernel, buffers);
  }

  Status timedWork(const PlanNode &node, void *const *buffers) {
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

  Status branch(const PlanNode &node, void *const *buffers) {
    uint8_t condition;
    AMPC_TRY(read(&condition, buffers[0], sizeof condition));
    return list(node.bodies[condition ? 0 : 1]);
  }

  Status loop(const PlanNode &node, void *const *buffers) {
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

  Status read(void *to, const void *from, uint64_t bytes) {
    return session.api->read(session.device, to, from, bytes);
  }

  ampc_session_s &session;
};

void collectEntries(ampc_session_s &session) {
  session.profile.resize(session.plan.profileSize);
  for (const PlanNode &node : session.plan.nodes) {
    if (node.source->kind == AMPC_NODE_LAUNCH ||
        node.source->kind == AMPC_NODE_COPY) {
      const char *label = node.source->label;
      session.profile[node.profileIndex] = {
          label ? label : "", node.kernel ? node.kernel->name : "copy", 0, 0};
    }
  }
}

/// Gives memory to the program's regions and resolves its plan.
Status placeBuffers(ampc_session_s &session) {
  const ampc_program &program = *session.program;
  if (const OwnMemoryApi *own = session.api->ownMemory) {
    AMPC_TRY(buildPlan(program, {nullptr, nullptr}, &session.plan));
    for (const PlanNode &node : session.plan.nodes) {
      session.listLaunches += node.kernel != nullptr;
    }
    return own->prepare(session.device, session.weights.base(), &session.plan);
  }
  AMPC_TRY(session.api->allocate(session.device, program.arena_bytes.fixed,
                                 &session.arena));
  PlanBases bases = {session.arena, session.weights.base()};
  return buildPlan(program, bases, &session.plan);
}

Status prepare(ampc_session_s &session, const ampc_session_options &options) {
  const ampc_program &program = *session.program;
  AMPC_TRY(checkProgram(program));
  AMPC_TRY(findDevice(program, options.device, &session.api));
  attachProfiler();
  DeviceOptions deviceOptions = {options.num_threads,  0,
                                 program.cpu_features, options.debug_arena != 0,
                                 options.device,       &program};
  for (uint32_t i = 0; i < program.num_kernels; ++i) {
    uint64_t bytes = program.kernels[i].scratch_bytes;
    if (bytes > deviceOptions.scratchBytes) {
      deviceOptions.scratchBytes = bytes;
    }
  }
  AMPC_TRY(session.api->create(deviceOptions, &session.device));
  AMPC_TRY(session.weights.open(program, options.weights_dir));
  AMPC_TRY(placeBuffers(session));
  collectEntries(session);
  session.poison = options.debug_arena != 0;
  return Status();
}

template <typename Pointer>
Status checkBuffers(const char *what, const ampc_tensor_desc *descs,
                    uint32_t count, Pointer const *buffers) {
  for (uint32_t i = 0; i < count; ++i) {
    if (descs[i].bytes && (!buffers || !buffers[i])) {
      return Status::error(AMPC_USAGE,
                           "expected a buffer for %s '%s', got NULL", what,
                           descs[i].name);
    }
  }
  return Status();
}

/// Writes the caller's pointers into the slots that wait for them.
template <typename Pointer>
void patch(Plan &plan, const Vec<PlanPatch> &patches, Pointer const *buffers) {
  for (const PlanPatch &patch : patches) {
    uintptr_t base =
        buffers ? reinterpret_cast<uintptr_t>(buffers[patch.index]) : 0;
    plan.slots[patch.slot] = reinterpret_cast<void *>(base + patch.offset);
  }
}

/// On a device that works on the caller's buffers.
Status runInPlace(ampc_session_s &session, const void *const *inputs,
                  void *const *outputs) {
  patch(session.plan, session.plan.inputs, inputs);
  patch(session.plan, session.plan.outputs, outputs);
  if (session.poison) {
    AMPC_TRY(session.api->fill(session.device, session.arena, 0xff,
                               session.program->arena_bytes.fixed));
  }
  return Walker(session).list(session.plan.main);
}

/// On a device that has copies of the caller's buffers.
Status runOnCopies(ampc_session_s &session, const OwnMemoryApi &own,
                   const void *const *inputs, void *const *outputs) {
  if (own.runsWhole(session.device) && !session.profiling) {
    session.launches += session.listLaunches;
    ProfilerRange range(session.program->name);
    return own.runWhole(session.device, inputs, outputs);
  }
  AMPC_TRY(own.load(session.device, inputs));
  AMPC_TRY(Walker(session).list(session.plan.main));
  return own.store(session.device, outputs);
}

Status run(ampc_session_s &session, const void *const *inputs,
           void *const *outputs) {
  const ampc_program &program = *session.program;
  AMPC_TRY(checkBuffers("input", program.inputs, program.num_inputs, inputs));
  AMPC_TRY(
      checkBuffers("output", program.outputs, program.num_outputs, outputs));
  session.api->beginRun(session.device);
  const OwnMemoryApi *own = session.api->ownMemory;
  Status status = own ? runOnCopies(session, *own, inputs, outputs)
                      : runInPlace(session, inputs, outputs);
  Status ended = session.api->endRun(session.device);
  return status.ok() ? std::move(ended) : std::move(status);
}

} // namespace

void ampc_session_options_init(ampc_session_options *out) {
  *out = {};
  out->struct_size = sizeof *out;
}

ampc_status ampc_session_create(const ampc_program *program,
                                const ampc_session_options *options,
                                ampc_session *out_session) {
  if (!program || !out_session) {
    return Status::error(AMPC_USAGE, "expected a program and a place for the "
                                     "session, got NULL")
        .release();
  }
  ampc_session_options chosen;
  ampc_session_options_init(&chosen);
  if (options) {
    size_t known = sizeof chosen;
    memcpy(&chosen, options,
           options->struct_size < known ? options->struct_size : known);
  }
  auto *session = new (allocateSmall(sizeof(ampc_session_s))) ampc_session_s();
  session->program = program;
  Status status = prepare(*session, chosen);
  if (!status.ok()) {
    ampc_session_destroy(session);
    return status.release();
  }
  *out_session = session;
  return nullptr;
}

void ampc_session_destroy(ampc_session session) {
  if (!session) {
    return;
  }
  if (session->device) {
    if (session->arena) {
      session->api->release(session->device, session->arena,
                            session->program->arena_bytes.fixed);
    }
    session->api->destroy(session->device);
  }
  session->~ampc_session_s();
  free(session);
}

const ampc_program *ampc_session_program(ampc_session session) {
  return session->program;
}

uint32_t ampc_session_num_threads(ampc_session session) {
  return session->api->numThreads(session->device);
}

uint32_t ampc_session_num_inputs(ampc_session session) {
  return session->program->num_inputs;
}

uint32_t ampc_session_num_outputs(ampc_session session) {
  return session->program->num_outputs;
}

const ampc_tensor_desc *ampc_session_input(ampc_session session,
                                           uint32_t index) {
  const ampc_program &program = *session->program;
  return index < program.num_inputs ? &program.inputs[index] : nullptr;
}

const ampc_tensor_desc *ampc_session_output(ampc_session session,
                                            uint32_t index) {
  const ampc_program &program = *session->program;
  return index < program.num_outputs ? &program.outputs[index] : nullptr;
}

ampc_status ampc_session_run(ampc_session session, const void *const *inputs,
                             void *const *outputs) {
  return run(*session, inputs, outputs).release();
}

void ampc_session_set_profiling(ampc_session session, int enabled) {
  session->profiling = enabled != 0;
  for (ampc_profile_entry &entry : session->profile) {
    entry.launches = 0;
    entry.nanoseconds = 0;
  }
}

size_t ampc_session_profile_size(ampc_session session) {
  return session->profile.size();
}

void ampc_session_profile_entry(ampc_session session, size_t index,
                                ampc_profile_entry *out_entry) {
  *out_entry = session->profile[index];
}

uint64_t ampc_session_total_launches(ampc_session session) {
  return session->launches;
}
