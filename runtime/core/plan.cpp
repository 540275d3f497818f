//===- plan.cpp - A program with its buffers resolved to pointers ---------===//
#include "runtime/core/plan.h"

#include "runtime/core/dtype.h"
#include "runtime/core/gpu_images.h"

namespace ampc::runtime {
namespace {

constexpr uint32_t maxDepth = 64;
constexpr size_t maxNodes = 1u << 24;

Status checkDesc(const char *what, const ampc_tensor_desc &desc) {
  size_t size = ampc_dtype_size(desc.dtype);
  uint64_t elements, bytes;
  if (!desc.name || size == 0 || desc.rank > maxRank ||
      (desc.rank && !desc.dims) ||
      !shapeSize(desc.dims, desc.rank, size, &elements, &bytes) ||
      bytes != desc.bytes) {
    return Status::error(AMPC_INVALID, "malformed program: %s '%s'", what,
                         desc.name ? desc.name : "");
  }
  return Status();
}

class Builder {
public:
  Builder(const ampc_program &program, const PlanBases &bases, Plan &plan)
      : program(program), bases(bases), plan(plan) {}

  Status entry(const ampc_entry &source);

private:
  Status list(const ampc_node_list &source, uint32_t depth, PlanList *out);
  Status node(const ampc_node &source, uint32_t depth, PlanNode *out);
  Status buffers(const ampc_node &source, size_t *outFirst);
  Status resolve(const ampc_buffer_ref &ref, void **outPointer);

