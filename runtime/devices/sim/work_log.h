//===- work_log.h - What the look-alike has done, in a file ---------------===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_WORK_LOG_H
#define AMPC_RUNTIME_DEVICES_SIM_WORK_LOG_H

#include "runtime/devices/sim/simulator.h"

#include <stdio.h>

namespace ampc::runtime::sim {

struct Work;

/// Writes a line of JSON for each launch, copy and fill as it is done:
///   {"graph": 2, "kind": "kernel", "kernel": ..., "label": ...}
///   {"graph": null, "kind": "copy", "from": "host", "to": "device",
///    "bytes": 64, "label": null}
///   {"graph": 2, "kind": "fill", "bytes": 64, "label": null}
/// `graph` counts the launches of graphs; null is what was enqueued by itself.
class WorkLog {
public:
  ~WorkLog();

  /// AMPC_IO if the file cannot be written.
  Status open(const char *path);
  void beginGraph() { graph = ++graphs; }
  void endGraph() { graph = 0; }
  void add(const Work &work);

private:
  FILE *file = nullptr;
  uint64_t graphs = 0, graph = 0;
};

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_WORK_LOG_H
