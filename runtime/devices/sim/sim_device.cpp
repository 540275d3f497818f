//===- sim_device.cpp - The simulator as a device -------------------------===//
#include "runtime/core/gpu_images.h"
#include "runtime/devices/cpu/thread_pool.h"
#include "runtime/devices/cuda/gpu_device.h"
#include "runtime/devices/sim/driver.h"
#include "runtime/devices/sim/recording.h"
#include "runtime/devices/sim/separate_buffers.h"
#include "runtime/devices/sim/work_log.h"

#include <pthread.h>

namespace ampc::runtime::sim {
namespace {

// The simulated device exists once in a process.
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
uint32_t users = 0;
uint32_t usersArch = 0;
/// Of all sessions, if AMPC_SIM_RECORD names a folder.
Recording *recording = nullptr;
/// Likewise, if AMPC_SIM_LOG names a file.
WorkLog *workLog = nullptr;

/// The value of an environment variable; null if it is not set, or empty.
const char *setting(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : nullptr;
}

/// What docs/simulator.md lists.
Status readSettings(Options *options) {
  if (const char *seed = setting("AMPC_SIM_SEED")) {
    char *end = nullptr;
    options->seed = strtoull(seed, &end, 10);
    if (*end || *seed < '0' || *seed > '9') {
      return Status::error(AMPC_USAGE,
                           "AMPC_SIM_SEED: expected a number, got '%s'", seed);
    }
  }
  if (const char *path = setting("AMPC_SIM_REPORT")) {
    FILE *file = fopen(path, "w");
    if (!file) {
      return Status::error(AMPC_IO, "AMPC_SIM_REPORT: cannot write '%s'", path);
    }
    fclose(file);
    options->traffic = true;
  }
  const char *folder = setting("AMPC_SIM_RECORD");
  if (folder && !recording) {
    recording = new (allocateSmall(sizeof(Recording))) Recording();
    AMPC_TRY(recording->open(folder));
  }
  options->recording = folder ? recording : nullptr;
  const char *list = setting("AMPC_SIM_LOG");
  if (list && !workLog) {
    workLog = new (allocateSmall(sizeof(WorkLog))) WorkLog();
    AMPC_TRY(workLog->open(list));
  }
  options->log = list ? workLog : nullptr;
  return Status();
}

/// The traffic of all sessions since the device was new.
void writeReport() {
  const char *path = setting("AMPC_SIM_REPORT");
  FILE *file = path ? fopen(path, "w") : nullptr;
  if (file) {
    fputs(driverReport().trafficText().c_str(), file);
    fclose(file);
  }
}

/// The first of several sessions begins with a new device, so that what an
/// earlier one did wrong is forgotten.
Status open(const DeviceOptions &options, cuda::DriverApi *out) {
  uint32_t arch = options.program->gpu->images[0].architecture;
  Options chosen;
  chosen.arch = arch;
  chosen.hostThreads =
      options.numThreads ? options.numThreads : availableCpus();
  pthread_mutex_lock(&lock);
  Status known = readSettings(&chosen);
  if (!known.ok()) {
    pthread_mutex_unlock(&lock);
    return known;
  }
  bool usable = users == 0 || usersArch == arch;
  if (usable && users++ == 0) {
    usersArch = arch;
    resetDriver(chosen);
  }
  pthread_mutex_unlock(&lock);
  if (!usable) {
    return Status::error(AMPC_DEVICE,
                         "the simulator is in use as sm_%u, this program is "
                         "for sm_%u",
                         usersArch, arch);
  }
  *out = driverApi();
  return Status();
}

void close() {
  pthread_mutex_lock(&lock);
  if (--users == 0) {
    writeReport();
  }
  pthread_mutex_unlock(&lock);
}

/// The first findings, each in a line's worth of text.
Status explain() {
  const Report &report = driverReport();
  if (report.clean()) {
    return recording ? recording->status() : Status();
  }
  constexpr size_t most = 4;
  Str text;
  size_t count = report.findings().size();
  for (size_t i = 0; i < count && i < most; ++i) {
    text.append(i ? "; " : "");
    for (const char *c = report.findings()[i].message.c_str(); *c; ++c) {
      // A message has a site in each of its further lines, indented.
      if (*c == '\n') {
        text.append(",");
      } else if (*c != ' ' || c[1] != ' ') {
        text.appendChar(*c);
      }
    }
  }
  return Status::error(AMPC_DEVICE, "the simulator found %llu fault%s: %s%s",
                       static_cast<unsigned long long>(report.faults()),
                       report.faults() == 1 ? "" : "s", text.c_str(),
                       count > most ? "; and others" : "");
}

constexpr cuda::Platform platform = {true,      open,   close, separateBuffers,
                                     labelNode, explain};

Status create(const DeviceOptions &options, Device **outDevice) {
  return cuda::entry::create(platform, options, outDevice);
}

} // namespace
} // namespace ampc::runtime::sim

const ampc_device ampc_sim_device = {
    AMPC_GPU_DEVICE("sim", ampc::runtime::sim::create)};
