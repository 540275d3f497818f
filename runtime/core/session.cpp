//===- session.cpp - Runs a program ---------------------------------------===//
#include "runtime/core/session.h"

#include "runtime/core/nvtx.h"

using namespace ampc::runtime;

namespace {

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
    AMPC_TRY(buildPlan(program, {nullptr, nullptr, nullptr}, &session.plan));
    return own->prepare(session.device, session.weights.base(), &session.plan);
  }
  AMPC_TRY(session.api->allocate(session.device, program.arena_bytes.fixed,
                                 &session.arena));
  AMPC_TRY(session.api->allocate(session.device, program.state_bytes,
                                 &session.state));
  PlanBases bases = {session.arena, session.weights.base(), session.state};
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
  AMPC_TRY(initializeState(session));
  collectEntries(session);
  session.poison = options.debug_arena != 0;
  return Status();
}

template <typename Pointer>
Status checkTensors(const char *what, const ampc_tensor_desc *descs,
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

/// Writes the caller's pointers, that of tensor `first` first, into the slots
/// that wait for them.
template <typename Pointer>
void patch(Plan &plan, const Vec<PlanPatch> &all, const PlanPatches &patches,
           uint32_t first, Pointer const *buffers) {
  for (size_t i = 0; i < patches.count; ++i) {
    const PlanPatch &patch = all[patches.first + i];
    uintptr_t base =
        buffers ? reinterpret_cast<uintptr_t>(buffers[patch.index - first]) : 0;
    plan.slots[patch.slot] = reinterpret_cast<void *>(base + patch.offset);
  }
}

/// Entry `index` of the plan, on a device that has copies of the caller's
/// buffers.
Status runOnCopies(ampc_session_s &session, uint32_t index,
                   const void *const *inputs, void *const *outputs) {
  const OwnMemoryApi &own = *session.api->ownMemory;
  const PlanEntry &entry = session.plan.entries[index];
  if (own.runsWhole(session.device) && !session.profiling) {
    session.launches += entry.launches;
    ProfilerRange range(session.program->name);
    return own.runWhole(session.device, index, inputs, outputs);
  }
  AMPC_TRY(own.load(session.device, index, inputs));
  AMPC_TRY(Walker(session).list(entry.nodes));
  return own.store(session.device, index, outputs);
}

/// Runs entry `index` of the plan.
Status run(ampc_session_s &session, uint32_t index, const void *const *inputs,
           void *const *outputs) {
  AMPC_TRY(checkBuffers(session, index, inputs, outputs));
  return withDevice(session, [&] {
    AMPC_TRY(refreshCopies(session));
    if (session.api->ownMemory) {
      return runOnCopies(session, index, inputs, outputs);
    }
    AMPC_TRY(loadEntry(session, index, inputs, outputs));
    return Walker(session).list(session.plan.entries[index].nodes);
  });
}

} // namespace

namespace ampc::runtime {

Status checkBuffers(const ampc_session_s &session, uint32_t index,
                    const void *const *inputs, void *const *outputs) {
  const ampc_program &program = *session.program;
  const PlanEntry &entry = session.plan.entries[index];
  AMPC_TRY(checkTensors("input", program.inputs + entry.firstInput,
                        entry.numInputs, inputs));
  return checkTensors("output", program.outputs + entry.firstOutput,
                      entry.numOutputs, outputs);
}

Status loadEntry(ampc_session_s &session, uint32_t index,
                 const void *const *inputs, void *const *outputs) {
  if (const OwnMemoryApi *own = session.api->ownMemory) {
    return own->load(session.device, index, inputs);
  }
  Plan &plan = session.plan;
  const PlanEntry &entry = plan.entries[index];
  patch(plan, plan.inputs, entry.inputs, entry.firstInput, inputs);
  patch(plan, plan.outputs, entry.outputs, entry.firstOutput, outputs);
  return session.poison ? session.api->fill(session.device, session.arena, 0xff,
                                            session.program->arena_bytes.fixed)
                        : Status();
}

} // namespace ampc::runtime

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
    if (session->state) {
      session->api->release(session->device, session->state,
                            session->program->state_bytes);
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
  return run(*session, 0, inputs, outputs).release();
}

int64_t ampc_session_find_entry(ampc_session session, const char *name) {
  for (uint32_t i = 0; i < session->program->num_entries; ++i) {
    if (strcmp(session->program->entries[i].name, name) == 0) {
      return i;
    }
  }
  return -1;
}

ampc_status ampc_session_run_entry(ampc_session session, uint32_t index,
                                   const void *const *inputs,
                                   void *const *outputs) {
  if (index >= session->program->num_entries) {
    return Status::error(AMPC_USAGE, "expected an entry below %u, got %u",
                         session->program->num_entries, index)
        .release();
  }
  return run(*session, index + 1, inputs, outputs).release();
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
