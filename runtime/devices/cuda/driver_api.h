//===- driver_api.h - The part of CUDA's driver that the runtime uses -----===//
//
// Declarations of our own, so that the project builds without a CUDA toolkit:
// the names, numbers and layouts are the driver's, as test/runtime/sim checks
// where cuda.h is installed. A DriverApi holds the functions, either libcuda's
// or the simulator's.
//
//===----------------------------------------------------------------------===//
#ifndef AMPC_RUNTIME_DEVICES_CUDA_DRIVER_API_H
#define AMPC_RUNTIME_DEVICES_CUDA_DRIVER_API_H

#include <stddef.h>
#include <stdint.h>

namespace ampc::runtime::cuda {

/// A CUresult; any number may come from a newer driver.
enum Result : int {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinaryForGpu = 209,
  invalidHandle = 400,
  notFound = 500,
  notReady = 600,
  illegalAddress = 700,
  launchOutOfResources = 701,
  misalignedAddress = 716,
  launchFailed = 719,
  notSupported = 801,
};

using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextState *;
using Module = struct ModuleState *;
using Function = struct FunctionState *;
using Stream = struct StreamState *;
using Event = struct EventState *;
using Graph = struct GraphState *;
using GraphNode = struct GraphNodeState *;
using GraphExec = struct GraphExecState *;

/// CUdevice_attribute.
enum DeviceAttribute : int {
  maxThreadsPerBlock = 1,
  maxSharedPerBlock = 8,
  warpSize = 10,
  multiprocessorCount = 16,
  l2CacheSize = 38,
  maxThreadsPerMultiprocessor = 39,
  capabilityMajor = 75,
  capabilityMinor = 76,
  maxSharedPerMultiprocessor = 81,
  maxSharedPerBlockOptIn = 97,
};

/// CUfunction_attribute.
enum FunctionAttribute : int {
  functionMaxThreads = 0,
  functionSharedBytes = 1,
  functionRegisters = 4,
  functionMaxDynamicShared = 8,
  functionSharedCarveout = 9,
};

enum MemoryType : int { hostMemory = 1, deviceMemory = 2, unifiedMemory = 4 };

constexpr unsigned streamNonBlocking = 1; // CU_STREAM_NON_BLOCKING
constexpr unsigned eventDisableTiming = 2;

/// CUtensorMap.
struct alignas(64) TensorMapBytes {
  uint64_t opaque[16];
};

/// CUDA_KERNEL_NODE_PARAMS, version 2.
struct KernelNodeParams {
  Function func;
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  void **kernelParams;
  void **extra;
  void *kern;
  Context ctx;
};

/// CUDA_MEMCPY3D, version 2.
struct Memcpy3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  MemoryType srcMemoryType;
  const void *srcHost;
  DevicePointer srcDevice;
  void *srcArray, *reserved0;
  size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  MemoryType dstMemoryType;
  void *dstHost;
  DevicePointer dstDevice;
  void *dstArray, *reserved1;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
};

/// CUDA_MEMSET_NODE_PARAMS.
struct MemsetNodeParams {
  DevicePointer dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};

/// CUlaunchAttribute and CUlaunchConfig.
enum LaunchAttributeId : int {
  attributeIgnore = 0,
  attributeClusterDimension = 4,
};
struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDim;
    uint64_t alignment;
  } value;
};
struct LaunchConfigEx {
  unsigned gridDimX, gridDimY, gridDimZ;
  unsigned blockDimX, blockDimY, blockDimZ;
  unsigned sharedMemBytes;
  Stream hStream;
  LaunchAttribute *attrs;
  unsigned numAttrs;
};