  const ampc_program &program;
  const PlanBases &bases;
  Plan &plan;
  const ampc_entry *current = nullptr;
};

Status Builder::entry(const ampc_entry &source) {
  current = &source;
  PlanEntry out;
  out.firstInput = source.first_input;
  out.numInputs = source.num_inputs;
  out.firstOutput = source.first_output;
  out.numOutputs = source.num_outputs;
  out.inputs.first = plan.inputs.size();
  out.outputs.first = plan.outputs.size();
  AMPC_TRY(list(source.nodes, 1, &out.nodes));
  out.inputs.count = plan.inputs.size() - out.inputs.first;
  out.outputs.count = plan.outputs.size() - out.outputs.first;
  for (size_t i = 0; i < out.nodes.count; ++i) {
    out.launches += plan.nodes[out.nodes.first + i].kernel != nullptr;
  }
  plan.entries.push(out);
  return Status();
}

Status Builder::list(const ampc_node_list &source, uint32_t depth,
                     PlanList *out) {
  size_t first = plan.nodes.size();
  size_t count = source.num_nodes;
  if (depth > maxDepth || count > maxNodes - first ||
      (count && !source.nodes)) {
    return Status::error(AMPC_INVALID,
                         "malformed program: expected at most "
                         "%u nested bodies and %zu nodes",
                         maxDepth, maxNodes);
  }
  // A list is contiguous; the bodies of its nodes follow behind it.
  plan.nodes.resize(first + count);
  for (size_t i = 0; i < count; ++i) {
    PlanNode built;
    AMPC_TRY(node(source.nodes[i], depth, &built));
    plan.nodes[first + i] = built;
  }
  *out = {first, count};
  return Status();
}

Status Builder::node(const ampc_node &source, uint32_t depth, PlanNode *out) {
  uint32_t leastBuffers = 0, bodies = 0;
  switch (source.kind) {
  case AMPC_NODE_LAUNCH:
    if (source.kernel >= program.num_kernels) {
      return Status::error(
          AMPC_INVALID, "malformed program: node '%s' names kernel %u of %u",
          source.label ? source.label : "", source.kernel, program.num_kernels);
    }
    out->kernel = &program.kernels[source.kernel];
    break;
  case AMPC_NODE_COPY:
    leastBuffers = 2;
    break;
  case AMPC_NODE_IF:
    leastBuffers = 1;
    bodies = 2;
    break;
  case AMPC_NODE_LOOP:
    leastBuffers = 3;
    bodies = 1;
    break;
  default:
    return Status::error(AMPC_INVALID, "malformed program: node kind %u",
                         source.kind);
  }
  if (source.num_buffers < leastBuffers ||
      source.num_outputs > source.num_buffers || (bodies && !source.bodies) ||
      source.bytes.per_sample != 0) {
    return Status::error(AMPC_INVALID, "malformed program: node '%s'",
                         source.label ? source.label : "");
  }
  out->source = &source;
  AMPC_TRY(buffers(source, &out->firstSlot));
  if (bodies == 0) {
    out->profileIndex = plan.profileSize++;
  }
  for (uint32_t i = 0; i < bodies; ++i) {
    AMPC_TRY(list(source.bodies[i], depth + 1, &out->bodies[i]));
  }
  return Status();
}

Status Builder::buffers(const ampc_node &source, size_t *outFirst) {
  *outFirst = plan.slots.size();
  if (source.num_buffers && !source.buffers) {
    return Status::error(AMPC_INVALID, "malformed program: node '%s'",
                         source.label ? source.label : "");
  }
  for (uint32_t i = 0; i < source.num_buffers; ++i) {
    void *pointer = nullptr;
    Status status = resolve(source.buffers[i], &pointer);
    if (!status.ok()) {
      return std::move(status).withPrefix(source.label ? source.label : "node");
    }
    plan.slots.push(pointer);
  }
  return Status();
}

/// Whether a buffer lies in a region of `bytes` bytes.
bool inside(const ampc_buffer_ref &ref, uint64_t bytes) {
  return ref.offset.per_sample == 0 && ref.offset.fixed <= bytes &&
         ref.bytes <= bytes - ref.offset.fixed;
}

/// `base` may be null: the plan is then only looked at.
void *at(const void *base, uint64_t offset) {
  return reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(base) + offset);
}

Status Builder::resolve(const ampc_buffer_ref &ref, void **outPointer) {
  uint64_t offset = ref.offset.fixed;
  switch (ref.region) {
  case AMPC_REGION_ARENA:
    if (inside(ref, program.arena_bytes.fixed)) {
      *outPointer = at(bases.arena, offset);
      return Status();
    }
    break;
  case AMPC_REGION_WEIGHTS:
    if (inside(ref, constantBytes(program))) {
      // Kernels get plain pointers and never write their inputs.
      *outPointer = at(bases.weights, offset);
      return Status();
    }
    break;
  case AMPC_REGION_INPUT:
    if (ref.index - current->first_input < current->num_inputs &&
        inside(ref, program.inputs[ref.index].bytes)) {
      plan.inputs.push({plan.slots.size(), ref.index, offset});
      return Status();
    }
    break;
  case AMPC_REGION_OUTPUT:
    if (ref.index - current->first_output < current->num_outputs &&
        inside(ref, program.outputs[ref.index].bytes)) {
      plan.outputs.push({plan.slots.size(), ref.index, offset});
      return Status();
    }
    break;
  case AMPC_REGION_STATE:
    if (inside(ref, program.state_bytes)) {
      *outPointer = at(bases.state, offset);
      return Status();
    }
    break;
  default:
    break;
  }
  return Status::error(AMPC_INVALID,
                       "malformed program: buffer in region %u, index %u, at "
                       "offset %llu",
                       ref.region, ref.index,
                       static_cast<unsigned long long>(offset));
}

/// Entries follow one another in the tables of inputs and outputs.
Status checkEntries(const ampc_program &program) {
  uint32_t inputs = program.num_inputs, outputs = program.num_outputs;
  for (uint32_t i = 0; i < program.num_entries; ++i) {
    const ampc_entry &entry = program.entries[i];
    if (!entry.name || entry.first_input != inputs ||
        entry.first_output != outputs ||
        addOverflow(inputs, entry.num_inputs, &inputs) ||
        addOverflow(outputs, entry.num_outputs, &outputs)) {
      return Status::error(AMPC_INVALID, "malformed program: entry %u", i);
    }
  }
  return Status();
}

Status checkStates(const ampc_program &program) {
  for (uint32_t i = 0; i < program.num_states; ++i) {
    const ampc_state_desc &state = program.states[i];
    AMPC_TRY(checkDesc("state", state.tensor));
    auto fits = [&](uint64_t offset, uint64_t room) {
      return offset <= room && state.tensor.bytes <= room - offset;
    };
    if (!fits(state.offset, program.state_bytes) ||
        (state.initial != AMPC_NO_INITIAL &&
         !fits(state.initial, program.weights_bytes)) ||
        state.role > AMPC_STATE_TRANSIENT) {
      return Status::error(AMPC_INVALID, "malformed program: state '%s'",
                           state.tensor.name);
    }
  }
  return Status();
}

} // namespace

