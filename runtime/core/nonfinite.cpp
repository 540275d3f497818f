//===- nonfinite.cpp - Finds the first value that is not finite -----------===//
#include "runtime/core/dtype.h"
#include "runtime/core/session.h"

#include <math.h>

using namespace ampc::runtime;

namespace {

/// Runs an entry and looks at what each of its nodes writes.
class Search {
public:
  Search(ampc_session_s &session, ampc_nonfinite &out)
      : session(session), out(out) {}

  Status run(uint32_t index, const void *const *inputs, void *const *outputs) {
    AMPC_TRY(loadEntry(session, index, inputs, outputs));
    const PlanList &list = session.plan.entries[index].nodes;
    for (size_t i = 0; i < list.count && !out.label; ++i) {
      const PlanNode &node = session.plan.nodes[list.first + i];
      AMPC_TRY(Walker(session).node(node));
      if (node.kernel) {
        AMPC_TRY(look(node));
      }
    }
    return Status();
  }

private:
  Status look(const PlanNode &node) {
    const ampc_node &source = *node.source;
    uint32_t firstOutput = source.num_buffers - source.num_outputs;
    for (uint32_t i = firstOutput; i < source.num_buffers && !out.label; ++i) {
      AMPC_TRY(fetch(node, i));
      uint32_t dtype = source.buffers[i].dtype;
      for (uint64_t k = 0; k < count && !out.label; ++k) {
        double value = elementAsDouble(dtype, copy.data(), k);
        if (!isfinite(value)) {
          out.label = source.label ? source.label : "";
          out.kernel = node.kernel->name;
          out.dtype = dtype;
          out.is_nan = isnan(value);
        }
      }
    }
    for (uint32_t i = 0; out.label && i < firstOutput; ++i) {
      AMPC_TRY(fetch(node, i));
      addRange(source.buffers[i].dtype);
    }
    return Status();
  }

  void addRange(uint32_t dtype) {
    for (uint64_t k = 0; k < count; ++k) {
      double value = elementAsDouble(dtype, copy.data(), k);
      if (isfinite(value)) {
        out.least = hasRange && out.least < value ? out.least : value;
        out.largest = hasRange && out.largest > value ? out.largest : value;
        hasRange = true;
      }
    }
  }

  /// Copies buffer `i` of a node, if it holds floats.
  Status fetch(const PlanNode &node, uint32_t i) {
    const ampc_buffer_ref &ref = node.source->buffers[i];
    count = isFloat(ref.dtype) ? ref.bytes / ampc_dtype_size(ref.dtype) : 0;
    if (count == 0) {
      return Status();
    }
    AMPC_TRY(copy.allocate(ref.bytes));
    return session.api->read(session.device, copy.data(),
                             session.plan.slots[node.firstSlot + i], ref.bytes);
  }

  ampc_session_s &session;
  ampc_nonfinite &out;
  Bytes copy;
  uint64_t count = 0;
  bool hasRange = false;
};

} // namespace

ampc_status ampc_session_find_nonfinite(ampc_session session, uint32_t index,
                                        const void *const *inputs,
                                        void *const *outputs,
                                        ampc_nonfinite *out_found) {
  if (index >= session->program->num_entries) {
    return Status::error(AMPC_USAGE, "expected an entry below %u, got %u",
                         session->program->num_entries, index)
        .release();
  }
  ampc_nonfinite found{};
  Status status = checkBuffers(*session, index + 1, inputs, outputs);
  if (status.ok()) {
    status = withDevice(*session, [&] {
      AMPC_TRY(refreshCopies(*session));
      return Search(*session, found).run(index + 1, inputs, outputs);
    });
  }
  if (status.ok()) {
    *out_found = found;
  }
  return status.release();
}
