/*===- session.c - A trainer as a library for Python ----------------------===*\
|*
|* Linked with the object of a trainer and the runtime into a shared library,
|* this gives tests the entries and states of a trainer (trainers.py). PROGRAM
|* is the symbol of the object. A function that can fail returns a message.
|*
\*===----------------------------------------------------------------------===*/
#include "ampc/runtime.h"

#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

extern const ampc_program PROGRAM;

static const char *message(ampc_status status) {
  static char text[1024];
  if (!status) {
    return NULL;
  }
  snprintf(text, sizeof(text), "%s", ampc_status_message(status));
  ampc_status_free(status);
  return text;
}

/* With `debug`, what is read before it is written is NaN. */
EXPORT const char *trainer_open(uint32_t threads, uint32_t debug,
                                ampc_session *out) {
  ampc_session_options options;
  ampc_session_options_init(&options);
  options.num_threads = threads;
  options.debug_arena = debug;
  return message(ampc_session_create(&PROGRAM, &options, out));
}

EXPORT void trainer_close(ampc_session session) {
  ampc_session_destroy(session);
}

EXPORT uint32_t trainer_num_entries(void) { return PROGRAM.num_entries; }

EXPORT const char *trainer_entry_name(uint32_t entry) {
  return PROGRAM.entries[entry].name;
}

/* Input or output `index` of an entry, NULL behind the last. */
EXPORT const ampc_tensor_desc *trainer_input(uint32_t entry, uint32_t index) {
  const ampc_entry *e = &PROGRAM.entries[entry];
  return index < e->num_inputs ? &PROGRAM.inputs[e->first_input + index] : NULL;
}

EXPORT const ampc_tensor_desc *trainer_output(uint32_t entry, uint32_t index) {
  const ampc_entry *e = &PROGRAM.entries[entry];
  return index < e->num_outputs ? &PROGRAM.outputs[e->first_output + index]
                                : NULL;
}

EXPORT const char *trainer_run(ampc_session session, uint32_t entry,
                               const void *const *inputs,
                               void *const *outputs) {
  return message(ampc_session_run_entry(session, entry, inputs, outputs));
}

/* State `index`, NULL behind the last; its role is that of abi.h. */
EXPORT const ampc_tensor_desc *trainer_state(uint32_t index) {
  return index < PROGRAM.num_states ? &PROGRAM.states[index].tensor : NULL;
}

EXPORT uint32_t trainer_state_role(uint32_t index) {
  return PROGRAM.states[index].role;
}

EXPORT const char *trainer_read(ampc_session session, uint32_t index,
                                void *out) {
  return message(ampc_session_read_state(session, index, out));
}

EXPORT const char *trainer_write(ampc_session session, uint32_t index,
                                 const void *data) {
  return message(ampc_session_write_state(session, index, data));
}
