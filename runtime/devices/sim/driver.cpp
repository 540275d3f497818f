//===- driver.cpp - A look-alike of CUDA's driver over the simulator ------===//
#include "runtime/devices/sim/driver.h"

#include "runtime/devices/sim/driver_state.h"

#include <stdio.h>

namespace ampc::runtime::sim {

using namespace ampc::runtime::cuda;

namespace {

pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
DriverState *driverState = nullptr;

void dropState() {
  if (!driverState) {
    return;
  }
  for (StreamState *stream : driverState->streams) {
    destroy(stream);
  }
  for (ModuleState *module : driverState->modules) {
    destroy(module);
  }
  for (FunctionState *function : driverState->functions) {
    destroy(function);
  }
  destroy(driverState);
  driverState = nullptr;
}

DriverState *state() {
  if (!driverState) {
    driverState =
        new (allocateSmall(sizeof(DriverState))) DriverState(Options());
  }
  return driverState;
}

struct Error {
  Result code;
  const char *name, *text;
};
constexpr Error errors[] = {
    {success, "CUDA_SUCCESS", "no error"},
    {invalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {outOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {notInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {noDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {invalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalidImage, "CUDA_ERROR_INVALID_IMAGE",
     "device kernel image is invalid"},
    {noBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {invalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {invalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {notFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {notReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {illegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {launchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {misalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {launchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {notSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

} // namespace

namespace entry {

Result getErrorName(Result code, const char **out) {
  for (const Error &error : errors) {
    if (error.code == code) {
      *out = error.name;
      return success;
    }
  }
  *out = nullptr;
  return invalidValue;
}

Result getErrorString(Result code, const char **out) {
  for (const Error &error : errors) {
    if (error.code == code) {
      *out = error.text;
      return success;
    }
  }
  *out = nullptr;
  return invalidValue;
}

Result init(unsigned flags) {
  DriverLock driver;
  driver->initialized = true;
  return flags ? invalidValue : success;
}

Result driverGetVersion(int *version) {
  *version = 13000;
  return success;
}

Result deviceGetCount(int *count) {
  *count = 1;
  return success;
}

Result deviceGet(Device *device, int ordinal) {
  DriverLock driver;
  *device = 0;
  return ordinal == 0 ? driver.check() : invalidDevice;
}

Result deviceGetName(char *name, int bytes, Device device) {
  DriverLock driver;
  if (device != 0 || bytes <= 0) {
    return invalidDevice;
  }
  snprintf(name, static_cast<size_t>(bytes), "simulated sm_%u",
           driver->options.arch);
  return success;
}

Result deviceGetAttribute(int *value, DeviceAttribute attribute,
                          Device device) {
  DriverLock driver;
  if (device != 0) {
    return invalidDevice;
  }
  uint32_t arch = driver->options.arch;
  switch (attribute) {
  case maxThreadsPerBlock:
    *value = 1024;
    break;
  case maxSharedPerBlock:
    *value = 48 * 1024;
    break;
  case warpSize:
    *value = 32;
    break;
  case multiprocessorCount:
    *value = 4;
    break;
  case l2CacheSize:
    *value = 4 << 20;
    break;
  case maxThreadsPerMultiprocessor:
    *value = arch == 80 || arch == 90 ? 2048 : arch == 75 ? 1024 : 1536;
    break;
  case capabilityMajor:
    *value = static_cast<int>(arch / 10);
    break;
  case capabilityMinor:
    *value = static_cast<int>(arch % 10);
    break;
  case maxSharedPerMultiprocessor:
    *value = static_cast<int>(maxSharedBytes(arch)) + 1024;
    break;
  case maxSharedPerBlockOptIn:
    *value = static_cast<int>(maxSharedBytes(arch));
    break;
  default:
    return notSupported;
  }
  return success;
}

Result deviceTotalMem(size_t *bytes, Device device) {
  *bytes = deviceBytes;
  return device == 0 ? success : invalidDevice;
}

Result primaryCtxRetain(Context *context, Device device) {
  DriverLock driver;
  if (device != 0) {
    return invalidDevice;
  }
  ++driver->context.retained;
  *context = &driver->context;
  return driver.check();
}

Result primaryCtxRelease(Device device) {
  DriverLock driver;
  if (device != 0 || driver->context.retained == 0) {
    return device ? invalidDevice : invalidContext;
  }
  --driver->context.retained;
  return success;
}

Result ctxSetCurrent(Context context) {
  DriverLock driver;
  return !context || context == &driver->context ? driver.check()
                                                 : invalidContext;
}

Result ctxGetCurrent(Context *context) {
  DriverLock driver;
  *context = driver->context.retained ? &driver->context : nullptr;
  return driver.check();
}

Result ctxSynchronize() {
  DriverLock driver;
  if (Result error = driver.check()) {
    return error;
  }
  driver->memory.synchronize();
  driver->hostDone.clear();
  driver->defaultStream.done.clear();
  for (StreamState *stream : driver->streams) {
    stream->done.clear();
  }
  return driver->outcome();
}

} // namespace entry

DriverLock::DriverLock() {
  pthread_mutex_lock(&lock);
  state = sim::state();
}

DriverLock::~DriverLock() { pthread_mutex_unlock(&lock); }

void resetDriver(const Options &options) {
  pthread_mutex_lock(&lock);
  dropState();
  driverState = new (allocateSmall(sizeof(DriverState))) DriverState(options);
  pthread_mutex_unlock(&lock);
}

const Report &driverReport() {
  DriverLock driver;
  return driver->report;
}

const DriverApi &driverApi() {
#define AMPC_SIM_DRIVER_ENTRY(name, symbol, params) entry::name,
  static const DriverApi api = {
      AMPC_CUDA_DRIVER_FUNCTIONS(AMPC_SIM_DRIVER_ENTRY)};
#undef AMPC_SIM_DRIVER_ENTRY
  return api;
}

} // namespace ampc::runtime::sim
