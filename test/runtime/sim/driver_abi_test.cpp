//===- driver_abi_test.cpp - Our declarations are those of cuda.h ---------===//
//
// Built where a toolkit is installed; only its header is used.
//
//===----------------------------------------------------------------------===//
#include "runtime/devices/cuda/driver_api.h"

#include <cuda.h>
#include <gtest/gtest.h>
#include <type_traits>

namespace {

namespace ours = ampc::runtime::cuda;

/// Whether two parameters are passed alike: pointers, and numbers of a size.
template <typename A, typename B>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    return true;
  } else {
    return std::is_pointer_v<A> == std::is_pointer_v<B> &&
           sizeof(A) == sizeof(B) &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
  }
}

template <typename A, typename B>
struct SameCall : std::false_type {};
template <typename R, typename... A, typename S, typename... B>
struct SameCall<R (*)(A...), S (*)(B...)> {
  template <bool sameCount, typename = void>
  struct Compare : std::false_type {};
  template <typename Unused>
  struct Compare<true, Unused>
      : std::bool_constant<alike<R, S>() && (alike<A, B>() && ...)> {};
  static constexpr bool value = Compare<sizeof...(A) == sizeof...(B)>::value;
};

// cuda.h maps cuX to its versioned name; where it maps to a newer one than we
// load, the two are compared all the same.
#define AMPC_CHECK(name, symbol, params)                                       \
  static_assert(                                                               \
      SameCall<decltype(ours::DriverApi::name), decltype(&::symbol)>::value,   \
      #symbol);
#define cuDeviceTotalMem_v2 cuDeviceTotalMem
AMPC_CUDA_DRIVER_FUNCTIONS(AMPC_CHECK)

#define SAME_FIELD(ourStruct, theirStruct, field)                              \
  static_assert(offsetof(ours::ourStruct, field) ==                            \
                offsetof(theirStruct, field))
static_assert(sizeof(ours::KernelNodeParams) ==
              sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
SAME_FIELD(KernelNodeParams, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME_FIELD(KernelNodeParams, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME_FIELD(KernelNodeParams, CUDA_KERNEL_NODE_PARAMS_v2, ctx);
static_assert(sizeof(ours::Memcpy3D) == sizeof(CUDA_MEMCPY3D));
SAME_FIELD(Memcpy3D, CUDA_MEMCPY3D, srcDevice);
SAME_FIELD(Memcpy3D, CUDA_MEMCPY3D, srcPitch);
SAME_FIELD(Memcpy3D, CUDA_MEMCPY3D, dstMemoryType);
SAME_FIELD(Memcpy3D, CUDA_MEMCPY3D, dstDevice);
SAME_FIELD(Memcpy3D, CUDA_MEMCPY3D, WidthInBytes);
SAME_FIELD(Memcpy3D, CUDA_MEMCPY3D, Depth);
static_assert(sizeof(ours::MemsetNodeParams) ==
              sizeof(CUDA_MEMSET_NODE_PARAMS_v1));
SAME_FIELD(MemsetNodeParams, CUDA_MEMSET_NODE_PARAMS_v1, elementSize);
SAME_FIELD(MemsetNodeParams, CUDA_MEMSET_NODE_PARAMS_v1, height);
static_assert(sizeof(ours::LaunchConfigEx) == sizeof(CUlaunchConfig));
SAME_FIELD(LaunchConfigEx, CUlaunchConfig, hStream);
SAME_FIELD(LaunchConfigEx, CUlaunchConfig, numAttrs);
static_assert(sizeof(ours::LaunchAttribute) == sizeof(CUlaunchAttribute));
SAME_FIELD(LaunchAttribute, CUlaunchAttribute, value);
static_assert(sizeof(ours::TensorMapBytes) == sizeof(CUtensorMap));

TEST(DriverAbi, NumbersAreCudas) {
  EXPECT_EQ(ours::invalidValue, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(ours::outOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(ours::notInitialized, CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(ours::noDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(ours::invalidDevice, CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(ours::invalidImage, CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(ours::invalidContext, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(ours::noBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(ours::invalidHandle, CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(ours::notFound, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(ours::notReady, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(ours::illegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(ours::launchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_EQ(ours::misalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(ours::launchFailed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(ours::notSupported, CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(ours::maxSharedPerBlock,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  EXPECT_EQ(ours::multiprocessorCount,
            CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(ours::l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_EQ(ours::maxThreadsPerMultiprocessor,
            CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  EXPECT_EQ(ours::capabilityMajor,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(ours::maxSharedPerMultiprocessor,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  EXPECT_EQ(ours::maxSharedPerBlockOptIn,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(ours::functionMaxDynamicShared,
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(ours::functionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_EQ(ours::attributeClusterDimension,
            CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  EXPECT_EQ(ours::deviceMemory, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(ours::hostMemory, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(ours::streamNonBlocking, CU_STREAM_NON_BLOCKING);
  EXPECT_EQ(ours::eventDisableTiming, CU_EVENT_DISABLE_TIMING);
}

} // namespace
