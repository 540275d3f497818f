//===- inspect_state.cpp - Entries and states in the command inspect ------===//
#include "runtime/program/inspect_state.h"

#include "runtime/core/dtype.h"
#include "runtime/io/json.h"
#include "runtime/program/command_line.h"

#include <stdio.h>

namespace ampc::runtime {
namespace {

constexpr const char *roleNames[] = {"parameter", "statistic", "moment",
                                     "control", "transient"};
constexpr uint32_t numRoles = sizeof roleNames / sizeof *roleNames;

struct RoleSum {
  uint64_t count = 0;
  uint64_t bytes = 0;
};

void sumRoles(const ampc_program &program, RoleSum (&out)[numRoles]) {
  for (uint32_t i = 0; i < program.num_states; ++i) {
    RoleSum &sum = out[program.states[i].role];
    ++sum.count;
    sum.bytes += program.states[i].tensor.bytes;
  }
}

Str listTensors(const ampc_tensor_desc *descs, uint32_t count) {
  Str out;
  for (uint32_t i = 0; i < count; ++i) {
    out.appendf("%s%s: %s", i ? ", " : "", descs[i].name,
                describe(descs[i]).c_str());
  }
  return out;
}

} // namespace

void printState(const ampc_program &program) {
  for (uint32_t i = 0; i < program.num_entries; ++i) {
    const ampc_entry &entry = program.entries[i];
    Str in = listTensors(program.inputs + entry.first_input, entry.num_inputs);
    Str out =
        listTensors(program.outputs + entry.first_output, entry.num_outputs);
    printf("%-10s %s(%s)%s%s\n", i ? "" : "entries", entry.name, in.c_str(),
           out.empty() ? "" : " -> ", out.c_str());
  }
  RoleSum sums[numRoles];
  sumRoles(program, sums);
  bool first = true;
  for (uint32_t role = 0; role < numRoles; ++role) {
    if (sums[role].count) {
      printf("%-10s %s: %llu, %s\n", first ? "states" : "", roleNames[role],
             static_cast<unsigned long long>(sums[role].count),
             formatBytes(sums[role].bytes).c_str());
      first = false;
    }
  }
  if (program.num_states) {
    printf("%-10s %s\n", "state", formatBytes(program.state_bytes).c_str());
  }
}

void jsonTensor(Str *out, const ampc_tensor_desc &desc) {
  out->append("\"name\": ");
  appendJsonString(out, desc.name);
  out->appendf(", \"dtype\": \"%s\", \"shape\": [",
               ampc_dtype_name(desc.dtype));
  for (uint32_t d = 0; d < desc.rank; ++d) {
    out->appendf("%s%lld", d ? ", " : "", static_cast<long long>(desc.dims[d]));
  }
  out->appendf("], \"bytes\": %llu",
               static_cast<unsigned long long>(desc.bytes));
}

void jsonTensors(Str *out, const char *key, const ampc_tensor_desc *descs,
                 uint32_t count) {
  out->appendf("\"%s\": [", key);
  for (uint32_t i = 0; i < count; ++i) {
    out->append(i ? ",\n    {" : "\n    {");
    jsonTensor(out, descs[i]);
    out->append("}");
  }
  out->append(count ? "\n  ]" : "]");
}

void jsonState(Str *out, const ampc_program &program) {
  out->append(",\n  \"entries\": [");
  for (uint32_t i = 0; i < program.num_entries; ++i) {
    const ampc_entry &entry = program.entries[i];
    out->append(i ? ",\n  {\"name\": " : "\n  {\"name\": ");
    appendJsonString(out, entry.name);
    out->append(", ");
    jsonTensors(out, "inputs", program.inputs + entry.first_input,
                entry.num_inputs);
    out->append(", ");
    jsonTensors(out, "outputs", program.outputs + entry.first_output,
                entry.num_outputs);
    out->append("}");
  }
  out->append(program.num_entries ? "\n  ]" : "]");
  out->appendf(",\n  \"state_bytes\": %llu,\n  \"states\": [",
               static_cast<unsigned long long>(program.state_bytes));
  for (uint32_t i = 0; i < program.num_states; ++i) {
    const ampc_state_desc &state = program.states[i];
    out->append(i ? ",\n    {" : "\n    {");
    jsonTensor(out, state.tensor);
    out->appendf(", \"role\": \"%s\", \"offset\": %llu}", roleNames[state.role],
                 static_cast<unsigned long long>(state.offset));
  }
  out->append(program.num_states ? "\n  ]" : "]");
}

} // namespace ampc::runtime