/// X(name in DriverApi, symbol in libcuda, parameter types) of each function.
#define AMPC_CUDA_DRIVER_FUNCTIONS(X)                                          \
  X(init, cuInit, (unsigned))                                                  \
  X(driverGetVersion, cuDriverGetVersion, (int *))                             \
  X(getErrorName, cuGetErrorName, (Result, const char **))                     \
  X(getErrorString, cuGetErrorString, (Result, const char **))                 \
  X(deviceGetCount, cuDeviceGetCount, (int *))                                 \
  X(deviceGet, cuDeviceGet, (Device *, int))                                   \
  X(deviceGetName, cuDeviceGetName, (char *, int, Device))                     \
  X(deviceGetAttribute, cuDeviceGetAttribute,                                  \
    (int *, DeviceAttribute, Device))                                          \
  X(deviceTotalMem, cuDeviceTotalMem_v2, (size_t *, Device))                   \
  X(primaryCtxRetain, cuDevicePrimaryCtxRetain, (Context *, Device))           \
  X(primaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (Device))                 \
  X(ctxSetCurrent, cuCtxSetCurrent, (Context))                                 \
  X(ctxGetCurrent, cuCtxGetCurrent, (Context *))                               \
  X(ctxSynchronize, cuCtxSynchronize, ())                                      \
  X(moduleLoadData, cuModuleLoadData, (Module *, const void *))                \
  X(moduleLoadDataEx, cuModuleLoadDataEx,                                      \
    (Module *, const void *, unsigned, int *, void **))                        \
  X(moduleUnload, cuModuleUnload, (Module))                                    \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (Function *, Module, const char *))                                        \
  X(moduleGetGlobal, cuModuleGetGlobal_v2,                                     \
    (DevicePointer *, size_t *, Module, const char *))                         \
  X(funcSetAttribute, cuFuncSetAttribute, (Function, FunctionAttribute, int))  \
  X(funcGetAttribute, cuFuncGetAttribute,                                      \
    (int *, FunctionAttribute, Function))                                      \
  X(memGetInfo, cuMemGetInfo_v2, (size_t *, size_t *))                         \
  X(memAlloc, cuMemAlloc_v2, (DevicePointer *, size_t))                        \
  X(memFree, cuMemFree_v2, (DevicePointer))                                    \
  X(memAllocHost, cuMemAllocHost_v2, (void **, size_t))                        \
  X(memFreeHost, cuMemFreeHost, (void *))                                      \
  X(memcpyHtoD, cuMemcpyHtoD_v2, (DevicePointer, const void *, size_t))        \
  X(memcpyDtoH, cuMemcpyDtoH_v2, (void *, DevicePointer, size_t))              \
  X(memcpyDtoD, cuMemcpyDtoD_v2, (DevicePointer, DevicePointer, size_t))       \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                     \
    (DevicePointer, const void *, size_t, Stream))                             \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                     \
    (void *, DevicePointer, size_t, Stream))                                   \
  X(memcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                     \
    (DevicePointer, DevicePointer, size_t, Stream))                            \
  X(memsetD8, cuMemsetD8_v2, (DevicePointer, unsigned char, size_t))           \
  X(memsetD32, cuMemsetD32_v2, (DevicePointer, unsigned, size_t))              \
  X(memsetD8Async, cuMemsetD8Async,                                            \
    (DevicePointer, unsigned char, size_t, Stream))                            \
  X(memsetD32Async, cuMemsetD32Async,                                          \
    (DevicePointer, unsigned, size_t, Stream))                                 \
  X(streamCreate, cuStreamCreate, (Stream *, unsigned))                        \
  X(streamDestroy, cuStreamDestroy_v2, (Stream))                               \
  X(streamSynchronize, cuStreamSynchronize, (Stream))                          \
  X(streamQuery, cuStreamQuery, (Stream))                                      \
  X(streamWaitEvent, cuStreamWaitEvent, (Stream, Event, unsigned))             \
  X(eventCreate, cuEventCreate, (Event *, unsigned))                           \
  X(eventDestroy, cuEventDestroy_v2, (Event))                                  \
  X(eventRecord, cuEventRecord, (Event, Stream))                               \
  X(eventSynchronize, cuEventSynchronize, (Event))                             \
  X(eventQuery, cuEventQuery, (Event))                                         \
  X(eventElapsedTime, cuEventElapsedTime, (float *, Event, Event))             \
  X(launchKernel, cuLaunchKernel,                                              \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))                                      \
  X(launchKernelEx, cuLaunchKernelEx,                                          \
    (const LaunchConfigEx *, Function, void **, void **))                      \
  X(graphCreate, cuGraphCreate, (Graph *, unsigned))                           \
  X(graphDestroy, cuGraphDestroy, (Graph))                                     \
  X(graphAddKernelNode, cuGraphAddKernelNode_v2,                               \
    (GraphNode *, Graph, const GraphNode *, size_t, const KernelNodeParams *)) \
  X(graphAddMemcpyNode, cuGraphAddMemcpyNode,                                  \
    (GraphNode *, Graph, const GraphNode *, size_t, const Memcpy3D *,          \
     Context))                                                                 \
  X(graphAddMemsetNode, cuGraphAddMemsetNode,                                  \
    (GraphNode *, Graph, const GraphNode *, size_t, const MemsetNodeParams *,  \
     Context))                                                                 \
  X(graphAddEmptyNode, cuGraphAddEmptyNode,                                    \
    (GraphNode *, Graph, const GraphNode *, size_t))                           \
  X(graphGetNodes, cuGraphGetNodes, (Graph, GraphNode *, size_t *))            \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (GraphExec *, Graph, unsigned long long))                                  \
  X(graphLaunch, cuGraphLaunch, (GraphExec, Stream))                           \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExec))                         \
  X(tensorMapEncodeTiled, cuTensorMapEncodeTiled,                              \
    (TensorMapBytes *, int, uint32_t, void *, const uint64_t *,                \
     const uint64_t *, const uint32_t *, const uint32_t *, int, int, int,      \
     int))

struct DriverApi {
#define AMPC_CUDA_DRIVER_FIELD(name, symbol, params) Result(*name) params;
  AMPC_CUDA_DRIVER_FUNCTIONS(AMPC_CUDA_DRIVER_FIELD)
#undef AMPC_CUDA_DRIVER_FIELD
};

} // namespace ampc::runtime::cuda

#endif // AMPC_RUNTIME_DEVICES_CUDA_DRIVER_API_H
