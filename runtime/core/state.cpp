//===- state.cpp - What outlives a run of a session -----------------------===//
#include "runtime/core/nvtx.h"
#include "runtime/core/session.h"

using namespace ampc::runtime;

namespace {

Status checkState(const ampc_session_s &session, uint32_t index,
                  const void *data) {
  if (index >= session.program->num_states || !data) {
    return Status::error(AMPC_USAGE,
                         "expected a state below %u and a buffer, got %u",
                         session.program->num_states, index);
  }
  return Status();
}

uint8_t *stateBase(ampc_session_s &session) {
  const OwnMemoryApi *own = session.api->ownMemory;
  return static_cast<uint8_t *>(own ? own->state(session.device)
                                    : session.state);
}

Status checkEntries(const ampc_session_s &session, const uint32_t *entries,
                    uint32_t count, const void *const *inputs) {
  const ampc_program &program = *session.program;
  for (uint32_t i = 0; i < count; ++i) {
    if (entries[i] >= program.num_entries) {
      return Status::error(AMPC_USAGE, "expected an entry below %u, got %u",
                           program.num_entries, entries[i]);
    }
    const ampc_entry &entry = program.entries[entries[i]];
    if (entry.num_outputs) {
      return Status::error(AMPC_USAGE, "entry '%s' has outputs", entry.name);
    }
    AMPC_TRY(checkBuffers(session, entries[i] + 1, inputs, nullptr));
    inputs += entry.num_inputs;
  }
  return Status();
}

Status submit(ampc_session_s &session, const uint32_t *entries, uint32_t count,
              const void *const *inputs) {
  AMPC_TRY(checkEntries(session, entries, count, inputs));
  AMPC_TRY(refreshCopies(session));
  const OwnMemoryApi *own = session.api->ownMemory;
  if (own && own->runsWhole(session.device) && !session.profiling) {
    Vec<uint32_t> planned;
    for (uint32_t i = 0; i < count; ++i) {
      planned.push(entries[i] + 1);
      session.launches += session.plan.entries[entries[i] + 1].launches;
    }
    ProfilerRange range(session.program->name);
    return own->submit(session.device, planned.data(), count, inputs);
  }
  for (uint32_t i = 0; i < count; ++i) {
    AMPC_TRY(loadEntry(session, entries[i] + 1, inputs, nullptr));
    AMPC_TRY(Walker(session).list(session.plan.entries[entries[i] + 1].nodes));
    if (own) {
      AMPC_TRY(own->store(session.device, entries[i] + 1, nullptr));
    }
    inputs += session.program->entries[entries[i]].num_inputs;
  }
  return Status();
}

} // namespace

namespace ampc::runtime {

Status refreshCopies(ampc_session_s &session) {
  if (!session.stale) {
    return Status();
  }
  session.stale = false;
  const OwnMemoryApi *own = session.api->ownMemory;
  if (own && own->runsWhole(session.device)) {
    auto entry = static_cast<uint32_t>(session.refresh + 1);
    return own->submit(session.device, &entry, 1, nullptr);
  }
  return Walker(session).list(
      session.plan.entries[static_cast<size_t>(session.refresh + 1)].nodes);
}

Status initializeState(ampc_session_s &session) {
  const ampc_program &program = *session.program;
  const auto *weights = static_cast<const uint8_t *>(session.weights.base());
  return withDevice(session, [&] {
    for (uint32_t i = 0; i < program.num_states; ++i) {
      const ampc_state_desc &state = program.states[i];
      if (state.initial != AMPC_NO_INITIAL && state.tensor.bytes) {
        AMPC_TRY(session.api->write(
            session.device, stateBase(session) + state.offset,
            weights + state.initial, state.tensor.bytes));
      }
    }
    session.refresh = ampc_session_find_entry(&session, "refresh");
    session.stale = session.refresh >= 0;
    return Status();
  });
}

} // namespace ampc::runtime

ampc_status ampc_session_submit(ampc_session session, const uint32_t *entries,
                                uint32_t count, const void *const *inputs) {
  return withDevice(*session,
                    [&] { return submit(*session, entries, count, inputs); })
      .release();
}

uint32_t ampc_session_num_states(ampc_session session) {
  return session->program->num_states;
}

const ampc_state_desc *ampc_session_state(ampc_session session,
                                          uint32_t index) {
  const ampc_program &program = *session->program;
  return index < program.num_states ? &program.states[index] : nullptr;
}

ampc_status ampc_session_read_state(ampc_session session, uint32_t index,
                                    void *out_data) {
  return withDevice(
             *session,
             [&] {
               AMPC_TRY(checkState(*session, index, out_data));
               const ampc_state_desc &state = session->program->states[index];
               return session->api->read(session->device, out_data,
                                         stateBase(*session) + state.offset,
                                         state.tensor.bytes);
             })
      .release();
}

ampc_status ampc_session_write_state(ampc_session session, uint32_t index,
                                     const void *data) {
  return withDevice(*session,
                    [&] {
                      AMPC_TRY(checkState(*session, index, data));
                      const ampc_state_desc &state =
                          session->program->states[index];
                      session->stale |= session->refresh >= 0 &&
                                        state.role == AMPC_STATE_PARAMETER;
                      return session->api->write(
                          session->device, stateBase(*session) + state.offset,
                          data, state.tensor.bytes);
                    })
      .release();
}

ampc_status ampc_session_fetch_control(ampc_session session,
                                       uint64_t *out_ticket) {
  uint32_t place = session->fetches % 2;
  uint64_t bytes = session->program->control_bytes;
  Status status = withDevice(*session, [&] {
    if (const OwnMemoryApi *own = session->api->ownMemory) {
      return own->fetchControl(session->device, place);
    }
    Bytes &copy = session->controls[place];
    if (bytes && !copy.data()) {
      AMPC_TRY(copy.allocate(bytes));
    }
    return session->api->read(session->device, copy.data(), session->state,
                              bytes);
  });
  if (status.ok()) {
    *out_ticket = session->fetches++;
  }
  return status.release();
}

ampc_status ampc_session_wait_control(ampc_session session, uint64_t ticket,
                                      const void **out_control) {
  if (ticket >= session->fetches || session->fetches - ticket > 2) {
    return Status::error(AMPC_USAGE,
                         "expected the ticket of one of the last two copies")
        .release();
  }
  uint32_t place = ticket % 2;
  return withDevice(*session,
                    [&] {
                      if (const OwnMemoryApi *own = session->api->ownMemory) {
                        return own->waitControl(session->device, place,
                                                out_control);
                      }
                      *out_control = session->controls[place].data();
                      return Status();
                    })
      .release();
}