uint64_t constantBytes(const ampc_program &program) {
  return program.num_states ? program.constant_bytes : program.weights_bytes;
}

uint32_t countInputs(const ampc_program &program) {
  uint32_t count = program.num_inputs;
  for (uint32_t i = 0; i < program.num_entries; ++i) {
    count += program.entries[i].num_inputs;
  }
  return count;
}

uint32_t countOutputs(const ampc_program &program) {
  uint32_t count = program.num_outputs;
  for (uint32_t i = 0; i < program.num_entries; ++i) {
    count += program.entries[i].num_outputs;
  }
  return count;
}

Status checkProgram(const ampc_program &program) {
  if (program.abi_version != AMPC_ABI_VERSION ||
      program.struct_size < sizeof(ampc_program)) {
    return Status::error(AMPC_DEVICE,
                         "expected a program of ABI version %u, got %u; "
                         "compiler and runtime must be of one release",
                         AMPC_ABI_VERSION, program.abi_version);
  }
  if ((program.num_entries && !program.entries) ||
      (program.num_states && !program.states)) {
    return Status::error(AMPC_INVALID, "malformed program");
  }
  AMPC_TRY(checkEntries(program));
  uint32_t numInputs = countInputs(program);
  uint32_t numOutputs = countOutputs(program);
  if ((numInputs && !program.inputs) || (numOutputs && !program.outputs) ||
      (program.num_kernels && !program.kernels) ||
      constantBytes(program) > program.weights_bytes ||
      program.control_bytes > program.state_bytes ||
      program.arena_bytes.per_sample != 0 ||
      reinterpret_cast<uintptr_t>(program.weights) % AMPC_ALIGNMENT != 0) {
    return Status::error(AMPC_INVALID, "malformed program");
  }
  for (uint32_t i = 0; i < numInputs; ++i) {
    AMPC_TRY(checkDesc("input", program.inputs[i]));
  }
  for (uint32_t i = 0; i < numOutputs; ++i) {
    AMPC_TRY(checkDesc("output", program.outputs[i]));
  }
  AMPC_TRY(checkStates(program));
  for (uint32_t i = 0; i < program.num_kernels; ++i) {
    const ampc_kernel_desc &kernel = program.kernels[i];
    if ((!kernel.fn && !program.gpu) || !kernel.name || kernel.items < 0) {
      return Status::error(AMPC_INVALID, "malformed program: kernel %u", i);
    }
  }
  return program.gpu ? checkGpuCode(program) : Status();
}

Status buildPlan(const ampc_program &program, const PlanBases &bases,
                 Plan *outPlan) {
  Builder builder(program, bases, *outPlan);
  ampc_entry main = {"main",      0, program.num_inputs, 0, program.num_outputs,
                     program.main};
  AMPC_TRY(builder.entry(main));
  for (uint32_t i = 0; i < program.num_entries; ++i) {
    AMPC_TRY(builder.entry(program.entries[i]));
  }
  if (!program.gpu) {
    return Status();
  }
  AMPC_TRY(checkGpuNodes(program, program.main));
  for (uint32_t i = 0; i < program.num_entries; ++i) {
    AMPC_TRY(checkGpuNodes(program, program.entries[i].nodes));
  }
  return Status();
}

} // namespace ampc::runtime
