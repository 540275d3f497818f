//===- inspect_state.h - Entries and states in the command inspect --------===//
#ifndef AMPC_RUNTIME_PROGRAM_INSPECT_STATE_H
#define AMPC_RUNTIME_PROGRAM_INSPECT_STATE_H

#include "runtime/core/support.h"

namespace ampc::runtime {

/// Prints the entries of a trainer and, by role, how many states there are and
/// what they take. Nothing for another program.
void printState(const ampc_program &program);

/// The same as members of a JSON object, with each state by itself.
void jsonState(Str *out, const ampc_program &program);

/// Appends `"key": [...]`, an object for each tensor.
void jsonTensors(Str *out, const char *key, const ampc_tensor_desc *descs,
                 uint32_t count);
/// Appends the members of such an object.
void jsonTensor(Str *out, const ampc_tensor_desc &desc);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_PROGRAM_INSPECT_STATE_H
