//===- inspect.cpp - The command inspect ----------------------------------===//
#include "runtime/core/cpu_features.h"
#include "runtime/core/dtype.h"
#include "runtime/core/gpu_images.h"
#include "runtime/core/plan.h"
#include "runtime/io/json.h"
#include "runtime/program/command_line.h"
#include "runtime/program/inspect_state.h"

#include <stdio.h>

namespace ampc::runtime {
namespace {

struct Counts {
  uint64_t launches = 0; // nodes outside If and Loop
  uint64_t copies = 0;
  uint64_t nested = 0; // launches inside If and Loop
  uint64_t branches = 0;
  uint64_t loops = 0;
};

/// checkProgram and buildPlan have bounded the nesting.
void count(const Plan &plan, const PlanList &list, bool nested, Counts *out) {
  for (size_t i = 0; i < list.count; ++i) {
    const PlanNode &node = plan.nodes[list.first + i];
    switch (node.source->kind) {
    case AMPC_NODE_LAUNCH:
      ++(nested ? out->nested : out->launches);
      break;
    case AMPC_NODE_COPY:
      ++out->copies;
      break;
    case AMPC_NODE_IF:
      ++out->branches;
      count(plan, node.bodies[0], true, out);
      count(plan, node.bodies[1], true, out);
      break;
    default:
      ++out->loops;
      count(plan, node.bodies[0], true, out);
      break;
    }
  }
}

const char *orEmpty(const char *text) { return text ? text : ""; }

bool externalWeights(const ampc_program &program) {
  return !program.weights && program.weights_bytes;
}

/// What the metadata's certificate says in a line; empty without one.
Str findCertificate(const char *metadata) {
  Str summary;
  JsonReader reader(metadata, strlen(metadata));
  Status read = reader.object([&](const Str &key) {
    if (!key.equals("certificate")) {
      return reader.skip();
    }
    return reader.object([&](const Str &part) {
      return part.equals("summary") ? reader.string(&summary) : reader.skip();
    });
  });
  return read.ok() ? std::move(summary) : Str();
}

void printTensors(const char *what, const ampc_tensor_desc *descs,
                  uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    printf("%-10s %s: %s, %s\n", i ? "" : what, descs[i].name,
           describe(descs[i]).c_str(), formatBytes(descs[i].bytes).c_str());
  }
}

/// The workspace on the device that needs most; 0 in a program of the CPU.
uint64_t mostWorkspaceBytes(const ampc_program &program) {
  uint64_t most = 0;
  for (uint32_t i = 0; program.gpu && i < program.gpu->num_images; ++i) {
    uint64_t bytes = workspaceBytes(program.gpu->images[i], program);
    most = bytes > most ? bytes : most;
  }
  return most;
}

void printText(const ampc_program &program, const Counts &counts) {
  printf("%-10s %s (%s, ABI %u)\n", "program", orEmpty(program.name),
         orEmpty(program.producer), program.abi_version);
  printTensors("inputs", program.inputs, program.num_inputs);
  printTensors("outputs", program.outputs, program.num_outputs);
  printState(program);
  printf("%-10s %s%s%s\n", "weights",
         formatBytes(program.weights_bytes).c_str(),
         externalWeights(program) ? " in " : "",
         externalWeights(program) ? orEmpty(program.weights_file) : "");
  printf("%-10s %s\n", "arena", formatBytes(program.arena_bytes.fixed).c_str());
  if (uint64_t bytes = mostWorkspaceBytes(program)) {
    printf("%-10s %s\n", "workspace", formatBytes(bytes).c_str());
  }
  printf("%-10s %u\n", "kernels", program.num_kernels);
  printf("%-10s %llu", "launches",
         static_cast<unsigned long long>(counts.launches));
  if (counts.branches || counts.loops) {
    printf(", and %llu inside %llu If and %llu Loop",
           static_cast<unsigned long long>(counts.nested),
           static_cast<unsigned long long>(counts.branches),
           static_cast<unsigned long long>(counts.loops));
  }
  printf("\n%-10s %llu\n", "copies",
         static_cast<unsigned long long>(counts.copies));
  printf("%-10s %s\n", "cpu", cpuFeatureNames(program.cpu_features).c_str());
  if (program.gpu) {
    printf("%-10s %s\n", "gpu", describeImages(*program.gpu).c_str());
  }
  Str certificate = findCertificate(orEmpty(program.metadata));
  if (!certificate.empty()) {
    printf("%-10s %s\n", "certified", certificate.c_str());
  }
  if (program.metadata && *program.metadata) {
    printf("%-10s %s\n", "metadata", program.metadata);
  }
}

void jsonLaunch(Str *out, const ampc_gpu_launch &launch, bool isFirst) {
  out->append(isFirst ? "\n      {\"symbol\": " : ",\n      {\"symbol\": ");
  appendJsonString(out, launch.symbol);
  out->appendf(", \"module\": %u, \"grid\": [%u, %u, %u], "
               "\"block\": [%u, %u, %u], \"shared_bytes\": %u, "
               "\"tensor_maps\": %u, \"workspace_bytes\": %llu}",
               launch.module, launch.grid[0], launch.grid[1], launch.grid[2],
               launch.block[0], launch.block[1], launch.block[2],
               launch.shared_bytes, launch.num_tensor_maps,
               static_cast<unsigned long long>(launch.workspace_bytes));
}

/// What a kernel may access of each of its buffers.
void jsonParams(Str *out, const ampc_program &program, uint32_t kernel) {
  if (!program.gpu) {
    return;
  }
  const ampc_gpu_launch &launch = program.gpu->images[0].launches[kernel];
  out->append(", \"params\": [");
  for (uint32_t i = 0; i < launch.num_params; ++i) {
    out->appendf("%s{\"bytes\": %llu, \"output\": %s}", i ? ", " : "",
                 static_cast<unsigned long long>(launch.params[i].bytes),
                 launch.params[i].is_output ? "true" : "false");
  }
  out->append("]");
}

void jsonKernels(Str *out, const ampc_program &program) {
  out->append(",\n  \"kernels\": [");
  for (uint32_t i = 0; i < program.num_kernels; ++i) {
    const ampc_kernel_desc &kernel = program.kernels[i];
    out->append(i ? ",\n    {\"name\": " : "\n    {\"name\": ");
    appendJsonString(out, kernel.name);
    out->appendf(", \"items\": %lld, \"grain\": %lld, \"scratch_bytes\": %llu",
                 static_cast<long long>(kernel.items),
                 static_cast<long long>(kernel.grain),
                 static_cast<unsigned long long>(kernel.scratch_bytes));
    jsonParams(out, program, i);
    out->append("}");
  }
  out->append(program.num_kernels ? "\n  ]" : "]");
}

void jsonImages(Str *out, const ampc_program &program) {
  out->append(",\n  \"gpu\": [");
  uint32_t count = program.gpu ? program.gpu->num_images : 0;
  for (uint32_t i = 0; i < count; ++i) {
    const ampc_gpu_image &image = program.gpu->images[i];
    out->appendf("%s{\"architecture\": \"%s\", \"kind\": \"%s\", "
                 "\"modules\": %u, \"bytes\": %llu, \"launches\": [",
                 i ? ",\n    " : "\n    ", architectureName(image).c_str(),
                 imageKindName(image.kind), image.num_modules,
                 static_cast<unsigned long long>(imageBytes(image)));
    for (uint32_t k = 0; k < program.num_kernels; ++k) {
      jsonLaunch(out, image.launches[k], k == 0);
    }
    out->append("]}");
  }
  out->append(count ? "\n  ]" : "]");
}

void jsonNodes(Str *out, const Plan &plan) {
  out->append(",\n  \"nodes\": [");
  bool first = true;
  for (const PlanNode &node : plan.nodes) {
    if (!node.kernel) {
      continue;
    }
    out->append(first ? "\n    {\"kernel\": " : ",\n    {\"kernel\": ");
    first = false;
    appendJsonString(out, node.kernel->name);
    out->append(", \"label\": ");
    appendJsonString(out, orEmpty(node.source->label));
    out->append("}");
  }
  out->append(first ? "]" : "\n  ]");
}

void printJson(const ampc_program &program, const Plan &plan,
               const Counts &counts) {
  Str out("{\n  \"name\": ");
  appendJsonString(&out, orEmpty(program.name));
  out.append(",\n  \"producer\": ");
  appendJsonString(&out, orEmpty(program.producer));
  out.appendf(",\n  \"abi_version\": %u", program.abi_version);
  out.append(",\n  ");
  jsonTensors(&out, "inputs", program.inputs, program.num_inputs);
  out.append(",\n  ");
  jsonTensors(&out, "outputs", program.outputs, program.num_outputs);
  jsonState(&out, program);
  out.appendf(",\n  \"weights_bytes\": %llu,\n  \"weights_file\": ",
              static_cast<unsigned long long>(program.weights_bytes));
  if (externalWeights(program)) {
    appendJsonString(&out, orEmpty(program.weights_file));
  } else {
    out.append("null");
  }
  out.appendf(",\n  \"arena_bytes\": %llu,\n  \"workspace_bytes\": %llu,\n"
              "  \"launches\": %llu,\n"
              "  \"nested_launches\": %llu,\n  \"copies\": %llu,\n"
              "  \"ifs\": %llu,\n  \"loops\": %llu,\n  \"cpu_features\": ",
              static_cast<unsigned long long>(program.arena_bytes.fixed),
              static_cast<unsigned long long>(mostWorkspaceBytes(program)),
              static_cast<unsigned long long>(counts.launches),
              static_cast<unsigned long long>(counts.nested),
              static_cast<unsigned long long>(counts.copies),
              static_cast<unsigned long long>(counts.branches),
              static_cast<unsigned long long>(counts.loops));
  appendJsonString(&out, cpuFeatureNames(program.cpu_features).c_str());
  jsonImages(&out, program);
  jsonKernels(&out, program);
  jsonNodes(&out, plan);
  // The compiler writes JSON there; text that is none must not break ours.
  const char *metadata = orEmpty(program.metadata);
  JsonReader reader(metadata, strlen(metadata));
  bool valid = reader.skip().ok() && reader.finish().ok();
  out.appendf(",\n  \"metadata\": %s\n}\n", valid ? metadata : "null");
  fwrite(out.c_str(), 1, out.size(), stdout);
}

} // namespace

Status inspectCommand(const ampc_program &program, const Options &options) {
  AMPC_TRY(checkProgram(program));
  Plan plan;
  AMPC_TRY(buildPlan(program, {nullptr, nullptr, nullptr}, &plan));
  if (options.exportCode) {
    AMPC_TRY(exportCode(program, options.exportCode));
  }
  Counts counts;
  for (const PlanEntry &entry : plan.entries) {
    count(plan, entry.nodes, false, &counts);
  }
  if (options.json) {
    printJson(program, plan, counts);
  } else {
    printText(program, counts);
  }
  return Status();
}

} // namespace ampc::runtime
