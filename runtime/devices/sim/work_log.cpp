//===- work_log.cpp - What the look-alike has done, in a file -------------===//
#include "runtime/devices/sim/work_log.h"

#include "runtime/devices/sim/driver_state.h"
#include "runtime/io/json.h"

#include <errno.h>

namespace ampc::runtime::sim {

WorkLog::~WorkLog() {
  if (file) {
    fclose(file);
  }
}

Status WorkLog::open(const char *path) {
  file = fopen(path, "w");
  return file ? Status()
              : Status::error(AMPC_IO, "AMPC_SIM_LOG: cannot write '%s': %s",
                              path, strerror(errno));
}

static const char *nameOf(cuda::MemoryType type) {
  return type == cuda::hostMemory ? "host" : "device";
}

void WorkLog::add(const Work &work) {
  Str line;
  if (graph) {
    line.appendf("{\"graph\": %llu", static_cast<unsigned long long>(graph));
  } else {
    line.append("{\"graph\": null");
  }
  switch (work.kind) {
  case Work::kernel:
    line.append(", \"kind\": \"kernel\", \"kernel\": ");
    appendJsonString(&line, work.function->kernel->name);
    break;
  case Work::copy: {
    const cuda::Memcpy3D &copy = work.memcpy3D;
    line.appendf(", \"kind\": \"copy\", \"from\": \"%s\", \"to\": \"%s\", "
                 "\"bytes\": %llu",
                 nameOf(copy.srcMemoryType), nameOf(copy.dstMemoryType),
                 static_cast<unsigned long long>(copy.WidthInBytes *
                                                 copy.Height * copy.Depth));
    break;
  }
  case Work::fill:
    line.appendf(
        ", \"kind\": \"fill\", \"bytes\": %llu",
        static_cast<unsigned long long>(work.memset.width * work.memset.height *
                                        work.memset.elementSize));
    break;
  case Work::empty:
    return;
  }
  line.append(", \"label\": ");
  if (work.label) {
    appendJsonString(&line, work.label);
  } else {
    line.append("null");
  }
  line.append("}\n");
  fputs(line.c_str(), file);
  fflush(file);
}

} // namespace ampc::runtime::sim
