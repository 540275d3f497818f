//===- nvtx.h - Ranges for a profiler -------------------------------------===//
//
// NVIDIA's Tools Extension as its headers do it: a profiler names a library in
// $NVTX_INJECTION64_PATH, which is handed a table of functions to fill. Without
// that, nothing is loaded and a range costs the test of a pointer.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_CORE_NVTX_H
#define AMPC_RUNTIME_CORE_NVTX_H

namespace ampc::runtime {

/// Looks for a profiler, once in a process. Ranges before are lost.
void attachProfiler();

/// A range of the calling thread; `name` is copied by the profiler.
class ProfilerRange {
public:
  explicit ProfilerRange(const char *name);
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange &) = delete;
  ProfilerRange &operator=(const ProfilerRange &) = delete;

private:
  bool isOpen;
};

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_CORE_NVTX_H
