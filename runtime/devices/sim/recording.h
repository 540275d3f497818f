//===- recording.h - What launches read, write and multiply, in files -----===//
#ifndef AMPC_RUNTIME_DEVICES_SIM_RECORDING_H
#define AMPC_RUNTIME_DEVICES_SIM_RECORDING_H

#include "runtime/devices/sim/matrix_numerics.h"
#include "runtime/devices/sim/simulator.h"

#include <pthread.h>
#include <stdio.h>

namespace ampc::runtime::sim {

/// Writes each launch into a folder, for another program to compute it again:
///   launches.jsonl        a line for each: {"launch": N, "kernel": ...,
///                         "label": ..., "arch": 80, "buffers": [bytes or
///                         null]}
///   N-I.before, N-I.after the memory that parameter I points to, from there to
///                         the end of its allocation; .after if it has changed
///   N.products            the instructions of matrix units in the order of
///                         their execution, little-endian: u32 rows, columns,
///                         k, type, type of C and D (MatrixType), 0; A
///                         [rows][k] and B [k][columns], a u16 an element or,
///                         of tf32, a u32; C and D [rows][columns] in u32.
class Recording {
public:
  ~Recording();

  /// AMPC_IO if the folder cannot be made or written.
  Status open(const char *folder);
  /// Around a launch; `params` as in cuLaunchKernel.
  void begin(const LaunchConfig &config, const char *label, uint32_t arch,
             const GlobalMemory &memory);
  void end(const GlobalMemory &memory);
  /// `c` is what problem.cd was before.
  void add(const MatrixProblem &problem, const uint32_t *c);
  /// Whether all could be written.
  Status status() const;

private:
  struct Buffer {
    const void *address = nullptr;
    uint64_t bytes = 0;
    void *before = nullptr;
  };

  FILE *openFile(const char *name);
  void write(FILE *file, const void *bytes, size_t count);

  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  Str folder;
  FILE *index = nullptr;
  FILE *products = nullptr; // of the current launch
  uint32_t launch = 0;
  Vec<Buffer> buffers;
  bool failed = false;
};

} // namespace ampc::runtime::sim

#endif // AMPC_RUNTIME_DEVICES_SIM_RECORDING_H
