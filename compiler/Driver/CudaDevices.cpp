//===- CudaDevices.cpp - GPUs of this machine -----------------------------===//
#include "compiler/Driver/CudaDevices.h"

#include <dlfcn.h>

namespace ampc::driver {

namespace {

/// The functions of the driver's C interface that are asked here, with the
/// types that cuda.h declares for them.
struct DriverApi {
  int (*init)(unsigned flags) = nullptr;
  int (*driverGetVersion)(int *version) = nullptr;
  int (*deviceGetCount)(int *count) = nullptr;
  int (*deviceGet)(int *device, int ordinal) = nullptr;
  int (*deviceGetName)(char *name, int length, int device) = nullptr;
  int (*deviceTotalMem)(size_t *bytes, int device) = nullptr;
  int (*deviceGetAttribute)(int *value, int attribute, int device) = nullptr;
};

constexpr int attributeMajor = 75, attributeMinor = 76;

template <typename Function>
bool load(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool loadAll(void *library, DriverApi &api) {
  return load(library, "cuInit", api.init) &&
         load(library, "cuDriverGetVersion", api.driverGetVersion) &&
         load(library, "cuDeviceGetCount", api.deviceGetCount) &&
         load(library, "cuDeviceGet", api.deviceGet) &&
         load(library, "cuDeviceGetName", api.deviceGetName) &&
         load(library, "cuDeviceTotalMem_v2", api.deviceTotalMem) &&
         load(library, "cuDeviceGetAttribute", api.deviceGetAttribute);
}

} // namespace

static bool describe(const DriverApi &api, int ordinal, CudaDevice &result) {
  int device = 0, major = 0, minor = 0;
  char name[256] = {};
  size_t bytes = 0;
  if (api.deviceGet(&device, ordinal) != 0 ||
      api.deviceGetName(name, sizeof(name) - 1, device) != 0 ||
      api.deviceTotalMem(&bytes, device) != 0 ||
      api.deviceGetAttribute(&major, attributeMajor, device) != 0 ||
      api.deviceGetAttribute(&minor, attributeMinor, device) != 0) {
    return false;
  }
  result = {name, static_cast<unsigned>(major), static_cast<unsigned>(minor),
            bytes};
  return true;
}

CudaDevices findCudaDevices() {
  CudaDevices found;
  // The driver starts threads and keeps handlers: it stays loaded.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  DriverApi api;
  if (!library) {
    found.reason = "no driver (libcuda.so.1) is installed";
    return found;
  }
  if (!loadAll(library, api)) {
    found.reason = "libcuda.so.1 is no CUDA driver";
    return found;
  }
  int version = 0, count = 0;
  if (api.driverGetVersion(&version) == 0) {
    found.driver = std::to_string(version / 1000) + "." +
                   std::to_string(version % 1000 / 10);
  }
  int code = api.init(0);
  if (code == 0) {
    code = api.deviceGetCount(&count);
  }
  if (code != 0) {
    found.reason = "the driver found none (error " + std::to_string(code) + ")";
    return found;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CudaDevice device;
    if (describe(api, ordinal, device)) {
      found.devices.push_back(std::move(device));
    }
  }
  if (found.devices.empty()) {
    found.reason = "the driver found none";
  }
  return found;
}

} // namespace ampc::driver
